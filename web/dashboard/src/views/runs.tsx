// All runs: filtered, sorted, grouped, chosen to be compared.
import { useMemo, useRef, useState } from 'preact/hooks';

import { address, ask, isStatic } from '../client';
import { saveCsv } from '../download';
import { grouped, nothing, shortKey, value } from '../format';
import { useKeys } from '../keyboard';
import { PageTitle, Trouble } from '../page';
import { states } from '../palette';
import { useResource } from '../resource';
import { go, runLink, setQuery } from '../router';
import {
  columnAt, constantColumns, groupRows, orderText, parseOrder, patchRuns, sameColumns, search, sortGroups, sortRows, spread, type Group, type Row,
} from '../run_table';
import { choose, clearSelection, useSelection } from '../selection';
import { compareLink, State } from '../table';
import type { Column, Runs } from '../types';
import { VirtualTable, type VirtualColumn, type VirtualRow } from '../virtual_table';
import { ColumnChoice, FilterBar, GroupChoice } from './runs_tools';

// Wide, and rarely what somebody looks for first.
const hiddenAtFirst = new Set(['reason', 'budget', 'studies', 'note']);
// What a phone has room for.
const narrow = matchMedia('(max-width: 640px)');
const firstOnPhones = new Set(['id', 'state', 'mixer', 'lr', 'test']);

function useRuns(filters: string[]) {
  const query = new URLSearchParams(filters.map((filter) => ['filter', filter]));
  return useResource<Runs>(address(['runs'], isStatic ? undefined : query), {
    pause: 700,
    patch: async (old, ids, signal) => {
      const whole = (): Promise<Runs> => ask<Runs>(address(['runs'], query), signal);
      if (ids.length > 200) return whole();
      const some = new URLSearchParams(query);
      some.set('ids', ids.join(','));
      const news = await ask<Runs>(address(['runs'], some), signal);
      if (!news.partial) return news;
      return sameColumns(old.columns, news.columns) ? patchRuns(old, news, ids) : whole();
    },
  });
}

const idDigits = (): number => (narrow.matches ? 6 : 8);
const isMeasure = (column: Column): boolean => column.unit === 'fraction' || column.unit === 's' || column.key === 'steps';

function columnWidth(column: Column, rows: Row[], at: number): number {
  let longest = shortKey(column.key).length + (narrow.matches ? 1 : 2);
  const stride = Math.max(1, Math.floor(rows.length / 500));
  for (let i = 0; i < rows.length; i += stride) {
    longest = Math.max(longest, column.key === 'id' ? idDigits() : value(rows[i]?.[at] ?? null, column.key, column.unit).length);
  }
  const [margin, letter] = narrow.matches ? [11, 7] : [26, 7.4];
  return Math.min(240, Math.round(margin + letter * longest + (column.key === 'state' ? 16 : 0)));
}

function groupCell(column: Column, at: number, group: Group) {
  const values = group.rows.map((row) => row[at]);
  if (isMeasure(column)) {
    const found = spread(values);
    if (!found) return nothing;
    const show = (x: number): string => value(x, column.key, column.unit);
    const range = `${found.count} runs, ${show(found.least)} to ${show(found.greatest)}`;
    return <span title={range}>{show(found.mean)}{found.count > 1 && <span class="quiet"> ± {show(found.deviation).replace('\u202f%', '')}</span>}</span>;
  }
  const different = new Set(values);
  if (different.size === 1 && column.key !== 'state') return value(values[0] ?? null, column.key, column.unit);
  if (column.key === 'state') {
    const counts = [...states, 'new'].map((state) => [state, values.filter((one) => one === state).length] as const).filter(([, count]) => count > 0);
    return <span class="counts" title={counts.map(([state, count]) => `${count} ${state}`).join(', ')}>{counts.map(([state, count]) => <State state={state} {...(counts.length > 1 ? { count } : {})} />)}</span>;
  }
  return <span class="quiet">{different.size} values</span>;
}

const none: Runs = { generation: 0, columns: [], rows: [] };

export function RunsView({ query }: { query: URLSearchParams }) {
  const filters = query.getAll('filter');
  const runs = useRuns(filters);
  // While another question is under way, or was refused, the last answer stays: the table does not flicker, the filter keeps the focus.
  const last = useRef<Runs | null>(null);
  if (runs.data) last.current = runs.data;
  const shown = runs.data ?? last.current;
  return (
    <>
      <PageTitle title="Runs" />
      {shown === null && !runs.error ? <div class="loading" aria-busy="true">Loading…</div> : (
        <RunTable runs={shown ?? none} query={query} filters={filters} text={query.get('q') ?? ''} error={runs.data === null ? runs.error : null} />
      )}
    </>
  );
}

