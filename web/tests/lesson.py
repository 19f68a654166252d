"""Page object of the lesson and lab: elements are found by their accessible names."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

LAB = "show=product"  # start of the lab's tests; without a fragment the page starts with the lesson


class Row(NamedTuple):
    """A row of the table of all values."""

    made: str
    data: str
    gradient: str
    status: str


# Return the name of the focused element; the page is in a shadow root.
FOCUSED = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (!focused || focused === document.body || focused.shadowRoot) return "";
  return focused.ariaLabel || focused.textContent.trim() || focused.dataset.leaf || focused.localName;
}"""

# Return the texts of elements, with formulas as their alternative texts.
SPOKEN = """(elements) => elements.map((element) => {
  const copy = element.cloneNode(true);
  for (const formula of copy.querySelectorAll("math")) formula.replaceWith(formula.getAttribute("alttext"));
  return copy.textContent;
})"""

# Return a point of a line, in screen coordinates, where nothing covers the line.
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
    """The page in a tab."""

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
        """Wait until the graph is drawn."""
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
        """Select a graph of the lesson."""
        self.presets.select_option(label=title)

    def draw(self, program: str, **values: float) -> None:
        """Enter a program and the values of its leaves."""
        self.program.fill(program)
        self.button("Draw").click()
        for name, value in values.items():
            self.edit(name, repr(value))

    def leaf(self, name: str) -> Locator:
        """Find the field of a leaf among the values."""
        return self.page.locator(f".values input[data-leaf={name!r}]")

    def edit(self, name: str, text: str) -> None:
        self.leaf(name).fill(text)
        self.press("Enter")

    def open_menu(self) -> None:
        """Open the menu in the header."""
        self.page.locator(".tools > button").last.click()

    def colors(self) -> Locator:
        """Open the menu and find its choice of colors."""
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
        """Run to the end, if the walk is not there: own programs open at the end."""
        end = self.button("Run to the end")
        if end.get_attribute("aria-disabled") is None:
            end.click()

    # Displayed state

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
        """Wait for this fragment, which the page writes when it is at rest."""
        self.page.wait_for_function("(fragment) => location.hash.slice(1) === fragment", arg=fragment)

    @property
    def rows(self) -> dict[str, Row]:
        """The table of all values, by name."""
        read = "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
        found = self.page.locator(".twin tbody tr").evaluate_all(read)
        return {name: Row(*cells) for name, *cells in found if len(cells) == len(Row._fields)}  # parts have fewer

    @property
    def gradients(self) -> dict[str, float]:
        return {name: float(row.gradient) for name, row in self.rows.items() if row.gradient != "?"}

    @property
    def facts(self) -> dict[str, str]:
        """The inspector's list of terms and descriptions."""
        terms = self.inspector.locator("dt").all_text_contents()
        return dict(zip(terms, self.inspector.locator("dd").evaluate_all(SPOKEN), strict=True))

    def inspect(self, name: str) -> None:
        """Select a node in the table of all values."""
        self.page.locator(".twin").get_by_role("button", name=name, exact=True).click()

    # The graph

    def box(self, name: str) -> Locator:
        """Find a node or part in the graph by its name."""
        return self.graph.locator(f".hit[aria-label^='{name},'], .hit[aria-label^='{name}:']")

    def line(self, giver: str, taker: str, operand: int = 1) -> Locator:
        """Find the line from an operand to the node that uses it."""
        return self.graph.locator(f".hit[aria-label^='line from {giver} to {taker}, operand {operand}']")

    def click_line(self, giver: str, taker: str, operand: int = 1) -> None:
        point = self.line(giver, taker, operand).evaluate(POINT_ON)
        self.page.mouse.click(point["x"], point["y"])

    @property
    def view(self) -> tuple[float, float, float]:
        """The graph's translation to the right and down, and its scale."""
        x, y, scale = self.world.evaluate(
            "(world) => { const { e, f, a } = new DOMMatrix(world.style.transform); return [e, f, a]; }"
        )
        return x, y, scale
