"""The microgpt page: it trains in the browser, and each of its numbers can be inspected."""

from __future__ import annotations

import base64
import importlib.util
import json
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pytest
from microgpt_tab import Microgpt
from playwright.sync_api import Browser, BrowserContext, Page, expect
from test_access import FOCUS, LOOK

from gradwalk import value_and_grad

AXE = Path(__file__).parent.parent / "node_modules/axe-core/axe.min.js"
EXAMPLE = Path(__file__).parents[2] / "examples/microgpt.py"
NAMES = "emma olivia ava mia noah liam"

Visit = Callable[..., Microgpt]


@pytest.fixture
def visit(context: BrowserContext, microgpt_file: Path) -> Visit:
    """Return `visit(fragment)`, which opens the page in a tab."""

    def visit(fragment: str = "") -> Microgpt:
        microgpt = Microgpt(context.new_page())
        microgpt.page.emulate_media(reduced_motion="no-preference")
        microgpt.visit(microgpt_file, fragment)
        return microgpt

    return visit


@pytest.fixture
def microgpt(visit: Visit) -> Microgpt:
    return visit()


# Training


def test_training_reduces_the_loss(microgpt: Microgpt) -> None:
    microgpt.train_to(150)
    assert microgpt.step >= 150
    first, last = (float(re.findall(r"mean ([\d.]+)", told)[0]) for told in ends(microgpt))
    assert last < first - 0.4
    expect(microgpt.page.locator(".invented ul").first).to_contain_text(re.compile(r"\w+"))


def ends(microgpt: Microgpt) -> tuple[str, str]:
    """Return the curve's descriptions of the first step and of the last step."""
    microgpt.curve.focus()
    microgpt.page.keyboard.press("Home")
    expect(microgpt.curve).to_have_attribute("aria-valuetext", re.compile("^step 0"))
    first = microgpt.curve.get_attribute("aria-valuetext") or ""
    microgpt.page.keyboard.press("End")
    expect(microgpt.curve).not_to_have_attribute("aria-valuetext", re.compile("^step 0"))
    return first, microgpt.curve.get_attribute("aria-valuetext") or ""


def test_pause_step_and_restart(microgpt: Microgpt) -> None:
    microgpt.train_to(5)
    taken = microgpt.step
    microgpt.page.wait_for_timeout(300)
    assert microgpt.step == taken
    microgpt.button("Step").click()
    microgpt.wait_for_step(taken + 1)
    assert microgpt.step == taken + 1
    microgpt.button("Step back").click()
    expect(microgpt.page.locator(".at")).to_have_attribute("data-step", str(taken))
    microgpt.button("Restart").click()
    expect(microgpt.page.locator(".at")).to_have_attribute("data-step", "0")


def test_returning_to_a_step_restores_its_numbers(microgpt: Microgpt) -> None:
    for _ in range(3):
        microgpt.button("Step").click()
    microgpt.wait_for_step(3)
    before = microgpt.choose("query matrix", 3, 5)
    microgpt.train_to(40)
    expect(microgpt.story.locator(".value")).not_to_have_attribute("data-value", str(before.data))
    microgpt.curve.focus()
    microgpt.page.keyboard.press("Home")
    for _ in range(3):
        microgpt.page.keyboard.press("ArrowRight")
    expect(microgpt.page.locator(".at")).to_have_attribute("data-step", "3")
    expect(microgpt.story.locator(".value")).to_have_attribute("data-value", str(before.data))
    assert microgpt.number == before


def test_curve_and_footer_show_the_same_loss(microgpt: Microgpt) -> None:
    microgpt.train_to(5)
    for _ in range(2):
        step, told = microgpt.page.locator(".at").get_attribute("data-step"), microgpt.page.locator(".told-at")
        expect(told).to_contain_text(f"step {step}: ")
        loss = re.findall(r"loss ([\d.]+)", told.inner_text())[0]
        expect(microgpt.page.locator(".at")).to_contain_text(f"loss {loss}")
        microgpt.button("Step back").click()
        expect(microgpt.page.locator(".at")).not_to_have_attribute("data-step", step or "")


