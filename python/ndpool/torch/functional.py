"""Pools of tensors, with autograd.

The functions that `torch.nn.functional` has too take the same arguments, give the same results and
raise the same errors. The others are those of `ndpool`, with its arguments, on tensors of any rank.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.functional import _unpool_output_size  # type: ignore[attr-defined]
from torch.overrides import has_torch_function_unary

from ndpool._core import Pool
from ndpool.torch import _autograd, _calls
from ndpool.torch._any_rank import any_rank
from ndpool.torch._maps import ROW_MAJOR, Format, Pooling
from ndpool.torch._operators import operators
from ndpool.torch._twins import (
    FLOATS,
    INTEGERS,
    Twin,
    autocast,
    is_compiling,
    is_dense,
    is_foreign,
    is_tracing,
    is_watched,
    named,
    overridden,
)

Size = int | Sequence[int]
Pooled = Tensor | tuple[Tensor, Tensor]
LONG_FLOATS = frozenset((torch.float32, torch.float64))


def _format(rank: int) -> Format:
    """Of all pools but maxima torch writes those of three axes row-major, whatever the input is."""
    return Format(rank) if rank < 3 else ROW_MAJOR


def _entries(value: Any, rank: int) -> tuple[int, ...]:
    """A size as torch writes it: one number for all axes, or one for each."""
    if isinstance(value, int):
        return (value,) * rank
    if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:  # of NumPy, or a tensor
        return (operator.index(value),) * rank
    values = tuple(value)
    return values * rank if len(values) == 1 else values


def _stride(value: Any, rank: int) -> tuple[int, ...] | None:
    is_left_out = value is None or (isinstance(value, (tuple, list)) and not value)
    return None if is_left_out else _entries(value, rank)


def _max_pool(rank: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"max_pool{rank}d"

    def describe(sizes, kernel_size, stride, padding, dilation, ceil_mode):  # type: ignore[no-untyped-def]
        pool = Pool.window(
            "max", _entries(kernel_size, rank), _stride(stride, rank), _entries(padding, rank),
            _entries(dilation, rank), None, ceil_mode, empty="identity",
        )  # fmt: skip
        return Pooling(pool, Format(rank))

    original = getattr(F, name)
    # Without indices torch has no kernel for integers of one axis.
    plain = Twin(
        original,
        describe,
        FLOATS if rank == 1 else FLOATS | INTEGERS,
        unrecorded=ROW_MAJOR if rank == 1 else None,
        autocasts=rank == 3,
    )
    with_both = getattr(F, f"{name}_with_indices")
    indexed = Twin(with_both, describe, FLOATS | INTEGERS, indexed=True)
    fast, fast_indexed = plain.calls, indexed.calls

    def max_pool(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Pooled:
        if not is_compiling():
            calls = fast_indexed if return_indices else fast
            y = calls(input, kernel_size, stride, padding, dilation, ceil_mode)
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(
                public, original, input, kernel_size, stride, padding, dilation, ceil_mode,
                return_indices,
            )  # fmt: skip
        if return_indices:
            return indexed.with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return plain(input, kernel_size, stride, padding, dilation, ceil_mode)

    def with_indices(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = True,
    ) -> tuple[Tensor, Tensor]:
        return public(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    public = named(max_pool, name, f"The counterpart of `torch.nn.functional.{name}`.")
    doc = f"`{name}` with the indices of the maxima."
    return public, named(with_indices, f"{name}_with_indices", doc)


def _avg_pool(rank: int) -> Callable[..., Tensor]:
    name = f"avg_pool{rank}d"
    dtypes = (FLOATS if rank < 3 else LONG_FLOATS) | {torch.int64}

    def describe(sizes, kernel_size, stride, padding, ceil_mode, include, divisor=None):  # type: ignore[no-untyped-def]
        pool = Pool.window(
            "avg", _entries(kernel_size, rank), _stride(stride, rank), _entries(padding, rank),
            ceil_mode=ceil_mode, count_include_pad=include, divisor=divisor,
            rounding="toward_zero", empty="identity",
        )  # fmt: skip
        return Pooling(pool, _format(rank))

    original = getattr(F, name)
    twin = Twin(original, describe, dtypes, autocasts=rank == 3)
    fast = twin.calls
    doc = f"The counterpart of `torch.nn.functional.{name}`."

    def avg_pool1d(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor:
        if not is_compiling():
            y = fast(input, kernel_size, stride, padding, ceil_mode, count_include_pad)
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(
                public, original, input, kernel_size, stride, padding, ceil_mode, count_include_pad
            )
        return twin(input, kernel_size, stride, padding, ceil_mode, count_include_pad)

    def avg_pool(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        if not is_compiling():
            y = fast(
                input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            )
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(
                public, original, input, kernel_size, stride, padding, ceil_mode,
                count_include_pad, divisor_override,
            )  # fmt: skip
        return twin(
            input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    public = named(avg_pool1d if rank == 1 else avg_pool, name, doc)
    return public


def _bins(sizes: tuple[int, ...], output_size: Any, rank: int) -> tuple[int, ...]:
    """Where torch leaves a size out, the axis keeps its own."""
    wanted = (None,) * rank if output_size is None else _entries(output_size, rank)
    return tuple(old if new is None else new for old, new in zip(sizes, wanted))


def _adaptive_max_pool(rank: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"adaptive_max_pool{rank}d"

    def describe(sizes, output_size):  # type: ignore[no-untyped-def]
        return Pooling(Pool.adaptive("max", _bins(sizes, output_size, rank)), _format(rank))

    original, with_both = getattr(F, name), getattr(F, f"{name}_with_indices")

    def without(x, output_size):  # type: ignore[no-untyped-def]
        # Not torch's own function without indices, which looks up the one that is replaced.
        return with_both(x, output_size)[0]

    plain = Twin(without, describe, FLOATS, rank, autocasts=rank == 3)
    indexed = Twin(with_both, describe, FLOATS, rank, autocasts=rank == 3, indexed=True)
    fast, fast_indexed = plain.calls, indexed.calls

    def adaptive_max_pool(input: Tensor, output_size: Size, return_indices: bool = False) -> Pooled:
        if not is_compiling():
            y = (fast_indexed if return_indices else fast)(input, output_size)
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(public, original, input, output_size, return_indices)
        if return_indices:
            return indexed.with_indices(input, output_size)
        return plain(input, output_size)

    def with_indices(
        input: Tensor, output_size: Size, return_indices: bool = True
    ) -> tuple[Tensor, Tensor]:
        return public(input, output_size, True)

    public = named(adaptive_max_pool, name, f"The counterpart of `torch.nn.functional.{name}`.")
    doc = f"`{name}` with the indices of the maxima."
    return public, named(with_indices, f"{name}_with_indices", doc)


def _adaptive_avg_pool(rank: int) -> Callable[..., Tensor]:
    name = f"adaptive_avg_pool{rank}d"

    def describe(sizes, output_size):  # type: ignore[no-untyped-def]
        bins = _bins(sizes, output_size, rank)
        # One bin is a mean to torch: its gradient is row-major, whatever the input is.
        format = Format(rank, gradients=False) if set(bins) == {1} else _format(rank)
        return Pooling(Pool.adaptive("avg", bins), format)

    original = getattr(F, name)
    twin = Twin(original, describe, FLOATS, rank, autocasts=rank == 3)
    fast = twin.calls

    def adaptive_avg_pool(input: Tensor, output_size: Size) -> Tensor:
        if not is_compiling():
            y = fast(input, output_size)
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(public, original, input, output_size)
        return twin(input, output_size)

    public = named(adaptive_avg_pool, name, f"The counterpart of `torch.nn.functional.{name}`.")
    return public


def _lp_pool(
    rank: int, max_pool: Callable[..., Any], avg_pool: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    name = f"lp_pool{rank}d"

    def describe(sizes, kernel_size, stride, ceil_mode, p):  # type: ignore[no-untyped-def]
        # Of what is no norm nothing but the check of its arguments is used.
        reducer = ("lp", {"p": p}) if _is_norm(p) and not ceil_mode else ("sum", {})
        kernel, step = _entries(kernel_size, rank), _stride(stride, rank)
        pool = Pool.window(reducer[0], kernel, step, ceil_mode=ceil_mode, **reducer[1])
        return Pooling(pool, _format(rank))

    original = getattr(F, name)

    def reference(x, kernel_size, stride, ceil_mode, p):  # type: ignore[no-untyped-def]
        return original(x, p, kernel_size, stride, ceil_mode)

    twin = Twin(reference, describe, FLOATS if rank < 3 else LONG_FLOATS, autocasts=rank == 3)
    fast = twin.calls

    def lp_pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        if not ceil_mode and _is_norm(norm_type) and not is_compiling():
            y = fast(input, kernel_size, stride, ceil_mode, norm_type)
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(public, original, input, norm_type, kernel_size, stride, ceil_mode)
        x = autocast(input) if rank == 3 else input
        arguments = (kernel_size, stride, ceil_mode, norm_type)
        if _is_norm(norm_type) and not ceil_mode:
            return twin(x, *arguments)
        is_number = isinstance(norm_type, (int, float))
        if not is_compiling() and (not is_number or twin.find(x, arguments).pooling is None):
            return reference(input, *arguments)
        if norm_type == math.inf:
            return max_pool(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -math.inf:
            return -max_pool(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        # torch's own formula: a window that overhangs is scaled up to the whole kernel.
        average = avg_pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        total = torch.sign(average) * F.relu(torch.abs(average))
        return total.mul(math.prod(_entries(kernel_size, rank))).pow(1.0 / norm_type)

    public = named(lp_pool, name, f"The counterpart of `torch.nn.functional.{name}`.")
    return public


def _is_norm(p: Any) -> bool:
    """True for the even numbers, for which torch's power sum is a norm though it has no abs."""
    return isinstance(p, (int, float)) and 0 < p < math.inf and p % 2 == 0


