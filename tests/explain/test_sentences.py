"""Tests of the sentences of walks."""

from __future__ import annotations

import numpy
from graphs_of_the_lesson import labeled, leaves

import gradwalk.numpy as gnp
from gradwalk import Graph, Value
from gradwalk.explain.passes import backward_steps, forward_steps, swept
from gradwalk.functions.indexing import take
from gradwalk.functions.reductions import sumprod


def sentences(root: Value) -> dict[str, str]:
    graph = Graph.record(root)
    return {step.name: step.sentence for step in backward_steps(graph, swept(graph), overwrite=False)}


def computed(root: Value) -> str:
    return forward_steps(Graph.record(root))[-1].sentence


def test_sentences_of_forward_steps():
    x, y = leaves(x=-2.0, y=0.5)
    x_plus_y = labeled(x + y, "x + y")
    told = {
        "v2 = -x = -(-2) = 2": -x,
        "v3 = x ** y = (-2) ** 0.5 = nan": x**y,
        "v2 = 1 / x = 1 / (-2) = -0.5": 1 / x,
        "v4 = tanh(x + y) = tanh(-1.5) = -0.905148": x_plus_y.tanh(),
        "v4 = (x + y) * 3 = (-1.5) * 3 = -4.5": x_plus_y * 3,
        "v3 = where(x, y, 1) = where(-2, 0.5, 1) = 0.5": x.where(y, 1.0),
        "v4 = take([x, y, 1], i) = take([-2, 0.5, 1], -2) = 0.5": take([x, y, 1.0], labeled(Value(-2.0), "i")),
        "v2 = take([0, 1, 2, ..., 9], i) = take([0, 1, 2, ..., 9], 3) = 3": (
            take([float(i) for i in range(10)], labeled(Value(3.0), "i"))
        ),
        "v3 = sumprod of 5 operands = 0": sumprod([x, y], [0.0, 0.0]),
        "v2 = mine of 1 operands = 7": Value(7.0, (x,), "mine"),
    }
    for sentence, root in told.items():
        assert computed(root) == sentence


def test_sentences_of_derivative_rules():
    x, y = leaves(x=0.5, y=2.0)
    told = {
        "+ copies: x gets upstream 1 unchanged; y gets upstream 1 unchanged.": x + y,
        "- copies: x gets upstream 1 unchanged. - flips the sign: y gets upstream 1 times -1, making -1.": x - y,
        "* swaps and scales: x gets upstream 1 times the constant 3, making 3.": x * 3,
        "/ scales: x gets upstream 1 times 1 / y (0.5), making 0.5;": x / y,
        "** scales: x gets upstream 1 times 2 · x (1), making 1.": x**2,
        "exp scales: x gets upstream 1 times out's own value 1.64872, making 1.64872.": x.exp(),
        "tanh scales: x gets upstream 1 times 1 - out² (0.786448), making 0.786448.": x.tanh(),
        "ReLU lets through: x gets upstream 1 unchanged.": x.relu(),
        "ReLU holds back: x gets nothing of upstream 1.": labeled(Value(-1.0), "x").relu(),
        "max holds back: x gets nothing of upstream 1. max lets through: y gets upstream 1 unchanged.": x.maximum(y),
        "max is at a tie and splits: x gets upstream 1 times 0.5, making 0.5.": x.maximum(0.5),
        "where lets through: y gets upstream 1 unchanged.": x.where(y, 3.0),
        "take lets through: x gets upstream 1 unchanged. take holds back: y gets nothing of upstream 1.": (
            take([x, y], Value(0.0))
        ),
        "sumprod copies to its start: y gets upstream 1 unchanged.": sumprod([x, x], [4.0, y], y),
        "x gets upstream 1 times the constant 4, making 4; x gets upstream 1 times y's value 2, making 2, on top of": (
            sumprod([x, x], [4.0, y], y)
        ),
    }
    for sentence, root in told.items():
        root.label = "out"
        assert sentence in sentences(root)["out"]


def test_sentences_about_zero_derivatives():
    x, y = leaves(x=0.5, y=2.0)
    told = {
        "out is the root: its gradient is 1. floor is flat: it passes nothing to x.": x.floor(),
        "// is flat: it passes nothing to x.": x // 2.0,
        "rint is flat: it passes nothing to x.": x.rint(),
        "sign is flat: it passes nothing to x.": x.sign(),
        "< is flat: it passes nothing to x and y.": x.less(y),
        "= is flat: it passes nothing to x.": x.equal(x),
        "where lets through: y gets upstream 1 unchanged. "
        "where is flat in its first operand: it passes nothing to x.": x.where(y, 3.0),
        "copysign is flat in its second operand: it passes nothing to y.": x.copysign(y),
        "take is flat in its first operand: it passes nothing to i.": take([x, y], labeled(Value(0.0), "i")),
        "stop passes nothing to x.": x.stop_gradient(),
    }
    for sentence, root in told.items():
        root.label = "out"
        assert sentences(root)["out"].endswith(sentence)
    assert "flat" not in sentences(labeled(x.where(1.0, 3.0) * x.mod(y), "out"))["out"]


def test_sentences_of_custom_backward_rules():
    (x,) = leaves(x=3.0)
    out = Value(9.0, (x,), "square")

    def push() -> None:
        x.grad += 6 * out.grad

    out._backward = push
    graph = Graph.record(labeled(out, "out"))
    (step, _) = backward_steps(graph, swept(graph), overwrite=False)
    assert "square follows a rule made by hand: x gets upstream 1 times 6, making 6." in step.sentence
    assert step.contributions[0].formula == ""


def test_sentences_of_stored_derivatives():
    a, b = leaves(a=2.0, b=4.0)
    told = "has the local derivatives that it was made with: a gets upstream 1 times 3, making 3"
    assert told in sentences(labeled(Value(9.0, (a, b), (3.0, 1.0)), "out"))["out"]
    matrix = numpy.diag([a, b, 1.0, 1.0])
    assert f"slogdet {told.replace('3', '0.5')}" in sentences(labeled(gnp.linalg.slogdet(matrix)[1], "out"))["out"]


def test_hostile_names_are_on_one_line():
    x = Value(1.0, label="a\n\u202eb")
    assert "a b gets" in "".join(sentences(x * 2).values())
    assert all(step.sentence.isprintable() for step in forward_steps(Graph.record(x * 2)))
