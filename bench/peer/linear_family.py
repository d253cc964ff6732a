"""Linear attention, delta rules and RWKV in plain PyTorch: a matrix state a head, moved on token by token."""
import math

import torch
from torch.nn import functional as F

from parts import heads, linear, over_time, rms_norm, rotary, short_conv


def scan(q, k, v, log_decay=None):
    """S_t = exp(g_t) S_{t-1} + k_t v_t^T, o_t = q_t S_t; q, k, g [B, L, H, K], v [B, L, H, V]."""
    S, o = q.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3]), []
    decay = None if log_decay is None else log_decay.exp().unsqueeze(-1)
    for qt, kt, vt, at in over_time(q, k, v, decay):
        write = kt.unsqueeze(3) * vt.unsqueeze(2)
        S = S + write if at is None else torch.addcmul(write, S, at)
        o.append((qt.unsqueeze(2) @ S).squeeze(2))
    return torch.stack(o, 1)


def quadratic(q, k, v, weights):
    """The same for decays that depend on the positions alone: weights [H, L, L], zero above the diagonal."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return ((q @ k.transpose(2, 3) * weights) @ v).transpose(1, 2)


def lower_triangle(L):
    return torch.ones(L, L).tril()


def linear_attention(mix):
    def build(p, o, L):
        H, norm, ones = o["num_heads"], o["do_feature_map_norm"], lower_triangle(L)
        maps = {"elu": lambda x: F.elu(x) + 1, "relu": torch.relu, "identity": lambda x: x}

        def forward(x):
            q, k = (maps[o["feature_map"]](heads(linear(p, name + "_proj", x), H)) for name in "qk")
            v = heads(linear(p, "v_proj", x), H)
            q = q / math.sqrt(q.shape[-1])
            y = mix(q, k, v, ones)
            if norm:
                y = y / ((q * k.cumsum(1)).sum(-1, keepdim=True) + 1e-10)
            if o["output_norm"] == "rmsnorm":
                y = rms_norm(y, p.get("norm.weight"), o["norm_eps"])
            return linear(p, "o_proj", y.flatten(2))

        return forward

    return build


def taylor(x):
    """1, x and all products of two entries, scaled so that phi(q) phi(k) is the series of exp(q k / sqrt(F))."""
    width = x.shape[-1]
    products = (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2) / math.sqrt(2 * width)
    return torch.cat([torch.ones_like(x[..., :1]), x / width**0.25, products], -1)


def based(p, o, L):
    H = o["num_heads"]

    def forward(x):
        q, k = (taylor(heads(linear(p, "proj_" + name, x), H)) for name in "qk")
        y = scan(q, k, heads(linear(p, "proj_v", x), H))
        y = y / ((q * k.cumsum(1)).sum(-1, keepdim=True) + o["eps"])
        return linear(p, "proj_o", y.flatten(2))

    return forward


def based_parallel(p, o, L):
    H, mask = o["num_heads"], lower_triangle(L)

    def forward(x):
        q, k, v = (heads(linear(p, "proj_" + name, x), H).transpose(1, 2) for name in "qkv")
        z = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        A = (1 + z + z.square() / 2) * mask
        y = (A @ v) / (A.sum(-1, keepdim=True) + o["eps"])
        return linear(p, "proj_o", y.transpose(1, 2).flatten(2))

    return forward


def gated_output(p, o, x, y):
    weight = p.get("g_norm_swish_gate.weight", p.get("g_norm.weight"))
    y = rms_norm(y, weight, o["norm_eps"]).flatten(2)
    if "g_proj.weight" in p:
        y = y * F.silu(linear(p, "g_proj", x))
    return linear(p, "o_proj", y)


def retnet(parallel):
    def build(p, o, L):
        H = o["num_heads"]
        turn = rotary(L, p["q_proj.weight"].shape[0] // H)
        log_decay = torch.log1p(-(2.0 ** (-5 - torch.arange(H, dtype=torch.float64))))
        distance = torch.arange(L).unsqueeze(1) - torch.arange(L)
        weights = torch.where(distance >= 0, (distance * log_decay[:, None, None]).exp(), 0.0).float() if parallel else None
        constant = log_decay.float().view(1, 1, H, 1)

        def forward(x):
            q, k = (turn(heads(linear(p, name + "_proj", x), H).transpose(1, 2)).transpose(1, 2) for name in "qk")
            v, q = heads(linear(p, "v_proj", x), H), q / math.sqrt(q.shape[-1])
            y = quadratic(q, k, v, weights) if parallel else scan(q, k, v, constant.expand(1, L, H, 1))
            return gated_output(p, o, x, y)

        return forward

    return build


def gla(p, o, L):
    H = o["num_heads"]

    def forward(x):
        q, k, v = (heads(linear(p, name + "_proj", x), H) for name in "qkv")
        g = F.logsigmoid(linear(p, "gk_proj.1", linear(p, "gk_proj.0", x))) / o["gate_logit_normalizer"]
        return gated_output(p, o, x, scan(q / math.sqrt(q.shape[-1]), k, v, heads(g, H)))

    return forward


def delta_rule(p, o, L):
    """deltanet, gated_deltanet and deltaproduct: J corrections of the state a token, decay before them."""
    H, V, J = o["num_heads"], p["o_norm.weight"].shape[0], o.get("num_householder", 1)
    K = p["q_proj.weight"].shape[0] // H
    strength = 2.0 if o["allow_neg_eigval"] else 1.0

    def forward(x):
        q, k, v = (F.silu(short_conv(p, name + "_conv1d", linear(p, name + "_proj", x))) for name in "qkv")
        q, k, v = q.unflatten(2, (H, K)), k.unflatten(2, (J, H, K)), v.unflatten(2, (J, H, V))
        q, k = (y * torch.rsqrt(y.square().sum(-1, keepdim=True) + 1e-6) for y in (q, k))
        beta = (strength * torch.sigmoid(linear(p, "b_proj", x))).unflatten(2, (J, H))
        decay = None
        if "a_proj.weight" in p:
            g = -p["A_log"].exp() * F.softplus(linear(p, "a_proj", x) + p["dt_bias"])
            decay = g.exp()[..., None, None]
        S, out = x.new_zeros(x.shape[0], H, K, V), []
        for qt, kt, vt, bt, at in over_time(q / math.sqrt(K), k, v, beta, decay):
            S = S if at is None else S * at
            for kj, vj, bj in zip(kt.unbind(1), vt.unbind(1), bt.unbind(1)):
                error = bj[..., None, None] * (vj.unsqueeze(2) - kj.unsqueeze(2) @ S)
                S = torch.addcmul(S, kj.unsqueeze(3), error)
            out.append((qt.unsqueeze(2) @ S).squeeze(2))
        y = rms_norm(torch.stack(out, 1), p["o_norm.weight"], o["norm_eps"]).flatten(2)
        if "g_proj.weight" in p:
            y = y * F.silu(linear(p, "g_proj", x))
        return linear(p, "o_proj", y)

    return forward


def previous(x):
    return F.pad(x, (0, 0, 1, -1))


def rwkv4(p, o, L):
    def forward(x):
        before = previous(x)
        k, v, r = (linear(p, name, torch.lerp(before, x, p["time_mix_" + name[0]])) for name in ("key", "value", "receptance"))
        w, u = -p["time_decay"].exp(), p["time_first"]
        zeros = torch.zeros_like(x[:, 0])
        a, b, top, out = zeros, zeros, zeros - 1e38, []
        for kt, vt in over_time(k, v):
            now = u + kt
            most = torch.maximum(top, now)
            past, new = torch.exp(top - most), torch.exp(now - most)
            out.append((past * a + new * vt) / (past * b + new))
            faded = top + w
            top = torch.maximum(faded, kt)
            past, new = torch.exp(faded - top), torch.exp(kt - top)
            a, b = past * a + new * vt, past * b + new
        return linear(p, "output", torch.sigmoid(r) * torch.stack(out, 1))

    return forward


def rwkv5(p, o, L):
    H, N = p["time_decay"].shape

    def forward(x):
        before = previous(x)
        r, k, v, g = (linear(p, name, torch.lerp(before, x, p["time_mix_" + name[0]]))
                      for name in ("receptance", "key", "value", "gate"))
        decay, first = torch.exp(-torch.exp(p["time_decay"])).unsqueeze(2), p["time_faaaa"].unsqueeze(2)
        S, out = x.new_zeros(x.shape[0], H, N, N), []
        for rt, kt, vt in over_time(*(heads(y, H) for y in (r, k, v))):
            write = kt.unsqueeze(3) * vt.unsqueeze(2)
            out.append((rt.unsqueeze(2) @ torch.addcmul(S, first, write)).squeeze(2))
            S = torch.addcmul(write, S, decay)
        y = torch.stack(out, 1).flatten(0, 1).flatten(1) / o["head_size_divisor"]
        y = F.group_norm(y, H, p["ln_x.weight"], p["ln_x.bias"]).view_as(x)
        return linear(p, "output", y * F.silu(g))

    return forward


def rwkv7(p, o, L):
    H, N = p["r_k"].shape

    def lora(name, x, waist):
        return linear(p, name + ".lora.2", waist(linear(p, name + ".lora.0", x)))

    def forward(x):
        before = previous(x)
        mixed = {name: torch.lerp(x, before, p["x_" + name]) for name in "rwkvag"}
        r, k, v = (linear(p, name + "_proj", mixed[name]) for name in "rkv")
        w = torch.exp(-math.exp(-0.5) * torch.sigmoid(lora("w_lora", mixed["w"], torch.tanh)))
        a = torch.sigmoid(lora("a_lora", mixed["a"], lambda y: y))
        g = lora("g_lora", mixed["g"], torch.sigmoid)
        kk = F.normalize(heads(k * p["k_k"], H), 2, -1)
        k = heads(k * (1 + (a - 1) * p["k_a"]), H)
        r, w, v, a = (heads(y, H) for y in (r, w, v, a))
        S, out = x.new_zeros(x.shape[0], H, N, N), []
        for rt, wt, kt, vt, at, bt in over_time(r, w, k, v, kk, kk * a):
            recalled = at.unsqueeze(2) @ S
            S = S * wt.unsqueeze(3) - bt.unsqueeze(3) * recalled + kt.unsqueeze(3) * vt.unsqueeze(2)
            out.append((rt.unsqueeze(2) @ S).squeeze(2))
        y = torch.stack(out, 1).flatten(0, 1).flatten(1)
        y = F.group_norm(y, H, p["g_norm.weight"], p["g_norm.bias"], N * o["norm_eps"]).view_as(x)
        newest = (r * k * p["r_k"]).sum(-1, keepdim=True) * v
        return linear(p, "o_proj", (y + newest.flatten(2)) * g)

    return forward