def _max_unpool(rank: int) -> Callable[..., Tensor]:
    name = f"max_unpool{rank}d"
    original = getattr(F, name)
    fast = _calls.remembered(original, autocasts=True, indexed=False)

    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        arguments = (indices, kernel_size, stride, padding, output_size)
        if not is_compiling():
            y = fast(input, *arguments)
            if y is not None:
                return y
        if has_torch_function_unary(input):
            return overridden(public, original, input, *arguments)
        x = autocast(input)
        known = None if is_compiling() or is_tracing() else fast.find(x, *arguments)
        if known is None and not is_compiling() and not _is_unpooled(original, x, *arguments):
            return original(input, *arguments)
        if known is None:
            kernel = _entries(kernel_size, rank)
            step = _stride(stride, rank) or kernel
            size = _unpool_output_size(x, kernel, step, _entries(padding, rank), output_size)
        else:
            size = known.shape[-rank:]
        if is_compiling() or is_foreign(x):
            return operators.unpool(x, indices, list(size))
        if known is None and _is_packed(indices) and fast.reads(x, *arguments):
            fast.add(_calls.unpool_entry(x, tuple(size)), x, *arguments)
        if not is_watched(indices) and bool((indices < 0).any()):  # no index, to ndpool
            original(x.detach(), *arguments)
        try:
            return _autograd.Unpooling.apply(x, indices, tuple(size))
        except ValueError:
            original(x.detach(), *arguments)  # says which index is wrong
            raise

    public = named(max_unpool, name, f"The counterpart of `torch.nn.functional.{name}`.")
    return public


