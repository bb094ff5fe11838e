"""Twins of torch's functions: torch says what is wrong with a call, ndpool computes it.

A call that has been checked is remembered by its arguments and by the shape, strides and dtype of
its tensor: the next one like it goes straight to the pool, by `_calls`. What ndpool does not pool,
such as tensors on other devices, torch does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.autograd import forward_ad
from torch.compiler import is_dynamo_compiling as is_compiling
from torch.overrides import handle_torch_function

from ndpool._core import on_torch_threads
from ndpool.torch import _autograd, _calls, _handover, _maps
from ndpool.torch._maps import Format, Pooling
from ndpool.torch._operators import operators

FLOATS = frozenset((torch.float32, torch.float64, torch.float16, torch.bfloat16))
INTEGERS = frozenset((torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64))

_dispatch_modes = torch._C._len_torch_dispatch_stack
_functorch_level = torch._C._functorch.maybe_current_level
_is_grad_enabled = torch.is_grad_enabled
_is_autocast_enabled = torch.is_autocast_enabled
# torch.jit.trace, which records calls of torch's functions and sees no others.
is_tracing = torch._C._is_tracing


class Plan(NamedTuple):
    """A call that torch would accept, and how its result lies in memory.

    Without a pooling the call is torch's; what only an operator can serve has no layout.
    """

    pooling: Pooling | None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    is_recorded_in_torch: bool = False  # what autograd records is torch's
    is_fast: bool = False  # known to `_calls`


class Twin:
    """One of torch's pools. `reference` is torch's function, `describe` makes the pool of a call.

    Both take the arguments of a call after its tensor; `describe` first takes the sizes of the last
    `sized_axes` axes of that. `unrecorded` is the format of results that autograd does not record,
    where torch has another kernel for them. `autocasts` says that autocast to a short float makes
    torch pool in float32. An `indexed` twin is called `with_indices`.
    """

    most_plans = 1024

    def __init__(
        self,
        reference: Callable[..., Any],
        describe: Callable[..., Pooling],
        dtypes: frozenset[torch.dtype],
        sized_axes: int = 0,
        *,
        unrecorded: Format | None = None,
        autocasts: bool = False,
        indexed: bool = False,
    ) -> None:
        self.reference = reference
        self.describe = describe
        self.dtypes = dtypes
        self.sized_axes = sized_axes
        self.unrecorded = unrecorded
        self.autocasts = autocasts
        self.plans: dict[Any, Plan] = {}
        # The fast way: calls(x, *arguments) is the result, or None for what has to come here.
        self.calls = _calls.remembered(reference, autocasts=autocasts, indexed=indexed)

    def __call__(self, x: Tensor, *arguments: Any) -> Tensor:
        """The pooled tensor."""
        if self.autocasts:
            x = autocast(x)
        if is_compiling():
            return operators.forward(x, self.text(x, arguments))
        pooling, shape, strides, is_recorded_in_torch, _ = self.find(x, arguments)
        if pooling is None or (is_recorded_in_torch and is_recorded(x)):
            return self.reference(x, *arguments)
        if is_watched(x):
            if is_foreign(x):
                return operators.forward(x, _maps.text_of(pooling))
            return _autograd.pool(x, pooling)
        return on_torch_threads(pooling.pool.forward, x, x.new_empty_strided(shape, strides))

    def with_indices(self, x: Tensor, *arguments: Any) -> tuple[Tensor, Tensor]:
        """The same, with the int64 indices of the winners."""
        if self.autocasts:
            x = autocast(x)
        if is_compiling():
            return operators.forward_with_winners(x, self.text(x, arguments), True)
        pooling, shape, strides, is_recorded_in_torch, _ = self.find(x, arguments)
        if pooling is None or (is_recorded_in_torch and is_recorded(x)):
            return self.reference(x, *arguments)
        if is_watched(x):
            if is_foreign(x):
                return operators.forward_with_winners(x, _maps.text_of(pooling), True)
            return _autograd.pool_with_indices(x, pooling)
        indices = x.new_empty_strided(shape, strides, dtype=torch.int64)
        y = x.new_empty_strided(shape, strides)
        return on_torch_threads(pooling.pool.forward, x, y, indices)

    def find(self, x: Tensor, arguments: tuple[Any, ...]) -> Plan:
        if is_tracing():
            return Plan(None)
        try:
            plan = self.plans[self.key(x, arguments)]
        except (AttributeError, KeyError, RuntimeError, TypeError):  # new, or no tensor, or lists
            return self.remember(x, arguments)
        if not plan.is_fast and self.calls.reads(x, *arguments):  # the first was a batch, say
            return self.speed_up(x, arguments, plan)
        return plan if type(x) is Tensor or is_own(x) else Plan(None)

    @staticmethod
    def key(x: Tensor, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        # The type of the size, since a float can equal an int, and torch does not take it.
        size = type(arguments[0])
        return size, arguments, x.shape, x.stride(), x.dtype, x.is_cpu, x.layout

    def remember(self, x: Tensor, arguments: tuple[Any, ...]) -> Plan:
        if any(isinstance(argument, list) for argument in arguments):
            return self.find(x, tuple(tuple(a) if isinstance(a, list) else a for a in arguments))
        if not (is_dense(x) and x.dtype in self.dtypes and self.check(x, arguments)):
            self.calls.add(_calls.IN_TORCH, x, *arguments)  # unless x is no plain memory
            return Plan(None)
        arguments = tuple(map(_settled, arguments))
        pooling = self.describe(self.sizes(x), *arguments)
        rule = _handover.rule_of(pooling, x)
        if rule is not None and not rule.only_recorded:
            self.calls.add(_calls.IN_TORCH, x, *arguments)
            return Plan(None)
        if is_foreign(x):  # its sizes may be symbols
            return Plan(pooling)
        unrecorded = Pooling(pooling.pool, self.unrecorded or pooling.format)
        shape, strides, _ = _maps.layout_of(unrecorded, x.shape, x.stride())
        if len(self.plans) >= self.most_plans:
            self.plans.clear()
        return self.speed_up(x, arguments, Plan(pooling, shape, strides, rule is not None))

    def speed_up(self, x: Tensor, arguments: tuple[Any, ...], plan: Plan) -> Plan:
        """Stores a plan, for `_calls` too if it can tell such calls apart."""
        assert plan.pooling is not None
        if self.calls.reads(x, *arguments):
            entry = _calls.entry_of(plan.pooling, x, plan.strides, plan.is_recorded_in_torch)
            self.calls.add(entry, x, *arguments)
            plan = plan._replace(is_fast=True)
        self.plans[self.key(x, arguments)] = plan
        return plan

    def check(self, x: Tensor, arguments: tuple[Any, ...]) -> bool:
        """Raises what torch raises for this call, else says if the result has elements."""
        if x.numel() == 0:  # on which torch's shape rules are less strict than its kernels
            return False
        try:
            shape_only = torch.empty(x.shape, dtype=x.dtype, device="meta")
            result = self.reference(shape_only, *arguments)
        except Exception:
            self.reference(x.detach(), *arguments)  # says the same of the tensor itself
            raise
        return (result[0] if isinstance(result, tuple) else result).numel() > 0

    def sizes(self, x: Tensor) -> tuple[int, ...]:
        return tuple(int(size) for size in x.shape[x.dim() - self.sized_axes :])

    def text(self, x: Tensor, arguments: tuple[Any, ...]) -> str:
        """The pool of a call as text, for operators in a graph."""
        return _describe_text(self.describe, self.sizes(x), arguments)


def _settled(argument: Any) -> Any:
    """An argument by value: a tensor, which may change, would be found by identity."""
    if getattr(argument, "ndim", None) == 0:
        return argument.item()
    if isinstance(argument, (tuple, list, Tensor)) or type(argument).__hash__ is None:
        return tuple(map(_settled, argument))
    return argument


@torch.compiler.assume_constant_result
def _describe_text(
    describe: Callable[..., Pooling], sizes: tuple[int, ...], arguments: tuple[Any, ...]
) -> str:
    return _maps.text_of(describe(sizes, *arguments))


def is_recorded(x: Tensor) -> bool:
    return x.requires_grad and _is_grad_enabled()


def is_watched(x: Tensor) -> bool:
    """True if the result must be recorded, or is asked for by a transformation or a mode."""
    return (
        is_recorded(x)
        or type(x) is not Tensor
        or forward_ad._current_level >= 0
        or _functorch_level() is not None
        or _dispatch_modes() > 0
        or x.is_neg()
        or x._is_zerotensor()
    )


def is_foreign(x: Tensor) -> bool:
    """True for tensors that only an operator can serve: they are no memory, or traced."""
    return (
        _dispatch_modes() > 0
        or is_tracing()
        or type(x) not in (Tensor, torch.nn.Parameter)
        or torch._is_functional_tensor(x)
    )


def is_own(x: Tensor) -> bool:
    """False for classes that know torch's pools, and not those of ndpool."""
    kind = type(x)
    return (
        kind is Tensor
        or kind is torch.nn.Parameter
        or issubclass(kind, (FakeTensor, FunctionalTensor))
        or kind.__torch_dispatch__ is Tensor.__torch_dispatch__
    )


