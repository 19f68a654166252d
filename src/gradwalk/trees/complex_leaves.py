"""Complex leaves of trees: complex numbers and arrays are separated into their parts, and joined again."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.complex_numbers.complex_array import as_complex_array
from gradwalk.complex_numbers.complex_class import Complex, of_pair, pair_of
from gradwalk.value.arrays import WholeArray
from gradwalk.value.convert import COMPLEX_TYPES
from gradwalk.value.node import ValueNode
from gradwalk.value.value import Value

_KINDS = (Complex, *COMPLEX_TYPES)
_REAL_TYPES = frozenset([float, Value])


def is_complex(leaf: Any) -> bool:
    """Return whether a leaf is a complex number or an array of complex numbers."""
    if not isinstance(leaf, numpy.ndarray):
        return isinstance(leaf, _KINDS)
    kind = leaf.dtype.kind
    if isinstance(leaf, WholeArray):
        return False
    if kind != "O":
        return bool(kind == "c")
    kinds = set(map(type, leaf.ravel().tolist()))
    return not kinds <= _REAL_TYPES and any(issubclass(kind, _KINDS) for kind in kinds)


def separated(leaf: Any) -> tuple[Any, Any]:
    """Return the real part and the imaginary part of a complex leaf. The parts of an array of numbers are views."""
    if not isinstance(leaf, numpy.ndarray):
        return _parts(leaf)
    if leaf.dtype != object:
        return leaf.real, leaf.imag
    leaf = numpy.asarray(leaf)
    real, imag = numpy.empty(leaf.shape, object), numpy.empty(leaf.shape, object)
    for at in numpy.ndindex(leaf.shape):
        real[at], imag[at] = _parts(leaf[at])
    return real, imag


def joined(real: Any, imag: Any) -> Any:
    """Return the complex number or array with these parts."""
    if not (isinstance(real, numpy.ndarray) or isinstance(imag, numpy.ndarray)):
        first, second = [x if isinstance(x, ValueNode) else float(x) for x in (real, imag)]
        return of_pair((first, second))
    real, imag = numpy.asarray(real), numpy.asarray(imag)
    if real.dtype != object and imag.dtype != object:
        array: Any = numpy.empty(real.shape, numpy.result_type(real, imag, numpy.complex64))
        array.real, array.imag = real, imag
        return array
    array = numpy.empty(real.shape, object)
    for at in numpy.ndindex(real.shape):
        array[at] = joined(real[at], imag[at])
    return as_complex_array(array)


def _parts(x: Any) -> tuple[Any, Any]:
    """Return the parts of an element. An element that is not a number stays in the real part, which is then refused."""
    pair = pair_of(x)
    return (x, 0.0) if pair is None else pair
