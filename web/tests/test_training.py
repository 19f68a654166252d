"""Training in the page: gradient descent, the loss curve, accumulated gradients, and data points."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

from gradwalk import Value

Visit = Callable[..., Lesson]

MINUS = "\N{MINUS SIGN}"

IS_LEARNED = """() => {
  const told = document.querySelector("[data-gradwalk]").shadowRoot.querySelector(".tell").textContent;
  return Number(told.match(/(\\d+) of/)[1]) > 95;
}"""

LINE = "f=L+%3D+(w*x+%2B+b+-+y)**2&at=w:0.5,x:2.0,b:0.25,y:2.0&rate=0.05&mode=train&step=99"


@pytest.fixture
def line(visit: Visit) -> Lesson:
    """Open L = (w*x + b - y)**2 at w = 0.5, x = 2, b = 0.25, y = 2; at rate 0.05 each step halves the error."""
    return visit(LINE)


def step_text(lesson: Lesson) -> list[str]:
    return lesson.panel.locator(".stepped").inner_text().splitlines()


def leaf_states(lesson: Lesson) -> dict[str, tuple[bool, float, float]]:
    """Return for each leaf whether it is trained, its value and its gradient."""
    read = """(rows) => rows.map((row) => {
      const [name, value, gradient] = [...row.cells].map((cell) => cell.textContent);
      return [name, row.querySelector("input").checked, Number(value), Number(gradient)];
    })"""
    found = lesson.panel.locator(".parameters tbody tr").evaluate_all(read)
    return {name: (is_learned, value, gradient) for name, is_learned, value, gradient in found}


def at(lesson: Lesson) -> str:
    """Return the curve's readout."""
    return lesson.panel.locator(".told-at").inner_text()


def learn_from(lesson: Lesson, title: str) -> None:
    lesson.panel.get_by_label("Learn from").select_option(label=title)


def accuracy(lesson: Lesson) -> float:
    """Return the fraction of correctly classified points."""
    found = re.search(r"\((\d+) of (\d+)\)", lesson.panel.locator(".tell").inner_text())
    assert found
    return int(found[1]) / int(found[2])


def click_plane(lesson: Lesson, across: float, down: float) -> None:
    """Click at a fraction of the plane's width and height."""
    plane = lesson.panel.locator(".field-of-plane svg")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    assert box
    lesson.page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])


def curve(lesson: Lesson) -> Locator:
    return lesson.page.get_by_role("slider", name="Loss by step")


def steps(lesson: Lesson) -> int:
    return int(curve(lesson).get_attribute("aria-valuemax") or 0)


# Descent on the graph


def test_step_updates_parameters_and_describes_it(line: Lesson) -> None:
    assert leaf_states(line) == {
        "w": (True, 0.5, -3),
        "x": (False, 2, -0.75),
        "b": (True, 0.25, -1.5),
        "y": (False, 2, 1.5),
    }
    line.button("Step").click()
    assert step_text(line) == [
        "Step 1: L goes from 0.5625 to 0.1406.",
        f"w: 0.5 {MINUS} 0.05 · (-3) = 0.65",
        f"b: 0.25 {MINUS} 0.05 · (-1.5) = 0.325",
    ]
    line.settled(
        "f=L+%3D+%28w*x+%2B+b+-+y%29**2&at=w%3A0.65%2Cx%3A2.0%2Cb%3A0.325%2Cy%3A2.0&mode=train&step=17&rate=0.05"
    )
    assert line.rows["w"].data == "0.65"
    assert line.rows["w"].gradient == "-1.5"


def test_descent_agrees_with_python(line: Lesson) -> None:
    values = {"w": 0.5, "x": 2.0, "b": 0.25, "y": 2.0}
    line.panel.get_by_label("Learning rate").fill("0.03")
    line.press("Enter")
    for _ in range(8):
        line.button("Step").click()
        leaves = {name: Value(number) for name, number in values.items()}
        loss = (leaves["w"] * leaves["x"] + leaves["b"] - leaves["y"]) ** 2
        loss.backward()
        for name in ("w", "b"):
            values[name] -= 0.03 * leaves[name].grad
    line.page.wait_for_timeout(400)
    shown = re.search("at=([^&]*)", line.fragment)
    assert shown
    pairs = dict(pair.split("%3A") for pair in shown[1].split("%2C"))
    assert {name: float(text) for name, text in pairs.items()} == values


