"""What `peers.py` measured: as a table, as Markdown, as JSON and as a chart."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

MAP_NAMES = ("max", "max indices", "max backward", "avg", "avg backward")


@dataclass
class Row:
    """The best seconds of each library for one case."""

    network: str
    pool: str
    batch: int
    layout: str
    map: str
    threads: int
    seconds: dict[str, float]

    def ratio(self, peer: str) -> float | None:
        """How many times as long as ndpool a peer takes."""
        return self.seconds[peer] / self.seconds["ndpool"] if peer in self.seconds else None

    @property
    def place(self) -> str:
        return f"{self.network} {self.pool}, batch {self.batch}"


@dataclass
class Report:
    versions: dict[str, str]
    target: str
    rows: list[Row] = field(default_factory=list)

    @property
    def peers(self) -> list[str]:
        return [name for name in self.versions if name != "ndpool"]

    def title(self) -> str:
        libraries = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{libraries}; float32, {self.target}"

    def ratios(self, peer: str) -> list[float]:
        return [ratio for row in self.rows if (ratio := row.ratio(peer)) is not None]

    def summary(self) -> Iterator[str]:
        for peer in self.peers:
            ratios = self.ratios(peer)
            if not ratios:
                continue
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            ahead = sum(ratio >= 1 for ratio in ratios)
            yield (
                f"{peer}: ndpool is as fast or faster in {ahead} of {len(ratios)} cases;"
                f" {mean:.2f} times as fast in the geometric mean, {min(ratios):.2f} at worst"
            )

    def table(self) -> str:
        peers = "".join(f"{peer:>13}" for peer in self.peers)
        lines = [self.title(), f"{'':75}{'ndpool us':>11}{peers}   (time / ndpool's)"]
        for row in self.rows:
            ratios = [row.ratio(peer) for peer in self.peers]
            cells = "".join(f"{r:13.2f}" if r is not None else f"{'-':>13}" for r in ratios)
            name = f"{row.place:45}{row.layout:6}{row.map:13}{row.threads} threads"
            lines.append(f"{name:75}{row.seconds['ndpool'] * 1e6:11.1f}{cells}")
        return "\n".join([*lines, *self.summary()])

    def markdown(self) -> str:
        """A table per number of threads and peer; channels first / channels last."""
        parts = [f"Times of {self.title()}, divided by ndpool's: above 1 ndpool is faster.", ""]
        for threads in sorted({row.threads for row in self.rows}):
            for peer in self.peers:
                parts += self._markdown_table(threads, peer)
        return "\n".join(parts + [f"- {line}" for line in self.summary()])

    def _markdown_table(self, threads: int, peer: str) -> list[str]:
        rows = [r for r in self.rows if r.threads == threads and r.ratio(peer) is not None]
        if not rows:
            return []
        maps = [m for m in MAP_NAMES if any(row.map == m for row in rows)]
        layouts = [x for x in ("first", "last") if any(row.layout == x for row in rows)]
        places = list(dict.fromkeys(row.place for row in rows))
        found = {(row.place, row.map, row.layout): row.ratio(peer) for row in rows}

        def cell(place: str, map: str) -> str:
            values = [found.get((place, map, layout)) for layout in layouts]
            return " / ".join(f"{value:.2f}" for value in values if value is not None)

        heading = f"{peer}, {threads} thread{'s' * (threads > 1)}, channels {' / '.join(layouts)}"
        return [
            f"| {heading} | {' | '.join(maps)} |",
            "|---|" + "---|" * len(maps),
            *(f"| {p} | {' | '.join(cell(p, m) for m in maps)} |" for p in places),
            "",
        ]

    def to_json(self) -> str:
        content = {
            "versions": self.versions,
            "target": self.target,
            "rows": [vars(row) for row in self.rows],
        }
        return json.dumps(content, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Report:
        content: dict[str, Any] = json.loads(text)
        rows = [Row(**row) for row in content["rows"]]
        return cls(content["versions"], content["target"], rows)

    def write_svg(self, path: Path) -> None:
        path.write_text(Chart(self).svg())


STYLE = """<style>
text { font: 11px sans-serif; fill: #222 }
.title { font-size: 16px; font-weight: bold }
.heading { font-size: 12px; font-weight: bold }
.name { text-anchor: end }
.tick { text-anchor: middle; fill: #666 }
.grid { stroke: #e4e4e4 } .even { stroke: #444; stroke-width: 1.5 }
circle { stroke-width: 1.8 }
</style>
"""
COLOURS = {"torch": "#e07b39", "onnxruntime": "#3f7fbf", "openvino": "#4b9e6b", "jax": "#8a5fb0"}


class Chart:
    """A line per pool and map, a dot per peer and number of threads, on a logarithmic scale."""

    width, margin, left, right, top, line = 920, 16, 300, 880, 92, 15
    ticks = (0.25, 0.5, 1, 2, 4, 8, 16, 32)

    def __init__(self, report: Report) -> None:
        self.report = report
        self.body: list[str] = []
        self.y = self.top
        groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
        for row in report.rows:
            lines = groups.setdefault((row.place, row.layout), {})
            lines.setdefault(row.map, []).append(row)
        for (place, layout), lines in groups.items():
            self.heading(f"{place}, channels {layout}")
            for map, rows in lines.items():
                self.dots(map, rows)

    def x(self, ratio: float) -> float:
        low, high = math.log2(self.ticks[0]), math.log2(self.ticks[-1])
        place = (min(max(math.log2(ratio), low), high) - low) / (high - low)
        return self.left + (self.right - self.left) * place

    def heading(self, title: str) -> None:
        self.y += self.line + 8
        self.text("heading", self.margin, self.y - 2, title)

    def dots(self, map: str, rows: list[Row]) -> None:
        self.text("name", self.left - 10, self.y + 11, map)
        for row in rows:
            for peer in self.report.peers:
                if (ratio := row.ratio(peer)) is not None:
                    said = f"{peer}, {row.threads} threads: {ratio:.2f}"
                    self.dot(self.x(ratio), self.y + 7, peer, row.threads, said)
        self.y += self.line

    def dot(self, x: float, y: float, peer: str, threads: int, said: str) -> None:
        colour = COLOURS.get(peer, "#777")
        fill = colour if threads == 1 else "#fff"
        self.body.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="4" stroke="{colour}" fill="{fill}">'
            f"<title>{escape(said)}</title></circle>"
        )

    def text(self, kind: str, x: float, y: float, content: str) -> None:
        self.body.append(f'<text class="{kind}" x="{x:.1f}" y="{y}">{escape(content)}</text>')

    def legend(self) -> None:
        self.text(
            "title", self.margin, 28, "Time relative to ndpool's (to the right ndpool is faster)"
        )
        self.text("", self.margin, 46, self.report.title())
        at = self.margin + 6
        for peer in self.report.peers:
            self.dot(at, 62, peer, 1, peer)
            self.text("", at + 9, 66, peer)
            at += 100
        self.text("", at, 66, "filled: one thread; hollow: more")

    def svg(self) -> str:
        grid, bottom = [], self.y + 6
        for tick in self.ticks:
            kind = "even" if tick == 1 else "grid"
            grid.append(f'<path class="{kind}" d="M{self.x(tick):.1f} {self.top}V{bottom}"/>')
            self.text("tick", self.x(tick), self.top - 6, f"{tick:g}")
            self.text("tick", self.x(tick), bottom + 14, f"{tick:g}")
        self.legend()
        height = bottom + 26
        frame = f'viewBox="0 0 {self.width} {height}" width="{self.width}" height="{height}"'
        background = f'<rect width="{self.width}" height="{height}" fill="#fff"/>'
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>', STYLE, background]
        return "\n".join([*parts, *grid, *self.body, "</svg>\n"])
