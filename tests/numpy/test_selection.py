"""Tests of selection, indexing, comparisons of arrays, sets, creation and calculus: corners, and recorded paths."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from beside_jax import as_values, compare, numbers
from hypothesis import given
from hypothesis import strategies as st

import gradwalk.numpy as gnp
from gradwalk import RecordingError, Value, grad, jit, vmap

X = numpy.array([0.7, -0.3, 1.9, 1.1, 0.0])

# Functions whose results have sizes that depend on the numbers.
SIZED = {
    "nonzero": lambda np, x: np.nonzero(x)[0],
    "where": lambda np, x: np.where(x > 0.5)[0],
    "flatnonzero": lambda np, x: np.flatnonzero(x),
    "argwhere": lambda np, x: np.argwhere(x),
    "extract": lambda np, x: np.extract(x > 0.5, x * x),
    "compress": lambda np, x: np.compress(x > 0.5, x * x),
    "trim_zeros": lambda np, x: np.trim_zeros(x) * 2.0,
    "trim_zeros at the front": lambda np, x: np.trim_zeros(x[::-1], "f") * 2.0,
    "unique": lambda np, x: np.unique(np.concatenate([x, x[1:]])),
    "union1d": lambda np, x: np.union1d(x[:3], x[1:]),
    "intersect1d": lambda np, x: np.intersect1d(x[:3], x[1:]),
    "setdiff1d": lambda np, x: np.setdiff1d(x, x[2:]),
    "setxor1d": lambda np, x: np.setxor1d(x[:3], x[1:]),
}


@pytest.mark.parametrize("name", SIZED)
def test_results_with_sizes_that_depend_on_numbers(name):
    f = SIZED[name]
    recorded = jit(lambda x: f(gnp, x))
    for x in (X, X[::-1], X - 0.7, X):
        expected = f(numpy, x)
        numpy.testing.assert_array_equal(f(gnp, x), expected)
        numpy.testing.assert_array_equal(numbers(f(gnp, as_values(x))), expected)
        numpy.testing.assert_array_equal(numpy.asarray(recorded(x), float), expected)
    with pytest.raises(RecordingError):
        jit(lambda x: f(gnp, x), branches="refuse")(X)


@given(st.lists(st.sampled_from([0.0, 1.0, -1.0, numpy.nan, numpy.inf]), min_size=1, max_size=6))
def test_sets_of_special_numbers(elements):
    x = numpy.array(elements)
    values = as_values(x)
    numbers_of = numbers(gnp.unique(values))
    expected = numpy.unique(x, equal_nan=False)
    numpy.testing.assert_array_equal(numbers_of, expected)
    numpy.testing.assert_array_equal(gnp.isin(values, [1.0, numpy.nan]), numpy.isin(x, [1.0, numpy.nan]))
    for equal_nan in (False, True):
        assert gnp.array_equal(values, x, equal_nan) == numpy.array_equal(x, x, equal_nan)
        assert gnp.allclose(values, x[::-1], equal_nan=equal_nan) == numpy.allclose(x, x[::-1], equal_nan=equal_nan)
        recorded = jit(lambda x, y, e=equal_nan: gnp.allclose(x, y, equal_nan=e), branches="refuse")
        recorded(numpy.ones(x.shape), x)
        assert recorded(x, x[::-1]) == float(numpy.allclose(x, x[::-1], equal_nan=equal_nan))


def test_indices_that_are_data():
    table = numpy.arange(12.0).reshape(3, 4)
    for axis in (None, 0, 1, -1):
        for mode in ("raise", "wrap", "clip"):
            f = jit(lambda x, i, axis=axis, mode=mode: gnp.take(x, i, axis, mode) * 1.0, branches="refuse")
            f(table, numpy.zeros((2, 2)))
            i = numpy.array([[2, 0], [-1, 1]]) if mode != "raise" else numpy.array([[2, 0], [1, 1]])
            numpy.testing.assert_array_equal(f(table, i * 1.0), numpy.take(table, i, axis, mode=mode))
    assert numpy.isnan(jit(lambda i: gnp.take(X, i))(9.0))
    with pytest.raises(IndexError):
        gnp.take(as_values(X), 9)
    with pytest.raises(ValueError, match='mode must be "raise", "wrap" or "clip", got \'fill\''):
        jit(lambda i: gnp.take(X, i, mode="fill"))(1.0)
    chosen = jit(lambda i, x: gnp.choose(i, [x, 2.0 * x]), branches="refuse")
    chosen(numpy.zeros(5), X)
    numpy.testing.assert_array_equal(chosen(numpy.array([0.0, 1.0, 0.0, 1.0, 1.0]), X), X * [1.0, 2.0, 1.0, 2.0, 2.0])


def test_conditions_with_the_first_that_holds():
    conditions = [X > 1.0, X > 0.0]
    expected = numpy.select(conditions, [X, -X], 9.0)
    numpy.testing.assert_array_equal(numbers(gnp.select(conditions, [as_values(X), -X], 9.0)), expected)
    recorded = jit(lambda x: gnp.select([gnp.greater(x, 1.0), gnp.greater(x, 0.0)], [x, -x], 9.0))
    numpy.testing.assert_array_equal(recorded(X), expected)
    with pytest.raises(ValueError, match="same length, at least 1, got 2 and 1"):
        gnp.select(conditions, [X])
    with pytest.raises(ValueError, match="one for each condition, or one more, got 4"):
        gnp.piecewise(X, conditions, [1.0] * 4)
    safe = grad(lambda x: gnp.piecewise(x, [x > 0.0], [gnp.sqrt, lambda t: 2.0 * t]).sum())
    assert jit(safe)(numpy.array([4.0, -1.0])).tolist() == [0.25, 2.0]
    with pytest.raises(ValueError, match="only one of x and y"):
        gnp.where(X > 0.0, X)


def test_dtypes():
    values = as_values(X)
    for found in (gnp.asarray(values, gnp.float32), gnp.array(values, dtype="float64"), gnp.astype(values, object)):
        assert all(isinstance(x, Value) for x in found)
    assert gnp.asarray(values) is values
    assert gnp.array(values) is not values
    assert gnp.array([1, 2], dtype=gnp.float32).dtype == numpy.float32
    assert gnp.array(3.0, ndmin=2).shape == (1, 1)
    for make in (gnp.zeros_like, gnp.ones_like, gnp.empty_like):
        assert make(values).dtype == numpy.float64
        assert make(numpy.zeros(2, numpy.float32)).dtype == numpy.float32
    assert gnp.full_like(values, 2).dtype == numpy.float64
    assert gnp.full_like(X, values[0])[1] is values[0]
    with pytest.raises(TypeError, match=r"must be a floating dtype, got int64.*use floor or round"):
        gnp.asarray(values, int)
    assert gnp.isscalar(values[0])
    assert gnp.isscalar(1.0)
    assert not gnp.isscalar(X)


def test_elementwise_functions_accept_mixed_arrays():
    mixed = numpy.array([Value(0.25), 0.5], dtype=object)
    for name in ("exp", "floor", "arcsin", "abs", "round", "sinc"):
        compare(name, numbers(getattr(gnp, name)(mixed)), getattr(numpy, name)(numpy.array([0.25, 0.5])), 1e-12)
    assert isinstance(gnp.exp(Value(0.0)), Value)
    assert isinstance(gnp.exp(0.0), numpy.float64)
    with pytest.raises(TypeError, match=r"power\(\) takes 2 positional arguments, got 1"):
        gnp.power(mixed)


def test_heaviside_and_signs_of_zero():
    x = numpy.array([-0.0, 0.0, numpy.nan, -numpy.inf, 2.0])
    for name, args in (("heaviside", (0.25,)), ("signbit", ()), ("isneginf", ()), ("isposinf", ()), ("modf", ())):
        found, expected = getattr(gnp, name)(as_values(x), *args), getattr(numpy, name)(x, *args)
        recorded = jit(lambda x, name=name, args=args: getattr(gnp, name)(x, *args))(x)
        for one in (found, recorded):
            for a, b in zip(one, expected, strict=True) if isinstance(expected, tuple) else ((one, expected),):
                numpy.testing.assert_array_equal(numbers(a), numpy.asarray(b, float))


def test_bins():
    edges = numpy.array([-1.0, 0.0, 1.0, 1.9])
    for weights in (None, X):
        for density in (False, True):
            expected = numpy.histogram(X, edges, weights=weights, density=density)[0]
            found = gnp.histogram(as_values(X), edges, weights=weights, density=density)[0]
            compare("known", numbers(found), expected, 1e-12)
            recorded = jit(lambda x, w=weights, d=density: gnp.histogram(x, edges, weights=w, density=d)[0])
            compare("recorded", recorded(X), expected, 1e-12)
    compare("count", numbers(gnp.histogram(as_values(X), 3)[0]), numpy.histogram(X, 3)[0], 0.0)
    with pytest.raises(TypeError, match="needs range="):
        jit(lambda x: gnp.histogram(x, 3)[0])(X)
    with pytest.raises(TypeError, match="use one_hot"):
        jit(gnp.bincount)(X)
    assert gnp.bincount(as_values(numpy.array([0.0, 2.0]))).tolist() == [1, 0, 1]
    for bins in (edges, edges[::-1]):
        for right in (False, True):
            points = numpy.array([-2.0, 0.0, 1.0, 1.95])
            expected = numpy.digitize(points, bins, right)
            assert jit(lambda x, b=bins, r=right: gnp.digitize(x, b, r))(points).tolist() == expected.tolist()
    sorter = numpy.argsort(X)
    found = jit(lambda v: gnp.searchsorted(X, v, "right", sorter))(numpy.array([0.0, 1.1]))
    assert found.tolist() == numpy.searchsorted(X, [0.0, 1.1], "right", sorter).tolist()


def test_weighted_covariance():
    data = numpy.stack([X, X**2 - X])
    counts, weights = numpy.array([1, 2, 1, 3, 1]), numpy.array([0.5, 1.0, 0.2, 0.7, 1.1])
    for options in ({"fweights": counts}, {"aweights": weights}, {"fweights": counts, "aweights": weights, "ddof": 0}):
        expected = numpy.cov(data, **options)
        compare("Values", numbers(gnp.cov(as_values(data), **options)), expected, 1e-12)
        compare("recorded", jit(lambda x, o=options: gnp.cov(x, **o))(data), expected, 1e-12)
    compare("bias", numbers(gnp.cov(as_values(X), X, bias=True)), numpy.cov(X, X, bias=True), 1e-12)
    compare("one variable", numbers(gnp.corrcoef(as_values(X))), numpy.corrcoef(X), 1e-12)


def test_calculus_corners():
    values = as_values(X)
    steps = numpy.array([0.0, 0.5, 0.7, 1.5, 2.0])
    table = numpy.outer(X, steps)
    for found, expected in zip(
        gnp.gradient(as_values(table), 0.5, steps), numpy.gradient(table, 0.5, steps), strict=True
    ):
        compare("gradient", numbers(found), expected, 1e-12)
    with pytest.raises(ValueError, match="edge_order must be 1 for arrays of Values, got 2"):
        gnp.gradient(values, edge_order=2)
    with pytest.raises(ValueError, match="at least 2 samples"):
        gnp.gradient(values[:1])
    with pytest.raises(ValueError, match="one for each of 1 axes, got 2"):
        gnp.gradient(values, 1.0, 2.0)
    with pytest.raises(TypeError, match="pass x % period"):
        gnp.interp(values, [0.0, 1.0], [0.0, 1.0], period=2.0)
    quotient, rest = gnp.polydiv(as_values(numpy.array([1.0, 5.0, 6.0, 1.0])), [1.0, 2.0])
    assert [numbers(quotient).tolist(), numbers(rest).tolist()] == [[1.0, 3.0, 0.0], [1.0]]
    quotient, rest = gnp.polydiv(as_values(numpy.array([1.0, 5.0])), [1.0, 2.0, 1.0])
    assert [numbers(quotient).tolist(), numbers(rest).tolist()] == [[0.0], [1.0, 5.0]]
    angles = numpy.array([0.0, 3.0, -3.0, 2.5, 9.0])
    for options in ({}, {"period": 4.0}, {"discont": 5.0}):
        expected = numpy.unwrap(angles, **options)
        compare("unwrap", jit(lambda x, o=options: gnp.unwrap(x, **o))(angles), expected, 1e-12)
    assert gnp.linspace(values[0], 2.0, 1)[0].data == X[0]
    samples, step = gnp.linspace(values[0], 2.0, 5, retstep=True)
    assert [len(samples), step.data] == [5, (2.0 - X[0]) / 4.0]


def test_a_batch_of_everything():
    """Samples of a batch take different paths."""

    def f(x: Any) -> Any:
        return gnp.extract(x > 0.5, x).sum() + gnp.median(x) + gnp.where(gnp.any(x > 1.5), 1.0, 0.0)

    lanes = numpy.stack([X, -X, X / 2.0])
    compare("batch", vmap(f)(lanes), [f(x) for x in lanes], 1e-12)
    compare("gradients", vmap(grad(f))(lanes), [grad(f)(x) for x in lanes], 1e-12)
