"""Threads, forked processes, and signals."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import ndpool


def work(seed):
    x = np.random.default_rng(seed).standard_normal((16, 128, 128)).astype(np.float32)
    y, indices = ndpool.max_pool(x, (3, 3), 2, 1, return_indices=True)
    return float(y.sum()), int(indices.sum()), float(ndpool.avg_pool.vjp(x, y, (3, 3), 2, 1).sum())


def test_forked_workers():
    before = ndpool.get_threads()
    ndpool.set_threads(2)
    try:
        expected = [work(seed) for seed in range(4)]  # the parent's threads are running now
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(work, range(4)).get(timeout=60) == expected
    finally:
        ndpool.set_threads(before)


def test_spawned_workers_get_functions_by_pickle():
    x = np.arange(8.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        y = pool.apply_async(ndpool.max_pool, (x, (2,))).get(timeout=60)
        gx = pool.apply_async(ndpool.max_pool.vjp, (x, y, (2,))).get(timeout=60)
    assert y.tolist() == [1, 3, 5, 7] and gx.tolist() == [0, 1, 0, 3, 0, 5, 0, 7]


def test_many_threads_at_once():
    expected = [work(seed) for seed in range(4)]
    results = [None] * 8
    before = ndpool.get_threads()

    def repeat(i):
        for _ in range(3):
            results[i] = work(i % 4)

    threads = [threading.Thread(target=repeat, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for count in (1, 2, 3, before):  # runs that have started keep the threads they have
        ndpool.set_threads(count)
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert results == expected * 2


def test_the_gil_is_released():
    x = np.ones((64, 1024, 1024), np.uint32)  # 256 MiB: tens of milliseconds
    ticks, ends = [], threading.Event()

    def count():
        while not ends.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    ndpool.max_pool(x, (5, 5), 1)
    stop = time.monotonic()
    ends.set()
    thread.join()
    during = [t for t in ticks if start < t < stop]
    assert len(during) > (stop - start) / 0.1


INTERRUPTED = {
    "kernels": (
        "numpy.zeros((1 << 15, 1 << 15), numpy.float32)",
        "ndpool.smooth_max_pool(x, (3, 3), 1)",
    ),
    "threads": (
        "numpy.zeros((1 << 15, 1 << 15), numpy.float32)",
        "ndpool.lp_pool(x, 3, (3, 3), 1)",
    ),
    "spec": ("numpy.zeros((1 << 14, 1 << 15), bool)", "ndpool.max_pool(x, (3, 3), 1)"),
    "one window": (
        "numpy.broadcast_to(numpy.zeros((1 << 15, 1 << 15), numpy.uint64), (64, 1 << 15, 1 << 15))",
        "ndpool.global_max_pool(x)",
    ),
    "vjp": (
        "numpy.zeros((1 << 14, 1 << 13), numpy.float32)",
        "ndpool.lp_pool.vjp(x, x, 2.5, (5, 5), 1, 2)",
    ),
    "indices": (
        "numpy.broadcast_to(numpy.zeros((512, 512), numpy.uint64), (2048, 512, 512))",
        "i = numpy.broadcast_to(numpy.int64(0), x.shape); "
        "[ndpool.max_unpool(x, i, (4, 4)) for _ in range(50)]",
    ),
}


@pytest.mark.parametrize("case", INTERRUPTED)
def test_ctrl_c(case):
    array, call = INTERRUPTED[case]
    program = textwrap.dedent(f"""
        import signal, sys, time, numpy, ndpool
        # A shell in the background has it ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        ndpool.set_threads({2 if case == "threads" else 1})
        x = {array}
        print("ready", flush=True)
        start = time.monotonic()
        try:
            {call}
            print("finished", time.monotonic() - start)
        except KeyboardInterrupt:
            print("stopped", time.time(), flush=True)
        assert ndpool.max_pool(numpy.arange(4.0), (2,)).tolist() == [1, 3]
        print("usable")
    """)
    forced = {"NDPOOL_FORCE_IMPLEMENTATION": "reference"} if "spec" in case else {}
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | forced,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, _, moment = process.stdout.readline().partition(" ")
        assert word == "stopped", (word, moment)
        assert float(moment) - sent < 1
        assert process.stdout.readline() == "usable\n"
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_signal_handler_that_raises_nothing_lets_the_run_finish():
    seen = []
    former = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        y = ndpool.max_pool(np.ones((4, 1024, 1024), np.uint32), (2, 2))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert y.all()
