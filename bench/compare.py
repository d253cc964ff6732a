"""The table of script/bench: Mneme against plain PyTorch programs, in one run on this machine.

Programs take turns, so that a slow moment of the machine hits all of them; medians over the repeats.
Speeds are printed only if the tests of the kernels and mixers pass first.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from checks import require_tests

PEER = pathlib.Path(__file__).parent / "peer" / "attention_mqar.py"


def mneme(build, options):
    config = [f"task.length={options.length}", f"task.pairs={options.pairs}", f"task.vocab={options.vocab}",
              f"model.width={options.width}", f"train.batch={options.batch}"]
    run = subprocess.run([build / "mneme", "bench", "--json", "--seconds", "5", *config],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def peer(logits, options):
    command = [sys.executable, PEER, "--logits", logits, "--steps", "3" if logits == "full" else "5"]
    for name in ("width", "length", "pairs", "vocab", "batch"):
        command += [f"--{name}", str(getattr(options, name))]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    for name, value in (("width", 64), ("length", 64), ("pairs", 4), ("vocab", 8192), ("batch", 512)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    require_tests(options.build, (("mneme-tests", "Kernels*:*CrossEntropy*:*AdamW*"), ("mneme-torch-tests", "*Golden*:Head*")))

    ours, full, gathered = [], [], []
    for repeat in range(options.repeats):
        print(f"repeat {repeat + 1} of {options.repeats}", file=sys.stderr)
        ours.append(mneme(options.build, options))
        full.append(peer("full", options)["tokens_per_second"])
        gathered.append(peer("gathered", options)["tokens_per_second"])

    rate = [run["tokens_per_second"] for run in ours]
    ratios = {name: [a / b for a, b in zip(rate, other)] for name, other in (("full", full), ("gathered", gathered))}
    result = {
        "setting": {name: getattr(options, name) for name in ("width", "length", "pairs", "vocab", "batch")},
        "tokens_per_second": {"mneme": statistics.median(rate), "pytorch_full": statistics.median(full),
                              "pytorch_gathered": statistics.median(gathered)},
        "ratio": {name: {"median": statistics.median(values), "min": min(values), "max": max(values)}
                  for name, values in ratios.items()},
        "useful_gflops": statistics.median(run["useful_flops"] for run in ours) / 1e9,
        "mfu_square": statistics.median(run["mfu_square"] for run in ours),
        "mfu_model": statistics.median(run["mfu_model"] for run in ours),
        "fingerprint": ours[0]["fingerprint"],
    }
    if options.json:
        print(json.dumps(result))
        return
    print(f"attention, 2 layers + MLP, width {options.width}, MQAR {options.length}/{options.pairs}, "
          f"vocabulary {options.vocab}, batch {options.batch}; one thread each; median of {options.repeats}\n")
    print(f"{'program':34} {'tokens/s':>10}   Mneme is faster by (min..max)")
    print(f"{'Mneme':34} {result['tokens_per_second']['mneme']:10,.0f}")
    for name, title in (("full", "PyTorch, full logits (Zoology)"), ("gathered", "PyTorch, gathered logits")):
        r = result["ratio"][name]
        print(f"{title:34} {result['tokens_per_second'][f'pytorch_{name}']:10,.0f}   "
              f"{r['median']:.2f}x ({r['min']:.2f}..{r['max']:.2f})")
    print(f"\nuseful work {result['useful_gflops']:.1f} GFLOP/s = {100 * result['mfu_square']:.0f} % of this machine's sgemm "
          f"(1024 x 1024 x 1024), {100 * result['mfu_model']:.0f} % of sgemm at the model's shapes")


main()
