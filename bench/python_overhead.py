"""What a call costs that has next to nothing to pool, beside torch.

Every function that torch has too pools a 1x1x8x8 float32 array (1x1x8 or 1x1x4x4x4 for the other
ranks) on one thread: under no_grad, recorded, and as a training step (forward and backward).
ndpool and torch take turns, and the best round of each counts. Ends with 1 if ndpool takes longer
anywhere by more than 5 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from timing import Call, seconds_per_call

import ndpool
import ndpool.torch
from ndpool.torch import _calls, functional

SHAPES = {1: (1, 1, 8), 2: (1, 1, 8, 8), 3: (1, 1, 4, 4, 4)}


def arguments_of(name: str, x: torch.Tensor) -> tuple[Any, ...]:
    if name.startswith("max_unpool"):
        pool = getattr(torch.nn.functional, name.replace("unpool", "pool"))
        return (pool(x, 2, return_indices=True)[1], 2)
    return (2.0, 2) if name.startswith("lp") else (2,)


def calls_of(function: Callable[..., Any], name: str, kind: str) -> Call:
    x = torch.randn(SHAPES[int(name.partition("_with")[0][-2])])
    arguments = arguments_of(name, x)
    if name.startswith("max_unpool"):
        x = torch.randn_like(arguments[0], dtype=x.dtype)
    if kind == "no_grad":
        return lambda: function(x, *arguments)
    x.requires_grad_()
    if kind == "forward":
        return lambda: function(x, *arguments)
    result = function(x, *arguments)
    is_pair = isinstance(result, tuple)
    gradient = torch.ones_like(result[0] if is_pair else result)

    def step() -> None:
        y = function(x, *arguments)
        torch.autograd.backward(y[0] if is_pair else y, gradient)

    return step


def rows(kinds: list[str]) -> Iterator[tuple[str, str, Call, Call]]:
    array = np.random.default_rng(0).standard_normal((1, 1, 8, 8)).astype(np.float32)
    tensor = torch.from_numpy(array)
    max_pool2d = torch.nn.functional.max_pool2d
    if "no_grad" in kinds:
        yield (
            "numpy max_pool",
            "",
            lambda: ndpool.max_pool(array, (2, 2)),
            lambda: max_pool2d(tensor, 2),
        )
    names = [name for name in functional.__all__ if hasattr(torch.nn.functional, name)]
    for kind in kinds:
        for name in names:
            ours, theirs = getattr(functional, name), getattr(torch.nn.functional, name)
            yield name, kind, calls_of(ours, name, kind), calls_of(theirs, name, kind)


def best_of(ours: Call, theirs: Call, rounds: int, calls: int) -> tuple[float, float]:
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, call in enumerate((ours, theirs)):
            best[i] = min(best[i], seconds_per_call(call, calls))
    return best[0], best[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--calls", type=int, default=100, help="calls per round")
    parser.add_argument("--kinds", nargs="+", default=["no_grad", "forward", "step"])
    parser.add_argument("--filter", default="", help="only functions whose name has this in it")
    arguments = parser.parse_args()

    ndpool.set_threads(1)
    torch.set_num_threads(1)
    way = (
        "DLPack and Python's autograd" if _calls.native is None else "the extension for this torch"
    )
    print(f"microseconds per call; ndpool.torch by {way}")
    worst = 0.0
    for name, kind, ours, theirs in rows(arguments.kinds):
        if arguments.filter not in name:
            continue
        with torch.set_grad_enabled(kind in ("forward", "step")):
            a, b = best_of(ours, theirs, arguments.rounds, arguments.calls)
        worst = max(worst, a / b)
        print(f"{name:34}{kind:9}{a * 1e6:8.2f}  torch{b * 1e6:8.2f}  ndpool / torch = {a / b:.2f}")
    print(f"worst: {worst:.2f}")
    return 0 if worst <= 1.05 else 1


if __name__ == "__main__":
    sys.exit(main())
