"""Tests of the expressions shown in messages: parentheses, labels, and limits of depth and length."""

from __future__ import annotations

import numpy

import gradwalk.math as gm
from gradwalk import Value, take, vmap
from gradwalk.value.source.expr_repr import spelled


def test_nested_operators_have_parentheses():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    assert spelled(x * y + 1.0) == "(x * y) + 1"
    assert spelled(-(x * y)) == "-(x * y)"
    assert spelled(-gm.sin(x)) == "-sin(x)"


def test_labels_replace_expressions():
    x = Value(2.0, label="x")
    y = x * 2.0
    y.label = "y"
    assert spelled(gm.exp(y)) == "exp(y)"
    assert spelled(Value(1.0) * y) == "(a Value) * y"


def test_deep_expressions_end_in_an_ellipsis():
    x = Value(2.0, label="x")
    deep = x
    for _ in range(1000):
        deep = gm.sin(deep)
    assert spelled(deep) == "sin(sin(sin(sin(…))))"


def test_long_lists_of_arguments_are_shortened():
    values = numpy.array([Value(float(i), label=f"x[{i}]") for i in range(20_000)])
    many = vmap(lambda x: x * x)(values).sum()
    assert len(spelled(many)) < 500
    assert spelled(take(list(values), 2.0 * values[1])) == "take([x[0], x[1], x[2], …, x[19999]], 2 * x[1])"
    assert spelled(gm.sumprod(values[:9], values[:9])).startswith("sumprod(0, x[0], x[1], …, x[8])")
