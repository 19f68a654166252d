"""The tutorial page: the notebook's cells with their output."""

from __future__ import annotations

import re
from itertools import filterfalse
from typing import Any

import jupytext
import nbclient

from website.links import DOCS, ROOT
from website.pictures import by_theme

# Parts for readers of the notebook alone: the cell that installs gradwalk in JupyterLite, and the first two paragraphs.
_INSTALLS = 'sys.platform == "emscripten"'
_BEGINNING = re.compile(r"\A# From one product to a trained network\n\nThis is a notebook .*?\n\n", re.S)


def cells() -> str:
    """Run the tutorial; return it as Markdown."""
    notebook = jupytext.read(DOCS / "tutorial.py")
    resources = {"metadata": {"path": str(ROOT)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    return "\n\n".join(part for cell in notebook.cells if _INSTALLS not in cell.source for part in _parts(cell))


def _parts(cell: Any) -> list[str]:
    if cell.cell_type == "markdown":
        return [_BEGINNING.sub("", str(cell.source))]
    return [_fenced("python", cell.source), *map(_shown, filterfalse(_is_widget, cell.outputs))]


def _is_widget(output: Any) -> bool:
    """Return whether an output is a notebook widget. Its HTML is a separate output."""
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def _shown(output: Any) -> str:
    if output.output_type == "stream":
        return _fenced("text", output.text, "printed")
    if output.output_type == "error":
        raise RuntimeError(output.evalue)
    if "text/html" in output.data:
        return _fenced("{raw} html", f'<div class="drawn">{output.data["text/html"]}</div>')
    if "image/svg+xml" in output.data:
        return _fenced("{raw} html", by_theme(output.data["image/svg+xml"]))
    return _fenced("text", output.data["text/plain"], "printed")


def _fenced(language: str, text: str, kind: str = "") -> str:
    attributes = f"{{.{kind}}}\n" if kind else ""
    return f"{attributes}````{language}\n{text.rstrip()}\n````"
