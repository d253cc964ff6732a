"""Training speed of two builds of Mneme: this one, and one inside another system, for example Debian 13 with libtorch 2.6.

The builds take turns, so that a slow moment of the machine hits both; thread time, medians (least..most) over the repeats. The
ratio is how many times as fast the other build trains.
"""
import json
import pathlib
import statistics

from tools import Arguments, load, run_json, spread, times

MIXERS = ("attention", "lstm", "gru", "mamba", "mamba2", "deltanet", "hyena", "h3", "s4d", "rwkv4", "based")


def training(mixer, options):
    return ["bench", "train", "--json", "--seconds", options.seconds, "task.length=64", "task.pairs=4", "task.vocab=8192",
            f"model.mixer={mixer}", f"model.width={options.width}", "model.layers=2", f"train.batch={options.batch}"]


def compare(mixer, options):
    ours, theirs = [], []
    for _ in range(options.repeats):
        ours.append(run_json([options.build / "mneme", *training(mixer, options)])["step_thread_seconds"])
        theirs.append(run_json(["chroot", options.other_root, options.other_build / "mneme", *training(mixer, options)])["step_thread_seconds"])
    return {"mixer": mixer, "ms": 1e3 * statistics.median(ours), "other_ms": 1e3 * statistics.median(theirs),
            "ratio": spread([a / b for a, b in zip(ours, theirs)])}


def main():
    parser = Arguments(__doc__, repeats=3, seconds=3.0, seconds_help="of each measurement",
                       quick={"repeats": 1, "seconds": 1.0}, quick_help="one repeat of a second")
    parser.add_argument("--other-root", type=pathlib.Path, required=True, help="the other system's directory; entered by chroot, as root")
    parser.add_argument("--other-build", type=pathlib.Path, default=pathlib.Path("/mneme/build/release"), help="its build, seen from inside")
    parser.add_argument("--mixers", default=",".join(MIXERS))
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--json", action="store_true")
    options = parser.parse()
    if not options.json:
        print(f"2 layers of mixer + MLP, width {options.width}, MQAR 64/4, vocabulary 8,192, batch {options.batch}; "
              f"thread time, median of {options.repeats}; {load()}\n{'mixer':10} {'this, ms':>9} {'other, ms':>10}   the other is faster by")
    rows = []
    for mixer in options.mixers.split(","):
        rows.append(compare(mixer, options))
        if not options.json:
            row = rows[-1]
            print(f"{row['mixer']:10} {row['ms']:9.1f} {row['other_ms']:10.1f}   {times(row['ratio'])}", flush=True)
    if options.json:
        print(json.dumps({"repeats": options.repeats, "seconds": options.seconds, "rows": rows}))


main()
