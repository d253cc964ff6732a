// From compared runs to series of a chart.
import type { Series } from '../chart_spec';
import { band, points, smooth, thin } from '../curves';
import { isSeed, pointText, shortKey } from '../format';
import { seriesColor, seriesDash } from '../palette';
import type { ComparedRun, Comparison, Point } from '../types';

export const xAxes = {
  step: { label: 'steps', column: 'step' },
  tokens: { label: 'tokens', column: 'tokens' },
  time: { label: 'seconds', column: 'seconds' },
  flops: { label: 'FLOPs', column: 'flops' },
} as const;
export type XAxis = keyof typeof xAxes;

export interface Measure {
  column: string;
  title: string;
  percent?: boolean;
}

export const measures: Measure[] = [
  { column: 'accuracy', title: 'Validation accuracy', percent: true },
  { column: 'loss', title: 'Validation loss' },
  { column: 'train_loss', title: 'Training loss' },
  { column: 'train_accuracy', title: 'Training accuracy', percent: true },
  { column: 'exact_match', title: 'Exact match', percent: true },
  { column: 'lr', title: 'Learning rate' },
  { column: 'gradient_norm', title: 'Gradient norm' },
  { column: 'gradient_norm_max', title: 'Largest gradient norm' },
  { column: 'parameter_norm', title: 'Parameter norm' },
  { column: 'step_seconds', title: 'Seconds per step' },
];

// Mixer and rate first: what follows from these (how a mixer counts positions, say) then adds nothing to a name.
const rank = (key: string): number => ({ mixer: 0, lr: 1 })[shortKey(key)] ?? 2;

// Runs by id -> as few words as tell them from the others, seeds apart.
export function familyNames(runs: ComparedRun[]): Map<string, string> {
  const points = runs.map((run) => Object.fromEntries(Object.entries(run.point).filter(([key]) => !isSeed(key))) as Point);
  const keys = [...new Set(points.flatMap((point) => Object.keys(point)))].sort((a, b) => rank(a) - rank(b));
  const part = (point: Point, some: string[]): Point => Object.fromEntries(some.map((key) => [key, point[key] ?? null]));
  const kinds = (some: string[]): number => new Set(points.map((point) => JSON.stringify(part(point, some)))).size;
  const telling: string[] = [];
  for (const key of keys) if (kinds([...telling, key]) > kinds(telling)) telling.push(key);
  // Where all have one mixer it still says what this is about.
  const named = (run: ComparedRun, point: Point): Point => (telling.some((key) => shortKey(key) === 'mixer') ? point : { mixer: run.label.split(',')[0] ?? '', ...point });
  return new Map(runs.map((run, index) => [run.id, pointText(named(run, part(points[index] ?? {}, telling)))]));
}

export function seriesOf(comparison: Comparison, x: string, y: string, how: { bands: boolean; weight: number; dark: boolean }): Series[] {
  // Runs of one point are seeds of one thing.
  const names = familyNames(comparison.runs);
  const family = (run: ComparedRun): string => names.get(run.id) ?? run.label;
  const families = new Map<string, ComparedRun[]>();
  for (const run of comparison.runs) families.set(family(run), [...(families.get(family(run)) ?? []), run]);
  const curve = (run: ComparedRun) => smooth(points(run.curves, x, y), how.weight);
  const style = (index: number) => ({ color: seriesColor(index, how.dark), dash: seriesDash(index) });
  if (how.bands) {
    return [...families].map(([name, runs], index) => {
      const ids = runs.map((run) => run.id);
      const curves = runs.map(curve).filter((one) => one.length > 0);
      if (curves.length <= 1) return { label: name, ...style(index), runs: ids, curve: thin(curves[0] ?? []) };
      const over = band(curves);
      return { label: `${name} (${runs.length} seeds)`, ...style(index), runs: ids, curve: over.map(({ x: at, mean }) => [at, mean]), band: over };
    });
  }
  // One by one: the colour is that of the family, so seeds still belong together.
  const place = new Map([...families.keys()].map((name, index) => [name, index]));
  const single = families.size === 1;
  return comparison.runs.map((run, index) => {
    const label = run.seed === null ? `${family(run)} ${run.id.slice(0, 8)}` : `${family(run)}, seed ${run.seed}`;
    return { label, ...style(single ? index : place.get(family(run)) ?? 0), runs: [run.id], curve: thin(curve(run)) };
  });
}
