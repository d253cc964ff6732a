// Home: what goes on in the lab.
import { address } from '../client';
import { ago, count, duration, grouped, nothing, number, percent, rate, short } from '../format';
import { useResource } from '../resource';
import { link, studyLink } from '../router';
import { Card, Facts, Progress, RunName, State, VerdictCounts } from '../table';
import { Answer, PageTitle } from '../page';
import type { ClusterJob, ClusterNode, Ended, Lab, PaperItem, StudyLine, Worker } from '../types';

// What is at work comes first, then what is unfinished, then what changed last.
const stage = (study: StudyLine): number => (study.running > 0 ? 0 : study.done + study.diverged + study.failed + study.cancelled < study.planned ? 1 : 2);
const byInterest = (a: StudyLine, b: StudyLine): number => stage(a) - stage(b) || (b.last_change ?? 0) - (a.last_change ?? 0);

function Studies({ studies }: { studies: StudyLine[] }) {
  if (studies.length === 0) {
    return <p class="quiet">No study has been run in this lab yet. Try <code>mneme sweep demo --scale smoke</code>.</p>;
  }
  return (
    <ul class="studies">
      {[...studies].sort(byInterest).map((study) => {
        const ended = study.done + study.diverged + study.failed + study.cancelled;
        const text = `${ended} of ${study.planned} runs ended`;
        return (
          <li>
            <a class="cover" href={studyLink(study.key)}>
              <b>{study.title || study.name}</b>
              <span class="quiet">{study.name}{study.scale && ` · ${study.scale}`}</span>
            </a>
            <Progress total={study.planned} label={text}
                      parts={[['ended', study.done], ['diverged', study.diverged], ['failed', study.failed], ['running', study.running]]} />
            <span class="line">
              <span>{count(ended)} of {count(study.planned)} runs</span>
              {study.running > 0 && <span>{study.running} <State state="running" /></span>}
              {study.failed > 0 && <span class="bad">{study.failed} failed</span>}
              {study.diverged > 0 && <span>{study.diverged} diverged</span>}
              <span class="quiet push">
                {ended >= study.planned ? `finished ${ago(study.last_change)}`
                  : study.seconds_left !== null && study.seconds_left !== undefined ? `${duration(study.seconds_left)} to go` : `changed ${ago(study.last_change)}`}
              </span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Workers({ workers }: { workers: Worker[] }) {
  if (workers.length === 0) return <p class="quiet">Nothing is being trained.</p>;
  return (
    <div class="scroll">
      <table class="workers">
        <thead>
          <tr><th>run</th><th>mixer</th><th class="number">lr</th><th class="number">seed</th><th>step</th><th class="number">loss</th><th class="number">accuracy</th><th class="number">tokens/s</th><th class="number">left</th></tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr>
              <td><RunName id={worker.run} /></td>
              <td>{worker.mixer}</td>
              <td class="number" data-name="lr">{rate(worker.lr)}</td>
              <td class="number" data-name="seed">{worker.seed ?? nothing}</td>
              <td class="steps">
                <Progress total={worker.steps ?? 1} parts={[['running', worker.step ?? 0]]} label={`step ${worker.step} of ${worker.steps}`} />
                <span class="quiet">{count(worker.step)} / {count(worker.steps)}</span>
              </td>
              <td class="number" data-name="loss">{number(worker.loss)}</td>
              <td class="number" data-name="accuracy">{percent(worker.accuracy)}</td>
              <td class="number" data-name="tokens/s">{short(worker.tokens_per_second)}</td>
              <td class="number" data-name="left">{duration(worker.seconds_left)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const silence = 60;  // seconds after which a node that works should have told something

// What the nodes have told of themselves, a node a line.
function Cluster({ jobs }: { jobs: ClusterJob[] }) {
  const now = Date.now() / 1000;
  const isSilent = (node: ClusterNode): boolean => node.state === 'running' && now - node.told > silence;
  return (
    <>
      {jobs.map((job) => (
        <section class="job">
          <h3>Job {job.job} <span class="quiet">{job.study}{job.scale && ` · ${job.scale}`} · {count(job.runs)} runs · {job.user}{job.cancelled && ' · cancelled'}</span></h3>
          <div class="scroll">
            <table>
              <thead><tr><th>node</th><th>state</th><th class="number">workers</th><th class="number">tokens/s</th><th class="number">ended</th></tr></thead>
              <tbody>
                {job.nodes.map((node) => (
                  <tr title={`task ${node.task}, told ${ago(node.told)}`}>
                    <td>{node.node}</td>
                    <td class={isSilent(node) ? 'bad' : 'wrap'}>{isSilent(node) ? `silent for ${duration(now - node.told)}` : node.note || node.state}</td>
                    <td class="number">{node.workers}</td>
                    <td class="number">{node.workers > 0 ? short(node.tokens_per_second) : nothing}</td>
                    <td class="number">{count(node.ended)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      ))}
    </>
  );
}

function EndedRuns({ runs }: { runs: Ended[] }) {
  return (
    <ul class="ended">
      {runs.slice(0, 8).map((run) => (
        <li>
          <span>{run.mixer}, lr {rate(run.lr)}, seed {run.seed}</span>
          <span class="push"><State state={run.state ?? 'failed'} /></span>
          <span class="second">
            <RunName id={run.run} />
            {run.time != null && <span class="quiet">{ago(run.time)}</span>}
            {run.accuracy != null && <span class="push">{percent(run.accuracy)}</span>}
          </span>
          {(run.state ?? 'failed') === 'failed' && run.reason && <p class="bad">{run.reason}</p>}
        </li>
      ))}
    </ul>
  );
}

const have = (paper: PaperItem): number => Math.max(paper.kept_runs, paper.ended_runs);

const needsRuns = (paper: PaperItem): boolean => paper.planned_runs > 0;

function papersNote(lab: Lab): string {
  if (lab.papers_ready === false) return 'being judged';
  return `${lab.papers.filter((paper) => have(paper) > 0).length} of ${lab.papers.filter(needsRuns).length} figures and tables have runs`;
}

// Those of which something is known.
function PaperStates({ papers }: { papers: PaperItem[] }) {
  if (!papers.some((paper) => have(paper) > 0)) return <p class="quiet">No runs of the papers' figures at a scale that counts (smoke does not). Try <code>mneme reproduce A.fig1</code>.</p>;
  return (
    <div class="scroll">
      <table class="items">
        <thead><tr><th>item</th><th>about</th><th>scale</th><th>runs</th><th>claims</th></tr></thead>
        <tbody>
          {papers.filter((paper) => have(paper) > 0).map((paper) => (
            <tr>
              <td><a href={link(['papers', paper.item], { scale: paper.scale })}>{paper.item}</a></td>
              <td class="wrap">{paper.title}</td>
              <td class="quiet">{paper.scale}</td>
              <td class="steps">
                <Progress total={paper.planned_runs} parts={[['ended', have(paper)]]} label={`${have(paper)} of ${paper.planned_runs} runs`} />
                <span class="quiet">{have(paper)} / {paper.planned_runs}</span>
              </td>
              <td><VerdictCounts counts={paper} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Notes({ lab }: { lab: Lab }) {
  const notes = [...(lab.damaged ?? []), ...(lab.notices ?? [])];
  if (notes.length === 0) return null;
  return <div class="trouble" role="alert">{notes.slice(0, 12).map((note) => <p>{note}</p>)}{notes.length > 12 && <p class="quiet">and {notes.length - 12} more</p>}</div>;
}

export function Home() {
  const lab = useResource<Lab>(address(['lab']), { every: 10_000 });
  return (
    <Answer of={lab}>
      {(data) => {
        const { machine } = data;
        const used = machine.memory_total && machine.memory_free !== null ? machine.memory_total - machine.memory_free : null;
        return (
          <>
            <PageTitle title="Home" note={data.lab} />
            <Notes lab={data} />
            <div class="columns">
              <div class="main">
                <Card title="Studies" note={data.runs?.total ? `${grouped(data.runs.total)} runs in the lab` : ''}>
                  <Studies studies={data.studies} />
                </Card>
                <Card title="Running now" note={data.workers.length > 0 ? data.workers.length === 1 ? '1 worker' : `${data.workers.length} workers` : ''}>
                  <Workers workers={data.workers} />
                </Card>
                <Card title="Papers" note={papersNote(data)} tools={<a href={link(['papers'])}>all items</a>}><PaperStates papers={data.papers} /></Card>
              </div>
              <div class="side">
                <Card title="Machine">
                  <Facts facts={[
                    ['Host', machine.host],
                    ['Processors', `${machine.processors}, load ${(Array.isArray(machine.load) ? machine.load[0] : machine.load)?.toFixed(1) ?? nothing}`],
                    ['Memory', used === null ? nothing : `${short(used, 'B')} of ${short(machine.memory_total, 'B')} used`],
                    ['Mneme', `${data.mneme}${data.code ? ` (${data.code})` : ''}`],
                  ]} />
                </Card>
                {(data.jobs ?? []).length > 0 && (
                  <Card title="Cluster" note="as the nodes tell"><Cluster jobs={data.jobs ?? []} /></Card>
                )}
                {(data.failures ?? []).length > 0 && (
                  <Card title="Failures"><EndedRuns runs={data.failures ?? []} /></Card>
                )}
                {(data.recent ?? []).length > 0 && (
                  <Card title="Recently finished" tools={<a href={link(['runs'])}>all runs</a>}><EndedRuns runs={data.recent ?? []} /></Card>
                )}
              </div>
            </div>
          </>
        );
      }}
    </Answer>
  );
}
