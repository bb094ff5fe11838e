"""How each library is asked for the pool of a case: `prepare(case, data)` gives a call to time.

A call allocates its result, as a network would have it do. `None` means that the library has no
such pool. Results are arrays in the order of the case's layout.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from peer_cases import Case

import ndpool

Call = Callable[[], Any]


@dataclass
class Data:
    """What every library gets for a case."""

    x: np.ndarray
    gy: np.ndarray
    indices: np.ndarray

    @classmethod
    def of(cls, case: Case) -> Data:
        rng = np.random.default_rng(0)
        x = rng.standard_normal(case.array_shape, np.float32)
        y, indices = ndpool.max_pool(x, **window(case), return_indices=True)
        return cls(x, rng.standard_normal(y.shape, np.float32), indices)


def window(case: Case) -> dict[str, Any]:
    shape = case.shape
    if shape.kernel == 0:
        return {"kernel": shape.plane, "axes": case.axes}
    return {
        "kernel": (shape.kernel,) * len(shape.plane),
        "stride": shape.stride,
        "padding": shape.padding,
        "axes": case.axes,
    }


class Ndpool:
    name = "ndpool"

    def set_threads(self, count: int) -> None:
        ndpool.set_threads(count)

    def prepare(self, case: Case, data: Data) -> Call | None:
        x, gy, options = data.x, data.gy, window(case)
        avg_pool = ndpool.avg_pool
        if case.shape.kernel == 0:
            avg_pool, options = ndpool.global_avg_pool, {"axes": case.axes, "keepdims": True}
        calls: dict[str, Call] = {
            "max": lambda: ndpool.max_pool(x, **options),
            "max indices": lambda: ndpool.max_pool(x, **options, return_indices=True),
            "max backward": lambda: ndpool.max_pool.vjp(
                x.shape, gy, **options, indices=data.indices
            ),
            "avg": lambda: avg_pool(x, **options),
            "avg backward": lambda: avg_pool.vjp(x, gy, **options),
        }
        return calls[case.map]

    def arrays(self, case: Case, result: Any) -> list[np.ndarray]:
        return list(result) if isinstance(result, tuple) else [result]


class Torch:
    name = "torch"

    def set_threads(self, count: int) -> None:
        torch.set_num_threads(count)

    def prepare(self, case: Case, data: Data) -> Call | None:
        rank = len(case.shape.plane)
        reducer, _, kind = case.map.partition(" ")
        shape = case.shape
        arguments: tuple[int, ...] = (shape.kernel, shape.stride, shape.padding)
        name = f"{reducer}_pool{rank}d"
        if shape.kernel == 0:  # as torch's own networks do it
            name, arguments = f"adaptive_{name}", (1,)
        pool = getattr(torch.nn.functional, name)
        x, gy = self.tensor(case, data.x), self.tensor(case, data.gy)
        if kind == "backward":
            x.requires_grad_()
            y = pool(x, *arguments)
            return lambda: torch.autograd.grad(y, x, gy, retain_graph=True)[0]
        options = {"return_indices": True} if kind == "indices" else {}

        def forward() -> Any:
            with torch.no_grad():
                return pool(x, *arguments, **options)

        return forward

    @staticmethod
    def tensor(case: Case, array: np.ndarray) -> torch.Tensor:
        """Channels second, as torch has it; the strides say where they really are."""
        tensor = torch.from_numpy(array)
        return tensor if case.layout == "first" else tensor.movedim(-1, 1)

    def arrays(self, case: Case, result: Any) -> list[np.ndarray]:
        tensors = result if isinstance(result, tuple) else (result,)
        return [(t if case.layout == "first" else t.movedim(1, -1)).numpy() for t in tensors]


def onnx_model(case: Case) -> Any:
    """The pool as a model, for the libraries that run models. They have channels first only."""
    from onnx import TensorProto, helper

    reducer, _, kind = case.map.partition(" ")
    if kind == "backward" or case.layout == "last":
        return None
    shape, rank = case.shape, len(case.shape.plane)
    outputs = ["y", "indices"] if kind == "indices" else ["y"]
    if shape.kernel == 0:
        node = helper.make_node("GlobalAveragePool", ["x"], outputs)
    else:
        attributes: dict[str, Any] = {} if reducer == "max" else {"count_include_pad": 1}
        node = helper.make_node(
            "MaxPool" if reducer == "max" else "AveragePool", ["x"], outputs,
            kernel_shape=[shape.kernel] * rank, strides=[shape.stride] * rank,
            pads=[shape.padding] * (2 * rank), **attributes,
        )  # fmt: skip
    types = {"y": TensorProto.FLOAT, "indices": TensorProto.INT64}
    graph = helper.make_graph(
        [node],
        "pool",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, case.array_shape)],
        [helper.make_tensor_value_info(o, types[o], [None] * (rank + 2)) for o in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def within_planes(case: Case, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """ONNX's indices count over the whole array."""
    return [a if a.dtype != np.int64 else a % math.prod(case.shape.plane) for a in arrays]


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self) -> None:
        self.threads = 1

    def set_threads(self, count: int) -> None:
        self.threads = count

    def prepare(self, case: Case, data: Data) -> Call | None:
        import onnxruntime

        model = onnx_model(case)
        if model is None:
            return None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        # Idle threads of one library must not take the cores from the next.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        value = onnxruntime.OrtValue.ortvalue_from_numpy(data.x)
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", value)
        for output in session.get_outputs():
            binding.bind_output(output.name)

        def run() -> Any:
            session.run_with_iobinding(binding)
            return binding

        return run

    def arrays(self, case: Case, result: Any) -> list[np.ndarray]:
        return within_planes(case, result.copy_outputs_to_cpu())


