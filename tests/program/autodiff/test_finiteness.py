"""Derivatives that are always finite need no mask in an unselected branch; all other derivatives are masked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import grad, jit, vmap

Function = Callable[..., Any]


def count_wheres(f: Function, *point: float) -> int:
    """Count the `where` instructions in the gradient of f."""
    recorded = jit(grad(f, tuple(range(len(point)))))
    recorded(*point)
    return str(recorded.program).count("where(")


def inside_relu(inner: Function) -> Function:
    """Put a function inside a relu, which adds one `where` to its gradient."""
    return lambda *numbers: gm.relu(inner(*numbers) + 1.0)


def softmax_by_hand(*numbers: Any) -> Any:
    """Compute the first element of a softmax from exponentials, as users write it."""
    exponentials = [gm.exp(x - gm.stop_gradient(gm.maximum(*numbers))) for x in numbers]
    return exponentials[0] / sum(exponentials)


def softmax_by_logarithm(*numbers: Any) -> Any:
    """Compute the first element of a softmax from the logarithm of the sum, as in a language model."""
    peak = gm.stop_gradient(gm.maximum(*numbers))
    log_total = gm.log(sum(gm.exp(x - peak) for x in numbers)) + peak
    return gm.exp(numbers[0] - log_total)


TAME: dict[str, Function] = {
    "a polynomial": lambda x, y: x * x * y - 3.0 * y,
    "a quotient by a constant": lambda x, y: x / 3.0 + y,
    "a root mean square": lambda x, y: x / gm.sqrt((x * x + y * y) / 2.0 + 1e-5),
    "a root mean square by a power": lambda x, y: x * ((x * x + y * y) / 2.0 + 1e-5) ** -0.5,
    "a logarithm of 1 plus a square": lambda x, y: gm.log(1.0 + x * x) * y,
    "a Gaussian": lambda x, y: gm.exp(-0.5 * (x * x)) * y,
    "a Gaussian of a difference": lambda x, y: gm.exp(-((x - y) ** 2)),
    "a quotient by at least a constant": lambda x, y: x / gm.maximum(abs(y), 1e-9),
    "softmax": lambda x, y: gm.softmax([x, y, 1.0])[0],
    "log_softmax": lambda x, y: gm.log_softmax([x, y, 2.0 * x])[2],
    "logsumexp": lambda x, y: gm.logsumexp([x, y, x * y]),
    "softmax by hand": lambda x, y: softmax_by_hand(x, y, x * y),
    "log_softmax by hand": lambda x, y: softmax_by_logarithm(x, y, x * y),
}


@pytest.mark.parametrize("name", TAME)
def test_finite_derivatives_need_no_mask(name):
    f = TAME[name]
    assert count_wheres(inside_relu(f), 0.3, 0.7) <= 1 + count_wheres(f, 0.3, 0.7)
    for point in ((0.0, 0.0), (1e3, -1e3), (-1e3, -1e3), (1e5, 1e5)):
        gradient = grad(f, (0, 1))(*point)
        assert all(map(math.isfinite, gradient)), (point, gradient)


WILD: dict[str, tuple[Function, tuple[float, float]]] = {  # each with a point where a partial is infinite or nan
    "a logarithm": (lambda x, y: gm.log(x) * y, (0.0, 1.0)),
    "a logarithm of a square": (lambda x, y: gm.log(x * x) * y, (0.0, 1.0)),
    "a root of squares": (lambda x, y: gm.sqrt(x * x + y * y), (0.0, 0.0)),
    "a power": (lambda x, y: y * x**-0.5, (0.0, 1.0)),
    "a power of a square": (lambda x, y: y * (x * x) ** -0.5, (0.0, 1.0)),
    "a power to an argument": (lambda x, y: (1e-5 + x * x) ** y, (0.0, -1e3)),
    "a power below -1": (lambda x, y: y * (1e-5 + x * x) ** -100.5, (0.0, 1.0)),
    "a quotient": (lambda x, y: x / y, (1.0, 0.0)),
    "a quotient by a square plus a subnormal number": (lambda x, y: y / (x * x + 1e-320), (0.0, 1.0)),
    "an exponential": (lambda x, y: gm.exp(x) * y, (1e3, 0.0)),
    "an exponential of a difference": (lambda x, y: gm.exp(gm.maximum(x, 0.0) - x) * y, (-1e3, 0.0)),
    "an exponential of a number minus an unrelated maximum": (
        lambda x, y: gm.exp(2.0 * x - gm.maximum(x, y)) * y,
        (1e3, 0.0),
    ),
    "a sum of exponentials without exp(0)": (
        lambda x, y: gm.log(gm.exp(x - gm.maximum(x, y, 0.0)) + gm.exp(y - gm.maximum(x, y, 0.0))),
        (-1e3, -1e3),
    ),
    "a difference of exponentials": (
        lambda x, y: 1.0 / (gm.exp(x - gm.maximum(x, y)) - gm.exp(y - gm.maximum(x, y))),
        (1.0, 1.0),
    ),
    "a root of a difference": (lambda x, y: gm.sqrt(x * x - y * y), (1.0, 1.0)),
}


@pytest.mark.parametrize("name", WILD)
def test_possibly_infinite_derivatives_are_masked(name):
    f, point = WILD[name]
    assert not all(map(math.isfinite, grad(f, (0, 1))(*point)))

    def left_out(x: Any, y: Any) -> Any:
        return gm.where(gm.equal(x, point[0]), x + 2.0 * y, f(x, y))

    for gradient in (grad(left_out, (0, 1)), jit(grad(left_out, (0, 1)))):
        assert tuple(gradient(*point)) == (1.0, 2.0)


@pytest.mark.parametrize("least", [1e-8, 1e-9, 1e-10, 1e-12, 1e-25, 1e-40])
def test_small_denominators_are_masked_in_float32(least):
    # A denominator whose reciprocal overflows in float32 must not count as bounded away from 0.
    def f(x: Any, y: Any) -> Any:
        return gm.where(gm.less(x, 1.0), x + 2.0 * y, y / ((x - 0.5) * (x - 0.5) + least))

    columns = numpy.array([[0.5, 0.5, 0.25], [1.0, 1e3, 0.0]], numpy.float32)
    for k, expected in enumerate((1.0, 2.0)):
        first = grad(f, k)
        assert jit(vmap(first))(*columns).tolist() == [expected] * 3
        for second in (grad(first, 0), grad(first, 1)):
            assert jit(vmap(second))(*columns).tolist() == [0.0] * 3
