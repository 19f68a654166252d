"""Watching microgpt learn: pace and step of the training, memorized names, the first screen, and cells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from microgpt_tab import Microgpt
from playwright.sync_api import Browser, BrowserContext, expect
from test_microgpt import NAMES


@pytest.fixture
def microgpt(context: BrowserContext, microgpt_file: Path) -> Microgpt:
    microgpt = Microgpt(context.new_page())
    microgpt.page.emulate_media(reduced_motion="no-preference")
    microgpt.visit(microgpt_file)
    return microgpt


# Training


# Records the displayed steps.
RECORD = """() => {
  const at = document.querySelector("[data-gradwalk]").shadowRoot.querySelector(".at");
  window.steps = [];
  const note = () => window.steps.push(Number(at.dataset.step));
  new MutationObserver(note).observe(at, { attributeFilter: ["data-step"] });
}"""


def test_training_starts_at_a_pace_to_follow(microgpt: Microgpt) -> None:
    expect(microgpt.speed.locator("option:checked")).to_have_text("20 steps/s")
    microgpt.page.evaluate(RECORD)
    microgpt.button("Train").click()
    microgpt.wait_for_step(12)
    microgpt.button("Pause").click()
    expect(microgpt.button("Train")).to_be_visible()
    assert microgpt.page.evaluate("steps.slice(0, 12)") == list(range(1, 13))  # each step is shown
    taken = microgpt.step
    microgpt.page.wait_for_timeout(300)
    assert microgpt.step == taken


def test_pace_is_chosen_by_keyboard_and_kept(microgpt: Microgpt) -> None:
    chosen = microgpt.speed.locator("option:checked")
    microgpt.speed.focus()
    microgpt.page.keyboard.press("ArrowUp")
    expect(chosen).to_have_text("5 steps/s")
    microgpt.page.keyboard.press("Home")
    expect(chosen).to_have_text("1 step/s")
    microgpt.button("Train").click()
    microgpt.wait_for_step(1)
    microgpt.speed.focus()
    microgpt.page.keyboard.press("End")  # during the training
    expect(chosen).to_have_text("full speed")
    microgpt.wait_for_step(100)
    microgpt.button("Restart").click()
    microgpt.use(NAMES)
    expect(chosen).to_have_text("full speed")
    assert "pace=0" in microgpt.fragment
    microgpt.page.reload()
    expect(chosen).to_have_text("full speed")


def test_training_stops_at_the_chosen_step(microgpt: Microgpt) -> None:
    microgpt.speed.select_option("full speed")
    microgpt.go_to(37)
    number = microgpt.choose("query matrix", 3, 5)
    microgpt.go_to(52)
    microgpt.go_to(12)
    microgpt.speed.select_option("100 steps/s")
    microgpt.go_to(37)
    expect(microgpt.story.locator(".value")).to_have_attribute("data-value", str(number.data))
    microgpt.page.get_by_label("Go to step").fill("1001")
    microgpt.button("Go").click()
    microgpt.page.wait_for_timeout(300)
    assert microgpt.step == 37  # the browser reports that there are only 1,000 steps


def test_reduced_motion_shows_fewer_states(browser: Browser, microgpt_file: Path) -> None:
    """Without reduced motion each step is shown; with it, two states per second."""
    context = browser.new_context(reduced_motion="reduce")
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file)
    microgpt.page.evaluate(RECORD)
    microgpt.button("Train").click()
    microgpt.wait_for_step(50)
    microgpt.button("Pause").click()
    expect(microgpt.button("Train")).to_be_visible()
    assert len(microgpt.page.evaluate("steps")) < microgpt.step / 2
    taken = microgpt.step
    microgpt.button("Step").click()  # a single step is shown at once
    microgpt.wait_for_step(taken + 1)
    context.close()


# Memorized names


def test_names_in_the_data_are_marked_and_counted(microgpt: Microgpt) -> None:
    microgpt.use(NAMES)
    microgpt.train_to(300)
    rows = microgpt.page.locator(".invented > li")
    count = rows.count()
    microgpt.button("Write five").click()
    expect(rows).to_have_count(count + 1)
    marks = microgpt.page.locator(".invented ul li")
    told = [mark.inner_text().split(maxsplit=1) for mark in marks.all()]
    assert len(told) >= 20
    for name, mark in told:
        assert mark == ("in the data" if name in NAMES.split() else "new")
    known = sum(mark == "in the data" for _, mark in told)
    expect(microgpt.page.locator(".counted")).to_have_text(
        re.compile(
            rf"^Of these {len(told)} names, {known} (is|are) in the data and {len(told) - known} (is|are) new\.$"
        )
    )
    expect(
        microgpt.page.get_by_text("It has memorized at least some of the 6 names: its mean loss is 0.")
    ).to_be_visible()
    microgpt.use("emma")
    expect(microgpt.page.locator(".memorized")).to_be_empty()


def test_many_names_are_not_said_to_be_memorized(microgpt: Microgpt) -> None:
    microgpt.train_to(200)
    expect(microgpt.page.locator(".counted")).to_contain_text("are new.")
    expect(microgpt.page.locator(".memorized")).to_be_empty()


# The first screen


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_first_screen_tells_what_to_do(browser: Browser, microgpt_file: Path, width: int, height: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": height})
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file)
    page = microgpt.page
    intro, train = page.locator(".train .intro"), page.locator(".transport .main")
    assert intro.inner_text().count(". ") == 2  # three sentences
    assert intro.locator("em").last.inner_text() == train.inner_text()  # what to press
    names = page.locator(".invented li li")
    expect(names).to_have_count(5)
    foot = page.locator(".transport").bounding_box()
    assert foot
    assert foot["y"] + foot["height"] <= height
    for part in (page.locator("h2").first, intro, page.locator(".curve"), names.first):
        box = part.bounding_box()
        assert box
        assert box["y"] + box["height"] <= foot["y"]
    for control in (train, page.locator(".transport select")):
        expect(control).to_be_in_viewport(ratio=1)
    context.close()


# Cells


def test_cells_are_large_enough_to_tap_on_a_phone(browser: Browser, microgpt_file: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    microgpt = Microgpt(context.new_page())
    microgpt.visit(microgpt_file, "name=maximilianander&place=16")
    cells = microgpt.page.get_by_role("gridcell")
    sizes = cells.evaluate_all("(cells) => cells.map(({ offsetWidth, offsetHeight }) => [offsetWidth, offsetHeight])")
    assert len(sizes) > 20
    assert min(map(min, sizes)) >= 12
    sheet = microgpt.page.locator("[data-matrix=widen] .cells")
    sheet.scroll_into_view_if_needed()
    sheet.evaluate("(sheet) => (sheet.scrollLeft = 9999)")
    microgpt.cell("widen matrix", 2, 63)
    box = microgpt.grid("widen matrix").get_by_role("gridcell").bounding_box()
    assert box
    microgpt.page.touchscreen.tap(box["x"] - 7, box["y"] + 6)  # the cell to the left
    expect(microgpt.story.locator(".name")).to_have_text("widen.62.2")
    context.close()
