"""Chunks of one axis as ranges, and which chunks a range of positions touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy

Range = tuple[int, int]
Ranges = tuple[Range, ...]


class Chunks:
    """The chunks of one axis."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = tuple(int(length) for length in lengths)
        self.bounds = numpy.concatenate([[0], numpy.cumsum(self.lengths, dtype=numpy.int64)])
        bounds = self.bounds.tolist()
        self.ranges: list[Range] = list(zip(bounds[:-1], bounds[1:]))

    @property
    def length(self) -> int:
        return self.ranges[-1][1] if self.ranges else 0

    def touched(self, ranges: numpy.ndarray) -> list[list[int]]:
        """For each range (begin, end) the chunks that it has positions of."""
        first = numpy.searchsorted(self.bounds, ranges[:, 0], side="right") - 1
        last = numpy.searchsorted(self.bounds, ranges[:, 1], side="left")
        return [
            [number for number in range(begin, end) if self.lengths[number] > 0]
            for begin, end in zip(first.tolist(), last.tolist())
        ]

    def is_uniform(self) -> bool:
        """True if only the last chunk may be shorter than the others."""
        lengths = self.lengths
        return len(set(lengths[:-1])) <= 1 and (len(lengths) < 2 or 0 < lengths[-1] <= lengths[0])


class AxisReads(NamedTuple):
    """What one chunk of a result reads of one axis of a source; nothing has no chunks."""

    positions: Range
    home: int  # the chunk that it reads most of, the first of several
    chunks: tuple[int, ...]
    shares: tuple[Range, ...]  # the positions of each chunk
    cuts: tuple[bool, ...]  # whether these are some of the chunk, but not all of it


def axis_reads(source: Chunks, reads: numpy.ndarray) -> list[AxisReads]:
    made = []
    for (begin, end), chunks in zip(reads.tolist(), source.touched(reads)):
        home, longest = -1, 0
        shares = []
        for number in chunks:
            low, high = source.ranges[number]
            shared = (max(begin, low), min(end, high))
            count = shared[1] - shared[0]
            if count <= 0:
                continue
            if count > longest:
                home, longest = number, count
            shares.append((number, shared, count < high - low))
        columns = zip(*shares) if shares else ((), (), ())
        made.append(AxisReads((begin, end), home, *columns))
    return made


def uniform(length: int, chunk: int) -> tuple[int, ...]:
    """Chunks of one length, of which the last may be shorter."""
    chunk = max(1, min(chunk, max(length, 1)))
    whole, rest = divmod(length, chunk)
    return (chunk,) * whole + ((rest,) if rest or not whole else ())
