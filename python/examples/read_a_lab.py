"""The runs of a lab as a table: the best learning rate of every mixer.

    PYTHONPATH=python python3 python/examples/read_a_lab.py lab
"""
import sys

import mneme

best = {}
for row in mneme.runs(sys.argv[1] if len(sys.argv) > 1 else "lab", pandas=False):
    accuracy = row.get("test.accuracy")
    if accuracy is not None and accuracy > best.get(row["mixer"], {"test.accuracy": -1})["test.accuracy"]:
        best[row["mixer"]] = row
for mixer, row in sorted(best.items()):
    print(f"{mixer:<24} lr {row['lr']:<8g} test accuracy {row['test.accuracy']:.3f}  ({row['id']})")
