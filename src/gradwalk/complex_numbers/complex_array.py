"""`ComplexArray`: an object array with complex elements, whose parts NumPy's own arrays of objects do not know."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.complex_numbers.complex_class import Complex, pair_of
from gradwalk.value.arrays import WholeArray, are_arrays, method, of_recording, replaced
from gradwalk.value.convert import COMPLEX_TYPES

# Functions of NumPy that treat the elements of object arrays as real numbers.
_REAL_ONLY = frozenset(
    [
        *(numpy.angle, numpy.corrcoef, numpy.correlate, numpy.cov, numpy.iscomplex, numpy.isreal, numpy.linalg.norm),
        *(numpy.nanstd, numpy.nanvar, numpy.std, numpy.var),
    ]
)


class ComplexArray(numpy.ndarray):
    """An object array with complex elements. Arrays that are computed from it have the same class.

    Its parts `real` and `imag` are arrays of Values and floats. `gradwalk.numpy` replaces functions and methods of
    NumPy that treat objects as real numbers.
    """

    std, var = method("std"), method("var")

    @property  # type: ignore[misc]  # it cannot be set
    def real(self) -> Any:
        """The real parts."""
        return of_recording(_real(numpy.asarray(self)))

    @property  # type: ignore[misc]  # it cannot be set
    def imag(self) -> Any:
        """The imaginary parts."""
        return of_recording(_imag(numpy.asarray(self)))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in _REAL_ONLY and are_arrays(types):
            found = replaced(func, args, kwargs)
            if found is not NotImplemented:
                return found
        try:
            return super().__array_function__(func, types, args, kwargs)
        except (TypeError, AttributeError) as error:
            found = replaced(func, args, kwargs, error)
            if found is NotImplemented:
                raise
            return found


def has_complex(array: Any) -> bool:
    """Return whether an object array has an element that is a complex number."""
    if isinstance(array, WholeArray) or array.dtype != object:
        return False
    return any(isinstance(x, (Complex, *COMPLEX_TYPES)) for x in array.ravel().tolist())


def as_complex_array(array: Any) -> Any:
    """Return an object array as a `ComplexArray`; any other array is returned unchanged."""
    return array.view(ComplexArray) if isinstance(array, numpy.ndarray) and array.dtype == object else array


def _part(position: int) -> Any:
    def part(x: Any) -> Any:
        pair = pair_of(x)
        return x if pair is None else pair[position]

    return numpy.frompyfunc(part, 1, 1)


_real, _imag = _part(0), _part(1)
