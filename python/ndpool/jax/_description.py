"""Pools as handlers of XLA and rules of JAX need them: as attributes, with their axes by number."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy

from ndpool._core import Pool, Unpool
from ndpool._operators import _make

# Enumerators of the C interface in their order: a word is passed as its place in the list.
_GEOMETRIES = ("window", "adaptive", "global_")
_REDUCERS = ("max", "min", "sum", "avg", "smooth_max", "lp")
_PADDING_RULES = ("given", "same", "same_lower", "valid")
_CHOICES = {
    "ties": (None, "first", "all", "split"),
    "nan": ("propagate", "ignore"),
    "empty": ("error", "identity"),
    "rounding": ("half_even", "toward_zero", "floor", "half_away"),
    "pad_mode": ("zero", "ignore"),
}
# Where a factory takes its axes.
_AXES_PLACE = {"window": 5, "adaptive": 2, "global_": 1, "Unpool": 1}


def _lists(**values: Sequence[int] | None) -> dict[str, Any]:
    """Lists that are not at their default, which is empty."""
    return {name: numpy.array(value, numpy.int64) for name, value in values.items() if value}


def _window(
    kernel: Any, stride: Any, padding: Any, dilation: Any, axes: Any, ceil_mode: Any
) -> dict[str, Any]:
    fields = _lists(kernel=kernel, stride=stride, dilation=dilation, axes=axes)
    fields["ceil_mode"] = numpy.int32(ceil_mode)
    if isinstance(padding, str):
        fields["padding_rule"] = numpy.int32(_PADDING_RULES.index(padding))
        return fields
    before, after = ([pair[side] for pair in padding] for side in (0, 1))
    return fields | _lists(padding_before=before, padding_after=after)


def _option(name: str, value: Any) -> dict[str, Any]:
    """An option of a reducer as a field of the C interface; none if it is at its default."""
    if name in _CHOICES:
        return {name: numpy.int32(_CHOICES[name].index(value))}
    if name == "count_include_pad":
        return {"exclude_padding": numpy.int32(not value)}
    if name == "divisor":
        return {} if value is None else {name: numpy.int64(value)}
    return {name: numpy.float64(value)}  # beta, p


@functools.lru_cache(maxsize=4096)
def attributes_of(pool: Pool | Unpool) -> dict[str, Any]:
    """The attributes of a call of XLA, by the names of the fields of `ndpool_pool`."""
    factory, arguments, options = pool.__reduce__()[1]
    if factory == "Unpool":
        output_size, axes = arguments
        return _lists(output_size=output_size, axes=axes)
    reducer, *rest = arguments
    if factory == "window":
        fields = _window(*rest)
    elif factory == "adaptive":
        fields = _lists(output_size=rest[0], axes=rest[1])
    else:
        fields = _lists(axes=rest[0]) | {"keepdims": numpy.int32(rest[1])}
    fields["geometry"] = numpy.int32(_GEOMETRIES.index(factory))
    fields["reducer"] = numpy.int32(_REDUCERS.index(reducer))
    for name, value in options.items():
        fields |= _option(name, value)
    return fields


def _with_axes(pool: Pool | Unpool, axes: tuple[int, ...]) -> Any:
    factory, arguments, options = pool.__reduce__()[1]
    place = _AXES_PLACE[factory]
    return _make(factory, (*arguments[:place], axes, *arguments[place + 1 :]), options)


def axes_of(pool: Pool | Unpool) -> tuple[int, ...]:
    """The axes of a pool that names them."""
    factory, arguments, _ = pool.__reduce__()[1]
    return arguments[_AXES_PLACE[factory]]


@functools.lru_cache(maxsize=4096)
def pinned(pool: Pool | Unpool, rank: int) -> Any:
    """The same pool of arrays of this rank, with its axes counted from the front."""
    factory, arguments, _ = pool.__reduce__()[1]
    axes = axes_of(pool)
    if axes is None:
        lengths = arguments[0 if factory == "Unpool" else 1]
        count = rank if factory == "global_" else len(lengths)
        axes = range(rank - count, rank)
    return _with_axes(pool, tuple(axis % rank for axis in axes))


def _drops_axes(pool: Pool | Unpool) -> bool:
    factory, arguments, _ = pool.__reduce__()[1]
    return factory == "global_" and not arguments[2]


def output_axis(pool: Pool | Unpool, axis: int) -> int:
    """Where an axis that is not pooled lies in the result."""
    return axis - sum(pooled < axis for pooled in axes_of(pool)) if _drops_axes(pool) else axis


def input_axis(pool: Pool | Unpool, axis: int) -> int:
    """Where a new axis of the input goes, so that it is this one of the result."""
    found = axis
    while output_axis(pool, found) < axis:
        found += 1
    return found


@functools.lru_cache(maxsize=4096)
def batched(pool: Pool | Unpool, axis: int) -> Any:
    """The same pool of arrays with one axis more, at `axis`."""
    return _with_axes(pool, tuple(pooled + (pooled >= axis) for pooled in axes_of(pool)))


@functools.lru_cache(maxsize=4096)
def require_plan(pool: Pool, shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> None:
    """Raises what the library says of a pool that does not fit such arrays."""
    try:
        pool.explain(shape, dtype)
    except TypeError as error:
        raise TypeError(f"x has {str(error).removeprefix('dtype has ')}") from None
