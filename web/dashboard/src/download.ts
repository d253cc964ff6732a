// Files that the reader saves. Made in the page: the server is not asked.
import type { Column, Scalar, TableData } from './types';

function save(blob: Blob, name: string): void {
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(blob);
  // Names of studies have slashes; a file must not.
  anchor.download = name.replace(/[^\w.@+-]+/g, '-');
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

// A text that a spreadsheet would take for a formula is marked as text.
function csvCell(value: Scalar): string {
  let text = value === null ? '' : String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const title = (column: string | Column): string => (typeof column === 'string' ? column : column.key);

export function csv(columns: (string | Column)[], rows: Scalar[][]): string {
  return [columns.map(title), ...rows].map((row) => row.map(csvCell).join(',')).join('\n') + '\n';
}

// What the server wrote for programs, if it did: the table itself is rounded for people.
export function saveCsv(table: TableData, name: string): void {
  saveText(table.csv || csv(table.columns, table.rows), `${name}.csv`, 'text/csv');
}

export function saveSvg(svg: string, name: string): void {
  saveText(svg, `${name}.svg`, 'image/svg+xml');
}

// Twice as many pixels as the drawing has, for slides and papers.
export async function savePng(svg: string, name: string, scale = 2): Promise<void> {
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = scale * image.naturalWidth;
    canvas.height = scale * image.naturalHeight;
    const context = canvas.getContext('2d');
    if (!context) throw new Error('the browser gives no canvas');
    context.fillStyle = 'white';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    if (!blob) throw new Error('the browser made no picture');
    save(blob, `${name}.png`);
  } finally {
    URL.revokeObjectURL(address);
  }
}
