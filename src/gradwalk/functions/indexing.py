"""Indices that are data: elements of a table, one-hot vectors, the place of a number in a sorted table, interpolation.

An index that is a plain number picks an element as `values[index]` does. One that is a `Value` is recorded with the
table, so that one recording serves all indices.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value import arrays
from gradwalk.value.apply import apply, apply_variadic
from gradwalk.value.convert import is_number
from gradwalk.value.modes import is_staging
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

_TAKE = NAMES.index("take")
_abs, _sign, _less, _less_equal, _equal, _where, _maximum, _minimum = [
    partial(apply, NAMES.index(name))
    for name in ("abs", "sign", "less", "less_equal", "equal", "where", "maximum", "minimum")
]


def take(values: Any, index: Any) -> Any:
    """Return the element of a table at an index, which may be data: `values[index]` that can be recorded.

    d/dvalues[i] = 1 if i is the index, else 0
    d/dindex = 0

    If the number of the index is known, an index out of range raises `IndexError`. If the index is data of a recorded
    function, as under `jit` and `vmap`, the result is nan then, and so are its derivatives by all elements of the
    table, in forward and in reverse mode.

    Args:
        values: A list, tuple or array of `Value`s and real numbers; or of rows, which are lists or arrays themselves.
        index: A `Value` or a real number, which is a whole one, or an array of these. Negative indices count from the
            end.

    Returns:
        The element: `values[index]` itself where the index is a plain number, else a new `Value`. Of a table of rows, a
        row, whose elements are all taken by the same index. Of an array of indices, an array with an element or a row
        for each, as `numpy.take(values, index, axis=0)`.

    Raises:
        IndexError: If the index is out of range, and its number is known.
        TypeError: If the index is neither a `Value` nor a real number, or the table is none.
        ValueError: If the rows differ in length.

    Example:
        >>> from gradwalk import jit
        >>> area = jit(lambda kind, radius: take([3.0, 4.0], kind) * radius * radius)
        >>> area(0, 2.0), area(1, 2.0)
        (12.0, 16.0)
        >>> take([[1.0, 2.0], [3.0, 4.0]], -1)
        [3.0, 4.0]
    """
    count = _length(values)
    _check_rows(values)
    if arrays.are_there((index,)):
        return _taken_at_each(arrays.as_array(values), arrays.as_array(index))
    index = arrays.without_dimensions(index)
    if not isinstance(index, Value):
        return values[_position(index, count)]
    if not is_staging():
        _position(primal_of(index), count)
    if isinstance(values, numpy.ndarray):
        return _taken_from_array(values, index)
    return _taken(values, index)


def one_hot(x: Any, num_classes: int, axis: int = -1) -> Any:
    """Return numbers that are 1 at an index, which may be data, and 0 elsewhere: as `jax.nn.one_hot`.

    Args:
        x: A `Value` or a real number, or an array of these. Where it is none of 0, 1, ..., num_classes - 1, all of the
            numbers are 0.
        num_classes: How many numbers.
        axis: The axis of the result that the numbers are along.

    Returns:
        A list: `Value`s if the index is one, else floats. Their derivative is 0. Of an array or a list of indices, an
        array with one axis more.

    Raises:
        TypeError: If `num_classes` or `axis` is no integer.
        ValueError: If `num_classes` is negative, or the result has no such axis.

    Example:
        >>> one_hot(2, 4)
        [0.0, 0.0, 1.0, 0.0]
        >>> one_hot([0, 2], 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    try:
        has_classes = operator.index(num_classes) >= 0
    except TypeError:
        kind = type(num_classes).__name__
        raise TypeError(f"one_hot() takes a number of classes that is an int, not {kind}: it is the shape") from None
    if not has_classes:
        raise ValueError(f"one_hot() takes a number of classes from 0 on, not {num_classes}")
    found = _equal(arrays.as_array(x)[..., numpy.newaxis], numpy.arange(num_classes))
    arranged = numpy.moveaxis(found, -1, *arrays.counted_axes((axis,), found.ndim))
    return arranged if arrays.are_there((x,)) else arranged.tolist()


def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """Return how many elements of a sorted table come before a number: the index to insert it at, as NumPy's.

    It is found by bisection, with `take`, so that it can be recorded.

    Args:
        a: A list, tuple or array of `Value`s and real numbers, from the smallest to the largest.
        v: A `Value` or a real number; nan comes after all others. Or an array or a list of these.
        side: Whether elements that equal `v` come after it ("left") or before it ("right").

    Returns:
        An int or, if `v` or an element is a `Value`, a `Value`, whose derivative is 0. Of an array, an array of these.

    Raises:
        ValueError: If `side` is neither "left" nor "right".
        TypeError: If `a` is no table.

    Example:
        >>> searchsorted([1.0, 2.0, 2.0, 3.0], 2.0), searchsorted([1.0, 2.0, 2.0, 3.0], 2.0, side="right")
        (1, 3)
    """
    if side not in ("left", "right"):
        raise ValueError(f'searchsorted() takes side="left" or side="right", not {side!r}')
    _length(a)
    return _at_each(partial(_searched, a, side), v, int)


def _searched(a: Any, side: str, v: Any) -> Any:
    """Bisect a table."""
    comes_before = partial(_less_equal if side == "left" else _less, v)
    length = len(a)
    if length == 0:
        return 0
    position: Any = 0.0  # the answer lies between this and `length` more
    while length > 1:
        half = length // 2
        middle = position + (half - 1) if half > 1 else position
        position = _where(comes_before(take(a, middle)), position, position + half)
        length -= half
    position = _where(comes_before(take(a, position)), position, position + 1)
    return position if isinstance(position, Value) else int(position)


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """Return the piecewise linear function through some points, as `numpy.interp`: constant beyond the first and last.

    At a point, its derivative is the slope of the segment on the right; at the last point, of that on the left. It is
    0 at a point next to an infinite ordinate on its right.

    Args:
        x: Where: a `Value` or a real number, or an array or a list of these.
        xp: The abscissas of the points, `Value`s and real numbers, from the smallest to the largest.
        fp: Their ordinates.

    Returns:
        A `Value`, or a float if no argument holds one. Of an array of `x`, an array of these.

    Raises:
        ValueError: If there is no point, or `xp` and `fp` differ in length.

    Example:
        >>> interp(2.5, [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
        1.0
    """
    _check_points("interp", xp, fp, 1)
    return _at_each(lambda x: _interpolated(x, xp, fp), x)


def _interpolated(x: Any, xp: Any, fp: Any) -> Any:
    """The piecewise linear function at a number."""
    if len(xp) == 1:
        return fp[0]
    left, right, low, high = _segment(x, xp, xp, fp)
    is_wide = _less(left, right)  # two points may have the same abscissa: where the function jumps
    slope = (high - low) / _where(is_wide, right - left, 1.0)
    rising = low + (x - left) * slope
    # Next to infinite ordinates NumPy has the ordinate itself at a point, and comes from the right where it must.
    from_right = _where(_equal(rising, rising), rising, high + (x - right) * slope)
    level = low + 0.0 * x  # nan where x is
    between = _where(_equal(low, high), level, from_right)
    steep = _where(_equal(x, left), level, _where(_equal(x, right), high, between))
    inside = _where(is_wide, _where(_less(_abs(slope), math.inf), rising, steep), high)
    return _where(_less(x, xp[0]), fp[0], _where(_less(xp[-1], x), fp[-1], inside))


def pchip(x: Any, xp: Any, fp: Any) -> Any:
    """Return the piecewise cubic Hermite function through some points that rises and falls as they do.

    As `scipy.interpolate.PchipInterpolator`: its derivative is continuous, and beyond the first and the last point the
    cubics go on (Fritsch and Butland, A method for constructing local monotone piecewise cubic interpolants, 1984).

    Args:
        x: Where: a `Value` or a real number, or an array or a list of these.
        xp: The abscissas of the points, `Value`s and real numbers, each larger than the one before.
        fp: Their ordinates.

    Returns:
        A `Value`, or a float if no argument holds one. Of an array of `x`, an array of these.

    Raises:
        ValueError: If there are less than two points, or `xp` and `fp` differ in length.

    Example:
        >>> pchip(2.5, [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
        1.1458333333333333
    """
    _check_points("pchip", xp, fp, 2)
    slopes = _pchip_slopes(xp, fp)
    return _at_each(lambda x: _cubic(x, xp, fp, slopes), x)


def _cubic(x: Any, xp: Any, fp: Any, slopes: list[Any]) -> Any:
    """The piecewise cubic Hermite function with some slopes at a number."""
    left, right, low, high, first, last = _segment(x, xp, xp, fp, slopes)
    width = right - left
    t = (x - left) / width
    rest = 1 - t
    bend = first * rest - last * t
    return (1 + 2 * t) * rest * rest * low + (3 - 2 * t) * t * t * high + width * t * rest * bend


def _at_each(function: Callable[[Any], Any], x: Any, dtype: type = float) -> Any:
    """Apply a function to a number, or to each element of an array."""
    is_array = arrays.are_there((x,))
    return arrays.elementwise(function, (x,), dtype) if is_array else function(arrays.without_dimensions(x))


def _length(values: Any) -> int:
    """Return the length of a table. Raises `TypeError` if it is none."""
    is_table = isinstance(values, Sequence) and not isinstance(values, (str, bytes))
    if not is_table and not (isinstance(values, numpy.ndarray) and values.ndim):
        raise TypeError(f"a table is a list, a tuple or an array of numbers or of rows, not {type(values).__name__}")
    return len(values)


def _is_row(element: Any) -> bool:
    return arrays.are_there((element,))


def _check_rows(values: Any) -> None:
    """Raise `ValueError` if the rows of a table, or the rows of these, differ in length."""
    level = [] if isinstance(values, numpy.ndarray) else values
    while len(level) and _is_row(level[0]):
        lengths = {_length(row) for row in level}
        if len(lengths) > 1:
            raise ValueError(f"the rows of a table have one length, not {' and '.join(map(str, sorted(lengths)))}")
        has_rows = len(level[0]) and _is_row(level[0][0])
        level = [element for row in level for element in row] if has_rows else []


def _position(index: Any, count: int) -> int:
    """Return the position that an index means. Raises `IndexError` if there is none, `TypeError` if it is no number."""
    if not is_number(index):
        raise TypeError(f"take() takes a whole number or a Value as its index, not {type(index).__name__}")
    position = index + count if index < 0 else index
    if not 0 <= position < count or position != int(position):
        allowed = f"a whole number from {-count} to {count - 1}" if count else "none, as the table is empty"
        raise IndexError(f"take() has index {index} into a table of {count}: it may be {allowed}")
    return int(position)


def _taken(values: Sequence[Any], index: Value) -> Any:
    """Take from a list of numbers, or from one of rows."""
    if values and not isinstance(values[0], (Value, float)) and not is_number(values[0]):
        return [_taken(column, index) for column in zip(*values, strict=True)]
    return apply_variadic(_TAKE, [index, *values])


def _taken_from_array(values: Any, index: Value) -> Any:
    columns = values.reshape(len(values), -1).T.tolist()
    if values.ndim == 1:
        return _taken(columns[0], index)
    row = numpy.empty(len(columns), object)
    row[:] = [_taken(column, index) for column in columns]
    return row.reshape(values.shape[1:])


def _taken_at_each(table: Any, indices: Any) -> Any:
    """Take an element or a row for each of several indices."""
    if indices.dtype != object:
        positions = [_position(index, len(table)) for index in indices.ravel().tolist()]
        return table[numpy.array(positions, int).reshape(indices.shape)]
    found = [x for index in indices.flat for x in arrays.as_array(take(table, index)).flat]
    return arrays.of_objects(found, indices.shape + table.shape[1:])


def _check_points(name: str, xp: Any, fp: Any, least: int) -> None:
    if _length(xp) != _length(fp):
        raise ValueError(f"{name}() takes as many xp as fp, not {len(xp)} and {len(fp)}")
    if len(xp) < least:
        raise ValueError(f"{name}() takes at least {least} point{'s' if least > 1 else ''}, not {len(xp)}")


def _segment(x: Any, xp: Any, *tables: Any) -> list[Any]:
    """Return what each table has at the left and at the right end of the segment that x lies in, or is next to."""
    right = _minimum(_maximum(searchsorted(xp, x, "right"), 1), len(xp) - 1)
    left = right - 1
    return [take(table, end) for table in tables for end in (left, right)]


def _pchip_slopes(xp: Any, fp: Any) -> list[Any]:
    """Return the derivative at each point, by the formulas of SciPy's PchipInterpolator."""
    widths = [xp[i] - xp[i - 1] for i in range(1, len(xp))]
    slopes = [(fp[i] - fp[i - 1]) / width for i, width in enumerate(widths, start=1)]
    if len(slopes) == 1:
        return [slopes[0], slopes[0]]
    inner = [_pchip_slope(*widths[i : i + 2], *slopes[i : i + 2]) for i in range(len(slopes) - 1)]
    return [_pchip_end(*widths[:2], *slopes[:2]), *inner, _pchip_end(*widths[:-3:-1], *slopes[:-3:-1])]


def _pchip_slope(h: Any, k: Any, left: Any, right: Any) -> Any:
    """Return the weighted harmonic mean of two slopes, or 0 where one is 0 or they differ in sign."""
    has_mean = _equal(_sign(left) * _sign(right), 1)
    divisor = _where(has_mean, (2 * k + h) * right + (k + 2 * h) * left, 1)
    return _where(has_mean, 3 * (h + k) * left * right / divisor, 0)


def _pchip_end(h: Any, k: Any, first: Any, second: Any) -> Any:
    """Return the derivative at an end, by the parabola through three points as far as that keeps their shape."""
    slope = ((2 * h + k) * first - h * second) / (h + k)
    is_too_steep = _less(3 * _abs(first), _abs(slope))
    limited = _where(_equal(_sign(first), _sign(second)), slope, _where(is_too_steep, 3 * first, slope))
    return _where(_equal(_sign(slope), _sign(first)), limited, 0)