function RunTable({ runs, query, filters, text, error }: { runs: Runs; query: URLSearchParams; filters: string[]; text: string; error: Error | null }) {
  const sort = query.get('sort') ?? '';
  const group = (query.get('group') ?? '').split(',').filter(Boolean);
  const chosen = useSelection();
  const [cursor, setCursor] = useState(-1);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState<string | null>(null);

  const { columns } = runs;
  const idAt = columnAt(columns, 'id');
  const order = parseOrder(sort);
  const shown = useMemo(() => {
    const asked = query.get('columns');
    if (asked !== null) return new Set(asked.split(','));
    const constant = constantColumns(runs);
    return new Set(columns.map((column) => column.key)
      .filter((key) => (narrow.matches ? firstOnPhones.has(key) : !constant.has(key) && !hiddenAtFirst.has(key))));
  }, [runs, query.get('columns')]);
  const found = useMemo(() => search(runs, text), [runs, text]);
  const sorted = useMemo(() => sortRows(found, columns, order), [found, sort]);
  const groups = useMemo(() => group.length === 0 ? null : sortGroups(groupRows(sorted, columns, group), columns, order), [sorted, group.join()]);

  const visible = columns.map((column, at) => ({ column, at })).filter(({ column }) => shown.has(column.key) || group.includes(column.key));
  const first = visible.filter(({ column }) => group.includes(column.key));
  // Of a group its numbers matter; other columns are there if they are asked for. An opened group has the ids in its first column.
  const asked = query.has('columns');
  const rest = visible.filter(({ column }) => !group.includes(column.key)
    && (groups === null || (column.key !== 'id' && (asked || isMeasure(column) || column.key === 'state'))));
  const ordered = [...first, ...rest];
  const widths = useMemo(() => new Map(ordered.map(({ column, at }) => [column.key, columnWidth(column, runs.rows, at)])), [runs, query.toString()]);
  const head = useMemo<VirtualColumn[]>(() => [
    { key: '', title: '', width: 34 },
    ...ordered.map(({ column, at }) => {
      const by = order.find(({ key }) => columnAt(columns, key) === at);
      const isNumber = runs.rows.some((row) => typeof row[at] === 'number');
      return {
        key: column.key,
        title: shortKey(column.key),
        width: (widths.get(column.key) ?? 90) + (groups && isMeasure(column) ? 60 : 0) + (groups && column === first[0]?.column ? 64 : 0) + (groups && column.key === 'state' ? 60 : 0),
        number: isNumber,
        cut: !isNumber && column.key !== 'id' && column.key !== 'state' || groups !== null,
        ...(by ? { sort: by.descending ? 'descending' as const : 'ascending' as const } : {}),
      };
    }),
  ], [runs, query.toString()]);

  const ids = (rows: Row[]): string[] => rows.map((row) => String(row[idAt]));
  const onChoose = (id: string, on: boolean, range: boolean): void => {
    if (range && anchor !== null) {
      const all = ids(sorted);
      const [a, b] = [all.indexOf(anchor), all.indexOf(id)];
      if (a >= 0 && b >= 0) choose(all.slice(Math.min(a, b), Math.max(a, b) + 1), on);
    }
    choose([id], on);
    setAnchor(id);
  };
  const toggle = (key: string): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  type Line = VirtualRow & { act: () => void; choose: (on: boolean) => void; isChosen: boolean };
  const runLine = (row: Row, inGroup: boolean): Line => {
    const id = String(row[idAt]);
    const isChosen = chosen.has(id);
    return {
      key: id,
      class: `${isChosen ? 'chosen' : ''}${inGroup ? ' inside' : ''}`,
      act: () => go(runLink(id)),
      choose: (on) => choose([id], on),
      isChosen,
      cells: () => [
        <input type="checkbox" checked={isChosen} aria-label={`Choose run ${id}`} onClick={(event) => onChoose(id, event.currentTarget.checked, event.shiftKey)} />,
        ...ordered.map(({ column, at }, index) => {
          if (column.key === 'id' || (inGroup && index === 0)) return <a class="mono" href={runLink(id)}>{id.slice(0, idDigits())}</a>;
          if (column.key === 'state') return <State state={String(row[at] ?? '')} />;
          return <span title={typeof row[at] === 'string' ? String(row[at]) : undefined}>{value(row[at] ?? null, column.key, column.unit)}</span>;
        }),
      ],
    };
  };
  const groupLine = (one: Group): Line => {
    const members = ids(one.rows);
    const isChosen = members.every((id) => chosen.has(id));
    return {
      key: `group ${one.key}`,
      class: 'group',
      act: () => toggle(one.key),
      choose: (on) => choose(members, on),
      isChosen,
      cells: () => [
        <input type="checkbox" checked={isChosen} aria-label="Choose the runs of this group" onClick={(event) => choose(members, event.currentTarget.checked)} />,
        ...ordered.map(({ column, at }, index) => (index === 0
          ? <button class="open" aria-expanded={open.has(one.key)} onClick={() => toggle(one.key)}>{open.has(one.key) ? '▾' : '▸'} {groupCell(column, at, one)} <span class="quiet">{one.rows.length}</span></button>
          : groupCell(column, at, one))),
      ],
    };
  };
  const lines = useMemo<Line[]>(() => groups === null
    ? sorted.map((row) => runLine(row, false))
    : groups.flatMap((one) => [groupLine(one), ...(open.has(one.key) ? one.rows.map((row) => runLine(row, true)) : [])]),
  [sorted, groups, open, chosen, query.toString(), anchor]);

  const move = (by: number): void => setCursor((now) => Math.max(0, Math.min(lines.length - 1, now + by)));
  const compareChosen = (): void => {
    if (chosen.size > 0) go(compareLink([...chosen]));
  };
  useKeys('Runs', [
    { keys: 'j or ArrowDown', what: 'next row', act: () => move(1) },
    { keys: 'k or ArrowUp', what: 'previous row', act: () => move(-1) },
    { keys: 'PageDown', what: 'twenty rows down', act: () => move(20) },
    { keys: 'PageUp', what: 'twenty rows up', act: () => move(-20) },
    { keys: 'Home', what: 'first row', act: () => setCursor(0) },
    { keys: 'End', what: 'last row', act: () => setCursor(lines.length - 1) },
    { keys: 'Enter', what: 'open the run, or the group', act: () => lines[cursor]?.act() },
    { keys: 'x or space', what: 'choose the run to compare', act: () => lines[cursor]?.choose(!lines[cursor]?.isChosen) },
    { keys: 'c', what: 'compare the chosen runs', act: compareChosen },
    { keys: '/', what: 'filter', act: () => document.getElementById('filter')?.focus() },
  ]);

  const onSort = (key: string, add: boolean): void => {
    const now = order.find((one) => one.key === key);
    const column = columns[columnAt(columns, key)];
    const downFirst = column !== undefined && column.unit === 'fraction';
    const next = !now ? { key, descending: downFirst } : now.descending !== downFirst ? null : { key, descending: !now.descending };
    setQuery({ sort: orderText([...(add ? order.filter((one) => one.key !== key) : []), ...(next ? [next] : [])]) });
  };
  const save = (): void => saveCsv({ columns: ordered.map(({ column }) => column.key), rows: sorted.map((row) => ordered.map(({ at }) => row[at] ?? null)) }, 'runs');
  const total = runs.total ?? runs.rows.length;
  return (
    <div class="runs">
      <div class="bar">
        <FilterBar filters={filters} text={text} columns={columns} />
        <GroupChoice columns={columns} group={group} />
        <ColumnChoice columns={columns} shown={shown} />
        <button onClick={save} title="Save these rows as CSV">CSV</button>
        <span class="quiet push" role="status">
          {groups ? `${grouped(groups.length)} groups (mean ± standard deviation), ` : ''}{grouped(sorted.length)} of {grouped(total)} runs
        </span>
      </div>
      {error && <Trouble error={error} />}
      <VirtualTable columns={head} rows={lines} cursor={cursor} onSort={onSort} onCursor={setCursor} label="Runs" />
      {chosen.size > 0 && (
        <div class="chosen-bar" role="status">
          <b>{chosen.size} chosen</b>
          <button class="strong" onClick={compareChosen}>Compare</button>
          <button onClick={clearSelection}>Clear</button>
        </div>
      )}
    </div>
  );
}
