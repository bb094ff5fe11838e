"""Whole networks give the same with ndpool's pools as with torch's: outputs and all gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch
from network_models import NETWORKS, Network, loss_of, tensors_of
from pool_clock import PoolClock

import ndpool.torch

# Of the largest magnitude in a tensor: averages are summed in another order.
TOLERANCE = 1e-12
# Of the largest of all tensors: gradients that are zero but for rounding, as those of a bias before
# a normalisation, are compared with this.
NEGLIGIBLE = 1e-6


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Convolutions of small arrays, in several processes: threads would only wait."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(model: torch.nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    """Outputs, then the gradients of the input and of all parameters that have one."""
    x = x.clone().requires_grad_()
    model.zero_grad(set_to_none=True)
    torch.manual_seed(0)
    result = model(x)
    loss_of(result).backward()
    found = [tensor.detach() for tensor in tensors_of(result)]
    assert x.grad is not None
    gradients = (parameter.grad for parameter in model.parameters())
    return [*found, x.grad, *(g for g in gradients if g is not None)]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_outputs_and_gradients_equal_those_with_torchs_pools(network: Network) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages
        model = network.build().double()
        x = torch.randn(1, *network.small, dtype=torch.float64)
        expected = run(model, x)
        clock = PoolClock()
        with ndpool.torch.install(), clock.running():
            found = run(model, x)
    assert clock.seconds, "no pool was called"
    assert len(found) == len(expected) > 2
    largest = max(float(theirs.abs().max()) for theirs in expected)
    for ours, theirs in zip(found, expected):
        assert torch.isfinite(theirs).all()
        scale = max(float(theirs.abs().max()), NEGLIGIBLE * largest)
        assert (ours - theirs).abs().max() <= TOLERANCE * scale
