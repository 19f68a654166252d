"""Tests of gradients of elements that no result depends on, at which a derivative is infinite.

The gradients of whole arrays must be those of short arrays, in which such elements have no cotangents.
"""

from __future__ import annotations

import gc
import warnings

import numpy
import pytest
from whole_arrays import calls_of

from gradwalk import grad, jit, jvp, loops
from gradwalk import numpy as gnp
from gradwalk.arrays import gaps, recorder

X = numpy.array([0.0, 1.0, 2.0])  # the logarithm of 1 is 0: its cotangent may be 0, too, and is not a gap
TANGENT = numpy.array([0.0, 0.5, 0.1])


def with_loop(x):
    def step(_, carry):
        y = 1.0 / x
        y[0] = carry[1]
        return 0.5 * carry + 0.25 * y

    return loops.fori_loop(0, 3, step, x).sum()


def assigned(x):
    y = numpy.log(x)
    y[0] = x[1]
    y[1:] += y[:-1]
    return (y * y).sum()


def in_zeros(x):
    y = numpy.log(x)
    found = numpy.zeros_like(y)
    found[1:] = y[1:] * y[1:]
    return found.mean()


def in_a_matrix(x):
    m = ((1.0 / x)[:, None] * numpy.array([1.0, 2.0])).T
    return (m[:, 1:] ** 2).sum()


def in_two_steps(x):
    y = 1.0 / x
    total = y[1] * y[2]
    z = -2.0 * numpy.roll(y, 1)
    return total * (z[[0, 2]] * z[2]).sum()


FUNCTIONS = {
    "slice": lambda x: (1.0 / x)[1:].sum(),
    "element": lambda x: numpy.sqrt(x)[1] * numpy.log(x)[2],
    "indices": lambda x: (numpy.sqrt(x)[numpy.array([1, 2, 1])] ** 2).sum(),
    "minimum": lambda x: gnp.min((1.0 / x)[1:]),
    "assignment": assigned,
    "zeros": in_zeros,
    "matrix": in_a_matrix,
    "two steps": in_two_steps,
    "concatenate": lambda x: (numpy.concatenate([numpy.log(x)[1:], x]) ** 2).sum(),
    "pad": lambda x: (numpy.pad(numpy.log(x)[1:], 1) * 3.0).sum(),
    "loop": with_loop,
}
WAYS = {
    "gradient": grad,
    "tangent": lambda f: lambda x: jvp(f, (x,), (TANGENT,))[1],
    "forward over reverse": lambda f: lambda x: jvp(grad(f), (x,), (TANGENT,))[1],
    "reverse over reverse": lambda f: grad(lambda x: (grad(f)(x) * numpy.array([0.3, -0.2, 0.5]))[1:].sum()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_short_arrays(name, way, monkeypatch):
    f = WAYS[way](FUNCTIONS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = jit(f)(X)
        monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
        for found in (jit(f)(X), f(X)):
            numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_cotangents_that_are_0_by_chance_are_not_gaps(monkeypatch):
    """Test the product of 0 and an infinite derivative, which is nan in short arrays, too."""
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    weights = numpy.array([0.0, 1.0, 1.0])
    assert numpy.isnan(jit(grad(lambda x: (numpy.sqrt(x) * weights).sum()))(X)).tolist() == [True, False, False]


@pytest.mark.usefixtures("whole")
class TestMasks:
    def test_finite_derivatives_need_none(self):
        recorded = jit(grad(lambda x: (x * x - 3.0 * x)[1:].sum()))
        recorded(X)
        assert calls_of(recorded, gaps.Mask) == []

    def test_equal_masks_share_memory(self):
        gc.collect()
        before = len(gaps._MASKS)
        recorded = jit(grad(lambda x: (numpy.log(x)[1:] * numpy.sqrt(numpy.log(x) + 3.0)[1:]).sum()))
        recorded(numpy.linspace(1.0, 2.0, 17))
        assert len(calls_of(recorded, gaps.Mask)) >= 1
        assert len(gaps._MASKS) == before + 1
        del recorded
        gc.collect()
        assert len(gaps._MASKS) == before


@pytest.mark.parametrize("size", [3, 5000])
def test_step_functions_of_infinite_derivatives_have_the_derivative_0(size):
    """0 * inf would be nan: the square root has an infinite derivative at 0."""

    def f(x):
        return (numpy.floor(numpy.sqrt(x)) + (numpy.sqrt(x) > 1.0) * 2.0 + numpy.sign(numpy.sqrt(x)) * x).sum()

    x, ones = numpy.zeros(size), numpy.ones(size)
    zeros = [0.0] * size
    assert jit(grad(f))(x).tolist() == zeros
    assert jit(lambda x: jvp(f, (x,), (ones,))[1])(x) == 0.0
    assert jit(lambda x: jvp(grad(f), (x,), (ones,))[1])(x).tolist() == zeros
    assert jit(grad(lambda x: grad(f)(x).sum()))(x).tolist() == zeros
