// The grid of a study: cells in rows (mixer and whatever else varies) and columns (the learning rate), seeds inside.
import { isSeed, pointText, shortKey, value } from './format';
import type { Cell, Point, Scalar, Study } from './types';

export interface GridCell {
  column: number;
  cells: Cell[];
  mean: number | null;  // of the accuracies that there are
}

export interface GridRow {
  label: string;
  point: Point;
  cells: GridCell[];
}

export interface Grid {
  xKey: string;
  columns: { value: Scalar; label: string }[];
  rows: GridRow[];
  seeds: number;  // the most in a cell
}

export function gridOf(study: Pick<Study, 'axes' | 'cells'>): Grid {
  const axes = study.axes.filter((axis) => !isSeed(axis.key));
  const several = axes.filter((axis) => axis.values.length > 1);
  const x = axes.find((axis) => shortKey(axis.key) === 'lr') ?? [...several].sort((a, b) => b.values.length - a.values.length)[0] ?? axes[0];
  const xKey = x?.key ?? '';
  const order = (axisKey: string): Scalar[] => axes.find((axis) => axis.key === axisKey)?.values ?? [];

  const values = new Map<string, Scalar>();
  for (const cell of study.cells) values.set(JSON.stringify(cell.point[xKey] ?? null), cell.point[xKey] ?? null);
  const sorted = [...values.values()].sort((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1);
  const columnOf = new Map(sorted.map((one, index) => [JSON.stringify(one), index]));

  // What has one value in the whole study does not name a row, unless nothing else does.
  const rowKeys = [...new Set(study.cells.flatMap((cell) => Object.keys(cell.point)))].filter((key) => key !== xKey && !isSeed(key));
  const varying = rowKeys.filter((key) => new Set(study.cells.map((cell) => JSON.stringify(cell.point[key] ?? null))).size > 1);
  const naming = rowKeys.filter((key) => varying.includes(key) || shortKey(key) === 'mixer');

  const rows = new Map<string, GridRow>();
  let seeds = 1;
  for (const cell of study.cells) {
    const point = Object.fromEntries(naming.map((key) => [key, cell.point[key] ?? null]));
    const key = JSON.stringify(Object.values(point));
    const row = rows.get(key) ?? { label: pointText(point), point, cells: [] };
    rows.set(key, row);
    const column = columnOf.get(JSON.stringify(cell.point[xKey] ?? null)) ?? 0;
    let place = row.cells.find((one) => one.column === column);
    if (!place) row.cells.push(place = { column, cells: [], mean: null });
    place.cells.push(cell);
    seeds = Math.max(seeds, place.cells.length);
  }
  for (const row of rows.values()) for (const place of row.cells) {
    place.cells.sort((a, b) => (a.seed ?? 0) - (b.seed ?? 0));
    const known = place.cells.map((cell) => cell.accuracy).filter((one): one is number => one !== null);
    place.mean = known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
  }
  // Rows in the order of the study file's lists.
  const rank = (row: GridRow): number[] => naming.map((key) => order(key).indexOf(row.point[key] ?? null));
  const ordered = [...rows.values()].sort((a, b) => {
    const [first, second] = [rank(a), rank(b)];
    const differs = first.findIndex((one, index) => one !== second[index]);
    return differs < 0 ? 0 : (first[differs] as number) - (second[differs] as number);
  });
  return { xKey, columns: sorted.map((one) => ({ value: one, label: value(one, xKey) })), rows: ordered, seeds };
}
