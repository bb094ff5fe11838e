"""Times of calls that take turns: the speed of a machine changes from minute to minute."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Call = Callable[[], Any]
BLOCK_SECONDS = 0.004


def seconds_per_call(call: Call, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def measure(calls: Mapping[str, Call], seconds: float) -> dict[str, float]:
    """The best block of each call, taking turns for `seconds` times the number of calls."""
    counts = {n: max(1, round(BLOCK_SECONDS / seconds_per_call(c, 2))) for n, c in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + seconds * len(calls)
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        for name, call in calls.items():
            call()  # wakes its threads and brings back what the others took from the caches
            best[name] = min(best[name], seconds_per_call(call, counts[name]))
        rounds += 1
    return best


def processor() -> str:
    """The name of the processor as Linux has it."""
    information = Path("/proc/cpuinfo")
    text = information.read_text() if information.exists() else ""
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1] if found else "unknown processor"


class OtherLoad:
    """What other processes use of the machine: it stalls threads that meet at barriers."""

    def __init__(self) -> None:
        self.start = self.seconds()

    @staticmethod
    def seconds() -> tuple[float, float]:
        """Since boot: processor time of all others, and processor time that there was."""
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words]
        idle = ticks[3] + ticks[4]
        return sum(ticks) - idle - time.process_time(), sum(ticks)

    def __str__(self) -> str:
        busy, total = (now - then for now, then in zip(self.seconds(), self.start))
        return f"other processes used {max(0.0, busy) / total:.0%} of the processors meanwhile"


def progress(text: str) -> None:
    """Replaces the last line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
