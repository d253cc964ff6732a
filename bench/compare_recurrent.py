"""RNN, LSTM and GRU against torch.nn: forward and backward of one layer, one thread each, over widths and batches.

The same parameters, input and output gradient on both sides, which take turns; processor time, medians (least..most). A cell of
LSTM at width 1024 and batch 512 is 1.6 TFLOP a step, about half a minute; Mneme takes at least six steps, torch.nn two.
"""
import itertools
import json
import pathlib
import sys
import tempfile

from checks import MIXERS as PEER
from checks import require_same_function, require_tests
from tools import Arguments, load, run_json, spread, times

AIM = {64: 1.3}  # by width; elsewhere 1


def compare(options, mixer, width, batch, case):
    ratios, rates = [], []
    for _ in range(options.repeats):
        more = [] if case.exists() else ["--save-case", case]
        ours = run_json([options.build / "mneme", "bench", "mixer", mixer, "--json", "--width", width, "--batch", batch,
                         "--length", options.length, "--seconds", options.seconds, *more])["rows"][0]
        theirs = run_json([sys.executable, PEER, case, "--seconds", options.seconds])
        rates.append(ours["tokens_per_second"])
        ratios.append(ours["tokens_per_second"] / theirs["tokens_per_second"])
    case.unlink()
    return {"mixer": mixer, "width": width, "batch": batch, "tokens_per_second": spread(rates), "ratio": spread(ratios),
            "aim": AIM.get(width, 1.0)}


def arguments():
    parser = Arguments(__doc__, repeats=3, seconds=1.0, seconds_help="of each measurement",
                       quick={"repeats": 1, "seconds": 0.5, "widths": "64,128,256"}, quick_help="one repeat of half a second, widths up to 256")
    parser.add_argument("--mixers", default="rnn,lstm,gru")
    parser.add_argument("--widths", default="64,128,256,512,1024")
    parser.add_argument("--batches", default="64,128,256,512")
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    return parser.parse()


def main():
    options = arguments()
    mixers = options.mixers.split(",")
    require_tests(options.build, (("mneme-tests", "Kernels*"), ("mneme-torch-tests", "*Golden*")))
    require_same_function(mixers)
    rows = []
    if not options.json:
        print(f"length {options.length}, forward and backward, one thread each; median (least..most) of {options.repeats}; {load()}\n"
              f"{'mixer':6}{'width':>6}{'batch':>6}{'tokens/s':>12}   faster than torch.nn by")
    with tempfile.TemporaryDirectory() as directory:
        for mixer, width, batch in itertools.product(mixers, options.widths.split(","), options.batches.split(",")):
            row = compare(options, mixer, int(width), int(batch), pathlib.Path(directory) / "case.safetensors")
            rows.append(row)
            if not options.json:
                missed = f"   below the aim of {row['aim']}x" if row["ratio"]["median"] < row["aim"] else ""
                print(f"{mixer:6}{width:>6}{batch:>6}{row['tokens_per_second']['median']:12,.0f}   {times(row['ratio'])}{missed}", flush=True)
    if options.json:
        print(json.dumps({"length": options.length, "repeats": options.repeats, "rows": rows}))
        return
    missed = [f"{r['mixer']} {r['width']}/{r['batch']}" for r in rows if r["ratio"]["median"] < r["aim"]]
    print(f"below the aim: {', '.join(missed) or 'none'}")


main()
