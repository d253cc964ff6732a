// The page in a real browser, against a made-up lab: node browser_test.mjs ASSETS
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { contrasts, fits, launch, noneWrong, openPage, skipWithoutBrowser, texts, until } from './browser.mjs';
import { hostile, Lab } from './fixture.mjs';
import { FileServer, MockServer, writeExport } from './mock_server.mjs';

skipWithoutBrowser();
const assets = process.argv[2] ?? process.env.MNEME_ASSETS;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

// A server with a lab and a page on it, gone after the test.
async function scene(t, options = {}, look = {}) {
  const mock = new MockServer(assets, new Lab(options));
  const base = `http://127.0.0.1:${await mock.start()}/`;
  const opened = await openPage(browser, look);
  t.after(async () => {
    await opened.close();
    await mock.stop().catch(() => {});
  });
  return { mock, lab: mock.lab, base, ...opened };
}

const isDone = (run) => run.state === 'done';
const addresses = (lab) => {
  const ids = lab.runs.filter(isDone).map((run) => run.id);
  return {
    Home: '#/',
    Study: `#/studies/${lab.study}`,
    Runs: '#/runs',
    Run: `#/runs/${ids[0]}`,
    Compare: `#/compare?runs=${ids.slice(0, 6).join(',')}`,
    Papers: '#/papers',
    Paper: '#/papers/A.fig1?scale=laptop',
  };
};
// Something that only the view with its data has.
const proof = {
  Home: '.studies li', Study: '.heat a[data-state]', Runs: '.virtual tbody tr', Run: '.chart canvas', Compare: '.chart canvas', Papers: '.items td a', Paper: '[data-figure] svg',
};

describe('every view', () => {
  for (const look of [{ width: 1440 }, { width: 390, height: 844, colorScheme: 'dark' }]) {
    test(`opens at ${look.width} pixels`, async (t) => {
      const { page, lab, base, wrong } = await scene(t, {}, look);
      for (const [name, address] of Object.entries(addresses(lab))) {
        await page.goto(base + address);
        await page.locator(proof[name]).first().waitFor();
        assert.ok((await page.locator('h1').textContent()).length > 0, name);
        await fits(page);
      }
      await noneWrong(wrong);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), look.colorScheme ?? 'light');
    });
  }

  // WCAG's 4.5 : 1 for every text of the page; figures and charts are drawn with colours of their own.
  for (const colorScheme of ['light', 'dark']) {
    test(`can be read: contrast of its texts, ${colorScheme}`, async (t) => {
      const { page, lab, base } = await scene(t, {}, { colorScheme });
      let count = 0;
      for (const [name, address] of Object.entries(addresses(lab))) {
        await page.goto(base + address);
        await page.locator(proof[name]).first().waitFor();
        const found = await contrasts(page);
        count += found.length;
        assert.deepEqual(found.filter(({ ratio }) => ratio < 4.5), [], name);
      }
      t.diagnostic(`${count} texts`);
      assert.ok(count > 300);
    });
  }

  test('a phone shows the whole of what matters', async (t) => {
    const { page, lab, base } = await scene(t, {}, { width: 390, height: 844 });
    const inside = async (selector) => {
      await page.locator(selector).first().waitFor();
      const edges = await page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
      assert.ok(edges.length > 0 && edges.every((edge) => edge <= 390), `${selector}: ${edges}`);
    };
    await page.goto(base);
    await inside('.workers td');
    await inside('.items .verdict');
    await page.goto(`${base}#/studies/${lab.study}`);
    await inside('.best td');
    await page.goto(`${base}#/papers`);
    await inside('.items .verdict');
    await page.goto(`${base}#/runs`);
    await inside('.virtual tbody tr:not([aria-hidden]) td:last-child');
    assert.match((await texts(page, '.virtual th')).join(' '), /id state mixer lr test/);
  });

  test('names of columns have room in the grid', async (t) => {
    const { page, mock, lab, base } = await scene(t);
    const whole = lab.studyPage.bind(lab);
    const mixers = ['s4d', 'transformer', 'gated_deltanet'];
    mock.lab.studyPage = () => ({ ...whole(), axes: [{ key: 'model.mixer', values: mixers }, { key: 'model.layers', values: [1, 2] }],
      cells: mixers.flatMap((mixer) => [1, 2].map((layers) => ({ run: null, point: { 'model.mixer': mixer, 'model.layers': layers }, seed: null, state: 'waiting', accuracy: null }))) });
    await page.goto(`${base}#/studies/${lab.study}`);
    await page.locator('.heat text', { hasText: 'gated_deltanet' }).waitFor();
    const boxes = await page.locator('.heat svg > text').evaluateAll((all) => all.slice(0, 3).map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().right]));
    const right = await page.locator('.heat svg').evaluate((one) => one.getBoundingClientRect().right);
    assert.ok(boxes[0][1] < boxes[1][0] && boxes[1][1] < boxes[2][0] && boxes[2][1] <= right, JSON.stringify([boxes, right]));
  });

  test('says so where there is nothing', async (t) => {
    const { page, base } = await scene(t);
    await page.goto(`${base}#/runs/000000000000`);
    await page.getByRole('alert').filter({ hasText: 'nothing of this name' }).waitFor();
    await page.goto(`${base}#/nowhere`);
    await page.getByRole('alert').filter({ hasText: 'no such page' }).waitFor();
  });
});

