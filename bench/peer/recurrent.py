"""Recurrent cells: torch.nn where it has them."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import adopt, linear, over_time


def recurrent(kind):
    def build(p, o, L):
        hidden, width = p["weight_hh_l0"].shape[1], p["weight_ih_l0"].shape[1]
        extra = {"nonlinearity": o.get("nonlinearity", "tanh")} if kind is nn.RNN else {}
        layer = kind(width, hidden, o.get("num_layers", 1), o.get("bias", True), batch_first=True, **extra)
        adopt(layer, p)
        return lambda x: layer(x)[0]

    return build


def nru(p, o, L):
    H, M, k = p["hmi2h.weight" if "hmi2h.weight" in p else "w_h.weight"].shape[0], o["memory_size"], o.get("k", 1)
    bend = torch.relu if o.get("use_relu") else lambda x: x

    def plain_step(x, h, m):
        z = torch.cat([x, h, m], 1)
        alpha, beta, write, erase = (torch.relu(linear(p, "w_" + name, z)) for name in ("alpha", "beta", "write", "erase"))
        return torch.relu(linear(p, "w_h", z)), m + alpha * write - beta * erase

    def vectors(u):
        a, b = u.chunk(2, 1)
        return F.normalize(bend(a.unsqueeze(2) * b.unsqueeze(1)).flatten(1).unflatten(1, (k, M)), 5, 2)

    def step(x, h, m):
        h = linear(p, "hmi2h", torch.cat([x, h, m], 1))
        if "_ln_h.weight" in p:
            h = F.layer_norm(h, (H,), p["_ln_h.weight"], p["_ln_h.bias"])
        h = torch.relu(h)
        q = torch.cat([h, m], 1)
        write = bend(linear(p, "hm2alpha", q)).unsqueeze(2) * vectors(linear(p, "hm2v_alpha", q))
        erase = bend(linear(p, "hm2beta", q)).unsqueeze(2) * vectors(linear(p, "hm2v_beta", q))
        return h, m + (write - erase).mean(1)

    def forward(x):
        h, m, y = x.new_zeros(x.shape[0], H), x.new_zeros(x.shape[0], M), []
        for (token,) in over_time(x):
            h, m = (plain_step if o.get("variant") == "eq5" else step)(token, h, m)
            y.append(h)
        return torch.stack(y, 1)

    return forward
