"""Tests of the arrays for the results of a batch: their batch axes and how they are filled."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gradwalk.batching.outputs import Outputs
from gradwalk.trees.tree import flatten

X = numpy.arange(12.0).reshape(3, 4)


def structure(tree: Any) -> Any:
    return flatten(tree, "it")[1]


class TestNewArrays:
    @pytest.mark.parametrize(
        ("shape", "axis", "whole"),
        [
            ((), 0, (5,)),
            ((), -1, (5,)),
            ((2, 3), 0, (5, 2, 3)),
            ((2, 3), 1, (2, 5, 3)),
            ((2, 3), 2, (2, 3, 5)),
            ((2, 3), -1, (2, 3, 5)),
            ((2, 3), -3, (5, 2, 3)),
            ((0,), 1, (0, 5)),
        ],
    )
    def test_batch_axis_follows_out_axes(self, shape, axis, whole):
        outputs = Outputs(structure(numpy.zeros(shape)), axis, 5, numpy.float64)
        assert outputs.columns[0].shape == (5, *shape)
        assert outputs.tree().shape == whole
        assert outputs.tree().flags.c_contiguous

    def test_fill_writes_one_result_at_a_time(self):
        tree = {"a": numpy.zeros((2, 2)), "b": [1.0, numpy.zeros(0), 2.0]}
        outputs = Outputs(structure(tree), {"a": 1, "b": [0, 0, None]}, 3, numpy.float32)
        for position in range(5):
            outputs.fill(position, numpy.arange(3.0) + 10 * position)
        outputs.fill(5, 7.0)
        found = outputs.tree()
        assert found["a"].tolist() == [[[0, 10], [1, 11], [2, 12]], [[20, 30], [21, 31], [22, 32]]]
        assert [x.tolist() if isinstance(x, numpy.ndarray) else x for x in found["b"]] == [[40, 41, 42], [[]] * 3, 7.0]
        assert (found["a"].dtype, type(found["b"][2])) == (numpy.float32, float)

    def test_numbers_too_large_for_float32_become_inf(self):
        outputs = Outputs(structure(1.0), 0, 2, numpy.float32)
        outputs.fill(0, 1e300)
        assert outputs.tree().tolist() == [numpy.inf] * 2

    @pytest.mark.parametrize("axis", [3, -4, 9])
    def test_out_axes_out_of_range_raise(self, axis):
        with pytest.raises(
            ValueError, match=rf"out_axes has {axis} for an array of shape \(3, 4\): .* must be from -3 to 2"
        ):
            Outputs(structure(X), axis, 5, numpy.float64)
        with pytest.raises(ValueError, match=r"out_axes has 1 for a number: .* must be from -1 to 0"):
            Outputs(structure(1.0), 1, 5, numpy.float64)

    def test_batched_results_need_an_axis(self):
        outputs = Outputs(structure((1.0, {"a": X, "b": 2.0})), (0, {"a": None, "b": None}), 5, numpy.float64)
        outputs.refuse_varying(range(1, 14))
        with pytest.raises(ValueError, match=r"the result\[1\]\['b'\] varies: give the axis"):
            outputs.refuse_varying(range(1, 13))
        with pytest.raises(ValueError, match=r"the result\[1\]\['a'\] varies"):
            outputs.refuse_varying([*range(1, 12), 13])


class TestGivenArrays:
    """Tests of `Outputs` with arrays given by `out=`; test_out_argument.py tests `out=` itself."""

    @pytest.mark.parametrize("axis", [0, 1, 2, -1, None])
    def test_given_arrays_are_filled_in_place(self, axis):
        whole = (2, 3) if axis is None else numpy.insert((2, 3), axis % 3, 5)
        target = numpy.zeros(numpy.multiply(whole, 2))[tuple([slice(None, None, -2)] * len(whole))]
        outputs = Outputs(structure(numpy.zeros((2, 3))), axis, 5, numpy.float64, target)
        for position in range(6):
            outputs.fill(position, float(position))
        assert outputs.tree() is target
        samples = target[None] if axis is None else numpy.moveaxis(target, axis, 0)
        assert numpy.array_equal(samples, numpy.broadcast_to(numpy.arange(6.0).reshape(2, 3), samples.shape))

    def test_none_requests_a_new_array(self):
        target = numpy.zeros(3)
        outputs = Outputs(structure([1.0, {"a": 1.0}]), 0, 3, numpy.float64, [None, {"a": target}])
        outputs.fill(0, 1.0)
        outputs.fill(1, 2.0)
        new, given = outputs.tree()
        assert given["a"] is target
        assert (new.tolist(), target.tolist()) == ([1.0] * 3, [2.0] * 3)

    def test_arrays_that_overlap_inputs_are_written_last(self):
        shared, own = numpy.arange(6.0), numpy.zeros(6)
        outputs = Outputs(structure((1.0, 1.0)), 0, 6, numpy.float64, (shared, own))
        outputs.keep_apart([shared[::-1]])
        outputs.fill(0, 7.0)
        outputs.fill(1, 7.0)
        assert (shared.tolist(), own.tolist()) == (list(range(6)), [7.0] * 6)
        assert outputs.tree()[0] is shared
        assert shared.tolist() == [7.0] * 6
