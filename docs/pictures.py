"""Draws the pictures of the site with ndpool, from the photograph of the demo.

PYTHONPATH=build/release/python docs/pictures.py build/docs/pictures
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
from PIL import Image, ImageDraw, ImageFont

import ndpool

ROOT = Path(__file__).resolve().parents[1]
HEIGHT = 240  # of every panel, in pixels
GAP = 16
BINS = (9, 12)
# The eye: 12 x 12 windows of 5 x 5 pixels.
EYE = (slice(25, 85), slice(65, 125))
Array = numpy.ndarray[Any, Any]


def photograph() -> Array:
    """Rows x columns x colours, from 0 to 1."""
    with Image.open(ROOT / "web/demo/cat.png") as picture:
        return numpy.asarray(picture, numpy.float32) / 255


def panel(values: Array) -> Image.Image:
    """An array from 0 to 1 as a picture of HEIGHT rows whose pixels stay squares."""
    bytes_ = numpy.rint(255 * values.clip(0, 1)).astype(numpy.uint8)
    width = round(HEIGHT * values.shape[1] / values.shape[0])
    return Image.fromarray(bytes_).convert("RGB").resize((width, HEIGHT), Image.Resampling.NEAREST)


def strip(*panels: Image.Image) -> Image.Image:
    """Panels beside one another on a transparent ground, which suits light and dark pages."""
    width = sum(one.width for one in panels) + GAP * (len(panels) - 1)
    whole = Image.new("RGBA", (width, max(one.height for one in panels)))
    left = 0
    for one in panels:
        whole.paste(one, (left, 0))
        left += one.width + GAP
    return whole


def heat(values: Array, largest: float) -> Array:
    """Black, red, yellow, white: from 0 to `largest`."""
    return numpy.stack([(3 * values / largest - step).clip(0, 1) for step in range(3)], axis=2)


def heat_panel(values: Array) -> Image.Image:
    """A heat map with its colour bar, the ends of which carry their values."""
    largest = float(values.max())
    picture = panel(heat(values, largest))
    bar = numpy.tile(numpy.linspace(0, 1, picture.width)[None], (12, 1))
    colours = numpy.rint(255 * heat(bar, 1)).astype(numpy.uint8)
    whole = Image.new("RGB", (picture.width, HEIGHT + 36), "#202124")
    whole.paste(picture, (0, 0))
    whole.paste(Image.fromarray(colours), (0, HEIGHT + 4))
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(13)
    draw.text((2, HEIGHT + 18), "0", "white", font)
    draw.text((picture.width - 2, HEIGHT + 18), f"{largest:.3g}", "white", font, anchor="ra")
    return whole


def blocks(x: Array, pool: Any, **options: Any) -> Array:
    return pool(x, kernel=(5, 5), axes=(0, 1), **options)


def winners(grey: Array) -> Array:
    """The picture, darker, with the brightest pixel of each block in red."""
    _, indices = ndpool.max_pool(grey, (8, 8), return_indices=True)
    marked = numpy.repeat(0.6 * grey[:, :, None], 3, axis=2)
    marked.reshape(-1, 3)[indices.ravel()] = (1, 0.25, 0.15)
    return marked


def gradient(grey: Array, pool: Any, **options: Any) -> Array:
    """What each pixel gives to the sum of all outputs."""
    window = dict(kernel=(5, 5), stride=2, padding=2)
    shape = ndpool.output_shape("sum", grey.shape, **window)
    return pool.vjp(grey, numpy.ones(shape, grey.dtype), **window, **options)


def smooth(x: Array, beta: float) -> Array:
    return blocks(x, ndpool.smooth_max_pool, beta=beta) - numpy.float32(numpy.log(25) / beta)


def unseen(x: Array) -> Array:
    """A part of the picture, with what 7 x 7 windows leave out in red."""
    part = x[25:85, 65:125].copy()
    ones = numpy.ones(ndpool.output_shape("sum", part.shape, (7, 7), axes=(0, 1)), x.dtype)
    seen = ndpool.sum_pool.vjp(part, ones, (7, 7), axes=(0, 1))
    return numpy.where(seen > 0, part, numpy.array([0.9, 0.1, 0.1], x.dtype))


def draw() -> dict[str, Image.Image]:
    x = photograph()
    eye, grey = x[EYE], x @ numpy.array([0.3, 0.59, 0.11], numpy.float32)
    low, high = blocks(x, ndpool.min_pool), blocks(x, ndpool.max_pool)
    mean = blocks(x, ndpool.avg_pool)
    same = dict(stride=1, padding="same", axes=(0, 1))
    opened = ndpool.max_pool(ndpool.min_pool(x, (5, 5), **same), (5, 5), **same)
    levels = [ndpool.avg_pool(x, (2**level, 2**level), axes=(0, 1)) for level in (1, 2, 3, 4)]
    small = {"kernel": (6, 6), "axes": (0, 1), "ceil_mode": True}
    overview = [pool(x, **small) for pool in (ndpool.max_pool, ndpool.min_pool, ndpool.avg_pool)]
    return {
        "overview": strip(panel(x), *(panel(y) for y in overview)),
        "array": strip(panel(x), panel(eye), panel(eye[15:35, 20:40])),
        "max": strip(panel(x), panel(high), panel(blocks(eye, ndpool.max_pool))),
        "min": strip(panel(x), panel(low), panel(blocks(eye, ndpool.min_pool))),
        "average": strip(panel(x), panel(mean), panel(blocks(eye, ndpool.avg_pool))),
        "smooth": strip(
            *(panel(blocks(eye, ndpool.avg_pool)),),
            *(panel(smooth(eye, beta)) for beta in (4.0, 16.0, 64.0)),
            *(panel(blocks(eye, ndpool.max_pool)),),
        ),
        "overlap": strip(
            panel(eye),
            panel(ndpool.max_pool(eye, (5, 5), **same)),
            panel(ndpool.min_pool(eye, (5, 5), **same)),
            panel(opened[EYE]),
        ),
        "winners": strip(panel(winners(grey)), panel(winners(grey)[EYE])),
        "gradients": strip(
            heat_panel(gradient(grey, ndpool.max_pool)[EYE]),
            heat_panel(gradient(grey, ndpool.avg_pool)[EYE]),
            heat_panel(gradient(grey, ndpool.smooth_max_pool, beta=16.0)[EYE]),
        ),
        "bins": strip(
            panel(ndpool.adaptive_avg_pool(x, BINS, axes=(0, 1))),
            panel(ndpool.adaptive_max_pool(x, BINS, axes=(0, 1))),
            panel(ndpool.global_avg_pool(x, axes=(0, 1), keepdims=True)),
        ),
        "edges": strip(
            panel(unseen(x)),
            panel(ndpool.max_pool(eye, (7, 7), axes=(0, 1))),
            panel(ndpool.max_pool(eye, (7, 7), axes=(0, 1), ceil_mode=True)),
        ),
        "pyramid": strip(panel(x), *(panel(level) for level in levels)),
    }


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in draw().items():
        picture.save(folder / f"{name}.png", optimize=True)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
