"""Results that are bools or ints keep their type when functions are recorded."""

from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk import grad, jit, jvp, searchsorted, take, tree, value_and_grad, vmap
from gradwalk import math as gm
from gradwalk import numpy as gnp

X = numpy.array([1.0, 3.0, 2.0])


def kinds(results):
    """Return the types of scalars and the dtype kinds of arrays, in the structure of the results."""
    return tree.map(lambda x: x.dtype.kind if isinstance(x, numpy.ndarray) else type(x).__name__, results)


BOOLS = {
    "less": lambda x: x[0] < x[1],
    "equal": lambda x: x[0] == x[1],
    "not equal": lambda x: x[0] != x[1],
    "not": lambda x: not x[0] > x[1],
    "and": lambda x: (x[0] > 1) & (x[1] > 1),
    "xor": lambda x: (x[0] > 1) ^ (x[1] > 1),
    "or": lambda x: (x[0] > 1) | True,
    "isnan": lambda x: gm.isnan(x[0]),
    "isinf": lambda x: gm.isinf(x[0]),
    "logical_or": lambda x: gnp.logical_or(x[0] > 2, x[1] > 2),
    "constant": lambda x: True,
    "numpy constant": lambda x: numpy.bool_(1),
}
INTS = {
    "constant": lambda x: 3,
    "numpy constant": lambda x: numpy.int32(3),
    "int": lambda x: int(x[1]),
    "round": lambda x: round(x[1]),
    "argmax": gnp.argmax,
    "after argmin": lambda x: gnp.argmin(x) + 1,
    "searchsorted": lambda x: searchsorted([0.0, 1.5, 2.5], x[0]),
    "length": len,
}
FLOATS = {
    "floor": lambda x: gm.floor(x[0]),
    "where": lambda x: gm.where(x[0] > 0, 1.0, 0.0),
    "complement": lambda x: 1.0 - (x[0] > 0),
    "product": lambda x: (x[0] > 0) * 1.0,
    "converted index": lambda x: gnp.argmax(x) * 1.0,
    "less": lambda x: gm.less(x[0], 2.0),
    "index times number": lambda x: gnp.argmax(x) * x[0],
    "index in half": lambda x: gnp.argmax(x) * 0.5,
    "element": lambda x: x[0],
    "integral constant": lambda x: 3.0,
}


@pytest.mark.parametrize(
    ("f", "expected"),
    [(f, kind) for kind, group in (("bool", BOOLS), ("int", INTS), ("float", FLOATS)) for f in group.values()],
)
def test_types_of_scalars(f, expected):
    plain = f(X)
    for g in (jit(f), jit(jit(f)), lambda x: value_and_grad(lambda x: (x[0], f(x)), has_aux=True)(x)[0][1]):
        for _ in range(3):
            assert kinds(g(X)) == expected
            assert g(X) == plain
    assert kinds(vmap(f)(numpy.array([X, X]))) == {"bool": "b", "int": "i", "float": "f"}[expected]
    assert vmap(f)(numpy.array([X, X])).tolist() == [plain] * 2


def test_types_in_trees():
    f = jit(lambda x: (x[0] > 0, {"n": 3, "x": x[0]}, [gnp.argmax(x), None]))
    assert kinds(f(X)) == ("bool", {"n": "int", "x": "float"}, ["int", None])
    g = jit(value_and_grad(lambda x: (x[0] * x[1], {"n": 3, "is": x[0] > 0}), has_aux=True))
    (value, aux), slopes = g(X)
    assert (value, aux, slopes.tolist()) == (3.0, {"n": 3, "is": True}, [3.0, 1.0, 0.0])
    assert kinds(aux) == {"n": "int", "is": "bool"}


