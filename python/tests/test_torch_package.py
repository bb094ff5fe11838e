"""Errors, modules, memory, installation: everything of the adapter that is no derivative."""

from __future__ import annotations

import copy
import doctest
import inspect
import math
import pathlib
import pickle
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

import ndpool
import ndpool.torch
import ndpool.torch.functional as N
import ndpool.torch.nn as M
from ndpool._operators import _descriptions


def test_ndpool_does_not_import_torch():
    code = "import sys, ndpool; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_example_in_the_documentation():
    names = {"ndpool": ndpool, "torch": torch}
    assert doctest.testmod(ndpool.torch, extraglobs=names).failed == 0


TWINS = [name for name in N.__all__ if hasattr(F, name)]


def test_every_twin_is_there():
    pools = {name for name in dir(F) if "pool" in name and not name.startswith("_")}
    assert {name for name in pools if "fractional" not in name} == set(TWINS)


@pytest.mark.parametrize("name", [n for n in TWINS if not inspect.isbuiltin(getattr(F, n))])
def test_signatures_are_those_of_torch(name):
    original = torch._jit_internal.boolean_dispatched.get(getattr(F, name))
    reference = original["if_false"] if original else getattr(F, name)
    expected, actual = inspect.signature(reference), inspect.signature(getattr(N, name))
    assert list(actual.parameters) == list(expected.parameters)
    if not name.endswith("with_indices"):
        for parameter in expected.parameters.values():
            assert actual.parameters[parameter.name].default == parameter.default


# Wrong calls: raised by both, with the same type.


