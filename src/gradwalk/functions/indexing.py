"""Functions that look up or compute indices: take, one_hot, searchsorted, and interpolation in tables.

If the index is a plain number, `take` returns `values[index]`. If the index is a `Value`, it is recorded together with
the table, so one recording serves all indices.
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
from gradwalk.value.node import primal_of, with_number_type
from gradwalk.value.value import Value

_TAKE = NAMES.index("take")
_abs, _sign, _less, _less_equal, _equal, _where, _maximum, _minimum = [
    partial(apply, NAMES.index(name))
    for name in ("abs", "sign", "less", "less_equal", "equal", "where", "maximum", "minimum")
]


def take(values: Any, index: Any) -> Any:
    """Return `values[index]`. The index may be a Value, such as an argument of a recorded function.

    d/dvalues[i] = 1 if i is the index, else 0
    d/dindex = 0

    An index that is out of range raises `IndexError` if its number is known. Inside a function that `jit` or `vmap`
    records, the result is nan instead, and so are its derivatives with respect to all elements of the table.

    Args:
        values: A list, tuple or array of `Value`s and real numbers, or of rows. A row is a list or an array.
        index: A whole number, as a `Value` or a real number, or an array of these. Negative indices count from the end.

    Returns:
        `values[index]` itself if the index is a plain number, else a new `Value`. If `values` contains rows, the result
        is a row. If `index` is an array, the result is an array of elements or rows, as in
        `numpy.take(values, index, axis=0)`.

    Raises:
        IndexError: If the index is known and out of range.
        TypeError: If the index is neither a `Value` nor a real number, or `values` is not a table.
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
    """Return a vector that is 1 at index x and 0 elsewhere, like `jax.nn.one_hot`. The index may be a Value.

    Args:
        x: A `Value` or a real number, or an array of these. The vector is all 0 if x is not one of 0, 1, ...,
            num_classes - 1.
        num_classes: The length of the vector.
        axis: The axis of the result along which each vector is stored.

    Returns:
        A list of floats, or of `Value`s if x is a `Value`. Their derivatives are 0. If `x` is an array or a list, the
        result is an array with one more axis.

    Raises:
        TypeError: If `num_classes` or `axis` is not an integer.
        ValueError: If `num_classes` is negative, or the result does not have the axis.

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
        raise TypeError(f"num_classes of one_hot() must be an int, because it is a shape, got {kind}") from None
    if not has_classes:
        raise ValueError(f"num_classes of one_hot() must be at least 0, got {num_classes}")
    found = _equal(arrays.as_array(x)[..., numpy.newaxis], numpy.arange(num_classes))
    arranged = numpy.moveaxis(found, -1, *arrays.counted_axes((axis,), found.ndim))
    return arranged if arrays.are_there((x,)) else arranged.tolist()


def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """Return the index at which to insert a number into a sorted table, like `numpy.searchsorted`.

    The search is a bisection with `take`, so it can be recorded.

    Args:
        a: A list, tuple or array of `Value`s and real numbers, in ascending order.
        v: A `Value` or a real number, or an array or a list of these. nan is sorted after all numbers.
        side: "left" for the index before elements that equal `v`, "right" for the index after them.

    Returns:
        An int, or a `Value` with derivative 0 if `v` or an element of `a` is a `Value`. If `v` is an array or a list,
        an array of these.

    Raises:
        ValueError: If `side` is neither "left" nor "right".
        TypeError: If `a` is not a table.

    Example:
        >>> searchsorted([1.0, 2.0, 2.0, 3.0], 2.0), searchsorted([1.0, 2.0, 2.0, 3.0], 2.0, side="right")
        (1, 3)
    """
    if side not in ("left", "right"):
        raise ValueError(f'side of searchsorted() must be "left" or "right", got {side!r}')
    _length(a)
    return _at_each(partial(_searched, a, side), v, int)


def _searched(a: Any, side: str, v: Any) -> Any:
    """Return the index at which to insert a number into a sorted table."""
    comes_before = partial(_less_equal if side == "left" else _less, v)
    length = len(a)
    if length == 0:
        return 0
    position: Any = 0.0  # the result is between `position` and `position + length`
    while length > 1:
        half = length // 2
        middle = position + (half - 1) if half > 1 else position
        position = _where(comes_before(take(a, middle)), position, position + half)
        length -= half
    position = _where(comes_before(take(a, position)), position, position + 1)
    return with_number_type(position, int) if isinstance(position, Value) else int(position)


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """Interpolate linearly between points, like `numpy.interp`; the function is constant beyond the end points.

    The derivative at a point of the table is the slope of the segment to the right; at the last point, it is the slope
    of the segment to the left. It is 0 at a point whose right neighbor has an infinite y-coordinate.

    Args:
        x: A `Value` or a real number, or an array or a list of these.
        xp: The x-coordinates of the points, `Value`s and real numbers, in ascending order.
        fp: The y-coordinates of the points.

    Returns:
        A `Value`, or a float if no argument contains a `Value`. If `x` is an array or a list, an array of these.

    Raises:
        ValueError: If `xp` is empty, or `xp` and `fp` differ in length.

    Example:
        >>> interp(2.5, [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
        1.0
    """
    _check_points("interp", xp, fp, 1)
    return _at_each(lambda x: _interpolated(x, xp, fp), x)


def _interpolated(x: Any, xp: Any, fp: Any) -> Any:
    """Evaluate the piecewise linear function at a number."""
    if len(xp) == 1:
        return fp[0]
    left, right, low, high = _segment(x, xp, xp, fp)
    is_wide = _less(left, right)  # two points may have the same abscissa: the function jumps there
    slope = (high - low) / _where(is_wide, right - left, 1.0)
    rising = low + (x - left) * slope
    # At a point whose neighbor has an infinite ordinate, the result is the ordinate of the point, as in NumPy. If
    # `rising` is nan, the result is computed from the right end of the segment, also as in NumPy.
    from_right = _where(_equal(rising, rising), rising, high + (x - right) * slope)
    level = low + 0.0 * x  # nan if x is nan
    between = _where(_equal(low, high), level, from_right)
    steep = _where(_equal(x, left), level, _where(_equal(x, right), high, between))
    inside = _where(is_wide, _where(_less(_abs(slope), math.inf), rising, steep), high)
    return _where(_less(x, xp[0]), fp[0], _where(_less(xp[-1], x), fp[-1], inside))


def pchip(x: Any, xp: Any, fp: Any) -> Any:
    """Interpolate with a piecewise cubic Hermite function that is monotonic wherever the points are.

    The derivative is continuous, and the first and last cubics continue beyond the end points, as in
    `scipy.interpolate.PchipInterpolator` (Fritsch and Butland, A method for constructing local monotone piecewise cubic
    interpolants, 1984).

    Args:
        x: A `Value` or a real number, or an array or a list of these.
        xp: The x-coordinates of the points, `Value`s and real numbers, strictly increasing.
        fp: The y-coordinates of the points.

    Returns:
        A `Value`, or a float if no argument contains a `Value`. If `x` is an array or a list, an array of these.

    Raises:
        ValueError: If there are fewer than two points, or `xp` and `fp` differ in length.

    Example:
        >>> pchip(2.5, [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
        1.1458333333333333
    """
    _check_points("pchip", xp, fp, 2)
    slopes = _pchip_slopes(xp, fp)
    return _at_each(lambda x: _cubic(x, xp, fp, slopes), x)


def _cubic(x: Any, xp: Any, fp: Any, slopes: list[Any]) -> Any:
    """Evaluate the piecewise cubic Hermite function with the given slopes at a number."""
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
    """Return the length of a table; raise `TypeError` if the table is not a list, tuple or array."""
    is_table = isinstance(values, Sequence) and not isinstance(values, (str, bytes))
    if not is_table and not (isinstance(values, numpy.ndarray) and values.ndim):
        raise TypeError(f"a table must be a list, tuple or array of numbers or of rows, got {type(values).__name__}")
    return len(values)


def _is_row(element: Any) -> bool:
    return arrays.are_there((element,))


def _check_rows(values: Any) -> None:
    """Raise `ValueError` if the rows of a table, at any level of nesting, differ in length."""
    level = [] if isinstance(values, numpy.ndarray) else values
    while len(level) and _is_row(level[0]):
        lengths = {_length(row) for row in level}
        if len(lengths) > 1:
            raise ValueError(f"rows of a table must have equal lengths, got {' and '.join(map(str, sorted(lengths)))}")
        has_rows = len(level[0]) and _is_row(level[0][0])
        level = [element for row in level for element in row] if has_rows else []


def _position(index: Any, count: int) -> int:
    """Normalize an index to a position; raise `IndexError` if it is out of range, `TypeError` if it is not a number."""
    if not is_number(index):
        raise TypeError(f"the index of take() must be a whole number or a Value, got {type(index).__name__}")
    position = index + count if index < 0 else index
    if not 0 <= position < count or position != int(position):
        if not count:
            raise IndexError(f"the table of take() is empty, so no index is valid, got {index}")
        raise IndexError(
            f"the index of take() must be a whole number from {-count} to {count - 1} for a table of {count} entries, "
            f"got {index}"
        )
    return int(position)


def _taken(values: Sequence[Any], index: Value) -> Any:
    """Take an element from a list of numbers, or a row from a list of rows."""
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
    """Take an element or a row for each index of an array."""
    if indices.dtype != object:
        positions = [_position(index, len(table)) for index in indices.ravel().tolist()]
        return table[numpy.array(positions, int).reshape(indices.shape)]
    found = [x for index in indices.flat for x in arrays.as_array(take(table, index)).flat]
    return arrays.of_objects(found, indices.shape + table.shape[1:])


def _check_points(name: str, xp: Any, fp: Any, least: int) -> None:
    if _length(xp) != _length(fp):
        raise ValueError(f"xp and fp of {name}() must have the same length, got {len(xp)} and {len(fp)}")
    if len(xp) < least:
        raise ValueError(f"{name}() needs at least {least} point{'s' if least > 1 else ''}, got {len(xp)}")


def _segment(x: Any, xp: Any, *tables: Any) -> list[Any]:
    """Find the segment that contains x or is nearest to x; return the elements of each table at both ends of it."""
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
    """Return the weighted harmonic mean of two slopes, or 0 if one is 0 or their signs differ."""
    has_mean = _equal(_sign(left) * _sign(right), 1)
    divisor = _where(has_mean, (2 * k + h) * right + (k + 2 * h) * left, 1)
    return _where(has_mean, 3 * (h + k) * left * right / divisor, 0)


def _pchip_end(h: Any, k: Any, first: Any, second: Any) -> Any:
    """Return the slope of the parabola through three points at an end point, limited to keep monotonicity."""
    slope = ((2 * h + k) * first - h * second) / (h + k)
    is_too_steep = _less(3 * _abs(first), _abs(slope))
    limited = _where(_equal(_sign(first), _sign(second)), slope, _where(is_too_steep, 3 * first, slope))
    return _where(_equal(_sign(slope), _sign(first)), limited, 0)
