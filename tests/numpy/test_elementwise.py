"""Tests of elementwise selection, comparison and predicates, compared with JAX."""

from __future__ import annotations

import numpy
import pytest
from beside_jax import as_values, check, numbers
from hypothesis import given
from hypothesis import strategies as st

import gradwalk.numpy as gnp
from gradwalk import Value, grad, jit, vmap

X = numpy.array([[0.5, -1.5, 2.0], [1.25, -0.25, 0.75]])
Y = numpy.array([[0.75, -2.0, 0.5], [1.0, 0.5, -0.75]])
TIED = numpy.array([[0.75, -1.5, 0.5], [1.25, 0.5, 0.75]])  # ties with Y

CASES = {
    "where": lambda np, x, y: np.where(np.less(x, y), x * y, x * x - y),
    "where by a Value": lambda np, x, y: np.where(np.where(np.less(x, y), x, 0.0), x * y, x * x - y),
    "where broadcast": lambda np, x, y: np.where(np.greater(x[:, :1], 0.0), x * y, y[0]),
    "maximum": lambda np, x, y: np.maximum(x * x, y),
    "minimum": lambda np, x, y: np.minimum(x * x, y),
    "maximum of a number": lambda np, x, y: np.maximum(x, 0.5) * y,
    "clip": lambda np, x, y: np.clip(x * x * x, -1.0, y * y),
    "clip with the array API's names": lambda np, x, y: np.clip(x * x * x, min=-1.0, max=y * y),
    "clip by min": lambda np, x, y: np.clip(x * x, min=1.0) * y,
    "clip from below": lambda np, x, y: np.clip(x * x, 1.0, None) * y,
    "clip from above": lambda np, x, y: np.clip(x * x, None, 1.0) * y,
    "sign": lambda np, x, y: np.sign(x) * x * y,
    "divmod": lambda np, x, y: np.divmod(x * x, y)[0] * x + np.divmod(x * x, y)[1] * y,
    "nan_to_num": lambda np, x, y: np.nan_to_num(x * y),
    "less_equal": lambda np, x, y: np.where(np.less_equal(x, y), x * x, y),
    "greater_equal": lambda np, x, y: np.where(np.greater_equal(x, y), x * x, y),
    "equal": lambda np, x, y: np.where(np.equal(x, y), x * x, y * x * x),
    "not_equal": lambda np, x, y: np.where(np.not_equal(x, y), x * x, y * x * x),
    "and": lambda np, x, y: np.where(np.logical_and(np.greater(x, 0.0), np.greater(y, 0.0)), x * x, y),
    "or": lambda np, x, y: np.where(np.logical_or(np.greater(x, 0.0), np.greater(y, 0.0)), x * x, y),
    "not": lambda np, x, y: np.where(np.logical_not(np.less(x, y)), x * x, y),
}

NAN, INF = numpy.nan, numpy.inf
SPECIAL = numpy.array([NAN, INF, -INF, 0.0, -0.0, 2.0])
TESTS = {
    "isnan": lambda np, x: np.isnan(x),
    "isinf": lambda np, x: np.isinf(x),
    "isfinite": lambda np, x: np.isfinite(x),
    "sign": lambda np, x: np.sign(x),
    "nan_to_num": lambda np, x: np.nan_to_num(x),
    "nan_to_num with given numbers": lambda np, x: np.nan_to_num(x, nan=5.0, posinf=6.0, neginf=7.0),
    "maximum": lambda np, x: np.maximum(x, x[::-1]),
    "minimum": lambda np, x: np.minimum(x, x[::-1]),
    "clip": lambda np, x: np.clip(x, -1.0, 1.0),
    "less": lambda np, x: np.less(x, 1.0),
    "not_equal": lambda np, x: np.not_equal(x, x),
    "or": lambda np, x: np.logical_or(x, 0.0),
    "and": lambda np, x: np.logical_and(x, 1.0),
    "not": lambda np, x: np.logical_not(x),
    "where": lambda np, x: np.where(x, 1.0, 2.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("x", [X, TIED], ids=["apart", "tied"])
def test_values_and_derivatives_agree_with_jax(name, x):
    check(CASES[name], x, Y)


@pytest.mark.parametrize("name", TESTS)
def test_special_numbers_agree_with_numpy(name):
    f = TESTS[name]
    expected = numpy.asarray(f(numpy, SPECIAL), dtype=float)
    for found in (
        numbers(f(gnp, as_values(SPECIAL))),
        f(gnp, SPECIAL),
        jit(lambda x: f(gnp, x))(SPECIAL),
        vmap(lambda x: f(gnp, x))(numpy.stack([SPECIAL, SPECIAL]))[1],
    ):
        numpy.testing.assert_array_equal(numpy.asarray(found, dtype=float), expected)


@pytest.mark.parametrize("transform", [lambda f: f, jit], ids=["grad", "jit"])
def test_replaced_elements_get_no_gradient(transform):
    derivative = transform(grad(lambda x: (gnp.nan_to_num(x, posinf=3.0, neginf=-3.0) ** 2).sum()))
    assert derivative(SPECIAL).tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 4.0]
    guarded = transform(grad(lambda x: gnp.where(gnp.isfinite(x), x * x, 0.0).sum()))
    finite = numpy.isfinite(SPECIAL)
    assert guarded(SPECIAL)[finite].tolist() == [0.0, 0.0, 4.0]


@given(st.lists(st.floats(width=32), min_size=1, max_size=6), st.floats(width=32))
def test_numbers_agree_with_numpy(xs, y):
    for name in ("maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        expected = getattr(numpy, name)(xs, y)
        assert numpy.array_equal(getattr(gnp, name)(xs, y), expected, equal_nan=True)
        of_values = numbers(getattr(gnp, name)(as_values(numpy.array(xs)), y))
        assert numpy.array_equal(of_values, numpy.asarray(expected, dtype=float), equal_nan=True)


def test_divmod_agrees_with_numpy():
    pairs = numpy.array(numpy.meshgrid(SPECIAL, SPECIAL))
    with numpy.errstate(invalid="ignore", divide="ignore"):
        numpy.testing.assert_array_equal(gnp.divmod(*pairs), numpy.divmod(*pairs))
    assert gnp.divmod(-7, 2) == (-4, 1)


def test_results_of_scalars_are_scalars():
    assert isinstance(gnp.maximum(Value(1.0), 2.0), Value)
    assert isinstance(gnp.where(True, Value(1.0), 2.0), Value)
    assert gnp.less(Value(1.0), 2.0)


def test_known_condition_creates_no_nodes():
    x, y = as_values(X), as_values(Y)
    chosen = gnp.where(gnp.less(x, y), x, y)
    assert all(node is x[at] or node is y[at] for at, node in numpy.ndenumerate(chosen))


def test_bounds_cannot_use_both_names():
    for names in ({"a_min": 0.0, "min": 0.0}, {"a_max": 1.0, "min": 0.0}):
        with pytest.raises(ValueError, match="given as a_min and a_max, or as min and max"):
            gnp.clip(as_values(numpy.zeros(2)), **names)
