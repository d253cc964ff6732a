"""Training: Mneme against plain PyTorch (bench/peer/training.py), the same model, weights and batch in one run on this machine.

Programs take turns, so that a slow moment of the machine hits all of them; medians (least..most) over the repeats.
One thread: by the time of the processor. The whole machine: Mneme as two workers, PyTorch as the best of one process of one
thread, one of two, and two of one; by the wall's clock. Speeds are printed only if the tests of kernels and mixers pass, the plain
mixers reproduce the golden cases, and loss and gradient norm of the first step agree.

Without --grid: each mixer at the first width and task. A step of a plain scan takes seconds, so such mixers get smaller
batches (on both sides). Every measurement has at least a step behind the first one and ends after --seconds.
"""
import itertools
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

from checks import require_same_function, require_tests
from tools import Arguments, load, run_json, run_together, spread, times

PEER = pathlib.Path(__file__).parent / "peer" / "training.py"
MIXERS = ("attention", "lstm", "gru", "mamba", "mamba2", "deltanet", "hyena", "h3", "s4d", "rwkv4", "based")
# Tokens of a batch; what a plain scan keeps for the backward pass is hundreds of kilobytes a token.
TOKENS = {"attention": 32768, "lstm": 32768, "gru": 32768, "hyena": 32768}
TOKENS_OF_A_SCAN = 4096
WHOLE = ("1:1", "1:2", "2:1")


def batch_of(options, mixer, length):
    return (options.tokens or TOKENS.get(mixer, TOKENS_OF_A_SCAN)) // length


def mneme_command(options, row, *more):
    length, pairs = row["task"].split("/")
    return [options.build / "mneme", "bench", "train", "--json", "--seconds", options.seconds, f"task.length={length}",
            f"task.pairs={pairs}", "task.vocab=8192", f"model.mixer={row['mixer']}", f"model.width={row['width']}", "model.layers=2",
            "model.block=zoology", "model.embed_dropout=0", "model.resid_dropout=0", f"train.batch={row['batch']}", *more]


