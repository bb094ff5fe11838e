"""The calls that the page copies give the numbers that it shows, in every language."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from test_explorer_numbers import assert_close, assert_equal_bits, gradient_bound, largest, ulps

from explorer_settings import generate
from explorer_tab import ROOT, SEED

RELEASE = ROOT / "build/release"


@pytest.fixture(scope="module")
def calls(tab):
    """Settings, what the page shows and its calls: each operator with each kind of windows."""
    taken, chosen = {}, []
    for setting in generate(600, SEED + 2):
        kind = (setting.op, setting.geometry)
        if taken.get(kind, 0) == 4:
            continue
        shown = tab.open(setting.link)
        if shown["outcome"] != "fine":
            continue
        taken[kind] = taken.get(kind, 0) + 1
        chosen.append((setting, shown, tab.page.evaluate("explorer.calls()")))
    assert len(taken) == 18 and len(chosen) == 72
    return chosen


def check(setting, shown, y, indices, gx):
    texts = shown["numbers"]
    wanted, gradient = (np.array([float(text) for text in texts[name]]) for name in ("y", "gx"))
    got = np.ravel(np.asarray(y, dtype=float))
    if setting.op in ("smooth-max", "lp"):
        assert_close(got, wanted, 8 * ulps(largest(setting, wanted)), setting.link)
    else:
        assert_equal_bits(got, wanted, setting.link)
    if setting.has_indices:
        assert np.ravel(indices).tolist() == [int(text) for text in texts["indices"]], setting.link
    bound = gradient_bound(setting, gradient)
    assert_close(np.ravel(np.asarray(gx, dtype=float)), gradient, bound, setting.link)


def run(code):
    names = {"print": lambda *values, **options: None}
    exec(code, names)
    return names


def test_python(calls):
    for setting, shown, texts in calls:
        assert "float64" in texts["Python"]
        names = run(texts["Python"])
        check(setting, shown, names["y"], names.get("indices"), names["gx"])


def test_torch(calls):
    own = 0
    for setting, shown, texts in calls:
        code = texts["torch"]
        assert "float64" in code
        own += "import torch.nn.functional as F" in code
        # A call that is not torch's own says why not.
        assert "import torch.nn.functional" in code or re.search(r"as F  # torch", code), code
        names = run(code)
        check(setting, shown, names["y"].detach(), names.get("indices"), names["x"].grad)
    assert own >= 1


def test_torchs_own_pools_are_named_where_they_give_the_same(tab):
    for link, call in (
        ("#max&shape=2,6,6&axes=1,2&kernel=3,3&stride=2,2&padding=1,1", "F.max_pool2d(x, (3, 3)"),
        ("#max&shape=6&kernel=3&stride=1&dilation=2&ceil", "F.max_pool1d(x[None], (3,)"),
        ("#adaptive-max&shape=6,6&output_size=3,4", "F.adaptive_max_pool2d(x[None], (3, 4)"),
        ("#avg&shape=4,4,4&kernel=2,2,2&divisor=3", "F.avg_pool3d(x[None], (2, 2, 2), divisor"),
    ):
        shown = tab.open(link)
        code = tab.page.evaluate("explorer.calls()")["torch"]
        assert call in code
        names = run(code)
        np.testing.assert_array_equal(np.ravel(names["y"].detach()), shown["y"])
        if "indices" in names:
            np.testing.assert_array_equal(np.ravel(names["indices"]), shown["indices"])


def test_cpp(calls, tmp_path):
    """All calls as one program: each main becomes a function of its own."""
    programs = [texts["C++"] for _, _, texts in calls]
    includes = "".join(sorted(set(re.findall(r"^#include.*\n", "".join(programs), re.MULTILINE))))
    bodies = [re.sub(r"^#include.*\n", "", text, flags=re.MULTILINE) for text in programs]
    functions = [body.replace("int main()", f"int call_{i}()").rstrip()[:-1] + "  return 0;\n}\n"
                 for i, body in enumerate(bodies)]  # fmt: skip
    main = "int main() {\n" + "".join(f"  call_{i}();\n" for i in range(len(calls))) + "}\n"
    (tmp_path / "calls.cpp").write_text(includes + "".join(functions) + main)
    program = tmp_path / "calls"
    subprocess.run(
        [os.environ.get("CXX", "g++"), "-std=c++20", "-O0", f"-I{ROOT / 'include'}",
         tmp_path / "calls.cpp", f"-L{RELEASE}", "-lndpool",
         f"-Wl,-rpath,{RELEASE}", "-lhwy", "-lpthread", "-o", program],
        check=True,
    )  # fmt: skip
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    lines = iter(printed.splitlines())
    for setting, shown, texts in calls:
        assert "float64" in texts["C++"]
        y = list(map(float, next(lines).split()))
        indices = list(map(int, next(lines).split())) if setting.has_indices else None
        check(setting, shown, y, indices, list(map(float, next(lines).split())))
    assert next(lines, None) is None


def test_shell(calls, tmp_path):
    """One call of every operator and kind of windows."""
    seen = set()
    path = f"{RELEASE / 'bin'}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    for setting, shown, texts in calls:
        kind = (setting.op, setting.geometry)
        if kind in seen:
            continue
        seen.add(kind)
        folder = tmp_path / f"{setting.op}-{setting.geometry}"
        folder.mkdir()
        assert "float64" in texts["Shell"]
        done = subprocess.run(
            ["bash", "-e", "-c", texts["Shell"]], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "PATH": path},
        )  # fmt: skip
        assert done.returncode == 0, (setting.link, done.stderr)
        arrays = {name: np.load(folder / f"{name}.npy") for name in ("y", "gx")}
        indices = np.load(folder / "indices.npy") if setting.has_indices else None
        check(setting, shown, arrays["y"], indices, arrays["gx"])
    assert len(seen) == 18
