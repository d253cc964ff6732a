"""What the plain PyTorch mixers share. p is a dictionary of parameters, named as in tests/golden."""
import torch
from torch.nn import functional as F


class UnknownOption(Exception):
    """A plain version has the options of the comparison, not all of them."""


def linear(p, name, x):
    return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def heads(x, H):
    """[..., C] -> [..., H, C / H]"""
    return x.unflatten(-1, (H, x.shape[-1] // H))


def short_conv(p, name, x, ahead=0):
    weight = p[name + ".weight"]
    y = F.pad(x.transpose(1, 2), (weight.shape[2] - 1 - ahead, ahead))
    return F.conv1d(y, weight, p.get(name + ".bias"), groups=weight.shape[0]).transpose(1, 2)


def fft_conv(x, kernel):
    """Causal convolution of x [B, L, C] with kernel [C, K]."""
    L = x.shape[1]
    y = torch.fft.irfft(torch.fft.rfft(x.transpose(1, 2), 2 * L) * torch.fft.rfft(kernel[:, :L], 2 * L), 2 * L)
    return y[..., :L].transpose(1, 2)


def rms_norm(x, weight, eps):
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight


def rotary(L, rotated, base=10000.0):
    angle = torch.outer(torch.arange(L, dtype=torch.float64), base ** (-torch.arange(0, rotated, 2, dtype=torch.float64) / rotated))
    cos, sin, half = angle.cos().float(), angle.sin().float(), rotated // 2

    def turn(x):  # [..., L, d]
        a, b = x[..., :half], x[..., half:rotated]
        return torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., rotated:]], -1)

    return turn


def causal_mask(L):
    return torch.full((L, L), -torch.inf).triu(1)


def adopt(module, p):
    """Makes p's tensors the module's parameters, and the module's parameters p's."""
    module.load_state_dict(p)
    for name, parameter in module.named_parameters():
        p[name] = parameter


def over_time(*streams):
    """The tokens of several tensors [B, L, ...] together; None stays None.

    unbind() gathers all gradients of a stream at once. The usual x[:, t] makes autograd fill a tensor of the whole
    stream's size with zeros at every step; `by_index` chooses that way.
    """
    L = next(x.shape[1] for x in streams if x is not None)
    if over_time.by_index:
        return ([x if x is None else x[:, t] for x in streams] for t in range(L))
    return zip(*([None] * L if x is None else x.unbind(1) for x in streams))


over_time.by_index = False
