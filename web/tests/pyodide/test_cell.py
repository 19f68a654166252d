"""The page's Python cell, served as `gradwalk lesson --with-pyodide` writes it, in Chromium."""

from __future__ import annotations

import contextlib
import io
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest
from lesson import LAB, Lesson
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from gradwalk.cli.main import main

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
LOADING = 120_000  # milliseconds, to compile 10 MB on a busy machine
VIOLATIONS = (
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target)]))"
)


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without logging."""

    def log_message(self, *_: Any) -> None:
        """Do nothing."""


@contextlib.contextmanager
def serving(handler: Any) -> Iterator[str]:
    """Start a server and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page with the command line."""
    folder = tmp_path_factory.mktemp("site")
    assert main(["lesson", "--with-pyodide", os.environ["GRADWALK_PYODIDE"], str(folder / "index.html")]) == 0
    return folder


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the folder and yield its address."""
    with serving(partial(Quiet, directory=site)) as address:
        yield address


class Cell:
    """The page in a tab, with the cell open."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.lesson = Lesson(page)
        self.toggle = self.lesson.button("Python")
        self.element = page.get_by_role("region", name="Python", exact=True)
        self.program = page.get_by_label("Program in Python")
        self.output = page.get_by_label("What the program printed")
        self.status = self.element.get_by_role("status")
        self.run, self.stop = self.lesson.button("Run"), self.lesson.button("Stop")

    def ready(self) -> Cell:
        """Wait until Python is loaded."""
        expect(self.status).to_have_text("Python is ready.", timeout=LOADING)
        return self

    def runs(self, program: str, status: str) -> None:
        """Run a program and wait for its status."""
        self.program.fill(program)
        self.run.click()
        expect(self.status).to_have_text(status, timeout=LOADING)


SHOWN = "The program has finished. Its graph is below."


@pytest.fixture
def problems() -> list[str]:
    """Collect the page's errors and warnings."""
    return []


@pytest.fixture
def context(browser: Browser, address: str, problems: list[str]) -> Iterator[BrowserContext]:
    """Yield a browser context; fail on errors, warnings, and requests to other servers."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_navigation_timeout(LOADING)
    loaded: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(message.text)

    context.on("console", hear)
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("response", lambda response: loaded.append(response.url))
    yield context
    context.close()
    assert problems == []
    assert [url for url in loaded if not url.startswith((address, "blob:", "data:", "file:"))] == []


@pytest.fixture
def opened(context: BrowserContext, address: str) -> Callable[[], Cell]:
    """Return a function that opens the page and the cell."""

    def open_cell() -> Cell:
        cell = Cell(context.new_page())
        cell.page.goto(f"{address}#{LAB}")
        cell.lesson.drawn()
        cell.toggle.click()
        return cell

    return open_cell


def test_program_runs_and_shows_its_graph(opened: Callable[[], Cell]):
    cell = opened().ready()
    expect(cell.program).to_be_focused()
    cell.run.click()
    expect(cell.status).to_have_text(SHOWN, timeout=LOADING)
    assert numbers(cell.output.inner_text()) == pytest.approx(numbers(printed_here(example("neuron"))), rel=1e-12)
    expect(cell.page.locator("header .of")).to_have_text("program.py")
    expect(cell.page.locator(".source h2")).to_have_text("program.py")
    expect(cell.lesson.phase).to_contain_text("done")  # own programs open at their end
    cell.lesson.button("Close the file").click()
    expect(cell.lesson.program).to_be_visible()


@pytest.mark.parametrize("key", ["Control+Enter", "Shift+Enter"])
def test_running_by_keyboard_shows_every_pass(opened: Callable[[], Cell], key: str):
    cell = opened()
    program = example("loop")
    cell.page.get_by_label("Examples").select_option(label="a training loop")
    expect(cell.program).to_have_value(program)
    cell.program.press(key)  # while Python is loading
    expect(cell.status).to_have_text(SHOWN, timeout=LOADING)
    assert numbers(cell.output.inner_text()) == pytest.approx(numbers(printed_here(program)), rel=1e-12)
    expect(cell.page.locator(".passes, .source").first).to_contain_text("20")
    cell.program.press("n")  # types text, because the focus is in the cell
    expect(cell.program).to_have_value(f"n{program}")


def example(key: str) -> str:
    """Read an example from the page's source."""
    text = (Path(__file__).parents[2] / "src/cell/examples.js").read_text(encoding="utf-8")
    return text.split(f"{key}: `")[1].split("`")[0]


def numbers(text: str) -> list[float]:
    """Return the number at the end of each line; results of tanh differ in the last bit between systems."""
    return [float(line.rpartition(" ")[2]) for line in text.splitlines()]


