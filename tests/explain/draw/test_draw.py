"""Tests of drawings: their contents, valid SVG, and micrograd's function names."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from graphs_of_the_lesson import GRADIENTS, diamond, leaves, loss, twice
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, as_values, programs
from references import graphviz, micrograd, needs

from gradwalk import Value, draw, draw_dot, nn, trace
from gradwalk.explain.draw.raster import PictureError

SVG = "{http://www.w3.org/2000/svg}"
PNG = b"\x89PNG\r\n\x1a\n"


def parsed(svg: str) -> ElementTree.Element:
    """Parse an SVG file; check that it runs and fetches nothing."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "style", "g", "rect", "path", "text"),
    }
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        assert "nan" not in "".join(v for k, v in element.attrib.items() if k in ("x", "y", "d", "width", "height"))
    return root


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("make", GRADIENTS)
def test_values_and_gradients_of_the_lesson(make):
    root = make()
    root.backward()
    shown = texts(draw(root).svg)
    for name, gradient in GRADIENTS[make].items():
        assert shown[shown.index(name) + 3 : shown.index(name) + 5] == ["grad", f"{gradient:.4f}"]


def test_edge_for_every_operand():
    titles = [element.text for element in parsed(draw(twice()).svg).iter(f"{SVG}title")]
    assert [title for title in titles if title.startswith("a to b")] == [
        "a to b, operand 1: local derivative 1.0, contribution 0.0",
        "a to b, operand 2: local derivative 1.0, contribution 0.0",
    ]


def test_constants_are_shown_in_their_operation():
    (x,) = leaves(x=2.0)
    shown = texts(draw((2 / x).maximum(0.5).where(x, 1.0) - 3).svg)
    assert {"2 /", "max(·, 0.5)", "where(·, ·, 1)", "- 3"} <= set(shown)


def test_edges_show_sign_and_size_of_gradients():
    root = loss()
    root.backward()
    svg = draw(root).svg
    edges = {
        element.find(f"{SVG}title").text.partition(",")[0]: element.find(f"{SVG}path")
        for element in parsed(svg).iter(f"{SVG}g")
        if element.find(f"{SVG}title") is not None and " to " in element.find(f"{SVG}title").text
    }
    assert edges["a to e"].get("class") == "stroke-positive"
    assert edges["b to e"].get("class") == "stroke-negative"
    widths = {name: float(edge.get("stroke-width")) for name, edge in edges.items()}
    assert widths["a to e"] > widths["b to e"] > widths["d to L"] > 1.2
    assert {"gradient", "+6", "-6"} <= set(texts(svg))


def test_no_legend_without_gradients():
    assert "gradient" not in texts(draw(loss()).svg)


def test_themes():
    root = diamond()
    auto, light, dark = (draw(root, theme=theme).svg for theme in ("auto", "light", "dark"))
    assert "prefers-color-scheme: dark" in auto
    assert "prefers-color-scheme" not in light + dark
    assert "#15181d" in dark
    assert "#15181d" not in light


def test_hostile_labels():
    labels = [
        "<script>alert(1)</script>",
        "\"&'",
        "two\nlines",
        "\x00\x1b[31m\ufffe\ud800",
        "\u202e\u05e9\u05dc\u05d5\u05dd",
        "x" * 5000,
    ]
    values = [Value(float(i), label=label) for i, label in enumerate(labels)]
    root = sum(values)
    root.label = "]]>"
    shown = texts(draw(root).svg)
    assert "<script>alert(1)</script>" in shown
    assert "two lines" in shown
    assert max(map(len, shown)) < 60
    assert not [text for text in shown if "\u202e" in text or "\n" in text]


@given(programs(EXTREME, EVERY, longest=10), st.sampled_from(["LR", "TB"]))
def test_random_graphs_give_valid_svg(program, rankdir):
    _, root = as_values(program)
    root.backward()
    parsed(draw(root, rankdir=rankdir).svg)


def test_drawings_have_separate_css_rules():
    first, second = (parsed(draw(make()).svg) for make in (diamond, loss))
    assert first.get("class") != second.get("class")
    for root in (first, second):
        rules = next(root.iter(f"{SVG}style")).text
        assert set(re.findall(r"\.(gradwalk[^ ]*)", rules)) == {root.get("class")}
    assert first.get("direction") == "ltr"


def test_operations_grow_with_their_operands():
    values = [Value(float(i)) for i in range(30)]
    svg = draw(Value(1.0, values, "cat")).svg
    heights = [float(element.get("height")) for element in parsed(svg).iter(f"{SVG}rect")]
    assert sorted(heights)[-2] == 238.0  # the operation; the largest rect is the paper


def test_nonfinite_numbers_are_shown():
    (x,) = leaves(x=0.0)
    root = (x - 1).log() + 1 / x
    root.backward()
    assert {"nan", "inf", "-inf"} <= set(texts(draw(root).svg))


def test_custom_nodes_and_several_roots():
    a = Value(2.0, label="a")
    h = Value(4.0, (a, a), "mine")
    assert "mine" in texts(draw([h, a * 3]).svg)
    nameless = Value(4.0, (a,))
    assert "?" in texts(draw(nameless).svg)


def test_single_leaf():
    assert texts(draw(Value(2.0, label="x")).svg) == ["x", "data", "2.0000", "grad", "0.0000"]


