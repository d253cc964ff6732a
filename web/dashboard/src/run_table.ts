// The table of runs: finding, sorting and grouping rows. Pure functions over what the server sent.
import { value } from './format';
import type { Column, Runs, Scalar } from './types';

export type Row = Scalar[];

export interface Group {
  key: string;
  values: Scalar[];  // of the fields that it is grouped by
  rows: Row[];
}

export interface Spread {
  mean: number;
  deviation: number;  // of the sample; 0 for one run
  least: number;
  greatest: number;
  count: number;
}

// Shown even if all runs have the same value.
const always = new Set(['id', 'state', 'mixer', 'lr', 'seed', 'validation', 'test', 'steps', 'seconds']);

// 'mixer' and 'model.mixer' are the same field to a reader.
export function columnAt(columns: Column[], key: string): number {
  const exact = columns.findIndex((column) => column.key === key);
  return exact >= 0 ? exact : columns.findIndex((column) => column.key.endsWith(`.${key}`));
}

export function constantColumns(runs: Runs): Set<string> {
  const constant = new Set<string>();
  if (runs.rows.length < 2) return constant;
  runs.columns.forEach((column, index) => {
    const first = runs.rows[0]?.[index];
    if (!always.has(column.key) && runs.rows.every((row) => row[index] === first)) constant.add(column.key);
  });
  return constant;
}

// Every word must be somewhere in the row.
export function search(runs: Runs, text: string): Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return runs.rows;
  return runs.rows.filter((row) => {
    const line = row.map((cell, index) => `${cell ?? ''} ${typeof cell === 'number' ? value(cell, runs.columns[index]?.key, runs.columns[index]?.unit) : ''}`)
      .join('\u0001').toLowerCase();
    return words.every((word) => line.includes(word));
  });
}

// Numbers before texts, nothing last in either direction.
export function compare(a: Scalar | undefined, b: Scalar | undefined, descending: boolean): number {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA && noB ? 0 : noA ? 1 : -1;
  let order: number;
  if (typeof a === 'number' && typeof b === 'number') order = a - b;
  else if (typeof a === typeof b) order = String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  else order = typeof a === 'number' ? -1 : 1;
  return descending ? -order : order;
}

export interface Order {
  key: string;
  descending: boolean;
}

export function parseOrder(text: string | null): Order[] {
  return (text ?? '').split(',').filter(Boolean).map((part) =>
    part.startsWith('-') ? { key: part.slice(1), descending: true } : { key: part, descending: false });
}

export function orderText(order: Order[]): string {
  return order.map(({ key, descending }) => (descending ? `-${key}` : key)).join(',');
}

export function sortRows(rows: Row[], columns: Column[], order: Order[]): Row[] {
  const keys = order.map(({ key, descending }) => ({ at: columnAt(columns, key), descending })).filter(({ at }) => at >= 0);
  if (keys.length === 0) return rows;
  return [...rows].sort((a, b) => {
    for (const { at, descending } of keys) {
      const result = compare(a[at], b[at], descending);
      if (result !== 0) return result;
    }
    return 0;
  });
}

export function spread(values: (Scalar | undefined)[]): Spread | null {
  const numbers = values.filter((one): one is number => typeof one === 'number');
  if (numbers.length === 0) return null;
  const mean = numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const squares = numbers.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return {
    mean,
    deviation: numbers.length > 1 ? Math.sqrt(squares / (numbers.length - 1)) : 0,
    least: Math.min(...numbers),
    greatest: Math.max(...numbers),
    count: numbers.length,
  };
}

export function groupRows(rows: Row[], columns: Column[], by: string[]): Group[] {
  const places = by.map((key) => columnAt(columns, key)).filter((at) => at >= 0);
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const values = places.map((at) => row[at] ?? null);
    const key = JSON.stringify(values);
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { key, values, rows: [row] });
  }
  return [...groups.values()];
}

// By the mean of a number, by the value of anything else that all runs of a group share.
export function sortGroups(groups: Group[], columns: Column[], order: Order[]): Group[] {
  const keys = order.map(({ key, descending }) => ({ at: columnAt(columns, key), descending })).filter(({ at }) => at >= 0);
  const measured = groups.map((group) => ({
    group,
    values: keys.map(({ at }) => spread(group.rows.map((row) => row[at]))?.mean ?? group.rows[0]?.[at]),
  }));
  measured.sort((a, b) => {
    for (let i = 0; i < keys.length; ++i) {
      const result = compare(a.values[i], b.values[i], keys[i]?.descending ?? false);
      if (result !== 0) return result;
    }
    return 0;
  });
  return measured.map(({ group }) => group);
}

// The old rows with those of some runs replaced, added or, where they no longer match, taken out.
export function patchRuns(old: Runs, news: Runs, asked: string[]): Runs {
  const at = columnAt(old.columns, 'id');
  const changed = new Map(news.rows.map((row) => [row[at], row]));
  const gone = new Set<Scalar>(asked.filter((id) => !changed.has(id)));
  const rows = old.rows.filter((row) => !gone.has(row[at] ?? null)).map((row) => {
    const fresh = changed.get(row[at] ?? null);
    changed.delete(row[at] ?? null);
    return fresh ?? row;
  });
  return { ...old, generation: news.generation, total: news.total ?? old.total, rows: [...changed.values(), ...rows] };
}

export const sameColumns = (a: Column[], b: Column[]): boolean =>
  a.length === b.length && a.every((column, index) => column.key === b[index]?.key);

// Words of a filter line: quotes keep spaces together.
export function words(line: string): string[] {
  return (line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replace(/["']/g, ''));
}
export const isExpression = (word: string): boolean => /^[\w.]+\s*(=|!=|<=?|>=?)/.test(word);
