"""What the generated benchmarks draw, and what they say about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import chart
import drawn_filters
import drawn_pools
import numpy as np
import pytest
from call_line import format_line, parse_line
from distribution import Distribution, Goal, Result, quantile


def test_a_line_keeps_its_options() -> None:
    options = {"shape": (1, 64), "kernel": (3,), "threads": 2, "dtype": "f32", "padding": (-1, 0)}
    line = format_line("pool", options)
    assert line == "pool shape=1,64 kernel=3, threads=2 dtype=f32 padding=-1,0"
    assert parse_line(line) == ("pool", options)
    with pytest.raises(ValueError, match="'kernel' in 'pool kernel' is not key=value"):
        parse_line("pool kernel")


def test_pools_are_those_of_their_seed_and_cover_what_networks_have() -> None:
    drawn = drawn_pools.draw(5, 200)
    assert drawn == drawn_pools.draw(5, 200)
    assert len({pool.line for pool in drawn}) == 200
    assert not {pool.line for pool in drawn} & {pool.line for pool in drawn_pools.draw(6, 200)}
    for pool in drawn:
        assert drawn_pools.DrawnPool.parse(pool.line) == pool
        assert drawn_pools.BYTES[0] <= pool.bytes <= drawn_pools.BYTES[1]
    assert {pool.rank for pool in drawn} == {1, 2, 3}
    assert {pool.dtype for pool in drawn} == {"f32", "bf16", "f64"}
    assert {pool.map for pool in drawn} == {"forward", "indices", "training"}
    assert {(pool.layout, pool.threads) for pool in drawn} == {
        (layout, threads) for layout in ("first", "last") for threads in (1, 2)
    }
    assert min(pool.shape[-1] for pool in drawn) <= 4  # tiny planes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("softmax shape=1,2", "no pool called 'softmax'"),
        ("max_pool2d kernel=2,2", "no shape in"),
        ("max_pool2d shape=1,1,8,8 width=2", "unknown option width"),
        ("max_pool2d shape=1,1,8,8 dtype=i9", "dtype=i9 is none of f32, bf16, f64"),
    ],
)
def test_wrong_lines_of_pools_say_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        drawn_pools.DrawnPool.parse(line)


def test_filters_are_those_of_their_seed_and_cover_every_function() -> None:
    drawn = drawn_filters.draw(5, 600)
    assert drawn == drawn_filters.draw(5, 600)
    assert {found.name for found in drawn} == set(drawn_filters.KINDS)
    for found in drawn:
        assert drawn_filters.DrawnFilter.parse(found.line) == found
        assert max(found.kernel) <= 40
        assert 0.8 * 30_000 <= np.prod(found.shape) <= 1.1 * 4_000_000
        assert all(2 <= found.kernel[axis] <= found.shape[axis] for axis in found.axes)
    opencv = [found for found in drawn if found.name.startswith("cv2.")]
    assert {found.dtype for found in opencv} == {"u8", "u16", "i16", "f32", "f64"}
    assert {found.channels for found in opencv} == {1, 2, 3, 4}
    assert {len(found.shape) for found in drawn if "ndimage" in found.name} == {2, 3}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cv2.median shape=9,9 kernel=3,3", "'cv2.median' is none of cv2.blur"),
        ("cv2.blur shape=9,9", "shape and kernel are needed"),
        ("cv2.blur shape=9,9,9 kernel=3,3,3", "axes in cv2.blur"),
        ("PIL.reduce shape=9,9 kernel=3,3 dtype=u16", "measured on u8, f32, not u16"),
        ("PIL.reduce shape=9,9 kernel=3,3 channels=2", "u8 has 1, 3, 4 channels, not 2"),
    ],
)
def test_wrong_lines_of_filters_say_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        drawn_filters.DrawnFilter.parse(line)


def distribution() -> Distribution:
    ratios = {"a": 0.5, "b": 0.9, "c": 2.0, "d": 4.0}
    goal = Goal(behind=0.02, worst=0.8, geometric_mean=1.2)
    found = Distribution("4 calls", "ndpool 1", "a processor", "bench/program.py", goal)
    for name, ratio in ratios.items():
        found.results.append(
            Result(f"{name} shape=1", ("odd" if name in "ac" else "even",), 1.0, ratio, "general")
        )
    return found


def test_a_distribution_says_who_is_behind_and_names_the_worst() -> None:
    text = distribution().table(worst_count=2)
    assert "behind (below 0.95): 2 of 4, 50.0%" in text
    assert "share behind at most 0.02: 0.5, missed" in text
    assert "worst at least 0.8: 0.5, missed" in text
    assert "geometric mean at least 1.2: 1.38, reached" in text
    worst = text.partition("the 2 worst")[2]
    assert "bench/program.py --call 'a shape=1'" in worst and "--call 'b shape=1'" in worst
    assert "'c shape=1'" not in worst
    assert re.search(r"^odd +2 +0\.50", text, re.MULTILINE)


def test_quantiles_are_numpys() -> None:
    ratios = sorted(np.random.default_rng(0).random(17))
    for share in (0.0, 0.01, 0.25, 0.5, 0.9, 1.0):
        assert quantile(ratios, share) == pytest.approx(np.quantile(ratios, share), rel=1e-15)


def test_the_chart_draws_a_distribution(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(distribution().to_json())
    assert json.loads(path.read_text())["machine"] == {"processor": "a processor"}
    (panel,) = chart.panels_of(path)
    assert [sorted(curve.ratios) for curve in panel.curves] == [[0.5, 0.9, 2.0, 4.0]]
