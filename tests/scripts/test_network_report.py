"""What `bench/networks.py` says about its rows."""

from __future__ import annotations

from pathlib import Path

import chart
from network_report import NetworkReport, Row, Times


def report() -> NetworkReport:
    """One row where ndpool takes a quarter of torch's time, and one where it takes as long."""
    found = NetworkReport("ndpool 1, torch 2", "a processor")
    for network, ours in (("A & B", 1e-6), ("C", 4e-6)):
        lines = ["max_pool2d shape=1,1,8,8 kernel=2,2", "avg_pool2d shape=1,1,4,4 kernel=2,2"]
        torch, ndpool = Times(4e-6, 1e-3, [1e-6, 3e-6]), Times(ours, 1e-3, [ours / 2, ours / 2])
        found.rows.append(Row(network, "last", "f32", "training", 2, lines, torch, ndpool))
    return found


def test_the_table_has_the_mean_the_worst_row_and_its_slowest_pool_first() -> None:
    text = report().table(worst_count=1)
    assert "geometric mean of the pools: 0.50, goal at most 0.5" in text
    assert "worst row: 1.00, goal at most 0.9: C " in text
    assert "rows above 0.9: 1 of 2; rows where torch is faster: 0" in text
    worst = text.partition("rows where torch is faster: 0\n")[2].splitlines()
    assert worst[0].split()[:2] == ["1.00", "C"]
    assert "2.00" in worst[1] and worst[1].endswith(report().rows[1].lines[0])


def test_the_chart_has_a_bar_per_network(tmp_path: Path) -> None:
    path = tmp_path / "networks.json"
    path.write_text(report().to_json())
    (panel,) = chart.panels_of(path)
    assert [(name, round(ratio, 6)) for name, ratio in panel.bars] == [("A & B", 4.0), ("C", 1.0)]
    assert "A &amp; B" in report().svg()
