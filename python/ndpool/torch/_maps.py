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


_channel_at_end = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def at_end(x: Tensor) -> Tensor:
    """A view of a tensor that has its channels last in memory with that axis last."""
    return x.permute(_channel_at_end[x.dim()])


@functools.lru_cache(maxsize=4096)
def pool_at_end(pool: Pool, rank: int) -> Pool | None:
    """The pool of such views: ndpool wants the axis that is contiguous to be the last one.

    None where that would change the result: it pools channels, or drops axes.
    """
    factory, arguments, options = pool.__reduce__()[1]
    if factory == "global_" and not arguments[2]:
        return None
    place = {"window": 5, "adaptive": 2, "global_": 1}[factory]
    axes = arguments[place] or range(rank - len(arguments[1]), rank)
    axes = [axis % rank for axis in axes]
    if 1 in axes:
        return None
    moved = tuple(axis - 1 if axis > 1 else axis for axis in axes)
    return _make(factory, (*arguments[:place], moved, *arguments[place + 1 :]), options)


class Layout(NamedTuple):
    """How the result of a pool lies in memory, what holds the winners, and the pool of views."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    winners: torch.dtype
    at_end: Pool | None


@functools.lru_cache(maxsize=4096)
def layout_of(pool: Pool, shape: torch.Size, strides: tuple[int, ...]) -> Layout:
    x = torch.empty_strided(shape, strides, device="meta")
    channels_last = is_channels_last(x)
    y = new_tensor(x, pool.output_shape(tuple(shape)), channels_last)
    moved = pool_at_end(pool, x.dim()) if channels_last else None
    return Layout(tuple(y.shape), y.stride(), winner_dtype(pool, tuple(shape)), moved)


def winner_dtype(pool: Pool, shape: tuple[int, ...]) -> torch.dtype:
    """The smallest dtype that holds the number of any tap, and the mark of no winner."""
    taps = pool.tap_count(shape)
    if taps <= 0xFF:
        return torch.uint8
    return torch.uint16 if taps <= 0xFFFF else torch.uint32


def forward(x: Tensor, pool: Pool) -> Tensor:
    shape, strides, _, moved = layout_of(pool, x.shape, x.stride())
    x, y = resolved(x), x.new_empty_strided(shape, strides)
    if moved is None:
        return pool.forward(x, y)
    moved.forward(at_end(x), at_end(y))
    return y


def forward_with_winners(x: Tensor, pool: Pool, flat: bool) -> tuple[Tensor, Tensor]:
    """y, and what the derivative needs: flat int64 indices, or the numbers of the winning taps."""
    shape, strides, taps, moved = layout_of(pool, x.shape, x.stride())
    x, y = resolved(x), x.new_empty_strided(shape, strides)
    winners = x.new_empty_strided(shape, strides, dtype=torch.int64 if flat else taps)
    if moved is None:
        return pool.forward(x, y, winners)
    moved.forward(at_end(x), at_end(y), at_end(winners))
    return y, winners


def vjp(x: Tensor, gy: Tensor, pool: Pool) -> Tensor:
    moved = layout_of(pool, x.shape, x.stride()).at_end
    gx = new_tensor(x, x.shape, is_channels_last(x))
    x, gy = resolved(x), resolved(gy)
    if moved is None:
        return pool.vjp(x, gy, gx)
    moved.vjp(at_end(x), at_end(gy), at_end(gx))
    return gx


def jvp(x: Tensor, dx: Tensor, pool: Pool) -> Tensor:
    shape, strides, _, moved = layout_of(pool, x.shape, x.stride())
    dy = x.new_empty_strided(shape, strides)
    x, dx = resolved(x), resolved(dx)
    if moved is None:
        return pool.jvp(x, dx, dy)
    moved.jvp(at_end(x), at_end(dx), at_end(dy))
    return dy


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
def _linear_layout(linear: Linear) -> tuple[tuple[int, ...], tuple[int, ...], Linear | None]:
    """Shape and strides of the result, and the same map of views with the channels at the end."""
    is_downward = linear.kind in ("pool", "gather")
    shape = linear.pool.output_shape(linear.shape) if is_downward else linear.shape
    nothing = torch.empty(0, device="meta")
    strides = new_tensor(nothing, shape, linear.channels_last).stride()
    moved = pool_at_end(linear.pool, len(linear.shape)) if linear.channels_last else None
    if moved is None:
        return shape, strides, None
    moved_shape = tuple(linear.shape[axis] for axis in _channel_at_end[len(shape)])
    return shape, strides, Linear(linear.kind, moved, moved_shape, False)


_transposed = {"pool": "spread", "spread": "pool", "gather": "scatter", "scatter": "gather"}


def apply_linear(x: Tensor, winners: Tensor | None, linear: Linear) -> Tensor:
    shape, strides, moved = _linear_layout(linear)
    out = x.new_empty_strided(shape, strides)
    x = resolved(x)
    if moved is None:
        return _write_linear(x, winners, linear, out)
    _write_linear(at_end(x), winners if winners is None else at_end(winners), moved, at_end(out))
    return out


def _write_linear(x: Tensor, winners: Tensor | None, linear: Linear, out: Tensor) -> Tensor:
    kind, pool, shape, _ = linear
    if kind == "pool":
        return pool.forward(x, out)
    if kind == "spread":
        return pool.vjp(shape, x, out)
    if kind == "gather":
        return pool.jvp_from_indices(winners, x, out)
    return pool.vjp_from_indices(winners, x, out)


@functools.lru_cache(maxsize=1024)
def unpool_of(size: tuple[int, ...], axes: tuple[int, ...] | None = None) -> Unpool:
    return Unpool(size, axes)


def unpool(y: Tensor, indices: Tensor, size: tuple[int, ...]) -> Tensor:
    shape = (*y.shape[: y.dim() - len(size)], *size)
    channels_last = is_channels_last(y) and y.dim() == len(size) + 2
    out, y = new_tensor(y, shape, channels_last), resolved(y)
    if not channels_last:
        return unpool_of(size).forward(y, indices, out)
    axes = tuple(range(1, len(size) + 1))
    unpool_of(size, axes).forward(at_end(y), at_end(indices), at_end(out))
    return out


def resolved(x: Tensor) -> Tensor:
    """A view that torch negates as it reads is made an array: memory does not show the sign."""
    return x.resolve_neg() if x.is_neg() else x
