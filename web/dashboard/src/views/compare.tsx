// Several runs over each other.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { address, ask, isStatic } from '../client';
import { Chart } from '../chart';
import { points } from '../curves';
import { isDerivedSeed, percent, value } from '../format';
import { useKeys } from '../keyboard';
import { Answer, PageTitle } from '../page';
import { useResource, type Resource } from '../resource';
import { link, runLink, setQuery } from '../router';
import { Card } from '../table';
import { useDark } from '../theme';
import type { Comparison } from '../types';
import { compareFiles, partsOf } from './compare_files';
import { measures, seriesOf, xAxes, type XAxis } from './compare_series';

const mostRuns = 50;  // that the server compares at once
const mostParts = 20;  // runs in the table of where they part

// From the server, or put together from the files of an export.
function useComparison(runs: string[]): Resource<Comparison> {
  const live = useResource<Comparison>(isStatic || runs.length === 0 ? null : address(['compare'], new URLSearchParams({ runs: runs.join(',') })), {
    affected: (event) => event.runs.some((id) => runs.includes(id)),
    pause: 700,
  });
  const [files, setFiles] = useState<Resource<Comparison>>({ data: null, error: null, loading: true });
  useEffect(() => {
    if (!isStatic) return;
    compareFiles(runs, (where) => ask(where)).then(
      (data) => setFiles({ data, error: null, loading: false }),
      (error: Error) => setFiles({ data: null, error, loading: false }));
  }, [runs.join()]);
  return isStatic ? files : live;
}

function Settings({ query, zoomed }: { query: URLSearchParams; zoomed: boolean }) {
  const x = query.get('x') ?? 'step';
  const weight = Number(query.get('smooth') ?? 0) || 0;
  const flag = (name: string, label: string, byDefault = false) => {
    const on = (query.get(name) ?? (byDefault ? '1' : '0')) === '1';
    return (
      <label class="check">
        <input type="checkbox" id={name} checked={on} onChange={(event) => setQuery({ [name]: event.currentTarget.checked === byDefault ? null : event.currentTarget.checked ? '1' : '0' })} />
        {label}
      </label>
    );
  };
  return (
    <div class="bar settings">
      <span class="segments" role="radiogroup" aria-label="x axis">
        {(Object.keys(xAxes) as XAxis[]).map((name) => (
          <button role="radio" aria-checked={x === name} onClick={() => setQuery({ x: name === 'step' ? null : name, zoom: null })}>{xAxes[name].label}</button>
        ))}
      </span>
      <label>
        Smoothing
        <input type="range" id="smooth" min="0" max="0.99" step="0.01" value={weight} onInput={(event) => setQuery({ smooth: event.currentTarget.value === '0' ? null : event.currentTarget.value })} />
        <output>{weight.toFixed(2)}</output>
      </label>
      {flag('band', 'band over seeds', true)}
      {flag('logx', 'log x')}
      {flag('logy', 'log y')}
      {zoomed && <button onClick={() => setQuery({ zoom: null })}>Show all</button>}
      <span class="quiet push">drag over a chart to zoom</span>
    </div>
  );
}

