"""What ndpool does not pool is torch's: tracing, tensors that are no memory, dtypes, autocast."""

from __future__ import annotations

import functools

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch_cases import one_thread, strides, twin_calls, with_tensors

import ndpool.torch
import ndpool.torch.functional as N

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*quantize:UserWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.filterwarnings("ignore:.*nested tensors:UserWarning"),
]
CALLS = [(rank, call) for rank in (1, 2, 3) for call in twin_calls(rank)]


@pytest.fixture(autouse=True)
def few_threads():
    with one_thread():
        yield


def functions(rank: int, call: str):
    """ndpool's function by its own name and by torch's, where it is installed; and torch's."""
    arguments = twin_calls(rank)[call]

    def run_installed(x):
        with ndpool.torch.install():
            return with_tensors(F, call, arguments)(x)

    return with_tensors(N, call, arguments), run_installed, with_tensors(F, call, arguments)


def outcome(function, x):
    """The result, or the type and the text of the error."""
    try:
        return function(x)
    except Exception as error:
        return type(error), str(error)


def assert_same(actual, expected, what=""):
    if not isinstance(expected, torch.Tensor):
        assert actual == expected, what
        return
    assert isinstance(actual, torch.Tensor), (what, actual)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, what
    assert actual.device == expected.device and actual.layout == expected.layout, what
    assert actual.is_quantized == expected.is_quantized and type(actual) is type(expected), what
    if expected.device.type == "meta":
        return
    if expected.is_quantized:
        actual, expected = actual.dequantize(), expected.dequantize()
    if expected.layout is not torch.strided:
        actual, expected = actual.to_dense(), expected.to_dense()
    torch.testing.assert_close(actual, expected, equal_nan=True)


def sample(rank: int, seed: int = 0, size: int = 8) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(2, 3, *(size,) * rank, generator=generator)


# torch.jit.trace


@pytest.mark.parametrize("rank, call", [c for c in CALLS if "unpool" not in c[1]])
def test_traced_functions_give_what_torch_gives(rank, call):
    mine, installed, theirs = functions(rank, call)
    for function in (mine, installed):
        traced = torch.jit.trace(function, sample(rank))
        for x in (sample(rank, 1), -sample(rank, 2), sample(rank, 3, 11)):
            torch.testing.assert_close(traced(x), theirs(x), equal_nan=True)


@pytest.mark.parametrize("rank", (1, 2, 3))
@pytest.mark.parametrize("size", [None, (16, 16, 16)])
def test_traced_unpooling_is_as_in_torch(rank, size):
    pair = getattr(F, f"max_pool{rank}d")(sample(rank), 2, return_indices=True)

    def trace(module):
        def f(y, indices):
            unpool = getattr(module, f"max_unpool{rank}d")
            return unpool(y, indices, 2, output_size=size and size[:rank])

        return outcome(lambda pair: torch.jit.trace(f, pair)(*pair), pair)

    assert_same(trace(N), trace(F))


@pytest.mark.parametrize(
    "name", ["MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "MaxPool1d"]
)
def test_traced_modules_give_what_torch_gives(name, tmp_path):
    rank = int(name[-2])
    module = getattr(torch.nn, name)(2)
    with ndpool.torch.install():
        traced = torch.jit.trace(module, sample(rank))
        torch.jit.save(traced, tmp_path / "traced.pt")
        for trace in (traced, torch.jit.load(tmp_path / "traced.pt")):
            torch.testing.assert_close(trace(sample(rank, 1)), module(sample(rank, 1)))
    torch.testing.assert_close(traced(sample(rank, 1)), module(sample(rank, 1)))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: N.max_pool(x, (2, 3), padding="same"),
        lambda x: N.min_pool(x, (2,), return_indices=True)[1],
        lambda x: N.smooth_max_pool(x, (2, 2), beta=2.0),
        lambda x: N.lp_pool(x, 3.0, (2, 2)),
        lambda x: N.adaptive_avg_pool(x, (2, 2)),
        lambda x: N.global_max_pool(x, axes=(2, 3)),
        lambda x: N.global_sum_pool(x),
    ],
)
def test_functions_that_torch_lacks_are_traced_as_operators(call):
    traced = torch.jit.trace(call, sample(2))
    for x in (-sample(2, 1), sample(2, 2, 10)):
        torch.testing.assert_close(traced(x), call(x))
    x = sample(2, 3).requires_grad_()
    if call(x).requires_grad:
        expected = torch.autograd.grad(call(x).sin().sum(), x)[0]
        torch.testing.assert_close(torch.autograd.grad(traced(x).sin().sum(), x)[0], expected)


# torch.jit.script


