"""Functions of sequences of numbers: sums of exponentials, exact sums, products, distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

import numpy

from gradwalk.functions import rows
from gradwalk.functions.extended import hypot, maximum
from gradwalk.value import arrays
from gradwalk.value.arrays import Axis
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)


@overload
def logsumexp(xs: numpy.ndarray[Any, Any], axis: Axis = None, *, keepdims: bool = False) -> Any: ...
@overload
def logsumexp(xs: Iterable[Scalar], axis: None = None) -> Scalar: ...
@overload
def logsumexp(xs: Iterable[Any], axis: Axis = None, *, keepdims: bool = False) -> Any: ...
def logsumexp(xs: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Compute log(exp(x[0]) + exp(x[1]) + ...) without overflow or underflow, like `jax.scipy.special.logsumexp`.

    d/dx[i] = exp(x[i] - out); 0 if all operands are -inf

    Args:
        xs: `Value`s and real numbers, or an array of these.
        axis: The axis or axes of an array to reduce; all of them if None.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. If axes of an array remain, the result is an array. If
        there are no operands, the result is -inf, the logarithm of 0.

    Raises:
        AxisError: If an axis is out of range.
        TypeError: If `xs` is a single number, or an axis is not an integer.

    Example:
        >>> round(logsumexp([1000.0, 1000.0]), 6)
        1000.693147
        >>> logsumexp(numpy.array([[0.0, 0.0], [1.0, -1000.0]]), axis=1).round(6).tolist()
        [0.693147, 1.0]
    """
    return arrays.reduced(logarithm_of_sum, arrays.as_array(_operands("logsumexp", xs)), axis, keepdims)


def logarithm_of_sum(operands: list[Any]) -> Any:
    """Compute `logsumexp` of a list of numbers, or elementwise of a list of arrays."""
    if not operands:
        return rows.log(0.0)
    largest = _largest(operands)
    shift = rows.where(rows.less(rows.absolute(largest), math.inf), largest, 0.0)
    # If all operands are -inf, all exponentials are 0; adding 1 to the sum keeps the logarithm finite. Selecting
    # another result with `where` would also work, but its derivatives would have to be masked.
    is_nothing = rows.equal(largest, -math.inf)
    return rows.add(rows.log(_sum([*_exponentials(operands, shift), is_nothing])), largest)


