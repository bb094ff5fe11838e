"""Executors: which threads pool, and that they get along with those of torch."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import threadpoolctl
import torch

import ndpool
import ndpool.torch
from ndpool import _core
from ndpool.torch import functional

X = np.random.default_rng(0).standard_normal((16, 128, 128)).astype(np.float32)
ARGUMENTS = ((3, 3), 2, 1)


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads of either kind, and what there was before at the end."""
    before = torch.get_num_threads(), ndpool.get_threads(), ndpool.get_executor()
    torch.set_num_threads(2)
    ndpool.set_threads(2)
    yield
    torch.set_num_threads(before[0])
    ndpool.set_threads(before[1])
    ndpool.set_executor(before[2])


def results(x=X):
    """A value, indices and a gradient by NumPy's functions."""
    y, indices = ndpool.max_pool(x, *ARGUMENTS, return_indices=True)
    return [y, indices, ndpool.avg_pool.vjp(x, y, *ARGUMENTS)]


def tensor_results(pools, x=X):
    """The same by tensors, with torch's own work on two threads in between."""
    x = torch.from_numpy(x)[None].requires_grad_()
    y, indices = pools.max_pool2d(x, *ARGUMENTS, return_indices=True)
    busy = (torch.ones(300, 300) @ torch.ones(300, 300)).sum() + torch.ones(1 << 20).exp().sum()
    (gx,) = torch.autograd.grad((pools.avg_pool2d(x, *ARGUMENTS) + y).sum() + 0 * busy, x)
    return [y.detach().numpy(), indices.numpy(), gx.numpy()]


def are_equal(a, b):
    return all(np.array_equal(left, right) for left, right in zip(a, b))


EXPECTED = results()
EXPECTED_OF_TENSORS = tensor_results(functional)


def test_results_are_those_of_torch():
    y, indices, gx = tensor_results(torch.nn.functional)
    assert are_equal([y, indices], EXPECTED_OF_TENSORS[:2])
    np.testing.assert_allclose(gx, EXPECTED_OF_TENSORS[2], rtol=1e-5, atol=1e-6)


def test_names_and_errors():
    assert ndpool.get_executor() == "auto"
    for name in ("openmp", "own", "auto"):
        ndpool.set_executor(name)
        assert ndpool.get_executor() == name
    with pytest.raises(ValueError, match="executor 'tbb' must be 'auto', 'own' or 'openmp'"):
        ndpool.set_executor("tbb")
    for wrong in (None, 2, ["own"]):
        with pytest.raises(TypeError, match="executor must be a string, not "):
            ndpool.set_executor(wrong)
    assert ndpool.get_executor() == "auto"


def test_the_runtime_is_the_one_that_torch_calls():
    loaded = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "openmp"]
    by_torch = [one["filepath"] for one in loaded if os.sep + "torch" in one["filepath"]]
    runtime = os.path.realpath(_core.openmp_runtime())
    assert runtime in [os.path.realpath(path) for path in by_torch]


@pytest.mark.parametrize("executor", ["auto", "own", "openmp"])
def test_turns_with_torch(executor):
    ndpool.set_executor(executor)
    for _ in range(20):
        assert are_equal(results(), EXPECTED)
        assert are_equal(tensor_results(functional), EXPECTED_OF_TENSORS)


COUNTS = textwrap.dedent("""
    import os, torch, ndpool, ndpool.torch.functional as functional
    ndpool.set_threads(3)
    torch.set_num_threads(2)
    x = torch.ones(64, 256, 256)
    torch.ones(1 << 22).exp()
    recorded = torch.ones(64, 256, 256, requires_grad=True)
    before = len(os.listdir("/proc/self/task"))

    def count(call):
        call()
        print(len(os.listdir("/proc/self/task")) - before)

    count(lambda: functional.max_pool2d(x, 3))
    count(lambda: functional.max_pool(x, 3, axes=(1, 2)))
    count(lambda: functional.avg_pool2d(recorded, 3).sum().backward())
    count(lambda: functional.smooth_max_pool(recorded, (3, 3)).sum().backward())
    count(lambda: torch.func.jvp(lambda x: functional.max_pool2d(x, 3), (x,), (x,)))
    ndpool.set_executor("openmp")
    count(lambda: ndpool.max_pool(x.numpy(), (3, 3)))
    ndpool.set_executor("own")
    count(lambda: functional.max_pool2d(x, 3))
    ndpool.set_executor("auto")
    ndpool.set_threads(4)
    count(lambda: ndpool.max_pool(x.numpy(), (3, 3)))
""")


@pytest.mark.parametrize("native", ["1", "0"])
def test_only_own_threads_are_started_beside_those_of_torch(native):
    environment = {**os.environ, "NDPOOL_TORCH_NATIVE": native}
    run = [sys.executable, "-c", COUNTS]
    output = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert output.stdout.split() == ["0"] * 6 + ["2", "3"]


