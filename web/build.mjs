// node build.mjs [DIRECTORY]: writes figure.js, figure.js.integrity, render.cjs and the dashboard's three files there
// (default: dist).
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const outputDirectory = path.resolve(process.argv[2] ?? path.join(here, 'dist'));

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: 'ascii',
  legalComments: 'none',  // the whole licences are appended instead
  metafile: true,
  write: false,
  logLevel: 'warning',
};

// The licences of the packages that went into a bundle, equal texts once.
function licences(metafile) {
  const packages = new Map();
  for (const input of Object.keys(metafile.inputs)) {
    const match = input.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//);
    if (!match || packages.has(match[1])) continue;
    const folder = path.join(here, match[1]);
    const about = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    const text = file ? readFileSync(path.join(folder, file), 'utf8') : `Licence: ${about.license}`;
    packages.set(match[1], { name: `${about.name} ${about.version}`, text: text.replace(/\r/g, '').trim() });
  }
  const namesByText = new Map();
  for (const { name, text } of packages.values()) {
    namesByText.set(text, [...(namesByText.get(text) ?? []), name].sort());
  }
  const parts = [...namesByText].map(([text, names]) => `${names.join(', ')}\n\n${text}`).sort();
  return `\n/* This file contains:\n\n${parts.join('\n\n--\n\n').replace(/\*\//g, '* /')}\n*/\n`;
}

async function bundle(options) {
  const result = await build({ ...common, ...options });
  return result.outputFiles[0].text.trimEnd() + licences(result.metafile);
}

// The bundle is pasted into an HTML page and named in its security policy by its hash: it must be
// the same bytes after HTML parsing as before.
function checkInlinable(script) {
  for (const forbidden of [/<\/script/i, /<script/i, /<!--/, /\r/, /\0/, /[^\x00-\x7f]/]) {
    const found = script.search(forbidden);
    if (found >= 0) {
      throw new Error(`figure.js cannot be inlined: ${forbidden} at ${JSON.stringify(script.slice(found - 40, found + 40))}`);
    }
  }
}

const figure = await bundle({ entryPoints: ['src/figure.mjs'], format: 'iife', platform: 'browser', target: 'es2020' });
checkInlinable(figure);

// Without these two Vega would look for a canvas and an HTTP client wherever render.cjs happens to lie.
const nothing = path.join(here, 'src/nothing.mjs');
const render = await bundle({
  entryPoints: ['src/render.mjs'],
  format: 'cjs',
  platform: 'node',
  target: 'node18',
  mainFields: ['module', 'main'],
  alias: { canvas: nothing, 'node-fetch': nothing },
});

// The page of `mneme serve`: its own files, because its policy allows no script inside of the page.
const dashboard = await bundle({
  entryPoints: ['dashboard/src/main.tsx'],
  format: 'iife',
  platform: 'browser',
  target: 'es2021',
  jsx: 'automatic',
  jsxImportSource: 'preact',
});
const styles = await build({ ...common, entryPoints: ['dashboard/src/styles/all.css'], target: ['chrome100', 'firefox100', 'safari15'] });
const page = readFileSync(path.join(here, 'dashboard/src/index.html'), 'utf8');

mkdirSync(path.join(outputDirectory, 'dashboard'), { recursive: true });
const integrity = `sha256-${createHash('sha256').update(figure).digest('base64')}`;
const files = {
  'figure.js': figure,
  'figure.js.integrity': integrity,
  'render.cjs': render,
  'dashboard/index.html': page,
  'dashboard/app.js': dashboard,
  'dashboard/app.css': styles.outputFiles[0].text,
};
for (const [name, text] of Object.entries(files)) {
  const file = path.join(outputDirectory, name);
  // An unchanged file keeps its time, so nothing that embeds it is built again.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}
