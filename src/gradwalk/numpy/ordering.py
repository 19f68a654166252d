"""Functions of the order of elements: the largest and the smallest, their positions, and sorting.

Where numbers are known, they decide, and the result is made of the elements themselves. A recorded function has to do
the same for all numbers: it compares all elements with one another, and chooses by `where`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, exchanged, holds_values, numbers
from gradwalk.value.arrays import Axis, along, reduced


class _Extreme(NamedTuple):
    """NumPy's reduction, the choice of two elements, and whether an element is beaten by another."""

    of_numbers: Callable[..., Any]
    choose: Callable[..., Any]
    is_beaten: Callable[..., Any]


_LARGEST = _Extreme(numpy.max, math.maximum, math.less)
_SMALLEST = _Extreme(numpy.min, math.minimum, lambda x, best: math.less(best, x))


def max(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the largest element, nan where one is.

    Args:
        a: An array of Values or numbers.
        axis: An axis, or several; all of them if None.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        An array, or an element. Equal elements share the gradient evenly, as in JAX, and nan has the gradient nan.

    Raises:
        ValueError: There are no elements.

    Example:
        >>> from gradwalk import grad
        >>> grad(max)(numpy.array([1.0, 2.0, 2.0])).tolist()
        [0.0, 0.5, 0.5]
    """
    return _extreme(_LARGEST, a, axis, keepdims)


def min(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the smallest element, nan where one is.

    Args:
        a: An array of Values or numbers.
        axis: An axis, or several; all of them if None.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        An array, or an element. Equal elements share the gradient evenly, as in JAX, and nan has the gradient nan.

    Raises:
        ValueError: There are no elements.

    Example:
        >>> from gradwalk import grad
        >>> grad(min)(numpy.array([1.0, 2.0, 2.0])).tolist()
        [1.0, 0.0, 0.0]
    """
    return _extreme(_SMALLEST, a, axis, keepdims)


def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the index of the largest element: of the first one, or of the first nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis; that of the flattened array if None.
        keepdims: Whether the axis stays, with length 1.

    Returns:
        An int, or an array of them. In a recorded function, where it may not index anything, a Value without gradient.

    Raises:
        ValueError: There are no elements.

    Example:
        >>> from gradwalk import vmap
        >>> vmap(argmax)(numpy.array([[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]])).tolist()
        [1.0, 2.0]
    """
    array = numpy.asarray(a)
    if are_known(array):
        return numpy.argmax(numbers(array), axis=axis, keepdims=keepdims)
    return reduced(_first_of_largest, array, axis, keepdims)


def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the index of the smallest element: of the first one, or of the first nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis; that of the flattened array if None.
        keepdims: Whether the axis stays, with length 1.

    Returns:
        As `argmax` does.

    Raises:
        ValueError: There are no elements.
    """
    array = numpy.asarray(a)
    if are_known(array):
        return numpy.argmin(numbers(array), axis=axis, keepdims=keepdims)
    return argmax(-array, axis, keepdims=keepdims)


def sort(a: Any, axis: int | None = -1) -> Any:
    """Return the elements in ascending order, nan last; equal ones stay in their order.

    A recorded function compares n elements by a network of n (n - 1) / 2 comparisons, six instructions each.

    Args:
        a: An array of Values or numbers.
        axis: The axis to sort along; that of the flattened array if None.

    Returns:
        An array.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: sort(x)[0])(numpy.array([3.0, 1.0, 2.0])).tolist()
        [0.0, 1.0, 0.0]
    """
    array, axis = _to_sort(a, axis)
    if not holds_values(array):
        return numpy.sort(array, axis=axis, kind="stable")
    if are_known(array):
        return numpy.take_along_axis(array, argsort(array, axis), axis)
    return along(lambda row: _sorted(row)[0], array, axis)


def argsort(a: Any, axis: int | None = -1) -> Any:
    """Return the indices that sort elements, of equal ones the first index first.

    Args:
        a: An array of Values or numbers.
        axis: The axis to sort along; that of the flattened array if None.

    Returns:
        An array of ints. In a recorded function, where they may not index anything, of Values without gradient.

    Example:
        >>> from gradwalk import Value
        >>> argsort([Value(3.0), Value(1.0), Value(2.0)]).tolist()
        [1, 2, 0]
    """
    array, axis = _to_sort(a, axis)
    if are_known(array):
        return numpy.argsort(numbers(array), axis=axis, kind="stable")
    return along(lambda row: _sorted(row)[1], array, axis)


def _extreme(which: _Extreme, a: Any, axis: Axis, keepdims: bool) -> Any:
    array = numpy.asarray(a)
    if array.size == 0 or not holds_values(array):
        return which.of_numbers(array, axis=axis, keepdims=keepdims)
    return reduced(lambda row: _chosen(row, which), array, axis, keepdims)


def _chosen(row: list[Any], which: _Extreme) -> Any:
    """The extreme of some elements."""
    array = numpy.array(row, dtype=object)
    if are_known(array):
        known = numbers(array)
        best = functools.reduce(which.choose, known.tolist())
        row = [x for x, number in zip(row, known, strict=True) if number == best or best != best]
    return row[0] if len(row) == 1 else _shared(row, which)


def _shared(row: list[Any], which: _Extreme) -> Any:
    """The extreme of some elements, all that equal it with the same share in its gradient.

    To its number, as a constant, is added the mean of what those elements differ by: zeros, whose derivatives are 1.
    Where it is nan, all elements differ by nan, and their derivatives are nan. Where it is infinite, equal elements
    would differ by nan: there the elements are chosen in pairs.
    """
    best = functools.reduce(which.choose, row)
    fixed = math.stop_gradient(best)
    # Conditions that are 0 at a tie, so that `check` takes it for a kink, and 0 next to nan.
    are_beaten = [which.is_beaten(x, fixed) for x in row]
    differences = [math.where(beaten, 0.0, x - fixed) for x, beaten in zip(row, are_beaten, strict=True)]
    share = math.where(math.equal(fixed, fixed), 1.0 / (len(row) - sum(are_beaten)), math.nan)
    return math.where(math.equal(math.abs(fixed), math.inf), best, fixed + share * sum(differences))


def _first_of_largest(row: list[Any]) -> Any:
    """The index of the largest element, recorded."""
    if not row:
        raise ValueError("attempt to get argmax of an empty sequence")
    best, index = row[0], 0.0
    for i, x in enumerate(row[1:], 1):
        is_better = math.where(math.equal(best, best), 1.0 - math.less_equal(x, best), 0.0)  # nan is, and stays
        best, index = math.where(is_better, x, best), math.where(is_better, float(i), index)
    return math.stop_gradient(index)


def _sorted(row: list[Any]) -> tuple[list[Any], list[Any]]:
    """Recorded elements in order, and their indices. Only neighbours are exchanged, so equal ones stay in order."""
    row, indices = list(row), [float(i) for i in range(len(row))]
    for end in range(len(row) - 1, 0, -1):
        for i in range(end):
            x, y = row[i], row[i + 1]
            # nan is last, and stays where it is among others
            exchange = math.where(math.equal(x, x), math.less(y, x), math.equal(y, y))
            for items in (row, indices):
                items[i : i + 2] = exchanged(exchange, items[i], items[i + 1])
    return row, indices


def _to_sort(a: Any, axis: int | None) -> tuple[Any, int]:
    """The array, and the axis to sort it along."""
    array = numpy.asarray(a)
    return (array.ravel(), -1) if axis is None else (array, axis)
