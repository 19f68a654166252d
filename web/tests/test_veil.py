"""While a question is open, the page hides the answer and locks the values."""

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
def test_path_products_are_hidden_until_answered(visit: Visit, by: str) -> None:
    lesson = visit("chapter=back&beat=2")
    lesson.box("a").hover()
    expect(lesson.graph.locator(".way")).to_have_count(1)
    expect(ends(lesson)).to_have_count(0)
    lesson.box("a").click()  # select it
    expect(ends(lesson)).to_have_count(0)
    if by == "answer":
        answer(lesson, "9")
        expect(ends(lesson)).to_have_count(0)
        answer(lesson, "10")
    else:
        lesson.button("Show me").click()
    expect(ends(lesson)).to_have_text(["= 10"])


def test_local_derivatives_are_hidden_until_answered(visit: Visit) -> None:
    lesson = visit("chapter=saturation&beat=1")
    line = lesson.line("n", "o")
    named = "line from n to o, operand 1"
    expect(line).to_have_attribute("aria-label", named)
    expect(line.locator("title")).to_have_text(named)
    answer(lesson, "0.5")
    told = f"{named}, local derivative 1 - o\N{SUPERSCRIPT TWO} = 0.5, contribution 0.5"
    expect(line).to_have_attribute("aria-label", told)
    expect(line.locator("title")).to_have_text(told)


def test_paths_are_hidden_until_a_choice_is_made(visit: Visit) -> None:
    """The question asks for the right order; the paths from a would show it."""
    lesson = visit("chapter=paths&beat=2")
    lesson.box("a").hover()
    expect(lesson.graph.locator(".way path")).to_have_count(0)
    lesson.page.locator(".option").nth(2).click()
    lesson.box("a").hover()
    expect(lesson.graph.locator(".way path")).not_to_have_count(0)


def test_values_are_locked_in_the_lesson(visit: Visit) -> None:
    lesson = visit("chapter=back&beat=5")
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


def test_quotient_is_hidden_until_answered(visit: Visit) -> None:
    lesson = visit("chapter=check")
    value = lesson.graph.locator(".quotient .value").first
    expect(value).to_have_text("= ?")
    expect(lesson.box("L")).to_have_attribute("aria-label", re.compile(r"difference quotient \?"))
    answer(lesson, "6")
    expect(value).to_have_text("= 6")
    lesson.button("Continue").click()
    expect(lesson.graph.locator(".quotient .verdict")).to_have_text("✓ agrees")


def test_wrong_gradient_is_hidden_until_answered(visit: Visit) -> None:
    lesson = visit("chapter=check&beat=2")
    expect(lesson.graph.locator(".quotient .value")).to_have_text(["= ?", "= ?"])
    lesson.page.locator(".option").nth(2).click()
    lesson.button("Continue").click()
    expect(lesson.graph.locator(".quotient .verdict")).to_have_text("✗ differs")


def test_puzzle_in_the_lesson_has_no_solve_button(visit: Visit) -> None:
    """Only the lesson's "Show me" solves it, which the results record."""
    lesson = visit("chapter=order&beat=1")
    expect(lesson.button("Run this order")).to_be_visible()
    expect(lesson.button("Show a right order")).to_be_hidden()


def test_exercise_hides_local_derivatives(visit: Visit) -> None:
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
