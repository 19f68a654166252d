"""Differences, integrals, interpolation, and polynomials."""

from __future__ import annotations

import math as real
from typing import Any

import numpy

from gradwalk import math
from gradwalk.complex_numbers.complex_array import as_complex_array, has_complex
from gradwalk.numpy.arrays import holds_values, untyped
from gradwalk.numpy.elementwise import equal, greater, less, logical_and, where
from gradwalk.numpy.linalg import lstsq
from gradwalk.value import arrays
from gradwalk.value.arrays import as_array, counted_axes


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """Return derivatives of sampled functions: central differences inside, one-sided differences at the ends.

    Args:
        f: An array of Values or numbers.
        *varargs: The spacing of the samples: omitted for 1, one number for all axes, or for each axis a number or the
            coordinates of the samples.
        axis: An axis or several axes; None for all axes.
        edge_order: 1, or for arrays of numbers also 2: the order of the differences at the ends.

    Returns:
        An array for one axis, otherwise a list of arrays.

    Raises:
        ValueError: The number of spacings does not match, an axis has only one sample, or `edge_order` is not 1.

    Example:
        >>> gradient([1.0, 4.0, 9.0]).tolist()
        [3.0, 4.0, 5.0]
    """
    f = as_array(f)
    if not holds_values(f, *map(as_array, varargs)):
        return untyped.gradient(f, *varargs, axis=axis, edge_order=edge_order or 1)
    if edge_order not in (None, 1):
        raise ValueError(f"edge_order must be 1 for arrays of Values, got {edge_order}")
    axes = counted_axes(axis, f.ndim)
    spacings = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(spacings) != len(axes):
        raise ValueError(f"gradient() takes one spacing, or one for each of {len(axes)} axes, got {len(spacings)}")
    found = [_slopes(f, as_array(h), each) for h, each in zip(spacings, axes, strict=True)]
    return found[0] if len(found) == 1 else found


