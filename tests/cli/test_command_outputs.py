"""Where results go: names that are one file, files that are there already, full devices."""

import os
import signal
import stat
import subprocess
import time

import numpy as np
import pytest
from command import COMMAND, done, fails, start


@pytest.fixture
def x(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(64, dtype="f4").reshape(8, 8))
    return tmp_path / "x.npy"


MAXIMA = np.arange(64, dtype="f4").reshape(8, 8)[1::2, 1::2]


def spellings(folder):
    """Pairs of paths that lead to the same file."""
    inner = folder / "inner"
    inner.mkdir()
    (folder / "folder").symlink_to(inner)
    (folder / "link.npy").symlink_to("new.npy")
    (folder / "chain.npy").symlink_to(folder / "link.npy")
    (folder / "old.npy").write_bytes(b"old")
    os.link(folder / "old.npy", folder / "hard.npy")
    (folder / "to_old.npy").symlink_to("old.npy")
    return [
        ("y.npy", "y.npy"),
        ("y.npy", "./y.npy"),
        ("y.npy", "inner/../y.npy"),
        ("y.npy", folder / "y.npy"),
        ("inner/y.npy", "folder/y.npy"),
        ("link.npy", "new.npy"),
        ("chain.npy", "./link.npy"),
        ("old.npy", "hard.npy"),
        ("to_old.npy", "hard.npy"),
        ("-", "-"),
    ]


def test_two_outputs_that_are_one_file(tmp_path, x):
    for out, indices in spellings(tmp_path):
        before = sorted(os.listdir(tmp_path))
        text = fails(2, "max", x, "-o", out, "--indices", indices, "--kernel", "2,2", cwd=tmp_path)
        assert "-o and --indices are the same file" in text, (out, indices)
        assert sorted(os.listdir(tmp_path)) == before
        assert (tmp_path / "old.npy").read_bytes() == b"old"


def test_standard_output_that_is_also_a_named_output(tmp_path, x):
    with open(tmp_path / "y.npy", "wb") as file:
        process = subprocess.run(
            [COMMAND, "max", x, "-o", tmp_path / "y.npy", "--indices", "-", "--kernel", "2,2"],
            stdout=file,
            stderr=subprocess.PIPE,
        )
    assert process.returncode == 2 and b"same file" in process.stderr


def test_levels_of_a_pyramid_that_are_one_file(tmp_path, x):
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "level-2.npy").symlink_to("level-1.npy")
    words = ["pyramid", x, "-o", tmp_path / "levels", "--kernel", "2,2", "--levels", "2"]
    assert "level-1.npy and level-2.npy are the same file" in fails(2, *words)
    assert os.listdir(tmp_path / "levels") == ["level-2.npy"]


def test_the_output_may_replace_the_input(tmp_path, x):
    done("max", x, "-o", x, "--kernel", "2,2")
    np.testing.assert_array_equal(np.load(x), MAXIMA)
    assert os.listdir(tmp_path) == ["x.npy"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_a_replaced_file_passes_on_its_mode(tmp_path, x, mode):
    y = tmp_path / "y.npy"
    y.write_bytes(b"old")
    y.chmod(mode)
    done("max", x, "-o", y, "--kernel", "2,2")
    np.testing.assert_array_equal(np.load(y), MAXIMA)
    assert stat.S_IMODE(y.stat().st_mode) == mode


def test_a_new_file_follows_the_umask(tmp_path, x):
    done("max", x, "-o", tmp_path / "y.npy", "--kernel", "2,2", umask=0o027)
    assert stat.S_IMODE((tmp_path / "y.npy").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_a_replaced_file_keeps_its_owner(tmp_path, x):
    (tmp_path / "y.npy").write_bytes(b"old")
    os.chown(tmp_path / "y.npy", 1234, 1235)
    done("max", x, "-o", tmp_path / "y.npy", "--kernel", "2,2")
    status = (tmp_path / "y.npy").stat()
    assert (status.st_uid, status.st_gid) == (1234, 1235)


@pytest.mark.parametrize("exists", [True, False])
def test_symbolic_links_stay_and_their_target_is_replaced(tmp_path, x, exists):
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "y.npy"
    if exists:
        target.write_bytes(b"old")
        target.chmod(0o600)
    (tmp_path / "middle.npy").symlink_to("data/y.npy")
    (tmp_path / "link.npy").symlink_to(tmp_path / "middle.npy")
    done("max", x, "-o", tmp_path / "link.npy", "--kernel", "2,2")
    assert (tmp_path / "link.npy").is_symlink() and (tmp_path / "middle.npy").is_symlink()
    np.testing.assert_array_equal(np.load(target), MAXIMA)
    assert not exists or stat.S_IMODE(target.stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "data") == ["y.npy"]


def test_links_in_a_circle(tmp_path, x):
    (tmp_path / "a.npy").symlink_to("b.npy")
    (tmp_path / "b.npy").symlink_to("a.npy")
    text = fails(1, "max", x, "-o", tmp_path / "a.npy", "--kernel", "2,2")
    assert "Too many levels of symbolic links" in text


def test_other_hard_links_keep_the_old_contents(tmp_path, x):
    (tmp_path / "y.npy").write_bytes(b"old")
    os.link(tmp_path / "y.npy", tmp_path / "other.npy")
    done("max", x, "-o", tmp_path / "y.npy", "--kernel", "2,2")
    assert (tmp_path / "other.npy").read_bytes() == b"old"
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), MAXIMA)


