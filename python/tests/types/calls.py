"""Calls whose types `test_types.py` has checked; nothing here runs."""

from typing import Any, assert_type

import numpy
from numpy.typing import NDArray

import ndpool

Floats = NDArray[numpy.float32]
Indices = NDArray[numpy.int64]


def values(x: Floats, ints: NDArray[numpy.uint8], flag: bool) -> None:
    assert_type(ndpool.max_pool(x, (2, 2)), Floats)
    assert_type(ndpool.min_pool(ints, 2, axes=(0,), padding="same"), NDArray[numpy.uint8])
    assert_type(ndpool.avg_pool(x, (2, 2), padding=((1, 0), 1), rounding="floor"), Floats)
    assert_type(ndpool.lp_pool(x, 2.5, (2, 2), 1), Floats)
    assert_type(ndpool.smooth_max_pool(x, (2,), beta=2, pad_mode="ignore"), Floats)
    assert_type(ndpool.adaptive_sum_pool(x, (2, 2)), Floats)
    assert_type(ndpool.global_max_pool(x, axes=(1,), keepdims=True, ties="split"), Floats)
    assert_type(ndpool.sum_pool([1.0, 2.0], (2,)), NDArray[Any])
    assert_type(ndpool.global_lp_pool([[1, 2], [3, 4]], 2), NDArray[Any])
    assert_type(ndpool.max_pool(x, (2, 2), return_indices=False), Floats)
    assert_type(ndpool.max_pool(x, (2, 2), return_indices=True), tuple[Floats, Indices])
    assert_type(ndpool.global_min_pool(x, return_indices=True), tuple[Floats, Indices])
    assert_type(
        ndpool.adaptive_max_pool([1], (1,), return_indices=True), tuple[NDArray[Any], Indices]
    )
    assert_type(ndpool.max_pool(x, (2, 2), return_indices=flag), Floats | tuple[Floats, Indices])
    assert_type(ndpool.max_pool(x, (2, 2), out=x), Floats)
    assert_type(ndpool.max_pool([1.0], (1,), out=x, return_indices=True), tuple[Floats, Indices])
    y, indices = ndpool.max_pool(x, (2, 2), return_indices=True)
    assert_type(ndpool.max_unpool(y, indices, (4, 4)), Floats)
    assert_type(ndpool.output_shape("max", (4, 4), (2, 2)), tuple[int, ...])
    plan = ndpool.explain_plan("max", x.shape, (2, 2), dtype=x.dtype, strides=x.strides)
    assert_type(plan, ndpool.PlanSummary)
    assert_type(plan.implementations, dict[str, str])
    assert_type(plan.tiles["forward"], int)
    assert_type(ndpool.get_threads(), int)
    assert_type(ndpool.targets(), list[str])
    ndpool.set_executor("own")
    ndpool.set_executor(ndpool.get_executor())


def derivatives(x: Floats, indices: Indices) -> None:
    assert_type(ndpool.max_pool.jvp(x, x, (2, 2)), tuple[Floats, Floats])
    assert_type(ndpool.max_pool.vjp(x, x, (2, 2), ties="all"), Floats)
    assert_type(ndpool.max_pool.jvp((4, 4), x, (2, 2), indices=indices), tuple[None, Floats])
    assert_type(ndpool.max_pool.vjp((4, 4), x, (2, 2), indices=indices), Floats)
    assert_type(ndpool.max_pool.vjp(x, x, (2, 2), indices=indices), Floats)
    assert_type(ndpool.avg_pool.vjp(x, x, (2, 2), out=x), Floats)
    assert_type(ndpool.lp_pool.jvp([1.0], [1.0], 2, (1,)), tuple[NDArray[Any], NDArray[Any]])
    assert_type(ndpool.smooth_max_pool.beta_derivative(x, (2, 2), beta=3.0), Floats)
    assert_type(ndpool.max_unpool.jvp(x, x, indices, (4, 4)), tuple[Floats, Floats])
    assert_type(ndpool.max_unpool.vjp(x, x, indices, (4, 4)), Floats)


def wrong_calls(x: Floats) -> None:
    """Each of these is an error: an ignored line without one is an error too."""
    ndpool.max_pool(x)  # type: ignore
    ndpool.max_pool(x, 2.5)  # type: ignore
    ndpool.max_pool(x, (2, 2), ties="last")  # type: ignore
    ndpool.max_pool(x, (2, 2), padding="full")  # type: ignore
    ndpool.max_pool(x, (2, 2), ceil_mode="yes")  # type: ignore
    ndpool.max_pool(x, (2, 2), strid=1)  # type: ignore
    ndpool.max_pool(x, (2, 2), 1, 0, 1, 0)  # type: ignore
    ndpool.sum_pool(x, (2, 2), return_indices=True)  # type: ignore
    ndpool.avg_pool(x, (2, 2), divisor=2.5)  # type: ignore
    ndpool.avg_pool.beta_derivative(x, (2, 2))  # type: ignore
    ndpool.max_pool.vjp(x, (2, 2))  # type: ignore
    ndpool.max_pool(x, (2, 2)).nonsense()  # type: ignore
    ndpool.explain_plan("max", (4, 4), (2, 2), strides=4)  # type: ignore
    ndpool.set_threads("2")  # type: ignore
    ndpool.set_executor("tbb")  # type: ignore
    a, b = ndpool.max_pool(x, (2, 2), return_indices=True)
    b.nonsense()  # type: ignore
