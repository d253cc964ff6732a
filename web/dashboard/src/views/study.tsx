// A study while it runs: its figures, grid, best cells, cost and claims.
import { address } from '../client';
import { Figure } from '../figure';
import { count, duration, percent, pointText, short } from '../format';
import { GridCard, isWideGrid } from '../grid';
import { Answer, PageTitle } from '../page';
import { useResource } from '../resource';
import { Card, Claims, compareLink, Facts, Pair, Progress, State } from '../table';
import type { BestCell, FigureData, Study } from '../types';

// The runs of a cell: those of the grid at its point.
function runsOf(study: Study, best: BestCell): string[] {
  if (Array.isArray(best.runs)) return best.runs;
  return study.cells.filter((cell) => cell.run !== null && cell.state !== 'waiting'
    && Object.entries(best.point).every(([key, one]) => !(key in cell.point) || cell.point[key] === one)).map((cell) => cell.run as string);
}

function Best({ study }: { study: Study }) {
  const best = [...study.best].sort((a, b) => (b.accuracy ?? 0) - (a.accuracy ?? 0));
  return (
    <div class="scroll">
      <table class="best">
        <thead><tr><th>cell</th><th class="number">accuracy</th><th class="number">least</th><th class="number">most</th><th class="number">seeds</th><th /></tr></thead>
        <tbody>
          {best.map((cell) => (
            <tr>
              <td>{pointText(cell.point, ['train.seed', 'seed'])}</td>
              <td class="number" data-name="accuracy"><b>{percent(cell.accuracy)}</b></td>
              <td class="number" data-name="least">{percent(cell.least)}</td>
              <td class="number" data-name="most">{percent(cell.most)}</td>
              <td class="number" data-name="seeds">{Array.isArray(cell.runs) ? cell.runs.length : cell.runs}</td>
              <td>{runsOf(study, cell).length > 0 && <a href={compareLink(runsOf(study, cell))}>curves</a>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Summary({ study }: { study: Study }) {
  const of = (state: string): number => study.cells.filter((cell) => cell.state === state).length;
  const [solved, done, diverged, failed, running] = [of('solved'), of('done'), of('diverged'), of('failed'), of('running')];
  const planned = study.planned;
  const ended = solved + done + diverged + failed;
  return (
    <Card wide>
      <Progress total={planned} label={`${ended} of ${planned} runs ended`}
                parts={[['solved', solved], ['done', done], ['diverged', diverged], ['failed', failed], ['running', running]]} />
      <Facts facts={[
        ['Runs', `${count(ended)} of ${count(planned)}`],
        ['Solved', `${count(solved)}${study.solved_at ? ` (from ${percent(study.solved_at, 0)})` : ''}`],
        ['Running', running > 0 ? <span>{running} <State state="running" /></span> : '0'],
        ['Cost so far', `${duration(study.cost?.seconds)}${study.cost?.flops ? `, ${short(study.cost.flops, 'FLOP')}` : ''}`],
        ['To go', ended >= planned ? 'nothing' : duration(study.seconds_left ?? study.cost?.seconds_to_go)],
      ]} />
    </Card>
  );
}

const hasResult = (study: Study): boolean => study.done + study.diverged + study.failed > 0;

function StudyPage({ study }: { study: Study }) {
  const isWide = isWideGrid(study);
  const drawn = (figure: FigureData) => <Figure key={figure.name} figure={figure} name={`${study.key}-${figure.name}`} />;
  const best = study.best.flatMap((cell) => runsOf(study, cell)).slice(0, 24);
  return (
    <>
      <PageTitle title={study.title || study.name} note={`${study.name}${study.scale ? ` · ${study.scale}` : ''}`}>
        {best.length > 0 && <a class="button" href={compareLink(best)}>Compare the best</a>}
      </PageTitle>
      <Summary study={study} />
      {isWide && <GridCard study={study} />}
      <Pair
        left={(
          <>
            {study.figures_pending && study.figures.length === 0 && (
              <Card title="Figures"><p class="quiet">The figures of {count(study.planned)} runs are being drawn. They appear here by themselves.</p></Card>
            )}
            {study.figures_trouble && <Card title="Figures"><p class="quiet">{hasResult(study) ? study.figures_trouble : 'The figures are drawn when the first run has ended.'}</p></Card>}
            {study.figures.filter((_, index) => index % 2 === 0).map(drawn)}
            {study.claims.length > 0 && <Card title="Claims"><Claims claims={study.claims} /></Card>}
          </>
        )}
        right={(
          <>
            {!isWide && <GridCard study={study} />}
            {study.best.length > 0 && <Card title="Best cells" note="rate chosen on validation, accuracy on test"><Best study={study} /></Card>}
            {study.figures.filter((_, index) => index % 2 === 1).map(drawn)}
          </>
        )}
      />
    </>
  );
}

export function StudyView({ name }: { name: string }) {
  const study = useResource<Study>(address(['studies', name]), { affected: (event) => event.studies.includes(name) });
  return <Answer of={study}>{(data) => <StudyPage study={data} />}</Answer>;
}
