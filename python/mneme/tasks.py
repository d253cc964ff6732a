"""The tasks, through libmneme_tasks.so: example i of a split is a function of (seed, split, i), and has the same bytes here as in a run.

The library is looked for in MNEME_TASKS (a file), next to this package, and in build/release of the source tree.
"""
import ctypes
import json
import os
import pathlib

import numpy

NOT_ASKED = -100  # the label of a position where nothing is asked


def _places():
    if os.environ.get("MNEME_TASKS"):
        yield pathlib.Path(os.environ["MNEME_TASKS"])
        return
    here = pathlib.Path(__file__).resolve().parent
    yield here / "libmneme_tasks.so"
    yield here.parents[1] / "build" / "release" / "libmneme_tasks.so"


def _open_library():
    places = list(_places())
    found = [place for place in places if place.exists()]
    if not found:
        raise OSError("libmneme_tasks.so is in none of: " + ", ".join(map(str, places)) +
                      "; build it (script/build), or set MNEME_TASKS to its path")
    library = ctypes.CDLL(str(found[0]))
    text, number, handle = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
    for name, result, arguments in [
            ("mneme_task_names", text, []),
            ("mneme_task_open", handle, [text, text]),
            ("mneme_task_close", None, [handle]),
            ("mneme_task_error", text, []),
            ("mneme_task_length", number, [handle]),
            ("mneme_task_vocab", number, [handle]),
            ("mneme_task_classes", number, [handle]),
            ("mneme_task_chance", ctypes.c_double, [handle]),
            ("mneme_task_options", text, [handle]),
            ("mneme_task_write", ctypes.c_int,
             [handle, ctypes.c_uint64, text, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]),
            ("mneme_derived_data_seed", ctypes.c_uint64, [ctypes.c_uint64])]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = None


def _tasks():
    global _library
    if _library is None:
        _library = _open_library()
    return _library


def names():
    """The names of all tasks."""
    return _tasks().mneme_task_names().decode().split()


def data_seed(seed):
    """The data seed of a run with this `train.seed`."""
    return _tasks().mneme_derived_data_seed(seed)


class Task:
    """One task with its options. `batch` gives NumPy arrays, `torch_batch` torch tensors."""

    def __init__(self, name, **options):
        self.name = name
        self._handle = None
        handle = _tasks().mneme_task_open(name.encode(), json.dumps(options).encode())
        if not handle:
            raise ValueError(_tasks().mneme_task_error().decode())
        self._handle = ctypes.c_void_p(handle)
        self.options = json.loads(_tasks().mneme_task_options(self._handle))
        self.length = _tasks().mneme_task_length(self._handle)
        self.vocab = _tasks().mneme_task_vocab(self._handle)
        self.classes = _tasks().mneme_task_classes(self._handle)
        self.chance = _tasks().mneme_task_chance(self._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            _tasks().mneme_task_close(self._handle)
            self._handle = None

    def __repr__(self):
        return f"Task({self.name!r}, length={self.length}, vocab={self.vocab}, classes={self.classes})"

    @property
    def is_signal(self):
        return self.vocab == 0

    def batch(self, first, count, *, split="train", seed=42):
        """Examples first, ..., first + count - 1: (inputs, answers), each [count, length].

        Token tasks have int32 tokens and labels, NOT_ASKED where nothing is asked; signal tasks have float32 numbers. `seed` is the data
        seed: `data_seed(s)` for the examples of a run with train.seed = s.
        """
        kind = numpy.float32 if self.is_signal else numpy.int32
        inputs, answers = (numpy.empty((count, self.length), kind) for _ in range(2))
        failed = _tasks().mneme_task_write(self._handle, seed, split.encode(), first, count, inputs.ctypes.data,
                                           answers.ctypes.data)
        if failed:
            raise ValueError(_tasks().mneme_task_error().decode())
        return inputs, answers

    def torch_batch(self, first, count, **how):
        """The same as torch tensors; tokens and labels as int64, which torch's losses want (ignore_index=-100)."""
        import torch
        pair = [torch.from_numpy(array) for array in self.batch(first, count, **how)]
        return tuple(tensor if self.is_signal else tensor.long() for tensor in pair)


def open(name, **options):  # noqa: A001 - reads as mneme.tasks.open
    """A task by its name; options as in a study's [task]."""
    return Task(name, **options)