def test_types_of_arrays():
    f = jit(lambda x: (x > 1, numpy.arange(2), gnp.isnan(x), x, gnp.logical_not(x > 1)))
    assert kinds(f(X)) == ("b", "i", "b", "f", "b")
    masks = vmap(lambda x, y: x > y, in_axes=(None, 0))(X, X)
    assert masks.dtype == bool
    assert masks.tolist() == (X[None] > X[:, None]).tolist()
    assert X[vmap(lambda x: x > 1)(X)].tolist() == [3.0, 2.0]


def test_indices_index():
    table = numpy.arange(12.0).reshape(4, 3) % 5
    best = vmap(gnp.argmax)(table)
    assert best.dtype == numpy.int64
    assert table[range(4), best].tolist() == table.max(axis=1).tolist()
    assert jit(lambda x: x[gnp.argmax(x)])(X) == 3.0
    assert [jit(lambda x: x[gnp.argmin(x)])(x) for x in (X, -X)] == [1.0, -3.0]
    assert jit(grad(lambda x: x[gnp.argmax(x)] ** 2))(X).tolist() == [0.0, 6.0, 0.0]


def test_ints_in_arguments_are_counts_and_indices():
    def f(x, n):
        return sum(x**k for k in range(n)) + [1.0, 2.0, 3.0, 4.0][n]

    g = jit(f)
    assert [g(2.0, n) for n in (1, 2, 3, 1)] == [f(2.0, n) for n in (1, 2, 3, 1)]
    assert jit(grad(f))(2.0, 3) == 5.0
    with pytest.raises(TypeError):
        jit(f)(2.0, 1.5)


def test_numbers_that_are_not_integers_stay_as_they_are():
    f = jit(int)
    assert f(2.5) == 2
    assert math.isnan(jit(lambda x: gnp.argmax(x) + x[0] * 0.0)(numpy.array([math.nan, 1.0])))


def test_results_of_several_types_for_different_samples_are_floats():
    found = vmap(lambda x: 1 if x > 0 else x)(numpy.array([1.0, -2.0]))
    assert (found.dtype, found.tolist()) == (numpy.float64, [1.0, -2.0])
    found = vmap(lambda x: 1 if x > 0 else 2)(numpy.array([1.0, -2.0]))
    assert (found.dtype, found.tolist()) == (numpy.int64, [1, 2])


def test_sums_and_derivatives_are_floats():
    f = lambda x: x > 1  # noqa: E731
    for reduce, expected in (("mean", 2 / 3), ("sum", 2.0), ("max", 1.0), ("prod", 0.0)):
        batched = vmap(lambda x: (x > 1, {"n": 3, "x": x}), reduce=reduce)
        for _ in range(3):  # the second call and the third call may take faster paths
            found = batched(X)[0]
            assert (type(found), found) == (float, expected)
            assert type(batched(X)[1]["n"]) is float
    with_aux = vmap(value_and_grad(lambda x: (x * x, x > 1), has_aux=True), reduce="mean")
    for _ in range(3):
        assert with_aux(X) == ((14 / 3, 2 / 3), 4.0)
        assert jit(with_aux)(X) == ((14 / 3, 2 / 3), 4.0)
    assert kinds(jvp(lambda x: (x > 1, 3, x), (2.0,), (1.0,))) == (("bool", "int", "float"), ("float",) * 3)
    assert type(grad(lambda x: 3)(2.0)) is float
    out = numpy.empty(3)
    assert vmap(f, reduce=None)(X, out=out) is out
    assert out.tolist() == [0.0, 1.0, 1.0]


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.integers(0, 5))
def test_tables_and_masks_agree_with_numpy(xs, k):
    x = numpy.array(xs)
    f = lambda x: {"mask": x > 0.5, "best": gnp.argmax(x), "taken": take(x, k % len(xs)), "any": k > 2}  # noqa: E731
    found = jit(f)(x)
    assert found["mask"].dtype == bool
    assert found["mask"].tolist() == (x > 0.5).tolist()
    assert (type(found["best"]), found["best"]) == (int, int(numpy.argmax(x)))
    assert found["any"] is (k > 2)
