"""The command under test, and a few ways to run it."""

import functools
import os
import subprocess
import sys
from pathlib import Path

COMMAND = os.environ.get(
    "NDPOOL_COMMAND", str(Path(__file__).resolve().parents[2] / "build/release/bin/ndpool")
)


def start(*words, **options):
    return subprocess.Popen(
        [COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def run(*words, stdin=None, **options):
    """The finished process; its texts are bytes."""
    return subprocess.run(
        [COMMAND, *map(str, words)], input=stdin, capture_output=True, timeout=300, **options
    )


def done(*words, **options):
    """What the command prints when nothing goes wrong."""
    process = run(*words, **options)
    assert process.returncode == 0, process.stderr.decode()
    assert process.stderr == b""
    return process.stdout


def fails(code, *words, **options):
    """The one line that the command says when it ends with this code."""
    process = run(*words, **options)
    text = process.stderr.decode()
    assert process.returncode == code, (process.returncode, text)
    assert text.startswith("ndpool: ") and text.count("\n") == 1, text
    assert process.stdout == b""
    return text


def run_and_weigh(*words):
    """The finished process and its largest resident set in bytes. A small process starts it,
    because a process begins with the weight of the one that it was forked from."""
    code = (
        "import resource, subprocess, sys; process = subprocess.run(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); "
        "sys.exit(process.returncode)"
    )
    process = subprocess.run(
        [sys.executable, "-S", "-c", code, COMMAND, *map(str, words)],
        capture_output=True,
        timeout=300,
    )
    return process, 1024 * int(process.stdout.split()[-1])


@functools.cache
def weight_at_rest():
    """The resident set of a run that does nothing: code, libraries, and what sanitizers add."""
    process, weight = run_and_weigh("--version")
    assert process.returncode == 0, process.stderr
    return weight
