"""Functions and operators of plain complex numbers that return IEEE results where Python raises an error.

If Python's `cmath` or an operator raises an error for a result that is infinite or undefined, NumPy's result is
returned, as the functions of `gradwalk.math` do for real numbers.
"""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable
from typing import Any

import numpy

Function = Callable[..., Any]


def _quiet(function: Function, ufunc: Function) -> Function:
    """Wrap a function so that it returns the result of a NumPy function instead of raising an error."""

    def quiet(*operands: complex) -> complex:
        try:
            return complex(function(*operands))
        except (ValueError, OverflowError, ZeroDivisionError):
            with numpy.errstate(all="ignore"):
                return complex(ufunc(*[numpy.complex128(operand) for operand in operands]))

    return quiet


FUNCTIONS: dict[str, Function] = {
    name: _quiet(getattr(cmath, name), getattr(numpy, ufunc))
    for name, ufunc in {
        "exp": "exp",
        "log": "log",
        "log10": "log10",
        "sqrt": "sqrt",
        "sin": "sin",
        "cos": "cos",
        "tan": "tan",
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "sinh": "sinh",
        "cosh": "cosh",
        "tanh": "tanh",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
    }.items()
}

OPERATORS: dict[str, Function] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _quiet(operator.truediv, numpy.divide),
    "pow": _quiet(operator.pow, numpy.power),
}


def rect(r: float, phi: float) -> complex:
    """Return the complex number with the absolute value `r` and the angle `phi`."""
    try:
        return cmath.rect(r, phi)
    except ValueError:  # an infinite angle
        return complex(cmath.nan, cmath.nan)
