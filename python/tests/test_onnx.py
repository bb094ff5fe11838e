"""The ONNX backend: the field's own suite, then what that leaves open."""

import doctest
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import ndpool.onnx
import oracle

POOLS = {"MaxPool", "AveragePool", "LpPool", "MaxUnpool"} | {
    f"Global{kind}Pool" for kind in ("Max", "Average", "Lp")
}


def operators(model) -> set[str]:
    return {node.op_type for node in model.graph.node}


def check(case, model, data_sets):
    prepared = ndpool.onnx.prepare(model)
    for inputs, expected in data_sets:
        Runner.assert_similar_outputs(
            list(expected), list(prepared.run(inputs)), case.rtol, case.atol
        )


def test_every_pooling_node_test_of_onnx(subtests):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of operators that are none of ours
        cases = [c for c in load_model_tests(kind="node") if operators(c.model) & POOLS]
    assert len(cases) >= 50
    for case in cases:
        with subtests.test(case.name):
            check(case, case.model, case.data_sets)


def stored_cases():
    cases = [
        case
        for kind in ("pytorch-converted", "pytorch-operator")
        for case in load_model_tests(kind=kind)
        if "pool" in case.name.lower()
    ]
    return [pytest.param(case, id=case.name) for case in sorted(cases, key=lambda c: c.name)]


def stored_tensor(path) -> np.ndarray:
    tensor = TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


@pytest.mark.parametrize("case", stored_cases())
def test_models_exported_from_torch(case):
    folder = Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    if others := operators(model) - POOLS:
        assert not ndpool.onnx.is_compatible(model)
        with pytest.raises(ValueError, match=f"({'|'.join(others)}).* is not a pooling operator"):
            ndpool.onnx.prepare(model)
        return
    assert ndpool.onnx.is_compatible(model)
    data = folder / "test_data_set_0"
    inputs = [stored_tensor(data / "input_0.pb")]
    check(case, model, [(inputs, [stored_tensor(data / "output_0.pb")])])


def run(operator, *inputs, outputs=("y",), opset=22, **attributes):
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(operator, names, outputs, **attributes)
    return ndpool.onnx.run_node(node, inputs, opset_version=opset)


def sample(shape, dtype="float32", seed=0) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(shape) * 20
    if dtype == "uint8":
        values = np.abs(values)
    return np.round(values).astype(oracle.dtype(dtype))


@pytest.mark.parametrize(
    "operator, opset, dtypes",
    [
        ("MaxPool", 1, oracle.FLOATS[:3]),
        ("MaxPool", 12, (*oracle.FLOATS[:3], "int8", "uint8")),
        ("MaxPool", 22, (*oracle.FLOATS, "int8", "uint8")),
        ("AveragePool", 1, oracle.FLOATS[:3]),
        ("AveragePool", 22, oracle.FLOATS),
        ("LpPool", 2, oracle.FLOATS[:3]),
        ("LpPool", 22, oracle.FLOATS),
    ],
)
def test_dtypes(operator, opset, dtypes):
    reducer = {"MaxPool": "max", "AveragePool": "avg", "LpPool": "lp"}[operator]
    for dtype in dtypes:
        x = sample((2, 3, 7, 6), dtype)
        (y,) = run(operator, x, opset=opset, kernel_shape=[3, 2])
        wide = x if reducer == "max" else x.astype(np.float64)
        expected = oracle.pool(reducer, wide, (3, 2), (1, 1), ((0, 0),) * 2, (1, 1), (2, 3))
        assert y.dtype == x.dtype
        np.testing.assert_allclose(y.astype(np.float64), expected.astype(np.float64), rtol=0.01)


@pytest.mark.parametrize("dtype", oracle.FLOATS)
def test_global_pools(dtype):
    x = sample((2, 3, 4, 5, 2), dtype)
    wide = x.astype(np.float64)
    expected = {
        "GlobalMaxPool": wide.max(axis=(2, 3, 4), keepdims=True),
        "GlobalAveragePool": wide.mean(axis=(2, 3, 4), keepdims=True),
        "GlobalLpPool": np.sqrt((wide**2).sum(axis=(2, 3, 4), keepdims=True)),
    }
    for operator, y in expected.items():
        assert run(operator, x).y.dtype == x.dtype
        np.testing.assert_allclose(run(operator, x).y.astype(float), y, rtol=0.01)


