"""torch's and ndpool's call of a drawn pool, compared and measured."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import torch
from distribution import Result
from drawn_pools import DTYPES, DrawnPool
from timing import Call, measure

import ndpool
import ndpool.torch.functional
from ndpool.torch import _handover

NUMPY_DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
# What one result rounds by, and one addition of those before it.
ROUNDING = {"f32": (2.0**-23, 2.0**-23), "f64": (2.0**-52, 2.0**-52), "bf16": (2.0**-8, 2.0**-23)}


class WrongResult(Exception):
    """ndpool and torch pool something else."""


class PoolPair:
    """Both libraries on the same tensors. Gradients are small integers: sums of them are exact."""

    def __init__(self, pool: DrawnPool) -> None:
        self.pool = pool
        generator = torch.Generator().manual_seed(0)
        self.x = pool.tensor()
        self.x.copy_(torch.randn(self.x.shape, generator=generator))
        self.arguments = pool.arguments()
        function = getattr(torch.nn.functional, pool.name)
        y = function(self.x, **self.arguments)
        y = y[0] if isinstance(y, tuple) else y
        self.gy = torch.empty_like(y).copy_(torch.randint(-4, 5, y.shape, generator=generator))

    def call(self, library: Any, x: torch.Tensor, gy: torch.Tensor) -> Call:
        function, arguments = getattr(library, self.pool.name), self.arguments
        if self.pool.map == "training":
            x = x.detach().requires_grad_()

            def step() -> tuple[torch.Tensor, torch.Tensor]:
                y = function(x, **arguments)
                return y, torch.autograd.grad(y, x, gy)[0]

            return step

        def forward() -> Any:
            with torch.no_grad():
                return function(x, **arguments)

        return forward

    def check(self, calls: dict[str, Call]) -> None:
        """Maxima, indices and their gradients are torch's; averages those of float64, rounded."""
        if self.pool.is_max:
            expected = tensors(calls["torch"]())
        else:
            exact = self.call(torch.nn.functional, self.x.double(), self.gy.double())
            expected = tensors(exact())
        for found, wanted, source in zip(
            tensors(calls["ndpool"]()), expected, (self.x, self.gy), strict=False
        ):
            wanted = wanted.to(torch.float64 if wanted.is_floating_point() else wanted.dtype)
            error = (found.to(wanted.dtype) - wanted).abs()
            if not bool((error <= self.tolerance(wanted, source)).all()):
                raise WrongResult(f"ndpool and torch differ by {error.max()}: {self.pool.line}")

    def tolerance(self, wanted: torch.Tensor, source: torch.Tensor) -> Any:
        if self.pool.is_max:
            return 0
        stored, added = ROUNDING[self.pool.dtype]
        additions = 2 + 2 * sum(math.log2(2 + size) for size in self.pool.shape[2:])
        return stored * wanted.abs() + added * additions * source.double().abs().max()

    def measure(self, seconds: float) -> Result:
        """Compares the results, then the times."""
        pool = self.pool
        torch.set_num_threads(pool.threads)
        ndpool.set_threads(pool.threads)
        libraries = {"ndpool": ndpool.torch.functional, "torch": torch.nn.functional}
        calls = {name: self.call(library, self.x, self.gy) for name, library in libraries.items()}
        self.check(calls)
        best = measure(calls, seconds)
        return Result(pool.line, pool.groups, best["ndpool"], best["torch"], self.runs())

    def runs(self) -> str:
        """What serves the call: implementations of ndpool, or torch by a rule."""
        pool, options = self.pool, dict(self.pool.options)
        operator = pool.name.removesuffix(f"_pool{pool.rank}d")
        size = options.pop("size", None) or options.pop("kernel")
        words = {"ceil": "ceil_mode", "count_padding": "count_include_pad"}
        named = {words.get(key, key): value for key, value in options.items()}
        named = {k: bool(v) if k in words.values() else v for k, v in named.items()}
        rule = self.rule(operator, size)
        if rule is not None:
            return f"torch, by the rule: {rule.name}"
        plan = ndpool.explain_plan(
            operator, self.x.shape, size, **named, dtype=NUMPY_DTYPES[pool.dtype],
            strides=[stride * DTYPES[pool.dtype].itemsize for stride in self.x.stride()],
        )  # fmt: skip
        found = plan.implementations
        if pool.map == "forward":
            return found["forward"]
        if pool.map == "indices":
            return found["forward_with_indices"]
        maps = ("forward_with_indices", "vjp_from_indices") if pool.is_max else ("forward", "vjp")
        return ", ".join(f"{found[map]} ({map})" for map in maps)

    def rule(self, operator: str, size: Any) -> Any:
        """The rule that hands the call to torch, or None."""
        factory = "adaptive" if operator.startswith("adaptive_") else "window"
        reducer = operator.removeprefix("adaptive_")
        case = _handover.Case(factory, reducer, size, self.pool.shape[2:], self.x)
        recorded = self.pool.map == "training"
        rules = (rule for rule in _handover.RULES if recorded or not rule.only_recorded)
        return next((rule for rule in rules if rule.holds(case)), None)


def tensors(result: Any) -> tuple[torch.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)
