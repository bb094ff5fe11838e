"""One training step of examples/digits beside torch, from the same weights."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import ndpool

torch = pytest.importorskip("torch")
functional = torch.nn.functional

# The package is tested in its build tree, which has the example beside it.
DIGITS = Path(ndpool.__file__).parents[2] / "examples" / "digits"
RATE = 0.03
SHAPES = {
    "conv1.weight": (16, 1, 3, 3),
    "conv1.bias": (16,),
    "conv2.weight": (32, 16, 3, 3),
    "conv2.bias": (32,),
    "dense.weight": (10, 128),
    "dense.bias": (10,),
}


def smooth_max(x, beta):
    windows = functional.unfold(x, 2, stride=2).unflatten(1, (x.shape[1], 4))
    small = (x.shape[2] // 2, x.shape[3] // 2)
    return (torch.logsumexp(beta * windows, 2) / beta).unflatten(2, small)


POOLS = {
    "max": lambda x: functional.max_pool2d(x, 2),
    "avg": lambda x: functional.avg_pool2d(x, 2),
    "smooth": lambda x: smooth_max(x, 4.0),
}


@pytest.mark.skipif(not DIGITS.exists(), reason="the example is built with the library alone")
@pytest.mark.parametrize("pool", POOLS)
def test_a_training_step_equals_torch(pool, tmp_path):
    step = tmp_path / "step.txt"
    subprocess.run([DIGITS, "--pool", pool, "--step", step], check=True)
    numbers = {}
    for line in step.read_text().splitlines():
        name, *values = line.split()
        numbers[name] = np.array(values, np.float32)

    weights = {
        name: torch.tensor(numbers[f"value:{name}"].reshape(shape), requires_grad=True)
        for name, shape in SHAPES.items()
    }
    x = torch.tensor(numbers["pixels"].reshape(32, 1, 8, 8))
    labels = torch.tensor(numbers["labels"].astype(np.int64))
    for layer in ("conv1", "conv2"):
        w, b = weights[f"{layer}.weight"], weights[f"{layer}.bias"]
        x = POOLS[pool](functional.relu(functional.conv2d(x, w, b, padding=1)))
    logits = functional.linear(x.flatten(1), weights["dense.weight"], weights["dense.bias"])
    loss = functional.cross_entropy(logits, labels)
    optimizer = torch.optim.SGD(weights.values(), lr=RATE, momentum=0.9)
    loss.backward()
    optimizer.step()

    def expect(name, wanted):
        found = numbers[name].reshape(wanted.shape)
        np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=0, atol=1e-5, err_msg=name)

    expect("loss", loss)
    for name, weight in weights.items():
        assert np.abs(numbers[f"gradient:{name}"]).max() > 1e-3
        expect(f"gradient:{name}", weight.grad)
        expect(f"updated:{name}", weight)
