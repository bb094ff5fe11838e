"""Calls that torch serves faster: their functions hand them to torch, which gives the same result.

One row per class of calls, with what was measured: torch's time over ndpool's, one thread, by
`bench/peers.py` on generated pools. A row goes when the kernels catch up; to measure them, set
`NDPOOL_TORCH_HANDOVER=0`, which leaves the rules out. A call is judged once, when it is first seen,
and remembered with the answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from ndpool.torch._maps import Pooling


class Case(NamedTuple):
    """A pool as the rules see it."""

    factory: str  # "window" or "adaptive"
    reducer: str
    size: tuple[int, ...]  # kernel or number of bins, by axis
    extents: tuple[int, ...]  # of the pooled axes of x
    x: Tensor


class Rule(NamedTuple):
    """A class of calls that torch serves, all of them or those that autograd records."""

    name: str
    reason: str
    holds: Callable[[Case], bool]
    only_recorded: bool = False


RULES: tuple[Rule, ...] = (
    Rule(
        "one-bin averages, recorded",
        "torch's gradient is a view of one element per plane; writing it out costs 3 to 9 times as"
        " much (0.11 to 0.30 in float32, float64 and bfloat16, 1-D to 3-D)",
        lambda case: case.factory == "adaptive" and case.reducer == "avg" and set(case.size) == {1},
        only_recorded=True,
    ),
    Rule(
        "adaptive maxima of rows, long bins",
        "0.14 (float64, 4x1x1162 to 6 bins, forward), 0.02 (bfloat16, 64x15027 to 7, training)",
        lambda case: (
            case.factory == "adaptive"
            and case.reducer == "max"
            and len(case.extents) == 1
            and case.extents[0] >= 128 * case.size[0]
        ),
    ),
)


if os.environ.get("NDPOOL_TORCH_HANDOVER") == "0":
    RULES = ()


def rule_of(pooling: Pooling, x: Tensor) -> Rule | None:
    """The rule by which torch serves a pool of tensors like x."""
    factory, (reducer, size, *_), _ = pooling.pool.__reduce__()[1]
    case = Case(factory, reducer, size, tuple(x.shape[-len(size) :]), x)
    return next((rule for rule in RULES if rule.holds(case)), None)
