"""The package as an object: signatures, texts, pickles."""

import copy
import doctest
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ndpool

OPERATORS = [n for n in ndpool.__all__ if n.endswith("pool")]


def test_all_operators_are_there():
    reducers = ("max", "min", "sum", "avg", "smooth_max", "lp")
    expected = {f"{g}{r}_pool" for g in ("", "adaptive_", "global_") for r in reducers}
    assert set(OPERATORS) == expected | {"max_unpool"}


def names(function):
    return list(inspect.signature(function).parameters)


def test_signatures_are_those_of_the_contract():
    text = str(
        inspect.signature(ndpool.max_pool).replace(return_annotation=inspect.Signature.empty)
    )
    for name, parameter in inspect.signature(ndpool.max_pool).parameters.items():
        text = text.replace(f"{name}: {parameter.annotation!r}", name).replace(" = ", "=")
    assert text == (
        "(x, kernel, stride=None, padding=0, dilation=1, *, axes=None, ceil_mode=False, "
        "ties='first', nan='propagate', empty='error', return_indices=False, out=None)"
    )
    assert names(ndpool.min_pool) == names(ndpool.max_pool)
    assert names(ndpool.avg_pool) == [
        "x", "kernel", "stride", "padding", "dilation", "axes", "ceil_mode",
        "count_include_pad", "divisor", "rounding", "empty", "out",
    ]  # fmt: skip
    assert names(ndpool.lp_pool)[:6] == ["x", "p", "kernel", "stride", "padding", "dilation"]
    assert names(ndpool.smooth_max_pool)[:8] == [
        *names(ndpool.sum_pool)[:5],
        "beta",
        "pad_mode",
        "axes",
    ]
    assert names(ndpool.max_unpool) == ["y", "indices", "output_size", "axes", "out"]
    assert inspect.signature(ndpool.global_max_pool).parameters["ties"].default == "all"


@pytest.mark.parametrize("name", OPERATORS)
def test_derivatives_take_the_arguments_of_their_function(name):
    f = getattr(ndpool, name)
    rest = [n for n in names(f)[1:] if n != "return_indices"]
    if "return_indices" in names(f):
        rest.insert(-1, "indices")
    first, tangent, gradient = ("y", "dy", "gx") if name == "max_unpool" else ("x", "dx", "gy")
    assert names(f.jvp) == [first, tangent, *rest]
    assert names(f.vjp) == [first, gradient, *rest]
    assert f.__doc__ and f.jvp.__doc__ and f.vjp.__doc__
    assert ">>>" in f.__doc__


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("part", ["", ".jvp", ".vjp"])
def test_functions_pickle_and_copy(name, part):
    f = getattr(ndpool, name)
    f = getattr(f, part[1:]) if part else f
    assert pickle.loads(pickle.dumps(f)) is f
    assert copy.deepcopy(f) is f
    assert f.__module__ == "ndpool" and f.__qualname__ == name + part


POOLS = [
    ndpool._core.Pool.window(
        "max", (2, 3), 1, "same", (2, 1), (0, 2), True, ties="all", nan="ignore"
    ),
    ndpool._core.Pool.window(
        "avg", 2, padding=((1, 2), 0), axes=(1, 2), divisor=3, empty="identity"
    ),
    ndpool._core.Pool.adaptive("lp", (2, 3), p=float("inf"), ties="split"),
    ndpool._core.Pool.global_("smooth_max", (1,), True, beta=2),
    ndpool._core.Unpool((2, 3), (0, 1)),
]


@pytest.mark.parametrize("pool", POOLS, ids=str)
def test_pools_are_values(pool):
    again = pickle.loads(pickle.dumps(pool))
    assert again == pool and hash(again) == hash(pool) and repr(again) == repr(pool)
    assert copy.deepcopy(pool) == pool
    assert sum(pool == other for other in POOLS) == 1
    assert pool != "pool" and (pool == None) is False  # noqa: E711


def test_doctests():
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner()
    for name in [*OPERATORS, "output_shape", "explain_plan"]:
        tests = finder.find(getattr(ndpool, name), name, globs={"ndpool": ndpool, "numpy": np})
        assert tests and tests[0].examples, name
        for test in tests:
            runner.run(test)
    assert runner.failures == 0 and runner.tries >= len(OPERATORS)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=60, **options
    )


def test_main_tells_what_is_there_and_checks_it():
    result = run("-m", "ndpool")
    assert result.returncode == 0, result.stderr
    assert ndpool.__version__ in result.stdout and ndpool.targets()[0] in result.stdout
    assert "self-check: passed" in result.stdout


def test_self_check_can_fail():
    code = (
        "import ndpool, runpy\n"
        "right = ndpool.min_pool\n"
        "ndpool.min_pool = lambda *a, **k: right(*a, **k) + 1\n"
        "runpy.run_module('ndpool', run_name='__main__')\n"
    )
    result = run("-c", code)
    assert result.returncode == 1 and "self-check: FAILED" in result.stdout


def test_version_has_one_source():
    from importlib import metadata

    try:
        assert metadata.version("ndpool") == ndpool.__version__
    except metadata.PackageNotFoundError:
        pass


def test_stubs_tell_what_the_functions_say():
    folder = __import__("pathlib").Path(ndpool.__file__).parent
    stub = (folder / "__init__.pyi").read_text()
    compile(stub, "__init__.pyi", "exec")
    for name in OPERATORS:
        assert f"{name}: " in stub
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
