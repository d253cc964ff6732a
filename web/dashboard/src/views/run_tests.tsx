// What a trained model was tested on: other sizes than it was trained on, and signals.
import { useState } from 'preact/hooks';

import { Chart } from '../chart';
import type { XY } from '../curves';
import { count, value } from '../format';
import { seriesColor } from '../palette';
import { Card, DataTable } from '../table';
import { useDark } from '../theme';
import type { Evaluation, Run, Scalar, Scores } from '../types';

type Point = { value: number } & Scores;

// Lengths are mostly doubled from point to point.
function isDoubling(points: Point[]): boolean {
  const values = points.map((point) => point.value);
  return Math.min(...values) > 0 && Math.max(...values) >= 4 * Math.min(...values);
}
const mostTicks = 12;
const ticksOf = (points: Point[]): number[] | undefined => (points.length <= mostTicks ? points.map((point) => point.value) : undefined);

// Scores of one model along an axis of its task.
function AlongAxis({ axis, points, name, group }: { axis: string; points: Point[]; name: string; group: string }) {
  const dark = useDark();
  const curve = (key: 'accuracy' | 'exact_match'): XY[] =>
    points.filter((point) => typeof point[key] === 'number').map((point) => [point.value, point[key] as number]);
  const series = [
    { label: 'accuracy', color: seriesColor(0, dark), curve: curve('accuracy') },
    { label: 'exact match', color: seriesColor(1, dark), dash: [4, 3], curve: curve('exact_match') },
  ].filter((one) => one.curve.length > 0);
  const rows: Scalar[][] = points.map((point) => [point.value, point.accuracy ?? null, point.exact_match ?? null, point.loss ?? null]);
  return (
    <>
      {points.length > 1 && <Chart title="Test accuracy" series={series} name={name} group={group} xTitle={axis} xLog={isDoubling(points)} xTicks={ticksOf(points)} height={200} yPercent dots />}
      {points.length > 1 && series.length > 1 && <p class="legend"><span>solid: accuracy</span><span>dashed: exact match, all answers of an example right</span></p>}
      <details open={points.length <= 1}>
        <summary>Table</summary>
        <DataTable table={{ columns: [axis, { key: 'accuracy', unit: 'fraction' }, { key: 'exact match', unit: 'fraction' }, 'loss'], rows }} />
      </details>
    </>
  );
}

export function Generalisation({ generalisation, id }: { generalisation: NonNullable<Run['generalisation']>; id: string }) {
  const { axis, points } = generalisation;
  return (
    <Card title="Generalisation" note={`by ${axis}`}>
      <AlongAxis axis={axis} points={points} name={`${id.slice(0, 8)}-generalisation`} group={`${id} generalisation`} />
    </Card>
  );
}

export function Evaluations({ evaluations, id }: { evaluations: Evaluation[]; id: string }) {
  return (
    <Card title="Evaluations" note="on other data">
      {evaluations.map(({ name, axis, step, task, points, trouble }) => (
        <section class="evaluation">
          <h3>{axis ? `Along ${axis}` : 'Other options'} <span class="quiet mono">{name}</span></h3>
          <p class="quiet">
            {Object.entries(task ?? {}).map(([key, one]) => `${key} = ${value(one)}`).concat(step == null ? [] : [`weights after step ${count(step)}`],
              points[0]?.examples == null ? [] : [`${count(points[0].examples)} examples per point`]).join(' · ')}
          </p>
          {trouble && <p class="bad">{trouble}</p>}
          {points.length > 0 && <AlongAxis axis={axis || 'length'} points={points.map((point) => ({ ...point, value: point.value ?? point.length ?? 0 }))}
                                           name={`${id.slice(0, 8)}-${name}`} group={`${id} ${name}`} />}
          {[...new Set(points.flatMap((point) => point.notes ?? []))].map((note) => <p class="quiet">{note}</p>)}
        </section>
      ))}
    </Card>
  );
}

export function Traces({ traces, id }: { traces: NonNullable<Run['traces']>; id: string }) {
  const dark = useDark();
  const [shown, setShown] = useState(0);
  const signal = traces[shown] ?? traces[0];
  if (!signal) return null;
  const curve = (values: number[]): XY[] => values.map((y, x) => [x, y]);
  return (
    <Card title="Traces" note="on at 0.5 or more" tools={(
      <select aria-label="Signal" value={String(shown)} onChange={(event) => setShown(Number(event.currentTarget.value))}>
        {traces.map((one, index) => <option value={String(index)}>{one.name}</option>)}
      </select>
    )}>
      <Chart title={signal.name} name={`${id.slice(0, 8)}-trace-${shown + 1}`} group={`${id} traces`} xTitle="position" height={200} series={[
        { label: 'output', color: seriesColor(0, dark), curve: curve(signal.output) },
        { label: 'target', color: seriesColor(1, dark), dash: [4, 3], curve: curve(signal.target) },
        { label: 'input', color: seriesColor(2, dark), dash: [1, 3], curve: curve(signal.input) },
      ]} />
      <p class="legend"><span>solid: output</span><span>dashed: target</span><span>dotted: input</span></p>
    </Card>
  );
}
