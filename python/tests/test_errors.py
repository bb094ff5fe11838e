"""Wrong calls: the type of the error and its sentence."""

import numpy as np
import pytest

import ndpool

X = np.ones((4, 6))

VALUES = [
    (lambda: ndpool.max_pool(X, 2), "kernel 2 is one number, which needs axes"),
    (lambda: ndpool.adaptive_max_pool(X, 2), "output_size 2 is one number, which needs axes"),
    (lambda: ndpool.max_pool(X, (5, 2)), "kernel 5 on axis 0 does not fit"),
    (lambda: ndpool.max_pool(X, (0, 2)), "kernel 0 on axis 0 must be at least 1"),
    (lambda: ndpool.max_pool(X, (2, 2), 0), "stride 0 on axis 0 must be at least 1"),
    (lambda: ndpool.max_pool(X, (2, 2), (1,)), "stride has 1 entry, but there must be 2"),
    (lambda: ndpool.max_pool(X, (2, 2), ()), "stride has 0 entries, but there must be 2"),
    (lambda: ndpool.max_pool(X, (2, 2), padding=()), "padding has 0 entries, but there must be 2"),
    (
        lambda: ndpool.max_pool(X, (2, 2), dilation=(1, 1, 1)),
        "dilation has 3 entries, but there must be 2",
    ),
    (lambda: ndpool.max_pool(X, (2, 2), padding=-1), "padding -1 on axis 0 must not be negative"),
    (
        lambda: ndpool.max_pool(X, (2, 2), padding=((1, 2, 3), 1)),
        "padding has an entry with 3 numbers",
    ),
    (
        lambda: ndpool.max_pool(X, (2, 2), padding="full"),
        "padding must be 'valid', 'same' or 'same_lower', not 'full'",
    ),
    (
        lambda: ndpool.max_pool(X, (2, 2), padding=3),
        "padding 3 on axis 0 leaves output 0 without an input element",
    ),
    (
        lambda: ndpool.max_pool(X, (2, 2), axes=(0, 2)),
        "axes names axis 2, but the array has 2 axes",
    ),
    (lambda: ndpool.max_pool(X, (2, 2), axes=(0, -2)), "axes names axis 0 twice"),
    (lambda: ndpool.max_pool(X, (2, 2), axes=(0,)), "axes has 1 entry, but there must be 2"),
    (lambda: ndpool.max_pool(X, (2,) * 3), "3 axes are to be pooled, but the array has only 2"),
    (lambda: ndpool.max_pool(X, ()), "no axis to pool"),
    (lambda: ndpool.global_max_pool(X, axes=()), "no axis to pool"),
    (
        lambda: ndpool.max_pool(X, (2, 2), ties="last"),
        "ties must be 'first', 'all' or 'split', not 'last'",
    ),
    (
        lambda: ndpool.max_pool(X, (2, 2), nan="omit"),
        "nan must be 'propagate' or 'ignore', not 'omit'",
    ),
    (
        lambda: ndpool.max_pool(X, (2, 2), empty="zero"),
        "empty must be 'error' or 'identity', not 'zero'",
    ),
    (lambda: ndpool.avg_pool(X, (2, 2), rounding="up"), "rounding must be 'half_even'"),
    (lambda: ndpool.avg_pool(X, (2, 2), divisor=0), "divisor 0 cannot divide"),
    (lambda: ndpool.smooth_max_pool(X, (2, 2), beta=0), "beta 0 must be finite and not 0"),
    (
        lambda: ndpool.smooth_max_pool(X, (2, 2), pad_mode="edge"),
        "pad_mode must be 'zero' or 'ignore'",
    ),
    (lambda: ndpool.lp_pool(X, 0, (2, 2)), "p 0 must be greater than 0"),
    (lambda: ndpool.lp_pool(X, 2, (2, 2), ties="all"), "ties has a meaning for p = infinity only"),
    (lambda: ndpool.adaptive_max_pool(X, (0, 2)), "output_size 0 on axis 0 must be at least 1"),
    (lambda: ndpool.max_pool(np.ones((2, 0)), (1,)), "axis 1 of x has length 0"),
    (lambda: ndpool.max_pool(X, (10**30, 2)), f"kernel {10**30} does not fit in 64 bits"),
    (lambda: ndpool.max_pool(X, (2**62, 2), padding=2**62), "64 bits"),
    (
        lambda: ndpool.max_pool.vjp(X, np.ones((2, 2)), (2, 2)),
        "gy has length 2 on axis 1; expected 3",
    ),
    (
        lambda: ndpool.max_pool.jvp(X, np.ones((4, 5)), (2, 2)),
        "dx has length 5 on axis 1; expected 6",
    ),
    (lambda: ndpool.max_unpool(np.ones(2), np.array([0, 4]), (4,)), "indices holds 4"),
    (
        lambda: ndpool.max_unpool(np.ones(2), np.array([0, 1, 2]), (4,)),
        "indices has length 3 on axis 0; expected 2",
    ),
    (
        lambda: ndpool.max_unpool.vjp(np.ones(3), np.ones(4), np.array([0, 1]), (4,)),
        r"y has shape \(3,\)",
    ),
    (lambda: ndpool.output_shape("median", (4,), (2,)), "operator must be one of max, min"),
    (lambda: ndpool.output_shape("max", (-4,), (2,)), "shape -4 on axis 0 must not be negative"),
    (lambda: ndpool.set_threads(0), "threads 0 must be from 1 to 1024"),
    (
        lambda: ndpool.max_pool(np.ones((1,) * 30), (1,) * 65),
        "kernel has 65 axes; at most 64 are possible",
    ),
]