def wrong_calls():
    for n in (1, 2, 3):
        x = torch.randn(2, 3, *(8,) * n)
        indices = torch.zeros(x.shape, dtype=torch.int64)
        deep = x[None, None] if n < 3 else x[None]
        for name in ("max", "avg"):
            f = f"{name}_pool{n}d"
            for arguments in (
                (0,), (-1,), (2.5,), ("2",), (None,), ((2,) * (n + 1),), ((),), ((2.5,) * n,),
                (2, 0), (2, -1), (2, 1, 2), (2, 1, -1), (9,), (2, (1,) * (n + 1)), (2, 1, "0"),
            ):  # fmt: skip
                yield f, (x, *arguments), {}
            for tensor in (x[0, 0], deep, x[:, :0], x[..., :0], [1.0, 2.0], None, x.to_sparse()):
                yield f, (tensor, 2), {}
            yield f, (x.to(torch.complex64), 2), {}
            yield f, (x > 0, 2), {}
            yield f, (x,), {}
            yield f, (x, 2), {"nonsense": 1}
            yield f, (x[:0, ..., :4], 5), {}
        yield f"max_pool{n}d", (x, 2, 1, 0, 0), {}
        yield f"max_pool{n}d", (x, 2, 1, 0, -1), {}
        yield f"max_pool{n}d", (x, 2, 1, 0, 9), {"return_indices": True}
        yield f"max_pool{n}d", (x, 9), {"return_indices": True}
        for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32):
            yield f"avg_pool{n}d", (x.to(dtype), 2), {}
            yield f"adaptive_max_pool{n}d", (x.to(dtype), 2), {}
            yield f"adaptive_avg_pool{n}d", (x.to(dtype), 2), {}
            yield f"adaptive_avg_pool{n}d", (x.to(dtype), 1), {}
            yield f"max_unpool{n}d", (x.to(dtype), indices, 2), {}
        if n > 1:
            yield f"avg_pool{n}d", (x, 2, 1, 0, False, True, 0), {}
        else:
            yield "avg_pool1d", (x, 2, 1, 0, False, True, 3), {}
            yield "max_pool1d", (x.to(torch.int32), 2), {}
        for name in ("adaptive_max", "adaptive_avg"):
            f = f"{name}_pool{n}d"
            for arguments in ((-1,), (2.5,), ("2",), ((2,) * (n + 1),), ()):
                yield f, (x, *arguments), {}
            for tensor in (x[0, 0], deep, x[:, :0], x[..., :0], [1.0], x.to_sparse()):
                yield f, (tensor, 2), {}
        f = f"lp_pool{n}d"
        for arguments in (
            (2, 0), (2, 9), (2, 2, 0), (2, "2"), (2,), (0, 2), (3, 9), (2, (2,) * 5), ("2", 2),
            (2, ()), (2, (2,)), (3, (2,)), (2, 2.5), (2, None), (None, 2), (2, 2, "1"), (0.0, 2),
            (math.inf, 9), (-math.inf, 0), (2, 2, (1,) * (n + 1)), (-1, 9), (2j, 2),
            (2, 9, 1, True),
        ):  # fmt: skip
            yield f, (x, *arguments), {}
        for dtype in (torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
            yield f, (x.to(dtype), 2, 2), {}
        for tensor in (x[0, 0], deep, x[..., :0], [1.0], None, x.to_sparse()):
            yield f, (tensor, 2, 2), {}
        f = f"max_unpool{n}d"
        for arguments in (
            (indices.int(), 2), (indices[:1], 2), (indices, 2, 2, 0, (3,) * n), (indices - 1, 2),
            (indices, 2, 2, 0, (3,) * (n + 3)), (indices, 0), (indices + 10**6, 2), (indices, "2"),
        ):  # fmt: skip
            yield f, (x, *arguments), {}
        yield f, (x[0, 0], indices[0, 0], 2), {}


def outcome(function, arguments, options):
    try:
        function(*arguments, **options)
    except Exception as error:
        # What Python says of a call that no signature takes begins with another name.
        is_call = isinstance(error, TypeError) and (len(arguments) == 1 or options)
        return type(error), "" if is_call else str(error)
    return None


def describe(arguments):
    return [f"{a.dtype}{tuple(a.shape)}" if isinstance(a, torch.Tensor) else a for a in arguments]


@pytest.mark.filterwarnings("ignore")
def test_wrong_calls_raise_what_torch_raises():
    count, differences = 0, []
    for name, arguments, options in wrong_calls():
        expected = outcome(getattr(F, name), arguments, options)
        for _ in range(2):  # the second time with whatever the first has left behind
            actual = outcome(getattr(N, name), arguments, options)
            if actual != expected:
                differences.append((name, describe(arguments), options, expected, actual))
        count += 1
    assert not differences, "\n".join(map(str, differences))
    assert count > 300


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning", "ignore:.*nested:UserWarning")
@pytest.mark.parametrize("name", ["smooth_max_pool", "max_pool"])
def test_what_cannot_be_pooled_is_said_clearly(name):
    f = getattr(N, name)
    x = torch.randn(1, 8, 8)
    for tensor, text in {
        "meta": (x.to("meta"), "CPU.*'meta'"),
        "sparse": (x.to_sparse(), "dense.*sparse"),
        "quantized": (torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), "quantized"),
        "nested": (torch.nested.nested_tensor([x]), "nested"),
        "mkldnn": (x[None].to_mkldnn(), "dense.*mkldnn"),
    }.values():
        with pytest.raises(NotImplementedError, match=text):
            f(tensor, (2, 2))
    with pytest.raises(TypeError, match="input must be a Tensor, not list"):
        f([1.0, 2.0], (2,))


def test_a_float_is_no_size_even_if_it_equals_one():
    x = torch.randn(1, 8, 8)
    N.max_pool2d(x, 2)
    with pytest.raises(TypeError):
        N.max_pool2d(x, 2.0)


# Values beyond the generated ones.


def test_windows_without_elements_are_minus_infinity():
    x = torch.ones(1, 1, 2)
    expected = F.max_pool1d(x, 2, 1, 1, 3)
    assert torch.equal(N.max_pool1d(x, 2, 1, 1, 3), expected) and expected[0, 0, 0] == -torch.inf
    y, indices = N.max_pool1d(x, 2, 1, 1, 3, return_indices=True)
    assert indices.tolist() == [[[-1]]]


