"""While a question is open, nothing on the page tells its answer, and values cannot be changed to find it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

Visit = Callable[..., Lesson]


def ends(lesson: Lesson) -> Locator:
    return lesson.graph.locator(".ways .brings")


def answer(lesson: Lesson, text: str) -> None:
    lesson.page.get_by_label("Your answer").fill(text)
    lesson.press("Enter")


@pytest.mark.parametrize("by", ["answer", "show"])
def test_products_wait_for_the_answer(visit: Visit, by: str) -> None:
    lesson = visit("chapter=nudge&beat=1")
    lesson.box("a").hover()
    expect(lesson.graph.locator(".way")).to_have_count(1)
    expect(ends(lesson)).to_have_count(0)
    lesson.box("a").click()  # selected
    expect(ends(lesson)).to_have_count(0)
    if by == "answer":
        answer(lesson, "9")
        expect(ends(lesson)).to_have_count(0)
        answer(lesson, "10")
    else:
        lesson.button("Show me").click()
    expect(ends(lesson)).to_have_text(["= 10"])


def test_names_of_lines_wait_for_the_answer(visit: Visit) -> None:
    lesson = visit("chapter=rule&beat=1")
    line = lesson.line("d", "L")
    expect(line).to_have_attribute("aria-label", "line from d to L, operand 1")
    expect(line.locator("title")).to_have_text("line from d to L, operand 1")
    answer(lesson, "-2")
    expect(line).to_have_attribute("aria-label", "line from d to L, operand 1, local derivative f = -2")
    expect(line.locator("title")).to_have_text("line from d to L, operand 1, local derivative f = -2")


def test_a_choice_about_the_graph_is_not_lit(visit: Visit) -> None:
    """Which boxes change with a? The paths from a would say so."""
    lesson = visit("chapter=forward&beat=7")
    lesson.box("a").hover()
    expect(lesson.graph.locator(".way path")).to_have_count(0)
    lesson.page.locator(".option").nth(1).click()
    lesson.box("a").hover()
    expect(lesson.graph.locator(".way path")).not_to_have_count(0)


def test_values_are_not_dragged_where_they_would_answer_or_belie_the_words(visit: Visit) -> None:
    lesson = visit("chapter=nudge&beat=1")
    for _ in range(2):
        expect(lesson.graph.locator("svg.stage.fixed")).to_have_count(1)
        lesson.box("a").focus()
        lesson.press("]", "]", "Alt+ArrowUp")
        expect(lesson.box("a")).to_have_attribute("aria-label", re.compile("value 2(,|$)"))
        answer(lesson, "10")
    lesson.button("Lab").click()
    expect(lesson.graph.locator("svg.stage.fixed")).to_have_count(0)
    lesson.box("a").focus()
    lesson.press("]")
    expect(lesson.box("a")).to_have_attribute("aria-label", re.compile(r"value 2\.1(,|$)"))


def test_the_quotient_waits_for_the_answer(visit: Visit) -> None:
    lesson = visit("chapter=check&beat=1")
    value = lesson.graph.locator(".quotient .value").first
    expect(value).to_have_text("= ?")
    expect(lesson.box("L")).to_have_attribute("aria-label", re.compile(r"difference quotient \?"))
    answer(lesson, "6")
    expect(value).to_have_text("= 6")
    lesson.button("Continue").click()
    expect(lesson.graph.locator(".quotient .verdict")).to_have_text("✓ agrees")


def test_the_mistake_is_not_told_before_it_is_asked_about(visit: Visit) -> None:
    lesson = visit("chapter=check&beat=3")
    expect(lesson.graph.locator(".quotient .value")).to_have_text(["= ?", "= ?"])
    lesson.page.locator(".option").nth(2).click()
    lesson.button("Continue").click()
    expect(lesson.graph.locator(".quotient .verdict")).to_have_text("✗ differs")


def test_the_puzzle_is_not_solved_by_its_own_button(visit: Visit) -> None:
    """The lesson's "Show me" does that, and says so in the results."""
    lesson = visit("chapter=order&beat=1")
    expect(lesson.button("Run this order")).to_be_visible()
    expect(lesson.button("Show a right order")).to_be_hidden()


def test_an_exercise_tells_no_local_derivatives(visit: Visit) -> None:
    lesson = visit("mode=exercises&exercise=2")
    lines = lesson.graph.locator(".line .hit")
    told = lines.evaluate_all("(all) => all.map((line) => line.getAttribute('aria-label') + line.textContent)")
    assert told
    assert not [name for name in told if "local" in name]
    expect(lesson.page.locator(".inspector")).to_have_count(0)
    assert {row.gradient for row in lesson.rows.values()} == {"?"}
    answer(lesson, "1")
    told = lines.evaluate_all("(all) => all.map((line) => line.getAttribute('aria-label'))")
    assert all("local" in name for name in told)