def test_new_names_are_generated_after_a_restart(microgpt: Microgpt) -> None:
    microgpt.train_to(300)
    microgpt.button("Restart").click()
    expect(microgpt.page.locator(".at")).to_have_attribute("data-step", "0")
    last = microgpt.page.locator(".invented .note").first.inner_text()
    microgpt.train_to(120)
    expect(microgpt.page.locator(".invented .note").first).not_to_have_text(last)


def test_click_on_the_curve_selects_a_step(microgpt: Microgpt) -> None:
    microgpt.train_to(250)
    box = microgpt.curve.bounding_box()
    assert box
    microgpt.curve.click(position={"x": 30 + (box["width"] - 50) * 0.1, "y": 60})
    expect(microgpt.page.locator(".at")).to_have_attribute("data-step", re.compile(r"^(99|100|101)$"))


# Names


def test_own_names_can_be_learned(microgpt: Microgpt) -> None:
    microgpt.use(NAMES)
    expect(microgpt.page.get_by_text("It learns from 6 names.")).to_be_visible()
    expect(microgpt.name).to_have_value("emma")
    expect(microgpt.heads.nth(2)).to_contain_text("Head 3, predicting letter 4 of “emma”, looks mostly at")
    microgpt.button("Back to the given names").click()
    expect(microgpt.page.get_by_text("It learns from 200 names.")).to_be_visible()


def test_problems_with_names_are_reported(microgpt: Microgpt) -> None:
    microgpt.use("emma zoë abcdefghijklmnopqrst")
    problems = microgpt.page.locator(".problems li")
    expect(problems).to_have_count(2)
    expect(problems.filter(has_text="“zoë” is left out: it has “ë”, but only the letters a to z")).to_have_count(1)
    expect(problems.filter(has_text="is too long: it is read as “abcdefghijklmno”.")).to_have_count(1)
    expect(microgpt.names).to_have_attribute("aria-invalid", "true")
    microgpt.use("emma")
    expect(problems).to_have_count(0)
    microgpt.use("123")
    expect(problems.filter(has_text="There is no name to learn from")).to_have_count(1)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("", "Type a name."), ("zoë", "letters a to z are allowed, not “ë”."), ("a" * 16, "The name is too long")],
)
def test_invalid_names_are_rejected(microgpt: Microgpt, name: str, problem: str) -> None:
    microgpt.name.fill(name)
    microgpt.button("Open").click()
    expect(microgpt.page.locator("#name-problem")).to_contain_text(problem)
    microgpt.open("mia")
    expect(microgpt.page.locator("#name-problem")).to_be_empty()


def test_names_of_all_lengths_can_be_opened(microgpt: Microgpt) -> None:
    for name in ("a", "maximilianander"):
        microgpt.open(name)
        expect(microgpt.page.locator(".places label")).to_have_count(len(name) + 1)
    microgpt.page.locator("[data-place='15']").click()
    expect(microgpt.heads.first).to_contain_text("predicting the end of “maximilianander”")


# Opening numbers


def test_heads_and_places_can_be_chosen(microgpt: Microgpt) -> None:
    microgpt.open("emma")
    microgpt.predict(2)
    expect(microgpt.heads.nth(3)).to_contain_text("Head 4, predicting letter 2 of “emma”")
    microgpt.predict(1)
    expect(microgpt.heads.nth(3)).to_have_text("Head 4 has only the start to look at.")
    microgpt.predict(5)
    expect(microgpt.heads.nth(0)).to_contain_text("predicting the end of “emma”")
    microgpt.page.locator(".inside .segments label", has_text="Head 2").click()
    assert microgpt.choose("weights", 0, 3).name == "place4.attention.head1.weight.3"


