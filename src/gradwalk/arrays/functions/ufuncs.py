"""NumPy's ufuncs on whole arrays: elementwise functions, reductions, outer products, and `ufunc.at`.

Recorded conditions are combined as bools are in NumPy: their sum is "or", and their product "and".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.arrays.functions.elementwise import is_condition, mapped
from gradwalk.arrays.traced_array import (
    FUNCTIONS,
    NOT_HANDLED,
    TracedArray,
    as_objects,
    called,
    implements,
)
from gradwalk.trees.tree import type_of
from gradwalk.value import arrays
from gradwalk.value.arrays import as_array, as_ints

_LOGICAL: dict[Any, Callable[..., Any]] = {
    numpy.logical_and: operator.and_,
    numpy.logical_or: operator.or_,
    numpy.logical_xor: operator.xor,
    numpy.logical_not: arrays.negated,
    numpy.invert: arrays.negated,
    numpy.bitwise_and: operator.and_,
    numpy.bitwise_or: operator.or_,
    numpy.bitwise_xor: operator.xor,
}
_OF_BOOLS: dict[Any, Any] = {
    numpy.add: numpy.logical_or,
    numpy.multiply: numpy.logical_and,
    numpy.maximum: numpy.logical_or,
    numpy.minimum: numpy.logical_and,
}
_OF_INTS = {
    *(numpy.add, numpy.subtract, numpy.multiply, numpy.negative, numpy.absolute),
    *(numpy.floor_divide, numpy.remainder, numpy.maximum, numpy.minimum),
}
_OPERATORS = {numpy.add, numpy.subtract, numpy.multiply, numpy.true_divide, numpy.power, numpy.negative}
_REDUCTIONS = {numpy.add: numpy.sum, numpy.maximum: numpy.max, numpy.minimum: numpy.min}


@implements(numpy.ufunc)
def _of_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Apply a ufunc of NumPy; return `NOT_HANDLED` if it needs arrays of Values."""
    if method == "reduce" and ufunc in _REDUCTIONS:
        [array, *others] = inputs
        rest = {name: x for name, x in kwargs.items() if name != "axis"}
        return called(_REDUCTIONS[ufunc], (array, kwargs.get("axis", 0), *others), rest)
    if method == "at":
        return called(ufunc.at, inputs, kwargs)
    if method == "outer" and not kwargs:
        [first, second] = map(as_array, inputs)
        return ufunc(first.reshape(*first.shape, *[1] * second.ndim), second)
    if method != "__call__" or ufunc.nout != 1:
        return NOT_HANDLED
    return called(ufunc, inputs, {}) if ufunc in FUNCTIONS else _elementwise(ufunc, inputs)


def _elementwise(ufunc: Any, inputs: Sequence[Any]) -> Any:
    """Apply a ufunc to each element."""
    types = {type_of(as_array(x)) for x in inputs}
    if types == {bool}:
        if ufunc in (numpy.subtract, numpy.negative):
            ufunc(*[numpy.True_] * ufunc.nin)  # raises TypeError
        ufunc = _OF_BOOLS.get(ufunc, ufunc)
    if ufunc in _LOGICAL:
        return mapped(_of_conditions(ufunc), inputs)
    found = mapped(numpy.frompyfunc(ufunc, ufunc.nin, 1), inputs, ufunc if ufunc in _OPERATORS else None)
    if isinstance(found, TracedArray) and types <= {bool, int} and ufunc in _OF_INTS:
        found.rows = as_objects(as_ints(found.rows))
    return found


def _of_conditions(ufunc: numpy.ufunc) -> Callable[..., Any]:
    """Return a function of arrays of conditions."""
    function = numpy.frompyfunc(_LOGICAL[ufunc], ufunc.nin, 1)

    def logical(*given: Any) -> Any:
        if not all(is_condition(x) for operand in given for x in operand.flat):
            raise TypeError(f"{ufunc.__name__} takes conditions")
        return function(*given)

    return logical
