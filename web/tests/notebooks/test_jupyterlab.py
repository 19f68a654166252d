"""The widget in a real JupyterLab: it shows itself, its state reaches Python, and reloading the page loses nothing."""

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
]


@pytest.fixture
def notebook(page: Page, serve: Callable[..., str], tmp_path: Path) -> Page:
    """A notebook whose kernel is up."""
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
    """Run a cell; its output."""
    cell = page.locator(".jp-CodeCell").nth(position)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    output = cell.locator(".jp-OutputArea-output")
    expect(output.first).to_be_visible()
    idle(page)
    return output


def save(page: Page, path: Path) -> None:
    """Save the notebook, and wait until its file has what it shows."""
    page.keyboard.press("Control+s")
    while "widget-view" not in path.read_text(encoding="utf-8"):
        page.wait_for_timeout(100)


def test_a_walk_shows_itself_and_keeps_its_state(notebook: Page, tmp_path: Path) -> None:
    shown = run(notebook, 0)
    expect(shown.get_by_role("button", name="Next step")).to_be_visible()
    expect(shown.get_by_text("step 0")).to_be_visible()

    named = run(notebook, 1)
    named.get_by_role("button", name="Next step").click()
    named.get_by_role("button", name="Next step").click()
    expect(named.get_by_text("step 2")).to_be_visible()
    expect(shown.get_by_text("step 0")).to_be_visible()
    expect(run(notebook, 2)).to_contain_text("state: '2' gradient: 0.0")

    save(notebook, tmp_path / "walk.ipynb")
    notebook.reload()
    idle(notebook)
    expect(notebook.locator(".jp-CodeCell").nth(1).get_by_text("step 2")).to_be_visible()
