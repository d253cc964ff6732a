// What stands above the table of runs: filters, groups and columns.
import { useEffect, useRef, useState } from 'preact/hooks';

import { isStatic } from '../client';
import { isExpression, words } from '../run_table';
import { setQuery } from '../router';
import type { Column } from '../types';

export function FilterBar({ filters, text, columns }: { filters: string[]; text: string; columns: Column[] }) {
  const input = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState(text);
  useEffect(() => setDraft(text), [text]);
  // Words are searched for as they are typed; an expression is asked when it is entered.
  const onInput = (line: string): void => {
    setDraft(line);
    if (!words(line).some(isExpression)) setQuery({ q: line.trim() });
  };
  const onEnter = (): void => {
    const parts = words(draft);
    const expressions = isStatic ? [] : parts.filter(isExpression);
    const rest = parts.filter((part) => !expressions.includes(part)).join(' ');
    setQuery({ filter: [...new Set([...filters, ...expressions])], q: rest });
    setDraft(rest);
  };
  return (
    <div class="filters">
      <input ref={input} id="filter" type="search" value={draft} list="filter-keys" spellcheck={false} autocomplete="off"
             aria-label="Filter runs"
             placeholder={isStatic ? 'Search' : 'Filter: mixer=mamba lr>1e-3 test>=90% task.length=64, or any word'}
             onInput={(event) => onInput(event.currentTarget.value)}
             onKeyDown={(event) => {
               if (event.key === 'Enter') onEnter();
               if (event.key === 'Backspace' && draft === '' && filters.length > 0) setQuery({ filter: filters.slice(0, -1) });
             }} />
      <datalist id="filter-keys">{columns.map((column) => <option value={`${column.key}=`} />)}</datalist>
      {filters.map((filter) => (
        <button class="chip" onClick={() => setQuery({ filter: filters.filter((one) => one !== filter) })} title="Remove this filter">
          <span class="mono">{filter}</span> ×
        </button>
      ))}
    </div>
  );
}

export function GroupChoice({ columns, group }: { columns: Column[]; group: string[] }) {
  const free = columns.filter((column) => column.key !== 'id' && !group.includes(column.key));
  return (
    <div class="choice">
      <label>
        Group by{' '}
        <select id="group" value="" onChange={(event) => {
          const key = event.currentTarget.value;
          if (key) setQuery({ group: [...group, key].join(',') });
          event.currentTarget.value = '';
        }}>
          <option value="">{group.length > 0 ? 'and …' : 'nothing'}</option>
          {free.map((column) => <option value={column.key}>{column.key}</option>)}
        </select>
      </label>
      {group.map((key) => (
        <button class="chip" onClick={() => setQuery({ group: group.filter((one) => one !== key).join(',') })} title="Do not group by this">{key} ×</button>
      ))}
    </div>
  );
}

export function ColumnChoice({ columns, shown }: { columns: Column[]; shown: Set<string> }) {
  return (
    <details class="menu">
      <summary>Columns</summary>
      <div>
        {columns.map((column) => (
          <label>
            <input type="checkbox" checked={shown.has(column.key)} onChange={(event) => {
              const next = new Set(shown);
              if (event.currentTarget.checked) next.add(column.key);
              else next.delete(column.key);
              setQuery({ columns: columns.map((one) => one.key).filter((key) => next.has(key)).join(',') });
            }} />
            {column.key}
          </label>
        ))}
        <button onClick={() => setQuery({ columns: null })}>Reset columns</button>
      </div>
    </details>
  );
}
