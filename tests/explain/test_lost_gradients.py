"""Tests that lost contributions add up to the missing gradients, for wrong orders and overwriting."""

from __future__ import annotations

import itertools
import math
import random

import numpy
import pytest
from graphs_of_the_lesson import diamond, neuron, product_of_product_and_sum
from hypothesis import assume, given
from hypothesis import strategies as st
from programs import EVERY, ORDINARY, TAME, as_values, programs

from gradwalk import Graph, Value
from gradwalk.explain.lost_gradients import is_legal, legal_orders, lost_contributions, wrong_gradients
from gradwalk.explain.passes import backward_steps, gradients, passing, swept


def by_brute_force(graph: Graph, order: list[int], overwrite: bool) -> list[float]:
    """Compute gradients at the visits by pulling from the users that were visited before."""
    found = [0.0] * len(graph)
    at = {place: i for i, place in enumerate(order)}
    for place in order:
        pulled = [1.0] if place == graph.root else []
        for user in sorted((u for u in order if at[u] < at[place]), key=at.__getitem__):
            node = graph.nodes[user]
            pulled += [node.partials[i] * found[user] for i, x in passing(node) if x == place]
        found[place] = (pulled[-1] if pulled else 0.0) if overwrite else sum(pulled)
    return found


@given(programs(ORDINARY, TAME, longest=12), st.randoms(use_true_random=False), st.booleans())
def test_lost_contributions_add_up_to_missing_gradients(program, rng, overwrite):
    graph = Graph.record(as_values(program)[1])
    order = list(swept(graph))
    rng.shuffle(order)
    steps = backward_steps(graph, order, overwrite)
    right = gradients(graph)
    assume(numpy.isfinite(graph.partials).all() and numpy.isfinite(right).all())
    expected = by_brute_force(graph, order, overwrite)
    wrong = {w.place: w for w in wrong_gradients(graph, steps, right, overwrite)}
    for step in steps:
        size = 1e-9 * max(1.0, *map(abs, right))
        assert step.upstream == pytest.approx(expected[step.place], rel=1e-9, abs=size)
        missing = sum(loss.missing for loss in wrong[step.place].losses) if step.place in wrong else 0.0
        assert right[step.place] - step.upstream == pytest.approx(missing, rel=1e-7, abs=size)


@given(programs(ORDINARY, EVERY, longest=12), st.randoms(use_true_random=False))
def test_legal_orders_give_right_gradients(program, rng):
    graph = Graph.record(as_values(program)[1])
    order = legal_order(graph, rng)
    assert is_legal(graph, order)
    steps = backward_steps(graph, order, overwrite=False)
    right = gradients(graph)
    assume(numpy.isfinite(right).all())
    size = max(1.0, *map(abs, right))
    for step in steps:
        assert step.upstream == pytest.approx(right[step.place], rel=1e-9, abs=1e-12 * size)
    assert lost_contributions(steps, overwrite=False) == []
    assert wrong_gradients(graph, steps, right, overwrite=False) == ()


def legal_order(graph: Graph, rng: random.Random) -> list[int]:
    """Draw a random legal order."""
    left = list(swept(graph))
    order = []
    while left:
        free = [v for v in left if not any(x == v for u in left if u != v for _, x in passing(graph.nodes[u]))]
        order.append(rng.choice(free))
        left.remove(order[-1])
    return order


@given(programs(ORDINARY, TAME, longest=4))
def test_legal_orders_are_counted(program):
    graph = Graph.record(as_values(program)[1])
    places = swept(graph)
    assume(len(places) <= 7)
    legal = [order for order in itertools.permutations(places) if is_legal(graph, order)]
    assert legal_orders(graph, places) == len(legal)
    for order in legal:
        assert not lost_contributions(backward_steps(graph, order, overwrite=False), overwrite=False)


def test_legal_orders_of_the_lesson():
    graph = Graph.record(diamond())
    assert legal_orders(graph, swept(graph)) == 2
    graph = Graph.record(neuron())
    # hook length formula for trees: n! / product of the sizes of all subtrees
    assert legal_orders(graph, swept(graph)) == math.factorial(10) // (10 * 9 * 7 * 3 * 3)


def test_too_many_orders_to_count():
    graph = Graph.record(sum(Value(float(i)) for i in range(60)))
    assert legal_orders(graph, swept(graph)) is None
    a = Value(1.0)
    for _ in range(60):
        a = a * 1.0
    graph = Graph.record(a)
    assert legal_orders(graph, swept(graph)) == 1


def test_diamond_gives_15_only_in_legal_orders():
    graph = Graph.record(diamond())
    places = {name: place for place, name in enumerate(graph.names)}
    right = gradients(graph)
    outcomes = {}
    for order in itertools.permutations("abcd"):
        steps = backward_steps(graph, [places[name] for name in order], overwrite=False)
        got = {step.name: step.upstream for step in steps}["a"]
        outcomes["".join(order)] = got
        wrong = {w.name: w for w in wrong_gradients(graph, steps, right, overwrite=False)}
        assert (got == 15.0) == ("a" not in wrong)
    assert {order for order, got in outcomes.items() if got == 15.0} == {"dbca", "dcba"}
    assert outcomes["dbac"] == 6.0
    assert outcomes["dcab"] == 9.0


def test_overwriting_depends_on_visit_order():
    graph = Graph.record(product_of_product_and_sum())
    places = {name: place for place, name in enumerate(graph.names)}
    got = {}
    for order in ("fdeab", "fedab"):
        steps = backward_steps(graph, [places[name] for name in order], overwrite=True)
        got[order] = {step.name: step.upstream for step in steps}
    assert (got["fedab"]["a"], got["fedab"]["b"]) == (3.0, -2.0)
    assert (got["fdeab"]["a"], got["fdeab"]["b"]) == (-6.0, -6.0)


def test_sentences_explain_lost_contributions():
    graph = Graph.record(diamond())
    order = [graph.names.index(name) for name in "badc"]
    steps = backward_steps(graph, order, overwrite=False)
    b, a = wrong_gradients(graph, steps, gradients(graph), overwrite=False)
    assert b.sentence == ("b gets 0 and should get 6. d's contribution 6 to b came too late: d was visited after b.")
    assert [loss.sentence for loss in a.losses] == [
        "d's contribution 6 to b came too late: d was visited after b; so a misses 6 times db/da 1 = 6",
        "c's contribution 9 to a came too late: c was visited after a",
    ]
    assert [(loss.giver, loss.taker, loss.amount, loss.derivative, loss.missing) for loss in a.losses] == [
        (3, 1, 6.0, 1.0, 6.0),
        (2, 0, 9.0, 1.0, 9.0),
    ]
