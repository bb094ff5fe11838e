"""Pictures, with Pillow on the other side, and the page of the demo in a real browser."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from command import done, fails
from PIL import Image

import ndpool

MODES = {"L": (np.uint8, ()), "LA": (np.uint8, (2,)), "RGB": (np.uint8, (3,)),
         "RGBA": (np.uint8, (4,)), "I;16": (np.uint16, ())}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(tmp_path, mode):
    dtype, channels = MODES[mode]
    random = np.random.default_rng(0)
    x = random.integers(0, np.iinfo(dtype).max, (24, 18, *channels), dtype=dtype)
    Image.fromarray(x).save(tmp_path / "x.png")
    for op in ("max", "avg"):
        done(op, tmp_path / "x.png", "-o", tmp_path / "y.png", "--kernel", "2")
        picture = Image.open(tmp_path / "y.png")
        assert picture.mode.startswith(mode[0])
        expected = getattr(ndpool, op + "_pool")(x, 2, axes=(0, 1))
        np.testing.assert_array_equal(np.asarray(picture).astype(dtype), expected)
        done(op, tmp_path / "x.png", "-o", tmp_path / "y.npy", "--kernel", "2,2")
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected)


def test_sixteen_bit_colours(tmp_path):
    x = np.random.default_rng(0).integers(0, 65536, (6, 8, 3), dtype=np.uint16)
    np.save(tmp_path / "x.npy", x)
    done("max", tmp_path / "x.npy", "-o", tmp_path / "x.png", "--kernel", "1,1", "--axes", "0,1")
    done("max", tmp_path / "x.png", "-o", tmp_path / "y.npy", "--kernel", "1")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x)


def test_palettes_and_single_bits(tmp_path):
    x = np.random.default_rng(0).integers(0, 2, (8, 8), dtype=np.uint8) * 255
    Image.fromarray(x).convert("1").save(tmp_path / "bits.png")
    Image.fromarray(x).convert("P").save(tmp_path / "palette.png")
    done("max", tmp_path / "bits.png", "-o", tmp_path / "y.npy", "--kernel", "2")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), ndpool.max_pool(x, (2, 2)))
    done("max", tmp_path / "palette.png", "-o", tmp_path / "y.npy", "--kernel", "2")
    assert np.load(tmp_path / "y.npy").shape == (4, 4, 3)


def test_colours_are_never_pooled(tmp_path):
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "x.png")
    words = ["max", tmp_path / "x.png", "-o", tmp_path / "y.png", "--kernel", "2,2", "--axes"]
    assert "colours" in fails(2, *words, "1,2")
    assert "colours" in fails(2, *words, "0,-1")


def test_pyramid_of_a_picture(tmp_path):
    x = np.random.default_rng(0).integers(0, 256, (33, 20, 3), dtype=np.uint8)
    Image.fromarray(x).save(tmp_path / "x.png")
    done(
        "pyramid", tmp_path / "x.png", "-o", tmp_path / "p", "-q", "--kernel", "2", "--levels", "3"
    )
    shapes = [np.asarray(Image.open(tmp_path / f"p/level-{i}.png")).shape for i in (1, 2, 3)]
    assert shapes == [(17, 10, 3), (9, 5, 3), (5, 3, 3)]


def browser():
    return (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


@pytest.mark.skipif(browser() is None, reason="there is no browser")
@pytest.mark.parametrize("own", [False, True])
def test_the_page_in_a_browser(tmp_path, own):
    words = ["demo", "--out", tmp_path / "demo", "--no-bench"]
    if own:
        picture = np.random.default_rng(0).integers(0, 256, (300, 700, 3), dtype=np.uint8)
        Image.fromarray(picture).save(tmp_path / "own.png")
        words += ["--input", tmp_path / "own.png"]
    assert b"index.html" in done(*words)
    page = tmp_path / "demo" / "index.html"
    text = page.read_text()
    assert "http" not in text  # it needs nothing but itself
    # A copy that reports its pictures once all are loaded, and how many have a ratio that is not
    # their own: off by more than a pixel.
    probe = """<script>addEventListener("load", () => {
      const all = [...document.images], loaded = all.filter(i => i.complete && i.naturalWidth > 0);
      const squashed = all.filter(i => { const box = i.getBoundingClientRect();
        return Math.abs(box.width * i.naturalHeight / i.naturalWidth - box.height) > 1; });
      document.title = `images ${loaded.length} of ${all.length}, squashed ${squashed.length}`;
    });</script>"""
    (tmp_path / "demo" / "probed.html").write_text(text.replace("</body>", probe + "</body>"))
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
               f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,4000"]  # fmt: skip
    process = subprocess.run(
        [*command, "--dump-dom", (tmp_path / "demo" / "probed.html").as_uri()],
        capture_output=True, timeout=120, env=dict(os.environ, HOME=str(tmp_path)),
    )  # fmt: skip
    report = r"<title>images (\d+) of (\d+), squashed (\d+)</title>"
    shown = re.search(report, process.stdout.decode())
    assert shown is not None, process.stderr.decode()[-2000:]
    assert shown[1] == shown[2] and int(shown[1]) >= 40 and shown[3] == "0"
    assert "CONSOLE" not in process.stderr.decode()
    shot = tmp_path / "shot.png"
    subprocess.run(
        [*command, f"--screenshot={shot}", page.as_uri()], capture_output=True, timeout=120
    )
    colours = np.asarray(Image.open(shot).convert("RGBA")).view(np.uint32)
    assert len(np.unique(colours)) > 500
