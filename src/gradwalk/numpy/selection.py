"""Selection of elements by conditions and indices, and comparisons of whole arrays and sets."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, holds_values, numbers, untyped
from gradwalk.numpy.elementwise import decided, equal, isclose, isnan, logical_and, logical_not, logical_or, where
from gradwalk.numpy.reductions import all, any
from gradwalk.value.arrays import as_array, counted_axes


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Select each element from the choice whose condition is the first that holds.

    Args:
        condlist: Arrays of bools or Values.
        choicelist: Arrays of Values or numbers, one for each condition.
        default: An array or a number, for elements for which no condition holds.

    Returns:
        An array.

    Raises:
        ValueError: The numbers of conditions and choices differ, or there are none.

    Example:
        >>> select([[True, False], [True, False]], [[1.0, 2.0], [3.0, 4.0]], default=5.0).tolist()
        [1.0, 5.0]
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"condlist and choicelist must have the same length, at least 1, got {len(condlist)} and {len(choicelist)}"
        )
    if not holds_values(*map(as_array, (*condlist, *choicelist, default))):
        return numpy.select(condlist, choicelist, default)
    found = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        found = where(condition, choice, found)
    return found


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Evaluate a piecewise-defined function.

    Every function is called with the whole array, as in JAX; NumPy calls it with the selected elements only. If several
    conditions hold for an element, the last one decides.

    Args:
        x: An array of Values or numbers.
        condlist: Arrays of bools or Values.
        funclist: Functions of arrays, or numbers, one for each condition, and optionally one more for the elements
            for which no condition holds (0 by default).
        *args: Further arguments of the functions.
        **kw: Keyword arguments of the functions.

    Returns:
        An array.

    Raises:
        ValueError: The number of functions does not match.

    Example:
        >>> from gradwalk import grad
        >>> f = lambda x: piecewise(x, [x < 0.0, x >= 0.0], [lambda t: t * t, 2.0]).sum()
        >>> grad(f)(numpy.array([-3.0, 1.0])).tolist()
        [-6.0, 0.0]
    """
    x = as_array(x)
    is_one = len(condlist) > 0 and numpy.ndim(condlist[0]) == x.ndim - 1 and numpy.shape(condlist) == x.shape
    conditions = [condlist] if is_one else [*condlist]
    if len(funclist) - len(conditions) not in (0, 1):
        raise ValueError(
            f"funclist must have {len(conditions)} items, one for each condition, or one more, got {len(funclist)}"
        )
    pieces = [piece(x, *args, **kw) if callable(piece) else piece for piece in funclist]
    found = pieces.pop() if len(pieces) > len(conditions) else 0.0
    for condition, piece in zip(conditions, pieces, strict=True):
        found = where(condition, piece, found)
    return found if holds_values(as_array(found)) else as_array(found).astype(x.dtype if not holds_values(x) else float)


def choose(a: Any, choices: Sequence[Any], mode: str = "raise") -> Any:
    """Select each element from the choice with the given index.

    Args:
        a: An array of whole numbers or Values.
        choices: Arrays of Values or numbers.
        mode: "raise", "wrap" or "clip", for numbers out of range. In a recorded function, "raise" gives nan.

    Returns:
        An array.

    Raises:
        ValueError: An index is out of range and its number is known.

    Example:
        >>> choose([1, 0], [[1.0, 2.0], [3.0, 4.0]]).tolist()
        [3.0, 2.0]
    """
    a = as_array(a)
    if are_known(a):
        return untyped.choose(numbers(a).astype(int), choices, mode=mode)
    index = _index_in_range(a, len(choices), mode)
    found: Any = numpy.nan
    for i, choice in enumerate(choices):
        found = where(equal(index, i), choice, found)
    return found


