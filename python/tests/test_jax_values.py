"""Values of `ndpool.jax` are those of NumPy arrays bit for bit, and those of reduce_window."""

import itertools
import math
import threading

import numpy
import pytest
from jax_cases import CASES, EXTREME, SHAPE, Case, cells, jax, narrow, pool_jax

import ndpool

jnp = jax.numpy
FLOATS = ("f2", "f4", "f8")
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")


def bits(array):
    return numpy.asarray(array).tobytes()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_have_the_bits_of_numpy(case):
    x = cells(SHAPE, "f4")
    expected = case.of(ndpool, x)
    for y in (case(x), jax.jit(lambda x: case(x))(x)):
        assert y.dtype == expected.dtype and y.shape == expected.shape
        assert bits(y) == bits(expected)


@pytest.mark.parametrize("name", ["max_pool", "min_pool", "sum_pool", "avg_pool"])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bfloat16"])
def test_every_dtype_has_the_bits_of_numpy(name, dtype):
    x = numpy.random.default_rng(1).integers(0, 2 if dtype == "?" else 120, (3, 9, 9))
    x = x.astype(jnp.bfloat16 if dtype == "bfloat16" else dtype)
    case = Case(name, ((3, 3),), {"stride": 2, "padding": 1})
    try:
        expected = case.of(ndpool, x)
    except TypeError:
        with pytest.raises(TypeError):
            case(x)
        return
    y = case(x)
    assert y.dtype == expected.dtype and bits(y) == bits(expected)


@pytest.mark.parametrize("case", [c for c in EXTREME if "pool" in c.name], ids=str)
def test_indices_are_those_of_numpy(case):
    x = cells(SHAPE, "f4")
    case = case._replace(options=case.options | {"return_indices": True})
    y, indices = jax.jit(lambda x: case(x))(x)
    expected, expected_indices = case.of(ndpool, x)
    assert bits(y) == bits(expected)
    assert indices.dtype == numpy.int64 and bits(indices) == bits(expected_indices)


def test_indices_without_64_bits_are_narrow():
    x = cells((3, 8, 8), "f4")
    expected = ndpool.max_pool(x, (3, 3), padding=1, return_indices=True)[1]
    back = ndpool.max_unpool(ndpool.max_pool(x, (3, 3), padding=1), expected, (8, 8))
    with narrow():
        y, indices = pool_jax.max_pool(x, (3, 3), padding=1, return_indices=True)
        assert indices.dtype == numpy.int32
        assert numpy.array_equal(indices, expected)
        assert bits(pool_jax.max_unpool(y, indices, (8, 8))) == bits(back)
        gx = jax.grad(
            lambda x: pool_jax.max_pool(x, (3, 3), padding=1, return_indices=True)[0].sum()
        )(x)
    assert bits(gx) == bits(ndpool.max_pool.vjp(x, numpy.ones_like(y), (3, 3), padding=1))


def test_unpooling_is_that_of_numpy():
    x = cells((2, 6, 6), "f4")
    y, indices = ndpool.max_pool(x, (3, 3), stride=1, return_indices=True)
    got = jax.jit(lambda y: pool_jax.max_unpool(y, indices, (6, 6)))(y)
    assert bits(got) == bits(ndpool.max_unpool(y, indices, (6, 6)))
    with pytest.raises(Exception, match="indices holds 36"):
        jax.block_until_ready(pool_jax.max_unpool(y, jnp.full(y.shape, 36), (6, 6)))


def test_subnormals_are_kept_on_every_thread_and_flushed_again_afterwards():
    x = numpy.full((64, 128, 128), 1e-40, numpy.float32)
    assert x.nbytes >= 1 << 22  # more tiles than threads
    both = jax.jit(lambda x: (pool_jax.sum_pool(x, (2, 2), stride=1), x * 0.5))
    y, halves = both(x)
    assert bits(y) == bits(ndpool.sum_pool(x, (2, 2), stride=1))
    assert numpy.asarray(y)[0, 0, 0] > 0
    assert bits(halves) == bits(jax.jit(lambda x: x * 0.5)(x))
    gx = jax.jit(jax.grad(lambda x: (pool_jax.max_pool(x, (2, 2)) * 1e-40).sum()))(
        numpy.ones_like(x)
    )
    assert numpy.isin(gx, numpy.float32([0, 1e-40])).all()


