"""`ComplexArray`: an object array with complex elements, whose parts NumPy's own arrays of objects do not know."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.complex_numbers.complex_class import Complex, pair_of
from gradwalk.value.arrays import WholeArray, are_arrays, method, of_recording, replaced
from gradwalk.value.convert import COMPLEX_TYPES


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
        found = replaced(func, args, kwargs) if are_arrays(types) else NotImplemented
        return super().__array_function__(func, types, args, kwargs) if found is NotImplemented else found


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
