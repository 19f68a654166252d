"""Regression tests: results shown too early, misdirected keys, covered elements."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Browser, BrowserContext, expect

from gradwalk import Value, walk
from gradwalk.functions.reductions import sumprod

Visit = Callable[..., Lesson]

SUM = " + ".join(f"x*{i}" for i in range(3, 63))
NEXT = ("n", "ArrowRight", "PageDown")
BACK = ("b", "ArrowLeft", "PageUp")


# Open questions


@pytest.mark.parametrize(("preset", "answer"), [("neuron", "gradient, 0.5"), ("softmax", "-0.341"), ("square", "2a")])
def test_note_shows_results_only_at_the_end(visit: Visit, preset: str, answer: str) -> None:
    lesson = visit(f"show={preset}")
    note = lesson.page.locator("header > .note")
    expect(note).not_to_be_empty()
    expect(note).not_to_contain_text(answer)
    lesson.end()
    expect(note).to_contain_text(answer)
    lesson.button("A step back").click()
    expect(note).not_to_contain_text(answer)


def test_local_derivatives_are_hidden_before_the_forward_pass(visit: Visit) -> None:
    lesson = visit("show=neuron&node=n&operand=0")  # the edge from x1w1x2w2
    lesson.page.evaluate("(hash) => { location.hash = hash; }", "show=neuron&node=o&operand=0")
    expect(lesson.inspector.locator("dd math").first).to_have_attribute("alttext", "∂o/∂n = 1 - o²")
    lesson.inspect("n")
    expect(lesson.inspector.locator(".numbers")).to_have_text(" = ? · ?")
    lesson.end()
    expect(lesson.inspector.locator(".numbers")).to_contain_text("1 · 0.5 = 0.5")


# Keys


@pytest.mark.parametrize("place", ["Graphs of the lesson", "Speed", "Colors", "Step of the walk"])
def test_stepping_keys_work_in_every_control(lesson: Lesson, place: str) -> None:
    control = lesson.colors() if place == "Colors" else lesson.page.get_by_label(place, exact=True)
    control.focus()
    chosen = control.input_value()
    for i, key in enumerate(NEXT, start=1):
        lesson.press(key)
        assert lesson.position == i, key
    for i, key in enumerate(BACK, start=1):
        lesson.press(key)
        assert lesson.position == len(NEXT) - i, key
    assert control.input_value() == chosen
    assert list(lesson.rows) == ["a", "b", "e", "c", "f"]


def test_stepping_keys_in_graph_switches_and_text(lesson: Lesson) -> None:
    lesson.press("g", "PageDown", "PageDown", "PageUp")
    assert lesson.position == 1
    lesson.press("ArrowRight")  # moves the focus to another box
    assert lesson.position == 1
    lesson.page.locator(".switch input").first.focus()
    lesson.press("PageDown", "ArrowRight")
    assert lesson.position == 3
    expect(lesson.page.locator(".switch input").first).to_be_checked()
    lesson.page.locator(".twin .scroll").focus()
    lesson.press("PageDown")
    assert lesson.position == 4
    lesson.program.focus()
    lesson.press("PageDown", "n", "ArrowLeft")
    assert lesson.position == 4
    assert "n" in lesson.program.input_value()


# Folding


def test_sums_of_sixty_terms_are_folded(visit: Visit) -> None:
    lesson = visit("f=" + SUM.replace("+", "%2B") + "&node=x&step=999")
    terms = lesson.inspector.locator(".sum li:not(.total, .between)")
    expect(terms).to_have_count(6)
    expect(lesson.inspector.locator(".symbolic math")).to_have_attribute("alttext", re.compile("… 54 more …"))
    more = lesson.inspector.get_by_role("button", name="… 54 more …", exact=True)
    more.focus()
    lesson.press("Enter")
    expect(terms).to_have_count(60)
    lesson.inspector.locator(".sum").get_by_role("button", name="Show less", exact=True).click()
    expect(terms).to_have_count(6)
    expect(lesson.inspector.locator(".total")).to_have_text("total 1950")


def test_operands_of_one_node_are_folded(visit: Visit, tmp_path: Path) -> None:
    """A node that adds 30 products."""
    left = [Value(float(i), label=f"a{i}") for i in range(30)]
    right = [Value(1.0, label=f"b{i}") for i in range(30)]
    root = sumprod(left, right)
    root.label = "s"
    lesson = visit("node=s", pages.written(tmp_path / "sum.html", pages.page(walk(root).essence(), "a sum")))
    made = lesson.inspector.locator("dd").first
    expect(made).to_contain_text("… 55 more …")
    made.get_by_role("button", name="Show all").click()
    expect(made).to_contain_text("a17")
    lesson.timeline.fill("63")
    expect(lesson.sentence).to_contain_text(" more …")
    more = lesson.page.locator(".transport").get_by_role("button", name="Show all")
    more.click()
    expect(lesson.sentence).to_contain_text("a17")
    lesson.press("b", "n")
    expect(lesson.sentence).not_to_contain_text("a17")
    lesson.press("n")
    expect(more).to_be_hidden()


# Layout


@pytest.mark.parametrize("preset", ["loss", "neuron", "softmax", "network"])
def test_verdicts_are_in_view(visit: Visit, preset: str) -> None:
    lesson = visit(f"show={preset}&mode=check&step=999")
    verdicts = lesson.panel.locator("td[data-verdict]")
    expect(verdicts.first).to_be_visible()
    right = "(cells) => Math.max(...cells.map((cell) => cell.getBoundingClientRect().right))"
    assert verdicts.evaluate_all(right) <= 1280


@pytest.mark.parametrize("size", [(844, 390), (667, 375), (932, 430)])
@pytest.mark.parametrize("mode", ["walk", "order", "exercises"])
def test_graph_is_not_covered_on_a_phone_in_landscape(
    browser: Browser, lesson_file: Path, size: tuple[int, int], mode: str
) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=True, is_mobile=True)
    lesson = Lesson(context.new_page())
    lesson.visit(lesson_file, f"show=neuron&step=3&mode={mode}")
    graph, controls = lesson.graph.bounding_box(), lesson.page.locator(".transport").bounding_box()
    assert graph
    assert controls
    beside = controls["x"] >= graph["x"] + graph["width"] - 1
    below = controls["y"] >= graph["y"] + graph["height"] - 1
    assert beside or below
    assert graph["height"] >= 200
    assert graph["width"] >= 300
    assert min(size[1], graph["y"] + graph["height"]) - graph["y"] >= 200  # visible without scrolling
    context.close()


# Persistence


def test_theme_is_kept(visit: Visit) -> None:
    lesson = visit()
    lesson.colors().select_option("dark")
    shown = "document.querySelector('[data-gradwalk]').dataset.theme"
    again = visit()
    assert again.page.evaluate(shown) == "dark"
    expect(again.page.locator(".menu").get_by_label("Colors")).to_have_value("dark")
    linked = visit("theme=light&show=neuron")
    assert linked.page.evaluate(shown) == "light"
    expect(linked.problem).to_have_text("")
    linked.colors().select_option("auto")  # the reader's choice overrides the link
    assert linked.page.evaluate(shown) is None
    linked.settled("show=neuron")
    assert visit().page.evaluate(shown) is None


def test_theme_works_without_storage(context: BrowserContext, visit: Visit) -> None:
    context.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })")
    lesson = visit()
    lesson.colors().select_option("dark")
    assert lesson.page.evaluate("document.querySelector('[data-gradwalk]').dataset.theme") == "dark"


def test_node_in_question_is_marked(visit: Visit) -> None:
    lesson = visit("mode=exercises")
    marked = lesson.graph.locator(".node.asked")
    expect(marked).to_have_count(1)
    expect(marked.locator(".badge text")).to_have_text("?")
    expect(marked.locator(".hit")).to_have_attribute("aria-label", "a, value 2, asked about")
    lesson.button("Next question").click()
    expect(lesson.graph.locator(".node.asked .hit")).to_have_attribute("aria-label", "b, value -3, asked about")
    lesson.tab("Walk").click()
    expect(marked).to_have_count(0)