def test_programs_may_run_on_many_threads_at_a_time():
    x = cells((16, 64, 64), "f4")
    case = Case("avg_pool", ((3, 3),), {"stride": 1})
    expected = bits(case.of(ndpool, x))
    compiled = jax.jit(lambda x: [case(x), case(x), case(x)])
    results = []
    threads = [threading.Thread(target=lambda: results.extend(compiled(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(results) == 24 and all(bits(y) == expected for y in results)


def test_empty_arrays_are_pooled():
    assert pool_jax.max_pool(jnp.ones((0, 4, 4)), (2, 2)).shape == (0, 2, 2)


# JAX's own grid of reduce_window, as far as pools go: without base dilation.
GRID = [
    (shape, window, strides, dilation, padding)
    for (shape, window), unit, dilated, padding in itertools.product(
        [
            ((4, 6), (2, 1)),
            ((4, 6), (1, 2)),
            ((3, 2, 4, 6), (1, 1, 2, 1)),
            ((3, 2, 4, 6), (2, 1, 2, 1)),
        ],
        [True, False],
        [False, True],
        ["VALID", "SAME", 0, (1, 0), (0, 1)],
    )
    for strides in [(1,) * len(shape) if unit else (2, 1) * (len(shape) // 2)]
    for dilation in [(1, 2) * (len(shape) // 2) if dilated else (1,) * len(shape)]
]  # fmt: skip


@pytest.mark.parametrize("reducer", ["sum", "max", "min"])
def test_values_are_those_of_reduce_window(reducer):
    start, combine = {
        "sum": (0.0, jax.lax.add), "max": (-math.inf, jax.lax.max), "min": (math.inf, jax.lax.min),
    }[reducer]  # fmt: skip
    options = {} if reducer == "sum" else {"empty": "identity"}
    for shape, window, strides, dilation, padding in GRID:
        x = cells(shape)
        given = padding if isinstance(padding, str) else [(padding, padding)] * len(shape)
        if isinstance(padding, tuple):
            given = [padding] * len(shape)
        expected = jax.lax.reduce_window(x, start, combine, window, strides, given, None, dilation)
        ours = padding.lower() if isinstance(padding, str) else given
        y = getattr(pool_jax, f"{reducer}_pool")(x, window, strides, ours, dilation, **options)
        assert y.shape == expected.shape
        assert numpy.allclose(y, expected, rtol=1e-14, atol=1e-14), (
            shape,
            window,
            strides,
            padding,
        )


@pytest.mark.parametrize("padding", ["VALID", "SAME", ((1, 0), (0, 1))])
@pytest.mark.parametrize("strides", [None, (2, 1)])
def test_arguments_of_flax_are_those_of_reduce_window(padding, strides):
    x = cells((2, 7, 6, 3))

    def reduced(x, start, combine):
        given = padding if isinstance(padding, str) else ((0, 0), *padding, (0, 0))
        return jax.lax.reduce_window(
            x, start, combine, (1, 3, 2, 1), (1, *(strides or (1, 1)), 1), given
        )

    linen = pool_jax.linen
    close = lambda a, b: a.shape == b.shape and numpy.allclose(a, b, rtol=1e-14, atol=1e-14)
    assert close(linen.max_pool(x, (3, 2), strides, padding), reduced(x, -math.inf, jax.lax.max))
    assert close(linen.min_pool(x, (3, 2), strides, padding), reduced(x, math.inf, jax.lax.min))
    sums = reduced(x, 0.0, jax.lax.add)
    assert close(linen.avg_pool(x, (3, 2), strides=strides, padding=padding), sums / 6)
    counts = reduced(numpy.ones_like(x), 0.0, jax.lax.add)
    assert close(
        linen.avg_pool(x, (3, 2), strides, padding, count_include_pad=False), sums / counts
    )
    with pytest.raises(ValueError, match="CIRCULAR"):
        linen.max_pool(x, (3, 2), padding="CIRCULAR")


@pytest.mark.parametrize("size", [(1, 1), (3, 4), (7, 9)])
@pytest.mark.parametrize("name", ["adaptive_max_pool", "adaptive_avg_pool"])
def test_adaptive_pools_are_those_of_torch(name, size):
    torch = pytest.importorskip("torch", reason="torch is not installed here")
    x = cells((2, 3, 7, 6))
    gy = cells((2, 3, *size), seed=1)
    y, backward = jax.vjp(lambda x: getattr(pool_jax, name)(x, size), x)
    tensor = torch.tensor(x, requires_grad=True)
    expected = getattr(torch.nn.functional, f"{name}2d")(tensor, size)
    expected.backward(torch.tensor(gy))
    assert numpy.allclose(y, expected.detach(), rtol=1e-14, atol=1e-14)
    assert numpy.allclose(backward(gy)[0], tensor.grad, rtol=1e-14, atol=1e-14)
