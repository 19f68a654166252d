"""Tests of the findings of a walk: dead and saturated units, lost and extreme gradients, values that are not finite."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import asian_option, mlp_loss, random_graph, rnn_loss

import gradwalk.math as gmath
from gradwalk import Graph, Value, draw, jit, nn, refresh, stop_gradient, walk
from gradwalk.explain.findings.find import findings
from gradwalk.explain.findings.structure import Structure
from gradwalk.explain.passes import gradients

SAMPLES = 10


def points(seed):
    generator = random.Random(seed)
    return [([generator.uniform(-1, 1) for _ in range(2)], generator.choice([1.0, -1.0])) for _ in range(SAMPLES)]


def squared_loss(model, seed=0):
    return sum((model(x) - y) ** 2 for x, y in points(seed)) / SAMPLES


def network(sizes, seed, f, scale):
    """Return the weights and biases of a network as arrays of Values, and a function that applies it."""
    generator = numpy.random.default_rng(seed)
    layers = [
        (
            [[Value(w, label=f"layers.{k}.{j}.w.{i}") for i, w in enumerate(row)] for j, row in enumerate(weights)],
            [Value(0.0, label=f"layers.{k}.{j}.b") for j in range(len(weights))],
        )
        for k, (n, m) in enumerate(pairwise(sizes))
        for weights in [scale * generator.normal(size=(m, n)) / math.sqrt(n)]
    ]

    def model(x):
        for weights, biases in layers:
            x = [
                f(sum((w * xi for w, xi in zip(row, x, strict=True)), b))
                for row, b in zip(weights, biases, strict=True)
            ]
        return x[0]

    return layers, model


def weighted_sum(weights, x, bias):
    return sum((w * xi for w, xi in zip(weights, x, strict=True)), bias)


def kinds(root):
    return [finding.kind for finding in walk(root).findings]


def sentences(root):
    return [finding.sentence for finding in walk(root).findings]


# Units


@settings(max_examples=30 if IS_COMPILED else 5, deadline=None)
@given(st.integers(0, 10_000), st.floats(-3, 1))
def test_dead_units_are_those_of_numpy(seed, shift):
    layers, model = network([2, 4, 4, 1], seed, lambda x: x.relu(), 1.0)
    for bias in layers[1][1][:2]:
        bias.data = shift
    loss = squared_loss(model, seed)
    hidden = numpy.array([x for x, _ in points(seed)])
    expected = {}
    for k, (weights, biases) in enumerate(layers):
        table = numpy.array([[w.data for w in row] for row in weights])
        hidden = numpy.maximum(hidden @ table.T + [b.data for b in biases], 0.0)
        expected[f"layers[{k}]"] = int((hidden == 0.0).all(axis=0).sum())
    found = {finding.part: int(finding.number) for finding in walk(loss).findings if finding.kind == "dead"}
    assert found == {layer: count for layer, count in expected.items() if count}


@settings(max_examples=30 if IS_COMPILED else 5, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["tanh", "sigmoid"]))
def test_saturated_units_are_those_of_numpy(seed, name):
    f = getattr(gmath, name)
    layers, model = network([2, 4, 4, 1], seed, f, 20.0)
    loss = squared_loss(model, seed)
    hidden = numpy.array([x for x, _ in points(seed)])
    expected = {}
    for k, (weights, _) in enumerate(layers[:-1]):  # the output may be saturated
        hidden = hidden @ numpy.array([[w.data for w in row] for row in weights]).T
        hidden = numpy.tanh(hidden) if name == "tanh" else 1 / (1 + numpy.exp(-hidden))
        slope = 1 - hidden**2 if name == "tanh" else hidden * (1 - hidden)
        shares = (slope < 0.01).mean(axis=0)
        if (shares > 0.5).any():
            expected[f"layers[{k}]"] = shares[shares > 0.5].mean()
    found = {finding.part: finding.number for finding in walk(loss).findings if finding.kind == "saturated"}
    assert found == pytest.approx(expected)


def test_sentence_about_a_dead_unit():
    random.seed(2)
    model = nn.MLP(2, [4, 1])
    model.layers[0].neurons[2].b.data = -10.0
    loss = squared_loss(model)
    assert sentences(loss) == [
        "layers[0].neurons[2] (1 of 4 units of layers[0]) is dead: its ReLU is 0 in all 10 samples, so 4 parameters "
        "get no gradient."
    ]
    loss.backward()
    assert sum(p.grad == 0.0 for p in model.parameters()) == 4


def test_unlabeled_networks_have_findings():
    _, model = network([2, 4, 1], 1, lambda x: gmath.maximum(x, 0.0), 1.0)
    loss = squared_loss(lambda x: model(x) - 5.0)
    graph = Graph.record(loss)
    bare = Graph(**{**vars(graph), "labels": {}})
    assert {finding.kind for finding in findings(bare)} == {finding.kind for finding in findings(graph)}


def test_a_loss_of_0_is_not_a_sign_of_trouble():
    _, model = network([2, 4, 4, 1], 3, lambda x: x.tanh(), 1.0)
    for margin in (-2.0, 0.0):  # all samples, or some of them, have the loss 0
        assert walk(sum((margin - y * model(x)).relu() for x, y in points(0))).findings == ()


def test_a_relu_on_every_way():
    layers, model = network([2, 4, 4, 1], 3, lambda x: x.relu(), 1.0)
    layers[0][1][0].data = -10.0
    found = walk(squared_loss(model, 3)).findings
    assert [finding.kind for finding in found] == ["dead", "dead", "unreached"]
    assert found[2].sentence.endswith(": in each of the 10 samples, a ReLU on the way is 0.")


def test_nothing_is_said_about_one_sample_or_a_fresh_network():
    random.seed(2)
    assert walk(nn.MLP(2, [4, 4, 1])([1.0, 2.0])).findings == ()
    _, model = network([2, 4, 4, 1], 3, lambda x: x.tanh(), 1.0)
    loss = squared_loss(model)
    walked = walk(loss)
    assert walked.findings == ()
    assert "findings" not in walked.essence()
    assert "What to look at" not in str(walked)


# Depth


@pytest.mark.parametrize(("scale", "kind"), [(0.1, "vanishing"), (1.0, ""), (30.0, "exploding")])
def test_gradients_along_the_depth(scale, kind):
    layers, model = network([2, 3, 3, 3, 3, 1], 5, gmath.sin, 1.0)
    for weights, _ in layers[1:]:
        for weight in (w for row in weights for w in row):
            weight.data *= scale
    loss = sum(model(x) for x, _ in points(0))
    found = [finding for finding in walk(loss).findings if finding.kind in ("vanishing", "exploding")]
    assert [finding.kind for finding in found] == [kind] * bool(kind)
    loss.backward()
    means = [
        numpy.mean([abs(p.grad) for p in [*biases, *(w for row in weights for w in row)]]) for weights, biases in layers
    ]
    for finding in found:
        assert finding.number == pytest.approx(means[0] / means[-1])
        assert finding.part == "layers[0]"
        assert "from layers[4] to layers[0]" in finding.sentence


@pytest.mark.parametrize(("scale", "kind"), [(0.1, "vanishing"), (1.0, "")])
def test_gradients_along_the_time_steps(scale, kind):
    generator = numpy.random.default_rng(0)
    weights = [[Value(scale * w) for w in row] for row in generator.normal(size=(4, 4)) / 2]
    inputs = [Value(w) for w in generator.normal(size=4)]
    states = [[0.0] * 4]
    for x in generator.normal(size=12).tolist():
        states.append([weighted_sum(row, states[-1], u * x).tanh() for row, u in zip(weights, inputs, strict=True)])
    loss = (sum(states[-1]) - 1) ** 2
    found = walk(loss).findings
    assert [finding.kind for finding in found] == [kind] * bool(kind)
    assert [finding.part for finding in found] == ["step 1"] * bool(kind)
    loss.backward()
    means = [numpy.mean([abs(h.grad) for h in state]) for state in states[1:]]
    assert (means[0] / means[-1] < 1e-3) == bool(kind)


# Parameters without a gradient


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (lambda w, b: w * b, (1.0, 0.0), ["No gradient reaches w: it is multiplied by b = 0."]),
        (lambda w, b: (w + 1) * b, (1.0, 0.0), ["No gradient reaches w: v2 is multiplied by b = 0."]),
        (lambda w, b: b / w, (1.0, 0.0), ["No gradient reaches w: it divides b = 0."]),
        (lambda w, b: w * 0.0 + b, (1.0, 0.0), ["No gradient reaches w: it is multiplied by 0."]),
        (lambda w, b: (w - 2).relu() + b, (1.0, 0.0), ["No gradient reaches w: ReLU at v3 is 0."]),
        (gmath.maximum, (1.0, 2.0), ["No gradient reaches w: max at v3 selects another operand."]),
        (lambda w, b: gmath.floor(w) + b, (1.0, 0.0), ["No gradient reaches w: floor at v2 has the derivative 0."]),
        (lambda w, b: (w - b) ** 2, (1.0, 1.0), []),  # a minimum
        (lambda w, b: (w - b) * (w - b), (1.0, 1.0), []),
        (lambda w, b: w * b - w, (2.0, 1.0), []),  # contributions cancel
        (lambda w, b: w * b, (1.0, 2.0), []),
    ],
)
def test_parameters_that_no_gradient_reaches(function, arguments, expected):
    w, b = (Value(x, label=name) for x, name in zip(arguments, "wb", strict=True))
    assert [finding.sentence for finding in findings(Graph.record(function(w, b)))] == expected


def test_stopped_gradients_of_a_recorded_function():
    def f(w, b):
        return stop_gradient(w * 2) * b

    assert sentences(jit(f).walk(1.0, 2.0).graph) == ["No gradient reaches w: stop_gradient stops it at stop(w * 2)."]
    found = walk(jit(lambda w, b: gmath.where(w > 0, b, b * 2)).walk(1.0, 2.0).graph).findings
    assert [finding.part for finding in found] == ["w"]
    assert "only as a condition" in found[0].sentence


def test_rules_by_hand_that_give_0():
    w = Value(1.0, label="w")
    node = Value(2.0, (w,), "twice", label="node")
    node._backward = lambda: None
    assert sentences(node * 3) == ["No gradient reaches w: the derivative rule of twice at node gives 0."]


def test_inputs_that_are_0_in_all_samples():
    _, model = network([2, 3, 1], 3, lambda x: x.tanh(), 1.0)
    loss = sum((model([x[0], 0.0]) - y) ** 2 for x, y in points(0))
    assert sentences(loss) == [
        "No gradient reaches 3 parameters (layers[0][0].w[1], layers[0][1].w[1] and layers[0][2].w[1]): it is "
        "multiplied by 0 in all 10 samples."
    ]


@settings(max_examples=30 if IS_COMPILED else 5, deadline=None)
@given(st.integers(0, 10_000))
def test_gradients_are_those_of_backward(seed):
    layers, model = network([2, 4, 4, 1], seed, lambda x: x.relu(), 2.0)
    loss = squared_loss(model, seed)
    loss.backward()
    graph = Graph.record(loss)
    structure = Structure(graph)
    assert structure.gradients == pytest.approx(graph.grad.tolist())
    assert structure.gradients == gradients(graph)
    for finding in findings(graph):
        if finding.kind == "unreached":
            assert all(graph.grad[place] == 0.0 for place in finding.places)
    assert len(structure.parameters) == sum(len(biases) + len(biases) * len(w[0]) for w, biases in layers)


# Values that are not finite


def test_first_value_that_is_not_finite():
    w, x = Value(1000.0, label="w"), Value(0.0, label="x")
    (found,) = walk(gmath.exp(w) * 2 + x).findings
    assert found.sentence == "inf begins at exp(w): exp of w = 1000; 3 of 5 values are nan or infinite."
    assert (found.kind, found.part, found.number) == ("not finite", "exp(w)", 3.0)
    big = Value(math.inf, label="big")
    assert sentences(big - big)[0].startswith("inf begins at big, which is given; 2 of 2")
    assert sentences((w * math.inf) + 1) == [
        "inf begins at w * inf: * of w = 1000, inf; 2 of 3 values are nan or infinite."
    ]


def test_first_gradient_that_is_not_finite():
    x, w = Value(0.0, label="x"), Value(2.0, label="w")
    assert sentences(gmath.sqrt(x * w) + 1) == [
        "The gradient inf begins at x * w, an operand of sqrt(x * w): sqrt of x * w = 0, whose derivative is inf; "
        "3 of 5 gradients are nan or infinite."
    ]


def test_unselected_values_need_not_be_finite():
    x = Value(0.0, label="x")
    y = Value(1000.0)
    assert "not finite" not in kinds(gmath.maximum(x + 1, -gmath.exp(y)))


# Where findings are shown


def test_findings_are_shown_everywhere():
    random.seed(2)
    model = nn.MLP(2, [4, 4, 1])
    model.layers[0].neurons[2].b.data = -10.0
    walked = walk(squared_loss(model))
    (finding, *_) = walked.findings
    entry = walked.essence()["findings"][0]
    assert entry == json.loads(walked.to_json())["findings"][0]
    assert entry["sentence"] == finding.sentence
    assert f"What to look at\n  1  {finding.sentence}" in str(walked)
    assert finding.sentence.partition(" ")[0] in walked._repr_mimebundle_()["text/html"]
    assert f"Look: {finding.sentence.partition(' ')[0]}" in draw(walked.graph).svg


def test_a_long_finding_is_left_out_of_a_picture(monkeypatch):
    _, model = network([2, 3, 1], 3, lambda x: x.tanh(), 1.0)
    loss = sum((model([x[0], 0.0]) - y) ** 2 for x, y in points(0))
    assert "Look:" in draw(loss).svg
    monkeypatch.setattr("gradwalk.explain.draw.network._MAX_FINDING_LINES", 1)
    assert "Look:" not in draw(loss).svg


def line_loss(slope, shift):
    return sum((slope * x + shift - y) ** 2 for x, y in [(1.0, 2.9), (2.0, 5.1), (3.0, 7.2)])


def test_stale_values_are_found_until_they_are_refreshed():
    slope, shift = Value(0.5, label="slope"), Value(0.0, label="shift")
    loss = line_loss(slope, shift)
    assert "stale" not in [finding.kind for finding in walk(loss).findings]
    slope.data -= 0.1
    (found, *_) = walk(loss).findings
    assert (found.kind, found.part, found.number) == ("stale", "slope", 3.0)
    assert "slope has been changed since the graph was computed" in found.sentence
    assert [walk(loss).graph.names[place] for place in found.places] == ["slope"]
    shift.data = 1.0
    assert walk(loss).findings[0].part == "slope and shift"
    assert "call refresh(root)" in str(walk(loss))
    refresh(loss)
    assert "stale" not in [finding.kind for finding in walk(loss).findings]


def test_the_changed_factor_of_a_product_is_found():
    a, b, c = Value(2.0, label="a"), Value(3.0, label="b"), Value(4.0, label="c")
    loss = (a * b).tanh() + c
    b.data = 5.0
    assert findings(Graph.record(loss))[0].part == "b"
    other = a * c
    other.data = 7.0
    assert findings(Graph.record(other))[0].sentence.startswith("The .data of v3 or its operands has been changed")
    assert findings(Graph.record(Value(math.nan) * 2.0))[0].kind == "not finite"


@pytest.mark.parametrize("name", ["network", "steps", "path", "random"])
def test_unchanged_graphs_are_not_stale(name):
    roots = {"network": lambda: mlp_loss(4), "steps": lambda: rnn_loss(4), "path": lambda: asian_option(6)}
    root = roots.get(name, lambda: random_graph(60))()
    assert "stale" not in [finding.kind for finding in findings(Graph.record(root))]
