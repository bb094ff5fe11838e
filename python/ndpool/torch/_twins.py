"""Twins of torch's functions: torch says what is wrong with a call, ndpool computes it.

A call that has been checked is remembered by its arguments and by the shape, strides and dtype of
its tensor, so that the next one like it goes straight to the pool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_dynamo_compiling as is_compiling

from ndpool._core import Pool
from ndpool.torch import _autograd, _maps
from ndpool.torch._operators import operators

FLOATS = frozenset((torch.float32, torch.float64, torch.float16, torch.bfloat16))
INTEGERS = frozenset((torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64))

_dispatch_modes = torch._C._len_torch_dispatch_stack
_functorch_level = torch._C._functorch.maybe_current_level
_is_grad_enabled = torch.is_grad_enabled


class Plan(NamedTuple):
    """A call that torch would accept, and how its result lies in memory.

    Without a pool there is nothing to compute; what only an operator can serve has no layout.
    """

    pool: Pool | None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


class Twin:
    """One of torch's pools. `reference` is torch's function, `describe` makes the pool of a call.

    Both take the arguments of a call after its tensor; `describe` first takes the sizes of the last
    `sized_axes` axes of that.
    """

    most_plans = 1024

    def __init__(
        self,
        reference: Callable[..., Any],
        describe: Callable[..., Pool],
        dtypes: frozenset[torch.dtype],
        sized_axes: int = 0,
    ) -> None:
        self.reference = reference
        self.describe = describe
        self.dtypes = dtypes
        self.sized_axes = sized_axes
        self.plans: dict[Any, Plan] = {}

    def __call__(self, x: Tensor, *arguments: Any) -> Tensor:
        """The pooled tensor."""
        if is_compiling():
            return operators.forward(x, self.text(x, arguments))
        pool, shape, strides = self.find(x, arguments)
        if pool is None:
            return self.reference(x, *arguments)
        if is_watched(x):
            return self.watched(x, pool)
        return pool.forward(x, x.new_empty_strided(shape, strides))

    def with_indices(self, x: Tensor, *arguments: Any) -> tuple[Tensor, Tensor]:
        """The same, with the int64 indices of the winners."""
        if is_compiling():
            return operators.forward_with_winners(x, self.text(x, arguments), True)
        pool, shape, strides = self.find(x, arguments)
        if pool is None:
            return self.reference(x, *arguments)
        if is_watched(x):
            if is_foreign(x):
                return operators.forward_with_winners(x, _maps.text_of(pool), True)
            return _autograd.pool_with_indices(x, pool)
        indices = x.new_empty_strided(shape, strides, dtype=torch.int64)
        return pool.forward(x, x.new_empty_strided(shape, strides), indices)

    @staticmethod
    def watched(x: Tensor, pool: Pool) -> Tensor:
        if is_foreign(x):
            return operators.forward(x, _maps.text_of(pool))
        return _autograd.pool(x, pool)

    def find(self, x: Tensor, arguments: tuple[Any, ...]) -> Plan:
        try:
            # The type of the size, since a float can equal an int, and torch does not take it.
            return self.plans[type(arguments[0]), arguments, x.shape, x.stride(), x.dtype, x.is_cpu]
        except (AttributeError, KeyError, RuntimeError, TypeError):  # new, or no tensor, or lists
            return self.remember(x, arguments)

    def remember(self, x: Tensor, arguments: tuple[Any, ...]) -> Plan:
        if any(isinstance(argument, list) for argument in arguments):
            return self.find(x, tuple(tuple(a) if isinstance(a, list) else a for a in arguments))
        result_size = self.check(x, arguments)
        pool = None if result_size == 0 else self.describe(self.sizes(x), *arguments)
        if is_foreign(x):  # its sizes may be symbols
            return Plan(pool)
        plan = Plan(pool)
        if pool is not None:
            shape, strides, _ = _maps.layout_of(pool, x.shape, x.stride())
            plan = Plan(pool, shape, strides)
        if len(self.plans) >= self.most_plans:
            self.plans.clear()
        key = (type(arguments[0]), arguments, x.shape, x.stride(), x.dtype, x.is_cpu)
        self.plans[key] = plan
        return plan

    def check(self, x: Tensor, arguments: tuple[Any, ...]) -> int:
        """Raises what torch raises for this call, else says how many elements the result has."""
        if not isinstance(x, Tensor):
            self.reference(x, *arguments)
            raise TypeError(f"input must be a Tensor, not {type(x).__name__}")
        require_dense_cpu(x)
        if x.dtype not in self.dtypes:
            self.reference(x.detach(), *arguments)
            raise NotImplementedError(f"pooling is not implemented for {x.dtype}")
        if x.numel() == 0:  # on which torch's shape rules are less strict than its kernels
            self.reference(x.detach(), *arguments)
        try:
            shape_only = torch.empty(x.shape, dtype=x.dtype, device="meta")
            result = self.reference(shape_only, *arguments)
        except Exception:
            self.reference(x.detach(), *arguments)  # says the same of the tensor itself
            raise
        return (result[0] if isinstance(result, tuple) else result).numel()

    def sizes(self, x: Tensor) -> tuple[int, ...]:
        return tuple(int(size) for size in x.shape[x.dim() - self.sized_axes :])

    def text(self, x: Tensor, arguments: tuple[Any, ...]) -> str:
        """The pool of a call as text, for operators in a graph."""
        return _describe_text(self.describe, self.sizes(x), arguments)


@torch.compiler.assume_constant_result
def _describe_text(
    describe: Callable[..., Pool], sizes: tuple[int, ...], arguments: tuple[Any, ...]
) -> str:
    return _maps.text_of(describe(sizes, *arguments))


def is_watched(x: Tensor) -> bool:
    """True if the result must be recorded, or is asked for by a transformation or a mode."""
    return (
        (x.requires_grad and _is_grad_enabled())
        or type(x) is not Tensor
        or forward_ad._current_level >= 0
        or _functorch_level() is not None
        or _dispatch_modes() > 0
        or x.is_neg()
    )


def is_foreign(x: Tensor) -> bool:
    """True for tensors that only an operator can serve: they are no memory, or traced."""
    return _dispatch_modes() > 0 or type(x) not in (Tensor, torch.nn.Parameter)


def require_dense_cpu(x: Tensor) -> None:
    if x.device.type != "cpu":
        raise NotImplementedError(
            f"ndpool pools tensors on the CPU; this one is on the device '{x.device}'"
        )
    if x.layout is not torch.strided or x.is_quantized:
        layout = "quantized" if x.is_quantized else x.layout
        raise NotImplementedError(f"ndpool pools dense tensors; this one is {layout}")


def named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """Gives a function the name under which it is found, and pickled, in `functional`."""
    function.__module__ = "ndpool.torch.functional"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
