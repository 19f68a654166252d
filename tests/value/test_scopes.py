"""Named scopes, and labels for all Values of a tree: noted under `source_lines()` alone."""

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
    """The scopes that a Value was made in, as its graph has them."""
    graph = Graph.record(value)
    return graph.scopes.get(graph.root, "")


class TestNamedScope:
    def test_scopes_lie_in_one_another(self):
        with source_lines(), named_scope("place0"):
            a = Value(1.0)
            with named_scope("attention"), named_scope("head1.score"):
                b = a * 2
            c = b + 1
        assert [scope_of(x) for x in (a, b, c)] == ["place0", "place0.attention.head1.score", "place0"]

    def test_nothing_is_noted_without_source_lines(self):
        with named_scope("square"):
            a = Value(1.0) * 2
            with source_lines():
                b = a * 2
        assert Graph.record(b).scopes == {2: "square"}
        assert a.source is None

    def test_nodes_of_every_kind(self):
        with source_lines(), named_scope("here"):
            a = Value(1.0)
            made = [a, a + 1, sumprod([a], [2.0]), Value(3.0, (a,), "mine"), Value(3.0, [a], [2.0])]
        assert [scope_of(x) for x in made] == ["here"] * len(made)
        with source_lines(), named_scope("here"), no_grad():
            assert scope_of(a + 1) == ""  # which remembers nothing

    def test_a_node_has_its_line_and_its_variable_too(self):
        with source_lines(), named_scope("here"):
            total = Value(1.0) + 1
        assert total.source is not None
        assert total.source.text == "total = Value(1.0) + 1"
        assert Graph.record(total).labels == {1: "total"}

    @pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b"])
    def test_names_that_are_none(self, name):
        with pytest.raises(ValueError, match='the name of a scope must be a str such as "attention"'):
            named_scope(name)

    def test_names_are_texts(self):
        with pytest.raises(TypeError, match="the name of a scope must be a str, got int"):
            named_scope(3)  # type: ignore[arg-type]

    def test_it_decorates_functions(self):
        @named_scope("power")
        def power(x: Value, n: int) -> Value:
            return x if n == 1 else power(x, n - 1) * x

        with source_lines():
            y = power(Value(2.0), 3)
        assert sorted(Graph.record(y).scopes.values()) == ["power", "power.power"]

    def test_it_ends_with_an_error(self):
        with source_lines():
            with contextlib.suppress(ZeroDivisionError), named_scope("fails"):
                Value(1.0 / 0.0)
            assert scope_of(Value(1.0)) == ""

    def test_a_suspended_generator_keeps_it_to_itself(self):
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

    def test_threads_have_scopes_of_their_own(self):
        made = []

        def make() -> None:
            with source_lines(), named_scope("inner"):
                made.append(Value(1.0))

        with named_scope("outer"):
            thread = threading.Thread(target=make)
            thread.start()
            thread.join()
        assert scope_of(made[0]) == "inner"

    def test_in_functions_that_are_recorded(self):
        """A recording is of numbers alone: it computes the same, and has no scopes."""

        def f(x):
            with named_scope("square"):
                return label(x * x, "y") + 1

        with source_lines():
            assert jit(f)(3.0) == 10.0
            assert value_and_grad(f)(3.0) == (10.0, 6.0)
            assert jit(vmap(f))(numpy.array([1.0, 2.0])).tolist() == [2.0, 5.0]
            assert scope_of(f(Value(3.0)).operands[0]) == "square"

    def test_new_nodes_are_not_looked_at_for_it(self):
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

    def test_copies_and_pickles_of_graphs_keep_them(self):
        with source_lines(), named_scope("square"):
            y = Value(2.0, label="x") * 3
        graph = Graph.record(y)
        for same in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
            assert same.scopes == graph.scopes == {0: "square", 1: "square"}
        assert scope_of(pickle.loads(pickle.dumps(y))) == ""  # nor does a copy of a Value have its line


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

    def test_a_label_stays(self):
        with source_lines():
            a = Value(1.0, label="w")
            label([a, a], "x")
        assert a.label == "w"

    def test_nothing_is_labelled_without_source_lines(self):
        a = Value(1.0)
        label([a], "x")
        assert a.label == ""
