"""Derivatives of any order and mode, and transformations, of every function on tensors."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad, gradcheck, gradgradcheck

import ndpool.torch.functional as N

# Forward mode of torch itself uses what torch has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")

# Functions by a name: the call, and the shape it takes.
CALLS = {}
for rank, shape in ((1, (2, 7)), (2, (1, 2, 5, 4)), (3, (2, 3, 4, 3))):
    CALLS |= {
        f"max_pool{rank}d": (rank, shape, (2, 1, 1), {}),
        f"avg_pool{rank}d": (rank, shape, (2, 2, 1, True, False), {}),
        f"lp_pool{rank}d": (rank, shape, (2, 2), {}),
        f"adaptive_max_pool{rank}d": (rank, shape, (2,), {}),
        f"adaptive_avg_pool{rank}d": (rank, shape, (2,), {}),
    }
WINDOW = (((2, 2), (1, 2), ((1, 0), (0, 1)), (2, 1)), {})
for reducer in ("max", "min", "sum", "avg", "smooth_max", "lp"):
    for family, (args, options) in {
        "": WINDOW, "adaptive_": (((2, 3),), {}), "global_": ((), {"axes": (0, 2)}),
    }.items():  # fmt: skip
        if reducer == "lp":
            args = (3.0, *args)
        CALLS[f"{family}{reducer}_pool"] = (0, (2, 5, 4), args, options)
VARIANTS = {
    "lp_pool2d of 3": ("lp_pool2d", (1, 2, 5, 4), (3, 2, 1, True), {}),
    "lp_pool of 2": ("lp_pool", (2, 5, 4), (2.0, (2, 2)), {}),
    "lp_pool of inf": ("lp_pool", (2, 5, 4), (math.inf, (2, 2)), {}),
    "lp_pool of 1": ("lp_pool", (2, 5, 4), (1.0, (2, 2)), {}),
    "max_pool split": ("max_pool", (2, 5, 4), ((2, 2), 1), {"ties": "split"}),
    "smooth_max_pool same": (
        "smooth_max_pool", (2, 5, 4), ((3, 3),), {"padding": "same", "beta": 3.0},
    ),
    "smooth_max_pool ignore": (
        "smooth_max_pool", (2, 5, 4), ((3, 3), 2, 1), {"pad_mode": "ignore", "beta": -2.0},
    ),
}  # fmt: skip
ALL = {name: (name, shape, args, options) for name, (_, shape, args, options) in CALLS.items()}
ALL |= VARIANTS


def function_of(name):
    function, shape, args, options = ALL[name]
    return (lambda x: getattr(N, function)(x, *args, **options)), shape


def distinct(shape, seed=0, dtype=torch.float64):
    """Numbers that are far from equal, and from 0, so that no difference steps over a kink."""
    count = math.prod(shape)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return ((order + 1) / count * 2 + 0.1).to(dtype).reshape(shape)


@pytest.mark.parametrize("name", ALL)
def test_gradients_are_slopes(name):
    f, shape = function_of(name)
    x = distinct(shape).requires_grad_()
    assert gradcheck(f, x, check_forward_ad=True, check_batched_grad=True,
                     check_batched_forward_grad=False)  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_gradients_of_gradients_are_slopes(name):
    f, shape = function_of(name)
    x = distinct(shape).requires_grad_()
    assert gradgradcheck(f, x, check_fwd_over_rev=True, check_rev_over_rev=True,
                         check_batched_grad=True)  # fmt: skip


@pytest.mark.parametrize("rank", (1, 2, 3))
def test_unpooling_has_all_derivatives(rank):
    pool, unpool = getattr(F, f"max_pool{rank}d"), getattr(N, f"max_unpool{rank}d")
    x = distinct((2, 1, *(4,) * rank))
    y, indices = pool(x, 2, return_indices=True)
    y = y.clone().requires_grad_()
    assert gradcheck(lambda y: unpool(y, indices, 2), y, check_forward_ad=True,
                     check_batched_grad=True, check_batched_forward_grad=False)  # fmt: skip
    assert gradgradcheck(lambda y: unpool(y, indices, 2).sin(), y, check_fwd_over_rev=True)


def test_duplicates_of_unpooling_all_get_the_gradient():
    y = torch.tensor([[[1.0, 2.0, 3.0]]], requires_grad=True)
    indices = torch.tensor([[[0, 0, 2]]])
    for module in (N, F):
        (gy,) = torch.autograd.grad(module.max_unpool1d(y, indices, 2).sum(), y)
        assert gy.tolist() == [[[1.0, 1.0, 1.0]]]


@pytest.mark.parametrize("name", ["smooth_max_pool", "lp_pool", "max_pool2d", "avg_pool2d"])
def test_third_derivatives_agree_between_modes(name):
    f, shape = function_of(name)
    x, v = distinct(shape), distinct(shape, seed=1)

    def total(x):
        return f(x.sin()).sum()

    def along(g):
        return lambda x: torch.func.jvp(g, (x,), (v,))[1]

    grad = torch.func.grad
    by_reverse = grad(lambda x: (grad(lambda x: (grad(total)(x) * v).sum())(x) * v).sum())(x)
    torch.testing.assert_close(along(grad(lambda x: (grad(total)(x) * v).sum()))(x), by_reverse)
    torch.testing.assert_close(grad(along(lambda x: (grad(total)(x) * v).sum()))(x), by_reverse)


def test_forward_mode_within_forward_mode():
    x, v = distinct((2, 5, 4)), distinct((2, 5, 4), seed=1)

    def twice(f):
        inner = lambda x: torch.func.jvp(lambda x: f(x.exp()).sum(), (x,), (v,))[1]
        return torch.func.jvp(inner, (x,), (v,))[1]

    for name in ("max_pool", "avg_pool"):
        f, _ = function_of(name)
        gradient = torch.func.grad(lambda x, f=f: f(x).sum())(x.exp())
        torch.testing.assert_close(twice(f), (gradient * x.exp() * v * v).sum())
    with pytest.raises(NotImplementedError, match="reverse mode"):
        twice(function_of("smooth_max_pool")[0])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("axis", (0, 1))
def test_vmap_is_a_loop(name, axis):
    f, shape = function_of(name)
    many = torch.stack([distinct(shape, seed) for seed in range(3)], axis)
    loop = torch.stack([f(x) for x in many.unbind(axis)])
    torch.testing.assert_close(torch.vmap(f, in_dims=axis)(many), loop)
    v = torch.stack([distinct(shape, seed + 5) for seed in range(3)], axis)
    pushed = torch.vmap(lambda x, v: torch.func.jvp(f, (x,), (v,))[1], axis)(many, v)
    for i, (x, dx) in enumerate(zip(many.unbind(axis), v.unbind(axis))):
        torch.testing.assert_close(pushed[i], torch.func.jvp(f, (x,), (dx,))[1])
    pulled = torch.vmap(torch.func.grad(lambda x: f(x).pow(2).sum()), axis)(many)
    for i, x in enumerate(many.unbind(axis)):
        torch.testing.assert_close(pulled[i], torch.func.grad(lambda x: f(x).pow(2).sum())(x))


def test_vmap_keeps_indices():
    x = torch.randn(4, 2, 6, 6)
    y, indices = torch.vmap(lambda x: N.max_pool2d(x, 2, return_indices=True))(x)
    expected, expected_indices = F.max_pool2d(x, 2, return_indices=True)
    assert torch.equal(y, expected) and torch.equal(indices, expected_indices)
    back = torch.vmap(lambda y, i: N.max_unpool2d(y, i, 2))(y, indices)
    assert torch.equal(back, F.max_unpool2d(y, indices, 2))


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d", "smooth_max_pool"])
def test_jacobians_and_hessians(name):
    f, shape = function_of(name)
    x = distinct(shape)
    forward, reverse = torch.func.jacfwd(f)(x), torch.func.jacrev(f)(x)
    torch.testing.assert_close(forward, reverse)
    hessian = torch.func.hessian(lambda x: f(x).pow(3).sum())(x)
    torch.testing.assert_close(
        hessian, torch.func.jacrev(torch.func.jacrev(lambda x: f(x).pow(3).sum()))(x)
    )


def test_dual_tensors():
    x, dx = torch.randn(1, 6, 6), torch.randn(1, 6, 6)
    for name in ("max_pool2d", "avg_pool2d"):
        tangents = []
        for module in (N, F):
            with forward_ad.dual_level():
                y = getattr(module, name)(forward_ad.make_dual(x, dx), 2)
                tangents.append(forward_ad.unpack_dual(y).tangent)
        torch.testing.assert_close(*tangents)


def saved_bytes(f, *inputs) -> int:
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: sizes.append(t.numel() * t.element_size()) or t, lambda t: t
    ):
        f(*inputs)
    return sum(sizes)


def test_little_is_saved():
    x = torch.randn(1, 8, 64, 64, requires_grad=True)
    outputs = 8 * 32 * 32
    assert saved_bytes(lambda x: N.max_pool2d(x, 2), x) == outputs
    assert saved_bytes(lambda x: N.max_pool2d(x, 17, 2, 8), x) == 2 * outputs
    assert saved_bytes(lambda x: N.avg_pool2d(x, 2), x) == 0
    assert saved_bytes(lambda x: N.adaptive_avg_pool2d(x, 3), x) == 0


def test_only_what_is_asked_for_is_recorded():
    x = torch.randn(1, 4, 4)
    assert not N.max_pool2d(x, 2).requires_grad
    x.requires_grad_()
    y, indices = N.max_pool2d(x, 2, return_indices=True)
    assert y.requires_grad and not indices.requires_grad
    with torch.no_grad():
        assert not N.max_pool2d(x, 2).requires_grad
    with torch.inference_mode():
        y = N.avg_pool2d(x, 2)
        assert y.is_inference() and not y.requires_grad
    assert N.max_pool2d(torch.nn.Parameter(torch.randn(1, 4, 4)), 2).requires_grad


def test_gradients_keep_the_memory_format():
    x = torch.randn(2, 3, 8, 8).contiguous(memory_format=torch.channels_last).requires_grad_()
    for f in (lambda x: N.max_pool2d(x, 2), lambda x: N.avg_pool2d(x, 2)):
        (gx,) = torch.autograd.grad(f(x).sum(), x)
        assert gx.is_contiguous(memory_format=torch.channels_last)
