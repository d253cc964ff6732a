// The page's arithmetic, without a browser.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { build } from 'esbuild';

// The sources are TypeScript: bundled in memory, imported from there.
async function load(entry) {
  const { outputFiles } = await build({ entryPoints: [new URL(`../src/${entry}`, import.meta.url).pathname], bundle: true, format: 'esm', write: false, target: 'node18' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}
const curves = await load('curves.ts');
const table = await load('run_table.ts');
const grid = await load('grid_cells.ts');
const format = await load('format.ts');
const palette = await load('palette.ts');
const compared = await load('views/compare_series.ts');
const chart = await load('chart_spec.ts');

const columns = [{ key: 'id' }, { key: 'mixer' }, { key: 'train.lr' }, { key: 'test', unit: 'fraction' }];
const rows = [['a', 'mamba', 1e-3, 0.9], ['b', 'mamba', 1e-3, 0.7], ['c', 'hyena', 1e-2, null], ['d', 'hyena', 1e-4, 0.5]];

describe('curves', () => {
  const some = (values) => ({ columns: ['step', 'seconds', 'loss'], rows: values });

  test('points leave out what was not measured', () => {
    assert.deepEqual(curves.points(some([[0, 1, null], [5, 2, 3], [9, null, 2]]), 'step', 'loss'), [[5, 3], [9, 2]]);
    assert.deepEqual(curves.points(some([[0, 1, 2]]), 'step', 'accuracy'), []);
  });

  test('a resumed run replaces what it writes again', () => {
    const merged = curves.mergeCurves(some([[0, 0, 4], [5, 1, 3], [10, 2, 2]]), some([[10, 9, 2.5], [15, 10, 1]]));
    assert.deepEqual(merged.rows, [[0, 0, 4], [5, 1, 3], [10, 9, 2.5], [15, 10, 1]]);
  });

  test('smoothing starts at the curve and leaves a constant alone', () => {
    assert.deepEqual(curves.smooth([[0, 2], [1, 2], [2, 2]], 0.9).map(([, y]) => y.toFixed(12)), ['2.000000000000', '2.000000000000', '2.000000000000']);
    const [first, second] = curves.smooth([[0, 0], [1, 1]], 0.5);
    assert.equal(first[1], 0);
    assert.ok(Math.abs(second[1] - 2 / 3) < 1e-12);
  });

  test('thinning keeps every spike', () => {
    const curve = Array.from({ length: 10_000 }, (_, x) => [x, x === 7777 ? 99 : 0]);
    const thin = curves.thin(curve, 500);
    assert.ok(thin.length <= 502);
    assert.ok(thin.some(([x, y]) => x === 7777 && y === 99));
    assert.ok(thin.every(([x], i) => i === 0 || x >= thin[i - 1][0]));
  });

  test('a band is over the curves that reach so far', () => {
    const [start, middle, end] = curves.band([[[0, 0], [2, 2]], [[0, 4], [1, 4]]]);
    assert.deepEqual(start, { x: 0, mean: 2, lo: 0, hi: 4 });
    assert.deepEqual(middle, { x: 1, mean: 2.5, lo: 1, hi: 4 });
    assert.deepEqual(end, { x: 2, mean: 2, lo: 2, hi: 2 });
  });

  test('runs part at the first measurement that differs, whatever the clock says', () => {
    assert.equal(curves.firstDifference(some([[0, 1, 4], [5, 2, 3]]), some([[0, 9, 4], [5, 9, 3.1]])), 5);
    assert.equal(curves.firstDifference(some([[0, 1, 4]]), some([[0, 9, 4], [5, 9, 3]])), null);
  });
});

describe('a chart', () => {
  test('marks a curve of one point, which no line would show', () => {
    const curve = (...points) => ({ label: '', color: '', curve: points });
    const { lines, dots } = chart.chartData({ xTitle: '', height: 1 }, [curve([0, 1], [1, 2]), curve([1, 5])]);
    assert.equal(lines.length, 3);
    assert.deepEqual(dots, [{ series: 's1', x: 1, y: 5 }]);
    assert.equal(chart.chartData({ xTitle: '', height: 1, yLog: true }, [curve([0, 0], [1, 2])]).dots.length, 1);
  });
});

describe('the table of runs', () => {
  test('nothing comes last in both directions', () => {
    for (const descending of [false, true]) {
      const sorted = table.sortRows(rows, columns, [{ key: 'test', descending }]);
      assert.equal(sorted.at(-1)[0], 'c');
    }
    assert.deepEqual(table.sortRows(rows, columns, table.parseOrder('-mixer,test')).map(([id]) => id), ['b', 'a', 'd', 'c']);
  });

  test('a field is found by its last part', () => {
    assert.equal(table.columnAt(columns, 'lr'), 2);
    assert.equal(table.columnAt(columns, 'nothing'), -1);
  });

  test('groups have mean and deviation over what was measured', () => {
    const groups = table.sortGroups(table.groupRows(rows, columns, ['mixer']), columns, [{ key: 'test', descending: false }]);
    assert.deepEqual(groups.map((group) => group.values[0]), ['hyena', 'mamba']);
    const spread = table.spread(groups[1].rows.map((row) => row[3]));
    assert.ok(Math.abs(spread.mean - 0.8) < 1e-12);
    assert.ok(Math.abs(spread.deviation - Math.SQRT2 / 10) < 1e-12);
    assert.equal(table.spread([null, 'x']), null);
  });

  test('changed runs replace, join and leave', () => {
    const old = { generation: 1, columns, rows, total: 4 };
    const news = { generation: 2, columns, rows: [['b', 'mamba', 1e-3, 0.8], ['e', 'mamba', 1e-3, 0.1]], total: 5 };
    const patched = table.patchRuns(old, news, ['b', 'd', 'e']);
    assert.deepEqual(patched.rows.map(([id]) => id), ['e', 'a', 'b', 'c']);
    assert.equal(patched.rows[2][3], 0.8);
    assert.equal(old.rows[1][3], 0.7);
  });

  test('a filter line has words and expressions', () => {
    assert.deepEqual(table.words(`mixer=mamba 'lr>1e-3' "a b"`), ['mixer=mamba', 'lr>1e-3', 'a b']);
    assert.ok(table.isExpression('task.length!=64') && table.isExpression('test>=90%') && !table.isExpression('mamba'));
    assert.deepEqual(table.search({ columns, rows }, 'mamba 70.0').map(([id]) => id), ['b']);
  });
});

describe('names of compared runs', () => {
  const run = (id, point) => ({ id, label: 'mamba, and more', point });

  test('leave out what follows from the mixer, and seeds', () => {
    const names = compared.familyNames([
      run('a', { 'model.mixer': 'mamba', 'model.positions': 'none', 'train.lr': 1e-3, 'train.dropout_seed': 1 }),
      run('b', { 'model.mixer': 'mamba', 'model.positions': 'none', 'train.lr': 1e-3, 'train.dropout_seed': 2 }),
      run('c', { 'model.mixer': 'attention', 'model.positions': 'learned', 'train.lr': 1e-2, 'train.dropout_seed': 1 }),
    ]);
    assert.deepEqual([...names.values()], ['mamba', 'mamba', 'attention']);
  });

  test('have all that tells them apart', () => {
    const names = compared.familyNames([run('a', { 'train.lr': 1e-3, 'model.width': 64 }), run('b', { 'train.lr': 1e-3, 'model.width': 128 }), run('c', { 'train.lr': 1e-2, 'model.width': 128 })]);
    assert.deepEqual([...names.values()], ['mamba, lr 1e-3, width 64', 'mamba, lr 1e-3, width 128', 'mamba, lr 1e-2, width 128']);
  });
});

describe('the grid', () => {
  const cell = (mixer, lr, seed, accuracy, width = 64) => ({ run: `${mixer}${lr}${seed}`, point: { 'model.mixer': mixer, 'train.lr': lr, 'model.width': width }, seed, state: 'done', accuracy });
  const axes = [{ key: 'model.mixer', values: ['mamba', 'attention'] }, { key: 'train.lr', values: [1e-2, 1e-3] }, { key: 'train.seed', values: [1, 2] }];

  test('has rates across, mixers down in the order of the study, seeds inside', () => {
    const made = grid.gridOf({ axes, cells: [cell('attention', 1e-2, 2, 0.5), cell('attention', 1e-2, 1, null), cell('mamba', 1e-3, 1, 1)] });
    assert.deepEqual(made.columns.map((column) => column.label), ['1e-3', '1e-2']);
    assert.deepEqual(made.rows.map((row) => row.label), ['mamba', 'attention']);
    assert.deepEqual(made.rows[1].cells[0].cells.map((one) => one.seed), [1, 2]);
    assert.equal(made.rows[1].cells[0].mean, 0.5);
    assert.equal(made.seeds, 2);
  });

  test('names a row by what varies', () => {
    const made = grid.gridOf({ axes, cells: [cell('mamba', 1e-2, 1, 0.5, 64), cell('mamba', 1e-2, 1, 0.5, 128)] });
    assert.deepEqual(made.rows.map((row) => row.label), ['mamba, width 64', 'mamba, width 128']);
  });
});

describe('numbers', () => {
  test('read as a person writes them', () => {
    assert.deepEqual([0, 1234567, 0.5, 0.044481, 1e-7, null].map((one) => format.number(one)), ['0', '1\u202f234\u202f567', '0.5', '0.04448', '1e-7', '–']);
    assert.deepEqual([0.001, 0.00032].map((one) => format.rate(one)), ['1e-3', '3.2e-4']);
    assert.deepEqual([0.02, 7.25, 20, 90, 4000, 300_000].map((one) => format.duration(one)), ['20 ms', '7.3 s', '20 s', '2 min', '1 h 7 min', '3.5 days']);
    assert.deepEqual([3, 6.4, 90, 60.3 * 86400].map((past) => format.ago(1e6, 1e6 + past)), ['just now', '6 s ago', '2 min ago', '60 days ago']);
    assert.equal(format.percent(0.98765), '98.8\u202f%');
    assert.deepEqual([3.91e5, 500, 20_000, 1000, 0.25].map((one) => format.short(one)), ['391 k', '500', '20 k', '1 k', '0.25']);
  });
});

describe('colours on a dark ground', () => {
  test('change the drawing and never the data', () => {
    const spec = { config: { background: 'white' }, datasets: { a: [{ name: '#333333' }] }, mark: { color: '#333333' }, encoding: { color: { scale: { domain: ['#000000'], range: ['#000000'] } } } };
    const dark = palette.recolour(spec, true);
    assert.equal(dark.config.background, 'transparent');
    assert.deepEqual(dark.datasets, spec.datasets);
    assert.notEqual(dark.mark.color, '#333333');
    assert.deepEqual(dark.encoding.color.scale.domain, ['#000000']);
    assert.notDeepEqual(dark.encoding.color.scale.range, ['#000000']);
    assert.equal(spec.config.background, 'white');
  });

  test('more is further from the ground', () => {
    const lightness = (color) => parseInt(color.slice(1, 3), 16) + parseInt(color.slice(3, 5), 16) + parseInt(color.slice(5, 7), 16);
    for (const range of [['#EEF4FA', '#08306B'], ['#F4F4F4', '#0072B2']]) {
      const [none, much] = palette.recolour(range, true).map(lightness);
      assert.ok(none < much, String(range));
    }
  });
});
