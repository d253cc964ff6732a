// The heat map of a study: shade is mean accuracy, every dot a seed, its colour and shape its state.
import { render } from 'preact';

import { saveCsv, savePng, saveSvg } from './download';
import { percent, shortKey } from './format';
import { gridOf, type Grid } from './grid_cells';
import { states } from './palette';
import { runLink } from './router';
import { StateMark } from './state_marks';
import { Card, compareLink } from './table';
import { useDark } from './theme';
import { hideTooltip, showTooltip } from './tooltip';
import type { Cell, Study } from './types';

const font = 'system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", sans-serif';
const dot = 5;
const rowLetters = 38;
const columnLetters = 16;
const shorten = (label: string, most: number): string => (label.length > most ? `${label.slice(0, most - 1)}…` : label);

function sizes(grid: Grid) {
  const inRow = grid.seeds <= 4 ? grid.seeds : Math.ceil(Math.sqrt(grid.seeds));
  const lines = Math.ceil(grid.seeds / inRow);
  const longest = Math.max(4, ...grid.rows.map((row) => row.label.length));
  const widest = Math.max(0, ...grid.columns.map((column) => shorten(column.label, columnLetters).length));
  return {
    inRow,
    cellWidth: Math.max(46, inRow * 13 + 10, widest * 6.4 + 10),
    cellHeight: Math.max(30, lines * 13 + 10),
    left: Math.min(260, 16 + longest * 6.7),
    top: 26,
  };
}

function tip(cell: Cell, grid: Grid): Record<string, string> {
  const lines: Record<string, string> = {};
  for (const [key, stored] of Object.entries(cell.point)) lines[shortKey(key)] = key === grid.xKey ? grid.columns.find((column) => column.value === stored)?.label ?? '' : String(stored);
  if (cell.seed !== null) lines.seed = String(cell.seed);
  lines.state = cell.state;
  if (cell.accuracy !== null) lines.accuracy = percent(cell.accuracy);
  if (cell.run) lines.run = cell.run;
  return lines;
}

// With explicit colours and without style sheets, so that it can be saved as it is.
export function GridDrawing({ grid, dark, title }: { grid: Grid; dark: boolean; title: string }) {
  const { inRow, cellWidth, cellHeight, left, top } = sizes(grid);
  const ink = dark ? '#D5DAE0' : '#333333';
  const quiet = dark ? '#98A1AB' : '#767676';
  const shade = dark ? '#4FA8E0' : '#0072B2';
  const width = left + grid.columns.length * cellWidth + 4;
  const height = top + grid.rows.length * cellHeight + 30;
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox={`0 0 ${width} ${height}`} width={width} height={height} font-family={font} font-size={12} role="group" aria-label={title}>
      {grid.columns.map((column, index) => (
        <text x={left + (index + 0.5) * cellWidth} y={top - 8} text-anchor="middle" fill={quiet} font-size={11}>{shorten(column.label, columnLetters)}</text>
      ))}
      {grid.rows.map((row, line) => (
        <g>
          <text x={left - 10} y={top + (line + 0.5) * cellHeight + 4} text-anchor="end" fill={ink}>{shorten(row.label, rowLetters)}</text>
          {row.cells.map((place) => {
            const x = left + place.column * cellWidth;
            const y = top + line * cellHeight;
            const runs = place.cells.map((cell) => cell.run).filter((run): run is string => run !== null);
            const lines = Math.ceil(place.cells.length / inRow);
            return (
              <g>
                <a href={runs.length > 0 ? compareLink(runs) : undefined} aria-label={`${row.label}, ${grid.columns[place.column]?.label}: mean ${percent(place.mean)}`}>
                  <rect x={x + 1} y={y + 1} width={cellWidth - 2} height={cellHeight - 2} rx={3} fill={place.mean === null ? quiet : shade} fill-opacity={place.mean === null ? 0.07 : 0.04 + 0.4 * place.mean} />
                </a>
                {place.cells.map((cell, index) => {
                  const inLine = Math.min(inRow, place.cells.length - Math.floor(index / inRow) * inRow);
                  const dx = x + cellWidth / 2 + ((index % inRow) - (inLine - 1) / 2) * 13;
                  const dy = y + cellHeight / 2 + (Math.floor(index / inRow) - (lines - 1) / 2) * 13;
                  return (
                    <a href={cell.run && cell.state !== 'waiting' ? runLink(cell.run) : undefined} data-state={cell.state}
                       onPointerMove={(event) => showTooltip(event.clientX, event.clientY, tip(cell, grid))} onPointerLeave={hideTooltip}>
                      <rect x={dx - 6.5} y={dy - 6.5} width={13} height={13} fill="transparent" />
                      <StateMark state={cell.state} x={dx} y={dy} r={dot} dark={dark} />
                    </a>
                  );
                })}
              </g>
            );
          })}
        </g>
      ))}
      <text x={left + (grid.columns.length * cellWidth) / 2} y={height - 10} text-anchor="middle" fill={quiet} font-size={11}>
        {shortKey(grid.xKey) === 'lr' ? 'learning rate' : shortKey(grid.xKey)}
      </text>
    </svg>
  );
}

// The drawing as a file: always on white, as figures in papers are.
function drawingText(grid: Grid, title: string): string {
  const aside = document.createElement('div');
  render(<GridDrawing grid={grid} dark={false} title={title} />, aside);
  const svg = aside.querySelector('svg') as SVGSVGElement;
  for (const anchor of svg.querySelectorAll('a')) anchor.removeAttribute('href');
  const text = new XMLSerializer().serializeToString(svg);
  render(null, aside);
  return text;
}

// Does it need the width of the page?
export const isWideGrid = (study: Study): boolean => sizes(gridOf(study)).cellWidth * gridOf(study).columns.length > 480;

export function GridCard({ study }: { study: Study }) {
  const dark = useDark();
  const grid = gridOf(study);
  if (grid.rows.length === 0) return null;
  const present = states.filter((state) => study.cells.some((cell) => cell.state === state));
  const name = `${study.key}-grid`;
  const keys = [...new Set(study.cells.flatMap((cell) => Object.keys(cell.point)))];
  const table = {
    columns: [...keys, 'seed', 'state', 'accuracy', 'run'],
    rows: study.cells.map((cell) => [...keys.map((key) => cell.point[key] ?? null), cell.seed, cell.state, cell.accuracy, cell.run]),
  };
  const tools = (
    <>
      <button onClick={() => saveSvg(drawingText(grid, study.title), name)} title="Save as SVG">SVG</button>
      <button onClick={() => savePng(drawingText(grid, study.title), name)} title="Save as PNG">PNG</button>
      <button onClick={() => saveCsv(table, name)} title="Save the cells as CSV">CSV</button>
    </>
  );
  return (
    <Card title="Grid" note="shade: mean accuracy · a mark: one seed" tools={tools}>
      <div class="scroll heat" style={{ '--natural': `${sizes(grid).left + grid.columns.length * sizes(grid).cellWidth}px` }}><GridDrawing grid={grid} dark={dark} title={`Grid of ${study.title}`} /></div>
      <p class="legend">
        {present.map((state) => (
          <span>
            <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><StateMark state={state} x={7} y={7} r={dot} dark={dark} /></svg>
            {state} <b>{study.cells.filter((cell) => cell.state === state).length}</b>
          </span>
        ))}
      </p>
    </Card>
  );
}
