// A figure of the reports, drawn from the same Vega-Lite specification, with its tables and ways to save it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { View } from 'vega';

import { saveCsv, savePng, saveSvg } from './download';
import { recolour } from './palette';
import { DataTable } from './table';
import { useDark } from './theme';
import type { FigureData } from './types';
import { draw, toSvg, type Spec } from './vega_view';

// How far a figure may grow beyond the size that suits a column of a paper.
const largest = 1.4;
// Below this its letters cannot be read: then it scrolls.
const smallest = 0.7;

export function SpecView({ spec }: { spec: Spec }) {
  const dark = useDark();
  const place = useRef<HTMLDivElement>(null);
  const [trouble, setTrouble] = useState('');
  const text = useMemo(() => JSON.stringify(spec), [spec]);
  useEffect(() => {
    let view: View | null = null;
    let gone = false;
    // Drawn aside and then put in its place, so that a figure that changes does not flicker.
    const aside = document.createElement('div');
    draw(aside, recolour(JSON.parse(text), dark) as Spec, 'svg').then((drawn) => {
      view = drawn;
      if (gone || !place.current) {
        drawn.finalize();
        return;
      }
      const svg = aside.querySelector('svg');
      if (svg) {
        const natural = Number(svg.getAttribute('width') ?? 400);
        svg.style.width = `min(100%, ${Math.round(largest * natural)}px)`;
        svg.style.minWidth = `${Math.round(smallest * natural)}px`;
      }
      place.current.replaceChildren(aside);
      setTrouble('');
    }).catch((error: Error) => {
      if (!gone) setTrouble(`This figure could not be drawn: ${error.message}`);
    });
    return () => {
      gone = true;
      view?.finalize();
    };
  }, [text, dark]);
  return (
    <>
      <div class="spec" ref={place} />
      {trouble && <p class="trouble">{trouble}</p>}
    </>
  );
}

const shownFindings = 5;

function Findings({ findings }: { findings: string[] }) {
  const list = (some: string[]) => <ul class="sentences">{some.map((sentence) => <li>{sentence}</li>)}</ul>;
  if (findings.length <= shownFindings + 1) return list(findings);
  return (
    <>
      {list(findings.slice(0, shownFindings))}
      <details><summary>{findings.length - shownFindings} more findings</summary>{list(findings.slice(shownFindings))}</details>
    </>
  );
}

export function Figure({ figure, name }: { figure: FigureData; name: string }) {
  const tables = figure.tables ?? [];
  const [trouble, setTrouble] = useState('');
  const { spec } = figure;
  const saving = (how: (svg: string) => void | Promise<void>) => async () => {
    try {
      await how(await toSvg(spec as Spec));
    } catch (error) {
      setTrouble(`Not saved: ${(error as Error).message}`);
    }
  };
  return (
    <figure class="card figure" data-figure={figure.name}>
      <div class="tools">
        {spec && <button onClick={saving((svg) => saveSvg(svg, name))} title="Save as SVG">SVG</button>}
        {spec && <button onClick={saving((svg) => savePng(svg, name))} title="Save as PNG">PNG</button>}
        {tables.map((table, index) => (
          <button onClick={() => saveCsv(table, tables.length > 1 ? `${name}-${index + 1}` : name)}
                  title={`Save the table${table.title ? ` "${table.title}"` : ''} as CSV`}>
            CSV{tables.length > 1 ? ` ${index + 1}` : ''}
          </button>
        ))}
      </div>
      {spec ? <SpecView spec={spec} /> : <p class="quiet">{figure.title ?? figure.name}: nothing to draw yet.</p>}
      {trouble && <p class="trouble">{trouble}</p>}
      {figure.caption && <figcaption>{figure.caption}</figcaption>}
      {(figure.findings ?? []).length > 0 && (
        <Findings findings={figure.findings ?? []} />
      )}
      {tables.length > 0 && (
        <details>
          <summary>{tables.length > 1 ? `${tables.length} tables` : 'Table'}</summary>
          {tables.map((table) => <DataTable table={table} />)}
        </details>
      )}
    </figure>
  );
}
