"""Models of ONNX: where they come from, and what they declare of their arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy
import onnx
import onnx.parser
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

from ndpool._onnx_operators import Array


class Declared:
    """What a model says of one array: its dtype and its shape, where it says so."""

    def __init__(self, kind: str, value: onnx.ValueInfoProto) -> None:
        self.name = f"the {kind} {value.name!r}"
        if value.type.WhichOneof("value") not in (None, "tensor_type"):
            raise ValueError(f"{self.name} is declared as no tensor")
        tensor = value.type.tensor_type
        self.dtype: numpy.dtype[Any] | None = None
        if tensor.elem_type != onnx.TensorProto.UNDEFINED:
            self.dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        self.shape: list[int | str | None] | None = None
        if tensor.HasField("shape"):
            self.shape = [_length(dimension) for dimension in tensor.shape.dim]

    def check(self, array: Array, symbols: dict[str, int]) -> None:
        """`symbols` are the lengths that names stand for, as far as they are known."""
        if self.dtype is not None and array.dtype != self.dtype:
            raise TypeError(f"{self.name} has dtype {array.dtype}; expected {self.dtype}")
        if self.shape is None:
            return
        is_right = array.ndim == len(self.shape)
        for length, declared in zip(array.shape, self.shape):
            if isinstance(declared, str):
                declared = symbols.setdefault(declared, length)
            is_right = is_right and declared in (None, length)
        if not is_right:
            known = {name: length for name, length in symbols.items() if name in self.shape}
            where = "".join(f", where {name} is {length}" for name, length in known.items())
            declared_shape = ", ".join("?" if n is None else str(n) for n in self.shape)
            raise ValueError(
                f"{self.name} has shape {array.shape}; the model declares ({declared_shape}){where}"
            )


def _length(dimension: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dimension.HasField("dim_value"):
        return dimension.dim_value
    return dimension.dim_param or None


def loaded(model: Any) -> onnx.ModelProto:
    """A model that is given as such, as its bytes, or as the path of its file."""
    if isinstance(model, onnx.ModelProto):
        return model
    is_path = isinstance(model, (str, os.PathLike))
    if not is_path and not isinstance(model, (bytes, bytearray, memoryview)):
        kind = type(model).__name__
        raise TypeError(f"model must be an onnx.ModelProto, bytes or a path, not {kind}")
    name = f"the file {os.fspath(model)!r}" if is_path else "the bytes of the model"
    try:
        read = onnx.load(model) if is_path else onnx.load_model_from_string(bytes(model))
    except (
        DecodeError,
        UnicodeDecodeError,
        json_format.ParseError,
        text_format.ParseError,
        onnx.parser.ParseError,
    ) as error:
        raise ValueError(f"{name} cannot be read as an ONNX model: {error}") from error
    if not read.HasField("graph"):
        raise ValueError(f"{name} cannot be read as an ONNX model: there is no graph")
    return read


def type_name(dtype: numpy.dtype[Any]) -> str:
    """ONNX's name for tensors of a dtype."""
    try:
        number = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    except (KeyError, ValueError):
        return f"tensor({dtype})"
    return f"tensor({onnx.TensorProto.DataType.Name(number).lower()})"
