"""Tests of opened graphs, with products and sums instead of `sumprod` and the same numbers and gradients."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import ORDINARY

from gradwalk import Graph, Value, check, draw, nn, opened, source_lines, walk
from gradwalk.math import sumprod, tanh
from gradwalk.ops.rows import Reduction


def lecture_neuron() -> Value:
    x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
    w1, w2, b = Value(-3.0, label="w1"), Value(1.0, label="w2"), Value(6.8813735870195432, label="b")
    out = tanh(sumprod([w1, w2], [x1, x2], b))
    out.label = "o"
    out.backward()
    return out


def test_neuron_of_the_lecture():
    out = lecture_neuron()
    graph = opened(out)
    assert (Graph.record(out).edges, graph.edges) == (6, 9)
    assert [node.symbol for node in graph.nodes if node.symbol] == ["*", "+", "*", "+", "tanh"]
    steps = {step.name: step.upstream for step in walk(graph).backward}
    assert {name: steps[name] for name in ("x1", "w1", "x2", "w2", "b")} == pytest.approx(
        {"x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0, "b": 0.5}
    )
    assert check(graph).ok
    assert "sumprod" in draw(out).svg
    assert "sumprod" not in draw(graph).svg


Operands = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=5)


@given(st.lists(ORDINARY, min_size=3, max_size=3), Operands, st.integers(0, 5))
def test_numbers_and_gradients_are_the_same(numbers, pairs, start):
    """Factors are constants and any of three Values, with repetition."""
    values = [Value(number, label=f"x{i}") for i, number in enumerate(numbers)]
    factors: list[Any] = [*values, 2.0, 0.0, -1.5]
    root = sumprod([factors[i] for i, _ in pairs], [factors[i] for _, i in pairs], factors[start])
    root = values[0] * root + 1.0
    root.backward()
    graph = opened(root)
    graph.validate()
    assert graph.data[graph.root] == root.data
    if any(i < 3 or j < 3 for i, j in pairs):  # otherwise there may be nothing to add
        assert not any(isinstance(node.variadic, Reduction) for node in graph.nodes)
    right = walk(graph).right_gradients
    recorded = dict(zip(walk(graph).graph.names, graph.grad.tolist(), strict=True))
    for name, gradient in right.items():
        assert recorded[name] == pytest.approx(gradient, rel=1e-12, abs=1e-12)


def test_labels_lines_and_rules_are_kept():
    x = Value(2.0, label="x")
    total = sumprod([x, x], [x, 3.0])
    total.label = "total"
    squared = total * total
    squared._backward = lambda: None
    graph = opened(squared)
    named = dict(zip(graph.names, graph.nodes, strict=True))
    assert named["total"].symbol == "+"
    assert graph.by_hand == {graph.root}


def test_parts_have_the_source_line_of_the_sum():
    with source_lines():
        w, b = [Value(1.0), Value(2.0)], Value(3.0)
        total = sumprod(w, [2.0, 3.0], b)
        root = total.tanh()
    graph = opened(root)
    lines = [node.source.text for node in graph.nodes if node.source]
    assert len(lines) == len(graph)
    assert [node.symbol for node in graph.nodes if "sumprod" in node.source.text] == ["*", "+", "*", "+"]
    named = ("b", "v2", "v3", "v4", "v5", "v6", "total", "root")  # only the program's variables have names
    assert graph.names == named


def test_networks_and_several_roots():
    network = nn.MLP(2, [4, 2])
    graph = opened(network([1.0, -2.0]))
    graph.validate()
    assert len(graph.outputs) == 2
    assert opened(graph).opcodes.tolist() == graph.opcodes.tolist()
