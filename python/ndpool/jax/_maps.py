"""The maps of a pool as primitives of JAX: shapes, vmap, and the calls of XLA.

An array is like the input of the pool ("x") or like its result ("y"); that is all that the rules
here need to know. `_derivatives` adds those of forward and reverse mode.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from ndpool.jax import _description
from ndpool.jax._native import handlers


@functools.lru_cache(maxsize=4096)
def _compiled(primitive: Primitive, params: tuple[tuple[str, Any], ...]) -> Any:
    return jax.jit(functools.partial(primitive.bind, **dict(params)))


def require_known(shape: Sequence[Any]) -> None:
    if not all(isinstance(length, (int, numpy.integer)) for length in shape):
        raise NotImplementedError(
            f"ndpool.jax needs arrays of known shape, not {tuple(shape)}: symbolic dimensions are"
            " not supported"
        )


def _moved(array: Any, axis: int | None, to: int, size: int) -> Any:
    """The array with its batch axis at `to`; one without is the same for all."""
    if axis is None:
        kept = tuple(i for i in range(array.ndim + 1) if i != to)
        shape = (*array.shape[:to], size, *array.shape[to:])
        return jax.lax.broadcast_in_dim(array, shape, kept)
    return array if axis == to else jax.numpy.moveaxis(array, axis, to)


class Map:
    """A map of pools, by the name of its handler.

    `operands` and `results` hold a letter for each array: "x" and "y" as above, small letters for
    values and large ones for indices. Parameters of the primitive: `pool`, with axes counted from
    the front; `shape`, that of x, if no operand has it; `index_dtype` of indices that it returns.
    """

    def __init__(self, name: str, operands: str, results: str) -> None:
        self.name, self.operands, self.results = name, operands, results
        target = f"ndpool_{name}"
        jax.ffi.register_ffi_target(target, handlers[name], platform="cpu")
        self._lower = jax.ffi.ffi_lowering(target)
        self.primitive = Primitive(target)
        self.primitive.multiple_results = len(results) > 1
        self.primitive.def_impl(self._run)
        self.primitive.def_abstract_eval(self._result_types)
        batching.primitive_batchers[self.primitive] = self._batch
        mlir.register_lowering(self.primitive, self._lower_for_cpu, platform="cpu")
        mlir.register_lowering(self.primitive, self._refuse_platform)

    def __call__(self, *operands: Any, **params: Any) -> Any:
        return self.primitive.bind(*operands, **params)

    def _run(self, *operands: Any, **params: Any) -> Any:
        with jax.disable_jit(False):
            return _compiled(self.primitive, tuple(params.items()))(*operands)

    def _input_shape(self, operands: Sequence[Any], shape: tuple[int, ...] | None) -> Any:
        if shape is not None:
            return shape
        return operands[self.operands.lower().index("x")].shape

    def _result_types(
        self, *operands: Any, pool: Any, shape: Any = None, index_dtype: Any = None
    ) -> Any:
        for operand in operands:
            require_known(operand.shape)
        x_shape = self._input_shape(operands, shape)
        shapes = {"x": x_shape, "y": pool.output_shape(x_shape)}
        for side, operand in zip(self.operands, operands):
            if operand.shape != shapes[side.lower()]:
                raise ValueError(
                    f"{self.primitive.name} got an array of shape {operand.shape}; expected"
                    f" {shapes[side.lower()]}"
                )
        types = [
            jax.core.ShapedArray(
                shapes[side.lower()],
                index_dtype if side.isupper() else operands[-1].dtype,
            )
            for side in self.results
        ]
        return types if self.primitive.multiple_results else types[0]

    def _batch(
        self, operands: Sequence[Any], axes: Sequence[int | None], *, pool: Any, **params: Any
    ) -> Any:
        """Adds the axis of vmap to the arrays, where the first batched operand has it."""
        first = next(i for i, axis in enumerate(axes) if axis is not None)
        place: Any = axes[first]
        size = operands[first].shape[place]
        if self.operands[first].lower() == "y":
            place = _description.input_axis(pool, place)
        places = {"x": place, "y": _description.output_axis(pool, place)}
        moved = [
            _moved(operand, axis, places[side.lower()], size)
            for operand, axis, side in zip(operands, axes, self.operands)
        ]
        if params.get("shape") is not None:
            shape = params["shape"]
            params["shape"] = (*shape[:place], size, *shape[place:])
        results = self(*moved, pool=_description.batched(pool, place), **params)
        ends = [places[side.lower()] for side in self.results]
        return (results, ends) if self.primitive.multiple_results else (results, ends[0])

    def _lower_for_cpu(self, context: Any, *operands: Any, pool: Any, **_: Any) -> Any:
        return self._lower(context, *operands, **_description.attributes_of(pool))

    def _refuse_platform(self, context: Any, *_: Any, **__: Any) -> Any:
        platforms = ", ".join(context.platforms or context.module_context.platforms)
        raise NotImplementedError(
            f"ndpool.jax runs on the CPU alone; this computation is compiled for {platforms}. Move"
            " its arrays by jax.device_put(x, jax.devices('cpu')[0])"
        )


forward = Map("forward", "x", "y")
forward_with_indices = Map("forward_with_indices", "x", "yY")
jvp = Map("jvp", "xx", "y")
vjp = Map("vjp", "xy", "x")
spread = Map("spread", "y", "x")  # the transpose of sums and averages
gather = Map("gather", "Yx", "y")  # the derivative of maxima by their winners
scatter = Map("scatter", "Yy", "x")  # its transpose
unpool = Map("unpool", "Xx", "y")
unpool_vjp = Map("unpool_vjp", "Xy", "x")
