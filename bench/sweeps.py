"""Sweeps: two workers against one, what of a run is not training, its start, the index, large studies.

"Begins within" is the time of a `mneme train` of one step less what its summary counts (step, evaluation, checkpoint, test): the
start of both programs, and their end, so an upper bound. Everything goes through the real programs, in labs of its own that are removed afterwards. A turn is a sweep by one worker and
one by two; its length is set by --seconds and a measured step, so that slow machines do fewer steps.
"""
import json
import pathlib
import statistics
import subprocess
import tempfile

from tools import Arguments, fill_lab, timed

RUNS = 12  # of a turn: divisible by two, and enough that starting and ending workers shows
STEPS_TO_TRY = 100
RUN = ("task.length=64", "task.pairs=4", "task.vocab=8192", "model.width=64", "train.batch=64")


def sweep(mneme, study, directory, jobs, *assignments):
    """Seconds of the whole command, and what its runs say of their times."""
    with tempfile.TemporaryDirectory(dir=directory) as lab:
        seconds, out = timed([mneme, "sweep", study, "--lab", lab, "--jobs", str(jobs), "--json", *assignments])
    return seconds, [run["summary"]["times"] for run in json.loads(out)["runs"]]


def two_workers(mneme, directory, repeats, turn_seconds):
    study = directory / "throughput.toml"
    # Few examples to evaluate on: 20 evaluations of 200, the fewest by default, would be most of so short a run.
    study.write_text('[model]\nmixer = "attention"\n[train]\nseed = "range(0, 12, 1)"\nbatch = 16\neval_examples = 64\ntest_examples = 64\n'
                     '[task]\nlength = 32\npairs = 4\nvocab = 64\n')
    _, times = sweep(mneme, study, directory, 1, "train.seed=0", f"train.steps={STEPS_TO_TRY}")
    # Two workers take half of the time of one.
    steps = max(STEPS_TO_TRY, int(STEPS_TO_TRY * turn_seconds / (1.5 * RUNS) / times[0]["seconds"]))
    seconds, share = {1: [], 2: []}, []
    for turn in range(repeats):
        for jobs in (1, 2) if turn % 2 == 0 else (2, 1):
            taken, times = sweep(mneme, study, directory, jobs, f"train.steps={steps}")
            seconds[jobs].append(taken)
            share.append(sum(t["checkpoint_seconds"] for t in times) / sum(t["seconds"] for t in times))
    one, two = statistics.median(seconds[1]), statistics.median(seconds[2])
    print(f"two workers against one: {one / two:.2f}x ({RUNS} runs of {steps} steps in {one:.1f} s and {two:.1f} s, medians of "
          f"{repeats} turns each; every turn: {' '.join(f'{a / b:.2f}' for a, b in zip(seconds[1], seconds[2]))}); "
          f"checkpoints and final weights {100 * statistics.median(share):.2f} % of the runs' time", flush=True)


def one_run(mneme, directory, mixer, steps, *assignments):
    """Shares of one run that are not training, and how long it takes until the first step."""
    with tempfile.TemporaryDirectory(dir=directory) as lab:
        def train(steps, *more):
            taken, out = timed([mneme, "train", "--lab", lab, "--json", f"model.mixer={mixer}", *assignments, f"train.steps={steps}", *more])
            return taken, json.loads(out)["summary"]["times"]

        starts = []
        for seed in range(5):
            taken, spent = train(1, f"train.seed={100 + seed}", "train.eval_examples=1", "train.test_examples=1")
            starts.append(taken - spent["seconds"])
        _, spent = train(steps)
    share = {name: 100 * spent[f"{name}_seconds"] / spent["seconds"] for name in ("evaluation", "recording", "checkpoint")}
    print(f"one run of {mixer} ({' '.join(assignments)}, {steps} steps in {spent['seconds']:.1f} s): evaluation {share['evaluation']:.1f} %, "
          f"metrics and progress {share['recording']:.2f} %, checkpoints {share['checkpoint']:.2f} %, together {sum(share.values()):.1f} % "
          f"(aim 5 %); begins within {statistics.median(starts):.2f} s ({min(starts):.2f}..{max(starts):.2f}; aim 1.5 s)", flush=True)


def index_rate(mneme, directory, repeats):
    lab, evaluations = directory / "rows", 25
    runs = fill_lab(mneme, lab, 2000, evaluations)
    timed([mneme, "reindex", "--lab", lab])  # the first one makes the file, and with it everything twice
    seconds = statistics.median(timed([mneme, "reindex", "--lab", lab])[0] for _ in range(repeats))
    print(f"index: {runs * evaluations / seconds:,.0f} metric rows/s ({runs} runs of {evaluations} evaluations made again in "
          f"{seconds:.2f} s)", flush=True)


def large_study(mneme, directory, repeats):
    lab = directory / "large"
    runs = fill_lab(mneme, lab, 10000, 1)
    subprocess.run([mneme, "reindex", "--lab", lab], check=True, capture_output=True)
    commands = {"plan": [mneme, "plan", "demo", "--scale", "smoke", "--no-measure", 'train.seed="range(0, 5000, 1)"'],
                "list": [mneme, "runs"],
                "filter": [mneme, "runs", "mixer=attention", "lr>1e-3", "outcome=done", "--sort=-test"]}
    shown = [f"{name} {statistics.median(timed([*command, '--lab', lab])[0] for _ in range(repeats)):.2f} s"
             for name, command in commands.items()]
    print(f"a study of {runs:,} runs: {', '.join(shown)}", flush=True)


def main():
    parser = Arguments(__doc__, repeats=3, seconds=18, seconds_help="of a turn", quick={"repeats": 1, "seconds": 4, "steps": 100},
                       quick_help="one repeat, turns of 4 s")
    parser.add_argument("--steps", type=int, default=1000, help="of the run whose shares are printed; its evaluations are the default 20")
    options = parser.parse()
    mneme = options.build / "mneme"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        two_workers(mneme, directory, options.repeats, options.seconds)
        one_run(mneme, directory, "attention", options.steps, *RUN)
        index_rate(mneme, directory, options.repeats)
        large_study(mneme, directory, options.repeats)


main()
