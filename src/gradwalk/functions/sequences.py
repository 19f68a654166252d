"""Functions of sequences of any length: sums of exponentials, exact sums, products, distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

import numpy

from gradwalk.functions import rows
from gradwalk.functions.extended import hypot, maximum
from gradwalk.value import arrays
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)


def logsumexp(xs: Iterable[Scalar]) -> Scalar:
    """log(exp(x[0]) + exp(x[1]) + ...), which neither overflows nor underflows.

    d/dx[i] = exp(x[i] - out); 0 where all operands are -inf

    Args:
        xs: `Value`s and real numbers.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Of no operands -inf, the logarithm of 0.

    Example:
        >>> round(logsumexp([1000.0, 1000.0]), 6)
        1000.693147
    """
    operands = list(xs)
    if not operands:
        return rows.log(0.0)  # type: ignore[no-any-return]
    shift, exponentials = _shifted(operands)
    is_nothing = rows.equal(_largest(operands), -math.inf)
    total = rows.where(is_nothing, 1.0, _sum(exponentials))
    result: Scalar = rows.where(is_nothing, -math.inf, rows.add(shift, rows.log(total)))
    return result


@overload
def softmax(xs: numpy.ndarray[Any, Any], axis: int = -1) -> numpy.ndarray[Any, Any]: ...
@overload
def softmax(xs: Iterable[Scalar], axis: int = -1) -> list[Scalar]: ...
def softmax(xs: Any, axis: int = -1) -> Any:
    """exp(x[i]) / (exp(x[0]) + exp(x[1]) + ...), for each i: as `jax.nn.softmax`.

    d/dx[j] = out[i] · (1 - out[i]) if i = j, else -out[i] · out[j]

    Args:
        xs: `Value`s and real numbers, or an array of these.
        axis: The axis of an array along which they are added up.

    Returns:
        A list of new `Value`s, or of floats if no operand is a `Value`. They add up to 1. Of an array, or of a list of
        lists, an array of the same shape.

    Example:
        >>> [round(share, 6) for share in softmax([1.0, 2.0, 1000.0])]
        [0.0, 0.0, 1.0]
        >>> softmax(numpy.array([[1.0, 1.0], [0.0, 1000.0]])).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    return _along(_softmax, xs, axis)


def _softmax(operands: list[Any]) -> list[Any]:
    if not operands:
        return []
    _, exponentials = _shifted(operands)
    total = _sum(exponentials)
    return [rows.divide(exponential, total) for exponential in exponentials]


@overload
def log_softmax(xs: numpy.ndarray[Any, Any], axis: int = -1) -> numpy.ndarray[Any, Any]: ...
@overload
def log_softmax(xs: Iterable[Scalar], axis: int = -1) -> list[Scalar]: ...
def log_softmax(xs: Any, axis: int = -1) -> Any:
    """x[i] - log(exp(x[0]) + exp(x[1]) + ...), for each i, which is the logarithm of `softmax` without its underflow.

    d/dx[j] = 1 - softmax(x)[j] if i = j, else -softmax(x)[j]

    Args:
        xs: `Value`s and real numbers, or an array of these.
        axis: The axis of an array along which they are added up.

    Returns:
        A list of new `Value`s, or of floats if no operand is a `Value`. Of an array, or of a list of lists, an array
        of the same shape, as `jax.nn.log_softmax`.

    Example:
        >>> [round(share, 6) for share in log_softmax([1.0, 2.0, 1000.0])]
        [-999.0, -998.0, 0.0]
    """
    return _along(_log_softmax, xs, axis)


def _log_softmax(operands: list[Any]) -> list[Any]:
    if not operands:
        return []
    shift, exponentials = _shifted(operands)
    logarithm = rows.log(_sum(exponentials))
    return [rows.subtract(rows.subtract(x, shift), logarithm) for x in operands]