def test_suggested_weight_is_the_one_named(microgpt: Microgpt) -> None:
    microgpt.open("emma")
    for letter in (2, 4):
        microgpt.predict(letter)
        expect(microgpt.heads.nth(2)).to_contain_text(f"predicting letter {letter}")
        told = re.search(r"looks mostly at .*?\((\d+)", microgpt.heads.nth(2).inner_text())
        assert told
        microgpt.page.get_by_role("button", name="where head 3 looks").click()
        name = re.compile(rf"^place{letter - 1}\.attention\.head2\.weight\.")
        expect(microgpt.story.locator(".name")).to_have_text(name)
        assert round(100 * microgpt.number.data) == int(told[1])
        microgpt.page.locator(".story .close").click()


def test_click_selects_a_number(microgpt: Microgpt) -> None:
    microgpt.open("emma")
    canvas = microgpt.page.locator(".head").nth(2).locator("canvas")
    canvas.scroll_into_view_if_needed()
    canvas.click(position={"x": 20 + 30 * 1.5, "y": 18 + 30 * 3.5})
    expect(microgpt.story.locator(".name")).to_have_text("place3.attention.head2.weight.1")
    weight = microgpt.number
    assert 0 < weight.data < 1
    assert microgpt.story.locator(".sentence").inner_text()
    expect(microgpt.story.locator(".lines [aria-current]")).to_contain_text("softmax")
    shares = [float(microgpt.cell("weights", 0, seen).get_attribute("data-value") or 0) for seen in range(4)]
    assert sum(shares) == pytest.approx(1, abs=1e-12)
    assert shares[1] == weight.data


def test_following_numbers_and_going_back(microgpt: Microgpt) -> None:
    microgpt.open("emma")
    first = microgpt.choose("Logits", 0, 4)
    assert first.name == "place3.logit.4"
    made = microgpt.story.locator(".links-of").nth(1).locator("button:not([aria-disabled])")
    name = made.first.get_attribute("data-node")
    made.first.click()
    expect(microgpt.story.locator(".name")).to_have_text(str(name))
    microgpt.story.get_by_role("button", name="Back", exact=True).click()
    expect(microgpt.story.locator(".name")).to_have_text(first.name)
    assert microgpt.number == first
    microgpt.story.get_by_role("button", name="Forward", exact=True).click()
    expect(microgpt.story.locator(".name")).to_have_text(str(name))


def test_gradient_is_the_sum_of_contributions(microgpt: Microgpt) -> None:
    microgpt.open("emma")
    number = microgpt.choose("Head 3", 3, 1)
    gives = microgpt.story.locator(".links-of").first.locator("[data-amount]")
    amounts = [float(button.get_attribute("data-amount") or 0) for button in gives.all()]
    assert sum(amounts) == pytest.approx(number.grad, rel=1e-12)


def test_number_is_found_by_name(microgpt: Microgpt) -> None:
    field = microgpt.page.get_by_label("Find a number by its name")
    field.fill("query.3.5")
    microgpt.page.keyboard.press("Enter")
    assert microgpt.number.name == "query.3.5"
    field.fill("query.99.5")
    field.press("Enter")
    expect(microgpt.page.get_by_text("There is no “query.99.5”")).to_be_visible()


def test_strongest_path_from_the_loss(microgpt: Microgpt) -> None:
    microgpt.open("emma")
    microgpt.choose("letters matrix", 12, 3)
    microgpt.button("To this number").click()
    steps = microgpt.story.locator(".path-of button")
    expect(steps.first).to_be_visible()
    assert steps.count() > 5
    steps.nth(3).click()
    expect(microgpt.story.locator(".path-of li[aria-current]")).to_have_count(1)
    microgpt.button("To the letter just read").click()
    expect(steps.last).to_contain_text("of the letter “m” · weight")
    steps.last.click()
    expect(microgpt.story.locator(".name")).to_have_text(re.compile(r"letters\.12\.\d+"))
    microgpt.button("Hide the path").click()
    expect(steps).to_have_count(0)