def test_the_number_of_torch_changes_in_between():
    ndpool.set_executor("openmp")
    for count in (1, 2, 3, 1, 2):
        torch.set_num_threads(count)
        assert are_equal(tensor_results(functional), EXPECTED_OF_TENSORS)
        assert are_equal(results(), EXPECTED)
        assert torch.get_num_threads() == count


def test_limits_of_threadpoolctl():
    ndpool.set_executor("openmp")
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        assert _core.openmp_threads() == 1
        assert are_equal(results(), EXPECTED)
    assert _core.openmp_threads() == 2
    assert are_equal(results(), EXPECTED)


@pytest.mark.parametrize("executor", ["auto", "own", "openmp"])
def test_many_python_threads_at_once(executor):
    ndpool.set_executor(executor)
    wrong = []

    def repeat():
        for _ in range(5):
            if not are_equal(results(), EXPECTED):
                wrong.append("arrays")
            if not are_equal(tensor_results(functional), EXPECTED_OF_TENSORS):
                wrong.append("tensors")

    threads = [threading.Thread(target=repeat) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_new_python_thread_has_the_number_of_torch():
    """Which torch tells its runtime when it first runs there."""
    torch.set_num_threads(3)
    counts = []

    def pool():
        functional.max_pool2d(torch.from_numpy(X), 3)
        counts.append(_core.openmp_threads())

    thread = threading.Thread(target=pool)
    thread.start()
    thread.join()
    assert counts == [3]


def in_child(connection):
    torch.set_num_threads(1)  # as in the workers of torch's DataLoader: its own threads are gone
    of_one = are_equal(tensor_results(functional), EXPECTED_OF_TENSORS)
    x = torch.from_numpy(X)
    pools = [functional.max_pool2d(x, 3), functional.avg_pool2d(x, 3)]
    ndpool.set_executor("openmp")
    connection.send((of_one, are_equal(results(), EXPECTED), _core.openmp_runtime(), len(pools)))


@pytest.mark.parametrize("executor", ["auto", "own", "openmp"])
def test_forked_children_after_both_were_used(executor):
    ndpool.set_executor(executor)
    assert are_equal(tensor_results(functional), EXPECTED_OF_TENSORS)
    assert are_equal(results(), EXPECTED)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=in_child, args=(there,))
    child.start()
    assert here.poll(60), "the child waits for threads that it does not have"
    assert here.recv() == (True, True, "", 2)
    child.join(60)
    assert are_equal(tensor_results(functional), EXPECTED_OF_TENSORS)


def test_a_forked_child_pools_tensors_on_own_threads():
    """Without a limit of one thread: torch itself would wait for ever there, ndpool does not."""
    x = torch.from_numpy(X)
    expected = functional.max_pool2d(x, 3)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()

    def pool():
        there.send(functional.max_pool2d(x, 3).numpy())

    child = context.Process(target=pool)
    child.start()
    assert here.poll(60)
    assert np.array_equal(here.recv(), expected.numpy())
    child.join(60)


FORKED_BEFORE_IMPORT = textwrap.dedent("""
    import os, signal, torch
    torch.set_num_threads(2)
    x = torch.ones(64, 256, 256)
    x.exp()  # libgomp has threads now
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        import ndpool.torch.functional as functional
        from ndpool import _core
        assert (functional.max_pool2d(x, 3).numpy() == 1).all()  # not by torch, which would wait
        assert _core.openmp_runtime() == ""
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
""")


def test_a_child_that_imports_ndpool_after_the_fork():
    subprocess.run([sys.executable, "-c", FORKED_BEFORE_IMPORT], check=True, timeout=120)


def test_without_a_runtime_own_threads_serve():
    program = textwrap.dedent("""
        import numpy, ndpool
        ndpool.set_executor("openmp")
        ndpool.set_threads(2)
        assert ndpool._core.openmp_runtime() == "", ndpool._core.openmp_runtime()
        x = numpy.arange(64 * 256 * 256.0, dtype="f4").reshape(64, 256, 256)
        assert (ndpool.max_pool(x, (2, 2)) == x[:, 1::2, 1::2]).all()
    """)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize(("value", "count"), [("3", 3), ("5000", 1024), ("0", None), ("x", None)])
def test_the_default_number(value, count):
    program = "import os, ndpool; print(ndpool.get_threads(), len(os.sched_getaffinity(0)))"
    environment = {**os.environ, "NDPOOL_NUM_THREADS": value}
    run = [sys.executable, "-c", program]
    output = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    threads, cpus = map(int, output.stdout.split())
    assert threads == count if count else 1 <= threads <= cpus
