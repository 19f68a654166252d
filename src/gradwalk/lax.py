"""Names of `jax.lax`, for programs written for JAX: control flow, and elementwise functions.

The control flow is `gradwalk.loops`, and most elementwise functions are functions of `gradwalk.math`, which have
Python's names. Comparisons return 1.0 and 0.0. For functions of arrays, use `gradwalk.numpy` and NumPy.
"""

from __future__ import annotations

from typing import Any

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
from gradwalk.transforms.custom_derivatives import stop_gradient as stop_gradient

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


def __getattr__(name: str) -> Any:
    """Raise `AttributeError`, with a replacement for a name of `jax.lax`."""
    raise missing(__name__, name, LAX)
