// A chart of curves: follows its data without being built anew, shows values under the pointer, and zooms to a stretch that is dragged over.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { View } from 'vega';

import { chartData, chartSpec, type ChartLook, type Series } from './chart_spec';
import { at } from './curves';
import { saveCsv, savePng, saveSvg } from './download';
import { number, percent, short } from './format';
import { useDark } from './theme';
import { draw, toSvg, type Spec } from './vega_view';

interface Hover {
  x: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

// Charts of one group show the same place.
const groups = new Map<string, Set<(x: number | null) => void>>();
function tell(group: string, x: number | null): void {
  for (const listener of groups.get(group) ?? []) listener(x);
}

type Scale = ((x: number) => number) & { invert: (pixel: number) => number };
const mostInTooltip = 12;

// Where the plot begins inside of the picture.
function corner(view: View): [number, number] {
  const [left, top] = view.origin();
  const padding = view.padding() as { left?: number; top?: number };
  return [left + (padding.left ?? 0), top + (padding.top ?? 0)];
}

export interface ChartProps extends ChartLook {
  title: string;
  series: Series[];
  name: string;
  group: string;
  onZoom?: (domain: [number, number] | null) => void;
}

export function Chart(props: ChartProps) {
  const { title, series, name, group, onZoom, ...look } = props;
  const dark = useDark();
  const box = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<View | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const [mine, setMine] = useState(false);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const dragFrom = useRef<number | null>(null);

  const styles = series.map(({ color, dash }) => ({ color, dash }));
  const key = JSON.stringify([look, styles, dark]);
  const data = useMemo(() => chartData(look, series), [series, key]);
  const latest = useRef(data);
  latest.current = data;

  const fill = async (drawn: View): Promise<void> => {
    drawn.data('lines', latest.current.lines.map((row) => ({ ...row })));
    drawn.data('bands', latest.current.bands.map((row) => ({ ...row })));
    drawn.data('dots', latest.current.dots.map((row) => ({ ...row })));
    await drawn.runAsync();
  };

  useEffect(() => {
    let gone = false;
    const aside = document.createElement('div');
    const spec = { ...chartSpec(look, styles, dark), width: Math.max(160, place.current?.clientWidth ?? 300) };
    void draw(aside, spec as Spec, 'canvas').then(async (drawn) => {
      if (gone) {
        drawn.finalize();
        return;
      }
      await fill(drawn);
      if (gone || !place.current) {
        drawn.finalize();
        return;
      }
      view.current?.finalize();
      view.current = drawn;
      place.current.replaceChildren(aside);
    });
    return () => {
      gone = true;
    };
  }, [key]);
  useEffect(() => {
    if (view.current) void fill(view.current);
  }, [data]);
  useEffect(() => () => {
    view.current?.finalize();
    view.current = null;
  }, []);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      const width = Math.max(160, element.clientWidth);
      if (view.current && Math.abs(view.current.width() - width) > 1) void view.current.width(width).runAsync();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // Where x is on the screen, relative to the chart.
  const locate = (x: number): Hover | null => {
    const drawn = view.current;
    if (!drawn) return null;
    const scale = drawn.scale('x') as Scale;
    const [left, top] = corner(drawn);
    const pixel = scale(x);
    const range = (drawn.scale('x') as unknown as { range: () => [number, number] }).range();
    if (!Number.isFinite(pixel) || pixel < range[0] - 1 || pixel > range[1] + 1) return null;
    const [bottom] = (drawn.scale('y') as unknown as { range: () => [number, number] }).range();
    return { x, left: left + pixel, top, width: range[1], height: bottom };
  };
  useEffect(() => {
    const listener = (x: number | null): void => setHover(x === null ? null : locate(x));
    const members = groups.get(group) ?? new Set();
    groups.set(group, members);
    members.add(listener);
    return () => {
      members.delete(listener);
    };
  }, [group, key]);

  const pixelOf = (event: PointerEvent): number => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
  const valueAt = (pixel: number): number | null => {
    const drawn = view.current;
    if (!drawn || latest.current.lines.length === 0) return null;
    const scale = drawn.scale('x') as Scale;
    const [low, high] = (drawn.scale('x') as unknown as { range: () => [number, number] }).range();
    return scale.invert(Math.min(high, Math.max(low, pixel - corner(drawn)[0])));
  };
  const nearest = (x: number): number => {
    let best = x;
    let distance = Infinity;
    for (const one of series) for (const [at] of one.curve) {
      if (Math.abs(at - x) < distance) [best, distance] = [at, Math.abs(at - x)];
    }
    return best;
  };
  const onMove = (event: PointerEvent): void => {
    const pixel = pixelOf(event);
    if (dragFrom.current !== null && onZoom) setDrag([dragFrom.current, pixel]);
    const x = valueAt(pixel);
    setMine(x !== null);
    tell(group, x === null ? null : nearest(x));
  };
  const onLeave = (): void => {
    dragFrom.current = null;
    setDrag(null);
    setMine(false);
    tell(group, null);
  };
  const onUp = (event: PointerEvent): void => {
    const from = dragFrom.current;
    dragFrom.current = null;
    setDrag(null);
    if (from === null || !onZoom) return;
    const pixel = pixelOf(event);
    const [a, b] = [valueAt(Math.min(from, pixel)), valueAt(Math.max(from, pixel))];
    if (Math.abs(pixel - from) > 6 && a !== null && b !== null && b > a) onZoom([a, b]);
  };

  const text = (y: number): string => (look.yPercent ? percent(y) : number(y));
  const values = hover === null ? [] : series
    .map((one) => ({ one, y: at(one.curve, hover.x) }))
    .filter((entry): entry is { one: Series; y: number } => entry.y !== null)
    .sort((a, b) => b.y - a.y);
  const exported = async (): Promise<string> => {
    const spec = chartSpec(look, styles, false);
    return toSvg({ ...spec, width: 460, height: 280, background: 'white', title: { text: title, anchor: 'start' }, datasets: data } as Spec);
  };
  const columns = ['series', look.xTitle, title];
  const rows = series.flatMap((one) => one.curve.map(([x, y]) => [one.label, x, y]));
  const empty = data.lines.length === 0;
  return (
    <figure class="chart" data-chart={name}>
      <header>
        <h3>{title}</h3>
        {values.length === 1 && values[0] && <output>{short(hover?.x)} · {text(values[0].y)}</output>}
        <div class="tools">
          {look.xDomain && onZoom && <button onClick={() => onZoom(null)} title="Show all (double click)">All</button>}
          <button onClick={async () => saveSvg(await exported(), name)} title="Save as SVG">SVG</button>
          <button onClick={async () => savePng(await exported(), name)} title="Save as PNG">PNG</button>
          <button onClick={() => saveCsv({ columns, rows }, name)} title="Save the values as CSV">CSV</button>
        </div>
      </header>
      <div class="plot" ref={box} style={{ minHeight: `${look.height}px` }}
           onPointerMove={onMove} onPointerLeave={onLeave} onPointerUp={onUp} onDblClick={() => onZoom?.(null)}
           onPointerDown={(event) => {
             if (event.button === 0 && event.pointerType === 'mouse') dragFrom.current = pixelOf(event);
           }}>
        <div ref={place} />
        {empty && <p class="quiet empty">not measured yet</p>}
        {hover && !empty && <i class="rule" style={{ left: `${hover.left}px`, top: `${hover.top}px`, height: `${hover.height}px` }} />}
        {drag && <i class="brush" style={{ left: `${Math.min(...drag)}px`, width: `${Math.abs(drag[1] - drag[0])}px` }} />}
        {hover && mine && values.length > 1 && (
          <div class={hover.left > hover.width / 2 ? 'values left' : 'values'} style={{ left: `${hover.left}px` }}>
            <b>{look.xTitle} {short(hover.x)}</b>
            {values.slice(0, mostInTooltip).map(({ one, y }) => (
              <span><i style={{ background: one.color }} />{one.label}<em>{text(y)}</em></span>
            ))}
            {values.length > mostInTooltip && <span class="quiet">and {values.length - mostInTooltip} more</span>}
          </div>
        )}
      </div>
    </figure>
  );
}
