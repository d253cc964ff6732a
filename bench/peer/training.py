"""What a user would run instead: the same model, weights, batch and step in plain PyTorch.

A case is what `mneme bench train --save-case FILE` writes: blocks of mixer + MLP (block = "zoology"), tied embeddings, AdamW. The
mixers are those of mixers.py. Loss and gradient norm of the first step must be the case's, or nothing is printed.

--logits full      logits for every position, cross entropy with ignore_index: how Zoology does it
--logits gathered  logits for the labelled positions only: the best a careful user writes
--form plain       the mixer as its formula says
--form fused       attention as scaled_dot_product_attention (PyTorch 2)
--form compiled    the same through torch.compile (PyTorch 2; on a CPU it needs a C++ compiler and PyTorch's and Python's headers)
--measure P:T      measured as P processes at once of T threads each; P:T,P:T... one after another
The batch is made outside the measured steps, so the peer is charged for training alone. One JSON line: for each P:T tokens per
second by the wall's clock, and by the processor's (what one thread would reach on an idle machine).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("--logits", choices=["full", "gathered"], default="gathered")
    parser.add_argument("--form", choices=["plain", "fused", "compiled"], default="plain")
    parser.add_argument("--measure", default="1:1")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--threads", type=int, help="be one of the measured processes")
    return parser.parse_args()


options = arguments()
if options.threads:
    # Both pools must be set before torch loads: OpenBLAS and OpenMP otherwise fight for the cores.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
    import torch
    from torch.nn import functional as F

    import mixers


class Model:
    """The parameters of a case as a function of tokens."""

    def __init__(self, config, parameters):
        self.p, model = parameters, config["model"]
        expected = {"block": "zoology", "state_mixer": "mlp", "tied": True, "final_norm": "layernorm", "embed_dropout": 0,
                    "resid_dropout": 0}
        if wrong := [name for name, value in expected.items() if model[name] != value]:
            sys.exit(f"training.py: the plain model has other {', '.join(wrong)}")
        length, mixer = config["task"]["length"], model["mixer"]
        known = mixers.KNOWN.get(mixer, {})
        options = {**model[mixer], "d_model": model["width"], "l_max": length}
        if wrong := [name for name, values in known.items() if options.get(name, values[0]) not in values]:
            sys.exit(f"training.py: the plain {mixer} has other {', '.join(wrong)}")
        self.activation = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}[model["mlp"]["activation"]]
        self.layers = []
        for layer in range(model["layers"]):
            prefix = f"backbone.layers.{layer}."
            own = {name.removeprefix(prefix + "sequence_mixer."): value for name, value in parameters.items()
                   if name.startswith(prefix + "sequence_mixer.")}
            self.layers.append((prefix, mixers.MIXERS[mixer](own, options, length)))
            # torch.nn modules have parameters of their own with these values.
            parameters.update({f"{prefix}sequence_mixer.{name}": value for name, value in own.items()})

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.p[name + ".weight"], self.p[name + ".bias"], 1e-5)

    def mlp(self, prefix, x):
        linear = mixers.parts.linear
        return linear(self.p, prefix + "fc2", self.activation(linear(self.p, prefix + "fc1", x)))

    @property
    def table(self):
        return self.p["backbone.embeddings.word_embeddings.weight"]

    def hidden(self, tokens):
        x = F.embedding(tokens, self.table)
        positions = self.p.get("backbone.embeddings.position_embeddings.weight")
        x = x if positions is None else x + positions[:tokens.shape[1]]
        for prefix, mixer in self.layers:
            x = x + mixer(self.norm(prefix + "norm1", x))
            x = x + self.mlp(prefix + "state_mixer.", self.norm(prefix + "norm2", x))
        return self.norm("backbone.ln_f", x)


class Training:
    def __init__(self, path, logits):
        about, tensors = mixers.read_safetensors(path)
        parameters = {name[6:]: value.requires_grad_() for name, value in tensors.items() if name.startswith("param.")}
        self.about, config = about, json.loads(about["config"])
        self.model, self.logits = Model(config, parameters), logits
        self.parameters = list(parameters.values())
        train = config["train"]
        self.optimiser = torch.optim.AdamW(self.parameters, lr=train["lr"], weight_decay=train["weight_decay"])
        self.tokens, self.labelled, self.answers = tensors["tokens"].long(), tensors["labelled"], tensors["answers"].long()
        self.loss = torch.compile(self.plain_loss) if options.form == "compiled" else self.plain_loss
        self.labels = torch.full((self.tokens.numel(),), -100).scatter(0, self.labelled, self.answers)

    def plain_loss(self):
        hidden = self.model.hidden(self.tokens)
        if self.logits == "full":
            return F.cross_entropy((hidden @ self.model.table.t()).flatten(0, 1), self.labels, ignore_index=-100)
        return F.cross_entropy(hidden.flatten(0, 1)[self.labelled] @ self.model.table.t(), self.answers)

    def step(self):
        self.optimiser.zero_grad()
        loss = self.loss()
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def check_first_step(self):
        loss = self.step()
        norm = torch.stack([p.grad.double().square().sum() for p in self.parameters if p.grad is not None]).sum().sqrt().item()
        for name, ours in (("loss", loss), ("gradient_norm", norm)):
            theirs = float(self.about[name])
            if not abs(ours - theirs) <= 1e-4 * theirs:
                sys.exit(f"training.py: {name} of the first step is {ours}, expected {theirs}: not the same model")


def measure():
    torch.set_num_threads(options.threads)
    mixers.attention.attention.fused = options.form != "plain"
    training = Training(options.case, options.logits)
    training.check_first_step()
    if options.form == "compiled":
        training.step()  # the second step may be compiled anew
    wall, processor, start = [], [], time.perf_counter()
    while not wall or time.perf_counter() - start < options.seconds:
        before, before_processor = time.perf_counter(), time.process_time()
        training.step()
        wall.append(time.perf_counter() - before)
        processor.append(time.process_time() - before_processor)
    tokens = training.tokens.numel()
    print(json.dumps({"tokens_per_second": tokens / statistics.median(wall), "steps": len(wall),
                      "processor_tokens_per_second": tokens / statistics.median(processor)}))


def measure_together(processes, threads):
    command = [sys.executable, __file__, options.case, "--logits", options.logits, "--form", options.form, "--seconds", str(options.seconds),
               "--threads", str(threads)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        sys.exit(1)
    results = [json.loads(output.splitlines()[-1]) for output in outputs]
    return {key: sum(result[key] for result in results) for key in ("tokens_per_second", "processor_tokens_per_second")}


def main():
    if options.threads:
        measure()
        return
    print(json.dumps({which: measure_together(*map(int, which.split(":"))) for which in options.measure.split(",")}))


main()
