"""Tests of the labels of loop carries and of the modules that iterations form in a graph."""

from __future__ import annotations

import numpy
import pytest

from gradwalk import Graph, Value, jit, loops, nn, walk
from gradwalk.graph.clusters import grouped
from gradwalk.graph.modules import modules
from gradwalk.trees import iterations


def newton(r: Value) -> Value:
    return (r + 2.0 / r) / 2.0


def labels_of(root: Value) -> list[str]:
    return list(Graph.record(root).labels.values())


def paths_of(graph: Graph) -> list[str]:
    paths, numbers = modules(graph)
    return [".".join(paths[number]) for number in numbers.tolist()]


def test_carries_are_labeled_by_function_and_step():
    x = Value(3.0)
    root = loops.while_loop(lambda r: abs(r * r - 2.0) > 0.1, newton, x)
    assert labels_of(root) == ["newton.0.val", "newton.1.val", "newton.2.val"]
    assert x.label == ""
    root = loops.fori_loop(0, 2, lambda i, c: (c[1] * 2.0, c[0] + i), (x * x, x))[0]
    assert set(labels_of(root)) == {"step.start.val[0]", "step.0.val[0]", "step.0.val[1]", "step.1.val[0]"} - {
        "step.0.val[0]"  # not used by the last iteration
    }


def test_outputs_of_a_scan_are_labeled():
    def follow(total, x):
        return total + x, {"seen": total * x}

    xs = numpy.array([Value(1.0), Value(2.0)])
    last, out = loops.scan(follow, 0.0, xs, reverse=True)
    assert [v.label for v in out["seen"]] == ["follow.1.out['seen']", "follow.0.out['seen']"]
    assert last.label == "follow.1.val"


def test_existing_labels_are_kept():
    def named(i, x):
        return Value.__mul__(x, x + i) if i else _labeled(x * x)

    def _labeled(v):
        v.label = "mine"
        return v

    assert labels_of(loops.fori_loop(0, 2, named, Value(2.0))) == ["mine", "named.1.val"]


def test_nodes_of_one_iteration_belong_to_it():
    x, w = Value(3.0), Value(0.5, label="w")
    before = w * w  # used by all iterations

    def outer(i, c):
        return loops.fori_loop(0, 2, lambda j, d: (d * before).tanh(), c) * (w + i)

    start = x.exp() * 2.0
    root = loops.fori_loop(0, 3, outer, start) - 1.0
    graph = Graph.record(root)
    paths = paths_of(graph)
    counted = {path: paths.count(path) for path in paths}
    inner = {f"outer.{i}.step.{j}": 2 for i in range(3) for j in range(2)}
    assert counted == {"": len([x, w, before, start, x.exp(), root]), **{f"outer.{i}": 2 for i in range(3)}, **inner}
    assert str(walk(root)).count("outer[2].val = ") == 1


def test_modules_inside_iterations():
    cell = nn.MLP(2, [2])

    def follow(h, x):
        return cell([h, x])[0], None

    root, _ = loops.scan(follow, Value(0.0), numpy.array([0.5, 1.0, 2.0]))
    paths = paths_of(Graph.record(root))
    assert {"follow.0.layers.0.neurons.0", "follow.1.layers.0.neurons.0", "layers.0.neurons.0"} <= set(paths)
    names = {group.name for group in grouped(Graph.record(root))[0]}
    assert {"follow[0].layers", "follow[2].layers"} <= {"[".join(name.split("[")[:2]) for name in names}


def test_failed_loop_leaves_no_path():
    def raising(i, x):
        raise KeyError

    with pytest.raises(KeyError):
        loops.fori_loop(0, 2, raising, Value(1.0))
    assert labels_of(loops.fori_loop(0, 1, lambda i, x: x * 2.0, Value(1.0))) == ["step.0.val"]


def test_only_the_first_iterations_are_labeled(monkeypatch):
    monkeypatch.setattr(iterations, "_MOST", 2)
    root = loops.fori_loop(0, 4, lambda i, x: x * 2.0, Value(1.0))
    assert labels_of(root) == ["step.0.val", "step.1.val"]


def test_recorded_loops_have_no_labels():
    assert jit(lambda x: loops.fori_loop(0, 3, lambda i, y: y * x, x))(2.0) == 16.0
    assert labels_of(jit(lambda x: loops.fori_loop(0, 3, lambda i, y: y * x, x))(Value(2.0))) == []
