"""Mneme's tasks and results in Python: no compilation, no dependency beyond NumPy.

    import mneme
    task = mneme.tasks.open("mqar", length=64, pairs=4)     the same bytes as the C++ tasks
    rows = mneme.runs("lab", mixer="mamba")                 one dict a run; a DataFrame if pandas is there
    weights = mneme.load("lab/runs/3f2a91c0d5e1")           a state dict, with the reference implementations' names
"""
from . import tasks
from .results import load, runs

__all__ = ["tasks", "runs", "load"]
