"""How time and memory of every mixer grow with the length and with the width: Mneme alone, forward and backward, one thread.

The exponents are fitted to all sizes by least squares on logarithms; the last doubling stands beside them, because small sizes
are mostly overhead. Memory is that of the tensors of one step. A size that a mixer refuses is left out.
"""
import json
import statistics
import subprocess

from checks import require_tests
from tools import Arguments, fitted_exponent, load


def measure(options, mixer, size, *sizes):
    run = subprocess.run([options.build / "mneme", "bench", "mixer", mixer, "--json", "--seconds", str(options.seconds),
                          *map(str, sizes)], capture_output=True, text=True)
    if run.returncode == 2:
        return None
    run.check_returncode()
    row = json.loads(run.stdout)["rows"][0]
    return {"size": size, "step_seconds": row["step_seconds"], "peak_bytes": row["peak_bytes"]}


def middle(runs):
    """Turn after turn over all sizes; the median of each size."""
    return [{**rows[0], "step_seconds": statistics.median(row["step_seconds"] for row in rows)}
            for rows in zip(*runs) if rows[0] is not None]


def growth(options, mixer, by):
    lengths, widths = options.lengths.split(","), options.widths.split(",")
    if by == "length":
        cells = [(length, "--length", length, "--width", options.width, "--batch", options.batch) for length in lengths]
    else:
        cells = [(width, "--width", width, "--length", options.length, "--batch", options.batch) for width in widths]
    rows = middle([[measure(options, mixer, int(size), *sizes) for size, *sizes in cells] for _ in range(options.repeats)])
    result = {"mixer": mixer, "by": by, "rows": rows}
    if len(rows) > 1:
        x = [row["size"] for row in rows]
        for name, key in (("time", "step_seconds"), ("memory", "peak_bytes")):
            y = [row[key] for row in rows]
            result[f"{name}_exponent"], result[f"{name}_last"] = fitted_exponent(x, y), fitted_exponent(x[-2:], y[-2:])
    return result


def print_growth(result):
    rows = {row["size"]: row for row in result["rows"]}
    cells = "".join(f"{1e3 * rows[size]['step_seconds']:10.1f}" if size in rows else f"{'':>10}" for size in result["sizes"])
    last = result["rows"][-1]["peak_bytes"] / 1e6 if result["rows"] else 0.0
    powers = ("".join(f"{result[key]:7.2f}" for key in ("time_exponent", "time_last", "memory_exponent", "memory_last"))
              if "time_exponent" in result else "")
    print(f"{result['mixer']:18}{cells}{last:11.1f}{powers}", flush=True)


def arguments():
    parser = Arguments(__doc__, repeats=3, seconds=0.5, seconds_help="of a size; a step is never cut off, and there are at least four",
                       quick={"repeats": 1, "seconds": 0.2, "lengths": "128,256,512,1024", "widths": "64,128,256"},
                       quick_help="one repeat of 0.2 s, lengths up to 1024, widths up to 256")
    parser.add_argument("--mixers", help="comma-separated; default: all")
    parser.add_argument("--by", default="length,width")
    parser.add_argument("--lengths", default="128,256,512,1024,2048,4096,8192")
    parser.add_argument("--widths", default="64,128,256,512,1024")
    parser.add_argument("--length", type=int, default=256, help="while the width grows")
    parser.add_argument("--width", type=int, default=128, help="while the length grows")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    return parser.parse()


def main():
    options = arguments()
    require_tests(options.build, (("mneme-tests", "Kernels*"), ("mneme-torch-tests", "*Golden*:*Mixers*")))
    listed = json.loads(subprocess.run([options.build / "mneme", "list", "mixers", "--json"], capture_output=True, text=True,
                                       check=True).stdout)
    mixers = options.mixers.split(",") if options.mixers else [
        entry["name"] for entry in listed["mixers"] if entry["kind"] == "sequence"]
    results = []
    for by in options.by.split(","):
        sizes = [int(size) for size in (options.lengths if by == "length" else options.widths).split(",")]
        if not options.json:
            fixed = f"width {options.width}" if by == "length" else f"length {options.length}"
            print(f"growth with the {by}: {fixed}, batch {options.batch}; median of {options.repeats}; {load()}\n"
                  f"{'mixer':18}" + "".join(f"{f'{size} ms':>10}" for size in sizes)
                  + f"{'last MB':>11}{'time':>7}{'last':>7}{'memory':>7}{'last':>7}")
        for mixer in mixers:
            results.append({**growth(options, mixer, by), "sizes": sizes})
            if not options.json:
                print_growth(results[-1])
    if options.json:
        print(json.dumps({"results": results}))


main()
