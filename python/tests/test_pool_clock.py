"""What `bench/networks.py` and `bench/peers.py` see of torch's pools and of ndpool's."""

from __future__ import annotations

import contextlib
import itertools

import pool_clock
import pytest
import torch
import torch.nn.functional as F
from drawn_pools import DrawnPool
from pool_clock import PoolClock
from pool_pairs import PoolPair, WrongResult

import ndpool.torch


@pytest.mark.parametrize("library", ["torch", "ndpool"])
def test_a_pool_is_timed_from_call_to_return_and_around_its_nodes(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(pool_clock.time, "perf_counter", lambda: float(next(ticks)))
    x = torch.randn(1, 2, 8, 8, requires_grad=True)
    pools = ndpool.torch.install() if library == "ndpool" else contextlib.nullcontext()
    clock = PoolClock()
    with pools:
        before = F.max_pool2d
        with clock.running():
            F.avg_pool2d(x.relu(), 2)
            assert clock.seconds == [1.0]
            F.max_pool2d(x.relu(), 2).sum().backward()  # one node
            assert clock.seconds == [1.0, 2.0]
            F.lp_pool2d(x.relu() + 1, 2.0, 2)  # torch's calls its avg_pool2d: counted once
            assert len(clock.seconds) == 3
        assert F.max_pool2d is before


def test_calls_are_described_as_lines_that_can_be_repeated() -> None:
    clock = PoolClock()
    x = torch.zeros(1, 2, 8, 8).to(memory_format=torch.channels_last)
    threads = torch.get_num_threads()
    with clock.running(describe=True):
        F.max_pool2d(x, 3, 2, padding=1, ceil_mode=True)
        F.avg_pool2d(x[0], (2, 1), count_include_pad=False)
        F.adaptive_avg_pool1d(x[0].double(), 1)
    assert clock.lines == [
        f"max_pool2d shape=1,2,8,8 dtype=f32 layout=last map=forward threads={threads}"
        " kernel=3,3 stride=2,2 padding=1,1 ceil=1",
        f"avg_pool2d shape=1,2,8,8 dtype=f32 layout=first map=forward threads={threads}"
        " kernel=2,1 count_padding=0",
        f"adaptive_avg_pool1d shape=2,8,8 dtype=f64 layout=first map=forward threads={threads}"
        " size=1,",
    ]
    assert [DrawnPool.parse(line).line for line in clock.lines] == clock.lines


@pytest.mark.parametrize(
    "line",
    [
        "max_pool2d shape=1,4,9,9 kernel=3,3 stride=2,2 padding=1,1 map=training",
        "avg_pool1d shape=2,8,50 dtype=bf16 kernel=5, stride=2, map=training",
        "adaptive_max_pool3d shape=1,2,5,6,7 size=2,2,2 map=indices layout=last",
    ],
)
def test_a_pair_accepts_equal_results_and_no_others(line: str) -> None:
    pair = PoolPair(DrawnPool.parse(line))
    calls = {
        "torch": pair.call(F, pair.x, pair.gy),
        "ndpool": pair.call(ndpool.torch.functional, pair.x, pair.gy),
    }
    pair.check(calls)
    wrong = pair.call(F, pair.x + 0.5, pair.gy)
    with pytest.raises(WrongResult, match="differ by"):
        pair.check({**calls, "ndpool": wrong})
    assert ("vjp" in pair.runs()) == ("training" in line)
