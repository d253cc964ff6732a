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

function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

// Draws one figure after the other, those that the reader looks at first: a page of many figures is there before all of
// them are. Resolves when all are drawn, or replaced by the reason why they are not.
globalThis.drawFigures = async () => {
  const waiting = [...document.querySelectorAll('[data-figure]')];
  while (waiting.length > 0) {
    const next = Math.max(waiting.findIndex(isInView), 0);
    await drawFigure(waiting.splice(next, 1)[0]);
    await breathe();
  }
};

document.addEventListener('DOMContentLoaded', globalThis.drawFigures);
addEventListener('beforeprint', () => {
  for (const folded of document.querySelectorAll('main > details')) folded.open = true;
});
