"""Names of `jax.lax`, for programs written for JAX: control flow, and elementwise functions.

The control flow is `gradwalk.loops`, and most elementwise functions are functions of `gradwalk.math`, which have
Python's names. Comparisons return 1.0 and 0.0. `dynamic_slice` and its variants take slices of arrays. For other
functions of arrays, use `gradwalk.numpy` and NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk import math
from gradwalk.base.jax_names import LAX, missing
from gradwalk.functions import rows
from gradwalk.loops import associative_scan as associative_scan
from gradwalk.loops import cond as cond
from gradwalk.loops import fori_loop as fori_loop
from gradwalk.loops import map as map
from gradwalk.loops import scan as scan
from gradwalk.loops import switch as switch
from gradwalk.loops import while_loop as while_loop
from gradwalk.math import acos as acos
from gradwalk.math import acosh as acosh
from gradwalk.math import asin as asin
from gradwalk.math import asinh as asinh
from gradwalk.math import atan as atan
from gradwalk.math import atan2 as atan2
from gradwalk.math import atanh as atanh
from gradwalk.math import cbrt as cbrt
from gradwalk.math import ceil as ceil
from gradwalk.math import cos as cos
from gradwalk.math import cosh as cosh
from gradwalk.math import digamma as digamma
from gradwalk.math import equal as eq
from gradwalk.math import erf as erf
from gradwalk.math import erfc as erfc
from gradwalk.math import exp as exp
from gradwalk.math import exp2 as exp2
from gradwalk.math import expm1 as expm1
from gradwalk.math import fabs as abs
from gradwalk.math import floor as floor
from gradwalk.math import fmod as rem
from gradwalk.math import isfinite as is_finite
from gradwalk.math import less as lt
from gradwalk.math import less_equal as le
from gradwalk.math import lgamma as lgamma
from gradwalk.math import log as log
from gradwalk.math import log1p as log1p
from gradwalk.math import maximum as max
from gradwalk.math import minimum as min
from gradwalk.math import sigmoid as logistic
from gradwalk.math import sign as sign
from gradwalk.math import sin as sin
from gradwalk.math import sinh as sinh
from gradwalk.math import sqrt as sqrt
from gradwalk.math import tan as tan
from gradwalk.math import tanh as tanh
from gradwalk.math import where as select
from gradwalk.numpy.selection import take
from gradwalk.transforms.custom_derivatives import stop_gradient as stop_gradient
from gradwalk.value.arrays import as_array

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "associative_scan",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clamp",
    "cond",
    "cos",
    "cosh",
    "digamma",
    "div",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "eq",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fori_loop",
    "ge",
    "gt",
    "integer_pow",
    "is_finite",
    "le",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "lt",
    "map",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "pow",
    "reciprocal",
    "rem",
    "rsqrt",
    "scan",
    "select",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "sub",
    "switch",
    "tan",
    "tanh",
    "while_loop",
]


def add(x: Any, y: Any) -> Any:
    """Return x + y.

    Example:
        >>> add(2.0, 3.0)
        5.0
    """
    return rows.add(x, y)


def sub(x: Any, y: Any) -> Any:
    """Return x - y.

    Example:
        >>> sub(2.0, 3.0)
        -1.0
    """
    return rows.subtract(x, y)


def mul(x: Any, y: Any) -> Any:
    """Return x · y.

    Example:
        >>> mul(2.0, 3.0)
        6.0
    """
    return rows.multiply(x, y)


def div(x: Any, y: Any) -> Any:
    """Return x / y; inf or nan if y is 0.

    Example:
        >>> div(3.0, 2.0), div(1.0, 0.0)
        (1.5, inf)
    """
    return rows.divide(x, y)


def neg(x: Any) -> Any:
    """Return -x.

    Example:
        >>> neg(2.0)
        -2.0
    """
    return rows.negative(x)


def pow(x: Any, y: Any) -> Any:
    """Return x raised to the power y.

    Example:
        >>> pow(2.0, 3.0)
        8.0
    """
    return math.pow(x, y)


def integer_pow(x: Any, y: Any) -> Any:
    """Return x raised to the power y, a whole number.

    Example:
        >>> integer_pow(-2.0, 3)
        -8.0
    """
    return math.pow(x, y)


def square(x: Any) -> Any:
    """Return x².

    Example:
        >>> square(3.0)
        9.0
    """
    return rows.multiply(x, x)


def reciprocal(x: Any) -> Any:
    """Return 1 / x.

    Example:
        >>> reciprocal(4.0)
        0.25
    """
    return rows.divide(1.0, x)


def rsqrt(x: Any) -> Any:
    """Return 1 / √x.

    Example:
        >>> rsqrt(4.0)
        0.5
    """
    return rows.divide(1.0, math.sqrt(x))


def gt(x: Any, y: Any) -> Any:
    """Return 1.0 if x > y, else 0.0.

    Example:
        >>> gt(2.0, 1.0)
        1.0
    """
    return math.less(y, x)


def ge(x: Any, y: Any) -> Any:
    """Return 1.0 if x >= y, else 0.0.

    Example:
        >>> ge(2.0, 2.0)
        1.0
    """
    return math.less_equal(y, x)


def ne(x: Any, y: Any) -> Any:
    """Return 1.0 if x and y differ, else 0.0.

    Example:
        >>> ne(2.0, 1.0)
        1.0
    """
    return rows.subtract(1.0, math.equal(x, y))


def clamp(min: Any, x: Any, max: Any) -> Any:
    """Return x limited to the range from `min` to `max`.

    Example:
        >>> clamp(0.0, 1.5, 1.0)
        1.0
    """
    return math.clip(x, min, max)


def dynamic_slice(operand: Any, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Any:
    """Return a slice of an array whose start may be data: `operand[i : i + m, j : j + n]` for starts (i, j).

    Args:
        operand: An array of Values or numbers.
        start_indices: The start along each axis: whole numbers, or Values. Negative starts count from the end. Like in
            JAX, a start that is out of range is moved, so that the slice is in range.
        slice_sizes: The size along each axis.

    Returns:
        An array of shape `slice_sizes`.

    Raises:
        ValueError: A size is out of range, or there is not one start and one size for each axis.

    Example:
        >>> dynamic_slice(numpy.arange(12.0).reshape(3, 4), (1, 2), (2, 2)).tolist()
        [[6.0, 7.0], [10.0, 11.0]]
    """
    found = as_array(operand)
    if not len(start_indices) == len(slice_sizes) == found.ndim:
        raise ValueError(
            f"start_indices and slice_sizes must have one element per axis of the operand, which is {found.ndim}, got "
            f"{len(start_indices)} and {len(slice_sizes)}"
        )
    for axis, (start, size) in enumerate(zip(start_indices, slice_sizes, strict=True)):
        found = dynamic_slice_in_dim(found, start, size, axis)
    return found


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """Return a slice along one axis whose start may be data: see `dynamic_slice`.

    Args:
        operand: An array of Values or numbers.
        start_index: The start, a whole number or a Value.
        slice_size: The size of the slice.
        axis: The axis.

    Returns:
        An array with the shape of `operand`, except that axis `axis` has the length `slice_size`.

    Raises:
        ValueError: The size is out of range.

    Example:
        >>> from gradwalk import grad
        >>> x = numpy.array([1.0, 2.0, 3.0, 4.0])
        >>> grad(lambda x: dynamic_slice_in_dim(x * x, 1, 2).sum())(x).tolist()
        [0.0, 4.0, 6.0, 0.0]
    """
    operand = as_array(operand)
    length = operand.shape[axis]
    if not 0 <= slice_size <= length:
        raise ValueError(f"slice_size must be from 0 to {length}, the length of axis {axis}, got {slice_size}")
    start = math.where(math.less(start_index, 0.0), rows.add(start_index, length), start_index)
    return take(operand, math.clip(start, 0.0, length - slice_size) + numpy.arange(slice_size), axis)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the elements at one index along an axis. The index may be data: see `dynamic_slice`.

    Args:
        operand: An array of Values or numbers.
        index: The index, a whole number or a Value.
        axis: The axis.
        keepdims: Whether to keep the axis, with length 1.

    Returns:
        An array.

    Example:
        >>> dynamic_index_in_dim(numpy.array([[1.0, 2.0], [3.0, 4.0]]), 1, keepdims=False).tolist()
        [3.0, 4.0]
    """
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else numpy.squeeze(found, axis)


def __getattr__(name: str) -> Any:
    """Raise `AttributeError`, with a replacement for a name of `jax.lax`."""
    raise missing(__name__, name, LAX)