def test_accumulated_gradients_agree_with_python(line: Lesson) -> None:
    leaves = {name: Value(number) for name, number in {"w": 0.5, "x": 2.0, "b": 0.25, "y": 2.0}.items()}
    line.panel.get_by_label("zero_grad before each pass").uncheck()

    def run_pass() -> None:
        loss = (leaves["w"] * leaves["x"] + leaves["b"] - leaves["y"]) ** 2
        loss.backward()

    run_pass()
    for step in range(6):
        held = {name: leaf.grad for name, leaf in leaves.items()}
        for name in ("w", "b"):
            leaves[name].data -= 0.05 * leaves[name].grad
        run_pass()
        line.button("Step").click()
        for name, leaf in leaves.items():
            assert line.gradients[name] == pytest.approx(leaf.grad, rel=1e-5, abs=1e-12), (step, name)
    line.page.wait_for_timeout(400)
    found = parse_qs(line.fragment)["grads"][0]
    assert {name: float(text) for name, text in json.loads(found)} == held  # exact equality
    assert held["w"] != leaves["w"].grad


def test_link_carries_accumulated_gradients(line: Lesson, visit: Visit) -> None:
    line.panel.get_by_label("zero_grad before each pass").uncheck()
    line.button("Step").click()
    line.button("Step").click()
    assert step_text(line)[1] == "w.grad was -3, and this pass adds -1.5: -4.5"
    line.button("A step back").click()
    line.button("Next step").click()
    assert (
        line.sentence.inner_text() == "w is a leaf: it keeps its gradient 0.75. "
        "The gradients of earlier passes, -4.5, are still there: -3.75 in all."
    )
    shown = leaf_states(line)
    line.page.wait_for_timeout(400)
    assert "zero=off" in line.fragment
    again = visit(line.fragment)
    assert again.problem.inner_text() == ""
    assert leaf_states(again) == shown
    assert not again.panel.get_by_label("zero_grad before each pass").is_checked()


def test_too_large_learning_rate_is_reported(line: Lesson) -> None:
    rate = line.panel.get_by_label("Learning rate")
    rate.fill("9")
    line.press("Enter")
    line.panel.get_by_label("Speed of training").select_option("fastest")
    line.button("Run").click()
    expect(line.panel.locator(".stepped")).to_contain_text("the learning rate is too large")
    expect(line.button("Run")).to_be_visible()
    line.button("Reset").click()
    assert step_text(line) == ["No step has been taken."]
    assert leaf_states(line)["w"] == (True, 0.5, -3)


@pytest.mark.parametrize("text", ["", "0", "-1", "fast", "inf", "nan"])
def test_invalid_learning_rate_is_rejected(line: Lesson, text: str) -> None:
    line.panel.get_by_label("Learning rate").fill(text)
    line.press("Enter")
    expect(line.panel.get_by_role("alert").filter(has_text="not a learning rate")).to_be_visible()
    line.page.get_by_role("button", name="three times the rate").click()
    assert line.panel.get_by_label("Learning rate").input_value() == "0.15"
    expect(line.panel.get_by_role("alert").filter(has_text="not a learning rate")).to_have_count(0)


def test_trained_leaves_can_be_chosen(line: Lesson, visit: Visit) -> None:
    line.panel.get_by_label("learn b").uncheck()
    line.panel.get_by_label("learn x").check()
    line.button("Step").click()
    assert [sentence[:2] for sentence in step_text(line)[1:]] == ["w:", "x:"]
    assert leaf_states(line)["b"][1] == 0.25
    line.page.wait_for_timeout(400)
    assert [name for name, (is_learned, *_) in leaf_states(visit(line.fragment)).items() if is_learned] == ["w", "x"]
    line.button("None").click()
    before = leaf_states(line)
    line.button("Step").click()
    assert leaf_states(line) == before
    line.button("Default").click()
    assert [name for name, (is_learned, *_) in leaf_states(line).items() if is_learned] == ["w", "b"]


def test_run_pause_and_reset_by_keyboard(line: Lesson) -> None:
    line.panel.get_by_label("Learning rate").fill("0.001")
    line.press("Enter")
    line.button("Run").focus()
    line.press("Enter")
    expect(line.button("Pause")).to_be_focused()
    expect(curve(line)).not_to_have_attribute("aria-valuemax", "0")
    line.press("Space")
    expect(line.button("Run")).to_be_focused()
    taken = steps(line)
    assert taken > 0
    line.page.wait_for_timeout(200)
    assert steps(line) == taken
    assert math.isclose(float(at(line).split()[-1]), 0.5625 * (1 - 0.01) ** (2 * taken), rel_tol=1e-4)
    line.press("Tab", "Enter")
    assert line.focused == "Reset"
    expect(curve(line)).to_have_attribute("aria-valuemax", "0")
    assert leaf_states(line)["w"][1] == 0.5


