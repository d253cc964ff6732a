"""What the measurements of script/bench share."""
import json
import math
import os
import statistics
import subprocess
import sys


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
