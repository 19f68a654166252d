"""The numerical check: each node is nudged, by a chosen or an automatic step."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

Visit = Callable[..., Lesson]

MINUS = "\N{MINUS SIGN}"


class Checked(NamedTuple):
    verdict: str
    backprop: str
    quotient: str
    error: str


@pytest.fixture
def checks(visit: Visit) -> Lesson:
    """Open the check of L = (a*b + c)*f."""
    lesson = visit("show=loss")
    lesson.tab("Check").click()
    return lesson


def table(lesson: Lesson) -> dict[str, Checked]:
    read = "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    rows = lesson.panel.locator(".checks tbody tr").evaluate_all(read)
    return {name: Checked(*cells) for name, *cells in rows}


def step(lesson: Lesson) -> Locator:
    return lesson.panel.locator(".checks .field input")


def nudge_text(lesson: Lesson) -> Locator:
    return lesson.panel.locator(".nudged")


RIGHT = {"L": 1, "d": -2, "f": 4, "e": -2, "c": -2, "a": 6, "b": -4}


def test_every_node_is_checked(checks: Lesson) -> None:
    found = table(checks)
    assert {name: float(row.backprop) for name, row in found.items()} == RIGHT
    assert {name: float(row.quotient) for name, row in found.items()} == pytest.approx(RIGHT, abs=1e-8)
    assert {row.verdict for row in found.values()} == {"agrees"}
    assert checks.position == 15  # all gradients are known


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_forward_differences_with_a_small_step(checks: Lesson, by: str) -> None:
    """Intermediate nodes are also nudged."""
    if by == "mouse":
        step(checks).fill("1e-4")
        checks.page.get_by_role("radio", name="forward").check()
    else:
        step(checks).focus()
        checks.page.keyboard.type("1e-4")
        checks.press("Tab", "Tab", "ArrowDown")
    expect(checks.page.get_by_role("radio", name="forward")).to_be_checked()
    found = table(checks)
    assert {name: float(row.quotient) for name, row in found.items()} == pytest.approx(RIGHT, abs=1e-9)
    assert all(float(row.error) < 1e-10 for row in found.values())
    assert {row.verdict for row in found.values()} == {"agrees"}
    checks.settled("show=loss&mode=check&step=15&h=0.0001&method=forward")
    expect(step(checks)).to_have_value("0.0001")


def test_effect_of_a_nudge_is_described(checks: Lesson) -> None:
    expect(nudge_text(checks)).to_have_text("Select a node to see what changes when it is nudged.")
    expect(nudge_text(checks)).to_have_attribute("aria-live", "polite")
    step(checks).fill("0.5")
    checks.press("Enter")
    checks.panel.locator(".checks tbody").get_by_role("button", name="a", exact=True).click()
    expect(nudge_text(checks)).to_have_text(
        "with a + 0.5, L is -5; with a - 0.5, it is -11; the quotient is 6; backpropagation says 6"
    )
    expect(checks.panel.locator(".checks tr[data-selected] th")).to_have_text("a")
    checks.page.get_by_role("radio", name="forward").check()
    expect(nudge_text(checks)).to_have_text("with a + 0.5, L is -5; the quotient is 6; backpropagation says 6")
    checks.box("d").click()  # on the graph
    expect(nudge_text(checks)).to_have_text("with d + 0.5, L is -9; the quotient is -2; backpropagation says -2")
    checks.panel.locator(".checks tbody").get_by_role("button", name="f", exact=True).focus()
    checks.press("Enter")
    expect(nudge_text(checks)).to_have_text("with f + 0.5, L is -6; the quotient is 4; backpropagation says 4")
    assert checks.focused == "f"


def test_nudges_of_the_root(checks: Lesson) -> None:
    checks.panel.locator(".checks tbody").get_by_role("button", name="L", exact=True).click()
    expect(nudge_text(checks)).to_contain_text("the quotient is 1; backpropagation says 1")


def test_invalid_steps_are_reported(checks: Lesson) -> None:
    before = table(checks)
    for text in ("0", "-1", "h", "inf", "nan", "1e-4x"):
        step(checks).fill(text)
        checks.press("Enter")
        expect(step(checks)).to_have_attribute("aria-invalid", "true")
        expect(checks.panel.locator(".checks [role=alert]")).to_have_text(
            f"“{text}” is not a valid step: write a positive number such as 0.0001, or leave the field empty."
        )
        assert table(checks) == before
    step(checks).fill("")
    checks.press("Enter")
    expect(step(checks)).not_to_have_attribute("aria-invalid", "true")
    assert table(checks) == before


def test_too_large_a_step_is_reported(visit: Visit) -> None:
    checks = visit("show=neuron&mode=check&h=1.0&method=forward")
    found = table(checks)
    assert found["n"].verdict == "h is too large"
    assert float(found["n"].backprop) == 0.5
    step(checks).fill("")
    checks.press("Enter")
    assert {row.verdict for row in table(checks).values()} == {"agrees"}


@pytest.mark.parametrize(
    ("program", "at", "verdicts"),
    [
        ("relu(x)", "x:0", {"x": "kink"}),
        ("log(x)", "x:0", {"x": "not finite"}),
        ("x + y", "x:nan,y:1", {"x": "not finite"}),
        ("x*x", "x:3", {"x": "agrees"}),
    ],
)
def test_verdicts_at_kinks_and_nonfinite_values(visit: Visit, program: str, at: str, verdicts: dict[str, str]) -> None:
    found = table(visit(f"f={program.replace('+', '%2B')}&at={at}&mode=check"))
    assert {name: found[name].verdict for name in verdicts} == verdicts


def test_check_uses_the_edited_values(checks: Lesson) -> None:
    checks.tab("Walk").click()
    checks.edit("f", "3")
    checks.tab("Check").click()
    assert {name: float(row.backprop) for name, row in table(checks).items()} == {
        "L": 1,
        "d": 3,
        "f": 4,
        "e": 3,
        "c": 3,
        "a": -9,
        "b": 6,
    }


def test_overwritten_gradient_differs(visit: Visit) -> None:
    lesson = visit("show=square&write=%3D&mode=check")
    row = table(lesson)["a"]
    assert (row.backprop, row.quotient, row.verdict) == ("3", "6", "differs")
    assert table(lesson)["f"].verdict == "agrees"


def shown(lesson: Lesson, name: str) -> list[str]:
    """Return the texts in a box, row by row, without its name."""
    box = lesson.box(name).locator("xpath=..")
    texts: list[str] = box.locator(".key, .number").all_text_contents()
    return [text for text in texts if text]


def quotient(lesson: Lesson) -> list[str]:
    """Return the texts in the root's box: the fraction, its number, the gradient, the verdict."""
    return [text for text in lesson.graph.locator(".quotient text").all_text_contents() if text]


