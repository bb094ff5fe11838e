"""Pools for autograd: backward, forward mode, vmap, and derivatives of derivatives of any order.

Derivatives are written with the functions of this file and of torch, so they can be differentiated
again: that of a linear map is the map, of its transpose the transpose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from ndpool._traits import traits_of
from ndpool.torch import _operators
from ndpool.torch._maps import Linear, Pooling, channels_axis, pool_of, sum_like

Derivative = Tensor | None


def _first_axis(x: Tensor, axis: int | None, size: int) -> Tensor:
    """x with the axis of vmap in front; one that has none is the same for all."""
    return x.expand(size, *x.shape) if axis is None else x.movedim(axis, 0)


class PoolFunction(Function):
    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        """As torch's own, but for the signature that it reads each time: that takes longer than
        to pool a small tensor."""
        if torch._C._are_functorch_transforms_active():
            return super().apply(*inputs)
        return super(Function, cls).apply(*inputs)  # type: ignore[misc]  # of a base without a stub


class LinearMap(PoolFunction):
    """Sums and averages, the derivatives of maxima by their winners, and the transposes of both."""

    @staticmethod
    def forward(x: Tensor, winners: Tensor | None, linear: Linear) -> Tensor:
        return _operators.apply_linear(x, winners, linear)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, winners, ctx.linear = inputs
        ctx.has_winners = winners is not None
        if ctx.has_winners:
            ctx.save_for_backward(winners)
            ctx.save_for_forward(winners)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, gy: Derivative) -> tuple[Derivative, None, None]:
        return LinearMap._again(ctx, gy, ctx.linear.transposed), None, None

    @staticmethod
    def jvp(ctx: Any, dx: Derivative, *_: None) -> Derivative:
        return LinearMap._again(ctx, dx, ctx.linear)

    @staticmethod
    def _again(ctx: Any, x: Derivative, linear: Linear) -> Derivative:
        if x is None:
            return None
        return LinearMap.apply(x, ctx.saved_tensors[0] if ctx.has_winners else None, linear)

    @staticmethod
    def vmap(
        info: Any, axes: tuple[Any, ...], x: Tensor, winners: Tensor | None, linear: Linear
    ) -> tuple[Tensor, int]:
        x = _first_axis(x, axes[0], info.batch_size)
        if winners is not None:
            winners = _first_axis(winners, axes[1], info.batch_size)
        return LinearMap.apply(x, winners, linear.batched(info.batch_size)), 0


def is_like_gradient(pool: Pooling, x: Tensor) -> bool:
    """True if torch writes the gradient at x in the memory format of that at y."""
    return pool.format.rank == 3 and x.dim() == 4


class Extreme(PoolFunction):
    """The first maximum or minimum of each window, and which it is."""

    @staticmethod
    def forward(x: Tensor, pool: Pooling, flat: bool) -> tuple[Tensor, Tensor]:
        return _operators.forward_with_winners(x, pool, flat)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        x, pool, _ = inputs
        ctx.gather = Linear.at("gather", pool, x)
        ctx.is_like_gy = is_like_gradient(pool, x)
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])
        ctx.save_for_forward(output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, gy: Derivative, _: None) -> tuple[Derivative, None, None]:
        if gy is None:
            return None, None, None
        gx = Extreme.scattered(gy, ctx.saved_tensors[0], ctx.gather.transposed, ctx.is_like_gy)
        return gx, None, None

    @staticmethod
    def scattered(gy: Tensor, winners: Tensor, scatter: Linear, is_like_gy: bool) -> Tensor:
        if is_like_gy:
            scatter = scatter._replace(x_axis=channels_axis(gy, 3))
        return LinearMap.apply(gy, winners, scatter)

    @staticmethod
    def jvp(ctx: Any, dx: Derivative, *_: None) -> tuple[Derivative, None]:
        return None if dx is None else LinearMap.apply(dx, ctx.saved_tensors[0], ctx.gather), None

    @staticmethod
    def vmap(
        info: Any, axes: tuple[Any, ...], x: Tensor, pool: Pooling, flat: bool
    ) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        x = _first_axis(x, axes[0], info.batch_size)
        return Extreme.apply(x, pool, flat), (0, 0)


class Curved(PoolFunction):
    """Pools whose derivative depends on x: smooth max, Lp, and maxima that share their gradient."""

    @staticmethod
    def forward(x: Tensor, pool: Pooling) -> Tensor:
        return _operators.forward(x, pool)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.pool = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, gy: Tensor) -> tuple[Tensor, None]:
        return CurvedVjp.apply(*ctx.saved_tensors, gy, ctx.pool), None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, _: None) -> Tensor:
        return CurvedJvp.apply(*ctx.saved_tensors, dx, ctx.pool)

    @staticmethod
    def vmap(info: Any, axes: tuple[Any, ...], x: Tensor, pool: Pooling) -> tuple[Tensor, int]:
        return Curved.apply(_first_axis(x, axes[0], info.batch_size), pool), 0


class _CurvedDerivative(PoolFunction):
    """What the VJP and the JVP of `Curved` share: functions of x, linear in their second input."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, direction, ctx.pool = inputs
        ctx.save_for_backward(x, direction)
        ctx.save_for_forward(x, direction)
        ctx.set_materialize_grads(False)

    @classmethod
    def vmap_of(
        cls, info: Any, axes: tuple[Any, ...], x: Tensor, direction: Tensor, pool: Pooling
    ) -> tuple[Tensor, int]:
        x = _first_axis(x, axes[0], info.batch_size)
        return cls.apply(x, _first_axis(direction, axes[1], info.batch_size), pool), 0


