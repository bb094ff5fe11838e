"""Values and indices against sliding windows of NumPy."""

import numpy as np
import pytest

import ndpool
import oracle

WINDOWS = {reducer: getattr(ndpool, f"{reducer}_pool") for reducer in oracle.REDUCERS}


def example(shape, dtype: np.dtype, seed=0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype == bool:
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -100), min(info.max, 100), shape, dtype=np.int64).astype(
            dtype
        )
    return rng.standard_normal(shape).astype(dtype)


def call(reducer, x, *args, **options):
    first = (2.0,) if reducer == "lp" else ()
    return WINDOWS[reducer](x, *first, *args, **options)


def tolerance(dtype: np.dtype) -> float:
    return 4 * float(__import__("ml_dtypes").finfo(dtype).eps)


GEOMETRIES = [
    # shape, axes, kernel, stride, padding, dilation
    ((17,), (0,), (3,), (2,), ((1, 1),), (1,)),
    ((4, 9), (1,), (4,), (1,), ((2, 1),), (2,)),
    ((9, 11), (0, 1), (3, 2), (2, 1), ((1, 0), (0, 1)), (1, 2)),
    ((2, 9, 8), (1, 2), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ((9, 8, 3), (0, 1), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)),  # channels last
    (
        (7, 2, 8),
        (2, 0),
        (3, 2),
        (1, 2),
        ((1, 1), (0, 1)),
        (1, 1),
    ),  # axes out of order, a batch axis between
    ((2, 3, 6, 5), (-1, -2), (2, 3), (2, 1), ((1, 0), (1, 1)), (1, 1)),
    ((5, 2, 6, 5), (0, 2, 3), (2, 3, 2), (1, 2, 2), ((0, 1), (1, 1), (0, 0)), (1, 1, 1)),
    ((2, 5, 4, 6, 3), (1, 2, 3), (2, 2, 3), (2, 1, 2), ((0, 0), (1, 0), (1, 1)), (1, 1, 1)),
    (
        (4, 5, 4, 3, 5),
        (0, 1, 2, 3, 4),
        (2, 3, 2, 2, 3),
        (1, 2, 1, 1, 2),
        ((1, 0),) * 5,
        (1, 1, 2, 1, 1),
    ),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("name", [*oracle.FLOATS, *oracle.INTEGERS])
@pytest.mark.parametrize("reducer", oracle.REDUCERS)
def test_windows(reducer, name, geometry):
    shape, axes, kernel, stride, padding, dilation = geometry
    dtype = oracle.dtype(name)
    x = example(shape, dtype)
    arguments = dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation, axes=axes)
    if reducer in ("smooth_max", "lp") and dtype.kind in "iu":
        with pytest.raises(TypeError, match="without exp, log and pow"):
            call(reducer, x, **arguments)
        return
    y = call(reducer, x, **arguments)
    expected = oracle.pool(reducer, x, **arguments)
    assert y.dtype == dtype and y.shape == expected.shape
    if expected.dtype == dtype and (reducer in ("max", "min") or dtype.kind in "iu"):
        np.testing.assert_array_equal(y, expected)
    else:
        scale = oracle.pool("sum", np.abs(x.astype(np.float64)), **arguments) + 1
        assert np.all(np.abs(y.astype(np.float64) - expected) <= tolerance(dtype) * scale)
    # Once more: now the plan is known.
    np.testing.assert_array_equal(call(reducer, x, **arguments), y)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize(
    "name", ["float32", "float64", "bfloat16", "float16", "int8", "int64", "uint32"]
)
@pytest.mark.parametrize("reducer", ["max", "min"])
def test_indices(reducer, name, geometry):
    shape, axes, kernel, stride, padding, dilation = geometry
    x = np.round(example(shape, oracle.dtype(name))).astype(oracle.dtype(name))  # with ties
    arguments = dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation, axes=axes)
    for _ in range(2):
        y, indices = call(reducer, x, return_indices=True, **arguments)
        assert indices.dtype == np.int64
        np.testing.assert_array_equal(y, oracle.pool(reducer, x, **arguments))
        np.testing.assert_array_equal(indices, oracle.indices(reducer, x, **arguments))


def any_geometry(rng, rank):
    """Some axes in some order, dilated windows, padding that differs at the two ends."""
    axes = tuple(int(a) for a in rng.permutation(rank)[: rng.integers(1, rank + 1)])
    count = len(axes)
    shape = tuple(int(n) for n in rng.integers(2, 6, rank))
    kernel, stride, dilation = (rng.integers(1, most, count) for most in (4, 4, 3))
    pads = [tuple(int(p) for p in rng.integers(0, k, 2)) for k in kernel]
    signed = tuple(a - rank * int(rng.integers(2)) for a in axes)
    lists = [tuple(int(n) for n in numbers) for numbers in (kernel, stride, dilation)]
    arguments = dict(
        kernel=lists[0], stride=lists[1], padding=tuple(pads), dilation=lists[2], axes=signed
    )
    return shape, arguments


