"""Legibility on phones, laptops and projectors, for every graph of the lesson."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lesson import Lesson
from look import MIDDLE, PRESETS
from playwright.sync_api import Browser, CDPSession, Locator, Page, expect

LEAST = 11  # screen pixels
SIZES = {
    "laptop": (1280, 800),
    "projector": (800, 600),
    "phone": (390, 844),
    "turned": (844, 390),
}

# Each visible text and its size on the screen. SVG text is scaled with its drawing.
TEXTS = """() => {
  const found = [];
  const roots = [document, ...[...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
  for (const element of roots.flatMap((root) => [...root.querySelectorAll("*")])) {
    const texts = [...element.childNodes].filter(({ nodeType }) => nodeType === 3);
    const text = texts.map(({ data }) => data).join("").trim();
    if (!text || ["TITLE", "STYLE", "SCRIPT", "title"].includes(element.tagName)) continue;
    if (!element.checkVisibility() || !element.getClientRects().length) continue;
    const scale = element instanceof SVGGraphicsElement ? element.getScreenCTM().a : 1;
    found.push([parseFloat(getComputedStyle(element).fontSize) * scale, text]);
  }
  return found;
}"""

# Width and height of all boxes together, minus the width and height of the stage.
EXTENT = """(svg) => {
  const boxes = [...svg.querySelectorAll(".hit[role=button]")].filter(({ tagName }) => tagName === "rect");
  const all = boxes.map((box) => box.getBoundingClientRect());
  const room = svg.getBoundingClientRect();
  const width = Math.max(...all.map(({ right }) => right)) - Math.min(...all.map(({ left }) => left));
  const height = Math.max(...all.map(({ bottom }) => bottom)) - Math.min(...all.map(({ top }) => top));
  return [width - room.width, height - room.height];
}"""


@pytest.fixture(params=SIZES.values(), ids=list(SIZES), scope="module")
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("preset", PRESETS)
def test_all_text_is_large_enough(page: Page, lesson_file: Path, preset: str) -> None:
    page.goto("about:blank")
    lesson = Lesson(page)
    lesson.visit(lesson_file, f"show={preset}&step={MIDDLE.get(preset, 7)}")
    page.wait_for_timeout(50)
    texts = page.evaluate(TEXTS)
    assert any(text == "data" for _, text in texts)
    assert [(size, text) for size, text in texts if size < LEAST] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    across, down = lesson.graph.locator("svg.stage").evaluate(EXTENT)
    stage = lesson.graph.locator("svg.stage").bounding_box()
    assert stage
    if (across > 1 or down > 1) and stage["height"] >= 320:  # a minimap would cover too much of a lower stage
        expect(lesson.graph.locator(".minimap")).to_be_visible()
    elif across < -2 and down < -2:
        expect(lesson.graph.locator(".minimap")).to_be_hidden()


@pytest.mark.parametrize("preset", PRESETS)
def test_current_node_stays_in_view(page: Page, lesson_file: Path, preset: str) -> None:
    page.goto("about:blank")
    lesson = Lesson(page)
    lesson.visit(lesson_file, f"show={preset}")
    stage = lesson.graph.locator("svg.stage").bounding_box()
    assert stage
    for _ in range(int(lesson.timeline.get_attribute("max") or 0)):
        lesson.button("Next step").click()
        card = lesson.graph.locator(".node.active .card").bounding_box()
        assert card
        assert stage["x"] - 1 <= card["x"]
        assert card["x"] + card["width"] <= stage["x"] + stage["width"] + 1
        assert stage["y"] - 1 <= card["y"]
        assert card["y"] + card["height"] <= stage["y"] + stage["height"] + 1


def test_a_small_graph_is_enlarged(browser: Browser, lesson_file: Path) -> None:
    page = browser.new_page(viewport={"width": 1920, "height": 1080}, reduced_motion="reduce")
    lesson = Lesson(page)
    lesson.visit(lesson_file, "show=square")
    assert lesson.view[2] > 1.5
    page.close()


def test_layout_follows_phone_orientation(browser: Browser, lesson_file: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    lesson = Lesson(page)
    lesson.visit(lesson_file, "show=product")
    is_below = """([a, e]) => a.getBoundingClientRect().bottom < e.getBoundingClientRect().top"""
    ends = [lesson.box(name).element_handle() for name in "ae"]
    assert all(ends)
    page.wait_for_function(is_below, arg=ends)
    page.set_viewport_size({"width": 844, "height": 390})
    page.wait_for_function(f"(ends) => !({is_below})(ends)", arg=ends)
    page.close()


def test_minimap_pans(visit: Callable[..., Lesson]) -> None:
    lesson = visit("show=network")
    lesson.page.set_viewport_size({"width": 390, "height": 844})
    minimap = lesson.graph.locator(".minimap")
    expect(minimap).to_be_visible()
    lesson.page.wait_for_timeout(200)
    before = lesson.view
    box = minimap.bounding_box()
    assert box
    lesson.page.mouse.move(box["x"] + 8, box["y"] + 8)
    lesson.page.mouse.down()
    lesson.page.mouse.move(box["x"] + box["width"] - 8, box["y"] + box["height"] - 8, steps=4)
    lesson.page.mouse.up()
    after = lesson.view
    assert after[0] < before[0] or after[1] < before[1]
    assert after[2] == before[2]
    lesson.button("Show everything").click()
    expect(minimap).to_be_hidden()


# Dragging numbers


def number(lesson: Lesson, name: str) -> Locator:
    """Return the handle that drags a leaf's number."""
    return lesson.box(name).locator("xpath=following-sibling::*[@class='slide']")


def middle(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_dragging_a_number_by_mouse(visit: Callable[..., Lesson]) -> None:
    lesson = visit("show=product&step=8")
    view = lesson.view
    x, y = middle(number(lesson, "a"))
    lesson.page.mouse.move(x, y)
    lesson.page.mouse.down()
    lesson.page.mouse.move(x + 40, y, steps=5)
    expect(lesson.leaf("a")).to_have_value("3.0")  # before the mouse is released
    lesson.page.mouse.up()
    assert lesson.rows["a"].data == "3"
    assert lesson.rows["f"].data == "0"
    assert lesson.position == 8
    assert lesson.view == view
    expect(lesson.graph.locator(".selected")).to_have_count(0)
    lesson.settled("show=product&at=a%3A3.0%2Cb%3A-3.0%2Cc%3A10.0&step=8")


def test_shift_drags_in_finer_steps(visit: Callable[..., Lesson]) -> None:
    lesson = visit("show=product&step=8")
    x, y = middle(number(lesson, "a"))
    lesson.page.mouse.move(x, y)
    lesson.page.keyboard.down("Shift")
    lesson.page.mouse.down()
    lesson.page.mouse.move(x + 40, y, steps=5)
    lesson.page.mouse.up()
    lesson.page.keyboard.up("Shift")
    assert lesson.rows["a"].data == "2.1"


def test_a_click_on_a_number_selects_its_box(visit: Callable[..., Lesson]) -> None:
    lesson = visit("show=product&step=8")
    number(lesson, "a").click()
    expect(lesson.graph.locator(".node.selected")).to_have_count(1)
    assert lesson.rows["a"].data == "2"


def test_dragging_a_number_by_touch(browser: Browser, lesson_file: Path) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, reduced_motion="reduce", has_touch=True, is_mobile=True
    )
    page = context.new_page()
    lesson = Lesson(page)
    lesson.visit(lesson_file, "show=product&step=8")
    page.wait_for_timeout(200)
    x, y = middle(number(lesson, "a"))
    slide(context.new_cdp_session(page), x, y, 40)
    expect(lesson.leaf("a")).not_to_have_value("2.0")
    assert float(lesson.leaf("a").input_value()) > 2
    assert lesson.position == 8
    context.close()


def slide(touch: CDPSession, x: float, y: float, far: float) -> None:
    """Touch, move horizontally, and release."""
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for i in range(1, 11):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + far * i / 10, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.parametrize(("keys", "data"), [(["]"], "2.1"), (["Alt+ArrowDown"], "1.9"), (["[", "["], "1.8")])
def test_keys_change_a_number(visit: Callable[..., Lesson], keys: list[str], data: str) -> None:
    lesson = visit("show=product&step=8")
    lesson.press("g", *keys)
    assert lesson.rows["a"].data == data
    assert lesson.position == 8


def test_numbers_of_a_question_cannot_be_changed(visit: Callable[..., Lesson]) -> None:
    lesson = visit("mode=exercises&exercise=1")
    expect(lesson.graph.locator(".slide").first).to_be_hidden()
