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


@needs("anywidget")
def test_walk_shows_its_widget_in_a_notebook(front_end):
    data, metadata = walk(diamond())._repr_mimebundle_()
    assert set(data) == {VIEW, "text/html", "text/plain"}
    assert data["text/plain"].startswith("Graph")
    assert "<svg" in data["text/html"]
    assert len(data[VIEW]["model_id"]) == 32
    assert metadata == {}


@needs("anywidget")
def test_walk_of_a_jitted_function_shows_its_widget(front_end):
    data, _ = jit(lambda x: x * x).walk(3.0)._repr_mimebundle_()
    assert VIEW in data


def test_terminal_gets_text_and_no_widget(front_end):
    front_end.display_formatter.active_types = ["text/plain"]
    assert set(walk(diamond())._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_no_widget_without_ipython(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert set(walk(diamond())._repr_mimebundle_()) == {"text/html", "text/plain"}


@pytest.mark.usefixtures("no_anywidget")
def test_walk_shows_html_without_anywidget(front_end):
    walked = walk(diamond())
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
