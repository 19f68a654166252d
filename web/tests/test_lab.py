"""The lab: where own expressions begin, checks in every state, codes to hand in, folding, and misspelled functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

from gradwalk import Value, walk

Visit = Callable[..., Lesson]

SUM = " + ".join(f"a{i}*b{i}" for i in range(60))
CHAIN = "tanh(" * 60 + "x" + ")" * 60


# Own expressions


@pytest.mark.parametrize("by", ["typing", "link"])
def test_own_expressions_begin_at_the_end(visit: Visit, by: str) -> None:
    if by == "link":
        lesson = visit("f=" + quote("tanh(w*x + b)"))
    else:
        lesson = visit()
        lesson.draw("tanh(w*x + c)")
    expect(lesson.phase).to_have_text(re.compile("Backward: step 6 of 6, done", re.IGNORECASE))
    assert len(lesson.gradients) == 6
    expect(lesson.inspector.locator(".name")).to_have_text(re.compile("^tanh"))
    expect(lesson.graph.locator(".active")).to_have_count(0)
    lesson.press("b")
    assert lesson.position == 12
    expect(lesson.graph.locator(".active")).to_have_count(1)
    lesson.press("n")
    lesson.button("From the beginning").click()
    assert lesson.position == 0
    lesson.press("e")
    lesson.button("Play").click()  # from the beginning, too
    expect(lesson.timeline).not_to_have_value("13")
    lesson.button("Pause").click()
    lesson.press("s")
    lesson.page.wait_for_function("() => location.hash.includes('step=0')")
    lesson.page.reload()  # the link contains the start, which differs from the usual position
    lesson.drawn()
    assert lesson.position == 0


def test_leaves_without_a_number_are_named(visit: Visit) -> None:
    lesson = visit("f=" + quote("x*y + z") + "&at=y:3")
    note = lesson.page.locator("header > .note")
    expect(note).to_have_text("To begin with, x = z = 1. Change the numbers")
    note.get_by_role("button").press("Enter")
    assert lesson.focused == "x"
    lesson.page.keyboard.type("5")  # the old number is selected
    lesson.press("Enter")
    assert lesson.rows["x"].data == "5"
    expect(note).to_have_text("To begin with, z = 1. Change the numbers")
    lesson.edit("z", "2")
    expect(note).to_have_text("Change the numbers")
    lesson.tab("Check").click()
    expect(note).to_be_hidden()
    lesson.show("(a + b)·c")
    expect(note).to_contain_text("A sum copies")


def test_links_to_other_modes_begin_at_the_end(visit: Visit) -> None:
    for mode in ("check", "train"):
        lesson = visit(f"f=x*y&mode={mode}")
        assert lesson.position == 7
        assert lesson.gradients == {"x": 1, "y": 1, "x*y": 1}


def test_documents_begin_at_the_end(visit: Visit, tmp_path: Path) -> None:
    lesson = visit("", pages.written(tmp_path / "d.html", pages.page(walk(pages.diamond()).essence(), "d")))
    assert [row.data for row in lesson.rows.values()] == ["2", "3", "6", "18"]
    assert lesson.gradients == {"d": 1, "c": 3, "b": 6, "a": 15}
    expect(lesson.inspector.locator(".name")).to_have_text("d")
    expect(lesson.sentence).to_have_text(re.compile("^Done: every node"))


# The check


def check_is_shown(lesson: Lesson) -> None:
    """Check that there is a table with rows, or a sentence instead."""
    shown = lesson.panel.locator(".checks")
    expect(shown).to_be_visible()
    rows, note = shown.locator("tbody tr"), shown.locator("> .note")
    expect(rows.first.or_(note.filter(has_text="closed parts")).first).to_be_visible()
    expect(shown.locator(".nudged")).not_to_be_empty()


@pytest.mark.parametrize(
    ("program", "at"),
    [
        ("x", "x:1"),
        ("x", "x:0"),
        ("x", "x:1e300"),
        ("2*3", ""),
        ("log(x)", "x:nan"),
        ("1/x", "x:0"),
        ("x*x", "x:inf"),
        ("x*x", "x:1e-300"),
        ("exp(x)", "x:-1e300"),
        ("floor(x)", "x:1.5"),
    ],
)
@pytest.mark.parametrize("h", ["", "5e-324", "1e300"])
def test_check_is_never_blank(visit: Visit, program: str, at: str, h: str) -> None:
    lesson = visit("&".join(filter(None, (f"f={quote(program)}", at and f"at={at}", "mode=check", h and f"h={h}"))))
    check_is_shown(lesson)
    for name in lesson.rows:
        lesson.inspect(name)
        check_is_shown(lesson)
    lesson.press("s")
    check_is_shown(lesson)


def test_check_of_closed_parts(visit: Visit, tmp_path: Path) -> None:
    path = pages.network(tmp_path)
    lesson = visit("mode=check", path)
    check_is_shown(lesson)
    expect(lesson.panel.locator(".checks > .note")).to_contain_text("Open a part, or select a node, to check it.")
    selected = visit("mode=check&node=loss", path)
    expect(selected.panel.locator(".checks tbody tr")).to_have_count(1)
    expect(selected.panel.locator(".checks tbody tr")).to_contain_text("agrees")


def test_check_of_a_document_with_nan(visit: Visit, tmp_path: Path) -> None:
    for i, data in enumerate((float("nan"), float("inf"), 0.0)):
        root = Value(data, label="alone")
        lesson = visit("mode=check", pages.written(tmp_path / f"{i}.html", pages.page(walk(root).essence(), "one")))
        check_is_shown(lesson)
        lesson.box("alone").click()
        check_is_shown(lesson)


# Codes to hand in


def test_codes_appear_after_the_first_answer(visit: Visit) -> None:
    lesson = visit("mode=exercises")
    code = lesson.panel.get_by_text("Code to hand in")
    parts = [code, lesson.button("Results as a file"), lesson.button("Forget my progress")]
    for part in parts:
        expect(part).to_be_hidden()
    lesson.button("Hint: walk one step").click()
    expect(code).to_be_hidden()
    lesson.page.get_by_label("Your answer").fill("1")
    lesson.panel.get_by_role("button", name="Check", exact=True).click()
    for part in parts:
        expect(part).to_be_visible()
    lesson.button("Forget my progress").click()
    for part in parts:
        expect(part).to_be_hidden()
    assert lesson.focused.startswith("1. What is")


def test_no_code_after_a_chapter_without_answers(visit: Visit) -> None:
    """The reader only had the answers shown."""
    lesson = visit("chapter=seed")
    for _ in range(40):
        if lesson.page.locator(".recap").is_visible():
            break
        lesson.press("n")
    expect(lesson.page.locator(".recap")).to_be_visible()
    expect(lesson.page.locator(".handing")).to_be_hidden()


# Folding


def in_paths(lesson: Lesson) -> Locator:
    return lesson.inspector.locator(".paths li")


def test_paths_of_sixty_nodes_are_folded(visit: Visit) -> None:
    lesson = visit(f"f={quote(CHAIN)}&node=x")
    expect(in_paths(lesson)).to_have_count(1)
    folded = in_paths(lesson).inner_text()
    assert re.match(r"x → tanh\(x\) → .* → … 55 more … → .*: .* · … 54 more … · .* = ", folded)
    assert len(folded) < 400
    show = lesson.inspector.get_by_role("button", name="Show all")
    show.focus()
    lesson.press("Enter")
    expect(in_paths(lesson)).not_to_contain_text("more")
    assert in_paths(lesson).inner_text().count("→") == 60
    lesson.inspector.get_by_role("button", name="Show less").click()
    assert in_paths(lesson).inner_text() == folded


def test_long_names_are_folded(visit: Visit) -> None:
    lesson = visit(f"f={quote(SUM)}&step=239")
    name = lesson.inspector.locator(".name")
    folded = "a0*b0 + a1*b1 + a2*b2 + a3*b3 + … 54 more … + a58*b58 + a59*b59"
    expect(name).to_have_text(f"{folded} Show all")
    expect(lesson.sentence).to_have_text(re.compile(re.escape(folded)))
    expect(lesson.page.locator("header > .note")).to_contain_text("a0 = b0 = a1 = b1 = … 114 more … = a59 = b59 = 1.")
    name.get_by_role("button").click()
    expect(name).to_contain_text("a17*b17")
    whole = lesson.page.locator(".transport").get_by_role("button", name="Show all")
    whole.click()
    expect(lesson.sentence).to_contain_text("a17*b17")
    checked = visit(f"f={quote(SUM)}&mode=check&node=a0")
    expect(checked.panel.locator(".nudged")).to_contain_text(f"with a0 + 0.015625, {folded} is")


def test_many_paths_are_folded(visit: Visit) -> None:
    lesson = visit("f=" + quote("+".join(["x*x"] * 10)) + "&node=x")
    expect(in_paths(lesson)).to_have_count(13)
    lesson.inspector.locator("button", has_text="Show all").last.click()
    expect(in_paths(lesson)).to_have_count(21)
    expect(in_paths(lesson).last).to_have_text(re.compile(r"1 \+ 1 .* = 20$"))


# Misspelled functions


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("tahn(x)", "did you mean tan, tanh or atan?"),
        ("foo(x)", "did you mean floor?"),
        ("zzz(x)", "functions have the names of Python's math module, such as exp, log or tanh"),
    ],
)
def test_unknown_functions_suggest_three_names(visit: Visit, program: str, hint: str) -> None:
    lesson = visit()
    lesson.draw(program)
    expect(lesson.problem).to_have_text(f"unknown function '{program[:-3]}'\n  {program}\n  ^\n{hint}")


def test_suggestions_in_other_languages(visit: Visit) -> None:
    for code, hint in (("de", "meinst du tan, tanh oder atan?"), ("fr", "vouliez-vous dire tan, tanh ou atan")):
        expect(visit(f"lang={code}&f=tahn(x)").problem).to_contain_text(hint)
