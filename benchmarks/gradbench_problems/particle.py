"""GradBench's `particle`, from Pearlmutter and Siskind: aim a charged particle at a point by gradient descent.

The force on the particle is the gradient of a potential, and Euler's method follows its path until it crosses the axis.
The descent needs the derivative of the crossing, so it differentiates through a loop that contains derivatives. The
published result serves as a check.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from suites import OURS, Library, crossing, descended, of_jax

from gradbench_problems.base import Case, Maker, in_jax, number_in_cpp, recorded, torch
from gradbench_problems.saddle import descended as descended_in_torch

PUBLISHED = 0.2071918746486116  # starting at 0


def aimed(m: Library, w: Any) -> Any:
    """Return the best `w` by the gradient descent of suites.py, where it is the first of two numbers."""
    return descended(m, m.outer, lambda w, _: crossing(m, w), (w, 0.0 * w))[0]


def crossing_in_torch(w: Any) -> Any:
    """Return the squared position where the particle crosses the axis, in PyTorch."""
    t = torch()
    first, second = t.cat([t.tensor([10.0]), 10 - w]), t.tensor([10.0, 0.0])
    dt, x, v = 0.1, t.tensor([0.0, 8.0], requires_grad=True), t.tensor([0.75, 0.0])
    while x[1] + dt * v[1] > 0:
        potential = 1 / t.linalg.vector_norm(x - first) + 1 / t.linalg.vector_norm(x - second)
        (slope,) = t.autograd.grad(potential, x, create_graph=True)
        x, v = x + dt * v, v - dt * slope
    return (x[0] - x[1] / v[1] * v[0]) ** 2


def cases(quick: bool) -> Iterator[Case]:
    """Yield the only size."""
    start = 0.207 if quick else 0.0
    makers: dict[str, Maker] = {
        "gradwalk": recorded(partial(aimed, OURS), start),
        "C++": number_in_cpp("particle_by_descent", start),
        "JAX": in_jax(partial(aimed, of_jax()), start),
        "PyTorch": lambda: (
            lambda: descended_in_torch(crossing_in_torch, torch().tensor([start]), inside=False).detach()
        ),
    }
    yield Case("particle", f"from {start:g}", makers, None if quick else PUBLISHED)
