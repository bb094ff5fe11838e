"""Layers of a graph: the tasks of one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ndpool._parts.axes import Ranges
from ndpool._parts.tables import Grid, Plan, Position
from ndpool._parts.tasks import Copies, Problem, Source, Step, copy_edges, run
from ndpool.dask import _collections
from ndpool.dask._collections import Key, Tasks


class Operand(NamedTuple):
    """An array that tasks read: its grid has all axes, its keys lack those that are dropped."""

    array: Any
    grid: Grid
    dropped: tuple[int, ...] = ()

    def key(self, position: Position) -> Key:
        return (self.array.name, *visible(position, self.dropped))


def visible(entries: Sequence[Any], dropped: tuple[int, ...]) -> tuple[Any, ...]:
    """The entries of the axes that are not dropped."""
    if not dropped:
        return tuple(entries)
    return tuple([entry for axis, entry in enumerate(entries) if axis not in dropped])


class Layer:
    """One result in the making: its name, its grid and its tasks."""

    def __init__(
        self,
        label: str,
        token: str,
        grid: Grid,
        dropped: tuple[int, ...],
        problem: Problem,
        dtype: Any,
    ) -> None:
        self.label, self.token, self.grid, self.dropped = label, token, grid, dropped
        self.problem, self.dtype = problem, dtype
        self.name = f"{label}-{token}"
        self.tasks: Tasks = {}
        self.wanted_chunks: Any = None  # of the array, if others than those of the grid

    def key(self, position: Position) -> Key:
        return (self.name, *visible(position, self.dropped))

    def step(
        self, kind: str, position: Position, outputs: Ranges, sources: Sequence[Source]
    ) -> Step:
        box = self.grid.box(position)
        return Step(self.problem, kind, box, outputs, tuple(sources), self.dtype, self.dropped)

    def add(
        self,
        kind: str,
        operands: Sequence[Operand],
        made: Plan,
        outputs: Callable[[Position], Ranges],
    ) -> None:
        """A task for each chunk: the map `kind` on what the plan says that it reads."""
        edges = f"{self.label}-edges-{self.token}"
        self._add_edges(edges, operands, made)
        for position, parts in made.parts.items():
            if None in parts:  # an empty chunk, or cells that no window reads
                self.tasks[self.key(position)] = (run, self.step("zeros", position, (), ()))
                continue
            sources, keys = [], []
            neighbours: dict[Key, None] = {}
            for operand, part in zip(operands, parts):
                assert part is not None
                places = tuple([operand.grid.box(chunk) for chunk in part.whole])
                sources.append(Source(part.box, places, operand.dropped))
                keys += [operand.key(chunk) for chunk in part.whole]
                for chunk, _ in part.edges:
                    neighbours[(edges, *chunk)] = None
            step = self.step(kind, position, outputs(position), sources)
            self.tasks[self.key(position)] = (run, step, *keys, *neighbours)

    def _add_edges(self, name: str, operands: Sequence[Operand], made: Plan) -> None:
        """A task for each chunk that neighbours need a part of: it copies just these parts."""
        for chunk, boxes in made.edges.items():
            entries, keys = [], []
            for source, (operand, copies) in enumerate(zip(operands, boxes)):
                if copies:
                    entries.append((source, operand.grid.box(chunk), copies, operand.dropped))
                    keys.append(operand.key(chunk))
            self.tasks[(name, *chunk)] = (copy_edges, Copies(tuple(entries)), *keys)

    def array(self, operands: Sequence[Operand]) -> Any:
        arrays = list({operand.array.name: operand.array for operand in operands}.values())
        chunks = visible(self.grid.chunks, self.dropped)
        made = _collections.make_array(self.name, self.tasks, arrays, chunks, self.dtype)
        return made if self.wanted_chunks is None else made.rechunk(self.wanted_chunks)
