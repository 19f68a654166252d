"""Tests that recomputing a recorded graph gives the same numbers as building it again."""

from __future__ import annotations

import dataclasses
import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, as_values, programs

from gradwalk import Graph, Value, refresh, topological_order
from gradwalk.functions.reductions import sumprod
from gradwalk.graph.node import GraphError
from gradwalk.graph.reevaluate import Reevaluator


def equal(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)


@given(programs(EXTREME, EVERY, longest=15), EXTREME, st.data())
def test_changed_leaves(program, number, data):
    values, root = as_values(program)
    graph = Graph.record(root)
    replay = Reevaluator(graph, graph.root)
    order = topological_order(root)
    assert all(equal(replay.recomputed(place), node.data) for place, node in enumerate(order))
    for value in values:
        if value in order:
            before = value.data
            assert replay.select(order.index(value)) == -1
            value.data = number
            refresh(root)
            assert equal(replay.root_with(number), root.data)
            value.data = before
            refresh(root)
            assert equal(replay.root_with(before), root.data)
    assert all(equal(replay.recomputed(place), node.data) for place, node in enumerate(order))


def test_intermediate_nodes_and_sums_of_products():
    a, b = Value(2.0), Value(3.0)
    c = sumprod([a, b, 4.0], [b, 5.0, a], 1.0)  # 1 + 6 + 15 + 8 = 30
    root = c * c + a
    graph = Graph.record(root)
    order = topological_order(root)
    replay = Reevaluator(graph, graph.root)
    replay.select(order.index(c))
    assert replay.root_with(31.0) == 31.0**2 + 2.0
    replay.select(order.index(a))
    assert replay.root_with(0.0) == 16.0**2
    assert replay.local(order.index(c), 1.0) == 1 + 3 + 15 + 4
    replay.select(graph.root)
    assert replay.root_with(7.0) == 7.0


def test_nodes_before_a_hand_made_node_cannot_change():
    a = Value(2.0)
    h = Value(4.0, (a,), "square")
    root = h * 3
    replay = Reevaluator(Graph.record(root), 2)
    assert replay.select(0) == 1
    assert replay.select(1) == -1
    assert replay.root_with(5.0) == 15.0


def test_noise_counts_recomputed_nodes():
    a, b = Value(2.0), Value(3.0)
    graph = Graph.record((a * 2) * (b * 3))  # 4 * 9
    replay = Reevaluator(graph, graph.root)
    replay.select(0)
    assert replay.noise(numpy.array([1.0, 10.0, 100.0, 1000.0, 1.0])) == 10.0 * 4 + 36
    replay.root_with(-1.0)
    assert replay.noise(numpy.array([1.0, 10.0, 100.0, 1000.0, 1.0])) == 10.0 * 2 + 18
    assert replay.noise(numpy.array([1.0, 0.0, 100.0, 1000.0, 1.0])) == 18
    assert [replay.depends(place) for place in range(5)] == [True, True, False, False, True]


def test_invalid_graphs_are_refused():
    graph = Graph.record(Value(1.0) * 2.0)
    with pytest.raises(GraphError, match="node 1 has node 7 as operand"):
        Reevaluator(dataclasses.replace(graph, operands=numpy.array([7, -1], numpy.int32)), 1)


def test_special_numbers_raise_no_error():
    x = Value(1.0)
    graph = Graph.record((1 / x).log().exp() * x**0.5)
    replay = Reevaluator(graph, graph.root)
    replay.select(0)
    for number in (0.0, -1.0, math.inf, -math.inf, math.nan, 1e-320):
        assert isinstance(replay.root_with(number), float)
