"""ndpool.jax beside jax.lax.reduce_window: forward and gradient, compiled, in one table.

Both run in this process on the same arrays and on XLA's threads. Each result is first compared with
that of reduce_window. Then the two take turns, a block of calls each, and the best block of each
counts. A ratio above 1 says that ndpool is faster.

  bench/jax_peers.py                    everything, for about two minutes
  bench/jax_peers.py --quick            a first look
  bench/jax_peers.py --filter 3x3       the rows whose name contains that
  bench/jax_peers.py --json FILE        the times, to keep
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from timing import OtherLoad, measure, processor, progress

import ndpool.jax

SMALLEST = 64 * 1024  # bytes from which on ndpool means to be ahead


class Row(NamedTuple):
    name: str
    reducer: str
    shape: tuple[int, ...]  # channels last, as Flax has them
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: Any

    @property
    def bytes(self) -> int:
        return 4 * math.prod(self.shape)

    def ours(self, x: Any) -> Any:
        pool = getattr(ndpool.jax.linen, f"{self.reducer}_pool")
        return pool(x, self.kernel, self.stride, self.padding)

    def theirs(self, x: Any) -> Any:
        start, combine = (-np.inf, jax.lax.max) if self.reducer == "max" else (0.0, jax.lax.add)
        divisor = 1 if self.reducer == "max" else math.prod(self.kernel)
        y = jax.lax.reduce_window(
            x, start, combine, (1, *self.kernel, 1), (1, *self.stride, 1), self.padding
        )
        return y / divisor


def rows() -> list[Row]:
    windows = [("2x2 s2", (2, 2), (2, 2), "VALID"), ("3x3 s2", (3, 3), (2, 2), "SAME"),
               ("3x3 s1", (3, 3), (1, 1), "SAME"), ("5x5 s1", (5, 5), (1, 1), "SAME")]  # fmt: skip
    shapes = [(1, 16, 16, 16), (1, 32, 32, 16), (1, 56, 56, 64), (8, 56, 56, 64), (32, 28, 28, 1)]
    return [
        Row(f"{reducer} {name} {'x'.join(map(str, shape))}", reducer, shape, *window)
        for reducer in ("max", "avg")
        for name, *window in windows
        for shape in shapes
    ]


def gradient(pool: Any) -> Any:
    return jax.jit(lambda x, gy: jax.vjp(pool, x)[1](gy)[0])


def times(row: Row, seconds: float) -> dict[str, dict[str, float]]:
    random = np.random.default_rng(0)
    x = jax.numpy.asarray(random.standard_normal(row.shape, np.float32))
    forward = {"ndpool": jax.jit(row.ours), "jax": jax.jit(row.theirs)}
    backward = {"ndpool": gradient(row.ours), "jax": gradient(row.theirs)}
    gy = jax.numpy.asarray(random.standard_normal(forward["jax"](x).shape, np.float32))
    for functions, arguments in ((forward, (x,)), (backward, (x, gy))):
        ours, theirs = (np.asarray(functions[name](*arguments)) for name in ("ndpool", "jax"))
        if not np.allclose(ours, theirs, rtol=1e-4, atol=1e-5):
            sys.exit(f"ndpool and reduce_window differ: {row.name}")
    calls = lambda functions, *arguments: {
        name: lambda function=function: function(*arguments).block_until_ready()
        for name, function in functions.items()
    }
    return {
        "forward": measure(calls(forward, x), seconds),
        "gradient": measure(calls(backward, x, gy), seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="measure each row for 20 ms")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each call")
    parser.add_argument("--filter", default="", help="measure rows whose name contains this")
    parser.add_argument("--json", type=Path, help="write the times to this file")
    arguments = parser.parse_args()
    load, results, behind = OtherLoad(), {}, []
    wanted = [row for row in rows() if arguments.filter in row.name]
    print(f"jax {jax.__version__}, {processor()}; microseconds")
    print(f"{'':32}{'KB':>8}{'forward':>10}{'jax':>10}{'ratio':>8}"
          f"{'gradient':>10}{'jax':>10}{'ratio':>8}")  # fmt: skip
    for number, row in enumerate(wanted, start=1):
        progress(f"{number}/{len(wanted)}  {row.name}")
        result = times(row, 0.02 if arguments.quick else arguments.seconds)
        results[row.name] = result
        progress("")
        line = f"{row.name:32}{row.bytes / 1024:8.0f}"
        for kind, best in result.items():
            ratio = best["jax"] / best["ndpool"]
            line += f"{best['ndpool'] * 1e6:10.1f}{best['jax'] * 1e6:10.1f}{ratio:8.2f}"
            if ratio < 1 and row.bytes >= SMALLEST:
                behind.append(f"{row.name} {kind}")
        print(line)
    print(f"Behind from {SMALLEST // 1024} KB up: {', '.join(behind) or 'none'}")
    print(f"While this ran, {load}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
