"""`python -m ndpool`: what is installed, and whether it works."""

from __future__ import annotations

import sys
from typing import Any

import numpy

import ndpool


def _self_check() -> list[str]:
    """What is wrong: a few known answers, on arrays long enough for vectors and threads."""
    wrong = []

    def expect(what: str, actual: Any, expected: Any) -> None:
        if not numpy.array_equal(actual, expected):
            wrong.append(what)

    x = (numpy.arange(64 * 96 * 96) % 257).reshape(64, 96, 96)
    blocks = x.reshape(64, 48, 2, 48, 2)
    for dtype in ("float32", "float64", "int16", "uint64"):
        values = x.astype(dtype)
        expect(f"max of {dtype}", ndpool.max_pool(values, (2, 2)), blocks.max((2, 4)))
        expect(f"min of {dtype}", ndpool.min_pool(values, (2, 2)), blocks.min((2, 4)))
        expect(f"sum of {dtype}", ndpool.sum_pool(values, (2, 2)), blocks.sum((2, 4)))
    real = x.astype(numpy.float32)
    expect("average", ndpool.avg_pool(real, (2, 2)), blocks.sum((2, 4)) / 4)
    y, indices = ndpool.max_pool(real, (2, 2), return_indices=True)
    flat = numpy.take_along_axis(real.reshape(64, -1), indices.reshape(64, -1), 1)
    expect("indices of max", flat.reshape(y.shape), y)
    gx = ndpool.max_pool.vjp(real, numpy.ones_like(y), (2, 2))
    expect("vjp of max", ndpool.max_unpool(numpy.ones_like(y), indices, (96, 96)), gx)
    expect("vjp of sum", ndpool.sum_pool.vjp(real, y, (2, 2)), y.repeat(2, 1).repeat(2, 2))
    return wrong


def main() -> int:
    print(f"ndpool {ndpool.__version__}")
    print(f"targets: {', '.join(ndpool.targets())} (in use: {ndpool._core.target()})")
    print(f"threads: {ndpool.get_threads()}")
    print(f"OpenMP: {ndpool._core.openmp_runtime() or 'no runtime is loaded'}")
    wrong = _self_check()
    print(f"self-check: {'FAILED: ' + ', '.join(wrong) if wrong else 'passed'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
