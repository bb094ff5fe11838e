"""The networks that `networks.py` measures: architectures with pools, random weights, no downloads.

They come from packages that others maintain, so that their pools are those that users have. Each
has its usual size; the tests give it small inputs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Maker = Callable[[], torch.nn.Module]


@dataclass(frozen=True)
class Network:
    """`shape` and `small` are inputs without the batch, as usual and for tests."""

    name: str
    make: Maker
    shape: tuple[int, ...]
    small: tuple[int, ...]

    @property
    def layouts(self) -> tuple[str, ...]:
        """torch has memory formats for pictures and volumes only."""
        return ("first", "last") if len(self.shape) > 2 else ("first",)

    def build(self) -> torch.nn.Module:
        torch.manual_seed(0)
        return self.make().eval()


def transformer(family: str, model: str, **settings: Any) -> Maker:
    """A model of the transformers package by its configuration."""

    def make() -> torch.nn.Module:
        package = importlib.import_module("transformers")
        config = getattr(package, f"{family}Config")(**settings)
        return getattr(package, f"{family}{model}")(config)

    return make


class Embedded(torch.nn.Module):
    """A network of sequences behind its embedding: takes what an embedding makes."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Any:
        return self.model(inputs_embeds=x)


def encoder(family: str, name: str, **settings: Any) -> Maker:
    """A part of a transformer that its package does not export."""

    def make() -> torch.nn.Module:
        folder = f"transformers.models.{family.lower()}"
        module = importlib.import_module(f"{folder}.modeling_{family.lower()}")
        config = getattr(importlib.import_module("transformers"), f"{family}Config")
        return Embedded(getattr(module, name)(config(**settings)))

    return make


def medical(name: str, *arguments: Any, **settings: Any) -> Maker:
    """A model of the monai package."""

    def make() -> torch.nn.Module:
        package = importlib.import_module("monai.networks.nets")
        return getattr(package, name)(*arguments, **settings)

    return make


EFFICIENTNET_B0 = {
    "image_size": 224,
    "width_coefficient": 1.0,
    "depth_coefficient": 1.0,
    "hidden_dim": 1280,
}
SERIES = {"d_model": 512, "prediction_length": 96, "context_length": 512, "feature_size": 512}
VOXELMORPH = {
    "unet_out_channels": 16,
    "channels": (16, 32, 32, 32, 32, 32),
    "final_conv_channels": (16, 16),
}


def of_pictures(name: str, make: Maker, size: int = 224, small: int = 64) -> Network:
    return Network(name, make, (3, size, size), (3, small, small))


def of_volumes(name: str, make: Maker, channels: int = 1, small: int = 16) -> Network:
    return Network(name, make, (channels, 64, 64, 64), (channels, small, small, small))


NETWORKS = (
    of_pictures("ResNet-50", transformer("ResNet", "Model")),
    of_pictures("PoolFormer-S12", transformer("PoolFormer", "Model")),
    of_pictures("RegNet-Y", transformer("RegNet", "Model", layer_type="y")),
    of_pictures("EfficientNet-B0", transformer("EfficientNet", "Model", **EFFICIENTNET_B0)),
    of_pictures("RT-DETR ResNet", transformer("RTDetrResNet", "Backbone"), 320),
    of_pictures("PVT v2", transformer("PvtV2", "Model", linear_attention=True)),
    of_pictures("Swin-T", transformer("Swin", "Model"), small=224),
    of_pictures(
        "SAM 2 Hiera", transformer("Sam2HieraDet", "Model", image_size=[256] * 2), 256, 256
    ),
    of_pictures("SuperPoint", transformer("SuperPoint", "ForKeypointDetection"), 240),
    Network(
        "Funnel", encoder("Funnel", "FunnelBaseModel", block_sizes=[2, 2, 2]), (512, 768), (32, 768)
    ),
    Network("Informer", encoder("Informer", "InformerEncoder", **SERIES), (512, 512), (96, 512)),
    of_pictures("DenseNet-121", medical("DenseNet121", 2, 3, 10)),
    Network("1-D DenseNet-121", medical("DenseNet121", 1, 2, 10), (2, 4096), (2, 256)),
    of_pictures("SE-ResNet-50", medical("SEResNet50", spatial_dims=2, in_channels=3)),
    Network("QuickNAT", medical("Quicknat", num_classes=4), (1, 256, 256), (1, 32, 32)),
    of_volumes("3-D U-Net", medical("BasicUNet", 3, 1, 2), small=32),
    of_volumes("3-D ResNet-18", medical("resnet18", spatial_dims=3, n_input_channels=1)),
    of_volumes(
        "3-D EfficientNet-B0",
        medical("EfficientNetBN", "efficientnet-b0", False, True, 3, 1),
        small=32,
    ),
    of_volumes("VoxelMorph", medical("VoxelMorphUNet", 3, 2, **VOXELMORPH), 2, 32),
)


def tensors_of(result: Any) -> Iterator[Tensor]:
    """All floating tensors in what a model returns."""
    if isinstance(result, Tensor):
        if result.is_floating_point():
            yield result
    elif isinstance(result, dict):
        for value in result.values():
            yield from tensors_of(value)
    elif isinstance(result, (tuple, list)):
        for value in result:
            yield from tensors_of(value)


def loss_of(result: Any) -> Tensor:
    """A number that depends on all of them, with dense gradients."""
    recorded = [tensor for tensor in tensors_of(result) if tensor.requires_grad]
    long = [tensor.to(torch.promote_types(tensor.dtype, torch.float32)) for tensor in recorded]
    return torch.stack([(tensor * weights_like(tensor)).mean() for tensor in long]).sum()


def weights_like(tensor: Tensor) -> Tensor:
    """Different for every element: what normalisation makes has sums that do not change."""
    count = tensor.numel()
    return torch.linspace(-1, 1, count, dtype=tensor.dtype).sin_().reshape(tensor.shape)
