"""`FitResult`: estimates, covariances, tests and the table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy

from gradwalk.stats.distributions.continuous import norm
from gradwalk.stats.fitting.likelihood import Floats
from gradwalk.stats.fitting.summary import summarize
from gradwalk.trees.tree import TreeDef


@dataclass(frozen=True, repr=False)
class FitResult:
    """The result of `fit`.

    Attributes:
        params: The estimates, in the structure of `start`.
        names: A name for each parameter, in the order of `start`. The rows of the covariances have the same order.
        covariance: The covariance of the estimates: the inverse of the negative Hessian of the log-likelihood.
        loglik: The log-likelihood at the estimates.
        observations: The number of observations; None if `fit` was called without `data`.
        converged: Whether the search converged.
        message: Why the search ended.
        iterations: The number of iterations.
        estimates: The estimates as an array, in the order of `names`.
        order: The position of each parameter in the flattened `start`.
        treedef: The structure of `start`.
        score_products: The sum over the observations of s sᵀ, where s is the gradient of the log-likelihood; None
            without `data`.
    """

    params: Any
    names: list[str]
    covariance: Floats
    loglik: float
    observations: int | None
    converged: bool
    message: str
    iterations: int
    estimates: Floats = field(repr=False)
    order: list[int] = field(repr=False)
    treedef: TreeDef = field(repr=False)
    score_products: Floats | None = field(repr=False)

    @property
    def robust_covariance(self) -> Floats:
        """The sandwich H⁻¹ (Σ s sᵀ) H⁻¹ of the Hessian H and the gradient s of each observation (White, 1982).

        It is the covariance of the estimates also if the distribution is misspecified, as "HC0" in statsmodels.

        Raises:
            ValueError: `fit` was called without `data`.
        """
        if self.score_products is None:
            raise ValueError(
                "a robust covariance needs the log-likelihood of each observation: call fit(loglik, start, data) with "
                "loglik(params, *observation) instead of a total log-likelihood"
            )
        return self.covariance @ self.score_products @ self.covariance

    @property
    def standard_errors(self) -> Any:
        """The standard errors of the estimates, in the structure of `start`."""
        return self._tree(self._errors(robust=False))

    @property
    def robust_standard_errors(self) -> Any:
        """The standard errors from `robust_covariance`, in the structure of `start`."""
        return self._tree(self._errors(robust=True))

    @property
    def z_values(self) -> Any:
        """The estimates divided by their standard errors, in the structure of `start`."""
        return self._tree(self.estimates / self._errors(robust=False))

    @property
    def p_values(self) -> Any:
        """The two-sided p values of the hypotheses that a parameter is 0, in the structure of `start`."""
        return self._tree(_p_values(self.estimates / self._errors(robust=False)))

    @property
    def aic(self) -> float:
        """Akaike's information criterion: 2 k - 2 loglik for k parameters."""
        return 2.0 * len(self.names) - 2.0 * self.loglik

    @property
    def bic(self) -> float:
        """Schwarz's information criterion: k log(n) - 2 loglik for k parameters and n observations.

        Raises:
            ValueError: `fit` was called without `data`, so that the number of observations is unknown.
        """
        if self.observations is None:
            raise ValueError(
                "bic needs the number n of observations, which is unknown because fit() was called without data: "
                "compute len(result.names) * math.log(n) - 2 * result.loglik"
            )
        return len(self.names) * math.log(self.observations) - 2.0 * self.loglik

    def confint(self, level: float = 0.95, *, robust: bool = False) -> tuple[Any, Any]:
        """Return confidence intervals from the normal distribution of the estimates (Wald).

        Args:
            level: The probability of an interval, between 0 and 1.
            robust: Whether to use the robust standard errors.

        Returns:
            The lower ends and the upper ends, in the structure of `start`.

        Raises:
            ValueError: The level is not between 0 and 1.
        """
        low, high = self._ends(level, robust=robust)
        return self._tree(low), self._tree(high)

    def summary(self, level: float = 0.95, *, robust: bool = False) -> str:
        """Return a table of the estimates, with standard errors, tests and confidence intervals.

        Args:
            level: The probability of a confidence interval.
            robust: Whether to use the robust standard errors.

        Returns:
            The table, as several lines of text.
        """
        errors = self._errors(robust=robust)
        z = self.estimates / errors
        columns = [self.estimates, errors, z, _p_values(z), *self._ends(level, robust=robust)]
        facts = {
            "Observations": "unknown" if self.observations is None else str(self.observations),
            "Log-likelihood": f"{self.loglik:.3f}",
            "Parameters": str(len(self.names)),
            "AIC": f"{self.aic:.3f}",
            "Iterations": str(self.iterations),
            "BIC": "unknown" if self.observations is None else f"{self.bic:.3f}",
            "Converged": "yes" if self.converged else "NO",
            "Covariance": "robust" if robust else "Hessian",
        }
        return summarize(facts, self.names, columns, level)

    def __repr__(self) -> str:
        return self.summary()

    def _errors(self, *, robust: bool) -> Floats:
        covariance = self.robust_covariance if robust else self.covariance
        errors: Floats = numpy.sqrt(numpy.diag(covariance))
        return errors

    def _ends(self, level: float, *, robust: bool) -> tuple[Floats, Floats]:
        """Return the ends of the confidence intervals."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1, such as 0.95, got {level!r}")
        half = norm.ppf(0.5 + 0.5 * level) * self._errors(robust=robust)
        return self.estimates - half, self.estimates + half

    def _tree(self, numbers: Floats) -> Any:
        flat = numpy.empty(len(numbers))
        flat[self.order] = numbers
        return self.treedef.filled(flat)


def _p_values(z: Floats) -> Floats:
    values: Floats = 2.0 * norm.sf(numpy.abs(z))
    return values
