"""The page itself: links, sentences, keys, drawing, and what a reader of screens meets."""

import pytest
from accessibility import serious_violations

import ndpool
from explorer_settings import generate
from explorer_tab import PAGE, SEED

TIES = "#max&shape=4,6&kernel=2,3&stride=2,3&ties=split&x=" + ",".join(["1,2,2,0"] * 6)
WRONG = [
    ("#max&shape=5,5&kernel=9,2", "kernel 9 on axis 0 does not fit: it spans 9 cells"),
    ("#max&shape=5,5&kernel=2,2&padding=3,0", "padding 3 on axis 0 leaves output 0 without"),
    ("#max&shape=5&kernel=2&stride=0", "stride 0 on axis 0 must be at least 1"),
    ("#smooth-max&shape=5&kernel=2&beta=0", "beta 0 must be finite and not 0"),
    ("#smooth-max&shape=5&kernel=2&beta=inf", "beta inf must be finite and not 0"),
    ("#lp&shape=5&kernel=2&p=-0.5", "p -0.5 must be greater than 0"),
    ("#avg&shape=5&kernel=2&divisor=0", "divisor 0 cannot divide"),
    ("#adaptive-max&shape=5&output_size=0", "output_size 0 on axis 0 must be at least 1"),
    ("#max&shape=0&kernel=1", "axis 0 of x has length 0"),
    ("#max&shape=5&kernel=2&padding=9223372036854775807", "padding before on axis 0 must be at"),
    ("#max&shape=5&kernel=2.5", "kernel on axis 0 must be a whole number, not 2.5"),
    ("#max&shape=999999&kernel=2", "this page draws at most 4096 cells"),
]  # fmt: skip


def test_the_file_is_small_and_needs_nothing_else():
    text = PAGE.read_text()
    assert len(text.encode()) <= 400 * 1024
    assert (
        "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text
    )


def test_links_keep_the_state(tab):
    for setting in generate(120, SEED + 1):
        shown = tab.open(setting.link)
        again = tab.open(shown["link"])
        assert again["link"] == shown["link"] and again["call"] == shown["call"], setting.link
        assert again["numbers"] == shown["numbers"] and again["sentence"] == shown["sentence"]
    tab.page.wait_for_function("link => location.hash === link", arg=again["link"])


def test_a_link_in_the_address_bar_opens_as_it_was_copied(fresh):
    first = fresh(link=TIES)
    first.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    first.page.click("#copy-link")
    copied = first.page.evaluate("window.copied")
    assert copied.startswith(PAGE.as_uri() + "#max&shape=4,6")
    second = fresh(link=copied[len(PAGE.as_uri()) :])
    assert second.shown()["numbers"] == first.shown()["numbers"]
    assert second.shown()["call"]["ties"] == "split"


def test_words_that_a_link_should_not_have_are_named(fresh):
    tab = fresh(link="#max&shape=4&kernel=2&strides=3&ties=both")
    toast = tab.page.text_content("#toast")
    assert "strides" in toast and "ties" in toast


@pytest.mark.parametrize("link, sentence", WRONG)
def test_wrong_settings_show_the_sentence_of_the_library(tab, link, sentence):
    shown = tab.open(link)
    assert shown["outcome"] != "fine" and shown["sentence"].startswith(sentence)
    alert = tab.page.locator("[role=alert]")
    assert alert.is_visible() and alert.text_content() == shown["sentence"]
    assert tab.page.is_disabled("#copy-call")