def test_powers_were_floats_once():
    x = sample((1, 2, 8))
    np.testing.assert_allclose(
        run("GlobalLpPool", x, opset=1, p=2.5)[0][..., 0],
        (np.abs(x) ** 2.5).sum(axis=2) ** 0.4,
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        run("LpPool", x, opset=1, p=1.0, kernel_shape=[8])[0][..., 0], np.abs(x).sum(axis=2)
    )
    np.testing.assert_allclose(run("GlobalLpPool", x, p=1)[0][..., 0], np.abs(x).sum(axis=2))


@pytest.mark.parametrize("pads", [None, [1, 0, 0, 1]])
@pytest.mark.parametrize("storage_order", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "bfloat16"])
def test_indices_count_over_the_whole_array(dtype, storage_order, pads):
    x = sample((2, 3, 5, 6), dtype)
    given = {} if pads is None else {"pads": pads}
    y, indices = run(
        "MaxPool", x, outputs=("y", "i"), kernel_shape=[2, 3], strides=[2, 1],
        storage_order=storage_order, **given,
    )  # fmt: skip
    assert indices.dtype == np.int64
    # Column-major within a plane; planes follow one another in both orders.
    cells = x.swapaxes(2, 3) if storage_order else x
    np.testing.assert_array_equal(cells.reshape(-1)[indices], y)


def test_column_major_in_three_dimensions():
    x = np.zeros((1, 2, 2, 3, 4), np.float32)
    x[0, 1, 1, 2, 3] = x[0, 0, 1, 0, 2] = 1
    _, indices = run("MaxPool", x, outputs=("y", "i"), kernel_shape=[2, 3, 4], storage_order=1)
    assert indices.ravel().tolist() == [1 + 2 * (0 + 3 * 2), 24 + 23]


@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("auto_pad", ["VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("length", range(4, 10))
def test_shapes_are_those_that_onnx_infers(length, auto_pad, ceil_mode):
    attributes = dict(
        kernel_shape=[2], strides=[3], dilations=[2], auto_pad=auto_pad, ceil_mode=ceil_mode
    )
    node = helper.make_node("MaxPool", ["x"], ["y"], **attributes)
    model = model_of([node], {"x": (1, 1, length)}, ["y"])
    inferred = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type.shape
    (y,) = ndpool.onnx.run_model(model, [sample((1, 1, length))])
    assert y.shape == tuple(dimension.dim_value for dimension in inferred.dim)


def model_of(nodes, inputs, outputs, constants=(), ir_version=10, opset=22):
    rank = len(next(iter(inputs.values())))  # pools keep it
    graph = helper.make_graph(
        nodes,
        "pools",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank) for name in outputs],
        initializer=[numpy_helper.from_array(array, name) for name, array in constants],
    )
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def test_a_chain_of_pools():
    halves = dict(kernel_shape=[2, 2], strides=[2, 2])
    nodes = [
        helper.make_node("MaxPool", ["x"], ["m", "i"], **halves),
        helper.make_node("MaxUnpool", ["m", "i", "size"], ["u"], **halves),
        helper.make_node("MaxPool", ["u"], ["again", ""], **halves),
        helper.make_node("AveragePool", ["u"], ["unused"], kernel_shape=[3, 3]),
        helper.make_node("GlobalAveragePool", ["again"], ["mean"]),
    ]  # fmt: skip
    constants = [("size", np.array([2, 3, 6, 8]))]
    model = model_of(nodes, {"x": (2, 3, 6, 8)}, ["mean", "u", "again", "m"], constants)
    assert ndpool.onnx.is_compatible(model)
    x = np.abs(sample((2, 3, 6, 8))) + 1
    result = ndpool.onnx.prepare(model).run([x])
    np.testing.assert_array_equal(result.again, result.m)
    np.testing.assert_array_equal(np.where(result["u"] != 0, x, 0), result["u"])
    np.testing.assert_allclose(result[0], result.m.mean(axis=(2, 3), keepdims=True), rtol=1e-6)


def test_initializers_stand_for_inputs_that_are_left_out():
    node = helper.make_node("GlobalMaxPool", ["x"], ["y"])
    constant = np.full((1, 1, 3), 7, np.float32)
    model = model_of([node], {"x": (1, 1, 3)}, ["y"], [("x", constant)], ir_version=3)
    prepared = ndpool.onnx.prepare(model)
    assert prepared.run([]).y == 7
    assert prepared.run([constant - 2]).y == 5
    assert prepared.run({"x": constant + 2}).y == 9
    assert prepared.run([[[[1, 2, 3]]]]).y == 3


