"""The public functions, each made of the description that the eager function is made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ndpool import _operators
from ndpool.dask import _collections
from ndpool.dask._maps import PoolGraph

_chunks = inspect.Parameter(
    "chunks", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any"
)


def _function(name: str) -> Any:
    """The lazy function beside `ndpool.NAME`."""
    describe = _operators.description(name)
    eager = getattr(_operators, name)
    has_winners = "nan" in inspect.signature(describe).parameters

    def graph(x: Any, args: Any, options: Any, derivative: bool = False) -> PoolGraph:
        x = _collections.known_array(x, "x")
        return PoolGraph(name, describe(*args, **options), x, x.dtype, derivative)

    def forward(x: Any, *args: Any, chunks: Any = None, **options: Any) -> Any:
        with_indices = has_winners and _operators.flag(options.pop("return_indices", False))
        made = graph(x, args, options)
        return made.forward_with_indices(chunks) if with_indices else made.forward(chunks)

    def jvp(x: Any, dx: Any, *args: Any, chunks: Any = None, **options: Any) -> Any:
        indices = options.pop("indices", None) if has_winners else None
        dx = _collections.known_array(dx, "dx", getattr(x, "chunks", None))
        if indices is None:
            made = graph(x, args, options, True)
            _require_dtype(dx, "dx", made.dtype)
            return graph(x, args, options).forward(chunks), made.jvp(dx, chunks)
        shape = x if isinstance(x, tuple) else _collections.known_array(x, "x", dx.chunks)
        made = PoolGraph(name, describe(*args, **options), shape, dx.dtype, True)
        winners = _collections.known_array(indices, "indices")
        y = None if isinstance(x, tuple) else graph(shape, args, options).forward(chunks)
        return y, made.jvp_by_indices(winners, dx, chunks)

    def vjp(x: Any, gy: Any, *args: Any, chunks: Any = None, **options: Any) -> Any:
        indices = options.pop("indices", None) if has_winners else None
        gy = _collections.known_array(gy, "gy")
        shape: Any = x if isinstance(x, tuple) else _collections.known_array(x, "x")
        pool = describe(*args, **options)
        if isinstance(x, tuple) and indices is None and not pool.is_linear():
            raise TypeError("x must be an array: only of sums and averages is its shape enough")
        made = PoolGraph(name, pool, shape, gy.dtype, True)
        if indices is not None:
            return made.vjp_by_indices(_collections.known_array(indices, "indices"), gy, chunks)
        if not isinstance(x, tuple):
            _require_dtype(gy, "gy", shape.dtype)
        return made.vjp(gy, chunks)

    def beta_derivative(x: Any, *args: Any, chunks: Any = None, **options: Any) -> Any:
        return graph(x, args, options, True).beta_derivative(chunks)

    public = _public(forward, eager, name)
    for kind, function in (("jvp", jvp), ("vjp", vjp), ("beta_derivative", beta_derivative)):
        if hasattr(eager, kind):
            setattr(public, kind, _public(function, getattr(eager, kind), f"{name}.{kind}"))
    return public


def _require_dtype(array: Any, name: str, dtype: Any) -> None:
    if array.dtype != dtype:
        raise TypeError(f"{name} has dtype {array.dtype}; expected {dtype}, that of x")


def _public(function: Callable[..., Any], eager: Any, name: str) -> Any:
    """Gives a function its name, and the signature of the eager one with chunks in place of out."""
    parameters = [p for p in inspect.signature(eager).parameters.values() if p.name != "out"]
    doc = f"`ndpool.{name}` on arrays of Dask, lazily; `chunks` are those of the result.\n\n"
    made = _operators.finish(
        function, name, doc + (eager.__doc__ or ""), [*parameters, _chunks], "Any"
    )
    made.__module__ = "ndpool.dask"
    return made


max_pool = _function("max_pool")
min_pool = _function("min_pool")
sum_pool = _function("sum_pool")
avg_pool = _function("avg_pool")
smooth_max_pool = _function("smooth_max_pool")
lp_pool = _function("lp_pool")
adaptive_max_pool = _function("adaptive_max_pool")
adaptive_min_pool = _function("adaptive_min_pool")
adaptive_sum_pool = _function("adaptive_sum_pool")
adaptive_avg_pool = _function("adaptive_avg_pool")
adaptive_smooth_max_pool = _function("adaptive_smooth_max_pool")
adaptive_lp_pool = _function("adaptive_lp_pool")
global_max_pool = _function("global_max_pool")
global_min_pool = _function("global_min_pool")
global_sum_pool = _function("global_sum_pool")
global_avg_pool = _function("global_avg_pool")
global_smooth_max_pool = _function("global_smooth_max_pool")
global_lp_pool = _function("global_lp_pool")
