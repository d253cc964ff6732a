// A table of any number of rows: only those on the screen are in the page.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualColumn {
  key: string;
  title: string;
  width: number;  // pixels
  number?: boolean;
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
      <tr aria-rowindex={index + 2} class={`${row.class ?? ''}${isCursor ? ' cursor' : ''}`} onPointerDown={() => onCursor(index)}>
        {row.cells().map((cell, at) => <td class={columns[at]?.number ? 'number' : ''}>{cell}</td>)}
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
      <table style={{ width: `${width}px` }} aria-rowcount={rows.length + 1}>
        <colgroup>{columns.map((column) => <col style={{ width: `${column.width}px` }} />)}</colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <th class={column.number ? 'number' : ''} aria-sort={column.sort ?? 'none'}>
                {column.title === '' ? null : (
                  <button onClick={(event) => onSort(column.key, event.shiftKey)} title={`Sort by ${column.key} (shift: as a further key)`}>
                    {column.title}{column.sort && <span aria-hidden="true">{column.sort === 'ascending' ? ' ↑' : ' ↓'}</span>}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true"><td class="gap" colSpan={columns.length} style={{ height: `${first * rowHeight}px` }} /></tr>}
          {rows.slice(first, last).map((row, index) => (
            <Line key={row.key} row={row} index={first + index} columns={columns} isCursor={first + index === cursor} onCursor={onCursor} />
          ))}
          {last < rows.length && <tr aria-hidden="true"><td class="gap" colSpan={columns.length} style={{ height: `${(rows.length - last) * rowHeight}px` }} /></tr>}
        </tbody>
      </table>
    </div>
  );
}