describe('the table of runs', () => {
  const column = async (page, name) => {
    const head = await texts(page, '.virtual th');
    const at = head.findIndex((text) => text.replace(/[ ↑↓]/g, '') === name);
    return texts(page, `.virtual tbody tr:not([aria-hidden]) td:nth-child(${at + 1})`);
  };

  test('sorts, and the address remembers', async (t) => {
    const { page, lab, base } = await scene(t);
    await page.goto(`${base}#/runs`);
    await page.getByRole('button', { name: 'test', exact: true }).click();
    const best = Math.max(...lab.runs.filter(isDone).map((run) => lab.accuracy(run)));
    const first = await until(() => column(page, 'test'), (cells) => cells[0]?.startsWith((100 * best).toFixed(1)), 'the best run first');
    assert.match(page.url(), /sort=-test/);
    await page.reload();
    await until(() => column(page, 'test'), (cells) => cells[0] === first[0] && cells[1] === first[1], 'the same order after a reload');
    await page.getByRole('button', { name: /^test/ }).click();
    await until(() => column(page, 'test'), (cells) => parseFloat(cells[0]) < parseFloat(first[0]), 'the worst run first');
  });

  test('filters with expressions and words', async (t) => {
    const { page, lab, base } = await scene(t);
    await page.goto(`${base}#/runs`);
    await page.fill('#filter', 'mixer=mamba lr>1e-3');
    await page.press('#filter', 'Enter');
    const expected = lab.runs.filter((run) => run.mixer === 'mamba' && run.lr > 1e-3).length;
    await until(() => page.locator('.bar [role=status]').textContent(), (text) => text.startsWith(`${expected} of `), 'the number of runs');
    assert.ok((await column(page, 'mixer')).every((cell) => cell === 'mamba'));
    await page.reload();
    await until(() => column(page, 'mixer'), (cells) => cells.length === expected, 'the same rows after a reload');
    await page.getByTitle('Remove this filter').first().click();
    await page.fill('#filter', 'deltanet');
    await until(() => column(page, 'mixer'), (cells) => cells.length > 0 && cells.every((cell) => cell === 'deltanet'), 'rows with the word');
    await page.goto(`${base}#/runs?filter=mixr%3Dmamba`);
    await page.getByRole('alert').filter({ hasText: "unknown key 'mixr', did you mean 'mixer'" }).waitFor();
  });

  test('groups with mean and spread over seeds', async (t) => {
    const { page, lab, base } = await scene(t, { ended: 1 });
    await page.goto(`${base}#/runs`);
    await page.selectOption('#group', 'mixer');
    await page.selectOption('#group', 'lr');
    await until(() => page.locator('.virtual tr.group').count(), (count) => count >= 20, 'groups');
    const members = lab.runs.filter((run) => run.mixer === 'attention' && run.lr === 1e-3);
    const known = members.map((run) => lab.accuracy(run)).filter((one) => one !== null);
    const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
    const row = page.locator('tr.group', { hasText: 'attention' }).filter({ hasText: '1e-3' });
    assert.ok((await row.textContent()).includes(`${(100 * mean).toFixed(1)}\u202f%`));
    assert.match(await row.textContent(), /±/);
    await row.getByRole('button').click();
    await until(() => page.locator('tr.inside').count(), (count) => count === members.length, 'the runs of the group');
  });

  test('leads to a comparison by mouse and by keys', async (t) => {
    const { page, lab, base, wrong } = await scene(t, { ended: 1 });
    await page.goto(`${base}#/runs?filter=state%3Ddone`);
    for (const run of lab.runs.filter(isDone).slice(0, 3)) await page.getByLabel(`Choose run ${run.id}`).click();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.locator('.chart canvas').first().waitFor();
    assert.match(page.url(), /#\/compare\?runs=[0-9a-f]{12},[0-9a-f]{12},[0-9a-f]{12}$/);
    assert.ok((await texts(page, '.differences td')).includes('123'));
    assert.ok((await texts(page, '.parts td')).includes('50'));
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.locator('.virtual tbody tr').first().waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    for (const key of ['j', 'x', 'j', 'x', 'c']) await page.keyboard.press(key);
    await until(() => page.url(), (url) => /#\/compare\?runs=[0-9a-f]{12},[0-9a-f]{12}$/.test(url), 'the comparison');
    await noneWrong(wrong);
  });

  test('holds 10,000 runs', async (t) => {
    const { page, lab, base, mock } = await scene(t, { count: 10_000 });
    const start = Date.now();
    await page.goto(`${base}#/runs`);
    await page.locator('.virtual tbody tr').nth(5).waitFor();
    t.diagnostic(`first rows of 10,000 after ${Date.now() - start} ms`);
    assert.equal(await page.locator('.virtual table').getAttribute('aria-rowcount'), '10001');
    const frames = await page.evaluate(async () => {
      const box = document.querySelector('.virtual');
      const times = [];
      let last = performance.now();
      for (let i = 0; i < 60; ++i) {
        box.scrollTop += 700;
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - last);
        last = performance.now();
      }
      return times.sort((a, b) => a - b);
    });
    t.diagnostic(`frames while scrolling: median ${frames[30].toFixed(1)} ms, 95 % under ${frames[57].toFixed(1)} ms`);
    assert.ok((await page.locator('.virtual tbody tr').count()) < 120, 'only rows on the screen are in the page');
    await page.evaluate(() => document.querySelector('.virtual').scrollTo(0, 1e7));
    await page.locator(`a[href="#/runs/${lab.runs.at(-1).id}"]`).waitFor();
    await page.getByRole('button', { name: 'test', exact: true }).click();
    await until(() => page.url(), (url) => url.includes('sort=-test'), 'sorted');
    // A change of two runs moves two rows, not ten thousand.
    mock.requests.length = 0;
    mock.advance(100);
    await until(() => mock.requests, (asked) => asked.some((one) => one.includes('ids=')), 'a small question');
    assert.ok(!mock.requests.includes('/api/v1/runs'));
  });
});

describe('comparing', () => {
  test('changes axes, smoothing and bands, and reloads the same', async (t) => {
    const { page, lab, base, wrong } = await scene(t, { ended: 1 });
    const runs = lab.runs.filter((run) => isDone(run) && run.lr === 1e-3 && run.mixer !== 'rwkv4');
    await page.goto(`${base}#/compare?runs=${runs.map((run) => run.id).join(',')}`);
    await page.locator('.chart canvas').first().waitFor();
    assert.equal((await texts(page, '.legend.series span')).filter((text) => text.includes('seeds)')).length, 4);
    await page.getByRole('radio', { name: 'tokens' }).click();
    await page.locator('#smooth').fill('0.6');
    await page.locator('#logy').check();
    await page.locator('#band').uncheck();
    await until(() => page.url(), (url) => ['x=tokens', 'smooth=0.6', 'logy=1', 'band=0'].every((part) => url.includes(part)), 'the address');
    await page.reload();
    await page.locator('.chart canvas').first().waitFor();
    assert.equal(await page.getByRole('radio', { name: 'tokens' }).getAttribute('aria-checked'), 'true');
    assert.equal((await texts(page, '.legend.series span')).filter((text) => /seed \d/.test(text)).length, runs.length);
    await noneWrong(wrong);
  });

  test('zooms to what is dragged over', async (t) => {
    const { page, lab, base } = await scene(t, { ended: 1 });
    await page.goto(`${base}#/compare?runs=${lab.runs.filter((run) => isDone(run) && run.seed === 42).slice(0, 3).map((run) => run.id).join(',')}`);
    await page.locator('.chart canvas').first().waitFor();
    const box = await page.locator('.plot').first().boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.locator('.plot .values').waitFor();
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await until(() => page.url(), (url) => /zoom=\d+/.test(url), 'a zoomed address');
    await page.getByRole('button', { name: 'Show all' }).click();
    await until(() => page.url(), (url) => !url.includes('zoom='), 'the whole again');
  });
});

describe('live', () => {
  test('figure, grid and curves follow the lab', async (t) => {
    const { page, mock, lab, base, wrong } = await scene(t);
    await page.goto(`${base}#/studies/${lab.study}`);
    const subtitle = () => page.locator('[data-figure] svg').textContent();
    const ended = lab.runs.filter(isDone).length;
    await until(subtitle, (text) => text.includes(`${ended} runs`), 'the figure');
    mock.advance(1000);
    await until(subtitle, (text) => text.includes(`${ended + 2} runs`), 'the figure with two more runs');
    const running = lab.runs.find((run) => run.state === 'running');
    await page.goto(`${base}#/runs/${running.id}`);
    await page.locator('.chart canvas').first().waitFor();
    mock.requests.length = 0;
    mock.advance(200);
    await until(() => mock.requests, (asked) => asked.includes(`/api/v1/runs/${running.id}/curves?from=50`), 'only the new part of the curve');
    await until(() => page.locator('.facts').first().textContent(), (text) => text.includes('250'), 'the step');
    await noneWrong(wrong);
  });

  test('loses the server and finds it again', async (t) => {
    const { page, mock, lab, base, wrong } = await scene(t);
    await page.goto(`${base}#/studies/${lab.study}`);
    await page.locator('.status-live').waitFor();
    await page.locator('[data-figure] svg').waitFor();
    await mock.stop();
    await page.locator('.away').waitFor();
    assert.ok(await page.locator('[data-figure] svg').isVisible(), 'what was seen stays');
    lab.advance(1000);
    await mock.start(mock.port);
    await page.locator('.status-live').waitFor();
    await page.locator('.away').waitFor({ state: 'detached' });
    const ended = lab.runs.filter(isDone).length;
    await until(() => page.locator('[data-figure] svg').textContent(), (text) => text.includes(`${ended} runs`), 'what was missed');
    await noneWrong(wrong);
  });

  test('says how much of the lab was read', async (t) => {
    const { page, mock, base, wrong } = await scene(t);
    mock.reading = { read: 3400, of: 10000 };
    await page.goto(base);
    await page.locator('.reading').filter({ hasText: 'Reading 3\u202f400 of 10\u202f000 runs' }).waitFor();
    assert.ok(await page.locator('.studies a').first().isVisible(), 'what was read can be used');
    mock.reading = { read: 6000, of: 10000 };
    mock.advance(10);
    await page.locator('.reading').filter({ hasText: '6\u202f000 of' }).waitFor();
    mock.reading = null;
    mock.advance(10);
    await page.locator('.reading').waitFor({ state: 'detached' });
    await noneWrong(wrong);
  });

  test('says in every view that the lab is gone', async (t) => {
    const { page, mock, lab, base, wrong } = await scene(t);
    await page.goto(`${base}#/studies/${lab.study}`);
    await page.locator('[data-figure] svg').waitFor();
    mock.trouble = 'the lab /home/ada/lab is gone; showing its last known state';
    mock.advance(0);
    const banner = page.getByRole('alert').filter({ hasText: 'is gone; showing its last known state' });
    await banner.waitFor();
    assert.ok(await page.locator('[data-figure] svg').isVisible(), 'what was seen stays');
    await page.goto(`${base}#/runs`);
    await page.reload();
    await banner.waitFor();
    mock.trouble = null;
    mock.advance(0);
    await banner.waitFor({ state: 'detached' });
    await noneWrong(wrong);
  });

  // While nothing changes, the connection of the events is silent: it cannot be what ends an absence that a question found.
  test('is live again after one answer that broke off', async (t) => {
    const { page, mock, lab, base } = await scene(t);
    await page.goto(`${base}#/studies/${lab.study}`);
    await page.locator('.status-live').waitFor();
    await page.locator('[data-figure] svg').waitFor();
    mock.broken = 1;
    mock.advance(10);
    await until(() => mock.broken, (left) => left === 0, 'a broken answer');
    await page.locator('.status-away').waitFor();
    await page.locator('.status-live').waitFor();
    await page.locator('.away').waitFor({ state: 'detached' });
  });
});

describe('a cluster', () => {
  test('shows its nodes, and which of them is silent', async (t) => {
    const { page, mock, lab, base, wrong } = await scene(t, {}, { width: 390, height: 844 });
    const told = Date.now() / 1000;
    const node = (task, more) => ({ task, node: `node-${task}`, state: 'running', note: '', told, workers: 2, tokens_per_second: 81_000, ended: 7, ...more });
    lab.jobs = [{ job: '4711', study: 'recall/fig1', scale: 'paper', user: 'ada', cancelled: false, runs: 105,
      nodes: [node(1), node(2, { told: told - 600 }), node(3, { state: 'ended', note: hostile[0], workers: 0 })] }];
    await page.goto(base);
    const rows = () => texts(page, '.job tbody tr');
    const shown = await until(rows, (all) => all.length === 3, 'three nodes');
    assert.match(shown[0], /node-1running281 k7/);
    assert.match(shown[1], /silent for 10 min/);
    assert.ok(shown[2].includes(hostile[0]));
    lab.jobs = [];
    mock.advance(10);
    await until(rows, (all) => all.length === 0, 'no job any more');
    await fits(page);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    await noneWrong(wrong);
  });
});

describe('hostile names', () => {
  test('are text everywhere', async (t) => {
    const { page, lab, base, wrong } = await scene(t, { names: hostile, title: hostile[0], ended: 1 });
    for (const run of lab.runs) {
      if (run.state === 'failed') run.reason = hostile[1];
      Object.assign(run, { tags: [hostile[3]], note: hostile[1] });
    }
    for (const [name, address] of Object.entries(addresses(lab))) {
      await page.goto(base + address);
      await page.locator(proof[name]).first().waitFor();
      assert.equal(await page.evaluate(() => globalThis.pwned), undefined, name);
      assert.equal(await page.locator('img, script:not([src])').count(), 0, name);
      assert.ok((await page.locator('body').textContent()).includes(name.startsWith('Paper') ? 'window' : hostile[0]), `${name} shows the name`);
    }
    await page.goto(`${base}#/runs?filter=${encodeURIComponent(`mixer=${hostile[1]}`)}&group=${encodeURIComponent(hostile[0])}&sort=${encodeURIComponent(hostile[2])}`);
    await page.locator('.virtual').waitFor();
    await page.goto(`${base}#/runs/${lab.runs.find(isDone).id}`);
    assert.equal(await page.locator('.said').textContent(), hostile[1]);
    assert.equal(await page.locator('.tag').textContent(), hostile[3]);
    await page.goto(`${base}#/studies/${lab.study}`);
    await page.locator('.heat a[data-state]').first().hover();
    await page.locator('.tooltip').filter({ hasText: hostile[0] }).waitFor();
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    await noneWrong(wrong);
  });
});

describe('saving', () => {
  const saved = async (page, button) => {
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };

  test('gives SVG, PNG and CSV of figure and grid', async (t) => {
    const { page, lab, base, wrong } = await scene(t);
    await page.goto(`${base}#/studies/${lab.study}`);
    for (const place of [page.locator('[data-figure]'), page.locator('.card', { hasText: 'shade: mean accuracy' })]) {
      await place.hover();
      const svg = await saved(page, place.getByRole('button', { name: 'SVG' }));
      assert.match(svg.name, /\.svg$/);
      assert.match(svg.bytes.toString(), /^<svg[^>]+xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      const png = await saved(page, place.getByRole('button', { name: 'PNG' }));
      assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
      const csv = await saved(page, place.getByRole('button', { name: 'CSV' }));
      assert.ok(csv.bytes.toString().split('\n').length > 10);
    }
    await noneWrong(wrong);
  });

  test('marks texts that a spreadsheet would run', async (t) => {
    const { page, base } = await scene(t, { names: ['=HYPERLINK("http://x")', 'mamba'], ended: 1 });
    await page.goto(`${base}#/runs`);
    const csv = await saved(page, page.getByRole('button', { name: 'CSV' }));
    assert.ok(csv.bytes.toString().includes(`"'=HYPERLINK(""http://x"")"`));
  });
});

describe('a static export', () => {
  test('shows every view from files alone', async (t) => {
    const lab = new Lab({ ended: 1 });
    const directory = mkdtempSync(path.join(tmpdir(), 'mneme-export-'));
    writeExport(lab, assets, directory);
    const files = new FileServer(directory);
    const base = `http://127.0.0.1:${await files.start()}/some/folder/`;
    const { page, wrong, close } = await openPage(browser);
    t.after(async () => {
      await close();
      await files.stop();
      rmSync(directory, { recursive: true });
    });
    for (const [name, address] of Object.entries(addresses(lab))) {
      await page.goto(base + address);
      await page.locator(proof[name]).first().waitFor();
    }
    await page.getByText('static copy').waitFor();
    await page.goto(`${base}#/runs`);
    await page.fill('#filter', 'mamba');
    await until(() => page.locator('.bar [role=status]').textContent(), (text) => text.startsWith('21 of '), 'rows with the word');
    assert.ok(files.requests.every((one) => one.startsWith('/some/folder/')), 'relative addresses only');
    assert.ok(!files.requests.some((one) => one.includes('events')), 'nothing is live');
    await noneWrong(wrong);
  });
});

describe('keys and colours', () => {
  test('help lists the keys of the view', async (t) => {
    const { page, base } = await scene(t);
    await page.goto(`${base}#/runs`);
    await page.locator('.virtual').waitFor();
    await page.keyboard.press('?');
    await page.locator('dialog.help').filter({ hasText: 'compare the chosen runs' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog.help').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'filter');
  });

  test('the chosen theme lasts', async (t) => {
    const { page, base } = await scene(t, {}, { colorScheme: 'dark' });
    await page.goto(base);
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await page.keyboard.press('t');
    assert.equal(await theme(), 'light');
    await page.reload();
    assert.equal(await theme(), 'light');
  });
});
