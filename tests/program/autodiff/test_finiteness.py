"""What is known to stay finite costs no more where a choice may leave it out, and what is not is still looked at."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import grad, jit, vmap

Function = Callable[..., Any]


def wheres(f: Function, *point: float) -> int:
    """How many choices the program of a gradient makes."""
    recorded = jit(grad(f, tuple(range(len(point)))))
    recorded(*point)
    return str(recorded.program).count("where(")


def chosen(inner: Function) -> Function:
    """What a relu may leave out: it has a `where` of its own in its gradient."""
    return lambda *numbers: gm.relu(inner(*numbers) + 1.0)


def shares(*numbers: Any) -> Any:
    """A softmax as users write it."""
    exponentials = [gm.exp(x - gm.stop_gradient(gm.maximum(*numbers))) for x in numbers]
    return exponentials[0] / sum(exponentials)


def with_bare_logarithm(*numbers: Any) -> Any:
    """The logarithm of a share, by the logarithm of the sum, as in a language model."""
    peak = gm.stop_gradient(gm.maximum(*numbers))
    log_total = gm.log(sum(gm.exp(x - peak) for x in numbers)) + peak
    return gm.exp(numbers[0] - log_total)


TAME: dict[str, Function] = {
    "a polynomial": lambda x, y: x * x * y - 3.0 * y,
    "a quotient by a constant": lambda x, y: x / 3.0 + y,
    "a root mean square": lambda x, y: x / gm.sqrt((x * x + y * y) / 2.0 + 1e-5),
    "a root mean square by a power": lambda x, y: x * ((x * x + y * y) / 2.0 + 1e-5) ** -0.5,
    "a logarithm of 1 and a square": lambda x, y: gm.log(1.0 + x * x) * y,
    "a bell": lambda x, y: gm.exp(-0.5 * (x * x)) * y,
    "a bell of a difference": lambda x, y: gm.exp(-((x - y) ** 2)),
    "a quotient by no less than a constant": lambda x, y: x / gm.maximum(abs(y), 1e-9),
    "softmax": lambda x, y: gm.softmax([x, y, 1.0])[0],
    "log_softmax": lambda x, y: gm.log_softmax([x, y, 2.0 * x])[2],
    "logsumexp": lambda x, y: gm.logsumexp([x, y, x * y]),
    "softmax by hand": lambda x, y: shares(x, y, x * y),
    "log_softmax by hand": lambda x, y: with_bare_logarithm(x, y, x * y),
}


@pytest.mark.parametrize("name", TAME)
def test_what_is_tame_is_not_looked_at(name):
    f = TAME[name]
    assert wheres(chosen(f), 0.3, 0.7) <= 1 + wheres(f, 0.3, 0.7)
    for point in ((0.0, 0.0), (1e3, -1e3), (-1e3, -1e3), (1e5, 1e5)):
        gradient = grad(f, (0, 1))(*point)
        assert all(map(math.isfinite, gradient)), (point, gradient)


WILD: dict[str, tuple[Function, tuple[float, float]]] = {  # and where a partial is infinite or nan
    "a logarithm": (lambda x, y: gm.log(x) * y, (0.0, 1.0)),
    "a logarithm of a square": (lambda x, y: gm.log(x * x) * y, (0.0, 1.0)),
    "a root of squares": (lambda x, y: gm.sqrt(x * x + y * y), (0.0, 0.0)),
    "a power": (lambda x, y: y * x**-0.5, (0.0, 1.0)),
    "a power of a square": (lambda x, y: y * (x * x) ** -0.5, (0.0, 1.0)),
    "a power to an argument": (lambda x, y: (1e-5 + x * x) ** y, (0.0, -1e3)),
    "a power below -1": (lambda x, y: y * (1e-5 + x * x) ** -100.5, (0.0, 1.0)),
    "a quotient": (lambda x, y: x / y, (1.0, 0.0)),
    "a quotient by what a subnormal number keeps from 0": (lambda x, y: y / (x * x + 1e-320), (0.0, 1.0)),
    "an exponential": (lambda x, y: gm.exp(x) * y, (1e3, 0.0)),
    "an exponential of a difference": (lambda x, y: gm.exp(gm.maximum(x, 0.0) - x) * y, (-1e3, 0.0)),
    "an exponential of a number that the largest is not of": (
        lambda x, y: gm.exp(2.0 * x - gm.maximum(x, y)) * y,
        (1e3, 0.0),
    ),
    "a sum of exponentials without the largest": (
        lambda x, y: gm.log(gm.exp(x - gm.maximum(x, y, 0.0)) + gm.exp(y - gm.maximum(x, y, 0.0))),
        (-1e3, -1e3),
    ),
    "a sum of exponentials with a negative one": (
        lambda x, y: 1.0 / (gm.exp(x - gm.maximum(x, y)) - gm.exp(y - gm.maximum(x, y))),
        (1.0, 1.0),
    ),
    "a root of a difference": (lambda x, y: gm.sqrt(x * x - y * y), (1.0, 1.0)),
}


@pytest.mark.parametrize("name", WILD)
def test_what_is_wild_is_looked_at(name):
    f, point = WILD[name]
    assert not all(map(math.isfinite, grad(f, (0, 1))(*point)))

    def left_out(x: Any, y: Any) -> Any:
        return gm.where(gm.equal(x, point[0]), x + 2.0 * y, f(x, y))

    for gradient in (grad(left_out, (0, 1)), jit(grad(left_out, (0, 1)))):
        assert tuple(gradient(*point)) == (1.0, 2.0)


@pytest.mark.parametrize("least", [1e-8, 1e-9, 1e-10, 1e-12, 1e-25, 1e-40])
def test_in_float32_it_is_finite_too(least):
    """What is small enough for that its inverse overflows there is not taken for tame."""

    def f(x: Any, y: Any) -> Any:
        return gm.where(gm.less(x, 1.0), x + 2.0 * y, y / ((x - 0.5) * (x - 0.5) + least))

    columns = numpy.array([[0.5, 0.5, 0.25], [1.0, 1e3, 0.0]], numpy.float32)
    for k, expected in enumerate((1.0, 2.0)):
        first = grad(f, k)
        assert jit(vmap(first))(*columns).tolist() == [expected] * 3
        for second in (grad(first, 0), grad(first, 1)):
            assert jit(vmap(second))(*columns).tolist() == [0.0] * 3
