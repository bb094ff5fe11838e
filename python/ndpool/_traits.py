"""What the derivative of a pool is made of."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ndpool._core import Pool
from ndpool._operators import _make


class Traits(NamedTuple):
    """What the derivative of a pool is made of."""

    reducer: str
    kind: str  # "linear": the same at every x; "extreme": from the winners; "curved": from x
    options: dict[str, Any]


@functools.lru_cache(maxsize=4096)
def traits_of(pool: Pool) -> Traits:
    factory, (reducer, *_), options = pool.__reduce__()[1]
    if reducer in ("sum", "avg"):
        return Traits(reducer, "linear", options)
    ties = options.get("ties") or ("all" if factory == "global_" else "first")
    is_extreme = reducer in ("max", "min") and ties == "first"
    return Traits(reducer, "extreme" if is_extreme else "curved", options)


@functools.lru_cache(maxsize=4096)
def sum_like(pool: Pool) -> Any:
    """The sum over the windows of a pool."""
    factory, (_, *arguments), _ = pool.__reduce__()[1]
    return _make(factory, ("sum", *arguments), {})


def winner_dtype(pool: Pool, shape: tuple[int, ...]) -> str:
    """The smallest dtype that holds the number of any tap, and the mark of no winner."""
    taps = pool.tap_count(shape)
    if taps <= 0xFF:
        return "uint8"
    return "uint16" if taps <= 0xFFFF else "uint32"
