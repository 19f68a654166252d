"""Tests of gradwalk.tree and gradwalk.tree_util, compared with jax.tree_util."""

from __future__ import annotations

import collections
import functools
import operator
import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import jax

import gradwalk
from gradwalk import Value, custom_jvp, grad, hessian, jacobian, jit, jvp, loops, nn, tree, tree_util, vjp, vmap

Pair = collections.namedtuple("Pair", ["left", "right"])

TREES = st.recursive(
    st.none() | st.integers(-9, 9) | st.just("text"),
    lambda trees: (
        st.lists(trees, max_size=3)
        | st.lists(trees, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), trees, max_size=3)
        | st.tuples(trees, trees).map(lambda parts: Pair(*parts))
        | st.dictionaries(st.sampled_from("zyx"), trees, max_size=2).map(collections.OrderedDict)
    ),
    max_leaves=8,
)


@given(TREES)
def test_functions_are_as_in_jax(example):
    theirs, ours = jax.tree_util, tree_util
    leaves, treedef = ours.tree_flatten(example)
    assert leaves == theirs.tree_leaves(example) == ours.tree_leaves(example)
    assert treedef == ours.tree_structure(example)
    for structure in (treedef, theirs.tree_structure(example)):
        assert structure.num_leaves == len(leaves)
    assert treedef.num_nodes == theirs.tree_structure(example).num_nodes
    assert ours.treedef_is_leaf(treedef) == theirs.treedef_is_leaf(theirs.tree_structure(example))
    assert len(ours.treedef_children(treedef)) == len(theirs.treedef_children(theirs.tree_structure(example)))
    assert ours.tree_unflatten(treedef, leaves) == example
    assert tree.map(lambda x, y: [x, y], example, example) == jax.tree.map(lambda x, y: [x, y], example, example)
    found = [(ours.keystr(path), leaf) for path, leaf in tree.leaves_with_path(example)]
    assert found == [(theirs.keystr(path), leaf) for path, leaf in jax.tree.leaves_with_path(example)]
    simple = {"simple": True, "separator": "/"}
    found = [ours.keystr(path, **simple) for path, _ in tree.flatten_with_path(example)[0]]
    assert found == [theirs.keystr(path, **simple) for path, _ in jax.tree.flatten_with_path(example)[0]]
    assert tree.all(example) == jax.tree.all(example)
    shown = tree.map_with_path(lambda path, x: ours.keystr(path) + str(x), example)
    assert shown == jax.tree.map_with_path(lambda path, x: theirs.keystr(path) + str(x), example)
    is_leaf = lambda part: isinstance(part, list)  # noqa: E731
    assert tree.leaves(example, is_leaf=is_leaf) == jax.tree.leaves(example, is_leaf=is_leaf)
    numbers = tree.map(lambda x: 1, example)
    assert tree.reduce(operator.add, numbers, 5) == jax.tree.reduce(operator.add, numbers, 5)
    wide = tree.map(lambda x: {"a": x, "b": (x,)}, example)
    assert tree.broadcast(example, wide) == jax.tree.broadcast(example, wide)
    if leaves:
        outer, inner = tree.structure(example), tree.structure({"a": 0, "b": (0,)})
        expected = jax.tree.transpose(jax.tree.structure(example), jax.tree.structure({"a": 0, "b": (0,)}), wide)
        assert tree.transpose(outer, inner, wide) == tree.transpose(outer, None, wide) == expected


@tree_util.register_pytree_node_class
class Quadratic:
    """A function a x² + b x with a static label."""

    def __init__(self, a: Any, b: Any, label: str = "") -> None:
        self.a, self.b, self.label = a, b, label

    def __call__(self, x: Any) -> Any:
        return self.a * x**2 + self.b * x

    def tree_flatten(self) -> Any:
        return (self.a, self.b), self.label

    @classmethod
    def tree_unflatten(cls, label: Any, parts: Any) -> Any:
        made = object.__new__(cls)
        made.a, made.b = parts
        made.label = label
        return made


