"""ONNX's `Backend` interface for its pooling operators; needs the package `onnx`.

>>> import numpy, onnx, ndpool.onnx
>>> node = onnx.helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[2])
>>> ndpool.onnx.run_node(node, [numpy.array([[[1.0, 3.0, 2.0, 9.0]]])])["y"]
array([[[3., 9.]]])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import onnx
from numpy.typing import NDArray
from onnx.backend.base import Backend as BackendBase
from onnx.backend.base import BackendRep, namedtupledict

import ndpool

Array = NDArray[Any]
Attributes = Mapping[str, Any]
# What a node does with its inputs, by its attributes: the one output, or all of them.
Operator = Callable[..., Any]

_padding_rules = {"VALID": "valid", "SAME_UPPER": "same", "SAME_LOWER": "same_lower"}


def _pairs(pads: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """(before, after) of each axis; ONNX lists all that come before, then all that come after."""
    half = len(pads) // 2
    if len(pads) != 2 * half:
        raise ValueError(f"pads has {len(pads)} entries, but there must be two for each axis")
    return tuple(zip(pads[:half], pads[half:]))


def _padding(attributes: Attributes) -> Any:
    rule = attributes.get("auto_pad", "NOTSET")
    pads = attributes.get("pads")
    if rule == "NOTSET":
        return 0 if pads is None else _pairs(pads)
    if rule not in _padding_rules:
        words = ", ".join(_padding_rules)
        raise ValueError(f"auto_pad must be NOTSET, {words}, not {rule!r}")
    if pads is not None and any(pads):
        raise ValueError(f"pads {list(pads)} cannot be used together with auto_pad {rule}")
    return _padding_rules[rule]


def _window(attributes: Attributes, x: Array) -> dict[str, Any]:
    """What all windowed operators share, as options of ndpool's functions."""
    if "kernel_shape" not in attributes:
        raise ValueError("kernel_shape is missing")
    kernel = tuple(attributes["kernel_shape"])
    if x.ndim != len(kernel) + 2:
        raise ValueError(
            f"kernel_shape has {len(kernel)} entries, but an array of shape {x.shape} has"
            f" {x.ndim - 2} axes after its batch and channels"
        )
    return {
        "kernel": kernel,
        "stride": tuple(attributes.get("strides", (1,) * len(kernel))),
        "padding": _padding(attributes),
        "dilation": tuple(attributes.get("dilations", (1,) * len(kernel))),
        "ceil_mode": bool(attributes.get("ceil_mode", 0)),
    }


def _flat_over_all(indices: Array, shape: tuple[int, ...], column_major: bool) -> Array:
    """Indices that count within a plane, as ones that count over the batch and channels too."""
    plane = shape[2:]
    if column_major:
        indices = numpy.ravel_multi_index(numpy.unravel_index(indices, plane), plane, order="F")
    planes = numpy.arange(math.prod(shape[:2])).reshape(shape[:2] + (1,) * len(plane))
    return indices + planes * math.prod(plane)


def _max_pool(attributes: Attributes, x: Array) -> Array:
    return ndpool.max_pool(x, **_window(attributes, x))


def _max_pool_with_indices(attributes: Attributes, x: Array) -> tuple[Array, Array]:
    y, indices = ndpool.max_pool(x, **_window(attributes, x), return_indices=True)
    return y, _flat_over_all(indices, x.shape, bool(attributes.get("storage_order", 0)))


def _average_pool(attributes: Attributes, x: Array) -> Array:
    counts = bool(attributes.get("count_include_pad", 0))
    return ndpool.avg_pool(x, **_window(attributes, x), count_include_pad=counts)


def _lp_pool(attributes: Attributes, x: Array) -> Array:
    return ndpool.lp_pool(x, attributes.get("p", 2), **_window(attributes, x))


def _spatial(x: Array) -> dict[str, Any]:
    """What all global operators share."""
    return {"axes": tuple(range(2, x.ndim)), "keepdims": True}


def _global_max_pool(_: Attributes, x: Array) -> Array:
    return ndpool.global_max_pool(x, **_spatial(x))


def _global_average_pool(_: Attributes, x: Array) -> Array:
    return ndpool.global_avg_pool(x, **_spatial(x))


def _global_lp_pool(attributes: Attributes, x: Array) -> Array:
    return ndpool.global_lp_pool(x, attributes.get("p", 2), **_spatial(x))


def _unpooled_shape(attributes: Attributes, x: Array) -> tuple[int, ...]:
    """The smallest array whose windows give x, which is how ONNX defines MaxUnpool's output."""
    window = _window(attributes, x)
    pads = window["padding"] or ((0, 0),) * len(window["kernel"])
    lengths = zip(x.shape[2:], window["kernel"], window["stride"], pads)
    return x.shape[:2] + tuple((n - 1) * s + k - sum(pad) for n, k, s, pad in lengths)


def _max_unpool(
    attributes: Attributes, x: Array, indices: Array, output_shape: Array | None = None
) -> Array:
    shape = _unpooled_shape(attributes, x)
    # Indices count over the batch and channels: the whole array is one axis.
    flat = ndpool.max_unpool(x.reshape(-1), indices.reshape(-1), (math.prod(shape),))
    y = flat.reshape(shape)
    if output_shape is None:
        return y
    wanted = tuple(int(length) for length in output_shape)
    if len(wanted) != y.ndim or any(length < least for length, least in zip(wanted, shape)):
        raise ValueError(f"output_shape {wanted} has no room for the unpooled {shape}")
    # The indices are those of the smallest array, which lies in the corner of the wanted one.
    larger = numpy.zeros(wanted, y.dtype)
    larger[tuple(slice(length) for length in shape)] = y
    return larger


