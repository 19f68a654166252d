"""Division and real functions that never raise: 1/0 is inf, log(-1) is nan, exp(1000) is inf. For uncompiled runs.

Python's `math` calls the C library but raises an error for many results that IEEE 754 defines as inf or nan. In these
cases, the functions of this module return NumPy's result. Compiled modules call the C library's functions through
ieee.pxd. The C functions never raise.
"""

import math
import operator
from collections.abc import Callable

import numpy


def _quiet(function: Callable[..., float], ufunc: Callable[..., float]) -> Callable[..., float]:
    """Wrap `function` so that it returns the result of `ufunc` instead of raising an error."""

    def quiet(*operands: float) -> float:
        try:
            return function(*operands)
        except (ValueError, OverflowError, ZeroDivisionError):
            with numpy.errstate(all="ignore"):
                return float(ufunc(*operands))

    return quiet


def _as_float(ufunc: numpy.ufunc) -> Callable[[float], float]:
    """Wrap a ufunc so that it returns a float."""
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
# abs of a complex number calls the C library's hypot. math.hypot uses another algorithm, whose results differ in the
# last bits.
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
acosh = _quiet(lambda x: math.nan if x < 1.0 else math.acosh(x), numpy.arccosh)  # musl: acosh(x < 1) may not be nan
atanh = _quiet(math.atanh, numpy.arctanh)
cbrt = math.cbrt
exp2 = _quiet(math.exp2, numpy.exp2)
floor = _as_float(numpy.floor)  # math.floor returns an int, which cannot be inf, nan or -0.0
ceil = _as_float(numpy.ceil)
trunc = _as_float(numpy.trunc)
rint = _as_float(numpy.rint)


def pow(x: float, y: float) -> float:  # noqa: A001  the C library's name
    """Return x to the power of y; nan if x is negative and y is not an integer.

    Squares are computed as products: the C library's pow is much slower and may differ in the last bit.
    """
    return x * x if y == 2.0 else _power(x, y)


def sign(x: float) -> float:
    """Return the sign of a number: -1.0 or 1.0, or x itself if x is zero or nan."""
    return math.copysign(1.0, x) if x != 0.0 and x == x else x