def peer(options, case, logits, form):
    measured = ",".join(WHOLE) if options.whole else WHOLE[0]
    what = ["--logits", logits, "--form", form, "--measure", measured, "--seconds", options.seconds]
    if not options.peer_root:
        return run_json([sys.executable, PEER, case, *what])
    # Another system's PyTorch: what it reads is put where it sees it.
    place = pathlib.Path(tempfile.mkdtemp(dir=options.peer_root / "tmp"))
    try:
        shutil.copytree(PEER.parent, place / "peer", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(case, place / "case.safetensors")
        inside = pathlib.Path("/") / place.relative_to(options.peer_root)
        return run_json(["chroot", options.peer_root, "python3", inside / "peer" / PEER.name, inside / "case.safetensors", *what])
    finally:
        shutil.rmtree(place)


def compare(options, row, case):
    kinds = [(logits, form) for form in options.forms.split(",") for logits in options.logits.split(",")]
    ours, whole, theirs = [], [], {kind: [] for kind in kinds}
    for repeat in range(options.repeats):
        print(f"{row['mixer']} {row['width']} {row['task']}: turn {repeat + 1} of {options.repeats}", file=sys.stderr)
        more = [] if case.exists() else ["--save-case", case]
        ours.append(run_json(mneme_command(options, row, *more)))
        if options.whole:
            whole.append(sum(r["tokens_per_second"] for r in run_together([mneme_command(options, row)] * 2)))
        for kind, results in theirs.items():
            results.append(peer(options, case, *kind))
    case.unlink()
    return {**row, **summary(ours, whole, {name_of(*kind): runs for kind, runs in theirs.items()})}


def name_of(logits, form):
    return logits if form == "plain" else f"{logits}, {form}"


def summary(ours, whole, theirs):
    tokens = row_tokens(ours[0])
    rates = [tokens / run["step_thread_seconds"] for run in ours]
    result = {"tokens_per_second": spread(rates), "mfu_model": spread([run["mfu_model"] for run in ours]),
              "mfu_square": spread([run["mfu_square"] for run in ours]), "ratio": {}, "whole_ratio": {}}
    for logits, runs in theirs.items():
        result["ratio"][logits] = spread([a / b["1:1"]["processor_tokens_per_second"] for a, b in zip(rates, runs)])
        if whole:
            best = max(WHOLE, key=lambda which: statistics.median(run[which]["tokens_per_second"] for run in runs))
            result["whole_ratio"][logits] = {
                "best": best, **spread([a / run[best]["tokens_per_second"] for a, run in zip(whole, runs)])}
    if whole:
        result["whole_tokens_per_second"] = spread(whole)
    return result


def row_tokens(run):
    return run["config"]["train"]["batch"] * run["config"]["task"]["length"]


def print_row(row):
    shown = "".join(f"  {logits} {times(ratio)}" for logits, ratio in row["ratio"].items())
    print(f"{row['mixer']:10} {row['width']:5} {row['task']:>7} {row['batch']:5} {row['tokens_per_second']['median']:10,.0f} "
          f"{100 * row['mfu_model']['median']:4.0f} % {100 * row['mfu_square']['median']:4.0f} % {shown}", flush=True)
    if row["whole_ratio"]:
        shown = "".join(f"  {logits} {times(ratio)} (PyTorch {ratio['best']})" for logits, ratio in row["whole_ratio"].items())
        print(f"{'  whole machine':30} {row['whole_tokens_per_second']['median']:10,.0f} {'':13} {shown}", flush=True)


def arguments():
    parser = Arguments(__doc__, repeats=5, seconds=5.0, seconds_help="of each measurement",
                       quick={"repeats": 1, "seconds": 1.0, "whole": False}, quick_help="one repeat of a second, one thread")
    parser.add_argument("--mixers", default=",".join(MIXERS))
    parser.add_argument("--widths", default="64,128,256")
    parser.add_argument("--tasks", default="64/4,256/16,512/64", help="MQAR: length/pairs")
    parser.add_argument("--grid", action="store_true", help="every width with every task: hours")
    parser.add_argument("--tokens", type=int, help="of a batch (default: 32768, and 4096 for plain scans)")
    parser.add_argument("--logits", default="full,gathered")
    parser.add_argument("--forms", default="plain", help="plain, fused, compiled (bench/peer/training.py says what they are)")
    parser.add_argument("--peer-root", type=pathlib.Path,
                        help="run PyTorch in this directory's system by chroot (as root), Mneme and the checks outside of it")
    parser.add_argument("--one-thread", dest="whole", action="store_false", help="do not measure the whole machine")
    parser.add_argument("--json", action="store_true")
    return parser.parse()


def main():
    options = arguments()
    mixers, widths, tasks = options.mixers.split(","), options.widths.split(","), options.tasks.split(",")
    if not options.grid:
        widths, tasks = widths[:1], tasks[:1]
    require_tests(options.build, (("mneme-tests", "Kernels*:*CrossEntropy*:*AdamW*"), ("mneme-torch-tests", "*Golden*:Head*:Profile*")))
    require_same_function(mixers)
    if not options.json:
        print(f"2 layers of mixer + MLP, MQAR, vocabulary 8,192; median (least..most) of {options.repeats}; {load()}\n"
              f"{'mixer':10} {'width':>5} {'task':>7} {'batch':>5} {'tokens/s':>10} {'of sgemm':>6} {'square':>6}   Mneme is faster by")
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for mixer, width, task in itertools.product(mixers, widths, tasks):
            row = {"mixer": mixer, "width": int(width), "task": task, "batch": batch_of(options, mixer, int(task.split("/")[0]))}
            rows.append(compare(options, row, pathlib.Path(directory) / "case.safetensors"))
            if not options.json:
                print_row(rows[-1])
    if options.json:
        print(json.dumps({"repeats": options.repeats, "seconds": options.seconds, "rows": rows}))


main()