def test_boxes_of_a_wide_graph_are_narrow():
    x1, x2, w1, w2, b = [Value(2.0, label=name) for name in ("x1", "x2", "w1", "w2", "b")]
    product = draw(x1 * w1).svg
    o = (x1 * w1 + x2 * w2 + b).tanh()
    neuron = draw(o).svg
    heights = [
        {box.get("height") for box in parsed(svg).iter(f"{SVG}rect") if box.get("rx") == "5"}
        for svg in (product, neuron)
    ]
    assert heights == [{"30"}, {"44"}]
    assert float(parsed(neuron).get("viewBox", "").split()[2]) < 1250
    assert {"x1 * w1", "x1*w1 …2 + b"} <= set(texts(neuron))


def test_large_graphs_are_drawn_by_module():
    random.seed(1)
    model = nn.MLP(2, [16, 16, 1])
    root = sum((model([0.1 * i, 1.0]) for i in range(30)), Value(0.0))
    root.backward()
    svg = draw(root).svg
    shown = texts(svg)
    assert shown[:2] == ["2,318 nodes: 1 of 30 samples is shown", shown[1]]
    assert {"layers[0]", "layers[1]", "layers[2]", "16 neurons", "48 parameters", "ReLU", "all 30 samples"} <= set(
        shown
    )
    assert len(svg) < 300_000
    assert "data" in texts(draw(root, max_nodes=10_000).svg)


def test_deep_chain_is_drawn_as_a_summary():
    x = Value(1.0)
    for _ in range(100_000):
        x = x * 1.0
    shown = texts(draw(x).svg)
    assert shown[0] == "100,001 nodes: 1 of 100,000 steps is shown"
    assert "each step" in shown


@needs("resvg_py")
def test_saving_drawings(tmp_path):
    drawing = draw(diamond())
    for name in ("x.svg", "x.png", "x.dot", "x.gv", "X.SVG"):
        drawing.save(tmp_path / name)
    parsed((tmp_path / "x.svg").read_text(encoding="utf-8"))
    assert (tmp_path / "x.png").read_bytes().startswith(PNG)
    assert (tmp_path / "x.dot").read_text(encoding="utf-8") == drawing.dot


def test_invalid_file_names_raise(tmp_path):
    kept = tmp_path / "kept.bmp"
    kept.write_text("kept")
    with pytest.raises(PictureError, match=r"must end with .svg or .png or .dot or .gv, got .*kept.bmp"):
        draw(diamond()).save(kept)
    assert kept.read_text() == "kept"
    with pytest.raises(FileNotFoundError):
        draw(diamond()).save(tmp_path / "nowhere" / "x.svg")


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="theme must be one of auto, light, dark, got 'blue'"):
        draw(diamond(), theme="blue")
    with pytest.raises(ValueError, match="rankdir must be LR or TB, got 'RL'"):
        draw(diamond(), rankdir="RL")
    with pytest.raises(TypeError, match="the root of a graph must be a Value"):
        draw("x")
    for max_nodes in (-1, "a", 2.0):
        with pytest.raises(ValueError, match="max_nodes must be an integer >= 0, got"):
            draw(diamond(), max_nodes=max_nodes)


def test_notebooks():
    drawing = draw(diamond())
    assert drawing._repr_mimebundle_() == {"image/svg+xml": drawing.svg, "text/plain": repr(drawing)}
    assert repr(drawing) == "<Drawing of <Graph of 4 nodes to d>>"


# micrograd's functions


def test_trace_matches_micrograd():
    def program(value: type) -> tuple[set[object], set[tuple[object, object]]]:
        a, b = value(2.0), value(-3.0)
        root = a * b + a
        nodes, edges = set(), set()

        def build(v: object) -> None:
            if v not in nodes:
                nodes.add(v)
                for child in v._prev:
                    edges.add((child, v))
                    build(child)

        build(root)
        return root, nodes, edges

    root, nodes, edges = program(Value)
    assert trace(root) == (nodes, edges)
    _, theirs, their_edges = program(micrograd.engine.Value)
    assert (len(nodes), len(edges)) == (len(theirs), len(their_edges))


@needs("resvg_py")
def test_draw_dot_behaves_like_a_digraph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = diamond()
    root.backward()
    dot = draw_dot(root)
    assert dot.source == draw(root).dot
    assert dot.format == "svg"
    assert dot.render("gout") == "gout.svg"
    assert Path("gout").read_text(encoding="utf-8") == dot.source
    parsed(Path("gout.svg").read_text(encoding="utf-8"))
    assert draw_dot(root, format="png", rankdir="TB").render("gout", directory="out") == str(Path("out", "gout.png"))
    assert Path("out/gout.png").read_bytes().startswith(PNG)
    assert dot.pipe().startswith(b"<svg")
    assert dot.pipe(format="png").startswith(PNG)
    assert "image/svg+xml" in dot._repr_mimebundle_()
    digraph = graphviz.Digraph()
    assert [name for name in ("source", "format", "render", "pipe", "save") if not hasattr(dot, name)] == []
    assert {type(digraph.source), type(digraph.format)} == {type(dot.source), type(dot.format)}
    with pytest.raises(ValueError, match="format must be svg or png, got 'pdf'"):
        draw_dot(root, format="pdf")


def test_numbers_in_paths_are_finite():
    a = Value(math.inf, label="a")
    root = a * math.nan
    root.backward()
    assert not re.search(r'd="[^"]*(nan|inf)', draw(root).svg)
