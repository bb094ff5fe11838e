"""Draws the chart of the README: speed over all problems of a benchmark, not over chosen ones.

  bench/chart.py build/bench/*.json --out docs/speed.svg

Takes the JSON of generated_bench (time over the streaming limit), of `peers.py`, of `peers.py
--generated` and `images.py` (the other library's time over ndpool's) and of `networks.py` (the same
inside whole networks). The contents of a file tell which it is; what is not given is not drawn. A
curve has all problems of its library or map, ordered by their ratio. Prints the numbers, too.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

STYLE = """<style>
svg { --text: #24292f; --muted: #57606a; --grid: #d0d7de; --even: #57606a }
@media (prefers-color-scheme: dark) {
  svg { --text: #e6edf3; --muted: #9198a1; --grid: #30363d; --even: #9198a1 }
}
text { font: 12px system-ui, sans-serif; fill: var(--text) }
.title { font-size: 14px; font-weight: 600 }
.muted { fill: var(--muted) } .middle { text-anchor: middle } .end { text-anchor: end }
.grid { stroke: var(--grid) } .even { stroke: var(--even); stroke-width: 1.5 }
.curve { fill: none; stroke-width: 2.5; stroke-linejoin: round }
</style>"""
# Of one brightness, so that they are seen on white and on black.
COLOURS = ("#d9730d", "#2f81f7", "#3fa45b", "#a371f7", "#d4498a", "#8b8f00", "#14a0a0", "#c0563f")
LIBRARIES = {
    "cv2": "OpenCV",
    "ndimage": "scipy.ndimage",
    "skimage": "scikit-image",
    "PIL": "Pillow",
}


@dataclass
class Curve:
    name: str
    ratios: list[float]
    worst: Callable[[list[float]], float] = min  # max of times over a limit

    def median(self) -> float:
        return sorted(self.ratios)[len(self.ratios) // 2]


@dataclass
class Panel:
    title: str
    note: str
    curves: list[Curve] = field(default_factory=list)
    bars: list[tuple[str, float]] = field(default_factory=list)


def library_of(line: str) -> str:
    prefix, dot, _ = line.split()[0].partition(".")
    return LIBRARIES.get(prefix, prefix) if dot else "torch"


def peers_panel(content: dict[str, Any]) -> Panel:
    """Of `peers.py --generated` or `images.py`: one curve per library."""
    ratios: dict[str, list[float]] = {}
    for result in content["results"]:
        ratios.setdefault(library_of(result["line"]), []).append(result["peer"] / result["ndpool"])
    panel = Panel(f"{content['title']}: the other's time / ndpool's", content["libraries"])
    panel.curves = [Curve(name, found) for name, found in ratios.items()]
    return panel


def pools_panel(content: dict[str, Any]) -> Panel:
    """Of `peers.py`: one curve per library and number of threads."""
    versions = content["versions"]
    libraries = ", ".join(f"{name} {version}" for name, version in versions.items())
    ratios: dict[str, list[float]] = {}
    for row in content["rows"]:
        threads = "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
        for peer in versions.keys() & row["seconds"].keys() - {"ndpool"}:
            ratio = row["seconds"][peer] / row["seconds"]["ndpool"]
            ratios.setdefault(f"{peer}, {threads}", []).append(ratio)
    count = len(content["rows"])
    panel = Panel(
        f"{count} maps of pools in real networks: the other's time / ndpool's",
        f"{libraries}; float32, {content['target']}",
    )
    panel.curves = [Curve(name, found) for name, found in sorted(ratios.items())]
    return panel


def limit_panels(content: dict[str, Any]) -> Iterator[Panel]:
    """Of `generated_bench`: one curve per group of maps and one panel per size."""
    target = content["machine"]["target"]
    for drawn in content["sets"]:
        panel = Panel(
            f"Random problems, {drawn['title']}: time / streaming limit", f"{target}, one thread"
        )
        ratios: dict[str, list[float]] = {}
        for problem in drawn["problems"]:
            measured = problem["measured"]
            ratios.setdefault(group_of(measured["map"]), []).append(measured["ratio"])
        panel.curves = [Curve(name, found, max) for name, found in sorted(ratios.items())]
        yield panel


def group_of(map: str) -> str:
    kinds = {"forward": "values", "indices": "with indices", "jvp": "JVP", "vjp": "VJP"}
    return kinds[map.split("-")[0]]


def networks_panel(content: dict[str, Any]) -> Panel:
    """Of `networks.py`: one bar per network, over all its formats, types and modes."""
    ratios: dict[str, list[float]] = {}
    for row in content["rows"]:
        ratio = row["torch"]["pools"] / row["ndpool"]["pools"]
        ratios.setdefault(row["network"], []).append(ratio)
    panel = Panel(
        "Time inside the pools of real networks: torch's / ndpool's, geometric mean",
        f"{content['libraries']}; {content['processor']}",
    )
    panel.bars = [(name, statistics.geometric_mean(found)) for name, found in ratios.items()]
    return panel


def panels_of(path: Path) -> list[Panel]:
    content = json.loads(path.read_text())
    if "sets" in content:
        return list(limit_panels(content))
    if "rows" in content and "processor" in content:
        return [networks_panel(content)]
    if "rows" in content:
        return [pools_panel(content)]
    if "results" in content:
        return [peers_panel(content)]
    raise ValueError(f"{path} is not of a benchmark that this chart knows")


class Chart:
    width, left, right, height, bar = 900, 60, 570, 190, 20

    def __init__(self, panels: Sequence[Panel]) -> None:
        self.body: list[str] = []
        self.y = 8.0
        for panel in panels:
            self.heading(panel)
            self.curves(panel) if panel.curves else self.bars(panel)

    def text(self, x: float, y: float, content: str, kind: str = "", style: str = "") -> None:
        style = f' style="{style}"' if style else ""
        self.body.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{style}>{escape(content)}</text>'
        )

    def line(self, kind: str, x0: float, y0: float, x1: float, y1: float) -> None:
        self.body.append(f'<path class="{kind}" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>')

    def heading(self, panel: Panel) -> None:
        self.text(self.left, self.y + 16, panel.title, "title")
        self.text(self.left, self.y + 33, panel.note, "muted")
        self.y += 46

    def curves(self, panel: Panel) -> None:
        values = [ratio for curve in panel.curves for ratio in curve.ratios]
        low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
        high = max(high, low + 1)

        def place(ratio: float) -> float:
            return self.y + self.height * (1 - (math.log2(ratio) - low) / (high - low))

        for power in range(low, high + 1, max(1, (high - low) // 6)):
            self.line(
                "even" if power == 0 else "grid",
                self.left,
                place(2**power),
                self.right,
                place(2**power),
            )
            self.text(self.left - 8, place(2**power) + 4, f"{2**power:g}", "muted end")
        for share in (0, 25, 50, 75, 100):
            at = self.left + (self.right - self.left) * share / 100
            self.text(at, self.y + self.height + 18, f"{share} %", "muted middle")
        for number, curve in enumerate(sorted(panel.curves, key=Curve.median, reverse=True)):
            self.curve(curve, COLOURS[number % len(COLOURS)], number, place)
        self.y += self.height + 40

    def curve(self, curve: Curve, colour: str, number: int, place: Any) -> None:
        ordered = sorted(curve.ratios)
        step = (self.right - self.left) / max(1, len(ordered) - 1)
        points = " ".join(
            f"{self.left + step * i:.1f},{place(ratio):.1f}" for i, ratio in enumerate(ordered)
        )
        self.body.append(f'<polyline class="curve" stroke="{colour}" points="{points}"/>')
        said = f"{curve.name}: median {curve.median():.2f}, worst {curve.worst(curve.ratios):.2f}"
        self.text(self.right + 16, self.y + 14 + 18 * number, said, style=f"fill: {colour}")

    def bars(self, panel: Panel) -> None:
        left = self.left + 150
        scale = (self.right - left) / max(1.0, *(ratio for _, ratio in panel.bars))
        for name, ratio in panel.bars:
            self.text(left - 8, self.y + 14, name, "end")
            self.body.append(
                f'<rect x="{left}" y="{self.y + 3:.1f}" width="{scale * ratio:.1f}"'
                f' height="{self.bar - 6}" fill="{COLOURS[1]}"/>'
            )
            self.text(left + scale * ratio + 6, self.y + 14, f"{ratio:.2f}")
            self.y += self.bar
        self.line("even", left + scale, self.y - self.bar * len(panel.bars), left + scale, self.y)
        self.y += 24

    def svg(self) -> str:
        frame = (
            f'viewBox="0 0 {self.width} {self.y:.0f}" width="{self.width}" height="{self.y:.0f}"'
        )
        head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {frame}>'
        return "\n".join([head, STYLE, *self.body, "</svg>\n"])


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("json", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True, metavar="SVG")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    arguments = parse_arguments(words)
    try:
        panels = [panel for path in arguments.json for panel in panels_of(path)]
    except (OSError, ValueError, KeyError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    arguments.out.write_text(Chart(panels).svg())
    for panel in panels:
        for curve in panel.curves:
            worst = curve.worst(curve.ratios)
            print(f"{panel.title}, {curve.name}: median {curve.median():.2f}, worst {worst:.2f}")
        for name, ratio in panel.bars:
            print(f"{panel.title}, {name}: {ratio:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
