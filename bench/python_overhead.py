"""What a call costs that has next to nothing to pool, beside torch.

Both libraries max-pool a 1x1x8x8 float32 array by 2x2 on one thread; rounds take turns, and the
best of each counts. Ends with 1 if ndpool takes longer for an array; its twin of torch's function,
for a tensor, is shown beside them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

import ndpool
import ndpool.torch


def seconds_per_call(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=500, help="calls per round")
    arguments = parser.parse_args()

    ndpool.set_threads(1)
    torch.set_num_threads(1)
    array = np.random.default_rng(0).standard_normal((1, 1, 8, 8)).astype(np.float32)
    tensor = torch.from_numpy(array)
    max_pool2d = torch.nn.functional.max_pool2d
    candidates: dict[str, Callable[[], object]] = {
        "ndpool": lambda: ndpool.max_pool(array, (2, 2)),
        "torch": lambda: max_pool2d(tensor, 2),
        "ndpool.torch": lambda: ndpool.torch.functional.max_pool2d(tensor, 2),
    }
    np.testing.assert_array_equal(candidates["ndpool"](), candidates["torch"]().numpy())
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(arguments.rounds):
        for name, call in candidates.items():
            best[name] = min(best[name], seconds_per_call(call, arguments.calls))
    for name, seconds in best.items():
        print(f"{name:14}{seconds * 1e6:8.3f} microseconds per call")
    ratio = best["ndpool"] / best["torch"]
    print(f"ndpool / torch = {ratio:.2f}")
    return 0 if ratio <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