def test_differentiated_expression_is_in_parentheses(visit: Visit) -> None:
    lesson = visit("f=a*b - c&at=a:2,b:3,c:1&step=99&mode=check&node=a&h=0.01")
    assert "∂(a*b - c)/∂a" in quotient(lesson)


def test_nudge_is_drawn(checks: Lesson) -> None:
    expect(checks.graph.locator(".quotient")).to_have_count(0)  # nothing is nudged
    step(checks).fill("0.0001")
    checks.press("Enter")
    checks.box("a").click()
    expect(checks.graph.locator(".node.nudge")).to_have_count(4)
    assert shown(checks, "a") == ["data", "2", "±h", "0.0001", "grad", "6"]
    assert shown(checks, "e") == ["+h", "-6.0003", "Δ", "-0.0003", "grad", "-2"]
    assert shown(checks, "c") == ["data", "10", "grad", "-2"]  # c does not depend on a
    assert quotient(checks) == [f"L(a+h) {MINUS} L(a{MINUS}h)", "2h", "= 6", "∂L/∂a", "= 6", "✓ agrees"]
    heard = "-7.9994 after the nudge, a change of +0.0006, difference quotient 6, gradient to compare 6, agrees"
    expect(checks.box("L")).to_have_attribute("aria-label", re.compile(re.escape(heard)))
    checks.box("a").click()
    expect(checks.graph.locator(".node.nudge")).to_have_count(0)
    assert shown(checks, "e") == ["data", "-6", "grad", "-2"]
    checks.tab("Walk").click()
    expect(checks.graph.locator(".quotient")).to_have_count(0)


def test_h_is_a_slider_of_powers_of_ten(visit: Visit) -> None:
    """Large steps have a truncation error, small steps a rounding error."""
    checks = visit("show=neuron&mode=check&step=99&node=x1")
    slider = checks.panel.get_by_role("slider", name="Step h")
    errors = {}
    slider.focus()
    checks.press("End")
    for power in range(-1, -11, -1):
        expect(step(checks)).to_have_value(re.compile(rf"^{re.escape(str(10.0**power))}$"))
        expect(slider).to_have_attribute("aria-valuetext", f"{10.0**power:g}".replace("e-0", "e-"))
        errors[power] = abs(float(quotient(checks)[2].removeprefix("= ")) + 1.5)
        checks.press("ArrowLeft")
    assert errors[-1] > 1e-2 > errors[-2] > 1e-5 > errors[-4] > errors[-5]
    assert errors[-10] > 1e-8 > errors[-5]
    checks.settled("show=neuron&mode=check&step=21&node=x1&h=1e-10")
    curve = checks.panel.get_by_role("img", name="Error of the difference quotient for each step h")
    assert curve.locator(".side").all_text_contents() == ["rounding", "bending"]


def test_wrong_gradient_differs_from_the_quotient(visit: Visit) -> None:
    checks = visit("show=twice&write=%3D&mode=check&step=99&node=a&h=0.0001")
    assert quotient(checks) == [f"f(a+h) {MINUS} f(a{MINUS}h)", "2h", "= -3", "∂f/∂a", "= 3", "✗ differs"]
    expect(checks.graph.locator(".quotient.differs")).to_have_count(1)


def test_one_sided_quotient_at_the_edge_of_the_domain(visit: Visit) -> None:
    checks = visit("f=sqrt(x)&at=x:0&mode=check&step=99&node=x&h=0.01")
    assert quotient(checks)[1:] == ["h", "= 10", quotient(checks)[3], "= inf", "? not finite"]


def test_nudge_is_not_animated_with_reduced_motion(visit: Visit) -> None:
    checks = visit("show=loss&mode=check&step=99&node=a&h=0.0001")
    moving = checks.graph.locator("svg.stage").evaluate("(svg) => svg.getAnimations({ subtree: true }).length")
    assert moving == 0
