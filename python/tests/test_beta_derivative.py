"""dy/dbeta of smooth max against its definition in NumPy."""

import inspect
import pickle

import numpy
import pytest

import ndpool

RANDOM = numpy.random.default_rng(21)


def by_definition(taps, beta):
    """(sum(softmax_i x_i) - y) / beta of one window, in extended precision."""
    taps = numpy.asarray(taps, dtype=numpy.longdouble).ravel()
    shift = taps.max() if beta > 0 else taps.min()
    powers = numpy.exp(beta * (taps - shift))
    value = shift + numpy.log(powers.sum()) / beta
    return (powers @ taps / powers.sum() - value) / beta


def windows(x, kernel, stride, padding, pad_value):
    """The windows of a 2-D array; padded taps are `pad_value`, or left out if that is None."""
    padded = numpy.pad(x, padding, constant_values=numpy.nan if pad_value is None else pad_value)
    view = numpy.lib.stride_tricks.sliding_window_view(padded, kernel)[:: stride[0], :: stride[1]]
    for position in numpy.ndindex(view.shape[:2]):
        taps = view[position]
        yield position, taps if pad_value is not None else taps[~numpy.isnan(taps)]


@pytest.mark.parametrize("beta", [1.0, 0.3, 12.0, -2.0])
@pytest.mark.parametrize("pad_mode", ["zero", "ignore"])
def test_windows_agree_with_the_definition(beta, pad_mode):
    x = RANDOM.standard_normal((9, 11))
    arguments = ((3, 2), (2, 1), (1, 1))
    dy = ndpool.smooth_max_pool.beta_derivative(x, *arguments, beta=beta, pad_mode=pad_mode)
    assert dy.shape == ndpool.smooth_max_pool(x, *arguments).shape
    pad_value = 0.0 if pad_mode == "zero" else None
    for position, taps in windows(x, *arguments, pad_value):
        assert dy[position] == pytest.approx(float(by_definition(taps, beta)), rel=1e-11, abs=1e-13)


def test_bins_and_whole_axes_agree_with_the_definition():
    x = RANDOM.standard_normal((3, 4, 6))
    bins = ndpool.adaptive_smooth_max_pool.beta_derivative(x, (2, 3), beta=2.0)
    whole = ndpool.global_smooth_max_pool.beta_derivative(x, beta=-2.0, axes=(1, 2))
    kept = ndpool.global_smooth_max_pool.beta_derivative(x, beta=-2.0, axes=(1, 2), keepdims=True)
    assert bins.shape == (3, 2, 3) and whole.shape == (3,) and kept.shape == (3, 1, 1)
    for c, i, j in numpy.ndindex(3, 2, 3):
        taps = x[c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        assert bins[c, i, j] == pytest.approx(float(by_definition(taps, 2.0)), rel=1e-12)
    for c in range(3):
        assert whole[c] == pytest.approx(float(by_definition(x[c], -2.0)), rel=1e-12)
    numpy.testing.assert_array_equal(kept[:, 0, 0], whole)


def test_agrees_with_differences_of_the_function_itself():
    x = RANDOM.standard_normal((5, 8))
    beta, step = 1.7, 1e-6
    ahead = ndpool.smooth_max_pool(x, (2, 2), beta=beta + step)
    behind = ndpool.smooth_max_pool(x, (2, 2), beta=beta - step)
    dy = ndpool.smooth_max_pool.beta_derivative(x, (2, 2), beta=beta)
    numpy.testing.assert_allclose(dy, (ahead - behind) / (2 * step), rtol=1e-8)


def test_large_numbers_neither_overflow_nor_cancel():
    x = numpy.array([1e300, 1e300, -1e300, 1e300])
    dy = ndpool.smooth_max_pool.beta_derivative(x, (2,), beta=4.0)
    numpy.testing.assert_allclose(dy, [-numpy.log(2) / 16, 0])
    near = numpy.float32([1e6, 1e6 + 1])
    [got] = ndpool.smooth_max_pool.beta_derivative(near, (2,))
    assert got == pytest.approx(float(by_definition([0, 1], 1.0)), rel=1e-6)


def test_infinities_and_nan():
    inf = numpy.inf
    x = numpy.array([[1, inf], [inf, inf], [-inf, -inf], [-inf, 3], [numpy.nan, 1]])
    dy = ndpool.global_smooth_max_pool.beta_derivative(x, axes=1)
    numpy.testing.assert_allclose(dy, [0, -numpy.log(2), 0, 0, numpy.nan])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_has_the_dtype_of_x_and_writes_out(dtype):
    x = RANDOM.standard_normal((4, 6)).astype(dtype)
    dy = ndpool.smooth_max_pool.beta_derivative(x, (2, 2))
    out = numpy.full((2, 3), 7, dtype)
    assert ndpool.smooth_max_pool.beta_derivative(x, (2, 2), out=out) is out
    assert dy.dtype == numpy.dtype(dtype)
    numpy.testing.assert_array_equal(out, dy)


def test_wrong_calls_say_why():
    x = numpy.ones((4, 4))
    with pytest.raises(TypeError, match="x has a scalar type without derivatives"):
        ndpool.smooth_max_pool.beta_derivative(numpy.ones(4, "i4"), (2,))
    with pytest.raises(ValueError, match="beta 0 must be finite and not 0"):
        ndpool.smooth_max_pool.beta_derivative(x, (2, 2), beta=0)
    with pytest.raises(ValueError, match="out has length 3 on axis 0; expected 2"):
        ndpool.smooth_max_pool.beta_derivative(x, (2, 2), out=numpy.ones((3, 2)))
    with pytest.raises(ValueError, match="beta is a parameter of smooth max only"):
        ndpool._core.Pool.window("max", (2, 2)).beta_derivative(x)
    assert not hasattr(ndpool.max_pool, "beta_derivative")


def test_is_a_public_function_with_the_arguments_of_its_pool():
    for function in (
        ndpool.smooth_max_pool,
        ndpool.adaptive_smooth_max_pool,
        ndpool.global_smooth_max_pool,
    ):
        derivative = function.beta_derivative
        assert inspect.signature(derivative).parameters == inspect.signature(function).parameters
        assert pickle.loads(pickle.dumps(derivative)) is derivative
        assert "dbeta" in derivative.__doc__
