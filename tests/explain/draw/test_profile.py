"""Tests of the profile of a graph without structure."""

from __future__ import annotations

from networks import random_graph

from gradwalk import Graph, Value
from gradwalk.explain.draw.profile import levels, paint_profile


def test_levels_are_longest_paths():
    a = Value(1.0)
    b = a * 2.0
    assert levels(Graph.record(b * a + b.tanh())) == [0, 1, 2, 2, 3]
    graph = Graph.record(random_graph(100))
    level = levels(graph)
    for node in graph.nodes:
        assert level[node.place] == max([level[x] + 1 for x in node.operands], default=0)


def test_gradients_that_are_not_finite_are_left_out():
    a = Value(0.0, label="a")
    root = sum((a * i for i in range(100)), a).sqrt()
    root.backward()
    assert "inf" not in paint_profile(Graph.record(root), "light", "title", "hint")
