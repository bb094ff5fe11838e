"""The demo page: pictures of the right shape, sliders, single windows, numbers of this run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from accessibility import serious_violations
from conftest import VIEWS

import ndpool

SHAPES = """images => images.map(image => {
  const box = image.getBoundingClientRect();
  return [image.alt, image.complete, image.naturalWidth, image.naturalHeight,
          box.width, box.height];
})"""


def run_data(page):
    return json.loads(page.locator("#data").text_content())


@pytest.mark.parametrize("width, scheme", VIEWS)
def test_every_picture_has_its_own_ratio(look, demo, width, scheme):
    page = look(demo, width, scheme)
    pictures = page.locator("img").evaluate_all(SHAPES)
    assert len(pictures) >= 40
    for alt, complete, natural_width, natural_height, shown_width, shown_height in pictures:
        assert complete and natural_width > 0, alt
        # Boxes are whole pixels of the layout at best: one pixel is allowed on either side.
        assert shown_width >= 8 and shown_height >= 8, alt
        assert abs(shown_width * natural_height / natural_width - shown_height) <= 1, (
            alt, natural_width, natural_height, shown_width, shown_height,
        )  # fmt: skip


@pytest.mark.parametrize("width, scheme", VIEWS)
def test_nothing_is_wider_than_the_window(look, demo, width, scheme):
    page = look(demo, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width, scheme", VIEWS)
def test_axe_finds_nothing_serious(look, demo, width, scheme):
    page = look(demo, width, scheme)
    page.locator("summary").click()
    assert serious_violations(page) == []


def test_the_slider_moves_between_before_and_after(look, demo):
    page = look(demo)
    slider = page.locator("#compare input")
    clips = []
    for value in (10, 90):
        slider.fill(str(value))
        clips.append(page.locator("#compare-after").evaluate("i => getComputedStyle(i).clipPath"))
    assert clips == ["inset(0px 0px 0px 10%)", "inset(0px 0px 0px 90%)"]
    before = page.locator("#compare-after").get_attribute("src")
    page.locator("#compare-choice label", has_text="Minimum").click()
    assert page.locator("#compare-after").get_attribute("src") != before


def test_the_beta_slider_shows_every_frame(look, demo):
    page = look(demo)
    frames = run_data(page)["betas"]
    seen = set()
    for number, frame in enumerate(frames):
        page.locator("#beta-slider").fill(str(number))
        assert page.locator("#beta-title").text_content() == frame["title"]
        seen.add(page.locator("#beta-figure img").first.get_attribute("src"))
    assert len(seen) == len(frames) >= 8


@pytest.mark.parametrize("name", ["max", "min", "avg", "smooth-max", "lp"])
def test_single_windows_are_those_of_the_library(look, demo, name):
    """Windows, winners and gradients of the page, beside the Python package on its numbers."""
    inspection = run_data(look(demo))["inspection"]
    rows, columns = (len(inspection[axis]["cells"]) for axis in ("rows", "columns"))
    x = np.array(inspection["input"]).reshape(rows, columns)
    shown = next(one for one in inspection["operators"] if one["name"] == name)
    window = {"kernel": (3, 3), "stride": 2, "padding": 1}
    if name == "smooth-max":
        pool, options = ndpool.smooth_max_pool, {"beta": 16, "pad_mode": "ignore"}
    elif name == "avg":
        pool, options = ndpool.avg_pool, {"count_include_pad": False}
    else:
        pool = getattr(ndpool, f"{name}_pool")
        options = {"p": 2} if name == "lp" else {}
    y = pool(x, **window, **options)
    np.testing.assert_allclose(np.reshape(shown["values"], y.shape), y, atol=2e-4)
    for o, (first, count) in enumerate(inspection["rows"]["outputs"]):
        assert (first, count) == (max(2 * o - 1, 0), min(2 * o + 2, rows) - max(2 * o - 1, 0))
    if name in ("max", "min"):
        # The input was rounded for the page: a winner is one of the largest rounded numbers.
        np.testing.assert_allclose(x.ravel()[shown["winners"]], y.ravel(), atol=1e-4)
        ones = np.bincount(shown["winners"], minlength=x.size)
        np.testing.assert_array_equal(ones, shown["gradient"])


def test_the_window_under_the_pointer_is_told(look, demo):
    page = look(demo)
    inspection = run_data(page)["inspection"]
    output = page.locator("#inspection-output")
    output.scroll_into_view_if_needed()
    box = output.bounding_box()
    columns = len(inspection["columns"]["outputs"])
    rows = len(inspection["rows"]["outputs"])
    row, column = 3, 5
    page.mouse.move(
        box["x"] + (column + 0.5) * box["width"] / columns,
        box["y"] + (row + 0.5) * box["height"] / rows,
    )
    reading = page.locator("#reading").text_content()
    shown = inspection["operators"][0]
    number = row * columns + column
    assert f"Maximum of output (3, 5): {shown['values'][number]}" in reading
    assert "rows 5 to 7" in reading and "columns 9 to 11" in reading
    gradient = shown["gradient"][shown["winners"][number]]
    assert f"whose gradient is {gradient:g}." in reading
    output.focus()
    page.keyboard.press("ArrowRight")
    assert "output (3, 6)" in page.locator("#reading").text_content()
    page.locator("#inspection-input").focus()
    page.keyboard.press("ArrowDown")
    assert "Gradient of the sum" in page.locator("#reading").text_content()


@pytest.mark.parametrize("width", [400, 1400])
def test_the_chart_shows_every_case_with_its_numbers(look, demo, width):
    page = look(demo, width)
    data = run_data(page)
    rows = page.locator("#speed-table tbody tr")
    assert rows.count() == len(data["speed"]["cases"]) >= 12
    for number, case in enumerate(data["speed"]["cases"]):
        text = rows.nth(number).inner_text()
        assert case["name"] in text and f"{case['ratio']:.2f}" in text
        name = rows.nth(number).locator(".name").bounding_box()
        assert name["x"] >= 0 and name["x"] + name["width"] <= width
    assert data["machine"]["processor"] in page.locator("#speed-summary").text_content()


def test_links_and_origin_of_the_photograph_are_there(look, demo):
    page = look(demo)
    assert page.locator("#links a").get_attribute("href") == "explorer.html"
    assert "CC0" in page.locator("#credit").text_content()
