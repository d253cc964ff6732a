// The page on the real server, while a real sweep trains: node live_test.mjs, with MNEME the program.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { launch, noneWrong, openPage, skipWithoutBrowser, texts, until } from './browser.mjs';
import { hostile } from './fixture.mjs';
import { FileServer } from './mock_server.mjs';

skipWithoutBrowser();
const mneme = process.env.MNEME;
const place = mkdtempSync(path.join(tmpdir(), 'mneme-live-'));
const lab = path.join(place, 'lab');
const study = path.join(place, 'tiny.toml');
const planned = 8;
// Small enough for seconds, and called what nobody should call a study.
writeFileSync(study, `title = '${hostile[0]}'
[task]
name = "mqar"
length = 8
pairs = 1
vocab = 16
[model]
mixer = ["attention", "ema"]
width = 8
layers = 1
[train]
batch = 8
steps = 60
eval_every = 20
eval_examples = 64
test_examples = 64
lr = [1e-3, 1e-2]
seed = [1, 2]
[figure]
kind = "lr-window"
`);

const run = (...words) => execFileSync(mneme, [...words, '--lab', lab], { cwd: place, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

// Starts `mneme serve` and waits until it says where it is.
async function serve(port = 0) {
  const child = spawn(mneme, ['serve', '--lab', lab, '--port', String(port)], { cwd: place, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  const base = await until(() => said.match(/http:\/\/127\.0\.0\.1:\d+\//)?.[0], Boolean, 'the address of the server', 20);
  return { child, base, port: Number(new URL(base).port) };
}
async function end(child) {
  if (child.exitCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await gone;
}

let browser;
let server;
before(async () => {
  run('sweep', study, '--max-runs', '1', '--jobs', '1');
  server = await serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (server) await end(server.child);
  rmSync(place, { recursive: true, force: true });
});

const lastEnd = () => Math.max(...readdirSync(path.join(lab, 'runs')).map((id) => path.join(lab, 'runs', id, 'summary.json'))
  .filter((file) => existsSync(file)).map((file) => statSync(file).mtimeMs));

describe('mneme serve', () => {
  test('a live sweep changes the figure', async (t) => {
    const { page, wrong, close } = await openPage(browser);
    t.after(close);
    const start = Date.now();
    await page.goto(`${server.base}#/`);
    await page.locator('.studies a').first().click();
    await page.locator('[data-figure] svg').first().waitFor();
    t.diagnostic(`first figure ${Date.now() - start} ms after the first request`);
    assert.equal(await page.locator('h1').textContent(), hostile[0]);
    const marks = () => texts(page, '.legend span');
    await until(marks, (all) => all.some((text) => /waiting\s*7/.test(text)), 'seven runs that wait');
    const before = await page.locator('[data-figure] svg').first().innerHTML();
    const sweep = spawn(mneme, ['sweep', study, '--lab', lab, '--jobs', '2'], { cwd: place, stdio: 'ignore' });
    t.after(() => end(sweep));
    await until(() => page.locator('[data-figure] svg').first().innerHTML(), (now) => now !== before, 'another figure', 120);
    await until(marks, (all) => !all.some((text) => /waiting|running/.test(text)), 'no run that waits', 180);
    t.diagnostic(`the last run was on the screen ${Math.round(Date.now() - lastEnd())} ms after its end was on the disk`);
    await until(() => page.locator('[data-figure] svg').first().textContent(), (text) => text.includes(`${planned} runs`), 'the whole figure');
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    await noneWrong(wrong);
  });

  test('every view has its data, and an address that can be reloaded', async (t) => {
    const { page, wrong, close } = await openPage(browser);
    t.after(close);
    await page.goto(`${server.base}#/runs`);
    await until(() => page.locator('.bar [role=status]').textContent(), (text) => text.startsWith(`${planned} of ${planned}`), 'all runs');
    await page.fill('#filter', 'mixer=ema lr>=1e-2');
    await page.press('#filter', 'Enter');
    await until(() => page.locator('.bar [role=status]').textContent(), (text) => text.startsWith('2 of '), 'two runs');
    await page.reload();
    await until(() => page.locator('.virtual tbody tr').count(), (count) => count === 2, 'the same two runs');
    await page.goto(`${server.base}#/runs?filter=mixr%3Dema`);
    await page.getByRole('alert').filter({ hasText: 'mixr' }).waitFor();
    await page.goto(`${server.base}#/runs?sort=-validation`);
    await page.locator('.virtual tbody tr').first().waitFor();
    for (const box of (await page.locator('.virtual tbody input[type=checkbox]').all()).slice(0, 4)) await box.click();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.locator('.chart canvas').first().waitFor();
    assert.ok((await texts(page, '.differences th')).length > 2);
    await page.reload();
    await page.locator('.chart canvas').first().waitFor();
    await page.locator('.differences a').first().click();
    for (const chart of ['Loss', 'Accuracy', 'Learning rate', 'Gradient norm', 'Seconds per step']) {
      await page.locator('.chart', { has: page.getByRole('heading', { name: chart, exact: true }) }).locator('canvas').waitFor();
    }
    assert.ok((await texts(page, '.config td')).includes('train.lr'));
    assert.match(await page.locator('pre.log').textContent(), /\w/);
    await page.goto(`${server.base}#/papers`);
    await page.locator('.items td a').first().waitFor();
    await page.goto(`${server.base}#/papers/A.fig1`);
    await page.locator('.claims li').first().waitFor();
    await noneWrong(wrong);
  });

  test('is lost and found again', async (t) => {
    const { page, close } = await openPage(browser);
    t.after(close);
    await page.goto(`${server.base}#/`);
    await page.locator('.status-live').waitFor();
    await page.locator('.studies a').first().waitFor();
    await end(server.child);
    await page.locator('.away').waitFor();
    server = await serve(server.port);
    await page.locator('.status-live').waitFor();
    await page.locator('.away').waitFor({ state: 'detached' });
  });

  test('is exported as files', async (t) => {
    run('serve', '--export', path.join(place, 'site'));
    const files = new FileServer(path.join(place, 'site'));
    const base = `http://127.0.0.1:${await files.start()}/some/folder/`;
    const { page, wrong, close } = await openPage(browser);
    t.after(async () => {
      await close();
      await files.stop();
    });
    await page.goto(base);
    await page.locator('.studies a').first().click();
    await page.locator('[data-figure] svg').first().waitFor();
    await page.locator('.heat a[data-state]').first().click();
    await page.locator('.chart canvas').first().waitFor();
    await page.goto(`${base}#/papers/A.fig1`);
    await page.locator('.claims li').first().waitFor();
    await noneWrong(wrong);
  });
});
