"""Tests of the notebook widget from Python: what a walk displays, and the state shared with the page."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace

import pytest
from graphs_of_the_lesson import diamond
from references import needs

from gradwalk import Value, jit, walk
from gradwalk.explain.page.page import document, module

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def front_end(monkeypatch):
    """Simulate IPython in a notebook: a shell that shows more than text."""
    with suppress(ModuleNotFoundError):
        import_module("gradwalk.explain.page.notebook")  # imports the real IPython the first time
    shell = SimpleNamespace(display_formatter=SimpleNamespace(active_types=["text/plain", "text/html"]))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return shell


@pytest.fixture
def no_anywidget(front_end, monkeypatch):  # front_end must come first
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "gradwalk.explain.page.notebook", raising=False)


@needs("anywidget")
def test_widget_has_module_and_document():
    walked = walk(diamond())
    widget = walked.widget()
    assert type(widget).__name__ == "WalkWidget"
    state = widget.get_state()
    assert state["_esm"] == module()
    assert state["document"] == document(walked.essence())
    assert state["state"] == ""


@pytest.fixture
def outputs(front_end, monkeypatch):
    """Collect the outputs that a notebook would show."""
    shown: list[dict[str, str]] = []

    def display(data, *, raw, metadata=None):
        assert raw
        shown.append(data)

    monkeypatch.setattr("gradwalk.explain.page.notebook.display", display)
    return shown


@needs("anywidget")
def test_walk_shows_its_widget_in_a_notebook(outputs):
    walk(diamond())._ipython_display_()
    widget, still = outputs
    assert set(widget) == {VIEW, "text/plain"}
    assert len(widget[VIEW]["model_id"]) == 32
    assert widget["text/plain"] == "<Walk over <Graph of 4 nodes to d>>"
    assert set(still) == {"text/html", "text/plain"}
    assert still["text/plain"].startswith("Graph")
    assert "<svg" in still["text/html"]


@needs("anywidget")
def test_walk_of_a_jitted_function_shows_its_widget(outputs):
    jit(lambda x: x * x).walk(3.0)._ipython_display_()
    assert VIEW in outputs[0]


@needs("anywidget")
def test_html_is_hidden_beside_the_widget(outputs):
    for _ in range(2):
        walk(diamond())._ipython_display_()
    names = []
    for widget, still in (outputs[:2], outputs[2:]):
        name = f"gradwalk-{widget[VIEW]['model_id']}"
        html = still["text/html"]
        assert html.startswith(f"<style>:root:has(.{name}) .{name}-still {{ display: none }}</style>")
        assert f'<div class="{name}-still">' in html
        names.append(name)
    assert len(set(names)) == 2


@needs("anywidget", "ipykernel", "nbclient", "nbconvert")
@pytest.mark.filterwarnings("ignore")  # of Jupyter
def test_exported_notebooks_show_the_picture_and_the_steps():
    nbformat, nbclient, nbconvert = map(import_module, ("nbformat", "nbclient", "nbconvert"))
    notebook = nbformat.v4.new_notebook()
    program = "from gradwalk import Value, walk\na = Value(2.0)\nd = (a + 1) * a"
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in (program, "walk(d)", "d", "a")]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    _, walked, node, leaf = notebook.cells
    widget, still = (output["data"] for output in walked.outputs)
    assert widget[VIEW]["model_id"] in notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "is a leaf: it keeps its gradient" in still["text/html"]
    assert "is a leaf: it keeps its gradient" in page
    assert page.count("<svg") == 2
    (shown,) = node.outputs
    assert shown["data"]["text/plain"] == "Value(data=6.0, grad=0.0)"
    assert ">a</text>" in shown["data"]["text/html"]  # named after the variable
    assert set(leaf.outputs[0]["data"]) == {"text/plain"}


def test_value_is_drawn_in_notebooks():
    a = Value(2.0, label="<a>")
    html = (a * 3)._repr_html_()
    assert html.startswith("<code>Value(data=6.0, grad=0.0)</code>")
    assert html.count("<svg") == 1
    assert "&lt;a&gt;</text>" in html
    assert repr(a * 3) == "Value(data=6.0, grad=0.0)"


def test_leaves_and_large_graphs_are_shown_as_text():
    x = Value(2.0)
    assert x._repr_html_() is None
    for _ in range(23):
        x = x + 1
    assert "<svg" in x._repr_html_()
    assert (x + 1)._repr_html_() is None
    for _ in range(100_000):
        x = x * 1.5
    assert x._repr_html_() is None


def test_values_of_recorded_functions_are_shown_as_text():
    assert jit(lambda x: x * 2 if (x * 3)._repr_html_() is None else x)(3.0) == 6.0


def test_values_load_nothing_outside_of_notebooks():
    program = "import sys, gradwalk; print(gradwalk.Value(1.0) * 2, any('explain' in name for name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "Value(data=2.0, grad=0.0) False\n"


def test_terminal_gets_text_and_no_widget(front_end):
    front_end.display_formatter.active_types = ["text/plain"]
    with pytest.raises(NotImplementedError):  # IPython then reads the MIME bundle
        walk(diamond())._ipython_display_()
    assert set(walk(diamond())._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_no_widget_without_ipython(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert set(walk(diamond())._repr_mimebundle_()) == {"text/html", "text/plain"}


@pytest.mark.usefixtures("no_anywidget")
def test_walk_shows_html_without_anywidget(front_end):
    walked = walk(diamond())
    with pytest.raises(NotImplementedError):
        walked._ipython_display_()
    assert set(walked._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert "<svg" in walked._display_()._repr_html_()
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'gradwalk\[notebook\]'"):
        walked.widget()


@needs("anywidget")
def test_marimo_gets_the_widget():
    assert type(walk(diamond())._display_()).__name__ == "WalkWidget"


@needs("anywidget")
def test_state_is_synchronized_both_ways():
    widget = walk(diamond()).widget()
    seen: list[str] = []
    widget.observe(lambda change: seen.append(change["new"]), "state")
    widget.set_state({"state": "step=3"})  # as the page does
    assert widget.state == "step=3"
    widget.state = "step=5"
    assert widget.get_state("state") == {"state": "step=5"}
    assert seen == ["step=3", "step=5"]


@needs("anywidget")
def test_widgets_are_independent():
    one, two = walk(diamond()).widget(), walk(Value(1.0) * 2).widget()
    one.state = "step=1"
    assert two.state == ""
    assert len(json.loads(one.document)["graph"]["nodes"]) != len(json.loads(two.document)["graph"]["nodes"])


@needs("anywidget")
def test_anywidget_is_imported_by_the_first_widget():
    program = (
        "import sys, gradwalk; v = gradwalk.Value(1.0) * 2; w = gradwalk.walk(v); w._repr_mimebundle_();"
        "before = 'anywidget' in sys.modules; w.widget(); print(before, 'anywidget' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False True\n"
