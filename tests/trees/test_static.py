"""Objects that are not numbers pass through functions unchanged, and recordings are made for each of them."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import pickle

import numpy
import pytest

from gradwalk import clear_caches, grad, jacobian, jit, jvp, loops, math, value_and_grad, vjp, vmap
from gradwalk.trees.tree import flatten


class Kind(enum.Enum):
    CALL = 1
    PUT = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Option:
    strike: float
    kind: Kind = Kind.CALL
    is_american: bool = False
    name: str = ""
    steps: int = 3


OBJECTS = [
    "text",
    b"text",
    Kind.PUT,
    Level.HIGH,
    range(3),
    slice(1, None, 2),
    slice(None),
    float,
    ...,
    math.sin,
    len,
    lambda x: x,
    numpy.dtype("f4"),
    numpy.exp,
    datetime.date(2026, 1, 2),
    datetime.timedelta(3),
    None,
]


@pytest.mark.parametrize("item", OBJECTS, ids=[str(i) for i in range(len(OBJECTS))])
class TestObjects:
    def test_flatten_and_unflatten(self, item):
        leaves, treedef = flatten([1.0, {"a": (item, 2.0)}], "x")
        assert leaves == [1.0, 2.0]
        assert treedef.unflatten(leaves) == [1.0, {"a": (item, 2.0)}]
        assert treedef == flatten([3.0, {"a": (item, 4.0)}], "x")[1]
        assert hash(treedef) == hash(flatten([3.0, {"a": (item, 4.0)}], "x")[1])
        assert treedef != flatten([3.0, {"a": ("other", 4.0)}], "x")[1]

    def test_every_transform_passes_it_on(self, item):
        def f(x, option):
            assert option["item"] is item or option["item"] == item
            return {"product": x * option["number"], "item": option["item"]}

        option = {"number": 3.0, "item": item}
        expected = {"product": 6.0, "item": item}
        for _ in range(3):  # the second call and the third call may take faster paths
            assert jit(f)(2.0, option) == expected
        followed = jit(f)
        assert [followed(2.0, option) for _ in range(4)] == [expected] * 4
        assert followed.statistics.recordings == 1
        assert jvp(lambda x: f(x, option), (2.0,), (1.0,)) == (expected, {"product": 3.0, "item": item})
        result, pull = vjp(lambda x: f(x, option), 2.0)
        assert (result, pull({"product": 1.0, "item": item})) == (expected, (3.0,))
        (_, aux), slope = value_and_grad(lambda x: (x * x, f(x, option)), has_aux=True)(2.0)
        assert (aux, slope) == (expected, 4.0)
        assert grad(lambda o: f(2.0, o)["product"])(option) == {"number": 2.0, "item": item}
        batch = vmap(f, in_axes=(0, None))(numpy.array([2.0, 4.0]), option)
        assert (batch["product"].tolist(), batch["item"]) == ([6.0, 12.0], item)


def test_recordings_depend_on_static_data():
    traced = []

    def f(x, kind):
        traced.append(kind)
        return x if kind == "a" else -x

    g = jit(f)
    assert [g(1.0, kind) for kind in "abab"] == [1.0, -1.0, 1.0, -1.0]
    assert traced == ["a", "b"]


def test_static_data_that_compare_equal_but_differ_in_type():
    g = jit(lambda x, k: x * 2.0 if isinstance(k, str) else x)
    assert [g(1.0, k) for k in ("f4", numpy.dtype("f4"), "f4")] == [2.0, 1.0, 2.0]


def test_enums_that_are_ints_are_members_inside():
    g = jit(lambda x, level: x if level is Level.LOW else 10.0 * x)
    assert [g(1.0, level) for level in (Level.LOW, Level.HIGH, Level.LOW)] == [1.0, 10.0, 1.0]


def test_fields_of_dataclasses():
    def payoff(spot, option):
        sign = 1.0 if option.kind is Kind.CALL else -1.0
        return sign * (spot - option.strike) * (2.0 if option.is_american else 1.0)

    for f in (jit(grad(payoff, 1)), grad(payoff, 1), jit(jit(grad(payoff, 1)))):
        for kind, flag, expected in [(Kind.CALL, False, -1.0), (Kind.PUT, False, 1.0), (Kind.CALL, True, -2.0)] * 2:
            found = f(3.0, Option(1.0, kind, is_american=flag, name="n"))
            assert found == Option(expected, kind, is_american=flag, name="n", steps=0)
            assert type(found.is_american) is bool


def test_pickled_treedefs():
    tree = [1.0, "text", Kind.PUT, Option(2.0)]
    treedef = flatten(tree, "x")[1]
    assert pickle.loads(pickle.dumps(treedef)) == treedef


def test_static_data_in_loops():
    def f(x):
        step = lambda i, c: {"x": c["x"] * x, "mode": c["mode"]}  # noqa: E731
        return loops.fori_loop(0, 3, step, {"x": 1.0, "mode": "a"})

    assert jit(f)(2.0) == {"x": 8.0, "mode": "a"}
    assert jit(grad(lambda x: f(x)["x"]))(2.0) == 12.0


def test_classes_that_were_forgotten_are_registered_again():
    f = jit(lambda x, kind: x)
    assert f(1.0, Kind.CALL) == 1.0
    clear_caches()
    assert f(2.0, Kind.CALL) == 2.0


def test_results_with_different_static_data():
    f = jit(lambda x: "positive" if x > 0 else "other")
    assert [f(x) for x in (1.0, -1.0, 2.0)] == ["positive", "other", "positive"]
    with pytest.raises(ValueError, match="different structures for different samples"):
        vmap(lambda x: {"sign": "positive" if x > 0 else "other", "x": x})(numpy.array([1.0, -1.0]))


def test_mutable_objects_are_refused():
    for item in ({1}, object(), bytearray(b"b"), slice([1], 2)):
        with pytest.raises(TypeError, match=r"x\['a'\] is .* static data can be strings"):
            grad(lambda x: x["b"])({"a": item, "b": 1.0})


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacobian])
def test_static_data_have_no_derivatives(transform):
    with pytest.raises(TypeError, match=r"x is a str \('text'\), not a number"):
        transform(lambda x: 1.0)("text")
