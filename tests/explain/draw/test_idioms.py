"""Tests of the names of common computations in pictures."""

from __future__ import annotations

from collections import Counter

import pytest
from networks import bigram_loss, labeled_loss, mlp_loss, orbit, rnn_loss

from gradwalk import Graph, Value, math
from gradwalk.explain.draw.descriptions import Descriptions
from gradwalk.explain.draw.idioms import Idioms
from gradwalk.graph.boxes import Box, boxes
from gradwalk.graph.grouping import grouping
from gradwalk.math import logsumexp, take


def said(root: Value, name: str) -> list[str]:
    """Return the words in the box with a name."""
    graph = Graph.record(root)
    divided = boxes(graph)
    texts = Descriptions(graph, divided.boxes, divided.grouping, is_network=divided.is_network)
    (box,) = [box for box in divided.boxes if box.name == name]
    return [*texts.use(box), *texts.computation(box)]


def found(root: Value, *, is_loss: bool = True) -> list[str]:
    graph = Graph.record(root)
    return Idioms(graph).names(range(len(graph)), is_loss=is_loss)


def test_losses_are_named():
    assert said(mlp_loss(5), "each sample") == ["squared error", "(layers[2] - 1)**2"]
    assert "hinge loss" in said(labeled_loss(5), "each sample")
    assert said(labeled_loss(5), "parameters alone") == ["sum of 37 squares (L2)", "38 *", "37 +"]
    assert said(bigram_loss(20), "each sample")[0] == "cross-entropy: log of softmax"
    assert said(bigram_loss(20), "parameters") == ["6 of them in each sample"]
    assert said(bigram_loss(20), "all 20 samples") == ["mean of 20"]
    assert said(rnn_loss(5), "each step")[0] == "cross-entropy: log of softmax"
    assert said(mlp_loss(5), "all 5 samples") == ["sum of 5"]


def test_softmax():
    scores = [Value(0.1 * i).exp() for i in range(4)]
    total = sum(scores[1:], scores[0])
    assert found(scores[2] / total) == ["softmax"]
    assert found(scores[0] / (total + 1.0).exp()) == []
    assert found(scores[0] / (scores[1] + scores[2])) == []
    assert found(scores[0] / (total + scores[0] * 2.0)) == []
    assert found((scores[2] / total).log()) == ["cross-entropy: log of softmax"]


@pytest.mark.parametrize(("is_loss", "name"), [(True, "squared error"), (False, "squared difference")])
def test_squares(is_loss, name):
    a, b = Value(1.0), Value(2.0)
    difference = a - b
    assert found(difference**2, is_loss=is_loss) == found(difference * difference, is_loss=is_loss) == [name]
    assert found((a + b) ** 2) == found((a - b) ** 3) == found(a * b) == []


def test_state_has_the_names_of_its_initial_leaves():
    x, v = Value(1.0, label="x"), Value(0.0, label="v")
    for _ in range(8):
        v = v - 0.1 * x
        x = x + 0.1 * v
    assert said(x * x, "each step") == ["v = v - 0.1*x", "x = x + 0.1*v"]
    assert said(x * x, "after the steps") == ["x * x"]


def test_logsumexp_minus_a_score_is_cross_entropy():
    scores = [Value(0.1 * i) for i in range(4)]
    total = logsumexp(scores)
    assert found(total - scores[2]) == found(scores[2] - total) == ["cross-entropy: log of softmax"]
    assert found(take(scores, Value(1.0)) - total) == ["cross-entropy: log of softmax"]
    plain = (scores[0].exp() + scores[1].exp()).log()
    assert found(plain - scores[1]) == ["cross-entropy: log of softmax"]
    assert found(plain - scores[2]) == found(plain * 2.0 - scores[1]) == found(scores[0].log() - scores[0]) == []


def test_steps_of_a_loop_are_formulas():
    assert said(orbit(20), "each step") == [
        "t1 = (s2*s2 + s4*s4)**1.5",
        "s1 = s1 - 0.05*s2/t1",
        "s2 = s2 + 0.05*s1",
        "s3 = s3 - 0.05*s4/t1",
        "s4 = s4 + 0.05*s3",
    ]


def boxes_of(root: Value) -> dict[str, list[str]]:
    """Return the words in each box."""
    graph = Graph.record(root)
    divided = boxes(graph)
    texts = Descriptions(graph, divided.boxes, divided.grouping, is_network=divided.is_network)
    return {box.name: list(texts.computation(box)) for box in divided.boxes}


def logistic_loss(penalty: Value | float, *, divisor: float = 30.0) -> Value:
    """Return the mean cross-entropy of a logistic regression with 30 samples, plus a penalty."""
    w1, w2, bias = Value(0.1), Value(-0.2), Value(0.05)
    total = Value(0.0)
    for i in range(30):
        p = 1 / (1 + math.exp(-(w1 * (i - 7.3) + w2 * (0.3 * i - 2.1) + bias)))
        total = total - ((i % 2) * math.log(p) + (1 - i % 2) * math.log(1 - p))
    return total / divisor + penalty * (w1**2 + w2**2) if penalty else total / divisor


def test_a_mean_is_not_the_result_if_a_penalty_is_added():
    assert boxes_of(logistic_loss(0.0))["all 30 samples"] == ["mean of 30"]
    assert boxes_of(logistic_loss(0.01))["all 30 samples"] == ["mean of 30 + …"]
    assert "mean" not in " ".join(boxes_of(logistic_loss(0.01, divisor=29.0))["all 30 samples"])


def test_a_sum_with_another_term_is_not_only_a_sum():
    w = Value(0.5)
    squares = [(w * (0.1 * i + 1.0) - 1.0) ** 2 for i in range(12)]
    assert boxes_of(sum(squares, Value(0.0)))["all 12 samples"] == ["sum of 12"]
    assert boxes_of(sum(squares))["all 12 samples"] == ["sum of 12"]
    assert boxes_of(sum(squares) + w * w * 0.1)["all 12 samples"] == ["sum of 12 + …"]


def test_formulas_describe_the_whole_box_and_indices_are_not_numbers():
    weights = [Value(0.1 * i - 0.3, label=f"out.w.{i}") for i in range(4)]
    hidden = [[Value(0.2 * i + 0.1 * j - 0.3, label=f"hidden.{j}.w.{i}") for i in range(3)] for j in range(4)]
    bias = Value(0.1, label="out.b")
    loss = Value(0.0)
    for s in range(5):
        x = [0.3 * s - 0.5, 0.7 - 0.2 * s, 0.1 * s * s]
        h = [math.tanh(row[0] * x[0] + row[1] * x[1] + row[2] * x[2]) for row in hidden]
        products = [w * a for w, a in zip(weights, h, strict=True)]
        loss = loss + (sum(products[1:], products[0]) + bias - s) ** 2
    words = boxes_of(loss)
    assert (words["out.w"], words["out"]) == (["4 *"], ["4 +"])
    assert not any("3 * hidden" in word for texts in words.values() for word in texts)


def test_counts_of_one_are_singular():
    graph = Graph.record(Value(1.0) * 2.0)
    symbols = ["+", "*", "-", "/", "exp"]
    box = Box("parameters", "parameters", operations=Counter(dict.fromkeys(symbols, 9) | {"log": 1}))
    texts = Descriptions(graph, [box], grouping(graph), is_network=False)
    assert list(texts.computation(box)) == [*(f"9 {symbol}" for symbol in symbols), "1 other"]
