"""Three mixers of the catalog, written again in plain PyTorch with the same names of parameters.

tests/mixers/python_zoo_test.cpp trains each next to its C++ twin from the same initial weights.
"""
import torch
from torch.nn.functional import linear, pad, silu


class Attention(torch.nn.Module):
    """Causal softmax attention: the catalog's `attention`."""

    knows_order = False

    def __init__(self, width, num_heads: int = 1):
        super().__init__()
        self.heads = num_heads
        self.Wqkv = torch.nn.Linear(width, 3 * width)
        self.out_proj = torch.nn.Linear(width, width)

    def forward(self, x):
        B, L, D = x.shape
        q, k, v = self.Wqkv(x).view(B, L, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        scores = q * (D // self.heads) ** -0.5 @ k.transpose(2, 3)
        future = torch.full((L, L), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
        return self.out_proj((torch.softmax(scores + future, 3) @ v).transpose(1, 2).flatten(2))


class Gru(torch.nn.Module):
    """The gated recurrent unit, token by token: the catalog's `gru`."""

    def __init__(self, width):
        super().__init__()
        self.weight_ih_l0 = torch.nn.Parameter(torch.empty(3 * width, width))
        self.weight_hh_l0 = torch.nn.Parameter(torch.empty(3 * width, width))
        self.bias_ih_l0 = torch.nn.Parameter(torch.empty(3 * width))
        self.bias_hh_l0 = torch.nn.Parameter(torch.empty(3 * width))
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -width ** -0.5, width ** -0.5)

    def initial_state(self, batch):
        return self.weight_hh_l0.new_zeros(batch, self.weight_hh_l0.shape[1])

    def cell(self, h, a):
        reset_a, update_a, new_a = a.chunk(3, -1)
        reset_h, update_h, new_h = linear(h, self.weight_hh_l0, self.bias_hh_l0).chunk(3, -1)
        update = torch.sigmoid(update_a + update_h)
        new = torch.tanh(new_a + torch.sigmoid(reset_a + reset_h) * new_h)
        return new + update * (h - new)

    def step(self, h, x):
        h = self.cell(h, linear(x, self.weight_ih_l0, self.bias_ih_l0))
        return h, h

    def forward(self, x):
        h, outputs = self.initial_state(x.shape[0]), []
        for a in linear(x, self.weight_ih_l0, self.bias_ih_l0).unbind(1):
            h = self.cell(h, a)
            outputs.append(h)
        return torch.stack(outputs, 1)


class ShortConv(torch.nn.Module):
    def __init__(self, width, taps):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, 1, taps).uniform_(-taps ** -0.5, taps ** -0.5))

    def forward(self, x):
        padded = pad(x.transpose(1, 2), (self.weight.shape[2] - 1, 0))
        return silu(torch.nn.functional.conv1d(padded, self.weight, groups=x.shape[2])).transpose(1, 2)


class HeadNorm(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class DeltaNet(torch.nn.Module):
    """The delta rule as a plain loop over tokens: the catalog's `deltanet`."""

    def __init__(self, width, num_heads: int = 2):
        super().__init__()
        self.heads = num_heads
        for stream in "qkv":
            setattr(self, f"{stream}_proj", torch.nn.Linear(width, width, bias=False))
            setattr(self, f"{stream}_conv1d", ShortConv(width, 4))
        self.b_proj = torch.nn.Linear(width, num_heads, bias=False)
        self.o_norm = HeadNorm(width // num_heads)
        self.o_proj = torch.nn.Linear(width, width, bias=False)

    def forward(self, x):
        streams = [getattr(self, f"{s}_conv1d")(getattr(self, f"{s}_proj")(x)).unflatten(2, (self.heads, -1)) for s in "qkv"]
        q, k = (s * torch.rsqrt(s.square().sum(-1, keepdim=True) + 1e-6) for s in streams[:2])
        beta = torch.sigmoid(self.b_proj(x))
        size = q.shape[-1]
        S, outputs = x.new_zeros(x.shape[0], self.heads, size, size), []
        for q_t, k_t, v_t, b_t in zip(q.unbind(1), k.unbind(1), streams[2].unbind(1), beta.unbind(1)):
            error = v_t - (k_t.unsqueeze(-1) * S).sum(-2)
            S = S + k_t.unsqueeze(-1) * (b_t.unsqueeze(-1) * error).unsqueeze(-2)
            outputs.append((q_t.unsqueeze(-1) * S).sum(-2) * size ** -0.5)
        return self.o_proj(self.o_norm(torch.stack(outputs, 1)).flatten(2))
