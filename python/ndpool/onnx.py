"""ONNX's `Backend` interface for its pooling operators; needs the package `onnx`.

>>> import numpy, onnx, ndpool.onnx
>>> node = onnx.helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[2])
>>> ndpool.onnx.run_node(node, [numpy.array([[[1.0, 3.0, 2.0, 9.0]]])])["y"]
array([[[3., 9.]]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import onnx
from onnx.backend.base import Backend as BackendBase
from onnx.backend.base import BackendRep, namedtupledict

from ndpool._onnx_models import Declared, loaded, type_name
from ndpool._onnx_operators import Array, Attributes, Operator, max_pool_with_indices, operators

_newest_opset = onnx.defs.onnx_opset_version()


def _require_known(opset: int) -> None:
    if opset > _newest_opset:
        raise ValueError(
            f"opset {opset} is not known; onnx {onnx.__version__} has opsets up to {_newest_opset}"
        )


def _opset(model: onnx.ModelProto) -> int:
    """The version of ONNX's own operators in a model."""
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    return opsets.get("", opsets.get("ai.onnx", 1))


def _is_pool(node: onnx.NodeProto) -> bool:
    return node.domain in ("", "ai.onnx") and node.op_type in operators


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


def _input_types(operator: str, opset: int) -> tuple[frozenset[str], ...]:
    try:
        schema = onnx.defs.get_schema(operator, opset, "")
    except onnx.defs.SchemaError:
        raise ValueError(f"{operator} is no operator of opset {opset}") from None
    return tuple(frozenset(given.types) for given in schema.inputs)


@dataclass(frozen=True)
class _Step:
    """A node that is ready to run."""

    name: str
    operator: Operator
    attributes: Attributes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: tuple[frozenset[str], ...]  # that the opset allows, for each input

    @classmethod
    def of(cls, node: onnx.NodeProto, opset: int) -> _Step:
        if not _is_pool(node):
            raise ValueError(
                f"{_described(node)} is not a pooling operator; ndpool runs {', '.join(operators)}"
            )
        attributes = {attribute.name: _attribute(attribute) for attribute in node.attribute}
        inputs, outputs = _present(node.input), _present(node.output)
        if not inputs or not all(inputs):
            raise ValueError(f"{_described(node)} lacks an input")
        operator = operators[node.op_type]
        if node.op_type == "MaxPool" and len(outputs) > 1:
            operator = max_pool_with_indices
        types = _input_types(node.op_type, opset)
        return cls(_described(node), operator, attributes, inputs, outputs, types)

    def check_types(self, arrays: dict[str, Array]) -> None:
        for name, allowed in zip(self.inputs, self.types):
            dtype = arrays[name].dtype
            if type_name(dtype) not in allowed:
                expected = ", ".join(sorted(allowed))
                raise TypeError(
                    f"{self.name}: the input {name!r} has dtype {dtype}; expected {expected}"
                )

    def run(self, arrays: dict[str, Array]) -> None:
        """Adds the outputs to `arrays`."""
        self.check_types(arrays)
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
        opset = _opset(model)
        _require_known(opset)
        self._steps = [_Step.of(node, opset) for node in graph.node]
        onnx.checker.check_model(model)
        self._constants = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self._inputs = {value.name: Declared("input", value) for value in graph.input}
        self._results = {
            value.name: Declared(kind, value)
            for kind, values in (("value", graph.value_info), ("output", graph.output))
            for value in values
        }
        self._outputs = [value.name for value in graph.output]

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **_: Any) -> tuple[Any, ...]:
        """The outputs of the graph, to be had by name too.

        `inputs` are in the order of the graph's; those with an initializer may be left out.
        """
        arrays = {**self._constants, **self._named(inputs)}
        symbols: dict[str, int] = {}
        for name, declared in self._inputs.items():
            if name not in arrays:
                raise ValueError(f"the input {name!r} is missing")
            declared.check(arrays[name], symbols)
        for step in self._steps:
            step.run(arrays)
            for name in step.outputs:
                if name in self._results:
                    self._results[name].check(arrays[name], symbols)
        return _by_name(self._outputs, [arrays[name] for name in self._outputs])

    def _named(self, inputs: Sequence[Any] | Mapping[str, Any]) -> dict[str, Array]:
        if not isinstance(inputs, Mapping):
            names = list(self._inputs)
            if len(inputs) < len(names):
                names = [name for name in names if name not in self._constants]
            if len(inputs) != len(names):
                raise ValueError(f"{len(inputs)} inputs are given, but the graph has {len(names)}")
            inputs = dict(zip(names, inputs))
        return {name: self._array(name, value) for name, value in inputs.items()}

    def _array(self, name: str, value: Any) -> Array:
        if name not in self._inputs:
            raise ValueError(f"the graph has no input {name!r}")
        return _array(value, None if hasattr(value, "dtype") else self._inputs[name].dtype)


def _array(value: Any, dtype: numpy.dtype[Any] | None = None) -> Array:
    """An array; a mask stays, for ndpool to refuse."""
    return numpy.asanyarray(value, dtype)


class Backend(BackendBase):
    """ONNX's interface to what runs models, for models made of pooling operators."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **_: Any) -> bool:
        """True if every operator of the model is a pool, of an opset that is known."""
        read = loaded(model)
        is_known = all(_is_pool(node) for node in read.graph.node) and _opset(read) <= _newest_opset
        return cls.supports_device(device) and is_known

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **_: Any) -> Model:
        """The model, its bytes or its file's path: checked and ready to run."""
        _require_cpu(device)
        return Model(loaded(model))

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Any = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """The outputs of one node; `opset_version` says which version of the operator it is.

        `outputs_info` may have the dtype and the shape that each output must have.
        """
        _require_cpu(device)
        if not isinstance(node, onnx.NodeProto):
            raise TypeError(f"node must be an onnx.NodeProto, not {type(node).__name__}")
        opset = options.get("opset_version", _newest_opset)
        if not isinstance(opset, int):
            raise TypeError(f"opset_version must be an int, not {type(opset).__name__}")
        _require_known(opset)
        step = _Step.of(node, opset)
        super().run_node(node, inputs, device, outputs_info, **options)
        if len(inputs) != len(step.inputs):
            count = len(step.inputs)
            raise ValueError(f"{len(inputs)} inputs are given, but {step.name} has {count}")
        arrays = {name: _array(value) for name, value in zip(step.inputs, inputs)}
        step.run(arrays)
        outputs = [name for name in step.outputs if name]
        for name, (dtype, shape) in zip(outputs, outputs_info or ()):
            info = onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), shape
            )
            Declared("output", info).check(arrays[name], {})
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
