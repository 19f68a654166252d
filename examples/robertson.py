"""Integrate Robertson's stiff chemical reactions from a microsecond to three thousand years, with sensitivities.

    python examples/robertson.py --output robertson.png

The reactions are A → B at the rate k1 a, B + B → B + C at the rate k2 b², and B + C → A + C at the rate k3 b c. B
settles within milliseconds while A decays for millennia, so an implicit solver is needed, which uses the Jacobian. The
sensitivities S = dy/dk follow dS/dt = ∂f/∂y S + ∂f/∂k. This right-hand side contains derivatives, and its Jacobian
contains second derivatives. Two known results serve as checks: y at 1e11 s from the Test Set for Initial Value Problem
Solvers (problem ROBER), and the asymptotic law a ≈ k3² / (k1² k2 t), whose exponents equal d log a / d log k. Requires
matplotlib and scipy: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from gradwalk import jacobian, jit

Array = NDArray[np.float64]

RATES = np.array([0.04, 3e7, 1e4])
START = np.array([1.0, 0.0, 0.0])
SCALE = np.array([1e-8, 1e-13, 1.0])  # magnitude of the concentrations at LAST
START_ALL = np.concatenate([START, np.zeros(9)])  # with sensitivities
SCALE_ALL = np.concatenate([SCALE, np.outer(SCALE, 1 / RATES).ravel()])
FIRST, LAST = 1e-6, 1e11  # seconds
REFERENCE = np.array([0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050])  # y at LAST
EXPONENTS = np.array([-2.0, -1.0, 2.0])  # of k1, k2, k3 in the asymptotic law of a
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # color-blind safe


def reactions(y: Any, k: Any) -> Any:
    """Return the time derivatives of the concentrations of A, B and C for given rate constants."""
    a, b, c = y
    first, second, third = k[0] * a, k[1] * b * b, k[2] * b * c
    return np.array([third - first, first - second - third, second])


def concentrations(_: Any, y: Any) -> Any:
    """Return the right-hand side for the three concentrations."""
    return reactions(y, RATES)


def with_sensitivities(_: Any, state: Any) -> Any:
    """Return the right-hand side for the concentrations followed by the rows of dy/dk."""
    y, s = state[:3], state[3:].reshape(3, 3)
    by_y, by_k = jacobian(reactions, argnums=(0, 1))(y, RATES)
    return np.concatenate([reactions(y, RATES), (by_y @ s + by_k).ravel()])


class Run(NamedTuple):
    """A solution with the names of its system and Jacobian and the numbers of evaluations."""

    system: str
    jacobian: str
    evaluations: int
    jacobians: int
    solution: Any  # the state as a function of time


def run(rhs: Callable[..., Any], start: Array, scale: Array, tolerance: float, *, exact: bool) -> Run:
    """Solve from 0 to LAST; `scale` is the magnitude of each component at LAST and scales the tolerance."""
    f = jit(rhs)
    jac = jit(jacobian(rhs, argnums=1)) if exact else None  # None: SciPy uses finite differences of f
    options = {"rtol": tolerance, "atol": tolerance * scale, "dense_output": True}
    solution = solve_ivp(f, (0.0, LAST), start, method="Radau", jac=jac, **options)
    assert solution.success, solution.message
    kind = "exact" if exact else "by differences"
    return Run(rhs.__name__, kind, f.statistics.calls, solution.njev, solution.sol)


def exponents(state: Array) -> Array:
    """Return d log a / d log k for each k, for one state or for one state per column."""
    return np.asarray((RATES * state[3:6].T).T / state[0])


def report(its: Run) -> None:
    """Print a line of the table."""
    state = its.solution(LAST)
    error = np.abs(state[:3] / REFERENCE - 1.0).max()
    found = "".join(f"{x:9.4f}" for x in exponents(state)) if len(state) > 3 else ""
    print(f"{its.system:19} {its.jacobian:14} {its.evaluations:11} {its.jacobians:9} {error:11.1e} {found}".rstrip())


def draw(its: Run, output: str) -> None:
    """Save a picture of the concentrations and of their sensitivities to the rate constants."""
    times = np.geomspace(FIRST, LAST, 600)
    states = its.solution(times)
    figure = Figure(figsize=(8, 6.5), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    lines = (("A", 1, BLUE, "-", "o"), ("B", 1e4, ORANGE, "--", "^"), ("C", 1, GREEN, "-.", "s"))
    for y, end, (name, factor, color, style, marker) in zip(states, REFERENCE, lines, strict=False):
        label = name if factor == 1 else f"{name} · {factor:,.0f}"
        upper.semilogx(times, factor * y, color=color, linestyle=style, linewidth=2, label=label)
        upper.plot(LAST, factor * end, color=color, marker=marker, markersize=9, markeredgecolor="black", clip_on=False)
    for k, known, exponent, (_, _, color, style, _) in zip((1, 2, 3), EXPONENTS, exponents(states), lines, strict=True):
        lower.axhline(known, color="gray", linewidth=0.8, linestyle=":")
        lower.semilogx(times, exponent, color=color, linestyle=style, linewidth=2, label=f"k{k} (known: {known:+g})")
    upper.set(title="Robertson's reactions (markers: the published end)", ylabel="concentration")
    lower.set(title="How A depends on the rates", xlabel="time in seconds", ylabel="d log A / d log k")
    lower.set(xlim=(FIRST, LAST))
    upper.legend(loc="center left")
    lower.legend(loc="upper left")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, solve with and without exact Jacobians, and print the comparison."""
    parser = argparse.ArgumentParser(description="Solve Robertson's stiff equations and their sensitivities.")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="relative tolerance (default: %(default)s)")
    parser.add_argument("--output", default="robertson.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    print("right-hand side     Jacobian       evaluations Jacobians error at end   exponents of k1, k2, k3")
    both = (True, False)
    runs = [run(concentrations, START, SCALE, options.tolerance, exact=exact) for exact in both]
    runs += [run(with_sensitivities, START_ALL, SCALE_ALL, 100 * options.tolerance, exact=exact) for exact in both]
    for its in runs:
        report(its)
    print(f"{'known answer':57} {0:11} {''.join(f'{x:9.4f}' for x in EXPONENTS)}")
    draw(runs[2], options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
