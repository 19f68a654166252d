"""The order puzzle: by click, drag and keyboard; valid orders, and the contributions that other orders lose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from urllib.parse import quote

import pytest
from lesson import Lesson
from playwright.sync_api import Browser, Locator, expect

Visit = Callable[..., Lesson]


@pytest.fixture
def puzzle(visit: Visit) -> Lesson:
    """Open the puzzle of the diamond: b = a + 1; c = a*3; d = b*c."""
    return visit("show=diamond&mode=order&step=4")


def link(order: list[str], rest: str = "") -> str:
    return f"show=diamond&mode=order&step=9&order={quote(json.dumps(order, separators=(',', ':')))}{rest}"


def pool(lesson: Lesson) -> Locator:
    return lesson.page.get_by_role("group", name="Nodes to place")


def chip(lesson: Lesson, name: str) -> Locator:
    return pool(lesson).get_by_role("button", name=name, exact=True)


def handle(lesson: Lesson, name: str) -> Locator:
    return lesson.panel.locator(f".handle[data-node={name}]")


def order(lesson: Lesson) -> list[str]:
    return lesson.panel.locator(".order .handle").all_inner_texts()


def left(lesson: Lesson) -> list[str]:
    return pool(lesson).get_by_role("button").all_inner_texts()


def result(lesson: Lesson) -> Locator:
    return lesson.panel.locator(".outcome")


def status(lesson: Lesson) -> Locator:
    """Return the status: how many nodes are left to place."""
    return lesson.panel.locator(".puzzle [role=status]")


def gradients(lesson: Lesson) -> dict[str, float]:
    """Return the gradients in the table of the result."""
    rows = (
        result(lesson)
        .locator("tr")
        .evaluate_all("(rows) => rows.map((row) => [...row.cells].map((c) => c.textContent))")
    )
    return {name.removeprefix("∂d/∂").removeprefix("dd/d"): float(number) for name, number, _ in rows}


def visited_in(order: tuple[str, ...]) -> dict[str, float]:
    """Compute the diamond's gradients by hand when its nodes are visited once each in that order."""
    partials = {"d": {"b": 6.0, "c": 3.0}, "b": {"a": 1.0}, "c": {"a": 3.0}, "a": {}}
    gradients = dict.fromkeys("abcd", 0.0) | {"d": 1.0}
    visited: set[str] = set()
    for name in order:
        visited.add(name)
        for operand, partial in partials[name].items():
            if operand not in visited:
                gradients[operand] += gradients[name] * partial
    return gradients


# Building an order


def test_placing_by_click(puzzle: Lesson) -> None:
    assert puzzle.position == 4  # all values are computed
    assert sorted(left(puzzle)) == ["a", "b", "c", "d"]
    expect(status(puzzle)).to_have_text("4 to place.")
    for i, name in enumerate("dcba"):
        chip(puzzle, name).click()
        assert order(puzzle) == list("dcba")[: i + 1]
        assert sorted(left(puzzle)) == sorted("dcba"[i + 1 :])
    expect(status(puzzle)).to_have_text("All nodes are placed: run the order, or watch it with Next step.")
    puzzle.button("Run this order").click()
    expect(result(puzzle)).to_contain_text("Every gradient is right.")
    expect(result(puzzle)).to_contain_text("This is one of 2 legal orders.")
    assert gradients(puzzle) == {"d": 1, "b": 6, "c": 3, "a": 15}
    puzzle.settled(link(["d", "c", "b", "a"]))


def test_placing_by_click_on_the_graph(puzzle: Lesson) -> None:
    for name in "dab":
        puzzle.box(name).click()
    assert order(puzzle) == ["d", "a", "b"]
    expect(puzzle.graph.locator(".badge text").filter(has_text=re.compile(r"^\d$"))).to_have_count(3)
    puzzle.box("d").click()  # already placed, so the click selects it
    assert order(puzzle) == ["d", "a", "b"]
    expect(puzzle.graph.locator(".node.selected")).to_have_count(1)


def test_placing_by_keyboard(puzzle: Lesson) -> None:
    chip(puzzle, "b").focus()
    puzzle.press("Enter")
    assert puzzle.focused in left(puzzle)  # the focus moves to the next node
    for _ in range(3):
        puzzle.press("Space")
    assert left(puzzle) == []
    assert puzzle.focused == "Run this order"
    puzzle.press("Enter")
    expect(result(puzzle)).to_contain_text("This order is not legal")
    assert order(puzzle)[0] == "b"


