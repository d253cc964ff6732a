// The papers: every figure and table, ours next to theirs.
import { address } from '../client';
import { Figure } from '../figure';
import { isDerivedSeed, value } from '../format';
import { Answer, PageTitle } from '../page';
import { useResource } from '../resource';
import { link, setQuery } from '../router';
import { Card, Claims, DataTable, Folded, Pair, Progress, VerdictCounts } from '../table';
import type { Column, PaperItem, PaperPage, Papers, Scalar } from '../types';

const have = (item: Pick<PaperItem, 'kept_runs' | 'ended_runs'>): number => Math.max(item.kept_runs, item.ended_runs);

export function PapersView() {
  const papers = useResource<Papers>(address(['papers']), { affected: (event) => event.papers || event.studies.length > 0, pause: 2000 });
  return (
    <>
      <PageTitle title="Papers" note="every figure, table and claim, ours next to theirs" />
      <Answer of={papers}>
        {(data) => (
          <div class="cards">
            {data.ready === false && <p class="quiet">Claims are being judged; this page updates by itself.</p>}
            {data.papers.map((paper) => (
              <Card title={`Paper ${paper.letter}`} note={paper.title} wide>
                <div class="scroll">
                  <table class="items">
                    <thead><tr><th>item</th><th>about</th><th>scale</th><th>runs</th><th>claims</th></tr></thead>
                    <tbody>
                      {data.items.filter((item) => item.paper === paper.letter).map((item) => (
                        <tr>
                          <td><a href={link(['papers', item.item], { scale: item.scale })}>{item.item}</a></td>
                          <td class="wrap">{item.title}{item.trouble && <span class="bad"> {item.trouble}</span>}</td>
                          <td class="quiet">{item.scale}</td>
                          <td class="steps">
                            {item.planned_runs === 0 ? <span class="quiet">needs none</span> : (
                              <>
                                <Progress total={item.planned_runs} parts={[['ended', have(item)]]} label={`${have(item)} of ${item.planned_runs} runs`} />
                                <span class="quiet">{have(item)} / {item.planned_runs}</span>
                              </>
                            )}
                          </td>
                          <td><VerdictCounts counts={item} /></td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              </Card>
            ))}
          </div>
        )}
      </Answer>
    </>
  );
}

function Beside({ page }: { page: PaperPage }) {
  const hasOurs = page.says.some((line) => line.ours !== undefined && line.ours !== null);
  const rows = page.says.map((line): Scalar[] => [line.about, line.shown, ...(hasOurs ? [line.ours ?? null] : [])]);
  const ours: Column = { key: 'ours', unit: 'fraction' };
  return (
    <Card title="Ours next to theirs" note="the paper's values are also in the figures">
      <Folded rows={rows.length} what="values">
        <DataTable table={{ columns: ['of', 'the paper', ...(hasOurs ? [ours] : [])], rows }} />
      </Folded>
    </Card>
  );
}

function Settings({ page }: { page: PaperPage }) {
  const settings = page.settings.filter(({ key }) => !isDerivedSeed(key));
  if (settings.length === 0) return null;
  return (
    <Card title="Settings" note="where this scale differs from the paper">
      <Folded rows={settings.length} what="settings">
        <div class="scroll">
          <table class="config">
            <thead><tr><th>setting</th><th>the paper</th><th>ours</th></tr></thead>
            <tbody>
              {settings.map(({ key, ours, paper }) => (
                <tr><td class="mono">{key}</td><td>{value(paper, key)}</td><td>{value(ours, key)}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      </Folded>
    </Card>
  );
}

export function PaperView({ item, query }: { item: string; query: URLSearchParams }) {
  const scale = query.get('scale');
  const page = useResource<PaperPage>(address(['papers', item], scale ? new URLSearchParams({ scale }) : undefined), { affected: (event) => event.papers || event.studies.length > 0, pause: 2000 });
  return (
    <Answer of={page}>
      {(data) => (
        <>
          <PageTitle title={`${data.item}: ${data.what || data.title}`} note={`Paper ${data.paper.letter}`}>
            <span class="segments" role="radiogroup" aria-label="scale">
              {data.scales.map((one) => (
                <button role="radio" aria-checked={one.name === data.scale} onClick={() => setQuery({ scale: one.name }, true)}
                        title={one.kept ? 'results are kept' : ''}>{one.name}{one.kept && ' •'}</button>
              ))}
            </span>
          </PageTitle>
          <p class="crumbs">
            <a href={link(['papers'])}>papers</a>
            <span>{data.paper.title}</span>
            <span>{have(data)} of {data.planned_runs} runs</span>
          </p>
          <Pair
            left={(
              <>
                {data.figures_trouble && <Card title="Figures"><p class="quiet">{have(data) === 0 ? 'No run of this scale has ended yet.' : data.figures_trouble}</p></Card>}
                {data.figures.map((figure, index) => <Figure key={figure.name} figure={figure} name={`${data.item}-${figure.name || index + 1}`} />)}
              </>
            )}
            right={(
              <>
                {data.says.length > 0 && <Beside page={data} />}
                {data.sizes && <Card title="Sizes"><DataTable table={data.sizes} /></Card>}
                {data.claims.length > 0 && <Card title="Claims"><Claims claims={data.claims} /></Card>}
                <Settings page={data} />
                <Card title="Run it"><p><code>mneme reproduce {data.item} --scale {data.scale}</code></p></Card>
              </>
            )}
          />
        </>
      )}
    </Answer>
  );
}