def wrong(operator="MaxPool", shape=(1, 1, 4), **attributes):
    return lambda: run(operator, np.ones(shape, np.float32), **attributes)


def relu(domain=""):
    nodes = [
        helper.make_node("GlobalMaxPool", ["x"], ["y"]),
        helper.make_node("Relu", ["y"], ["z"], name="sharp", domain=domain),
    ]
    return model_of(nodes, {"x": (1, 1, 4)}, ["z"])


def pooled_four():
    node = helper.make_node("GlobalMaxPool", ["x"], ["y"])
    return ndpool.onnx.prepare(model_of([node], {"x": (1, 1, 4)}, ["y"]))


WRONG = [
    (wrong("Relu"), "Relu is not a pooling operator; ndpool runs MaxPool, AveragePool"),
    (lambda: ndpool.onnx.prepare(relu()), r"Relu \(node 'sharp'\) is not a pooling operator"),
    (lambda: ndpool.onnx.prepare(relu("my.own")), r"my.own.Relu \(node 'sharp'\) is not"),
    (wrong(kernel_shape=[5]), "MaxPool: kernel 5 on axis 2 does not fit"),
    (wrong(kernel_shape=[2, 2]), r"kernel_shape has 2 entries, but .* \(1, 1, 4\) has 1 axes"),
    (wrong(kernel_shape=[2], pads=[1]), "pads has 1 entries"),
    (wrong(kernel_shape=[2], pads=[1, 1, 1, 1]), "padding has 2 entries, but there must be 1"),
    (wrong(kernel_shape=[2], auto_pad="SAME"), "auto_pad must be NOTSET, VALID, .*, not 'SAME'"),
    (
        wrong(kernel_shape=[2], auto_pad="VALID", pads=[1, 0]),
        r"pads \[1, 0\] cannot be used together with auto_pad VALID",
    ),
    (wrong("LpPool", opset=1), "kernel_shape is missing"),
    (wrong("LpPool", kernel_shape=[2], p=0), "p 0 must be greater than 0"),
    (wrong("GlobalMaxPool", shape=(1, 1)), "no axis to pool"),
    (lambda: ndpool.onnx.prepare(relu(), "CUDA"), "device 'CUDA' is not there"),
    (lambda: pooled_four().run([]), "0 inputs are given, but the graph has 1"),
    (lambda: pooled_four().run({}), "the input 'x' is missing"),
    (lambda: pooled_four().run({"z": 1}), "the graph has no input 'z'"),
    (
        lambda: run(
            "MaxUnpool", np.ones((1, 1, 2)), np.zeros((1, 1, 2), int), np.array([1, 1, 3]),
            kernel_shape=[2], strides=[2],
        ),
        r"output_shape \(1, 1, 3\) has no room for the unpooled \(1, 1, 4\)",
    ),
]  # fmt: skip


@pytest.mark.parametrize("call, text", WRONG, ids=[text for _, text in WRONG])
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_dtypes_must_be_those_of_the_graph():
    with pytest.raises(TypeError, match="the input 'x' has dtype float64; expected float32"):
        pooled_four().run([np.ones((1, 1, 4))])


def test_attributes_of_later_opsets_are_refused():
    with pytest.raises(onnx.checker.ValidationError, match="dilations"):
        wrong("AveragePool", kernel_shape=[2], dilations=[2], opset=11)()


def test_devices():
    assert ndpool.onnx.supports_device("CPU") and ndpool.onnx.supports_device("CPU:0")
    assert not ndpool.onnx.supports_device("CUDA")
    assert not ndpool.onnx.is_compatible(relu())
    assert not ndpool.onnx.Backend.is_compatible(relu(), "CUDA:1")


def test_ndpool_does_without_onnx():
    program = "import sys, ndpool; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_the_example():
    assert doctest.testmod(ndpool.onnx) == (0, 3)


# What is refused, and from where models are taken.


