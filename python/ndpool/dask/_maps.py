"""Graphs of the maps of a pool: two tasks for each chunk of a result, or one."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import dask
import numpy
from dask.base import tokenize

from ndpool._parts.axes import Ranges
from ndpool._parts.tables import (
    Grid,
    Plan,
    Position,
    Reads,
    output_chunks,
    plan,
    reads_of_cells,
    reads_of_outputs,
)
from ndpool._parts.tasks import Copies, Problem, Source, Step, copy_edges, run
from ndpool.dask import _collections
from ndpool.dask._collections import Tasks

Chunked = tuple[tuple[int, ...], ...]


class Operand(NamedTuple):
    """An array that tasks read: its grid has all axes, its keys lack those that are dropped."""

    array: Any
    grid: Grid
    dropped: tuple[int, ...] = ()

    def key(self, position: Position) -> tuple[Any, ...]:
        return (self.array.name, *visible(position, self.dropped))


def visible(entries: Sequence[Any], dropped: tuple[int, ...]) -> tuple[Any, ...]:
    """The entries of the axes that are not dropped."""
    return tuple([entry for axis, entry in enumerate(entries) if axis not in dropped])


class Layer:
    """One result in the making: its name, its grid and its tasks."""

    def __init__(self, label: str, token: str, grid: Grid, dropped: tuple[int, ...]) -> None:
        self.name, self.edges = f"{label}-{token}", f"{label}-edges-{token}"
        self.grid, self.dropped = grid, dropped
        self.tasks: Tasks = {}

    def key(self, position: Position) -> tuple[Any, ...]:
        return (self.name, *visible(position, self.dropped))

    def add(
        self, kind: str, problem: Problem, operands: Sequence[Operand], made: Plan, outputs: Any, dtype: Any
    ) -> None:
        """A task for each chunk: the map `kind` on what the plan says that it reads."""
        add_edges(self.tasks, self.edges, operands, made)
        for position, parts in made.parts.items():
            box = self.grid.box(position)
            reads = outputs(position)
            is_empty = any(begin == end for begin, end in box)
            if reads is None or is_empty or None in parts:
                step = Step(problem, "zeros", box, (), (), dtype, self.dropped)
                self.tasks[self.key(position)] = (run, step)
                continue
            sources, keys, neighbours = [], [], {}
            for operand, part in zip(operands, parts):
                places = [operand.grid.box(chunk) for chunk in part.whole]
                sources.append(Source(part.box, tuple(places), operand.dropped))
                keys += [operand.key(chunk) for chunk in part.whole]
                for chunk, _ in part.edges:
                    neighbours[(self.edges, *chunk)] = None
            step = Step(problem, kind, box, reads, tuple(sources), dtype, self.dropped)
            self.tasks[self.key(position)] = (run, step, *keys, *neighbours)

    def array(self, operands: Sequence[Operand], dtype: Any) -> Any:
        arrays = list({id(operand.array): operand.array for operand in operands}.values())
        chunks = visible(self.grid.chunks, self.dropped)
        return _collections.make_array(self.name, self.tasks, arrays, chunks, dtype)


def add_edges(tasks: Tasks, name: str, operands: Sequence[Operand], made: Plan) -> None:
    """A task for each chunk that neighbours need a part of: it copies just these parts."""
    for chunk, boxes in made.edges.items():
        entries, keys = [], []
        for source, (operand, copies) in enumerate(zip(operands, boxes)):
            if copies:
                entries.append((source, operand.grid.box(chunk), copies, operand.dropped))
                keys.append(operand.key(chunk))
        tasks[(name, *chunk)] = (copy_edges, Copies(tuple(entries)), *keys)


class PoolGraph:
    """The maps of one pool on one array."""

    def __init__(self, label: str, pool: Any, x: Any, derivative: bool = False) -> None:
        self.label, self.pool = label, pool
        self.dtype = x.dtype
        self.x = Operand(x, Grid(x.chunks))
        self.output, self.pooled = pool.resolve_for(x.shape, x.dtype, derivative)
        drops = len(pool.output_shape(x.shape)) < len(self.output)
        self.dropped = self.pooled if drops else ()
        self.problem = Problem(pool, x.shape, _collections.threads())

    def _token(self, kind: str, arrays: Sequence[Any], *more: Any) -> str:
        names = [array.name for array in arrays]
        return tokenize(kind, repr(self.pool), self.problem.shape, self.problem.threads, names, *more)

    def output_grid(self, chunks: Any = None) -> Grid:
        """The chunks of y, which follow those of x unless the caller asks for others."""
        natural = output_chunks(self.pool, self.x.grid, self.output)
        if chunks is None:
            return Grid(natural)
        return Grid(self._all_axes(self._normalized(chunks, visible(natural, self.dropped))))

    def _normalized(self, chunks: Any, natural: Chunked) -> Chunked:
        shape = tuple(sum(lengths) for lengths in natural)
        return dask.array.core.normalize_chunks(
            chunks, shape=shape, dtype=self.dtype, previous_chunks=natural
        )

    def _all_axes(self, chunks: Chunked) -> Chunked:
        """Chunks of an array of the shape of y, with the axes that a global pool drops."""
        kept = iter(chunks)
        return tuple(
            (1,) if axis in self.dropped else next(kept) for axis in range(len(self.output))
        )

    def of_outputs(self, array: Any, name: str) -> Operand:
        """An operand of the shape of y."""
        wanted = visible(self.output, self.dropped)
        if array.shape != wanted:
            raise ValueError(f"{name} has shape {array.shape}; expected {wanted}")
        return Operand(array, Grid(self._all_axes(array.chunks)), self.dropped)

    def of_cells(self, array: Any, name: str) -> Operand:
        """An operand of the shape of x, with its chunks."""
        if array.shape != self.x.array.shape:
            raise ValueError(f"{name} has shape {array.shape}; expected {self.x.array.shape}")
        if array.chunks != self.x.array.chunks:
            array = array.rechunk(self.x.array.chunks)
        return Operand(array, self.x.grid)

    def _to_outputs(
        self, kind: str, operands: Sequence[Operand], chunks: Any, *more: Any
    ) -> tuple[Layer, Grid]:
        grid = self.output_grid(chunks)
        token = self._token(kind, [operand.array for operand in operands], grid.chunks, *more)
        layer = Layer(self.label, token, grid, self.dropped)
        reads = reads_of_outputs(self.pool, self.x.grid, grid)
        made = plan(grid, [reads] * len(operands))
        layer.add(kind, self.problem, operands, made, grid.box, self.dtype)
        return layer, grid

    def forward(self, chunks: Any) -> Any:
        layer, _ = self._to_outputs("forward", [self.x], chunks)
        return layer.array([self.x], self.dtype)

    def forward_with_indices(self, chunks: Any) -> tuple[Any, Any]:
        layer, grid = self._to_outputs("forward_with_indices", [self.x], chunks)
        both = layer.tasks
        names = (f"{layer.name}-y", f"{layer.name}-indices")
        results = []
        for item, (name, dtype) in enumerate(zip(names, (self.dtype, numpy.dtype("i8")))):
            tasks = dict(both)
            for position in grid.positions():
                key = layer.key(position)
                tasks[(name, *key[1:])] = (itemgetter(item), key)
            visible_chunks = visible(grid.chunks, self.dropped)
            results.append(
                _collections.make_array(name, tasks, [self.x.array], visible_chunks, dtype)
            )
        return results[0], results[1]

    def jvp(self, dx: Any, chunks: Any) -> Any:
        tangent = self.of_cells(dx, "dx")
        if self.pool.is_linear():
            layer, _ = self._to_outputs("linear_jvp", [tangent], chunks)
            return layer.array([tangent], self.dtype)
        layer, _ = self._to_outputs("jvp", [self.x, tangent], chunks)
        return layer.array([self.x, tangent], self.dtype)

    def beta_derivative(self, chunks: Any) -> Any:
        layer, _ = self._to_outputs("beta_derivative", [self.x], chunks)
        return layer.array([self.x], self.dtype)

    def vjp(self, gy: Any, chunks: Any) -> Any:
        gradient = self.of_outputs(gy, "gy")
        grid = self.x.grid
        if chunks is not None:
            grid = Grid(self._normalized(chunks, grid.chunks))
        seeing, under = reads_of_cells(self.pool, self.x.grid, gradient.grid, grid)
        linear = self.pool.is_linear()
        kind = "linear_vjp" if linear else "vjp"
        operands = [gradient] if linear else [gradient, self.x]
        reads = [seeing] if linear else [seeing, under]
        arrays = [operand.array for operand in operands]
        layer = Layer(f"{self.label}-vjp", self._token(kind, arrays, grid.chunks), grid, ())
        layer.add(kind, self.problem, operands, plan(grid, reads), _boxes(seeing), self.dtype)
        return layer.array(operands, self.dtype)


def _boxes(reads: Reads) -> Any:
    """The positions that the chunk at a place reads, or None."""

    def box(position: Position) -> Ranges | None:
        ranges = reads.box(position)
        return None if any(begin == end for begin, end in ranges) else ranges

    return box
