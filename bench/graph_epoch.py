"""An epoch of examples/digits beside torch's eager loop.

The same network, batch size and step, with one thread each:

  bench/graph_epoch.py build/bench/examples/digits

The two take turns for a few rounds, and the best of each counts. The share of pooling is the time
of the two pools alone, forward and back, for as many batches as an epoch has.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional

BATCH = 32
IMAGES = 1437
ROUNDS = 5


def read_digits() -> tuple[torch.Tensor, torch.Tensor]:
    file = Path(__file__).parents[1] / "examples" / "digits" / "digits.txt"
    rows = [r for r in file.read_text().splitlines() if r and not r.startswith("#")][:IMAGES]
    pixels = [["0123456789abcdefg".index(c) / 16 for c in row[:64]] for row in rows]
    labels = [int(row[65]) for row in rows]
    return torch.tensor(pixels).reshape(-1, 1, 8, 8), torch.tensor(labels)


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.second = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.last = torch.nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(functional.relu(self.first(x)), 2)
        x = functional.max_pool2d(functional.relu(self.second(x)), 2)
        return self.last(x.flatten(1))


def epoch_of_torch() -> Callable[[], None]:
    pixels, labels = read_digits()
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.03, momentum=0.9)

    def epoch() -> None:
        order = torch.randperm(IMAGES)
        for start in range(0, IMAGES - BATCH + 1, BATCH):
            taken = order[start : start + BATCH]
            optimizer.zero_grad()
            functional.cross_entropy(network(pixels[taken]), labels[taken]).backward()
            optimizer.step()

    return epoch


def pooling_of_torch() -> Callable[[], None]:
    inputs = [torch.rand(BATCH, 16, 8, 8), torch.rand(BATCH, 32, 4, 4)]
    for x in inputs:
        x.requires_grad_()
    gradients = [torch.rand(BATCH, 16, 4, 4), torch.rand(BATCH, 32, 2, 2)]

    def pooling() -> None:
        for _ in range(IMAGES // BATCH):
            for x, gradient in zip(inputs, gradients):
                x.grad = None
                functional.max_pool2d(x, 2).backward(gradient)

    return pooling


def seconds(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    calls = epoch_of_torch(), pooling_of_torch()
    best = {"ndpool": (1e9, 1e9), "torch": (1e9, 1e9)}
    for _ in range(ROUNDS):
        words = subprocess.check_output([sys.argv[1], "--measure"], text=True).split()
        found = {
            "ndpool": [float(word) for word in words],
            "torch": [min(seconds(call) for _ in range(3)) for call in calls],
        }
        for name, times in found.items():
            best[name] = tuple(min(pair) for pair in zip(best[name], times))
    print("\nAn epoch of digits (1,437 images, batches of 32, max pooling), 1 thread")
    print(f"{'':14}{'epoch':>10}{'pooling':>10}{'share':>8}")
    for name, (epoch, pooling) in best.items():
        label = name if name == "ndpool" else f"torch {torch.__version__.split('+')[0]}"
        share = pooling / epoch
        print(f"{label:14}{1e3 * epoch:7.1f} ms{1e3 * pooling:7.1f} ms{100 * share:6.1f} %")
    print(f"torch takes {best['torch'][0] / best['ndpool'][0]:.2f} times as long as ndpool\n")


if __name__ == "__main__":
    main()