def test_the_arithmetic_is_that_of_the_command(tab):
    shown = tab.open("#max&shape=5,6&kernel=2,3&stride=2,2&padding=1:1,0:0&dilation=1,2&ceil")
    assert shown["arithmetic"] == [
        "Axis 0: ceil((5 cells + 1 before + 1 after - window of 2) / stride 2) + 1 = 4, less the "
        "last window, which would start behind the input: 3 outputs",
        "Axis 1: ceil((6 cells + 0 before + 0 after - window of 5) / stride 2) + 1 = 2 outputs",
        "a window of 3 taps, 2 apart, reaches over (3 - 1) * 2 + 1 = 5 cells",
    ]
    assert tab.page.locator("#arithmetic li").all_text_contents() == shown["arithmetic"]
    shown = tab.open("#max&shape=6&kernel=3&stride=2")
    assert shown["warnings"] == [
        "1 cell is at the end of axis 0, in no window. To keep it: ceil mode, or padding 0:1 on "
        "this axis"
    ]
    assert tab.page.locator("#input .unseen").count() == 1


def test_padding_overhang_and_unseen_cells_are_drawn(tab):
    tab.open("#avg&shape=6,7&kernel=3,3&stride=2,3&padding=1:0,0:0&ceil")
    shown = tab.shown()
    for kind, ground in (("cell", 0), ("padding", 1), ("overhang", 2)):
        drawn = tab.page.locator(f"#input [role=gridcell].{kind}").count()
        assert drawn == shown["grounds"].count(ground)
    assert shown["grounds"].count(1) == 7 and shown["grounds"].count(2) == 14


def test_pointing_at_an_output_shows_its_window_its_winner_and_weights(tab):
    tab.open(TIES)
    tab.page.hover("#output [data-i='0']")
    assert tab.page.locator("#input .tap").count() == 6
    assert tab.page.locator("#input .winner").count() == 1
    assert tab.page.locator("#input .window.strong").count() == 1
    told = tab.page.text_content("#inspector")
    assert "Output [0, 0]: 6 taps on cells" in told and "= 2" in told and "index 1" in told
    notes = tab.page.locator("#input .note").all_text_contents()
    assert notes == ["0.33"] * 3


def test_pointing_at_an_input_cell_shows_who_sees_it_and_its_gradient(tab):
    tab.open("#sum&shape=5&kernel=3&stride=1&gradient=count")
    tab.page.hover("#input [data-i='2']")
    assert tab.page.locator("#output .tap").count() == 3
    told = tab.page.text_content("#inspector")
    assert "Seen by 3 outputs: [0], [1], [2]." in told
    assert "gradient = 1 · 1 + 1 · 2 + 1 · 3 = 6" in told


def test_keys_walk_over_the_cells_and_change_them(fresh):
    tab = fresh(link="#max&shape=3,3&kernel=2,2&stride=1,1&x=1,2,3,4,5,6,7,8,9")
    tab.page.focus("#input [data-i='0']")
    for key in ("ArrowRight", "ArrowDown", "End", "ArrowDown", "ArrowDown", "Home"):
        tab.page.keyboard.press(key)
    focused = "document.activeElement.getAttribute('aria-label')"
    assert tab.page.evaluate(focused) == "input [2, 0]: 7"
    assert "Input [2, 0] = 7" in tab.page.text_content("#inspector")
    tab.page.keyboard.type("-2.5")
    tab.page.keyboard.press("Enter")
    assert tab.shown()["x"] == [1, 2, 3, 4, 5, 6, -2.5, 8, 9]
    assert tab.page.evaluate(focused) == "input [2, 0]: −2.5"
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.closest('.grid').id") == "output"
    # One stop per grid, whatever its size.
    for grid in ("input", "output", "gradient"):
        assert tab.page.locator(f"#{grid} [tabindex='0']").count() == 1


