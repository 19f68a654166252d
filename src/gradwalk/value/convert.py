"""What operations take: Values and real numbers, and how both are turned into floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.value.node import ValueNode

if not TYPE_CHECKING and cython.compiled:
    import cython

_REAL_TYPES = (float, int, numpy.floating, numpy.integer, numpy.bool_)
_COMMON_TYPES = frozenset([float, int, bool, numpy.bool_, *(numpy.dtype(code).type for code in "bBhHiIlLqQefdg")])


def is_number(x: object) -> bool:
    """Return whether x is a real number: int, float, bool or a NumPy scalar.

    Args:
        x: Any object.

    Returns:
        True or False.
    """
    return is_real(x)


@cython.cfunc
def is_real(x: object) -> cython.bint:
    """Whether x is a real number. NumPy counts durations among its integers."""
    return type(x) in _COMMON_TYPES or (isinstance(x, _REAL_TYPES) and not isinstance(x, numpy.timedelta64))


@cython.cfunc
def _is_operand(x: object) -> cython.bint:
    """Whether x is a Value or a real number."""
    return isinstance(x, (ValueNode, float)) or is_real(x)


@cython.cfunc
def are_operands(operands: tuple) -> cython.bint:
    """Whether all of them are Values or real numbers."""
    for operand in operands:
        if not _is_operand(operand):
            return False
    return True


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def real(x: Any, what: str) -> cython.double:
    """x as a float. Raises `TypeError` where it is not a real number, naming `what` it was given for."""
    if type(x) is float:  # by the shortest way: nodes made by hand have many
        return cython.cast(cython.double, x)
    if isinstance(x, float) or is_real(x):
        return to_double(x)
    hint = "; take its number with .data" if isinstance(x, ValueNode) else ""
    raise TypeError(f"{what} takes a real number (int, float, bool or NumPy scalar), not {type(x).__name__}{hint}")


def as_float(x: Any) -> float:
    """Return a real number as a float. Raises `OverflowError` for an integer that is too large.

    Args:
        x: A real number.

    Returns:
        The float.
    """
    return to_double(x)


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def to_double(x: Any) -> cython.double:
    """A real number in C. Raises `OverflowError` for an integer that is too large."""
    try:
        return float(x)
    except OverflowError:
        raise OverflowError(
            f"an integer of {x.bit_length()} bits is too large for a float (at most 1024 bits)"
        ) from None


@cython.cfunc
@cython.exceptval(-1)
def equals(primal: cython.double, number: Any) -> cython.bint:
    """Whether a Value's number equals a plain one. Python compares integers of any size; NumPy's numbers are floats."""
    return bool(primal == number) if isinstance(number, (float, int)) else primal == to_double(number)


def as_derivatives(given: Any) -> Any:
    """Return the derivatives by the children of a hand-made node as a tuple or list.

    Args:
        given: A tuple, list or array.

    Returns:
        A tuple or list.

    Raises:
        TypeError: If something else was given.
    """
    derivatives = given.tolist() if isinstance(given, numpy.ndarray) else given
    if not isinstance(derivatives, (tuple, list)):
        raise TypeError(
            "behind its children a Value takes the symbol of its operation, or a derivative for each child in a tuple, "
            f"a list or an array, in their order; not {type(given).__name__}"
        )
    return derivatives
