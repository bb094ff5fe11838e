"""Settings of the explorer, drawn at random: as links, and as calls of the Python package."""

import math
import random
from dataclasses import dataclass, field

import numpy as np

import ndpool

OPERATORS = ["max", "min", "sum", "avg", "smooth-max", "lp"]
GEOMETRIES = ["windowed", "adaptive", "global"]


SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -2.25, 7.0]


@dataclass
class Setting:
    op: str
    geometry: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    options: dict[str, object] = field(default_factory=dict)
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    gradient: str = "ones"

    @property
    def link(self):
        """The words of tests/cases, with & between."""
        prefix = "" if self.geometry == "windowed" else f"{self.geometry}-"
        words = [prefix + self.op, f"shape={joined(self.shape)}", f"axes={joined(self.axes)}"]
        for name, value in self.options.items():
            words += word(name, value)
        words += [f"gradient={self.gradient}", f"x={joined(map(number, self.x.ravel()))}"]
        return "#" + "&".join(words)

    @property
    def function(self):
        prefix = "" if self.geometry == "windowed" else f"{self.geometry}_"
        return getattr(ndpool, f"{prefix}{self.op.replace('-', '_')}_pool")

    @property
    def arguments(self):
        """What the function takes after x."""
        options = dict(self.options)
        first = [options.pop(name) for name in ("p", "kernel", "output_size") if name in options]
        if options.pop("exclude_pad", False):
            options["count_include_pad"] = False
        if options.pop("ceil", False):
            options["ceil_mode"] = True
        return first, {"axes": self.axes, **options}

    @property
    def has_indices(self):
        return self.op in ("max", "min")

    def gy(self, y):
        values = np.ones(y.size) if self.gradient == "ones" else np.arange(1.0, y.size + 1)
        return values.reshape(y.shape)

    def run(self):
        """y, indices (or None) and gx of the package."""
        first, options = self.arguments
        indices = None
        if self.has_indices:
            y, indices = self.function(self.x, *first, return_indices=True, **options)
        else:
            y = self.function(self.x, *first, **options)
        y = np.asarray(y)
        gx = self.function.vjp(self.x, self.gy(y), *first, **options)
        return y, indices, gx


def joined(values):
    return ",".join(map(str, values))


def number(value):
    """A float64 with all its digits."""
    return repr(float(value))


def word(name, value):
    if name == "padding" and not isinstance(value, str):
        return ["padding=" + joined(f"{before}:{after}" for before, after in value)]
    if value is True:
        return [name]
    if isinstance(value, tuple):
        return [f"{name}={joined(value)}"]
    return [f"{name}={number(value) if isinstance(value, float) else value}"]


def values(random, shape, op):
    """Tenths, ties, and now and then NaN, infinities and signed zeros."""
    kind = random.choice(["tenths", "ties", "full", "special"])
    draws = {
        "tenths": lambda: random.randint(-99, 99) / 10,
        "ties": lambda: float(random.randint(-1, 2)),
        "full": lambda: random.gauss(0, 3),
        "special": lambda: random.choice(SPECIAL),
    }
    if kind == "special" and op not in ("max", "min"):
        kind = "full"
    return np.array([draws[kind]() for _ in range(math.prod(shape))]).reshape(shape)


def window(random, shape, axes):
    options = {"kernel": tuple(random.randint(1, min(4, shape[a])) for a in axes)}
    if random.random() < 0.7:
        options["stride"] = tuple(random.randint(1, 3) for _ in axes)
    kind = random.random()
    if kind < 0.5:
        options["padding"] = tuple((random.randint(0, 2), random.randint(0, 2)) for _ in axes)
    elif kind < 0.7:
        options["padding"] = random.choice(["same", "same_lower", "valid"])
    if random.random() < 0.4:
        options["dilation"] = tuple(random.randint(1, 3) for _ in axes)
    if random.random() < 0.4:
        options["ceil"] = True
    return options


def reducer(random, op, windowed):
    options = {}
    if op in ("max", "min"):
        if random.random() < 0.6:
            options["ties"] = random.choice(["first", "all", "split"])
        if random.random() < 0.3:
            options["nan"] = "ignore"
    if op == "avg" and windowed:
        if random.random() < 0.3:
            options["exclude_pad"] = True
        elif random.random() < 0.3:
            options["divisor"] = random.choice([-3, 2, 5])
    if op == "smooth-max":
        options["beta"] = random.choice([0.5, 1.0, 3.0, -2.0])
        if windowed and random.random() < 0.5:
            options["pad_mode"] = "ignore"
    if op == "lp":
        options["p"] = random.choice([1.0, 2.0, 3.5, 0.5, math.inf])
        if options["p"] == math.inf and random.random() < 0.5:
            options["ties"] = random.choice(["first", "all", "split"])
    if windowed and op != "sum" and random.random() < 0.4:
        options["empty"] = "identity"
    return options


def generate(count, seed):
    """`count` settings; operators and kinds of windows take turns. Some are wrong by chance."""
    source = random.Random(seed)
    for i in range(count):
        op, geometry = OPERATORS[i % 6], GEOMETRIES[i // 6 % 4 % 3]
        rank = source.randint(1, 3)
        shape = tuple(source.randint(1, 7 if rank < 3 else 5) for _ in range(rank))
        pooled = rank if source.random() < 0.7 else source.randint(1, rank)
        axes = tuple(sorted(source.sample(range(rank), pooled)))
        if geometry == "windowed":
            options = window(source, shape, axes)
        elif geometry == "adaptive":
            options = {"output_size": tuple(source.randint(1, 5) for _ in axes)}
        else:
            options = {"keepdims": True} if source.random() < 0.5 else {}
        options |= reducer(source, op, geometry == "windowed")
        x = values(source, shape, op)
        yield Setting(op, geometry, shape, axes, options, x, source.choice(["ones", "count"]))
