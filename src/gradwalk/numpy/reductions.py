"""Sums, means and other reductions, with a condition `where`, and the versions that ignore nan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.complex_numbers.complex_array import has_complex
from gradwalk.functions.rows import divide
from gradwalk.numpy import elementwise
from gradwalk.numpy.arrays import are_known, holds_values, numbers, untyped
from gradwalk.numpy.complex_parts import imag, real
from gradwalk.numpy.creation import astype
from gradwalk.numpy.elementwise import equal, isnan, logical_and, logical_not, not_equal, where
from gradwalk.numpy.names.ufuncs import sqrt
from gradwalk.numpy.ordering import argmax, argmin
from gradwalk.numpy.ordering import max as largest
from gradwalk.numpy.ordering import min as smallest
from gradwalk.value.arrays import Axis, as_array, as_ints

Condition = Any  # an array of bools or Values that broadcasts to the array, or None


def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Condition = None,
) -> Any:
    """Return the sum of the elements.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        dtype: The dtype of the result for numbers; a floating dtype is ignored for Values.
        keepdims: Whether to keep the reduced axes, with length 1.
        initial: A number to start with.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: sum(x * x, where=[True, False]))(numpy.array([1.0, 2.0])).tolist()
        [2.0, 0.0]
    """
    a = _converted(a, dtype)
    if _are_numbers(a, initial, where):
        return untyped.sum(a, axis=axis, keepdims=keepdims, **_given(initial=initial, where=where))
    total = numpy.sum(_included(a, where, 0), axis=axis, keepdims=keepdims)
    return total if initial is None else total + initial


def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Condition = None,
) -> Any:
    """Return the product of the elements.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        dtype: The dtype of the result for numbers; a floating dtype is ignored for Values.
        keepdims: Whether to keep the reduced axes, with length 1.
        initial: A number to start with.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    a = _converted(a, dtype)
    if _are_numbers(a, initial, where):
        return untyped.prod(a, axis=axis, keepdims=keepdims, **_given(initial=initial, where=where))
    product = numpy.prod(_included(a, where, 1), axis=axis, keepdims=keepdims)
    return product if initial is None else product * initial


def mean(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Condition = None) -> Any:
    """Return the mean of the elements.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        dtype: The dtype of the result for numbers; a floating dtype is ignored for Values.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced. The mean of no elements is nan.

    Example:
        >>> from gradwalk import grad
        >>> grad(mean)(numpy.array([1.0, 2.0])).tolist()
        [0.5, 0.5]
    """
    a = _converted(a, dtype)
    if _are_numbers(a, where):
        return untyped.mean(a, axis=axis, keepdims=keepdims, **_given(where=where))
    return _quotient(sum(a, axis, keepdims=keepdims, where=where), _count(a, axis, keepdims, where))


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Return the weighted mean of the elements.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        weights: Weights with the shape of `a`, or with the shape of the axis; None for equal weights.
        returned: Whether to return the sum of the weights, too.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        The average, or the average and the sum of the weights.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda w: average([1.0, 3.0], weights=w))(numpy.array([1.0, 1.0])).tolist()
        [-0.5, 0.5]
    """
    a = as_array(a)
    weights = numpy.ones(a.shape) if weights is None else as_array(weights)
    if not holds_values(a, weights):
        return untyped.average(a, axis, weights, returned, keepdims=keepdims)
    if weights.shape != a.shape:
        if not isinstance(axis, int) or weights.shape != (a.shape[axis],):
            raise ValueError(
                f"weights must have the shape {a.shape} of a, or the length of one axis, got {weights.shape} and "
                f"axis={axis}"
            )
        weights = numpy.moveaxis(numpy.broadcast_to(weights, (*numpy.delete(a.shape, axis), len(weights))), -1, axis)
    total = numpy.sum(weights, axis=axis, keepdims=keepdims)
    found = numpy.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def var(
    a: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False, where: Condition = None
) -> Any:
    """Return the variance of the elements.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        ddof: The sum of squares is divided by n - ddof.
        dtype: The dtype of the result for numbers; a floating dtype is ignored for Values.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.

    Example:
        >>> from gradwalk import grad
        >>> grad(var)(numpy.array([1.0, 2.0, 6.0])).round(6).tolist()
        [-1.333333, -0.666667, 2.0]
    """
    a = _converted(a, dtype)
    if _are_numbers(a, where):
        return untyped.var(a, axis=axis, ddof=ddof, keepdims=keepdims, **_given(where=where))
    deviations = a - mean(a, axis, keepdims=True, where=where)
    squares = deviations * deviations
    if has_complex(deviations):
        squares = real(deviations) ** 2 + imag(deviations) ** 2
    squares = sum(squares, axis, keepdims=keepdims, where=where)
    return _quotient(squares, elementwise.maximum(_count(a, axis, keepdims, where) - ddof, 0.0))


def std(
    a: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False, where: Condition = None
) -> Any:
    """Return the standard deviation of the elements. Its derivatives are infinite or nan if all elements are equal.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        ddof: The sum of squares is divided by n - ddof.
        dtype: The dtype of the result for numbers; a floating dtype is ignored for Values.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    return sqrt(var(a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where))