def _slopes(f: Any, h: Any, axis: int) -> Any:
    """Return the derivatives along an axis; `h` is a distance, or the coordinates of the samples."""
    y = numpy.moveaxis(f, axis, 0)
    if len(y) < 2:
        raise ValueError(f"gradient() needs at least 2 samples along each axis, got the shape {f.shape}")
    gaps = numpy.diff(h).reshape(-1, *[1] * (y.ndim - 1)) if h.ndim else h
    steps = numpy.diff(y, axis=0) / gaps
    if h.ndim:
        before, after = gaps[:-1], gaps[1:]
        inner = (steps[:-1] * after + steps[1:] * before) / (before + after)
    else:
        inner = (y[2:] - y[:-2]) / (2.0 * gaps)
    return numpy.moveaxis(numpy.concatenate([steps[:1], inner, steps[-1:]]), 0, axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate samples by the trapezoidal rule.

    Args:
        y: An array of Values or numbers.
        x: The coordinates of the samples; None for evenly spaced samples.
        dx: The spacing of the samples if `x` is None.
        axis: The axis of the samples.

    Returns:
        An array, or a single element.

    Example:
        >>> float(trapezoid([1.0, 2.0, 3.0]))
        4.0
    """
    return arrays.trapezoid(as_array(y), None if x is None else as_array(x), as_array(dx), axis)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """Interpolate linearly between points. The function is constant beyond the end points.

    At a point of the table, the derivative is the slope of the segment to the right, as in JAX.

    Args:
        x: An array of Values or numbers.
        xp: The x-coordinates of the points, in ascending order.
        fp: The y-coordinates of the points.
        left: The result for x < xp[0]; None for fp[0].
        right: The result for x > xp[-1]; None for fp[-1].
        period: The period of the x-coordinates, for arrays of numbers only; None for a function that is not periodic.

    Returns:
        An array.

    Raises:
        TypeError: `period` is given, and an argument contains Values.
        ValueError: `xp` and `fp` differ in length.
    """
    x, xp, fp = map(as_array, (x, xp, fp))
    ends = [end for end in (left, right) if end is not None]
    if not holds_values(x, xp, fp, *map(as_array, ends)):
        return numpy.interp(x, xp, fp, left, right, period)
    if period is not None:
        raise TypeError("interp(period=...) accepts arrays of numbers, not of Values: pass x % period")
    found = math.interp(x, xp, fp)
    found = found if left is None else where(less(x, xp[0]), left, found)
    return found if right is None else where(greater(x, xp[-1]), right, found)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, period: float = 2.0 * real.pi) -> Any:
    """Add multiples of the period, so that neighbors differ by at most half of the period.

    Args:
        p: An array of Values or numbers.
        discont: The smallest difference between neighbors that is changed; None for half of the period.
        axis: The axis of the samples.
        period: The period.

    Returns:
        An array.
    """
    p = as_array(p)
    if not holds_values(p):
        return numpy.unwrap(p, discont, axis, period=period)
    gaps = numpy.diff(p, axis=axis)
    half = period / 2.0
    wrapped = math.mod(gaps + half, period) - half
    wrapped = where(logical_and(equal(wrapped, -half), greater(gaps, 0.0)), half, wrapped)
    shifts = where(less(math.abs(gaps), half if discont is None else discont), 0.0, wrapped - gaps)
    [axis] = counted_axes((axis,), p.ndim)
    first = numpy.zeros(numpy.take(p, [0], axis).shape)
    return p + numpy.concatenate([first, numpy.cumsum(shifts, axis=axis)], axis)


def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None) -> Any:
    """Fit a polynomial to points by least squares.

    Args:
        x: The x-coordinates of the points.
        y: The y-coordinates of the points: an array, or a matrix with one set of y-coordinates in each column.
        deg: The degree of the polynomial.
        rcond: Singular values below rcond times the largest are treated as 0; None for len(x) times the precision.

    Returns:
        The coefficients, with the highest power first.

    Example:
        >>> from gradwalk import grad
        >>> x = numpy.array([0.0, 1.0, 2.0])
        >>> grad(lambda y: polyfit(x, y, 1)[0])(numpy.array([1.0, 2.0, 4.0])).round(6).tolist()
        [-0.5, 0.0, 0.5]
    """
    x, y = as_array(x), as_array(y)
    if not holds_values(x, y):
        return numpy.polyfit(x, y, deg, rcond)
    matrix = numpy.stack([x**power if power else numpy.ones(len(x)) for power in range(deg, -1, -1)], axis=1)
    scale = math.sqrt(numpy.sum(matrix * matrix, axis=0))
    found = lstsq(matrix / scale, y, len(x) * numpy.finfo(float).eps if rcond is None else rcond)[0]
    return (found.T / scale).T


def polymul(a1: Any, a2: Any) -> Any:
    """Multiply two polynomials. For Values, leading coefficients that are 0 are kept, as in JAX.

    Args:
        a1: The coefficients of a polynomial, with the highest power first.
        a2: The coefficients of a polynomial, with the highest power first.

    Returns:
        The coefficients of the product.
    """
    a1, a2 = numpy.atleast_1d(a1), numpy.atleast_1d(a2)
    return numpy.convolve(a1, a2) if holds_values(a1, a2) else numpy.polymul(a1, a2)


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Divide two polynomials. For Values, leading coefficients of the remainder that are 0 are kept, as in JAX.

    Args:
        u: The coefficients of the dividend, with the highest power first.
        v: The coefficients of the divisor, with the highest power first.

    Returns:
        The coefficients of the quotient, and the coefficients of the remainder.
    """
    u, v = numpy.atleast_1d(u), numpy.atleast_1d(v)
    if not holds_values(u, v):
        return numpy.polydiv(u, v)
    rest = (u + 0.0).astype(object)
    quotient = []
    for i in range(len(u) - len(v) + 1):
        quotient.append(rest[i] / v[0])
        rest[i : i + len(v)] = rest[i : i + len(v)] - quotient[-1] * v
    return numpy.array(quotient or [0.0]), rest[max(len(u) - len(v) + 1, 0) :]


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Compute the cross-correlation of two sequences: `sum(a[n + k] * conjugate(v[n]))` for each k.

    Args:
        a: A vector of Values, complex numbers or numbers.
        v: A vector of Values, complex numbers or numbers.
        mode: "valid", "same" or "full", as for `numpy.correlate`.

    Returns:
        A vector.

    Raises:
        ValueError: A sequence is empty, or `mode` is unknown.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: correlate(a, [1.0, 2.0])[0])(numpy.array([3.0, 4.0])).tolist()
        [1.0, 2.0]
    """
    first, second = as_array(a), as_array(v)
    if has_complex(first) or has_complex(second):
        return as_complex_array(numpy.correlate(first, numpy.conjugate(second).astype(object), mode))
    return numpy.correlate(a, v, mode)