def fits(shape, kernel, stride, padding, dilation, axes) -> bool:
    """True if every window has an element."""
    for axis, k, d, pad in zip(axes, kernel, dilation, padding):
        if shape[axis] + sum(pad) < d * (k - 1) + 1:
            return False
    return bool(
        oracle.windows(np.zeros(shape), kernel, stride, padding, dilation, axes)[1].any(-1).all()
    )


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("rank", [4, 5])
def test_ranks_four_and_five(rank, seed):
    rng = np.random.default_rng([rank, seed])
    shape, arguments = any_geometry(rng, rank)
    while not fits(shape, **arguments):
        shape, arguments = any_geometry(rng, rank)
    order = rng.permutation(rank)  # of the axes in memory
    for dtype in (np.dtype("float32"), np.dtype("float64"), np.dtype("int16")):
        x = example([shape[a] for a in order], dtype, seed).transpose(np.argsort(order))
        scale = oracle.pool("sum", np.abs(x.astype(np.float64)), **arguments) + 1
        for reducer in oracle.REDUCERS:
            if dtype.kind == "i" and reducer in ("smooth_max", "lp"):
                continue
            y = call(reducer, x, **arguments)
            expected = oracle.pool(reducer, x, **arguments)
            assert y.dtype == dtype and y.shape == expected.shape
            bound = 0 if dtype.kind == "i" or reducer in ("max", "min") else tolerance(dtype)
            assert np.all(np.abs(y - expected) <= bound * scale)
        for reducer in ("max", "min"):
            ties = np.round(x).astype(dtype)
            y, indices = call(reducer, ties, return_indices=True, **arguments)
            np.testing.assert_array_equal(y, oracle.pool(reducer, ties, **arguments))
            np.testing.assert_array_equal(indices, oracle.indices(reducer, ties, **arguments))


@pytest.mark.parametrize("reducer", ["smooth_max", "lp"])
def test_an_early_window_may_reach_further_than_the_last(reducer):
    arguments = dict(
        kernel=(3, 3), stride=(2, 1), padding=((1, 1), (0, 0)), dilation=(3, 1), axes=(0, 1)
    )
    for seed in range(20):
        x = example((7, 4), np.dtype("float32"), seed)
        expected = oracle.pool(reducer, x, **arguments)
        np.testing.assert_allclose(call(reducer, x, **arguments), expected, rtol=1e-4)


@pytest.mark.parametrize("reducer", ["max", "min", "sum", "avg"])
def test_bool(reducer):
    x = example((6, 7), np.dtype(bool))
    y = call(reducer, x, (2, 3))
    assert y.dtype == bool
    taps, _ = oracle.windows(x, (2, 3), (2, 3), ((0, 0),) * 2, (1, 1), (0, 1))
    counts = taps.sum(axis=-1)
    expected = {"max": counts > 0, "min": counts == 6, "sum": counts > 0, "avg": counts > 3}[
        reducer
    ]
    np.testing.assert_array_equal(y, expected)


REDUCTIONS = {
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "avg": np.mean,
    "smooth_max": lambda block, axis: np.log(np.exp(2 * block).sum(axis)) / 2,
    "lp": lambda block, axis: (np.abs(block) ** 3).sum(axis) ** (1 / 3),
}


def extra(reducer):
    """The positional and other options that a reducer takes in these tests."""
    return (3.0,) if reducer == "lp" else (), {"beta": 2.0} if reducer == "smooth_max" else {}


