"""Files that are not what they say, arguments that cannot be meant, runs that end early."""

import os
import random
import signal
import struct
import subprocess
import time
import zlib

import numpy as np
import pytest
from command import COMMAND, done, fails, run, run_and_weigh, start, weight_at_rest


def npy(header, data=b"", version=1):
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def dictionary(descr="'<f4'", shape="(2, 2)", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()


WRONG_FILES = {
    "nothing": b"",
    "one byte": b"\x93",
    "another magic": b"PK\x03\x04" + bytes(100),
    "magic alone": b"\x93NUMPY",
    "version 0": npy(dictionary(), bytes(16), 0),
    "version 9": b"\x93NUMPY\x09\x00" + bytes(100),
    "half a header": npy(dictionary(), bytes(16))[:30],
    "header of 2^31 bytes": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(100),
    "header of 2^32 - 1 bytes": b"\x93NUMPY\x03\x00" + struct.pack("<I", 2**32 - 1) + bytes(100),
    "data cut off": npy(dictionary(), bytes(15)),
    "negative extent": npy(dictionary(shape="(-1, 2)"), bytes(64)),
    "extent of 2^70": npy(dictionary(shape=f"({2**70},)"), bytes(64)),
    "product of 2^80": npy(dictionary(shape=f"({2**40}, {2**40})"), bytes(64)),
    "bytes of 2^65": npy(dictionary(shape=f"({2**62},)"), bytes(64)),
    "shape that is no tuple": npy(dictionary(shape="2"), bytes(64)),
    "shape of words": npy(dictionary(shape="('a',)"), bytes(64)),
    "65 axes": npy(dictionary(shape="(" + "1, " * 65 + ")"), bytes(64)),
    "objects": npy(dictionary("'|O'"), bytes(64)),
    "records": npy(dictionary("[('a', '<f4')]"), bytes(64)),
    "complex": npy(dictionary("'<c8'"), bytes(64)),
    "strings": npy(dictionary("'<U4'"), bytes(64)),
    "dates": npy(dictionary("'<M8[s]'"), bytes(64)),
    "long doubles": npy(dictionary("'<f16'"), bytes(64)),
    "no descr": npy(b"{'fortran_order': False, 'shape': (2,), }", bytes(64)),
    "two shapes": npy(b"{'descr': '<f4', 'shape': (2,), 'shape': (3,), }", bytes(64)),
    "order 1": npy(dictionary(order="1"), bytes(64)),
    "code": npy(b"__import__('os').system('true')", bytes(64)),
    "text behind": npy(dictionary().rstrip() + b" 1", bytes(64)),
    "string without end": npy(b"{'descr", bytes(64)),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_wrong_npy(tmp_path, name):
    (tmp_path / "x.npy").write_bytes(WRONG_FILES[name])
    text = fails(1, "max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2")
    assert "cannot read" in text
    assert os.listdir(tmp_path) == ["x.npy"]


def test_any_damage_is_an_answer_or_an_error(tmp_path):
    np.save(tmp_path / "good.npy", np.arange(64, dtype="f4").reshape(8, 8))
    good = (tmp_path / "good.npy").read_bytes()
    luck = random.Random(0)
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(luck.randint(1, 4)):
            bad[luck.randrange(0, 140)] = luck.randrange(256)
        (tmp_path / "x.npy").write_bytes(
            bytes(bad[: luck.choice([len(bad), luck.randrange(len(bad))])])
        )
        process = run("max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2")
        assert process.returncode in (0, 1, 2), process
        assert process.returncode == 0 or process.stderr.count(b"\n") == 1


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, pixels, depth=8, colour=0):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


WRONG_PNGS = {
    "nothing": b"",
    "another magic": bytes(100),
    "no pixels": png(4, 4, b""),
    "cut off": png(40, 40, zlib.compress(bytes(41 * 40)))[:60],
    "wrong checksum": png(4, 4, zlib.compress(bytes(20)))[:-20] + bytes(20),
    "too few pixels": png(40, 40, zlib.compress(bytes(100))),
    "two thousand million rows": png(100, 2**31 - 1, zlib.compress(bytes(100000))),
    "a bomb of a million by a million": png(10**6, 10**6, zlib.compress(bytes(10**6))),
    "no width": png(0, 4, zlib.compress(bytes(20))),
    "unknown colours": png(4, 4, zlib.compress(bytes(20)), colour=5),
}


@pytest.mark.parametrize("name", WRONG_PNGS)
def test_wrong_png(tmp_path, name):
    (tmp_path / "x.png").write_bytes(WRONG_PNGS[name])
    process, weight = run_and_weigh(
        "max", tmp_path / "x.png", "-o", tmp_path / "y.png", "--kernel", "2"
    )
    text = process.stderr.decode()
    assert process.returncode == 1, text
    assert text.startswith("ndpool: cannot read") and text.count("\n") == 1
    assert weight - weight_at_rest() < 8e6
    assert os.listdir(tmp_path) == ["x.png"]


WRONG_ARGUMENTS = [
    ("--kernel must be whole numbers", ["--kernel", "2,a"]),
    ("--kernel must be whole numbers", ["--kernel", "2,"]),
    ("kernel", ["--kernel", "9,9"]),
    ("one number", ["--kernel", "2"]),
    ("stride", ["--kernel", "2,2", "--stride", "0,0"]),
    ("stride", ["--kernel", "2,2", "--stride", "1,1,1"]),
    ("axes", ["--kernel", "2,2", "--axes", "0,0"]),
    ("axes", ["--kernel", "2,2", "--axes", "5,6"]),
    ("padding", ["--kernel", "2,2", "--padding", "5,5"]),
    ("padding", ["--kernel", "2,2", "--padding", "1:2:3"]),
    ("--kernel", []),
    ("--memory", ["--kernel", "2,2", "--memory", "1M"]),
    ("--memory", ["--kernel", "2,2", "--memory", "lots"]),
    ("--threads", ["--kernel", "2,2", "--threads", "0"]),
    ("--beta", ["--kernel", "2,2", "--beta", "1"]),
    ("--ties", ["--kernel", "2,2", "--ties", "none"]),
]


@pytest.mark.parametrize("part, words", WRONG_ARGUMENTS)
def test_wrong_arguments(tmp_path, part, words):
    np.save(tmp_path / "x.npy", np.zeros((4, 4), "f4"))
    assert part in fails(2, "max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", *words)
    assert os.listdir(tmp_path) == ["x.npy"]


def test_other_wrong_calls(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 4), "f4"))
    np.save(tmp_path / "i.npy", np.zeros((4, 4), "i4"))
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    fails(2)
    fails(2, "nonsense")
    fails(2, "vjp", "nonsense", x, "-o", y)
    assert ".npy or .png" in fails(2, "max", x, "-o", tmp_path / "y.txt", "--kernel", "2,2")
    assert "cannot hold float32" in fails(2, "max", x, "-o", tmp_path / "y.png", "--kernel", "2,2")
    assert "shape" in fails(2, "vjp", "max", x, "--gradient", x, "-o", y, "--kernel", "2,2")
    assert "derivatives" in fails(
        2, "vjp", "max", tmp_path / "i.npy", "--gradient", tmp_path / "i.npy", "-o", y, "--kernel",
        "2,2")  # fmt: skip
    assert "No such file" in fails(1, "max", tmp_path / "no.npy", "-o", y, "--kernel", "2,2")
    assert "folder" in fails(1, "max", tmp_path, "-o", y, "--kernel", "2,2")
    missing = tmp_path / "no" / "y.npy"
    assert "No such file" in fails(1, "max", x, "-o", missing, "--kernel", "2,2")


