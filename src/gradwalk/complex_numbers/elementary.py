"""Elementary functions of complex numbers as pairs (real part, imaginary part): see `parts`.

Most formulas are the same as in Python's `cmath`. Their source is W. Kahan, "Branch cuts for complex elementary
functions, or much ado about nothing's sign bit", in The State of the Art in Numerical Analysis, 1987. They are analytic
on both sides of each branch cut, so their derivatives are exact there, too.
"""

from __future__ import annotations

import math
from functools import partial

from gradwalk.complex_numbers.parts import (
    Pair,
    Part,
    atan2,
    either,
    is_negative,
    is_zero,
    magnitude,
    minus,
    over,
    plus,
    sign,
    times,
)
from gradwalk.functions import rows
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value.apply import apply

_sin = partial(apply, NAMES.index("sin"))
_cos = partial(apply, NAMES.index("cos"))
_sinh = partial(apply, NAMES.index("sinh"))
_cosh = partial(apply, NAMES.index("cosh"))
_asinh = partial(apply, NAMES.index("asinh"))
_log1p = partial(apply, NAMES.index("log1p"))


def exp(z: Pair) -> Pair:
    """Return the exponential."""
    x, y = z
    if is_zero(y):
        return rows.exp(x), y
    if is_zero(x):
        return _cos(y), _sin(y)
    length = rows.exp(x)
    return length * _cos(y), length * _sin(y)


def log(z: Pair) -> Pair:
    """Return the natural logarithm, with a branch cut along the negative real axis."""
    x, y = z
    return _log_of_length(x, y), atan2(y, x)


def _log_of_length(x: Part, y: Part) -> Part:
    """Return log(hypot(x, y)), also close to the unit circle, where the logarithm is small."""
    if is_zero(y):
        return rows.log(rows.absolute(x))
    length = rows.hypot(x, y)
    is_near_one = rows.less(0.71, length) * rows.less(length, 1.73)
    is_steep = rows.less(rows.absolute(x), rows.absolute(y))
    larger = either(is_near_one, magnitude(either(is_steep, y, x)), 1.0)
    smaller = either(is_near_one, either(is_steep, x, y), 0.0)
    near = 0.5 * _log1p((larger - 1.0) * (larger + 1.0) + smaller * smaller)
    return either(is_near_one, near, rows.log(length))


def log10(z: Pair) -> Pair:
    """Return the logarithm to base 10."""
    real, imag = log(z)
    return real / math.log(10.0), imag / math.log(10.0)


def sqrt(z: Pair) -> Pair:
    """Return the square root, with a branch cut along the negative real axis."""
    x, y = z
    is_left, upper = is_negative(x), sign(y)
    size = magnitude(x)
    if is_zero(y):
        root = rows.sqrt(size)
        return either(is_left, 0.0, root), either(is_left, root, 0.0) * upper
    eighth = size * 0.125  # so that the length does not overflow
    large = 2.0 * rows.sqrt(eighth + rows.hypot(eighth, y * 0.125))
    small = rows.divide(y * upper, 2.0 * either(rows.equal(large, 0.0), 1.0, large))
    return either(is_left, small, large), either(is_left, large, small) * upper


def sinh(z: Pair) -> Pair:
    """Return the hyperbolic sine."""
    x, y = z
    return times(_sinh(x), _cos(y)), times(_cosh(x), _sin(y))


def cosh(z: Pair) -> Pair:
    """Return the hyperbolic cosine."""
    x, y = z
    return times(_cosh(x), _cos(y)), times(_sinh(x), _sin(y))


def tanh(z: Pair) -> Pair:
    """Return the hyperbolic tangent.

    With q = exp(-2|x|), it is sign(x)·(1 - q²) / d + i·4·sin(y)·cos(y)·q / d, where d = (1 - q)² + 4·q·cos(y)². No
    term overflows or cancels, neither in the value nor in the derivative.
    """
    x, y = z
    scaled = -2.0 * magnitude(x)
    shrink, decayed = rows.expm1(scaled), rows.exp(scaled)
    cosine = _cos(y)
    divisor = shrink * shrink + 4.0 * decayed * cosine * cosine
    orientation = either(is_negative(x), 1.0, -1.0)
    real = 0.0 if is_zero(x) else rows.divide(orientation * rows.expm1(2.0 * scaled), divisor)
    return real, over(times(4.0 * decayed * cosine, _sin(y)), divisor)


def asinh(z: Pair) -> Pair:
    """Return the inverse hyperbolic sine, with branch cuts along the imaginary axis, outside of -i to i."""
    x, y = z
    a, b = sqrt((plus(1.0, y), -x))
    c, d = sqrt((minus(1.0, y), x))
    return _asinh(minus(times(a, d), times(c, b))), atan2(y, minus(times(a, c), times(b, d)))


def acosh(z: Pair) -> Pair:
    """Return the inverse hyperbolic cosine, with a branch cut along the real axis, left of 1."""
    x, y = z
    a, b = sqrt((minus(x, 1.0), y))
    c, d = sqrt((plus(x, 1.0), y))
    return _asinh(plus(times(a, c), times(b, d))), 2.0 * atan2(b, c)


def acos(z: Pair) -> Pair:
    """Return the arc cosine, with branch cuts along the real axis, outside of -1 to 1."""
    x, y = z
    a, b = sqrt((minus(1.0, x), -y))
    c, d = sqrt((plus(1.0, x), y))
    return 2.0 * atan2(a, c), _asinh(minus(times(c, b), times(d, a)))


def atanh(z: Pair) -> Pair:
    """Return the inverse hyperbolic tangent, with branch cuts along the real axis, outside of -1 to 1."""
    x, y = z
    right, height = magnitude(x), times(y, y)
    left = 1.0 - right
    distance = plus(left * left, height)
    real = 0.0 if is_zero(x) else 0.25 * _log1p(rows.divide(4.0 * right, distance))
    orientation = either(is_negative(x), -1.0, 1.0)
    imag = 0.5 * atan2(2.0 * y, minus(left * (1.0 + right), height))
    return times(orientation, real), imag


def sin(z: Pair) -> Pair:
    """Return the sine."""
    return _divided_by_i(sinh(_times_i(z)))


def cos(z: Pair) -> Pair:
    """Return the cosine."""
    return cosh(_times_i(z))


def tan(z: Pair) -> Pair:
    """Return the tangent."""
    return _divided_by_i(tanh(_times_i(z)))


def asin(z: Pair) -> Pair:
    """Return the arc sine, with branch cuts along the real axis, outside of -1 to 1."""
    return _divided_by_i(asinh(_times_i(z)))


def atan(z: Pair) -> Pair:
    """Return the arc tangent, with branch cuts along the imaginary axis, outside of -i to i."""
    return _divided_by_i(atanh(_times_i(z)))


def _times_i(z: Pair) -> Pair:
    return -z[1], z[0]


def _divided_by_i(z: Pair) -> Pair:
    return z[1], -z[0]
