"""The functions of `gradwalk.cmath`."""

from __future__ import annotations

import math  # noqa: F401  for the examples
from typing import Any

from gradwalk.complex_numbers.complex_class import (
    apply_function,
    elementwise,
    of_pair,
    operate,
    pair_of,
)
from gradwalk.complex_numbers.parts import atan2, length
from gradwalk.complex_numbers.parts import cos as cos_of_real
from gradwalk.complex_numbers.parts import sin as sin_of_real
from gradwalk.complex_numbers.plain import rect as plain_rect
from gradwalk.functions import predicates, rows
from gradwalk.value import arrays
from gradwalk.value.convert import as_float, is_number
from gradwalk.value.node import ValueNode


def exp(z: Any) -> Any:
    """Return the exponential of z.

    d/dz = exp(z)

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> exp(0.0)
        (1+0j)
    """
    return apply_function("exp", z)


def log10(z: Any) -> Any:
    """Return the logarithm of z to base 10.

    d/dz = 1 / (log(10) · z)

    The branch cut is the negative real axis.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> log10(100.0)
        (2+0j)
    """
    return apply_function("log10", z)


def sqrt(z: Any) -> Any:
    """Return the square root of z.

    d/dz = 1 / (2 · sqrt(z))

    The branch cut is the negative real axis.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> sqrt(-4.0)
        2j
    """
    return apply_function("sqrt", z)


def sin(z: Any) -> Any:
    """Return the sine of z.

    d/dz = cos(z)

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> sin(0.0)
        0j
    """
    return apply_function("sin", z)


def cos(z: Any) -> Any:
    """Return the cosine of z.

    d/dz = -sin(z)

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> abs(cos(1j) - math.cosh(1.0)) < 1e-15
        True
    """
    return apply_function("cos", z)


def tan(z: Any) -> Any:
    """Return the tangent of z.

    d/dz = 1 + tan(z)²

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> tan(0.0)
        0j
    """
    return apply_function("tan", z)


def asin(z: Any) -> Any:
    """Return the arc sine of z.

    d/dz = 1 / sqrt(1 - z²)

    The branch cuts are the real axis above 1 and below -1.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> asin(0.0)
        0j
    """
    return apply_function("asin", z)


def acos(z: Any) -> Any:
    """Return the arc cosine of z.

    d/dz = -1 / sqrt(1 - z²)

    The branch cuts are the real axis above 1 and below -1.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> acos(-1.0).real == math.pi
        True
    """
    return apply_function("acos", z)


def atan(z: Any) -> Any:
    """Return the arc tangent of z.

    d/dz = 1 / (1 + z²)

    The branch cuts are the imaginary axis above i and below -i.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> atan(0.0)
        0j
    """
    return apply_function("atan", z)


def sinh(z: Any) -> Any:
    """Return the hyperbolic sine of z.

    d/dz = cosh(z)

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> sinh(0.0)
        0j
    """
    return apply_function("sinh", z)


def cosh(z: Any) -> Any:
    """Return the hyperbolic cosine of z.

    d/dz = sinh(z)

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> cosh(0.0)
        (1+0j)
    """
    return apply_function("cosh", z)


def tanh(z: Any) -> Any:
    """Return the hyperbolic tangent of z.

    d/dz = 1 - tanh(z)²

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> tanh(0.0)
        0j
    """
    return apply_function("tanh", z)


def asinh(z: Any) -> Any:
    """Return the inverse hyperbolic sine of z.

    d/dz = 1 / sqrt(1 + z²)

    The branch cuts are the imaginary axis above i and below -i.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> asinh(0.0)
        0j
    """
    return apply_function("asinh", z)


def acosh(z: Any) -> Any:
    """Return the inverse hyperbolic cosine of z.

    d/dz = 1 / (sqrt(z - 1) · sqrt(z + 1))

    The branch cut is the real axis below 1.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> acosh(1.0)
        0j
    """
    return apply_function("acosh", z)


def atanh(z: Any) -> Any:
    """Return the inverse hyperbolic tangent of z.

    d/dz = 1 / (1 - z²)

    The branch cuts are the real axis above 1 and below -1.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Complex`, or Python's `complex` if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> atanh(0.0)
        0j
    """
    return apply_function("atanh", z)


def log(z: Any, base: Any = None) -> Any:
    """Return the natural logarithm of z, or the logarithm of z to a given base.

    d/dz = 1 / z

    The branch cut is the negative real axis.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.
        base: A number like `z`. If it is given, the result is log(z) / log(base).

    Returns:
        A `Complex`, or Python's `complex` if no operand contains a Value. An array if an operand is an array or a list.

    Example:
        >>> log(-1.0) == complex(0.0, math.pi)
        True
    """
    logarithm = apply_function("log", z)
    if base is None:
        return logarithm
    return elementwise(lambda x, y: operate("div", x, y), "log", logarithm, apply_function("log", base))


