"""Elementwise functions: selection, comparisons, predicates, and division with remainder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gradwalk import math
from gradwalk.complex_numbers.complex_array import has_complex
from gradwalk.numpy.arrays import are_known, holds_values, numbers
from gradwalk.numpy.complex_parts import imag, real
from gradwalk.value.arrays import as_array, as_bools


def _vectorised(function: Callable[..., Any], operands: int) -> Callable[..., Any]:
    """Convert a function of Values and numbers to a function of arrays, without NumPy's warnings for nan."""
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
_copysign = _vectorised(math.copysign, 2)
_rint = _vectorised(math.rint, 1)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Select elements from `x` where a condition holds, otherwise from `y`.

    A Value is true if its number is not 0; NumPy would treat every Value as true. In a recorded function, both branches
    are computed, but only the selected branch contributes derivatives: an infinite or nan derivative of the other
    branch is ignored.

    Args:
        condition: An array of bools or Values.
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array. If the numbers of the condition are known, the array contains elements of `x` and `y`, not new Values.
        Without `x` and `y`, the result of `nonzero(condition)`.

    Raises:
        ValueError: Only one of `x` and `y` is given.

    Example:
        >>> from gradwalk import Value
        >>> [v.data for v in where([True, False], [Value(1.0), Value(2.0)], Value(0.0))]
        [1.0, 0.0]
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("where() takes a condition, or a condition, x and y; got only one of x and y")
    condition, x, y = map(as_array, (condition, x, y))
    if are_known(condition):
        return numpy.where(numbers(condition), x, y)[()]
    return _choose(condition, x, y)


def maximum(x: Any, y: Any) -> Any:
    """Return the larger element of each pair, or nan if either is nan.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array. If the elements of a pair are equal, each gets half of the gradient, as in JAX.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: maximum(x, 0.0).sum())(numpy.array([-1.0, 0.0, 1.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return _of_elements(_larger, numpy.maximum, x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller element of each pair, or nan if either is nan.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array. If the elements of a pair are equal, each gets half of the gradient, as in JAX.

    Example:
        >>> minimum([1.0, 5.0], 2.0).tolist()
        [1.0, 2.0]
    """
    return _of_elements(_smaller, numpy.minimum, x, y)


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Clip the elements to an interval.

    Args:
        a: An array of Values or numbers.
        a_min: Lower bounds, or None.
        a_max: Upper bounds, or None.
        min: Lower bounds, under their name in the array API standard.
        max: Upper bounds, under their name in the array API standard.

    Returns:
        An array. An element equal to a bound gets half of the gradient, as in JAX.

    Raises:
        ValueError: Bounds are given both as `a_min` or `a_max` and as `min` or `max`.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: clip(x, 0.0, 1.0).sum())(numpy.array([-1.0, 0.5, 2.0])).tolist()
        [0.0, 1.0, 0.0]
    """
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise ValueError("clip() bounds must be given as a_min and a_max, or as min and max, not as both")
    low, high = (min, max) if a_min is None and a_max is None else (a_min, a_max)
    raised = as_array(a) if low is None else maximum(a, low)
    return raised if high is None else minimum(raised, high)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1 according to the sign of each element. The derivative is 0.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array.
    """
    return _of_elements(_sign, numpy.sign, x)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Return floored quotients and remainders.

    `numpy.floor_divide` and `numpy.remainder` accept arrays of Values; `numpy.divmod` does not.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        The arrays `numpy.floor_divide(x, y)`, whose derivative is 0, and `numpy.remainder(x, y)`.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: divmod(x, 2.0)[1].sum())(numpy.array([1.0, 5.0])).tolist()
        [1.0, 1.0]
    """
    return numpy.floor_divide(x, y), numpy.remainder(x, y)


def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Replace nan and infinities. `numpy.nan_to_num` leaves them unchanged in arrays of Values.

    Args:
        x: An array of Values or numbers.
        nan: Replacement for nan.
        posinf: Replacement for infinity; None for the largest float.
        neginf: Replacement for minus infinity; None for minus the largest float.

    Returns:
        An array. The replaced elements get no gradient.

    Example:
        >>> from gradwalk import Value
        >>> [v.data for v in nan_to_num([Value(1.0), Value(float("nan"))]) * Value(2.0)]
        [2.0, 0.0]
    """
    x = as_array(x)
    if not holds_values(x):
        return numpy.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    largest = float(numpy.finfo(numpy.float64).max)
    x = where(isnan(x), nan, x)
    x = where(equal(x, numpy.inf), largest if posinf is None else posinf, x)
    return where(equal(x, -numpy.inf), -largest if neginf is None else neginf, x)


# Comparisons and predicates return bools. In recorded functions, they return Values that are 1 or 0.


def less(x: Any, y: Any) -> Any:
    """Return whether x < y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.

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
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return _decided(numpy.less_equal, _less_equal, x, y)


def greater(x: Any, y: Any) -> Any:
    """Return whether x > y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return less(y, x)


def greater_equal(x: Any, y: Any) -> Any:
    """Return whether x >= y.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return less_equal(y, x)


def equal(x: Any, y: Any) -> Any:
    """Return whether x and y are equal as numbers. Outside of recorded functions, `==` compares Values by identity.

    Args:
        x: An array of Values or numbers.
        y: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.

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
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return logical_not(equal(x, y))


