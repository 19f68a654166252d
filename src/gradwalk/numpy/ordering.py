"""Functions of the order of elements: the largest and the smallest, their positions, and sorting.

Where numbers are known, they decide, and the result is made of the elements themselves. A recorded function has to do
the same for all numbers: it compares all elements with one another, and chooses by `where`.
"""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk import math
from gradwalk.batching.argmax import extreme, place
from gradwalk.batching.vmap import vmap
from gradwalk.numpy.arrays import are_known, exchanged, holds_values, numbers
from gradwalk.value.arrays import Axis, along, reduced

_FEWEST = 1000  # elements that are compared by one instruction, a batch


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
    return _extreme(True, a, axis, keepdims)


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
    return _extreme(False, a, axis, keepdims)


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
    return reduced(lambda row: _first_best(row, True), array, axis, keepdims)


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
    return reduced(lambda row: _first_best(row, False), array, axis, keepdims)


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


def _extreme(largest: bool, a: Any, axis: Axis, keepdims: bool) -> Any:
    array = numpy.asarray(a)
    if array.size == 0 or not holds_values(array):
        return (numpy.max if largest else numpy.min)(array, axis=axis, keepdims=keepdims)
    return reduced(lambda row: _chosen(row, largest), array, axis, keepdims)


def _chosen(row: list[Any], largest: bool) -> Any:
    """The extreme of some elements."""
    array = numpy.array(row, dtype=object)
    if are_known(array):
        known = numbers(array)
        best = (numpy.max if largest else numpy.min)(known)
        row = [x for x, number in zip(row, known, strict=True) if number == best or best != best]
    if len(row) < _FEWEST:
        return extreme(row, largest=largest)
    return vmap(_itself, reduce="max" if largest else "min")(numpy.array(row, dtype=object))


def _itself(x: Any) -> Any:
    return x


def _first_best(row: list[Any], largest: bool) -> Any:
    """The index of the extreme of some elements, recorded."""
    name = "argmax" if largest else "argmin"
    if not row:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if len(row) < _FEWEST:
        return place(row, largest=largest)
    return vmap(_itself, reduce=name)(numpy.array(row, dtype=object))


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
