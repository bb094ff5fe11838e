"""Windows that are not gathered, but made of partial results that are combined in a tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ndpool._parts import states, tables
from ndpool._parts.axes import Ranges
from ndpool._parts.tables import Grid, Position, Reads
from ndpool._parts.tasks import Source, run
from ndpool.dask import _collections
from ndpool.dask._collections import Key
from ndpool.dask._layers import Layer, Operand

fan_in = 8  # partial results that one task combines


def is_long(
    pool: Any, shape: tuple[int, ...], axes: tuple[int, ...], cells: Grid, dtype: Any
) -> bool:
    """True if a window is in many chunks, and is a global pool's or larger than a chunk may be."""
    if all(sum(length > 0 for length in cells.axes[axis].lengths) <= 1 for axis in axes):
        return False
    factory = pool.__reduce__()[1][0]
    if factory == "global_":
        return True
    longest = pool.longest_windows(shape)
    window = math.prod(longest[axis] for axis in axes) * dtype.itemsize
    return window > _collections.chunk_bytes()


class Tree:
    """Adds to a layer the tasks of a map whose windows are made of partial results.

    Chunks of batch axes are those of the cells: whoever wants others changes the result.
    """

    kinds = ("forward", "forward_with_indices", "jvp", "linear_jvp")

    def __init__(self, pool: Any, layer: Layer, operands: Sequence[Operand]) -> None:
        self.pool, self.layer, self.operands = pool, layer, operands

    def add(self, kind: str) -> None:
        if kind in ("vjp", "linear_vjp"):
            self._add_vjp(kind)
        elif kind in ("jvp", "linear_jvp"):
            self._add_jvp(kind)
        else:
            reads = self._reads(self.operands[0].grid, self.layer.grid)
            for position in self.layer.grid.positions():
                self._finish(kind, position, reads, self.operands[:1])

    def _reads(self, cells: Grid, outputs: Grid) -> Reads:
        return tables.reads_of_outputs(self.pool, cells, outputs)

    def _name(self, what: str) -> str:
        return f"{self.layer.label}-{what}-{self.layer.token}"

    def _finish(
        self, kind: str, position: Position, reads: Reads, operands: Sequence[Operand]
    ) -> None:
        layer = self.layer
        box = layer.grid.box(position)
        root = self._states(position, box, reads, operands[0])
        if root is None:
            layer.tasks[layer.key(position)] = _zeros(layer, position)
            return
        step = layer.step(kind, position, box, ())
        layer.tasks[layer.key(position)] = (states.finish, step, root)

    def _states(self, position: Position, outputs: Ranges, reads: Reads, x: Operand) -> Key | None:
        """The key of the states of the whole windows of some outputs."""
        leaves: list[Key] = []
        name = self._name("partial")
        for chunk, source in _pieces(position, reads, (x,)):
            step = self.layer.step("partial", (0,) * len(position), outputs, source)
            key = (name, *position, len(leaves))
            self.layer.tasks[key] = (states.fold, step, x.key(chunk))
            leaves.append(key)
        return self._combined(states.combine, self._name("combine"), position, leaves)

    def _combined(
        self, function: Callable[..., Any], name: str, position: Position, leaves: list[Key]
    ) -> Key | None:
        step = self.layer.step("combine", (0,) * len(position), (), ())
        level = 0
        while len(leaves) > 1:
            joined: list[Key] = []
            for first in range(0, len(leaves), fan_in):
                group = leaves[first : first + fan_in]
                if len(group) == 1:
                    joined += group
                    continue
                key = (name, *position, level, len(joined))
                self.layer.tasks[key] = (function, step, *group)
                joined.append(key)
            leaves, level = joined, level + 1
        return leaves[0] if leaves else None

    def _add_jvp(self, kind: str) -> None:
        layer = self.layer
        reads = self._reads(self.operands[0].grid, layer.grid)
        for position in layer.grid.positions():
            box = layer.grid.box(position)
            known: list[Key] = []
            if kind == "jvp":
                root = self._states(position, box, reads, self.operands[0])
                known = [] if root is None else [root]
            leaves: list[Key] = []
            for chunk, sources in _pieces(position, reads, self.operands):
                step = layer.step(kind, position, box, sources)
                key = (self._name("partial-jvp"), *position, len(leaves))
                inputs = [operand.key(chunk) for operand in self.operands]
                layer.tasks[key] = (states.fold_jvp, step, *inputs, *known)
                leaves.append(key)
            root = self._combined(states.add, self._name("add"), position, leaves)
            if root is None:
                layer.tasks[layer.key(position)] = _zeros(layer, position)
            else:
                step = layer.step(kind, position, box, ())
                layer.tasks[layer.key(position)] = (states.finish_jvp, step, root, *known)

    def _add_vjp(self, kind: str) -> None:
        layer, gradient = self.layer, self.operands[0]
        cells = layer.grid
        seeing, _ = tables.reads_of_cells(self.pool, cells, gradient.grid, cells)
        roots: dict[Position, Key | None] = {}
        if kind == "vjp":
            reads = self._reads(cells, gradient.grid)
            for position in gradient.grid.positions():
                box = gradient.grid.box(position)
                roots[position] = self._states(position, box, reads, self.operands[1])
        for position in cells.positions():
            part = seeing.part(position, copies_edges=False)
            if part is None:
                layer.tasks[layer.key(position)] = _zeros(layer, position)
                continue
            places = tuple([gradient.grid.box(chunk) for chunk in part.whole])
            sources = [Source(part.box, places, gradient.dropped)]
            inputs = [gradient.key(chunk) for chunk in part.whole]
            if kind == "vjp":
                sources.append(Source(cells.box(position), (cells.box(position),)))
                inputs.append(self.operands[1].key(position))
                inputs += [root for chunk in part.whole if (root := roots[chunk]) is not None]
            step = layer.step(kind, position, part.box, sources)
            layer.tasks[layer.key(position)] = (states.vjp, step, *inputs)


def _pieces(
    position: Position, reads: Reads, operands: Sequence[Operand]
) -> list[tuple[Position, tuple[Source, ...]]]:
    """The chunks that have cells of some outputs, and what is read of each."""
    part = reads.part(position, copies_edges=False)
    pieces = []
    for chunk in part.whole if part is not None else ():
        place = reads.source.box(chunk)
        box = tuple(
            [(max(b, low), min(e, high)) for (b, e), (low, high) in zip(part.box, place)]  # type: ignore[union-attr]
        )
        pieces.append((chunk, tuple([Source(box, (place,), o.dropped) for o in operands])))
    return pieces


def _zeros(layer: Layer, position: Position) -> tuple[Any, ...]:
    return (run, layer.step("zeros", position, (), ()))
