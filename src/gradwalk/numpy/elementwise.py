"""Functions of each element: choices, comparisons, tests, and division with a remainder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, holds_values, numbers


def _vectorised(function: Callable[..., Any], operands: int) -> Callable[..., Any]:
    """A function of Values and numbers as one of arrays. NumPy would warn where it compares nan."""
    of_arrays = numpy.frompyfunc(function, operands, 1)

    def applied(*arrays: Any) -> Any:
        with numpy.errstate(invalid="ignore"):
            return of_arrays(*arrays)

    return applied


_choose = _vectorised(math.where, 3)
_larger = _vectorised(math.maximum, 2)
_smaller = _vectorised(math.minimum, 2)
_sign = _vectorised(math.sign, 1)
_abs = _vectorised(math.abs, 1)
_less = _vectorised(math.less, 2)
_less_equal = _vectorised(math.less_equal, 2)
_equal = _vectorised(math.equal, 2)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose the elements of `x` where a condition holds, else those of `y`.

    A Value as a condition holds where its number is not 0; NumPy takes every Value for true. In a recorded function
    both sides are computed, and the one that is left out passes no derivative on, not even nan.

    Args:
        condition: An array of bools or of Values.
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array. The elements are those of `x` and `y` themselves where the condition is known.

    Example:
        >>> from gradwalk import Value
        >>> [v.data for v in where([True, False], [Value(1.0), Value(2.0)], Value(0.0))]
        [1.0, 0.0]
    """
    condition, x, y = map(numpy.asarray, (condition, x, y))
    if are_known(condition):
        return numpy.where(numbers(condition), x, y)[()]
    return _choose(condition, x, y)


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of two elements, nan where either is.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array. Equal elements get half of the gradient each, as in JAX.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: maximum(x, 0.0).sum())(numpy.array([-1.0, 0.0, 1.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return _of_elements(_larger, numpy.maximum, x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of two elements, nan where either is.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array. Equal elements get half of the gradient each, as in JAX.

    Example:
        >>> minimum([1.0, 5.0], 2.0).tolist()
        [1.0, 2.0]
    """
    return _of_elements(_smaller, numpy.minimum, x, y)


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Return elements moved into an interval.

    Args:
        a: An array of Values or numbers.
        a_min: The lower bounds, or None.
        a_max: The upper bounds, or None.
        min: The lower bounds, by the array API's name.
        max: The upper bounds, by the array API's name.

    Returns:
        An array. At a bound, half of the gradient passes, as in JAX.

    Raises:
        ValueError: Bounds are given by both names.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: clip(x, 0.0, 1.0).sum())(numpy.array([-1.0, 0.5, 2.0])).tolist()
        [0.0, 1.0, 0.0]
    """
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise ValueError("clip() takes a_min and a_max, or min and max, and not both")
    low, high = (min, max) if a_min is None and a_max is None else (a_min, a_max)
    raised = numpy.asarray(a) if low is None else maximum(a, low)
    return raised if high is None else minimum(raised, high)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1 by the sign of each element; its derivative is 0.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array.
    """
    return _of_elements(_sign, numpy.sign, x)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the quotients rounded down and the remainders. NumPy has both for arrays of Values, but not together.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        Two arrays: `numpy.floor_divide(x, y)`, which is flat, and `numpy.remainder(x, y)`.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: divmod(x, 2.0)[1].sum())(numpy.array([1.0, 5.0])).tolist()
        [1.0, 1.0]
    """
    return numpy.floor_divide(x, y), numpy.remainder(x, y)


def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Replace nan and infinities. NumPy leaves them where they are in arrays of Values.

    Args:
        x: An array of Values or numbers.
        nan: What replaces nan.
        posinf: What replaces infinity; the largest float if None.
        neginf: What replaces minus infinity; minus the largest float if None.

    Returns:
        An array. No gradient passes to what was replaced.

    Example:
        >>> from gradwalk import Value
        >>> [v.data for v in nan_to_num([Value(1.0), Value(float("nan"))]) * Value(2.0)]
        [2.0, 0.0]
    """
    x = numpy.asarray(x)
    if not holds_values(x):
        return numpy.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    largest = float(numpy.finfo(numpy.float64).max)
    x = where(isnan(x), nan, x)
    x = where(equal(x, numpy.inf), largest if posinf is None else posinf, x)
    return where(equal(x, -numpy.inf), -largest if neginf is None else neginf, x)


# Comparisons and tests give bools, and in recorded functions Values of 1 and 0.


def less(x: Any, y: Any) -> Any:
    """Return whether x < y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array of bools; in a recorded function of Values that are 1 or 0.

    Example:
        >>> from gradwalk import Value
        >>> less([Value(1.0), Value(2.0)], 2.0).tolist()
        [True, False]
    """
    return _decided(numpy.less, _less, x, y)


def less_equal(x: Any, y: Any) -> Any:
    """Return whether x <= y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.less_equal, _less_equal, x, y)


def greater(x: Any, y: Any) -> Any:
    """Return whether x > y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return less(y, x)


def greater_equal(x: Any, y: Any) -> Any:
    """Return whether x >= y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return less_equal(y, x)


def equal(x: Any, y: Any) -> Any:
    """Return whether the numbers of x and y are equal. `==` asks outside of recorded functions for the same Value.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        As `less` does.

    Example:
        >>> from gradwalk import Value
        >>> equal([Value(1.0), Value(2.0)], 2.0).tolist()
        [False, True]
    """
    return _decided(numpy.equal, _equal, x, y)


def not_equal(x: Any, y: Any) -> Any:
    """Return whether the numbers of x and y differ.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return logical_not(equal(x, y))


def logical_and(x: Any, y: Any) -> Any:
    """Return whether the numbers of x and y are both not 0.

    Args:
        x: An array of Values, bools or numbers.
        y: An array of Values, bools or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.logical_and, lambda x, y: _choose(x, _choose(y, 1.0, 0.0), 0.0), x, y)


def logical_or(x: Any, y: Any) -> Any:
    """Return whether the number of x or that of y is not 0.

    Args:
        x: An array of Values, bools or numbers.
        y: An array of Values, bools or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.logical_or, lambda x, y: _choose(x, 1.0, _choose(y, 1.0, 0.0)), x, y)


def logical_not(x: Any) -> Any:
    """Return whether the number of x is 0.

    Args:
        x: An array of Values, bools or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.logical_not, lambda x: _choose(x, 0.0, 1.0), x)


def isnan(x: Any) -> Any:
    """Return whether elements are nan.

    Args:
        x: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.isnan, lambda x: 1.0 - _equal(x, x), x)


def isinf(x: Any) -> Any:
    """Return whether elements are infinite.

    Args:
        x: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.isinf, lambda x: _equal(_abs(x), numpy.inf), x)


def isfinite(x: Any) -> Any:
    """Return whether elements are neither infinite nor nan.

    Args:
        x: An array of Values or numbers.

    Returns:
        As `less` does.
    """
    return _decided(numpy.isfinite, lambda x: _less(_abs(x), numpy.inf), x)


def _of_elements(of_values: Callable[..., Any], of_numbers: Callable[..., Any], *operands: Any) -> Any:
    """The function of Values where there are any, else NumPy's own."""
    arrays = [numpy.asarray(operand) for operand in operands]
    return of_values(*arrays) if holds_values(*arrays) else of_numbers(*arrays)


def _decided(of_numbers: Callable[..., Any], recorded: Callable[..., Any], *operands: Any) -> Any:
    """NumPy's answer for the numbers where these are known, else one that is recorded."""
    arrays = [numpy.asarray(operand) for operand in operands]
    if are_known(*arrays):
        return of_numbers(*map(numbers, arrays))
    return recorded(*arrays)
