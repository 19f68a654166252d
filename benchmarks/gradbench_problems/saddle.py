"""GradBench's `saddle`, from Pearlmutter and Siskind: a saddle point, found by nested gradient descents.

The problem is to minimize over x and y the maximum over a and b of x² + y² - a² - b². The outer descent needs the
derivative of a function that runs the inner descent, which uses derivatives itself. All variables start at the same
point. The published result serves as a check.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
from peers import jax
from suites import OURS, of_jax, saddle

from gradbench_problems.base import Case, Maker, in_cpp, in_jax, recorded, torch

PUBLISHED = [8.246324826140356e-06] * 4  # starting at 1, 1


def descended(f: Any, start: Any, inside: bool) -> Any:
    """Minimize a PyTorch function with the gradient descent of suites.py, in a Python loop.

    With `inside`, the steps stay in the graph, so that the result can be differentiated.
    """
    t = torch()

    def slopes(x: Any) -> tuple[Any, Any]:
        value = f(x)
        return value, t.autograd.grad(value, x, create_graph=inside)[0]

    x, eta, count = start.detach().requires_grad_(), 1e-5, 0
    value, slope = slopes(x)
    while t.linalg.vector_norm(slope) > 1e-5:
        if count == 10:
            eta, count = 2 * eta, 0
            continue
        moved = x - eta * slope if inside else (x - eta * slope).detach().requires_grad_()
        if t.linalg.vector_norm(moved - x) <= 1e-5:
            break
        after, its_slope = slopes(moved)
        if after < value:
            x, value, slope, count = moved, after, its_slope, count + 1
        else:
            eta, count = eta / 2, 0
    return x


def saddle_in_torch(start: Any) -> Any:
    """Return the saddle point in PyTorch."""

    def largest(x: Any) -> Any:
        return descended(lambda a: (a * a).sum() - (x * x).sum(), start, inside=True)

    def most(x: Any) -> Any:
        return (x * x).sum() - (largest(x) ** 2).sum()

    least = descended(most, start, inside=False).detach()
    return torch().cat([least, largest(least)]).detach()


def cases(quick: bool) -> Iterator[Case]:
    """Yield the only size."""
    start = numpy.full(2, 1e-2 if quick else 1.0)
    makers: dict[str, Maker] = {
        "gradwalk": recorded(partial(saddle, OURS), *start),
        "C++": in_cpp("saddle", [start], [4]),
        "JAX": in_jax(lambda x: jax().numpy.stack(saddle(of_jax(), x[0], x[1])), start),
        "PyTorch": lambda: partial(saddle_in_torch, torch().as_tensor(start)),
    }
    yield Case("saddle", f"from {start[0]:g}, {start[1]:g}", makers, None if quick else PUBLISHED)
