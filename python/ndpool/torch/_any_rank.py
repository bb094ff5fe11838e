"""The functions of `ndpool` on tensors: any rank and axes, with the arguments they have there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary

from ndpool._core import Pool
from ndpool._operators import _descriptions, flag
from ndpool.torch import _autograd, _maps
from ndpool.torch._operators import operators
from ndpool.torch._twins import is_compiling, is_foreign, is_watched, named, require_dense

Pooled = Tensor | tuple[Tensor, Tensor]


def any_rank(operator: str) -> Callable[..., Any]:
    """The function of `ndpool` for an operator, on tensors."""
    name = f"{operator}_pool"
    describe = _descriptions[operator]
    has_indices = "nan" in inspect.signature(describe).parameters

    def apply(input: Tensor, args: tuple[Any, ...], options: dict[str, Any], indexed: bool) -> Any:
        if not is_compiling():
            require_dense(input)
        options = _from_the_end(name, input.dim(), options)
        if is_compiling():
            text = _text(describe, args, options)
            if indexed:
                return operators.forward_with_winners(input, text, True)
            return operators.forward(input, text)
        pool = _maps.Pooling(describe(*args, **options))
        if is_foreign(input):
            text = _maps.text_of(pool)
            if indexed:
                return operators.forward_with_winners(input, text, True)
            return operators.forward(input, text)
        if indexed:
            return _autograd.pool_with_indices(input, pool)
        if is_watched(input):
            return _autograd.pool(input, pool)
        return _maps.forward(input, pool)

    def pool(input: Tensor, *args: Any, **options: Any) -> Tensor:
        if has_torch_function_unary(input):
            return handle_torch_function(public, (input,), input, *args, **options)
        return apply(input, args, options, False)

    def pool_or_both(
        input: Tensor, *args: Any, return_indices: bool = False, **options: Any
    ) -> Pooled:
        if has_torch_function_unary(input):
            options["return_indices"] = return_indices
            return handle_torch_function(public, (input,), input, *args, **options)
        return apply(input, args, options, flag(return_indices))

    doc = f"`ndpool.{name}` on a tensor, with autograd."
    public = named(pool_or_both if has_indices else pool, name, doc)
    public.__signature__ = _signature(describe, has_indices)  # type: ignore[attr-defined]
    return public


@torch.compiler.assume_constant_result
def _text(describe: Callable[..., Pool], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    return _maps.text_of(_maps.Pooling(describe(*args, **options)))


def _from_the_end(name: str, rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """Counts axes from the end, so that they mean the same when vmap adds one in front."""
    axes = options.get("axes")
    if axes is None:
        if not name.startswith("global_"):
            return options
        axes = range(rank)
    elif isinstance(axes, int):
        axes = (axes,)
    from_end = tuple(axis - rank if 0 <= axis < rank else axis for axis in axes)
    return {**options, "axes": from_end}


def _signature(describe: Callable[..., Pool], has_indices: bool) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters = list(inspect.signature(describe).parameters.values())
    input = kinds("input", kinds.POSITIONAL_OR_KEYWORD, annotation="Tensor")
    indices = kinds("return_indices", kinds.KEYWORD_ONLY, default=False, annotation="bool")
    returns = "Pooled" if has_indices else "Tensor"
    return inspect.Signature(
        [input, *parameters, *([indices] if has_indices else [])], return_annotation=returns
    )
