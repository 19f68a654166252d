"""Distribution functions in mpmath: the probabilities of numbers up to x, and of larger numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from special_references import beta_share, lower_gamma, upper_gamma

m = pytest.importorskip("mpmath")


def _located(standard: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with location and scale, given the function of the standard form."""

    def function(x: Any, *parameters: Any) -> Any:
        *shapes, loc, scale = parameters
        return standard((x - loc) / scale, *shapes)

    return function


def _upper_t(z: Any, df: Any) -> Any:
    """Compute the probability above z by DLMF 8.17 and, for small z, by a hypergeometric series."""
    if abs(z) < 1:
        density = m.gamma((df + 1) / 2) / m.gamma(df / 2) / m.sqrt(df * m.pi)
        return m.mpf(0.5) - z * density * m.hyp2f1(0.5, (df + 1) / 2, 1.5, -z * z / df)
    tail = beta_share(df / 2, m.mpf(0.5), df / (df + z * z)) / 2
    return tail if z > 0 else 1 - tail


# For each distribution: the probability of numbers up to x, and the probability of larger numbers.
CONTINUOUS: dict[str, tuple[Callable[..., Any], ...]] = {
    name: (_located(lower), _located(upper))
    for name, (lower, upper) in {
        "gamma": (lambda z, a: lower_gamma(a, z), lambda z, a: upper_gamma(a, z)),
        "chi2": (lambda z, df: lower_gamma(df / 2, z / 2), lambda z, df: upper_gamma(df / 2, z / 2)),
        "beta": (lambda z, a, b: beta_share(a, b, z), lambda z, a, b: beta_share(b, a, 1 - z)),
        "f": (
            lambda z, p, q: beta_share(p / 2, q / 2, p * z / (p * z + q)),
            lambda z, p, q: beta_share(q / 2, p / 2, q / (p * z + q)),
        ),
        "t": (lambda z, df: _upper_t(-z, df), _upper_t),
    }.items()
}
DISCRETE: dict[str, tuple[Callable[..., Any], ...]] = {
    "bernoulli": (lambda k, p: 1 - p, lambda k, p: p),
    "binom": (lambda k, n, p: beta_share(n - k, k + 1, 1 - p), lambda k, n, p: beta_share(k + 1, n - k, p)),
    "geom": (lambda k, p: 1 - (1 - p) ** k, lambda k, p: (1 - p) ** k),
    "nbinom": (lambda k, n, p: beta_share(n, k + 1, p), lambda k, n, p: beta_share(k + 1, n, 1 - p)),
    "poisson": (lambda k, mu: upper_gamma(k + 1, mu), lambda k, mu: lower_gamma(k + 1, mu)),
}

# For each distribution: points, and the positions of the arguments that are differentiated.
POINTS: dict[str, tuple[list[tuple[float, ...]], tuple[int, ...]]] = {
    "gamma": ([(0.3, 2.5, -0.2, 1.7), (900.0, 3.0, 0.0, 1.0), (1e-9, 40.0, 0.0, 1.0)], (0, 1, 2, 3)),
    "chi2": ([(0.3, 2.5, -0.2, 1.7), (2000.0, 3.0, 0.0, 1.0), (1e-9, 80.0, 0.0, 1.0)], (0, 1, 2, 3)),
    "beta": ([(0.3, 2.5, 0.7, 0.1, 1.7), (1e-9, 40.0, 3.0, 0.0, 1.0), (0.99, 3.0, 200.0, 0.0, 1.0)], (0, 1, 2, 3, 4)),
    "f": ([(0.3, 2.5, 4.0, -0.2, 1.7), (1e-9, 80.0, 3.0, 0.0, 1.0), (1e9, 3.0, 90.0, 0.0, 1.0)], (0, 1, 2, 3, 4)),
    "t": ([(0.3, 2.5, -0.2, 1.7), (0.0, 2.5, 0.0, 1.0), (1e9, 90.0, 0.0, 1.0), (-5.0, 3e3, 0.0, 1.0)], (0, 1, 2, 3)),
    "bernoulli": ([(0.0, 0.3), (0.0, 1e-20)], (1,)),
    "binom": ([(3.0, 7.0, 0.3), (300.0, 400.0, 1e-3), (2.0, 400.0, 0.99)], (2,)),
    "geom": ([(3.0, 0.3), (1e6, 1e-3), (2.0, 1e-20)], (1,)),
    "nbinom": ([(3.0, 2.5, 0.3), (900.0, 3.0, 0.9), (2.0, 300.0, 1e-3)], (1, 2)),
    "poisson": ([(3.0, 2.5), (3.0, 900.0), (100.0, 1e-3)], (1,)),
}
