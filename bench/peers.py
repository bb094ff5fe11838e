"""ndpool beside torch, onnxruntime and others on the pools of real networks.

All libraries run in this process, on the same arrays and with the same number of threads. Each
result is first compared with torch's. Then the libraries take turns, a block of calls each, and the
best block of each counts. A ratio above 1 says that ndpool is faster.

  bench/peers.py                              everything, for about five minutes
  bench/peers.py --quick --filter "vgg 3"     a first look at one pool
  bench/peers.py --filter backward --threads 1
  bench/peers.py --load peers.json --markdown the table of an earlier run, for the README
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from peer_calls import Call, Data, installed, versions
from peer_cases import Case, cases
from peer_report import Report, Row

import ndpool

BLOCK_SECONDS = 0.004


class WrongResult(Exception):
    """A library pools something else."""


def check(case: Case, peers: list[Any], calls: dict[str, Call]) -> None:
    """A benchmark of wrong results is worthless."""
    results = {p.name: p.arrays(case, calls[p.name]()) for p in peers if p.name in calls}
    expected = results["torch"]
    tolerance = 0.0 if case.map in ("max", "max indices") else 1e-5
    for name, arrays in results.items():
        for array, wanted in zip(arrays, expected, strict=True):
            if not np.allclose(array, wanted, rtol=tolerance, atol=tolerance):
                raise WrongResult(f"{name} and torch differ: {case.label}")


def seconds_per_call(call: Call, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def measure(calls: dict[str, Call], seconds: float) -> dict[str, float]:
    """The best of each, taking turns for `seconds` times the number of calls."""
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


def row_of(case: Case, peers: list[Any], seconds: float) -> Row:
    for peer in peers:
        peer.set_threads(case.threads)
    data = Data.of(case)
    prepared = {peer.name: peer.prepare(case, data) for peer in peers}
    calls = {name: call for name, call in prepared.items() if call is not None}
    check(case, peers, calls)
    shape = case.shape
    return Row(
        shape.name, str(shape), case.batch, case.layout, case.map, case.threads,
        measure(calls, seconds),
    )  # fmt: skip


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run(arguments: argparse.Namespace) -> Report:
    seconds = 0.02 if arguments.quick else arguments.seconds
    peers = installed()
    report = Report(versions(), ndpool.targets()[0])
    wanted = cases(tuple(arguments.threads), arguments.filter)
    for number, case in enumerate(wanted, start=1):
        progress(f"{number}/{len(wanted)}  {case.label}, {case.threads} threads")
        report.rows.append(row_of(case, peers, seconds))
    progress("")
    return report


def parse() -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a short run with noisy numbers")
    parser.add_argument(
        "--filter", default="", metavar="TEXT", help="only cases with it in their name"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--seconds", type=float, default=0.25, help="for each library and case")
    parser.add_argument("--markdown", action="store_true", help="print tables for the README")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all times")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a chart of the ratios")
    parser.add_argument("--load", type=Path, metavar="FILE", help="show this JSON; measure nothing")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    try:
        report = Report.from_json(arguments.load.read_text()) if arguments.load else run(arguments)
    except WrongResult as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    if not report.rows:
        print(f"no case has {arguments.filter!r} in its name", file=sys.stderr)
        return 2
    print(report.markdown() if arguments.markdown else report.table())
    if arguments.json:
        arguments.json.write_text(report.to_json())
    if arguments.svg:
        report.write_svg(arguments.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
