"""The maps of a pool on plain tensors: what a result looks like, and the call that writes it."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

from ndpool._core import Pool, Unpool
from ndpool._operators import _make


@functools.lru_cache(maxsize=4096)
def text_of(pool: Pool) -> str:
    """A pool as text, which is how an operator of torch can take it."""
    return json.dumps(pool.__reduce__()[1])


@functools.lru_cache(maxsize=4096)
def pool_of(text: str) -> Pool:
    factory, arguments, options = json.loads(text)
    return _make(factory, arguments, options)


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
def sum_like(pool: Pool) -> Pool:
    """The sum over the windows of a pool."""
    factory, (_, *arguments), _ = pool.__reduce__()[1]
    return _make(factory, ("sum", *arguments), {})


def is_channels_last(x: Tensor) -> bool:
    """True where torch's own pools would write channels last."""
    if x.dim() not in (4, 5) or x.is_contiguous():
        return False
    return suggest_memory_format(x) is not torch.contiguous_format


def new_tensor(
    x: Tensor, shape: Sequence[int], channels_last: bool, dtype: torch.dtype | None = None
) -> Tensor:
    memory_format = torch.contiguous_format
    if channels_last and len(shape) in (4, 5):
        memory_format = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    return torch.empty(shape, dtype=dtype or x.dtype, device=x.device, memory_format=memory_format)


class Layout(NamedTuple):
    """How the result of a pool lies in memory, and what holds the winners."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    winners: torch.dtype


@functools.lru_cache(maxsize=4096)
def layout_of(pool: Pool, shape: torch.Size, strides: tuple[int, ...]) -> Layout:
    x = torch.empty_strided(shape, strides, device="meta")
    y = new_tensor(x, pool.output_shape(tuple(shape)), is_channels_last(x))
    return Layout(tuple(y.shape), y.stride(), winner_dtype(pool, tuple(shape)))


def winner_dtype(pool: Pool, shape: tuple[int, ...]) -> torch.dtype:
    """The smallest dtype that holds the number of any tap, and the mark of no winner."""
    taps = pool.tap_count(shape)
    if taps <= 0xFF:
        return torch.uint8
    return torch.uint16 if taps <= 0xFFFF else torch.uint32


def forward(x: Tensor, pool: Pool) -> Tensor:
    shape, strides, _ = layout_of(pool, x.shape, x.stride())
    return pool.forward(resolved(x), x.new_empty_strided(shape, strides))


def forward_with_winners(x: Tensor, pool: Pool, flat: bool) -> tuple[Tensor, Tensor]:
    """y, and what the derivative needs: flat int64 indices, or the numbers of the winning taps."""
    shape, strides, taps = layout_of(pool, x.shape, x.stride())
    winners = x.new_empty_strided(shape, strides, dtype=torch.int64 if flat else taps)
    return pool.forward(resolved(x), x.new_empty_strided(shape, strides), winners)


def vjp(x: Tensor, gy: Tensor, pool: Pool) -> Tensor:
    gx = new_tensor(x, x.shape, is_channels_last(x))
    return pool.vjp(resolved(x), resolved(gy), gx)


def jvp(x: Tensor, dx: Tensor, pool: Pool) -> Tensor:
    shape, strides, _ = layout_of(pool, x.shape, x.stride())
    return pool.jvp(resolved(x), resolved(dx), x.new_empty_strided(shape, strides))


class Linear(NamedTuple):
    """A linear map between arrays like x and arrays like y, with all that it needs but winners.

    "pool" and "spread" are a sum or an average and its transpose, "gather" and "scatter" the
    derivative of a maximum and its transpose.
    """

    kind: str
    pool: Pool
    shape: tuple[int, ...]  # of x
    channels_last: bool  # of x

    @classmethod
    def at(cls, kind: str, pool: Pool, x: Tensor) -> Linear:
        return cls(kind, pool, tuple(x.shape), is_channels_last(x))

    @property
    def transposed(self) -> Linear:
        return self._replace(kind=_transposed[self.kind])

    def batched(self, size: int) -> Linear:
        """The same for many arrays, along a new first axis."""
        return self._replace(shape=(size, *self.shape), channels_last=False)


@functools.lru_cache(maxsize=4096)
def _linear_layout(linear: Linear) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of the result."""
    is_downward = linear.kind in ("pool", "gather")
    shape = linear.pool.output_shape(linear.shape) if is_downward else linear.shape
    nothing = torch.empty(0, device="meta")
    return shape, new_tensor(nothing, shape, linear.channels_last).stride()


_transposed = {"pool": "spread", "spread": "pool", "gather": "scatter", "scatter": "gather"}


def apply_linear(x: Tensor, winners: Tensor | None, linear: Linear) -> Tensor:
    out = x.new_empty_strided(*_linear_layout(linear))
    kind, pool, shape, _ = linear
    x = resolved(x)
    if kind == "pool":
        return pool.forward(x, out)
    if kind == "spread":
        return pool.vjp(shape, x, out)
    if kind == "gather":
        return pool.jvp_from_indices(winners, x, out)
    return pool.vjp_from_indices(winners, x, out)


@functools.lru_cache(maxsize=1024)
def unpool_of(size: tuple[int, ...]) -> Unpool:
    return Unpool(size)


def unpool(y: Tensor, indices: Tensor, size: tuple[int, ...]) -> Tensor:
    shape = (*y.shape[: y.dim() - len(size)], *size)
    channels_last = is_channels_last(y) and y.dim() == len(size) + 2
    return unpool_of(size).forward(resolved(y), indices, new_tensor(y, shape, channels_last))


def resolved(x: Tensor) -> Tensor:
    """A view that torch negates as it reads is made an array: memory does not show the sign."""
    return x.resolve_neg() if x.is_neg() else x