class Scriptable(torch.nn.Module):
    """Every kind of pool, as functions."""

    def forward(self, x):
        y, indices = F.max_pool2d(x, 2, return_indices=True)
        y = F.avg_pool2d(F.max_unpool2d(y, indices, [2, 2]), 3, 1, 1)
        y = F.lp_pool2d(y, 2.0, 2) + F.adaptive_avg_pool2d(x, [4, 4])
        return F.adaptive_max_pool2d(F.max_pool2d(y, 2), 1)


@pytest.mark.parametrize(
    "module",
    [
        *(getattr(torch.nn, f"{name}{rank}d")(2) for rank in (1, 2, 3)
          for name in ("MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool")),
        torch.nn.LPPool2d(2, 2), torch.nn.LPPool1d(3, 2), Scriptable(),
    ],
    ids=repr,
)  # fmt: skip
def test_scripted_modules_hold_the_pools_of_torch(module, tmp_path):
    x = sample(int(repr(module)[repr(module).index("d(") - 1]) if "d(" in repr(module) else 2)
    expected = module(x)
    with ndpool.torch.install():
        scripted = torch.jit.script(module)
        torch.jit.save(scripted, tmp_path / "scripted.pt")
        for script in (scripted, torch.jit.load(tmp_path / "scripted.pt")):
            torch.testing.assert_close(script(x), expected)
        assert "ndpool" not in str(scripted.inlined_graph)
    torch.testing.assert_close(scripted(x), expected)


# Tensors that are no plain memory


def unusual(rank: int):
    x = sample(rank)
    yield "meta", x.to("meta")
    if rank > 1:
        yield "mkldnn", x.to_mkldnn()
    for dtype in (torch.quint8, torch.qint8):
        yield str(dtype), torch.quantize_per_tensor(x, 0.1, 3, dtype)
    for dtype in (
        torch.bool, torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.uint64,
        torch.float8_e4m3fn, torch.float8_e5m2, torch.int8, torch.uint8, torch.int16, torch.int32,
        torch.int64, torch.bfloat16, torch.float16,
    ):  # fmt: skip
        yield str(dtype), x.mul(3).round().to(dtype)  # of which all sums are exact
    yield "sparse", x.to_sparse()
    yield "nested", torch.nested.nested_tensor([x[0], x[1]])
    yield "a parameter", torch.nn.Parameter(x)
    yield "no batch", x[:0]


@pytest.mark.parametrize("rank, call", CALLS)
def test_unusual_tensors_are_as_in_torch(rank, call):
    mine, installed, theirs = functions(rank, call)
    for what, x in unusual(rank):
        expected = outcome(theirs, x)
        for function in (mine, installed, mine):  # the last with what the first left behind
            actual = outcome(function, x)
            if is_named_otherwise(expected, actual):
                continue
            assert_same(actual, expected, what)


def is_named_otherwise(expected, actual) -> bool:
    """True for one error of the dispatcher, which names the operator that found it first."""
    return (
        isinstance(expected, tuple)
        and isinstance(actual, tuple)
        and expected[0] is actual[0] is NotImplementedError
        and "Could not run" in expected[1]
        and "Could not run" in actual[1]
    )


@pytest.mark.parametrize("rank, call", CALLS)
def test_zeros_without_memory_are_zeros(rank, call):
    mine, installed, theirs = functions(rank, call)
    zeros = torch._efficientzerotensor(sample(rank).shape)
    for function in (mine, installed):
        assert_same(function(zeros), theirs(torch.zeros(zeros.shape)))
    assert not N.smooth_max_pool(zeros, (1,)).any()


@pytest.mark.parametrize("rank", (1, 2, 3))
@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.float32, torch.bool])
def test_empty_outputs_are_as_in_torch(rank, dtype):
    x = sample(rank).to(dtype)
    for name in ("adaptive_avg_pool", "adaptive_max_pool"):
        twins = [getattr(module, f"{name}{rank}d") for module in (N, F)]
        assert_same(*(outcome(functools.partial(f, output_size=0), x) for f in twins), name)


class Handler(torch.Tensor):
    """Knows functions by themselves, as they were when it was written."""

    table = {F.max_pool2d: "max", F.avg_pool2d: "avg", F.adaptive_avg_pool2d: "adaptive"}

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return cls.table[function]