class CurvedVjp(_CurvedDerivative):
    @staticmethod
    def forward(x: Tensor, gy: Tensor, pool: Pooling) -> Tensor:
        return _operators.vjp(x, gy, pool)

    @staticmethod
    def backward(ctx: Any, v: Derivative) -> tuple[Derivative, Derivative, None]:
        if v is None:
            return None, None, None
        x, gy = ctx.saved_tensors
        return second_vjp(x, gy, v, ctx.pool), CurvedJvp.apply(x, v, ctx.pool), None

    @staticmethod
    def jvp(ctx: Any, dx: Derivative, dgy: Derivative, _: None) -> Derivative:
        x, gy = ctx.saved_tensors
        along_x: Any = second_vjp(x, gy, dx, ctx.pool) if dx is not None else 0
        return along_x + (CurvedVjp.apply(x, dgy, ctx.pool) if dgy is not None else 0)

    @staticmethod
    def vmap(info: Any, axes: tuple[Any, ...], *inputs: Any) -> tuple[Tensor, int]:
        return CurvedVjp.vmap_of(info, axes, *inputs)


class CurvedJvp(_CurvedDerivative):
    @staticmethod
    def forward(x: Tensor, dx: Tensor, pool: Pooling) -> Tensor:
        return _operators.jvp(x, dx, pool)

    @staticmethod
    def backward(ctx: Any, gy: Derivative) -> tuple[Derivative, Derivative, None]:
        if gy is None:
            return None, None, None
        x, v = ctx.saved_tensors
        return second_vjp(x, gy, v, ctx.pool), CurvedVjp.apply(x, gy, ctx.pool), None

    @staticmethod
    def jvp(ctx: Any, dx: Derivative, dv: Derivative, _: None) -> Derivative:
        x, v = ctx.saved_tensors
        along_x: Any = second_jvp(x, v, dx, ctx.pool) if dx is not None else 0
        return along_x + (CurvedJvp.apply(x, dv, ctx.pool) if dv is not None else 0)

    @staticmethod
    def vmap(info: Any, axes: tuple[Any, ...], *inputs: Any) -> tuple[Tensor, int]:
        return CurvedJvp.vmap_of(info, axes, *inputs)


# Second derivatives. With weights w = dy/dx of a window:
#   smooth max: dw_i = beta w_i (dx_i - dy)
#   Lp:         dw_i = (p - 1) (abs(x_i)^(p-2) y^(1-p) dx_i - w_i dy / y)
# and nothing for weights that are flat wherever they are differentiable.


def second_vjp(x: Tensor, gy: Tensor, v: Tensor, pool: Pooling) -> Tensor:
    """The gradient at x of the inner product of gy and the JVP of v."""
    reducer, _, options = traits_of(pool.pool)
    if reducer == "smooth_max":
        beta = options.get("beta", 1.0)
        gx = CurvedVjp.apply(x, gy, pool)
        dy = CurvedJvp.apply(x, v, pool)
        return beta * (v * gx - CurvedVjp.apply(x, gy * dy, pool))
    p = options.get("p", 2.0)
    if reducer != "lp" or p == 1 or math.isinf(p):
        return torch.zeros_like(x)
    y = Curved.apply(x, pool)
    dy = CurvedJvp.apply(x, v, pool)
    spread = Linear.at("spread", sum_like(pool), x)
    across = LinearMap.apply(gy * _power(y, 1 - p), None, spread)
    return (p - 1) * (_power(x.abs(), p - 2) * v * across
                      - CurvedVjp.apply(x, gy * dy * _power(y, -1), pool))  # fmt: skip


def second_jvp(x: Tensor, v: Tensor, dx: Tensor, pool: Pooling) -> Tensor:
    """The derivative along dx of the JVP of v."""
    reducer, _, options = traits_of(pool.pool)
    vy, dy = CurvedJvp.apply(x, v, pool), CurvedJvp.apply(x, dx, pool)
    if reducer == "smooth_max":
        return options.get("beta", 1.0) * (CurvedJvp.apply(x, v * dx, pool) - vy * dy)
    p = options.get("p", 2.0)
    if reducer != "lp" or p == 1 or math.isinf(p):
        return torch.zeros_like(vy)
    y = Curved.apply(x, pool)
    total = LinearMap.apply(
        _power(x.abs(), p - 2) * v * dx, None, Linear.at("pool", sum_like(pool), x)
    )
    return (p - 1) * (_power(y, 1 - p) * total - vy * dy * _power(y, -1))


