"""Tests of batched arguments, their batch axes and the errors for arguments that do not fit."""

from __future__ import annotations

import collections
import dataclasses
import re
from typing import Any

import numpy
import pytest

from gradwalk import Value
from gradwalk.batching.axes import Batching, as_array, plain_numbers, spread
from gradwalk.nn import MLP
from gradwalk.trees.tree import SCALAR, Parameters, flatten

Point = collections.namedtuple("Point", "x y")
X = numpy.arange(12.0).reshape(3, 4)


@dataclasses.dataclass
class Rates:
    short: Any
    long: Any


def f(x, rate=None, *rest, **more): ...


def batched(*args, in_axes=0, out_axes=0, reduce=None, **kwargs):
    return Batching("f()", Parameters(f), in_axes, out_axes, reduce).checked().batch(args, kwargs)


def structure(tree):
    return flatten(tree, "it")[1]


class TestSpreading:
    @pytest.mark.parametrize("axis", [0, 1, -1, None])
    def test_one_axis_applies_to_all_leaves_below_it(self, axis):
        assert spread(axis, structure({"a": X, "b": [X, (X, X)]}), "in_axes") == [axis] * 4

    @pytest.mark.parametrize(
        ("axes", "tree", "expected"),
        [
            ((0, None), (X, X), [0, None]),
            ([0, 1], [X, X], [0, 1]),
            ((0, 1), [X, X], [0, 1]),
            ({"b": 1, "a": None}, {"a": X, "b": [X, X]}, [None, 1, 1]),
            ({"a": 0, "b": (1, 2)}, {"b": [X, X], "a": X}, [0, 1, 2]),
            ({"a": 0}, collections.OrderedDict(a=X), [0]),
            (collections.OrderedDict(b=1, a=0), {"a": X, "b": X}, [0, 1]),
            (Point(0, None), Point(X, X), [0, None]),
            ((1, 0), Point(X, X), [1, 0]),
            ([Rates(0, None)], [Rates(X, X)], [0, None]),
            (Rates({"a": 1}, -1), Rates({"a": X}, [X, X]), [1, -1, -1]),
            ((), (), []),
            ([[], 0], [[], X], [0]),
        ],
    )
    def test_axes_and_arguments_are_flattened_together(self, axes, tree, expected):
        assert spread(axes, structure(tree), "in_axes") == expected

    @pytest.mark.parametrize(
        ("axes", "tree", "what"),
        [
            ((0,), (X, X), "in_axes is (0,), which does not fit (array of shape (3, 4), array of shape (3, 4))"),
            ({"a": 0}, {"b": X}, "in_axes is {'a': 0}, which does not fit {'b': array of shape (3, 4)}"),
            ((0, 1), X, "in_axes is (0, 1), which does not fit an array of shape (3, 4)"),
            ((), X, "in_axes is (), which does not fit an array of shape (3, 4)"),
            ({}, X, "in_axes is {}, which does not fit an array of shape (3, 4)"),
            ((0, (0, 0)), (X, [X]), "in_axes[1] is (0, 0), which does not fit [array of shape (3, 4)]"),
            ({"a": (0, "1")}, {"a": (X, X)}, "in_axes['a'][1] is '1', which does not fit an array of shape (3, 4)"),
            (0.0, X, "in_axes is 0.0, which does not fit an array of shape (3, 4)"),
            (True, X, "in_axes is True, which does not fit an array of shape (3, 4)"),
            ((), MLP(2, [1]), "in_axes is (), which does not fit a"),
        ],
    )
    def test_trees_of_different_structure_raise(self, axes, tree, what):
        with pytest.raises(ValueError, match=f"^{re.escape(what)}.*: give an int, None, or a tree like it$"):
            spread(axes, structure(tree), "in_axes")


