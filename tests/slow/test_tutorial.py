"""The tutorial, run as a notebook by a Jupyter kernel, and the rich output of objects."""

from __future__ import annotations

import jupytext
import nbclient
import nbformat
import pytest
from checkout import ROOT


def run(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[dict[str, str]]:
    """Return the outputs of the last expressions of the cells, by MIME type. A walk has two."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.data for output in outputs if output.output_type in ("execute_result", "display_data")]


@pytest.fixture(scope="module")
def tutorial() -> nbformat.NotebookNode:
    return run(jupytext.read(ROOT / "docs/tutorial.py"))


def test_all_cells_run(tutorial):
    counts = [cell.execution_count for cell in tutorial.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert len(counts) > 15


def test_tutorial_shows_pictures_walks_and_films(tutorial):
    data = shown(tutorial)
    assert sum("image/svg+xml" in bundle for bundle in data) >= 6
    assert sum("text/html" in bundle for bundle in data) >= 2
    assert data[0]["text/plain"] == "<Drawing of <Graph of 7 nodes to L>>"
    assert "<svg" in data[0]["image/svg+xml"]
    assert any("@keyframes" in bundle.get("image/svg+xml", "") for bundle in data)


def test_tutorial_prints_the_expected_text(tutorial):
    printed = "".join(
        output.text for cell in tutorial.cells for output in cell.get("outputs", []) if output.output_type == "stream"
    )
    assert "dL/da is about 6.000000" in printed
    assert "with += 2.0  with = 1.0" in printed
    assert "legal orders: 2  gradient of a: 15.0" in printed
    assert "to blame: d y / d x is" in printed
    assert "{'a': 6.0, 'b': -4.0, 'e': -2.0, 'c': -2.0, 'd': -2.0, 'f': 4.0, 'L': 1.0}" in printed


def test_rich_output_of_objects():
    cells = ["from gradwalk import *\na = Value(2.0, label='a')\nb = a * a\n1"]
    cells += ["b", "draw(b)", "draw_dot(b)", "walk(b)", "walk(b).film()", "check(b)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    types = [set(bundle) - {"text/plain"} for bundle in shown(run(notebook))[1:]]
    svg = {"image/svg+xml"}
    html, widget = {"text/html"}, {"application/vnd.jupyter.widget-view+json"}
    assert types == [html, svg, svg, widget, html, svg, set()]
