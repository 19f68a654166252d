"""`fit`: maximum-likelihood estimates with standard errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.batching.progress import counter
from gradwalk.stats.fitting.fit_result import FitResult
from gradwalk.stats.fitting.likelihood import Floats, Likelihood, as_data
from gradwalk.stats.fitting.maximum import FLAT, Maximum, maximize, scaled


class ConvergenceWarning(UserWarning):
    """Warning that the search of `fit` did not reach a maximum of the log-likelihood."""


def fit(
    loglik: Callable[..., Any],
    start: Any,
    data: Any = None,
    *,
    tol: float = 1e-6,
    maxiter: int = 1000,
    progress: bool = False,
) -> FitResult:
    """Estimate parameters by maximum likelihood, with standard errors from exact second derivatives.

    With `data`, `loglik(params, *observation)` is the log-likelihood of one observation. It is recorded once and runs
    as a batch over all observations, as by `vmap`. Without `data`, `loglik(params)` is the log-likelihood of all
    observations; it has no robust covariance, because that needs the gradient of each observation.

    The search is `scipy.optimize.minimize` with the method "trust-exact", followed by Newton steps, in coordinates
    that do not depend on the units of the parameters. The search steps back if the log-likelihood is nan or -inf, for
    example because of a negative scale. To hold parameters fixed, bind them with `functools.partial` or a closure.

    Args:
        loglik: The log-likelihood of one observation, or of all observations.
        start: The parameters to start from: a number, or a list, tuple, dict, dataclass or array of numbers.
        data: A tuple with one entry per further argument of `loglik`: an array whose first axis is the observation, or
            a tree of such arrays. A single entry can be given without the tuple.
        tol: The search has converged if the next Newton step is shorter than this number of standard errors.
        maxiter: Maximum number of iterations of the search. Up to ten Newton steps follow.
        progress: Whether to show a progress bar that counts iterations. Requires tqdm:
            pip install 'gradwalk[progress]'.

    Returns:
        The estimates, in the structure of `start`, with covariances, tests and a table.

    Raises:
        ValueError: The log-likelihood or its derivatives are not finite at the start; the message gives the first such
            observation. The data do not identify a parameter: the Hessian is singular. Arrays in `data` have different
            lengths. `start` has no numbers, or `tol` is not positive, or `maxiter` is negative.
        TypeError: `data` is a list of arrays instead of a tuple, or an argument is not a tree of numbers.
        ImportError: SciPy is not installed.

    Warns:
        ConvergenceWarning: The search did not converge: see `FitResult.message`.

    Example:
        >>> from gradwalk import stats
        >>> waits = [0.2, 1.9, 0.7, 0.4, 3.1, 0.9]
        >>> result = stats.fit(lambda params, x: stats.expon.logpdf(x, scale=params["scale"]), {"scale": 1.0}, waits)
        >>> round(result.params["scale"], 6), round(result.standard_errors["scale"], 6)
        (1.2, 0.489898)
    """
    if not tol > 0.0 or maxiter < 0 or maxiter != int(maxiter):
        raise ValueError(f"tol must be positive, and maxiter a whole number >= 0, got tol={tol!r}, maxiter={maxiter!r}")
    likelihood = Likelihood(loglik, start, as_data(data))
    likelihood.check(likelihood.start)
    # The search goes to infinity if the log-likelihood does not have a maximum.
    with counter(None, "iterations", shown=progress) as advance, numpy.errstate(all="ignore"):
        maximum = maximize(likelihood, maxiter, advance)
    _check_identified(likelihood, maximum)
    is_converged = maximum.distance <= tol
    message = "The search converged." if is_converged else _why_not(likelihood, maximum, maxiter)
    if not is_converged:
        warnings.warn(f"fit() did not converge. {message}", ConvergenceWarning, stacklevel=2)
    order = likelihood.order
    square = numpy.ix_(order, order)
    has_scores = likelihood.observations is not None
    return FitResult(
        params=likelihood.tree(maximum.x),
        names=[likelihood.names[i] for i in order],
        covariance=_covariance(maximum)[square],
        loglik=likelihood.value_and_gradient(maximum.x)[0],
        observations=likelihood.observations,
        converged=is_converged,
        message=message,
        iterations=maximum.iterations,
        estimates=maximum.x[order],
        order=order,
        treedef=likelihood.treedef,
        score_products=likelihood.score_products(maximum.x)[square] if has_scores else None,
    )


def _covariance(maximum: Maximum) -> Floats:
    """Return the inverse of the negative Hessian, or nan if the log-likelihood does not have a maximum there."""
    scales, correlations = scaled(-maximum.hessian)
    if maximum.distance == numpy.inf:
        return numpy.full_like(correlations, numpy.nan)
    inverse: Floats = numpy.linalg.inv(correlations) * scales * scales[:, None]
    return 0.5 * (inverse + inverse.T)


def _check_identified(likelihood: Likelihood, maximum: Maximum) -> None:
    """Raise `ValueError` if the Hessian is singular, with the names of the parameters that are not identified."""
    matrix = scaled(-maximum.hessian)[1]
    if not numpy.isfinite(matrix).all():
        return
    values, vectors = numpy.linalg.eigh(matrix)
    is_flat = numpy.abs(values) <= FLAT * max(abs(values[0]), abs(values[-1]))
    if not is_flat.any():
        return
    weights = numpy.sqrt(numpy.sum(vectors[:, is_flat] ** 2, axis=1))
    names = [name for name, weight in zip(likelihood.names, weights, strict=True) if weight > 0.1 * weights.max()]
    raise ValueError(
        f"the data do not identify {', '.join(names):.200}: the Hessian of the log-likelihood is singular, because the "
        "log-likelihood is constant, or linear between kinks, along a direction in these parameters. Remove or fix one "
        "of them, for example with functools.partial"
    )


def _why_not(likelihood: Likelihood, maximum: Maximum, maxiter: int) -> str:
    """Return the reason for which the search did not converge, and advice."""
    if maximum.iterations >= maxiter:
        problem = f"It stopped after maxiter={maxiter} iterations"
    elif maximum.distance == numpy.inf:
        problem = "It ended where the log-likelihood does not have a maximum: its Hessian is not negative definite"
    else:
        problem = f"The next Newton step would still be {maximum.distance:.2g} standard errors long"
    return (
        f"{problem}, at {likelihood.shown(maximum.x)}. Pass a start closer to the maximum, a larger maxiter, or a "
        "log-likelihood of other parameters, such as the logarithm of a scale; the maximum may also be at infinity"
    )
