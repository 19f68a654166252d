"""Tests of pictures of networks: the layers, neurons, parameters and samples that they name and draw."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from networks import asian_option, bigram_loss, labeled_loss, mlp_loss, mlp_output, random_graph, rnn_loss
from programs import EVERY, ORDINARY, as_values, programs

from gradwalk import Graph, Value, draw, draw_dot, nn, walk
from gradwalk.graph.boxes import boxes

SVG = "{http://www.w3.org/2000/svg}"
SIZE = 10 if IS_COMPILED else 3


def facts(svg: str) -> tuple[list[str], list[str]]:
    """Return the tooltips and the texts of a picture."""
    root = ElementTree.fromstring(svg)
    found = [[element.text or "" for element in root.iter(SVG + tag)] for tag in ("title", "text")]
    return found[0], found[1]


def width(svg: str) -> float:
    return float(ElementTree.fromstring(svg).get("width"))


@pytest.mark.parametrize("root", [mlp_output(), nn.MLP(2, [4, 4, 1])([1.0, 2.0])], ids=["plain", "nn"])
def test_small_network_is_three_layers_of_neurons(root):
    root.backward()
    svg = draw(root).svg
    titles, shown = facts(svg)
    assert titles[1:] != []
    assert {"layers[0]: 4 neurons, 12 parameters", "layers[1]: 4 neurons, 20 parameters"} <= set(titles)
    assert "layers[2]: 1 neuron, 5 parameters" in titles
    assert "inputs: 2 inputs" in titles
    circles = re.findall(r'<rect[^>]*width="16" height="16" rx="8"[^>]*stroke=', svg)
    assert len(circles) == 2 + 4 + 4 + 1
    assert width(svg) < 1000
    assert f"draw(root, max_nodes={len(Graph.record(root))}) shows every node" in shown
    assert svg == draw_dot(root).svg


def test_every_node_is_shown_if_max_nodes_allows_it():
    root = mlp_output()
    _, shown = facts(draw(root, max_nodes=104).svg)
    assert shown.count("data") == 104
    assert "data" not in facts(draw(root, max_nodes=103).svg)[1]


def test_one_sample_is_shown_and_the_others_are_counted():
    root = mlp_loss(SIZE)
    root.backward()
    titles, shown = facts(draw(root).svg)
    assert shown[0] == f"{len(Graph.record(root)):,} nodes: 1 of {SIZE} samples is shown"
    assert {"each sample", f"all {SIZE} samples", f"sum of {SIZE}"} <= set(shown)
    assert "layers[1]: 4 neurons, 20 parameters" in titles


def test_penalty_is_apart_from_the_samples():
    root = labeled_loss(SIZE)
    groups = boxes(Graph.record(root))
    by_name = {box.name: box for box in groups.boxes}
    assert list(by_name)[:3] == ["layers[0]", "layers[1]", "layers[2]"]
    assert set(list(by_name)[3:]) == {"each sample", "parameters alone", f"all {SIZE} samples"}
    assert by_name["layers[0]"].operations == {"sumprod": 4, "ReLU": 4}
    assert by_name["parameters alone"].operations["*"] == 38
    assert groups.edges[0, 1] == 16


def test_steps_are_drawn_once_with_an_arrow_to_the_next():
    titles, shown = facts(draw(rnn_loss(SIZE)).svg)
    assert f"1 of {SIZE} steps is shown" in shown[0]
    assert "16 edges to the next step" in titles
    titles, shown = facts(draw(asian_option(60)).svg)
    assert {"before the steps", "each step", "after the steps"} <= set(shown)


def test_shared_parameters_are_drawn_as_a_matrix():
    titles, shown = facts(draw(bigram_loss(30)).svg)
    assert {"parameters: 36 parameters", "each sample"} <= {*titles, *shown}


def test_variables_that_hold_parameters_are_named():
    weights, b = [[Value(0.1 * i + j) for i in range(2)] for j in range(3)], [Value(1.0) for _ in range(3)]
    rows = zip(weights, b, strict=True)
    hidden = [sum((w * x for w, x in zip(row, [0.5, 2.0], strict=True)), c).tanh() for row, c in rows]
    out = hidden[0] * hidden[1] * hidden[2]
    _, shown = facts(draw(out, max_nodes=0).svg)
    assert {"layers[0]", "3 neurons", "9 parameters", "b, weights"} <= set(shown)


def test_parameters_are_colored_by_gradient_or_value():
    root = mlp_loss(SIZE)
    assert "value" in facts(draw(root).svg)[1]
    root.backward()
    svg = draw(root).svg
    assert "gradient" in facts(svg)[1]
    assert 'class="fill-positive"' in svg
    assert 'class="fill-negative"' in svg


@pytest.mark.parametrize("root", [mlp_loss(3), rnn_loss(4)], ids=["mlp", "rnn"])
def test_networks_whose_gradients_are_nan_have_no_colors(root):
    graph = Graph.record(root)
    svg = draw(replace(graph, grad=numpy.full(len(graph), numpy.nan))).svg
    titles, _ = facts(svg)
    assert any(title.endswith("gradient nan") for title in titles)
    assert 'class="fill-positive"' not in svg
    assert 'class="fill-negative"' not in svg


def test_graph_without_structure_is_drawn_as_a_profile():
    root = random_graph(300)
    graph = Graph.record(root)
    titles, shown = facts(draw(root).svg)
    assert {"operations", "leaves", "no modules, samples or repeated steps were found"} <= set(shown)
    counts = [int(number) for title in titles[1:] for number in re.findall(r": (\d+) nodes?$", title)]
    assert sum(counts) == len(graph)
    assert "largest gradients" not in shown
    root.backward()
    names = draw(root).graph.names
    _, shown = facts(draw(root).svg)
    best = max((i for i in range(len(graph)) if i != graph.root), key=lambda i: abs(Graph.record(root).grad[i]))
    assert any(text.startswith(names[best][:10]) for text in shown[shown.index("largest gradients") :])


def test_wrong_walks_are_drawn_node_by_node():
    root = nn.MLP(2, [4, 4, 1])([1.0, 2.0])
    titles, shown = facts(walk(root).draw().svg)
    assert "layers[0]: 4 neurons, 12 parameters" in titles
    assert "gradient" in shown
    assert "data" in facts(walk(root, overwrite=True).draw().svg)[1]


def test_themes_and_hostile_labels():
    root = mlp_loss(3, values=True)
    graph = Graph.record(root)
    hostile = dict.fromkeys(range(len(graph)), "<b>\x00&")
    svg = draw(replace(graph, labels=hostile), theme="dark").svg
    ElementTree.fromstring(svg)
    assert "prefers-color-scheme" not in svg


@given(programs(ORDINARY, EVERY, longest=30))
def test_edges_between_boxes_point_forward(program):
    _, root = as_values(program)
    graph = Graph.record(root)
    divided = boxes(graph)
    if divided is not None:
        assert all(start < end for start, end in divided.edges)
        ElementTree.fromstring(draw(graph, max_nodes=0).svg)


def test_wide_layers_are_cut():
    model = nn.MLP(2, [70, 1])
    titles, shown = facts(draw(model([1.0, 2.0])).svg)
    assert "layers[0]: 70 neurons, 210 parameters" in titles
    assert "… 54 more" in shown


def test_single_values_are_drawn_as_before():
    assert facts(draw(Value(1.0, label="x")).svg)[1] == ["x", "data", "1.0000", "grad", "0.0000"]
