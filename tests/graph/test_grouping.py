"""Tests of the groups of nodes that are found by structure, where nothing is labeled."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from networks import (
    MLP,
    asian_option,
    bigram_loss,
    labeled_loss,
    mlp_loss,
    mlp_output,
    random_graph,
    rnn_loss,
)
from programs import EVERY, ORDINARY, as_values, programs

from gradwalk import Graph, Value, lax, math, nn, source_lines, topological_order
from gradwalk.explain.variable_names import graph_with_names
from gradwalk.graph.boxes import boxes
from gradwalk.graph.grouping import Grouping, grouping

SIZE = 10 if IS_COMPILED else 3


def groups_of(root: Value) -> Grouping:
    return grouping(Graph.record(root))


def neurons(groups: Grouping) -> list[int]:
    """Return the number of neurons of each layer."""
    pairs = {(path[1], path[3]) for path in groups.paths if path[:1] == ("layers",) and len(path) > 3}
    counts = Counter(layer for layer, _ in pairs)
    return [counts[layer] for layer in sorted(counts)]


@pytest.mark.parametrize("values", [False, True])
def test_layers_and_samples_of_an_unlabeled_network(values):
    groups = groups_of(mlp_loss(SIZE, values=values))
    assert (groups.kind, groups.count, neurons(groups)) == ("samples", SIZE, [4, 4, 1])
    sizes = Counter(groups.number.tolist())
    assert len({sizes[i] for i in range(SIZE)}) == 1


@pytest.mark.parametrize("values", [False, True])
def test_layers_of_one_output(values):
    groups = groups_of(mlp_output(values=values))
    assert (groups.kind, groups.count, neurons(groups)) == ("", 0, [4, 4, 1])


def test_every_parameter_belongs_to_its_neuron():
    root = mlp_loss(SIZE)
    graph = Graph.record(root)
    groups = grouping(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    counts = Counter(groups.paths[i] for i in groups.module[is_leaf].tolist())
    assert sorted(counts.values()) == [3] * 4 + [5] * 5


def test_structure_agrees_with_labels():
    graph = Graph.record(labeled_loss(SIZE))
    labeled, found = grouping(graph), grouping(replace(graph, labels={}))
    assert (labeled.kind, labeled.count) == (found.kind, found.count) == ("samples", SIZE)
    assert labeled.number.tolist() == found.number.tolist()
    pairs = set()
    for i in numpy.flatnonzero(found.module).tolist():
        path = labeled.paths[labeled.module[i]]
        pairs.add((path[1:4:2], found.paths[found.module[i]][1:4:2]))
    assert len(pairs) == 9
    assert len({known for known, _ in pairs}) == len({path for _, path in pairs}) == 9
    assert all(known[0] == path[0] for known, path in pairs)


def test_neurons_of_labeled_parameters_contain_their_sums():
    random.seed(1)
    model = MLP(2, 3, 1)
    root = sum((model([0.1 * i, 1.0]) - 1.0) ** 2 for i in range(SIZE))
    graph = graph_with_names(root)
    assert "layers.0.neurons.2.w.1" in graph.names
    named, found = grouping(graph), grouping(Graph.record(root))
    assert [bool(i) for i in named.module.tolist()] == [bool(i) for i in found.module.tolist()]
    assert {path[:4] for path in named.paths} == set(found.paths)


@pytest.mark.parametrize("values", [False, True])
def test_time_steps_of_a_recurrent_network(values):
    groups = groups_of(rnn_loss(SIZE, values=values))
    assert (groups.kind, groups.count, neurons(groups)) == ("steps", SIZE, [4, 5])


def test_time_steps_are_in_order_if_inputs_come_first():
    weights = [[Value(0.1 * (i + j)) for j in range(3)] for i in range(3)]
    inputs = [Value(0.5 + i) for i in range(3)]
    state, steps = [0.0] * 3, []
    for t in range(5):
        pairs = zip(weights, inputs, strict=True)
        state = [sum((w * h for w, h in zip(row, state, strict=True)), u * (1.0 + t)).tanh() for row, u in pairs]
        steps.append(state)
    root = sum(state)
    graph = Graph.record(root)
    number = dict(zip(topological_order(root), grouping(graph).number.tolist(), strict=True))
    assert [[number[h] for h in own] for own in steps] == [[t] * 3 for t in range(5)]


def test_steps_of_a_loop():
    groups = groups_of(asian_option(30))
    assert (groups.kind, groups.count, groups.paths) == ("steps", 30, [()])
    assert Counter(groups.number.tolist())[7] == 5


def test_samples_without_layers():
    groups = groups_of(bigram_loss(20))
    assert (groups.kind, groups.count, groups.paths) == ("samples", 20, [()])


def test_terms_that_share_no_parameter():
    x = [Value(float(i)) for i in range(12)]
    groups = groups_of(sum(100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x)))
    assert (groups.kind, groups.count) == ("terms", 11)


def test_iterations_and_repeated_scopes_are_steps():
    def newton(x, _):
        return x - (x * x - 2.0) / (2.0 * x), None

    with source_lines():
        root = lax.scan(newton, Value(1.0), None, 6)[0]
    groups = groups_of(root)
    assert (groups.kind, groups.count, groups.paths) == ("steps", 6, [(), ("newton",)])


def test_several_outputs_are_samples():
    model = nn.MLP(2, [3, 1])
    groups = grouping(Graph.record([model([0.1 * i, 1.0]) for i in range(4)]))
    assert (groups.kind, groups.count) == ("samples", 4)


def test_outputs_of_a_layer_are_not_samples():
    layer = nn.Layer(3, 5)
    hidden = nn.Layer(2, 3)([1.0, 2.0])
    root = sum((y - 1.0) ** 2 for y in layer(hidden))
    assert groups_of(root).count == 0


@pytest.mark.parametrize(
    "root",
    [random_graph(200), Value(1.0), Value(2.0) * 3.0, nn.Neuron(2)([1.0, 2.0])],
    ids=["random", "leaf", "product", "neuron"],
)
def test_no_structure_is_invented(root):
    groups = grouping(replace(Graph.record(root), labels={}))
    assert groups.count == 0
    assert len(groups.paths) <= 2


@given(programs(ORDINARY, EVERY, longest=30))
def test_groups_are_a_partition_that_labels_of_leaves_do_not_change(program):
    leaves, root = as_values(program)
    graph = Graph.record(root)
    groups = grouping(graph)
    assert len(groups.module) == len(groups.number) == len(graph)
    assert set(groups.module.tolist()) <= set(range(len(groups.paths)))
    assert len(set(groups.paths)) == len(groups.paths)
    assert groups.paths[0] == ()
    assert set(groups.number.tolist()) <= {-1, *range(groups.count)}
    assert bool(groups.kind) == (groups.count > 0)
    _, again = as_values(program)
    for i, leaf in enumerate(leaves):
        leaf.label = f"x{i}"
    for other in (grouping(Graph.record(again)), grouping(Graph.record(root))):
        assert other.entry() == groups.entry()


def test_deep_graphs_need_no_recursion():
    x = Value(1.0)
    for _ in range(20_000 if IS_COMPILED else 3_000):
        x = x * 1.01 + 0.1
    groups = groups_of(x)
    assert (groups.kind, groups.count) == ("steps", 20_000 if IS_COMPILED else 3_000)


def test_source_lines_are_groups_if_there_is_no_other_structure():
    a, b = Value(1.0, label="a"), Value(2.0, label="b")
    with source_lines():
        c = (a * b + a).tanh() * (b - a).exp() + a.sin() * b.cos() + (a / b).sigmoid()
        d = (c * c + a).sin() * (c - b).cos() + c.tanh() * (b * c).exp() - a
        root = (d * a + c).tanh() + (d - b) * (c + a) - d.sin() * d.exp() + a
    divided = boxes(Graph.record(root))
    assert [box.name.partition(" =")[0] for box in divided.boxes] == ["inputs", "c", "d", "root"]
    assert sum(len(box.nodes) for box in divided.boxes) == len(Graph.record(root)) - 2
    assert boxes(Graph.record(c)) is None  # a small graph


def test_the_output_of_a_neuron_is_not_a_logarithm_of_its_loss() -> None:
    w1, w2, bias = Value(0.1), Value(-0.2), Value(0.0)
    loss, probabilities = Value(0.0), []
    for i in range(10):
        p = 1 / (1 + math.exp(-(w1 * (0.3 * i - 1.0) + w2 * (1.7 - 0.2 * i) + bias)))
        probabilities.append(p.data)
        loss = loss - ((i % 2) * math.log(p) + (1 - i % 2) * math.log(1 - p))
    graph = Graph.record(loss)
    (cell,) = [cell for box in boxes(graph).boxes for cell in box.cells if box.kind == "module"]
    assert graph.data[cell.output] == probabilities[0]