# Agreement with Python


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("microgpt_example", EXAMPLE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_agree_with_python(microgpt: Microgpt, example: Any) -> None:
    names = NAMES.split()
    document = json.loads((Path(pages.__file__).parents[2] / "src/gradwalk/explain/page/microgpt.json").read_text())
    flat = np.frombuffer(base64.b64decode(document["weights"]))
    sizes = [matrix["rows"] * matrix["columns"] for matrix in document["matrices"]]
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    weights: Any = {
        matrix["name"]: part.reshape(matrix["rows"], matrix["columns"])
        for matrix, part in zip(document["matrices"], parts, strict=True)
    }
    tokenizer = example.Tokenizer([string.ascii_lowercase])
    learned = example.train(weights, names, tokenizer, 1000, "recorded", random.Random(0))
    losses = []
    for _ in range(12):
        loss, weights = next(learned)
        losses.append(loss)

    microgpt.use(" ".join(names))
    for _ in range(12):
        microgpt.button("Step").click()
    microgpt.wait_for_step(12)
    microgpt.curve.focus()
    microgpt.page.keyboard.press("ArrowLeft")
    expect(microgpt.curve).to_have_attribute("data-loss", re.compile("."))
    assert float(microgpt.curve.get_attribute("data-loss") or 0) == pytest.approx(losses[11], rel=1e-12)
    microgpt.page.keyboard.press("ArrowRight")
    microgpt.wait_for_step(12)
    microgpt.open("olivia")
    spelled = np.array(tokenizer.encode("olivia"), float)
    loss, slopes = value_and_grad(example.loss)(weights, spelled[:-1], spelled[1:])
    for matrix, row, column in [("query", 3, 5), ("value", 15, 0), ("letters", 8, 2), ("mix", 7, 7)]:
        number = microgpt.choose(f"{matrix} matrix", row, column)
        assert number.name == f"{matrix}.{row}.{column}"
        assert number.data == pytest.approx(weights[matrix][row][column], rel=1e-12)
        assert number.grad == pytest.approx(slopes[matrix][row][column], rel=1e-12, abs=1e-15)
    field = microgpt.page.get_by_label("Find a number by its name")
    field.fill("loss")
    field.press("Enter")
    assert microgpt.number.data == pytest.approx(float(loss), rel=1e-12)
    assert microgpt.number.grad == 1


# Links


def test_link_restores_the_selected_number(microgpt: Microgpt, visit: Visit) -> None:
    microgpt.use(NAMES)
    microgpt.train_to(20)
    microgpt.open("noah")
    microgpt.predict(3)
    microgpt.shows("gradients")
    number = microgpt.choose("Head 2", 2, 0)
    step = microgpt.step
    again = visit(microgpt.fragment)
    again.wait_for_step(step)
    expect(again.story.locator(".value")).to_have_attribute("data-value", str(number.data))
    assert again.step == step
    assert again.number == number
    assert again.name.input_value() == "noah"
    expect(again.page.get_by_role("heading", name="Open it at a name")).to_be_in_viewport()
    expect(again.page.get_by_label("gradients")).to_be_checked()
    expect(again.page.get_by_role("radio", name="letter 3, “a”")).to_be_checked()


def test_edited_address_is_not_overwritten(visit: Visit) -> None:
    """The page writes its choices into the address 200 ms after a click, unless the reader has changed the address."""
    microgpt = visit()
    microgpt.page.get_by_label("gradients").evaluate(
        """(option) => {
          option.click();
          history.replaceState(null, "", "#name=anna");
        }"""
    )
    assert microgpt.fragment == "name=anna"


@pytest.mark.parametrize("fragment", ["step=x&name=%00&place=-3&node=nothing", "place=99&head=77&names=%F0%9F%98%80"])
def test_invalid_link_shows_the_page(context: BrowserContext, microgpt_file: Path, fragment: str) -> None:
    page = context.new_page()
    page.goto(f"{microgpt_file.as_uri()}#{fragment}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("microgpt")
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()
    expect(page.locator(".head .looks").first).to_contain_text("Head 1")  # opened at some name


def test_inactive_neuron_passes_no_gradient(microgpt: Microgpt) -> None:
    asleep = next(i for i in range(64) if microgpt.choose("Neurons", i // 16, i % 16).data == 0)
    microgpt.page.get_by_label("Find a number by its name").fill(f"place3.mlp.sumprod.{asleep}")
    microgpt.button("Find").click()
    expect(microgpt.story).to_contain_text("pass 0 back to it")
    expect(microgpt.story).not_to_contain_text("nan")


def test_hovering_a_cell_does_not_move_the_layout(microgpt: Microgpt) -> None:
    sheet = microgpt.page.locator(".head .sheet").nth(2)
    below = microgpt.page.locator(".inside")
    sheet.scroll_into_view_if_needed()
    before = below.bounding_box()
    sheet.hover(position={"x": 35, "y": 30})
    expect(microgpt.page.locator(".attention > .readout")).to_contain_text("Head 3")
    assert below.bounding_box() == before


def test_description_of_a_weight_is_visible(microgpt: Microgpt) -> None:
    sheet = microgpt.page.locator("[data-matrix=letters] .sheet")
    sheet.scroll_into_view_if_needed()
    sheet.hover(position={"x": 40, "y": 10})
    expect(microgpt.page.locator(".weights .readout")).to_be_in_viewport()
    expect(microgpt.page.locator(".weights .readout")).to_contain_text("letters matrix, row 1")


@pytest.mark.parametrize("part", ["train", "attention", "weights"])
def test_training_continues_while_inspecting(microgpt: Microgpt, part: str) -> None:
    """benchmarks/page.py measures the training speed and the frame time."""
    microgpt.open("isabella")
    microgpt.choose("Head 3", 3, 1)
    microgpt.button("Train").click()
    microgpt.page.locator(f"#{part}").scroll_into_view_if_needed()
    microgpt.wait_for_step(100)


# Accessibility


@pytest.mark.parametrize("width", [390, 768, 1280, 1920])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, microgpt_file: Path, width: int, theme: Any) -> None:
    context = browser.new_context(viewport={"width": width, "height": 860}, bypass_csp=True, color_scheme=theme)
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file, "step=20&name=emma&place=4&node=place3.attention.head2.weight.1")
    microgpt.wait_for_step(20)
    microgpt.button("To this number").click()
    microgpt.page.add_script_tag(path=AXE)
    assert microgpt.page.evaluate(LOOK) == []
    assert microgpt.page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_with_forced_colors(browser: Browser, microgpt_file: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 860}, bypass_csp=True, forced_colors="active")
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file, "name=emma&place=4&node=query.0.0&show=gradients")
    microgpt.page.add_script_tag(path=AXE)
    assert microgpt.page.evaluate(LOOK) == []
    context.close()


