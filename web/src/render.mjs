// render.cjs: a Vega-Lite specification on standard input, an SVG on standard output.
// Anything wrong is one message on standard error and exit code 1; then nothing is written.
import { readFileSync, writeSync } from 'node:fs';

import * as vega from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile } from 'vega-lite';

import { refusingLoader } from './loader.mjs';
import { textWidth } from './text_width.mjs';

// Vega reports most trouble to its logger and goes on; a figure that lacks a part is worse than none.
const complaints = [];
const complain = (...message) => complaints.push(message.join(' '));
const logger = { level: () => logger, error: complain, warn: complain, info: () => logger, debug: () => logger };

async function render(text) {
  const specification = JSON.parse(text);
  if (specification === null || typeof specification !== 'object' || Array.isArray(specification)) {
    throw new Error('the specification must be a JSON object');
  }
  vega.textMetrics.width = textWidth;
  const compiled = compile(specification, { logger }).spec;
  const view = new vega.View(vega.parse(compiled, undefined, { ast: true }), {
    expr: expressionInterpreter,
    loader: refusingLoader,
    logger,
    renderer: 'none',
  });
  const svg = await view.toSVG();
  if (complaints.length > 0) throw new Error(complaints.join('; '));
  return svg;
}

function writeAll(descriptor, text) {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(descriptor, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

function fail(error) {
  writeAll(2, `render: ${error.message}\n`);
  process.exit(1);
}

process.on('uncaughtException', fail);
render(readFileSync(0, 'utf8')).then((svg) => writeAll(1, `${svg}\n`)).catch(fail);
