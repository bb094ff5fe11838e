"""The public functions: those of ndpool, of JAX arrays."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from ndpool import _operators
from ndpool._core import Unpool
from ndpool.jax import _derivatives as _derivatives
from ndpool.jax import _maps
from ndpool.jax._description import axes_of, pinned, require_plan


def _index_dtype(pool: Any, shape: tuple[int, ...]) -> Any:
    """That of flat indices: int64, or int32 without JAX's 64-bit mode."""
    dtype = jax.dtypes.canonicalize_dtype(numpy.int64)
    count = math.prod(shape[axis] for axis in axes_of(pool))
    if count - 1 > numpy.iinfo(dtype).max:
        raise ValueError(f"indices over {count} cells do not fit {dtype}; enable jax_enable_x64")
    return dtype


def _array(x: Any, name: str) -> Any:
    x = jnp.asarray(x)
    _maps.require_known(x.shape)
    if jnp.issubdtype(x.dtype, jax.dtypes.extended):
        raise TypeError(f"{name} has dtype {x.dtype}, which ndpool does not pool")
    return x


def apply(pool: Any, x: Any, return_indices: bool = False) -> Any:
    """y = R(x), or the pair (y, indices)."""
    x = _array(x, "x")
    pool.output_shape(x.shape)  # raises what is wrong with the axes, before they are counted
    pool = pinned(pool, x.ndim)
    require_plan(pool, x.shape, x.dtype)
    if not return_indices:
        return _maps.forward(x, pool=pool)
    index_dtype = _index_dtype(pool, x.shape)
    return tuple(_maps.forward_with_indices(x, pool=pool, index_dtype=index_dtype))


def function_of(name: str) -> Callable[..., Any]:
    """The function of the operator that ndpool has under this name, with the same arguments."""
    describe = _operators.description(name)
    parameters = list(inspect.signature(describe).parameters.values())
    has_winners = any(parameter.name == "nan" for parameter in parameters)

    def plain(x: Any, *args: Any, **options: Any) -> Any:
        return apply(describe(*args, **options), x)

    def with_indices(x: Any, *args: Any, return_indices: bool = False, **options: Any) -> Any:
        return apply(describe(*args, **options), x, _operators.flag(return_indices))

    parameters.insert(0, _operators._parameter("x", "jax.Array"))
    if has_winners:
        parameters.append(_operators._parameter("return_indices", "bool", False))
    doc, _, _ = inspect.cleandoc(describe.__doc__ or "").partition("\n\n>>>")
    function = with_indices if has_winners else plain
    _operators.finish(function, name, doc, parameters, "Any")
    function.__module__ = "ndpool.jax"
    return function


def max_unpool(y: Any, indices: Any, output_size: Any, *, axes: Any = None) -> Any:
    """The way back from a max pool with its indices: `y` at the elements they name, 0 elsewhere.

    Of several values for one element the last stays, and it alone gets the gradient.
    """
    y, indices = _array(y, "y"), _array(indices, "indices")
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise TypeError(f"indices have dtype {indices.dtype}; expected integers")
    if indices.shape != y.shape:
        raise ValueError(f"indices have shape {indices.shape}; expected {y.shape}, that of y")
    unpool = Unpool(output_size, axes)
    result = unpool.output_shape(y.shape)
    unpool = pinned(unpool, y.ndim)
    dtype = _index_dtype(unpool, result)
    return _maps.unpool(indices.astype(dtype), y, pool=unpool)


max_unpool.__module__ = "ndpool.jax"
