"""What the measurements of script/bench share."""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time


class Arguments(argparse.ArgumentParser):
    """The options that every measurement has. What --quick changes is a change of defaults: what is given counts."""

    def __init__(self, description, repeats, seconds, seconds_help, quick, quick_help):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.quick = quick
        self.add_argument("--build", type=pathlib.Path, required=True)
        self.add_argument("--repeats", type=int, default=repeats)
        self.add_argument("--seconds", type=float, default=seconds, help=seconds_help)
        self.add_argument("--quick", action="store_true", help=quick_help)

    def parse(self):
        if "--quick" in sys.argv:
            self.set_defaults(**self.quick)
        options = self.parse_args()
        share_blas(options.build)
        return options


def share_blas(build):
    """PyTorch gets the matrix products that Mneme's worker has: for a processor that it does not know, OpenBLAS takes slow ones."""
    if not (build / "mneme-worker").exists():
        sys.exit(f"script/bench: [{build}] there is no mneme-worker, expected the directory of a build")
    ready = subprocess.run([build / "mneme-worker"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
    core = json.loads(ready.splitlines()[0])["fingerprint"]["blas"]
    if core != "unknown":
        os.environ["OPENBLAS_CORETYPE"] = core


def run_json(command):
    """The JSON that a program prints; the end of everything if it fails."""
    return run_together([command])[0]


def run_together(commands):
    """The same for several programs at once."""
    started = [subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for command in commands]
    results = []
    for process, command in zip(started, commands):
        out, err = process.communicate()
        if process.returncode != 0:
            sys.exit(f"script/bench: {' '.join(map(str, command))}\n{out}{err}")
        results.append(json.loads(out))
    return results


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def times(ratio):
    """A spread of ratios for people."""
    return f"{ratio['median']:.2f}x ({ratio['min']:.2f}..{ratio['max']:.2f})"


def load():
    return f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def fitted_exponent(x, y):
    """p of y = c x^p, by least squares on logarithms."""
    x, y = [math.log(v) for v in x], [math.log(v) for v in y]
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def timed(command):
    start = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, run.stdout


def fill_lab(mneme, lab, runs, evaluations):
    """A lab of runs that have ended, written without training."""
    plan = json.loads(subprocess.run([mneme, "plan", "demo", "--scale", "smoke", "--no-measure", "--list", "--json", "model.mixer=attention",
                                      f'train.seed="range(0, {runs // 2}, 1)"'],
                                     capture_output=True, text=True, check=True).stdout)
    for run in plan["runs"]:
        directory = lab / "runs" / run["id"]
        directory.mkdir(parents=True)
        (directory / "config.json").write_text(json.dumps(run["config"]))
        values = {"accuracy": random.random(), "exact_match": random.random(), "loss": random.random(), "train_loss": 1.0}
        (directory / "metrics.jsonl").write_text("".join(
            json.dumps({"step": step, "split": "validation", "values": values, "times": {"seconds": step}}) + "\n"
            for step in range(1, evaluations + 1)))
        (directory / "summary.json").write_text(json.dumps(
            {"id": run["id"], "outcome": "done", "reason": "budget", "times": {"seconds": 1.0},
             "values": {"step": 20, "validation": values, "test": values}}))
    return len(plan["runs"])