def test_moving_by_keyboard(visit: Visit) -> None:
    puzzle = visit(link(["d", "c", "b", "a"]))
    handle(puzzle, "a").focus()
    assert puzzle.focused == "a, visited as number 4"
    puzzle.press("ArrowUp")
    assert order(puzzle) == ["d", "c", "a", "b"]
    assert puzzle.focused == "a, visited as number 3"
    puzzle.press("ArrowUp", "ArrowUp", "ArrowUp")
    assert order(puzzle) == ["a", "d", "c", "b"]
    puzzle.press("ArrowDown")
    assert order(puzzle) == ["d", "a", "c", "b"]
    for key, rest in (("Delete", ["d", "c", "b"]), ("Backspace", ["c", "b"])):
        puzzle.press(key)
        assert order(puzzle) == rest
        handle(puzzle, "d").focus() if key == "Delete" else None
    assert puzzle.focused == "d"  # the focus is on the node in the pool
    expect(status(puzzle)).to_have_text("2 to place.")
    assert puzzle.position == 4


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_moving_by_buttons(visit: Visit, by: str) -> None:
    puzzle = visit(link(["d", "c", "b", "a"]))

    def use(name: str) -> None:
        if by == "mouse":
            puzzle.button(name).click()
        else:
            puzzle.button(name).focus()
            puzzle.press("Enter")

    use("Visit a earlier")
    assert order(puzzle) == ["d", "c", "a", "b"]
    assert puzzle.focused == "Visit a earlier"
    use("Visit d later")
    assert order(puzzle) == ["c", "d", "a", "b"]
    assert puzzle.focused == "Visit d later"
    use("Remove d")
    assert order(puzzle) == ["c", "a", "b"]
    assert left(puzzle) == ["d"]
    assert puzzle.focused == "d"
    use("Clear")
    assert order(puzzle) == []
    use("Show a right order")
    assert order(puzzle) in (["d", "c", "b", "a"], ["d", "b", "c", "a"])
    use("Run this order")
    expect(result(puzzle)).to_contain_text("Every gradient is right.")
    assert puzzle.focused == "Run this order"


def test_placing_by_drag(puzzle: Lesson) -> None:
    chip(puzzle, "d").drag_to(puzzle.panel.locator(".order"))
    chip(puzzle, "a").drag_to(handle(puzzle, "d"), target_position={"x": 20, "y": 30})
    assert order(puzzle) == ["d", "a"]
    for dragged, onto, half, expected in [
        (chip(puzzle, "c"), "a", "upper", "dca"),
        (chip(puzzle, "b"), "d", "upper", "bdca"),
        (handle(puzzle, "b"), "c", "lower", "dcba"),
        (handle(puzzle, "b"), "c", "upper", "dbca"),
        (handle(puzzle, "b"), "d", "lower", "dbca"),
        (handle(puzzle, "b"), "a", "lower", "dcab"),
    ]:
        position = {"x": 20, "y": 4 if half == "upper" else 30}
        dragged.drag_to(handle(puzzle, onto), target_position=position)
        assert "".join(order(puzzle)) == expected
    expect(puzzle.button("Run this order")).not_to_have_attribute("aria-disabled", "true")


def test_drag_outside_the_list_changes_nothing(puzzle: Lesson) -> None:
    chip(puzzle, "d").drag_to(puzzle.page.locator("header h1"))
    assert order(puzzle) == []
    chip(puzzle, "d").click()
    assert order(puzzle) == ["d"]


