"""The pools of real networks that `peers.py` measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Layout = Literal["first", "last"]


@dataclass(frozen=True)
class Shape:
    """One pool of a network. A kernel of 0 is the whole plane."""

    name: str
    channels: int
    plane: tuple[int, ...]
    kernel: int
    stride: int = 1
    padding: int = 0
    batches: tuple[int, ...] = (1,)

    @property
    def maps(self) -> tuple[str, ...]:
        return GLOBAL_MAPS if self.kernel == 0 else MAPS

    def __str__(self) -> str:
        plane = "x".join(map(str, self.plane))
        window = f"k{self.kernel} s{self.stride} p{self.padding}" if self.kernel else "global"
        return f"{self.channels}x{plane} {window}"


MAPS = ("max", "max indices", "max backward", "avg", "avg backward")
GLOBAL_MAPS = ("avg", "avg backward")

SHAPES = (
    Shape("ResNet-50 stem", 64, (112, 112), 3, 2, 1),
    Shape("ResNet-50 head", 2048, (7, 7), 0, batches=(1, 8)),
    Shape("VGG 1", 64, (224, 224), 2, 2),
    Shape("VGG 2", 128, (112, 112), 2, 2),
    Shape("VGG 3", 256, (56, 56), 2, 2),
    Shape("VGG 4", 512, (28, 28), 2, 2, batches=(1, 8)),
    Shape("VGG 5", 512, (14, 14), 2, 2, batches=(1, 8)),
    Shape("GoogLeNet 3a", 192, (28, 28), 3, 1, 1, batches=(1, 8)),
    Shape("GoogLeNet 4b", 512, (14, 14), 3, 1, 1, batches=(1, 8)),
    Shape("YOLO SPP 5", 512, (20, 20), 5, 1, 2),
    Shape("YOLO SPP 9", 512, (20, 20), 9, 1, 4),
    Shape("YOLO SPP 13", 512, (20, 20), 13, 1, 6),
    Shape("3-D U-Net", 64, (64, 64, 64), 2, 2),
    Shape("audio", 64, (16000,), 4, 4, batches=(1, 8)),
)


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    shape: Shape
    batch: int
    layout: Layout
    map: str
    threads: int

    @property
    def label(self) -> str:
        return f"{self.shape.name}, batch {self.batch}, channels {self.layout}, {self.map}"

    @property
    def array_shape(self) -> tuple[int, ...]:
        """Of the input as it lies in memory."""
        inner = (self.shape.channels, *self.shape.plane)
        return (self.batch, *(inner if self.layout == "first" else (*inner[1:], inner[0])))

    @property
    def axes(self) -> tuple[int, ...]:
        first = 2 if self.layout == "first" else 1
        return tuple(range(first, first + len(self.shape.plane)))


def cases(threads: tuple[int, ...], text: str = "") -> list[Case]:
    """All cases, or those whose label has `text` in it."""
    layouts: tuple[Layout, ...] = ("first", "last")
    every = (
        Case(shape, batch, layout, map, count)
        for count in threads
        for shape in SHAPES
        for batch in shape.batches
        for layout in layouts
        for map in shape.maps
    )
    return [case for case in every if text.lower() in case.label.lower()]
