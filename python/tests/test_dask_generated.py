"""Lazy pools of generated problems with random chunks equal the eager ones.

NDPOOL_DASK_PROBLEMS says how many; NDPOOL_SEED repeats a run.
"""

from __future__ import annotations

import os
import random

import dask
import dask.array as da
import numpy as np
import pytest

import ndpool
import ndpool.dask

problems = int(os.environ.get("NDPOOL_DASK_PROBLEMS", "160"))
first_seed = int(os.environ.get("NDPOOL_SEED", "0"))
floats, integers = ["f4", "f8", "f2"], ["i1", "u1", "i4", "i8"]


def chunks_of(rng: random.Random, length: int) -> tuple[int, ...]:
    kind = rng.choice(["one", "cells", "uneven", "uniform", "empty"])
    if kind == "one" or length == 0:
        return (length,)
    if kind == "cells":
        return (1,) * length
    if kind == "uniform":
        size = rng.randint(1, length)
        return (size,) * (length // size) + ((length % size,) if length % size else ())
    cuts = sorted(rng.randint(0, length) for _ in range(rng.randint(0, 4)))
    bounds = [0, *cuts, length]
    lengths = [b - a for a, b in zip(bounds[:-1], bounds[1:])]
    return tuple(n for n in lengths if n > 0 or kind == "empty")


class Problem:
    """A random call: the name of a function, an array, its chunks, and arguments."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        self.seed = seed
        self.reducer = rng.choice(["max", "min", "sum", "avg", "smooth_max", "lp"])
        self.kind = rng.choice(["", "", "", "adaptive_", "global_"])
        self.name = f"{self.kind}{self.reducer}_pool"
        is_analytic = self.reducer in ("smooth_max", "lp")
        self.dtype = rng.choice(floats if is_analytic or rng.random() < 0.7 else integers)
        rank = rng.randint(1, 3)
        self.shape = tuple(rng.randint(1, 14) for _ in range(rank))
        count = rng.randint(1, min(rank, 2))
        self.axes = tuple(sorted(rng.sample(range(rank), count)))
        self.args: tuple = ()
        self.options: dict = {"axes": self.axes}
        self._arguments(rng)
        if self.reducer == "lp":
            self.args = (rng.choice([1, 2, 3.5, float("inf")]), *self.args)
        if self.reducer in ("max", "min"):
            self.options["ties"] = rng.choice(["first", "all", "split"])
        self.x = self.array(self.shape)
        self.chunks = tuple(chunks_of(rng, length) for length in self.shape)

    def _arguments(self, rng: random.Random) -> None:
        if self.kind == "global_":
            self.options["keepdims"] = rng.random() < 0.5
            return
        if self.kind == "adaptive_":
            self.args = (tuple(rng.randint(1, self.shape[a] + 3) for a in self.axes),)
            return

        def draw(low: int, high: int) -> tuple[int, ...]:
            return tuple(rng.randint(low, high) for _ in self.axes)

        self.args = (draw(1, 4), draw(1, 4), draw(0, 3), draw(1, 3))
        self.options["ceil_mode"] = rng.random() < 0.4
        if self.reducer != "sum":
            self.options["empty"] = "identity"
        if self.reducer == "avg":
            self.options["count_include_pad"] = rng.random() < 0.5

    def array(self, shape: tuple[int, ...]) -> np.ndarray:
        source = np.random.default_rng(self.rng.randrange(1 << 30))
        whole = source.integers(-3, 4, shape) if self.rng.random() < 0.5 else None
        values = source.standard_normal(shape) * 3 if whole is None else whole
        return values.astype(self.dtype) if self.dtype != "u1" else abs(values).astype("u1")

    def __str__(self) -> str:
        return (
            f"NDPOOL_SEED={self.seed}: ndpool.{self.name} of {self.dtype} {self.shape} "
            f"in {self.chunks}, {self.args} {self.options}"
        )

    def is_exact(self) -> bool:
        """Whether chunks may not change a bit: not of float sums in trees, nor of exp and pow."""
        if self.reducer in ("smooth_max", "lp"):
            return False
        return self.kind != "global_" or self.reducer in ("max", "min") or self.dtype in integers

    def compare(self, made: np.ndarray, expected: np.ndarray, what: str) -> None:
        made, expected = np.asarray(made), np.asarray(expected)
        assert made.dtype == expected.dtype and made.shape == expected.shape, (what, str(self))
        if self.is_exact() and not (what != "y" and self.kind == "global_"):
            np.testing.assert_array_equal(made, expected, err_msg=f"{what} of {self}")
        else:
            eps = np.finfo(self.dtype).eps
            scale = (
                np.abs(self.x.astype("f8")).sum() + 1
                if self.reducer == "avg"
                else 1 + np.abs(self.x.astype("f8")).sum()
            )
            tolerance = 64 * eps * min(scale, 200)
            np.testing.assert_allclose(
                made.astype("f8"), expected.astype("f8"), rtol=64 * eps, atol=tolerance,
                err_msg=f"{what} of {self}",
            )  # fmt: skip


def problem_of(seed: int) -> Problem | None:
    problem = Problem(seed)
    try:
        getattr(ndpool, problem.name)(problem.x, *problem.args, **problem.options)
    except ValueError:
        return None  # a window that does not fit
    return problem


def compute(*arrays: object) -> tuple:
    return dask.compute(*arrays, scheduler="sync")


@pytest.mark.parametrize("block", range(8))
def test_results_do_not_depend_on_chunks(block: int) -> None:
    count = 0
    for seed in range(first_seed + block, first_seed + problems, 8):
        problem = problem_of(seed)
        if problem is None:
            continue
        count += 1
        check(problem)
    assert count > problems // 32


def check(problem: Problem) -> None:
    lazy, eager = getattr(ndpool.dask, problem.name), getattr(ndpool, problem.name)
    args, options = problem.args, problem.options
    x = da.from_array(problem.x, chunks=problem.chunks)
    has_indices = problem.reducer in ("max", "min")
    if has_indices:
        y, indices = eager(problem.x, *args, return_indices=True, **options)
        made, found = compute(*lazy(x, *args, return_indices=True, **options))
        problem.compare(made, y, "y")
        np.testing.assert_array_equal(found, indices, err_msg=f"indices of {problem}")
    y = eager(problem.x, *args, **options)
    chunks = tuple(chunks_of(problem.rng, length) for length in y.shape)
    result = lazy(x, *args, chunks=chunks, **options)
    assert result.chunks == chunks and result.dtype == y.dtype, str(problem)
    problem.compare(compute(result)[0], y, "y")
    if problem.dtype in integers:
        return
    dx, gy = problem.array(problem.shape), problem.array(y.shape)
    lazy_gy = da.from_array(gy, chunks=chunks)
    expected = eager.jvp(problem.x, dx, *args, **options)
    for made, wanted in zip(compute(*lazy.jvp(x, dx, *args, **options)), expected):
        problem.compare(made, wanted, "jvp" if wanted is expected[1] else "y")
    (made,) = compute(lazy.vjp(x, lazy_gy, *args, **options))
    problem.compare(made, eager.vjp(problem.x, gy, *args, **options), "vjp")
    if not has_indices:
        return
    winners = da.from_array(indices, chunks=chunks)
    (made,) = compute(lazy.jvp(problem.shape, dx, *args, indices=winners, **options)[1])
    expected = eager.jvp(problem.shape, dx, *args, indices=indices, **options)[1]
    np.testing.assert_array_equal(made, expected, err_msg=f"jvp by indices of {problem}")
    (made,) = compute(lazy.vjp(x, lazy_gy, *args, indices=winners, **options))
    expected = eager.vjp(problem.x, gy, *args, indices=indices, **options)
    np.testing.assert_array_equal(made, expected, err_msg=f"vjp by indices of {problem}")


@pytest.mark.parametrize("block", range(2))
def test_unpooling_does_not_depend_on_chunks(block: int) -> None:
    for seed in range(first_seed + block, first_seed + problems // 4, 2):
        problem = Problem(seed)
        if problem.kind or problem.dtype in integers:
            continue
        kernel, stride, padding, dilation = problem.args[-4:]
        axes, ceil_mode = problem.axes, problem.options["ceil_mode"]
        window = (kernel, stride, padding, dilation)
        options = {"axes": axes, "ceil_mode": ceil_mode, "empty": "identity"}
        try:
            y, indices = ndpool.max_pool(problem.x, *window, return_indices=True, **options)
        except ValueError:
            continue
        size = tuple(problem.shape[axis] for axis in axes)
        chunks = tuple(chunks_of(problem.rng, length) for length in y.shape)
        lazy_y, lazy_indices = (da.from_array(a, chunks=chunks) for a in (y, indices))
        gx = problem.array(problem.shape)
        lazy_gx = da.from_array(gx, chunks=problem.chunks)
        for arguments, extra in (((size, *window), {"ceil_mode": ceil_mode}), ((size,), {})):
            lazily = ndpool.dask.max_unpool(lazy_y, lazy_indices, *arguments, axes=axes, **extra)
            (made,) = compute(lazily)
            expected = ndpool.max_unpool(y, indices, size, axes=axes)
            np.testing.assert_array_equal(made, expected, err_msg=str(problem))
            (made,) = compute(
                ndpool.dask.max_unpool.vjp(
                    lazy_y, lazy_gx, lazy_indices, *arguments, axes=axes, **extra
                )
            )
            expected = ndpool.max_unpool.vjp(y, gx, indices, size, axes=axes)
            np.testing.assert_array_equal(made, expected, err_msg=str(problem))