class TestArguments:
    def test_batch_axis_is_moved_to_the_front(self):
        batch = batched(X, {"a": X.T, "b": 2.0}, in_axes=(0, {"a": -1, "b": None}))
        assert [leaf.tolist() if isinstance(leaf, numpy.ndarray) else leaf for leaf in batch.leaves] == [
            X.tolist(),
            X.tolist(),
            2.0,
        ]
        assert (batch.varies, batch.size) == ([True, True, False], 3)
        assert batch.shapes == [(4,), (4,), *SCALAR.shapes]
        assert batch.names == ["x", "rate"]

    def test_keyword_arguments_are_batched_along_axis_0(self):
        batch = batched(X[0], b=X.T, a=X[0])
        assert (batch.names, batch.positional, batch.size) == (["x", "a", "b"], 1, 4)
        assert batch.shapes == [*SCALAR.shapes, *SCALAR.shapes, (3,)]

    def test_columns_share_memory_with_the_arguments(self):
        for array in (X, X.T, X[::-1], numpy.broadcast_to(X[0], (5, 4))):
            [column] = batched(array, in_axes=(1,)).columns()
            assert numpy.shares_memory(column, array)

    def test_sample_and_rows_select_samples(self):
        batch = batched(X, {"k": X}, in_axes=(1, None))
        assert [leaf.tolist() for leaf in batch.sample(2)] == [X[:, 2].tolist(), X.tolist()]
        assert batch.rows(1, 3).size == 2
        assert batch.rows(1, 3).sample(0)[0].tolist() == X[:, 1].tolist()

    def test_example_is_the_first_sample(self):
        column, tree = batched(X, [X[0], 2.0], in_axes=(1, [0, None])).example()
        assert column.tolist() == X[:, 0].tolist()
        assert (tree, type(tree[0])) == ([0.0, 2.0], float)

    def test_example_of_an_empty_batch_is_zeros(self):
        [array, number] = batched(X[:0], X[0, :0]).example()
        assert (array.tolist(), number) == ([0.0] * 4, 0.0)

    @pytest.mark.parametrize(
        ("array", "kind"),
        [
            *((numpy.ones(3, kind), numpy.float64) for kind in ("f8", ">f8", "f2", "g", "i4", "u1", "?", "O")),
            *((numpy.ones(3, kind), numpy.float32) for kind in ("f4", ">f4", "<f4")),
        ],
    )
    def test_dtype_of_the_batch(self, array, kind):
        batch = batched(array)
        assert batch.kind is kind
        [column] = batch.columns()
        assert (column.dtype, column.tolist()) == (kind, [1.0] * 3)

    def test_unbatched_arrays_affect_the_dtype(self):
        single = numpy.ones(3, "f4")
        assert batched(single, 2.0, in_axes=(0, None)).kind is numpy.float32
        assert batched(single, single, in_axes=(0, None)).kind is numpy.float32
        assert batched(single, numpy.ones(2), in_axes=(0, None)).kind is numpy.float64

    @pytest.mark.filterwarnings("ignore:the matrix subclass")
    def test_matrices_are_arrays_of_rows(self):
        batch = batched(numpy.asmatrix(X))
        assert [leaf.shape for leaf in batch.sample(0)] == [(4,)]
        assert type(batch.columns()[0]) is numpy.ndarray

    def test_has_values_detects_values(self):
        values = numpy.array([Value(1.0), 2.0], object)
        assert not batched(X).has_values
        assert not batched(numpy.array([1.0, 2], object)).has_values
        assert batched(values).has_values
        assert batched(X, Value(1.0), in_axes=(0, None)).has_values
        assert batched(values).columns()[0].tolist() == [1.0, 2.0]

    def test_key_differs_when_a_new_trace_is_needed(self):
        keys = [
            batched(X).key,
            batched(X.T).key,
            batched(X, in_axes=1).key,
            batched(X[0]).key,
            batched([X]).key,
            batched(X, X).key,
            batched(X, X, in_axes=(0, None)).key,
            batched(X, X, in_axes=(None, 0)).key,
            batched(X, a=X).key,
            batched(X, b=X).key,
        ]
        same = [batched(X[:2]).key, batched(X.astype("f4")).key, batched(X.T, in_axes=1).key]
        assert set(same) == {keys[0]}
        assert len(set(keys)) == len(keys) - 1  # axis 1 of (3, 4) and axis 0 of the transpose both give 4 samples of 3
        assert keys[1] == keys[2]


