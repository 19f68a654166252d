"""Tests of rounding error bounds against the same programs in mpmath."""

from __future__ import annotations

import math

import pytest
from derivatives import FIRST
from hypothesis import assume, given, reject
from programs import ORDINARY, TAME, as_values, programs
from references import JUMPS, MPMATH, mpmath

from gradwalk import Graph, Value, topological_order
from gradwalk.explain.check.error_bounds import gradient_errors, noise_weights
from gradwalk.explain.passes import gradients

KINKED = (
    *JUMPS,
    "abs",
    "relu",
    "maximum",
    "minimum",
    "where",
    "atan2",
    "hypot",
    "sign",
    "less",
    "less_equal",
    "equal",
)
SMOOTH = [name for name in TAME if name not in (*KINKED, "stop_gradient")]


@given(programs(ORDINARY, SMOOTH, longest=8))
def test_error_of_the_root_is_within_its_noise(program):
    graph = Graph.record(as_values(program)[1])
    assume(all(abs(x) < 1e10 for x in graph.data))
    try:
        _, truth = program.run(mpmath.mpf, lambda name, *operands: MPMATH[name](*operands))
    except ZeroDivisionError:
        reject()
    noise = sum(w * abs(x) for w, x in zip(noise_weights(graph, gradients(graph)), graph.data, strict=True) if w)
    assert abs(graph.data[graph.root] - truth) <= 4 * noise


@given(programs(ORDINARY, SMOOTH, longest=8))
def test_errors_of_gradients_are_within_bounds(program):
    leaves, root = as_values(program)
    root.backward()
    graph = Graph.record(root)
    assume(all(abs(x) < 1e6 for x in (*graph.data, *graph.grad)))
    errors = dict(zip(topological_order(root), gradient_errors(graph, gradients(graph)), strict=True))
    for i, leaf in enumerate(leaves):

        def by_mpmath(t: mpmath.mpf, i: int = i) -> mpmath.mpf:
            numbers = iter([*program.leaves[:i], t, *program.leaves[i + 1 :]])
            run = program.run(lambda _: mpmath.mpf(next(numbers)), lambda name, *operands: MPMATH[name](*operands))
            return run[1]

        try:
            truth = mpmath.diff(by_mpmath, mpmath.mpf(program.leaves[i]))
        except ZeroDivisionError:
            reject()
        assert abs(leaf.grad - truth) <= 8 * errors.get(leaf, 0.0) + 1e-12 * abs(leaf.grad) + 1e-30


def test_cancellation_gives_large_error_bounds():
    x = Value(1e-5)
    graph = Graph.record((1 - x.cos()) / x**2)
    found = gradients(graph)
    assert gradient_errors(graph, found)[0] > abs(found[0])
    graph = Graph.record(x * 3 + 1)
    assert gradient_errors(graph, gradients(graph))[0] < 1e-14


def test_leaves_are_exact_and_nan_is_ignored():
    x = Value(2.0)
    graph = Graph.record((-x).log() + x * x)
    weights = noise_weights(graph, [math.nan] * len(graph))
    assert set(weights.tolist()) == {0.0}
    assert all(math.isfinite(error) for error in gradient_errors(graph, gradients(graph)))


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "erf", "softplus"])
@pytest.mark.parametrize("number", [0.3, 0.9, 3.0, 12.0, 20.0, 25.0])
def test_bounds_hold_for_saturated_functions(name, number):
    """Check an inexact operand x: its relative error e changes the slope by about x * e, relatively."""
    for factor in (1.1, 1 / 3, 0.7, 1.9):
        x = Value(number / factor)
        root = getattr(x * factor, name)()
        root.backward()
        graph = Graph.record(root)
        bound = gradient_errors(graph, gradients(graph))[0]
        inner = mpmath.mpf(x.data) * mpmath.mpf(factor)
        truth = FIRST[name][0](inner) * mpmath.mpf(factor)
        assert abs(x.grad - truth) <= bound < 1e-12 * abs(truth)
