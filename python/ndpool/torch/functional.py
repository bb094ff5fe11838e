"""Pools of tensors, with autograd.

The functions that `torch.nn.functional` has too take the same arguments, give the same results and
raise the same errors. The others are those of `ndpool`, with its arguments, on tensors of any rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.functional import _unpool_output_size
from torch.overrides import handle_torch_function, has_torch_function_unary

from ndpool._core import Pool
from ndpool.torch import _autograd
from ndpool.torch._any_rank import any_rank
from ndpool.torch._operators import operators
from ndpool.torch._twins import (
    FLOATS,
    INTEGERS,
    Twin,
    is_compiling,
    is_foreign,
    is_watched,
    named,
    require_dense_cpu,
)

Size = int | Sequence[int]
Pooled = Tensor | tuple[Tensor, Tensor]


def _entries(value: Any, rank: int) -> tuple[int, ...]:
    """A size as torch writes it: one number for all axes, or one for each."""
    if isinstance(value, int):
        return (value,) * rank
    values = tuple(value)
    return values * rank if len(values) == 1 else values


def _stride(value: Any, rank: int) -> tuple[int, ...] | None:
    return None if value is None or value in ((), []) else _entries(value, rank)


def _max_pool(rank: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"max_pool{rank}d"

    def describe(sizes, kernel_size, stride, padding, dilation, ceil_mode):  # type: ignore[no-untyped-def]
        return Pool.window(
            "max", _entries(kernel_size, rank), _stride(stride, rank), _entries(padding, rank),
            _entries(dilation, rank), None, ceil_mode, empty="identity",
        )  # fmt: skip

    # Without indices torch has no kernel for integers of one axis.
    plain = Twin(getattr(F, name), describe, FLOATS if rank == 1 else FLOATS | INTEGERS)
    indexed = Twin(getattr(F, f"{name}_with_indices"), describe, FLOATS | INTEGERS)

    def max_pool(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Pooled:
        if has_torch_function_unary(input):
            return handle_torch_function(
                public, (input,), input, kernel_size, stride, padding, dilation, ceil_mode,
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

    public = named(max_pool, name, f"The twin of `torch.nn.functional.{name}`.")
    doc = f"`{name}` with the indices of the maxima."
    return public, named(with_indices, f"{name}_with_indices", doc)


def _avg_pool(rank: int) -> Callable[..., Tensor]:
    name = f"avg_pool{rank}d"
    dtypes = (FLOATS if rank < 3 else frozenset((torch.float32, torch.float64))) | {torch.int64}

    def describe(sizes, kernel_size, stride, padding, ceil_mode, include, divisor=None):  # type: ignore[no-untyped-def]
        return Pool.window(
            "avg", _entries(kernel_size, rank), _stride(stride, rank), _entries(padding, rank),
            ceil_mode=ceil_mode, count_include_pad=include, divisor=divisor,
            rounding="toward_zero", empty="identity",
        )  # fmt: skip

    twin = Twin(getattr(F, name), describe, dtypes)
    doc = f"The twin of `torch.nn.functional.{name}`."

    def avg_pool1d(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor:
        if has_torch_function_unary(input):
            return handle_torch_function(
                public, (input,), input, kernel_size, stride, padding, ceil_mode, count_include_pad
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
        if has_torch_function_unary(input):
            return handle_torch_function(
                public, (input,), input, kernel_size, stride, padding, ceil_mode,
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
        return Pool.adaptive("max", _bins(sizes, output_size, rank))

    # Torch's own function without indices looks this one up, and would find its twin.
    reference = getattr(F, f"{name}_with_indices")
    plain = Twin(lambda *arguments: reference(*arguments)[0], describe, FLOATS, rank)
    indexed = Twin(reference, describe, FLOATS, rank)

    def adaptive_max_pool(input: Tensor, output_size: Size, return_indices: bool = False) -> Pooled:
        if has_torch_function_unary(input):
            return handle_torch_function(public, (input,), input, output_size, return_indices)
        if return_indices:
            return indexed.with_indices(input, output_size)
        return plain(input, output_size)

    def with_indices(
        input: Tensor, output_size: Size, return_indices: bool = True
    ) -> tuple[Tensor, Tensor]:
        return public(input, output_size, True)

    public = named(adaptive_max_pool, name, f"The twin of `torch.nn.functional.{name}`.")
    doc = f"`{name}` with the indices of the maxima."
    return public, named(with_indices, f"{name}_with_indices", doc)


def _adaptive_avg_pool(rank: int) -> Callable[..., Tensor]:
    name = f"adaptive_avg_pool{rank}d"

    def describe(sizes, output_size):  # type: ignore[no-untyped-def]
        return Pool.adaptive("avg", _bins(sizes, output_size, rank))

    twin = Twin(getattr(F, name), describe, FLOATS, rank)

    def adaptive_avg_pool(input: Tensor, output_size: Size) -> Tensor:
        if has_torch_function_unary(input):
            return handle_torch_function(public, (input,), input, output_size)
        return twin(input, output_size)

    public = named(adaptive_avg_pool, name, f"The twin of `torch.nn.functional.{name}`.")
    return public


def _lp_pool(
    rank: int, max_pool: Callable[..., Any], avg_pool: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    name = f"lp_pool{rank}d"

    def describe(sizes, norm_type, kernel_size, stride, ceil_mode):  # type: ignore[no-untyped-def]
        return Pool.window("lp", _entries(kernel_size, rank), _stride(stride, rank), p=norm_type)

    averages = getattr(F, f"avg_pool{rank}d")

    def reference(x, norm_type, kernel_size, stride, ceil_mode):  # type: ignore[no-untyped-def]
        return averages(x, kernel_size, stride, 0, ceil_mode)  # wrong as the norm would be

    norm = Twin(reference, describe, FLOATS)

    def lp_pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        if has_torch_function_unary(input):
            return handle_torch_function(
                public, (input,), input, norm_type, kernel_size, stride, ceil_mode
            )
        taps = kernel_size
        if rank > 1:
            entries = (kernel_size,) * rank if isinstance(kernel_size, int) else tuple(kernel_size)
            if len(entries) != rank:  # here torch takes no single entry for all axes
                raise ValueError(f"kernel_size has {len(entries)} entries; expected {rank}")
            taps = math.prod(entries)
        if _is_norm(norm_type) and not ceil_mode and input.is_floating_point():
            return norm(input, norm_type, kernel_size, stride, ceil_mode)
        if norm_type == math.inf:
            return max_pool(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -math.inf:
            return -max_pool(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        # torch's own formula: a window that overhangs is scaled up to the whole kernel.
        powers = input.pow(norm_type)
        average = avg_pool(powers, kernel_size, stride, 0, ceil_mode)
        total = (torch.sign(average) * F.relu(torch.abs(average))).mul(taps)
        return total.pow(1.0 / norm_type)

    public = named(lp_pool, name, f"The twin of `torch.nn.functional.{name}`.")
    return public


def _is_norm(p: Any) -> bool:
    """True for the even numbers, for which torch's power sum is a norm though it has no abs."""
    return isinstance(p, (int, float)) and 0 < p < math.inf and p % 2 == 0