def pool_model(
    operator="MaxPool", dtype=TensorProto.FLOAT, shape=(1, 1, 4), result=(1, 1, 2), opset=22
):
    attributes = {} if operator.startswith("Global") else {"kernel_shape": [2], "strides": [2]}
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    x = helper.make_tensor_value_info("x", dtype, shape)
    y = helper.make_tensor_value_info("y", dtype, result)
    graph = helper.make_graph([node], "pool", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


NUMBERS = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint16, np.bool_, np.complex64]


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool", "LpPool", "GlobalMaxPool"])
def test_dtypes_are_those_of_the_opset(operator):
    attributes = {} if operator.startswith("Global") else {"kernel_shape": [2]}
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    for dtype in (np.float16, np.float32, np.float64):
        assert ndpool.onnx.run_node(node, [np.ones((1, 1, 4), dtype)]).y.dtype == dtype
    for dtype in NUMBERS:
        x = np.ones((1, 1, 4), dtype)
        if operator == "MaxPool" and dtype in (np.int8, np.uint8):
            assert ndpool.onnx.run_node(node, [x], opset_version=12).y.dtype == dtype
            opset = 11
        else:
            opset = onnx.defs.onnx_opset_version()
        text = rf"{operator}: the input 'x' has dtype {np.dtype(dtype)}; expected .*tensor\(float\)"
        with pytest.raises(TypeError, match=text):
            ndpool.onnx.run_node(node, [x], opset_version=opset)


def test_models_are_held_to_the_dtypes_of_the_opset():
    model = pool_model("AveragePool", TensorProto.INT8)
    with pytest.raises(TypeError, match="AveragePool: the input 'x' has dtype int8; expected"):
        ndpool.onnx.prepare(model).run([np.ones((1, 1, 4), np.int8)])


def test_indices_of_unpooling_are_int64():
    node = helper.make_node("MaxUnpool", ["x", "i"], ["y"], kernel_shape=[2], strides=[2])
    x = np.ones((1, 1, 2), np.float32)
    with pytest.raises(TypeError, match="the input 'i' has dtype int32; expected tensor.int64"):
        ndpool.onnx.run_node(node, [x, np.zeros((1, 1, 2), np.int32)])


@pytest.mark.parametrize(
    "declared, given, text",
    [
        ({"shape": (1, 1, 6)}, (1, 1, 4), r"the input 'x' has shape \(1, 1, 4\).*\(1, 1, 6\)"),
        ({"shape": (1, 4)}, (1, 1, 4), r"the input 'x' has shape \(1, 1, 4\).*\(1, 4\)"),
        ({"shape": ("N", None, "N")}, (1, 1, 4), r"declares \(N, \?, N\), where N is 1"),
        ({"result": (1, 1, 3)}, (1, 1, 4), r"the output 'y' has shape \(1, 1, 2\).*\(1, 1, 3\)"),
        ({"shape": ("N", 1, 4), "result": ("M", 1, "N")}, (1, 1, 4), "the output 'y'.*N is 1"),
    ],
)
def test_shapes_are_those_of_the_model(declared, given, text):
    prepared = ndpool.onnx.prepare(pool_model(**declared))
    with pytest.raises(ValueError, match=text):
        prepared.run([np.ones(given, np.float32)])


def test_shapes_that_a_model_leaves_open():
    for shape, result in ((("N", "C", "L"), ("N", "C", "M")), ((None, 1, 4), (None,) * 3)):
        model = pool_model(shape=shape, result=result)
        y = ndpool.onnx.prepare(model).run([np.ones((3, 1, 4), np.float32)]).y
        assert y.shape == (3, 1, 2)


def test_results_have_the_dtype_of_the_model():
    model = pool_model()
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    with pytest.raises(TypeError, match="the output 'y' has dtype float32; expected float64"):
        ndpool.onnx.prepare(model).run([np.ones((1, 1, 4), np.float32)])


def test_values_in_between_may_be_declared_without_a_type():
    node = helper.make_node("MaxPool", ["x"], ["m"], kernel_shape=[2])
    nodes = [node, helper.make_node("GlobalMaxPool", ["m"], ["y"])]
    x = np.array([[[1, 3, 2, 9]]], np.float32)
    for declared in (
        onnx.ValueInfoProto(name="m"),
        helper.make_tensor_value_info("m", TensorProto.UNDEFINED, (1, 1, 3)),
    ):
        model = model_of(nodes, {"x": (1, 1, 4)}, ["y"])
        model.graph.value_info.append(declared)
        assert ndpool.onnx.prepare(model).run([x]).y == 9
    model.graph.value_info[0].type.tensor_type.shape.dim[2].dim_value = 2
    with pytest.raises(ValueError, match=r"the value 'm' has shape \(1, 1, 3\)"):
        ndpool.onnx.prepare(model).run([x])


def test_what_is_declared_as_no_tensor_is_refused():
    model = pool_model()
    shape = model.graph.input[0].type.tensor_type
    model.graph.input[0].type.sequence_type.elem_type.tensor_type.CopyFrom(shape)
    with pytest.raises(ValueError, match="the input 'x' is declared as no tensor"):
        ndpool.onnx.prepare(model)


