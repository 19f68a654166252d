"""The page as a file: what stands in it, what its policy lets run, and how text of a graph stays in its place."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import linecache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from checkout import ROOT
from graphs_of_the_lesson import diamond, neuron, twice
from hypothesis import given
from programs import EVERY, EXTREME, as_values, fewer, programs
from references import jsonschema, referencing

from gradwalk import Graph, Value, source_lines, walk
from gradwalk.explain.page.page import document, microgpt_page, module, page


def schema(name: str) -> dict[str, object]:
    return json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    graph = referencing.Resource.from_contents(schema("graph.schema.json"))
    registry = referencing.Registry().with_resource("graph.schema.json", graph)
    return jsonschema.Draft202012Validator(schema("walk.schema.json"), registry=registry)


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "&lt;&amp;",
    "\u2028\u2029\ud800\x00",
    "{policy}{0}%s\\u003c",
    "' onload='alert(1)",
    '"></title><img src=x onerror=alert(1)>',
]


class Page(HTMLParser):
    """A page taken apart by a parser that is not ours."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open:
            self.texts[self._open][-1] += data

    @property
    def policy(self) -> dict[str, str]:
        (text,) = [attrs["content"] for tag, attrs in self.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
        return dict(rule.strip().split(" ", 1) for rule in text.split(";"))


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_lesson_is_a_page_without_a_walk():
    parsed = Page(page())
    assert [tag for tag, _ in parsed.tags if tag == "script"] == ["script"]
    assert ("main", {"data-gradwalk": None}) in parsed.tags
    assert ("html", {"lang": "en"}) in parsed.tags
    assert ("meta", {"charset": "utf-8"}) in parsed.tags
    assert parsed.texts["title"] == ["gradwalk: how gradients are made"]


def pages() -> list[str]:
    return [page(walk(diamond()).essence()), microgpt_page()]


@pytest.mark.parametrize("text", pages(), ids=["walk", "microgpt"])
def test_the_policy_lets_this_script_and_this_style_run_and_nothing_else(text):
    parsed = Page(text)
    assert parsed.policy == {
        "default-src": "'none'",
        "script-src": hashed(parsed.texts["script"][1]),
        "style-src": hashed(parsed.texts["style"][0]),
        "worker-src": "blob:",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not [attrs for _, attrs in parsed.tags if any(name.startswith("on") or name == "style" for name in attrs)]


def test_the_page_of_a_walk_has_the_module_of_the_widget():
    assert Page(pages()[0]).texts["script"][1] == module()


@pytest.mark.parametrize("text", pages(), ids=["walk", "microgpt"])
def test_nothing_is_loaded(text):
    loaded = [attrs.get("src") or attrs.get("href") for _, attrs in Page(text).tags]
    assert [address for address in loaded if address] == ["data:,"]


def test_the_module_may_stand_inside_a_script():
    r"""Browsers end a script at `</script`, or elsewhere after `<!--`, and read `\r` and `\0` as other letters."""
    for text in (module(), Page(pages()[1]).texts["script"][1]):
        assert not [found for found in ("</script", "<!--", "\r", "\0", "\ufeff") if found in text.lower()]
    text = module()
    assert "\n" in text  # anywidget takes a text of one line for the name of a file
    assert "export" in text


def test_the_document_is_that_of_the_walk():
    walked = walk(diamond(), "dacb", overwrite=True)
    read = json.loads(Page(page(walked.essence(), "d")).texts["script"][0])
    assert read == json.loads(document(walked.essence(), "d"))
    assert read.items() <= (json.loads(walked.to_json()) | {"of": "d", "files": {}}).items()
    graph = Graph.from_json(json.dumps(read["graph"]))
    again = walk(graph, [graph.names[place] for place in read["order"]], overwrite=read["overwrite"])
    assert again.gradients == walked.gradients


@fewer(4)
@given(programs(EXTREME, EVERY, longest=8))
def test_documents_and_walks_are_as_the_schema_says(program):
    _, root = as_values(program)
    for walked in (walk(root), walk(root, overwrite=True)):
        for text in (document(walked.essence()), walked.to_json()):
            validator().validate(json.loads(text, parse_constant=pytest.fail))


def test_wrong_walks_are_as_the_schema_says():
    for walked in (walk(diamond(), "dacb"), walk(twice(), overwrite=True)):
        assert walked.wrong
        validator().validate(json.loads(walked.to_json()))


def test_what_is_no_walk_is_not_as_the_schema_says():
    good = json.loads(document(walk(diamond()).essence()))
    for key, bad in (("gradwalk", "graph"), ("version", 2), ("order", [0, 0]), ("graph", {}), ("files", [1]), ("x", 1)):
        assert not validator().is_valid(good | {key: bad})


def made_in(path: Path, text: str) -> Value:
    """The Value `root` of a program that is run from a file."""
    path.write_bytes(text.encode())
    names: dict[str, Value] = {}
    with source_lines():
        exec(compile(text, str(path), "exec"), names)
    return names["root"]


PROGRAM = "from gradwalk import Value\nroot = Value(2.0, label='a') * 3\n"


def test_the_program_stands_beside_its_graph(tmp_path):
    walked = walk(made_in(tmp_path / "train.py", PROGRAM))
    read = json.loads(document(walked.essence(), "train.py"))
    assert read["files"] == {str(tmp_path / "train.py"): PROGRAM}
    assert {node["source"]["file"] for node in read["graph"]["nodes"]} == set(read["files"])
    validator().validate(read)


def test_cells_of_notebooks_are_programs(monkeypatch):
    name = "<ipython-input-1-0123456789ab>"
    monkeypatch.setitem(linecache.cache, name, (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), name))
    names: dict[str, Value] = {}
    with source_lines():
        exec(compile(PROGRAM, name, "exec"), names)
    assert json.loads(document(walk(names["root"]).essence()))["files"] == {name: PROGRAM}


def test_programs_that_cannot_be_shown_are_left_out(tmp_path):
    large = made_in(tmp_path / "large.py", PROGRAM + "#" * 1_000_000)
    edited = made_in(tmp_path / "edited.py", PROGRAM)
    (tmp_path / "edited.py").write_text("# all\n# new\n", encoding="utf-8")
    linecache.checkcache()
    with source_lines():
        exec(compile(PROGRAM, "<string>", "exec"), names := {})
    for root in (large, edited, names["root"], neuron()):
        assert json.loads(document(walk(root).essence()))["files"] == {}


def test_programs_are_kept_as_they_were_when_the_graph_was_recorded(tmp_path):
    path = tmp_path / "train.py"
    walked = walk(made_in(path, PROGRAM))
    path.unlink()
    linecache.checkcache()
    for text in (document(walked.essence()), walked.to_json()):
        assert json.loads(text)["files"] == {str(path): PROGRAM}


def test_a_graph_that_was_read_has_only_the_lines_that_it_carries(tmp_path):
    """It may name any file."""
    graph = Graph.from_json(Graph.record(made_in(tmp_path / "train.py", PROGRAM)).to_json())
    read = json.loads(document(walk(graph).essence()))
    assert read["files"] == {}
    assert {node["source"]["text"] for node in read["graph"]["nodes"]} == {"root = Value(2.0, label='a') * 3"}
    validator().validate(read)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_gets_out_of_its_place(text, tmp_path):
    made = made_in(tmp_path / "x.py", f"from gradwalk import Value\nroot = Value(1.0, label={text!a}) * 2\n# <script>")
    plain = [tag for tag, _ in Page(page(walk(diamond()).essence(), "x")).tags]
    shown = page(walk(made).essence(), text)
    parsed = Page(shown)
    assert [tag for tag, _ in parsed.tags] == plain
    shown.encode()
    assert not set("<>&") & set(parsed.texts["script"][0])
    read = json.loads(parsed.texts["script"][0])
    assert (read["of"], read["graph"]["nodes"][0]["label"]) == (text, text)
    assert parsed.texts["script"][1] == module()


def test_long_titles_are_shortened():
    (title,) = Page(page(walk(diamond()).essence(), "+".join(["a"] * 500))).texts["title"]
    assert len(title) < 100


def test_the_same_walk_gives_the_same_page():
    assert page(walk(neuron()).essence(), "o") == page(walk(neuron()).essence(), "o")


def test_the_page_is_small():
    assert len(page(walk(neuron()).essence()).encode()) < 600_000