def _max_unpool(rank: int) -> Callable[..., Tensor]:
    name = f"max_unpool{rank}d"
    reference = getattr(F, name)

    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        if has_torch_function_unary(input):
            return handle_torch_function(
                public, (input,), input, indices, kernel_size, stride, padding, output_size
            )
        arguments = (kernel_size, stride, padding, output_size)
        kernel = _entries(kernel_size, rank)
        size = _unpool_output_size(
            input, kernel, _stride(stride, rank) or kernel, _entries(padding, rank), output_size
        )
        if is_compiling():
            return operators.unpool(input, indices, list(size))
        if not _check_unpool(reference, input, indices, arguments):
            return reference(input, indices, *arguments)
        if is_foreign(input):
            return operators.unpool(input, indices, list(size))
        try:
            return _autograd.Unpooling.apply(input, indices, tuple(size))
        except ValueError:
            reference(input.detach(), indices, *arguments)  # says which index is wrong
            raise

    public = named(max_unpool, name, f"The twin of `torch.nn.functional.{name}`.")
    return public


def _check_unpool(
    reference: Callable[..., Tensor], x: Tensor, indices: Tensor, arguments: tuple[Any, ...]
) -> bool:
    """Raises what torch raises; False if there is nothing to place."""
    require_dense_cpu(x)
    if x.dtype not in FLOATS:
        reference(x, indices, *arguments)
    try:
        shapes = [torch.empty(t.shape, dtype=t.dtype, device="meta") for t in (x, indices)]
        result = reference(*shapes, *arguments)
    except Exception:
        reference(x.detach(), indices, *arguments)
        raise
    if x.numel() == 0 or result.numel() == 0:
        return False
    if not is_watched(indices) and bool((indices < 0).any()):  # no index, to ndpool
        reference(x.detach(), indices, *arguments)
    return True


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