def test_training_stops_on_changing_mode_or_graph(line: Lesson) -> None:
    line.panel.get_by_label("Learning rate").fill("1e-6")
    line.press("Enter")
    line.button("Run").click()
    line.tab("Walk").click()
    line.tab("Train").click()
    expect(line.button("Run")).to_be_visible()
    line.button("Run").click()
    line.show("the diamond")
    expect(line.button("Run")).to_be_visible()
    assert steps(line) == 0
    assert "The name d does not suggest a loss." in line.panel.inner_text()


def test_curve_by_keyboard_and_changed_rate(line: Lesson) -> None:
    for _ in range(3):
        line.button("Step").click()
    line.button("÷3: a third of the rate").click()
    line.button("Step").click()
    curve(line).focus()
    assert curve(line).get_attribute("aria-valuetext") == "Loss from step 0 to 4: from 0.5625 to 0.00605479"
    line.press("Home")
    expect(line.panel.locator(".told-at")).to_have_text("step 0: 0.5625")
    assert curve(line).get_attribute("aria-valuetext") == "step 0: 0.5625"
    line.press("End")
    expect(line.panel.locator(".told-at")).to_have_text("step 4: 0.00605479; rate 0.017 from step 3")
    line.press("ArrowLeft", "ArrowLeft")
    expect(line.panel.locator(".told-at")).to_have_text("step 2: 0.0351562")
    assert line.position == 17  # the keys move in the curve, not in the walk


def test_values_change_in_place(line: Lesson) -> None:
    mark = "() => document.querySelector('[data-gradwalk]').shadowRoot.querySelector('.node').dataset.mark = 'same'"
    line.page.evaluate(mark)
    line.button("Step").click()
    assert line.graph.locator(".node[data-mark=same]").count() == 1
    expect(line.box("w")).to_have_attribute("aria-label", re.compile("w, value 0.65, gradient -1.5, .*"))


def test_documents_can_be_trained(visit: Visit, tmp_path: Path) -> None:
    lesson = visit("mode=train", pages.program(tmp_path))
    before = float(at(lesson).split()[-1])
    assert {name for name, (is_learned, *_) in leaf_states(lesson).items() if is_learned} == {"w1", "w2", "b"}
    for _ in range(5):
        lesson.button("Step").click()
    assert float(at(lesson).split()[-1]) < 0.5 * before


# Points


def test_two_moons_are_learned(visit: Visit) -> None:
    lesson = visit("mode=train")
    learn_from(lesson, "two moons")
    assert accuracy(lesson) < 0.9
    lesson.panel.get_by_label("Speed of training").select_option("fastest")
    lesson.button("Run").click()
    lesson.page.wait_for_function(IS_LEARNED, timeout=30_000)
    lesson.button("Pause").click()
    assert accuracy(lesson) > 0.95
    lesson.page.wait_for_timeout(400)
    share = accuracy(lesson)
    again = visit(lesson.fragment)
    assert accuracy(again) == share
    assert again.panel.get_by_label("Learn from").input_value() == "moons"
    lesson.button("Reset").click()
    assert accuracy(lesson) < 0.9


def test_selected_point_is_shown_in_the_graph(visit: Visit) -> None:
    lesson = visit("mode=train")
    learn_from(lesson, "two blobs")
    before = leaf_states(lesson)
    lesson.panel.get_by_label("Point on the graph").fill("12")
    lesson.press("Enter")
    expect(lesson.panel.locator(".points .note").filter(has_text="output")).to_have_count(1)
    point = {name: lesson.rows[name].data for name in ("x1", "x2", "y")}
    assert point["y"] == "-1"
    assert leaf_states(lesson) == before  # the gradients are of all points
    chosen = lesson.panel.locator(".chosen")
    spot = [float(chosen.get_attribute(name) or 0) / 300 for name in ("cx", "cy")]
    lesson.panel.get_by_label("Point on the graph").fill("1")
    lesson.press("Enter")
    assert lesson.rows["y"].data == "1"
    click_plane(lesson, *spot)
    assert {name: lesson.rows[name].data for name in ("x1", "x2", "y")} == point
    lesson.tab("Walk").click()
    assert lesson.phase.inner_text().lower() == "backward: step 51 of 51, done"
    assert lesson.leaf("x1").input_value() == point["x1"]


def test_network_can_be_chosen(visit: Visit) -> None:
    lesson = visit("mode=train")
    learn_from(lesson, "circles")
    lesson.panel.get_by_label("Network").select_option(label="2-3-3-1")
    lesson.panel.get_by_label("Function").select_option("relu")
    lesson.panel.get_by_label("Loss", exact=True).select_option("hinge")
    assert lesson.program.input_value().endswith("; L = relu(1 - y*o)")
    assert lesson.panel.get_by_label("Network").input_value() == "6"
    assert len(leaf_states(lesson)) == 2 * 3 + 3 + 9 + 3 + 3 + 1
    first = leaf_states(lesson)
    lesson.button("Other points and weights").click()
    assert leaf_states(lesson) != first
    lesson.button("Step").click()
    assert step_text(lesson)[0].startswith("Step 1: the mean of L over 100 points goes from ")


