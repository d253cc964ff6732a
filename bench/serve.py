"""The dashboard's server: opening a lab of 10,000 runs, memory, what it costs while nothing happens and during a sweep, requests a second.

Times are those of a client on the same machine, from the start of the program. What the server costs a sweep is measured twice: as the
processor time that it takes meanwhile, which is what the workers cannot have, and as the sweeps' own time with and without it, in turns. A
client follows the events and asks, as the page does, for the lab and the study after each. wrk must be installed (script/bootstrap --bench).
"""
import http.client
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import threading
import time

from tools import Arguments, fill_lab, timed


class Server:
    """`mneme serve` on a port of its own."""

    def __init__(self, mneme, lab):
        self.start = time.perf_counter()
        self.process = subprocess.Popen([mneme, "serve", "--lab", lab, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
        text = ""
        while not text.endswith("}\n"):
            text += self.process.stdout.readline()
        self.port = json.loads(text)["port"]
        self.address = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, target):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def get(self, target):
        status, body = self.ask(target)
        assert status == 200, (target, body)
        return body

    def wait_for_papers(self):
        """What is computed once, whatever happens then."""
        while not json.loads(self.get("/api/v1/lab"))["papers_ready"]:
            time.sleep(0.2)

    def seconds_to(self, target):
        start = time.perf_counter()
        size = len(self.get(target))
        return time.perf_counter() - start, size

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, name):
        return int(re.search(rf"{name}:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024


class Page(threading.Thread):
    """Follows the events and asks after each for what the views show."""

    def __init__(self, server, targets):
        super().__init__(daemon=True)
        self.server, self.targets, self.events = server, targets, 0
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self.connection.request("GET", "/api/v1/events")
        self.stream = self.connection.getresponse()
        self.start()

    def run(self):
        try:
            for line in self.stream:
                if line.startswith(b"data:"):
                    self.events += 1
                    for target in self.targets:  # the study is there once its sweep has begun
                        self.server.ask(target)
        except (OSError, ValueError, AssertionError, http.client.HTTPException, AttributeError):
            pass  # the server was stopped


def children_seconds():
    """Processor time of the programs that have ended, those that they started included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def processor_share(server, seconds):
    before, start = server.processor_seconds(), time.perf_counter()
    time.sleep(seconds)
    return 100 * (server.processor_seconds() - before) / (time.perf_counter() - start)


def large_lab(mneme, directory, idle_seconds):
    lab = directory / "large"
    runs = fill_lab(mneme, lab, 10000, 20)
    ids = sorted(path.name for path in (lab / "runs").iterdir())
    (lab / "studies").mkdir()
    (lab / "studies" / "demo-smoke.json").write_text(json.dumps({"name": "demo", "title": "10,000 runs", "scale": "smoke", "runs": ids}))
    for index in ("without index.db", "with index.db"):
        if index == "with index.db":
            subprocess.run([mneme, "reindex", "--lab", lab], check=True, capture_output=True)
        with Server(mneme, lab) as server:
            server.get("/api/v1/lab")
            opened, memory = time.perf_counter() - server.start, server.memory("VmRSS")
            table, size = server.seconds_to("/api/v1/runs")
            again, _ = server.seconds_to("/api/v1/runs?filter=lr%3E1e-3")
            print(f"{runs:,} runs, {index}: from the start of the program to the first answer {opened:.2f} s (aim 1 s), {memory:.0f} MB (aim 300 MB); "
                  f"all runs as a table {table:.2f} s, {size / 1e6:.1f} MB; with a filter {again:.2f} s", flush=True)
            if index == "with index.db":
                time.sleep(5)  # the papers' figures are judged ahead
                alone = processor_share(server, idle_seconds)
                page = Page(server, [])
                followed = processor_share(server, idle_seconds)
                study, size = server.seconds_to("/api/v1/studies/demo-smoke")
                print(f"idle: {alone:.2f} % of a core with no page, {followed:.2f} % with one that follows the events (aim 2 %), {idle_seconds:.0f} s each; "
                      f"a study of {runs:,} runs with its figure {study:.2f} s, {size / 1e6:.1f} MB; most memory {server.memory('VmHWM'):.0f} MB", flush=True)
                del page
                rates(server, ids[0])


def rates(server, run):
    for target in ("/", "/app.js", "/api/v1/lab", f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/curves"):
        out = subprocess.run(["wrk", "-t2", "-c64", "-d5s", "--latency", server.address + target], capture_output=True, text=True, check=True).stdout
        per_second = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
        slowest = re.search(r"99%\s+(\S+)", out)[1]
        trouble = re.findall(r"(Non-2xx.*|Socket errors.*)", out)
        print(f"wrk, 64 connections, {target.replace(run, 'ID')}: {per_second:,.0f} requests/s, 99 % within {slowest}, {'; '.join(trouble) or '0 errors'}", flush=True)


def first_figure(mneme, directory, repeats):
    lab = directory / "first"
    timed([mneme, "sweep", "demo", "--scale", "smoke", "--lab", lab])
    seconds = []
    for _ in range(repeats):
        with Server(mneme, lab) as server:
            key = json.loads(server.get("/api/v1/lab"))["studies"][0]["key"]
            figures = json.loads(server.get(f"/api/v1/studies/{key}"))["figures"]
            assert figures and figures[0]["spec"]
            seconds.append(time.perf_counter() - server.start)
    print(f"a small lab: from the start of the program to the first figure's specification {statistics.median(seconds):.2f} s "
          f"(median of {repeats}, most {max(seconds):.2f} s)", flush=True)


def during_a_sweep(mneme, directory, repeats, steps):
    study = directory / "swept.toml"
    study.write_text('title = "Swept"\n[model]\nmixer = "attention"\n[task]\nlength = 64\npairs = 4\nvocab = 256\n[train]\nseed = "range(0, 4, 1)"\nlr = [1e-3, 3e-3]\n'
                     f'batch = 64\nsteps = {steps}\n')
    taken, shares, of_sweep, events = {False: [], True: []}, [], [], 0
    for turn in range(2 * repeats):
        served = turn % 4 in (1, 2)  # without, with, with, without
        with tempfile.TemporaryDirectory(dir=directory) as name:
            lab = pathlib.Path(name)
            (lab / "runs").mkdir()
            command = [mneme, "sweep", study, "--lab", lab, "--jobs", "2"]
            if not served:
                taken[False].append(timed(command)[0])
                continue
            with Server(mneme, lab) as server:
                server.wait_for_papers()
                page = Page(server, ["/api/v1/lab", "/api/v1/studies/swept"])
                before, start, sweep = server.processor_seconds(), time.perf_counter(), children_seconds()
                taken[True].append(timed(command)[0])
                spent = server.processor_seconds() - before
                shares.append(100 * spent / (time.perf_counter() - start) / os.cpu_count())
                of_sweep.append(100 * spent / (children_seconds() - sweep))
                events += page.events
    without, with_page = statistics.median(taken[False]), statistics.median(taken[True])
    print(f"during a sweep of 8 runs by two workers, {len(shares)} turns each way: the server takes {statistics.median(shares):.2f} % of the machine's processor time "
          f"(aim 1 %; most {max(shares):.2f} %), {statistics.median(of_sweep):.2f} % of what the sweep takes, {events} events; the sweep takes {without:.1f} s without and {with_page:.1f} s with a page open "
          f"({100 * (with_page / without - 1):+.1f} %; without: {' '.join(f'{t:.1f}' for t in taken[False])}, with: {' '.join(f'{t:.1f}' for t in taken[True])})", flush=True)


def main():
    parser = Arguments(__doc__, repeats=3, seconds=20, seconds_help="of idleness", quick={"repeats": 1, "seconds": 5, "steps": 100},
                       quick_help="one repeat, 5 s of idleness")
    parser.add_argument("--steps", type=int, default=400, help="of each run of the sweep")
    options = parser.parse()
    mneme = options.build / "mneme"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        first_figure(mneme, directory, options.repeats)
        large_lab(mneme, directory, options.seconds)
        during_a_sweep(mneme, directory, options.repeats, options.steps)


main()
