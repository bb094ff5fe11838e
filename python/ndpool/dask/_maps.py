"""Graphs of the maps of a pool: two tasks for each chunk of a result, or one."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import dask.array as da
import numpy
from dask.base import tokenize

from ndpool._parts import tables
from ndpool._parts.tables import Grid, plan
from ndpool._parts.tasks import Problem
from ndpool.dask import _collections
from ndpool.dask._layers import Layer, Operand, visible
from ndpool.dask._trees import Tree, is_long

Chunked = tuple[tuple[int, ...], ...]


class PoolGraph:
    """The maps of one pool on arrays of one shape; x may be just that shape."""

    def __init__(self, label: str, pool: Any, x: Any, dtype: Any, derivative: bool = False) -> None:
        self.label, self.pool, self.dtype = label, pool, dtype
        self.shape: tuple[int, ...] = x if isinstance(x, tuple) else x.shape
        self.x = None if isinstance(x, tuple) else Operand(x, Grid(x.chunks))
        self.output, self.pooled = pool.resolve_for(self.shape, dtype, derivative)
        drops = len(pool.output_shape(self.shape)) < len(self.output)
        self.dropped = self.pooled if drops else ()
        self.problem = Problem(pool, self.shape, self.pooled, _collections.threads())

    # Chunks.

    def output_grid(self, cells: Grid, chunks: Any = None) -> Grid:
        """The chunks of y, which follow those of the cells unless the caller asks for others."""
        natural = tables.output_chunks(self.pool, cells, self.output)
        if chunks is None:
            return Grid(natural)
        kept = visible(natural, self.dropped)
        return Grid(self._all_axes(normalized(chunks, kept, self.dtype)))

    def cell_grid(self, natural: Grid, chunks: Any) -> Grid:
        if chunks is None:
            return natural
        return Grid(normalized(chunks, natural.chunks, self.dtype))

    def _all_axes(self, chunks: Chunked) -> Chunked:
        """Chunks of an array of the shape of y, with the axes that a global pool drops."""
        kept = iter(chunks)
        return tuple(
            [(1,) if axis in self.dropped else next(kept) for axis in range(len(self.output))]
        )

    # Operands.

    def of_outputs(self, array: Any, name: str) -> Operand:
        """An operand of the shape of y."""
        wanted = visible(self.output, self.dropped)
        if array.shape != wanted:
            raise ValueError(f"{name} has shape {array.shape}; expected {wanted}")
        return Operand(array, Grid(self._all_axes(array.chunks)), self.dropped)

    def of_cells(self, array: Any, name: str) -> Operand:
        """An operand of the shape of x, with the chunks of x."""
        if array.shape != self.shape:
            raise ValueError(f"{name} has shape {array.shape}; expected {self.shape}")
        if self.x is not None and array.chunks != self.x.grid.chunks:
            array = array.rechunk(self.x.grid.chunks)
        return Operand(array, Grid(array.chunks))

    # Maps.

    def layer(self, kind: str, operands: Sequence[Operand], grid: Grid, of_cells: bool) -> Layer:
        names = [operand.array.name for operand in operands]
        parameters = (repr(self.pool), self.shape, self.problem.threads, self.dropped)
        token = tokenize(kind, names, parameters, grid.chunks)
        label = f"{self.label}-{kind}" if of_cells else self.label
        return Layer(label, token, grid, () if of_cells else self.dropped, self.problem, self.dtype)

    def _x(self) -> Operand:
        assert self.x is not None
        return self.x

    def _is_tree(self, cells: Grid) -> bool:
        return is_long(self.pool, self.shape, self.pooled, cells, self.dtype)

    def _to_outputs(self, kind: str, operands: Sequence[Operand], chunks: Any) -> Layer:
        cells = operands[0].grid
        is_tree = kind in Tree.kinds and self._is_tree(cells)
        grid = self.output_grid(cells, None if is_tree else chunks)
        layer = self.layer(kind, operands, grid, False)
        if is_tree:
            Tree(self.pool, layer, operands).add(kind)
            layer.wanted_chunks = chunks
        else:
            reads = tables.reads_of_outputs(self.pool, cells, grid)
            layer.add(kind, operands, plan(grid, [reads] * len(operands)), grid.box)
        return layer

    def forward(self, chunks: Any) -> Any:
        return self._to_outputs("forward", [self._x()], chunks).array([self._x()])

    def forward_with_indices(self, chunks: Any) -> tuple[Any, Any]:
        """Tasks that make pairs, and for each array one that takes its entry."""
        layer = self._to_outputs("forward_with_indices", [self._x()], chunks)
        results = []
        for item, dtype in enumerate((self.dtype, numpy.dtype("i8"))):
            taking = Layer(
                f"{self.label}-{('values', 'indices')[item]}",
                layer.token, layer.grid, layer.dropped, self.problem, dtype,
            )  # fmt: skip
            taking.wanted_chunks = layer.wanted_chunks
            taking.tasks.update(layer.tasks)
            for position in layer.grid.positions():
                taking.tasks[taking.key(position)] = (itemgetter(item), layer.key(position))
            results.append(taking.array([self._x()]))
        return results[0], results[1]

    def jvp(self, dx: Any, chunks: Any) -> Any:
        tangent = self.of_cells(dx, "dx")
        linear = self.pool.is_linear()
        operands = [tangent] if linear else [self._x(), tangent]
        return self._to_outputs("linear_jvp" if linear else "jvp", operands, chunks).array(operands)

    def beta_derivative(self, chunks: Any) -> Any:
        return self._to_outputs("beta_derivative", [self._x()], chunks).array([self._x()])

    def vjp(self, gy: Any, chunks: Any) -> Any:
        gradient = self.of_outputs(gy, "gy")
        linear = self.pool.is_linear()
        grid = self._gradient_grid(gradient, None)
        kind = "linear_vjp" if linear else "vjp"
        is_tree = self._is_tree(grid)
        if is_tree:
            aligned = visible(self.output_grid(grid).chunks, self.dropped)
            gradient = self.of_outputs(gradient.array.rechunk(aligned), "gy")
        else:
            grid = self.cell_grid(grid, chunks)
        operands = [gradient] if linear else [gradient, self._x()]
        layer = self.layer(kind, operands, grid, True)
        if is_tree:
            Tree(self.pool, layer, operands).add(kind)
            layer.wanted_chunks = chunks
        else:
            cells = grid if linear else self._x().grid
            reads = tables.reads_of_cells(self.pool, cells, gradient.grid, grid)
            made = plan(grid, reads[: len(operands)])
            layer.add(kind, operands, made, reads[0].box)
        return layer.array(operands)

    def _gradient_grid(self, gradient: Operand, chunks: Any) -> Grid:
        if self.x is not None:
            return self.cell_grid(self.x.grid, chunks)
        natural = tables.cell_chunks(self.pool, self.shape, gradient.grid)
        return self.cell_grid(Grid(natural), chunks)

    # By indices.

    def jvp_by_indices(self, indices: Any, dx: Any, chunks: Any) -> Any:
        winners, tangent = self.of_outputs(indices, "indices"), self.of_cells(dx, "dx")
        grid = self.output_grid(tangent.grid, chunks)
        operands = [winners, tangent]
        layer = self.layer("jvp_by_indices", operands, grid, False)
        reads = [
            tables.reads_of_itself(winners.grid, grid),
            tables.reads_of_outputs(self.pool, tangent.grid, grid),
        ]
        layer.add("jvp_by_indices", operands, plan(grid, reads), grid.box)
        return layer.array(operands)

    def vjp_by_indices(self, indices: Any, gy: Any, chunks: Any) -> Any:
        gradient = self.of_outputs(gy, "gy")
        winners = self.of_outputs(like(indices, gy), "indices")
        grid = self._gradient_grid(gradient, chunks)
        operands = [winners, gradient]
        layer = self.layer("vjp_by_indices", operands, grid, True)
        reads, _ = tables.reads_of_cells(self.pool, grid, gradient.grid, grid)
        layer.add("vjp_by_indices", operands, plan(grid, [reads, reads]), reads.box)
        return layer.array(operands)


def like(array: Any, other: Any) -> Any:
    return array if array.shape != other.shape else array.rechunk(other.chunks)


def normalized(chunks: Any, natural: Chunked, dtype: Any) -> Chunked:
    shape = tuple(sum(lengths) for lengths in natural)
    normalize: Any = da.core.normalize_chunks
    made: Chunked = normalize(chunks, shape=shape, dtype=dtype, previous_chunks=natural)
    return made
