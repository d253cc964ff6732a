"""What a user would run instead: the same model, task and step in plain PyTorch.

Two layers of attention + MLP (pre-norm, tied embeddings, learned positions), AdamW, MQAR.
--logits full      logits for every position, cross entropy with ignore_index: how Zoology does it
--logits gathered  logits for the asked positions only: the best a careful user writes
Prints one JSON line: {"tokens_per_second": ..., "step_seconds": ..., "steps": ...}.
Data is made once, outside the measured steps, so the peer is charged for training alone.
"""
import argparse
import json
import math
import os
import statistics
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logits", choices=["full", "gathered"], default="gathered")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--vocab", type=int, default=8192)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    return parser.parse_args()


options = arguments()
# Both pools must be set before torch loads: OpenBLAS and OpenMP otherwise fight for the cores.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        length = x.shape[1]
        mask = torch.full((length, length), -10000.0).triu(1)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + mask
        return self.out(torch.softmax(scores, -1) @ v)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixer = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.mixer(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(options.vocab, options.width)
        self.positions = nn.Embedding(options.length, options.width)
        self.blocks = nn.Sequential(*[Block(options.width) for _ in range(options.layers)])
        self.norm = nn.LayerNorm(options.width)

    def forward(self, ids):
        return self.norm(self.blocks(self.tokens(ids) + self.positions.weight))


def make_batch(generator):
    """MQAR, vectorised: keys, values, then each key asked once among random tokens (uniform slots)."""
    B, K, L, V = options.batch, options.pairs, options.length, options.vocab
    rand = lambda low, high, n: torch.stack(  # noqa: E731
        [torch.randperm(high - low, generator=generator)[:n] + low for _ in range(B)])
    ids = torch.randint(0, V, (B, L), generator=generator)
    keys, values = rand(1, V // 2, K), rand(V // 2, V, K)
    slots = 2 * K + 2 * rand(0, (L - 2 * K) // 2, K)
    ids[:, 0:2 * K:2], ids[:, 1:2 * K:2] = keys, values
    labels = torch.full((B, L), -100)
    ids.scatter_(1, slots, keys)
    labels.scatter_(1, slots, values)
    return ids, labels


def step(model, optimiser, ids, labels):
    optimiser.zero_grad()
    hidden = model(ids)
    if options.logits == "full":
        logits = hidden @ model.tokens.weight.t()
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
    else:
        asked = labels != -100
        loss = F.cross_entropy(hidden[asked] @ model.tokens.weight.t(), labels[asked])
    loss.backward()
    optimiser.step()
    return loss.item()


torch.set_num_threads(options.threads)
torch.manual_seed(0)
model = Model()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
ids, labels = make_batch(torch.Generator().manual_seed(1))
step(model, optimiser, ids, labels)
times = []
for _ in range(options.steps):
    start = time.perf_counter()
    step(model, optimiser, ids, labels)
    times.append(time.perf_counter() - start)
median = statistics.median(times)
print(json.dumps({"tokens_per_second": options.batch * options.length / median, "step_seconds": median,
                  "steps": len(times)}))