class Wrapper(torch.Tensor):
    """Unwraps the operators of torch that it knows."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        assert function.namespace == "aten", function
        unwrapped = [a.inner if isinstance(a, Wrapper) else a for a in args]
        return torch.utils._pytree.tree_map_only(
            torch.Tensor, Wrapper, function(*unwrapped, **(kwargs or {}))
        )


class Plain(torch.Tensor):
    pass


def test_subclasses_are_handed_to_torch():
    x = sample(2)
    with ndpool.torch.install():
        handled = x.as_subclass(Handler)
        assert F.max_pool2d(handled, 2) == "max" and F.avg_pool2d(handled, 2) == "avg"
        assert F.adaptive_avg_pool2d(handled, 2) == "adaptive"
        for _ in range(2):
            y = F.max_pool2d(Wrapper(x), 2)
            assert type(y) is Wrapper
            F.max_pool2d(x, 2)  # so that the call is known
        z = F.max_pool2d(x.as_subclass(Plain), 2)
    assert torch.equal(y.inner, F.max_pool2d(x, 2)) and type(z) is Plain
    assert torch.equal(z.as_subclass(torch.Tensor), y.inner)


@pytest.mark.parametrize("rank, call", CALLS)
def test_fake_tensors_and_transformations(rank, call):
    mine, _, theirs = functions(rank, call)
    x = sample(rank)
    if "unpool" not in call:  # whose indices are made in between
        with FakeTensorMode() as mode:
            fake = mode.from_tensor(x)
            y, expected = mine(fake), theirs(fake)
            assert y.shape == expected.shape and y.dtype == expected.dtype
            assert strides(y) == strides(expected)
        batched = torch.stack([x, -x, x + 1])
        torch.testing.assert_close(
            torch.vmap(mine)(batched), torch.stack([theirs(one) for one in batched]), equal_nan=True
        )
    gradient = torch.func.grad(lambda x: mine(x).sin().sum())(x)
    expected = torch.func.grad(lambda x: theirs(x).sin().sum())(x)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("rank, call", CALLS)
def test_functionalized_functions_give_what_torch_gives(rank, call):
    mine, installed, theirs = functions(rank, call)
    x = sample(rank)
    for function in (mine, installed):
        torch.testing.assert_close(torch.func.functionalize(function)(x), theirs(x), equal_nan=True)


# Autocast


@pytest.mark.parametrize("rank, call", CALLS)
@pytest.mark.parametrize("autocast", [torch.bfloat16, torch.float16])
def test_autocast_has_the_dtypes_of_torch(rank, call, autocast):
    mine, installed, theirs = functions(rank, call)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        results = []
        for function in (theirs, mine, installed):
            x = sample(rank).to(dtype).requires_grad_()
            with torch.autocast("cpu", dtype=autocast):
                y = function(x)
                with torch.no_grad():
                    assert function(x).dtype == y.dtype
            y.sum().backward()
            results.append((y.detach(), x.grad))
        for y, gradient in results[1:]:
            assert y.dtype == results[0][0].dtype, dtype
            assert gradient.dtype == results[0][1].dtype == dtype
            near = {"rtol": 0.02, "atol": 0.02} if dtype.itemsize == 2 else {}
            torch.testing.assert_close(y, results[0][0], **near)
            torch.testing.assert_close(gradient, results[0][1], **near)


@pytest.mark.parametrize("name", ["max_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("rank", (1, 2, 3))
def test_autocast_with_indices_has_the_dtypes_of_torch(name, rank):
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = sample(rank).to(dtype)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            pairs = [getattr(m, f"{name}{rank}d")(x, 2, return_indices=True) for m in (N, F)]
        for actual, expected in zip(*pairs):
            assert actual.dtype == expected.dtype and torch.equal(actual, expected)


class Volumes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv3d(1, 4, 3, padding=1)
        self.pool = torch.nn.MaxPool3d(2, return_indices=True)
        self.unpool = torch.nn.MaxUnpool3d(2)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        y, indices = self.pool(self.conv(x))
        y = F.avg_pool3d(self.unpool(y, indices), 2)
        return self.head(F.adaptive_avg_pool3d(F.lp_pool3d(y, 2, 2), 1).flatten(1))


@pytest.mark.parametrize("compiles", [False, True], ids=["eager", "compiled"])
def test_a_model_trains_under_autocast(compiles):
    model, x = Volumes(), torch.rand(2, 1, 8, 8, 8)

    def step(run):
        model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = run(x).float().square().sum()
        loss.backward()
        return [loss.detach(), *(p.grad.clone() for p in model.parameters())]

    expected = step(model)
    with ndpool.torch.install():
        torch._dynamo.reset()
        run = torch.compile(model, backend="aot_eager", fullgraph=True) if compiles else model
        actual = step(run)
    torch._dynamo.reset()
    for mine, theirs in zip(actual, expected):
        assert mine.dtype == theirs.dtype
        torch.testing.assert_close(mine, theirs, rtol=0.02, atol=0.02)