@pytest.mark.parametrize("number", [3.0, numpy.array([3.0, -1.0])])
def test_objects_of_registered_classes_in_all_transforms(number):
    def loss(q):
        return numpy.sum(q(2.0) ** 2)

    q = Quadratic(number, 1.0, "q")
    slope = 2 * (4.0 * number + 2.0)
    for derivative in (grad(loss), jit(grad(loss)), lambda q: jit(gradwalk.value_and_grad(loss))(q)[1]):
        for _ in range(3):
            found = derivative(q)
            assert isinstance(found, Quadratic)
            assert found.label == "q"
            assert numpy.all(found.a == 4.0 * slope)
            assert found.b == 2.0 * numpy.sum(slope)
    second = hessian(loss)(q)
    assert second.b.b == 8.0 * numpy.size(number)
    assert numpy.all(jacobian(lambda q: q(2.0))(q).b == 2.0)
    assert jvp(loss, (q,), (q,))[1] == pytest.approx(numpy.sum(2.0 * (4.0 * number + 2.0) ** 2))
    assert vjp(loss, q)[1](1.0)[0].b == found.b
    moved = jit(lambda q: tree.map(lambda x: 2.0 * x, q))(q)
    assert numpy.all(moved.a == 2.0 * number)
    steps = loops.fori_loop(0, 3, lambda _, q: tree.map(lambda x: 0.5 * x, q), q)
    assert numpy.all(steps.a == number / 8.0)
    assert jit(lambda q: loops.fori_loop(0, 3, lambda _, q: tree.map(lambda x: 0.5 * x, q), q))(q).b == 0.125


def test_registered_classes_in_batches_and_rules():
    batch = Quadratic(numpy.array([1.0, 2.0, 3.0]), numpy.array([0.0, 1.0, 2.0]), "batch")
    assert vmap(lambda q: q(2.0))(batch).tolist() == [4.0, 10.0, 16.0]
    assert vmap(grad(lambda q: q(3.0)))(batch).a.tolist() == [9.0, 9.0, 9.0]
    assert vmap(lambda q, x: q(x), (Quadratic(0, None, "batch"), None))(Quadratic(batch.a, 1.0, "batch"), 2.0).tolist()
    f = custom_jvp(lambda q: q(2.0))
    f.defjvp(lambda primals, tangents: (primals[0](2.0), 10.0 * tangents[0].a + 0.0 * tangents[0].b))
    assert grad(f)(Quadratic(1.0, 2.0)).a == 10.0
    q = Quadratic(Value(1.0), Value(2.0))
    q(3.0).backward()
    assert q.a.grad == 9.0
    recorded = jit(lambda q: q(1.0) if q.label == "a" else 2.0 * q(1.0))
    assert [recorded(Quadratic(1.0, 1.0, label)) for label in "aba"] == [2.0, 4.0, 2.0]
    assert recorded.program.input_names == ("q[<flat index 0>]", "q[<flat index 1>]")
    _, treedef = gradwalk.trees.tree.flatten(q, "q")
    assert pickle.loads(pickle.dumps(treedef)) == treedef


@dataclass
class Settings:
    rate: Any
    name: str = field(metadata={"static": True})
    cache: Any = None


def test_dataclasses_with_static_fields():
    with pytest.raises(ValueError, match="must together be the fields of"):
        tree_util.register_dataclass(Settings, ["rate"], ["nam"])
    with pytest.raises(TypeError, match="give both data_fields and meta_fields"):
        tree_util.register_dataclass(Settings, ["rate"])
    with pytest.raises(TypeError, match="nodetype must be a dataclass"):
        tree_util.register_dataclass(int)
    assert tree.leaves(Settings(1.0, "a")) == [1.0, "a"]  # not registered yet: each field is a child
    assert tree_util.register_dataclass(Settings, drop_fields=["cache"]) is Settings
    assert tree.leaves(Settings(1.0, "a")) == [1.0]
    assert grad(lambda s: s.rate**2)(Settings(3.0, "a", "dropped")) == Settings(6.0, "a")
    [(path, leaf)] = tree.leaves_with_path({"s": Settings(2.0, "a")})
    assert (tree_util.keystr(path), leaf) == ("['s'].rate", 2.0)
    with pytest.raises(ValueError, match="registered"):
        tree_util.register_dataclass(Settings, drop_fields=["cache"])


def test_modules_and_partials():
    neuron = nn.Neuron(2)
    doubled = tree.map(lambda p: 2.0 * p, neuron)
    assert doubled.w[0] == 2.0 * neuron.w[0].data
    with pytest.raises(TypeError, match="nodetype must be a class other than a Module"):
        tree_util.register_pytree_node(nn.Neuron, None, None)
    power = tree_util.Partial(lambda x, n, scale: scale * x**n, n=2.0, scale=3.0)
    slope = jit(grad(lambda f, x: f(x)))(power, 2.0)
    assert slope.keywords == {"n": pytest.approx(12.0 * numpy.log(2.0)), "scale": 4.0}
    assert tree_util.all_leaves([1.0, "a"])
    assert not tree_util.all_leaves([neuron])
    partial = jax.tree_util.Partial(power.func, **power.keywords)
    assert jax.tree_util.tree_leaves(partial) == tree.leaves(power)
    assert isinstance(power, functools.partial)


def test_wrong_trees():
    with pytest.raises(ValueError, match="expected"):
        tree.map(operator.add, [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"[Ll]eaves|leaf"):
        tree.unflatten(tree.structure([0, 0]), [1.0])