def phase(z: Any) -> Any:
    """Return the angle of z in the complex plane, in radians, from -π to π. The branch cut is the negative real axis.

    Args:
        z: A complex or real number, a `Complex` or a `Value`, or an array or list of these.

    Returns:
        A `Value`, or a float if `z` does not contain a Value. An array if `z` is an array or a list.

    Example:
        >>> phase(-1.0) == math.pi
        True
    """
    pair = pair_of(z)
    return elementwise(phase, "phase", z, dtype=float) if pair is None else atan2(pair[1], pair[0])


def polar(z: Any) -> tuple[Any, Any]:
    """Return the absolute value and the angle of z.

    Args:
        z: A complex or real number, a `Complex` or a `Value`.

    Returns:
        Two Values, or two floats if `z` does not contain a Value.

    Example:
        >>> polar(2j) == (2.0, math.pi / 2)
        True
    """
    angle = phase(z)
    real, imag = pair_of(z) or (0.0, 0.0)
    return length((real, imag)), angle


def rect(r: Any, phi: Any) -> Any:
    """Return the complex number with the absolute value `r` and the angle `phi`.

    Args:
        r: A `Value` or a real number.
        phi: A `Value` or a real number, in radians.

    Returns:
        A `Complex`, or Python's `complex` if no operand is a Value.

    Raises:
        TypeError: If an operand is not a Value or a real number.

    Example:
        >>> rect(2.0, 0.0)
        (2+0j)
    """
    for operand in (r, phi):
        if not (isinstance(operand, ValueNode) or is_number(operand)):
            raise TypeError(f"rect() takes two Values or real numbers, got {type(operand).__name__}")
    if isinstance(r, ValueNode) or isinstance(phi, ValueNode):
        return of_pair((r * cos_of_real(phi), r * sin_of_real(phi)))
    return plain_rect(as_float(r), as_float(phi))


def isnan(z: Any) -> Any:
    """Return whether a part of z is nan.

    Args:
        z: A complex or real number, a `Complex` or a `Value`.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.

    Example:
        >>> isnan(complex(0.0, math.nan))
        True
    """
    return _either(*map(predicates.isnan, _parts("isnan", z)))


def isinf(z: Any) -> Any:
    """Return whether a part of z is infinite.

    Args:
        z: A complex or real number, a `Complex` or a `Value`.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.

    Example:
        >>> isinf(complex(0.0, math.inf))
        True
    """
    return _either(*map(predicates.isinf, _parts("isinf", z)))


def isfinite(z: Any) -> Any:
    """Return whether both parts of z are finite.

    Args:
        z: A complex or real number, a `Complex` or a `Value`.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.

    Example:
        >>> isfinite(1j)
        True
    """
    return _both(*map(predicates.isfinite, _parts("isfinite", z)))


def isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    """Return whether two numbers are equal or close to each other, like Python's `cmath.isclose`.

    Args:
        a: A complex or real number, a `Complex` or a `Value`.
        b: A number like `a`.
        rel_tol: Maximum absolute value of the difference, relative to the larger of |a| and |b|.
        abs_tol: Maximum absolute value of the difference. The numbers are close if they satisfy one of the two
            tolerances.

    Returns:
        A bool. In a recorded function, a Value that is 1 or 0.

    Raises:
        ValueError: If a tolerance is negative.

    Example:
        >>> isclose(1j, 1j + 1e-12)
        True
    """
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError(f"the tolerances of isclose() must not be negative, got {rel_tol} and {abs_tol}")
    z, w = _parts("isclose", a), _parts("isclose", b)
    apart = rows.hypot(z[0] - w[0], z[1] - w[1])
    bound = rows.fmax(rel_tol * rows.fmax(rows.hypot(*z), rows.hypot(*w)), abs_tol)
    are_equal = _both(predicates.isclose(z[0], w[0], rel_tol=0.0), predicates.isclose(z[1], w[1], rel_tol=0.0))
    return _either(are_equal, _both(_both(isfinite(a), isfinite(b)), apart <= bound))


def _parts(name: str, z: Any) -> Any:
    """Return the parts of a number; raise `TypeError` for any other object."""
    pair = pair_of(arrays.without_dimensions(z))
    if pair is None:
        raise TypeError(f"{name}() takes complex and real numbers and Values, got {type(z).__name__}")
    return pair


def _both(first: Any, second: Any) -> Any:
    has_value = isinstance(first, ValueNode) or isinstance(second, ValueNode)
    return first * second if has_value else first and second


def _either(first: Any, second: Any) -> Any:
    return arrays.negated(_both(arrays.negated(first), arrays.negated(second)))
