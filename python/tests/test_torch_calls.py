"""Remembered calls: the ways through C++ give what Python's gives, and see what Python sees."""

import os
import pathlib
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
import torch_ways
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import ndpool.torch
from ndpool.torch import _build, _calls, _handover, _twins
from ndpool.torch import functional as NF

needs_native = pytest.mark.skipif(_calls.native is None, reason="no extension for this torch")


def test_the_extension_beside_the_package_is_in_use():
    folder = pathlib.Path(ndpool._core.__file__).parent / "torch"
    built = any(folder.glob(f"{_build.module_name()}.*"))
    assert (_calls.native is not None) == built


def test_the_extension_of_another_torch_is_not_loaded(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.13.1")
    assert _calls.find_native() is None
    monkeypatch.undo()
    monkeypatch.setattr(torch.version, "git_version", "0" * 40)
    assert _calls.find_native() is None
    monkeypatch.undo()
    assert _calls.find_native() is _calls.native


@needs_native
def test_both_ways_give_equal_results(tmp_path):
    path = tmp_path / "results"
    environment = {**os.environ, "NDPOOL_TORCH_NATIVE": "0"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    program = [sys.executable, torch_ways.__file__, str(path)]
    subprocess.run(program, env=environment, check=True, timeout=600)
    expected, mine = torch.load(path), torch_ways.all_results()
    assert mine.keys() == expected.keys()
    for call, tensors in expected.items():
        assert len(mine[call]) == len(tensors), call
        for (a, *a_layout), (b, *b_layout) in zip(mine[call], tensors):
            assert a_layout == b_layout and a.dtype == b.dtype, call
            assert torch.equal(a, b), call


@needs_native
def test_known_recorded_calls_have_a_node_of_the_extension():
    x = torch.randn(1, 1, 6, 6, requires_grad=True)
    names = [NF.max_pool2d(x, 2).grad_fn.name() for _ in range(2)]
    assert names[1] == "NdpoolExtremeBackward"


class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen = function
        return function(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen = str(function)
        return function(*args, **(kwargs or {}))


def known(x, *arguments):
    for _ in range(2):
        NF.max_pool2d(x, *arguments)
    return x


def test_modes_see_known_calls():
    x = known(torch.randn(1, 1, 6, 6), 2)
    with Functions() as mode:
        NF.max_pool2d(x, 2)
    assert mode.seen is NF.max_pool2d
    with Dispatched() as mode:
        NF.max_pool2d(x, 2)
    assert "ndpool" in mode.seen


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_transformations_see_known_calls():
    x = known(torch.randn(4, 1, 6, 6), 2)
    known(x[0], 2)
    assert torch.equal(torch.func.vmap(lambda a: NF.max_pool2d(a, 2))(x), NF.max_pool2d(x, 2))
    _, tangent = torch.func.jvp(lambda a: NF.max_pool2d(a, 2), (x,), (torch.ones_like(x),))
    assert torch.equal(tangent, torch.ones_like(tangent))
    traced = torch.jit.trace(lambda a: NF.max_pool2d(a, 2), (x,))
    assert "max_pool2d" in str(traced.graph)


def test_views_that_are_negated_are_read_as_such():
    x = torch.complex(torch.randn(1, 1, 6, 6), torch.randn(1, 1, 6, 6))
    negated = torch.imag(x.conj())
    assert negated.is_neg()
    known(torch.empty_strided(negated.shape, negated.stride()).normal_(), 2)
    assert torch.equal(NF.max_pool2d(negated, 2), F.max_pool2d(negated, 2))


def test_autocast_is_seen_by_known_calls():
    x = torch.randn(1, 1, 4, 4, 4, dtype=torch.bfloat16)
    for _ in range(2):
        assert NF.avg_pool3d(x.double(), 2).dtype is torch.float64
        with torch.autocast("cpu"):
            assert NF.avg_pool3d(x, 2).dtype is F.avg_pool3d(x, 2).dtype is torch.float32


def test_calls_are_told_apart_by_every_argument():
    x = torch.randn(1, 1, 9, 9)
    for _ in range(2):
        for arguments in ((2,), (2, 1), (2, 1, 1), (2, 2, 0, 1, True), ((2, 3),), ([3, 2],)):
            for y in (x, x.double(), x.transpose(2, 3), x[..., :8]):
                assert torch.equal(NF.max_pool2d(y, *arguments), F.max_pool2d(y, *arguments))
        with pytest.raises(RuntimeError, match="pad"):
            NF.max_pool2d(x, 2, 2, 2)


def test_a_graph_is_freed_and_kept_as_by_torch():
    x = torch.randn(1, 1, 6, 6, requires_grad=True)
    known(x, 2)
    y = NF.max_pool2d(x, 2)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_indices_that_the_caller_has_written_are_found():
    x = torch.randn(1, 1, 6, 6, requires_grad=True)
    for _ in range(2):
        y, indices = NF.max_pool2d_with_indices(x, 2)
    indices.zero_()
    with pytest.raises(RuntimeError, match="inplace"):
        y.sum().backward()
    y, indices = NF.max_pool2d_with_indices(x, 2)
    indices.numpy()[...] = 1 << 40  # behind torch's back
    with pytest.raises(ValueError, match="indices"):
        y.sum().backward()


def test_hooks_see_one_byte_per_output():
    x = torch.randn(1, 1, 6, 6, requires_grad=True)
    known(x, 2)
    saved = []

    def pack(tensor):
        saved.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        NF.max_pool2d(x, 2).sum().backward()
    assert [tensor.dtype for tensor in saved] == [torch.uint8]


def test_checkpoints_give_the_same_gradient():
    x = torch.randn(1, 1, 6, 6, requires_grad=True)
    known(x, 2)
    function = lambda a: NF.avg_pool2d(NF.max_pool2d(a.sin(), 3, 1), 2)
    checkpointed = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    (mine,) = torch.autograd.grad(checkpointed.sum(), x)
    (expected,) = torch.autograd.grad(function(x).sum(), x)
    assert torch.equal(mine, expected)


def spied(monkeypatch, **options):
    """A function in place of adaptive_avg_pool1d, and the calls that it hands to torch. The check
    of a new call passes a tensor without memory, which is left out."""
    seen = []

    def reference(x, size):
        if not x.is_meta:
            seen.append(tuple(x.shape))
        return F.adaptive_avg_pool1d(x, size)

    describe = lambda sizes, size: _twins.Pooling(ndpool._core.Pool.adaptive("avg", (size,)))
    rules = (_handover.Rule("short rows", "a test", lambda case: case.extents[0] < 9, **options),)
    monkeypatch.setattr(_handover, "RULES", rules)
    pool = _twins.Twin(reference, describe, _twins.FLOATS, 1)

    def call(x, size):
        y = pool.calls(x, size)
        return pool(x, size) if y is None else y

    return call, seen


def test_calls_that_torch_serves_faster_are_handed_over(monkeypatch):
    call, seen = spied(monkeypatch)
    short, long = torch.randn(1, 2, 8), torch.randn(1, 2, 16)
    for _ in range(3):
        for x in (short, long):
            torch.testing.assert_close(call(x, 4), F.adaptive_avg_pool1d(x, 4))
    assert seen == [short.shape] * 3


def test_only_recorded_calls_are_handed_over_by_a_rule_for_those(monkeypatch):
    call, seen = spied(monkeypatch, only_recorded=True)
    x = torch.randn(1, 2, 8)
    for _ in range(3):
        call(x, 4)
        assert call(x.clone().requires_grad_(), 4).requires_grad
        with torch.no_grad():
            call(x.clone().requires_grad_(), 4)
    assert seen == [x.shape] * 3


def test_recorded_averages_over_whole_planes_are_torchs():
    x = torch.randn(2, 3, 5, 5, requires_grad=True)
    for _ in range(2):
        y = NF.adaptive_avg_pool2d(x, 1)
        assert y.grad_fn.name() == F.adaptive_avg_pool2d(x, 1).grad_fn.name()
