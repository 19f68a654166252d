"""Functions that order elements: largest and smallest elements, their indices, and sorting.

If the numbers are known, they are compared directly, and results are elements of the array. A recorded function must
work for all numbers: its program compares the elements and selects results with `where`.
"""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk import math
from gradwalk.arrays.sorts_and_products import argsort_call, reorder_call
from gradwalk.batching.argmax import extreme, place
from gradwalk.batching.vmap import vmap
from gradwalk.numpy.arrays import are_known, exchanged, holds_values, numbers, untyped
from gradwalk.numpy.elementwise import maximum, minimum, where
from gradwalk.value.arrays import Axis, WholeArray, along, as_array, reduced
from gradwalk.value.node import with_number_type
from gradwalk.value.value import Value

_FEWEST = 1000  # a recorded list of at least this many elements is compared by a single instruction, as a batch
_FEWEST_SORTED = 64  # a recorded list of at least this many elements is sorted by a single instruction


def max(a: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Return the largest element, or nan if any element is nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        initial: A number to include in the comparison.
        where: A condition for the elements to compare; None for all. It needs `initial`.

    Returns:
        An array, or a single element if all axes are reduced. Equal elements share the gradient evenly, as in JAX. An
        element that is nan gets the gradient nan.

    Raises:
        ValueError: The array is empty, or `where` is given without `initial`.

    Example:
        >>> from gradwalk import grad
        >>> grad(max)(numpy.array([1.0, 2.0, 2.0])).tolist()
        [0.0, 0.5, 0.5]
    """
    return _extreme(True, a, axis, keepdims, initial, where)


def min(a: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Return the smallest element, or nan if any element is nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        initial: A number to include in the comparison.
        where: A condition for the elements to compare; None for all. It needs `initial`.

    Returns:
        An array, or a single element if all axes are reduced. Equal elements share the gradient evenly, as in JAX. An
        element that is nan gets the gradient nan.

    Raises:
        ValueError: The array is empty, or `where` is given without `initial`.

    Example:
        >>> from gradwalk import grad
        >>> grad(min)(numpy.array([1.0, 2.0, 2.0])).tolist()
        [1.0, 0.0, 0.0]
    """
    return _extreme(False, a, axis, keepdims, initial, where)


def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first largest element, or of the first nan if there is one.

    Args:
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.
        keepdims: Whether to keep the reduced axis, with length 1.

    Returns:
        An int, or an array of ints. In a recorded function, Values with derivative 0; a function that indexes with
        them is recorded again for each index.

    Raises:
        ValueError: The array is empty.

    Example:
        >>> from gradwalk import vmap
        >>> vmap(argmax)(numpy.array([[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]])).tolist()
        [1, 2]
    """
    array = as_array(a)
    if are_known(array):
        return numpy.argmax(numbers(array), axis=axis, keepdims=keepdims)
    return reduced(lambda row: _first_best(row, True), array, axis, keepdims)


def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first smallest element, or of the first nan if there is one.

    Args:
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.
        keepdims: Whether to keep the reduced axis, with length 1.

    Returns:
        An int, or an array of ints. In a recorded function, Values with derivative 0; a function that indexes with
        them is recorded again for each index.

    Raises:
        ValueError: The array is empty.
    """
    array = as_array(a)
    if are_known(array):
        return numpy.argmin(numbers(array), axis=axis, keepdims=keepdims)
    return reduced(lambda row: _first_best(row, False), array, axis, keepdims)


def sort(a: Any, axis: int | None = -1) -> Any:
    """Sort the elements in ascending order, with nan last. The sort is stable.

    A recorded function sorts n < 64 elements with n (n - 1) / 2 comparisons, each of which takes six instructions, so
    that batches run at full speed. One instruction sorts 64 or more elements.

    Args:
        a: An array of Values or numbers.
        axis: The axis to sort along; None for the flattened array.

    Returns:
        The sorted array.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: sort(x)[0])(numpy.array([3.0, 1.0, 2.0])).tolist()
        [0.0, 1.0, 0.0]
    """
    array, axis = _to_sort(a, axis)
    if not holds_values(array) or (isinstance(array, WholeArray) and array.ndim == 1):
        return numpy.sort(array, axis=axis, kind="stable")
    if are_known(array):
        return numpy.take_along_axis(array, argsort(array, axis), axis)
    return along(lambda row: _sorted(row)[0], array, axis)


def argsort(a: Any, axis: int | None = -1) -> Any:
    """Return the indices that sort the elements. The sort is stable.

    Args:
        a: An array of Values or numbers.
        axis: The axis to sort along; None for the flattened array.

    Returns:
        An array of ints. In a recorded function, Values with derivative 0; a function that indexes with them is
        recorded again for each order. `take` does not need this.

    Example:
        >>> from gradwalk import Value
        >>> argsort([Value(3.0), Value(1.0), Value(2.0)]).tolist()
        [1, 2, 0]
    """
    array, axis = _to_sort(a, axis)
    if isinstance(array, WholeArray) and array.ndim == 1 and not are_known(array):
        return untyped.argsort(array, kind="stable")
    if are_known(array):
        return numpy.argsort(numbers(array), axis=axis, kind="stable")
    return along(lambda row: _sorted(row)[1], array, axis)


amax, amin = max, min


def _extreme(largest: bool, a: Any, axis: Axis, keepdims: bool, initial: Any, condition: Any) -> Any:
    array = as_array(a)
    if condition is not None:
        if initial is None:
            raise ValueError("max() and min() with where= also need initial=, the result if no element is selected")
        array = where(condition, array, initial)
    if array.size == 0 or not holds_values(array):
        start = {} if initial is None else {"initial": initial}
        return (numpy.max if largest else numpy.min)(array, axis=axis, keepdims=keepdims, **start)
    if isinstance(array, WholeArray):
        found = (untyped.max if largest else untyped.min)(array, axis=axis, keepdims=keepdims)
    else:
        found = reduced(lambda row: _chosen(row, largest), array, axis, keepdims)
    return found if initial is None else (maximum if largest else minimum)(found, initial)


def _chosen(row: list[Any], largest: bool) -> Any:
    """Return the largest or smallest element of a list."""
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
    """Return the index of the first largest or smallest element of a recorded list."""
    name = "argmax" if largest else "argmin"
    if not row:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if len(row) < _FEWEST:
        return place(row, largest=largest)
    return vmap(_itself, reduce=name)(numpy.array(row, dtype=object))


def _sorted(row: list[Any]) -> tuple[list[Any], list[Any]]:
    """Sort recorded elements; return them and their indices. The sort is stable."""
    if len(row) < _FEWEST_SORTED:
        row, indices = _exchanged_until_sorted(row)
    else:
        indices = argsort_call(len(row)).values(row)
        row = list(reorder_call(len(row)).values([*indices, *row]))
    return row, [with_number_type(i, int) if isinstance(i, Value) else int(i) for i in indices]


def _exchanged_until_sorted(row: list[Any]) -> tuple[list[Any], list[Any]]:
    """Sort recorded elements by exchanging neighbors; return them and their indices."""
    row, indices = list(row), [float(i) for i in range(len(row))]
    for end in range(len(row) - 1, 0, -1):
        for i in range(end):
            x, y = row[i], row[i + 1]
            # Move nan to the end, but do not exchange two nans.
            exchange = math.where(math.equal(x, x), math.less(y, x), math.equal(y, y))
            for items in (row, indices):
                items[i : i + 2] = exchanged(exchange, items[i], items[i + 1])
    return row, indices


def _to_sort(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return the array and the axis to sort it along; flatten the array if `axis` is None."""
    array = as_array(a)
    return (array.ravel(), -1) if axis is None else (array, axis)
