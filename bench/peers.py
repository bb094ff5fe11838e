"""ndpool beside torch, onnxruntime and others on the pools of real networks.

All libraries run in this process, on the same arrays and with the same number of threads. Each
result is first compared with torch's. Then the libraries take turns, a block of calls each, and the
best block of each counts. A ratio above 1 says that ndpool is faster.

  bench/peers.py                              everything, for about five minutes
  bench/peers.py --quick --filter "vgg 3"     a first look at one pool
  bench/peers.py --filter backward --threads 1
  bench/peers.py --load peers.json --markdown the table of an earlier run, for the README

With --generated the pools are drawn at random as networks have them, and ndpool.torch.functional is
compared with torch.nn.functional: 1-D to 3-D, max and average, windowed, adaptive and global, 8 KB
to 16 MB, forward, with indices and training steps. Prints quantiles of torch's time over ndpool's,
the share that is behind, and the worst calls as lines that --call repeats.

  bench/peers.py --generated 300 --seed 1     for about three minutes
  bench/peers.py --call 'max_pool2d shape=1,64,112,112 kernel=3,3 stride=2,2 padding=1,1 threads=2'
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pool_pairs
from distribution import Distribution, Goal
from drawn_pools import DrawnPool, draw
from peer_calls import Call, Data, installed, versions
from peer_cases import Case, cases
from peer_report import Report, Row
from pool_pairs import PoolPair
from timing import OtherLoad, measure, processor, progress

import ndpool

DRAWN_GOAL = Goal(behind=0.02, worst=0.8, median=2.0)


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


def run_drawn(arguments: argparse.Namespace) -> Distribution:
    """The generated part, or the calls that are given."""
    if arguments.call:
        drawn, title = [DrawnPool.parse(line) for line in arguments.call], "Given pools"
    else:
        drawn = draw(arguments.seed, arguments.generated)
        title = f"{len(drawn)} pools of networks, seed {arguments.seed}"
    libraries = f"ndpool {ndpool.__version__} ({ndpool.targets()[0]}), torch {versions()['torch']}"
    found = Distribution(title, libraries, processor(), "bench/peers.py", DRAWN_GOAL)
    for number, pool in enumerate(drawn, start=1):
        progress(f"{number}/{len(drawn)}  {pool.line}")
        found.results.append(PoolPair(pool).measure(arguments.seconds))
    progress("")
    return found


def main_drawn(arguments: argparse.Namespace) -> int:
    load = OtherLoad()
    try:
        found = run_drawn(arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except pool_pairs.WrongResult as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    print(found.table(arguments.worst))
    print(load)
    if arguments.json:
        arguments.json.write_text(found.to_json())
    return 0


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
    parser.add_argument("--generated", type=int, metavar="N", help="measure N random pools instead")
    parser.add_argument("--seed", type=int, default=1, help="of --generated; default: 1")
    parser.add_argument(
        "--call", action="append", metavar="LINE", help="measure this generated line; repeatable"
    )
    parser.add_argument("--worst", type=int, default=20, metavar="N", help="lines to print")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    if arguments.generated or arguments.call:
        return main_drawn(arguments)
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