@pytest.mark.parametrize("call, text", VALUES, ids=[text for _, text in VALUES])
def test_value_errors(call, text):
    for _ in range(2):
        with pytest.raises(ValueError, match=text):
            call()


TYPES = [
    (lambda: ndpool.max_pool(X), "max_pool.* missing 1 required positional argument: 'kernel'"),
    (lambda: ndpool.max_pool(X, (2, 2), strid=1), "max_pool.* unexpected keyword argument 'strid'"),
    (
        lambda: ndpool.max_pool.vjp(X, X, (2, 2), return_indices=True),
        "unexpected keyword argument 'return_indices'",
    ),
    (
        lambda: ndpool.sum_pool(X, (2, 2), return_indices=True),
        "unexpected keyword argument 'return_indices'",
    ),
    (lambda: ndpool.max_pool(X, (2.0, 2)), "kernel must be an int or a tuple of ints, not float"),
    (lambda: ndpool.max_pool(X, "22"), "kernel must be an int or a tuple of ints, not str"),
    (lambda: ndpool.max_pool(X, None), "kernel must be an int or a tuple of ints, not NoneType"),
    (
        lambda: ndpool.max_pool(X, (2, 2), padding=1.5),
        "padding must be an int, a tuple of ints or of pairs",
    ),
    (lambda: ndpool.max_pool(X, (2, 2), ties=1), "ties must be 'first', 'all' or 'split', not 1"),
    (lambda: ndpool.lp_pool(X, "2", (2, 2)), "p must be a number, not str"),
    (lambda: ndpool.avg_pool(X, (2, 2), divisor=2.5), "divisor must be an int or None, not float"),
    (lambda: ndpool.smooth_max_pool(np.arange(4), (2,)), "without exp, log and pow"),
    (
        lambda: ndpool._core.Pool.window("max", (2,), beta=2),
        r"one of the options \['beta'\] is none of 'max'",
    ),
    (lambda: ndpool.max_unpool(np.ones(2), np.array([0.5, 1]), (4,)), "indices has dtype float64"),
    (
        lambda: ndpool.max_unpool([1, 2], [0.5, 1], (4,)),
        "indices has dtype float64; expected int64",
    ),
    (lambda: ndpool.max_unpool([1], [2**63], (4,)), "indices has dtype uint64; expected int64"),
    (lambda: ndpool.max_unpool([1], [10**30], (4,)), "indices has dtype object; expected int64"),
    (lambda: ndpool.max_unpool.jvp([1], [1], [0], (4,)), "without derivatives"),
    (
        lambda: ndpool._core.Pool.window("max", (2,)).vjp_from_indices(np.array([0]), np.ones(1)),
        "shape of x is needed",
    ),
]


@pytest.mark.parametrize("call, text", TYPES, ids=[text for _, text in TYPES])
def test_type_errors(call, text):
    ndpool.max_pool(X, (2, 2))  # so that an equal pool is known: 2.0 == 2
    with pytest.raises(TypeError, match=text):
        call()


def test_memory_that_is_not_there():
    with pytest.raises((MemoryError, ValueError)):
        ndpool.adaptive_max_pool(X, (2**40, 2**20))
