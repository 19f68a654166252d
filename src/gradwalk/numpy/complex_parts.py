"""Parts of complex numbers in arrays, and predicates of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk import cmath, math
from gradwalk.complex_numbers.complex_array import as_complex_array, has_complex
from gradwalk.numpy.arrays import holds_values
from gradwalk.value.arrays import as_array


def real(x: Any) -> Any:
    """Return the real parts.

    Args:
        x: An array of Values, complex numbers or numbers.

    Returns:
        An array, or a number if `x` is a number.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: real(1j * x * x).sum())(numpy.array([3.0])).tolist()
        [0.0]
    """
    array = as_array(x)
    return as_complex_array(array).real[()] if has_complex(array) else numpy.real(x)


def imag(x: Any) -> Any:
    """Return the imaginary parts.

    Args:
        x: An array of Values, complex numbers or numbers.

    Returns:
        An array, or a number if `x` is a number.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: imag(1j * x * x).sum())(numpy.array([3.0])).tolist()
        [6.0]
    """
    array = as_array(x)
    return as_complex_array(array).imag[()] if has_complex(array) else numpy.imag(x)


def angle(z: Any, deg: bool = False) -> Any:
    """Return the angles of complex numbers in the plane, between -pi and pi.

    Args:
        z: An array of Values, complex numbers or numbers.
        deg: Whether to return degrees instead of radians.

    Returns:
        An array, or a number if `z` is a number.

    Example:
        >>> float(angle(1j, deg=True))
        90.0
    """
    array = as_array(z)
    if not holds_values(array):
        return numpy.angle(z, deg)
    angles = cmath.phase(array[()])
    return math.degrees(angles) if deg else angles


def iscomplex(x: Any) -> Any:
    """Return whether each element has an imaginary part other than 0.

    Args:
        x: An array of Values, complex numbers or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    array = as_array(x)
    return imag(array) != 0.0 if has_complex(array) else numpy.iscomplex(x)


def isreal(x: Any) -> Any:
    """Return whether the imaginary part of each element is 0.

    Args:
        x: An array of Values, complex numbers or numbers.

    Returns:
        An array of bools. In a recorded function, an array of Values that are 1 or 0.
    """
    array = as_array(x)
    return imag(array) == 0.0 if has_complex(array) else numpy.isreal(x)


def iscomplexobj(x: Any) -> bool:
    """Return whether an array contains complex numbers, even if their imaginary parts are 0.

    Args:
        x: An array of Values, complex numbers or numbers.

    Returns:
        A bool.
    """
    return has_complex(as_array(x)) or bool(numpy.iscomplexobj(x))


def isrealobj(x: Any) -> bool:
    """Return whether an array contains no complex numbers.

    Args:
        x: An array of Values, complex numbers or numbers.

    Returns:
        A bool.
    """
    return not iscomplexobj(x)


def refuse_complex(name: str, *arrays: Any) -> None:
    """Raise `TypeError` if an array has complex elements. `name` is the function that needs real numbers."""
    if any(has_complex(as_array(array)) for array in arrays):
        raise TypeError(f"gradwalk.numpy.{name} takes arrays of real numbers and Values, got complex numbers")
