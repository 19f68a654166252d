"""`maximize`: search for the maximum of a log-likelihood."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy

from gradwalk.base.optional import from_scipy
from gradwalk.batching.progress import Advance
from gradwalk.stats.fitting.likelihood import Floats, Likelihood

FLAT = 1e-12  # eigenvalues of the scaled Hessian below this multiple of the largest one count as 0
_NEAR = 1e-3  # distance from the maximum, in standard errors, from which Newton's method is left alone
_MOST_NEWTON_STEPS = 10
_FARTHEST = 1e6  # the largest distance of the start from the maximum, in standard errors
_LONGEST = 1e6  # the largest trust radius, relative to the first step of Newton's method


class NotFiniteError(ValueError):
    """A derivative of the log-likelihood is inf or nan."""


class Maximum(NamedTuple):
    """The result of a search.

    Attributes:
        x: The parameters.
        hessian: The Hessian of the log-likelihood there.
        distance: The length of the next step of Newton's method, in standard errors; inf if the Hessian is not negative
            definite.
        iterations: The number of iterations.
    """

    x: Floats
    hessian: Floats
    distance: float
    iterations: int


def maximize(likelihood: Likelihood, maxiter: int, advance: Advance) -> Maximum:
    """Search for the maximum, by a trust-region method and then by Newton's method.

    The search takes place in coordinates in which the Hessian at the start is close to -1 or 1 times the identity, so
    that it does not depend on the units of the parameters.
    """
    minimize = from_scipy("scipy.optimize", "minimize", "gradwalk.stats.fit")
    objective = _Objective(likelihood)
    origin = numpy.zeros(len(likelihood.start))
    newton_length = max(1.0, float(numpy.linalg.norm(objective(origin)[1])))
    radii = {"initial_trust_radius": newton_length, "max_trust_radius": _LONGEST * newton_length}
    try:
        found = minimize(
            objective,
            origin,
            jac=True,
            hess=objective.hessian,
            method="trust-exact",
            callback=lambda _: advance(1),
            options={"gtol": _NEAR, "maxiter": maxiter, **radii},
        )
    except NotFiniteError:
        raise
    except ValueError as error:  # SciPy's linear algebra fails where the function ends
        raise ValueError(
            f"the search failed after the parameters {likelihood.shown(objective.accepted)}. The maximum may be at a "
            "bound of a parameter: pass other parameters, such as the logarithm of a parameter that must be positive"
        ) from error
    return _polish(likelihood, objective.point(found.x), int(found.nit))


class _Objective:
    """The negative log-likelihood in the coordinates of the search.

    Attributes:
        accepted: The parameters that the search has accepted last: it asks for their Hessian.
    """

    def __init__(self, likelihood: Likelihood) -> None:
        start = likelihood.start
        self._likelihood = likelihood
        self._to_x = _metric(likelihood.value_and_gradient(start)[1], likelihood.hessian(start))
        self.accepted = start

    def point(self, u: Floats) -> Floats:
        """Return the parameters at the coordinates u."""
        x: Floats = self._likelihood.start + self._to_x @ u
        return x

    def __call__(self, u: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient."""
        value, gradient = self._likelihood.value_and_gradient(self.point(u))
        slopes = -(gradient @ self._to_x)
        if math.isfinite(value) and not numpy.isfinite(slopes).all():
            raise self._not_finite("first", u)
        # The search steps back from infinity, so nan is replaced by infinity.
        return (numpy.inf if math.isnan(value) else -value), slopes

    def hessian(self, u: Floats) -> Floats:
        """Return the Hessian."""
        self.accepted = self.point(u)
        matrix: Floats = self._to_x.T @ self._likelihood.hessian(self.accepted) @ self._to_x
        if not numpy.isfinite(matrix).all():
            raise self._not_finite("second", u)
        return -matrix

    def _not_finite(self, which: str, u: Floats) -> NotFiniteError:
        return NotFiniteError(
            f"the log-likelihood must have finite {which} derivatives, but one is inf or nan at "
            f"{self._likelihood.shown(self.point(u))}, which the search reached: pass another start, or other "
            "parameters, such as the logarithm of a parameter that must be positive"
        )


def _polish(likelihood: Likelihood, x: Floats, iterations: int) -> Maximum:
    """Take steps of Newton's method while they get shorter."""
    step, distance, matrix = _newton_step(likelihood, x)
    for _ in range(_MOST_NEWTON_STEPS):
        if not 0.0 < distance < math.inf:
            break
        next_step, next_distance, next_matrix = _newton_step(likelihood, x + step)
        if not next_distance < distance:
            break
        x, step, distance, matrix = x + step, next_step, next_distance, next_matrix
        iterations += 1
    return Maximum(x, matrix, distance, iterations)


def _newton_step(likelihood: Likelihood, x: Floats) -> tuple[Floats, float, Floats]:
    """Return the step of Newton's method, its length in standard errors, and the Hessian."""
    gradient, matrix = likelihood.value_and_gradient(x)[1], likelihood.hessian(x)
    scales, correlations = scaled(-matrix)
    if not numpy.isfinite(correlations).all():
        return gradient, numpy.inf, matrix
    values, vectors = numpy.linalg.eigh(correlations)
    if values[0] <= FLAT * values[-1]:
        return gradient, numpy.inf, matrix
    components = vectors.T @ (gradient * scales)
    return scales * (vectors @ (components / values)), float(numpy.sqrt(numpy.sum(components**2 / values))), matrix


def scaled(matrix: Floats) -> tuple[Floats, Floats]:
    """Return scales s and the matrix with s on both sides, whose diagonal elements are 1, -1 or 0."""
    return _scaled(matrix, numpy.abs(numpy.diag(matrix)))


def _scaled(matrix: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return scales s, the inverse square roots of sizes, and the matrix with s on both sides."""
    scales = numpy.where(sizes > 0.0, sizes, 1.0) ** -0.5
    return scales, matrix * scales * scales[:, None]


def _metric(gradient: Floats, matrix: Floats) -> Floats:
    """Return the matrix from coordinates in which the Hessian has eigenvalues of about -1 or 1.

    Far from the maximum, second derivatives may be almost 0. Sizes are therefore bounded from below, so that the
    maximum of a quadratic function would be at most `_FARTHEST` standard errors away.
    """
    sizes = numpy.maximum(numpy.abs(numpy.diag(matrix)), (gradient / _FARTHEST) ** 2)
    scales, correlations = _scaled(matrix, sizes)
    values, vectors = numpy.linalg.eigh(correlations)
    sizes = numpy.abs(values)
    result: Floats = scales[:, None] * vectors * numpy.maximum(sizes, FLAT * sizes.max() or 1.0) ** -0.5
    return result
