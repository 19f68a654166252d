"""Tests of vmap: agreement with JAX, array layouts, tracing, Values and errors."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
import operator
import pickle
import sys
import threading
from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import assume, given
from hypothesis import strategies as st
from kernels import EXACT, cases, same
from programs import fewer
from references import jax

import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    Value,
    checkpoint,
    debug_nans,
    grad,
    hessian,
    jacobian,
    jit,
    jvp,
    no_grad,
    primitive,
    stop_gradient,
    threads,
    value_and_grad,
    vmap,
)
from gradwalk.backend import lane_kernel
from gradwalk.nn import MLP

SEVEN = numpy.linspace(-2.0, 3.0, 7)
TABLE = SEVEN[:, None] * numpy.array([1.0, -0.5, 2.0])

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Rates:
    short: Any
    long: Any


@primitive
def cube(x):
    return float(x) ** 3


@cube.derivative
def _(out, x):
    return 3 * x * x


def both(found, expected):
    """Check that two trees have the same structure and the same numbers up to rounding."""
    found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert numpy.shape(ours) == numpy.shape(theirs)
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-300)


def square_loss(weights, x, y):
    return ((weights * x).sum() - y) ** 2


@st.composite
def trees_of_arrays(draw, size):
    """Draw nested lists, tuples and dicts of arrays and their tree of axes, which may be a prefix."""

    def leaf():
        axis = draw(st.sampled_from([0, 0, 1, -1, None]))
        shape = list(draw(st.sampled_from([(), (2,), (2, 3)])))
        if axis is not None:
            axis = min(axis, len(shape))
            shape.insert(len(shape) if axis == -1 else axis, size)
        numbers = draw(st.integers(0, 1000)) / 100 + numpy.arange(math.prod(shape)) / 7
        return numbers.reshape(shape), axis

    def tree(depth):
        kind = draw(st.sampled_from(["leaf", "leaf", "list", "tuple", "dict"])) if depth else "leaf"
        if kind == "leaf":
            return leaf()
        parts = [tree(depth - 1) for _ in range(draw(st.integers(1, 3)))]
        values, axes = [part[0] for part in parts], [part[1] for part in parts]
        shared = len(set(map(repr, axes))) == 1 and not isinstance(axes[0], (list, tuple, dict))
        if kind == "dict":
            values, axes = dict(zip("bac", values, strict=False)), dict(zip("bac", axes, strict=False))
        elif kind == "tuple":
            values, axes = tuple(values), tuple(axes)
        if shared and draw(st.booleans()):
            axes = jax.tree.leaves(axes, is_leaf=lambda x: x is None)[0]
        return values, axes

    return tree(2)


# Each gradwalk function and a factory of its JAX counterpart, called with W, TABLE and SEVEN.
W = numpy.array([0.5, -1.0, 2.0])
PAIRS = {
    "grad": (vmap(grad(square_loss), (None, 0, 0)), lambda: jax.vmap(jax.grad(square_loss), (None, 0, 0))),
    "grad by all": (
        vmap(grad(square_loss, argnums=(0, 1, 2)), (None, 0, 0)),
        lambda: jax.vmap(jax.grad(square_loss, argnums=(0, 1, 2)), (None, 0, 0)),
    ),
    "value_and_grad": (
        vmap(value_and_grad(square_loss), (None, 0, 0)),
        lambda: jax.vmap(jax.value_and_grad(square_loss), (None, 0, 0)),
    ),
    "jacobian": (
        vmap(jacobian(lambda w, x, y: w * x * y), (None, 0, 0), 1),
        lambda: jax.vmap(jax.jacobian(lambda w, x, y: w * x * y), (None, 0, 0), 1),
    ),
    "hessian": (vmap(hessian(square_loss), (None, 0, 0)), lambda: jax.vmap(jax.hessian(square_loss), (None, 0, 0))),
    "jvp": (
        vmap(lambda w, x, y: jvp(lambda v: square_loss(v, x, y), (w,), (x,)), (None, 0, 0)),
        lambda: jax.vmap(lambda w, x, y: jax.jvp(lambda v: square_loss(v, x, y), (w,), (x,)), (None, 0, 0)),
    ),
    "jit": (vmap(jit(square_loss), (None, 0, 0)), lambda: jax.vmap(jax.jit(square_loss), (None, 0, 0))),
    "vmap": (
        vmap(vmap(lambda w, x, y: w * x + y, (0, 0, None)), (None, 0, 0)),
        lambda: jax.vmap(jax.vmap(lambda w, x, y: w * x + y, (0, 0, None)), (None, 0, 0)),
    ),
    "vmap along other axes": (
        vmap(vmap(lambda w, x, y: w * x + y, (0, 0, None), -1), (None, 0, 0), 1),
        lambda: jax.vmap(jax.vmap(lambda w, x, y: w * x + y, (0, 0, None), -1), (None, 0, 0), 1),
    ),
    "jacobian of vmap": (
        jacobian(vmap(square_loss, (None, 0, 0))),
        lambda: jax.jacobian(jax.vmap(square_loss, (None, 0, 0))),
    ),
    "jacobian by the batch": (
        jacobian(vmap(square_loss, (None, 0, 0)), argnums=1),
        lambda: jax.jacobian(jax.vmap(square_loss, (None, 0, 0)), argnums=1),
    ),
    "grad of a sum": (
        grad(lambda w, x, y: vmap(square_loss, (None, 0, 0))(w, x, y).sum()),
        lambda: jax.grad(lambda w, x, y: jax.vmap(square_loss, (None, 0, 0))(w, x, y).sum()),
    ),
    "a sum": (
        vmap(square_loss, (None, 0, 0), reduce="sum"),
        lambda: lambda *args: jax.vmap(square_loss, (None, 0, 0))(*args).sum(),
    ),
    "a mean": (
        vmap(square_loss, (None, 0, 0), reduce="mean"),
        lambda: lambda *args: jax.vmap(square_loss, (None, 0, 0))(*args).mean(),
    ),
    "grad of a mean": (
        grad(vmap(square_loss, (None, 0, 0), reduce="mean")),
        lambda: jax.grad(lambda *args: jax.vmap(square_loss, (None, 0, 0))(*args).mean()),
    ),
    "grad of a sum by the batch": (
        grad(vmap(square_loss, (None, 0, 0), reduce="sum"), argnums=(1, 2)),
        lambda: jax.grad(lambda *args: jax.vmap(square_loss, (None, 0, 0))(*args).sum(), argnums=(1, 2)),
    ),
    "a mean of value and grad": (
        vmap(value_and_grad(square_loss), (None, 0, 0), reduce="mean"),
        lambda: jax.value_and_grad(lambda *args: jax.vmap(square_loss, (None, 0, 0))(*args).mean()),
    ),
    "hessian of a mean": (
        hessian(vmap(square_loss, (None, 0, 0), reduce="mean")),
        lambda: jax.hessian(lambda *args: jax.vmap(square_loss, (None, 0, 0))(*args).mean()),
    ),
}


class TestAgainstJax:
    @fewer(5)
    @given(st.data())
    def test_trees_with_any_axes(self, data):
        size = data.draw(st.integers(1, 4))
        trees = [data.draw(trees_of_arrays(size)) for _ in range(data.draw(st.integers(1, 3)))]
        trees.append((numpy.arange(float(size)), 0))
        args, in_axes = [tree for tree, _ in trees], tuple(axes for _, axes in trees)
        # results: a batched one for each leaf, with its own axis; one that is unbatched
        count = len(jax.tree.leaves(args))
        out_axes = [data.draw(st.sampled_from([0, -1])) for _ in range(count)], {"all": 0, "none": None}

        def f(*args):
            leaves = jax.tree.leaves(args, is_leaf=lambda leaf: isinstance(leaf, (numpy.ndarray, Value)))
            total = functools.reduce(operator.add, [(leaf * leaf).sum() if leaf.shape else leaf for leaf in leaves])
            return [leaf * total for leaf in leaves], {"all": total, "none": 3.0}

        ours = vmap(lambda *args: f(*jax.tree.map(numpy.asarray, args)), in_axes, out_axes)
        both(ours(*args), jax.vmap(f, in_axes, out_axes)(*args))
        recorded = jit(ours)
        for _ in range(2):
            both(recorded(*args), jax.vmap(f, in_axes, out_axes)(*args))

    @pytest.mark.parametrize("in_axes", [0, 1, -1, -2])
    @pytest.mark.parametrize("out_axes", [0, 1, -1, -2])
    def test_one_array(self, in_axes, out_axes):
        f = lambda x: x * x  # noqa: E731
        both(vmap(f, in_axes, out_axes)(TABLE), jax.vmap(f, in_axes, out_axes)(TABLE))

    @pytest.mark.parametrize("in_axes", [(0, None), (None, 1), (1, 0), [0, None]])
    def test_several_arguments(self, in_axes):
        f = lambda x, y: x * y.sum() if y.shape else x * y  # noqa: E731
        args = TABLE, numpy.arange(21.0).reshape(3, 7) if in_axes != (1, 0) else numpy.arange(9.0).reshape(3, 3)
        ours = lambda x, y: f(x, numpy.asarray(y))  # noqa: E731
        both(vmap(ours, in_axes)(*args), jax.vmap(f, in_axes)(*args))

    def test_keyword_arguments(self):
        f = lambda x, *, rate, shift: x * rate + shift  # noqa: E731
        both(vmap(f)(SEVEN, shift=SEVEN, rate=2 * SEVEN), jax.vmap(f)(SEVEN, shift=SEVEN, rate=2 * SEVEN))
        both(vmap(f, in_axes=(None,))(2.0, rate=SEVEN, shift=SEVEN), 2.0 * SEVEN + SEVEN)

    @pytest.mark.parametrize("size", [0, 1, 3])
    def test_batches_of_any_size(self, size):
        f = lambda x, k: {"x": x * k, "k": k}  # noqa: E731
        args, axes = (TABLE[:size], 2.0), {"in_axes": (0, None), "out_axes": {"x": 1, "k": None}}
        both(vmap(f, **axes)(*args), jax.vmap(f, **axes)(*args))

    @pytest.mark.parametrize("name", PAIRS)
    def test_composition_with_other_transforms(self, name):
        ours, theirs = PAIRS[name]
        expected = theirs()(W, TABLE, SEVEN)
        both(ours(W, TABLE, SEVEN), expected)
        recorded = jit(ours)
        both(recorded(W, TABLE, SEVEN), expected)
        both(recorded(W, TABLE, SEVEN), expected)
        both(jit(lambda w, x, y: ours(w, x, y))(W, TABLE, SEVEN), expected)  # noqa: PLW0108  the lambda hides that it is a vmap

    def test_grad_with_aux(self):
        loss = lambda w, x, y: (square_loss(w, x, y), {"x": x})  # noqa: E731
        both(
            vmap(grad(loss, has_aux=True), (None, 0, 0))(W, TABLE, SEVEN),
            jax.vmap(jax.grad(loss, has_aux=True), (None, 0, 0))(W, TABLE, SEVEN),
        )


def layouts():
    """Return the same seven numbers in many NumPy memory layouts."""
    records = numpy.zeros(7, [("before", "u1"), ("x", "f8"), ("after", "u2")])
    records["x"] = SEVEN
    read_only = SEVEN.copy()
    read_only.flags.writeable = False
    wide = numpy.zeros((7, 5), order="F")
    wide[:, 3] = SEVEN
    return {
        "contiguous": SEVEN,
        "reversed": SEVEN[::-1].copy()[::-1],
        "strided": numpy.repeat(SEVEN, 3)[::3],
        "a row of columns": wide[:, 3],
        "a column of rows": numpy.ascontiguousarray(wide)[:, 3],
        "read-only": read_only,
        "unaligned, in records": records["x"],
        "unaligned": numpy.frombuffer(b"?" + SEVEN.tobytes(), "f8", 7, offset=1),
        "big-endian": SEVEN.astype(">f8"),
        "longdouble": SEVEN.astype("g"),
        "objects": SEVEN.astype(object),
        "a memory map's type": SEVEN.copy().view(numpy.memmap),
    }


class TestArrays:
    @pytest.mark.parametrize("name", layouts())
    @pytest.mark.parametrize("reduce", [None, "sum"])
    def test_arrays_of_any_layout(self, name, reduce):
        array = layouts()[name]
        before = array.copy()
        f = vmap(lambda x: x * x - x, reduce=reduce)
        found = f(array)
        assert type(found) is (numpy.ndarray if reduce is None else float)
        both(found, f(SEVEN))
        both(vmap(lambda x, y: x * y, (None, 0))(array, array), SEVEN[:, None] * SEVEN)
        assert numpy.array_equal(array, before)

    @pytest.mark.parametrize("order", "CF")
    @pytest.mark.parametrize("axis", [0, 1, 2])
    @pytest.mark.parametrize("step", [1, -1, 2])
    def test_three_dimensional_arrays(self, order, axis, step):
        array = numpy.arange(60.0).reshape(5, 4, 3).copy(order=order)[::step, ::step, ::step]
        f = vmap(lambda x: (x * 2, (x * x).sum()), in_axes=axis, out_axes=(axis, 0))
        twice, squares = f(array)
        assert numpy.array_equal(twice, array * 2)
        others = tuple({0, 1, 2} - {axis})
        assert numpy.array_equal(squares, (array**2).sum(axis=others))

    def test_broadcast_arrays(self):
        shared = numpy.broadcast_to(numpy.array([[1.0], [2.0]]), (2, 300)).T
        assert numpy.array_equal(vmap(lambda x: x[0] + x[1])(shared), numpy.full(300, 3.0))
        assert vmap(lambda x: x, in_axes=1)(numpy.broadcast_to(2.0, (1, 5))).tolist() == [[2.0]] * 5

    @pytest.mark.parametrize("kind", ["i1", "u2", "i8", ">i4", "?", "f2", "f4", ">f4", "f8"])
    def test_arrays_of_any_dtype(self, kind):
        array = numpy.array([0, 1, 3, 2]).astype(kind)
        found = vmap(lambda x: x * x / 4)(array)
        assert found.dtype == (numpy.float32 if array.dtype.type is numpy.float32 else numpy.float64)
        assert numpy.array_equal(found, array.astype(float) ** 2 / 4)

    def test_only_float32_arguments_give_float32(self):
        single = numpy.linspace(0, 1, 50, dtype="f4")
        f = vmap(lambda x, k: x * k + 0.1, in_axes=(0, None))
        for k in (3.0, single[:1], numpy.float32(3.0)):
            assert f(single, k).dtype == numpy.float32
        assert f(single, numpy.ones(1)).dtype == numpy.float64
        assert numpy.array_equal(f(single, 3.0), single * numpy.float32(3) + numpy.float32(0.1))
        assert type(vmap(lambda x: x, reduce="sum")(single)) is float

    def test_float32_overflow_gives_inf_without_a_warning(self):
        single = numpy.ones(3, "f4")
        for f in (vmap(lambda x: x * 1e300), vmap(lambda x: 1e300 + 0 * x), vmap(lambda x: 1e300)):
            assert f(single).tolist() == [math.inf] * 3
        assert vmap(lambda x: cube(x) * 1e300)(single).tolist() == [math.inf] * 3

    @pytest.mark.filterwarnings("ignore:the matrix subclass")
    def test_matrices(self):
        matrix = numpy.asmatrix(TABLE)
        f = lambda x: x[0] * x[1]  # noqa: E731
        assert numpy.array_equal(vmap(f)(matrix), TABLE[:, 0] * TABLE[:, 1])
        assert type(vmap(lambda x: x)(matrix)) is numpy.ndarray
        both(vmap(lambda m, x: m[0, 1] * x, (None, 0))(matrix, SEVEN), TABLE[0, 1] * SEVEN)

    def test_memory_maps(self, tmp_path):
        numpy.save(tmp_path / "x.npy", TABLE)
        mapped = numpy.load(tmp_path / "x.npy", mmap_mode="r")
        found = vmap(lambda x: x.sum())(mapped)
        assert type(found) is numpy.ndarray
        both(found, TABLE.sum(axis=1))

    def test_results_do_not_share_memory(self):
        array = SEVEN.copy()
        first = vmap(lambda x: (x, x, [x * 1.0]))(array)
        one, two, [three] = first
        assert not any(numpy.shares_memory(x, y) for x, y in [(one, array), (one, two), (two, three), (three, array)])
        f = jit(vmap(lambda x: x))
        kept = f(array)
        f(array + 1)
        kept[:] += 1.0
        assert numpy.array_equal(kept, array + 1)
        assert numpy.array_equal(array, SEVEN)

    def test_results_without_numbers(self):
        assert vmap(lambda x: x[:0])(TABLE).shape == (7, 0)
        assert vmap(lambda x: ())(SEVEN) == ()
        assert vmap(lambda x: [], reduce="sum")(SEVEN) == []
        assert vmap(lambda x: x.sum() * 0 if x.size else 1.0)(TABLE[:, :0]).tolist() == [1.0] * 7

    def test_unbatched_results_are_broadcast(self):
        f = vmap(lambda x, k: (k, 3.0, numpy.ones(2)), (0, None), (0, -1, 1))
        found = f(SEVEN, 2.0)
        both(found, (numpy.full(7, 2.0), numpy.full(7, 3.0), numpy.ones((2, 7))))
        both(vmap(lambda x, k: k * 2, (0, None), None)(SEVEN, numpy.arange(3.0)), numpy.arange(3.0) * 2)
        assert type(vmap(lambda x: 3, out_axes=None)(SEVEN)) is int

    def test_dataclasses_and_namedtuples(self):
        rates = Rates(SEVEN, [SEVEN, TABLE])
        found = vmap(lambda r: Rates(r.short * 2, Point(*r.long)))(rates)
        assert (type(found), type(found.long)) == (Rates, Point)
        both((found.short, found.long.x, found.long.y), (SEVEN * 2, SEVEN, TABLE))
        both(vmap(lambda r: r.short * r.long, (Rates(0, None),))(Rates(SEVEN, 2.0)), SEVEN * 2)
        both(vmap(lambda p: p.x * p.y, (Point(None, 0),), 0)(Point(2.0, SEVEN)), SEVEN * 2)

    def test_network_over_a_batch(self):
        model = MLP(3, [4, 1])
        expected = numpy.array([model(list(row)).data for row in TABLE])
        with no_grad():
            both(vmap(lambda x: model(list(x)))(TABLE), expected)
        found = vmap(lambda x: model(list(x)))(TABLE)
        both([x.data for x in found], list(expected))


class TestTracing:
    def test_jit_traces_once_per_sample_structure(self):
        seen = []
        f = jit(vmap(lambda x: seen.append(x) or x * 2))
        for array in (SEVEN, SEVEN[:3], SEVEN[:0], SEVEN.astype("f4"), numpy.arange(1000)):
            assert numpy.array_equal(f(array), array * 2)
        assert len(seen) == 1
        assert f(TABLE).shape == (7, 3)
        f(TABLE[:2] + 1)
        assert len(seen) == 2

    def test_without_jit_every_call_traces(self):
        seen = []
        f = vmap(lambda x: seen.append(x) or x * len(seen))
        assert [f(SEVEN)[-1], f(SEVEN)[-1]] == [3.0, 6.0]

    @pytest.mark.parametrize("shape", [(7,), (7, 0), (7, 3)])
    @pytest.mark.parametrize("count", [1, 16, 17, 60])
    def test_calls_keep_no_references_to_arrays(self, count, shape):
        f = jit(vmap(lambda xs, y: (y + 1, [x * y for x in xs])))
        arrays = [numpy.full(shape, float(i)) for i in range(count)]
        out = (numpy.empty(7), [numpy.empty(shape) for _ in arrays])
        expected = [x.T * SEVEN for x in arrays]
        for _ in range(3):
            for given_out in (None, out, (SEVEN.copy(), arrays)):  # new arrays, other arrays, and the arguments
                before = [sys.getrefcount(x) for x in (*arrays, *out[1])]
                plus_one, products = f(arrays, SEVEN, out=given_out)
                assert numpy.array_equal(plus_one, SEVEN + 1)
                assert all(numpy.array_equal(x.T, y) for x, y in zip(products, expected, strict=True))
                del products
                assert [sys.getrefcount(x) for x in (*arrays, *out[1])] == before
            for i, x in enumerate(arrays):
                x[...] = i

    def test_dict_keys_may_come_in_any_order(self):
        f = jit(vmap(lambda both: both["b"] - 10 * both["a"]))
        for _ in range(3):
            assert numpy.array_equal(f({"b": SEVEN, "a": numpy.ones(7)}), SEVEN - 10)
            assert numpy.array_equal(f({"a": SEVEN, "b": numpy.ones(7)}), 1 - 10 * SEVEN)
        assert f.statistics.recordings == 1

    def test_unbatched_arrays_are_read_at_every_call(self):
        f = jit(vmap(lambda w, x: w @ x, (None, 0)))
        for w in (TABLE[0], TABLE[1], TABLE[::2, 0][:3]):
            both(f(w, TABLE), TABLE @ w)

    def test_tracing_with_an_empty_batch(self):
        f = jit(vmap(lambda x: 1 / x, reduce="sum"))
        assert f(SEVEN[:0]) == 0.0
        assert f(numpy.array([2.0, 4.0])) == 0.75

    def test_sum_and_mean_of_an_empty_batch(self):
        for f in (lambda x, k: x * k, lambda x, k: k, lambda x, k: k / 0, lambda x, k: math.inf):
            assert vmap(f, (0, None), reduce="sum")(SEVEN[:0], 2.0) == 0.0
            assert math.isnan(vmap(f, (0, None), reduce="mean")(SEVEN[:0], 2.0))

    @pytest.mark.parametrize("reduce", [None, "sum", "max"])
    def test_refused_branch_on_a_sample_raises_with_its_line(self, reduce):
        def f(x):
            return x if x > 0 else -x

        with pytest.raises(RecordingError, match=r"test_vmap.py:\d+: return x if x > 0 else -x"):
            jit(vmap(f, reduce=reduce), branches="refuse")(SEVEN)

    @pytest.mark.parametrize("ask", [float, math.sin, range, lambda x: x.data, lambda x: [0][x]])
    def test_conversion_to_a_number_raises(self, ask):
        with pytest.raises((RecordingError, TypeError)):
            vmap(lambda x: x * 2 if ask(x) else x)(SEVEN)

    @pytest.mark.parametrize(
        ("result", "message"),
        [
            (None, r"f\(\) returned None; it must return a number or a tree of numbers: is a `return` missing\?"),
            ({"text"}, r"the result of f\(\) is a set \(\{'text'\}\), not a number"),
            ([1.0, {"text"}], r"the result of f\(\)\[1\] is a set"),
        ],
    )
    def test_non_numeric_results_raise(self, result, message):
        def f(x):
            return result

        for made in (vmap(f), jit(vmap(f)), vmap(f, reduce="mean")):
            with pytest.raises(TypeError, match=message):
                made(SEVEN)

    def test_function_works_after_errors(self):
        fails = [True]

        def f(x, y=1.0):
            if fails:
                fails.pop()
                raise ZeroDivisionError("on purpose")
            return x * y

        g = jit(vmap(f))
        with pytest.raises(ZeroDivisionError, match="on purpose"):
            g(SEVEN)
        both(g(SEVEN), SEVEN)
        for wrong in ((SEVEN, SEVEN[:2]), (1.0,), (numpy.array("a"),), (SEVEN, [1.0])):
            with pytest.raises((TypeError, ValueError)):
                g(*wrong)
        both(g(SEVEN, SEVEN), SEVEN**2)
        with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3 were given"):
            g(SEVEN, SEVEN, SEVEN)
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            g(SEVEN, z=SEVEN)
        both(g(SEVEN), SEVEN)

    def test_invalid_out_axes_raise(self):
        g = jit(vmap(lambda x, k: (x, k), (0, None), (0, None)))
        with pytest.raises(ValueError, match=r"the result\[1\] varies"):
            jit(vmap(lambda x, k: (x, x * k), (0, None), (0, None)))(SEVEN, 2.0)
        both(g(SEVEN, 2.0), (SEVEN, 2.0))
        with pytest.raises(ValueError, match="out_axes has 1 for a number"):
            vmap(lambda x: x, out_axes=1)(SEVEN)

    def test_non_functions_and_static_arguments_raise(self):
        with pytest.raises(TypeError, match=r"vmap\(\) takes a function, not list: \[1\]"):
            vmap([1])
        with pytest.raises(TypeError, match="takes no static arguments: bind them with functools"):
            jit(vmap(lambda x: x), static_argnums=0)

    def test_names(self):
        def f(x):
            """Twice."""
            return x * 2

        assert (vmap(f).__name__, vmap(f).__doc__) == ("f", "Twice.")
        assert repr(vmap(f)) == "<vmap of f()>"
        assert repr(jit(vmap(grad(f)))) == "<jit of vmap of <grad of f()>>"

    def test_methods(self):
        class Scaled:
            rate = 3.0

            def double(self, x):
                return 2 * self.rate * x

        both(vmap(Scaled().double)(SEVEN), 6 * SEVEN)

    def test_program_and_kernel_can_be_inspected(self):
        f = jit(vmap(lambda x, k: x * k, (0, None)))
        with pytest.raises(ValueError, match="has not been called yet"):
            _ = f.program
        f(SEVEN, 2.0)
        assert len(f.program) == 1
        assert str(f.program).startswith("over the batch axes of x:\n  program(x, k):")
        assert "  r1 = r0 * k" in str(f.kernel).splitlines()
        g = vmap(cube)
        g(SEVEN)
        with pytest.raises(ValueError, match="calls Python functions, so it runs sample by sample"):
            _ = g.kernel

    def test_pickle_of_a_lowered_function(self):
        step = jit(vmap(value_and_grad(square_loss), (None, 0, 0), reduce="mean"))
        lowered = step.lower(W, TABLE, SEVEN)
        copy = pickle.loads(pickle.dumps(lowered))
        both(copy(W, TABLE, SEVEN), step(W, TABLE, SEVEN))
        both(copy(W, TABLE[:2], SEVEN[:2]), step(W, TABLE[:2], SEVEN[:2]))
        with pytest.raises(TypeError, match=r"<lowered vmap of square_loss\(\)> was lowered for samples like"):
            copy(W, TABLE[:, :2], SEVEN)
        with pytest.raises(
            ValueError, match="calls Python functions, which a batch program cannot call: it calls cube"
        ):
            vmap(cube).lower(SEVEN)

    def test_captured_numbers_are_frozen_by_jit(self):
        outside = {"k": 2.0}
        f = jit(vmap(lambda x: x * outside["k"]))
        f(SEVEN)
        outside["k"] = 3.0
        both(f(SEVEN), 2 * SEVEN)


class TestValues:
    def test_batch_of_values_gives_values(self):
        leaves = [Value(x) for x in (1.0, 2.0)]
        found = vmap(lambda x: x * x)(numpy.array(leaves, object))
        assert [x.data for x in found] == [1.0, 4.0]
        found.sum().backward()
        assert [x.grad for x in leaves] == [2.0, 4.0]

    def test_captured_values_are_read_at_every_call(self):
        w = Value(2.0)
        f = jit(vmap(lambda x: w * x, reduce="sum"))
        loss = f(numpy.array([1.0, 4.0]))
        loss.backward()
        assert (loss.data, w.grad) == (10.0, 5.0)
        w.data = 3.0
        assert f(numpy.array([1.0, 4.0])).data == 15.0
        with no_grad():
            assert f(numpy.array([1.0, 4.0])) == 15.0

    def test_unbatched_values(self):
        w = Value(2.0)
        found = vmap(lambda w, x: (w * x, w * w), (None, 0), (0, None))(w, SEVEN)
        assert found[1].data == 4.0
        (found[0].sum() + found[1]).backward()
        assert w.grad == pytest.approx(SEVEN.sum() + 4.0)
        squares = lambda w: vmap(lambda w, x: (w * x, w * w), (None, 0))(w, SEVEN)[1]  # noqa: E731
        both(jacobian(squares)(2.0), numpy.full(7, 4.0))

    def test_empty_batch_with_a_captured_value(self):
        w = Value(2.0)
        found = vmap(lambda x, k: (x * w, k * w), (0, None), (0, None))(SEVEN[:0], 3.0)
        assert found[0].shape == (0,)
        assert found[1].data == 6.0
        assert vmap(lambda x: x * w, reduce="sum")(SEVEN[:0]) == 0.0

    def test_values_are_numbers_under_no_grad(self):
        leaves = numpy.array([Value(1.0), 2.0], object)
        with no_grad():
            assert vmap(lambda x, k: x * k, (0, None))(leaves, Value(3.0)).tolist() == [3.0, 6.0]
            assert vmap(cube)(leaves).tolist() == [1.0, 8.0]

    def test_values_of_an_enclosing_function(self):
        f = lambda k: vmap(lambda x: gm.sin(k * x), reduce="sum")(SEVEN)  # noqa: E731
        expected = float((numpy.cos(2 * SEVEN) * SEVEN).sum())
        assert grad(f)(2.0) == pytest.approx(expected)
        assert jit(grad(f))(2.0) == pytest.approx(expected)
        both(vmap(grad(f))(numpy.array([2.0, 2.0])), numpy.full(2, expected))

    def test_outer_traces_do_not_leak_into_the_cache(self):
        inner = jit(vmap(lambda x, k: x * k, (0, None)))
        both(jit(lambda k: inner(SEVEN, k))(2.0), 2 * SEVEN)
        both(inner(SEVEN, 3.0), 3 * SEVEN)
        both(jit(lambda k: inner(SEVEN, k))(4.0), 4 * SEVEN)

    def test_stop_gradient(self):
        both(vmap(grad(lambda x: x * stop_gradient(x)))(SEVEN), SEVEN)


class TestPrimitives:
    def test_primitive_is_called_once_per_sample(self):
        both(vmap(cube)(SEVEN), SEVEN**3)
        both(vmap(lambda x: cube(x) + 1, reduce="sum")(SEVEN), (SEVEN**3 + 1).sum())
        both(jit(vmap(grad(lambda x: cube(x) * 2)))(SEVEN), 6 * SEVEN**2)
        assert vmap(cube)(SEVEN.astype("f4")).dtype == numpy.float32
        assert vmap(cube)(SEVEN[:0]).shape == (0,)

    def test_primitive_of_an_unbatched_argument(self):
        f = vmap(lambda x, k: (x * cube(k), cube(k), k), (0, None), (0, None, None))
        both(f(SEVEN, 2.0), (SEVEN * 8, 8.0, 2.0))
        mixed = vmap(lambda x, k: (cube(x), cube(k), k + 1), (0, None), (0, None, 0))
        both(mixed(SEVEN, 2.0), (SEVEN**3, 8.0, numpy.full(7, 3.0)))
        both(mixed(SEVEN[:0], 2.0), (SEVEN[:0], 8.0, numpy.zeros(0)))
        with pytest.raises(ValueError, match=r"the result\[0\] varies"):
            vmap(lambda x, k: (cube(x), k), (0, None), (None, None))(SEVEN, 2.0)

    def test_errors_of_primitives_propagate(self):
        @primitive
        def picky(x):
            if x > 2:
                raise LookupError(f"{x} is too large")
            return x

        f = jit(vmap(picky))
        with pytest.raises(LookupError, match="is too large"):
            f(SEVEN)
        both(f(SEVEN[:3]), SEVEN[:3])

    def test_checkpoints(self):
        f = checkpoint(lambda x: gm.sin(x) * x)
        both(vmap(f)(SEVEN), numpy.sin(SEVEN) * SEVEN)
        both(vmap(grad(f))(SEVEN), numpy.cos(SEVEN) * SEVEN + numpy.sin(SEVEN))


class TestNans:
    def test_nan_stays_in_its_lane(self):
        array = numpy.where(numpy.arange(300) % 7 == 3, math.nan, numpy.arange(300.0))
        found = vmap(lambda x: gm.log(x) * 2 - x)(array)
        with numpy.errstate(all="ignore"):
            expected = numpy.log(array) * 2 - array
        numpy.testing.assert_allclose(found, expected, rtol=1e-14)

    def test_debug_nans_raises(self):
        f = jit(vmap(gm.log))
        both(f(numpy.ones(3)), numpy.zeros(3))
        with debug_nans(), pytest.raises(FloatingPointError, match="-inf"):
            f(numpy.array([1.0, 0.0]))
        with debug_nans():
            both(f(numpy.array([1.0, 1.0])), numpy.zeros(2))
            assert vmap(lambda x: x * x, reduce="mean")(SEVEN) == pytest.approx((SEVEN**2).mean())
        assert f(numpy.zeros(1)).tolist() == [-math.inf]


class TestThreads:
    def test_results_do_not_depend_on_thread_count(self, monkeypatch):
        monkeypatch.setattr(lane_kernel, "_LEAST_WORK", 0)
        x = numpy.random.default_rng(0).normal(size=20_000 if IS_COMPILED else 500)
        f = jit(vmap(lambda x: (gm.sin(x) * x, x.exp()), reduce="mean"))
        g = jit(vmap(lambda x: gm.sin(x) * x))
        results = set()
        for count in (1, 2, 5):
            with threads(count):
                results.add((f(x), g(x).tobytes()))
        assert len(results) == 1

    def test_threads_may_call_the_same_function(self):
        f = jit(vmap(lambda x, k: x * k + k, (0, None)))
        wrong = []

        def work(k):
            for _ in range(30 if IS_COMPILED else 5):
                wrong.extend(f(SEVEN, k) != SEVEN * k + k)
                wrong.extend(f(TABLE, k).ravel() != (TABLE * k + k).ravel())

        workers = [threading.Thread(target=work, args=(float(k),)) for k in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not any(wrong)


@pytest.mark.parametrize("instruction_set", lane_kernel.INSTRUCTION_SETS)
@fewer(10)
@given(case=cases(list(EXACT)), count=st.sampled_from([0, 1, 37]), seed=st.integers(0, 2**32 - 1))
def test_batch_equals_samples_run_one_at_a_time(instruction_set, case, count, seed):
    assume(any(case.varies))
    shared, columns = case.batch(seed, count)
    numbers, arrays = iter(shared.tolist()), iter(columns)
    args = [next(arrays) if varies else next(numbers) for varies in case.varies]
    f = vmap(lambda *args: tuple(case.program(list(args))), tuple([0 if varies else None for varies in case.varies]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADWALK_INSTRUCTION_SET", instruction_set)
        found = f(*args)
    assert same(numpy.stack(found, axis=1), case.one_at_a_time(shared, columns, count)).all()


class TestReductions:
    def test_sum_adds_results_not_their_terms(self):
        x = numpy.full(3, 1e308)
        assert vmap(lambda x, y: x + y, reduce="sum")(x, -x) == 0.0

    @pytest.mark.parametrize("number", [0.1, 1e308])
    def test_mean_of_equal_numbers_is_exact(self, number):
        assert vmap(lambda x: number, reduce="mean")(numpy.zeros(3)) == number

    def test_reduction_of_float32_arrays_is_float32(self):
        w, x = numpy.ones(2, numpy.float32), numpy.ones((5, 2), numpy.float32)
        value, gradient = jit(vmap(value_and_grad(lambda w, x: (w @ x) ** 2), in_axes=(None, 0), reduce="mean"))(w, x)
        assert value == 4.0
        assert gradient.dtype == numpy.float32
        assert gradient.tolist() == [4.0, 4.0]

    def test_grad_of_a_jitted_reduction_traces_once(self):
        calls = []

        def f(w, x):
            calls.append(1)
            return w * x

        slope = grad(jit(vmap(f, in_axes=(None, 0), reduce="sum")))
        assert [slope(2.0, numpy.arange(4.0)) for _ in range(3)] == [6.0] * 3
        assert len(calls) == 1


def test_primitive_of_unbatched_argument_is_called_once():
    calls = []

    @primitive
    def twice(k):
        calls.append(k)
        return 2.0 * k

    f = jit(vmap(lambda k, x: twice(k) * x, in_axes=(None, 0)))
    f(3.0, numpy.arange(100.0))
    before = len(calls)
    assert f(4.0, numpy.arange(100.0))[2] == 16.0
    assert len(calls) == before + 1


class Foreign:
    def __array__(self, dtype=None, copy=None):
        return numpy.arange(3.0)


def test_arrays_of_other_libraries_are_accepted():
    assert vmap(lambda x: x * x)(Foreign()).tolist() == [0.0, 1.0, 4.0]
