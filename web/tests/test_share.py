"""Links with a teacher's note and question, and the page embedded in another page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Browser, BrowserContext, Locator, expect

Visit = Callable[..., Lesson]

MARKUP = "<img src=x onerror='window.ran=1'>"


def test_note_above_the_graph_is_text(visit: Visit) -> None:
    lesson = visit(f"show=square&note={quote(f'First: {MARKUP}')}")
    note = lesson.graph.locator(".teacher")
    expect(note).to_have_text(f"First: {MARKUP}")
    assert lesson.page.locator("img").count() == 0
    lesson.press("n")
    lesson.page.wait_for_function("() => location.hash.includes('step=1')")
    lesson.page.reload()
    lesson.drawn()
    expect(note).to_have_text(f"First: {MARKUP}")
    assert lesson.position == 1
    assert visit("note=" + "x" * 501).problem.text_content() != ""


def test_page_works_in_a_frame(context: BrowserContext, lesson_file: Path, tmp_path: Path) -> None:
    source = f"{lesson_file.as_uri()}#show=diamond&embed=1"
    text = f'<!doctype html><title>A course</title><iframe src="{source}" width="800" height="500"></iframe>'
    page = context.new_page()
    page.goto(pages.written(tmp_path / "course.html", text).as_uri())
    frame = page.frame_locator("iframe")
    expect(frame.locator(".node").first).to_be_visible()
    expect(frame.get_by_role("tablist")).to_be_hidden()
    expect(frame.get_by_role("button", name="Open a file")).to_be_hidden()
    frame.get_by_role("button", name="Next step").click()
    expect(frame.locator(".sentence")).to_have_text("a is given: 2")


# The dialog


def share(lesson: Lesson, **fields: str) -> str:
    """Fill in the dialog and return its link."""
    lesson.button("Share").click()
    dialog = lesson.page.get_by_role("dialog", name="Share")
    for name, text in fields.items():
        field = dialog.get_by_label(LABELS[name], exact=True)
        if name in ("start", "language", "colors"):
            field.select_option(label=text)
        else:
            field.fill(text)
    link = dialog.get_by_label("Link", exact=True).input_value()
    lesson.press("Escape")
    expect(dialog).to_be_hidden()
    return link.partition("#")[2]


LABELS = {
    "start": "Begins",
    "language": "Language",
    "colors": "Colors",
    "note": "Note above the graph",
    "question": "Question of your own",
    "answer": "Right answer; others after semicolons",
}


def asked(lesson: Lesson) -> Locator:
    return lesson.page.get_by_role("region", name="Question", exact=True)


def answer(lesson: Lesson, text: str, verdict: str | re.Pattern[str]) -> None:
    asked(lesson).get_by_label("Answer to the question").fill(text)
    lesson.press("Enter")
    expect(asked(lesson).get_by_role("status")).to_have_text(verdict)


def test_teachers_question(visit: Visit) -> None:
    teacher = visit("show=twice&step=7&node=a&at=a:-2,b:3")
    question = "What is ∂f/∂a here? (A <b>number</b> & no word)"
    link = share(teacher, note="Read first", question=question, answer="-3")
    assert "answer=" in link
    assert teacher.page.get_by_text("Read first").count() == 0  # only the link has the note
    learner = visit(link)
    expect(learner.graph.locator(".teacher")).to_have_text("Read first")
    expect(asked(learner).locator(".asks")).to_have_text(question)
    assert learner.position == 7
    assert "-3" not in link.split("answer=")[1]
    answer(learner, "", "Write an answer first.")
    answer(learner, "three", re.compile("“three” is not a number"))
    answer(learner, "3", re.compile("Look at the sign|Not 3"))
    answer(learner, "-6", re.compile("-6"))  # the contribution of one path, or the value of f
    answer(learner, "123", "Not right. Try again.")
    answer(learner, "1 - 4", "Right.")
    expect(asked(learner).get_by_role("status")).to_have_attribute("data-verdict", "right")
    learner.press("Tab")
    stored = json.loads(learner.page.evaluate("localStorage.getItem('gradwalk.results')"))
    assert [(one["key"], one["answer"], one["isRight"]) for one in stored] == [
        (question, text, text == "1 - 4") for text in ("3", "-6", "123", "1 - 4")
    ]
    learner.button("Next step").click()
    learner.page.wait_for_function("() => location.hash.includes('step=8')")
    learner.page.reload()
    learner.drawn()
    expect(asked(learner).locator(".asks")).to_have_text(question)
    answer(learner, "-3.0", "Right.")


def test_words_and_rounded_numbers_are_accepted(visit: Visit) -> None:
    teacher = visit("show=product")
    link = share(teacher, question="Which rule?", answer="chain rule; Kettenregel")
    learner = visit(link)
    answer(learner, "sum rule", "Not right. Try again.")
    answer(learner, " the  Chain rule", "Not right. Try again.")
    answer(learner, "Chain  RULE", "Right.")
    link = share(teacher, question="How much?", answer="0.71")
    assert share(teacher) == link  # the dialog keeps its fields
    learner = visit(link)
    answer(learner, "0.72", "Not right. Try again.")
    answer(learner, "0,707", "Right.")
    again = share(learner)  # a reader can share the question again
    assert again == link
    changed = share(learner, question="How much, then?")
    assert "answer=" not in changed  # the old answer belongs to another question
    only = visit(changed)
    expect(asked(only)).to_contain_text("How much, then?")
    expect(asked(only).get_by_role("textbox")).to_be_hidden()


def test_link_starts_at_the_chosen_place(visit: Visit) -> None:
    teacher = visit("show=loss&step=5&at=a:7,b:-3,c:10,f:-2&done=nudge")
    link = share(teacher, start="with this graph, nothing known", language="Deutsch", colors="dark")
    assert "done" not in link
    learner = visit(link)
    expect(learner.page.locator("html")).to_have_attribute("lang", "de")
    expect(learner.page.locator("[data-gradwalk]")).to_have_attribute("data-theme", "dark")
    assert learner.position == 0
    assert learner.leaf("a").input_value() == "7.0"
    chapter = visit(share(teacher, start="The pattern", language="the reader's own setting", question="Why?"))
    expect(chapter.page.get_by_role("heading", name="The pattern")).to_be_visible()
    expect(asked(chapter)).to_contain_text("Why?")
    assert visit("ask=&answer=2").problem.inner_text().count("is not valid here") == 2


def test_html_snippet_embeds_the_page(visit: Visit, context: BrowserContext, lesson_file: Path, tmp_path: Path) -> None:
    teacher = visit("show=diamond&step=4")
    teacher.button("Share").click()
    dialog = teacher.page.get_by_role("dialog", name="Share")
    dialog.get_by_label("Note above the graph").fill('"Quoted" & <b>\'s')
    dialog.get_by_text("Embed in a page").click()
    snippet = dialog.get_by_label("HTML", exact=True).input_value()
    (tmp_path / lesson_file.name).write_bytes(lesson_file.read_bytes())
    page = context.new_page()
    page.goto(pages.written(tmp_path / "course.html", f"<!doctype html><title>A course</title>{snippet}").as_uri())
    frame = page.frame_locator("iframe")
    expect(frame.locator(".teacher")).to_have_text('"Quoted" & <b>\'s')
    expect(frame.get_by_role("tablist")).to_be_hidden()
    expect(frame.locator(".timeline")).to_have_value("4")


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (800, 600), (1280, 800)])
@pytest.mark.parametrize("fragment", ["show=product", "chapter=pattern&beat=1"])
def test_a_question_leaves_room_for_the_graph(
    browser: Browser, lesson_file: Path, size: tuple[int, int], fragment: str
) -> None:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    lesson = Lesson(page)
    lesson.visit(lesson_file, f"{fragment}&note=Look&ask=What+is+it%3F&answer=2.0123456789abc")
    question, graph = asked(lesson).bounding_box(), lesson.graph.locator("svg.stage").bounding_box()
    assert question
    assert graph
    assert question["height"] >= 60
    assert question["y"] + question["height"] <= size[1]
    assert graph["height"] >= 170
    page.close()
