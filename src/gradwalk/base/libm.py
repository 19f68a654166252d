"""Division and functions of real numbers that never raise: 1/0 is inf, log(-1) is nan, exp(1000) is inf.

This file serves uncompiled runs. Compiled modules use `ieee.pxd` beside it instead, where the same names are the C
library's functions, which behave this way by themselves. Python's `math` computes with the same C library, but raises
in exactly the cases to which IEEE 754 gives a value. In those cases NumPy computes it.
"""

import math
import operator
from collections.abc import Callable

import numpy


def _quiet(function: Callable[..., float], ufunc: Callable[..., float]) -> Callable[..., float]:
    """Return `function` with NumPy's result, or that of another function, wherever it raises."""

    def quiet(*operands: float) -> float:
        try:
            return function(*operands)
        except (ValueError, OverflowError, ZeroDivisionError):
            with numpy.errstate(all="ignore"):
                return float(ufunc(*operands))

    return quiet


def _as_float(ufunc: numpy.ufunc) -> Callable[[float], float]:
    """Return a ufunc for floats."""
    return lambda x: float(ufunc(x))


div = _quiet(lambda x, y: x / y, numpy.divide)
_power = _quiet(math.pow, numpy.power)
exp = _quiet(math.exp, numpy.exp)
log = _quiet(math.log, numpy.log)
log2 = _quiet(math.log2, numpy.log2)
log10 = _quiet(math.log10, numpy.log10)
log1p = _quiet(math.log1p, numpy.log1p)
expm1 = _quiet(math.expm1, numpy.expm1)
sqrt = _quiet(math.sqrt, numpy.sqrt)
sin = _quiet(math.sin, numpy.sin)
cos = _quiet(math.cos, numpy.cos)
tan = _quiet(math.tan, numpy.tan)
asin = _quiet(math.asin, numpy.arcsin)
acos = _quiet(math.acos, numpy.arccos)
sinh = _quiet(math.sinh, numpy.sinh)
cosh = _quiet(math.cosh, numpy.cosh)
# The abs of a complex number is the C library's hypot. Python's math.hypot is another algorithm: its last bits differ.
hypot = _quiet(lambda x, y: abs(complex(x, y)), numpy.hypot)
fmod = _quiet(math.fmod, numpy.fmod)
remainder = _quiet(math.remainder, lambda *_: math.nan)
mod = _quiet(operator.mod, numpy.remainder)
floor_divide = _quiet(operator.floordiv, numpy.floor_divide)
copysign = math.copysign
atan = math.atan
atan2 = math.atan2
tanh = math.tanh
erf = math.erf
erfc = math.erfc
fabs = math.fabs
asinh = math.asinh
acosh = _quiet(lambda x: math.nan if x < 1.0 else math.acosh(x), numpy.arccosh)  # musl's has numbers below 1
atanh = _quiet(math.atanh, numpy.arctanh)
cbrt = math.cbrt
exp2 = _quiet(math.exp2, numpy.exp2)
floor = _as_float(numpy.floor)  # Python's return integers, which have no inf, nan and -0.0
ceil = _as_float(numpy.ceil)
trunc = _as_float(numpy.trunc)
rint = _as_float(numpy.rint)


def pow(x: float, y: float) -> float:  # noqa: A001  the C library's name
    """Return x to the power of y.

    Squares are computed as products: the C library's may differ in the last bit, and take far longer.

    Args:
        x: The base.
        y: The exponent.

    Returns:
        The power; nan for a negative base and an exponent that is not an integer.
    """
    return x * x if y == 2.0 else _power(x, y)


def sign(x: float) -> float:
    """Return the sign of a number.

    Args:
        x: Any float.

    Returns:
        -1.0 or 1.0; zeros and nan are returned as they are.
    """
    return math.copysign(1.0, x) if x != 0.0 and x == x else x
