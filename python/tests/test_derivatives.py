"""JVP against finite differences, VJP by adjointness to it, and both from indices."""

import numpy as np
import pytest

import ndpool
import oracle

# Every function, with the arguments after x that its tests use.
FUNCTIONS = {
    **{f"{r}_pool": (((3, 2), (2, 1), (1, 0), (1, 2)), {}) for r in oracle.REDUCERS},
    **{f"adaptive_{r}_pool": (((3, 4),), {}) for r in oracle.REDUCERS},
    **{f"global_{r}_pool": ((), {"axes": (1, 2)}) for r in oracle.REDUCERS},
}
for name, (args, options) in list(FUNCTIONS.items()):
    if "lp_pool" in name:
        FUNCTIONS[name] = ((3.0, *args), options)


def inner(a, b) -> float:
    return float(np.sum(a.astype(np.float64) * b.astype(np.float64)))


def sample(shape=(2, 7, 6), dtype="float64", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(oracle.dtype(dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jvp_is_the_slope(name):
    f = getattr(ndpool, name)
    args, options = FUNCTIONS[name]
    x, dx, step = sample(), sample(seed=1), 1e-6
    y, dy = f.jvp(x, dx, *args, **options)
    np.testing.assert_array_equal(y, f(x, *args, **options))
    slope = (f(x + step * dx, *args, **options) - f(x - step * dx, *args, **options)) / (2 * step)
    np.testing.assert_allclose(dy, slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", oracle.FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_vjp_is_the_adjoint_of_jvp(name, dtype):
    f = getattr(ndpool, name)
    args, options = FUNCTIONS[name]
    x, dx = sample(dtype=dtype), sample(dtype=dtype, seed=1)
    for _ in range(2):  # checked, then by the known plan
        _, dy = f.jvp(x, dx, *args, **options)
        gy = sample(dy.shape, dtype, seed=2)
        gx = f.vjp(x, gy, *args, **options)
        assert gx.shape == x.shape and gx.dtype == x.dtype and dy.dtype == x.dtype
        eps = float(__import__("ml_dtypes").finfo(x.dtype).eps)
        scale = inner(np.abs(dx), np.abs(gx)) + inner(np.abs(dy), np.abs(gy))
        assert abs(inner(dy, gy) - inner(dx, gx)) <= 8 * eps * scale


@pytest.mark.parametrize("dtype", oracle.FLOATS)
@pytest.mark.parametrize(
    "name", [n for n in FUNCTIONS if n.endswith(("max_pool", "min_pool")) and "smooth" not in n]
)
def test_derivatives_from_indices(name, dtype):
    f = getattr(ndpool, name)
    args, options = FUNCTIONS[name]
    x, dx = np.round(2 * sample(dtype=dtype)), sample(dtype=dtype, seed=1)
    y, indices = f(x, *args, **options, return_indices=True)
    gy = sample(y.shape, dtype, seed=2)
    first = dict(options, ties="first")
    for _ in range(2):
        np.testing.assert_array_equal(
            f.vjp(x, gy, *args, **first), f.vjp(x.shape, gy, *args, **options, indices=indices)
        )
        value, dy = f.jvp(x, dx, *args, **options, indices=indices)
        np.testing.assert_array_equal(dy, f.jvp(x, dx, *args, **first)[1])
        np.testing.assert_array_equal(value, y)
        assert f.jvp(x.shape, dx, *args, **options, indices=indices)[0] is None
    out = np.empty_like(x)
    assert f.vjp(x, gy, *args, **options, indices=indices, out=out) is out


def test_indices_must_name_elements():
    with pytest.raises(
        ValueError, match="indices holds 4, which is neither -1 nor one of the 4 cells"
    ):
        ndpool.max_pool.vjp((4,), np.ones(2), (2,), indices=np.array([1, 4]))
    with pytest.raises(TypeError, match="indices has dtype int32; expected int64"):
        ndpool.max_pool.vjp((4,), np.ones(2), (2,), indices=np.array([1, 2], np.int32))
    with pytest.raises(ValueError, match="dx has length 4 on axis 0; expected 5"):
        ndpool.max_pool.jvp((5,), np.ones(4), (2,), indices=np.array([1, 2]))
    assert ndpool.max_pool.vjp((4,), np.ones(2), (2,), indices=np.array([-1, 2])).tolist() == [
        0,
        0,
        1,
        0,
    ]


def test_ties():
    x, gy = np.array([1.0, 2, 2, 2]), np.ones(1)
    for ties, expected in {
        "first": [0, 1, 0, 0],
        "all": [0, 1, 1, 1],
        "split": [0, 1 / 3, 1 / 3, 1 / 3],
    }.items():
        np.testing.assert_allclose(ndpool.max_pool.vjp(x, gy, (4,), ties=ties), expected)
    np.testing.assert_allclose(ndpool.global_max_pool.vjp(x, np.array(1.0)), [0, 1, 1, 1])
    np.testing.assert_allclose(ndpool.adaptive_max_pool.vjp(x, gy, (1,)), [0, 1, 0, 0])
    np.testing.assert_allclose(
        ndpool.lp_pool.vjp(-x, gy, np.inf, (4,), ties="split"), [0, *3 * [-1 / 3]]
    )


def test_unpool():
    y, dy, indices = np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.array([0, 3, 0])
    x, dx = ndpool.max_unpool.jvp(y, dy, indices, (4,))
    assert x.tolist() == [3, 0, 0, 2] and dx.tolist() == [6, 0, 0, 5]
    gx = np.array([1.0, 10, 100, 1000])
    for of in (y, y.shape):
        assert ndpool.max_unpool.vjp(of, gx, indices, (4,)).tolist() == [0, 1000, 1]


def test_integers_have_no_derivatives():
    x = np.arange(4)
    for derivative in (ndpool.max_pool.jvp, ndpool.avg_pool.jvp):
        with pytest.raises(TypeError, match="without derivatives"):
            derivative(x, x, (2,))
    with pytest.raises(TypeError, match="without derivatives"):
        ndpool.sum_pool.vjp(x, np.arange(2), (2,))
    with pytest.raises(TypeError, match="without derivatives"):
        ndpool.max_pool.vjp((4,), np.arange(2), (2,), indices=np.arange(2))


def test_short_floats_are_summed_in_float():
    ones = np.ones((64, 64), np.float16)
    assert ndpool.adaptive_avg_pool.vjp(np.ones((1, 1), np.float16), ones, (64, 64)).item() == 4096


@pytest.mark.parametrize("dtype", oracle.FLOATS)
@pytest.mark.parametrize("name", ["sum_pool", "avg_pool", "adaptive_avg_pool", "global_sum_pool"])
def test_sums_need_no_more_than_the_shape(name, dtype):
    args, options = FUNCTIONS[name]
    f = getattr(ndpool, name)
    x = sample(dtype=dtype)
    gy = sample(np.shape(f(x, *args, **options)), dtype, seed=2)
    expected = f.vjp(x, gy, *args, **options)
    for order in ("C", "F"):
        out = np.empty(x.shape, x.dtype, order=order)
        for _ in range(2):  # checked, then by the known plan
            np.testing.assert_array_equal(f.vjp(x.shape, gy, *args, **options), expected)
            assert f.vjp(x.shape, gy, *args, out=out, **options) is out
            np.testing.assert_array_equal(out, expected)


def test_the_shape_is_checked():
    gy = np.ones((2, 3))
    for _ in range(2):
        ndpool.sum_pool.vjp((2, 6), gy, (2,))
        with pytest.raises(ValueError):
            ndpool.sum_pool.vjp((2, 8), gy, (2,))
        with pytest.raises(ValueError):
            ndpool.sum_pool.vjp((2, 6), gy, (2,), out=np.empty((2, 7)))
        with pytest.raises(ValueError):
            ndpool.sum_pool.vjp((2, -6), gy, (2,))
    with pytest.raises(TypeError, match="only of sums"):
        ndpool.smooth_max_pool.vjp((2, 6), gy, (2,))


def test_tap_counts():
    pool = ndpool._core.Pool.window("max", (3, 5))
    assert pool.tap_count((9, 9)) == 15
    assert ndpool._core.Pool.adaptive("max", (2,)).tap_count((7,)) == 4
