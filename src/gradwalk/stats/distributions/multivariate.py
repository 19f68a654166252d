"""Distributions of vectors.

The formulas are in Kotz, Balakrishnan and Johnson, "Continuous Multivariate Distributions", 2000, and in Johnson, Kotz
and Balakrishnan, "Discrete Multivariate Distributions", 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk import math
from gradwalk.functions.special.composition import HALF_LOG_2_PI, choose
from gradwalk.functions.special.logarithmic import times_log
from gradwalk.numpy import linalg
from gradwalk.stats.distributions.continuous import norm
from gradwalk.stats.distributions.distribution import is_fractional
from gradwalk.value import arrays

_SIMPLEX_TOLERANCE = 1e-9  # as in SciPy


class Multivariate:
    """A family of distributions of vectors."""

    def __init__(self, name: str, parameters: str) -> None:
        self._shown = f"{name}({parameters})"

    def __repr__(self) -> str:
        return f"<distribution {self._shown}>"


class MultivariateNormal(Multivariate):
    """The multivariate normal distribution."""

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
        """Return the logarithm of the density at x.

        Args:
            x: A vector of length d of numbers or Values, or an array of shape (..., d) of vectors.
            mean: A vector of length d, or None for 0. If it is a number, each element of x is a sample of a normal
                distribution with this mean and the variance `cov`, as in JAX.
            cov: A positive definite matrix of shape (d, d), a vector of variances, or a variance of all components.
                Only the lower triangle of a matrix is read, and has derivatives.

        Returns:
            A float or a `Value`; an array if there are several vectors.

        Raises:
            LinAlgError: The covariance is not positive definite. In a recorded function, the result is nan instead.
            ValueError: The shapes do not match.
        """
        x = arrays.as_array(x)
        if not x.ndim or (mean is not None and not numpy.ndim(mean)):
            return norm.logpdf(x[()], 0.0 if mean is None else mean, math.sqrt(cov))
        deviation = x if mean is None else x - arrays.as_array(mean)
        size = deviation.shape[-1] if deviation.ndim else 0
        factor = linalg.cholesky(_covariance_matrix(cov, size))
        scores: list[Any] = []
        for row in range(size):
            known = sum((factor[row, i] * score for i, score in enumerate(scores)), 0.0)
            scores.append((deviation[..., row] - known) / factor[row, row])
        squares = sum((score * score for score in scores), 0.0)
        log_determinant = sum((math.log(factor[i, i]) for i in range(size)), 0.0)
        return -0.5 * squares - log_determinant - size * HALF_LOG_2_PI

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
        """Return the density at x: see `logpdf`.

        Args:
            x: A vector of length d of numbers or Values, or an array of shape (..., d) of vectors.
            mean: A vector of length d, or None for 0.
            cov: A positive definite matrix of shape (d, d), a vector of variances, or a variance of all components.

        Returns:
            A float or a `Value`; an array if there are several vectors.
        """
        return math.exp(self.logpdf(x, mean, cov))


class Dirichlet(Multivariate):
    """The Dirichlet distribution."""

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """Return the logarithm of the density at x.

        It is -inf with derivatives 0 if x is not in the simplex, and nan if a concentration is not positive.

        Args:
            x: A vector of k numbers or Values that sum to 1, or the first k - 1 of these numbers. An array of shape
                (k, ...) holds several vectors along its first axis, as in SciPy.
            alpha: The concentrations: a vector of length k.

        Returns:
            A float or a `Value`; an array if there are several vectors.

        Raises:
            ValueError: The lengths of x and alpha do not match.
        """
        x, concentrations = arrays.as_array(x), arrays.as_array(alpha).tolist()
        if x.ndim == 0 or len(x) not in (len(concentrations), len(concentrations) - 1):
            raise ValueError(
                f"alpha has {len(concentrations)} numbers, so the first axis of x must have this length or one less, "
                f"got shape {x.shape}"
            )
        return arrays.reduced(lambda vector: _dirichlet_logpdf(vector, concentrations), x, 0)

    def pdf(self, x: Any, alpha: Any) -> Any:
        """Return the density at x: see `logpdf`.

        Args:
            x: A vector of numbers or Values, or an array of these: see `logpdf`.
            alpha: The concentrations: a vector of length k.

        Returns:
            A float or a `Value`; an array if there are several vectors.
        """
        return math.exp(self.logpdf(x, alpha))


class Multinomial(Multivariate):
    """The multinomial distribution."""

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """Return the logarithm of the probability of the counts x.

        It is -inf with derivatives 0 if the counts do not sum to n, and nan if a probability is not in [0, 1].

        Args:
            x: A vector of k counts, or an array of shape (..., k) of vectors.
            n: The number of trials.
            p: The probabilities: a vector of length k. Their sum is not checked.

        Returns:
            A float or a `Value`; an array if there are several vectors.

        Raises:
            ValueError: The lengths of x and p do not match.
        """
        x, probabilities = arrays.as_array(x), arrays.as_array(p).tolist()
        if x.ndim == 0 or x.shape[-1] != len(probabilities):
            raise ValueError(
                f"p has {len(probabilities)} numbers, so the last axis of x must have this length, got shape {x.shape}"
            )
        return arrays.reduced(lambda counts: _multinomial_logpmf(counts, n, probabilities), x, -1)

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """Return the probability of the counts x: see `logpmf`.

        Args:
            x: A vector of k counts, or an array of shape (..., k) of vectors.
            n: The number of trials.
            p: The probabilities: a vector of length k.

        Returns:
            A float or a `Value`; an array if there are several vectors.
        """
        return math.exp(self.logpmf(x, n, p))


def _covariance_matrix(cov: Any, size: int) -> Any:
    """Return a covariance matrix, given the matrix, the variances, or one variance for all components."""
    cov = arrays.as_array(cov)
    if cov.ndim < 2:
        return numpy.eye(size) * cov
    if cov.shape != (size, size):
        raise ValueError(f"cov must have shape {(size, size)} for vectors of length {size}, got shape {cov.shape}")
    return cov


def _dirichlet_logpdf(x: list[Any], alpha: list[Any]) -> Any:
    total = sum(x)
    if len(x) < len(alpha):
        x = [*x, 1.0 - total]
        is_outside = 0.0
    else:
        is_outside = math.abs(total - 1.0) > _SIMPLEX_TOLERANCE
    is_outside = is_outside + sum(component < 0.0 for component in x)
    is_invalid = sum(concentration <= 0.0 for concentration in alpha)
    density = math.lgamma(sum(alpha))
    for concentration, component in zip(alpha, x, strict=True):
        density = density + times_log(concentration - 1.0, component) - math.lgamma(concentration)
    return choose(is_invalid, math.nan, choose(is_outside, -math.inf, density))


def _multinomial_logpmf(x: Sequence[Any], n: Any, p: Sequence[Any]) -> Any:
    is_outside = 1.0 - math.equal(sum(x), n) + sum((count < 0.0) + is_fractional(count) for count in x)
    is_invalid = sum((probability < 0.0) + (probability > 1.0) for probability in p)
    result = math.lgamma(n + 1.0)
    for count, probability in zip(x, p, strict=True):
        result = result + times_log(count, probability) - math.lgamma(count + 1.0)
    return choose(is_invalid, math.nan, choose(is_outside, -math.inf, result))


multivariate_normal = MultivariateNormal("multivariate_normal", "mean=None, cov=1.0")
dirichlet = Dirichlet("dirichlet", "alpha")
multinomial = Multinomial("multinomial", "n, p")
