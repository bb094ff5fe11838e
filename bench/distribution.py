"""Another library's time over ndpool's, over many calls that were drawn at random.

What counts is the share of calls in which ndpool is behind, and by how much: not the best rows.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

BEHIND = 0.95  # a ratio below it is more than noise
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Result:
    """The best seconds of both for one call. `runs` names the implementation of ndpool."""

    line: str
    groups: tuple[str, ...]  # one per kind of group: what it pools, the dtype, ...
    ndpool: float
    peer: float
    runs: str

    @property
    def ratio(self) -> float:
        """Above 1 ndpool is faster."""
        return self.peer / self.ndpool


@dataclass(frozen=True)
class Goal:
    """What a distribution should be: the largest share behind, the smallest of the others."""

    behind: float
    worst: float
    median: float = 0.0
    geometric_mean: float = 0.0


def quantile(ordered: Sequence[float], share: float) -> float:
    """By linear interpolation, as NumPy's."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def share_behind(ratios: Sequence[float]) -> float:
    return sum(ratio < BEHIND for ratio in ratios) / len(ratios)


@dataclass
class Distribution:
    """`program` repeats a line: it is followed by --call and the line in quotes."""

    title: str
    libraries: str
    processor: str
    program: str
    goal: Goal
    results: list[Result] = field(default_factory=list)

    def table(self, worst_count: int = 20) -> str:
        """All that is printed."""
        return "\n".join([*self.rows(), *self.verdict(), *self.worst(worst_count)])

    def rows(self) -> Iterator[str]:
        """Quantiles of the ratio, by groups and of all."""
        groups: dict[tuple[int, str], list[float]] = {}
        for result in self.results:
            for kind, name in enumerate(result.groups):
                groups.setdefault((kind, name), []).append(result.ratio)
        width = max(12, *(len(name) for _, name in groups))
        shares = "".join(f"{f'{share:.0%}':>8}" for share in QUANTILES)
        yield f"{self.title}: the other's time / ndpool's"
        yield f"{self.libraries}; {self.processor}"
        yield f"{'':{width}}  calls   worst{shares}  geom. mean  behind"
        for (_, name), ratios in sorted(groups.items()):
            yield self.row(f"{name:{width}}", sorted(ratios))
        yield self.row(f"{'all':{width}}", sorted(result.ratio for result in self.results))

    @staticmethod
    def row(name: str, ordered: list[float]) -> str:
        shares = "".join(f"{quantile(ordered, share):8.2f}" for share in QUANTILES)
        mean = statistics.geometric_mean(ordered)
        behind = share_behind(ordered)
        return f"{name}{len(ordered):7}{ordered[0]:8.2f}{shares}{mean:12.2f}{behind:8.1%}"

    def verdict(self) -> Iterator[str]:
        """The goal beside what was measured."""
        ratios = sorted(result.ratio for result in self.results)
        count = sum(ratio < BEHIND for ratio in ratios)
        yield f"behind (below {BEHIND}): {count} of {len(ratios)}, {share_behind(ratios):.1%}"
        measured = (
            ("share behind", share_behind(ratios), self.goal.behind, True),
            ("worst", ratios[0], self.goal.worst, False),
            ("median", quantile(ratios, 0.5), self.goal.median, False),
            ("geometric mean", statistics.geometric_mean(ratios), self.goal.geometric_mean, False),
        )
        for name, value, goal, is_limit in measured:
            if goal:
                reached = value <= goal if is_limit else value >= goal
                words = "at most" if is_limit else "at least"
                said = "reached" if reached else "missed"
                yield f"goal: {name} {words} {goal:g}: {value:.3g}, {said}"

    def worst(self, count: int) -> Iterator[str]:
        """The calls that ndpool is slowest at, each with what repeats it."""
        ordered = sorted(self.results, key=lambda result: result.ratio)[:count]
        yield f"the {len(ordered)} worst: ratio, microseconds of ndpool and of the other"
        for result in ordered:
            times = f"{result.ndpool * 1e6:10.1f}{result.peer * 1e6:10.1f}"
            yield f"{result.ratio:6.2f}{times}  {self.program} --call '{result.line}'"
            yield f"{'':28}runs {result.runs}"

    def to_json(self) -> str:
        content: dict[str, Any] = {
            "title": self.title,
            "libraries": self.libraries,
            "machine": {"processor": self.processor},
            "results": [vars(result) for result in self.results],
        }
        return json.dumps(content, indent=1) + "\n"