class TestInvalidArguments:
    @pytest.mark.parametrize("in_axes", ["0", 1.0, {"x": 0}, numpy.int64(0), {0}])
    def test_in_axes_of_invalid_type_raises(self, in_axes):
        with pytest.raises(
            TypeError, match="in_axes must be an int, None or a tuple with one entry for each argument, got"
        ):
            batched(X, in_axes=in_axes)

    @pytest.mark.parametrize("reduce", ["avg", "Sum", "", 0, True])
    def test_unknown_reductions_raise(self, reduce):
        with pytest.raises(
            ValueError, match=r"give one of 'sum', 'mean', 'max'.*, or None for the results of all samples"
        ):
            batched(X, reduce=reduce)

    @pytest.mark.parametrize("out_axes", [1, None, (0, 0)])
    def test_out_axes_with_a_reduction_raises(self, out_axes):
        with pytest.raises(ValueError, match="with reduce='sum': a reduced result has no batch axis"):
            batched(X, reduce="sum", out_axes=out_axes)

    def test_in_axes_of_wrong_length_raises(self):
        with pytest.raises(
            ValueError, match=r"in_axes=\(0, 0\) has 2 entries, but f\(\) was called with 1 positional arg"
        ):
            batched(X, in_axes=(0, 0))
        with pytest.raises(ValueError, match="was called with 2 positional arguments: give one entry for each"):
            batched(X, X, in_axes=[0], a=X)

    @pytest.mark.parametrize("axis", [2, -3, 17])
    def test_axes_out_of_range_raise(self, axis):
        with pytest.raises(
            ValueError, match=rf"x is or contains an array of shape \(3, 4\), which has no axis {axis}: in_ax"
        ):
            batched(X, in_axes=axis)

    def test_zero_dimensional_arrays_raise(self):
        with pytest.raises(ValueError, match=r"x is or contains an array of shape \(\), which has no axis 0"):
            batched(numpy.array(1.0))

    @pytest.mark.parametrize("number", [1.0, [1.0, 2.0], {"a": X, "b": 1}, Value(1.0), numpy.float64(1.0), MLP(1, [1])])
    def test_batched_numbers_raise(self, number):
        with pytest.raises(TypeError, match="rate is or contains a number, which has no axis 0: give a NumPy array"):
            batched(X, number)

    @pytest.mark.parametrize(("args", "in_axes"), [((X, 1.0), None), ((X, X), (None, [None])), ((), 0), (([],), 0)])
    def test_call_without_a_batch_axis_raises(self, args, in_axes):
        if in_axes == (None, [None]):
            args = (X, [X])
        with pytest.raises(ValueError, match="none of them has a batch axis"):
            batched(*args, in_axes=in_axes)

    def test_batches_of_different_sizes_raise(self):
        message = (
            "the batches of f() have different sizes: x, of shape (3, 4), has 3 along axis 0; rate, of shape (4, 3), "
            "has 4 along axis 0. Give batches of one size, and None in in_axes for arguments that all samples share"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            batched(X, [X.T, X], in_axes=(0, [0, 1]))
        with pytest.raises(ValueError, match="have different sizes"):
            batched(X, a=X[0])

    @pytest.mark.parametrize(
        "leaf",
        [
            numpy.array(["a"]),
            numpy.ma.array([1.0]),
            numpy.array([None]),
            numpy.array([[1], 2], object),
        ],
        ids=["text", "masked", "None", "ragged"],
    )
    def test_non_numeric_arrays_raise(self, leaf):
        with pytest.raises(TypeError, match=r"x is an? |an element of x is "):
            batched(leaf)

    def test_structured_arrays_raise(self):
        with pytest.raises(TypeError, match="x is an array of "):
            batched(numpy.zeros(3, [("a", "f8")]))


class TestReducing:
    def test_sums_and_means(self):
        reduced = {reduce: Batching("f()", Parameters(f), 0, 0, reduce) for reduce in ("sum", "mean")}
        sums = numpy.array([6.0, -0.0, numpy.inf])
        assert reduced["sum"].of_sums(sums, 3).tolist() == [6.0, 0.0, numpy.inf]
        assert reduced["mean"].of_sums(sums, 3).tolist() == [2.0, 0.0, numpy.inf]
        assert numpy.isnan(reduced["mean"].of_sums(numpy.zeros(2), 0)).all()


def test_as_array_and_plain_numbers():
    assert as_array([1.0, 2.0]).dtype == numpy.float64
    values = [Value(1.0), 2.0]
    assert as_array(values).tolist() == values
    assert plain_numbers([values[0], 3, numpy.array(values)]) == [1.0, 3.0, 1.0, 2.0]
