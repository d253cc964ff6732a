// The frame around every view: navigation, the state of the connection, help.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { grouped, moment } from './format';
import { shownKeys, useKeys } from './keyboard';
import { useConnection } from './live';
import { Trouble } from './page';
import { Progress } from './table';
import { go, link, useRoute, type Route } from './router';
import { toggleTheme, useDark } from './theme';
import { hideTooltip } from './tooltip';
import { CompareView } from './views/compare';
import { Home } from './views/home';
import { PapersView, PaperView } from './views/papers';
import { RunView } from './views/run';
import { RunsView } from './views/runs';
import { StudyView } from './views/study';

const places = [
  { key: 'h', name: 'Home', segments: [] as string[] },
  { key: 'r', name: 'Runs', segments: ['runs'] },
  { key: 'c', name: 'Compare', segments: ['compare'] },
  { key: 'p', name: 'Papers', segments: ['papers'] },
];

// A view that breaks must not take the page with it.
class Guard extends Component<{ children: ComponentChildren; route: string }, { error: Error | null }> {
  override state = { error: null as Error | null };
  override componentDidCatch(error: Error): void {
    console.error(error);
    this.setState({ error });
  }
  override componentDidUpdate(before: { route: string }): void {
    if (before.route !== this.props.route && this.state.error) this.setState({ error: null });
  }
  render() {
    return this.state.error ? <Trouble error={new Error(`This view failed: ${this.state.error.message}`)} /> : this.props.children;
  }
}

function View({ route }: { route: Route }) {
  const [place, name] = route.segments;
  const { query } = route;
  if (place === undefined) return <Home />;
  if (place === 'studies' && name) return <StudyView key={name} name={route.segments.slice(1).join('/')} />;
  if (place === 'runs' && name) return <RunView key={name} id={name} />;
  if (place === 'runs') return <RunsView query={query} />;
  if (place === 'compare') return <CompareView query={query} />;
  if (place === 'papers' && name) return <PaperView key={name} item={name} query={query} />;
  if (place === 'papers') return <PapersView />;
  return <Trouble error={new Error('There is no such page.')} />;
}

function Status() {
  const { state, since } = useConnection();
  const text = { connecting: 'connecting', live: 'live', away: 'server away', static: 'static copy' }[state];
  return <span class={`status status-${state}`} role="status" title={state === 'away' ? `since ${moment(since / 1000)}; trying again` : ''}><i aria-hidden="true" />{text}</span>;
}

function AwayBanner() {
  const { state, since } = useConnection();
  // A moment is no absence: a server that restarts is back before anybody reads this.
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (state !== 'away') return undefined;
    const timer = setTimeout(() => setLate(true), 700);
    return () => clearTimeout(timer);
  }, [state, since]);
  if (state !== 'away' || !late) return null;
  return <div class="away" role="alert">The server does not answer. What you see is from {new Date(since).toLocaleTimeString()}; this page resumes by itself when the server is back.</div>;
}

// A lab without an index is read run by run when the server starts; what is there can be used meanwhile.
function ReadingBanner() {
  const { state, reading } = useConnection();
  if (state !== 'live' || !reading) return null;
  const text = `Reading ${grouped(reading.read)} of ${grouped(reading.of)} runs. This page updates by itself.`;
  return <div class="reading" role="status"><Progress total={reading.of} parts={[['running', reading.read]]} label={text} />{text}</div>;
}

// The server is there, but its lab is not.
function TroubleBanner() {
  const { state, trouble } = useConnection();
  if (state !== 'live' || !trouble) return null;
  return <div class="away" role="alert">{trouble}</div>;
}

function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" onClose={onClose} onClick={(event) => {
      if (event.target === dialog.current) dialog.current?.close();
    }}>
      <header>
        <h2>Keys</h2>
        <button onClick={() => dialog.current?.close()} aria-label="Close">×</button>
      </header>
      <div class="keys">
        {shownKeys().map(({ title, keys }) => (
          <section>
            <h3>{title}</h3>
            {keys.map((key) => (
              <p>
                <span>{key.keys.split(' or ').map((one, index) => <>{index > 0 && ' or '}{one.split(' ').map((part) => <kbd>{part.replace('Arrow', '')}</kbd>)}</>)}</span>
                {key.what}
              </p>
            ))}
          </section>
        ))}
      </div>
      <p class="quiet">Drag over a chart to zoom, double-click to see all of it. Every view has its own address: copy it to share what you see.</p>
    </dialog>
  );
}

export function Shell() {
  const route = useRoute();
  const dark = useDark();
  const [help, setHelp] = useState(false);
  const here = route.segments.join('/');
  useEffect(() => {
    hideTooltip();
    scrollTo(0, 0);
  }, [here]);
  useKeys('Everywhere', [
    ...places.map((place) => ({ keys: `g ${place.key}`, what: `go to ${place.name}`, act: () => go(link(place.segments)) })),
    { keys: 't', what: 'dark or light', act: toggleTheme },
    { keys: '?', what: 'these keys', act: () => setHelp(true) },
  ]);
  const current = route.segments[0] === 'studies' ? '' : route.segments[0] ?? '';
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        document.getElementById('content')?.focus();
      }}>Skip to content</a>
      <nav class="top" aria-label="Main">
        <a class="logo" href={link([])}>mneme</a>
        {places.map((place) => (
          <a href={link(place.segments)} aria-current={(place.segments[0] ?? '') === current && route.segments[0] !== 'studies' ? 'page' : undefined}>{place.name}</a>
        ))}
        <span class="push" />
        <Status />
        <button class="icon" onClick={toggleTheme} aria-label={dark ? 'Light colours' : 'Dark colours'} title="Dark or light (t)">{dark ? '☀' : '☾'}</button>
        <button class="icon" onClick={() => setHelp(true)} aria-label="Keys" title="Keys (?)">?</button>
      </nav>
      <AwayBanner />
      <TroubleBanner />
      <ReadingBanner />
      <main id="content" tabIndex={-1} class={here === 'runs' ? 'full' : ''}>
        <Guard route={here}><View route={route} /></Guard>
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}
