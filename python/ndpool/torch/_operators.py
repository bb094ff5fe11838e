"""Operators of torch: what compilers and other tracers see of a pool, with the shape of results.

Their kernels are the maps of `_maps`; `_autograd` gives them derivatives. Eager calls on plain
tensors do not come here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ndpool.torch import _maps
from ndpool.torch._maps import Linear, Pooling, pool_of, text_of

# As autograd.grad(is_grads_batched=True) makes them.
_is_batched = torch._C._functorch.is_legacy_batchedtensor
library = torch.library.Library("ndpool", "DEF")


def _define(schema: str, kernel: Callable[..., Any], shape_rule: Callable[..., Any]) -> None:
    library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    name = schema.partition("(")[0]
    library.impl(name, kernel, "CPU")
    torch.library.register_fake(f"ndpool::{name}", shape_rule, lib=library)


def is_plain(x: Tensor) -> bool:
    """False if it has no memory of its own, or if a mode wants to see operators."""
    return type(x) is Tensor and not torch._C._len_torch_dispatch_stack() and not _is_batched(x)


def _concrete(pool: Any, shape: Sequence[Any]) -> tuple[Any, ...]:
    """The shape of a result where sizes may be symbols.

    Axes before the pooled ones stay symbols; the others become numbers, by which torch then guards.
    """
    batch = len(shape) - _pooled_rank(pool, len(shape))
    numbers = tuple(int(size) for size in shape[batch:])
    return (*shape[:batch], *pool.output_shape((1,) * batch + numbers)[batch:])


def _pooled_rank(pool: Any, rank: int) -> int:
    """How many of the last axes there are from the first pooled one on."""
    factory, arguments, _ = pool.__reduce__()[1]
    axes = arguments[{"window": 5, "adaptive": 2, "global_": 1}[factory]]
    if axes is not None:
        return rank - min(axis % rank for axis in axes)
    return rank if factory == "global_" else len(arguments[1])


def _fake_forward(x: Tensor, pool: str, dtype: torch.dtype | None = None) -> Tensor:
    described, format = pool_of(pool)
    return _maps.new_tensor(x, _concrete(described, x.shape), format.result_axis(x), dtype)


def _fake_with_winners(x: Tensor, pool: str, flat: bool) -> tuple[Tensor, Tensor]:
    described = pool_of(pool).pool
    batch = x.dim() - _pooled_rank(described, x.dim())
    sizes = (1,) * batch + tuple(int(size) for size in x.shape[batch:])
    dtype = torch.int64 if flat else _maps.winner_dtype(described, sizes)
    return _fake_forward(x, pool), _fake_forward(x, pool, dtype)


def _fake_linear(
    x: Tensor,
    winners: Tensor | None,
    kind: str,
    pool: str,
    shape: Sequence[Any],
    x_axis: int,
    y_axis: int,
) -> Tensor:
    if kind in ("pool", "gather"):
        return _maps.new_tensor(x, _concrete(pool_of(pool).pool, shape), y_axis)
    return _maps.new_tensor(x, tuple(shape), x_axis)


def _linear(
    x: Tensor,
    winners: Tensor | None,
    kind: str,
    pool: str,
    shape: Sequence[int],
    x_axis: int,
    y_axis: int,
) -> Tensor:
    linear = Linear(kind, pool_of(pool).pool, tuple(shape), x_axis, y_axis)
    return _maps.apply_linear(x, winners, linear)


_define(
    "forward(Tensor x, str pool) -> Tensor",
    lambda x, pool: _maps.forward(x, pool_of(pool)),
    _fake_forward,
)
_define(
    "forward_with_winners(Tensor x, str pool, bool flat) -> (Tensor, Tensor)",
    lambda x, pool, flat: _maps.forward_with_winners(x, pool_of(pool), flat),
    _fake_with_winners,
)
_define(
    "vjp(Tensor x, Tensor gy, str pool) -> Tensor",
    lambda x, gy, pool: _maps.vjp(x, gy, pool_of(pool)),
    lambda x, gy, pool: _maps.new_tensor(x, x.shape, pool_of(pool).format.gradient_axis(x)),
)
_define(
    "jvp(Tensor x, Tensor dx, str pool) -> Tensor",
    lambda x, dx, pool: _maps.jvp(x, dx, pool_of(pool)),
    lambda x, dx, pool: _fake_forward(x, pool),
)
_define(
    "linear(Tensor x, Tensor? winners, str kind, str pool, SymInt[] shape, int x_axis, int y_axis)"
    " -> Tensor",
    _linear,
    _fake_linear,
)
_define(
    "unpool(Tensor y, Tensor indices, SymInt[] size) -> Tensor",
    lambda y, indices, size: _maps.unpool(y, indices, tuple(size)),
    lambda y, indices, size: _maps.new_unpooled(y, size),
)

operators = torch.ops.ndpool


def _on_any_tensor(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A map of `_maps` for code that runs below autograd: on plain tensors the map itself."""
    operator = getattr(operators, name)

    def run(*arguments: Any) -> Any:
        if all(is_plain(one) for one in arguments if isinstance(one, Tensor)):
            return kernel(*arguments)
        with torch._C._AutoDispatchBelowAutograd():
            return operator(*_as_operators_take_them(arguments))

    return run


def _as_operators_take_them(arguments: Sequence[Any]) -> list[Any]:
    taken: list[Any] = []
    for one in arguments:
        if isinstance(one, Linear):
            kind, pool, *rest = one
            taken += [kind, text_of(Pooling(pool)), *rest]
        else:
            taken.append(text_of(one) if isinstance(one, Pooling) else one)
    return taken


forward = _on_any_tensor("forward", _maps.forward)
forward_with_winners = _on_any_tensor("forward_with_winners", _maps.forward_with_winners)
vjp = _on_any_tensor("vjp", _maps.vjp)
jvp = _on_any_tensor("jvp", _maps.jvp)
apply_linear = _on_any_tensor("linear", _maps.apply_linear)
unpool = _on_any_tensor("unpool", _maps.unpool)
