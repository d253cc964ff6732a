// One run: its curves as they are written, and everything that is known about it.
import { address, ask, isStatic } from '../client';
import { Figure } from '../figure';
import { count, duration, isDerivedSeed, nothing, number, percent, pointText, reasonText, short, value } from '../format';
import { mergeCurves, lastStep } from '../curves';
import { useKeys } from '../keyboard';
import { Answer, PageTitle } from '../page';
import { useResource } from '../resource';
import { go, link, studyLink } from '../router';
import { choose, useSelection } from '../selection';
import { Card, compareLink, DataTable, Facts, Folded, Pair, State } from '../table';
import type { Curves, Inspection, Run } from '../types';
import { flatten } from './compare_files';
import { RunCurves } from './run_curves';
import { Evaluations, Generalisation, Traces } from './run_tests';

function Configuration({ run }: { run: Run }) {
  const flat = Object.entries(flatten(run.config)).sort(([a], [b]) => (a < b ? -1 : 1));
  const differs = run.differs.filter(({ key }) => !isDerivedSeed(key));
  const others = run.studies.length > 0 ? "the study's other runs" : "the lab's other runs";
  return (
    <>
      {differs.length > 0 && (
        <Folded rows={differs.length} what={`settings differ from those of ${others}`}>
          <div class="scroll"><table class="config">
            <thead><tr><th>what differs</th><th>this run</th><th>{others}</th></tr></thead>
            <tbody>
              {differs.map(({ key, value: mine, others: rest }) => (
                <tr><td class="mono">{key}</td><td><b>{value(mine, key)}</b></td><td class="quiet">{rest.slice(0, 12).map((one) => value(one, key)).join(', ')}{rest.length > 12 ? ', …' : ''}</td></tr>
              ))}
            </tbody>
          </table></div>
        </Folded>
      )}
      <details open={differs.length === 0}>
        <summary>All {flat.length} settings</summary>
        <div class="scroll"><table class="config">
          <tbody>{flat.map(([key, stored]) => <tr><td class="mono">{key}</td><td>{value(stored, key)}</td></tr>)}</tbody>
        </table></div>
      </details>
    </>
  );
}

const words = (key: string): string => key.replaceAll('_', ' ');

// Any JSON, as text that folds.
function Tree({ value: stored }: { value: unknown }) {
  if (stored === null || typeof stored !== 'object') return <span>{value(stored)}</span>;
  const entries = Object.entries(stored);
  if (Array.isArray(stored) && entries.every(([, one]) => one === null || typeof one !== 'object')) return <span>{stored.slice(0, 40).map((one) => value(one)).join(', ')}{stored.length > 40 && ', …'}</span>;
  return (
    <dl class="tree">
      {entries.slice(0, 200).map(([key, one]) => (one !== null && typeof one === 'object'
        ? <details><summary>{key}</summary><Tree value={one} /></details>
        : <div><dt>{key}</dt><dd>{value(one, key)}</dd></div>))}
    </dl>
  );
}

// What `mneme inspect` has found: a section for each analysis, its figures beside each other, long tables folded.
function Inspected({ inspection }: { inspection: Inspection }) {
  const sections = inspection.sections ?? (inspection.figures ? [{ title: 'Figures', figures: inspection.figures }] : null);
  if (!sections) return <Card wide title="Inspection"><Tree value={inspection} /></Card>;
  return (
    <>
      <h2 class="part">Inspection <span class="quiet">what the trained model does, from its weights</span></h2>
      {sections.map((section) => (
        <Card wide title={section.title}>
          {'sentences' in section && <ul class="sentences">{section.sentences?.map((sentence) => <li>{sentence}</li>)}</ul>}
          {(section.figures ?? []).length > 0 && (
            <div class="pair">{section.figures?.map((figure) => <Figure key={figure.name} figure={figure} name={`inspect-${figure.name}`} />)}</div>
          )}
          {'tables' in section && section.tables?.map((table) => <Folded rows={table.rows.length} what="rows as a table"><DataTable table={table} /></Folded>)}
        </Card>
      ))}
    </>
  );
}

