"""A lab's runs as rows, and their weights as state dicts."""
import json
import pathlib
import struct

import numpy

_TYPES = {"F64": numpy.float64, "F32": numpy.float32, "I64": numpy.int64, "I32": numpy.int32, "U8": numpy.uint8}


def _flat(value, prefix=""):
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


def _read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def _row(directory):
    config, summary = _read(directory / "config.json"), _read(directory / "summary.json")
    row = {"id": directory.name, "outcome": summary.get("outcome"), "reason": summary.get("reason")}
    model, train = config.get("model", {}), config.get("train", {})
    row |= {"task": config.get("task", {}).get("name"), "mixer": model.get("mixer"), "width": model.get("width"),
            "layers": model.get("layers"), "lr": train.get("lr"), "seed": train.get("seed"), "steps": train.get("steps")}
    row |= dict(_flat(summary.get("values", {})))
    row |= {f"config.{path}": value for path, value in _flat(config)}
    row["path"] = str(directory)
    return row


def runs(lab="lab", *, pandas=None, **conditions):
    """One row per run: its id, outcome, the usual columns, every value of its summary ("test.accuracy") and of its
    configuration ("config.train.lr").

    Conditions keep rows in which the column has this value: runs("lab", mixer="mamba", seed=42). Dots in a column's name are
    written as two underscores: config__task__length=64. Returns a pandas DataFrame if pandas is installed, else a list of dicts; pandas=True or
    False decides.
    """
    directory = pathlib.Path(lab) / "runs"
    if not directory.is_dir():
        raise FileNotFoundError(f"{lab} is not a lab: it has no runs/ in it")
    rows = [_row(path) for path in sorted(directory.iterdir()) if (path / "config.json").exists()]
    for name, value in conditions.items():
        column = name.replace("__", ".")
        if rows and not any(column in row for row in rows):
            raise KeyError(f"no run has a column {column}; there are: {', '.join(sorted(rows[0]))}")
        rows = [row for row in rows if row.get(column) == value]
    if pandas is None or pandas:
        try:
            import pandas as library
            return library.DataFrame(rows)
        except ImportError:
            if pandas:
                raise
    return rows


def read_safetensors(path):
    """(tensors as NumPy arrays by name, metadata) of a file in the safetensors format."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else None
    if size is None or 8 + size > len(data):
        raise ValueError(f"{path} is not a safetensors file")
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, about in header.items():
        begin, end = (8 + size + at for at in about["data_offsets"])
        tensors[name] = numpy.frombuffer(data[begin:end], _TYPES[about["dtype"]]).reshape(about["shape"]).copy()
    return tensors, metadata


def load(run, *, torch=None):
    """The weights of a run (its directory) or of a safetensors file, by the names of the reference implementations.

    Torch tensors if torch is installed, so that module.load_state_dict(...) takes them; else NumPy arrays. torch=True or False decides.
    """
    path = pathlib.Path(run)
    if path.is_dir():
        files = [path / "checkpoint.safetensors", path / "checkpoint.previous.safetensors"]
        found = [file for file in files if file.exists()]
        if not found:
            raise FileNotFoundError(f"{run} has no checkpoint: it was never trained")
        path = found[0]
    tensors, _ = read_safetensors(path)
    if any(name.startswith("param.") for name in tensors):
        tensors = {name[len("param."):]: value for name, value in tensors.items() if name.startswith("param.")}
    if torch is None or torch:
        try:
            import torch as library
            return {name: library.from_numpy(value) for name, value in tensors.items()}
        except ImportError:
            if torch:
                raise
    return tensors
