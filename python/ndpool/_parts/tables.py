"""The table of parts of a pool: which positions of which chunks each chunk of a result reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy

from ndpool._parts.axes import AxisReads, Chunks, Ranges, axis_reads, uniform

Position = tuple[int, ...]


class Grid:
    """The chunks of an array on all of its axes."""

    def __init__(self, chunks: Sequence[Sequence[int]]) -> None:
        self.axes = [Chunks(lengths) for lengths in chunks]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.length for axis in self.axes)

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        return tuple(axis.lengths for axis in self.axes)

    def count(self) -> int:
        count = 1
        for axis in self.axes:
            count *= len(axis.lengths)
        return count

    def positions(self) -> Iterator[Position]:
        return itertools.product(*(range(len(axis.lengths)) for axis in self.axes))

    def box(self, position: Position) -> Ranges:
        return tuple([axis.ranges[number] for axis, number in zip(self.axes, position)])


def output_chunks(pool: Any, cells: Grid, outputs: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Chunks of a result that follow those of the cells; uniform ones stay uniform."""
    shape = cells.shape
    return tuple(
        _output_chunks(pool, shape, axis, chunks, outputs[axis])
        for axis, chunks in enumerate(cells.axes)
    )


def _output_chunks(
    pool: Any, shape: tuple[int, ...], axis: int, cells: Chunks, output: int
) -> tuple[int, ...]:
    if cells.length == 0:
        return cells.lengths
    if cells.is_uniform():
        step, count = pool.pace(shape, axis)
        return uniform(output, max(1, round(cells.lengths[0] * count / step)))
    filled = [positions for positions in cells.ranges if positions[0] < positions[1]]
    seeing = pool.outputs_of(shape, axis, numpy.array(filled, dtype=numpy.int64)).tolist()
    # Windows over two chunks belong to either: each gets half of these.
    bounds = [0]
    for (_, end), (begin, _) in zip(seeing[:-1], seeing[1:]):
        bounds.append(max(bounds[-1], min(output, (begin + end) // 2)))
    bounds.append(output)
    return tuple(end - begin for begin, end in zip(bounds[:-1], bounds[1:]) if end > begin)


class Part(NamedTuple):
    """What one chunk of a result reads of one source."""

    box: Ranges  # of the source
    whole: tuple[Position, ...]  # the chunk that it reads most of, and others that it reads all of
    edges: tuple[tuple[Position, Ranges], ...]  # boxes of others, of which it takes copies


class Reads:
    """What the chunks of a result read of a source."""

    def __init__(self, source: Grid, tables: Sequence[Sequence[AxisReads]]) -> None:
        self.source, self.tables = source, tables

    @staticmethod
    def of(source: Grid, reads: Sequence[numpy.ndarray]) -> Reads:
        return Reads(source, [axis_reads(axis, rows) for axis, rows in zip(source.axes, reads)])

    def box(self, position: Position) -> Ranges:
        return tuple([table[number].positions for table, number in zip(self.tables, position)])

    def part(self, position: Position, copies_edges: bool = True) -> Part | None:
        """None if it reads nothing."""
        entries = [table[number] for table, number in zip(self.tables, position)]
        home = tuple([entry.home for entry in entries])
        if -1 in home:
            return None
        box = tuple([entry.positions for entry in entries])
        whole, edges = [home], []
        # One product for each field: this loop is most of the time that a graph takes to build.
        chunks = itertools.product(*[entry.chunks for entry in entries])
        positions = itertools.product(*[entry.shares for entry in entries])
        cuts = itertools.product(*[entry.cuts for entry in entries])
        for chunk, shared, is_cut in zip(chunks, positions, cuts):
            if chunk == home:
                continue
            if copies_edges and True in is_cut:
                edges.append((chunk, shared))
            else:
                whole.append(chunk)
        return Part(box, tuple(whole), tuple(edges))


class Plan(NamedTuple):
    """What each chunk of a result reads of each source, and the copies that are made for that."""

    parts: dict[Position, tuple[Part | None, ...]]
    edges: dict[Position, tuple[tuple[Ranges, ...], ...]]  # boxes of each source by chunk


def plan(result: Grid, reads: Sequence[Reads]) -> Plan:
    """One task for each chunk of the result, and at most as many that copy edges.

    Where there would be more of these, as for large chunks made of many small ones, neighbours are
    read whole.
    """
    made = _plan(result, reads, copies_edges=True)
    return made if len(made.edges) <= result.count() else _plan(result, reads, copies_edges=False)


def _plan(result: Grid, reads: Sequence[Reads], copies_edges: bool) -> Plan:
    parts: dict[Position, tuple[Part | None, ...]] = {}
    edges: dict[Position, list[dict[Ranges, None]]] = {}
    for position in result.positions():
        entry = tuple([read.part(position, copies_edges) for read in reads])
        parts[position] = entry
        for source, part in enumerate(entry):
            for chunk, box in part.edges if part is not None else ():
                copies = edges.get(chunk)
                if copies is None:
                    copies = edges[chunk] = [{} for _ in reads]
                copies[source][box] = None
    return Plan(parts, {chunk: tuple(map(tuple, boxes)) for chunk, boxes in edges.items()})


def reads_of_outputs(pool: Any, cells: Grid, outputs: Grid) -> Reads:
    """Which cells the chunks of the outputs read."""
    asked = [
        _ask(pool.cells_of, cells.shape, axis, _rows(chunks))
        for axis, chunks in enumerate(outputs.axes)
    ]
    return Reads.of(cells, asked)


def reads_of_cells(pool: Any, cells: Grid, outputs: Grid, result: Grid) -> tuple[Reads, Reads]:
    """What the gradients of chunks of cells read: outputs, and the cells under these."""
    shape = cells.shape
    seeing = [
        _ask(pool.outputs_of, shape, axis, _rows(chunks)) for axis, chunks in enumerate(result.axes)
    ]
    under = [_ask(pool.cells_of, shape, axis, rows) for axis, rows in enumerate(seeing)]
    return Reads.of(outputs, seeing), Reads.of(cells, under)


def reads_of_itself(source: Grid, result: Grid) -> Reads:
    """What chunks of a result of the same shape read of a source."""
    return Reads.of(source, [_rows(chunks) for chunks in result.axes])


def reads_of_all(source: Grid, result: Grid, axes: Sequence[int]) -> Reads:
    """The same where every chunk reads all of some axes."""
    rows = []
    for axis, chunks in enumerate(result.axes):
        asked = _rows(chunks)
        if axis in axes:
            asked[:] = (0, source.axes[axis].length)
        rows.append(asked)
    return Reads.of(source, rows)


def reads_of_rivals(pool: Any, cells: Grid, outputs: Grid, result: Grid) -> tuple[Reads, Reads]:
    """What gradients of unpooled values read: the outputs that see the same cells, and these."""
    shape = cells.shape
    under, seeing = [], []
    for axis, chunks in enumerate(result.axes):
        own = _rows(chunks)
        under.append(_ask(pool.cells_of, shape, axis, own))
        others = _ask(pool.outputs_of, shape, axis, under[-1])
        # Windows on padding alone see no cell, so they need not be among the others.
        empty = others[:, 0] >= others[:, 1]
        others[empty] = own[empty]
        begins = numpy.minimum(others[:, 0], own[:, 0])
        seeing.append(numpy.stack([begins, numpy.maximum(others[:, 1], own[:, 1])], axis=1))
    return Reads.of(outputs, seeing), Reads.of(cells, under)


def cell_chunks(pool: Any, shape: tuple[int, ...], outputs: Grid) -> tuple[tuple[int, ...], ...]:
    """Chunks of an array of `shape` that follow those of the outputs."""
    made: list[tuple[int, ...]] = []
    for axis, chunks in enumerate(outputs.axes):
        if shape[axis] == 0:
            made.append((0,))
        elif chunks.is_uniform():
            step, count = pool.pace(shape, axis)
            made.append(uniform(shape[axis], max(1, round(chunks.lengths[0] * step / count))))
        else:
            begins = _ask(pool.cells_of, shape, axis, _rows(chunks))[:, 0].tolist()
            bounds = sorted({0, *begins[1:], shape[axis]})
            made.append(tuple(end - begin for begin, end in zip(bounds[:-1], bounds[1:])))
    return tuple(made)


def scaled_chunks(chunks: Chunks, length: int) -> tuple[int, ...]:
    """About as many chunks for an axis of another length."""
    count = max(1, len(chunks.lengths))
    return uniform(length, -(-length // count))


def _rows(chunks: Chunks) -> numpy.ndarray:
    return numpy.array(chunks.ranges, dtype=numpy.int64).reshape(-1, 2)


def _ask(ask: Any, shape: tuple[int, ...], axis: int, rows: numpy.ndarray) -> numpy.ndarray:
    """Answers of the compiled module; a range without positions reads nothing."""
    filled = rows[:, 1] > rows[:, 0]
    answers = numpy.zeros_like(rows)
    if filled.any():
        answers[filled] = ask(shape, axis, numpy.ascontiguousarray(rows[filled]))[:, :2]
    return answers
