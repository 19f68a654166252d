"""GradBench's `ode`, from cmpad: the gradient of the last component of an ODE solution, by Runge-Kutta.

The system is y[0]' = x[0] and y[i]' = x[i] y[i - 1], from zero over two units of time in s steps. GradBench has at
least 1,000 components. The last of them is the product of x times 2^n / n!, which is 0 in floating point. Therefore two
of the sizes here are smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
from suites import OURS, Library, of_jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, in_cpp, in_jax, recorded, slopes_in_torch, torch
from gradwalk import grad


def after_step(concatenate: Any, h: float, x: Any, y: Any) -> Any:
    """Advance the state by one Runge-Kutta step."""

    def slope(y: Any) -> Any:
        return concatenate([x[:1], x[1:] * y[:-1]])

    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    k4 = slope(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def last_of(m: Library, steps: int, x: Any) -> Any:
    """Return the last component at the end."""
    h = 2.0 / steps
    step = partial(after_step, m.concatenate, h, x)
    return m.scan(lambda y, _: (step(y), None), m.arrays.zeros(len(x)), None, length=steps)[0][-1]


def last_in_torch(steps: int, x: Any) -> Any:
    """Return the last component at the end, in PyTorch."""
    y = torch().zeros(len(x))
    for _ in range(steps):
        y = after_step(torch().cat, 2.0 / steps, x, y)
    return y[-1]


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for n, steps in [(5, 20)] if quick else [(10, 1000), (100, 100), (1000, 100)]:
        x = generator.uniform(0.5, 1.5, n)
        other = of_jax()
        makers = {
            "gradwalk": recorded(grad(partial(last_of, OURS, steps)), x),
            "C++": in_cpp("ode2", [n, steps, x], [n]),
            "JAX": in_jax(other.grad(partial(last_of, other, steps)), x),
            "PyTorch": slopes_in_torch(partial(last_in_torch, steps), 1, x),
        }
        makers |= tapes.makers(tapes.Tapes.gradient, "ode", [n, steps], x)
        yield Case("ode", f"{n:,} numbers, {steps:,} steps", makers)
