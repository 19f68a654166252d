"""Tests of predicates such as `isnan`: bools for numbers and Values, conditions for `where` in recordings."""

from __future__ import annotations

import itertools
import math

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import Value, grad, jit, vmap

NUMBERS = (0.0, -0.0, 1.0, 1.0 + 1e-12, 1.0 + 1e-6, -2.5, 1e308, 5e-324, math.inf, -math.inf, math.nan)
OF_ONE = ("isnan", "isinf", "isfinite")


@pytest.mark.parametrize("name", OF_ONE)
def test_predicates_agree_with_python(name):
    mine, pythons = getattr(gm, name), getattr(math, name)
    for x in NUMBERS:
        for given in (x, Value(x), numpy.float64(x)):
            assert mine(given) is pythons(x)
    assert mine(numpy.array(NUMBERS)).tolist() == [pythons(x) for x in NUMBERS]
    assert mine([Value(x) for x in NUMBERS]).dtype == bool


@pytest.mark.parametrize("tolerances", [{}, {"rel_tol": 0.0}, {"abs_tol": 0.5}, {"rel_tol": 1e-5, "abs_tol": 1e-300}])
def test_isclose_agrees_with_python(tolerances):
    for a, b in itertools.product(NUMBERS, repeat=2):
        expected = math.isclose(a, b, **tolerances)
        for x, y in ((a, b), (Value(a), b), (Value(a), Value(b))):
            assert gm.isclose(x, y, **tolerances) is expected
        assert jit(lambda x, y: gm.isclose(x, y, **tolerances))(a, b) == expected
    columns = numpy.array([*itertools.product(NUMBERS, repeat=2)]).T
    found = vmap(lambda x, y: gm.isclose(x, y, **tolerances))(*columns)
    assert found.tolist() == [math.isclose(a, b, **tolerances) for a, b in columns.T]
    assert gm.isclose([1.0, 2.0], [1.0, 3.0]).tolist() == [True, False]


def test_tolerances_must_not_be_negative():
    with pytest.raises(ValueError, match=r"must not be negative, got -1.0 and 0.0"):
        gm.isclose(1.0, 1.0, rel_tol=-1.0)


@pytest.mark.parametrize("name", OF_ONE)
def test_recorded_predicates_in_where(name):
    def f(x):
        return gm.where(getattr(gm, name)(x), 3.0, 2.0 * x)

    expected = [3.0 if getattr(math, name)(x) else 2.0 * x for x in NUMBERS]
    recorded = jit(f)
    numpy.testing.assert_array_equal([recorded(x) for x in NUMBERS], expected)
    numpy.testing.assert_array_equal(vmap(f)(numpy.array(NUMBERS)), expected)
    for x in NUMBERS:
        slope = 0.0 if getattr(math, name)(x) else 2.0
        numpy.testing.assert_array_equal([grad(f)(x), jit(grad(f))(x)], [slope, slope])