def take(a: Any, indices: Any, axis: int | None = None, mode: str | None = None) -> Any:
    """Return the elements or slices at some indices. The indices may be data of a recorded function.

    Args:
        a: An array of Values or numbers.
        indices: An int, a Value, or an array of these. Negative indices count from the end.
        axis: An axis; None for the flattened array.
        mode: "raise", "wrap" or "clip", for indices out of range. JAX's other modes are not available. None is "raise";
            for an index that is data, the result is then nan.

    Returns:
        An array, or a single element.

    Raises:
        IndexError: An index is out of range and its number is known.

    Example:
        >>> from gradwalk import jit
        >>> jit(lambda x, i: take(x, i))(numpy.array([1.0, 3.0]), 1)
        3.0
    """
    indices = as_array(indices)
    if are_known(indices):
        return untyped.take(as_array(a), numbers(indices).astype(int), axis, mode=mode or "raise")
    a = as_array(a)
    table = a.ravel() if axis is None else numpy.moveaxis(a, axis, 0)
    found = as_array(math.take(table, _index_in_range(indices, len(table), mode or "raise")[()]))
    if axis is None:
        return found[()]
    [at] = counted_axes((axis,), a.ndim)
    return numpy.moveaxis(found, range(indices.ndim), range(at, at + indices.ndim))[()]


def extract(condition: Any, arr: Any) -> Any:
    """Return the elements of the flattened array for which a condition holds.

    The size of the result depends on the numbers. A recorded function therefore records one path for each selection.

    Args:
        condition: An array of bools or Values.
        arr: An array of Values or numbers.

    Returns:
        An array with one axis.
    """
    return numpy.extract(decided(condition), as_array(arr))


def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    """Return the slices for which a condition holds.

    The size of the result depends on the numbers. A recorded function therefore records one path for each selection.

    Args:
        condition: An array of bools or Values, with one axis.
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.

    Returns:
        An array.
    """
    return numpy.compress(decided(condition), as_array(a), axis)


def argwhere(a: Any) -> Any:
    """Return the indices of the elements that are not 0, one row for each. See `nonzero` for recorded functions.

    Args:
        a: An array of Values, bools or numbers.

    Returns:
        An array of ints with two axes.
    """
    return numpy.argwhere(decided(a))


def flatnonzero(a: Any) -> Any:
    """Return the indices of the elements of the flattened array that are not 0. See `nonzero` for recorded functions.

    Args:
        a: An array of Values, bools or numbers.

    Returns:
        An array of ints.
    """
    return numpy.flatnonzero(decided(a))


def trim_zeros(filt: Any, trim: str = "fb") -> Any:
    """Return an array with one axis without its leading and trailing zeros. See `nonzero` for recorded functions.

    Args:
        filt: An array of Values or numbers.
        trim: "f" to trim the front, "b" to trim the back, "fb" for both.

    Returns:
        An array.
    """
    filt = as_array(filt)
    places = flatnonzero(filt)
    if not len(places):
        return filt[:0]
    return filt[places[0] if "f" in trim.lower() else 0 : places[-1] + 1 if "b" in trim.lower() else len(filt)]


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Return whether all elements are equal within a tolerance: |a - b| <= atol + rtol |b|.

    Args:
        a: An array of Values or numbers.
        b: An array of Values or numbers.
        rtol: The tolerance relative to `b`.
        atol: The absolute tolerance.
        equal_nan: Whether nan is close to nan.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.
    """
    return _answer(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Return whether two arrays have the same shape and equal numbers.

    Args:
        a1: An array of Values or numbers.
        a2: An array of Values or numbers.
        equal_nan: Whether nan is equal to nan.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.

    Example:
        >>> from gradwalk import Value
        >>> array_equal([Value(1.0)], [1.0])
        True
    """
    a1, a2 = as_array(a1), as_array(a2)
    return a1.shape == a2.shape and _answer(all(_same(a1, a2, equal_nan)))


