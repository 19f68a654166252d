"""Exercises. The expected answers are difference quotients of the program, computed in Python."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

Visit = Callable[..., Lesson]

FUNCTIONS = {"tanh": math.tanh, "relu": lambda x: max(x, 0.0), "maximum": max}


@pytest.fixture
def exercises(visit: Visit) -> Lesson:
    return visit("mode=exercises")


def answer(lesson: Lesson) -> Locator:
    return lesson.page.get_by_label("Your answer")


def feedback(lesson: Lesson) -> Locator:
    return lesson.panel.locator(".feedback")


def score(lesson: Lesson) -> Locator:
    return lesson.panel.locator(".note", has_text="olved")


def question(lesson: Lesson) -> tuple[int, str, str]:
    """Return the question's number, the root, and the variable of differentiation."""
    found = re.fullmatch(r"(\d+)\. What is [∂d](\w+)/[∂d](\w+)\?", lesson.panel.locator(".question").inner_text())
    assert found
    return int(found[1]), found[2], found[3]


def solution(lesson: Lesson) -> float:
    """Compute the answer from the table of values; the drawing may still show the previous question."""
    _, root, by = question(lesson)
    program = lesson.program.input_value()
    values = {name: float(row.data) for name, row in lesson.rows.items()}
    assigned = re.findall(r"(\w+) =", program)
    leaves = {name: value for name, value in values.items() if name not in assigned}
    if "6.88137" in program or leaves.get("b") == 6.88137:
        leaves["b"] = 6.8813735870195432

    def root_at(by_value: float) -> float:
        names = leaves | {by: by_value}
        exec(program.replace("; ", "\n"), dict(FUNCTIONS), names)
        return names[root]

    h = 1e-6
    return (root_at(leaves[by] + h) - root_at(leaves[by] - h)) / (2 * h)


def submit(lesson: Lesson, text: str) -> None:
    answer(lesson).fill(text)
    lesson.panel.get_by_role("button", name="Check", exact=True).click()


def test_all_questions_in_order(exercises: Lesson) -> None:
    for number in range(1, 19):
        assert question(exercises)[0] == number
        submit(exercises, f"{solution(exercises):.4g}")
        expect(feedback(exercises)).to_have_attribute("data-verdict", "right")
        expect(score(exercises)).to_have_text(
            f"Solved: {number}, {number} of them without a hint. This is one of them."
        )
        exercises.button("Next question").click()
    exercises.button("Previous").click()
    assert question(exercises)[0] == 18


def test_first_question(exercises: Lesson) -> None:
    assert question(exercises) == (1, "f", "a")
    expect(score(exercises)).to_have_text("None solved yet.")
    expect(exercises.page.locator(".transport .buttons")).to_be_hidden()  # the walk would show the answer
    exercises.press("n", "e", "ArrowRight")
    labels = exercises.graph.locator(".node .hit").evaluate_all("(all) => all.map(({ ariaLabel }) => ariaLabel)")
    assert len(labels) == 5
    assert not [label for label in labels if "gradient" in label]
    expect(feedback(exercises)).to_have_attribute("role", "status")
    submit(exercises, "9")
    expect(feedback(exercises)).to_have_text(
        "Not 9. Follow every path from the root back. "
        "Multiply the local derivatives along each path, and add where paths meet."
    )
    submit(exercises, "-10")
    expect(feedback(exercises)).to_contain_text("Not -10. Look at the sign.")
    expect(score(exercises)).to_have_text("None solved yet.")
    submit(exercises, "10.05")  # within the tolerance of 0.5 %
    expect(feedback(exercises)).to_contain_text("= 10.")
    expect(score(exercises)).to_have_text("Solved: 1, 1 of them without a hint. This is one of them.")
    expect(exercises.page.locator(".transport .buttons")).to_be_visible()  # the walk is available again
    assert exercises.position == 11


def test_wrong_answer_is_explained(visit: Visit) -> None:
    lesson = visit("mode=exercises&exercise=3")
    for text, told in {
        "9": "9 comes from a → c → d only. Missing: a → b → d (6). Add the contributions of all paths.",
        "-15": "Not -15. Look at the sign.",
        "2": "2 is the value of a. The question asks how fast the root changes.",
        "123": "Not 123. Follow every path from the root back. "
        "Multiply the local derivatives along each path, and add where paths meet.",
    }.items():
        submit(lesson, text)
        expect(feedback(lesson)).to_have_text(told)
        expect(feedback(lesson)).to_have_attribute("data-verdict", "wrong")