def logical_and(x: Any, y: Any) -> Any:
    """Return whether x and y are both nonzero.

    Args:
        x: An array of Values, bools or numbers.
        y: An array of Values, bools or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return _decided(numpy.logical_and, lambda x, y: _choose(x, _choose(y, 1.0, 0.0), 0.0), x, y)


def logical_or(x: Any, y: Any) -> Any:
    """Return whether x or y is nonzero.

    Args:
        x: An array of Values, bools or numbers.
        y: An array of Values, bools or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return _decided(numpy.logical_or, lambda x, y: _choose(x, 1.0, _choose(y, 1.0, 0.0)), x, y)


def logical_not(x: Any) -> Any:
    """Return whether x is 0.

    Args:
        x: An array of Values, bools or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return _decided(numpy.logical_not, lambda x: _choose(x, 0.0, 1.0), x)


def isnan(x: Any) -> Any:
    """Return whether each element is nan.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    if has_complex(as_array(x)):
        return logical_or(isnan(real(x)), isnan(imag(x)))
    return _decided(numpy.isnan, lambda x: 1.0 - _equal(x, x), x)


def isinf(x: Any) -> Any:
    """Return whether each element is infinite.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    if has_complex(as_array(x)):
        return logical_or(isinf(real(x)), isinf(imag(x)))
    return _decided(numpy.isinf, lambda x: _equal(_abs(x), numpy.inf), x)


def isfinite(x: Any) -> Any:
    """Return whether each element is neither infinite nor nan.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    if has_complex(as_array(x)):
        return logical_and(isfinite(real(x)), isfinite(imag(x)))
    return _decided(numpy.isfinite, lambda x: _less(_abs(x), numpy.inf), x)


def isposinf(x: Any) -> Any:
    """Return whether each element is infinite and positive.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return equal(x, numpy.inf)


def isneginf(x: Any) -> Any:
    """Return whether each element is infinite and negative.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return equal(x, -numpy.inf)


def signbit(x: Any) -> Any:
    """Return whether the sign bit of each element is set. It is set for -0.0.

    Args:
        x: An array of Values or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return _decided(numpy.signbit, lambda x: _less(_copysign(1.0, x), 0.0), x)


def logical_xor(x: Any, y: Any) -> Any:
    """Return whether exactly one of x and y is nonzero.

    Args:
        x: An array of Values, bools or numbers.
        y: An array of Values, bools or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return not_equal(logical_not(x), logical_not(y))


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Return whether elements are equal within a tolerance: |a - b| <= atol + rtol |b|.

    Args:
        a: An array of Values or numbers.
        b: An array of Values or numbers.
        rtol: The tolerance relative to `b`.
        atol: The absolute tolerance.
        equal_nan: Whether nan is close to nan.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.

    Example:
        >>> from gradwalk import Value
        >>> isclose([Value(1.0), Value(2.0)], 2.0).tolist()
        [False, True]
    """
    a, b = as_array(a), as_array(b)
    if are_known(a, b):
        return numpy.isclose(numbers(a), numbers(b), rtol, atol, equal_nan)
    is_near = logical_and(less_equal(_abs(a - b), atol + rtol * _abs(b)), isfinite(b))
    found = logical_or(is_near, equal(a, b))
    return logical_or(found, logical_and(isnan(a), isnan(b))) if equal_nan else found


def round(a: Any, decimals: int = 0) -> Any:
    """Round to a number of decimals; halves are rounded to even numbers. The derivative is 0, as in JAX.

    Args:
        a: An array of Values or numbers.
        decimals: The number of decimals; negative for tens, hundreds and so on.

    Returns:
        An array.

    Example:
        >>> round([2.5, 3.14159], 2).tolist()
        [2.5, 3.14]
    """
    array = as_array(a)
    if not holds_values(array):
        return numpy.round(array, decimals)
    scale = 10.0 ** abs(decimals)
    return _rint(array * scale) / scale if decimals >= 0 else _rint(array / scale) * scale


around = round


def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of the elements that are not 0, one array for each axis.

    The sizes of these arrays depend on the numbers. A recorded function therefore records one path for each set of
    elements that are not 0.

    Args:
        a: An array of Values, bools or numbers.

    Returns:
        A tuple of arrays of ints.

    Raises:
        RecordingError: The function is recorded with `branches="refuse"`.

    Example:
        >>> from gradwalk import Value
        >>> nonzero([Value(0.0), Value(2.0)])[0].tolist()
        [1]
    """
    return numpy.nonzero(decided(a))


def decided(condition: Any) -> Any:
    """Convert an array to bools. If numbers of Values are not known, this records the path that the bools determine."""
    condition = as_array(condition)
    if are_known(condition):
        return numbers(condition).astype(bool)
    return numpy.array([bool(x) for x in condition.ravel()], bool).reshape(condition.shape)


def _of_elements(of_values: Callable[..., Any], of_numbers: Callable[..., Any], *operands: Any) -> Any:
    """Call `of_values` if an operand contains Values, otherwise NumPy's function `of_numbers`."""
    arrays = [as_array(operand) for operand in operands]
    return of_values(*arrays) if holds_values(*arrays) else of_numbers(*arrays)


def _decided(of_numbers: Callable[..., Any], recorded: Callable[..., Any], *operands: Any) -> Any:
    """Call `of_numbers` on the numbers if they are known, otherwise `recorded` on the Values."""
    arrays = [as_array(operand) for operand in operands]
    if are_known(*arrays):
        return of_numbers(*map(numbers, arrays))
    return as_bools(recorded(*arrays))
