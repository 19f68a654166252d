"""Tests that files named as sources in a graph's JSON are never opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradwalk import Graph, Value, check, draw, source_lines, walk
from gradwalk.explain.page.page import document, page

SECRET = "SECRET-3f2a"

# Shows a harmless graph first, to load all modules; after that, opening a file is an error.
SHOW = """
import importlib.util, json, sys
from pathlib import Path
import gradwalk
from gradwalk import Graph, check, draw, walk
from gradwalk.explain.page.page import page

def views(text):
    graph = Graph.from_json(text)
    walked = walk(graph)
    checked = check(graph)
    drawing = draw(graph)
    yield from (str(node.source) for node in graph.nodes)
    yield from (graph.to_json(), drawing.svg, drawing.dot, walked.draw().svg)
    yield from (str(walked), walked.to_json(), page(walked.essence(), "x"))
    yield from (str(checked), checked.to_json(), *map(str, checked.rows), *map(str, checked.culprits))
    yield walked._html()
    if importlib.util.find_spec("anywidget"):
        yield walked.widget().document

def refuse(event, arguments):
    if event == "open" and not str(arguments[0]).startswith(package):
        raise RuntimeError(f"{arguments[0]!r} was opened")

harmless, *named = json.load(sys.stdin)
package = str(Path(gradwalk.__file__).parent)
shown = list(views(harmless))
sys.addaudithook(refuse)
for text in named:
    shown += views(text)
json.dump(shown, sys.stdout)
"""


def naming(name: str) -> str:
    """Return the JSON of a graph with a wrong derivative whose nodes name a file."""
    source = {"source": {"file": name, "line": 1}}
    nodes = [
        {"data": 2.0, "grad": 0.0, "label": "a"} | source,
        {"operation": "mul", "operands": [0, 0], "partials": [3.0, 2.0], "data": 4.0, "grad": 1.0} | source,
    ]
    return json.dumps({"gradwalk": "graph", "version": 1, "outputs": [1], "nodes": nodes})


def test_files_named_in_a_document_are_not_opened(tmp_path):
    for name in ("secret.py", "secret", "<secret>"):
        (tmp_path / name).write_text(f"{SECRET} = 1\n", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.py")
    paths = [str(path) for path in tmp_path.iterdir()]
    odd = ["a\0b.py", "\0", "x" * 5_000 + ".py", "\ud800.py", "", ".", "secret.py", "<secret>", "file:///etc/passwd"]
    names = ["/etc/passwd", "/proc/self/environ", "/dev/zero", *paths, *odd, __file__]
    given = json.dumps([naming("<harmless>"), *map(naming, names)])
    environment = os.environ | {"GRADWALK_SECRET": SECRET}
    result = subprocess.run(
        [sys.executable, "-c", SHOW],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)},
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    shown = json.loads(result.stdout)
    assert len(shown) % (1 + len(names)) == 0
    passwords = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()[0]
    assert not [text for text in shown if SECRET in text or passwords in text or "GRADWALK_SECRET" in text]


def test_source_lines_in_a_document_are_shown():
    described = json.loads(naming("/etc/passwd"))
    described["nodes"][1]["source"]["text"] = "b = a * a"
    graph = Graph.from_json(json.dumps(described))
    assert "made at /etc/passwd:1: b = a * a" in draw(graph).svg
    assert "/etc/passwd:1: b = a * a" in str(check(graph))
    assert json.loads(document(walk(graph).essence()))["files"] == {}


@pytest.mark.parametrize("text", ["two\nlines", "\x1b[31m", "\ud800", "</title><script>", "\u202e"])
def test_hostile_source_lines_are_escaped(text):
    described = json.loads(naming("x.py"))
    described["nodes"][1]["source"]["text"] = text
    graph = Graph.from_json(json.dumps(described))
    plain = Graph.from_json(naming("x.py"))
    assert str(check(graph)).count("\n") == str(check(plain)).count("\n")
    assert "\x1b" not in str(check(graph))
    draw(graph).svg.encode()
    assert draw(graph).svg.count("<") == draw(plain).svg.count("<")
    page(walk(graph).essence()).encode()
    assert Graph.from_json(graph.to_json()).sources == graph.sources


def test_source_lines_are_stored_in_the_json(tmp_path):
    with source_lines():
        root = Value(2.0, label="a") * 3
    graph = Graph.record(root)
    again = Graph.from_json(graph.to_json())
    assert {line.text for line in again.sources.values()} == {'root = Value(2.0, label="a") * 3'}
    assert again.sources == graph.sources
    assert again.to_json() == graph.to_json()
    assert graph.files == {__file__: Path(__file__).read_text(encoding="utf-8")}
    assert again.files == {}
