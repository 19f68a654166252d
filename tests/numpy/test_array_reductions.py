"""Tests of reductions and quantiles on random arrays with special numbers, compared with NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
from beside_jax import as_values, numbers
from hypothesis import given
from hypothesis import strategies as st

import gradwalk.numpy as gnp
from gradwalk import grad, jit, vmap
from gradwalk.arrays import recorder

SPECIAL = (0.0, -0.0, 1.0, 1.0, -2.5, 3.0, numpy.inf, -numpy.inf, numpy.nan)
REDUCTIONS = {
    "sum": {},
    "prod": {},
    "mean": {},
    "var": {"ddof": 1},
    "std": {},
    "ptp": {},
    "max": {},
    "min": {},
    "any": {},
    "all": {},
    "count_nonzero": {},
    "median": {},
    "nansum": {},
    "nanprod": {},
    "nanmean": {},
    "nanvar": {},
    "nanstd": {"ddof": 1},
    "nanmax": {},
    "nanmin": {},
    "nanmedian": {},
    "quantile": {"q": 0.3},
    "percentile": {"q": [20.0, 50.0], "method": "nearest"},
    "nanquantile": {"q": 0.6},
    "nanpercentile": {"q": 60.0, "method": "midpoint"},
}
MASKED = ("sum", "prod", "mean", "var", "std", "any", "all", "nansum", "nanmean", "nanvar")


@st.composite
def arrays(draw: st.DrawFn) -> tuple[Any, Any, bool]:
    """Draw an array with special numbers, an axis and whether to keep it."""
    shape = draw(st.sampled_from([(1,), (3,), (5,), (2, 3), (2, 1, 2)]))
    size = int(numpy.prod(shape))
    flat = draw(st.lists(st.one_of(st.sampled_from(SPECIAL), st.floats(-4.0, 4.0)), min_size=size, max_size=size))
    axis = draw(st.sampled_from([None, 0, -1, tuple(range(len(shape)))]))
    return numpy.array(flat).reshape(shape), axis, draw(st.booleans())


@pytest.mark.parametrize("name", REDUCTIONS)
@given(arrays())
def test_values_agree_with_numpy(name, drawn):
    array, axis, keepdims = drawn
    if "q" in REDUCTIONS[name]:
        array = numpy.where(numpy.isinf(array), 0.5, array)  # NumPy's quantiles of infinite numbers may be nan
    options = REDUCTIONS[name] | {"axis": axis, "keepdims": keepdims}

    def f(x: Any) -> Any:
        return getattr(gnp, name)(x, **options)

    check(f, lambda x: getattr(numpy, name)(x, **options), array)


@pytest.mark.parametrize("ddof", [1, 2, 3])
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd", "cov"])
@pytest.mark.parametrize("array", [[1.0, 2.0], [1.0], [numpy.nan], [1.0, numpy.nan, 4.0]])
def test_variances_of_few_elements(array, name, ddof, monkeypatch):
    """Test variances of as many elements as NumPy subtracts from their number, or of fewer."""
    expected = without_warnings(lambda x: getattr(numpy, name)(x, ddof=ddof), numpy.array(array))
    f = lambda x: getattr(gnp, name)(x, ddof=ddof)  # noqa: E731
    near(numbers(without_warnings(f, as_values(numpy.array(array)))), expected)
    for size in (recorder.LEAST_SIZE, 1):
        monkeypatch.setattr(recorder, "LEAST_SIZE", size)
        near(without_warnings(jit(lambda x: f(x) + 0.0), numpy.array(array)), expected)


@pytest.mark.parametrize("name", MASKED)
@given(arrays(), st.integers(0, 2**32))
def test_conditions_agree_with_numpy(name, drawn, seed):
    array, axis, keepdims = drawn
    condition = numpy.random.default_rng(seed).random(array.shape) < 0.6

    def f(np: Any, x: Any, condition: Any) -> Any:
        return getattr(np, name)(x, axis=axis, keepdims=keepdims, where=condition)

    check(lambda x: f(gnp, x, condition), lambda x: f(numpy, x, condition), array)
    recorded = jit(lambda x, condition: f(gnp, x, gnp.not_equal(condition, 0.0)), branches="refuse")
    expected = without_warnings(f, numpy, array, condition)
    near(without_warnings(recorded, array, condition * 1.0), expected)


def check(f: Any, in_numpy: Any, array: Any) -> None:
    expected = without_warnings(in_numpy, array)
    near(without_warnings(f, array), expected)
    near(numbers(without_warnings(f, as_values(array))), expected)
    recorded = jit(lambda x: f(x) + 0.0, branches="refuse")
    without_warnings(recorded, numpy.ones(array.shape))
    near(recorded(array), expected)


def without_warnings(f: Any, *args: Any) -> Any:
    """Call a function without NumPy's warnings for nan."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return f(*args)


