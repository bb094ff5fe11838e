"""The calls that PyTorch's own test suite makes of its pools, right and wrong ones, on ndpool.

They come with torch (OpInfo and ModuleInfo in `torch.testing._internal`); torch itself says what is
right.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch_cases import one_thread, strides

import ndpool.torch
import ndpool.torch.functional as N

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import FunctionInput, module_db

pytestmark = pytest.mark.filterwarnings("ignore")


def is_replaced(name: str) -> bool:
    return "pool" in name and "fractional" not in name.lower() and "backward" not in name


FUNCTIONS = [op for op in op_db if is_replaced(op.name) and not op.variant_test_name]
MODULES = [info for info in module_db if is_replaced(info.name.lower())]


@pytest.fixture(autouse=True)
def few_threads():
    with one_thread():
        yield


def tensors(result: Any) -> list[torch.Tensor]:
    return torch.utils._pytree.tree_leaves(result)


def with_gradients(function: Any, call: Any) -> Any:
    """The results of a call, with the gradients of its tensor if it is recorded; or the error."""
    x, *arguments = call.args
    try:
        results = tensors(function(x, *arguments, **call.kwargs))
        recorded = [y for y in results if y.requires_grad]
        # Whole numbers, which every dtype holds.
        weights = [
            torch.arange(y.numel()).remainder(7).sub(3).to(y).view(y.shape) for y in recorded
        ]
        return results, list(torch.autograd.grad(recorded, x, weights)) if recorded else []
    except Exception as error:
        return type(error), str(error)


def call_of(sample: Any) -> FunctionInput:
    return FunctionInput(sample.input, *sample.args, **sample.kwargs)


def assert_same(actual: Any, expected: Any, what: Any) -> None:
    if not isinstance(expected[0], list):
        assert actual == expected, what
        return
    assert isinstance(actual[0], list), (what, actual)
    for a, b in zip(tensors(actual), tensors(expected), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape, what
        assert a.numel() == 0 or strides(a) == strides(b), what
        torch.testing.assert_close(a, b, equal_nan=True)


def samples_of(op: Any, records: bool) -> Iterator[Any]:
    """Pairs of a dtype and a sample; of the pools with thousands of them, some of each dtype."""
    step = {"max_pool": 31, "max_unpool": 13}.get(op.name.rpartition(".")[2][:-2], 1)
    dtypes = {torch.float32} if "unpool" in op.name else op.supported_dtypes("cpu")  # made slowly
    for dtype in sorted(dtypes, key=str):
        if dtype.is_floating_point or not records:
            torch.manual_seed(0)
            samples = op.sample_inputs("cpu", dtype, requires_grad=records)
            yield from ((dtype, sample) for sample in itertools.islice(samples, 0, None, step))


def test_every_pool_has_samples():
    assert {op.name.rpartition(".")[2] for op in FUNCTIONS} == {
        name
        for name in N.__all__
        if hasattr(F, name) and "indices" not in name and "lp" not in name
    }
    assert len(MODULES) == 15


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name.rpartition(".")[2])
def test_samples_of_functions(op):
    mine, theirs = (getattr(module, op.name.rpartition(".")[2]) for module in (N, F))
    count = 0
    for dtype, sample in itertools.chain(samples_of(op, True), samples_of(op, False)):
        expected, count = with_gradients(theirs, call_of(sample)), count + 1
        if "avg" in op.name and dtype.itemsize == 2:  # which torch adds up in that dtype
            wide = FunctionInput(sample.input.float(), *sample.args, **sample.kwargs)
            values = with_gradients(theirs, wide)
            expected = [[y.to(dtype) for y in group] for group in values]
        for _ in range(2):  # the second time with what the first has left behind
            actual = with_gradients(mine, call_of(sample))
            assert_same(actual, expected, (dtype, sample.input.shape, sample.args, sample.kwargs))
    assert count >= 10


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name.rpartition(".")[2])
def test_wrong_samples_of_functions(op):
    mine, theirs = (getattr(module, op.name.rpartition(".")[2]) for module in (N, F))
    count = 0
    for wrong in op.error_inputs("cpu"):
        call, count = call_of(wrong.sample_input), count + 1
        expected = with_gradients(theirs, call)
        assert not isinstance(expected[0], list) or not expected[0][0].numel()
        assert_same(with_gradients(mine, call), expected, call)
    assert count > 0


@pytest.mark.parametrize("info", MODULES, ids=lambda info: info.name.rpartition(".")[2])
def test_samples_of_modules(info):
    for dtype in info.dtypes:
        for sample in info.module_inputs_func(info, "cpu", dtype, dtype.is_floating_point, False):
            constructed, called = sample.constructor_input, sample.forward_input
            module = info.module_cls(*constructed.args, **constructed.kwargs)
            expected = with_gradients(module, called)
            with ndpool.torch.install():
                actual = with_gradients(module, called)
            assert_same(actual, expected, (module, dtype, called.args[0].shape))
