// What a trained model was tested on: other sizes than it was trained on, and signals.
import { useState } from 'preact/hooks';

import { Chart } from '../chart';
import type { XY } from '../curves';
import { seriesColor } from '../palette';
import { Card, DataTable } from '../table';
import { useDark } from '../theme';
import type { Run, Scalar } from '../types';

export function Generalisation({ generalisation, id }: { generalisation: NonNullable<Run['generalisation']>; id: string }) {
  const dark = useDark();
  const { axis, points } = generalisation;
  const curve = (key: 'accuracy' | 'exact_match'): XY[] =>
    points.filter((point) => typeof point[key] === 'number').map((point) => [point.value, point[key] as number]);
  const series = [
    { label: 'accuracy', color: seriesColor(0, dark), curve: curve('accuracy') },
    { label: 'exact match', color: seriesColor(1, dark), dash: [4, 3], curve: curve('exact_match') },
  ].filter((one) => one.curve.length > 0);
  const rows: Scalar[][] = points.map((point) => [point.value, point.accuracy ?? null, point.exact_match ?? null, point.loss ?? null]);
  return (
    <Card title="Generalisation" note={`by ${axis}`}>
      <Chart title="Test accuracy" series={series} name={`${id.slice(0, 8)}-generalisation`} group={`${id} generalisation`} xTitle={axis} height={200} yPercent dots />
      <details>
        <summary>Table</summary>
        <DataTable table={{ columns: [axis, { key: 'accuracy', unit: 'fraction' }, { key: 'exact match', unit: 'fraction' }, 'loss'], rows }} />
      </details>
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
    <Card title="Traces" note="on from 0.5" tools={(
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
