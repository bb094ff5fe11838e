"""The command under test, and a few ways to run it."""

import os
import subprocess
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
