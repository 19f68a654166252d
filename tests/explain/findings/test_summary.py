"""Summaries of graphs: depth, parameters, largest gradients, and the reasons for gradients of 0."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from networks import asian_option, bigram_loss, labeled_loss, mlp_loss, random_graph, rnn_loss

from gradwalk import Value, stop_gradient, walk
from gradwalk.explain.findings.find import explained
from gradwalk.explain.passes import gradients
from gradwalk.graph.graph import Graph

PROGRAMS = {
    "network": lambda: mlp_loss(4),
    "labels": lambda: labeled_loss(3),
    "steps": lambda: rnn_loss(4),
    "path": lambda: asian_option(6),
    "table": lambda: bigram_loss(8),
    "random": lambda: random_graph(80),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_facts_agree_with_the_graph(name: str) -> None:
    graph = Graph.record(PROGRAMS[name]())
    summary = explained(graph)[1]
    depths: list[int] = []
    for node in graph.nodes:
        depths.append(1 + max(depths[x] for x in node.operands if x >= 0) if not node.is_leaf else 0)
    right = gradients(graph)
    leaves = {node.place for node in graph.nodes if node.is_leaf}
    assert (summary.nodes, summary.depth) == (len(graph), max(depths))
    assert 0 < summary.parameters <= len(leaves)
    assert all(place in leaves and grad == right[place] for place, grad in summary.largest)
    assert all(abs(one.grad) >= abs(other.grad) for one, other in pairwise(summary.largest))
    for zero in summary.zeros:
        assert all(right[place] == 0.0 for place in zero.places)


def test_reasons_for_gradients_of_zero() -> None:
    w, u, v = Value(2.0, label="w"), Value(0.0, label="u"), Value(3.0, label="v")
    root = stop_gradient(w * 2.0) * v + (u - 1.0).relu() * v + (v - v)
    sentences = [zero.sentence for zero in explained(Graph.record(root))[1].zeros]
    assert any(text.startswith("The gradient of u is 0: ReLU at ") for text in sentences)


def test_summaries_of_large_graphs_are_told() -> None:
    walked = walk(mlp_loss(4))
    summary = json.loads(walked.to_json())["summary"]
    assert f"Summary: {summary['parameters']} parameters, {summary['depth']} operations" in str(walked)
    assert "Largest gradients: " in str(walked)
    small = walk(Value(2.0) * 3.0)
    assert "summary" not in small.essence()
    assert "Summary" not in str(small)


def test_dead_units_are_listed_without_a_sample() -> None:
    names = ("w", "b")
    units = [{name: Value(0.1 + 0.1 * i, label=f"units.{i}.{name}") for name in names} for i in range(5)]
    for i in (1, 3):
        units[i]["b"].data = -9.0
    head = [Value(0.3, label=f"head.w.{i}") for i in range(5)]
    loss = Value(0.0)
    for s in range(8):
        h = [(unit["w"] * (0.1 * s) + unit["b"]).relu() for unit in units]
        products = [w * a for w, a in zip(head, h, strict=True)]
        loss = loss + (sum(products[1:], products[0]) - s) ** 2
    (zero,) = walk(loss)._explained[1].zeros
    assert zero.sentence.endswith(": ReLU at units[1] and units[3] is 0 in all 8 samples.")
    assert len(zero.places) == 6
    (dead,) = walk(loss).findings
    assert dead.sentence.startswith("2 of 5 units are dead (units[1] and units[3])")
