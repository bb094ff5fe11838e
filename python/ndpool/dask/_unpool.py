"""Max unpooling: with the windows of the pool each chunk reads few others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from dask.base import tokenize

from ndpool import _core
from ndpool._parts import tables
from ndpool._parts.tables import Grid, Reads, plan
from ndpool._parts.tasks import Problem
from ndpool.dask import _collections
from ndpool.dask._layers import Layer, Operand
from ndpool.dask._maps import like, normalized


class UnpoolGraph:
    """The maps of one unpooling. Without windows any index may name any cell."""

    def __init__(
        self,
        indices: Any,
        output_size: Any,
        axes: Any,
        window: tuple[Any, ...] | None,
        ceil_mode: bool,
    ) -> None:
        self.indices = _collections.known_array(indices, "indices")
        if self.indices.dtype != numpy.dtype("i8"):
            raise TypeError(f"indices has dtype {self.indices.dtype}; expected int64")
        self.grid = Grid(self.indices.chunks)
        self.shape = _core.Unpool(output_size, axes).output_shape(self.indices.shape)
        self.axes = _pooled_axes(output_size, axes, len(self.shape))
        self.pool = None
        if window is not None:
            self.pool = _core.Pool.window("max", *window, axes, ceil_mode, empty="identity")
            made, self.axes = self.pool.resolve_for(self.shape, numpy.dtype("f4"))
            if made != self.indices.shape:
                raise ValueError(
                    f"indices has shape {self.indices.shape}; these windows make {made}"
                )
        self.problem = Problem(self.pool, self.shape, self.axes, _collections.threads())

    def _operand(self, array: Any, name: str) -> Operand:
        if array.shape != self.indices.shape:
            raise ValueError(f"{name} has shape {array.shape}; expected {self.indices.shape}")
        return Operand(like(array, self.indices), self.grid)

    def _natural(self) -> tuple[tuple[int, ...], ...]:
        if self.pool is not None:
            return tables.cell_chunks(self.pool, self.shape, self.grid)
        return tuple(
            tables.scaled_chunks(axis, length) for axis, length in zip(self.grid.axes, self.shape)
        )

    def _layer(self, kind: str, operands: Sequence[Operand], grid: Grid, dtype: Any) -> Layer:
        names = [operand.array.name for operand in operands]
        window = repr(self.pool), self.shape, self.axes, self.problem.threads
        token = tokenize(kind, names, window, grid.chunks)
        return Layer(f"max_{kind}", token, grid, (), self.problem, dtype)

    def place(self, values: Any, name: str, chunks: Any) -> Any:
        """Values at the cells that indices name: unpooling and its JVP."""
        grid = Grid(self._natural())
        if chunks is not None:
            grid = Grid(normalized(chunks, grid.chunks, values.dtype))
        operands = [Operand(self.indices, self.grid), self._operand(values, name)]
        layer = self._layer("unpool", operands, grid, values.dtype)
        reads = self._seeing(grid)
        layer.add("unpool", operands, plan(grid, [reads, reads]), reads.box)
        return layer.array(operands)

    def _seeing(self, grid: Grid) -> Reads:
        if self.pool is None:
            return tables.reads_of_all(self.grid, grid, self.axes)
        return tables.reads_of_cells(self.pool, grid, self.grid, grid)[0]

    def vjp(self, gx: Any, chunks: Any) -> Any:
        if gx.shape != self.shape:
            raise ValueError(f"gx has shape {gx.shape}; expected {self.shape}")
        grid = self.grid
        if chunks is not None:
            grid = Grid(normalized(chunks, grid.chunks, gx.dtype))
        gradient = Operand(gx, Grid(gx.chunks))
        operands = [Operand(self.indices, self.grid), gradient]
        layer = self._layer("unpool_vjp", operands, grid, gx.dtype)
        if self.pool is None:
            reads = (
                tables.reads_of_all(self.grid, grid, self.axes),
                tables.reads_of_all(gradient.grid, grid, self.axes),
            )
        else:
            reads = tables.reads_of_rivals(self.pool, gradient.grid, self.grid, grid)
        layer.add("unpool_vjp", operands, plan(grid, reads), grid.box)
        return layer.array(operands)


def _pooled_axes(output_size: Any, axes: Any, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank - len(output_size), rank))
    given = (axes,) if hasattr(axes, "__index__") else axes
    return tuple(sorted(int(axis) % rank for axis in given))


def _graph(
    indices: Any, output_size: Any, kernel: Any, window: tuple[Any, ...], axes: Any, ceil_mode: bool
) -> UnpoolGraph:
    full = None if kernel is None else (kernel, *window)
    if full is None and window != (None, 0, 1):
        raise TypeError("stride, padding and dilation need kernel")
    return UnpoolGraph(indices, output_size, axes, full, ceil_mode)


def max_unpool(
    y: Any,
    indices: Any,
    output_size: Any,
    kernel: Any = None,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    axes: Any = None,
    ceil_mode: bool = False,
    chunks: Any = None,
) -> Any:
    """`ndpool.max_unpool` on arrays of Dask, lazily: `y` at the elements that indices name, else 0.

    With the window of the pool that made the indices, each chunk reads only what can fall into it;
    an index outside of its window is then an error, when it is computed. Without it every chunk
    reads all values along the pooled axes.
    """
    graph = _graph(indices, output_size, kernel, (stride, padding, dilation), axes, ceil_mode)
    return graph.place(_collections.known_array(y, "y", graph.grid.chunks), "y", chunks)


def jvp(
    y: Any,
    dy: Any,
    indices: Any,
    output_size: Any,
    kernel: Any = None,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    axes: Any = None,
    ceil_mode: bool = False,
    chunks: Any = None,
) -> tuple[Any, Any]:
    """The pair (x, dx) of `max_unpool`: its value at `y`, and its derivative applied to `dy`."""
    graph = _graph(indices, output_size, kernel, (stride, padding, dilation), axes, ceil_mode)
    dy = _floats(_collections.known_array(dy, "dy", graph.grid.chunks), "dy")
    y = _collections.known_array(y, "y", graph.grid.chunks)
    return graph.place(y, "y", chunks), graph.place(dy, "dy", chunks)


def vjp(
    y: Any,
    gx: Any,
    indices: Any,
    output_size: Any,
    kernel: Any = None,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    axes: Any = None,
    ceil_mode: bool = False,
    chunks: Any = None,
) -> Any:
    """The gradient gy of `max_unpool`, which does not depend on `y`: its shape will do."""
    graph = _graph(indices, output_size, kernel, (stride, padding, dilation), axes, ceil_mode)
    shape = y if isinstance(y, tuple) else y.shape
    if shape != graph.indices.shape:
        raise ValueError(f"y has shape {shape}; expected {graph.indices.shape}, that of indices")
    return graph.vjp(_floats(_collections.known_array(gx, "gx"), "gx"), chunks)


def _floats(array: Any, name: str) -> Any:
    if array.dtype.kind in "iub":
        raise TypeError(f"{name} has dtype {array.dtype}, which has no derivatives")
    return array


for _function, _name in ((max_unpool, ""), (jvp, ".jvp"), (vjp, ".vjp")):
    _function.__module__, _function.__qualname__ = "ndpool.dask", f"max_unpool{_name}"
max_unpool.jvp = jvp  # type: ignore[attr-defined]
max_unpool.vjp = vjp  # type: ignore[attr-defined]
