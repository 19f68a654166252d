"""Page object of the microgpt page: elements are found by their accessible names."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

PATIENCE = 30_000  # milliseconds, for training on a busy machine


class Number(NamedTuple):
    """The number selected on the page."""

    name: str
    data: float
    grad: float


class Microgpt:
    """The microgpt page in a tab."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def visit(self, path: Path, fragment: str = "") -> None:
        """Open the page and wait until a name is open."""
        self.page.goto("about:blank")
        self.page.goto(f"{path.as_uri()}#{fragment}")
        expect(self.heads.first).not_to_be_empty(timeout=PATIENCE)

    # Controls

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def names(self) -> Locator:
        return self.page.get_by_label("Names to learn from")

    @property
    def name(self) -> Locator:
        return self.page.get_by_label("Look at a name")

    @property
    def curve(self) -> Locator:
        return self.page.get_by_role("slider", name="Step of the training")

    @property
    def speed(self) -> Locator:
        return self.page.get_by_label("Speed")

    def use(self, names: str) -> None:
        """Train on other names."""
        self.names.fill(names)
        self.button("Use these names").click()

    def open(self, name: str) -> None:
        """Open a name."""
        self.name.fill(name)
        self.button("Open").click()
        expect(self.heads.first).to_contain_text(f"“{name}”")

    def predict(self, letter: int) -> None:
        """Predict the letter at this position, counted from 1."""
        self.page.locator(f"[data-place='{letter - 1}']").click()

    def shows(self, kind: str) -> None:
        """Show "values" or "gradients" in the cells."""
        self.page.locator(".transport .segments label", has_text=kind).click()

    def grid(self, name: str) -> Locator:
        return self.page.get_by_role("grid", name=name, exact=True)

    def cell(self, grid: str, row: int, column: int) -> Locator:
        """Move the focus by keyboard to a cell of a grid, counted from 0."""
        cell = self.grid(grid).get_by_role("gridcell")
        cell.scroll_into_view_if_needed()
        cell.focus()
        for key in ["PageUp"] * 10 + ["Home"] + ["ArrowDown"] * row + ["ArrowRight"] * column:
            self.page.keyboard.press(key)
        return self.grid(grid).get_by_role("gridcell")

    def choose(self, grid: str, row: int, column: int) -> Number:
        """Select the number of a cell."""
        self.cell(grid, row, column)
        self.page.keyboard.press("Enter")
        return self.number

    # State

    @property
    def step(self) -> int:
        """Return the displayed step."""
        return int(self.page.locator(".at").get_attribute("data-step") or -1)

    def wait_for_step(self, step: int) -> None:
        """Wait until the displayed step is at least this."""
        js = f"""() => Number(document.querySelector("[data-gradwalk]").shadowRoot
          .querySelector(".at").dataset.step) >= {step}"""
        self.page.wait_for_function(js, timeout=PATIENCE)

    def train_to(self, step: int) -> None:
        """Train at full speed to at least this step, then pause."""
        self.speed.select_option("full speed")
        self.button("Train").click()
        self.wait_for_step(step)
        self.button("Pause").click()
        expect(self.button("Train")).to_be_visible()

    def go_to(self, step: int) -> None:
        """Go to this step, by training or by returning to it."""
        field = self.page.get_by_label("Go to step")
        field.fill(str(step))
        field.press("Enter")
        expect(self.page.locator(".at")).to_have_attribute("data-step", str(step), timeout=PATIENCE)
        expect(self.button("Train")).to_be_visible()

    @property
    def heads(self) -> Locator:
        """Find the descriptions of the heads."""
        return self.page.locator(".looks")

    @property
    def story(self) -> Locator:
        return self.page.get_by_role("complementary", name="The number you chose")

    @property
    def number(self) -> Number:
        """Return the selected number."""
        value, gradient = (self.story.locator(f".{part}").get_attribute("data-value") for part in ("value", "gradient"))
        return Number(self.story.locator(".name").text_content() or "", float(value or "nan"), float(gradient or "nan"))

    @property
    def fragment(self) -> str:
        """Return the link's fragment after the page has written it."""
        self.page.wait_for_timeout(400)
        return self.page.url.partition("#")[2]
