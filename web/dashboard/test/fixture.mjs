// A made-up lab in the shape of the server's answers (docs/serve.md): a study of rates, mixers and seeds in which some runs have ended, some are
// running and some wait. The same seed of numbers gives the same lab.
const mixers = ['attention', 'mamba', 'hyena', 'deltanet', 'rwkv4'];
const rates = [1e-4, 3.2e-4, 1e-3, 3.2e-3, 1e-2, 3.2e-2, 1e-1];
const seeds = [42, 123, 777];
const now = 1_790_000_000;
const steps = 1000;

// What nobody should call a mixer, a task or a study.
export const hostile = [
  '<img src=x onerror="globalThis.pwned=1">',
  '"><script>globalThis.pwned=1</script>',
  "javascript:globalThis.pwned=1//';--",
  '{{constructor.constructor("globalThis.pwned=1")()}}',
];

// 0..1, a function of its argument.
function chance(n) {
  let x = Math.imul(n ^ 0x9e3779b9, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const idOf = (n) => (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0') + (n + 0x1000).toString(16).padStart(4, '0');

// How well a mixer does at a rate: a plateau that ends at its own rate.
function ceiling(mixer, rate, seed) {
  const top = [1e-2, 3.2e-3, 1e-3, 1e-2, 3.2e-3][mixer % 5];
  const low = [1e-4, 3.2e-4, 3.2e-4, 1e-4, 1e-4][mixer % 5];
  const distance = rate > top ? Math.log10(rate / top) : rate < low ? Math.log10(low / rate) : 0;
  return Math.max(0.05, 0.99 - 0.75 * distance - 0.12 * chance(seed + 31 * mixer + 7 * Math.round(1000 * Math.log10(rate))));
}

export function curveOf(run, upTo = run.step) {
  const rows = [];
  for (let step = 0; step <= upTo; step += 50) {
    const share = 1 / (1 + Math.exp(-(step - 350 - 100 * (run.n % 3)) / 70));
    const noise = 0.015 * (chance(run.n * 977 + step) - 0.5);
    const accuracy = Math.min(1, Math.max(0.01, run.ceiling * share + noise));
    const loss = 0.02 + 4.2 * (1 - accuracy) ** 1.3;
    rows.push([step, step * 8192, step * 0.021, step * 8192 * 1.2e6, loss * (1 + noise), accuracy - noise, loss, accuracy, accuracy ** 2,
      run.lr * Math.min(1, step / 100), 0.4 + 3 * Math.exp(-step / 150) + Math.abs(noise) * 20, 0.8 + 4 * Math.exp(-step / 150) + Math.abs(noise) * 60, 40 + step / 60, 0.021 + noise / 20]);
  }
  return {
    columns: ['step', 'tokens', 'seconds', 'flops', 'train_loss', 'train_accuracy', 'loss', 'accuracy', 'exact_match', 'lr', 'gradient_norm', 'gradient_norm_max', 'parameter_norm', 'step_seconds'],
    rows,
  };
}

function makeRun(n, names, isEnded) {
  const seed = seeds[n % seeds.length];
  const rate = rates[Math.floor(n / seeds.length) % rates.length];
  const mixer = Math.floor(n / (seeds.length * rates.length));
  const best = ceiling(mixer, rate, seed);
  const fate = chance(n * 13 + 5);
  const run = { n, id: idOf(n), mixer: names[mixer % names.length], lr: rate, seed, width: 64 << (Math.floor(mixer / names.length) % 3), ceiling: best, step: steps, state: 'done', reason: 'budget' };
  if (!isEnded) return { ...run, state: 'waiting', step: 0, reason: null };
  if (rate >= 3.2e-2 && fate < 0.5) return { ...run, state: 'diverged', step: 150, reason: 'loss is not finite at step 163', ceiling: 0.08 };
  if (fate > 0.97) return { ...run, state: 'failed', step: 0, reason: 'worker killed by signal 9 (out of memory?)' };
  return run;
}

export class Lab {
  // `count` runs, of which the share `ended` has ended; hostile names if asked.
  constructor({ count = mixers.length * rates.length * seeds.length, ended = 0.7, names = mixers, study = 'recall-fig1-laptop', title = 'Learning-rate windows on MQAR' } = {}) {
    Object.assign(this, { study, title, generation: 1, names });
    this.runs = Array.from({ length: count }, (_, n) => makeRun(n, names, chance(n * 7 + 3) < ended));
    const waiting = this.runs.filter((run) => run.state === 'waiting');
    for (const run of waiting.slice(0, 2)) Object.assign(run, { state: 'running', step: 400 });
  }

  find(id) {
    return this.runs.find((run) => run.id.startsWith(id));
  }

  // A running run takes some steps and, at the end, another takes its place. Returns the event.
  advance(by = 200) {
    const changed = [];
    for (const run of this.runs.filter((one) => one.state === 'running')) {
      run.step = Math.min(steps, run.step + by);
      changed.push(run.id);
      if (run.step < steps) continue;
      Object.assign(run, { state: 'done', reason: 'budget' });
      const next = this.runs.find((one) => one.state === 'waiting');
      if (next) {
        Object.assign(next, { state: 'running', step: 50 });
        changed.push(next.id);
      }
    }
    ++this.generation;
    return { generation: this.generation, runs: changed, studies: [this.study], papers: false };
  }

  accuracy(run) {
    return run.state === 'waiting' || run.step === 0 ? null : curveOf(run).rows.at(-1)[7];
  }

  state(run) {
    return run.state === 'done' && this.accuracy(run) >= 0.9 ? 'solved' : run.state;
  }

  countOf(state) {
    return this.runs.filter((run) => run.state === state).length;
  }

  get counts() {
    const [done, diverged, failed] = [this.countOf('done'), this.countOf('diverged'), this.countOf('failed')];
    return { planned: this.runs.length, done, running: this.countOf('running'), waiting: this.countOf('waiting'), interrupted: 0, failed, diverged, cancelled: 0 };
  }

  answer(body) {
    return { api: 1, generation: this.generation, ...body };
  }

  lab() {
    const left = 21 * (this.countOf('waiting') + this.countOf('running'));
    const ended = this.runs.filter((run) => run.state !== 'waiting' && run.state !== 'running');
    const line = (run, i) => ({ run: run.id, mixer: run.mixer, lr: run.lr, seed: run.seed, state: run.state, accuracy: this.accuracy(run), reason: run.reason, time: now - 40 - 70 * i });
    return this.answer({
      lab: '/home/ada/lab', trouble: null, damaged: [], notices: [], runs: { total: this.runs.length }, mneme: '0.1.0-dev', code: '3f9a12c07be1',
      machine: { host: 'anvil', processors: 8, load: [2.13, 1.9, 1.2], memory_total: 33_400_000_000, memory_free: 21_900_000_000 },
      jobs: this.jobs ?? [],
      studies: [
        { key: this.study, name: 'recall/fig1', title: this.title, scale: 'laptop', ...this.counts, seconds_left: left, last_change: now - 4 },
        { key: 'memory-table4-laptop', name: 'memory/table4', title: 'Counting: three of five seeds', scale: 'laptop', planned: 60, done: 57, running: 0, waiting: 0, interrupted: 0, failed: 0, diverged: 3, cancelled: 0, seconds_left: 0, last_change: now - 86_000 },
        { key: 'demo-smoke', name: 'demo', title: 'Two mixers on MQAR', scale: 'smoke', planned: 18, done: 11, running: 0, waiting: 6, interrupted: 0, failed: 1, diverged: 0, cancelled: 0, seconds_left: 340, last_change: now - 5400 },
      ],
      workers: this.runs.filter((run) => run.state === 'running').map((run) => {
        const row = curveOf(run).rows.at(-1);
        return { run: run.id, mixer: run.mixer, task: 'mqar', lr: run.lr, seed: run.seed, step: run.step, steps, loss: row[6], accuracy: row[7], tokens_per_second: 391_000, seconds_left: (steps - run.step) * 0.021 };
      }),
      failures: ended.filter((run) => run.state === 'failed').slice(0, 5).map(line),
      recent: ended.slice(-6).map(line),
      papers_ready: true, papers: this.items(),
    });
  }

  // A small relative of the reports' figure, drawn from the runs that have ended.
  figure() {
    const values = this.runs.filter((run) => run.state === 'done').slice(0, 600)
      .map((run) => ({ series: run.mixer, rate: run.lr, test: 100 * this.accuracy(run), seed: run.seed, run: run.id }));
    const x = { field: 'rate', type: 'quantitative', scale: { type: 'log', domain: [7e-5, 1.4e-1], nice: false }, axis: { title: 'Learning rate', values: [1e-4, 1e-3, 1e-2, 1e-1], format: '.0e', labelOverlap: false } };
    const color = { field: 'series', type: 'nominal', scale: { domain: this.names, range: ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#000000'] }, legend: { orient: 'top', title: null } };
    const y = { field: 'test', type: 'quantitative', scale: { domain: [0, 100] }, axis: { title: 'Test accuracy (%)' } };
    return {
      name: 'lr-window', kind: 'lr-window', title: 'Accuracy against the learning rate', caption: 'Each point is a trained model, each line a mean over seeds.',
      spec: {
        $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
        title: { text: this.title, subtitle: `${values.length} runs, laptop scale`, anchor: 'start', color: '#333333', subtitleColor: '#767676' },
        config: { background: 'white', view: { stroke: null }, axis: { gridColor: '#E6E6E6', labelColor: '#333333', titleColor: '#333333' }, legend: { labelColor: '#333333' } },
        width: 330, height: 220, datasets: { seeds: values }, data: { name: 'seeds' },
        layer: [
          { mark: { type: 'line', strokeWidth: 2 }, encoding: { x, y: { ...y, aggregate: 'mean' }, color } },
          { mark: { type: 'circle', size: 28, opacity: 0.5 }, encoding: { x, y, color, tooltip: [{ field: 'series', title: 'mixer' }, { field: 'seed', title: 'seed' }, { field: 'run', title: 'run' }] } },
        ],
      },
      tables: [{ title: 'Means', columns: ['mixer', 'lr', 'test'], rows: values.slice(0, 12).map((row) => [row.series, row.rate, row.test]) }],
      findings: [`attention has the widest window of the ${this.names.length} mixers: two decades.`],
    };
  }

  claims() {
    return [
      { id: 'A.window-mamba', statement: 'the window of learning rates is narrower for Mamba than for attention', verdict: 'confirmed', reason: '', numbers: 'attention 2.0 decades, mamba 1.0', size: 'MQAR of 64 tokens, width 64, 1,000 steps', where: 'figure 1', words: 'Unlike attention, the window of suitable learning rates for Mamba and Hyena is relatively narrow', rule: "attention's window is wider in at least 95 % of the draws of seeds" },
      { id: 'A.coarse-grid', statement: "Zoology's grid of four rates misses what recurrent models can do", verdict: 'undecided', reason: 'seeds disagree', numbers: 'mamba gains 3.1 points', where: 'figures 1 and 2' },
      { id: 'A.two-layers', statement: 'two layers of attention solve MQAR', verdict: 'contradicted', reason: '', numbers: 'attention 84.1 %' },
      { id: 'A.window-hyena', statement: 'the window of learning rates is narrower for Hyena than for attention', verdict: 'not run', reason: '12 runs have not ended' },
    ];
  }

  studyPage() {
    const byMixer = this.names.map((name) => {
      const runs = this.runs.filter((run) => run.mixer === name && run.state === 'done' && run.lr === 1e-3).slice(0, 3);
      const values = runs.map((run) => this.accuracy(run));
      return { point: { 'model.mixer': name, 'train.lr': 1e-3 }, accuracy: values.reduce((a, b) => a + b, 0) / values.length, least: Math.min(...values), most: Math.max(...values), runs: values.length };
    }).filter((cell) => cell.runs > 0);
    return this.answer({
      key: this.study, name: 'recall/fig1', title: this.title, scale: 'laptop', solved_at: 0.9, ...this.counts, seconds_left: 21 * this.countOf('waiting'),
      axes: [{ key: 'model.mixer', values: this.names }, { key: 'train.lr', values: rates }, { key: 'train.seed', values: seeds }],
      cells: this.runs.slice(0, 2000).map((run) => ({ run: run.id, point: { 'model.mixer': run.mixer, 'train.lr': run.lr }, seed: run.seed, state: this.state(run), accuracy: this.accuracy(run) })),
      figures: [this.figure()],
      best: byMixer.sort((a, b) => b.accuracy - a.accuracy),
      figures_trouble: null,
      cost: { seconds: 21 * this.countOf('done'), flops: 9.8e12 * this.countOf('done'), seconds_to_go: 21 * this.countOf('waiting') },
      claims: this.claims(),
    });
  }

  row(run) {
    const accuracy = this.accuracy(run);
    return [run.id, run.state === 'waiting' ? 'new' : run.state, run.reason ?? '', 'mqar', run.mixer, run.width, 2, run.lr, run.seed, run.step, steps, run.step * 0.021,
      accuracy, run.state === 'done' ? accuracy : null, now - run.n, this.study, (run.tags ?? []).join(' '), run.note ?? '', 64 << (run.n % 2)];
  }

  runsPage(filters, ids) {
    const columns = [['id', 'text'], ['state', 'state'], ['reason', 'text'], ['task', 'text'], ['mixer', 'text'], ['width', 'number'], ['layers', 'number'], ['lr', 'number'], ['seed', 'number'],
      ['steps', 'number', 'steps'], ['budget', 'number', 'steps'], ['seconds', 'number', 's'], ['validation', 'number', 'fraction'], ['test', 'number', 'fraction'], ['changed', 'number', 'time'],
      ['studies', 'text'], ['tags', 'text'], ['note', 'text'], ['task.length', 'number']].map(([key, type, unit = '']) => ({ key, type, unit }));
    let runs = ids ? this.runs.filter((run) => ids.includes(run.id)) : this.runs;
    for (const filter of filters) {
      const [, key, operation, text] = filter.match(/^([\w.]+)(!=|<=|>=|=|<|>)(.*)$/) ?? [];
      const at = columns.findIndex((column) => column.key === key);
      if (at < 0) return { error: { message: `[${filter}] unknown key '${key}', did you mean 'mixer'?`, expected: 'state, task, mixer, width, lr, seed, validation or test' } };
      const test = { '=': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b }[operation];
      runs = runs.filter((run) => {
        const cell = this.row(run)[at];
        return typeof cell === 'number' ? test(cell, parseFloat(text) / (text.endsWith('%') ? 100 : 1)) : cell !== null && test(cell, text);
      });
    }
    return this.answer({ columns, rows: runs.map((run) => this.row(run)), matching: runs.length, total: this.runs.length, ...(ids ? { partial: true } : {}) });
  }

  config(run) {
    return {
      task: { name: 'mqar', length: 64, pairs: 4, vocab: 8192 },
      model: { mixer: run.mixer, width: run.width, layers: 2, block: 'zoology' },
      train: { lr: run.lr, seed: run.seed, steps, batch: 128, optimizer: 'adamw' },
    };
  }

  runPage(run) {
    const rows = curveOf(run).rows;
    const last = rows.at(-1);
    const ended = run.state === 'done';
    return this.answer({
      id: run.id, state: this.state(run), outcome: run.state === 'waiting' || run.state === 'running' ? null : run.state, reason: run.reason, tags: run.tags ?? [], note: run.note ?? '', config: this.config(run),
      differs: [{ key: 'model.mixer', value: run.mixer, others: this.names.filter((name) => name !== run.mixer) }, { key: 'train.lr', value: run.lr, others: rates.filter((rate) => rate !== run.lr) }, { key: 'train.seed', value: run.seed, others: seeds.filter((seed) => seed !== run.seed) }],
      studies: [{ key: this.study, title: this.title, scale: 'laptop' }], attempts: { number: 1, deaths: 0, holder: 'anvil:4711' }, code: ['0.1.0-dev (3f9a12c07be1)'], environment: { mneme: '0.1.0-dev', code: '3f9a12c07be1', libtorch: '1.13.1', cpu: 'AVX2', blas: 'Haswell', threads: 1 },
      log: ['2026-09-21 10:12:04 starts (attempt 1)', `2026-09-21 10:12:04 ${run.mixer}, 105 344 parameters`, '2026-09-21 10:12:25 checkpoint at step 1000', `2026-09-21 10:12:25 ${run.state}: ${run.reason}`],
      generalisation: ended ? { axis: 'length', points: [64, 128, 256, 512].map((value, i) => ({ value, loss: 0.1 * (i + 1), accuracy: last[7] * 0.8 ** i, exact_match: last[8] * 0.6 ** i })) } : null,
      traces: ended ? [{ name: 'test 0', input: wave(0), target: wave(1), output: wave(1).map((y, i) => 0.9 * y + 0.1 * chance(i)) }, { name: 'two_isi', input: wave(2), target: wave(3), output: wave(3) }] : null,
      inspect: null, step: run.step, steps, parameters: 105_344,
      validation: { loss: last[6], accuracy: last[7], exact_match: last[8] }, test: ended ? { loss: last[6], accuracy: last[7], exact_match: last[8] } : null,
      best: { step: 950, accuracy: last[7] }, times: ended ? { seconds: run.step * 0.021, tokens_per_second: 391_000, finished_at: '2026-09-21T10:12:25Z' } : null,
    });
  }

  curves(run, from) {
    const { columns, rows } = curveOf(run);
    return this.answer({ columns, rows: rows.filter((row) => row[0] > from) });
  }

  compare(runs) {
    const fields = { 'model.mixer': (run) => run.mixer, 'train.lr': (run) => run.lr, 'train.seed': (run) => run.seed, 'model.width': (run) => run.width };
    const differs = Object.entries(fields).map(([key, of]) => ({ key, values: runs.map(of) })).filter(({ values }) => values.some((value) => value !== values[0]));
    const keys = differs.map(({ key }) => key).filter((key) => key !== 'train.seed');
    return this.answer({
      runs: runs.map((run) => ({
        id: run.id, state: run.state, seed: run.seed, point: Object.fromEntries(keys.map((key) => [key, fields[key](run)])), curves: curveOf(run),
        label: [run.mixer, ...keys.filter((key) => key !== 'model.mixer').map((key) => `${key.split('.')[1]} ${fields[key](run)}`)].join(', '),
      })),
      differs,
      parts: runs.length > 10 ? [] : runs.flatMap((a, i) => runs.slice(i + 1).map((b) => ({ a: a.id, b: b.id, step: a === b ? null : 50 }))),
    });
  }

  items() {
    const item = (name, title, paper, study, scale, ended, planned, verdicts) => ({ item: name, title, paper, study, scale, scales: ['laptop', 'paper'], kept_runs: 0, ended_runs: ended, planned_runs: planned, ...verdicts });
    return [
      item('A.fig1', 'The window of learning rates', 'A', 'recall/fig1', 'laptop', 63, 105, { confirmed: 2, contradicted: 1, undecided: 1, not_run: 0 }),
      item('A.fig2', 'Accuracy against width at every length', 'A', 'recall/fig2', 'laptop', 0, 240, { confirmed: 0, contradicted: 0, undecided: 0, not_run: 4 }),
      item('B.table4', 'Counting', 'B', 'memory/table4', 'laptop', 60, 60, { confirmed: 3, contradicted: 0, undecided: 0, not_run: 2 }),
    ];
  }

  papers() {
    return this.answer({ ready: true, papers: [{ letter: 'A', title: 'Recall in recurrent models and attention' }, { letter: 'B', title: 'Memory and generalisation' }], items: this.items() });
  }

  paper(name, scale) {
    const item = this.items().find((one) => one.item === name);
    return item && this.answer({
      ...item, what: item.title, also: [], scale: scale ?? item.scale, scales: [{ name: 'laptop', kept: true }, { name: 'paper', kept: false }],
      paper: { letter: item.paper, title: 'Recall in recurrent models and attention' }, figures: [this.figure()], figures_trouble: null, claims: this.claims(), sizes: null,
      says: [{ about: 'attention', shown: '99 %', value: 0.99, passes: null, ours: '98.4 %' }, { about: 'mamba', shown: '97 %', value: 0.97, passes: null, ours: '93.0 %' }],
      settings: [{ key: 'task.length', ours: '64', paper: '512' }, { key: 'train.steps', ours: '1000', paper: '50000' }],
    });
  }
}

const wave = (phase) => Array.from({ length: 60 }, (_, i) => (Math.floor((i + phase) / 7) % 2 === 0 ? 0 : 1));