def test_page_works_by_keyboard(microgpt: Microgpt) -> None:
    page = microgpt.page
    microgpt.names.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("emma")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("It learns from 1 name.")).to_be_visible()
    microgpt.button("Train").focus()
    page.keyboard.press("Enter")
    microgpt.wait_for_step(10)
    page.keyboard.press("Enter")
    expect(microgpt.button("Train")).to_be_focused()
    page.get_by_role("radio", name="letter 4, “a”").focus()
    page.keyboard.press("ArrowLeft")
    expect(microgpt.heads.nth(2)).to_contain_text("predicting letter 3")
    microgpt.cell("Head 3", 2, 1)
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUS)["name"] == microgpt.story.locator("h2").inner_text()
    page.keyboard.press("Escape")
    focused = microgpt.grid("Head 3").get_by_role("gridcell")
    expect(focused).to_be_focused()
    expect(focused).to_have_attribute(
        "aria-label", re.compile(r"Head 3, predicting letter 3, “m”, looks at letter 1, “e”: value 0\.\d+")
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_tab_reaches_all_controls_and_shows_focus(browser: Browser, microgpt_file: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 860}, reduced_motion="reduce")
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file, "name=emma")
    microgpt.page.evaluate("document.activeElement.blur()")
    names: list[str] = []
    while (focus := stop(microgpt.page)) is not None:
        assert focus["name"], f"the element after {names} has no name"
        assert focus["isShown"] or focus["isRadio"], f"{focus['name']} does not show its focus"
        assert focus["isInside"], f"{focus['name']} has the focus but is out of view"
        names.append(focus["name"])
        assert len(names) < 100
    assert {"Train", "Step", "Restart", "Menu", "Open", "Use these names"} <= set(names)
    context.close()