def test_help_teaches():
    for words in (["--help"], ["max", "--help"], ["vjp", "avg", "--help"], ["explain", "--help"]):
        text = done(*words).decode()
        assert "ndpool" in text and "Example" in text


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "x.npy"
    np.save(path, np.random.default_rng(0).integers(0, 256, (100, 600, 600), dtype=np.uint8))
    return path


def test_killed_at_any_moment(tmp_path, large):
    words = ["avg", large, "-o", tmp_path / "y.npy", "--kernel", "3,3,3", "--stride", "1,1,1",
             "--memory", "32M", "--threads", "1"]  # fmt: skip
    begin = time.monotonic()
    done(*words)
    whole = time.monotonic() - begin
    complete = (tmp_path / "y.npy").read_bytes()
    luck = random.Random(0)
    for kind in (signal.SIGKILL, signal.SIGINT):
        for _ in range(25):
            (tmp_path / "y.npy").unlink(missing_ok=True)
            process = start(*words)
            time.sleep(luck.uniform(0, 1.1 * whole))
            process.send_signal(kind)
            text = process.communicate()[1]
            if (tmp_path / "y.npy").exists():
                assert (tmp_path / "y.npy").read_bytes() == complete
            elif kind == signal.SIGINT and process.returncode > 0:
                assert process.returncode == 130 and text == b"ndpool: interrupted\n"
            if kind == signal.SIGINT:
                assert set(os.listdir(tmp_path)) <= {"y.npy"}


def test_an_older_file_stays_until_the_new_one_is_complete(tmp_path, large):
    words = ["avg", large, "-o", tmp_path / "y.npy", "--kernel", "31,31,31", "--stride", "1,1,1",
             "--memory", "32M", "--threads", "1"]  # fmt: skip
    for delay in (0.2, 0.1, 0.05, 0.025):  # until a run is interrupted before its end
        (tmp_path / "y.npy").write_bytes(b"old")
        process = start(*words)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        process.communicate()
        if process.returncode != 0:
            assert (tmp_path / "y.npy").read_bytes() == b"old"
            return
    pytest.fail("no run was interrupted")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_disk_full(tmp_path, large):
    small = tmp_path / "small"
    small.mkdir()
    command = f"mount -t tmpfs -o size=2m none {small} && "
    command += f"{COMMAND} max {large} -o {small}/y.npy --kernel 2,2; "
    command += f"echo $?; ls -A {small} | wc -l; umount {small}"
    process = subprocess.run(
        ["unshare", "--mount", "sh", "-c", command], capture_output=True, timeout=60
    )
    if b"permission" in process.stderr.lower() or b"not permitted" in process.stderr.lower():
        pytest.skip("no file systems may be mounted here")
    assert process.stdout.split() == [b"1", b"0"], process
    assert b"No space left on device" in process.stderr and process.stderr.count(b"\n") == 1


def test_output_to_a_pipe_that_closes(large):
    with start("max", large, "-o", "-", "--kernel", "2,2") as process:
        process.stdout.close()
        text = process.stderr.read()
    assert process.returncode != 0 and text.count(b"\n") <= 1
