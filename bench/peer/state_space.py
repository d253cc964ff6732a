"""State-space models in plain PyTorch: selective scans as loops over time, the others as FFT convolutions."""
import math

import torch
from torch.nn import functional as F

from linear_family import scan
from parts import UnknownOption, fft_conv, heads, linear, over_time, rms_norm, short_conv


def mamba(p, o, L):
    E, N = p["A_log"].shape
    rank = p["dt_proj.weight"].shape[1]

    def forward(x):
        u, z = linear(p, "in_proj", x), None
        if u.shape[2] != E:
            u, z = u.chunk(2, -1)
        u = F.silu(short_conv(p, "conv1d", u) if "conv1d.weight" in p else u)
        pre, Bm, Cm = linear(p, "x_proj", u).split([rank, N, N], -1)
        delta = F.softplus(linear(p, "dt_proj", pre))
        decay = torch.exp(delta.unsqueeze(3) * -p["A_log"].exp())  # [B, L, E, N]
        write = (delta * u).unsqueeze(3) * Bm.unsqueeze(2)
        h, y = x.new_zeros(x.shape[0], E, N), []
        for at, bt, ct in over_time(decay, write, Cm.unsqueeze(3)):
            h = torch.addcmul(bt, at, h)
            y.append((h @ ct).squeeze(2))
        y = torch.stack(y, 1) + p["D"] * u
        return linear(p, "out_proj", y if z is None else y * F.silu(z))

    return forward


