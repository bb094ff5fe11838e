"""What `networks.py` measured: as a table, as JSON and as a chart."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from chart import Chart, networks_panel

GOAL_IN_ROW, GOAL_IN_MEAN = 0.9, 0.5


@dataclass(frozen=True)
class Times:
    """The best seconds of a library: of all pools together, of the network, of each pool."""

    pools: float
    whole: float
    calls: list[float]


@dataclass
class Row:
    network: str
    layout: str
    dtype: str
    mode: str
    threads: int
    lines: list[str]
    torch: Times
    ndpool: Times

    @property
    def share(self) -> float:
        """ndpool's time inside the pools over torch's: below 1 ndpool is faster."""
        return self.ndpool.pools / self.torch.pools

    @property
    def whole(self) -> float:
        """The same of the whole network."""
        return self.ndpool.whole / self.torch.whole

    @property
    def name(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.network:20}{self.layout:6}{self.dtype:5}{self.mode:10}{threads:10}"

    def content(self) -> dict[str, Any]:
        return {**vars(self), "torch": vars(self.torch), "ndpool": vars(self.ndpool)}


@dataclass
class NetworkReport:
    libraries: str
    processor: str
    rows: list[Row] = field(default_factory=list)

    def table(self, worst_count: int) -> str:
        lines = [
            "Time inside the pools of whole networks, microseconds, and ndpool's time / torch's",
            f"{self.libraries}; {self.processor}",
            f"{'network':20}{'last':6}{'':5}{'':10}{'':10}{'pools':>6}{'torch':>10}{'ndpool':>10}"
            f"{'pools':>8}{'whole':>8}",
        ]
        for row in self.rows:
            times = f"{row.torch.pools * 1e6:10.0f}{row.ndpool.pools * 1e6:10.0f}"
            ratios = f"{row.share:8.2f}{row.whole:8.2f}"
            lines.append(f"{row.name}{len(row.lines):6}{times}{ratios}")
        return "\n".join([*lines, *self.summary(), *self.worst(worst_count)])

    def summary(self) -> Iterator[str]:
        shares = sorted(row.share for row in self.rows)
        mean = statistics.geometric_mean(shares)
        whole = statistics.geometric_mean([row.whole for row in self.rows])
        worst = max(self.rows, key=lambda row: row.share)
        count = len(shares)
        yield f"rows: {count}; whole networks, geometric mean: {whole:.3f}"
        for name, key in (("layout", "layout"), ("dtype", "dtype"), ("mode", "mode")):
            yield f"by {name}: {self.means(key)}"
        yield f"by threads: {self.means('threads')}"
        yield f"geometric mean of the pools: {mean:.2f}, goal at most {GOAL_IN_MEAN}"
        yield f"worst row: {worst.share:.2f}, goal at most {GOAL_IN_ROW}: {worst.name}"
        above = sum(share > GOAL_IN_ROW for share in shares)
        behind = sum(share > 1 for share in shares)
        yield f"rows above {GOAL_IN_ROW}: {above} of {count}; rows where torch is faster: {behind}"

    def means(self, key: str) -> str:
        groups: dict[str, list[float]] = {}
        for row in self.rows:
            groups.setdefault(str(getattr(row, key)), []).append(row.share)
        means = (f"{name} {statistics.geometric_mean(found):.2f}" for name, found in groups.items())
        return ", ".join(means)

    def worst(self, count: int) -> Iterator[str]:
        """The rows that ndpool is slowest at, each with the pools that cost it most."""
        for row in sorted(self.rows, key=lambda row: -row.share)[:count]:
            yield f"{row.share:6.2f}  {row.name}"
            pairs = zip(row.lines, row.ndpool.calls, row.torch.calls)
            lost = sorted(pairs, key=lambda pair: pair[2] - pair[1])
            for line, ours, theirs in lost[:3]:
                yield f"      {ours / theirs:6.2f}{ours * 1e6:9.1f}{theirs * 1e6:9.1f}  {line}"

    def to_json(self) -> str:
        content = {
            "libraries": self.libraries,
            "processor": self.processor,
            "rows": [row.content() for row in self.rows],
        }
        return json.dumps(content, indent=1) + "\n"

    def svg(self) -> str:
        """A bar per network: torch's time over ndpool's, as in the chart of the README."""
        return Chart([networks_panel(json.loads(self.to_json()))]).svg()
