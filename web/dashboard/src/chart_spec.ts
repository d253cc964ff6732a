// The Vega-Lite specification of a chart of curves, in the style of the reports' figures.
import type { Band, XY } from './curves';
import type { Spec } from './vega_view';

export interface Series {
  label: string;
  color: string;
  dash?: number[];
  curve: XY[];
  band?: Band[];
  runs?: string[];  // that it is made of
}

export interface ChartLook {
  xTitle: string;
  yTitle?: string;
  xLog?: boolean;
  yLog?: boolean;
  yPercent?: boolean;
  xDomain?: [number, number] | null;
  xTicks?: number[];
  // Marks at every point, for curves of few. A curve of one point is a mark in any case: a line through it would not be seen.
  dots?: boolean;
  height: number;
}

// 0.2, 3e-4, 25k, 4e+23.
const plain = "datum.value === 0 ? '0' : abs(datum.value) < 0.01 || abs(datum.value) >= 1e6 ? format(datum.value, '.3~e') : abs(datum.value) < 1000 ? format(datum.value, '.6~r') : format(datum.value, '.6~s')";

// Series are named by their place: what a run is called never becomes a part of the specification.
const nameOf = (index: number): string => `s${index}`;

export function chartSpec(look: ChartLook, styles: { color: string; dash?: number[] }[], dark: boolean): Spec {
  const ink = dark ? '#98A1AB' : '#5F6771';
  const grid = dark ? '#2A3037' : '#ECEEF0';
  const domain = styles.map((_, index) => nameOf(index));
  const x = {
    field: 'x',
    type: 'quantitative',
    title: look.xTitle,
    scale: {
      type: look.xLog ? 'log' : 'linear',
      nice: false,
      zero: false,
      ...(look.xDomain ? { domain: look.xDomain } : {}),
    },
    axis: { labelExpr: "format(datum.value, '~s')", grid: false, ...(look.xTicks ? { values: look.xTicks } : { tickCount: 6 }), labelOverlap: true },
  };
  const y = (field: string): Spec => ({
    field,
    type: 'quantitative',
    title: look.yTitle ?? null,
    scale: { type: look.yLog ? 'log' : 'linear', zero: false, ...(look.yPercent && !look.yLog ? { domain: [0, 1] } : { nice: !look.yLog }) },
    axis: { labelExpr: look.yPercent ? "format(datum.value, '.0%')" : plain, tickCount: 5, labelOverlap: true },
  });
  const color = { field: 'series', type: 'nominal', legend: null, scale: { domain, range: styles.map((style) => style.color) } };
  const strokeDash = { field: 'series', type: 'nominal', legend: null, scale: { domain, range: styles.map((style) => style.dash ?? [1, 0]) } };
  const line = {
    data: { name: 'lines' },
    mark: { type: 'line', strokeWidth: styles.length > 12 ? 1.2 : 1.8, clip: true },
    encoding: { x, y: y('y'), color, strokeDash },
  };
  // Not clipped: half a mark at the edge looks like another one. What a zoom leaves out is not among the data.
  const dots = {
    data: { name: 'dots' },
    mark: { type: 'point', size: 30, filled: true, opacity: 1 },
    encoding: { x, y: y('y'), color },
  };
  const area = {
    data: { name: 'bands' },
    mark: { type: 'area', opacity: styles.length <= 4 ? 0.18 : 0.1, clip: true },
    encoding: { x, y: y('lo'), y2: { field: 'hi' }, color },
  };
  return {
    width: 300,
    height: look.height,
    padding: { left: 2, right: 8, top: 4, bottom: 2 },
    autosize: { type: 'fit', contains: 'padding' },
    background: 'transparent',
    datasets: { lines: [], bands: [], dots: [] },
    layer: [area, line, dots],
    config: {
      font: 'system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", sans-serif',
      view: { stroke: null },
      axis: { labelColor: ink, titleColor: ink, domainColor: grid, tickColor: grid, gridColor: grid, labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', titlePadding: 6 },
    },
  };
}

// Only what the scales can show: a logarithm has no zero.
export function chartData(look: ChartLook, series: Series[]): { lines: object[]; bands: object[]; dots: object[] } {
  const shown = (x: number, y: number): boolean =>
    (!look.xLog || x > 0) && (!look.yLog || y > 0) && (!look.xDomain || (x >= look.xDomain[0] && x <= look.xDomain[1]));
  const lines: object[] = [];
  const bands: object[] = [];
  const dots: object[] = [];
  series.forEach((one, index) => {
    const points = one.curve.filter(([x, y]) => shown(x, y)).map(([x, y]) => ({ series: nameOf(index), x, y }));
    lines.push(...points);
    if (look.dots || points.length === 1) dots.push(...points);
    for (const { x, lo, hi } of one.band ?? []) if (shown(x, lo)) bands.push({ series: nameOf(index), x, lo, hi });
  });
  return { lines, bands, dots };
}