def _is_packed(x: Tensor) -> bool:
    return x.is_contiguous() or (
        x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last)
    )


def _is_unpooled(
    original: Callable[..., Tensor], x: Tensor, indices: Tensor, *arguments: Any
) -> bool:
    """Raises what torch raises; False for what is left to torch, or has nothing to place."""
    if is_tracing() or not (is_dense(x) and is_dense(indices) and x.dtype in FLOATS):
        return False
    try:
        shapes = [torch.empty(t.shape, dtype=t.dtype, device="meta") for t in (x, indices)]
        result = original(*shapes, *arguments)
    except Exception:
        original(x.detach(), indices, *arguments)
        raise
    return x.numel() > 0 and result.numel() > 0


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)
avg_pool1d, avg_pool2d, avg_pool3d = map(_avg_pool, (1, 2, 3))
lp_pool1d = _lp_pool(1, max_pool1d, avg_pool1d)
lp_pool2d = _lp_pool(2, max_pool2d, avg_pool2d)
lp_pool3d = _lp_pool(3, max_pool3d, avg_pool3d)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive_avg_pool, (1, 2, 3))
max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))

max_pool = any_rank("max")
min_pool = any_rank("min")
sum_pool = any_rank("sum")
avg_pool = any_rank("avg")
smooth_max_pool = any_rank("smooth_max")
lp_pool = any_rank("lp")
adaptive_max_pool = any_rank("adaptive_max")
adaptive_min_pool = any_rank("adaptive_min")
adaptive_sum_pool = any_rank("adaptive_sum")
adaptive_avg_pool = any_rank("adaptive_avg")
adaptive_smooth_max_pool = any_rank("adaptive_smooth_max")
adaptive_lp_pool = any_rank("adaptive_lp")
global_max_pool = any_rank("global_max")
global_min_pool = any_rank("global_min")
global_sum_pool = any_rank("global_sum")
global_avg_pool = any_rank("global_avg")
global_smooth_max_pool = any_rank("global_smooth_max")
global_lp_pool = any_rank("global_lp")

__all__ = [name for name, value in globals().items() if "pool" in name and not name.startswith("_")]
