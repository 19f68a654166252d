"""Tests of graphs and walks as text."""

from __future__ import annotations

import io

from graphs_of_the_lesson import diamond, neuron
from networks import random_graph

from gradwalk import Graph, Value, nn
from gradwalk.explain.report import LONGEST, print_graph, print_rest
from gradwalk.explain.terminal import Terminal


def printed(graph: Graph) -> list[str]:
    stream = io.StringIO()
    print_graph(Terminal(stream), graph)
    return stream.getvalue().splitlines()


def test_graphs_are_printed_as_trees():
    assert printed(Graph.record(diamond())) == [
        "Graph",
        "  d = b * c = 18",
        "  ├─ b = a + 1 = 3",
        "  │  └─ a = 2",
        "  └─ c = a * 3 = 6",
        "     └─ a = 2",
    ]


def test_repeated_nodes_refer_to_the_first():
    a = Value(2.0, label="a")
    b = a * a
    lines = printed(Graph.record([b + b, b]))
    assert lines[1:] == [
        "  v3 = v2 + v2 = 8",
        "  ├─ v2 = a * a = 4",
        "  │  ├─ a = 2",
        "  │  └─ a = 2",
        "  └─ v2 (see above)",
        "  v2 (see above)",
    ]


def test_large_graphs_are_printed_by_module():
    assert len(printed(Graph.record(neuron()))) == 11
    model = nn.MLP(4, [12, 12, 1])
    lines = printed(Graph.record(model([1.0, 2.0, 3.0, 4.0])))
    assert lines[0].startswith("Graph: 278 nodes, ")
    assert lines[1].split() == ["module", "parts", "leaves", "operations"]
    assert any(line.split() == ["layers[1]", "12", "neurons", "156", "12", "sumprod,", "12", "ReLU"] for line in lines)


def test_samples_are_printed_once():
    model = nn.MLP(2, [3, 1])
    lines = printed(Graph.record(sum((model([0.1 * i, 1.0]) ** 2 for i in range(20)), Value(0.0))))
    assert lines[0].endswith("; 1 of 20 samples in the table")
    assert any(line.split() == ["layers[1]", "1", "neuron", "4", "1", "sumprod"] for line in lines)
    assert any(line.split() == ["all", "20", "samples", "20", "+"] for line in lines)


def test_graphs_without_structure_are_printed_by_operation():
    lines = printed(Graph.record(random_graph(200)))
    assert lines[1].split() == ["module", "leaves", "operations"]


def test_omitted_lines_are_counted():
    stream = io.StringIO()
    print_rest(Terminal(stream), LONGEST + 3)
    print_rest(Terminal(stream), LONGEST)
    assert stream.getvalue() == "and 3 more\n"