def test_exercises_by_keyboard(exercises: Lesson) -> None:
    answer(exercises).focus()
    exercises.page.keyboard.type("2*5")
    exercises.press("Enter")
    expect(feedback(exercises)).to_have_attribute("data-verdict", "right")
    exercises.button("Next question").focus()
    exercises.press("Enter")
    assert exercises.focused.startswith("2. What is")  # the focus moves to the new question, which is read aloud
    assert answer(exercises).input_value() == ""
    expect(feedback(exercises)).to_have_text("")
    exercises.button("Previous").focus()
    exercises.press("Space")
    assert exercises.focused.startswith("1. What is")
    exercises.button("Forget my progress").focus()
    exercises.press("Enter")
    expect(score(exercises)).to_have_text("None solved yet.")


def test_invalid_answers_are_reported(exercises: Lesson) -> None:
    submit(exercises, "")
    expect(feedback(exercises)).to_have_text("Write a number first.")
    for text in ("ten", "a*b", "1 2", "<b>", "nan", "inf", "1/0", "-1e400", "0*(1/0)"):
        submit(exercises, text)
        expect(feedback(exercises)).to_have_text(f"“{text}” is not a number: write one such as -1.5, 1/3 or 3*2.")
        expect(answer(exercises)).to_have_attribute("aria-invalid", "true")
    expect(score(exercises)).to_have_text("None solved yet.")


def test_hints_take_a_step_and_are_counted(exercises: Lesson) -> None:
    hint = exercises.button("Hint: walk one step")
    hint.click()
    expect(exercises.sentence).to_contain_text("df/df = 1: the root's gradient with respect to itself is 1.")
    hint.focus()
    exercises.press("Enter")
    assert exercises.focused == "Hint: walk one step"
    assert exercises.position == 7
    submit(exercises, "10")
    expect(score(exercises)).to_have_text("Solved: 1, 0 of them without a hint. This is one of them.")
    exercises.button("Next question").click()
    exercises.button("Previous").click()
    assert exercises.position == 5
    submit(exercises, "10")  # again, without a hint
    expect(score(exercises)).to_have_text("Solved: 1, 0 of them without a hint. This is one of them.")


def test_hints_are_limited(exercises: Lesson) -> None:
    hint = exercises.button("Hint: walk one step")
    for _ in range(6):
        hint.click()
    expect(hint).to_have_attribute("aria-disabled", "true")
    hint.click(force=True)
    assert exercises.position == 11


def test_progress_is_kept(exercises: Lesson, visit: Visit) -> None:
    submit(exercises, "10")
    expect(score(exercises)).to_have_text("Solved: 1, 1 of them without a hint. This is one of them.")
    exercises.page.reload()
    exercises.drawn()
    expect(score(exercises)).to_have_text("Solved: 1, 1 of them without a hint. This is one of them.")
    other = visit("mode=exercises&exercise=1")
    expect(score(other)).to_have_text("Solved: 1, 1 of them without a hint.")
    other.button("Forget my progress").click()
    expect(score(other)).to_have_text("None solved yet.")
    exercises.page.reload()
    expect(score(exercises)).to_have_text("None solved yet.")


@pytest.mark.parametrize("stored", ["{", "null", "{}", "7", '[{"kind":"exercise"}]', '[7, null, {"__proto__":[]}]'])
def test_invalid_stored_progress_is_ignored(exercises: Lesson, stored: str) -> None:
    exercises.page.evaluate("(text) => localStorage.setItem('gradwalk.results', text)", stored)
    exercises.page.reload()
    exercises.drawn()
    submit(exercises, "10")
    expect(score(exercises)).to_contain_text("Solved: 1, 1 of them")
    stored_now = json.loads(exercises.page.evaluate("localStorage['gradwalk.results']"))
    assert [(answer["key"], answer["isRight"]) for answer in stored_now] == [("product.a", True)]
    assert exercises.page.evaluate("Object.keys(localStorage)") == ["gradwalk.results"]  # only this key is used


def test_leaving_and_returning_to_exercises(exercises: Lesson) -> None:
    exercises.button("Next question").click()
    exercises.settled("mode=exercises&exercise=1")
    exercises.tab("Walk").click()
    assert exercises.position == 0
    expect(exercises.program).to_have_value("e = a + b; f = e*c")
    exercises.tab("Exercises").click()
    assert question(exercises)[0] == 2
    exercises.show("the diamond")  # choosing another graph leaves the exercises
    expect(exercises.tab("Walk")).to_have_attribute("aria-selected", "true")
    assert list(exercises.rows) == ["a", "b", "c", "d"]


def test_overwrite_switch_does_not_affect_exercises(visit: Visit) -> None:
    """The question shows the right gradient although the walk overwrites gradients."""
    lesson = visit("show=square&write=%3D")
    lesson.tab("Exercises").click()
    for _ in range(3):
        lesson.button("Next question").click()
    submit(lesson, "15")
    expect(feedback(lesson)).to_have_attribute("data-verdict", "right")
    assert lesson.gradients["a"] == 15
