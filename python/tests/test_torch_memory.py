"""Results and gradients lie in memory as torch's do."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch_cases import laid_out, one_thread, strides, twin_calls, with_tensors

import ndpool.torch.functional as N

CALLS = [(rank, call) for rank in (1, 2, 3) for call in twin_calls(rank)]


@pytest.fixture(autouse=True)
def one_thread_only():
    with one_thread():
        yield


def channels_innermost(x: torch.Tensor, rank: int) -> torch.Tensor:
    axis = x.dim() - rank - 1
    return x.movedim(axis, -1).contiguous().movedim(-1, axis)


def inputs(rank: int, batched: bool):
    shape = (*((2,) if batched else ()), 3, *(8, 7, 6)[:rank])
    x = torch.rand(shape)
    yield "contiguous", x
    yield "channels innermost", channels_innermost(x, rank)
    yield "sliced", laid_out(x, "sliced")
    yield "transposed", laid_out(x, "transposed")
    wide = torch.rand(*shape[: -rank - 1], 6, *shape[-rank:])
    yield "some channels", channels_innermost(wide, rank).narrow(-rank - 1, 0, 3)
    if x.dim() == 4 and rank == 2:
        yield "channels_last", x.contiguous(memory_format=torch.channels_last)
    if x.dim() == 5:
        yield "channels_last_3d", x.contiguous(memory_format=torch.channels_last_3d)


@pytest.mark.parametrize("batched", [True, False], ids=["batched", "unbatched"])
@pytest.mark.parametrize("rank, call", CALLS)
def test_strides_are_those_of_torch(rank, call, batched):
    mine, theirs = (with_tensors(m, call, twin_calls(rank)[call]) for m in (N, F))
    for layout, x in inputs(rank, batched):
        assert strides(mine(x)) == strides(theirs(x)), layout
        x.requires_grad_()
        results = [f(x) for f in (mine, theirs)]
        assert strides(results[0]) == strides(results[1]), f"{layout}, recorded"
        if "unpool" in call and layout in ("sliced", "transposed"):
            continue  # torch's backward views what is no view, and raises
        ones = torch.ones(results[0].shape)
        for gy in (ones, torch.ones_like(results[0]), channels_innermost(ones, rank)):
            gradients = [torch.autograd.grad(y, x, gy, retain_graph=True)[0] for y in results]
            assert strides(gradients[0]) == strides(gradients[1]), f"gradient, {layout}"


@pytest.mark.parametrize("rank", (1, 2, 3))
@pytest.mark.parametrize("name", ["max_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("batched", [True, False], ids=["batched", "unbatched"])
def test_strides_of_indices_are_those_of_torch(rank, name, batched):
    for layout, x in inputs(rank, batched):
        pairs = [getattr(m, f"{name}{rank}d")(x, 2, return_indices=True) for m in (N, F)]
        assert strides(pairs[0][1]) == strides(pairs[1][1]), layout


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("batched", [True, False], ids=["batched", "unbatched"])
def test_max_pool3d_of_ndhwc(dtype, batched):
    x = torch.randn(*((2,) if batched else ()), 9, 8, 7, 4).to(dtype).movedim(-1, -4)
    a = x.detach().requires_grad_()
    b = x.detach().contiguous().requires_grad_()
    ya, ia = N.max_pool3d(a, 3, 2, return_indices=True)
    yb, ib = N.max_pool3d(b, 3, 2, return_indices=True)
    assert ya.stride(-4) == 1 and ia.stride(-4) == 1 and yb.is_contiguous()
    assert torch.equal(ya, yb) and torch.equal(ia, ib)
    gy = torch.randn(ya.shape).to(dtype)
    for y in (ya, yb):
        y.backward(gy)
    assert torch.equal(a.grad, b.grad)