def array_equiv(a1: Any, a2: Any) -> Any:
    """Return whether two arrays have equal numbers after broadcasting.

    Args:
        a1: An array of Values or numbers.
        a2: An array of Values or numbers.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.
    """
    a1, a2 = as_array(a1), as_array(a2)
    try:
        numpy.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return _answer(all(equal(a1, a2)))


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return whether each element is equal to one of the test elements.

    Args:
        element: An array of Values or numbers.
        test_elements: An array of Values or numbers.
        assume_unique: Ignored; NumPy's algorithm is faster with it.
        invert: Whether to negate the result.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    element, test_elements = as_array(element), as_array(test_elements)
    if are_known(element, test_elements):
        return numpy.isin(numbers(element), numbers(test_elements), assume_unique, invert)
    found = any(equal(element[..., numpy.newaxis], test_elements.ravel()), -1)
    return logical_not(found) if invert else found


def unique(ar: Any, axis: int | None = None) -> Any:
    """Return the sorted elements, each number once. The gradient of equal elements goes to the first of them.

    The size of the result depends on the numbers. A recorded function therefore records one path for each order of the
    numbers.

    Args:
        ar: An array of Values or numbers.
        axis: An axis along which slices are compared, for arrays of numbers only.

    Returns:
        An array.

    Raises:
        TypeError: `axis` is given, and the array contains Values.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: unique(x) @ [1.0, 10.0])(numpy.array([3.0, 1.0, 3.0])).tolist()
        [10.0, 1.0, 0.0]
    """
    ar = as_array(ar)
    if not holds_values(ar):
        return numpy.unique(ar, axis=axis)
    if axis is not None:
        raise TypeError("unique(axis=...) accepts arrays of numbers, not of Values: pass axis=None")
    found: list[Any] = []
    for x in sorted(ar.ravel(), key=_Ordered):
        if not found or builtins.bool(x != x) or not _is_equal(found[-1], x):
            found.append(x)
    return numpy.array(found, object)


def union1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted numbers that are in at least one of two arrays. See `unique` for recorded functions.

    Args:
        ar1: An array of Values or numbers.
        ar2: An array of Values or numbers.

    Returns:
        An array with one axis.
    """
    return unique(numpy.concatenate([numpy.ravel(ar1), numpy.ravel(ar2)]))


def intersect1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted numbers that are in both arrays, with elements of the first. See `unique`.

    Args:
        ar1: An array of Values or numbers.
        ar2: An array of Values or numbers.

    Returns:
        An array with one axis.
    """
    first = unique(ar1)
    return extract(isin(first, ar2), first)


def setdiff1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted numbers of the first array that are not in the second. See `unique`.

    Args:
        ar1: An array of Values or numbers.
        ar2: An array of Values or numbers.

    Returns:
        An array with one axis.
    """
    first = unique(ar1)
    return extract(isin(first, ar2, invert=True), first)


def setxor1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted numbers that are in exactly one of two arrays. See `unique`.

    Args:
        ar1: An array of Values or numbers.
        ar2: An array of Values or numbers.

    Returns:
        An array with one axis.
    """
    return union1d(setdiff1d(ar1, ar2), setdiff1d(ar2, ar1))


class _Ordered:
    """A key for sorting Values and numbers by their numbers, with nan last."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __lt__(self, other: _Ordered) -> bool:
        x, y = self._x, other._x
        return builtins.bool(operator.lt(x, y)) or (builtins.bool(x <= x) and not builtins.bool(y <= y))


def _is_equal(x: Any, y: Any) -> bool:
    return builtins.bool(x <= y) and builtins.bool(y <= x)


def _same(a1: Any, a2: Any, equal_nan: bool) -> Any:
    same = equal(a1, a2)
    return logical_or(same, logical_and(isnan(a1), isnan(a2))) if equal_nan else same


def _answer(found: Any) -> Any:
    """Return a bool instead of NumPy's bool."""
    return builtins.bool(found) if isinstance(found, numpy.bool_) else found


def _index_in_range(index: Any, size: int, mode: str) -> Any:
    """Return indices that are data, moved into the range if `mode` is "wrap" or "clip"."""
    if mode == "wrap":
        return math.mod(index, float(size))
    if mode == "clip":
        return math.minimum(math.maximum(index, 0.0), float(size - 1))
    if mode != "raise":
        raise ValueError(f'mode must be "raise", "wrap" or "clip", got {mode!r}')
    return index
