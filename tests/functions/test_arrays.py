"""Functions of gradwalk.math on arrays and lists, as NumPy's ufuncs take them."""

from __future__ import annotations

import math

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import Value, grad, jit, value_and_grad, vmap
from gradwalk.ops.table import TABLE

OF_ONE = [row.name for row in TABLE if row.is_function and row.arity == 1]
ELSEWHERE = {"acosh": [1.25, 1.5, 1.75], "log1mexp": [-0.25, -0.5, -0.75]}  # where they are real numbers
OTHERS = ["degrees", "radians", "elu", "leaky_relu", "clip", "smooth_abs", "smooth_max", "hypot", "maximum", "log"]


@pytest.mark.parametrize("name", [*OF_ONE, *OTHERS])
def test_arrays_and_lists_give_arrays(name):
    f = getattr(gm, name)
    numbers = ELSEWHERE.get(name, [0.25, 0.5, 0.75])
    expected = [f(x) for x in numbers]
    for given in (numbers, tuple(numbers), numpy.array(numbers), numpy.array(numbers, dtype=object)):
        found = f(given)
        assert isinstance(found, numpy.ndarray)
        assert found.dtype == float
        assert found.tolist() == expected
    leaves = [Value(x) for x in numbers]
    for given in (leaves, numpy.array(leaves)):
        assert [x.data for x in f(given)] == expected


@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "maximum", "minimum", "mod", "fmod", "logaddexp", "log"])
def test_arrays_are_broadcast(name):
    f = getattr(gm, name)
    column, row = numpy.array([[0.25], [2.5]]), [0.5, 3.0, 4.0]
    expected = [[f(x, y) for y in row] for [x] in column]
    assert f(column, row).tolist() == expected
    assert f(column, 3.0).tolist() == [[f(x, 3.0)] for [x] in column]
    v = Value(3.0)
    for found in (f(column, v)[1, 0], f(v, column)[1, 0]):
        found.backward()
    assert v.grad == grad(f, 1)(2.5, 3.0) + grad(f)(3.0, 2.5)


def test_functions_of_three_and_more():
    assert gm.where([1.0, 0.0], 2.0, [3.0, 4.0]).tolist() == [2.0, 4.0]
    assert gm.maximum([1.0, 5.0], 2.0, [[3.0], [4.0]]).tolist() == [[3.0, 5.0], [4.0, 5.0]]
    assert gm.hypot([2.0, 0.0], [3.0, 3.0], [6.0, 4.0]).tolist() == [7.0, 5.0]
    assert gm.sin([]).tolist() == []


def test_arrays_of_recorded_values():
    def loss(xs):
        return sum(gm.sigmoid(numpy.array(xs)) * [1.0, 2.0])

    expected = value_and_grad(lambda a, b: gm.sigmoid(a) + 2 * gm.sigmoid(b), (0, 1))(0.3, -0.4)
    value, slopes = jit(value_and_grad(loss))([0.3, -0.4])
    assert (value, tuple(slopes)) == expected
    _, columns = vmap(value_and_grad(loss))([numpy.array([0.3]), numpy.array([-0.4])])
    assert [column[0] for column in columns] == pytest.approx(expected[1], rel=1e-14)


def test_what_is_no_array_of_numbers_is_refused():
    with pytest.raises(TypeError, match=r"sin\(\) takes Values and real numbers, not \(str\)"):
        gm.sin(["a"])
    with pytest.raises(TypeError, match=r"sin\(\) takes Values and real numbers, not \(set\)"):
        gm.sin({1.0})
    with pytest.raises(ValueError, match="inhomogeneous"):
        gm.sin([[1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="broadcast"):
        gm.pow([1.0, 2.0], [1.0, 2.0, 3.0])


def test_results_are_float64():
    assert gm.sin(numpy.float32([0.5])).dtype == numpy.float64
    assert gm.abs([True, -2]).tolist() == [1.0, 2.0]
    assert type(gm.sin(numpy.array([0.5])[0])) is float
    assert math.isnan(gm.log(numpy.array([-1.0]))[0])
