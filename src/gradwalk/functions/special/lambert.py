"""The Lambert W function `lambertw`."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.special.composition import apply_pointwise, polynomial, select
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)

# 1 / e as the sum of two floats.
_INVERSE_E = (0.36787944117144233, -1.2428753672788363e-17)
_BRANCH_TERMS = 24
_ITERATIONS = 4


def lambertw(x: Scalar) -> Scalar:
    """Compute the principal branch of the Lambert W function: the w >= -1 that solves w · exp(w) = x.

    d/dx = out / (x · (1 + out))

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: nan for x < -1 / e. `scipy.special.lambertw` returns complex
        numbers. Source: Corless, Gonnet, Hare, Jeffrey and Knuth, "On the Lambert W function", Adv. Comput. Math. 5
        (1996): the series 4.22 near -1 / e; elsewhere Halley's and Newton's iterations, with a fixed number of steps.

    Example:
        >>> round(lambertw(1.0), 6)
        0.567143
    """
    result: Scalar = apply_pointwise("lambertw", _lambertw, (x,))
    return result


def _lambertw(x: Any) -> Any:
    # Near -1 / e, w is a power series of this root, which is 0 at -1 / e.
    is_large = math.e < x
    bounded, large = rows.where(is_large, 1.0, x), rows.where(is_large * (x < math.inf), x, 10.0)
    root = rows.sqrt((2.0 * math.e) * ((bounded + _INVERSE_E[0]) + _INVERSE_E[1]))
    is_near = root < 0.4

    def moderate() -> Any:
        return select(
            is_near,
            lambda: polynomial(rows.where(is_near, root, 0.0), _BRANCH_SERIES),
            lambda: _solve_product(rows.where(is_near, 1.0, bounded), rows.where(is_near, 2.0, root)),
        )

    return select(
        is_large,
        lambda: rows.where(x == math.inf, math.inf, _solve_logarithm(large)),
        moderate,
    )


def _branch_series() -> list[float]:
    """Return the coefficients of w in powers of the root, from the highest power on (Corless et al., 4.23 and 4.24)."""
    mu, alpha = [-1.0, 1.0], [2.0, -1.0]
    for k in range(2, _BRANCH_TERMS):
        alpha.append(math.fsum(mu[j] * mu[k + 1 - j] for j in range(2, k)))
        rest = alpha[k] / 2 + mu[k - 1] / (k + 1)
        mu.append((k - 1) / (k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4) - rest)
    return mu[::-1]


_BRANCH_SERIES = _branch_series()


def _solve_product(x: Any, root: Any) -> Any:
    """Solve w · exp(w) = x for -0.34 < x <= e by Halley's method."""
    start = rows.stop_gradient(root)
    w = rows.divide(start, 1.0 + start * (1.0 / 3.0)) - 1.0
    for _ in range(_ITERATIONS):
        power = rows.exp(w)
        error = w * power - x
        slope = power * (w + 1.0)
        curvature = rows.divide((w + 2.0) * error, 2.0 * (w + 1.0))
        w = w - rows.divide(error, slope - curvature)
    return w


def _solve_logarithm(x: Any) -> Any:
    """Solve w + log(w) = log(x) for x >= e by Newton's method."""
    logarithm = rows.log(x)
    start = rows.stop_gradient(logarithm)
    inner = rows.log(start)
    w = start - inner + rows.divide(inner, start)
    for _ in range(_ITERATIONS):
        w = rows.divide(w * (1.0 + logarithm - rows.log(w)), 1.0 + w)
    return w
