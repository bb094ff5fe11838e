"""Remembered calls: a call that torch has checked goes from its arguments to the pool in C++.

Two compiled types do the same. `ndpool._core.TensorCalls` reads tensors by DLPack, with every
torch, and leaves what autograd records to `_autograd`. The extension that was built against this
very torch, if there is one, records too.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ndpool import _core, _traits
from ndpool.torch import _autograd, _maps
from ndpool.torch._build import module_name
from ndpool.torch._maps import Pooling

# What must be false, or 0, for a call that no mode and no transformation must see.
_questions = (
    torch._C._is_torch_function_mode_enabled,
    torch._C._len_torch_dispatch_stack,
    torch._C._are_functorch_transforms_active,
    torch._C._is_tracing,
)
_dlpack = (
    Tensor,
    _questions,
    forward_ad,
    torch.is_grad_enabled,
    torch._C._is_any_autocast_enabled,
    torch.int64,
)


def find_native() -> Any:
    """The extension for this build of torch, or None. `NDPOOL_TORCH_NATIVE=0` says none."""
    if os.environ.get("NDPOOL_TORCH_NATIVE") == "0":
        return None
    try:
        return importlib.import_module(f"ndpool.torch.{module_name()}")
    except ImportError:
        return None


native = find_native()

# Tensors are pooled on torch's threads. A torch without OpenMP has others, which only it can use.
if "ATen parallel backend: OpenMP" in torch.__config__.parallel_info():
    _core.use_torch_threads(torch.get_num_threads)


def remembered(reference: Callable[..., Any], *, autocasts: bool, indexed: bool) -> Any:
    """`calls(x, *arguments)`: the result, or None for calls that are new or that Python serves."""
    if native is not None:
        return native.TensorCalls(reference, autocasts, indexed)
    return _core.TensorCalls(reference, autocasts, indexed, _dlpack)


class Entry(NamedTuple):
    """A call as C++ reads it (python/src/calls_type.hpp), by position."""

    kind: int
    pool: Any = None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()  # of results that are not recorded
    recorded_strides: tuple[int, ...] = ()
    gradient_strides: tuple[int, ...] = ()  # empty: row-major where the gradient of y is
    winner_bytes: int = 1
    backward: Callable[[Any, Tensor], Tensor] | None = None
    is_recorded_in_torch: bool = False


# Must follow CallKind in python/src/calls.hpp.
IN_TORCH = Entry(0)
_LINEAR, _EXTREME, _CURVED, _UNPOOL = 1, 2, 3, 4


def entry_of(
    pooling: Pooling, x: Tensor, strides: tuple[int, ...], is_recorded_in_torch: bool
) -> Entry:
    """A pool of tensors like x, whose results have these strides where they are not recorded."""
    shape, recorded_strides, winners = _maps.layout_of(pooling, x.shape, x.stride())
    gradient_strides = _maps.strides_of(x.shape, pooling.format.gradient_axis(x))
    kind = _traits.traits_of(pooling.pool).kind
    if kind == "extreme" and _autograd.is_like_gradient(pooling, x):
        gradient_strides = ()
    backward = _autograd.backward_of(pooling, x)
    code = {"linear": _LINEAR, "extreme": _EXTREME, "curved": _CURVED}[kind]
    return Entry(
        code,
        pooling.pool,
        shape,
        strides,
        recorded_strides,
        gradient_strides,
        winners.itemsize,
        backward,
        is_recorded_in_torch,
    )


def unpool_entry(y: Tensor, size: tuple[int, ...]) -> Entry:
    x = _maps.new_unpooled(torch.empty_like(y, device="meta"), size)
    return Entry(
        _UNPOOL,
        _maps.unpool_of(size),
        tuple(x.shape),
        x.stride(),
        backward=lambda indices, gx: _autograd.gathered(gx, indices, len(size)),
    )
