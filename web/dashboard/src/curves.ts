// Curves: columns to points, smoothing, bands over seeds, and where two runs part.
import type { Curves } from './types';

export type XY = [number, number];
export interface Band {
  x: number;
  mean: number;
  lo: number;
  hi: number;
}

// What depends on the clock or is no measurement cannot tell two runs apart.
const notCompared = new Set(['step', 'tokens', 'seconds', 'flops', 'step_seconds']);

export function points(curves: Curves, x: string, y: string): XY[] {
  const xAt = curves.columns.indexOf(x);
  const yAt = curves.columns.indexOf(y);
  if (xAt < 0 || yAt < 0) return [];
  const result: XY[] = [];
  for (const row of curves.rows) {
    const [first, second] = [row[xAt], row[yAt]];
    if (typeof first === 'number' && typeof second === 'number') result.push([first, second]);
  }
  return result;
}

// Later rows replace earlier ones of the same step: a run that was resumed writes some steps again.
export function mergeCurves(old: Curves, news: Curves): Curves {
  if (news.rows.length === 0) return old;
  const at = news.columns.indexOf('step');
  const from = news.rows[0]?.[at] ?? 0;
  const kept = old.rows.filter((row) => (row[old.columns.indexOf('step')] ?? 0) < (from as number));
  return { columns: news.columns, rows: [...kept, ...news.rows] };
}

export function lastStep(curves: Curves): number {
  return curves.rows.at(-1)?.[curves.columns.indexOf('step')] ?? -1;
}

// An exponential moving average that does not start at zero, as TensorBoard's; weight 0 leaves the curve as it is.
export function smooth(curve: XY[], weight: number): XY[] {
  if (weight <= 0) return curve;
  let average = 0;
  let share = 0;
  return curve.map(([x, y]) => {
    average = weight * average + (1 - weight) * y;
    share = weight * share + (1 - weight);
    return [x, average / share];
  });
}

// At most about `most` points; of each stretch the least and the greatest stay, so that no spike is lost.
export function thin(curve: XY[], most = 600): XY[] {
  if (curve.length <= most) return curve;
  const stretch = Math.ceil((2 * curve.length) / most);
  const result: XY[] = [];
  for (let start = 0; start < curve.length; start += stretch) {
    const part = curve.slice(start, start + stretch);
    let least = part[0] as XY;
    let greatest = part[0] as XY;
    for (const point of part) {
      if (point[1] < least[1]) least = point;
      if (point[1] > greatest[1]) greatest = point;
    }
    result.push(...(least[0] <= greatest[0] ? [least, greatest] : [greatest, least]));
  }
  return result;
}

// y at x on the straight line between neighbours; null outside the curve.
export function at(curve: XY[], x: number): number | null {
  let low = 0;
  let high = curve.length - 1;
  if (high < 0 || x < (curve[0] as XY)[0] || x > (curve[high] as XY)[0]) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((curve[middle] as XY)[0] <= x) low = middle;
    else high = middle;
  }
  const [x0, y0] = curve[low] as XY;
  const [x1, y1] = curve[high] as XY;
  return x1 === x0 || x <= x0 ? y0 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

// Mean, least and greatest over several curves, at every x that one of them has and over those that reach so far.
export function band(curves: XY[][], most = 400): Band[] {
  let xs = [...new Set(curves.flatMap((curve) => curve.map(([x]) => x)))].sort((a, b) => a - b);
  if (xs.length > most) {
    const stretch = xs.length / most;
    xs = Array.from({ length: most }, (_, i) => xs[Math.min(xs.length - 1, Math.round(i * stretch))] as number);
  }
  return xs.map((x) => {
    const values = curves.map((curve) => at(curve, x)).filter((y): y is number => y !== null);
    const sum = values.reduce((total, y) => total + y, 0);
    return { x, mean: sum / values.length, lo: Math.min(...values), hi: Math.max(...values) };
  });
}

// The first step that both have measured and at which a measurement differs; null if there is none.
export function firstDifference(a: Curves, b: Curves): number | null {
  const shared = a.columns.filter((column) => b.columns.includes(column) && !notCompared.has(column));
  const stepOf = new Map(b.rows.map((row) => [row[b.columns.indexOf('step')], row]));
  for (const row of a.rows) {
    const step = row[a.columns.indexOf('step')];
    const other = stepOf.get(step ?? null);
    if (!other || typeof step !== 'number') continue;
    for (const column of shared) {
      const [mine, theirs] = [row[a.columns.indexOf(column)] ?? null, other[b.columns.indexOf(column)] ?? null];
      if (mine !== theirs) return step;
    }
  }
  return null;
}
