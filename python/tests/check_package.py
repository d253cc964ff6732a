"""Tests of the package, run by tests/cli/python_package_test.cpp: check_package.py hashes FILE | lab LAB."""
import hashlib
import json
import pathlib
import sys

import numpy

import mneme


def option(text):
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def check_hashes(file):
    fixed = json.loads(pathlib.Path(file).read_text())
    assert {case["task"] for case in fixed} == set(mneme.tasks.names())
    for case in fixed:
        task = mneme.tasks.open(case["task"], **dict(map(option, case["options"])))
        for split in ("train", "validation", "test"):
            # In two batches: how many examples are asked for at a time makes no difference.
            parts = [task.batch(0, 600, split=split), task.batch(600, 400, split=split)]
            inputs, answers = (numpy.concatenate(pair) for pair in zip(*parts))
            found = hashlib.sha256(inputs.tobytes() + answers.tobytes()).hexdigest()
            assert found == case[split], (case["name"], split)
    for name, options, message in [("mqra", {}, "did you mean 'mqar'?"), ("mqar", {"lenght": 8}, "did you mean 'length'?")]:
        try:
            mneme.tasks.open(name, **options)
        except ValueError as error:
            assert message in str(error), error
        else:
            raise AssertionError(message)
    print(f"{len(fixed)} cases")


def check_state_dict(run, weights):
    """A module of PyTorch with the names of the reference implementation takes the weights as they are."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
    import zoo
    for layer in range(run["layers"]):
        prefix = f"backbone.layers.{layer}.sequence_mixer."
        own = {name[len(prefix):]: value for name, value in weights.items() if name.startswith(prefix)}
        zoo.Attention(run["width"]).load_state_dict(own, strict=True)


def check_lab(lab):
    rows = mneme.runs(lab, pandas=False)
    assert rows and all(row["outcome"] == "done" for row in rows), rows
    chosen = mneme.runs(lab, pandas=False, config__train__seed=7)
    assert len(chosen) == 1 and chosen[0]["config.train.seed"] == 7, chosen
    weights = mneme.load(chosen[0]["path"])
    assert weights["backbone.embeddings.word_embeddings.weight"].shape[1] == chosen[0]["width"], list(weights)
    check_state_dict(chosen[0], weights)
    flat = mneme.load(chosen[0]["path"], torch=False)
    assert sum(value.size for value in flat.values()) == chosen[0]["parameters"]
    for wrong in (lambda: mneme.runs("/nowhere"), lambda: mneme.runs(lab, no_such_column=1), lambda: mneme.load(lab)):
        try:
            wrong()
        except (FileNotFoundError, KeyError):
            continue
        raise AssertionError("no error")
    print(f"{len(rows)} runs")


{"hashes": check_hashes, "lab": check_lab}[sys.argv[1]](sys.argv[2])
