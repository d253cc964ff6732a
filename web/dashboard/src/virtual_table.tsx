// A table of any number of rows: only those on the screen are in the page. Each row is laid out by itself (views.css), so that scrolling
// costs the rows that come in; a table would be laid out as a whole.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualColumn {
  key: string;
  title: string;
  width: number;  // pixels
  number?: boolean;
  cut?: boolean;  // its texts may be too long; clipping is dear, so that it is asked for
  sort?: 'ascending' | 'descending';
}

export interface VirtualRow {
  key: string;
  class?: string;
  cells: () => ComponentChildren[];
}

export const rowHeight = 30;
const beyond = 10;  // rows that are ready above and below the screen

interface LineProps {
  row: VirtualRow;
  index: number;
  columns: VirtualColumn[];
  isCursor: boolean;
  onCursor: (index: number) => void;
}

// Drawn again only if it is another row: scrolling then costs the rows that come in, not all on the screen.
class Line extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const { row, index, columns, isCursor } = this.props;
    return row !== next.row || index !== next.index || columns !== next.columns || isCursor !== next.isCursor;
  }
  render({ row, index, columns, isCursor, onCursor }: LineProps) {
    return (
      <tr role="row" aria-rowindex={index + 2} class={`${row.class ?? ''}${isCursor ? ' cursor' : ''}`} style={{ top: `${index * rowHeight}px` }} onPointerDown={() => onCursor(index)}>
        {row.cells().map((cell, at) => <td role="cell" class={`${columns[at]?.number ? 'number' : ''}${columns[at]?.cut ? ' cut' : ''}`}>{cell}</td>)}
      </tr>
    );
  }
}

export function VirtualTable({ columns, rows, cursor, onSort, onCursor, label }: {
  columns: VirtualColumn[];
  rows: VirtualRow[];
  cursor: number;
  onSort: (key: string, add: boolean) => void;
  onCursor: (index: number) => void;
  label: string;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ from: 0, to: 30 });  // rows on the screen
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const measure = (): void => {
      const from = Math.floor(element.scrollTop / rowHeight);
      const to = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight);
      setSeen((now) => (now.from === from && now.to === to ? now : { from, to }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  // The row that the keyboard is on stays on the screen.
  useEffect(() => {
    const element = frame.current;
    if (!element || cursor < 0) return;
    const top = cursor * rowHeight;
    const head = rowHeight + 4;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight - head) element.scrollTop = top + rowHeight + head - element.clientHeight;
  }, [cursor]);

  const first = Math.max(0, Math.min(seen.from, rows.length) - beyond);
  const last = Math.min(rows.length, seen.to + beyond);
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  return (
    <div class="virtual" ref={frame} tabIndex={0} aria-label={label}>
      <table role="table" style={{ width: `${width}px`, '--columns': columns.map((column) => `minmax(${column.width}px, ${column.key === '' ? 0 : column.width}fr)`).join(' ') }} aria-rowcount={rows.length + 1}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th role="columnheader" class={column.number ? 'number' : ''} aria-sort={column.sort ?? 'none'}>
                {column.title === '' ? null : (
                  <button onClick={(event) => onSort(column.key, event.shiftKey)} title={`Sort by ${column.key} (shift: as a further key)`}>
                    {column.title}{column.sort && <span aria-hidden="true">{column.sort === 'ascending' ? ' ↑' : ' ↓'}</span>}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
          {rows.slice(first, last).map((row, index) => (
            <Line key={row.key} row={row} index={first + index} columns={columns} isCursor={first + index === cursor} onCursor={onCursor} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
