"""Log-densities in mpmath, from their definitions, and points that include the tails and huge parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

m = pytest.importorskip("mpmath")


def _located(standard: Callable[..., Any]) -> Callable[..., Any]:
    """Return a log-density with location and scale, given the log-density of the standard form."""

    def logpdf(x: Any, *parameters: Any) -> Any:
        *shapes, loc, scale = parameters
        return standard((x - loc) / scale, *shapes) - m.log(scale)

    return logpdf


def _log_binomial(n: Any, k: Any) -> Any:
    return m.loggamma(n + 1) - m.loggamma(k + 1) - m.loggamma(n - k + 1)


CONTINUOUS: dict[str, Callable[..., Any]] = {
    name: _located(standard)
    for name, standard in {
        "norm": lambda z: m.log(m.npdf(z)) if abs(z) < 1e4 else -z * z / 2 - m.log(2 * m.pi) / 2,
        "logistic": lambda z: -z - 2 * m.log(1 + m.exp(-z)),
        "laplace": lambda z: -abs(z) - m.log(2),
        "cauchy": lambda z: -m.log(m.pi * (1 + z * z)),
        "t": lambda z, df: (
            m.loggamma((df + 1) / 2) - m.loggamma(df / 2) - m.log(df * m.pi) / 2 - (df + 1) / 2 * m.log(1 + z * z / df)
        ),
        "gamma": lambda z, a: (a - 1) * m.log(z) - z - m.loggamma(a),
        "chi2": lambda z, df: (df / 2 - 1) * m.log(z / 2) - z / 2 - m.loggamma(df / 2) - m.log(2),
        "f": lambda z, dfn, dfd: (
            ((dfn / 2 - 1) * m.log(z) + dfn / 2 * m.log(dfn / dfd) - (dfn + dfd) / 2 * m.log(1 + dfn * z / dfd))
            - m.log(m.beta(dfn / 2, dfd / 2))
        ),
        "beta": lambda z, a, b: (
            (a - 1) * m.log(z) + (b - 1) * m.log(1 - z) + m.loggamma(a + b) - m.loggamma(a) - m.loggamma(b)
        ),
        "expon": lambda z: -z,
        "weibull_min": lambda z, c: m.log(c) + (c - 1) * m.log(z) - z**c,
        "lognorm": lambda z, s: -((m.log(z) / s) ** 2) / 2 - m.log(z * s * m.sqrt(2 * m.pi)),
        "uniform": lambda z: 0 * z,
    }.items()
}

DISCRETE: dict[str, Callable[..., Any]] = {
    "bernoulli": lambda k, p, loc: (k - loc) * m.log(p) + (1 - k + loc) * m.log(1 - p),
    "binom": lambda k, n, p, loc: _log_binomial(n, k - loc) + (k - loc) * m.log(p) + (n - k + loc) * m.log(1 - p),
    "geom": lambda k, p, loc: (k - loc - 1) * m.log(1 - p) + m.log(p),
    "nbinom": lambda k, n, p, loc: _log_binomial(k - loc + n - 1, k - loc) + n * m.log(p) + (k - loc) * m.log(1 - p),
    "poisson": lambda k, mu, loc: (k - loc) * m.log(mu) - mu - m.loggamma(k - loc + 1),
}

# For each distribution: x, the shape parameters, and for continuous distributions the location and the scale.
POINTS: dict[str, list[tuple[float, ...]]] = {
    "norm": [(0.3, -0.2, 1.7), (40.0, 0.5, 0.5), (1e6, 0.0, 1.0)],
    "logistic": [(0.3, -0.2, 1.7), (0.0, 0.0, 1.0), (-800.0, 0.0, 1.0), (900.0, 1.0, 2.0)],
    "laplace": [(0.3, -0.2, 1.7), (-1e5, 0.0, 3.0)],
    "cauchy": [(0.3, -0.2, 1.7), (-1e9, 0.0, 1.0)],
    "t": [(0.3, 3.5, -0.2, 1.7), (1e6, 0.4, 0.0, 1.0), (2.0, 1e9, 0.5, 1.5), (-3.0, 60.0, 0.0, 1.0)],
    "gamma": [(0.3, 2.5, -0.2, 1.7), (1e-12, 0.02, 0.0, 1.0), (900.0, 1.0, 0.0, 1.0), (1e4, 1e4, 0.0, 1.1)],
    "chi2": [(0.3, 2.5, -0.2, 1.7), (1e-9, 3.0, 0.0, 1.0), (900.0, 2.0, 0.0, 1.0)],
    "f": [(0.3, 2.5, 4.0, -0.2, 1.7), (1e-9, 3.0, 1.5, 0.0, 1.0), (1e9, 3.0, 5.0, 0.0, 1.0)],
    "beta": [
        (0.3, 2.5, 0.7, 0.1, 1.7),
        (1e-9, 0.1, 30.0, 0.0, 1.0),
        (0.999999, 3.0, 4.0, 0.0, 1.0),
        (5e-9, 3.0, 1e9, 0.0, 1.0),
        (0.3, 1.0, 1.0, 0.0, 1.0),
    ],
    "expon": [(0.3, -0.2, 1.7), (1e5, 0.0, 1.0)],
    "weibull_min": [(0.3, 1.5, -0.2, 1.7), (1e-9, 0.3, 0.0, 1.0), (30.0, 1.0, 0.0, 2.0)],
    "lognorm": [(0.3, 0.8, -0.2, 1.7), (1e-30, 2.0, 0.0, 1.0), (1e30, 0.5, 0.0, 1.0)],
    "uniform": [(0.3, -0.2, 1.7)],
    "bernoulli": [(1.0, 0.3, 0.0), (0.0, 1e-9, 0.0), (3.0, 0.9, 2.0)],
    "binom": [(3.0, 7.0, 0.3, 0.0), (0.0, 5.0, 0.4, 0.0), (4.0, 1e9, 3e-9, 0.0), (7.0, 5.0, 0.6, 2.0)],
    "geom": [(3.0, 0.3, 0.0), (1.0, 0.9, 0.0), (1e6, 1e-6, 0.0)],
    "nbinom": [(3.0, 2.5, 0.3, 0.0), (0.0, 0.7, 0.2, 0.0), (5.0, 1e9, 0.99999999609375, 0.0), (400.0, 0.01, 1e-4, 1.0)],
    "poisson": [(3.0, 2.5, 0.0), (0.0, 1e-9, 0.0), (1200.0, 1000.0, 0.0), (5.0, 0.3, 2.0)],
}