def ptp(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the range of the elements: the largest minus the smallest.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    return largest(a, axis, keepdims) - smallest(a, axis, keepdims)


def any(a: Any, axis: Axis = None, keepdims: bool = False, *, where: Condition = None) -> Any:
    """Return whether any element is not 0.

    Args:
        a: An array of Values, bools or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.

    Example:
        >>> from gradwalk import Value
        >>> bool(any([Value(0.0), Value(2.0)]))
        True
    """
    return not_equal(count_nonzero(_included(a, where, 0), axis, keepdims), 0)


def all(a: Any, axis: Axis = None, keepdims: bool = False, *, where: Condition = None) -> Any:
    """Return whether no element is 0.

    Args:
        a: An array of Values, bools or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    return equal(numpy.sum(equal(_included(a, where, 1), 0), axis=axis, keepdims=keepdims), 0)


def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Count the elements that are not 0.

    Args:
        a: An array of Values, bools or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An int, or an array of ints. In a recorded function, Values with derivative 0.
    """
    return as_ints(numpy.sum(not_equal(a, 0), axis=axis, keepdims=keepdims))


def cumulative_sum(x: Any, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """Return cumulative sums.

    Args:
        x: An array of Values or numbers.
        axis: The axis; None for the only axis of an array with one axis.
        include_initial: Whether the first sum is the sum of no elements, 0.

    Returns:
        An array.

    Raises:
        ValueError: `axis` is None, and the array does not have exactly one axis.
    """
    return _cumulative(numpy.cumsum, 0.0, x, axis, include_initial)


def cumulative_prod(x: Any, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """Return cumulative products.

    Args:
        x: An array of Values or numbers.
        axis: The axis; None for the only axis of an array with one axis.
        include_initial: Whether the first product is the product of no elements, 1.

    Returns:
        An array.

    Raises:
        ValueError: `axis` is None, and the array does not have exactly one axis.
    """
    return _cumulative(numpy.cumprod, 1.0, x, axis, include_initial)


def nansum(a: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Condition = None) -> Any:
    """Return the sum of the elements that are not nan. Elements that are nan get no gradient.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        initial: A number to start with.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    if _are_numbers(a, initial, where):
        return untyped.nansum(a, axis=axis, keepdims=keepdims, **_given(initial=initial, where=where))
    return sum(a, axis, keepdims=keepdims, initial=initial, where=_not_nan(a, where))


def nanprod(a: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Condition = None) -> Any:
    """Return the product of the elements that are not nan. Elements that are nan get no gradient.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        initial: A number to start with.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    if _are_numbers(a, initial, where):
        return untyped.nanprod(a, axis=axis, keepdims=keepdims, **_given(initial=initial, where=where))
    return prod(a, axis, keepdims=keepdims, initial=initial, where=_not_nan(a, where))


def nanmean(a: Any, axis: Axis = None, *, keepdims: bool = False, where: Condition = None) -> Any:
    """Return the mean of the elements that are not nan. The mean of no elements is nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    if _are_numbers(a, where):
        return untyped.nanmean(a, axis=axis, keepdims=keepdims, **_given(where=where))
    return mean(a, axis, keepdims=keepdims, where=_not_nan(a, where))


def nanvar(a: Any, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False, where: Condition = None) -> Any:
    """Return the variance of the elements that are not nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        ddof: The sum of squares is divided by n - ddof.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    if _are_numbers(a, where):
        return untyped.nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims, **_given(where=where))
    included = _not_nan(a, where)
    is_defined = elementwise.greater(_count(as_array(a), axis, keepdims, included), ddof)
    return elementwise.where(is_defined, var(a, axis, ddof=ddof, keepdims=keepdims, where=included), numpy.nan)


def nanstd(a: Any, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False, where: Condition = None) -> Any:
    """Return the standard deviation of the elements that are not nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        ddof: The sum of squares is divided by n - ddof.
        keepdims: Whether to keep the reduced axes, with length 1.
        where: A condition for the elements to include; None for all.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    if _are_numbers(a, where):
        return untyped.nanstd(a, axis=axis, ddof=ddof, keepdims=keepdims, **_given(where=where))
    return sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims, where=where))


def nancumsum(a: Any, axis: int | None = None) -> Any:
    """Return cumulative sums in which nan counts as 0.

    Args:
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.

    Returns:
        An array.
    """
    if _are_numbers(a):
        return numpy.nancumsum(a, axis=axis)
    return numpy.cumsum(_included(a, _not_nan(a, None), 0), axis=axis)


def nancumprod(a: Any, axis: int | None = None) -> Any:
    """Return cumulative products in which nan counts as 1.

    Args:
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.

    Returns:
        An array.
    """
    if _are_numbers(a):
        return numpy.nancumprod(a, axis=axis)
    return numpy.cumprod(_included(a, _not_nan(a, None), 1), axis=axis)


def nanmax(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the largest element that is not nan, or nan if all elements are nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    return _extreme_of_rest(largest, -numpy.inf, a, axis, keepdims)


def nanmin(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the smallest element that is not nan, or nan if all elements are nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, or a single element if all axes are reduced.
    """
    return _extreme_of_rest(smallest, numpy.inf, a, axis, keepdims)


def nanargmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first largest element that is not nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.
        keepdims: Whether to keep the reduced axis, with length 1.

    Returns:
        An int, or an array of ints. In a recorded function, Values with derivative 0; -1 if all elements are nan.

    Raises:
        ValueError: All elements are nan, and their numbers are known.
    """
    return _index_of_rest(numpy.nanargmax, argmax, -numpy.inf, a, axis, keepdims)


def nanargmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first smallest element that is not nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis; None for the flattened array.
        keepdims: Whether to keep the reduced axis, with length 1.

    Returns:
        An int, or an array of ints. In a recorded function, Values with derivative 0; -1 if all elements are nan.

    Raises:
        ValueError: All elements are nan, and their numbers are known.
    """
    return _index_of_rest(numpy.nanargmin, argmin, numpy.inf, a, axis, keepdims)


def _cumulative(function: Callable[..., Any], first: float, x: Any, axis: int | None, include_initial: bool) -> Any:
    x = as_array(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis must be given for an array with {x.ndim} axes")
    axis = 0 if axis is None else axis
    found = function(x, axis=axis)
    if not include_initial:
        return found
    shape = [1 if i == axis % x.ndim else length for i, length in enumerate(x.shape)]
    return numpy.concatenate([numpy.full(shape, first, found.dtype), found], axis)


def _converted(a: Any, dtype: Any) -> Any:
    return as_array(a) if dtype is None else astype(a, dtype)


def _are_numbers(*operands: Any) -> bool:
    """Return whether no operand contains Values."""
    return not holds_values(*[as_array(x) for x in operands if x is not None])


def _given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: x for name, x in arguments.items() if x is not None}


def _included(a: Any, condition: Condition, otherwise: float) -> Any:
    """Return the array with the elements that are not included replaced."""
    a = as_array(a)
    return a if condition is None else where(condition, a, otherwise)


def _count(a: Any, axis: Axis, keepdims: bool, condition: Condition) -> Any:
    """Return the number of elements that are included."""
    included = numpy.ones(a.shape) if condition is None else numpy.broadcast_to(not_equal(condition, 0), a.shape)
    return numpy.sum(included, axis=axis, keepdims=keepdims)


def _quotient(x: Any, y: Any) -> Any:
    """Return the quotient, which is nan if both operands are 0."""
    return divide(x, y) if holds_values(*map(as_array, (x, y))) else numpy.divide(x, y)


def _not_nan(a: Any, condition: Condition) -> Any:
    included = logical_not(isnan(a))
    return included if condition is None else logical_and(included, condition)


def _extreme_of_rest(extreme: Callable[..., Any], otherwise: float, a: Any, axis: Axis, keepdims: bool) -> Any:
    """Return the largest or smallest element that is not nan, or nan if all are."""
    a = as_array(a)
    if not holds_values(a):
        return (numpy.nanmax if otherwise < 0.0 else numpy.nanmin)(a, axis=axis, keepdims=keepdims)
    is_number = logical_not(isnan(a))
    found = extreme(where(is_number, a, otherwise), axis, keepdims)
    return where(any(is_number, axis, keepdims), found, numpy.nan)


def _index_of_rest(
    of_numbers: Callable[..., Any], index: Callable[..., Any], otherwise: float, a: Any, axis: Any, keepdims: bool
) -> Any:
    a = as_array(a)
    if are_known(a):
        return of_numbers(numbers(a), axis=axis, keepdims=keepdims)
    is_number = logical_not(isnan(a))
    found = index(where(is_number, a, otherwise), axis, keepdims=keepdims)
    return where(any(is_number, axis, keepdims), found, -1)