def test_integer_averages_go_toward_zero():
    x = torch.tensor([[[-7, 0, 7, 0]]])
    assert N.avg_pool1d(x, 2).tolist() == F.avg_pool1d(x, 2).tolist() == [[[-3, 3]]]


def test_lp_has_no_absolute_value():
    x = torch.tensor([[[-2.0, 1.0, 3.0, 1.0]]])
    for module in (N, F):
        y = module.lp_pool1d(x, 3, 2)
        assert y[0, 0, 0].isnan() and abs(y[0, 0, 1] - 28 ** (1 / 3)) < 1e-5
    assert torch.allclose(N.lp_pool(x, 3, (2,))[0, 0, 0], torch.tensor(9.0) ** (1 / 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_nan_is_the_maximum_on_every_width(dtype):
    for width in range(2, 40):
        x = torch.zeros(1, 3, 4, width, dtype=dtype)
        x[:, 1, 2, width // 2] = torch.nan
        y, expected = N.max_pool2d(x, 2, 1), F.max_pool2d(x, 2, 1)
        assert torch.equal(y.isnan(), expected.isnan())


def test_the_index_of_nan_is_the_first():
    x = torch.tensor([[[1.0, torch.nan, torch.nan, 2.0]]])
    assert N.max_pool1d(x, 4, return_indices=True)[1].item() == 1


def test_empty_batches():
    for name, arguments in {
        "max_pool2d": (2,), "avg_pool2d": (2,), "adaptive_max_pool2d": (2,),
        "adaptive_avg_pool2d": (3,), "lp_pool2d": (2, 2),
    }.items():  # fmt: skip
        x = torch.randn(0, 3, 8, 8, requires_grad=True)
        y = getattr(N, name)(x, *arguments)
        assert y.shape == getattr(F, name)(x, *arguments).shape
        y.sum().backward()
        assert x.grad.shape == x.shape


def test_negated_views_have_their_sign():
    x = torch.complex(torch.zeros(1, 4, 4), torch.randn(1, 4, 4)).conj().imag
    assert x.is_neg()
    assert torch.equal(N.max_pool2d(x, 2), F.max_pool2d(x.resolve_neg(), 2))


# What torch lacks.


def test_any_rank_axes_and_padding():
    x = torch.randn(2, 5, 4, 6, 3, dtype=torch.float64)
    for name, arguments, options in (
        ("max_pool", ((2, 2, 2, 2),), {}),
        ("min_pool", ((3, 2),), {"axes": (1, 3), "padding": ((1, 0), (0, 1))}),
        ("avg_pool", ((3, 3),), {"padding": "same", "dilation": 2, "axes": (2, 3)}),
        ("sum_pool", ((2, 2),), {"padding": "same_lower", "stride": 2}),
        ("smooth_max_pool", ((2, 2),), {"beta": -2.0}),
        ("lp_pool", (3.0, (2, 2)), {}),
        ("adaptive_smooth_max_pool", ((2, 2),), {}),
        ("global_max_pool", (), {"axes": (1, 2), "keepdims": True}),
        ("global_avg_pool", (), {}),
    ):
        y = getattr(N, name)(x, *arguments, **options)
        expected = getattr(ndpool, name)(x.numpy(), *arguments, **options)
        assert torch.equal(y, torch.as_tensor(expected)), name
    y, indices = N.min_pool(x, (2, 2), return_indices=True)
    _, expected = ndpool.min_pool(x.numpy(), (2, 2), return_indices=True)
    assert torch.equal(indices, torch.from_numpy(expected))


# Memory.


def test_results_are_written_in_place():
    x = torch.randn(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    y = torch.empty(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    pool = _descriptions["max"]((2, 2))
    assert pool.forward(x, y).data_ptr() == y.data_ptr()
    assert torch.equal(y, F.max_pool2d(x, 2))


# Modules.

MODULES = {
    "MaxPool": [((2,), {}), ((3,), {"stride": 2, "padding": 1, "ceil_mode": True})],
    "AvgPool": [((2,), {}), ((3, 2, 1), {"ceil_mode": True, "count_include_pad": False})],
    "LPPool": [((2, 2), {}), ((3, 2), {"stride": 1, "ceil_mode": True})],
    "AdaptiveMaxPool": [((2,), {}), ((3,), {"return_indices": True})],
    "AdaptiveAvgPool": [((2,), {}), ((1,), {})],
}


@pytest.mark.parametrize("rank", (1, 2, 3))
@pytest.mark.parametrize("name", MODULES)
def test_modules_are_twins(name, rank):
    x = torch.rand(2, 3, *(8,) * rank)
    for arguments, options in MODULES[name]:
        mine = getattr(M, f"{name}{rank}d")(*arguments, **options)
        theirs = getattr(torch.nn, f"{name}{rank}d")(*arguments, **options)
        assert repr(mine) == repr(theirs) and isinstance(mine, type(theirs))
        assert mine.state_dict() == theirs.state_dict() == {}
        expected = theirs(x)
        for module in (mine, copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
            assert repr(module) == repr(theirs)
            torch.testing.assert_close(module(x), expected)


@pytest.mark.parametrize("rank", (1, 2, 3))
def test_unpooling_modules_are_twins(rank):
    x = torch.randn(2, 3, *(8,) * rank)
    y, indices = getattr(M, f"MaxPool{rank}d")(2, return_indices=True)(x)
    mine, theirs = getattr(M, f"MaxUnpool{rank}d")(2), getattr(torch.nn, f"MaxUnpool{rank}d")(2)
    assert repr(mine) == repr(theirs)
    assert torch.equal(mine(y, indices), theirs(y, indices))
    size = x.shape if rank > 1 else x.shape[-1:]
    assert torch.equal(mine(y, indices, output_size=size), theirs(y, indices, output_size=size))


def test_modules_that_torch_lacks():
    module = M.SmoothMaxPool((2, 2), beta=4.0)
    assert repr(module) == "SmoothMaxPool((2, 2), beta=4.0)"
    x = torch.randn(3, 6, 6)
    for one in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(one(x), N.smooth_max_pool(x, (2, 2), beta=4.0))
    assert torch.equal(M.MinPool((2, 2))(x), -F.max_pool2d(-x, 2))


@pytest.mark.parametrize("name", N.__all__)
def test_functions_pickle(name):
    function = getattr(N, name)
    assert pickle.loads(pickle.dumps(function)) is function


# Subclasses and modes.


class Logged(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(getattr(function, "__name__", ""))
        return super().__torch_function__(function, types, args, kwargs or {})


def test_subclasses_see_the_call():
    x = torch.randn(1, 4, 4).as_subclass(Logged)
    y = N.max_pool2d(x, 2)
    assert "max_pool2d" in Logged.calls and isinstance(y, Logged)
    assert torch.equal(y.as_subclass(torch.Tensor), F.max_pool2d(x.as_subclass(torch.Tensor), 2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_models_export_with_symbolic_batches():
    model = torch.nn.Sequential(M.MaxPool2d(2), M.AvgPool2d(2), M.AdaptiveMaxPool2d(1))
    x = torch.randn(3, 2, 8, 8)
    batch = torch.export.Dim("batch")
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: batch},), strict=False)
    larger = torch.randn(5, 2, 8, 8)
    torch.testing.assert_close(exported.module()(larger), model(larger))


def test_lists_are_tuples():
    x = torch.randn(1, 8, 8)
    for _ in range(2):
        assert torch.equal(
            N.max_pool2d(x, [2, 3], [1, 2], [1, 1]), F.max_pool2d(x, (2, 3), (1, 2), 1)
        )


def test_fake_tensors_have_shapes():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.randn(2, 3, 8, 8, requires_grad=True)
        y = N.max_pool2d(x, 2)
        assert y.shape == (2, 3, 4, 4)
        N.avg_pool2d(y, 2).sum().backward()
        assert x.grad.shape == x.shape


# Installation.


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.pool = torch.nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x) + x))


class Network(torch.nn.Module):
    """Max and average pooling, by modules and by functions, as in a small residual network."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = torch.nn.Sequential(Block(8), Block(8))
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.stem(x)), 3, 2, 1)
        x = self.blocks(x) + F.avg_pool2d(x, 4)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def train(model, x):
    model.zero_grad()
    y = model(x)
    y.sin().sum().backward()
    return y.detach(), [p.grad.clone() for p in model.parameters()]


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_a_model_runs_unedited(layout):
    torch.manual_seed(0)
    model = Network().to(memory_format=layout)
    x = torch.randn(2, 3, 32, 32).to(memory_format=layout)
    y, gradients = train(model, x)
    with ndpool.torch.install():
        assert F.max_pool2d is N.max_pool2d
        installed_y, installed_gradients = train(model, x)
    torch.testing.assert_close(installed_y, y, rtol=1e-6, atol=1e-6)
    for actual, expected in zip(installed_gradients, gradients):
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rank", (1, 2, 3))
def test_every_function_works_while_installed(rank):
    x = torch.rand(2, 3, *(8,) * rank)
    y, indices = getattr(F, f"max_pool{rank}d")(x, 2, return_indices=True)
    calls = {
        "max_pool": (x, 3, 2, 1), "max_pool_with_indices": (x, 2), "avg_pool": (x, 3, 2, 1),
        "lp_pool": (x, 2, 2), "adaptive_max_pool": (x, 3), "adaptive_avg_pool": (x, 3),
        "adaptive_max_pool_with_indices": (x, 3), "max_unpool": (y, indices, 2),
    }  # fmt: skip
    for name, arguments in calls.items():
        head, _, tail = name.partition("pool")
        function = f"{head}pool{rank}d{tail}"
        expected = getattr(F, function)(*arguments)
        with ndpool.torch.install():
            for _ in range(2):
                torch.testing.assert_close(getattr(F, function)(*arguments), expected)
        # Shapes that are new while it is installed.
        larger = tuple(
            torch.cat([a, a], 1) if isinstance(a, torch.Tensor) else a for a in arguments
        )
        with ndpool.torch.install():
            actual = getattr(F, function)(*larger)
        torch.testing.assert_close(actual, getattr(F, function)(*larger))
    with ndpool.torch.install():
        odd = getattr(F, f"lp_pool{rank}d")(x, 3.0, 2, ceil_mode=True)
    torch.testing.assert_close(odd, getattr(F, f"lp_pool{rank}d")(x, 3.0, 2, ceil_mode=True))


def test_the_example_runs():
    example = pathlib.Path(__file__).parents[2] / "examples" / "torch_model.py"
    command = [sys.executable, str(example), "--rounds", "1", "--batch", "1", "--size", "32"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.count("speed-up") == 4


def test_installation_is_exact_and_idempotent():
    before = dict(vars(F))
    ndpool.torch.uninstall()
    assert vars(F) == before
    ndpool.torch.install()
    ndpool.torch.install()
    assert all(getattr(F, name) is getattr(N, name) for name in TWINS)
    with ndpool.torch.install():
        pass
    assert ndpool.torch.is_installed()  # as before the block
    ndpool.torch.uninstall()
    assert vars(F) == before
    with pytest.raises(KeyError), ndpool.torch.install():
        raise KeyError
    assert vars(F) == before and not ndpool.torch.is_installed()


def test_errors_while_installed_are_those_of_torch():
    with ndpool.torch.install(), pytest.raises(RuntimeError, match="pad should be at most"):
        F.max_pool2d(torch.randn(1, 8, 8), 2, 1, 2)