def printed_here(program: str) -> str:
    """Run a program in this Python and return what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, {})
    return printed.getvalue()


def test_each_example_runs(opened: Callable[[], Cell]):
    cell = opened().ready()
    labels = cell.page.get_by_label("Examples").locator("option").all_text_contents()[1:]
    assert len(labels) == 4
    for label in labels:
        cell.page.get_by_label("Examples").select_option(label=label)
        cell.run.click()
        expect(cell.stop).to_be_hidden(timeout=LOADING)
        expect(cell.status).to_have_text(SHOWN)


def test_errors_are_shown_with_their_line(opened: Callable[[], Cell]):
    cell = opened().ready()
    cell.runs("x = 1\nprint(x)\ny = x / 0\nz = 2\n", "There is an error in line 3.")
    expect(cell.output).to_contain_text("1\nTraceback (most recent call last):\n")
    expect(cell.output).to_contain_text("ZeroDivisionError: division by zero")
    marked = "(area) => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert cell.program.evaluate(marked) == "y = x / 0"
    cell.runs("if\n", "There is an error in line 1.")
    cell.runs(
        "print('only this')\n",
        "The program has finished, but there is no Value to show: call backward(), or end with a Value.",
    )
    expect(cell.output).to_have_text("only this\n")


def test_endless_program_can_be_stopped(opened: Callable[[], Cell]):
    cell = opened().ready()
    cell.program.fill("print('begun')\nwhile True:\n    pass\n")
    cell.run.click()
    expect(cell.output).to_have_text("begun\n", timeout=LOADING)
    expect(cell.status).to_have_text("The program is running …")
    cell.stop.click()
    expect(cell.status).to_have_text("The program was stopped.")
    expect(cell.run).to_be_focused()
    cell.runs("from gradwalk import Value\nx = Value(2.0)\nx * x\n", SHOWN)


def test_all_output_is_shown(opened: Callable[[], Cell]):
    cell = opened().ready()
    nothing = "The program has finished, but there is no Value to show: call backward(), or end with a Value."
    cell.runs("print('αβγ', end='')\n", nothing)
    expect(cell.output).to_have_text("αβγ")
    cell.runs("for i in range(20_000):\n    print(i)\n", nothing)
    expect(cell.output).to_contain_text("19998\n19999\n")
    cell.runs("name = input()\n", "There is an error in line 1.")
    expect(cell.output).to_contain_text("input() does not work in the page")


def test_python_restarts_after_a_crash(opened: Callable[[], Cell], problems: list[str]):
    cell = opened().ready()
    program = "x = []\nfor _ in range(100_000):\n    x = [x]\nrepr(x)\n"
    ended = "The program has stopped Python, which is being loaded again: {}"
    cell.runs(program, ended.format("Uncaught RangeError: Maximum call stack size exceeded"))
    problems.clear()  # Pyodide's own messages about the crash
    cell.runs("from gradwalk import Value\nx = Value(2.0)\nx * x\n", SHOWN)


def test_program_cannot_reach_other_servers(opened: Callable[[], Cell]):
    asked: list[str] = []

    class Other(Quiet):
        def do_GET(self) -> None:
            asked.append(self.path)
            super().do_GET()

    cell = opened().ready()
    with serving(Other) as elsewhere:
        program = "import js\nrequest = js.XMLHttpRequest.new()\nrequest.open('GET', '{}', False)\nrequest.send()\n"
        cell.runs(program.format(elsewhere), "There is an error in line 4.")
    expect(cell.output).to_contain_text("NetworkError")
    assert asked == []
    cell.runs("import js\njs.eval('1 + 1')\n", "There is an error in line 2.")
    expect(cell.output).to_contain_text("EvalError")


def test_changing_language_keeps_the_program(opened: Callable[[], Cell]):
    cell = opened().ready()
    cell.program.fill("x = 1\n")
    cell.lesson.button("Menu").click()
    cell.page.get_by_role("group", name="Menu").get_by_label("Language").select_option("de")
    expect(cell.page.get_by_label("Programm in Python")).to_have_value("x = 1\n")
    expect(cell.element.get_by_role("status")).to_have_text("Python ist bereit.", timeout=LOADING)


def test_cell_is_accessible_in_all_sizes_and_themes(opened: Callable[[], Cell]):
    cell = opened().ready()
    cell.runs("from gradwalk import Value\nx = Value(2.0)\nprint(x * x)\nx.y\n", "There is an error in line 4.")
    cell.page.evaluate(AXE.read_text(encoding="utf-8"))
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for width, height in ((1280, 860), (390, 844), (844, 390)):
        cell.page.set_viewport_size({"width": width, "height": height})
        for scheme in schemes:
            cell.page.emulate_media(color_scheme=scheme)
            assert cell.page.evaluate(VIOLATIONS) == [], f"{width} x {height}, {scheme}"
        assert cell.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for part in (cell.program, cell.output, cell.run):
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    cell.toggle.click()
    expect(cell.element).to_be_hidden()


def test_single_file_has_no_cell(context: BrowserContext, site: Path):
    page = context.new_page()
    page.goto((site / "index.html").as_uri() + f"#{LAB}")
    expect(page.get_by_role("button", name="Menu")).to_be_visible()
    expect(page.get_by_role("button", name="Python", exact=True)).to_have_count(0)
