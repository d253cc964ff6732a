"""ema in PyTorch, written from the recurrence: script/golden tests/golden/ema.py tests/golden/ema-base.safetensors"""
import torch

MIXER = "ema"
CONFIG = {"d_model": 8, "decay": 0.9}
SOURCE = "tests/golden/ema.py, the recurrence of docs/mixers/ema.md token by token"


class Ema(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.decay = torch.nn.Parameter(2.2 + torch.randn(width))
        self.out_proj = torch.nn.Linear(width, width, bias=False)

    def forward(self, x):
        a, state, outputs = torch.sigmoid(self.decay), torch.zeros_like(x[:, 0]), []
        for token in x.unbind(1):
            state = a * state + (1 - a) * token
            outputs.append(state)
        return self.out_proj(torch.stack(outputs, 1))


def build():
    return Ema(CONFIG["d_model"])