_operators: dict[str, Operator] = {
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "LpPool": _lp_pool,
    "GlobalMaxPool": _global_max_pool,
    "GlobalAveragePool": _global_average_pool,
    "GlobalLpPool": _global_lp_pool,
    "MaxUnpool": _max_unpool,
}


def _is_pool(node: onnx.NodeProto) -> bool:
    return node.domain in ("", "ai.onnx") and node.op_type in _operators


def _described(node: onnx.NodeProto) -> str:
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return f"{operator} (node {node.name!r})" if node.name else operator


def _attribute(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    return value.decode() if isinstance(value, bytes) else value


def _present(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the empty ones at the end, which stand for arrays that are left out."""
    kept = list(names)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


@dataclass(frozen=True)
class _Step:
    """A node that is ready to run."""

    name: str
    operator: Operator
    attributes: Attributes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @classmethod
    def of(cls, node: onnx.NodeProto) -> _Step:
        if not _is_pool(node):
            raise ValueError(
                f"{_described(node)} is not a pooling operator; ndpool runs {', '.join(_operators)}"
            )
        attributes = {attribute.name: _attribute(attribute) for attribute in node.attribute}
        inputs, outputs = _present(node.input), _present(node.output)
        if not inputs or not all(inputs):
            raise ValueError(f"{_described(node)} lacks an input")
        operator = _operators[node.op_type]
        if node.op_type == "MaxPool" and len(outputs) > 1:
            operator = _max_pool_with_indices
        return cls(_described(node), operator, attributes, inputs, outputs)

    def run(self, arrays: dict[str, Array]) -> None:
        """Adds the outputs to `arrays`."""
        try:
            result = self.operator(self.attributes, *(arrays[name] for name in self.inputs))
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self.name}: {error}") from error
        results = result if isinstance(result, tuple) else (result,)
        arrays.update({name: result for name, result in zip(self.outputs, results) if name})


def _by_name(names: Sequence[str], arrays: Sequence[Array]) -> Any:
    return namedtupledict("Outputs", names)(*arrays)


def _require_cpu(device: str) -> None:
    if not Backend.supports_device(device):
        raise ValueError(f"device {device!r} is not there; ndpool runs on CPU")


class Model(BackendRep):
    """A graph of pooling operators that is ready to run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self._steps = [_Step.of(node) for node in graph.node]
        onnx.checker.check_model(model)
        self._constants = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self._dtypes = {
            value.name: onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            for value in graph.input
        }
        self._outputs = [value.name for value in graph.output]

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **_: Any) -> tuple[Any, ...]:
        """The outputs of the graph, to be had by name too.

        `inputs` are in the order of the graph's; those with an initializer may be left out.
        """
        arrays = {**self._constants, **self._named(inputs)}
        missing = [name for name in self._dtypes if name not in arrays]
        if missing:
            raise ValueError(f"the input {missing[0]!r} is missing")
        for step in self._steps:
            step.run(arrays)
        return _by_name(self._outputs, [arrays[name] for name in self._outputs])

    def _named(self, inputs: Sequence[Any] | Mapping[str, Any]) -> dict[str, Array]:
        if not isinstance(inputs, Mapping):
            names = list(self._dtypes)
            if len(inputs) < len(names):
                names = [name for name in names if name not in self._constants]
            if len(inputs) != len(names):
                raise ValueError(f"{len(inputs)} inputs are given, but the graph has {len(names)}")
            inputs = dict(zip(names, inputs))
        return {name: self._array(name, value) for name, value in inputs.items()}

    def _array(self, name: str, value: Any) -> Array:
        if name not in self._dtypes:
            raise ValueError(f"the graph has no input {name!r}")
        dtype = self._dtypes[name]
        if not hasattr(value, "dtype"):
            return numpy.asarray(value, dtype)
        array = numpy.asarray(value)
        if array.dtype != dtype:
            raise TypeError(f"the input {name!r} has dtype {array.dtype}; expected {dtype}")
        return array


class Backend(BackendBase):
    """ONNX's interface to what runs models, for models made of pooling operators."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> bool:
        """True if every operator of the model is a pool."""
        return cls.supports_device(device) and all(_is_pool(node) for node in model.graph.node)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> Model:
        """The model, checked and ready to run."""
        _require_cpu(device)
        return Model(model)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Any = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """The outputs of one node; `opset_version` says which version of the operator it is."""
        _require_cpu(device)
        step = _Step.of(node)
        super().run_node(node, inputs, device, outputs_info, **options)
        if len(inputs) != len(step.inputs):
            count = len(step.inputs)
            raise ValueError(f"{len(inputs)} inputs are given, but {step.name} has {count}")
        arrays = {name: numpy.asarray(value) for name, value in zip(step.inputs, inputs)}
        step.run(arrays)
        outputs = [name for name in step.outputs if name]
        return _by_name(outputs, [arrays[name] for name in outputs])

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """True for the CPU."""
        return device.split(":")[0] == "CPU"


# ONNX's backends are used as modules too.
is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