def mamba2(mix):
    def build(p, o, L):
        H, E, G = p["A_log"].shape[0], p["norm.weight"].shape[0], o["ngroups"]
        N = (p["conv1d.weight"].shape[0] - E) // (2 * G)
        causal = torch.ones(L, L, dtype=torch.bool).tril()

        def forward(x):
            z, streams, dt = linear(p, "in_proj", x).split([E, E + 2 * G * N, H], -1)
            u, Bm, Cm = F.silu(short_conv(p, "conv1d", streams)).split([E, G * N, G * N], -1)
            u, Bm, Cm = heads(u, H), heads(Bm, G), heads(Cm, G)
            if G != H:
                Bm, Cm = (y.repeat_interleave(H // G, 2) for y in (Bm, Cm))
            delta = F.softplus(dt + p["dt_bias"])
            y = mix(Cm, Bm, u * delta.unsqueeze(3), -p["A_log"].exp() * delta, causal)
            y = (y + p["D"].unsqueeze(1) * u).flatten(2) * F.silu(z)
            return linear(p, "out_proj", rms_norm(heads(y, G), None, o["norm_eps"]).flatten(2) * p["norm.weight"])

        return forward

    return build


def mamba2_loop(q, k, v, log_decay, _):
    return scan(q, k, v, log_decay.unsqueeze(3))


def mamba2_quadratic(q, k, v, log_decay, causal):
    total = log_decay.cumsum(1).transpose(1, 2)  # [B, H, L]
    weights = (total.unsqueeze(3) - total.unsqueeze(2)).masked_fill(~causal, -torch.inf).exp()
    q, k, v = (y.transpose(1, 2) for y in (q, k, v))
    return ((q @ k.transpose(2, 3) * weights) @ v).transpose(1, 2)


def diagonal_fft(x, weight, log_pole, taps):
    """y[t] = 2 Re sum_n weight[n] sum_{s <= t} pole[n]^(t - s) x[s] for x [B, L, C] and C rows of poles: as a convolution."""
    time = torch.arange(taps)
    return fft_conv(x, 2 * torch.einsum("hn,hnl->hl", weight, torch.exp(log_pole.unsqueeze(2) * time)).real)


def diagonal_loop(x, weight, log_pole, _):
    """The same as the recurrence that it is, which has no last tap."""
    pole, state, y = log_pole.exp(), 0, []
    for (u,) in over_time(x):
        state = pole * state + u.unsqueeze(2)  # [B, C, N]
        y.append(2 * (weight * state).sum(2).real)
    return torch.stack(y, 1)


def s4d(mix):
    def build(p, o, L):
        def forward(x):
            A = torch.complex(-p["kernel.log_A_real"].exp(), p["kernel.A_imag"])
            step = A * p["kernel.log_dt"].exp().unsqueeze(1)
            y = F.gelu(mix(x, torch.view_as_complex(p["kernel.C"]) * (step.exp() - 1) / A, step, L) + p["D"] * x)
            return F.glu(F.linear(y, p["output_linear.0.weight"].squeeze(2), p["output_linear.0.bias"]), -1)

        return forward

    return build


def s4(p, o, L):
    nodes = o["l_kernel"] or L
    omega = torch.exp(-2j * math.pi * torch.arange(nodes // 2 + 1, dtype=torch.float64) / nodes).to(torch.complex64)
    minus, plus = 2 * (1 - omega), 1 + omega

    def kernel():
        dt = p["layer.kernel.inv_dt"].exp()
        poles = dt * torch.complex(-p["layer.kernel.A_real"].exp(), -p["layer.kernel.A_imag"])
        B, C, P = (torch.view_as_complex(p["layer.kernel." + name]).squeeze(0) for name in "BCP")
        weights = dt * torch.stack([B * C, B * P.conj(), P * C, P * P.conj()])  # [4, H, n]
        # Sums over the poles and their conjugates; multiplied out, so that omega = -1 is no special case.
        sums = torch.einsum("khn,hnf->khf", weights, 1 / (minus - poles.unsqueeze(2) * plus))
        sums = sums + torch.einsum("khn,hnf->khf", weights.conj(), 1 / (minus - poles.conj().unsqueeze(2) * plus))
        spectrum = 2 * (sums[0] - plus * sums[1] * sums[2] / (1 + plus * sums[3]))
        return torch.fft.irfft(spectrum, nodes)

    def forward(x):
        y = F.gelu(fft_conv(x, kernel()) + p["layer.D"] * x)
        return F.glu(linear(p, "output_linear.0", y), -1)

    return forward


def h3(mix):
    def build(p, o, L):
        N, H = o["d_state"], p["D"].shape[0]
        if mix is diagonal_loop and o["l_max"] < L:
            raise UnknownOption(f"end after {o['l_max']} taps")

        def shift_kernel():
            B, C = p["ssm_k_kernel.kernel.B"], p["ssm_k_kernel.kernel.C"].squeeze(0)
            return torch.fft.irfft(torch.fft.rfft(B, 2 * N).conj() * torch.fft.rfft(C, 2 * N), 2 * N)[:, :min(N, L, o["l_max"])]

        def diagonal():
            A = torch.complex(-p["kernel.kernel.inv_A_real"].exp(), p["kernel.kernel.A_imag"])
            dt = p["kernel.kernel.log_dt"].exp().unsqueeze(1)
            B, C = torch.view_as_complex(p["kernel.kernel.B"]), torch.view_as_complex(p["kernel.kernel.C"]).squeeze(0)
            half = 0.5 * dt * A
            return C * B * dt / (1 - half), ((1 + half) / (1 - half)).log()

        def forward(x):
            q, k, v = (linear(p, name + "_proj", x) for name in "qkv")
            k = heads(fft_conv(k, shift_kernel()) + p["ssm_k_D"] * k, H)
            e = k.shape[3]
            products = (k.unsqueeze(4) * heads(v, H).unsqueeze(3)).flatten(2)  # [B, L, H e e]
            weight, log_pole, skip = (y.repeat_interleave(e * e, 0) for y in (*diagonal(), p["D"]))
            y = (mix(products, weight, log_pole, min(L, o["l_max"])) + skip * products).unflatten(2, (H, e, e))
            y = (heads(q, H).unsqueeze(4) * y).sum(3)
            return linear(p, "output_linear", y.transpose(2, 3).flatten(2))

        return forward

    return build


def ids4(p, o, L):
    N = p["A"].shape[1]

    def forward(x):
        product, seen = torch.eye(N).expand(x.shape[0], N, N), []
        for (factor,) in over_time(F.gelu(x @ p["A"].flatten(1)).unflatten(2, (N, N))):
            product = product @ factor
            seen.append(product)
        return linear(p, "C", linear(p, "proj", torch.stack(seen, 1)).squeeze(-1)) + linear(p, "D", x)

    return forward
