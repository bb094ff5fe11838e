"""Compiled functions: one graph, the same values and gradients. Nothing here compiles C++."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from test_torch_autograd import ALL, distinct, function_of

import ndpool.torch
import ndpool.torch.functional as N
from ndpool._operators import _descriptions
from ndpool.torch._maps import Pooling, text_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def gradient(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    return y, torch.autograd.grad(y.sin().sum(), x)[0]


@pytest.mark.parametrize("name", ALL)
def test_one_graph_with_the_same_results(name):
    f, shape = function_of(name)
    x = distinct(shape)
    compiled = torch.compile(lambda x: f(x * 2) + 1, fullgraph=True, backend="aot_eager")
    y, gx = gradient(compiled, x)
    expected, expected_gx = gradient(lambda x: f(x * 2) + 1, x)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(gx, expected_gx)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), expected)


def test_indices_and_unpooling():
    def f(x):
        y, indices = N.max_pool2d(x, 2, return_indices=True)
        return N.max_unpool2d(y * 3, indices, 2)

    x = distinct((2, 3, 8, 6), dtype=torch.float32)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for actual, expected in zip(gradient(compiled, x), gradient(f, x)):
        torch.testing.assert_close(actual, expected)


def test_channels_last_stays():
    x = torch.randn(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    compiled = torch.compile(
        lambda x: N.avg_pool2d(N.max_pool2d(x, 2), 2), fullgraph=True, backend="aot_eager"
    )
    y = compiled(x)
    assert y.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(y, F.avg_pool2d(F.max_pool2d(x, 2), 2))


def test_batches_are_symbols():
    graphs = []

    def count(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(
        lambda x: N.max_pool2d(x, 2) * 2, fullgraph=True, dynamic=True, backend=count
    )
    for batch in (2, 3, 5):
        x = torch.randn(batch, 3, 8, 8)
        torch.testing.assert_close(compiled(x), F.max_pool2d(x, 2) * 2)
    assert len(graphs) == 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1),
            torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.AvgPool2d(2),
            torch.nn.AdaptiveAvgPool2d(1),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


def test_an_installed_model_compiles():
    model, x = Model(), torch.randn(2, 3, 16, 16)
    expected = model(x)
    with ndpool.torch.install():
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(x), expected)


@pytest.mark.parametrize(
    "name", ["forward", "forward_with_winners", "vjp", "jvp", "linear", "unpool"]
)
def test_operators_are_what_torch_asks_of_them(name):
    x = torch.randn(2, 4, 6, requires_grad=True)
    largest = text_of(Pooling(_descriptions["max"]((2,))))
    mean = text_of(Pooling(_descriptions["avg"]((2,))))
    smooth = text_of(Pooling(_descriptions["smooth_max"]((2,))))
    arguments = {
        "forward": (x, mean),
        "forward_with_winners": (x, largest, True),
        "vjp": (x, torch.randn(2, 4, 3, requires_grad=True), smooth),
        "jvp": (x, torch.randn(2, 4, 6, requires_grad=True), smooth),
        "linear": (x, None, "spread", mean, [2, 4, 12], 0, -2),
        "unpool": (x, torch.arange(6).expand(2, 4, 6).contiguous(), [7]),
    }[name]
    torch.library.opcheck(getattr(torch.ops.ndpool, name).default, arguments)
