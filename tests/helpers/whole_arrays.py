"""Derivatives of functions of a number and an array, in several ways, and the calls with arrays in recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest

from gradwalk import grad, jit, jvp
from gradwalk.arrays import recorder

x = numpy.random.default_rng(3).normal(size=12)
direction = numpy.random.default_rng(4).normal(size=12)


def directional(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the derivative along fixed tangents."""
    return lambda a, x: jvp(f, (a, x), (0.5, direction))[1]


def dotted(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a number that depends on all components of the gradient."""

    def found(a: Any, x: Any) -> Any:
        of_a, of_x = grad(f, (0, 1))(a, x)
        return of_a + (of_x * direction).sum()

    return found


WAYS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "value": jit,
    "gradient": lambda f: jit(grad(f, (0, 1))),
    "tangent": lambda f: jit(directional(f)),
    "forward over reverse": lambda f: jit(directional(dotted(f))),
    "reverse over reverse": lambda f: jit(grad(dotted(f), (0, 1))),
    "reverse over forward": lambda f: jit(grad(directional(f), (0, 1))),
    "third": lambda f: jit(grad(directional(dotted(f)), (0, 1))),
    "gradient of jit": lambda f: grad(jit(f), (0, 1)),
    "not recorded": lambda f: grad(f, (0, 1)),
}


def flat(result: Any) -> Any:
    return numpy.concatenate([numpy.ravel(leaf) for leaf in (result if isinstance(result, tuple) else (result,))])


def compare_with_numbers(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, sizes: Sequence[int] = (1,)) -> None:
    """Compare all derivatives with those of the same function recorded number by number.

    Args:
        f: Function of a number and an array of 12 numbers.
        monkeypatch: The fixture.
        sizes: The least sizes of arrays that stay whole.
    """
    expected = [flat(way(f)(0.7, x)) for way in WAYS.values()]
    for size in sizes:
        monkeypatch.setattr(recorder, "LEAST_SIZE", size)
        for way, known in zip(WAYS, expected, strict=True):
            numpy.testing.assert_allclose(flat(WAYS[way](f)(0.7, x)), known, rtol=1e-9, atol=1e-11, err_msg=way)


def calls_of(recorded: Any, *classes: type) -> list[type]:
    """Return the classes of the calls of these classes that a recorded function runs."""
    calls = [getattr(step, "call", None) for step in recorded.latest.program._run_steps]
    return [type(call) for call in calls if isinstance(call, classes)]
