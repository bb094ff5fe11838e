"""The maps of a pool on plain tensors: what a result looks like, and the call that writes it."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

from ndpool import _traits
from ndpool._core import Pool, Unpool, on_torch_threads
from ndpool._operators import _make


class Format(NamedTuple):
    """Where results keep the channels innermost in memory if x has them so, as torch's pools do.

    `rank` is the number of pooled axes; 0 stands for a function of any rank, which keeps the
    channels of arrays with 4 or 5 axes.
    """

    rank: int = 0
    results: bool = True
    gradients: bool = True

    def result_axis(self, x: Tensor) -> int:
        return channels_axis(x, self.rank) if self.results else 0

    def gradient_axis(self, x: Tensor) -> int:
        is_unbatched = self.rank == 3 and x.dim() == 4  # then it depends on the gradient of y
        return channels_axis(x, self.rank) if self.gradients and not is_unbatched else 0


ROW_MAJOR = Format(results=False, gradients=False)


class Pooling(NamedTuple):
    """A pool, and how its results lie in memory."""

    pool: Pool
    format: Format = Format()


@functools.lru_cache(maxsize=4096)
def text_of(pooling: Pooling) -> str:
    """A pooling as text, which is how an operator of torch can take it."""
    return json.dumps([*pooling.pool.__reduce__()[1], *pooling.format])


@functools.lru_cache(maxsize=4096)
def pool_of(text: str) -> Pooling:
    factory, arguments, options, *format = json.loads(text)
    return Pooling(_make(factory, arguments, options), Format(*format))


@functools.lru_cache(maxsize=4096)
def sum_like(pooling: Pooling) -> Pooling:
    """The sum over the windows of a pool."""
    return pooling._replace(pool=_traits.sum_like(pooling.pool))


def channels_axis(x: Tensor, rank: int = 0) -> int:
    """The axis of x, counted from the end, that torch keeps innermost; 0 for row-major results."""
    rank = rank or x.dim() - 2
    if x.is_contiguous():
        return 0
    if rank == 1 and x.dim() == 3:
        x = x.unsqueeze(-2)  # torch pools one axis as two
    elif rank == 3 and x.dim() == 4:
        return -4 if x.unsqueeze(0).is_contiguous(memory_format=torch.channels_last_3d) else 0
    elif x.dim() not in (4, 5) or x.dim() != rank + 2:
        return 0
    return 0 if suggest_memory_format(x) is torch.contiguous_format else -rank - 1


def strides_of(shape: Sequence[Any], innermost: int) -> tuple[Any, ...]:
    """Strides of a packed array whose axis `innermost`, counted from the end, comes last."""
    strides, stride = [0] * len(shape), 1
    inward = list(range(-1, -len(shape) - 1, -1))
    if innermost:
        inward.remove(innermost)
        inward.insert(0, innermost)
    for axis in inward:
        strides[axis] = stride
        stride = stride * (shape[axis] or 1)
    return tuple(strides)


def new_tensor(
    x: Tensor, shape: Sequence[Any], innermost: int, dtype: torch.dtype | None = None
) -> Tensor:
    return x.new_empty_strided(shape, strides_of(shape, innermost), dtype=dtype or x.dtype)


class Layout(NamedTuple):
    """How the result of a pool lies in memory, and what holds the winners."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    winners: torch.dtype


@functools.lru_cache(maxsize=4096)
def layout_of(pooling: Pooling, shape: torch.Size, strides: tuple[int, ...]) -> Layout:
    pool, format = pooling
    innermost = format.result_axis(torch.empty_strided(shape, strides, device="meta"))
    result = pool.output_shape(tuple(shape))
    return Layout(result, strides_of(result, innermost), winner_dtype(pool, tuple(shape)))


def winner_dtype(pool: Pool, shape: tuple[int, ...]) -> torch.dtype:
    """The smallest dtype that holds the number of any tap, and the mark of no winner."""
    return getattr(torch, _traits.winner_dtype(pool, shape))


