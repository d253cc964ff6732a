// Small tables and the pieces that most views use.
import type { ComponentChildren } from 'preact';

import { nothing, percent, stateTitle, value } from './format';
import { link, runLink } from './router';
import type { Claim, TableData, VerdictNumbers } from './types';

export function Card({ title, note, children, tools, wide }: {
  title?: string;
  note?: string;
  children: ComponentChildren;
  tools?: ComponentChildren;
  wide?: boolean;
}) {
  return (
    <section class={wide ? 'card wide' : 'card'}>
      {(title || tools) && (
        <header>
          {title && <h2>{title}</h2>}
          {note && <span class="quiet note">{note}</span>}
          {tools && <div class="tools">{tools}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

// Each card stays in its column, however tall the others grow while the lab changes.
export function Pair({ left, right }: { left: ComponentChildren; right: ComponentChildren }) {
  return (
    <div class="pair">
      <div class="stack">{left}</div>
      <div class="stack">{right}</div>
    </div>
  );
}

// With a count its mark stands for the name.
export function State({ state, count }: { state: string; count?: number }) {
  return (
    <span class={`state state-${state.replace(/[^a-z]/g, '')}`} title={count === undefined ? stateTitle(state) : `${count} ${state}`}>
      <i aria-hidden="true" />{count ?? state}
    </span>
  );
}

export const RunName = ({ id }: { id: string }) => <a class="mono" href={runLink(id)}>{id.slice(0, 8)}</a>;

export function DataTable({ table }: { table: TableData }) {
  const names = table.columns.map((column) => (typeof column === 'string' ? { key: column } : column));
  // Reports format their numbers: a column of such texts is one of numbers, too.
  const looks = (cell: unknown): boolean => typeof cell === 'number' || (typeof cell === 'string' && /^[-–+≥≤]?\s?\d[\d\s.,]*(e[-+]?\d+)?( %)?$/.test(cell));
  const isNumber = (index: number): boolean => table.rows.some((row) => looks(row[index])) && table.rows.every((row) => looks(row[index]) || row[index] === '-' || row[index] === '' || row[index] === null);
  const numeric = names.map((_, index) => isNumber(index));
  return (
    <div class="scroll">
      {table.title && <h3>{table.title}</h3>}
      <table>
        <thead>
          <tr>{names.map((column, index) => <th class={numeric[index] ? 'number' : ''}>{column.key}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell, index) => (
                <td class={numeric[index] ? 'number' : typeof cell === 'string' && cell.length > 40 ? 'wrap' : ''}>{value(cell, names[index]?.key, names[index]?.unit)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.note && <p class="quiet">{table.note}</p>}
    </div>
  );
}

// Long tables wait until they are asked for.
export function Folded({ rows, what, children }: { rows: number; what: string; children: ComponentChildren }) {
  return rows <= 10 ? <>{children}</> : <details><summary>{rows} {what}</summary>{children}</details>;
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, fact]) => (
        <div>
          <dt>{name}</dt>
          <dd>{fact ?? nothing}</dd>
        </div>
      ))}
    </dl>
  );
}

// A share of a whole, split by state.
export function Progress({ parts, total, label }: { parts: [string, number][]; total: number; label: string }) {
  return (
    <div class="progress" role="img" aria-label={label} title={label}>
      {parts.filter(([, n]) => n > 0).map(([state, n]) => (
        <span class={`fill-${state}`} style={{ width: `${(100 * n) / Math.max(1, total)}%` }} />
      ))}
    </div>
  );
}

export const verdictClass = (verdict: string): string => `verdict verdict-${verdict.replace(/[^a-z]/g, '')}`;

export function Claims({ claims }: { claims: Claim[] }) {
  return (
    <ul class="claims">
      {claims.map((claim) => (
        <li>
          <span class={verdictClass(claim.verdict)}>{claim.verdict}</span>
          <div>
            <p>
              {claim.statement} <span class="mono quiet">{claim.id}</span>
            </p>
            {claim.words && <p class="words">“{claim.words}”{claim.where && <span class="quiet"> {claim.where}</span>}</p>}
            {(claim.numbers || claim.reason) && (
              <p class="quiet">{[claim.reason, claim.numbers].filter(Boolean).join(' · ')}</p>
            )}
            {(claim.rule || claim.size) && (
              <details>
                <summary>How it is judged</summary>
                {claim.rule && <p>Confirmed if {claim.rule}.</p>}
                {claim.size && <p class="quiet">Based on: {claim.size}</p>}
              </details>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

export const verdicts = ['confirmed', 'contradicted', 'undecided', 'not_run'] as const;

export function VerdictCounts({ counts }: { counts: VerdictNumbers }) {
  const shown = verdicts.filter((verdict) => counts[verdict] > 0);
  if (shown.length === 0) return <span class="quiet">no claims</span>;
  return (
    <span class="verdicts">
      {shown.map((verdict) => (
        <span class={verdictClass(verdict.replace('_', ''))}>{counts[verdict]} {verdict.replace('_', ' ')}</span>
      ))}
    </span>
  );
}

export const Accuracy = ({ mean }: { mean: number | null | undefined }) => <span class="number">{percent(mean)}</span>;
export const compareLink = (runs: string[]): string => link(['compare'], { runs: runs.join(',') });
