"""Derivatives of the maps, in forward and reverse mode, of any order.

They are written with the maps themselves: the derivative of a linear map is the map, the transpose
of a JVP the VJP and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import ad

from ndpool._traits import sum_like, traits_of, winner_dtype
from ndpool.jax._maps import (
    Map,
    forward,
    forward_with_indices,
    gather,
    jvp,
    scatter,
    spread,
    unpool,
    unpool_vjp,
    vjp,
)


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero or tangent.dtype == jax.dtypes.float0


def _zero(primal: Any) -> Any:
    return ad.Zero(jax.typeof(primal).to_tangent_aval())


# Maps are linear in their last operand; before it come indices, or the x of a derivative.


def _linear_jvp(linear: Map) -> Callable[..., Any]:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        result = linear(*primals, **params)
        if _is_zero(tangents[-1]):
            return result, _zero(result)
        return result, linear(*primals[:-1], tangents[-1], **params)

    return rule


def _transpose(linear: Map, transposed: Map) -> None:
    """Makes one map the transpose of the other; both take the same operands before the last."""
    needs_shape = "x" not in transposed.operands.lower()

    def rule(ct: Any, *operands: Any, pool: Any, **_: Any) -> list[Any]:
        others, operand = operands[:-1], operands[-1]
        if type(ct) is ad.Zero:
            return [None] * len(others) + [ad.Zero(operand.aval)]
        params = {"shape": operand.aval.shape} if needs_shape else {}
        return [None] * len(others) + [transposed(*others, ct, pool=pool, **params)]

    ad.primitive_transposes[linear.primitive] = rule


for _a, _b in ((forward, spread), (gather, scatter), (jvp, vjp), (unpool, unpool_vjp)):
    _transpose(_a, _b)
    _transpose(_b, _a)
for _map in (spread, gather, scatter, unpool, unpool_vjp):
    ad.primitive_jvps[_map.primitive] = _linear_jvp(_map)


# The pools.


def _forward_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, pool: Any) -> Any:
    (x,), (dx,) = primals, tangents
    if _is_zero(dx):
        y = forward(x, pool=pool)
        return y, _zero(y)
    kind = traits_of(pool).kind
    if kind == "extreme":
        y, winners = forward_with_indices(x, pool=pool, index_dtype=winner_dtype(pool, x.shape))
        return y, gather(winners, dx, pool=pool)
    y = forward(x, pool=pool)
    return y, forward(dx, pool=pool) if kind == "linear" else jvp(x, dx, pool=pool)


def _forward_with_indices_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, pool: Any, index_dtype: Any
) -> Any:
    (x,), (dx,) = primals, tangents
    y, indices = forward_with_indices(x, pool=pool, index_dtype=index_dtype)
    if _is_zero(dx):
        dy = _zero(y)
    elif traits_of(pool).kind == "extreme":
        dy = gather(indices, dx, pool=pool)
    else:
        dy = jvp(x, dx, pool=pool)
    return [y, indices], [dy, _zero(indices)]


ad.primitive_jvps[forward.primitive] = _forward_jvp
ad.primitive_jvps[forward_with_indices.primitive] = _forward_with_indices_jvp


# Second derivatives. With weights w = dy/dx of a window:
#   smooth max: dw_i = beta w_i (dx_i - dy)
#   Lp:         dw_i = (p - 1) (abs(x_i)^(p-2) y^(1-p) dx_i - w_i dy / y)
# and nothing for weights that are flat wherever they are differentiable. Both are linear in dx.


def _second_vjp(x: Any, gy: Any, dx: Any, pool: Any) -> Any:
    """The derivative along dx of the VJP of gy; None if it is 0."""
    reducer, _, options = traits_of(pool)
    if reducer == "smooth_max":
        gx, dy = vjp(x, gy, pool=pool), jvp(x, dx, pool=pool)
        return options.get("beta", 1.0) * (dx * gx - vjp(x, gy * dy, pool=pool))
    p = options.get("p", 2.0)
    if reducer != "lp" or p == 1 or math.isinf(p):
        return None
    y, dy = forward(x, pool=pool), jvp(x, dx, pool=pool)
    across = spread(gy * _power(y, 1 - p), pool=sum_like(pool), shape=x.shape)
    return (p - 1) * (_power(jnp.abs(x), p - 2) * dx * across
                      - vjp(x, gy * dy * _power(y, -1), pool=pool))  # fmt: skip


def _second_jvp(x: Any, v: Any, dx: Any, pool: Any) -> Any:
    """The derivative along dx of the JVP of v; None if it is 0."""
    reducer, _, options = traits_of(pool)
    if reducer == "smooth_max":
        vy, dy = jvp(x, v, pool=pool), jvp(x, dx, pool=pool)
        return options.get("beta", 1.0) * (jvp(x, v * dx, pool=pool) - vy * dy)
    p = options.get("p", 2.0)
    if reducer != "lp" or p == 1 or math.isinf(p):
        return None
    y, vy, dy = forward(x, pool=pool), jvp(x, v, pool=pool), jvp(x, dx, pool=pool)
    total = forward(_power(jnp.abs(x), p - 2) * v * dx, pool=sum_like(pool))
    return (p - 1) * (_power(y, 1 - p) * total - vy * dy * _power(y, -1))


def _power(base: Any, exponent: float) -> Any:
    """A power, but 0 where it would be infinite: there the pool has no second derivative."""
    if exponent >= 0:
        return base**exponent
    is_zero = base == 0
    return jnp.where(is_zero, 0, jnp.where(is_zero, 1, base) ** exponent)


def _curved_jvp(curved: Map, second: Callable[..., Any]) -> Callable[..., Any]:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], *, pool: Any) -> Any:
        (x, direction), (dx, change) = primals, tangents
        result = curved(x, direction, pool=pool)
        along_x = None if _is_zero(dx) else second(x, direction, dx, pool)
        along = None if _is_zero(change) else curved(x, change, pool=pool)
        parts = [part for part in (along_x, along) if part is not None]
        return result, sum(parts[1:], parts[0]) if parts else _zero(result)

    return rule


ad.primitive_jvps[jvp.primitive] = _curved_jvp(jvp, _second_jvp)
ad.primitive_jvps[vjp.primitive] = _curved_jvp(vjp, _second_vjp)
