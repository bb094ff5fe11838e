"""Modules: replacements of torch's pooling modules, and those of pools that torch lacks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from ndpool.torch import functional

# Torch's modules with another `forward`: arguments, attributes and repr are theirs.


class _MaxPool:
    _pool: Any
    kernel_size: Any
    stride: Any
    padding: Any
    dilation: Any
    ceil_mode: Any
    return_indices: Any

    def forward(self, input: Tensor) -> Any:
        return self._pool(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip


class MaxPool1d(_MaxPool, torch.nn.MaxPool1d):
    _pool = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool, torch.nn.MaxPool2d):
    _pool = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool, torch.nn.MaxPool3d):
    _pool = staticmethod(functional.max_pool3d)


class _AvgPool:
    _pool: Any
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: Any
    count_include_pad: Any
    divisor_override: Any

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip


class AvgPool1d(torch.nn.AvgPool1d):
    def forward(self, input: Tensor) -> Tensor:
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class AvgPool2d(_AvgPool, torch.nn.AvgPool2d):
    _pool = staticmethod(functional.avg_pool2d)


class AvgPool3d(_AvgPool, torch.nn.AvgPool3d):
    _pool = staticmethod(functional.avg_pool3d)


class _LPPool:
    _pool: Any
    norm_type: Any
    kernel_size: Any
    stride: Any
    ceil_mode: Any

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool1d(_LPPool, torch.nn.LPPool1d):
    _pool = staticmethod(functional.lp_pool1d)


class LPPool2d(_LPPool, torch.nn.LPPool2d):
    _pool = staticmethod(functional.lp_pool2d)


class LPPool3d(_LPPool, torch.nn.LPPool3d):
    _pool = staticmethod(functional.lp_pool3d)


class _AdaptiveMaxPool:
    _pool: Any
    output_size: Any
    return_indices: Any

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool, torch.nn.AdaptiveMaxPool1d):
    _pool = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool, torch.nn.AdaptiveMaxPool2d):
    _pool = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool, torch.nn.AdaptiveMaxPool3d):
    _pool = staticmethod(functional.adaptive_max_pool3d)


class _AdaptiveAvgPool:
    _pool: Any
    output_size: Any

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool, torch.nn.AdaptiveAvgPool1d):
    _pool = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool, torch.nn.AdaptiveAvgPool2d):
    _pool = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool, torch.nn.AdaptiveAvgPool3d):
    _pool = staticmethod(functional.adaptive_avg_pool3d)


class _MaxUnpool:
    _unpool: Any
    kernel_size: Any
    stride: Any
    padding: Any

    def forward(
        self, input: Tensor, indices: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        return self._unpool(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool1d(_MaxUnpool, torch.nn.MaxUnpool1d):
    _unpool = staticmethod(functional.max_unpool1d)


class MaxUnpool2d(_MaxUnpool, torch.nn.MaxUnpool2d):
    _unpool = staticmethod(functional.max_unpool2d)


class MaxUnpool3d(_MaxUnpool, torch.nn.MaxUnpool3d):
    _unpool = staticmethod(functional.max_unpool3d)


class _Pool(Module):
    """A pool of any rank with the arguments of the function of `ndpool`, kept by their names."""

    _pool: Any

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        self.args = args
        self.options = options

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, *self.args, **self.options)

    def extra_repr(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return ", ".join([*map(repr, self.args), *options])


class MaxPool(_Pool):
    """`functional.max_pool` as a module: `MaxPool((3, 3), padding="same")`."""

    _pool = staticmethod(functional.max_pool)


class MinPool(_Pool):
    """`functional.min_pool` as a module: `MinPool((3, 3), stride=2)`."""

    _pool = staticmethod(functional.min_pool)


class SumPool(_Pool):
    """`functional.sum_pool` as a module."""

    _pool = staticmethod(functional.sum_pool)


class AvgPool(_Pool):
    """`functional.avg_pool` as a module: `AvgPool((3, 3), dilation=2)`."""

    _pool = staticmethod(functional.avg_pool)


class SmoothMaxPool(_Pool):
    """`functional.smooth_max_pool` as a module: `SmoothMaxPool((2, 2), beta=4.0)`."""

    _pool = staticmethod(functional.smooth_max_pool)


class LPPool(_Pool):
    """`functional.lp_pool`, a norm, as a module: `LPPool(2, (3, 3))`."""

    _pool = staticmethod(functional.lp_pool)


__all__ = [
    name
    for name, value in globals().items()
    if isinstance(value, type) and issubclass(value, Module) and name[0] != "_" and name != "Module"
]
