"""The paths from a node to the root: highlighted in the graph and listed with their products."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from lesson import Lesson
from playwright.sync_api import Locator, expect

Visit = Callable[..., Lesson]


def highlighted(lesson: Lesson) -> Locator:
    return lesson.graph.locator(".way")


def ends(lesson: Lesson) -> list[str]:
    """Return the texts at the ends of the highlighted paths."""
    return lesson.graph.locator(".ways .brings").all_text_contents()


def listed(lesson: Lesson) -> list[str]:
    return lesson.inspector.locator(".paths li").all_text_contents()


def test_hovering_a_node_highlights_its_paths(visit: Visit) -> None:
    lesson = visit("show=twice&step=5")
    expect(highlighted(lesson)).to_have_count(0)
    lesson.box("a").hover()
    expect(highlighted(lesson)).to_have_count(2)
    assert ends(lesson) == ["= 3", "= -6"]
    lesson.box("f").hover()
    expect(highlighted(lesson).locator("path")).to_have_count(0)  # the root does not have a path
    lesson.box("d").hover()
    assert ends(lesson) == ["= 1"]
    lesson.button("Next step").hover()
    expect(highlighted(lesson)).to_have_count(0)


def test_focus_highlights_paths(visit: Visit) -> None:
    lesson = visit("show=twice&step=5")
    lesson.press("g")
    assert lesson.focused.startswith("a, ")
    expect(highlighted(lesson)).to_have_count(2)
    lesson.press("ArrowRight")
    expect(highlighted(lesson)).to_have_count(1)
    lesson.press("Shift+Tab")
    expect(highlighted(lesson)).to_have_count(0)


def test_selected_node_keeps_its_paths_highlighted(visit: Visit) -> None:
    lesson = visit("show=reuse&step=5")
    lesson.inspect("a")
    assert listed(lesson) == ["a → c → d → e: 3 · 1 · 16 = 48", "a → d → e: 1 · 16 = 16", "48 + 16 = 64"]
    expect(highlighted(lesson)).to_have_count(2)
    lesson.end()
    assert ends(lesson) == ["= 48", "= 16"]
    lesson.inspect("e")
    assert listed(lesson) == []
    assert lesson.graph.locator(".ways").get_attribute("aria-hidden") == "true"


def test_products_are_hidden_before_the_forward_pass(visit: Visit) -> None:
    lesson = visit("show=reuse&step=4&node=a")
    assert listed(lesson) == ["a → c → d → e", "a → d → e"]
    expect(lesson.inspector).to_contain_text("The products along the paths are known when the forward pass is done.")
    expect(highlighted(lesson)).to_have_count(2)
    assert ends(lesson) == []
    lesson.press("n")
    assert ends(lesson) == ["= 48", "= 16"]


def test_paths_do_not_reveal_an_exercise(visit: Visit) -> None:
    lesson = visit("mode=exercises&exercise=3")
    lesson.box("a").hover()
    expect(highlighted(lesson)).to_have_count(2)
    assert ends(lesson) == []
    lesson.page.get_by_label("Your answer").fill("15")
    lesson.press("Enter")
    lesson.box("a").hover()
    assert ends(lesson) == ["= 6", "= 9"]


def test_many_paths_are_counted(visit: Visit) -> None:
    program = "; ".join(["x1 = a + a", *(f"x{i} = x{i - 1} + x{i - 1}" for i in range(2, 11))])
    lesson = visit(f"f={quote(program)}&node=a&step=99")
    expect(lesson.inspector).to_contain_text("The 1,024 paths to the root")
    assert len(listed(lesson)) == 13
    assert listed(lesson)[-1] == "And 1,012 more."
    expect(highlighted(lesson)).to_have_count(1)
    expect(highlighted(lesson).locator("path")).not_to_have_count(0)
    assert ends(lesson) == []
