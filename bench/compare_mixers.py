"""The second table of script/bench: every mixer alone, forward and backward, against a plain PyTorch version of it.

Mneme and the plain versions (bench/peer/mixers.py) take turns on the same workload (the same parameters, input and
output gradient, written by `mneme bench mixer --save-case`), one thread each; medians over the repeats. Speeds are printed only if
the tests of kernels and mixers pass and the plain versions reproduce the golden cases.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from checks import require_tests

ROOT = pathlib.Path(__file__).parent.parent
PEER = ROOT / "bench" / "peer" / "mixers.py"
FAMILIES = {
    "attention": ["attention", "transformer", "based", "linear_attention", "retnet", "gla"],
    "delta rule": ["deltanet", "gated_deltanet", "deltaproduct"],
    "RWKV": ["rwkv4", "rwkv5", "rwkv7"],
    "convolution": ["base_conv", "hyena"],
    "state space": ["mamba", "s6", "mamba2", "s4", "s4d", "ids4", "h3"],
    "recurrent": ["rnn", "lstm", "gru", "nru"],
}
LOOPS = ("based", "linear_attention", "retnet", "gla", "deltanet", "gated_deltanet", "deltaproduct", "rwkv4", "rwkv5", "rwkv7",
         "mamba", "s6", "mamba2", "ids4", "nru")
PARALLEL = ("based", "linear_attention", "retnet", "mamba2")
BASIS = {"attention": "softmax(q k^T) v", "transformer": "torch.nn", "rnn": "torch.nn", "lstm": "torch.nn", "gru": "torch.nn",
         "base_conv": "torch conv1d", "hyena": "FFT", "s4": "FFT", "s4d": "FFT", "h3": "FFT"}


def run_json(command):
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"script/bench: {' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def mneme(options, mixer, *more):
    return run_json([options.build / "mneme", "bench", "mixer", mixer, "--json", "--width", options.width,
                     "--batch", options.batch, "--seconds", options.seconds, *more])


def peer(case, form, seconds):
    return run_json([sys.executable, PEER, case, "--form", form, "--seconds", seconds])["tokens_per_second"]


def require_same_function(mixers):
    files = [file for mixer in mixers for file in sorted((ROOT / "tests" / "golden").glob(f"{mixer}-*.safetensors"))]
    run = subprocess.run([sys.executable, PEER, "--verify", *files], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"script/bench: a plain version does not compute its mixer, so no speed is printed\n{run.stdout}{run.stderr}")
    proven = {line.split(":")[-2].split()[-1] for line in run.stdout.splitlines() if line.startswith("ok")}
    if missing := set(mixers) - proven:
        sys.exit(f"script/bench: no golden case proves the plain version of {', '.join(sorted(missing))}, so no speed is printed")


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def compare(options, mixer, directory):
    case = pathlib.Path(directory) / f"{mixer}.safetensors"
    ours, ratios = [], {form: [] for form in ("careful", *(["parallel"] if mixer in PARALLEL else []))}
    limit = []
    for _ in range(options.repeats):
        more = [] if case.exists() else ["--save-case", case]
        result = mneme(options, mixer, "--length", options.length, *more)
        row = {**result["rows"][0], "sgemm_square_flops": result["sgemm_square_flops"]}
        ours.append(row)
        for form, values in ratios.items():
            values.append(row["tokens_per_second"] / peer(case, form, options.seconds))
        # What the ratio would be if all useful work ran as fast as a large matrix multiplication.
        limit.append(ratios["careful"][-1] / row["mfu_square"])
    if options.usual and mixer in LOOPS:
        ratios["usual"] = [ours[-1]["tokens_per_second"] / peer(case, "usual", 0)]
    case.unlink()
    return {"mixer": mixer, "basis": BASIS.get(mixer, "loop over time"),
            "tokens_per_second": spread([row["tokens_per_second"] for row in ours]),
            "ratio": {form: spread(values) for form, values in ratios.items()}, "limit": statistics.median(limit),
            "useful_gflops": statistics.median(row["useful_flops"] for row in ours) / 1e9,
            "mfu": spread([row["mfu_square"] for row in ours]), "peak_bytes": ours[0]["peak_bytes"]}


def growth(options, mixer):
    runs = [mneme(options, mixer, "--lengths", options.growth) for _ in range(options.repeats)]
    middle = lambda key, i: statistics.median(run["rows"][i][key] for run in runs)  # noqa: E731
    rows = [{"length": row["length"], "step_seconds": middle("step_seconds", i), "peak_bytes": row["peak_bytes"]}
            for i, row in enumerate(runs[0]["rows"])]
    return {"mixer": mixer, "rows": rows, "time_exponent": statistics.median(run["time_exponent"] for run in runs),
            "memory_exponent": runs[0]["memory_exponent"],
            "time_ratio": spread([run["rows"][-1]["step_seconds"] / run["rows"][0]["step_seconds"] for run in runs])}


def print_comparison(row):
    ratio, mfu = row["ratio"]["careful"], row["mfu"]
    parallel = row["ratio"].get("parallel")
    print(f"{row['mixer']:18}{row['tokens_per_second']['median']:10,.0f}{row['useful_gflops']:8.1f}"
          f"{100 * mfu['median']:5.0f} % ({100 * mfu['min']:.0f}..{100 * mfu['max']:.0f})"
          f"{ratio['median']:9.2f}x ({ratio['min']:.2f}..{ratio['max']:.2f}) of {row['limit']:5.1f}x  {row['basis']}"
          + (f"; parallel form {parallel['median']:.2f}x" if parallel else "")
          + (f"; usual loop {row['ratio']['usual']['median']:.0f}x" if "usual" in row["ratio"] else ""), flush=True)


def print_growth(row):
    times = "".join(f"{1e3 * r['step_seconds']:11.1f}" for r in row["rows"])
    print(f"{row['mixer']:18}{times}{row['time_ratio']['median']:8.2f}x ({row['time_ratio']['min']:.2f}..{row['time_ratio']['max']:.2f})"
          f"{row['time_exponent']:7.2f}{row['rows'][-1]['peak_bytes'] / 1e6:12.0f}"
          f"{row['memory_exponent']:8.2f}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mixers", help="comma-separated; default: all")
    parser.add_argument("--growth", metavar="L,L,...", help="instead: time and memory at these lengths, Mneme alone")
    parser.add_argument("--usual", action="store_true", help="also one step of each loop that indexes x[:, t]: minutes for some")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    for name, value in (("width", 128), ("length", 256), ("batch", 16)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


def main():
    options = arguments()
    chosen = options.mixers.split(",") if options.mixers else [m for family in FAMILIES.values() for m in family]
    require_tests(options.build, (("mneme-tests", "Kernels*"), ("mneme-torch-tests", "*Golden*:*Mixers*")))
    if not options.growth:
        require_same_function(chosen)
    results = []
    if not options.json:
        print(f"width {options.width}, batch {options.batch}, one thread each, forward and backward; "
              f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        if options.growth:
            lengths = "".join(f"{'L=' + length + ' ms':>11}" for length in options.growth.split(","))
            print(f"{'mixer':18}{lengths}{'growth':>9}{'':13}{'power':>7}{'memory MB':>12}{'power':>8}")
        else:
            print(f"length {options.length}, median (least..most) of {options.repeats}; the limit is the ratio at sgemm's speed\n"
                  f"{'mixer':18}{'tokens/s':>10}{'GF/s':>8}  of sgemm        faster by, limit, than")
    with tempfile.TemporaryDirectory() as directory:
        for family, mixers in FAMILIES.items():
            for mixer in (m for m in mixers if m in chosen):
                row = growth(options, mixer) if options.growth else compare(options, mixer, directory)
                results.append({"family": family, **row})
                if not options.json:
                    (print_growth if options.growth else print_comparison)(row)
    if options.json:
        keys = ("width", "length", "batch", "repeats")
        print(json.dumps({"setting": {key: getattr(options, key) for key in keys}, "mixers": results}))


main()
