"""Tests of the HTML page: its contents, its security policy, and the escaping of graph texts."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import linecache
from html.parser import HTMLParser
from pathlib import Path

import numpy
import pytest
from checkout import ROOT
from graphs_of_the_lesson import diamond, neuron, twice
from hypothesis import given
from networks import mlp_loss
from programs import EVERY, EXTREME, as_values, fewer, programs
from references import jsonschema, referencing

from gradwalk import Graph, Value, source_lines, walk
from gradwalk.explain.page.page import document, microgpt_page, module, page
from gradwalk.graph.grouping import grouping


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
    """A page parsed by Python's HTML parser."""

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


def test_lesson_page_has_no_walk():
    parsed = Page(page())
    assert [tag for tag, _ in parsed.tags if tag == "script"] == ["script"]
    assert ("main", {"data-gradwalk": None}) in parsed.tags
    assert ("html", {"lang": "en"}) in parsed.tags
    assert ("meta", {"charset": "utf-8"}) in parsed.tags
    assert parsed.texts["title"] == ["gradwalk: how gradients are made"]


def pages() -> list[str]:
    return [page(walk(diamond()).essence()), microgpt_page()]


@pytest.mark.parametrize("text", pages(), ids=["walk", "microgpt"])
def test_policy_allows_only_own_script_and_style(text):
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


def test_page_of_a_walk_contains_the_widget_module():
    assert Page(pages()[0]).texts["script"][1] == module()


@pytest.mark.parametrize("text", pages(), ids=["walk", "microgpt"])
def test_page_loads_nothing(text):
    loaded = [attrs.get("src") or attrs.get("href") for _, attrs in Page(text).tags]
    assert [address for address in loaded if address] == ["data:,"]


def test_module_can_be_embedded_in_a_script():
    r"""Check for `</script` and `<!--`, which can end a script, and `\r` and `\0`, which browsers replace."""
    for text in (module(), Page(pages()[1]).texts["script"][1]):
        assert not [found for found in ("</script", "<!--", "\r", "\0", "\ufeff") if found in text.lower()]
    text = module()
    assert "\n" in text  # anywidget takes a one-line text for a file name
    assert "export" in text


def test_document_matches_the_walk():
    walked = walk(diamond(), "dacb", overwrite=True)
    read = json.loads(Page(page(walked.essence(), "d")).texts["script"][0])
    assert read == json.loads(document(walked.essence(), "d"))
    assert read.items() <= (json.loads(walked.to_json()) | {"of": "d", "files": {}}).items()
    graph = Graph.from_json(json.dumps(read["graph"]))
    again = walk(graph, [graph.names[place] for place in read["order"]], overwrite=read["overwrite"])
    assert again.gradients == walked.gradients


@fewer(4)
@given(programs(EXTREME, EVERY, longest=8))
def test_documents_and_walks_match_the_schema(program):
    _, root = as_values(program)
    for walked in (walk(root), walk(root, overwrite=True)):
        for text in (document(walked.essence()), walked.to_json()):
            validator().validate(json.loads(text, parse_constant=pytest.fail))


def test_documents_of_networks_have_the_group_of_each_node():
    walked = walk(mlp_loss(3))
    groups = json.loads(document(walked.essence()))["groups"]
    validator().validate(json.loads(walked.to_json()))
    known = grouping(walked.graph)
    assert [tuple(path) for path in groups["paths"]] == known.paths
    assert (groups["kind"], groups["count"]) == ("samples", 3)
    for key, expected in (("modules", known.module), ("numbers", known.number)):
        assert numpy.frombuffer(base64.b64decode(groups[key]), "<i4").tolist() == expected.tolist()
    assert "groups" not in walk(diamond()).essence()


def test_findings_in_the_document():
    w, x = Value(1.0, label="w"), Value(0.0, label="x")
    for root in (w * x, w / x, w + x):
        document_of_walk = json.loads(walk(root).to_json())
        validator().validate(document_of_walk)
        assert ("findings" in document_of_walk) == bool(walk(root).findings)
    assert not walk(w + x).findings


def test_wrong_walks_match_the_schema():
    for walked in (walk(diamond(), "dacb"), walk(twice(), overwrite=True)):
        assert walked.wrong
        validator().validate(json.loads(walked.to_json()))


def test_invalid_documents_do_not_match_the_schema():
    good = json.loads(document(walk(diamond()).essence()))
    for key, bad in (("gradwalk", "graph"), ("version", 2), ("order", [0, 0]), ("graph", {}), ("files", [1]), ("x", 1)):
        assert not validator().is_valid(good | {key: bad})


def made_in(path: Path, text: str) -> Value:
    """Run a program from a file and return its Value `root`."""
    path.write_bytes(text.encode())
    names: dict[str, Value] = {}
    with source_lines():
        exec(compile(text, str(path), "exec"), names)
    return names["root"]


PROGRAM = "from gradwalk import Value\nroot = Value(2.0, label='a') * 3\n"


def test_document_contains_the_program(tmp_path):
    walked = walk(made_in(tmp_path / "train.py", PROGRAM))
    read = json.loads(document(walked.essence(), "train.py"))
    assert read["files"] == {str(tmp_path / "train.py"): PROGRAM}
    assert {node["source"]["file"] for node in read["graph"]["nodes"]} == set(read["files"])
    validator().validate(read)


def test_notebook_cells_are_included(monkeypatch):
    name = "<ipython-input-1-0123456789ab>"
    monkeypatch.setitem(linecache.cache, name, (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), name))
    names: dict[str, Value] = {}
    with source_lines():
        exec(compile(PROGRAM, name, "exec"), names)
    assert json.loads(document(walk(names["root"]).essence()))["files"] == {name: PROGRAM}


def test_large_edited_and_string_programs_are_omitted(tmp_path):
    large = made_in(tmp_path / "large.py", PROGRAM + "#" * 1_000_000)
    edited = made_in(tmp_path / "edited.py", PROGRAM)
    (tmp_path / "edited.py").write_text("# all\n# new\n", encoding="utf-8")
    linecache.checkcache()
    with source_lines():
        exec(compile(PROGRAM, "<string>", "exec"), names := {})
    for root in (large, edited, names["root"], neuron()):
        assert json.loads(document(walk(root).essence()))["files"] == {}


def test_programs_are_kept_from_recording_time(tmp_path):
    path = tmp_path / "train.py"
    walked = walk(made_in(path, PROGRAM))
    path.unlink()
    linecache.checkcache()
    for text in (document(walked.essence()), walked.to_json()):
        assert json.loads(text)["files"] == {str(path): PROGRAM}


def test_graphs_from_json_do_not_read_files(tmp_path):
    """Check that files named in the JSON are not read, because it may name any file."""
    graph = Graph.from_json(Graph.record(made_in(tmp_path / "train.py", PROGRAM)).to_json())
    read = json.loads(document(walk(graph).essence()))
    assert read["files"] == {}
    assert {node["source"]["text"] for node in read["graph"]["nodes"]} == {"root = Value(2.0, label='a') * 3"}
    validator().validate(read)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_escaped(text, tmp_path):
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


def test_page_is_deterministic():
    assert page(walk(neuron()).essence(), "o") == page(walk(neuron()).essence(), "o")


def test_page_is_smaller_than_600_kb():
    assert len(page(walk(neuron()).essence()).encode()) < 600_000
