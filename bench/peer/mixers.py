"""Mixers of the list in plain PyTorch, for the comparison in script/bench: what a careful user writes without kernels.

A case is a safetensors file with input, output, parameters and options: those in tests/golden, or one that
`mneme bench mixer NAME --save-case FILE` writes: the same function of the same parameters, so the comparison is fair.

usage: mixers.py --verify FILE...                                 output and input gradient of each case within 1e-4
       mixers.py FILE [--form careful|usual|parallel|sequential] [--seconds S]   one JSON line with tokens per second
"""
import argparse
import json
import math
import os
import statistics
import struct
import sys
import time

# Both pools must be set before torch loads: OpenBLAS and OpenMP otherwise fight for the cores.
for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(pool, "1")

import numpy  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

import attention_family as attention  # noqa: E402
import linear_family as linear  # noqa: E402
import parts  # noqa: E402
import recurrent  # noqa: E402
import state_space  # noqa: E402

# name -> build(parameters, options, length) -> function of x [B, L, D]. Scans are the usual loop over time.
MIXERS = {
    "attention": attention.attention, "transformer": attention.transformer, "base_conv": attention.base_conv,
    "hyena": attention.hyena, "based": linear.based, "gla": linear.gla,
    "linear_attention": linear.linear_attention(lambda q, k, v, ones: linear.scan(q, k, v)),
    "retnet": linear.retnet(parallel=False), "deltanet": linear.delta_rule, "gated_deltanet": linear.delta_rule,
    "deltaproduct": linear.delta_rule, "rwkv4": linear.rwkv4, "rwkv5": linear.rwkv5, "rwkv7": linear.rwkv7,
    "mamba": state_space.mamba, "s6": state_space.mamba, "mamba2": state_space.mamba2(state_space.mamba2_loop),
    "s4": state_space.s4, "s4d": state_space.s4d(state_space.diagonal_fft), "ids4": state_space.ids4,
    "h3": state_space.h3(state_space.diagonal_fft),
    "rnn": recurrent.recurrent(nn.RNN), "lstm": recurrent.recurrent(nn.LSTM), "gru": recurrent.recurrent(nn.GRU),
    "nru": recurrent.nru,
}
# The form without a loop, quadratic in the length, of those scans that have a short one.
PARALLEL = {
    "based": linear.based_parallel, "linear_attention": linear.linear_attention(linear.quadratic),
    "retnet": linear.retnet(parallel=True), "mamba2": state_space.mamba2(state_space.mamba2_quadratic),
}
# The recurrence of those whose plain version is a convolution.
SEQUENTIAL = {"s4d": state_space.s4d(state_space.diagonal_loop), "h3": state_space.h3(state_space.diagonal_loop)}
FORMS = {"careful": MIXERS, "usual": MIXERS, "parallel": PARALLEL, "sequential": SEQUENTIAL}
# The plain versions have the options of the comparison, not all of them: the values they know of those that change the
# function. A case with another value is passed over, never measured.
KNOWN = {
    "transformer": {"num_layers": (1,), "causal": (True,)},
    "linear_attention": {"feature_map": ("elu", "relu", "identity"), "norm_q": (False,), "norm_k": (False,)},
    "retnet": {"num_kv_heads": (None, 0), "use_short_conv": (False,), "feature_map": (None, "none"), "gate_fn": ("swish", "silu")},
    "deltanet": {"qk_activation": ("silu",), "qk_norm": ("l2",), "use_beta": (True,), "use_short_conv": (True,)},
    "gated_deltanet": {"num_v_heads": (None, 0), "use_short_conv": (True,)}, "deltaproduct": {"use_short_conv": (True,)},
    "rwkv7": {"layer_idx": (0,)}, "hyena": {"normalized": (False,), "modulate": (True,), "bias": (True,)},
    "mamba2": {"norm_before_gate": (False,), "D_has_hdim": (False,), "norm_group_size": ("d_inner/ngroups",)},
    "s4": {"rank": (1,)}, "nru": {"variant": ("original", "eq5")}, "gru": {"reset_before": (False,)},
}
KNOWN["gla"] = {**KNOWN["retnet"], "clamp_min": (None, "none")}
DTYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


def read_safetensors(path):
    """The metadata and the tensors of a file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    about, tensors = header.pop("__metadata__"), {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return about, tensors


class Case:
    def __init__(self, path, forms=MIXERS):
        about, self.tensors = read_safetensors(path)
        self.mixer, self.options = about["mixer"], json.loads(about["config"])
        if self.mixer not in forms:
            sys.exit(f"{path}: no plain version of '{self.mixer}', expected one of {', '.join(forms)}")
        for option, values in KNOWN.get(self.mixer, {}).items():
            if self.options.get(option, values[0]) not in values:
                raise parts.UnknownOption(f"{option} = {self.options[option]}")
        self.parameters = {name[6:]: value.requires_grad_() for name, value in self.tensors.items() if name.startswith("param.")}
        self.x = self.tensors["input"].requires_grad_()
        self.forward = forms[self.mixer](self.parameters, self.options, self.x.shape[1])

    def step(self):
        """Forward and backward, down to the gradients of the parameters and of the input."""
        y = self.forward(self.x)
        y.backward(self.tensors["grad_output"])
        return y

    def clear(self):
        for tensor in (self.x, *self.parameters.values()):
            tensor.grad = None

    def error(self):
        """The largest deviation of output and input gradient, relative to the largest value; None if not finite."""
        y, worst = self.step().detach(), 0.0
        for ours, theirs in ((y, self.tensors["output"]), (self.x.grad, self.tensors["grad_input"])):
            if not theirs.isfinite().all():
                return None
            deviation = ((ours - theirs).abs().max() / theirs.abs().max()).item()
            worst = max(worst, math.inf if math.isnan(deviation) else deviation)
        self.clear()
        return worst


def measure(case, seconds, warm_up):
    if warm_up:
        case.step()
        case.clear()
    times, start = [], time.perf_counter()
    while not times or time.perf_counter() - start < seconds:
        before = time.thread_time()
        case.step()
        case.clear()
        times.append(time.thread_time() - before)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--form", choices=FORMS, default="careful")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    torch.set_num_threads(1)
    parts.over_time.by_index = options.form == "usual"
    failed = 0
    for path in options.files:
        try:
            case = Case(path, FORMS[options.form])
        except parts.UnknownOption as unknown:
            if not options.verify:
                sys.exit(f"{path}: the plain version has no {unknown}")
            print(f"skip {path}  no {unknown}")
            continue
        if options.verify:
            error = case.error()
            ok = error is None or error <= options.tolerance
            failed += not ok
            told = "overflows, nothing to compare" if error is None else f"worst error {error:.2g}"
            print(f"{'ok  ' if ok else 'FAIL'} {path}  {case.mixer}: {told}")
            continue
        # A step of some loops takes minutes, beside which the first touch of memory does not count.
        times = measure(case, options.seconds, warm_up=options.form not in ("usual", "sequential"))
        step = statistics.median(times)
        B, L, _ = case.x.shape
        print(json.dumps({"mixer": case.mixer, "form": options.form, "tokens_per_second": B * L / step,
                          "step_seconds": step, "steps": len(times)}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
