// node mock_server.mjs ASSETS [PORT] [RUNS]: a stand-in for `mneme serve` with a made-up lab, for work on the page and for its tests.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Lab } from './fixture.mjs';

// The policy of the real server: whatever it would block must fail here, too.
export const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class MockServer {
  constructor(assets, lab) {
    Object.assign(this, { assets, lab, listeners: new Set(), requests: [], broken: 0, reading: null, trouble: null });
  }

  async start(port = 0) {
    this.server = createServer((request, response) => this.answer(request, response));
    await new Promise((ready) => this.server.listen(port, '127.0.0.1', ready));
    this.port = this.server.address().port;
    return this.port;
  }

  // As a server that is killed: every connection breaks.
  async stop() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
    this.listeners.clear();
  }

  advance(by) {
    const event = { ...this.lab.advance(by), reading: this.reading, trouble: this.trouble };
    for (const listener of this.listeners) listener.write(`event: change\ndata: ${JSON.stringify(event)}\n\n`);
  }

  send(response, body, status = 200, type = 'application/json') {
    response.writeHead(status, { 'Content-Type': type, 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  }

  answer(request, response) {
    const url = new URL(request.url, 'http://localhost');
    this.requests.push(url.pathname + url.search);
    const files = { '/': ['index.html', 'text/html'], '/app.js': ['app.js', 'text/javascript'], '/app.css': ['app.css', 'text/css'] };
    const file = files[url.pathname];
    if (file) return this.send(response, readFileSync(path.join(this.assets, file[0])), 200, `${file[1]}; charset=utf-8`);
    const [place, name, part] = url.pathname.replace(/^\/api\/v1\//, '').split('/').map(decodeURIComponent);
    if (place === 'events') return this.events(response);
    if (this.broken > 0) return this.breakOff(response);
    const body = this.body(place, name, part, url.searchParams);
    if (!body) return this.send(response, { error: { message: `nothing of this name: ${name ?? place}`, expected: 'a name that the lab has' } }, 404);
    return this.send(response, body, body.error ? 400 : 200);
  }

  // An answer that ends before its length, as many times as `broken` says; the connection of the events stays.
  breakOff(response) {
    --this.broken;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 });
    response.write('{"api":', () => response.destroy());
  }

  body(place, name, part, query) {
    const { lab } = this;
    const run = place === 'runs' && name ? lab.find(name) : null;
    if (place === 'lab') return lab.lab();
    if (place === 'studies') return name === lab.study ? lab.studyPage() : null;
    if (place === 'runs' && !name) return lab.runsPage(query.getAll('filter'), query.get('ids')?.split(','));
    if (run && part === 'curves') return lab.curves(run, Number(query.get('from') ?? -1));
    if (run) return lab.runPage(run);
    if (place === 'compare') return lab.compare(query.get('runs').split(',').map((id) => lab.find(id)).filter(Boolean));
    if (place === 'papers') return name ? lab.paper(name, query.get('scale')) : lab.papers();
    return null;
  }

  events(response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(`retry: 1000\nevent: change\ndata: ${JSON.stringify({ generation: this.lab.generation, runs: [], studies: [], reading: this.reading, trouble: this.trouble })}\n\n`);
    this.listeners.add(response);
    response.on('close', () => this.listeners.delete(response));
  }
}

// What `mneme serve --export` writes.
export function writeExport(lab, assets, directory) {
  const write = (name, content) => {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  };
  write('index.html', readFileSync(path.join(assets, 'index.html'), 'utf8').replace('content="live"', 'content="static"'));
  for (const name of ['app.js', 'app.css']) write(name, readFileSync(path.join(assets, name), 'utf8'));
  write('api/v1/lab.json', lab.lab());
  write(`api/v1/studies/${lab.study}.json`, lab.studyPage());
  write('api/v1/runs.json', lab.runsPage([]));
  for (const run of lab.runs) {
    write(`api/v1/runs/${run.id}.json`, lab.runPage(run));
    write(`api/v1/runs/${run.id}/curves.json`, lab.curves(run, -1));
  }
  write('api/v1/papers.json', lab.papers());
  for (const { item } of lab.items()) for (const scale of [null, 'laptop']) write(`api/v1/papers/${item}${scale ? `.${scale}` : ''}.json`, lab.paper(item, scale));
}

// A plain web server on a directory, under /some/folder/.
export class FileServer {
  constructor(directory) {
    Object.assign(this, { directory, requests: [] });
  }

  async start() {
    const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
    this.server = createServer((request, response) => {
      this.requests.push(request.url);
      const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname).replace('/some/folder/', '') || 'index.html';
      const file = path.join(this.directory, path.normalize(`/${name}`));
      const found = existsSync(file);
      response.writeHead(found ? 200 : 404, { 'Content-Type': types[path.extname(file)] ?? 'text/plain' });
      response.end(found ? readFileSync(file) : '');
    });
    await new Promise((ready) => this.server.listen(0, '127.0.0.1', ready));
    return this.server.address().port;
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [assets, port = '8010', count] = process.argv.slice(2);
  const mock = new MockServer(assets, new Lab(count ? { count: Number(count) } : {}));
  console.log(`http://127.0.0.1:${await mock.start(Number(port))}/`);
  setInterval(() => mock.advance(50), 2000);
}
