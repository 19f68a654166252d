"""Tests of derivatives of the MINPACK problems, and SciPy's optimizers with these derivatives."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

import numpy as np
import pytest
from checkout import IS_COMPILED
from minpack import PROBLEMS, Problem
from scipy.optimize import least_squares, minimize

from gradwalk import grad, hessian, jacobian, jit

# Uncompiled runs use only the small problems: the same kinds in a third of the time.
SELECTED = [problem for problem in PROBLEMS if IS_COMPILED or len(problem.x0) <= 6]

problems = pytest.mark.parametrize("problem", SELECTED, ids=str)


def points(problem: Problem) -> list[list[float]]:
    """Return the start and three random points within about 10 % of it."""
    draw = random.Random(str(problem))
    near = [[xj + draw.uniform(-0.1, 0.1) * (abs(xj) + 0.05) for xj in problem.x0] for _ in range(3)]
    return [problem.x0, *near]


def quotients(f: Callable[[list[float]], Sequence[float]], x: list[float]) -> tuple[Any, Any]:
    """Return extrapolated central differences of three widths, and a bound of their rounding error.

    The error after extrapolation is of order 6 in the width, which is 0.002 of each variable.
    """
    columns, rounding = [], []
    for j, xj in enumerate(x):
        h = 2e-3 * max(abs(xj), 0.1)
        results = [np.array(f([*x[:j], xj + s * h, *x[j + 1 :]])) for s in (1, -1, 1 / 2, -1 / 2, 1 / 4, -1 / 4)]
        wide, middle, narrow = [(results[k] - results[k + 1]) * 2 ** (k // 2) / (2 * h) for k in (0, 2, 4)]
        columns.append((64 * narrow - 20 * middle + wide) / 45)
        rounding.append(100 * np.finfo(float).eps * np.abs(results).max(axis=0) / h)
    return np.array(columns).T, np.array(rounding).T


def excess(actual: Any, expected: Any, bound: Any) -> float:
    """Return the largest excess of a difference over its bound, or nan."""
    return float(np.max(np.abs(np.asarray(actual) - np.asarray(expected)) - bound))


def largest(matrix: Any) -> Any:
    """Return the largest magnitude in each column, because variables differ in scale."""
    return np.abs(matrix).max(axis=0)


def is_published(value: float, problem: Problem) -> bool:
    return any(isclose(value, f, rel_tol=1e-5, abs_tol=0.0 if f else 1e-10) for f in problem.minima)


@problems
def test_jacobian_agrees_with_difference_quotients(problem):
    recorded = jit(jacobian(problem.residuals))
    for x in points(problem):
        expected, rounding = quotients(problem.residuals, x)
        assert excess(recorded(x), expected, 1e-8 * largest(expected) + rounding) <= 0


@problems
def test_gradient_of_sum_of_squares_agrees_with_jacobian(problem):
    matrix, gradient = jit(jacobian(problem.residuals)), jit(grad(problem.sum_of_squares))
    residuals = jit(problem.residuals)  # as in the Jacobian; since 3.12 Python's `sum` of floats rounds only once
    for x in points(problem):
        j, f = np.array(matrix(x)), np.array(residuals(x))
        assert excess(gradient(x), 2 * j.T @ f, 1e-13 * 2 * np.abs(j).T @ np.abs(f)) <= 0


@problems
def test_hessian_is_symmetric_and_agrees_with_difference_quotients(problem):
    recorded, gradient = jit(hessian(problem.sum_of_squares)), jit(grad(problem.sum_of_squares))
    for x in points(problem):
        actual = np.array(recorded(x))
        assert excess(actual, actual.T, 1e-12 * largest(actual)) <= 0
        expected, rounding = quotients(gradient, x)
        assert excess(actual, expected, 1e-8 * largest(expected) + rounding) <= 0


@pytest.mark.parametrize("problem", [problem for problem in SELECTED if problem.minimizer], ids=str)
def test_gradient_vanishes_at_the_published_minimizer(problem):
    value, f = problem.sum_of_squares(problem.minimizer), np.array(problem.residuals(problem.minimizer))
    assert isclose(value, problem.minima[0], rel_tol=1e-13, abs_tol=1e-28)
    j = np.array(jacobian(problem.residuals)(problem.minimizer))
    assert (
        excess(grad(problem.sum_of_squares)(problem.minimizer), 0.0, 1e-13 * largest(j) * max(1.0, abs(f).max())) <= 0
    )


EXCLUDED = ("biggs-6", "dogbox")


# "lm" is left out: in SciPy 1.17 it reads uninitialized memory and sometimes ends early. With MALLOC_PERTURB_=85 it
# does so on the Biggs problem even with residuals and a Jacobian in plain NumPy. On the flat valley of Biggs, "dogbox"
# converges or runs forever depending on rounding, which differs between machines.
@pytest.mark.parametrize(
    ("problem", "method"),
    [(problem, method) for problem in SELECTED for method in ("dogbox", "trf") if (str(problem), method) != EXCLUDED],
    ids=str,
)
def test_least_squares_reaches_a_published_minimum(problem, method):
    result = least_squares(
        jit(problem.residuals),
        np.array(problem.x0),
        jac=jit(jacobian(problem.residuals)),
        method=method,
        x_scale="jac",
        ftol=1e-14,
        xtol=1e-14,
        gtol=1e-14,
        max_nfev=1000,
    )
    assert result.success
    assert is_published(2 * result.cost, problem), 2 * result.cost


@problems
@pytest.mark.filterwarnings("ignore:overflow encountered in dot:RuntimeWarning")  # SciPy, far from Osborne 1's minimum
def test_trust_region_newton_reaches_a_published_minimum(problem):
    # the only Hessian method that reaches all minima: Newton-CG and trust-ncg stop early in narrow valleys
    result = minimize(
        jit(problem.sum_of_squares),
        np.array(problem.x0),
        jac=jit(grad(problem.sum_of_squares)),
        hess=jit(hessian(problem.sum_of_squares)),
        method="trust-exact",
        options={"gtol": 1e-8, "maxiter": 2000},
    )
    assert is_published(result.fun, problem), result.fun
