"""Warnings of derivatives that are zero because a function uses an argument only to decide or to round."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

from gradwalk import ZeroDerivativeWarning, grad, jit, value_and_grad, vmap


def root(a: Any) -> Any:
    """Return the square root by bisection."""
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if middle * middle > a else (middle, high)
    return low


def of_batch(f: Any) -> Any:
    return lambda x: vmap(f)(numpy.array([x, x]))[0]


ZERO = {
    "bisection": (root, "only in comparisons. If it searches for a root, gradwalk.solvers.root_scalar"),
    "round": (lambda x: round(x * x, 2), r"only in int\(\), round\(\), string formatting or similar"),
    "int": (lambda x: 0.5 * int(x * 10.0), "only in int"),
    "format": (lambda x: float(f"{x:.3f}"), "only in int"),
}
RIGHT = {
    "a payoff": lambda x: x - 3.0 if x > 3.0 else 0.0,
    "a clipped number": lambda x: max(0.0, min(x, 1.0)),
    "a decision": lambda x: 1.0 if 0.0 < x < 10.0 else x,
    "another decision": lambda x: 1.0 if x.is_integer() else 2.0,
    "a count": lambda x: grad(lambda y, n: y ** int(n), (0, 1))(x, 3.0)[1] + 0.0 * x,
    "a margin": lambda x: sum(max(0.0, 1.0 - x * k) for k in range(1, 40)),
    "an order": lambda x: numpy.sort(x * numpy.arange(30.0))[3] * 0.0 + x,
    "a message": lambda x: (f"{x:.2f}", x)[1],
    "a constant": lambda x: 3.0,
    "a rounded number beside the number": lambda x: x + round(x, 1),
    "a zero slope": lambda x: (x - 2.3) ** 2 if x > 1.0 and int(x) == 2 else x,
}


@pytest.mark.parametrize("transform", [grad, value_and_grad, lambda f: jit(grad(f)), lambda f: of_batch(grad(f))])
@pytest.mark.parametrize("name", ZERO)
def test_derivatives_that_are_zero_for_a_wrong_reason_warn(name, transform):
    f, message = ZERO[name]
    with pytest.warns(ZeroDerivativeWarning, match=message) as found:
        transform(f)(2.3)
    assert found[0].filename == __file__


@pytest.mark.parametrize("transform", [grad, lambda f: jit(grad(f)), lambda f: of_batch(grad(f))])
@pytest.mark.parametrize("name", RIGHT)
def test_derivatives_that_are_rightly_zero_do_not_warn(name, transform):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transform(RIGHT[name])(2.3)


def test_each_argument_is_examined():
    with pytest.warns(ZeroDerivativeWarning, match="only in int"):
        assert grad(lambda x, n: float(int(n)), (0, 1))(2.0, 3.0) == (0.0, 0.0)


def test_walks_warn():
    with pytest.warns(ZeroDerivativeWarning, match="only in comparisons"):
        jit(root).walk(2.0)


def test_functions_run_once():
    calls = []

    def f(x):
        calls.append(1)
        return float(int(x))

    with pytest.warns(ZeroDerivativeWarning):
        grad(f)(2.3)
    assert len(calls) == 1
