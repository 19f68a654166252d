"""`at`: copies of arrays with some elements replaced, like the property `at` of JAX's arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import EllipsisType
from typing import Any

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, holds_values, numbers, untyped
from gradwalk.numpy.elementwise import where
from gradwalk.value.arrays import WholeArray, as_array, of_objects
from gradwalk.value.value import Value

_UFUNCS: dict[Callable[..., Any], numpy.ufunc] = {
    operator.add: numpy.add,
    operator.sub: numpy.subtract,
    operator.mul: numpy.multiply,
    operator.truediv: numpy.divide,
    math.pow: numpy.power,
    math.minimum: numpy.minimum,
    math.maximum: numpy.maximum,
}


def at(x: Any) -> At:
    """Return an object whose elements can be updated: `at(x)[i].set(v)` is `x.at[i].set(v)` in JAX.

    Updates return a new array; `x` is not changed. The methods are `set`, `add`, `subtract`, `multiply`, `divide`,
    `power`, `min`, `max`, `apply` and `get`. The index may contain ints, slices, arrays of ints or bools, and single
    Values, which may be data of a recorded function. An index that is out of range raises `IndexError`; JAX ignores it.
    If an index that is data is out of range, no element is updated, and `get` returns nan.

    Args:
        x: An array of Values or numbers.

    Returns:
        An object to index.

    Example:
        >>> at(numpy.zeros(3))[1].set(5.0).tolist()
        [0.0, 5.0, 0.0]
        >>> at(numpy.zeros(3))[numpy.array([0, 0, 2])].add(1.0).tolist()
        [2.0, 0.0, 1.0]
    """
    return At(x)


class At:
    """An array whose elements can be updated after indexing.

    Args:
        x: An array of Values or numbers.
    """

    def __init__(self, x: Any) -> None:
        self._array = as_array(x)

    def __getitem__(self, index: Any) -> Update:
        return Update(self._array, index)


class Update:
    """Some elements of an array. The methods return a copy of the array in which these elements are updated.

    Args:
        array: The array.
        index: The index of the elements.
    """

    def __init__(self, array: Any, index: Any) -> None:
        self._array = array
        parts = index if isinstance(index, tuple) else (index,)
        self._index = tuple([_plain_index(part) for part in parts])

    def set(self, values: Any) -> Any:
        """Replace the elements by values. If an element is indexed twice, it gets the last value."""
        return self._updated(lambda old, new: new, values)

    def add(self, values: Any) -> Any:
        """Add values. If an element is indexed twice, both values are added."""
        return self._updated(operator.add, values)

    def subtract(self, values: Any) -> Any:
        """Subtract values."""
        return self._updated(operator.sub, values)

    def multiply(self, values: Any) -> Any:
        """Multiply by values."""
        return self._updated(operator.mul, values)

    def divide(self, values: Any) -> Any:
        """Divide by values."""
        return self._updated(operator.truediv, values)

    def power(self, values: Any) -> Any:
        """Raise to powers."""
        return self._updated(math.pow, values)

    def min(self, values: Any) -> Any:
        """Replace the elements by the smaller of element and value."""
        return self._updated(math.minimum, values)

    def max(self, values: Any) -> Any:
        """Replace the elements by the larger of element and value."""
        return self._updated(math.maximum, values)

    mul, div = multiply, divide

    def apply(self, function: Callable[[Any], Any]) -> Any:
        """Replace each element by a function of it."""
        return self._updated(lambda old, _: function(old), 0.0)

    def get(self) -> Any:
        """Return the elements."""
        cases = self._cases()
        if cases == [(None, self._index)]:
            return self._array[self._index]
        found: Any = numpy.nan
        for condition, index in cases:
            found = where(condition, self._array[index], found)
        return found

    def _updated(self, combine: Callable[[Any, Any], Any], values: Any) -> Any:
        values = as_array(values)
        found = self._updated_whole(combine, values) if isinstance(self._array, WholeArray) else None
        if found is not None:
            return found
        cases = self._cases()
        if not holds_values(self._array, values) and cases == [(None, self._index)]:
            return self._of_numbers(combine, values)
        flat = self._array.ravel().tolist()
        positions = numpy.arange(len(flat)).reshape(self._array.shape)
        for condition, index in cases:
            chosen = as_array(positions[index])
            for position, value in zip(chosen.flat, numpy.broadcast_to(values, chosen.shape).flat, strict=True):
                new = combine(flat[position], value)
                flat[position] = new if condition is None else math.where(condition, new, flat[position])
        return of_objects(flat, self._array.shape)

    def _updated_whole(self, combine: Callable[[Any, Any], Any], values: Any) -> Any:
        """Return the updated `WholeArray`, or None if its elements are needed."""
        elementwise = numpy.frompyfunc(combine, 2, 1)
        if not any(isinstance(part, (Value, WholeArray)) for part in self._index):
            found = untyped.copy(self._array)
            places = numpy.arange(found.size).reshape(found.shape)[self._index]
            if numpy.unique(places).size == numpy.size(places):
                found[self._index] = elementwise(found[self._index], values)
                return found
            if combine in (operator.add, operator.sub):
                _UFUNCS[combine].at(found, self._index, values)
                return found
        elif len(self._index) == 1 and not values.ndim:
            [part] = self._index
            shape = self._array.shape
            if isinstance(part, Value) and len(shape) == 1:
                part = _is_index(part, numpy.arange(shape[0]), shape[0])
            if not isinstance(part, Value) and numpy.shape(part) == shape:
                return where(part, elementwise(self._array, values), self._array)
        return None

    def _of_numbers(self, combine: Callable[[Any, Any], Any], values: Any) -> Any:
        found = self._array.copy()
        if combine in _UFUNCS:
            _UFUNCS[combine].at(found, self._index, values)
        else:
            found[self._index] = combine(found[self._index], values)
        return found

    def _cases(self) -> list[tuple[Any, tuple[Any, ...]]]:
        """Return indices without Values, each with the condition under which it applies; None if it always applies."""
        cases: list[tuple[Any, tuple[Any, ...]]] = [(None, self._index)]
        for place, part in enumerate(self._index):
            if isinstance(part, Value):
                size = self._array.shape[_axis(self._index, place, self._array.ndim)]
                cases = [
                    (_both(condition, _is_index(part, i, size)), (*index[:place], i, *index[place + 1 :]))
                    for condition, index in cases
                    for i in range(size)
                ]
        return cases


def _plain_index(part: Any) -> Any:
    """Return a part of an index with Values replaced by ints, if their numbers are known."""
    if part is None or isinstance(part, (slice, EllipsisType)) or _is_condition(part):
        return part
    array = as_array(part)
    if array.dtype != object:
        return part
    if are_known(array):
        return numbers(array).astype(int)[()]
    if array.ndim:
        raise TypeError(
            "an index of at() must be a single Value, or an array of plain ints or bools; in a recorded function the "
            "numbers of an array of Values are not known. For a condition, use where(condition, v, x)"
        )
    return part


def _is_condition(part: Any) -> bool:
    return isinstance(part, WholeArray) and part.number_type is bool


def _axis(index: tuple[Any, ...], place: int, ndim: int) -> int:
    """Return the axis of the array that the part at `place` indexes."""
    axes = [0 if part is None or part is Ellipsis else _axes_of(part) for part in index]
    before = sum(axes[:place])
    return before + ndim - sum(axes) if any(part is Ellipsis for part in index[:place]) else before


def _axes_of(part: Any) -> int:
    """Return the number of axes that a part of an index indexes: more than 1 for an array of bools."""
    array = as_array(part)
    return array.ndim if array.dtype == numpy.bool_ else 1


def _is_index(value: Value, i: Any, size: int) -> Any:
    """Return whether a Value is the index i, or the negative index of the same element, as a condition."""
    return math.where(math.equal(value, i), 1.0, math.equal(value, i - size))


def _both(condition: Any, other: Any) -> Any:
    return other if condition is None else math.where(condition, other, 0.0)
