"""What script/bench prints of sweeps: workers against each other, the index, large studies, checkpoints.

Everything goes through the real programs, in labs of its own that are removed afterwards.
"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import tempfile
import time


def timed(command):
    start = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, run.stdout


def sweep_seconds(mneme, study, jobs, directory):
    lab = pathlib.Path(tempfile.mkdtemp(dir=directory))
    seconds, out = timed([mneme, "sweep", study, "--lab", lab, "--jobs", str(jobs), "--json"])
    checkpoints = [run["summary"]["times"] for run in json.loads(out)["runs"]]
    share = sum(t["checkpoint_seconds"] for t in checkpoints) / sum(t["seconds"] for t in checkpoints)
    return seconds, share


def two_workers(mneme, directory, repeats):
    study = directory / "throughput.toml"
    study.write_text('[model]\nmixer = "attention"\n[train]\nsteps = 400\nseed = "range(0, 12, 1)"\n'
                     '[task]\nlength = 32\npairs = 4\nvocab = 64\n')
    ratios, shares = [], []
    for _ in range(repeats):
        one, share = sweep_seconds(mneme, study, 1, directory)
        two, _ = sweep_seconds(mneme, study, 2, directory)
        ratios.append(one / two)
        shares.append(share)
    print(f"two workers against one: {statistics.median(ratios):.2f}x (min {min(ratios):.2f}, max {max(ratios):.2f}); "
          f"checkpoints and final weights {100 * statistics.median(shares):.2f} % of the runs' time")


def fill_lab(mneme, lab, runs, evaluations):
    """A lab of runs that have ended, written without training."""
    plan = json.loads(subprocess.run([mneme, "plan", "demo", "--scale", "smoke", "--no-measure", "--list", "--json",
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


def index_rate(mneme, directory):
    lab = directory / "rows"
    runs = fill_lab(mneme, lab, 2000, 25)
    timed([mneme, "reindex", "--lab", lab])  # the first one makes the file, and with it everything twice
    seconds, _ = timed([mneme, "reindex", "--lab", lab])
    print(f"index: {runs * 25 / seconds:,.0f} metric rows/s ({runs} runs of 25 evaluations made again in {seconds:.2f} s)")


def large_study(mneme, directory):
    lab = directory / "large"
    runs = fill_lab(mneme, lab, 10000, 1)
    subprocess.run([mneme, "reindex", "--lab", lab], check=True, capture_output=True)
    commands = {"plan": [mneme, "plan", "demo", "--scale", "smoke", "--no-measure", 'train.seed="range(0, 5000, 1)"'],
                "list": [mneme, "runs"], "filter": [mneme, "runs", "mixer=attention", "lr>1e-3", "outcome=done", "--sort=-test"]}
    shown = []
    for name, command in commands.items():
        shown.append(f"{name} {statistics.median(timed([*command, '--lab', lab])[0] for _ in range(3)):.2f} s")
    print(f"a study of {runs:,} runs: {', '.join(shown)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    mneme = options.build / "mneme"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        two_workers(mneme, directory, options.repeats)
        index_rate(mneme, directory)
        large_study(mneme, directory)


main()