def _along(function: Callable[[list[Any]], list[Any]], xs: Any, axis: int) -> Any:
    """A function of a list applied along an axis of an array; of numbers that are in no array it gives a list."""
    operands = xs if isinstance(xs, numpy.ndarray) else list(xs)
    found = arrays.along(function, operands, axis)
    return found if isinstance(xs, numpy.ndarray) or found.ndim > 1 else found.tolist()


def _largest(operands: list[Any]) -> Any:
    return rows.stop_gradient(maximum(*operands))


def _shifted(operands: list[Any]) -> tuple[Any, list[Any]]:
    """The largest operand, or 0 where that is infinite, and the exponential of every operand less that.

    What is subtracted makes no difference to the results, so it passes no gradient: derivatives of any order are right.
    """
    largest = _largest(operands)
    shift = rows.where(rows.less(rows.absolute(largest), math.inf), largest, 0.0)
    return shift, [rows.exp(rows.subtract(x, shift)) for x in operands]


def _sum(operands: list[Any]) -> Any:
    total = operands[0]
    for operand in operands[1:]:
        total = total + operand
    return total


def fsum(xs: Iterable[Scalar]) -> Scalar:
    """x[0] + x[1] + ..., as if it were added up with twice as many digits.

    d/dx[i] = 1

    Args:
        xs: `Value`s and real numbers.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Numbers alone are added up by Python's `math.fsum`,
        without any error but the last rounding. Of Values, the error of every addition is computed, and the sum of
        these is added at the end: Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26
        (2005), algorithm 4.4. Where numbers are infinite or too large, the result is IEEE's, and nothing is raised.

    Example:
        >>> fsum([0.1] * 10)
        1.0
    """
    operands = list(xs)
    if not any(isinstance(x, Value) for x in operands):
        return _sum_of_numbers(operands)  # type: ignore[no-any-return]
    total: Any = 0.0
    lost: Any = 0.0
    for x in operands:
        last, total = total, rows.add(total, x)
        moved = total - last
        lost = lost + rows.stop_gradient((last - (total - moved)) + (x - moved))
    result: Scalar = total + rows.where(rows.equal(lost, lost), lost, 0.0)  # nan if a sum is infinite
    return result


def _sum_of_numbers(numbers: list[Any]) -> Any:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # where IEEE has infinity, or nan for infinities of both signs
        return sum(numbers, 0.0)


def prod(xs: Iterable[Scalar], *, start: Scalar | float = 1.0) -> Scalar:
    """start · x[0] · x[1] · ..., multiplied from left to right.

    d/dx[i] = start times the product of all others, also where some are 0

    Args:
        xs: `Value`s and real numbers.
        start: What is multiplied first, and the result if `xs` is empty.

    Returns:
        A new `Value`, or a float if no operand is a `Value`.

    Example:
        >>> prod([2.0, 3.0, 4.0])
        24.0
    """
    result: Any = start if isinstance(start, Value) else rows.multiply(start, 1.0)
    for x in xs:
        result = rows.multiply(result, x)
    product: Scalar = result
    return product


def dist(p: Iterable[Scalar | float], q: Iterable[Scalar | float]) -> Scalar:
    """Distance of two points, which is the length of p - q.

    d/dp[i] = (p[i] - q[i]) / out
    d/dq[i] = (q[i] - p[i]) / out

    Args:
        p: The coordinates of a point: `Value`s and real numbers.
        q: Those of the other point.

    Returns:
        A new `Value`, or a float if no operand is a `Value`.

    Raises:
        ValueError: If the points differ in dimension.

    Example:
        >>> dist([1.0, 2.0], [4.0, 6.0])
        5.0
    """
    ps, qs = list(p), list(q)
    if len(ps) != len(qs):
        raise ValueError(f"dist() takes two points of one dimension, not of {len(ps)} and {len(qs)} coordinates")
    result: Scalar = hypot(*[rows.subtract(a, b) for a, b in zip(ps, qs, strict=True)])
    return result
