"""Tests of loops that are found in a graph: their steps, state, and what comes before and after."""

from __future__ import annotations

import pytest
from checkout import IS_COMPILED
from networks import asian_option, orbit

from gradwalk import Graph, Value, draw, source_lines
from gradwalk.graph.boxes import boxes
from gradwalk.graph.grouping import grouping

STEPS = 60 if IS_COMPILED else 12


def test_steps_of_an_orbit_are_those_of_the_program():
    divided = boxes(Graph.record(orbit(STEPS)))
    inputs, each, after = divided.boxes
    assert (inputs.name, each.name, after.name) == ("inputs", "each step", "after the steps")
    assert divided.grouping.count == STEPS
    assert each.operations == {"*": 6, "+": 3, "-": 2, "/": 2, "**": 1}
    assert len(each.carried) == 4
    assert after.operations == {"-": 2, "**": 2, "+": 1}
    assert set(divided.edges) == {(0, 1), (1, 2)}


def test_state_of_an_option_is_the_price_and_the_sum():
    divided = boxes(Graph.record(asian_option(STEPS)))
    each = next(box for box in divided.boxes if box.name == "each step")
    assert divided.grouping.count == STEPS
    assert len(each.carried) == 2


@pytest.mark.parametrize("coefficients", [(1.1, 0.2), (0.5, -1.0)])
def test_corresponding_nodes_compute_the_same(coefficients):
    a, b = coefficients
    x, y = Value(1.0), Value(0.5)
    for _ in range(20):
        x, y = (a * x + y).tanh(), b * x * y
    graph = Graph.record(x + y)
    groups = grouping(graph)
    assert groups.count >= 18
    for node, (number, role) in enumerate(zip(groups.number.tolist(), groups.role, strict=True)):
        if number >= 0:
            assert graph.opcodes[node] == graph.opcodes[role]
            assert groups.number[role] == 0


def test_loops_are_drawn_with_their_variables():
    x, y = Value(1.0), Value(0.0)
    for _ in range(40):
        speed = 0.1 * x
        y = y + speed
        x = x - 0.1 * y
    out = x * y
    drawn = draw(out, max_nodes=0).svg
    assert "state x, y: 40 steps" in drawn
    assert "y = y + speed" in drawn
    assert "x = x - 0.1*y" in drawn
    with source_lines():
        x, y = Value(1.0), Value(0.0)
        for _ in range(40):
            y = y + 0.1 * x
            x = x - 0.1 * y
        out = x * y
    assert "y = y + 0.1 * x<" in draw(out, max_nodes=0).svg
