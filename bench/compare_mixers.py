"""Every mixer alone, forward and backward, against a plain PyTorch version of it.

Mneme and the plain versions (bench/peer/mixers.py) take turns on the same workload (the same parameters, input and
output gradient, written by `mneme bench mixer --save-case`), one thread each; medians over the repeats. Speeds are printed only if
the tests of kernels and mixers pass and the plain versions reproduce the golden cases.
"""
import json
import pathlib
import statistics
import sys
import tempfile

from checks import MIXERS as PEER
from checks import require_same_function, require_tests
from tools import Arguments, load, run_json, spread, times

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
SEQUENTIAL = ("s4d", "h3")
PARALLEL = ("based", "linear_attention", "retnet", "mamba2")
BASIS = {"attention": "softmax(q k^T) v", "transformer": "torch.nn", "rnn": "torch.nn", "lstm": "torch.nn", "gru": "torch.nn",
         "base_conv": "torch conv1d", "hyena": "FFT", "s4": "FFT", "s4d": "FFT", "h3": "FFT"}


def mneme(options, mixer, *more):
    return run_json([options.build / "mneme", "bench", "mixer", mixer, "--json", "--width", options.width,
                     "--batch", options.batch, "--seconds", options.seconds, *more])


def peer(case, form, seconds):
    return run_json([sys.executable, PEER, case, "--form", form, "--seconds", seconds])["tokens_per_second"]


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
    if options.usual and (mixer in LOOPS or mixer in SEQUENTIAL):
        form = "usual" if mixer in LOOPS else "sequential"
        ratios[form] = [ours[-1]["tokens_per_second"] / peer(case, form, 0)]
    case.unlink()
    return {"mixer": mixer, "basis": BASIS.get(mixer, "loop over time"),
            "tokens_per_second": spread([row["tokens_per_second"] for row in ours]),
            "ratio": {form: spread(values) for form, values in ratios.items()}, "limit": statistics.median(limit),
            "useful_gflops": statistics.median(row["useful_flops"] for row in ours) / 1e9,
            "mfu": spread([row["mfu_square"] for row in ours]), "peak_bytes": ours[0]["peak_bytes"]}


def print_comparison(row):
    ratio, mfu = row["ratio"]["careful"], row["mfu"]
    parallel = row["ratio"].get("parallel")
    print(f"{row['mixer']:18}{row['tokens_per_second']['median']:10,.0f}{row['useful_gflops']:8.1f}"
          f"{100 * mfu['median']:5.0f} % ({100 * mfu['min']:.0f}..{100 * mfu['max']:.0f})"
          f"{times(ratio):>22} of {row['limit']:5.1f}x  {row['basis']}"
          + (f"; parallel form {parallel['median']:.2f}x" if parallel else "")
          + "".join(f"; {name} {row['ratio'][form]['median']:.0f}x"
                    for form, name in (("usual", "usual loop"), ("sequential", "recurrence")) if form in row["ratio"]), flush=True)


def arguments():
    parser = Arguments(__doc__, repeats=3, seconds=1.0, seconds_help="of each measurement", quick={"repeats": 1, "seconds": 0.5},
                       quick_help="one repeat of half a second")
    parser.add_argument("--mixers", help="comma-separated; default: all")
    parser.add_argument("--usual", action="store_true", help="also one step of each loop that indexes x[:, t], and of the recurrences of S4D and H3: minutes for some")
    parser.add_argument("--json", action="store_true")
    for name, value in (("width", 128), ("length", 256), ("batch", 16)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse()


def main():
    options = arguments()
    chosen = options.mixers.split(",") if options.mixers else [m for family in FAMILIES.values() for m in family]
    require_tests(options.build, (("mneme-tests", "Kernels*"), ("mneme-torch-tests", "*Golden*:*Mixers*")))
    require_same_function(chosen)
    if options.usual and (sequential := [mixer for mixer in chosen if mixer in SEQUENTIAL]):
        require_same_function(sequential, "sequential")
    results = []
    if not options.json:
        print(f"width {options.width}, length {options.length}, batch {options.batch}, one thread each, forward and backward; {load()}\n"
              f"median (least..most) of {options.repeats}; the limit is the ratio at sgemm's speed\n"
              f"{'mixer':18}{'tokens/s':>10}{'GF/s':>8}  of sgemm        faster by, limit, than")
    with tempfile.TemporaryDirectory() as directory:
        for family, mixers in FAMILIES.items():
            for mixer in (m for m in mixers if m in chosen):
                row = compare(options, mixer, directory)
                results.append({"family": family, **row})
                if not options.json:
                    print_comparison(row)
    if options.json:
        keys = ("width", "length", "batch", "repeats")
        print(json.dumps({"setting": {key: getattr(options, key) for key in keys}, "mixers": results}))


main()
