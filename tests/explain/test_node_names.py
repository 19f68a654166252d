"""Tests of the names of nodes without a label: places in a network, and expressions."""

from __future__ import annotations

from hypothesis import given
from networks import mlp_loss, mlp_output
from programs import EVERY, ORDINARY, as_values, programs

from gradwalk import Graph, Value, math, nn, walk
from gradwalk.explain.node_names import with_names_as_labels, with_node_names
from gradwalk.graph.grouping import grouping


def names(root: Value) -> tuple[str, ...]:
    return with_node_names(Graph.record(root)).names


def leaves(*labels: str) -> list[Value]:
    return [Value(float(i + 1), label=label) for i, label in enumerate(labels)]


def test_sums_of_products_say_what_they_add():
    x1, w1, x2, w2, b = leaves("x1", "w1", "x2", "w2", "b")
    assert names((x1 * w1 + x2 * w2 + b).tanh())[-1] == "tanh(x1*w1 + x2*w2 + b)"
    w = [Value(float(i), label=f"w[{i}]") for i in range(9)]
    x = [Value(float(i), label=f"x[{i}]") for i in range(9)]
    assert names(sum((p * q for p, q in zip(w, x, strict=True)), b))[-1] == "b + ... + w[8]*x[8]"
    assert names(sum(p * q for p, q in zip(w, x, strict=True)))[-1] == "w[0]*x[0] + ... + w[8]*x[8]"
    assert names(math.sumprod(w, x, b))[-1] == "w[0]*x[0] + ... + b"
    assert names(math.sumprod(w[:2], x[:2]))[-1] == "w[0]*x[0] + w[1]*x[1]"


def test_parentheses_are_those_of_python():
    a, b = leaves("a", "b")
    assert names((a + b) * a)[-1] == "(a + b) * a"
    assert names(a - (b - a))[-1] == "a - (b - a)"
    assert names((a * b) ** 2)[-1] == "(a * b)**2"
    assert names(a / (b * a))[-1] == "a / (b * a)"
    assert names(2.0 * a - b)[-1] == "2*a - b"


def test_long_expressions_are_not_names():
    a, b = leaves("some_long_name", "another_long_name")
    assert names(a * b)[-1] == "v3"
    assert names((a * b).exp())[-1] == "exp(v3)"


def test_neurons_and_parameters_are_named_by_their_place():
    found = names(mlp_output())
    expected = {"layers[0].neurons[2]", "layers[0].neurons[2].w[1]", "layers[0].neurons[2].b", "layers[2].neurons[0]"}
    assert expected <= set(found)
    model = nn.MLP(2, [3, 1])
    found = names(model([1.0, 2.0]))
    assert {"layers[0].neurons[2]", "layers[0].neurons[2].w[1]", "layers[1].neurons[0]"} <= set(found)


def test_outputs_name_their_sample():
    found = names(mlp_loss(5))
    assert {f"layers[1].neurons[3] (sample {i})" for i in range(1, 6)} <= set(found)


def test_names_are_labels_in_json_and_do_not_change_the_groups():
    root = mlp_output()
    graph = with_node_names(Graph.record(root))
    labeled = with_names_as_labels(graph)
    assert labeled.names == graph.names
    assert graph.labels == {}
    assert grouping(graph).paths == grouping(Graph.record(root)).paths
    assert walk(root).essence()["graph"]["nodes"][-1]["label"]


def test_numbers_of_nodes_are_names_in_orders():
    a = Value(2.0, label="a")
    root = a * a + 1.0
    assert walk(root, ["v3", "v2", "a"]).order == walk(root).order == walk(root, ["root", "a * a", "a"]).order
    graph = Graph.record(root)
    assert walk(graph).gradients == {"a*a + 1": 1.0, "a * a": 1.0, "a": 4.0}


@given(programs(ORDINARY, EVERY, longest=20))
def test_names_are_unique(program):
    _, root = as_values(program)
    graph = with_node_names(Graph.record(root))
    assert len(set(graph.names)) == len(graph)
    assert all(graph.names)
    assert with_node_names(graph) is graph or not graph.derived


def test_a_negative_name_needs_no_parentheses():
    rate = Value(0.5, label="rate")
    names = walk(math.exp(-rate * 2.0) + (-rate) ** 2).graph.names
    assert "-rate" in names
    assert "exp(-rate * 2)" in names
    assert "(-rate)**2" in names
