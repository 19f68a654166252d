"""Arithmetic of complex numbers as pairs (real part, imaginary part). Each part is a Value or a float.

A real number has the imaginary part 0.0. A product with a factor that is a plain 0.0 is a plain 0.0, so real and
imaginary numbers stay real and imaginary, and cost as little as real arithmetic does.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from gradwalk.functions import rows
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value.apply import apply

Part = Any  # a Value or a float
Pair = tuple[Part, Part]

_MOST_PRODUCTS = 100  # integer exponents up to this one are computed with products, as in Python

atan2 = partial(apply, NAMES.index("atan2"))
power_of_real = partial(apply, NAMES.index("pow"))
sin = partial(apply, NAMES.index("sin"))
cos = partial(apply, NAMES.index("cos"))


def is_zero(x: Part) -> bool:
    """Return whether a part is a plain 0.0 or -0.0."""
    return isinstance(x, float) and x == 0.0


def times(x: Part, y: Part) -> Part:
    """Return the product of two parts; a plain 0.0 if one of them is a plain zero and the other one is a Value."""
    if (is_zero(x) and not isinstance(y, float)) or (is_zero(y) and not isinstance(x, float)):
        return 0.0
    return x * y


def plus(x: Part, y: Part) -> Part:
    """Return the sum of two parts, without an operation if one of them is a plain zero and the other one is a Value."""
    if is_zero(x) and not isinstance(y, float):
        return y
    return x if is_zero(y) and not isinstance(x, float) else x + y


def minus(x: Part, y: Part) -> Part:
    """Return the difference of two parts."""
    return x if is_zero(y) and not isinstance(x, float) else x - y


def over(x: Part, y: Part) -> Part:
    """Return the quotient of two parts; a plain 0.0 if the dividend is a plain zero and the divisor is a Value."""
    return 0.0 if is_zero(x) and not isinstance(y, float) else rows.divide(x, y)


def either(condition: Part, x: Part, y: Part) -> Part:
    """Return x if a condition is 1, else y."""
    return (x if condition else y) if isinstance(condition, float) else rows.where(condition, x, y)


def is_negative(x: Part) -> Part:
    """Return 1 if a part is less than 0, else 0."""
    return rows.less(x, 0.0)


def magnitude(x: Part) -> Part:
    """Return the absolute value. At 0, its derivative is 1 and not 0, like the derivative for positive numbers."""
    return abs(x) if isinstance(x, float) else rows.where(is_negative(x), -x, x)


def sign(x: Part) -> Part:
    """Return 1 or -1 with the sign of a number, also of a zero. Its derivative is 0."""
    return math.copysign(1.0, x) if isinstance(x, float) else rows.copysign(1.0, x)


def add(z: Pair, w: Pair) -> Pair:
    """Return z + w."""
    return plus(z[0], w[0]), plus(z[1], w[1])


def subtract(z: Pair, w: Pair) -> Pair:
    """Return z - w."""
    return minus(z[0], w[0]), minus(z[1], w[1])


def multiply(z: Pair, w: Pair) -> Pair:
    """Return z · w."""
    (a, b), (c, d) = z, w
    return minus(times(a, c), times(b, d)), plus(times(a, d), times(b, c))


def divide(z: Pair, w: Pair) -> Pair:
    """Return z / w, by Smith's method, as in Python: the larger part of w divides, so that no square overflows."""
    (a, b), (c, d) = z, w
    if is_zero(d):
        return over(a, c), over(b, c)
    if is_zero(c):
        return over(b, d), over(minus(0.0, a), d)
    is_real_larger = rows.less(rows.absolute(d), rows.absolute(c))
    larger, smaller = either(is_real_larger, c, d), either(is_real_larger, d, c)
    ratio = rows.divide(smaller, larger)
    divisor = larger + smaller * ratio
    p, q = times(a, ratio), times(b, ratio)
    real = either(is_real_larger, plus(a, q), plus(p, b))
    imag = either(is_real_larger, minus(b, p), minus(q, a))
    return rows.divide(real, divisor), rows.divide(imag, divisor)


def length(z: Pair) -> Part:
    """Return the absolute value. Its derivative at 0 is 0, as the derivative of `abs` is."""
    a, b = z
    if is_zero(b):
        return abs(a)
    if isinstance(a, float) and isinstance(b, float):
        return rows.hypot(a, b)
    is_origin = _is_origin(z)
    return either(is_origin, 0.0, rows.hypot(either(is_origin, 1.0, a), b))


def _is_origin(z: Pair) -> Part:
    """Return 1 if a number is 0, else 0."""
    return rows.equal(z[0], 0.0) * rows.equal(z[1], 0.0)


def power(z: Pair, w: Pair) -> Pair:
    """Return z to the power of w: by products if w is a small integer, else in polar coordinates, as in Python."""
    c, d = w
    if isinstance(c, float) and is_zero(d) and c.is_integer() and abs(c) <= _MOST_PRODUCTS:
        return _integer_power(z, int(c))
    a, b = z
    is_origin = _is_origin(z)
    a = either(is_origin, 1.0, a)  # the derivatives of length and angle are not finite at 0
    radius, angle = rows.hypot(a, b), atan2(b, a)
    scale, phase = power_of_real(radius, c), times(angle, c)
    if not is_zero(d):
        scale = rows.divide(scale, rows.exp(angle * d))
        phase = plus(phase, d * rows.log(radius))
    of_origin = power_of_real(either(is_origin, 0.0, 1.0), c)
    return either(is_origin, of_origin, scale * cos(phase)), either(is_origin, 0.0, scale * sin(phase))


def _integer_power(z: Pair, exponent: int) -> Pair:
    """Return an integer power, by repeated squaring."""
    if exponent == 0:
        return 1.0, 0.0
    result: Pair | None = None
    rest, square = abs(exponent), z
    while rest:
        if rest & 1:
            result = square if result is None else multiply(result, square)
        rest >>= 1
        if rest:
            square = multiply(square, square)
    assert result is not None
    return result if exponent > 0 else divide((1.0, 0.0), result)