class OpenVino:
    name = "openvino"

    def __init__(self) -> None:
        self.threads = 1

    def set_threads(self, count: int) -> None:
        self.threads = count

    def prepare(self, case: Case, data: Data) -> Call | None:
        import openvino

        model = onnx_model(case)
        if model is None:
            return None
        core = openvino.Core()
        settings = {
            "INFERENCE_NUM_THREADS": self.threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
        }
        compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", settings)
        request = compiled.create_infer_request()
        request.set_input_tensor(openvino.Tensor(data.x, shared_memory=True))

        def run() -> Any:
            request.infer()
            return request

        return run

    def arrays(self, case: Case, result: Any) -> list[np.ndarray]:
        count = 2 if case.map == "max indices" else 1
        return within_planes(case, [result.get_output_tensor(i).data for i in range(count)])


class Jax:
    """Takes part where all cores are used: its threads cannot be told how many to be."""

    name = "jax"

    def __init__(self) -> None:
        self.threads = 1

    def set_threads(self, count: int) -> None:
        self.threads = count

    def prepare(self, case: Case, data: Data) -> Call | None:
        import jax
        from jax import numpy as jnp

        reducer, _, kind = case.map.partition(" ")
        if kind == "indices" or self.threads != os.cpu_count():
            return None
        options, rank = window(case), len(case.array_shape)
        kernel, stride, padding = [1] * rank, [1] * rank, [(0, 0)] * rank
        for axis, size in zip(case.axes, options["kernel"]):
            kernel[axis], stride[axis] = size, options.get("stride", size)
            padding[axis] = (options.get("padding", 0),) * 2
        start, combine = (-jnp.inf, jax.lax.max) if reducer == "max" else (0.0, jax.lax.add)
        divisor = 1 if reducer == "max" else math.prod(options["kernel"])

        def pool(x: Any) -> Any:
            return jax.lax.reduce_window(x, start, combine, kernel, stride, padding) / divisor

        x, gy = jnp.asarray(data.x), jnp.asarray(data.gy)
        if kind == "backward":
            backward = jax.jit(lambda x, gy: jax.vjp(pool, x)[1](gy)[0])
            return lambda: backward(x, gy).block_until_ready()
        forward = jax.jit(pool)
        return lambda: forward(x).block_until_ready()

    def arrays(self, case: Case, result: Any) -> list[np.ndarray]:
        return [np.asarray(result)]


def installed() -> list[Any]:
    """ndpool, torch, and whichever of the others can be imported."""
    others = [OnnxRuntime, OpenVino, Jax]
    return [Ndpool(), Torch()] + [p() for p in others if importlib.util.find_spec(p.name)]


def versions() -> dict[str, str]:
    from importlib.metadata import version

    names = [peer.name for peer in installed() if peer.name != "ndpool"]
    return {"ndpool": ndpool.__version__, **{name: version(name) for name in names}}
