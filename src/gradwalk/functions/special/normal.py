"""Functions of the normal distribution: `ndtr`, `ndtri`, `log_ndtr`, `norm_logpdf`, `erfinv`, `erfcinv`, `owens_t`."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.special.composition import CUT, HALF_LOG_2_PI, apply_pointwise, choose, integrate, select
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)

_ROOT_HALF = math.sqrt(0.5)


def ndtr(x: Scalar) -> Scalar:
    """Compute the normal distribution function. This is `norm_cdf` under the name of `scipy.special.ndtr`.

    d/dx = exp(-x² / 2) / sqrt(2 · π)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> ndtr(0.0)
        0.5
    """
    result: Scalar = rows.norm_cdf(x)
    return result


def ndtri(y: Scalar) -> Scalar:
    """Compute the quantile of the normal distribution. This is `norm_ppf` under the name of `scipy.special.ndtri`.

    d/dy = sqrt(2 · π) · exp(out² / 2)

    Args:
        y: A `Value` or a real number between 0 and 1, or an array of these.

    Returns:
        A new `Value`, or a float if `y` is a number.

    Example:
        >>> round(ndtri(0.975), 6)
        1.959964
    """
    result: Scalar = rows.norm_ppf(y)
    return result


def log_ndtr(x: Scalar) -> Scalar:
    """Compute the logarithm of the normal distribution function without underflow, like `scipy.special.log_ndtr`.

    d/dx = exp(-x² / 2 - out) / sqrt(2 · π)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(log_ndtr(-40.0), 6)
        -804.608442
    """
    result: Scalar = apply_pointwise("log_ndtr", log_norm_cdf, (x,))
    return result


def log_norm_cdf(x: Any) -> Any:
    """Compute `log_ndtr` of a Value or a float."""
    is_low = x < -1.0
    return select(
        is_low,
        lambda: _low_log_ndtr(choose(is_low, x, -1.0)),
        lambda: rows.log1p(-rows.norm_cdf(-choose(is_low, -1.0, x))),
    )


def _low_log_ndtr(x: Any) -> Any:
    scaled = _ROOT_HALF * x
    return rows.log(0.5 * rows.erfcx(-scaled)) - scaled * scaled


def norm_logpdf(x: Scalar) -> Scalar:
    """Compute the logarithm of the density of the normal distribution of mean 0 and variance 1.

    d/dx = -x

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number. Other means and variances are
        `norm_logpdf((x - mean) / sd) - log(sd)`.

    Example:
        >>> round(norm_logpdf(40.0), 6)
        -800.918939
    """
    result: Scalar = apply_pointwise("norm_logpdf", _norm_logpdf, (x,))
    return result


def _norm_logpdf(x: Any) -> Any:
    return -0.5 * (x * x) - HALF_LOG_2_PI


def erfinv(y: Scalar) -> Scalar:
    """Compute the inverse of the error function, like `scipy.special.erfinv`.

    d/dy = sqrt(π) / 2 · exp(out²)

    Args:
        y: A `Value` or a real number between -1 and 1, or an array of these.

    Returns:
        A new `Value`, or a float if `y` is a number: ±inf at ±1, and nan outside of [-1, 1].

    Example:
        >>> round(erfinv(0.5), 6)
        0.476936
    """
    result: Scalar = apply_pointwise("erfinv", _erfinv, (y,))
    return result


def _erfinv(y: Any) -> Any:
    size = rows.absolute(y)
    is_central = size < 0.5
    x = _ROOT_HALF * rows.norm_ppf(0.5 * rows.where(is_central, 1.0 + y, 1.0 - size))
    return select(is_central, lambda: _corrected(x, y), lambda: -rows.sign(y) * x)


def _corrected(x: Any, y: Any) -> Any:
    """Add a step of Newton's method to an approximation of erfinv(y): 1 + y has lost digits of small y."""
    return x - (rows.erf(x) - y) * (0.5 * math.sqrt(math.pi)) * rows.exp(x * x)


