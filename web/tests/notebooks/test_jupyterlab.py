"""The widget in JupyterLab: it is displayed, its state reaches Python, and the state survives a reload."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

CELLS = [
    "from gradwalk import Value, walk\n"
    'a = Value(2.0, label="a")\n'
    "b, c = a + 1, a * 3\n"
    "d = b * c\n"
    'd.label = "d"\n'
    "walk(d)",
    "widget = walk(d).widget()\nwidget",
    "print('state:', repr(widget.state), 'gradient:', a.grad)",
    "widget.state = 'step=2'; print('set')",
]


@pytest.fixture
def notebook(page: Page, serve: Callable[..., str], tmp_path: Path) -> Page:
    """Open a notebook and wait for its kernel."""
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), tmp_path / "walk.ipynb")
    address = serve(
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port={port}"),
        *("--IdentityProvider.token=", "--ServerApp.port_retries=0", "--LabApp.collaborative=False"),
    )
    page.goto(f"{address}/lab/tree/walk.ipynb")
    idle(page)
    return page


def idle(page: Page) -> None:
    expect(page.get_by_role("button", name="| Idle")).to_be_visible()


def run(page: Page, position: int) -> Locator:
    """Run a cell and return its output."""
    cell = page.locator(".jp-CodeCell").nth(position)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    output = cell.locator(".jp-OutputArea-output")
    expect(output.first).to_be_visible()
    idle(page)
    return output


def save(page: Page, path: Path) -> None:
    """Save the notebook and wait until the file has its content."""
    page.keyboard.press("Control+s")
    while "widget-view" not in path.read_text(encoding="utf-8"):
        page.wait_for_timeout(100)


def reload(page: Page) -> None:
    """Reload the page. JupyterLab asks the kernel for the widgets and gives up if a busy machine answers late."""
    for _ in range(5):
        page.reload()
        idle(page)
        outputs = page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")
        gave_up = outputs.get_by_text("model not found")
        expect(outputs.get_by_role("button", name="A step back").or_(gave_up)).to_be_visible()
        if not gave_up.count():
            return


def taken(page: Page) -> None:
    """Wait until the notebook has the state, which is written when the widget is at rest."""
    page.wait_for_timeout(1000)


def test_walk_is_displayed_and_keeps_its_state(notebook: Page, tmp_path: Path) -> None:
    shown = run(notebook, 0)
    expect(shown.get_by_role("button", name="From the beginning")).to_be_visible()
    expect(shown.get_by_text("Backward: step 4 of 4, done")).to_be_visible()
    still = notebook.get_by_text("a is a leaf: it keeps its gradient")  # for notebooks without widgets
    expect(still).to_be_attached()
    expect(still).to_be_hidden()

    named = run(notebook, 1)
    for _ in range(3):
        named.get_by_role("button", name="A step back").click()
    expect(named.get_by_text("Backward: step 1 of 4")).to_be_visible()
    expect(shown.get_by_text("Backward: step 4 of 4, done")).to_be_visible()
    taken(notebook)
    expect(run(notebook, 2)).to_contain_text("state: 'step=6' gradient: 0.0")

    expect(run(notebook, 3)).to_contain_text("set")
    expect(named.get_by_text("Forward: step 2 of 4")).to_be_visible()
    taken(notebook)

    save(notebook, tmp_path / "walk.ipynb")
    reload(notebook)
    again = notebook.locator(".jp-CodeCell").nth(1)
    expect(again.get_by_text("Forward: step 2 of 4")).to_be_visible()


def test_keys_pressed_in_the_widget_stay_there(notebook: Page) -> None:
    """JupyterLab binds plain keys: d, d deletes a cell; 0, 0 restarts the kernel; b inserts a cell."""
    widget = run(notebook, 0)
    widget.get_by_role("button", name="A step back").focus()
    cells = notebook.locator(".jp-Cell")
    for key in ("b", "b", "b", "b", "n", "d", "d", "a", "x", "0", "0", "m", "y", "Shift+m"):
        notebook.keyboard.press(key)
    expect(widget.get_by_text("Backward: step 1 of 4")).to_be_visible()
    widget.locator(".node .hit").first.focus()
    for key in ("ArrowRight", "d", "d", "0", "0", "Enter", "Escape", "b"):
        notebook.keyboard.press(key)
    expect(widget.get_by_text("Seed: the backward pass begins")).to_be_visible()
    widget.get_by_role("textbox", name="a").fill("3")
    notebook.keyboard.press("Enter")
    expect(widget.get_by_role("button", name="a, value 3")).to_be_visible()
    expect(widget.get_by_text("Seed: the backward pass begins")).to_be_visible()
    expect(cells).to_have_count(len(CELLS))
    expect(notebook.locator(".jp-Dialog")).to_have_count(0)
    expect(notebook.locator(".jp-CodeCell")).to_have_count(len(CELLS))

    widget.get_by_role("button", name="Next step").focus()
    expect(notebook.locator(".lm-TabBar .jp-mod-dirty")).to_have_count(1)
    notebook.keyboard.press("Control+s")
    expect(notebook.locator(".lm-TabBar .jp-mod-dirty")).to_have_count(0)


def test_widget_has_the_theme_of_jupyterlab(notebook: Page) -> None:
    color = "(app) => getComputedStyle(app.getRootNode().host).backgroundColor"
    assert run(notebook, 0).locator(".app").evaluate(color) == "rgb(255, 253, 249)"
    notebook.get_by_role("menuitem", name="Settings").click()
    notebook.get_by_text("Theme", exact=True).hover()
    notebook.get_by_role("menuitem", name="JupyterLab Dark", exact=True).click()
    expect(notebook.locator("body[data-jp-theme-light=false]")).to_be_attached()
    assert run(notebook, 1).locator(".app").evaluate(color) == "rgb(23, 24, 28)"
