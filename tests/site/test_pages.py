"""The documentation site, from files: no console message, no outside request, search, themes."""

from __future__ import annotations

import pytest
from accessibility import serious_violations
from conftest import ROOT, SITE, VIEWS

PAGES = [
    "index", "guide/start", "guide/ten-pictures", "guide/choosing", "guide/derivatives",
    "guide/speed", "guide/large-arrays", "guide/from-torch", "guide/from-scipy",
    "guide/from-opencv", "guide/from-scikit-image", "semantics", "reference/python", "command",
    "performance", "reference/cpp/errors", "trust", "c", "dask", "xarray", "jax", "packages",
    "torch", "onnx", "plans", "threads", "embedded", "graph", "reference/cpp/c",
    "reference/cpp/plans", "reference/dask-jax",
]  # fmt: skip
AXE_PAGES = [
    "index", "guide/start", "guide/ten-pictures", "reference/python", "c", "dask", "jax",
    "reference/cpp/errors", "explorer",
]  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_from_outside(look, name):
    page = look(SITE / f"{name}.html")
    assert page.locator("h1").first.is_visible()
    for image in page.locator("article img").all():
        assert image.evaluate("i => i.complete && i.naturalWidth > 0"), image.get_attribute("src")


@pytest.mark.parametrize("width, scheme", VIEWS)
@pytest.mark.parametrize("name", AXE_PAGES)
def test_axe_finds_nothing_serious(look, name, width, scheme):
    assert serious_violations(look(SITE / f"{name}.html", width, scheme)) == []


def test_search_finds_dilation_from_a_file(look):
    page = look(SITE / "index.html")
    page.goto((SITE / "search.html").as_uri() + "?q=dilation")
    results = page.locator("#search-results li")
    results.first.wait_for()
    titles = " ".join(results.all_inner_texts())
    assert "What every operator means" in titles and results.count() >= 3


def test_every_public_header_has_its_section():
    headers = {
        str(path.relative_to(ROOT / "include"))
        for path in (ROOT / "include/ndpool").rglob("*.h*")
        # Which headers there are is all that ndpool.hpp says.
        if not path.name.endswith("-inl.hpp")
        and path.parent.name != "detail"
        and path.name != "ndpool.hpp"
    }
    pages = (ROOT / "docs/reference/cpp").glob("*.md")
    text = "".join(page.read_text() for page in pages)
    assert {name for name in headers if f"{{doxygenfile}} {name}\n" not in text} == set()


def test_every_public_function_of_python_is_described():
    import ndpool

    page = (SITE / "reference/python.html").read_text()
    public = [name for name in ndpool.__all__ if not name.startswith("_")]
    assert [name for name in public if f'id="ndpool.{name}"' not in page] == []
