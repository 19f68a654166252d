"""Results of exercises and the lesson: a file to save, and a code to hand in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
from lesson import Lesson
from playwright.sync_api import Locator, expect

Visit = Callable[..., Lesson]

SCHEMA = Path(__file__).parents[2] / "docs" / "results.schema.json"


def saved_results(lesson: Lesson, by: Locator) -> dict[str, Any]:
    """Click a button that saves the results, and validate the file against its schema."""
    with lesson.page.expect_download() as saved:
        by.click()
    assert saved.value.suggested_filename == "gradwalk-results.json"
    found: dict[str, Any] = json.loads(saved.value.path().read_text(encoding="utf-8"))
    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    return found


def test_results_as_a_file_and_as_a_code(visit: Visit) -> None:
    lesson = visit("mode=exercises")
    code = lesson.panel.locator(".exercise code")
    expect(code).to_contain_text("0-0-0-0-0-")
    for answer in ("9", "10"):
        lesson.page.get_by_label("Your answer").fill(answer)
        lesson.panel.get_by_role("button", name="Check", exact=True).click()
    expect(code).to_contain_text("1-1-0-1-2-")
    found = saved_results(lesson, lesson.button("Results as a file"))
    assert found["summary"] == {"asked": 1, "right": 1, "first": 0, "alone": 1, "tries": 2}
    assert found["code"] == code.inner_text()
    assert [(given["answer"], given["right"]) for given in found["questions"][0]["answers"]] == [
        ("9", False),
        ("10", True),
    ]
    lesson.page.reload()
    lesson.drawn()
    expect(code).to_contain_text("1-1-0-1-2-")
    lesson.button("Forget my progress").click()
    expect(code).to_contain_text("0-0-0-0-0-")


def test_results_include_the_lesson(visit: Visit) -> None:
    lesson = visit("chapter=back&beat=2")
    guide = lesson.page.locator(".guide")
    for answer in ("x", "1", "10", "10"):  # an invalid number is not a try, nor is an answer after the right one
        guide.get_by_label("Your answer").fill(answer)
        lesson.press("Enter")
    lesson.page.evaluate("location.hash = 'chapter=neuron&beat=4'")
    guide.locator(".option").nth(0).click()  # right on the first try
    guide.locator(".option").nth(1).click()  # a wrong answer, to read its feedback
    expect(guide.locator(".handing")).to_be_hidden()  # shown at the end of the lesson
    lesson.page.evaluate("location.hash = 'chapter=twice'")
    lesson.button("Show me").click()
    lesson.page.evaluate("location.hash = 'chapter=order&beat=1'")
    for order in ("dbac", "dcba"):
        for name in order:
            guide.locator(".pool").get_by_role("button", name=name, exact=True).click()
        lesson.button("Run this order").click()
        expect(guide.locator(".feedback").first).not_to_be_empty()
        if order == "dbac":
            lesson.button("Clear").click()
    lesson.page.evaluate("location.hash = 'chapter=now'")
    expect(guide.locator("h2").first).to_have_text("What you can do now")
    guide.get_by_text("Hand in your answers").click()
    found = saved_results(lesson, lesson.button("Results as a file"))
    asked = {question["key"]: question for question in found["questions"]}
    assert all(question["kind"] == "lesson" for question in asked.values())
    predict, zero, both = asked["back.predict"], asked["neuron.zero"], asked["twice.both"]
    assert [given["answer"] for given in predict["answers"]] == ["1", "10"]
    assert (predict["first"], predict["tries"]) == (False, 2)
    assert (zero["first"], zero["tries"]) == (True, 1)
    assert zero["answers"][0]["answer"] == "1: Its input `x2` is 0"
    assert (both["shown"], both["right"], both["tries"]) == (True, False, 0)
    assert [given["answer"] for given in asked["order.puzzle"]["answers"]] == ["d, b, a, c", "d, c, b, a"]
    assert found["code"] == guide.locator(".handing code").inner_text()
    assert found["summary"]["first"] == 1