def test_values_can_be_typed_drawn_drawn_at_random_tied_and_nan(fresh):
    tab = fresh(link="#max&shape=2,4&kernel=2,2")
    tab.page.fill("#values", "1 2 3 4 nan -inf 7.5 8")
    assert [str(v) for v in tab.shown()["numbers"]["x"]] == "1 2 3 4 nan -inf 7.5 8".split()
    tab.page.check("#drawing")
    tab.page.fill("#brush", "40")
    tab.page.locator("#input").scroll_into_view_if_needed()
    box = tab.page.locator("#input [data-i='0']").bounding_box()
    end = tab.page.locator("#input [data-i='2']").bounding_box()
    tab.page.mouse.move(box["x"] + 9, box["y"] + 9)
    tab.page.mouse.down()
    tab.page.mouse.move(end["x"] + 9, end["y"] + 9, steps=8)
    tab.page.mouse.up()
    assert tab.shown()["x"][:4] == [40, 40, 40, 4]
    for fill, holds in (
        ("random", lambda x: len(set(x)) > 3),
        ("ramp", lambda x: x == list(range(24))),
        ("ties", lambda x: set(x) <= {0, 1, 2}),
        ("zeros", lambda x: set(x) == {0}),
    ):
        tab.page.fill("#shape-1", "12")
        tab.page.click(f"[data-fill={fill}]")
        assert len(tab.shown()["x"]) == 24 and holds(tab.shown()["x"]), fill
    tab.page.evaluate("Math.random = () => 0.1")
    tab.page.click("[data-fill=nan]")
    assert set(tab.shown()["numbers"]["x"]) == {"nan"} and set(tab.shown()["numbers"]["y"]) == {
        "nan"
    }


def test_sliders_and_fields_set_every_size(fresh):
    tab = fresh(link="#max&shape=9,9&kernel=3,3")
    for name, key in (("kernel", "kernel"), ("stride", "stride"), ("before", "before"),
                      ("after", "after"), ("dilation", "dilation")):  # fmt: skip
        tab.page.fill(f"#{name}-1", "2")
        assert tab.shown()["call"][key][1] == 2
        tab.page.focus(f"#{name}-1-slider")
        tab.page.keyboard.press("ArrowRight")
        assert tab.shown()["call"][key][1] == 3, name
        assert tab.page.input_value(f"#{name}-1") == "3"
        assert tab.page.evaluate("document.activeElement.id") == f"{name}-1-slider"
    tab.page.fill("#stride-1", "")
    assert "stride" not in tab.shown()["call"]
    tab.page.select_option("[name=padding]", "same")
    assert tab.shown()["call"]["padding"] == "same" and not tab.page.is_visible("#before-0")
    tab.page.check("[name=rank][value='3']", force=True)
    assert len(tab.shown()["call"]["shape"]) == 3
    tab.page.uncheck("#pooled-0")
    assert tab.shown()["call"]["axes"] == [1, 2]
    tab.page.check("[name=geometry][value=adaptive]", force=True)
    tab.page.fill("#outputSize-2", "4")
    assert tab.shown()["call"]["outputSize"] == [2, 4]
    tab.page.check("[name=geometry][value=global]", force=True)
    tab.page.check("[name=keepdims]")
    assert tab.shown()["visibleShape"] == [3, 1, 1]


def test_every_example_shows_what_it_promises(tab):
    links = tab.page.locator("#examples option").evaluate_all("all => all.map(o => o.value)")[1:]
    assert len(links) >= 12
    outcomes = [tab.open(link)["outcome"] for link in links]
    assert outcomes.count("no numbers") == 1 and outcomes.count("fine") == len(links) - 1


SCENES = {
    "start": "",
    "slices": "#max&shape=3,4,4&kernel=2,3,3&stride=1,2,2&padding=0,1,1&x=1,nan,2",
    "nothing": "#max&shape=5,5&kernel=9,2",
    "no numbers": "#smooth-max&shape=5,5&kernel=2,2&padding=3,0&pad_mode=ignore",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_nothing_serious(fresh, width, scheme):
    tab = fresh(width=width, scheme=scheme)
    for name, link in SCENES.items():
        tab.open(link)
        tab.page.wait_for_timeout(150)  # colours change slowly
        assert serious_violations(tab.page) == [], name
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_sentence_of_the_page_is_the_one_of_the_package():
    """So that the table above is not about itself."""
    import numpy as np

    with pytest.raises(ValueError, match="kernel 9 on axis 0 does not fit: it spans 9 cells"):
        ndpool.max_pool(np.zeros((5, 5)), (9, 2))