@overload
def softmax(xs: numpy.ndarray[Any, Any], axis: Axis = -1) -> numpy.ndarray[Any, Any]: ...
@overload
def softmax(xs: Iterable[Scalar], axis: Axis = -1) -> list[Scalar]: ...
def softmax(xs: Any, axis: Axis = -1) -> Any:
    """Compute exp(x[i]) / (exp(x[0]) + exp(x[1]) + ...) for each i, like `jax.nn.softmax`.

    d/dx[j] = out[i] · (1 - out[i]) if i = j, else -out[i] · out[j]

    Args:
        xs: `Value`s and real numbers, or an array of these.
        axis: The axis or axes of an array to sum over; all of them if None.

    Returns:
        A list of new `Value`s, or of floats if no operand is a `Value`. For an array or a list of lists, an array of
        the same shape. The results add up to 1. If an operand is inf or nan, all results are nan. The result for an
        operand of -inf is 0.

    Raises:
        AxisError: If an axis is out of range.
        TypeError: If `xs` is a single number, or an axis is not an integer.

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
    exponentials = _exponentials(operands, _largest(operands))
    total = _sum(exponentials)
    return [rows.divide(exponential, total) for exponential in exponentials]


@overload
def log_softmax(xs: numpy.ndarray[Any, Any], axis: Axis = -1) -> numpy.ndarray[Any, Any]: ...
@overload
def log_softmax(xs: Iterable[Scalar], axis: Axis = -1) -> list[Scalar]: ...
def log_softmax(xs: Any, axis: Axis = -1) -> Any:
    """Compute the logarithm of `softmax` without underflow: x[i] - log(exp(x[0]) + exp(x[1]) + ...) for each i.

    d/dx[j] = 1 - softmax(x)[j] if i = j, else -softmax(x)[j]

    Args:
        xs: `Value`s and real numbers, or an array of these.
        axis: The axis or axes of an array to sum over; all of them if None.

    Returns:
        A list of new `Value`s, or of floats if no operand is a `Value`. For an array or a list of lists, an array of
        the same shape, like `jax.nn.log_softmax`.

    Raises:
        AxisError: If an axis is out of range.
        TypeError: If `xs` is a single number, or an axis is not an integer.

    Example:
        >>> [round(share, 6) for share in log_softmax([1.0, 2.0, 1000.0])]
        [-999.0, -998.0, 0.0]
    """
    return _along(_log_softmax, xs, axis)


def _log_softmax(operands: list[Any]) -> list[Any]:
    if not operands:
        return []
    largest = _largest(operands)
    logarithm = rows.log(_sum(_exponentials(operands, largest)))
    return [rows.subtract(rows.subtract(x, largest), logarithm) for x in operands]


def _along(function: Callable[[list[Any]], list[Any]], xs: Any, axis: Axis) -> Any:
    """Apply a function of a list along axes of an array; return a list if `xs` is a flat sequence of numbers."""
    found = arrays.along(function, _operands(function.__name__.lstrip("_"), xs), axis)
    return found if isinstance(xs, numpy.ndarray) or found.ndim > 1 else found.tolist()


def _operands(name: str, xs: Any) -> Any:
    """Return an array unchanged, and any other iterable as a list; raise `TypeError` for a single number."""
    if isinstance(xs, numpy.ndarray):
        return xs
    try:
        return list(xs)
    except TypeError:
        kind = type(xs).__name__
        raise TypeError(f"{name}() needs an array or a list of Values and real numbers, got one {kind}") from None


def _largest(operands: list[Any]) -> Any:
    """Return the largest operand, without gradient.

    The callers subtract it from all operands, which changes nothing but the rounding of their results. Derivatives of
    any order are therefore correct without the gradient of the largest operand.
    """
    return rows.stop_gradient(maximum(*operands))


def _exponentials(operands: list[Any], shift: Any) -> list[Any]:
    return [rows.exp(rows.subtract(x, shift)) for x in operands]


def _sum(operands: list[Any]) -> Any:
    total = operands[0]
    for operand in operands[1:]:
        total = total + operand
    return total


def fsum(xs: Iterable[Scalar]) -> Scalar:
    """Compute the sum x[0] + x[1] + ... as accurately as in twice the precision.

    d/dx[i] = 1

    Args:
        xs: `Value`s and real numbers.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Sums of plain numbers use Python's `math.fsum`, whose only
        error is the final rounding. Sums of Values add up the rounding errors of all additions, and add them to the sum
        at the end (Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), algorithm
        4.4). Infinite operands and overflow give the result of IEEE arithmetic instead of an exception.

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
    result: Scalar = total + rows.where(rows.equal(lost, lost), lost, 0.0)  # `lost` is nan if a sum is infinite
    return result


def _sum_of_numbers(numbers: list[Any]) -> Any:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # overflow, or infinities of both signs
        return sum(numbers, 0.0)


def prod(xs: Iterable[Scalar], *, start: Scalar | float = 1.0) -> Scalar:
    """Compute start · x[0] · x[1] · ..., multiplied from left to right.

    d/dx[i] = start times the product of the other numbers, even if some are 0

    Args:
        xs: `Value`s and real numbers.
        start: The first factor, and the result if `xs` is empty.

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
    """Compute the Euclidean distance between two points.

    d/dp[i] = (p[i] - q[i]) / out
    d/dq[i] = (q[i] - p[i]) / out

    Args:
        p: The coordinates of a point: `Value`s and real numbers.
        q: The coordinates of the other point.

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
        raise ValueError(f"the points of dist() must have the same dimension, got {len(ps)} and {len(qs)} coordinates")
    result: Scalar = hypot(*[rows.subtract(a, b) for a, b in zip(ps, qs, strict=True)])
    return result
