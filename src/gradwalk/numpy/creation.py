"""Creation of arrays from Values: conversion with a dtype, joining, and ranges whose end points are Values."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import holds_values, untyped
from gradwalk.value.arrays import WholeArray, as_array, counted_axes, of_recording
from gradwalk.value.value import Value


def array(object: Any, dtype: Any = None, copy: bool | None = True, ndmin: int = 0) -> Any:
    """Create an array from numbers, Values, arrays or nested lists of these.

    Args:
        object: An array of Values or numbers, or nested lists.
        dtype: The dtype of an array of numbers. An array of Values keeps the dtype object; `dtype` must then be a
            floating dtype, and Values keep float64.
        copy: Whether to copy an array.
        ndmin: The minimum number of axes.

    Returns:
        An array.

    Raises:
        TypeError: `dtype` is not a floating dtype, and the array contains Values.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: (array([x, 2.0 * x], dtype=float) ** 2).sum())(1.0)
        10.0
    """
    given = _stacked(object)
    if isinstance(given, WholeArray):
        given = untyped.reshape(given, (1,) * (ndmin - given.ndim) + given.shape)
        found = untyped.copy(given) if copy else given
    else:
        found = numpy.array(object, ndmin=ndmin) if copy else numpy.array(as_array(object), copy=False, ndmin=ndmin)
        found = of_recording(found)
    return found if dtype is None else astype(found, dtype)


def asarray(a: Any, dtype: Any = None) -> Any:
    """Convert to an array. Arrays are not copied, unless the dtype changes.

    Args:
        a: An array of Values or numbers, or nested lists.
        dtype: The dtype of an array of numbers. An array of Values keeps the dtype object; `dtype` must then be a
            floating dtype, and Values keep float64.

    Returns:
        An array.

    Raises:
        TypeError: `dtype` is not a floating dtype, and the array contains Values.
    """
    found = as_array(_stacked(a))
    return found if dtype is None or found.dtype == dtype else astype(found, dtype)


def _stacked(a: Any) -> Any:
    """Return a list of arrays of the same shape as one array, if one of them is a `WholeArray`."""
    is_list = isinstance(a, (list, tuple)) and any(isinstance(x, WholeArray) for x in a)
    return numpy.stack(a) if is_list and len({numpy.shape(x) for x in a}) == 1 else a


def astype(x: Any, dtype: Any) -> Any:
    """Convert an array to a dtype. An array of Values keeps the dtype object and computes in float64.

    Args:
        x: An array of Values or numbers.
        dtype: A dtype. For an array of Values, it must be a floating dtype, or object.

    Returns:
        An array.

    Raises:
        TypeError: `dtype` is not a floating dtype, and the array contains Values.
    """
    x = as_array(x)
    if not holds_values(x):
        return x.astype(dtype)
    if not numpy.issubdtype(dtype, numpy.floating) and numpy.dtype(dtype) != numpy.dtype(object):
        raise TypeError(
            f"dtype of an array of Values must be a floating dtype, got {numpy.dtype(dtype)}. For a condition, use "
            "not_equal(x, 0); for whole numbers, use floor or round; for numbers without derivatives, v.data"
        )
    return x


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return an array of zeros with the shape of another array. For an array of Values, the zeros are float64.

    To assign Values to elements, use `at`, or create the array with `numpy.zeros(shape, dtype=object)`.

    Args:
        a: An array of Values or numbers.
        dtype: The dtype; None for the dtype of `a`.
        shape: The shape; None for the shape of `a`.

    Returns:
        An array of numbers.
    """
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return an array of ones with the shape of another array. For an array of Values, the ones are float64.

    Args:
        a: An array of Values or numbers.
        dtype: The dtype; None for the dtype of `a`.
        shape: The shape; None for the shape of `a`.

    Returns:
        An array of numbers.
    """
    return full_like(a, 1, dtype, shape=shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return an array with the shape of another array, filled with a value.

    Args:
        a: An array of Values or numbers.
        fill_value: A number or a Value, or an array that broadcasts to the shape.
        dtype: The dtype; None for the dtype of `a`, or float64 if `a` contains Values.
        shape: The shape; None for the shape of `a`.

    Returns:
        An array of numbers, or of Values if `fill_value` contains Values.
    """
    a = as_array(a)
    if holds_values(as_array(fill_value)):
        return numpy.full(a.shape if shape is None else shape, fill_value, object)
    chosen = numpy.float64 if dtype is None and holds_values(a) else dtype
    return numpy.full_like(a, fill_value, chosen, shape=shape)


empty_like = zeros_like


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Return evenly spaced numbers over an interval.

    Args:
        start: The first number, or an array of first numbers.
        stop: The end of the interval, or an array of ends.
        num: The number of samples.
        endpoint: Whether `stop` is the last sample.
        retstep: Whether to return the step, too.
        dtype: The dtype of an array of numbers; ignored for Values.
        axis: The axis of the samples in the result.

    Returns:
        The array, or the array and the step.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda stop: linspace(0.0, stop, 3).sum())(4.0)
        1.5
    """
    start, stop = as_array(start), as_array(stop)
    if not holds_values(start, stop):
        return untyped.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    divisions = num - 1 if endpoint else num
    parts = numpy.arange(num) / max(divisions, 1)
    shape = (num, *[1] * max(start.ndim, stop.ndim))
    parts = parts.reshape(shape)
    found = start * (1.0 - parts) + stop * parts
    [axis] = counted_axes((axis,), found.ndim)
    found = numpy.moveaxis(found, 0, axis)
    return (found, (stop - start) / divisions if divisions > 0 else numpy.nan) if retstep else found


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Return numbers whose logarithms to a base are evenly spaced.

    Args:
        start: The logarithm of the first number.
        stop: The logarithm of the end of the interval.
        num: The number of samples.
        endpoint: Whether the end of the interval is the last sample.
        base: The base.
        dtype: The dtype of an array of numbers; ignored for Values.
        axis: The axis of the samples in the result.

    Returns:
        An array.
    """
    if not holds_values(*map(as_array, (start, stop, base))):
        return numpy.logspace(start, stop, num, endpoint, base, dtype, axis)
    return math.pow(base, linspace(start, stop, num, endpoint, axis=axis))


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Return numbers whose logarithms are evenly spaced. For Values, `start` and `stop` must have the same sign.

    Args:
        start: The first number.
        stop: The end of the interval.
        num: The number of samples.
        endpoint: Whether the end of the interval is the last sample.
        dtype: The dtype of an array of numbers; ignored for Values.
        axis: The axis of the samples in the result.

    Returns:
        An array.
    """
    start, stop = as_array(start), as_array(stop)
    if not holds_values(start, stop):
        return numpy.geomspace(start, stop, num, endpoint, dtype, axis)
    first, last = [math.log(math.abs(x)) for x in (start, stop)]
    return math.sign(start) * math.exp(linspace(first, last, num, endpoint, axis=axis))


def unstack(x: Any, *, axis: int = 0) -> tuple[Any, ...]:
    """Split an array into slices along an axis.

    Args:
        x: An array of Values or numbers.
        axis: The axis.

    Returns:
        A tuple of arrays with one axis less.
    """
    return tuple(numpy.moveaxis(as_array(x), axis, 0))


def isscalar(element: Any) -> bool:
    """Return whether an object is a number or a Value.

    Args:
        element: Any object.

    Returns:
        A bool.
    """
    return isinstance(element, Value) or numpy.isscalar(element)
