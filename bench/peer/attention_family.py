"""Attention and gated convolutions in plain PyTorch."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from parts import adopt, causal_mask, fft_conv, heads, linear, rotary, short_conv


def attention(p, o, L):
    H, taps, on = o.get("num_heads", 1), o.get("conv_kernel", 3), o.get("conv_on", "")
    ahead = 0 if o.get("conv_pad", "causal") == "causal" else (taps - 1) // 2
    D = p["out_proj.weight"].shape[0]
    mask, before = causal_mask(L), o.get("conv_place", "pre") == "pre"
    turn = rotary(L, int(D // H * o.get("rope_pct", 1.0)), o.get("rope_base", 10000.0)) if o.get("rope") else None

    def streams(x):
        if not on or not before:
            parts = linear(p, "Wqkv", x).chunk(3, -1)
            return [short_conv(p, "conv_" + s, y, ahead) if s in on else y for s, y in zip("qkv", parts)]
        inputs = [short_conv(p, "conv_" + s, x, ahead) if s in on else x for s in "qkv"]
        return [F.linear(y, w, b) for y, w, b in zip(inputs, p["Wqkv.weight"].chunk(3), p["Wqkv.bias"].chunk(3))]

    def forward(x):
        q, k, v = (heads(y, H).transpose(1, 2) for y in streams(x))
        if turn:
            q, k = turn(q), turn(k)
        if attention.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(D // H) + mask, -1) @ v
        return linear(p, "out_proj", y.transpose(1, 2).flatten(2))

    return forward


attention.fused = False  # True: as PyTorch 2's one function for it


def transformer(p, o, L):
    D = p["norm1.weight"].shape[0]
    layer = nn.TransformerEncoderLayer(D, o["nhead"], o["dim_feedforward"], 0.0, o["activation"], o["layer_norm_eps"],
                                       batch_first=True, norm_first=o["norm_first"])
    adopt(layer, p)
    mask, positions = causal_mask(L), torch.zeros(L, D)
    if o["pos"] == "sincos":
        angle = torch.outer(torch.arange(L, dtype=torch.float64), 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D))
        positions = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)[:, :D].float()
    return lambda x: layer(x + positions, mask)


def base_conv(p, o, L):
    D = p["projection.weight"].shape[0]
    t = torch.arange(o["l_max"], dtype=torch.float64)
    wave = t * (1e-4 * 2 * math.pi / o["l_max"])
    positions = torch.stack([t / max(o["l_max"] - 1, 1), wave.cos(), -wave.sin()], 1).float()[:L]

    def convolved(x):
        if "conv.conv.weight" in p:
            return short_conv(p, "conv.conv", x)
        if "conv.filter" in p:
            return fft_conv(x, p["conv.filter"]) + x
        return fft_conv(x, linear(p, "conv.mlp.2", torch.relu(linear(p, "conv.mlp.0", positions))).t()) + x

    act = F.silu if o.get("use_act") else lambda x: x
    assert D == p["projection.weight"].shape[1]
    return lambda x: act(convolved(x)) * act(linear(p, "projection", x)) + x


def hyena(p, o, L):
    D, longest = p["out_proj.weight"].shape[0], o["l_max"]
    rates = torch.linspace(math.log(o["target"]) / o["slow_decay_pct"], math.log(o["target"]) / o["fast_decay_pct"], D)
    window = torch.exp(-torch.linspace(0, 1, longest)[:L, None] * rates.abs()) + o["shift"]
    layers = o["num_inner_mlps"] + 1

    def forward(x):
        h = p["filter_fn.pos_emb.z"][0, :L]
        for i in range(layers):
            h = torch.sin(p["filter_fn.implicit_filter.1.freq"] * linear(p, f"filter_fn.implicit_filter.{2 * i}", h))
        h = linear(p, f"filter_fn.implicit_filter.{2 * layers}", h) * window
        first, second, v = short_conv(p, "short_filter", linear(p, "in_proj", x)).chunk(3, -1)
        v = v * first
        return linear(p, "out_proj", (fft_conv(v, h.t()) + p["filter_fn.bias"] * v) * second)

    return forward
