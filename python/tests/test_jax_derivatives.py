"""Derivatives and transformations of `ndpool.jax`."""

import numpy
import pytest
from jax_cases import CASES, CURVED, EXTREME, LINEAR, SHAPE, Case, cells, jax, pool_jax

import ndpool

jnp = jax.numpy
test_util = pytest.importorskip("jax.test_util")


def same(a, b):
    return numpy.asarray(a).tobytes() == numpy.asarray(b).tobytes()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_agree_with_differences_to_second_order(case):
    x = cells((2, 4, 5, 3))
    test_util.check_grads(case, (x,), order=2, modes=["fwd", "rev"], rtol=1e-4, atol=1e-4, eps=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_derivatives_have_the_bits_of_numpy(case):
    x, dx = cells(SHAPE, "f4"), cells(SHAPE, "f4", seed=1)
    y, dy = jax.jit(lambda x, dx: jax.jvp(case, (x,), (dx,)))(x, dx)
    gy = cells(y.shape, "f4", seed=2)
    gx = jax.jit(lambda x, gy: jax.vjp(case, x)[1](gy)[0])(x, gy)
    function = getattr(ndpool, case.name)
    expected_y, expected_dy = function.jvp(x, dx, *case.args, **case.options)
    assert same(y, expected_y) and same(dy, expected_dy)
    assert numpy.allclose(gx, function.vjp(x, gy, *case.args, **case.options), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_jvp_and_vjp_are_transposes(case):
    x, dx = cells(SHAPE), cells(SHAPE, seed=1)
    y, forward = jax.linearize(case, x)
    gy = cells(y.shape, seed=2)
    (gx,) = jax.linear_transpose(forward, x)(gy)
    assert numpy.isclose(jnp.vdot(forward(dx), gy), jnp.vdot(dx, gx), rtol=1e-12, atol=1e-12)
    (back,) = jax.linear_transpose(lambda gy: jax.linear_transpose(forward, x)(gy)[0], gy)(dx)
    assert numpy.allclose(back, forward(dx), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("axis", [0, 2])
def test_vmap_adds_an_axis(case, axis):
    many = cells((5, *SHAPE))
    x = numpy.moveaxis(many, 0, axis)
    gradient = lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(case(x))))(x)
    for function in (case, gradient):
        mapped = jax.vmap(function, in_axes=axis)
        expected = numpy.stack([function(one) for one in many])
        assert numpy.allclose(mapped(x), expected, rtol=1e-12, atol=1e-12)


def test_vmap_moves_no_data():
    pool = Case("max_pool", ((2, 2),), {"axes": (1, 2)})
    mapped = jax.vmap(pool, in_axes=2, out_axes=2)
    text = str(jax.make_jaxpr(jax.grad(lambda x: mapped(x).sum()))(cells((2, 4, 5, 4, 3))))
    assert "ndpool_scatter" in text and "transpose" not in text.replace("transpose[name", "")


def test_vmap_of_one_operand_shares_the_other():
    case = Case("global_max_pool", (), {"axes": (1,), "ties": "first"})
    x = cells((3, 4, 2))
    jacobian = jax.jacrev(case)(x)
    assert numpy.allclose(jacobian, jax.jacfwd(case)(x), rtol=0, atol=0)
    assert jacobian.sum() == 6


@pytest.mark.parametrize("case", [CURVED[0], CURVED[2], CURVED[9]], ids=str)
def test_hessians_are_those_of_plain_jax(case):
    x = cells((1, 4, 5, 2))
    hessian = jax.hessian(lambda x: jnp.sum(case(x)))(x)
    assert numpy.allclose(
        hessian, jax.jacrev(jax.jacrev(lambda x: jnp.sum(case(x))))(x), atol=1e-12
    )
    assert numpy.allclose(hessian, numpy.transpose(hessian, (4, 5, 6, 7, 0, 1, 2, 3)), atol=1e-12)
    assert numpy.abs(hessian).max() > 1e-3


def test_hessian_of_a_smooth_max_is_that_of_its_formula():
    x = cells((6,))
    ours = jax.hessian(lambda x: pool_jax.smooth_max_pool(x, (6,), beta=3.0)[0])(x)
    plain = jax.hessian(lambda x: jax.nn.logsumexp(3.0 * x) / 3.0)(x)
    assert numpy.allclose(ours, plain, rtol=1e-12, atol=1e-14)
    third = jax.jacfwd(jax.hessian(lambda x: pool_jax.lp_pool(x, 3.0, (6,))[0]))(x)
    plain = jax.jacfwd(jax.hessian(lambda x: (jnp.abs(x) ** 3).sum() ** (1 / 3)))(x)
    assert numpy.allclose(third, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", [LINEAR[0], EXTREME[0], CURVED[0]], ids=str)
def test_scan_and_checkpoint(case):
    x = cells((3, *SHAPE))

    def looped(x):
        total, ys = jax.lax.scan(lambda sum, one: (sum + case(one).sum(), case(one)), 0.0, x)
        return total + (ys**2).sum()

    plain = lambda x: sum(case(one).sum() + (case(one) ** 2).sum() for one in x)
    expected = jax.grad(plain)(x)
    assert numpy.allclose(jax.grad(looped)(x), expected, rtol=1e-12, atol=1e-12)
    assert numpy.allclose(jax.jit(jax.grad(jax.checkpoint(looped)))(x), expected, atol=1e-12)


def test_dilated_max_has_the_gradient_that_reduce_window_lacks():
    x, gy = cells((2, 9, 9)), cells((2, 5, 5), seed=1)
    _, backward = jax.vjp(lambda x: pool_jax.max_pool(x, (3, 3), 1, 0, 2), x)
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (5, 5), (1, 2))[..., ::2, ::2]
    gx = numpy.zeros_like(x)
    for n, i, j in numpy.ndindex(2, 5, 5):
        row, column = divmod(int(windows[n, i, j].argmax()), 3)
        gx[n, i + 2 * row, j + 2 * column] += gy[n, i, j]
    assert numpy.allclose(backward(gy)[0], gx, rtol=1e-14, atol=1e-14)


def test_unpooling_is_linear_in_both_modes():
    x = cells((2, 6, 6))
    indices = ndpool.max_pool(x, (3, 3), stride=1, return_indices=True)[1]  # some repeat
    unpool = lambda y: pool_jax.max_unpool(y, indices, (6, 6))
    y, dy, gx = cells((2, 4, 4)), cells((2, 4, 4), seed=1), cells((2, 6, 6), seed=2)
    assert same(jax.jvp(unpool, (y,), (dy,))[1], ndpool.max_unpool(dy, indices, (6, 6)))
    (gy,) = jax.vjp(unpool, y)[1](gx)
    assert same(gy, ndpool.max_unpool.vjp(y, gx, indices, (6, 6)))
    test_util.check_grads(unpool, (y,), order=2, modes=["fwd", "rev"])
    ys = numpy.stack([y, 2 * y])
    assert same(jax.vmap(unpool)(ys), numpy.stack([unpool(y), unpool(2 * y)]))
    both = jax.vmap(lambda y, i: pool_jax.max_unpool(y, i, (6, 6)), in_axes=(0, 1), out_axes=2)
    got = both(ys, numpy.stack([indices, indices], 1))
    assert same(numpy.moveaxis(numpy.asarray(got), 2, 0), numpy.stack([unpool(y), unpool(2 * y)]))


def test_integers_have_no_tangents():
    x = jnp.arange(8)
    y, dy = jax.jvp(
        lambda x: pool_jax.max_pool(x, (2,)), (x,), (numpy.zeros(8, jax.dtypes.float0),)
    )
    assert y.tolist() == [1, 3, 5, 7] and dy.dtype == jax.dtypes.float0


def _losses(pool):
    """Losses of a small network over a few steps of gradient descent."""
    images, labels = cells((8, 12, 12, 1), "f4"), numpy.arange(8) % 4
    filters, weights = cells((3, 3, 1, 4), "f4", 1) * 0.3, cells((144, 4), "f4", 2) * 0.1

    def loss(parameters):
        layout = ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(
            images, parameters[0], (1, 1), "SAME", dimension_numbers=layout
        )
        x = pool(jax.nn.relu(x)).reshape(8, -1) @ parameters[1]
        return -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(8), labels])

    @jax.jit
    def step(parameters):
        value, gradient = jax.value_and_grad(loss)(parameters)
        return [p - 0.02 * g for p, g in zip(parameters, gradient)], value

    parameters, losses = [filters, weights], []
    for _ in range(5):
        parameters, value = step(parameters)
        losses.append(float(value))
    return losses


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_training_has_the_losses_of_plain_jax(kind):
    start, combine = (-numpy.inf, jax.lax.max) if kind == "max" else (0.0, jax.lax.add)
    window = (1, 2, 2, 1)
    divisor = numpy.float32(1 if kind == "max" else 4)
    plain = lambda x: jax.lax.reduce_window(x, start, combine, window, window, "VALID") / divisor
    ours = lambda x: getattr(pool_jax.linen, f"{kind}_pool")(x, (2, 2), strides=(2, 2))
    losses = _losses(ours)
    assert losses[-1] < losses[0]
    assert numpy.allclose(losses, _losses(plain), rtol=1e-6)
