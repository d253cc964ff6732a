"""A torch model of your own trained on Mneme's MQAR: the same examples, byte for byte, as a run with train.seed = 42.

    PYTHONPATH=python python3 python/examples/train_on_a_task.py
"""
import torch

import mneme

torch.manual_seed(0)
task = mneme.tasks.open("mqar", length=16, pairs=2, vocab=32)
seed = mneme.tasks.data_seed(42)
embed, head = torch.nn.Embedding(task.vocab, 64), torch.nn.Linear(64, task.classes)
layer = torch.nn.GRU(64, 64, batch_first=True)
optimiser = torch.optim.AdamW([*embed.parameters(), *layer.parameters(), *head.parameters()], lr=3e-3)
for step in range(100):
    tokens, labels = task.torch_batch(64 * step, 64, seed=seed)
    logits = head(layer(embed(tokens))[0])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=mneme.tasks.NOT_ASKED)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 20 == 19:
        print(f"step {step + 1}: loss {loss.item():.3f}, chance {task.chance:.3f}")
