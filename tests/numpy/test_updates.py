"""Tests of `at`, compared with the property `at` of JAX's arrays."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from beside_jax import as_values, compare, loss, numbers
from references import jax, jnp

import gradwalk.numpy as gnp
from gradwalk import Value, grad, jit, vmap

X = numpy.array([[0.7, -0.3, 1.9], [1.1, 0.4, 2.1]])
ROWS = numpy.array([0, 1, 0])
MASK = X > 1.0

CASES = {
    "set": lambda at, x: at(x)[0, 1].set(x[1, 1] * x[0, 0]),
    "set a row": lambda at, x: at(x)[1].set(x[0] * 2.0),
    "set a slice": lambda at, x: at(x)[:, 1:].set(x[:, :2] * x[:, :1]),
    "set by bools": lambda at, x: at(x)[MASK].set(x[0, 0]),
    "set by ints": lambda at, x: at(x)[:, numpy.array([2, 0])].set(x[:, :2]),
    "set behind an ellipsis": lambda at, x: at(x)[..., -1].set(x[:, 0]),
    "set with a new axis": lambda at, x: at(x)[None, 0].set(x[1:] * x[0]),
    "add": lambda at, x: at(x)[1, ROWS].add(x[0]),
    "subtract": lambda at, x: at(x)[ROWS].subtract(x[0] * x[1]),
    "multiply": lambda at, x: at(x)[1, 0].multiply(x[0, 1]),
    "mul": lambda at, x: at(x)[0].mul(x[1]),
    "divide": lambda at, x: at(x)[0].divide(x[1]),
    "power": lambda at, x: at(x)[1].power(2.0),
    "min": lambda at, x: at(x)[:, 0].min(0.8),
    "max": lambda at, x: at(x)[:, 0].max(x[:, 1]),
    "get": lambda at, x: at(x)[1, :2].get(),
}
INDEXED = {
    "set": lambda at, x, i: at(x)[0, i].set(x[1, 1] * x[0, 0]),
    "set a row": lambda at, x, i: at(x)[i].set(x[1] * x[0]),
    "set a column": lambda at, x, i: at(x)[..., i].set(x[:, 1] * x[:, 2]),
    "add": lambda at, x, i: at(x)[i, ROWS].add(x[0]),
    "multiply at two indices": lambda at, x, i: at(x)[i, i + 1].multiply(x[0, 2]),
    "get": lambda at, x, i: at(x)[:, i].get(),
    "get an element": lambda at, x, i: at(x)[i, 2].get() * x[0, 0],
}


def in_jax(f: Any) -> Any:
    return lambda *args: f(lambda x: jnp.asarray(x).at, *args)


def total_in_jax(f: Any) -> Any:
    def total(*args: Any) -> Any:
        flat = jnp.ravel(in_jax(f)(*args))
        return jnp.sum(jnp.cos(jnp.arange(flat.size)) * (flat + 0.5 * flat * flat))

    return total


@pytest.mark.parametrize("name", CASES)
def test_updates_agree_with_jax(name):
    f = CASES[name]
    expected = numpy.asarray(in_jax(f)(X))
    slopes = numpy.asarray(jax.grad(total_in_jax(f))(X))
    compare("numbers", f(gnp.at, X), expected, 1e-12)
    compare("Values", numbers(f(gnp.at, as_values(X))), expected, 1e-12)
    slope = grad(lambda x: loss(f(gnp.at, x)))
    recorded = jit(slope)
    recorded(X + 0.01)
    for found in (slope(X), recorded(X), vmap(slope)(numpy.stack([X + 0.01, X]))[1]):
        compare("gradient", found, slopes, 1e-12)


@pytest.mark.parametrize("name", INDEXED)
def test_indices_may_be_data(name):
    f = INDEXED[name]
    recorded = jit(lambda x, i: f(gnp.at, x, i), branches="refuse")
    slope = jit(grad(lambda x, i: loss(f(gnp.at, x, i))), branches="refuse")
    for i in (0, 1, 0):
        compare("value", recorded(X, i), numpy.asarray(in_jax(f)(X, i)), 1e-12)
        compare("Value", numbers(f(gnp.at, as_values(X), Value(i))), numpy.asarray(in_jax(f)(X, i)), 1e-12)
        compare("gradient", slope(X, i), numpy.asarray(jax.grad(total_in_jax(f))(X, i)), 1e-12)
    compare("batch", vmap(lambda i: f(gnp.at, X, i))(numpy.array([1.0, 0.0]))[0], recorded(X, 1), 1e-12)


def test_updates_without_derivatives_in_jax():
    def apply(x: Any) -> Any:
        return gnp.at(x)[0].apply(lambda t: t * t)

    def multiply_twice(x: Any) -> Any:
        return gnp.at(x)[0, ROWS].multiply(x[1])

    for f, closed_form in (
        (apply, lambda x: numpy.stack([x[0] ** 2, x[1]])),
        (multiply_twice, lambda x: numpy.array([[x[0, 0] * x[1, 0] * x[1, 2], x[0, 1] * x[1, 1], x[0, 2]], [*x[1]]])),
    ):
        compare("value", f(X), closed_form(X), 1e-12)
        for transform in (lambda f: f, jit):
            slope = transform(grad(lambda x, f=f: loss(f(x))))(X)
            compare("gradient", slope, grad(lambda x, g=closed_form: loss(g(x)))(X), 1e-12)


def test_negative_indices_that_are_data():
    assert jit(lambda i: gnp.at(X[0])[i].set(5.0))(-1).tolist() == [0.7, -0.3, 5.0]


def test_data_that_is_out_of_range_updates_nothing():
    assert jit(lambda i: gnp.at(X[0])[i].set(5.0))(3).tolist() == X[0].tolist()
    assert numpy.isnan(jit(lambda i: gnp.at(X[0])[i].get())(3))


def test_the_array_is_not_changed():
    for x in (X.copy(), as_values(X)):
        before = x.copy()
        gnp.at(x)[0].set(9.0)
        gnp.at(x)[0].apply(abs)
        assert (x == before).all()


def test_errors():
    with pytest.raises(IndexError, match="out of bounds"):
        gnp.at(as_values(X))[5].set(1.0)
    with pytest.raises(ValueError, match="broadcast"):
        gnp.at(as_values(X))[0].set([1.0, 2.0])
    with pytest.raises(TypeError, match=r"use where\(condition, v, x\)"):
        jit(lambda x: gnp.at(x)[gnp.greater(x, 1.0)].set(0.0))(X)
