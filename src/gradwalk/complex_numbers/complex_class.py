"""`Complex`: a complex number whose parts are Values."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.complex_numbers import elementary, parts
from gradwalk.complex_numbers.parts import Pair
from gradwalk.complex_numbers.plain import FUNCTIONS, OPERATORS
from gradwalk.functions import rows
from gradwalk.value import arrays
from gradwalk.value.convert import COMPLEX_TYPES, as_float, is_number
from gradwalk.value.node import ValueNode
from gradwalk.value.value import Value

_ON_PAIRS: dict[str, Callable[[Pair, Pair], Pair]] = {
    "add": parts.add,
    "sub": parts.subtract,
    "mul": parts.multiply,
    "div": parts.divide,
    "pow": parts.power,
}


def _forward(name: str) -> Callable[..., Any]:
    """Return the method for an operator with a Complex on the left."""
    return lambda self, other: operate(name, self, other)


def _backward(name: str) -> Callable[..., Any]:
    """Return the method for an operator with a Complex on the right."""
    return lambda self, other: operate(name, other, self)


def _method(name: str) -> Callable[..., Any]:
    """Return the method that NumPy calls for the elements of object arrays."""
    return lambda self: apply_function(name, self)


class Complex:
    """A complex number. Its parts are Values or floats, so that functions of complex numbers can be differentiated.

    Operators and the functions of `gradwalk.cmath` accept a Complex, a `Value`, and complex and real numbers of Python
    and NumPy, in any combination. `1j * v` and `v + 2j` of a `Value` v are Complex. A result is Python's `complex` if
    neither of its parts depends on a Value. A part that is a plain 0.0 stays 0.0, so the product of a real number and
    `1j` has the real part 0.0, even if the number is infinite or nan.

    A Complex cannot be changed. `complex(z)` raises `TypeError` if a part is a Value, because the gradient would be
    lost; `z.data` has the numbers.

    Args:
        real: The real part: a `Value` or a real number. A complex number is also accepted, without an imaginary part.
        imag: The imaginary part: a `Value` or a real number.

    Raises:
        TypeError: If a part is not a Value or a real number.

    Example:
        >>> from gradwalk import Value
        >>> x, y = Value(3.0), Value(4.0)
        >>> z = Complex(x, y)
        >>> abs(z).backward()
        >>> x.grad, y.grad
        (0.6, 0.8)
        >>> (z * 1j).data
        (-4+3j)
    """

    __slots__ = ("_imag", "_real")

    def __init__(self, real: Any = 0.0, imag: Any = 0.0) -> None:
        real, imag = arrays.without_dimensions(real), arrays.without_dimensions(imag)
        if isinstance(real, (Complex, *COMPLEX_TYPES)) and isinstance(imag, (float, int)) and imag == 0:
            real, imag = real.real, real.imag
        self._real, self._imag = _checked_part(real, "real"), _checked_part(imag, "imaginary")

    @property
    def real(self) -> Any:
        """The real part, a Value or a float."""
        return self._real

    @property
    def imag(self) -> Any:
        """The imaginary part, a Value or a float."""
        return self._imag

    @property
    def data(self) -> complex:
        """The number, as Python's `complex`."""
        real, imag = [part.data if isinstance(part, Value) else part for part in (self._real, self._imag)]
        return complex(real, imag)

    def conjugate(self) -> Any:
        """Return the complex conjugate."""
        return of_pair((self._real, -self._imag))

    conj = conjugate
    __add__, __radd__ = _forward("add"), _backward("add")
    __sub__, __rsub__ = _forward("sub"), _backward("sub")
    __mul__, __rmul__ = _forward("mul"), _backward("mul")
    __truediv__, __rtruediv__ = _forward("div"), _backward("div")
    __pow__, __rpow__ = _forward("pow"), _backward("pow")
    exp, log, log10, sqrt = _method("exp"), _method("log"), _method("log10"), _method("sqrt")
    sin, cos, tan = _method("sin"), _method("cos"), _method("tan")
    arcsin, arccos, arctan = _method("asin"), _method("acos"), _method("atan")
    sinh, cosh, tanh = _method("sinh"), _method("cosh"), _method("tanh")
    arcsinh, arccosh, arctanh = _method("asinh"), _method("acosh"), _method("atanh")

    def __neg__(self) -> Any:
        return of_pair((-self._real, -self._imag))

    def __pos__(self) -> Complex:
        return self

    def __abs__(self) -> Any:
        return parts.length((self._real, self._imag))

    def __eq__(self, other: object) -> Any:
        pair = pair_of(other)
        if pair is None:
            return NotImplemented
        is_real, is_imag = self._real == pair[0], self._imag == pair[1]
        if isinstance(is_real, ValueNode) or isinstance(is_imag, ValueNode):
            return is_real * is_imag
        return is_real and is_imag

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else arrays.negated(same)

    def __hash__(self) -> int:
        pair = self._real, self._imag
        return hash(pair if has_value(pair) else complex(*pair))

    def __bool__(self) -> bool:
        return bool(self._real != 0.0) or bool(self._imag != 0.0)

    def __complex__(self) -> complex:
        return complex(float(self._real), float(self._imag))  # float of a Value raises an error that names the cure

    def __repr__(self) -> str:
        return f"Complex({self._real!r}, {self._imag!r})"

    def __format__(self, specification: str) -> str:
        if not specification:
            return repr(self)
        # A format of a Value in a recorded function is a condition of its path.
        real, imag = [float(format(part, ".17g")) for part in (self._real, self._imag)]
        return format(complex(real, imag), specification)

    def __reduce__(self) -> Any:
        return Complex, (self._real, self._imag)

    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a NumPy ufunc to object arrays, whose elements NumPy computes with operators and methods."""
        with numpy.errstate(all="ignore"):  # 1/0 gives inf without a warning, as it does for scalars
            return getattr(ufunc, method)(*[_of_object(operand) for operand in inputs], **kwargs)


numbers.Complex.register(Complex)


def operate(name: str, *operands: Any) -> Any:
    """Apply an operator, such as "add", to two operands, or "where" to three.

    Returns NotImplemented for any other operator, for a complex condition, and if an operand is not a number.
    """
    condition, *others = operands if name == "where" else (0.0, *operands)
    if not isinstance(condition, Value) and not is_number(condition):
        return NotImplemented
    z, w = map(pair_of, others) if name in OPERATORS or name == "where" else (None, None)
    if z is None or w is None:
        return NotImplemented
    if name == "where":
        return of_pair((rows.where(condition, z[0], w[0]), rows.where(condition, z[1], w[1])))
    if has_value(z) or has_value(w):
        return of_pair(_ON_PAIRS[name](z, w))
    return OPERATORS[name](complex(*z), complex(*w))


def apply_function(name: str, z: Any) -> Any:
    """Apply a function of `cmath`, such as "exp", to a number, or elementwise to an array or a list."""
    pair = pair_of(z)
    if pair is not None:
        return of_pair(getattr(elementary, name)(pair)) if has_value(pair) else FUNCTIONS[name](complex(*pair))
    return elementwise(lambda x: apply_function(name, x), name, z)


def elementwise(function: Callable[..., Any], name: str, *operands: Any, dtype: Any = numpy.complex128) -> Any:
    """Apply a function to each element of arrays and lists; raise `TypeError` for any other operands.

    The result is an object array if an element contains a Value, else an array of `dtype`.
    """
    unwrapped = tuple([arrays.without_dimensions(x) for x in operands])
    if not arrays.are_there(unwrapped):
        if all(pair_of(x) is not None for x in unwrapped):
            return function(*unwrapped)
        given = ", ".join(type(x).__name__ for x in operands)
        raise TypeError(f"{name}() takes complex and real numbers and Values, got ({given})")
    results: Any = numpy.frompyfunc(function, len(operands), 1)(*[arrays.as_array(_of_object(x)) for x in unwrapped])
    return results if any(isinstance(x, (ValueNode, Complex)) for x in results.flat) else results.astype(dtype)


def pair_of(x: Any) -> Pair | None:
    """Return the parts of a number or a Value; None for any other object."""
    if isinstance(x, Complex):
        return x._real, x._imag
    if isinstance(x, ValueNode):
        return x, 0.0
    if isinstance(x, COMPLEX_TYPES):
        return float(x.real), float(x.imag)
    return (as_float(x), 0.0) if is_number(x) else None


def of_pair(pair: Pair) -> Any:
    """Return a Complex with these parts; Python's `complex` if both are floats."""
    if not has_value(pair):
        return complex(*pair)
    z: Complex = object.__new__(Complex)
    z._real, z._imag = pair
    return z


def has_value(pair: Pair) -> bool:
    """Return whether a part is a Value."""
    return isinstance(pair[0], ValueNode) or isinstance(pair[1], ValueNode)


def _checked_part(part: Any, what: str) -> Any:
    if isinstance(part, ValueNode):
        return part
    if is_number(part):
        return as_float(part)
    raise TypeError(f"the {what} part of a Complex must be a Value or a real number, got {type(part).__name__}")


def _of_object(x: Any) -> Any:
    """Return a Value or a Complex as a zero-dimensional object array, and any other object unchanged."""
    if not isinstance(x, Complex):
        return arrays.of_object(x)
    array = numpy.empty((), dtype=object)
    array[()] = x
    return array
