"""A model that knows nothing of ndpool, run on torch's pools and then, by one call, on ndpool's.

Prints how far outputs and gradients differ, and what the change makes of the time of the model and
of its pools alone, forward and backward.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ndpool.torch


class Network(nn.Module):
    """A stem as in ResNet, stages as in VGG, and a transition as in DenseNet."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, stride=2, padding=3)
        self.first = nn.MaxPool2d(3, stride=2, padding=1)
        self.stages = nn.Sequential(
            nn.Conv2d(64, 64, 1), nn.MaxPool2d(3, stride=1, padding=1),
            nn.Conv2d(64, 64, 1), nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 1), nn.AvgPool2d(3, stride=1, padding=1), nn.AvgPool2d(2),
        )  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stages(self.first(torch.relu(self.stem(x))))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Pools(nn.Module):
    """The pools of the network, without the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.MaxPool2d(3, stride=2, padding=1), nn.MaxPool2d(3, stride=1, padding=1),
            nn.MaxPool2d(2), nn.AvgPool2d(3, stride=1, padding=1), nn.AvgPool2d(2),
            nn.AdaptiveAvgPool2d(1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def step(model: nn.Module, x: Tensor) -> list[Tensor]:
    """Outputs and gradients."""
    x = x.detach().requires_grad_()
    y = model(x)
    return [y.detach(), *torch.autograd.grad(y.square().sum(), [x, *model.parameters()])]


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def difference(actual: list[Tensor], expected: list[Tensor]) -> float:
    """The largest error of a tensor, relative to its largest element."""
    return max(((a - e).abs().max() / e.abs().max()).item() for a, e in zip(actual, expected))


def compare(name: str, model: nn.Module, x: Tensor, rounds: int) -> None:
    expected = step(model, x)
    with ndpool.torch.install():
        actual = step(model, x)
    best_torch = best_ndpool = float("inf")
    for _ in range(rounds):  # in turns, so that a busy machine slows both
        best_torch = min(best_torch, seconds(lambda: step(model, x)))
        with ndpool.torch.install():
            best_ndpool = min(best_ndpool, seconds(lambda: step(model, x)))
    print(
        f"{name:24} torch {best_torch * 1e3:8.2f} ms   ndpool {best_ndpool * 1e3:8.2f} ms   "
        f"speed-up {best_torch / best_ndpool:5.2f}   "
        f"largest difference {difference(actual, expected):.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(arguments.threads)
    image = torch.randn(arguments.batch, 3, arguments.size, arguments.size)
    features = torch.randn(arguments.batch, 64, arguments.size // 2, arguments.size // 2)
    for layout in (torch.contiguous_format, torch.channels_last):
        name = "channels last" if layout is torch.channels_last else "channels first"
        network = Network().to(memory_format=layout)
        compare(f"model, {name}", network, image.to(memory_format=layout), arguments.rounds)
        compare(f"pools, {name}", Pools(), features.to(memory_format=layout), arguments.rounds)


if __name__ == "__main__":
    main()
