"""bench/chart.py on small results of each benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

CHART = Path(__file__).resolve().parents[2] / "bench" / "chart.py"
FILTERS = {
    "title": "3 filters, seed 1",
    "libraries": "ndpool 1, OpenCV 4",
    "results": [
        {"line": "cv2.blur shape=9,9", "ndpool": 1.0, "peer": 4.0},
        {"line": "cv2.blur shape=8,8", "ndpool": 2.0, "peer": 1.0},
        {"line": "max_pool2d shape=1,1,8,8", "ndpool": 1.0, "peer": 3.0},
    ],
}
POOLS = {
    "versions": {"ndpool": "1", "torch": "2"},
    "target": "AVX2",
    "rows": [
        {"threads": 1, "seconds": {"ndpool": 2.0, "torch": 5.0}},
        {"threads": 2, "seconds": {"ndpool": 2.0, "torch": 7.0}},
        {"threads": 2, "seconds": {"ndpool": 2.0}},
    ],
}
LIMITS = {
    "machine": {"target": "AVX2", "cores": 2},
    "sets": [
        {
            "title": "2 MB, seed 1",
            "problems": [
                {"measured": {"map": "vjp-from-u8", "ratio": 7.0}},
                {"measured": {"map": "forward", "ratio": 1.5}},
            ],
        }
    ],
}
NETWORKS = {
    "libraries": "torch 2",
    "processor": "a processor",
    "rows": [
        {"network": "A & B", "torch": {"pools": 2.0}, "ndpool": {"pools": 1.0}},
        {"network": "A & B", "torch": {"pools": 8.0}, "ndpool": {"pools": 1.0}},
    ],
}


def draw(tmp_path: Path, *contents: Any) -> tuple[subprocess.CompletedProcess[str], Path]:
    files = []
    for number, content in enumerate(contents):
        files.append(str(tmp_path / f"{number}.json"))
        Path(files[-1]).write_text(json.dumps(content))
    out = tmp_path / "chart.svg"
    command = [sys.executable, str(CHART), *files, "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60), out


def test_every_benchmark_has_its_curves_bars_and_numbers(tmp_path: Path) -> None:
    result, out = draw(tmp_path, FILTERS, POOLS, LIMITS, NETWORKS)
    assert result.returncode == 0, result.stderr
    for line in (
        "OpenCV: median 4.00, worst 0.50",  # the worst of a peer is the smallest ratio
        "torch: median 3.00, worst 3.00",
        "torch, 1 thread: median 2.50, worst 2.50",
        "torch, 2 threads: median 3.50, worst 3.50",
        "VJP: median 7.00, worst 7.00",
        "values: median 1.50, worst 1.50",
        "A & B: 4.00",
    ):
        assert line in result.stdout
    svg = ElementTree.parse(out).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{name}polyline")) == 6
    assert len(svg.findall(f"{name}rect")) == 1
    assert "prefers-color-scheme: dark" in out.read_text()


def test_other_files_are_an_error(tmp_path: Path) -> None:
    result, out = draw(tmp_path, {"cases": []})
    assert result.returncode == 1 and "not of a benchmark" in result.stderr
    assert not out.exists()