def _power(base: Tensor, exponent: float) -> Tensor:
    """A power, but 0 where it would be infinite: there the pool has no second derivative."""
    if exponent >= 0:
        return base.pow(exponent)
    is_zero = base == 0
    return torch.where(is_zero, 1, base).pow(exponent).masked_fill(is_zero, 0)


class Unpooling(PoolFunction):
    """Max unpooling with the gradient of torch: every entry gets that of the cell it names."""

    @staticmethod
    def forward(y: Tensor, indices: Tensor, size: tuple[int, ...]) -> Tensor:
        return _operators.unpool(y, indices, size)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, indices, ctx.size = inputs
        ctx.save_for_backward(indices)
        ctx.save_for_forward(indices)

    @staticmethod
    def backward(ctx: Any, gx: Tensor) -> tuple[Tensor, None, None]:
        (indices,) = ctx.saved_tensors
        return gathered(gx, indices, len(ctx.size)), None, None

    @staticmethod
    def jvp(ctx: Any, dy: Tensor, *_: None) -> Tensor:
        return Unpooling.apply(dy, *ctx.saved_tensors, ctx.size)

    @staticmethod
    def vmap(
        info: Any, axes: tuple[Any, ...], y: Tensor, indices: Tensor, size: tuple[int, ...]
    ) -> tuple[Tensor, int]:
        y = _first_axis(y, axes[0], info.batch_size)
        return Unpooling.apply(y, _first_axis(indices, axes[1], info.batch_size), size), 0


def gathered(gx: Tensor, indices: Tensor, rank: int) -> Tensor:
    """The gradient of unpooling: that of the cell which each entry names."""
    planes = indices.shape[:-rank]
    gy = gx.reshape(*planes, -1).gather(-1, indices.reshape(*planes, -1))
    return gy.reshape(indices.shape)


def pool(x: Tensor, described: Pooling) -> Tensor:
    """y = R(x) of any pool, recorded."""
    kind = traits_of(described.pool).kind
    if kind == "linear":
        return LinearMap.apply(x, None, Linear.at("pool", described, x))
    if kind == "extreme":
        return Extreme.apply(x, described, False)[0]
    return curved(x, described)


def curved(x: Tensor, described: Pooling) -> Tensor:
    transformations = torch._C._functorch.get_interpreter_stack() or ()
    if sum(one.key() == torch._C._functorch.TransformType.Jvp for one in transformations) > 1:
        # torch would give 0: it does not differentiate the jvp of an autograd.Function.
        raise NotImplementedError(
            "forward mode within forward mode does not see that the derivative of this pool depends"
            " on x; use reverse mode for one of the two"
        )
    return Curved.apply(x, described)


def pool_with_indices(x: Tensor, described: Pooling) -> tuple[Tensor, Tensor]:
    """The same with the flat indices of the winners."""
    if traits_of(described.pool).kind == "extreme":
        return Extreme.apply(x, described, True)
    return curved(x, described), Extreme.apply(x.detach(), described, True)[1]


def backward_of(described: Pooling, x: Tensor) -> Callable[[Any, Tensor], Tensor]:
    """The gradient at tensors like x, of what the node saves (winners, or x) and of gy."""
    kind = traits_of(described.pool).kind
    if kind == "linear":
        spread = Linear.at("spread", described, x)
        return lambda _, gy: LinearMap.apply(gy, None, spread)
    if kind == "extreme":
        scatter, is_like_gy = Linear.at("scatter", described, x), is_like_gradient(described, x)
        return lambda winners, gy: Extreme.scattered(gy, winners, scatter, is_like_gy)
    return lambda saved, gy: CurvedVjp.apply(saved, gy, described)


# The operators get the same derivatives, so what a compiler sees needs no others.


def _register() -> None:
    def linear(x, winners, kind, text, shape, x_axis, y_axis):  # type: ignore[no-untyped-def]
        described = Linear(kind, pool_of(text).pool, tuple(shape), x_axis, y_axis)
        return LinearMap.apply(x, winners, described)

    for name, function in {
        "forward": lambda x, text: pool(x, pool_of(text)),
        "forward_with_winners": lambda x, text, flat: Extreme.apply(x, pool_of(text), flat),
        "vjp": lambda x, gy, text: CurvedVjp.apply(x, gy, pool_of(text)),
        "jvp": lambda x, dx, text: CurvedJvp.apply(x, dx, pool_of(text)),
        "linear": linear,
        "unpool": lambda y, indices, size: Unpooling.apply(y, indices, tuple(size)),
    }.items():
        _operators.library.impl(name, function, "Autograd")


_register()
