"""Bessel functions of the orders 0 and 1: `j0`, `j1`, `i0`, `i1`, `i0e`, `i1e`, `k0`, `k1`, `k0e`, `k1e`.

Near 0 each function is an integral over a period of an exponential or trigonometric function. The trapezoidal rule
converges so fast that 16 points of a quarter of the period suffice (DLMF 10.9.1, 10.9.2, 10.32.1, 10.32.3). Far from 0
the functions are computed by Hankel's asymptotic expansions (DLMF 10.17.3 and 10.40.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.special.composition import CUT, apply_pointwise, is_between, polynomial, select
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)

_EULER = 0.5772156649015329
_POINTS = 16
_SINES = [math.sin(math.pi * (2 * k + 1) / (4 * _POINTS)) for k in range(_POINTS)]
_FAR = 25.0  # where the asymptotic expansions start
_STEPS = 16  # of the trapezoidal rule for k0 and k1


def _hankel(order: int, count: int) -> list[float]:
    """Return the coefficients of Hankel's expansion in powers of 1 / x, from the constant on (DLMF 10.17.1)."""
    coefficients = [1.0]
    for k in range(1, count):
        coefficients.append(coefficients[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    return coefficients


def j0(x: Scalar) -> Scalar:
    """Compute the Bessel function of the first kind of order 0, like `scipy.special.j0`.

    d/dx = -j1(x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number. Near its zeros, the function is accurate relative to
        sqrt(2 / (π · x)).

    Example:
        >>> round(j0(1.0), 6)
        0.765198
    """
    result: Scalar = apply_pointwise("j0", _j0, (x,))
    return result


def _j0(x: Any) -> Any:
    return _oscillating(x, lambda t: _mean([rows.cos(t * sine) for sine in _SINES]), 0)


def j1(x: Scalar) -> Scalar:
    """Compute the Bessel function of the first kind of order 1, like `scipy.special.j1`.

    d/dx = j0(x) - j1(x) / x

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number. Near its zeros, the function is accurate relative to
        sqrt(2 / (π · x)).

    Example:
        >>> round(j1(1.0), 6)
        0.440051
    """
    result: Scalar = apply_pointwise("j1", _j1, (x,))
    return result


def _j1(x: Any) -> Any:
    return _oscillating(x, lambda t: _mean([sine * rows.sin(t * sine) for sine in _SINES]), 1)


def _oscillating(x: Any, near: Callable[[Any], Any], order: int) -> Any:
    is_far = rows.absolute(x) > _FAR
    is_infinite = rows.absolute(x) == math.inf
    far = rows.where(is_far * (1.0 - is_infinite), x, 2.0 * _FAR)
    return select(
        is_far,
        lambda: rows.where(is_infinite, 0.0, _hankel_waves(far, order)),
        lambda: near(rows.where(is_far, 1.0, x)),
    )


def _hankel_waves(x: Any, order: int) -> Any:
    """Compute j0 or j1 far from 0. The phase is x - π / 4 or x - 3 · π / 4."""
    size = rows.absolute(x)
    inverse = rows.divide(1.0, size)
    square = inverse * inverse
    coefficients = _hankel(order, 22)
    even = polynomial(square, [(-1.0) ** (k // 2) * coefficients[k] for k in range(20, -1, -2)])
    odd = inverse * polynomial(square, [(-1.0) ** (k // 2) * coefficients[k] for k in range(21, 0, -2)])
    sine, cosine = rows.sin(size), rows.cos(size)
    real, imaginary = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -sine - cosine)
    waves = rows.sqrt(inverse * (1.0 / math.pi)) * (real * even - imaginary * odd)
    return waves if order == 0 else rows.sign(x) * waves


def i0(x: Scalar) -> Scalar:
    """Compute the modified Bessel function of the first kind of order 0, like `scipy.special.i0`.

    d/dx = i1(x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(i0(1.0), 6)
        1.266066
    """
    result: Scalar = apply_pointwise("i0", _i0, (x,))
    return result


def _i0(x: Any) -> Any:
    return _growing(x, 0, is_scaled=False)


def i1(x: Scalar) -> Scalar:
    """Compute the modified Bessel function of the first kind of order 1, like `scipy.special.i1`.

    d/dx = i0(x) - i1(x) / x

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(i1(1.0), 6)
        0.565159
    """
    result: Scalar = apply_pointwise("i1", _i1, (x,))
    return result


def _i1(x: Any) -> Any:
    return _growing(x, 1, is_scaled=False)


def i0e(x: Scalar) -> Scalar:
    """Compute exp(-|x|) · i0(x), which does not overflow, like `scipy.special.i0e`.

    d/dx = i1e(x) - sign(x) · out

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(i0e(1000.0), 6)
        0.012617
    """
    result: Scalar = apply_pointwise("i0e", _i0e, (x,))
    return result


def _i0e(x: Any) -> Any:
    return _growing(x, 0, is_scaled=True)


def i1e(x: Scalar) -> Scalar:
    """Compute exp(-|x|) · i1(x), which does not overflow, like `scipy.special.i1e`.

    d/dx = i0e(x) - out · (sign(x) + 1 / x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(i1e(1000.0), 6)
        0.012611
    """
    result: Scalar = apply_pointwise("i1e", _i1e, (x,))
    return result


def _i1e(x: Any) -> Any:
    return _growing(x, 1, is_scaled=True)


def _growing(x: Any, order: int, *, is_scaled: bool) -> Any:
    is_far = rows.absolute(x) > _FAR
    near, far = rows.where(is_far, 1.0, x), rows.where(is_far, x, 2.0 * _FAR)

    def at_near() -> Any:
        terms = [rows.cosh(near * s) for s in _SINES] if order == 0 else [s * rows.sinh(near * s) for s in _SINES]
        return _mean(terms) * rows.exp(-rows.absolute(near)) if is_scaled else _mean(terms)

    def at_far() -> Any:
        size = rows.absolute(far)
        inverse = rows.divide(1.0, size)
        signs = [(-1.0) ** k * c for k, c in enumerate(_hankel(order, 26))]
        scaled = rows.sqrt(inverse * (0.5 / math.pi)) * polynomial(inverse, signs[::-1])
        half = rows.exp(0.5 * size)
        result = scaled if is_scaled else half * rows.where(size < math.inf, scaled, 1.0) * half
        return result if order == 0 else rows.sign(far) * result

    return select(is_far, at_far, at_near)


def _mean(terms: list[Any]) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total + term
    return total * (1.0 / len(terms))


def k0(x: Scalar) -> Scalar:
    """Compute the modified Bessel function of the second kind of order 0, like `scipy.special.k0`.

    d/dx = -k1(x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: inf at 0, and nan for x < 0. Sources: DLMF 10.31.2 for x < 2, and
        the trapezoidal rule for 10.32.9.

    Example:
        >>> round(k0(1.0), 6)
        0.421024
    """
    result: Scalar = apply_pointwise("k0", lambda t: _decreasing(t, 0, is_scaled=False), (x,))
    return result


def k1(x: Scalar) -> Scalar:
    """Compute the modified Bessel function of the second kind of order 1, like `scipy.special.k1`.

    d/dx = -k0(x) - k1(x) / x

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: inf at 0, and nan for x < 0. Sources: see `k0`.

    Example:
        >>> round(k1(1.0), 6)
        0.601907
    """
    result: Scalar = apply_pointwise("k1", lambda t: _decreasing(t, 1, is_scaled=False), (x,))
    return result


def k0e(x: Scalar) -> Scalar:
    """Compute exp(x) · k0(x), which does not underflow, like `scipy.special.k0e`.

    d/dx = out - k1e(x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(k0e(1000.0), 6)
        0.039628
    """
    result: Scalar = apply_pointwise("k0e", lambda t: _decreasing(t, 0, is_scaled=True), (x,))
    return result


def k1e(x: Scalar) -> Scalar:
    """Compute exp(x) · k1(x), which does not underflow, like `scipy.special.k1e`.

    d/dx = out · (1 - 1 / x) - k0e(x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(k1e(1000.0), 6)
        0.039648
    """
    result: Scalar = apply_pointwise("k1e", lambda t: _decreasing(t, 1, is_scaled=True), (x,))
    return result


def _decreasing(x: Any, order: int, *, is_scaled: bool) -> Any:
    is_large = x > 2.0
    is_inside = is_between(0.0, x, math.inf)
    near, far = rows.where(is_large, 1.0, x), rows.where(is_large * is_inside, x, 4.0)

    def at_near() -> Any:
        result = (_k0_series if order == 0 else _k1_series)(rows.where(is_inside, near, 1.0))
        scaled = rows.exp(near) * result if is_scaled else result
        outside = rows.where(x == 0.0, math.inf, rows.where(x > 0.0, 0.0, math.nan))
        return rows.where(is_inside, scaled, outside)

    def at_far() -> Any:
        scaled = _scaled_integral(far, order)
        return rows.where(is_inside, scaled if is_scaled else rows.exp(-far) * scaled, 0.0)

    return select(is_large, at_far, at_near)


def _scaled_integral(x: Any, order: int) -> Any:
    """Integrate exp(-x · (cosh(t) - 1)) · cosh(order · t) for t from 0 to infinity, for x > 2."""
    # cosh(t) - 1 = 2 · sinh(t / 2)², which is CUT / x at the last point. The integral does not depend on the step.
    fixed = rows.stop_gradient(x)
    step = rows.asinh(rows.sqrt(rows.divide(0.5 * CUT, fixed))) * (2.0 / _STEPS)
    total: Any = 0.5
    for k in range(1, _STEPS + 1):
        sine = rows.sinh((0.5 * k) * step)
        height = 2.0 * sine * sine
        term = rows.exp(-x * height)
        total = total + (term if order == 0 else (1.0 + height) * term)
    return step * total


def _k0_series(x: Any) -> Any:
    square, logarithm = 0.25 * x * x, rows.log(0.5 * x) + _EULER
    ones = [1.0 / math.factorial(k) ** 2 for k in range(15)]
    sums = [_harmonic(k) * one for k, one in enumerate(ones)]
    return polynomial(square, sums[::-1]) - logarithm * polynomial(square, ones[::-1])


def _k1_series(x: Any) -> Any:
    square, logarithm = 0.25 * x * x, rows.log(0.5 * x) + _EULER
    ones = [1.0 / (math.factorial(k) * math.factorial(k + 1)) for k in range(15)]
    sums = [0.5 * (_harmonic(k) + _harmonic(k + 1)) * one for k, one in enumerate(ones)]
    rest = logarithm * polynomial(square, ones[::-1]) - polynomial(square, sums[::-1])
    return rows.divide(1.0, x) + 0.5 * x * rest


def _harmonic(n: int) -> float:
    return math.fsum(1.0 / k for k in range(1, n + 1))
