"""Tests of named scopes and of labels for trees of Values; both are recorded only under `source_lines()`."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from collections.abc import Iterator

import numpy
import pytest

from gradwalk import Graph, Value, jit, label, named_scope, no_grad, opened, source_lines, value_and_grad, vmap
from gradwalk.math import sumprod
from gradwalk.value import modes


def scope_of(value: Value) -> str:
    """Return the scope path that the graph records for a Value."""
    graph = Graph.record(value)
    return graph.scopes.get(graph.root, "")


class TestNamedScope:
    def test_nested_scopes(self):
        with source_lines(), named_scope("place0"):
            a = Value(1.0)
            with named_scope("attention"), named_scope("head1.score"):
                b = a * 2
            c = b + 1
        assert [scope_of(x) for x in (a, b, c)] == ["place0", "place0.attention.head1.score", "place0"]

    def test_scopes_need_source_lines(self):
        with named_scope("square"):
            a = Value(1.0) * 2
            with source_lines():
                b = a * 2
        assert Graph.record(b).scopes == {2: "square"}
        assert a.source is None

    def test_all_kinds_of_nodes(self):
        with source_lines(), named_scope("here"):
            a = Value(1.0)
            made = [a, a + 1, sumprod([a], [2.0]), Value(3.0, (a,), "mine"), Value(3.0, [a], [2.0])]
        assert [scope_of(x) for x in made] == ["here"] * len(made)
        with source_lines(), named_scope("here"), no_grad():
            assert scope_of(a + 1) == ""  # no graph is recorded

    def test_node_keeps_its_line_and_variable(self):
        with source_lines(), named_scope("here"):
            total = Value(1.0) + 1
        assert total.source is not None
        assert total.source.text == "total = Value(1.0) + 1"
        assert Graph.record(total).labels == {1: "total"}

    @pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b"])
    def test_invalid_names(self, name):
        with pytest.raises(ValueError, match='the name of a scope must be a str such as "attention"'):
            named_scope(name)

    def test_name_must_be_a_string(self):
        with pytest.raises(TypeError, match="the name of a scope must be a str, got int"):
            named_scope(3)  # type: ignore[arg-type]

    def test_scope_as_a_decorator(self):
        @named_scope("power")
        def power(x: Value, n: int) -> Value:
            return x if n == 1 else power(x, n - 1) * x

        with source_lines():
            y = power(Value(2.0), 3)
        assert sorted(Graph.record(y).scopes.values()) == ["power", "power.power"]

    def test_scope_ends_after_an_error(self):
        with source_lines():
            with contextlib.suppress(ZeroDivisionError), named_scope("fails"):
                Value(1.0 / 0.0)
            assert scope_of(Value(1.0)) == ""

    def test_scope_of_a_suspended_generator_stays_inside(self):
        def terms(name: str) -> Iterator[Value]:
            with named_scope(name):
                yield Value(1.0)
                yield Value(2.0)

        with source_lines():
            first, second = terms("first"), terms("second")
            made = [next(first), next(second), Value(0.0), next(first), *list(second)]
            first.close()
            made.append(Value(0.0))
        assert [scope_of(x) for x in made] == ["first", "second", "", "first", "second", ""]

    def test_each_thread_has_its_own_scopes(self):
        made = []

        def make() -> None:
            with source_lines(), named_scope("inner"):
                made.append(Value(1.0))

        with named_scope("outer"):
            thread = threading.Thread(target=make)
            thread.start()
            thread.join()
        assert scope_of(made[0]) == "inner"

    def test_scopes_in_recorded_functions(self):
        """A recording ignores scopes and computes the same numbers."""

        def f(x):
            with named_scope("square"):
                return label(x * x, "y") + 1

        with source_lines():
            assert jit(f)(3.0) == 10.0
            assert value_and_grad(f)(3.0) == (10.0, 6.0)
            assert jit(vmap(f))(numpy.array([1.0, 2.0])).tolist() == [2.0, 5.0]
            assert scope_of(f(Value(3.0)).operands[0]) == "square"

    def test_scope_alone_does_not_record_lines(self):
        before = modes.scope_path()
        with named_scope("square"):
            assert modes.scope_path() == "square"
            assert not modes.remembers_lines()
            assert Value(1.0).source is None
        assert modes.scope_path() == before

    def test_parts_of_opened_nodes_stay_in_the_scope(self):
        with source_lines(), named_scope("neuron"):
            total = sumprod([Value(1.0), Value(2.0)], [3.0, 4.0])
        graph = opened(total)
        assert len(graph) == 5
        assert set(graph.scopes.values()) == {"neuron"}
        assert len(graph.scopes) == 5

    def test_copies_and_pickles_of_graphs_keep_scopes(self):
        with source_lines(), named_scope("square"):
            y = Value(2.0, label="x") * 3
        graph = Graph.record(y)
        for same in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
            assert same.scopes == graph.scopes == {0: "square", 1: "square"}
        assert scope_of(pickle.loads(pickle.dumps(y))) == ""  # a pickled Value keeps neither its scope nor its line


class TestLabel:
    def test_trees(self):
        with source_lines(), named_scope("place0"):
            a, b, c, d, e = (Value(float(i)) for i in range(5))
            tree = {"rows": [[a], (b, 2.0)], "array": numpy.array([c]), "none": None, "single": numpy.array(d)}
            assert label(tree, "all") is tree
            assert label(e, "e") is e
        assert [x.label for x in (a, b, c, d, e)] == [
            "place0.all.rows.0.0",
            "place0.all.rows.1.0",
            "place0.all.array.0",
            "",
            "place0.e",
        ]

    def test_existing_label_is_kept(self):
        with source_lines():
            a = Value(1.0, label="w")
            label([a, a], "x")
        assert a.label == "w"

    def test_labels_need_source_lines(self):
        a = Value(1.0)
        label([a], "x")
        assert a.label == ""