def test_outputs_info_is_checked():
    node = helper.make_node("GlobalMaxPool", ["x"], ["y"])
    x = np.ones((1, 2, 4), np.float32)
    info = [(np.float32, (1, 2, 1))]
    assert ndpool.onnx.run_node(node, [x], outputs_info=info).y.shape == (1, 2, 1)
    with pytest.raises(ValueError, match="the output 'y' has shape"):
        ndpool.onnx.run_node(node, [x], outputs_info=[(np.float32, (1, 1, 2))])


def test_models_come_as_bytes_and_paths(tmp_path):
    model, path = pool_model(), tmp_path / "model.onnx"
    onnx.save(model, path)
    x = np.array([[[1, 3, 2, 9]]], np.float32)
    bytes_ = model.SerializeToString()
    for given in (model, bytes_, bytearray(bytes_), memoryview(bytes_), path, str(path)):
        assert ndpool.onnx.is_compatible(given)
        assert ndpool.onnx.prepare(given).run([x]).y.tolist() == [[[3, 9]]]
        assert ndpool.onnx.run_model(given, [x]).y.tolist() == [[[3, 9]]]


def test_junk_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "junk.onnx"
    path.write_bytes(b"\xff\xffjunk")
    for junk, text in {
        b"\xff\xffjunk": "the bytes of the model cannot be read as an ONNX model",
        b"": "the bytes of the model cannot be read as an ONNX model: there is no graph",
        str(path): "the file '.*junk.onnx' cannot be read as an ONNX model",
        path: "the file '.*junk.onnx' cannot be read as an ONNX model",
    }.items():
        with pytest.raises(ValueError, match=text):
            ndpool.onnx.prepare(junk)
    for wrong in (None, 5, [1], np.ones(3), pool_model().graph):
        with pytest.raises(TypeError, match="model must be an onnx.ModelProto, bytes or a path"):
            ndpool.onnx.prepare(wrong)
    for suffix in ("json", "textproto", "onnxtxt"):  # each has a parser of its own
        text_path = path.with_suffix(f".{suffix}")
        text_path.write_text("{hello")
        with warnings.catch_warnings(), pytest.raises(ValueError, match="cannot be read as an"):
            warnings.simplefilter("ignore")
            ndpool.onnx.prepare(text_path)
    with pytest.raises(FileNotFoundError):
        ndpool.onnx.prepare(tmp_path / "none.onnx")
    for wrong in (None, "MaxPool", b"", pool_model()):
        with pytest.raises(TypeError, match="node must be an onnx.NodeProto, not "):
            ndpool.onnx.run_node(wrong, [np.ones((1, 1, 4))])


def test_opsets_of_the_future_are_refused():
    newest = onnx.defs.onnx_opset_version()
    x = np.ones((1, 1, 4), np.float32)
    assert ndpool.onnx.prepare(pool_model(opset=newest)).run([x]).y.shape == (1, 1, 2)
    text = f"opset {newest + 1} is not known; onnx .* has opsets up to {newest}"
    with pytest.raises(ValueError, match=text):
        ndpool.onnx.prepare(pool_model(opset=newest + 1))
    assert ndpool.onnx.is_compatible(pool_model(opset=newest))
    assert not ndpool.onnx.is_compatible(pool_model(opset=newest + 1))
    node = helper.make_node("GlobalMaxPool", ["x"], ["y"])
    with pytest.raises(ValueError, match=text):
        ndpool.onnx.run_node(node, [x], opset_version=newest + 1)
    for wrong in ("22", 22.0, None):
        with pytest.raises(TypeError, match="opset_version must be an int, not "):
            ndpool.onnx.run_node(node, [x], opset_version=wrong)
    unpool = helper.make_node("MaxUnpool", ["x", "i"], ["y"], kernel_shape=[2])
    with pytest.raises(ValueError, match="MaxUnpool is no operator of opset 8"):
        ndpool.onnx.run_node(unpool, [x, x], opset_version=8)


def test_masks_are_refused():
    node = helper.make_node("GlobalMaxPool", ["x"], ["y"])
    x = np.ma.masked_array(np.ones((1, 1, 4), np.float32), mask=True)
    with pytest.raises(TypeError, match="GlobalMaxPool: x is a masked array"):
        ndpool.onnx.run_node(node, [x])
    with pytest.raises(TypeError, match="MaxPool: x is a masked array"):
        ndpool.onnx.prepare(pool_model()).run([x])