def test_placing_by_touch(browser: Browser, lesson_file: Path) -> None:
    """Dragging by touch moves a node and does not scroll the page."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, has_touch=True, reduced_motion="reduce")
    puzzle = Lesson(context.new_page())
    puzzle.visit(lesson_file, link(["d", "c", "b"]))
    touch = context.new_cdp_session(puzzle.page)

    def drag(source: Locator, target: Locator, half: str) -> None:
        (x, y), (left, top) = middle(source), middle(target)
        to = (left, top + (-12 if half == "upper" else 12))
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for share in (0.3, 0.7, 1.0):
            point = {"x": x + share * (to[0] - x), "y": y + share * (to[1] - y)}
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    handle(puzzle, "c").tap()
    expect(puzzle.graph.locator(".node.selected")).to_have_count(1)
    drag(chip(puzzle, "a"), handle(puzzle, "c"), "upper")
    expect(puzzle.panel.locator(".order .handle")).to_have_text(["d", "a", "c", "b"])
    drag(handle(puzzle, "d"), handle(puzzle, "b"), "lower")
    expect(puzzle.panel.locator(".order .handle")).to_have_text(["a", "c", "b", "d"])
    context.close()


def middle(element: Locator) -> tuple[float, float]:
    box = element.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_order_runs_only_when_complete(puzzle: Lesson) -> None:
    run = puzzle.button("Run this order")
    expect(run).to_have_attribute("aria-disabled", "true")
    run.click(force=True)
    puzzle.press("e", "n")
    assert puzzle.position == 4
    chip(puzzle, "d").click()
    expect(run).to_have_attribute("aria-disabled", "true")


def test_stepping_through_an_order(visit: Visit) -> None:
    puzzle = visit(link(["d", "b", "a", "c"]).replace("step=9", "step=4"))
    puzzle.press("n", "n", "n", "n")
    expect(puzzle.sentence).to_have_text("a is a leaf: it keeps its gradient 6.")
    puzzle.press("n")
    expect(puzzle.sentence).to_have_text(
        "c has gradient 3. * swaps and scales: a gets upstream 3 times the constant 3, making 9, "
        "too late: it has been visited already."
    )
    expect(result(puzzle)).to_contain_text("One gradient is wrong.")
    expect(puzzle.graph.locator(".line.lost")).to_have_count(1)
    puzzle.press("b")
    expect(status(puzzle)).to_have_text("All nodes are placed: run the order, or watch it with Next step.")


# Results of an order


def test_all_24_orders_of_the_diamond(visit: Visit) -> None:
    puzzle = visit()
    right = []
    for names in permutations("abcd"):
        puzzle.page.evaluate("(hash) => { location.hash = hash; }", link(list(names)))
        expect(puzzle.panel.locator(".order .handle")).to_have_text(list(names))
        expected = visited_in(names)
        assert gradients(puzzle) == expected
        text = result(puzzle).inner_text()
        wrong = [name for name in "abcd" if expected[name] != visited_in(("d", "b", "c", "a"))[name]]
        assert (expected["a"] == 15) == (not wrong) == ("Every gradient is right." in text)
        assert ("This is one of 2 legal orders." in text) == (not wrong)
        assert ("There are 2 legal orders." in text) == bool(wrong)
        assert puzzle.panel.locator(".reasons li").count() == len(wrong)
        assert puzzle.panel.locator("tr[data-wrong]").count() == len(wrong)
        if expected["a"] == 15:
            right.append("".join(names))
    assert right == ["dbca", "dcba"]


def test_lost_contribution_is_explained(visit: Visit) -> None:
    puzzle = visit(link(["d", "b", "a", "c"]))
    expect(puzzle.panel.locator(".reasons li")).to_have_text(
        ["a gets 6 and should get 15. c's contribution 9 to a came too late: c was visited after a."]
    )
    expect(puzzle.panel.locator("tr[data-wrong]")).to_have_text(re.compile("6wrong: it should be 15"))
    expect(result(puzzle).locator(".verdict")).to_have_attribute("role", "status")
    puzzle.tab("Walk").click()
    puzzle.end()
    assert puzzle.gradients["a"] == 15  # the walk still uses a valid order


def test_overwriting_in_a_valid_order(visit: Visit) -> None:
    puzzle = visit(link(["d", "c", "b", "a"], "&write=%3D"))
    expect(result(puzzle)).to_contain_text("written with =, so even a legal order can lose some of them.")
    assert gradients(puzzle)["a"] == 6
    expect(puzzle.panel.locator(".reasons li")).to_contain_text(["b's 6 was written over it"])


def test_only_valid_order(visit: Visit) -> None:
    puzzle = visit("show=double&mode=order")
    puzzle.button("Show a right order").click()
    puzzle.button("Run this order").click()
    expect(result(puzzle)).to_contain_text("This is the only legal order.")


def test_order_is_kept_for_matching_names(visit: Visit) -> None:
    puzzle = visit(link(["d", "b"]))
    puzzle.program.fill("d = a*b; e = d + 1")
    puzzle.button("Draw").click()
    puzzle.tab("Order").click()
    assert order(puzzle) == ["d", "b"]
    assert sorted(left(puzzle)) == ["a", "e"]


def test_too_large_graphs_have_no_puzzle(visit: Visit) -> None:
    program = "; ".join(["x1 = a + 1", *(f"x{i} = x{i - 1} + a" for i in range(2, 62))])
    puzzle = visit(f"f={quote(program)}&mode=order")
    expect(puzzle.panel).to_contain_text("The puzzle works for graphs of at most 60 nodes, but this graph has 62.")
    expect(puzzle.panel.locator(".order")).to_be_hidden()
    puzzle.tab("Walk").click()
    puzzle.end()
    assert puzzle.position == 125
