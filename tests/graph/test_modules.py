"""Tests of the modules that nodes belong to by named scopes; tests/trees/test_iterations.py tests loops."""

from __future__ import annotations

from collections import defaultdict

from gradwalk import Graph, Value, label, named_scope, opened, source_lines
from gradwalk.graph.modules import modules
from gradwalk.math import sumprod


def names_in(graph: Graph) -> dict[str, set[str]]:
    """Return the names of the nodes of each module."""
    paths, numbers = modules(graph)
    found = defaultdict(set)
    for name, number in zip(graph.names, numbers.tolist(), strict=True):
        found[".".join(paths[number])].add(name)
    return dict(found)


def weights(name: str) -> list[Value]:
    return [Value(0.5, label=f"{name}.{i}") for i in range(2)]


def test_nodes_belong_to_their_scopes():
    x = Value(2.0, label="x")
    with source_lines(), named_scope("layer0"):
        with named_scope("square"):
            square = x * x
        total = square + x
    assert names_in(Graph.record(total)) == {"": {"x"}, "layer0.square": {"square"}, "layer0": {"total"}}


def test_parameters_belong_to_the_scope_that_uses_them():
    one, both = weights("one"), weights("both")
    with source_lines():
        with named_scope("first.inner"):
            a = sumprod(one, both)
        with named_scope("first.other"):
            b = one[0] * a + both[0]
        with named_scope("second"):
            c = both[1] * b
    assert names_in(Graph.record(c)) == {
        "first.one": {"one.0", "one.1"},
        "both": {"both.0", "both.1"},
        "first.inner": {"a"},
        "first.other.one": {"v6"},
        "first.other.both": {"b"},
        "second.both": {"c"},
    }


def test_scope_in_a_label_is_not_repeated():
    w = weights("attention.query")
    with source_lines(), named_scope("attention"):
        y = sumprod(w, [1.0, 2.0])
    assert names_in(Graph.record(y)) == {"attention.query": {"attention.query.0", "attention.query.1", "y"}}


def test_numbered_scopes_that_share_parameters_are_innermost():
    w = weights("w")
    x = Value(1.0, label="x")
    with source_lines():
        for place in range(2):
            with named_scope(f"place{place}.mlp"):
                x = label(sumprod(w, [x, x]) + 1.0, "x")
    assert names_in(Graph.record(x)) == {
        "": {"x"},
        "mlp.w": {"w.0", "w.1"},
        "mlp.w.place0": {"v4", "place0.mlp.x"},
        "mlp.w.place1": {"v6", "place1.mlp.x"},
    }


def test_numbered_scopes_with_separate_parameters_are_outermost():
    x = Value(1.0, label="x")
    with source_lines():
        for layer in range(2):
            with named_scope(f"layer{layer}.mlp"):
                x = sumprod(weights(f"layer{layer}.w"), [x, x])
    paths, _ = modules(Graph.record(x))
    assert set(paths) == {(), ("layer0", "mlp", "layer0", "w"), ("layer1", "mlp", "layer1", "w")}


def test_parts_of_opened_nodes_keep_their_module():
    w = weights("w")
    with source_lines(), named_scope("mlp"):
        y = sumprod(w, [Value(1.0, label="x"), Value(2.0, label="y")]).tanh()
    whole, parts = names_in(Graph.record(y)), names_in(opened(y))
    assert whole.keys() == parts.keys() == {"mlp", "mlp.w"}
    assert (len(whole["mlp.w"]), len(parts["mlp.w"])) == (4, 6)


def test_rows_of_arrays_are_not_iterations():
    with source_lines():
        rows = label([[Value(1.0) + i + j for j in range(2)] for i in range(2)], "h")
    assert set(names_in(Graph.record(sum(rows[0] + rows[1])))) == {""}