def near(found: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(found, float), numpy.asarray(expected, float), rtol=1e-12, atol=1e-12)


def test_elements_that_are_left_out_get_no_gradient():
    x = numpy.array([1.0, numpy.nan, 3.0])
    for transform in (lambda f: f, jit):
        assert transform(grad(gnp.nansum))(x).tolist() == [1.0, 0.0, 1.0]
        assert transform(grad(gnp.nanmean))(x).tolist() == [0.5, 0.0, 0.5]
        assert transform(grad(gnp.nanmax))(x).tolist() == [0.0, 0.0, 1.0]
        assert transform(grad(gnp.nanmedian))(x).tolist() == [0.5, 0.0, 0.5]
        masked = transform(grad(lambda x: gnp.mean(gnp.sqrt(x), where=[True, False, True])))
        assert masked(numpy.array([1.0, -1.0, 4.0])).tolist() == [0.25, 0.0, 0.125]


def test_quantiles_may_be_infinite():
    x = numpy.array([1.0, 2.0, numpy.inf])
    for q, expected in ((0.0, 1.0), (0.5, 2.0), (0.75, numpy.inf), (1.0, numpy.inf)):
        assert jit(gnp.quantile)(x, q) == gnp.quantile(as_values(x), q).data == expected


def test_quantile_of_data():
    x = numpy.array([4.0, 1.0, 2.0])
    slope = jit(grad(lambda q: gnp.quantile(x, q)))
    assert slope(0.3) == pytest.approx(2.0)
    assert slope(0.7) == pytest.approx(4.0)
    assert jit(gnp.quantile)(x, 1.0) == 4.0
    assert vmap(lambda q: gnp.quantile(x, q))(numpy.array([0.0, 0.25])).tolist() == [1.0, 1.5]
    with pytest.raises(ValueError, match="method must be one of linear, lower"):
        gnp.quantile(as_values(x), 0.5, method="weibull")
    with pytest.raises(ValueError, match="at least one element"):
        gnp.quantile(numpy.empty(0, object), 0.5)


def test_indices_of_elements_that_are_not_nan():
    gaps = numpy.array([[numpy.nan, 2.0, 1.0], [numpy.nan, numpy.nan, numpy.nan]])
    for name in ("nanargmax", "nanargmin"):
        f = getattr(gnp, name)
        assert f(as_values(gaps[0])) == getattr(numpy, name)(gaps[0])
        assert jit(lambda x, f=f: f(x, axis=1))(gaps).tolist() == [getattr(numpy, name)(gaps[0]), -1.0]
        with pytest.raises(ValueError, match="All-NaN"):
            f(as_values(gaps[1]))


def test_errors():
    values = as_values(numpy.ones((2, 3)))
    with pytest.raises(ValueError, match="axis must be given for an array with 2 axes"):
        gnp.cumulative_sum(values)
    with pytest.raises(ValueError, match=r"weights must have the shape \(2, 3\)"):
        gnp.average(values, weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="where= also need initial="):
        gnp.max(values, where=True)
    with pytest.raises(TypeError, match="dtype of an array of Values must be a floating dtype, got int64"):
        gnp.sum(values, dtype=numpy.int64)
