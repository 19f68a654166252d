"""Type checks of operands, which are Values or real numbers, and conversion of numbers to floats."""

from __future__ import annotations

from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.value.node import ValueNode

if not TYPE_CHECKING and cython.compiled:
    import cython

_REAL_TYPES = (float, int, numpy.floating, numpy.integer, numpy.bool_, Rational)  # a Fraction is a Rational
COMPLEX_TYPES = (complex, numpy.complexfloating)
_COMMON_TYPES = frozenset([float, int, bool, numpy.bool_, *(numpy.dtype(code).type for code in "bBhHiIlLqQefdg")])


def is_number(x: object) -> bool:
    """Return whether x is a real number: int, float, bool, Fraction or a NumPy scalar."""
    return is_real(x)


@cython.cfunc
def is_real(x: object) -> cython.bint:
    """Return whether x is a real number. `numpy.timedelta64` is a subclass of `numpy.integer`, but is not accepted."""
    return type(x) in _COMMON_TYPES or (isinstance(x, _REAL_TYPES) and not isinstance(x, numpy.timedelta64))


@cython.cfunc
def _is_operand(x: object) -> cython.bint:
    """Return whether x is a Value or a real number."""
    return isinstance(x, (ValueNode, float)) or is_real(x)


@cython.cfunc
def are_operands(operands: tuple) -> cython.bint:
    """Return whether all operands are Values or real numbers."""
    for operand in operands:
        if not _is_operand(operand):
            return False
    return True


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def real(x: Any, what: str) -> cython.double:
    """Convert x to a float; raise `TypeError` if x is not a real number. `what` names x in the message."""
    if type(x) is float:  # the fast path, because this runs for each number of a hand-made node
        return cython.cast(cython.double, x)
    if isinstance(x, float) or is_real(x):
        return to_double(x)
    hint = "; use its .data" if isinstance(x, ValueNode) else ""
    raise TypeError(f"{what} must be a real number (int, float, bool or NumPy scalar), got {type(x).__name__}{hint}")


def as_float(x: Any) -> float:
    """Convert a real number to a float; raise `OverflowError` for an integer that is too large."""
    return to_double(x)


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def to_double(x: Any) -> cython.double:
    """Convert a real number to a C double; raise `OverflowError` for an integer that is too large."""
    try:
        return float(x)
    except OverflowError:
        if not isinstance(x, int):
            raise
        raise OverflowError(
            f"an integer of {x.bit_length()} bits is too large for a float (at most 1024 bits)"
        ) from None


@cython.cfunc
@cython.exceptval(-1)
def equals(primal: cython.double, number: Any) -> cython.bint:
    """Return whether the number of a Value equals a plain number.

    Python integers are compared exactly. NumPy numbers are first converted to floats.
    """
    return bool(primal == number) if isinstance(number, (float, int)) else primal == to_double(number)


def as_derivatives(given: Any) -> Any:
    """Convert an array of derivatives to a list, and return a tuple or list unchanged.

    Raises `TypeError` for any other type.
    """
    derivatives = given.tolist() if isinstance(given, numpy.ndarray) else given
    if not isinstance(derivatives, (tuple, list)):
        raise TypeError(
            "the third argument of Value must be the symbol of its operation, or a tuple, list or array with one "
            f"derivative for each child, in order, got {type(given).__name__}"
        )
    return derivatives
