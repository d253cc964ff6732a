"""The weights of a run as a state dict: names, shapes and the norm of each.

    PYTHONPATH=python python3 python/examples/load_weights.py lab/runs/ID
"""
import sys

import mneme

for name, value in mneme.load(sys.argv[1]).items():
    print(f"{name:<60} {str(list(value.shape)):<14} {float((value ** 2).sum()) ** 0.5:.4f}")
