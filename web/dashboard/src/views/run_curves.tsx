// The curves of one run, with one pointer over all of them.
import { useMemo } from 'preact/hooks';

import { Chart } from '../chart';
import { points, thin } from '../curves';
import { seriesColor } from '../palette';
import { Trouble } from '../page';
import type { Resource } from '../resource';
import { setQuery, useRoute } from '../router';
import { useDark } from '../theme';
import type { Curves } from '../types';

interface Panel {
  title: string;
  columns: [string, string][];  // column, label
  percent?: boolean;
}

const panels: Panel[] = [
  { title: 'Loss', columns: [['loss', 'validation'], ['train_loss', 'training']] },
  { title: 'Accuracy', columns: [['accuracy', 'validation'], ['train_accuracy', 'training']], percent: true },
  { title: 'Exact match', columns: [['exact_match', 'validation']], percent: true },
  { title: 'Learning rate', columns: [['lr', 'learning rate']] },
  { title: 'Gradient norm', columns: [['gradient_norm', 'mean, before clipping'], ['gradient_norm_max', 'largest']] },
  { title: 'Parameter norm', columns: [['parameter_norm', 'all parameters']] },
  { title: 'Seconds per step', columns: [['step_seconds', 'seconds']] },
];

export function RunCurves({ id, curves }: { id: string; curves: Resource<Curves> }) {
  const dark = useDark();
  const { query } = useRoute();
  const yLog = query.get('logy') === '1';
  const [from, to] = (query.get('zoom') ?? '').split('~').map(Number);
  const zoom: [number, number] | null = from !== undefined && to !== undefined && to > from ? [from, to] : null;
  const drawn = useMemo(() => panels.map((panel) => ({
    panel,
    series: panel.columns.map(([column, label], index) => ({
      label,
      color: seriesColor(index, dark),
      ...(index > 0 ? { dash: [4, 3] } : {}),
      curve: curves.data ? thin(points(curves.data, 'step', column)) : [],
    })).filter((series) => series.curve.length > 0),
  })).filter(({ series }) => series.length > 0), [curves.data, dark]);
  if (curves.data === null && curves.error) return <Trouble error={curves.error} />;
  if (drawn.length === 0) return <p class="quiet">Nothing has been measured yet.</p>;
  return (
    <>
      <div class="bar settings">
        <label class="check">
          <input type="checkbox" checked={yLog} onChange={(event) => setQuery({ logy: event.currentTarget.checked ? '1' : null })} />
          log y
        </label>
        {zoom && <button onClick={() => setQuery({ zoom: null })}>Show all steps</button>}
        <span class="quiet">loss and accuracy: validation solid, training dashed · gradient norm: mean solid, largest dashed</span>
      </div>
      <div class="charts">
        {drawn.map(({ panel, series }) => (
          <Chart key={panel.title} title={panel.title} series={series} name={`${id.slice(0, 8)}-${panel.title.toLowerCase().replaceAll(' ', '-')}`} group={id} xTitle="step"
                 height={180} yLog={yLog} yPercent={panel.percent && !yLog} xDomain={zoom} dots={series.every((one) => one.curve.length < 3)}
                 onZoom={(domain) => setQuery({ zoom: domain ? domain.map((one) => Math.round(one)).join('~') : null })} />
        ))}
      </div>
    </>
  );
}
