"""GradBench's `particle`, from Pearlmutter and Siskind: a charged particle is to hit a point, by gradient descent.

Euler's method takes the particle, whose force is the gradient of a potential, on its way until it crosses the axis. The
descent needs the derivative of where it does: a derivative through a loop of derivatives. The published result is kept
as a check.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from suites import OURS, Library, crossing, descended, of_jax

from gradbench_problems.base import Case, Maker, in_jax, number_in_cpp, recorded, torch
from gradbench_problems.saddle import descended as descended_in_torch

PUBLISHED = 0.2071918746486116  # from 0


def aimed(m: Library, w: Any) -> Any:
    """The best `w`, by the gradient descent of suites.py, for which it is the first of two numbers."""
    return descended(m, m.outer, lambda w, _: crossing(m, w), (w, 0.0 * w))[0]


def crossing_in_torch(w: Any) -> Any:
    """Where the particle crosses the axis, squared, in PyTorch."""
    t = torch()
    first, second = t.cat([t.tensor([10.0]), 10 - w]), t.tensor([10.0, 0.0])
    dt, x, v = 0.1, t.tensor([0.0, 8.0], requires_grad=True), t.tensor([0.75, 0.0])
    while x[1] + dt * v[1] > 0:
        potential = 1 / t.linalg.vector_norm(x - first) + 1 / t.linalg.vector_norm(x - second)
        (slope,) = t.autograd.grad(potential, x, create_graph=True)
        x, v = x + dt * v, v - dt * slope
    return (x[0] - x[1] / v[1] * v[0]) ** 2


def cases(quick: bool) -> Iterator[Case]:
    """The one size that there is."""
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