def forward(x: Tensor, pooling: Pooling) -> Tensor:
    shape, strides, _ = layout_of(pooling, x.shape, x.stride())
    y = x.new_empty_strided(shape, strides)
    return on_torch_threads(pooling.pool.forward, resolved(x), y)


def forward_with_winners(x: Tensor, pooling: Pooling, flat: bool) -> tuple[Tensor, Tensor]:
    """y, and what the derivative needs: flat int64 indices, or the numbers of the winning taps."""
    shape, strides, taps = layout_of(pooling, x.shape, x.stride())
    winners = x.new_empty_strided(shape, strides, dtype=torch.int64 if flat else taps)
    y = x.new_empty_strided(shape, strides)
    return on_torch_threads(pooling.pool.forward, resolved(x), y, winners)


def vjp(x: Tensor, gy: Tensor, pooling: Pooling) -> Tensor:
    gx = new_tensor(x, x.shape, pooling.format.gradient_axis(x))
    return on_torch_threads(pooling.pool.vjp, resolved(x), resolved(gy), gx)


def jvp(x: Tensor, dx: Tensor, pooling: Pooling) -> Tensor:
    shape, strides, _ = layout_of(pooling, x.shape, x.stride())
    dy = x.new_empty_strided(shape, strides)
    return on_torch_threads(pooling.pool.jvp, resolved(x), resolved(dx), dy)


class Linear(NamedTuple):
    """A linear map between arrays like x and arrays like y, with all that it needs but winners.

    "pool" and "spread" are a sum or an average and its transpose, "gather" and "scatter" the
    derivative of a maximum and its transpose.
    """

    kind: str
    pool: Pool
    shape: tuple[int, ...]  # of x
    x_axis: int  # innermost in memory of arrays like x, counted from the end; 0: row-major
    y_axis: int

    @classmethod
    def at(cls, kind: str, pooling: Pooling, x: Tensor) -> Linear:
        pool, format = pooling
        return cls(kind, pool, tuple(x.shape), format.gradient_axis(x), format.result_axis(x))

    @property
    def transposed(self) -> Linear:
        return self._replace(kind=_transposed[self.kind])

    def batched(self, size: int) -> Linear:
        """The same for many arrays, along a new first axis."""
        return self._replace(shape=(size, *self.shape), x_axis=0, y_axis=0)


@functools.lru_cache(maxsize=4096)
def _linear_layout(linear: Linear) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of the result."""
    if linear.kind in ("pool", "gather"):
        shape = linear.pool.output_shape(linear.shape)
        return shape, strides_of(shape, linear.y_axis)
    return linear.shape, strides_of(linear.shape, linear.x_axis)


_transposed = {"pool": "spread", "spread": "pool", "gather": "scatter", "scatter": "gather"}


def apply_linear(x: Tensor, winners: Tensor | None, linear: Linear) -> Tensor:
    out = x.new_empty_strided(*_linear_layout(linear))
    kind, pool, shape, *_ = linear
    x = resolved(x)
    if kind == "pool":
        return on_torch_threads(pool.forward, x, out)
    if kind == "spread":
        return on_torch_threads(pool.vjp, shape, x, out)
    if kind == "gather":
        return on_torch_threads(pool.jvp_from_indices, winners, x, out)
    return on_torch_threads(pool.vjp_from_indices, winners, x, out)


@functools.lru_cache(maxsize=1024)
def unpool_of(size: tuple[int, ...]) -> Unpool:
    return Unpool(size)


def unpool(y: Tensor, indices: Tensor, size: tuple[int, ...]) -> Tensor:
    x = new_unpooled(y, size)
    return on_torch_threads(unpool_of(size).forward, resolved(y), indices, x)


def new_unpooled(y: Tensor, size: Sequence[Any]) -> Tensor:
    innermost = channels_axis(y, 2) if len(size) == 2 else 0  # other ranks are row-major in torch
    return new_tensor(y, (*y.shape[: y.dim() - len(size)], *size), innermost)


def resolved(x: Tensor) -> Tensor:
    """Views that torch negates as it reads them, and zeros without memory, as arrays."""
    if x._is_zerotensor():
        return torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    return x.resolve_neg() if x.is_neg() else x