function Header({ run }: { run: Run }) {
  const chosen = useSelection().has(run.id);
  const isLong = (run.reason ?? '').length > 80;  // what a worker said when it failed
  const config = flatten(run.config);
  const point = Object.fromEntries(['model.mixer', 'train.lr', 'train.seed'].filter((key) => key in config).map((key) => [key, config[key] ?? null]));
  useKeys('Run', [
    { keys: 'x', what: chosen ? 'take it out of the comparison' : 'choose it to compare', act: () => choose([run.id], !chosen) },
    { keys: 'c', what: 'its curves in Compare', act: () => go(compareLink([run.id])) },
  ]);
  return (
    <>
      <PageTitle title={pointText(point)} note={<><State state={run.state} /> {run.reason && run.reason !== run.state && !isLong && <span>{reasonText(run.reason)}</span>}</>}>
        <button onClick={() => choose([run.id], !chosen)} aria-pressed={chosen}>{chosen ? 'Chosen' : 'Choose'}</button>
        <a class="button" href={compareLink([run.id])}>Compare</a>
      </PageTitle>
      <p class="crumbs">
        <span class="mono">{run.id}</span>
        {(run.tags ?? []).map((tag) => <a class="tag" href={link(['runs'], { filter: `tag=${tag}` })} title="Runs with this tag">{tag}</a>)}
        {run.studies.map((study) => <a href={studyLink(study.key)}>{study.title || study.key}{study.scale && ` (${study.scale})`}</a>)}
      </p>
      {isLong && <p class="said bad">{run.reason}</p>}
      {run.note && <p class="said">{run.note}</p>}
    </>
  );
}

export function RunView({ id }: { id: string }) {
  const mine = (runs: string[]): boolean => runs.some((run) => run === id);
  const run = useResource<Run>(address(['runs', id]), { affected: (event) => mine(event.runs), pause: 1000 });
  const where = address(['runs', id, 'curves']);
  const curves = useResource<Curves>(where, {
    affected: (event) => mine(event.runs),
    patch: async (old, _runs, signal) => {
      const query = new URLSearchParams({ from: String(lastStep(old)) });
      return mergeCurves(old, await ask<Curves>(address(['runs', id, 'curves'], isStatic ? undefined : query), signal));
    },
  });
  return (
    <Answer of={run}>
      {(data) => {
        const times = data.times ?? {};
        const time = (key: string): number | null => (typeof times[key] === 'number' ? times[key] as number : null);
        const { rows, columns } = curves.data ?? { rows: [], columns: [] };
        const seconds = time('seconds') ?? rows.at(-1)?.[columns.indexOf('seconds')] ?? null;
        return (
          <>
            <Header run={data} />
            <Card wide>
              <Facts facts={[
                ['Outcome', data.outcome ?? data.state],
                ['Test accuracy', percent(data.test?.accuracy)],
                ['Validation accuracy', percent(data.validation?.accuracy)],
                ['Best validation', data.best?.accuracy == null ? nothing : `${percent(data.best.accuracy)} at step ${count(data.best.step)}`],
                ['Validation loss', number(data.validation?.loss)],
                ['Exact match', percent(data.test?.exact_match ?? data.validation?.exact_match)],
                ['Steps', data.steps != null ? `${count(data.step ?? lastStep(curves.data ?? { columns: [], rows: [] }))} of ${count(data.steps)}` : count(data.step)],
                ['Parameters', short(data.parameters)],
                ['Time', duration(seconds)],
                ['Tokens/s', short(time('tokens_per_second'))],
                ['Ended', typeof times.finished_at === 'string' ? times.finished_at.replace('T', ' ').replace(/(:\d\d)?(\.\d+)?Z?$/, '') : nothing],
                ...(data.attempts && (data.attempts.number > 1 || data.attempts.deaths > 0) ? [['Attempts', `${data.attempts.number}${data.attempts.deaths > 0 ? `, ${data.attempts.deaths} died` : ''}`] as [string, string]] : []),
              ]} />
            </Card>
            <RunCurves id={data.id} curves={curves} />
            <Pair
              left={(
                <>
                  <Card title="Configuration"><Configuration run={data} /></Card>
                  <Card title="Log" note={data.log.length === 1 ? '1 line' : `${data.log.length} lines`}>
                    {data.log.length > 0 ? <pre class="log" tabIndex={0}>{data.log.join('\n')}</pre> : <p class="quiet">empty</p>}
                  </Card>
                </>
              )}
              right={(
                <>
                  {data.generalisation && data.generalisation.points.length > 0 && <Generalisation generalisation={data.generalisation} id={data.id} />}
                  {(data.evaluations ?? []).length > 0 && <Evaluations evaluations={data.evaluations ?? []} id={data.id} />}
                  {data.phases && Object.keys(data.phases).length > 0 && (
                    <Card title="Phase tests"><Facts facts={Object.entries(data.phases).map(([key, one]) => [words(key), typeof one === 'boolean' ? (one ? 'passed' : 'not passed') : value(one)])} /></Card>
                  )}
                  {data.traces && data.traces.length > 0 && <Traces traces={data.traces} id={data.id} />}
                  {(data.environment || (data.code ?? []).length > 0) && (
                    <Card title="Environment" note={(data.code ?? []).join(', ')}>
                      <Facts facts={Object.entries(flatten(data.environment ?? {})).map(([key, one]) => [words(key), value(one)])} />
                    </Card>
                  )}
                </>
              )}
            />
            {data.inspect && <Inspected inspection={data.inspect} />}
          </>
        );
      }}
    </Answer>
  );
}
