// The browser side of a report: draws every figure of a page.
//
// A figure is <div data-figure="ID"> and its Vega-Lite specification is the text of
// <script type="application/json" id="ID">. Expressions are interpreted, never compiled with
// eval, so the page's Content-Security-Policy can forbid it.
import embed from 'vega-embed';
import { expressionInterpreter } from 'vega-interpreter';

import { refusingLoader } from './loader.mjs';

const options = {
  ast: true,
  expr: expressionInterpreter,
  loader: refusingLoader,
  renderer: 'svg',
  // "Open in the Vega editor" would send the data to another site.
  actions: { export: true, source: false, compiled: false, editor: false },
};

async function drawFigure(element) {
  try {
    const source = document.getElementById(element.dataset.figure);
    const name = element.dataset.name || 'figure';
    await embed(element, JSON.parse(source.textContent), { ...options, downloadFileName: name });
  } catch (error) {
    element.textContent = `This figure could not be drawn: ${error.message}`;
    element.classList.add('failed');
  }
}

// Lets the browser show what is drawn and listen to the reader.
const breathe = () => new Promise((resume) => setTimeout(resume, 0));

// Pixels between a figure and what the reader sees; 0 if it is in view.
function distance(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return Math.max(top - innerHeight, -bottom, 0);
}

// Draws one figure after the other, the nearest to the reader first: a page of many figures can be read before all of them
// are drawn. Resolves when all are drawn, or replaced by the reason why they are not.
globalThis.drawFigures = async () => {
  const waiting = new Set(document.querySelectorAll('[data-figure]'));
  while (waiting.size > 0) {
    const next = [...waiting].reduce((best, one) => (distance(one) < distance(best) ? one : best));
    waiting.delete(next);
    await drawFigure(next);
    await breathe();
  }
};

document.addEventListener('DOMContentLoaded', globalThis.drawFigures);
addEventListener('beforeprint', () => {
  for (const folded of document.querySelectorAll('main > details')) folded.open = true;
});