@pytest.mark.parametrize(
    "shape, sizes, axes",
    [((7,), (3,), (0,)), ((5, 3, 8), (2, 9), (0, 2)), ((2, 2), (4, 4), (0, 1))],
)
@pytest.mark.parametrize("reducer", oracle.REDUCERS)
def test_adaptive(reducer, shape, sizes, axes):
    x = example(shape, np.dtype("float64"))
    first, options = extra(reducer)
    y = getattr(ndpool, f"adaptive_{reducer}_pool")(x, *first, sizes, axes=axes, **options)
    expected = oracle.adaptive(REDUCTIONS[reducer], x, sizes, axes)
    np.testing.assert_allclose(y, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("axes", [None, (0,), (-1, 0), (1,), 2])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("reducer", oracle.REDUCERS)
def test_global(reducer, keepdims, axes):
    x = example((3, 5, 4), np.dtype("float64"))
    first, options = extra(reducer)
    numpy_axes = (axes,) if isinstance(axes, int) else axes or (0, 1, 2)
    expected = REDUCTIONS[reducer](x, axis=numpy_axes)
    if keepdims:
        expected = np.expand_dims(expected, numpy_axes)
    for _ in range(2):
        y = getattr(ndpool, f"global_{reducer}_pool")(
            x, *first, axes=axes, keepdims=keepdims, **options
        )
        np.testing.assert_allclose(y, expected, rtol=1e-14)
        assert y.shape == expected.shape


def test_unpool_is_the_way_back():
    x = example((2, 6, 8), np.dtype("float32"))
    y, indices = ndpool.max_pool(x, (2, 2), return_indices=True)
    back = ndpool.max_unpool(y, indices, (6, 8))
    np.testing.assert_array_equal(np.where(back != 0, x, 0), back)
    assert np.count_nonzero(back) == y.size
    last_wins = ndpool.max_unpool(np.array([1, 2, 3]), np.array([0, -1, 0]), (2,))
    np.testing.assert_array_equal(last_wins, [3, 0])


def test_traps():
    """Cases that caught other libraries."""
    grid = np.arange(1.0, 17).reshape(4, 4)
    expected = [[14 / 9, 20 / 6, 2], [38 / 6, 11, 6], [4.5, 7.5, 4]]
    y = ndpool.avg_pool(grid, (3, 3), 2, 1, ceil_mode=True)
    np.testing.assert_allclose(y, expected)
    assert ndpool.output_shape("max", (8, 10), (3, 3), 4, ceil_mode=True) == (2, 3)
    assert ndpool.output_shape("max", (1,), (3,), dilation=3, padding="same") == (1,)
    np.testing.assert_array_equal(
        ndpool.avg_pool(np.arange(1.0, 6), (2,), 2, ((2, 3),)), [0, 1.5, 3.5, 2.5, 0]
    )
    assert ndpool.max_pool(np.full(4, -np.inf), (2,), return_indices=True)[1].tolist() == [0, 2]
    assert ndpool.max_pool(-np.ones(4), (2,), padding=1).max() == -1
    ones = np.ones((64, 64), np.float16)
    assert ndpool.avg_pool(ones, (64, 64))[0, 0] == 1
    rounded = [int(ndpool.avg_pool(np.array([-4, -3, -2, -1], np.int8), (4,), rounding=r)[0])
               for r in ("half_even", "toward_zero", "floor", "half_away")]  # fmt: skip
    assert rounded == [-2, -2, -3, -3]


def test_nan_policies():
    x = np.array([1, np.nan, np.nan, 3, np.nan, np.nan], np.float32)
    y, indices = ndpool.max_pool(x, (3,), return_indices=True)
    assert np.isnan(y).all() and indices.tolist() == [1, 4]
    y, indices = ndpool.max_pool(x, (3,), nan="ignore", return_indices=True)
    assert y.tolist() == [1, 3] and indices.tolist() == [0, 3]


@pytest.mark.parametrize("padding", ["same", "same_lower", "valid"])
def test_padding_rules(padding):
    x = np.arange(5.0)
    expected = {"same": [1, 3, 4], "same_lower": [0, 2, 4], "valid": [1, 3]}[padding]
    assert ndpool.max_pool(x, (2,), padding=padding).tolist() == expected


def test_empty_windows():
    options = dict(kernel=(2,), padding=((3, 0),), stride=(2,), empty="identity")
    y, indices = ndpool.max_pool(np.ones(4), **options, return_indices=True)
    assert y.tolist() == [-np.inf, 1, 1] and indices.tolist() == [-1, 0, 1]
    assert ndpool.avg_pool(np.ones(4), **options, count_include_pad=False).tolist() == [0, 1, 1]


def test_empty_batch():
    for f, args in ((ndpool.max_pool, ((2,),)), (ndpool.adaptive_avg_pool, ((2,),))):
        y = f(np.ones((0, 4), np.float32), *args)
        assert y.shape == (0, 2) and y.dtype == np.float32
    assert ndpool.max_pool.vjp(np.ones((0, 4)), np.ones((0, 2)), (2,)).shape == (0, 4)


def test_whatever_is_no_array_becomes_one():
    assert ndpool.max_pool([1, 5, 2, 3], (2,)).tolist() == [5, 3]
    assert ndpool.max_pool([[1.0, 5], [2, 3]], 2, axes=(0, 1)).tolist() == [[5]]
    assert ndpool.max_pool.vjp([1.0, 5, 2, 3], [1, 2], (2,)).tolist() == [0, 1, 0, 2]


def test_threads_change_nothing():
    x = example((40, 61, 67), np.dtype("float32"))
    before = ndpool.get_threads()
    try:
        results = []
        for count in (1, 2, 3):
            ndpool.set_threads(count)
            assert ndpool.get_threads() == count
            results.append(ndpool.avg_pool(x, (3, 3), 2, 1))
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])
    finally:
        ndpool.set_threads(before)