def is_dense(x: Any) -> bool:
    """True for what a twin pools: plain memory of the CPU."""
    return (
        isinstance(x, Tensor)
        and is_own(x)
        and not x.is_nested
        and x.device.type == "cpu"
        and x.layout is torch.strided
        and not x.is_quantized
    )


def require_dense(x: Tensor) -> None:
    """For the functions that torch lacks."""
    if not isinstance(x, Tensor):
        raise TypeError(f"input must be a Tensor, not {type(x).__name__}")
    if x.device.type != "cpu":
        raise NotImplementedError(
            f"ndpool pools tensors on the CPU; this one is on the device '{x.device}'"
        )
    if x.is_nested or x.layout is not torch.strided or x.is_quantized:
        layout = "nested" if x.is_nested else "quantized" if x.is_quantized else x.layout
        raise NotImplementedError(f"ndpool pools dense tensors; this one is {layout}")


def autocast(x: Tensor) -> Tensor:
    """x in the dtype in which torch pools it, for those pools that autocast runs in float32."""
    is_short = isinstance(x, Tensor) and x.dtype in (torch.float16, torch.bfloat16) and x.is_cpu
    return x.float() if is_short and _is_autocast_enabled("cpu") else x


def overridden(
    public: Callable[..., Any], original: Callable[..., Any], x: Any, *arguments: Any
) -> Any:
    """The call of a tensor whose class, or a mode, has a `__torch_function__`.

    A class that does something of its own knows torch's functions, so it gets torch's.
    """
    handler = getattr(type(x), "__torch_function__", None)
    default: Any = Tensor.__torch_function__
    is_default = getattr(handler, "__func__", None) is default.__func__
    is_default = is_default or handler is torch._C._disabled_torch_function_impl
    return handle_torch_function(public if is_default else original, (x,), x, *arguments)


def named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """Gives a function the name under which it is found, and pickled, in `functional`."""
    function.__module__ = "ndpool.torch.functional"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
