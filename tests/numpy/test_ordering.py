"""Tests of minima, maxima and sorting, compared with JAX."""

from __future__ import annotations

import numpy
import pytest
from beside_jax import as_values, check, numbers
from hypothesis import given
from hypothesis import strategies as st
from references import jax, jnp

import gradwalk.numpy as gnp
from gradwalk import check as check_gradients
from gradwalk import grad, gradcheck, hessian, jit, vmap

X = numpy.array([[0.5, -1.5, 2.0, 0.25], [1.25, -0.25, 0.75, -3.0]])
TIED = numpy.array([[0.5, 2.0, 2.0, -1.0], [2.0, -0.25, -1.0, -1.0]])

CASES = {
    "max": lambda np, x: np.max(x),
    "min": lambda np, x: np.min(x),
    "max along 0": lambda np, x: np.max(x * x, axis=0),
    "min along -1": lambda np, x: np.min(x * x, axis=-1),
    "max along both axes": lambda np, x: np.max(x, axis=(1, 0)),
    "max with keepdims": lambda np, x: x - np.max(x, axis=1, keepdims=True),
    "sort": lambda np, x: np.sort(x),
    "sort along 0": lambda np, x: np.sort(x * x, axis=0),
    "sort of all": lambda np, x: np.sort(x, axis=None),
}
INDICES = {
    "argmax": lambda np, x: np.argmax(x),
    "argmin": lambda np, x: np.argmin(x),
    "argmax along 0": lambda np, x: np.argmax(x, axis=0),
    "argmin along 1": lambda np, x: np.argmin(x, axis=1),
    "argmax with keepdims": lambda np, x: np.argmax(x, axis=1, keepdims=True),
    "argmin with keepdims": lambda np, x: np.argmin(x, axis=0, keepdims=True),
    "argmax of all with keepdims": lambda np, x: np.argmax(x, keepdims=True),
}
ANY = st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, -3.5, numpy.inf, -numpy.inf, numpy.nan]), min_size=1, max_size=7)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("x", [X, TIED], ids=["apart", "tied"])
def test_values_and_derivatives_agree_with_jax(name, x):
    check(CASES[name], x)


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("x", [X, TIED], ids=["apart", "tied"])
def test_indices_agree_with_numpy(name, x):
    f = INDICES[name]
    expected = f(numpy, x)
    assert numpy.array_equal(f(gnp, x), expected)
    assert numpy.array_equal(f(gnp, as_values(x)), expected)
    assert numpy.array_equal(jit(lambda x: f(gnp, x))(x), expected)
    assert numpy.array_equal(vmap(lambda x: f(gnp, x))(numpy.stack([-x, x]))[1], expected)


@given(ANY)
def test_order_of_any_numbers_agrees_with_numpy(xs):
    x = numpy.array(xs)
    for name in ("max", "min", "sort", "argmax", "argmin", "argsort"):
        f = getattr(gnp, name)
        expected = numpy.argsort(x, kind="stable") if name == "argsort" else getattr(numpy, name)(x)
        for found in (numbers(f(as_values(x))), f(x), jit(f)(x), vmap(f)(numpy.stack([x, x]))[1]):
            numpy.testing.assert_array_equal(numpy.asarray(found, dtype=float), numpy.asarray(expected, dtype=float))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_ties_share_the_gradient_and_sort_stably(xs):
    x = numpy.array(xs, dtype=float)
    is_largest = x == x.max()
    weights = numpy.arange(1.0, 1.0 + len(x))
    sorted_weights = numpy.empty(len(x))
    sorted_weights[numpy.argsort(x, kind="stable")] = weights
    for transform in (lambda f: f, jit):
        assert numpy.allclose(transform(grad(gnp.max))(x), is_largest / is_largest.sum(), rtol=1e-15)
        assert transform(grad(lambda x: gnp.sort(x) @ weights))(x).tolist() == sorted_weights.tolist()


@given(st.lists(st.sampled_from([0.0, 1.0, -numpy.inf, numpy.inf, numpy.nan]), min_size=2, max_size=5))
def test_gradients_near_infinities_and_nan_agree_with_jax(xs):
    x = numpy.array(xs)
    values = as_values(x)
    gnp.max(values).backward()
    for name, expected in (("grad", jax.grad(jnp.max)(x)), ("hessian", jax.hessian(jnp.max)(x))):
        f = {"grad": grad, "hessian": hessian}[name](gnp.max)
        for found in (f(x), jit(f)(x), vmap(f)(numpy.stack([x, x]))[1]):
            numpy.testing.assert_allclose(found, expected, rtol=1e-15)
    numpy.testing.assert_allclose([v.grad for v in values], jax.grad(jnp.max)(x), rtol=1e-15)
    numpy.testing.assert_allclose(jit(grad(gnp.min))(-x), jax.grad(jnp.min)(-x), rtol=1e-15)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("xs", [[2.0, 2.0], [2.0, 2.0, 2.0], [0.0, 2.0, 2.0, 5.0, 0.0, 5.0], [0.0, -0.0]])
def test_ties_are_reported_as_kinks(name, xs):
    f = getattr(gnp, name)
    for loss in (f, lambda x: 3.0 * f(x * x) - x[0]):
        values = as_values(numpy.array(xs))
        found = check_gradients(loss(values))
        assert found.ok
        tied = {v.name for v in found.rows if v.verdict == "kink"}
        assert len(tied) >= 2
        assert gradcheck(loss, numpy.array(xs)).ok


def test_arrays_of_recorded_indices_cannot_index():
    with pytest.raises(IndexError):
        jit(lambda x: x[gnp.argsort(x)])(X[0])


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_empty_arrays_are_refused(name):
    empty = numpy.empty(0, dtype=object)
    with pytest.raises(ValueError, match=r"empty|zero-size"):
        getattr(gnp, name)(empty)
    with pytest.raises(ValueError, match=r"empty|zero-size"):
        jit(lambda x: getattr(gnp, name)(x[:0]))(X[0])
    assert gnp.sort(empty).shape == gnp.argsort(empty).shape == (0,)
    with pytest.raises(IndexError, match="axis 2"):
        getattr(gnp, name)(as_values(X), axis=2)


def test_argmin_of_unsigned_numbers():
    assert gnp.argmin(numpy.array([2, 0, 1], dtype=numpy.uint8)) == 1


def test_maximum_of_values_is_the_element_itself():
    x = as_values(X)
    assert gnp.max(x) is x[0, 2]
    assert gnp.sort(x)[0, 0] is x[0, 1]


class Index:
    """An integer-like object that defines only `__index__`."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


@pytest.mark.parametrize("index", [numpy.int64, numpy.uint8, Index])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "sort", "argsort"])
def test_any_integer_type_can_be_an_axis(name, index):
    f = getattr(gnp, name)
    for axis in (0, 1):
        expected = numpy.asarray(f(X, axis=axis), dtype=float)
        ways = [lambda x: f(as_values(x), axis=index(axis)), lambda x: f(x, axis=index(axis))]  # noqa: B023
        ways.append(jit(lambda x: f(x, axis=index(axis))))  # noqa: B023
        for way in ways:
            numpy.testing.assert_array_equal(numbers(way(X)), expected)