def erfcinv(y: Scalar) -> Scalar:
    """Compute the inverse of the complementary error function, like `scipy.special.erfcinv`.

    d/dy = -sqrt(π) / 2 · exp(out²)

    Args:
        y: A `Value` or a real number between 0 and 2, or an array of these.

    Returns:
        A new `Value`, or a float if `y` is a number: inf at 0, -inf at 2, and nan outside of [0, 2].

    Example:
        >>> round(erfcinv(1e-100), 6)
        15.065575
    """
    result: Scalar = apply_pointwise("erfcinv", _erfcinv, (y,))
    return result


def _erfcinv(y: Any) -> Any:
    is_central = rows.absolute(y - 1.0) < 0.5
    return select(
        is_central,
        lambda: _erfinv(1.0 - rows.where(is_central, y, 1.0)),
        lambda: -_ROOT_HALF * rows.norm_ppf(0.5 * y),
    )


def owens_t(h: Scalar | float, a: Scalar | float) -> Scalar:
    """Compute Owen's T function, the integral of exp(-h² · (1 + t²) / 2) / (1 + t²) / (2 · π) for t from 0 to a.

    d/dh = -norm_pdf(h) · (norm_cdf(a · h) - 1/2)
    d/da = exp(-h² · (1 + a²) / 2) / (1 + a²) / (2 · π)

    Args:
        h: A `Value` or a real number, or an array of these.
        a: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. The arguments have the order of `scipy.special.owens_t`.
        Source: Owen, "Tables for computing bivariate normal probabilities", Ann. Math. Statist. 27 (1956); formulas 2.1
        to 2.5. The integrals are computed by quadrature.

    Example:
        >>> round(owens_t(1.0, 1.0), 6)
        0.066742
    """
    result: Scalar = apply_pointwise("owens_t", _owens_t, (h, a))
    return result


def _owens_t(h: Any, a: Any) -> Any:
    slope = rows.absolute(a)
    product = rows.where((h == 0.0) + (a == 0.0), 0.0, slope * h)  # 0 · inf is nan
    sign = rows.where(a < 0.0, -1.0, 1.0)
    is_far = rows.absolute(product) > 3.0
    return select(
        is_far,
        lambda: sign * _owens_far(rows.where(is_far, rows.absolute(h), 1.0), rows.where(is_far, product, 4.0)),
        lambda: _owens_near(h, a, rows.where(is_far, 1.0, product), sign),
    )


def _owens_near(h: Any, a: Any, product: Any, sign: Any) -> Any:
    """Integrate from 0 to a if |a| <= 1. For larger a, T(h, a) is expressed by T(a · h, 1 / a)."""
    is_flat = rows.absolute(a) <= 1.0
    height = rows.where(is_flat, h, product)
    width = rows.where(is_flat, a, rows.divide(1.0, rows.where(is_flat, 1.0, a)))
    half = -0.5 * height * height
    integral = integrate(lambda t: rows.divide(rows.exp(half * (1.0 + t * t)), 1.0 + t * t), width) * (0.5 / math.pi)
    return select(is_flat, lambda: integral, lambda: sign * _sum_of_two(h, product) - integral)


def _sum_of_two(h: Any, k: Any) -> Any:
    """Compute T(h, k / h) + T(k, h / k) from the tails of the normal distribution at h and k."""
    first, second = rows.norm_cdf(-h), rows.norm_cdf(-k)
    return 0.5 * (first + second) - first * second


def _owens_far(h: Any, product: Any) -> Any:
    """Subtract the integral from a to infinity from the integral from 0 to infinity, for h > 0 and a · h > 3."""
    k, square = rows.absolute(product), h * h
    start = rows.stop_gradient(k)
    length = rows.divide(2.0 * CUT, start + rows.hypot(start, math.sqrt(2.0 * CUT)))  # where k · u + u² / 2 = CUT
    tail = integrate(
        lambda u: rows.divide(rows.exp(-u * (k + 0.5 * u)), square + (k + u) * (k + u)),
        length,
    )
    density = rows.norm_pdf(h) * rows.norm_pdf(k)
    return 0.5 * rows.norm_cdf(-h) - rows.where(density > 0.0, density * h * tail, 0.0)
