// Vega without eval, without a loader and without inline styles: it works under the strictest Content-Security-Policy, and no
// specification, however it was made, can reach the network.
import * as vega from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, type TopLevelSpec } from 'vega-lite';

import { refusingLoader } from '../../src/loader.mjs';
import { hideTooltip, showTooltip } from './tooltip';

export type Spec = Record<string, unknown>;

// Vega tells its logger of every axis without data; a lab in which nothing has ended yet is full of these.
const quiet: vega.LoggerInterface = {
  level: (() => quiet) as unknown as vega.LoggerInterface['level'],
  error: (...parts: unknown[]) => {
    console.error(...parts);
    return quiet;
  },
  warn: () => quiet,
  info: () => quiet,
  debug: () => quiet,
};

function make(spec: Spec, options: vega.ViewOptions): vega.View {
  const compiled = compile(spec as unknown as TopLevelSpec, { logger: quiet as never }).spec;
  return new vega.View(vega.parse(compiled, undefined, { ast: true }), {
    expr: expressionInterpreter,
    loader: refusingLoader,
    logger: quiet,
    ...options,
  });
}

// Draws into `element`; finalize() the view when it goes.
export async function draw(element: HTMLElement, spec: Spec, renderer: 'svg' | 'canvas'): Promise<vega.View> {
  const view = make(spec, {
    container: element,
    renderer,
    hover: true,
    tooltip: (_handler: unknown, event: MouseEvent, _item: unknown, value: unknown) => {
      if (value === null || value === undefined || value === '') hideTooltip();
      else showTooltip(event.clientX, event.clientY, value);
    },
  });
  await view.runAsync();
  return view;
}

export async function toSvg(spec: Spec): Promise<string> {
  const view = make(spec, { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}
