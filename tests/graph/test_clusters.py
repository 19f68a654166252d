"""Tests of the summary of large graphs by modules and operation counts."""

from __future__ import annotations

import random

from gradwalk import Graph, Value, nn
from gradwalk.graph.clusters import grouped


def network(samples: int) -> tuple[nn.MLP, Value]:
    random.seed(1)
    model = nn.MLP(2, [12, 12, 1])
    losses = [(model([random.random(), random.random()]) - 1) ** 2 for _ in range(samples)]
    return model, sum(losses, Value(0.0))


def test_layers_of_a_network():
    model, loss = network(10)
    loss.backward()
    groups, edges = grouped(Graph.record(loss))
    assert [group.name for group in groups if "[" in group.name] == ["layers[0]", "layers[1]", "layers[2]"]
    by_name = {group.name: group for group in groups}
    assert by_name["layers[0]"].leaves == 36
    assert by_name["layers[0]"].operations == {"sumprod": 120, "ReLU": 120}
    assert by_name["layers[2]"].operations == {"sumprod": 10}
    assert by_name["operations"].operations == {"-": 10, "**": 10, "+": 10}
    assert by_name["inputs"].leaves == 1
    gradients = [p.grad for p in model.layers[1].parameters()]
    assert abs(by_name["layers[1]"].largest) >= max(map(abs, gradients))
    names = [group.name for group in groups]
    assert edges[names.index("layers[0]"), names.index("layers[1]")] == 1440
    assert edges[names.index("layers[2]"), names.index("operations")] == 10


def test_groups_are_in_topological_order():
    groups, edges = grouped(Graph.record(network(3)[1]))
    assert all(start < end for start, end in edges)
    assert groups[-1].name == "operations"


def test_every_node_is_counted_once():
    graph = Graph.record(network(5)[1])
    groups, _ = grouped(graph)
    assert sum(group.leaves + group.operations.total() for group in groups) == len(graph)


def test_large_models_are_grouped_more_coarsely():
    model = nn.MLP(2, [3, 1])
    names = {group.name for group in grouped(Graph.record(model([1.0, 2.0])))[0]}
    assert {"layers[0].neurons[0]", "layers[0].neurons[2]"} <= names
    model = nn.MLP(2, [70, 1])
    assert {group.name for group in grouped(Graph.record(model([1.0, 2.0])))[0]} == {"layers[0]", "layers[1]"}


def test_deep_networks_keep_their_layers():
    model = nn.MLP(3, [8] * 40)
    groups, edges = grouped(Graph.record(model([1.0, 2.0, 3.0])))
    assert [group.name for group in groups] == [f"layers[{i}]" for i in range(40)]
    assert len(edges) == 39


def test_without_modules():
    x = Value(1.0)
    for _ in range(5):
        x = x * 2.0 + 1.0
    groups, edges = grouped(Graph.record(x))
    assert [(group.name, group.leaves, dict(group.operations)) for group in groups] == [
        ("inputs", 1, {}),
        ("operations", 0, {"*": 5, "+": 5}),
    ]
    assert edges == {(0, 1): 1}


def test_modules_that_depend_on_each_other():
    a, b = Value(1.0, label="one.w"), Value(2.0, label="two.w")
    x = Value(1.0)
    for _ in range(3):
        x = (x * a).tanh()
        x = (x * b).tanh()
    groups, edges = grouped(Graph.record(x))
    assert {group.name for group in groups} == {"inputs", "one", "two"}
    assert edges.total() == 6


def test_hand_made_nodes_are_counted():
    a = Value(1.0)
    groups, _ = grouped(Graph.record(Value(2.0, (a,), "mine") * 3))
    assert groups[1].operations == {"by hand": 1, "*": 1}
