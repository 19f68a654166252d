"""The lab: the numbers of each graph, and every control of the walk by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from lesson import Lesson
from playwright.sync_api import expect

# Expected data and gradient of each node, by the graph's title.
NUMBERS: dict[str, dict[str, tuple[float, float]]] = {
    "a neuron with tanh": {
        "x1": (2, -1.5),
        "x2": (0, 0.5),
        "w1": (-3, 1),
        "w2": (1, 0),
        "b": (6.8813735870195432, 0.5),
        "x1w1": (-6, 0.5),
        "x2w2": (0, 0.5),
        "x1w1x2w2": (-6, 0.5),
        "n": (0.8813735870195432, 0.5),
        "o": (0.7071067811865476, 1),
    },
    "a + a": {"a": (3, 2), "b": (6, 1)},
    "a·a": {"a": (3, 6), "f": (9, 1)},
    "(a·b)·(a + b)": {"a": (-2, -3), "b": (3, -8), "d": (-6, 1), "e": (1, -6), "f": (-6, 1)},
    "(a + b)·c": {"a": (2, 10), "b": (-3, 10), "c": (10, -1), "e": (-1, 10), "f": (-10, 1)},
    "the diamond": {"a": (2, 15), "b": (3, 6), "c": (6, 3), "d": (18, 1)},
    "(a·b + a)²": {"a": (2, 64), "b": (3, 32), "c": (6, 16), "d": (8, 16), "e": (64, 1)},
    "(a·b + c)·f": {"a": (2, 6), "b": (-3, -4), "c": (10, -2), "f": (-2, 4), "e": (-6, -2), "d": (4, -2), "L": (-8, 1)},
}

MICROGRAD = (  # the example in micrograd's README; names that it reassigns are numbered
    "c = a + b; d = a*b + b**3; c1 = c + (c + 1); c2 = c1 + (1 + c1 + (-a)); d1 = d + (d*2 + relu(b + a)); "
    "d2 = d1 + (3*d1 + relu(b - a)); e = c2 - d2; f = e**2; g1 = f/2.0; g = g1 + 10.0/f"
)


def six_digits(number: float) -> str:
    return f"{number:.6g}"


# Numbers


@pytest.mark.parametrize("title", NUMBERS)
def test_numbers_of_each_graph(lesson: Lesson, title: str) -> None:
    lesson.show(title)
    lesson.end()
    numbers = NUMBERS[title]
    shown = {name: (row.data, row.gradient) for name, row in lesson.rows.items()}
    assert shown == {name: (six_digits(data), six_digits(grad)) for name, (data, grad) in numbers.items()}
    for name, (data, grad) in numbers.items():
        expect(lesson.box(name)).to_have_attribute(
            "aria-label", re.compile(rf"^{name}, value {six_digits(data)}, gradient {six_digits(grad)}, ")
        )
        lesson.inspect(name)
        assert float(lesson.facts["data"]) == pytest.approx(data, rel=0, abs=1e-12)
        if grad != 1 or name not in ("o", "b", "f", "d", "e", "L"):
            expect(lesson.inspector.locator(".total")).to_have_text(f"total {six_digits(grad)}")


def test_numbers_of_typed_graphs(lesson: Lesson) -> None:
    lesson.draw("x1w1 = x1*w1; x2w2 = x2*w2; s = x1w1 + x2w2; n = s + b; o = tanh(n)", x1=2.0, x2=0.0, w1=-3.0, w2=1.0)
    lesson.edit("b", "6.8813735870195432")
    lesson.end()
    numbers = NUMBERS["a neuron with tanh"]
    assert {name: lesson.gradients[name] for name in numbers if name != "x1w1x2w2"} == {
        name: grad for name, (_, grad) in numbers.items() if name != "x1w1x2w2"
    }


def test_micrograds_example_as_a_program(lesson: Lesson) -> None:
    lesson.draw(MICROGRAD, a=-4.0, b=2.0)
    lesson.end()
    rows = lesson.rows
    assert (rows["g"].data, rows["a"].gradient, rows["b"].gradient) == ("24.7041", "138.834", "645.577")
    lesson.inspect("g")
    assert float(lesson.facts["data"]) == pytest.approx(24.70408163265306, abs=1e-12)
    lesson.tab("Check").click()
    check = dict(
        lesson.panel.locator(".checks tbody tr").evaluate_all(
            "(rows) => rows.map((r) => [...r.cells].map((c) => c.textContent)).map(([n, , , q]) => [n, q])"
        )
    )
    assert float(check["a"]) == pytest.approx(138.8338, abs=5e-5)
    assert float(check["b"]) == pytest.approx(645.5773, abs=5e-5)


@pytest.mark.parametrize(
    ("title", "possible"),
    [
        ("a + a", [{"a": 1}]),
        ("a·a", [{"a": 3}]),
        ("(a·b)·(a + b)", [{"a": 3, "b": -2}, {"a": -6, "b": -6}]),
        ("the diamond", [{"a": 6}, {"a": 9}]),
        ("(a + b)·c", [{"a": 10, "b": 10}]),
    ],
)
def test_overwriting_loses_contributions(lesson: Lesson, title: str, possible: list[dict[str, float]]) -> None:
    lesson.show(title)
    lesson.page.get_by_role("radio", name="= overwrites it", exact=True).check()
    lesson.end()
    found = lesson.gradients
    assert {name: found[name] for name in possible[0]} in possible
    right = {name: grad for name, (_, grad) in NUMBERS[title].items()}
    wrong = [name for name in right if found[name] != right[name]]
    for name in wrong:
        lesson.inspect(name)
        expect(lesson.inspector.locator("li[data-lost]")).to_have_count(1)
        expect(lesson.inspector.locator(".why")).to_contain_text("lost: ")
    verdict = lesson.panel.locator(".outcome .verdict")
    if wrong:
        expect(verdict).to_have_text(
            "One gradient is wrong." if len(wrong) == 1 else f"{len(wrong)} gradients are wrong."
        )
        expect(verdict).to_have_attribute("role", "status")
        expect(lesson.panel.locator(".outcome tr[data-wrong]")).to_have_count(len(wrong))
    lesson.page.get_by_role("radio", name="+= adds to what is there").check()
    assert lesson.gradients == right
    expect(verdict).to_be_hidden()


def test_local_derivative_of_each_operand(lesson: Lesson) -> None:
    """c = a*b has gradient 1 and passes b = 3 to a and a = 2 to b."""
    lesson.show("(a·b + a)²")
    lesson.end()
    for giver, derivative in (("a", "∂c/∂a = b = 3"), ("b", "∂c/∂b = a = 2")):
        lesson.click_line(giver, "c", 1 if giver == "a" else 2)
        assert lesson.facts["local derivative"] == derivative


# Steps


def test_steps_by_mouse(lesson: Lesson) -> None:
    lesson.show("a + a")
    expect(lesson.phase).to_have_text("Before the first step")
    expect(lesson.sentence).to_have_text("No value is known yet. The next step gives the first leaf its value.")
    told = []
    for _ in range(5):
        lesson.button("Next step").click()
        told.append((lesson.phase.inner_text().upper(), lesson.sentence.inner_text()))
    assert [phase.lstrip("←→↓ ") for phase, _ in told] == [
        "FORWARD: STEP 1 OF 2",
        "FORWARD: STEP 2 OF 2, DONE",
        "SEED: THE BACKWARD PASS BEGINS",
        "BACKWARD: STEP 1 OF 2",
        "BACKWARD: STEP 2 OF 2, DONE",
    ]
    assert [sentence for _, sentence in told] == [
        "a is given: 3",
        "b = a + a = 3 + 3 = 6",
        "db/db = 1: the root's gradient with respect to itself is 1. That is the seed of the backward pass.",
        "b is the root: its gradient is 1. + copies: a gets upstream 1 unchanged; "
        "a gets upstream 1 unchanged, on top of 1: 2 in all.",
        "a is a leaf: it keeps its gradient 2.",
    ]
    for position in (4, 3, 2, 1, 0):
        lesson.button("A step back").click()
        assert lesson.position == position
    lesson.end()
    assert lesson.position == 5
    lesson.button("To the start").click()
    assert lesson.position == 0
    assert {row.data for row in lesson.rows.values()} == {"?"}


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_steps_by_keyboard(lesson: Lesson, key: str) -> None:
    expected = [("Next step", 1), ("Next step", 2), ("A step back", 1), ("Run to the end", 11), ("To the start", 0)]
    for name, position in expected:
        lesson.button(name).focus()
        lesson.press(key)
        assert (lesson.position, lesson.focused) == (position, name)  # the focus stays, including at both ends


def test_page_shortcuts(lesson: Lesson) -> None:
    for key, position in [
        *[("n", 1), ("ArrowRight", 2), ("b", 1), ("ArrowLeft", 0), ("ArrowLeft", 0), ("b", 0)],
        *[("e", 11), ("n", 11), ("ArrowRight", 11), ("s", 0)],
    ]:
        lesson.press(key)
        assert lesson.position == position
    lesson.press("Control+e", "Alt+n", "Meta+e", "x")
    assert lesson.position == 0


def test_shortcuts_are_text_in_a_field(lesson: Lesson) -> None:
    lesson.program.fill("")
    lesson.program.press_sequentially("n*b + s*e")
    assert lesson.position == 0
    assert lesson.program.input_value() == "n*b + s*e"
    lesson.leaf("a").focus()
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.position == 0


def test_timeline(lesson: Lesson) -> None:
    expect(lesson.page.get_by_role("slider", name="Step of the walk")).to_have_count(1)
    expect(lesson.timeline).to_have_attribute("aria-valuetext", "Before the first step")
    lesson.timeline.focus()
    for key, position, told in [
        ("ArrowRight", 1, "Forward: step 1 of 5"),
        ("ArrowRight", 2, "Forward: step 2 of 5"),
        ("ArrowLeft", 1, "Forward: step 1 of 5"),
        ("End", 11, "Backward: step 5 of 5, done"),
        ("Home", 0, "Before the first step"),
    ]:
        lesson.press(key)
        assert lesson.position == position
        expect(lesson.timeline).to_have_attribute("aria-valuetext", told)
    box = lesson.timeline.bounding_box()
    assert box
    lesson.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert lesson.position in (5, 6)
    lesson.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    lesson.page.mouse.down()
    lesson.page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2, steps=4)
    lesson.page.mouse.up()
    assert lesson.position == 11


def test_unavailable_controls_are_disabled_but_focusable(lesson: Lesson) -> None:
    back, start = lesson.button("A step back"), lesson.button("To the start")
    for control in (back, start):
        expect(control).to_have_attribute("aria-disabled", "true")
        control.click(force=True)
    assert lesson.position == 0
    lesson.press("n")
    expect(back).not_to_have_attribute("aria-disabled", "true")
    lesson.press("e")
    expect(lesson.button("Run to the end")).to_have_attribute("aria-disabled", "true")
    lesson.button("Run to the end").click(force=True)
    assert lesson.position == 11
    lesson.button("From the beginning").click()
    assert lesson.position == 0
    expect(lesson.button("Next step")).to_be_attached()


def test_playing(lesson: Lesson) -> None:
    speed = lesson.page.get_by_label("Speed")
    expect(lesson.sentence).to_have_attribute("aria-live", "polite")
    lesson.button("Play").click()
    assert lesson.position == 1  # playing takes the first step immediately
    expect(lesson.sentence).to_have_attribute("aria-live", "off")
    lesson.button("Pause").click()
    lesson.page.wait_for_timeout(100)
    assert lesson.position == 1
    expect(lesson.sentence).to_have_attribute("aria-live", "polite")
    speed.select_option("fastest")
    lesson.press("Escape")
    lesson.button("Play").focus()
    lesson.press("Enter")
    expect(lesson.timeline).to_have_value("11")
    expect(lesson.button("Play")).to_be_attached()
    expect(lesson.sentence).to_have_attribute("aria-live", "polite")


def test_playing_by_keyboard_stopping_and_changing_speed(lesson: Lesson) -> None:
    lesson.press("p")
    expect(lesson.button("Pause")).to_be_visible()
    lesson.press("p")
    expect(lesson.button("Play")).to_be_visible()
    lesson.press("p", "n")  # stepping stops playback
    expect(lesson.button("Play")).to_be_visible()
    lesson.press("s", "p")
    lesson.page.get_by_label("Speed").select_option("fastest")  # while playing
    expect(lesson.timeline).to_have_value("11")


# The graph


def test_nodes_are_selected_by_mouse(lesson: Lesson) -> None:
    lesson.box("e").click()
    expect(lesson.inspector.locator(".name")).to_have_text("e")
    assert lesson.facts == {"computed as": "a + b", "operation": "sum", "data": "not known yet"}
    expect(lesson.inspector.locator(".symbolic math")).to_have_attribute("alttext", "df/de = df/df · ∂f/∂e")
    expect(lesson.graph.locator(".node.selected")).to_have_count(1)
    lesson.box("e").click()  # clicking again deselects
    expect(lesson.graph.locator(".node.selected")).to_have_count(0)
    expect(lesson.inspector).to_contain_text("Without a selection, this panel shows the current step of the walk.")


def test_lines_are_selected_by_mouse(lesson: Lesson) -> None:
    lesson.end()
    lesson.click_line("c", "f", 2)
    expect(lesson.inspector.locator(".name")).to_have_text("c → f")
    assert lesson.facts == {
        "local derivative": "∂f/∂c = e = -1",
        "rule": "∂out/∂y = x",
        "contribution": "df/df · ∂f/∂c = 1 · -1 = -1",
    }
    lesson.button("All of f").click()
    expect(lesson.inspector.locator(".name")).to_have_text("f")
    expect(lesson.inspector).to_contain_text("It is the root: its gradient is 1 by definition.")


def test_both_lines_of_a_plus_a_are_selectable(lesson: Lesson) -> None:
    lesson.show("a + a")
    expect(lesson.line("a", "b", 2)).to_be_attached()
    lesson.end()
    for operand in (1, 2):
        lesson.click_line("a", "b", operand)
        assert lesson.facts["local derivative"] == "∂b/∂a = 1"
        expect(lesson.graph.locator(".line.selected .hit")).to_have_attribute(
            "aria-label", f"line from a to b, operand {operand}, local derivative 1, contribution 1"
        )


def test_graph_by_keyboard(lesson: Lesson) -> None:
    lesson.show("the diamond")
    expect(lesson.box("d")).to_be_attached()
    lesson.press("e", "g")
    first = lesson.focused
    assert first.startswith("a, value 2, gradient 15")
    lesson.press("ArrowRight")
    assert lesson.focused.startswith(("b, ", "c, "))
    lesson.press("ArrowRight")
    assert lesson.focused.startswith("d, value 18")
    lesson.press("Enter")
    expect(lesson.inspector.locator(".name")).to_have_text("d")
    assert lesson.focused.startswith("d, ")
    lesson.press("d")
    assert lesson.focused.startswith("line from b to d, operand 1, local derivative c = 6, contribution 6")
    lesson.press("d")
    assert lesson.focused.startswith("line from c to d, operand 2, local derivative b = 3, contribution 3")
    lesson.press("Space")
    expect(lesson.inspector.locator(".name")).to_have_text("c → d")
    lesson.press("ArrowLeft")
    assert lesson.focused.startswith("c, ")
    lesson.press("ArrowUp")
    assert not lesson.focused.startswith("c, ")
    assert lesson.position == 9  # arrow keys in the graph do not step the walk


def test_links_in_the_inspector(lesson: Lesson) -> None:
    lesson.show("the diamond")
    lesson.end()
    lesson.inspect("a")
    lesson.inspector.get_by_role("button", name="dd/dc · ∂c/∂a").click()
    expect(lesson.inspector.locator(".name")).to_have_text("a → c")
    assert lesson.facts["contribution"] == "dd/dc · ∂c/∂a = 3 · 3 = 9"
    lesson.button("All of c").click()
    lesson.inspector.get_by_role("button", name="dd/dd · ∂d/∂c").click()
    expect(lesson.inspector.locator(".name")).to_have_text("c → d")


def test_links_in_the_inspector_keep_the_focus(lesson: Lesson) -> None:
    lesson.end()
    lesson.inspect("a")
    lesson.inspector.get_by_role("button", name="df/de · ∂e/∂a").focus()
    lesson.press("Enter")
    expect(lesson.inspector.locator(".name")).to_have_text("a → e")
    assert lesson.focused != ""
    lesson.button("All of e").focus()
    lesson.press("Enter")
    expect(lesson.inspector.locator(".name")).to_have_text("e")
    assert lesson.focused != ""


def test_the_inspector_follows_the_walk(lesson: Lesson) -> None:
    lesson.press("n")
    expect(lesson.inspector.locator(".name")).to_have_text("a")
    lesson.press("n")
    expect(lesson.inspector.locator(".name")).to_have_text("b")
    lesson.inspect("f")
    lesson.press("n")
    expect(lesson.inspector.locator(".name")).to_have_text("f")


def test_waiting_contributions(lesson: Lesson) -> None:
    lesson.show("the diamond")
    lesson.inspect("a")
    for _ in range(7):  # four values, the seed, then d and one of its operands
        lesson.press("n")
    expect(lesson.inspector.locator("li[data-waiting]")).to_have_count(1)
    lesson.press("n")
    expect(lesson.inspector.locator("li[data-waiting]")).to_have_count(0)
    expect(lesson.inspector.locator(".total")).to_have_text("total 15")


def test_zoom_and_fit(lesson: Lesson) -> None:
    fitted = lesson.view
    lesson.button("Zoom in").click()
    assert lesson.view[2] == pytest.approx(fitted[2] * 1.25, rel=1e-4)
    lesson.button("Zoom out").click()
    lesson.button("Zoom out").click()
    assert lesson.view[2] == pytest.approx(fitted[2] * 0.8, rel=1e-4)
    lesson.button("Show everything").click()
    assert lesson.view == pytest.approx(fitted)
    for name, factor in (("Zoom in", 1.25), ("Zoom out", 1.0)):
        lesson.button(name).focus()
        lesson.press("Enter")
        assert lesson.view[2] == pytest.approx(fitted[2] * factor, rel=1e-4)
    lesson.press("g", "+", "+")
    assert lesson.view[2] == pytest.approx(fitted[2] * 1.25**2, rel=1e-4)
    lesson.press("-")
    assert lesson.view[2] == pytest.approx(fitted[2] * 1.25, rel=1e-4)
    lesson.press("0")
    assert lesson.view == pytest.approx(fitted)


def test_dragging_pans_and_selects_nothing(lesson: Lesson) -> None:
    x, y, scale = lesson.view
    box = lesson.box("a").bounding_box()
    assert box
    lesson.page.mouse.move(box["x"] + 10, box["y"] + 10)
    lesson.page.mouse.down()
    lesson.page.mouse.move(box["x"] + 70, box["y"] + 40, steps=5)
    lesson.page.mouse.up()
    assert lesson.view == pytest.approx((x + 60, y + 30, scale))
    expect(lesson.graph.locator(".selected")).to_have_count(0)
    lesson.page.keyboard.down("Control")
    lesson.page.mouse.wheel(0, -100)
    lesson.page.keyboard.up("Control")
    expect(lesson.world).not_to_have_attribute("style", re.compile(re.escape(f"scale({scale})")))


def test_graph_follows_the_window_size(lesson: Lesson) -> None:
    scale = lesson.view[2]
    lesson.page.set_viewport_size({"width": 900, "height": 500})
    lesson.page.wait_for_timeout(100)
    assert lesson.view[2] < scale


# Values


def test_editing_a_leaf(lesson: Lesson) -> None:
    lesson.end()
    end = lesson.position
    lesson.edit("a", "4")
    assert lesson.position == end  # an edit keeps the position
    assert lesson.rows["f"].data == "10"
    assert lesson.gradients == {"a": 10, "b": 10, "e": 10, "c": 1, "f": 1}
    lesson.edit("c", " -2.5e1 ")
    assert lesson.rows["f"].data == "-25"
    assert lesson.leaf("c").input_value() == "-25.0"


def test_editing_a_leaf_in_the_inspector(lesson: Lesson) -> None:
    """In modes whose panel does not list the leaves."""
    lesson.inspect("b")
    field = lesson.inspector.locator("input")
    expect(field).to_be_hidden()
    lesson.tab("Check").click()
    field.fill("7")
    lesson.press("Enter")
    expect(field).to_have_value("7.0")
    assert lesson.rows["f"].data == "90"
    lesson.tab("Walk").click()
    expect(lesson.leaf("b")).to_have_value("7.0")


def test_leaves_by_keyboard(lesson: Lesson) -> None:
    """Tab moves to the next field and keeps the edit."""
    lesson.leaf("a").focus()
    lesson.press("Control+a", "1", "Tab")
    assert lesson.focused == "b"
    lesson.press("Control+a", "2", "Tab")
    assert lesson.focused == "c"
    lesson.press("Control+a", "5", "Enter")
    assert lesson.focused == "c"
    lesson.end()
    assert lesson.rows["f"].data == "15"


def test_invalid_numbers_are_rejected(lesson: Lesson) -> None:
    for text in ("", "two", "1,5,2", "0x10", "1 2", "<b>1</b>", "--1", "1e"):
        lesson.edit("a", text)
        expect(lesson.leaf("a")).to_have_attribute("aria-invalid", "true")
        expect(lesson.page.locator(".values [role=alert]").first).to_have_text(
            f"“{text}” is not a number: write one such as -1.5, 2e3, inf or nan."
        )
    lesson.end()
    assert lesson.rows["a"].data == "2"
    lesson.edit("a", "5")
    expect(lesson.leaf("a")).not_to_have_attribute("aria-invalid", "true")
    assert lesson.rows["f"].data == "20"


@pytest.mark.parametrize(
    ("given", "data", "gradients"),
    [
        ("nan", "nan", {"a": "10", "c": "nan"}),
        ("inf", "inf", {"a": "10", "c": "inf"}),
        ("-Infinity", "-inf", {"a": "10", "c": "-inf"}),
        ("1e308", "inf", {"a": "10", "c": "1e+308"}),
    ],
)
def test_nonfinite_numbers(lesson: Lesson, given: str, data: str, gradients: dict[str, str]) -> None:
    lesson.edit("a", given)
    lesson.end()
    rows = lesson.rows
    assert rows["f"].data == data
    assert {name: rows[name].gradient for name in gradients} == gradients
    lesson.tab("Check").click()
    expect(lesson.panel.locator(".checks tbody tr")).to_have_count(5)


def test_overwrite_switch_by_keyboard(lesson: Lesson) -> None:
    lesson.show("a + a")
    lesson.end()
    lesson.page.get_by_role("radio", name="+= adds to what is there").focus()
    lesson.press("ArrowDown")
    assert lesson.gradients["a"] == 1
    expect(lesson.page.get_by_role("radio", name="= overwrites it", exact=True)).to_be_checked()
    lesson.press("ArrowUp")
    assert lesson.gradients["a"] == 2
    assert lesson.position == 5


# Tables, tabs, help, colors


def test_table_shows_the_progress_of_the_walk(lesson: Lesson) -> None:
    assert lesson.rows["e"] == ("a + b", "?", "?", "")
    lesson.press("n")
    current = lesson.page.locator(".twin tr[aria-current=step]")
    expect(current).to_have_count(1)
    expect(current.locator("th")).to_have_text("a")
    assert lesson.rows["a"] == ("given", "2", "?", "this step")
    lesson.press("e", "b")
    assert lesson.rows["f"].status == "visited"


def test_the_table_folds_and_selects(lesson: Lesson) -> None:
    summary = lesson.page.locator(".twin summary")
    table = lesson.page.locator(".twin table")
    summary.click()
    expect(table).to_be_hidden()
    summary.focus()
    lesson.press("Enter")
    expect(table).to_be_visible()
    lesson.page.locator(".twin").get_by_role("button", name="c", exact=True).focus()
    lesson.press("Enter")
    expect(lesson.inspector.locator(".name")).to_have_text("c")
    expect(lesson.page.locator(".twin tr[data-selected] th")).to_have_text("c")
    assert lesson.focused == "c"


def test_tabs(lesson: Lesson) -> None:
    headings = {
        "Walk": "Here",
        "Order": "The order puzzle",
        "Check": "Numerical check",
        "Exercises": "Exercises",
    }
    for name, heading in headings.items():
        lesson.tab(name).click()
        expect(lesson.tab(name)).to_have_attribute("aria-selected", "true")
        expect(lesson.panel.locator("h2:visible").first).to_have_text(heading)
        expect(lesson.page.get_by_role("tab", selected=True)).to_have_count(1)
        assert lesson.panel.get_attribute("aria-labelledby") == lesson.tab(name).get_attribute("id")


def test_tabs_by_keyboard(lesson: Lesson) -> None:
    lesson.tab("Walk").focus()
    for name in ("Order", "Check", "Train", "Exercises", "Walk"):
        lesson.press("ArrowRight")
        expect(lesson.tab(name)).to_have_attribute("aria-selected", "true")
        assert lesson.focused == name
    for name in ("Exercises", "Train"):
        lesson.press("ArrowLeft")
        assert lesson.focused == name
    assert [lesson.tab(name).get_attribute("tabindex") for name in ("Walk", "Train")] == ["-1", "0"]


def test_help(lesson: Lesson) -> None:
    dialog = lesson.page.get_by_role("dialog", name="Help")
    lesson.open_menu()
    lesson.button("Help").click()
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("in the graph: move from node to node along the lines")
    lesson.press("n", "e")
    dialog.locator("h2").click()
    lesson.press("n", "e")
    assert lesson.position == 0  # keys do not step the walk behind the dialog
    lesson.press("Escape")
    expect(dialog).to_be_hidden()
    lesson.press("?")
    expect(dialog).to_be_visible()
    lesson.button("Close").click()
    expect(dialog).to_be_hidden()
    lesson.button("Menu").focus()
    lesson.press("Enter")
    lesson.button("Help").focus()
    lesson.press("Enter")
    expect(dialog).to_be_visible()
    lesson.button("Close").focus()
    lesson.press("Enter")
    expect(dialog).to_be_hidden()
    assert lesson.focused == "Menu"


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_single_letter_shortcuts_can_be_disabled(lesson: Lesson, by: str) -> None:
    """Speech input users can turn off single-letter shortcuts."""
    letters = lesson.page.get_by_role("checkbox", name="Single-letter shortcuts")
    for position in (0, 1):
        if position == 0:
            lesson.press("?")
        else:
            lesson.open_menu()
            lesson.button("Help").click()
        if by == "mouse":
            letters.click()
        else:
            letters.focus()
            lesson.press("Space")
        lesson.press("Escape")
        lesson.press("n")
        assert lesson.position == position


def test_colors(lesson: Lesson) -> None:
    paper = "(main) => getComputedStyle(main).backgroundColor"
    host = lesson.page.locator("main")
    colors = lesson.colors()
    light, dark = "rgb(255, 253, 249)", "rgb(23, 24, 28)"
    seen = []
    for choice, preferred in (("dark", "light"), ("light", "dark"), ("auto", "dark"), ("auto", "light")):
        lesson.page.emulate_media(color_scheme=preferred)
        colors.select_option(choice)
        seen.append(host.evaluate(paper))
    assert seen == [dark, light, dark, light]
    colors.focus()
    lesson.press("ArrowDown", "ArrowDown")
    assert colors.input_value() == "dark"


# Graphs and links


def test_every_graph_of_the_lesson(lesson: Lesson) -> None:
    titles = lesson.presets.locator("option").all_inner_texts()[1:]
    assert len(titles) == 10
    for title in titles:
        lesson.show(title)
        assert lesson.position == 0
        lesson.end()
        assert all(row.gradient != "?" for row in lesson.rows.values())
        assert lesson.page.locator("header > .note").inner_text() != ""
        assert lesson.problem.inner_text() == ""
    lesson.presets.focus()
    lesson.press("ArrowUp", "ArrowUp")
    assert lesson.presets.input_value() == "diamond"
    expect(lesson.program).to_have_value("b = a + 1; c = a*3; d = b*c")


def test_expression_by_keyboard(lesson: Lesson) -> None:
    lesson.program.focus()
    lesson.press("Control+a")
    lesson.program.press_sequentially("tanh(x*w + b)")
    lesson.press("Enter")
    assert list(lesson.rows) == ["x", "w", "x*w", "b", "x*w + b", "tanh(x*w + b)"]
    assert lesson.presets.input_value() == ""
    assert [lesson.leaf(name).input_value() for name in "xwb"] == ["1.0", "1.0", "-3.0"]  # b keeps its value
    lesson.press("Tab", "Enter")  # draws the same program again
    assert lesson.focused == "Draw"


def test_constant_names_have_their_values(lesson: Lesson) -> None:
    lesson.draw("sin(pi*x)")
    assert lesson.leaf("pi").input_value() == "3.141592653589793"


def test_values_are_kept_with_their_names(lesson: Lesson) -> None:
    lesson.draw("a*b*c*d")
    assert [lesson.leaf(name).input_value() for name in "abcd"] == ["2.0", "-3.0", "10.0", "1.0"]


def test_address_keeps_the_whole_state(lesson: Lesson) -> None:
    lesson.show("(a·b)·(a + b)")
    lesson.settled("show=twice")
    lesson.edit("a", "5")
    lesson.page.get_by_role("radio", name="= overwrites it", exact=True).check()
    for _ in range(7):
        lesson.press("n") if lesson.focused == "" else lesson.button("Next step").click()
    lesson.click_line("a", "d")
    lesson.settled("show=twice&at=a%3A5.0%2Cb%3A3.0&step=7&write=%3D&node=d&operand=0")
    before = (lesson.rows, lesson.facts, lesson.sentence.inner_text())
    lesson.page.reload()
    lesson.drawn()
    assert (lesson.rows, lesson.facts, lesson.sentence.inner_text()) == before


def test_changed_address_is_loaded(lesson: Lesson) -> None:
    lesson.page.evaluate("location.hash = 'show=diamond&step=9'")
    expect(lesson.phase).to_contain_text("done")
    assert lesson.gradients["a"] == 15
    expect(lesson.presets).to_have_value("diamond")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_the_link_is_copied(lesson: Lesson, visit: Callable[..., Lesson], by: str) -> None:
    lesson.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lesson.show("a neuron with tanh")
    lesson.end()
    lesson.inspect("n")
    for name in ("Share", "Copy link"):
        if by == "mouse":
            lesson.button(name).click()
        else:
            lesson.button(name).focus()
            lesson.press("Enter")
    expect(lesson.page.locator(".share [role=status]")).to_have_text("Copied.")
    link = lesson.page.evaluate("navigator.clipboard.readText()")
    other = visit(link.partition("#")[2])
    assert other.rows == lesson.rows
    expect(other.inspector.locator(".name")).to_have_text("n")


def described(lesson: Lesson) -> dict[str, Any]:
    """Return everything visible in a state."""
    return {
        "program": lesson.program.input_value(),
        "phase": lesson.phase.inner_text(),
        "sentence": lesson.sentence.inner_text(),
        "mode": lesson.page.get_by_role("tab", selected=True).inner_text(),
        "panel": lesson.panel.inner_text(),
        "fields": lesson.panel.locator("input").evaluate_all(
            "(all) => all.map(({ value, checked }) => [value, checked])"
        ),
    }


STATES = [
    "show=neuron&step=13",
    "show=twice&step=20&write=%3D&node=a",
    "show=loss&mode=check&step=15&node=e&h=0.0001&method=forward",
    'show=diamond&mode=order&step=4&order=["d","c"]',
    'show=diamond&mode=order&step=9&order=["d","c","a","b"]&write=%3D',
    "mode=exercises&exercise=17",
    "f=tanh(x*w %2B b)&at=x:-0.0,w:1e-300,b:nan&step=5",
    "f=é*π&at=é:2,π:inf&step=3&node=é",
]


@pytest.mark.parametrize("fragment", STATES)
def test_shared_links(visit: Callable[..., Lesson], fragment: str) -> None:
    """Sharing a linked state gives a link to the same state."""
    first = visit(fragment)
    assert first.problem.inner_text() == ""
    first.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    first.button("Share").click()
    first.button("Copy link").click()
    first.button("Close").click()
    link = first.page.evaluate("navigator.clipboard.readText()")
    before = described(first)
    assert described(visit(link.partition("#")[2])) == before


def test_walk_keeps_its_position_in_other_tabs(lesson: Lesson) -> None:
    lesson.press("n", "n")
    for name in ("Check", "Order", "Exercises"):
        lesson.tab(name).click()
        lesson.tab("Walk").click()
        assert lesson.position == 2


def test_browser_back_button(lesson: Lesson) -> None:
    lesson.show("a·a")
    lesson.settled("show=square")
    lesson.show("the diamond")
    lesson.settled("show=diamond")
    lesson.page.go_back()
    expect(lesson.program).to_have_value("f = a*a")


def test_letters_do_nothing_without_shortcuts(lesson: Lesson) -> None:
    lesson.press("?")
    lesson.page.get_by_label("Single-letter shortcuts").uncheck()
    lesson.button("Close").click()
    lesson.press("n", "e")
    assert lesson.position == 0
