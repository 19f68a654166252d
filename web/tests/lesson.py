"""The page as its tests drive and read it: by the names that its readers see and hear."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

LAB = "show=product"  # where the lab's tests begin; without a fragment the page begins with the lesson


class Row(NamedTuple):
    """A node in the table of all values."""

    made: str
    data: str
    gradient: str
    status: str


# Where the focus is, and what it is called; the page stands in a shadow root.
FOCUSED = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (!focused || focused === document.body || focused.shadowRoot) return "";
  return focused.ariaLabel || focused.textContent.trim() || focused.dataset.leaf || focused.localName;
}"""

# What elements say, with formulas as the text that they stand for.
SPOKEN = """(elements) => elements.map((element) => {
  const copy = element.cloneNode(true);
  for (const formula of copy.querySelectorAll("math")) formula.replaceWith(formula.getAttribute("alttext"));
  return copy.textContent;
})"""

# A point of the screen on a line, where nothing lies over it.
POINT_ON = """(path) => {
  const root = path.getRootNode();
  const matrix = path.getScreenCTM();
  for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
    const { x, y } = path.getPointAtLength(path.getTotalLength() * share).matrixTransform(matrix);
    if (root.elementFromPoint(x, y) === path) return { x, y };
  }
  throw new Error("the line is covered");
}"""


class Lesson:
    """A tab with the page in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problem = page.locator("pre.problem")
        self.program = page.locator("input.program")
        self.presets = page.get_by_label("Graphs of the lesson")
        self.phase = page.locator(".phase")
        self.sentence = page.locator(".sentence")
        self.timeline = page.locator(".timeline")
        self.inspector = page.locator(".inspector")
        self.panel = page.get_by_role("tabpanel")
        self.graph = page.get_by_role("region", name="Graph")
        self.path = page.get_by_role("navigation", name="Where in the graph")
        self.world = page.locator("g.world")

    def visit(self, path: Path, fragment: str = "") -> None:
        self.page.goto(path.as_uri() + (f"#{fragment}" if fragment else ""))
        self.drawn()

    def drawn(self) -> None:
        """Wait for the graph."""
        expect(self.graph.locator(".node, .part").first).to_be_attached()

    # Controls

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def tab(self, name: str) -> Locator:
        return self.page.get_by_role("tab", name=name, exact=True)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def show(self, title: str) -> None:
        """Choose a graph of the lesson."""
        self.presets.select_option(label=title)

    def draw(self, program: str, **values: float) -> None:
        """Type a program and the numbers of its leaves."""
        self.program.fill(program)
        self.button("Draw").click()
        for name, value in values.items():
            self.edit(name, repr(value))

    def leaf(self, name: str) -> Locator:
        """The field of a leaf, among the values that can be changed."""
        return self.page.locator(f".values input[data-leaf={name!r}]")

    def edit(self, name: str, text: str) -> None:
        self.leaf(name).fill(text)
        self.press("Enter")

    def open_menu(self) -> None:
        """Open the menu in the header."""
        self.page.locator(".tools > button").last.click()

    def colours(self) -> Locator:
        """The choice of colours, in the menu."""
        self.open_menu()
        return self.page.locator(".menu").get_by_label("Colors", exact=True)

    def open_file(self, path: Path, by: str = "mouse") -> None:
        if by == "mouse":
            self.open_menu()
        else:
            self.button("Menu").focus()
            self.press("Enter")
        with self.page.expect_file_chooser() as chooser:
            if by == "mouse":
                self.button("Open a file").click()
            else:
                self.button("Open a file").focus()
                self.press("Enter")
        chooser.value.set_files(path)

    def end(self) -> None:
        self.button("Run to the end").click()

    # What is shown

    @property
    def focused(self) -> str:
        found: str = self.page.evaluate(FOCUSED)
        return found

    @property
    def position(self) -> int:
        return int(self.timeline.input_value())

    @property
    def fragment(self) -> str:
        found: str = self.page.evaluate("location.hash.slice(1)")
        return found

    def settled(self, fragment: str) -> None:
        """Wait until the address bar says it: it is written when the page has come to rest."""
        self.page.wait_for_function("(fragment) => location.hash.slice(1) === fragment", arg=fragment)

    @property
    def rows(self) -> dict[str, Row]:
        """The table of all values."""
        read = "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
        found = self.page.locator(".twin tbody tr").evaluate_all(read)
        return {name: Row(*cells) for name, *cells in found if len(cells) == len(Row._fields)}  # parts have fewer

    @property
    def gradients(self) -> dict[str, float]:
        return {name: float(row.gradient) for name, row in self.rows.items() if row.gradient != "?"}

    @property
    def facts(self) -> dict[str, str]:
        """The inspector's list of terms and what they are."""
        terms = self.inspector.locator("dt").all_text_contents()
        return dict(zip(terms, self.inspector.locator("dd").evaluate_all(SPOKEN), strict=True))

    def inspect(self, name: str) -> None:
        """Select a node by the table of all values."""
        self.page.locator(".twin").get_by_role("button", name=name, exact=True).click()

    # The graph

    def box(self, name: str) -> Locator:
        """A node or a part on the graph, by its name."""
        return self.graph.locator(f".hit[aria-label^='{name},'], .hit[aria-label^='{name}:']")

    def line(self, giver: str, taker: str, operand: int = 1) -> Locator:
        """The line that leads from a node to the one that it is an operand of."""
        return self.graph.locator(f".hit[aria-label^='line from {giver} to {taker}, operand {operand}']")

    def click_line(self, giver: str, taker: str, operand: int = 1) -> None:
        point = self.line(giver, taker, operand).evaluate(POINT_ON)
        self.page.mouse.click(point["x"], point["y"])

    @property
    def view(self) -> tuple[float, float, float]:
        """How far the graph is moved to the right and down, and its scale."""
        x, y, scale = self.world.evaluate(
            "(world) => { const { e, f, a } = new DOMMatrix(world.style.transform); return [e, f, a]; }"
        )
        return x, y, scale