PRINTING = {
    "help": ["--help"],
    "help of an operator": ["max", "--help"],
    "version": ["--version"],
    "info": ["info", "{x}"],
    "many lines": ["info"] + ["{x}"] * 200,
    "explain": ["explain", "--shape", "5,5", "--kernel", "3,3"],
    "targets": ["targets"],
    "pyramid": ["pyramid", "{x}", "-o", "{folder}", "--kernel", "2,2", "--levels", "2"],
    "demo": ["demo", "-o", "{folder}", "--no-bench"],
    "an array": ["max", "{x}", "-o", "-", "--kernel", "2,2"],
    "indices": ["max", "{x}", "-o", "{y}", "--indices", "-", "--kernel", "2,2"],
    "bench": ["bench", "--quick"],
}


@pytest.mark.parametrize("name", PRINTING)
@pytest.mark.parametrize("closed", [False, True])
def test_standard_output_that_takes_nothing(tmp_path, x, name, closed):
    if closed and name == "bench":
        pytest.skip("takes a while, and is shown on the full device")
    names = {"x": x, "folder": tmp_path / "folder", "y": tmp_path / "y.npy"}
    words = [word.format(**names) for word in PRINTING[name]]
    redirect = ">&-" if closed else "> /dev/full"
    process = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", COMMAND, *words],
        capture_output=True,
        timeout=300,
    )
    reason = b"Bad file descriptor" if closed else b"No space left on device"
    assert process.returncode == 1, process
    assert process.stderr.startswith(b"ndpool: cannot write standard output")
    assert process.stderr.count(b"\n") == 1
    assert reason in process.stderr or name == "bench"


def test_standard_error_that_takes_nothing(x):
    for redirect in ("2> /dev/full", "2>&-"):
        words = ["sh", "-c", f'exec "$@" {redirect}', "sh", COMMAND, "max", x]
        assert subprocess.run(words, stdout=subprocess.PIPE).returncode == 2


def test_a_closed_standard_output_that_nobody_needs(tmp_path, x):
    words = ["max", x, "-o", tmp_path / "y.npy", "--kernel", "2,2"]
    subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", COMMAND, *words], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), MAXIMA)


def default_signals():
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, signal.SIG_DFL)


@pytest.fixture
def slow(tmp_path):
    """Words of a run that takes longer than any test waits."""
    np.save(tmp_path / "slow.npy", np.zeros((64, 512, 512), "f8"))
    return ["smooth-max", tmp_path / "slow.npy", "-o", tmp_path / "y.npy", "--kernel", "31,31,31",
            "--stride", "1,1,1", "--memory", "64M", "--threads", "1"]  # fmt: skip


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_told_by_the_exit_code(tmp_path, slow, kind):
    process = start(*slow, preexec_fn=default_signals)
    time.sleep(0.5)
    process.send_signal(kind)
    assert process.communicate(timeout=60) == (b"", b"ndpool: interrupted\n")
    assert process.returncode == 128 + kind
    assert os.listdir(tmp_path) == ["slow.npy"]


def test_a_second_signal_ends_at_once(tmp_path, slow):
    process = start(*slow, preexec_fn=default_signals)
    time.sleep(0.5)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    process.communicate()
    assert process.returncode == 130
    assert os.listdir(tmp_path) == ["slow.npy"]


@pytest.mark.parametrize("words", [["info", "-"], ["max", "-", "-o", "y.npy", "--kernel", "2,2"]])
def test_interrupted_while_it_waits_for_input(tmp_path, words):
    with start(*words, preexec_fn=default_signals, stdin=subprocess.PIPE, cwd=tmp_path) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        assert process.returncode == 130 and process.stderr.read() == b"ndpool: interrupted\n"
    assert os.listdir(tmp_path) == []


def test_interrupted_while_nobody_reads_its_output(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 1000), "f8"))
    words = ["max", tmp_path / "x.npy", "-o", "-", "--kernel", "2,2"]
    with start(*words, preexec_fn=default_signals) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        assert process.returncode == 130 and process.stderr.read() == b"ndpool: interrupted\n"


def test_signals_that_the_parent_ignores_stay_ignored(tmp_path, x):
    """As under nohup."""
    process = start("max", "-", "-o", tmp_path / "y.npy", "--kernel", "2,2", stdin=subprocess.PIPE,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # fmt: skip
    time.sleep(0.3)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    process.communicate(x.read_bytes(), timeout=60)
    assert process.returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), MAXIMA)