function Differences({ comparison, colors }: { comparison: Comparison; colors: Map<string, string> }) {
  const { runs } = comparison;
  const differs = comparison.differs.filter(({ key }) => !isDerivedSeed(key));
  return (
    <div class="scroll tall">
      <table class="differences">
        <thead>
          <tr><th>run</th><th class="number">accuracy</th>{differs.map(({ key }) => <th title={key}>{key}</th>)}</tr>
        </thead>
        <tbody>
          {runs.map((run, index) => (
            <tr>
              <td><i class="swatch" style={{ background: colors.get(run.id) }} /><a class="mono" href={runLink(run.id)}>{run.id.slice(0, 8)}</a></td>
              <td class="number">{percent(points(run.curves, 'step', 'accuracy').at(-1)?.[1])}</td>
              {differs.map(({ key, values }) => <td>{value(values[index], key)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {differs.length === 0 && <p class="quiet">The configurations are equal.</p>}
    </div>
  );
}

// Every two runs, once.
function Parts({ comparison }: { comparison: Comparison }) {
  const { parts, runs, differs } = comparison;
  if (runs.length < 2) return <p class="quiet">Choose at least two runs.</p>;
  const shown = runs.slice(0, mostParts);
  // The server names those of ten runs; of more they follow from the curves.
  const known = parts.length > 0 ? parts : partsOf(shown);
  const step = new Map(known.flatMap((part) => [[`${part.a} ${part.b}`, part.step], [`${part.b} ${part.a}`, part.step]]));
  const label = (index: number): string => differs.map(({ key, values }) => value(values[index], key)).join(', ');
  return (
    <div class="scroll tall">
      <table class="parts">
        <thead><tr><th />{shown.slice(0, -1).map((run) => <th class="number"><span class="mono">{run.id.slice(0, 6)}</span></th>)}</tr></thead>
        <tbody>
          {shown.slice(1).map((run, line) => (
            <tr>
              <td title={label(line + 1)}><a class="mono" href={runLink(run.id)}>{run.id.slice(0, 6)}</a></td>
              {shown.slice(0, line + 1).map((other) => {
                const at = step.get(`${other.id} ${run.id}`);
                return <td class="number">{at === undefined ? '' : at === null ? 'equal' : value(at)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {runs.length > mostParts && <p class="quiet">The first {mostParts} runs.</p>}
    </div>
  );
}

export function CompareView({ query }: { query: URLSearchParams }) {
  const runs = (query.get('runs') ?? '').split(',').filter(Boolean);
  const shown = runs.slice(0, mostRuns);
  const comparison = useComparison(shown);
  const flip = (name: string, byDefault: boolean) => () => {
    const on = (query.get(name) ?? (byDefault ? '1' : '0')) === '1';
    setQuery({ [name]: on === byDefault ? (on ? '0' : '1') : null });
  };
  useKeys('Compare', [
    { keys: 'b', what: 'bands over seeds, or every run', act: flip('band', true) },
    { keys: 'l', what: 'logarithmic y', act: flip('logy', false) },
    { keys: 'L', what: 'logarithmic x', act: flip('logx', false) },
    { keys: 's', what: 'more smoothing (from none to 0.9)', act: () => setQuery({ smooth: { 0: '0.6', 0.6: '0.9' }[Number(query.get('smooth') ?? 0)] ?? null }) },
    { keys: 'x', what: 'next x axis', act: () => {
      const names = Object.keys(xAxes);
      const next = names[(names.indexOf(query.get('x') ?? 'step') + 1) % names.length];
      setQuery({ x: next === 'step' ? null : next, zoom: null });
    } },
    { keys: '0', what: 'show all', act: () => setQuery({ zoom: null }) },
  ]);
  if (runs.length === 0) {
    return (
      <>
        <PageTitle title="Compare" />
        <Card>
          <p>Choose runs in <a href={link(['runs'])}>the table of runs</a>: click their boxes, or press <kbd>x</kbd> on a row; then press <kbd>c</kbd>.</p>
          <p class="quiet">In the grid of a study, click a cell to compare its seeds.</p>
        </Card>
      </>
    );
  }
  return (
    <>
      <PageTitle title="Compare" note={`${runs.length} runs${runs.length > mostRuns ? `, the first ${mostRuns} are shown` : ''}`} />
      <Answer of={comparison}>{(data) => <Comparing comparison={data} query={query} />}</Answer>
    </>
  );
}

function Comparing({ comparison, query }: { comparison: Comparison; query: URLSearchParams }) {
  const dark = useDark();
  const x = (query.get('x') ?? 'step') as XAxis;
  const axis = xAxes[x] ?? xAxes.step;
  const weight = Math.min(0.99, Math.max(0, Number(query.get('smooth') ?? 0) || 0));
  const bands = query.get('band') !== '0';
  const zoomText = query.get('zoom');
  const [from, to] = (zoomText ?? '').split('~').map(Number);
  const zoom: [number, number] | null = from !== undefined && to !== undefined && to > from ? [from, to] : null;
  const drawn = useMemo(() => measures.map((measure) => ({
    measure,
    series: seriesOf(comparison, axis.column, measure.column, { bands, weight, dark }),
  })).filter(({ series }) => series.some((one) => one.curve.length > 0)), [comparison, x, bands, weight, dark]);
  const legend = drawn[0]?.series ?? [];
  const colors = new Map(legend.flatMap((one) => (one.runs ?? []).map((id) => [id, one.color] as [string, string])));
  const hasSeeds = legend.some((one) => (one.runs ?? []).length > 1);
  return (
    <>
      <Settings query={query} zoomed={zoom !== null} />
      <p class="legend series">
        {legend.map((one) => (
          <span title={one.label}><i style={{ background: one.color }} />{one.label}</span>
        ))}
        {bands && hasSeeds && <span class="quiet">line: mean over seeds · band: min to max</span>}
      </p>
      <div class="charts">
        {drawn.map(({ measure, series }) => (
          <Chart key={measure.column} title={measure.title} series={series} name={`compare-${measure.column}`} group="compare"
                 xTitle={axis.label} height={210} xLog={query.get('logx') === '1'} yLog={query.get('logy') === '1'}
                 yPercent={measure.percent && query.get('logy') !== '1'} xDomain={zoom}
                 onZoom={(domain) => setQuery({ zoom: domain ? domain.map((one) => Number(one.toPrecision(5))).join('~') : null })} />
        ))}
      </div>
      <div class="cards">
        <Card title="What differs"><Differences comparison={comparison} colors={colors} /></Card>
        <Card title="Where they part" note="the first step at which two runs differ"><Parts comparison={comparison} /></Card>
      </div>
    </>
  );
}