def test_own_points(visit: Visit) -> None:
    lesson = visit("mode=train")
    learn_from(lesson, "your own points")
    assert step_text(lesson) == ["There are no points yet: click in the plane of x1 and x2, or paste some points."]
    lesson.button("Step").click()
    assert steps(lesson) == 0
    lesson.panel.get_by_label("adds class 1").check()
    click_plane(lesson, 0.75, 0.25)
    lesson.panel.get_by_label("adds class -1").check()
    click_plane(lesson, 0.25, 0.75)
    lesson.panel.locator(".by-hand summary").click()
    lesson.panel.get_by_label("x1", exact=True).fill("-1.1")
    lesson.panel.get_by_label("x2", exact=True).fill("0.4")
    lesson.panel.get_by_label("class", exact=True).select_option("-1")
    lesson.button("Add").click()
    lesson.page.wait_for_timeout(400)
    found = re.search("points=([^&]*)", lesson.fragment)
    assert found
    points = [tuple(float(number) for number in point.split("_")) for point in found[1].split("*")]
    assert points[2] == (-1.1, 0.4, -1)
    assert points[0] == pytest.approx((0.75, 0.75, 1), abs=0.02)
    assert points[1][2] == -1
    again = visit(lesson.fragment)
    assert " of 3)" in again.panel.locator(".tell").inner_text()
    lesson.button("Remove the last point").click()
    assert " of 2)" in lesson.panel.locator(".tell").inner_text()
    lesson.button("Remove all points").click()
    none = "There are no points yet: click in the plane of x1 and x2, or paste some points."
    assert lesson.panel.locator(".tell").inner_text() == none


def test_csv_files(visit: Visit, tmp_path: Path) -> None:
    lesson = visit("mode=train")
    learn_from(lesson, "your own points")
    lesson.panel.locator(".by-hand summary").click()
    text = lesson.panel.get_by_label("Points as text")
    text.fill("x1;x2;y\n100;2;1\n200;three;0")
    lesson.button("Use these points").click()
    problem = lesson.panel.locator(".by-hand [role=alert]")
    expect(problem).to_have_text("Line 3: x2 is “three”, but a number was expected, such as -0.5.")
    path = tmp_path / "points.csv"
    path.write_text("x1;x2;y\n" + "\n".join(f"{100 + i};{i % 7};{i % 2}" for i in range(300)), encoding="utf-8")
    with lesson.page.expect_file_chooser() as chooser:
        lesson.button("Open a CSV file").click()
    chooser.value.set_files(path)
    expect(lesson.panel.get_by_text("300 points are read.")).to_be_visible()
    expect(problem).to_have_text("")
    expect(lesson.panel.get_by_text("A link can hold at most 200 points")).to_be_visible()
    lesson.button("Scale the coordinates to mean 0 and standard deviation 1").click()
    assert lesson.panel.locator(".across").inner_text().startswith("x1 → -2.")
    learn_from(lesson, "two moons")
    learn_from(lesson, "your own points")
    assert " of 300)" in lesson.panel.locator(".tell").inner_text()  # the points are kept


# Gradients of each layer


def test_gradient_vanishes_along_a_steep_chain(visit: Visit) -> None:
    lesson = visit("mode=train")
    learn_from(lesson, "a chain of six tanh with large weights")
    sizes = [float(text.split(";")[0]) for text in lesson.panel.locator(".layers .size").all_inner_texts()]
    assert len(sizes) == 6
    assert all(far < 0.5 * near for near, far in itertools.pairwise(sizes))
    widths = lesson.panel.locator(".layers .bar span").evaluate_all("(bars) => bars.map((bar) => bar.offsetWidth)")
    assert widths == sorted(widths, reverse=True)
    assert sizes == [pytest.approx(abs(lesson.gradients[f"w{i}"]), rel=1e-4) for i in range(6, 0, -1)]


@pytest.mark.parametrize("title", ["the graph on the stage", "two moons", "your own points"])
def test_nothing_is_wider_than_a_phone(visit: Visit, title: str) -> None:
    lesson = visit("show=network&mode=train")
    lesson.page.set_viewport_size({"width": 390, "height": 844})
    learn_from(lesson, title)
    lesson.button("Step").click()
    assert lesson.page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = """(elements) => elements
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
      .filter((element) => !element.closest(".scroll")).map((element) => element.outerHTML.slice(0, 80))"""
    assert lesson.page.locator(".training :is(button, input, select, p, svg, canvas, div)").evaluate_all(wide) == []