def stop(page: Page) -> Any:
    """Press Tab and describe the focused element."""
    page.keyboard.press("Tab")
    focus = page.evaluate(FOCUS)
    radio = """() => document.activeElement.shadowRoot?.activeElement?.type === "radio" """
    return None if focus is None else focus | {"isRadio": page.evaluate(radio)}


def test_menu_links_to_parts_and_sets_colors(microgpt: Microgpt) -> None:
    microgpt.button("Menu").click()
    microgpt.page.get_by_role("link", name="Attention").click()
    heading = microgpt.page.get_by_role("heading", name="Four heads look back")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    microgpt.button("Menu").click()
    microgpt.page.get_by_label("Colors").select_option("dark")
    color = "getComputedStyle(document.querySelector('[data-gradwalk]')).backgroundColor"
    assert microgpt.page.evaluate(color) == "rgb(23, 24, 28)"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_the_window(context: BrowserContext, microgpt_file: Path, width: int) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 844})
    microgpt = Microgpt(page)
    microgpt.visit(microgpt_file, "name=maximilianander&place=16")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = """(elements) => elements
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
      .filter((element) => !element.closest(".scroll")).map((element) => element.outerHTML.slice(0, 80))"""
    assert page.locator(".microgpt :is(button, input, p, canvas, svg, h2, textarea)").evaluate_all(wide) == []


def test_tapped_cell_stays_visible_on_a_phone(browser: Browser, microgpt_file: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file, "name=emma")
    canvas = microgpt.page.locator(".head").nth(2).locator("canvas")
    canvas.scroll_into_view_if_needed()
    canvas.tap(position={"x": 40, "y": 40})
    cell, sheet = (part.bounding_box() for part in (microgpt.grid("Head 3").get_by_role("gridcell"), microgpt.story))
    assert cell
    assert sheet
    assert cell["y"] + cell["height"] <= sheet["y"]
    microgpt.story.get_by_role("button", name="Close", exact=True).click()
    expect(microgpt.story).to_be_hidden()
    context.close()


def test_nothing_moves_by_itself(microgpt: Microgpt) -> None:
    microgpt.train_to(30)
    assert microgpt.page.evaluate("document.getAnimations().length") == 0


def test_touch_targets_are_large_enough(browser: Browser, microgpt_file: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file, "name=emma&node=query.0.0")
    small = """(elements) => elements.filter((element) => element.checkVisibility())
      .filter((element) => element.offsetWidth < 24 || element.offsetHeight < 24)
      .map((element) => element.outerHTML.slice(0, 80))"""
    assert microgpt.page.locator(".microgpt :is(button, select, input)").evaluate_all(small) == []
    context.close()


def test_new_visitor_sees_where_a_head_looks(microgpt: Microgpt) -> None:
    """A new visitor types a name, trains, and looks."""
    microgpt.use("katarina")
    microgpt.train_to(60)
    told = microgpt.heads.nth(2).inner_text()
    assert told.startswith("Head 3, predicting letter 4 of “katarina”, looks mostly at ")
    found = re.search(r"at letter ([123]), “([kat])” \(\d+ %\)\.", told)
    assert found
    seen = int(found[1])
    assert "katarina"[seen - 1] == found[2]
    weight = microgpt.choose("Head 3", 3, seen)
    assert weight.name == f"place3.attention.head2.weight.{seen}"
    expect(microgpt.story.locator(".sentence")).to_contain_text("The chain rule adds up these contributions")
