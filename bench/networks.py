"""The pools of whole networks, measured where they are, with torch's pools and with ndpool's.

Networks of the packages transformers and monai, with random weights; channels first and
last, float32 and bfloat16, inference and a training step, one and two threads. Both libraries run
the same network in turns, ndpool by `ndpool.torch.install()`. Pools are timed from call to return,
and in backward around the nodes that they have recorded. The best run of each counts. ndpool's time
over torch's is printed: below 1 ndpool is faster.

  bench/networks.py                                   everything, for about half an hour
  bench/networks.py --quick                           float32 and three rounds, for some minutes
  bench/networks.py --networks ResNet "3-D" --modes training --threads 2
  bench/networks.py --list
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from drawn_pools import DTYPES
from network_models import NETWORKS, Network, loss_of
from network_report import NetworkReport, Row, Times
from pool_clock import PoolClock
from timing import OtherLoad, processor, progress

import ndpool
import ndpool.torch

FORMATS = {3: torch.channels_last, 4: torch.channels_last_3d}


class Runner:
    """One network in one format, to be run with the pools of either library."""

    def __init__(self, network: Network, layout: str, dtype: str) -> None:
        self.network = network
        model = network.build().to(DTYPES[dtype])
        self.format = torch.contiguous_format if layout == "first" else FORMATS[len(network.shape)]
        self.model = model.to(memory_format=self.format) if layout == "last" else model
        self.dtype = DTYPES[dtype]
        self.clock = PoolClock()

    def input(self, mode: str) -> torch.Tensor:
        batch = 1 if mode == "inference" else 2  # batch normalisation needs two
        x = torch.randn(batch, *self.network.shape).to(self.dtype)
        return x.to(memory_format=self.format) if len(self.network.shape) > 2 else x

    def run(self, x: torch.Tensor, mode: str, describe: bool = False) -> float:
        """One inference or training step: the seconds of the whole; the clock has the pools'."""
        self.model.train(mode == "training")
        torch.manual_seed(0)  # dropout and dropped paths are the same in every run
        with self.clock.running(describe), torch.set_grad_enabled(mode == "training"):
            start = time.perf_counter()
            result = self.model(x)
            if mode == "training":
                loss_of(result).backward()
            seconds = time.perf_counter() - start
        self.model.zero_grad(set_to_none=True)
        return seconds

    def measure(self, mode: str, rounds: int) -> tuple[list[str], dict[str, Times]]:
        x = self.input(mode)
        found: dict[str, list[tuple[float, list[float]]]] = {"torch": [], "ndpool": []}
        for number in range(rounds + 1):
            for name, runs in found.items():
                with pools_of(name):
                    seconds = self.run(x, mode, describe=number == 0)
                if number > 0:  # the first warms up
                    runs.append((seconds, self.clock.seconds))
        return self.clock.lines, {name: best_of(runs) for name, runs in found.items()}


def best_of(runs: list[tuple[float, list[float]]]) -> Times:
    return Times(
        min(sum(calls) for _, calls in runs),
        min(seconds for seconds, _ in runs),
        [min(times) for times in zip(*(calls for _, calls in runs))],
    )


def pools_of(library: str) -> contextlib.AbstractContextManager[Any]:
    return ndpool.torch.install() if library == "ndpool" else contextlib.nullcontext()


def rows_of(network: Network, arguments: argparse.Namespace) -> Iterator[Row]:
    layouts = [layout for layout in arguments.layouts if layout in network.layouts]
    for layout, dtype in itertools.product(layouts, arguments.dtypes):
        runner = Runner(network, layout, dtype)
        for mode, threads in itertools.product(arguments.modes, arguments.threads):
            progress(f"{network.name}, channels {layout}, {dtype}, {mode}, {threads} threads")
            torch.set_num_threads(threads)
            ndpool.set_threads(threads)
            lines, times = runner.measure(mode, arguments.rounds)
            if not lines:
                raise ValueError(f"{network.name} has no pools: it calls none by torch's names")
            yield Row(
                network.name, layout, dtype, mode, threads, lines, times["torch"], times["ndpool"]
            )


def libraries() -> str:
    others = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "monai"))
    return f"ndpool {ndpool.__version__} ({ndpool.targets()[0]}), {others}"


def chosen(words: list[str]) -> list[Network]:
    found = [n for n in NETWORKS if not words or any(w.lower() in n.name.lower() for w in words)]
    if not found:
        names = ", ".join(network.name for network in NETWORKS)
        raise ValueError(f"no network has one of {words} in its name; there are {names}")
    return found


def parse() -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--networks", nargs="+", default=[], metavar="TEXT", help="with one of these in the name"
    )
    parser.add_argument("--list", action="store_true", help="the networks; measures nothing")
    parser.add_argument("--quick", action="store_true", help="float32 and three rounds")
    for name, values in (
        ("layouts", ["first", "last"]),
        ("dtypes", ["f32", "bf16"]),
        ("modes", ["inference", "training"]),
    ):
        words = " ".join(values)
        parser.add_argument(
            f"--{name}", nargs="+", choices=values, default=values, help=f"default: {words}"
        )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each library; default: 7")
    parser.add_argument("--worst", type=int, default=20, metavar="N", help="rows to print again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all times")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a chart")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.dtypes, arguments.rounds = ["f32"], 3
    return arguments


def main() -> int:
    arguments = parse()
    warnings.simplefilter("ignore")  # of the packages
    try:
        networks = chosen(arguments.networks)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.list:
        for network in networks:
            shape = "x".join(map(str, network.shape))
            print(f"{network.name:22}{shape}")
        return 0
    report, load = NetworkReport(libraries(), processor()), OtherLoad()
    for network in networks:
        report.rows += rows_of(network, arguments)
    progress("")
    print(report.table(arguments.worst))
    print(load)
    if arguments.json:
        arguments.json.write_text(report.to_json())
    if arguments.svg:
        arguments.svg.write_text(report.svg())
    return 0


if __name__ == "__main__":
    sys.exit(main())
