"""Tests of the steps of the forward and backward pass and their sentences."""

from __future__ import annotations

import math

import pytest
from graphs_of_the_lesson import GRADIENTS, diamond, leaves, loss, neuron
from hypothesis import given
from programs import EVERY, EXTREME, ORDINARY, as_values, programs

from gradwalk import Graph, Value, topological_order
from gradwalk.explain.passes import backward_steps, contribution, forward_steps, gradients, passing, swept


def sentences(root: Value, overwrite: bool = False) -> dict[str, str]:
    graph = Graph.record(root)
    return {step.name: step.sentence for step in backward_steps(graph, swept(graph), overwrite)}


@pytest.mark.parametrize("make", GRADIENTS)
def test_gradients_of_the_lesson(make):
    graph = Graph.record(make())
    found = dict(zip(graph.names, gradients(graph), strict=True))
    assert found == pytest.approx(GRADIENTS[make], abs=1e-12)
    stepped = {step.name: step.upstream for step in backward_steps(graph, swept(graph), overwrite=False)}
    assert stepped == found


def test_forward_steps():
    steps = forward_steps(Graph.record(loss()))
    assert [step.sentence for step in steps] == [
        "a is given: 2",
        "b is given: -3",
        "e = a * b = 2 * (-3) = -6",
        "c is given: 10",
        "d = e + c = (-6) + 10 = 4",
        "f is given: -2",
        "L = d * f = 4 * (-2) = -8",
    ]
    assert steps[2][:5] == (2, "e", "*", ("a", "b"), -6.0)


def test_contributions():
    graph = Graph.record(loss())
    first = backward_steps(graph, swept(graph), overwrite=False)[0]
    d, f = first.contributions
    assert d[:10] == (4, "d", 0, 1.0, -2.0, "y", -2.0, 0.0, -2.0, False)
    assert f[:10] == (5, "f", 1, 1.0, 4.0, "x", 4.0, 0.0, 4.0, False)
    assert d.sentence == "* swaps and scales: d gets upstream 1 times f's value -2, making -2"
    assert first.sentence == (
        "L is the root: its gradient is 1. * swaps and scales: d gets upstream 1 times f's value -2, making -2;"
        " f gets upstream 1 times d's value 4, making 4."
    )


def test_sentences_about_accumulating_and_overwriting():
    assert sentences(diamond())["b"].endswith("a gets upstream 6 unchanged, on top of 9: 15 in all.")
    assert sentences(diamond(), overwrite=True)["b"].endswith("a gets upstream 6 unchanged, which overwrites 9.")


def test_conditions_get_no_gradient_and_are_not_visited():
    condition, x = leaves(condition=1.0, x=2.0)
    graph = Graph.record((condition * math.inf).where(x, 3.0))
    assert [graph.names[place] for place in swept(graph)] == ["v4", "x"]
    where = graph.nodes[-1]
    assert passing(where) == [(1, where.arguments[1])]


def test_unselected_operands_get_zero_of_infinity():
    (x,) = leaves(x=-1.0)
    relu = Graph.record(x.relu()).nodes[-1]
    assert contribution(relu, 0, math.inf) == 0.0


@given(programs(ORDINARY, EVERY, longest=20))
def test_gradients_match_backward(program):
    agrees_with_backward(as_values(program)[1], rel=1e-12)


@given(programs(EXTREME, [name for name in EVERY if name != "where"], longest=5))
def test_gradients_match_backward_at_extremes(program):
    agrees_with_backward(as_values(program)[1], rel=0.0)


def agrees_with_backward(root: Value, rel: float) -> None:
    root.backward()
    graph = Graph.record(root)
    expected = {i: v.grad for i, v in enumerate(topological_order(root))}
    steps = backward_steps(graph, swept(graph), overwrite=False)
    for step in steps:
        assert step.upstream == pytest.approx(expected.pop(step.place), rel=rel, abs=rel, nan_ok=True)
    assert set(expected.values()) <= {0.0}  # backward did not visit the other nodes either
    for step in steps:
        for given_ in step.contributions:
            assert given_.after == pytest.approx(given_.before + given_.amount, nan_ok=True)


def test_neuron_is_visited_from_root_to_leaves():
    graph = Graph.record(neuron())
    names = [graph.names[place] for place in swept(graph)]
    assert names[:4] == ["o", "n", "b", "x1w1x2w2"]
    assert names[-1] == "x1"
