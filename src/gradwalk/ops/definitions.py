"""Functions that Python, C or JavaScript lacks, as formulas that call only functions of all three languages.

`tools/generate.py` prints each definition as a function in every language: into `special.py`, `special.pxi`,
`lane_definitions.h` and the page's `special.js`. Formulas call these functions like any other function, as in
`f.gamma(x)`. gamma and lgamma are defined here although Python has them, so that the results are the same in every
language.

Functions without a short formula are approximated by polynomials on some intervals (see `fits.py`). Identities reduce
other arguments to these intervals. The comments cite the identities by their number in the NIST Digital Library of
Mathematical Functions (DLMF).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradwalk.ops import fits
from gradwalk.ops.formula import Formula, Functions, equal, name, number, unless, where

f = Functions()
x = name("x")
size = f.fabs(x)


def polynomial(t: Formula, coefficients: Sequence[float]) -> Formula:
    """Return a polynomial in `t` by Horner's rule, given its coefficients from the highest power to the constant.

    Example:
        >>> polynomial(name("t"), [2, 3, 4]) == (number(2) * name("t") + 3) * name("t") + 4
        True
    """
    result: Formula = number(coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * t + coefficient
    return result


# sin(pi * x), exactly 0 at integers: the argument is reduced to |x| <= 1/2 without rounding.
_turn = x - 2 * f.rint(x / 2)
_sine = f.sin(math.pi * where(f.fabs(_turn) > 0.5, f.sign(_turn) - _turn, _turn))
_sinc = where(equal(x, 0), 1, _sine / (math.pi * x))

# The relative error of exp(-x²) is x² times the relative error of x². The rounding error of x² (`lost`) is therefore
# computed and compensated. `coarse` is x rounded to a multiple of 1/16, so that coarse² is exact. The rounding adds and
# subtracts a large number: 1.5 * 2^48 in float64, 1.5 * 2^19 in float32. For |x| > 40, exp(-x²/2) is 0, so x is clamped
# to ±40. The clamping uses copysign, because compilers turn the conditions of `sign` into branches.
near = unless(x, size > 40, f.copysign(40, x))
_in_float64 = (near + 1.5 * 2.0**48) - 1.5 * 2.0**48
coarse = where(equal(_in_float64, 0), (near + 1.5 * 2.0**19) - 1.5 * 2.0**19, _in_float64)
lost = (coarse * coarse - near * near) + (near - coarse) * (near + coarse)


# x * sigmoid(x), accurate even where sigmoid(x) is subnormal and the product is not.
_half = f.exp(-0.5 * size)
_lower = unless(x, x < -1e3, -1e3)
_silu = where(x < 0, _lower * _half * _half / (1 + _half * _half), x / (1 + f.exp(-x)))

# The scaled complementary error function, exp(x²) * erfc(x): for x >= 0 a polynomial in (x - 3) / (x + 3).
_ratio = 1 - 6 / (size + 3)
_tail = (1 + (1 + _ratio) * polynomial(_ratio, fits.ERFCX)) / (1 + 2 * size)
_erfcx = where(x < 0, 2 * (f.exp(near * near) * (1 + lost)) - _tail, _tail)

# The derivative of erfcx for x > 0.5, where 2 * x * erfcx(x) - 2 / sqrt(pi) suffers from cancellation.
_beyond = unless(x, x < 0.5, 1)
erfcx_slope = -polynomial((1 - 6 / (_beyond + 3)) - 1 / 7, fits.ERFCX_SLOPE) / (1 + 2 * _beyond) / (1 + 2 * _beyond)

# The normal distribution. The rounding error of x / sqrt(2) is compensated like the error of x² above. For this,
# 1 / sqrt(2) is split into a 14-bit number, whose product with `coarse` is exact, and a small remainder.
_LEADING, _TRAILING = 11585 / 2**14, 1.449603029752440084e-05
_quotient = near * math.sqrt(0.5)
_remainder = ((coarse * _LEADING - _quotient) + (near - coarse) * _LEADING) + near * _TRAILING
_norm_cdf = 0.5 * (f.erfc(-_quotient) + _remainder * (2 / math.sqrt(math.pi)) * f.exp(-(_quotient * _quotient)))
_norm_pdf = f.exp(-0.5 * (near * near)) * (1 - 0.5 * lost) * (1 / math.sqrt(2 * math.pi))

# The quantile function of the normal distribution: algorithm AS 241 (PPND16) by M. J. Wichura, Applied Statistics 37
# (1988), 477-484.
_CENTRAL_P = (
    2509.0809287301227,
    33430.57558358813,
    67265.7709270087,
    45921.95393154987,
    13731.69376550946,
    1971.5909503065513,
    133.14166789178438,
    3.3871328727963665,
)
_CENTRAL_Q = (
    5226.495278852854,
    28729.085735721943,
    39307.89580009271,
    21213.794301586597,
    5394.196021424751,
    687.1870074920579,
    42.31333070160091,
    1.0,
)
_MIDDLE_P = (
    0.0007745450142783414,
    0.022723844989269184,
    0.2417807251774506,
    1.2704582524523684,
    3.6478483247632045,
    5.769497221460691,
    4.630337846156546,
    1.4234371107496835,
)
_MIDDLE_Q = (
    1.0507500716444169e-09,
    0.0005475938084995345,
    0.015198666563616457,
    0.14810397642748008,
    0.6897673349851,
    1.6763848301838038,
    2.053191626637759,
    1.0,
)
_FAR_P = (
    2.0103343992922881e-07,
    2.7115555687434876e-05,
    0.0012426609473880784,
    0.026532189526576124,
    0.29656057182850487,
    1.7848265399172913,
    5.463784911164114,
    6.657904643501103,
)
_FAR_Q = (
    2.0442631033899397e-15,
    1.421511758316446e-07,
    1.8463183175100548e-05,
    0.0007868691311456133,
    0.014875361290850615,
    0.1369298809227358,
    0.599832206555888,
    1.0,
)


def _rational(t: Formula, numerator: Sequence[float], denominator: Sequence[float]) -> Formula:
    return polynomial(t, numerator) / polynomial(t, denominator)


_from_half = x - 0.5
_lesser = where(x > 0.5, 1 - x, x)
_depth = f.sqrt(-f.log(_lesser))
_outer = where(_depth > 5, _rational(_depth - 5, _FAR_P, _FAR_Q), _rational(_depth - 1.6, _MIDDLE_P, _MIDDLE_Q))
_central = _from_half * _rational(0.180625 - _from_half * _from_half, _CENTRAL_P, _CENTRAL_Q)
_norm_ppf = where(
    f.fabs(_from_half) > 0.425,
    f.sign(_from_half) * where(_lesser > 0, _outer, -f.log(_lesser)),  # infinite at 0 and 1, nan outside [0, 1]
    _central,
)

# The gamma function and its logarithm: a polynomial on [2, 3], the recurrence 5.5.1 below 8, Stirling's series (5.11.1
# and 5.11.3) from 8 on, and the reflection formula 5.5.3 for negative numbers.
_fraction = size - f.floor(size)
_product: Formula = number(1)  # gamma(size) / gamma(2 + _fraction) for size from 2 to 8
for _k in (5, 4, 3, 2, 1):
    _product = where(size < _k + 2, 1, (size - _k) * _product)

_root = f.pow(size, 0.5 * size - 0.25)  # size^(size - 1/2) would overflow before gamma does
_stirling = _root * (_root * f.exp(-size)) * polynomial(1 / size - 1 / 16, fits.GAMMA_FAR)
_gamma_far = where(equal(_root + _root, _root), _root, _stirling)
_gamma_near = _product * polynomial(_fraction - 0.5, fits.GAMMA_2_TO_3)
_gamma_positive = where(size < 8, _gamma_near / where(size < 1, x * (1 + size), where(size < 2, size, 1)), _gamma_far)
# gamma(1 - x) = size * gamma(size) for x < 0, without overflow near 0.
_next = where(size < 2, _gamma_near / where(size < 1, 1 + size, 1), size * _gamma_positive)
_gamma = where(x < 0, math.pi * (_sine / _sine) / (_sine * _next), _gamma_positive)  # nan at the poles

_lgamma_middle = _fraction * polynomial(_fraction - 0.5, fits.LGAMMA_2_TO_3) + f.log(_product)
_series = polynomial(1 / (size * size) - 1 / 128, fits.LGAMMA_FAR) / size
_lgamma_far = (size - 0.5) * (f.log(size) - 1) + (0.5 * math.log(2 * math.pi) - 0.5 + _series)
# For size < 1 this is lgamma(1 + size).
_lgamma_near = 0 - _fraction * (1 - _fraction) * polynomial(_fraction - 0.5, fits.LGAMMA_1_TO_2)
_lgamma_positive = where(size < 2, _lgamma_near, where(size < 8, _lgamma_middle, _lgamma_far))
_height = f.fabs(_sine)
_lgamma_negative = math.log(math.pi) - f.log(_height * where(size < 1, 1, size)) - _lgamma_positive
_lgamma = where(
    x < 0,
    where(_height > 0, where(size < 1e-20, -f.log(size), _lgamma_negative), size / 0),
    where(size < 1, _lgamma_positive - f.log(size), _lgamma_positive),
)

# The derivatives of lgamma: the recurrence 5.5.2, the asymptotic expansion 5.11.2 as a polynomial, and the reflection
# formula 5.5.4. The zero of digamma between 1 and 2 is factored out. It is 1 plus the sum of the four numbers in _ZERO,
# which float32 can represent, too.
_ZERO = (0.46163177490234375, 3.700660045069526e-07, 1.4084307992882211e-14, 2.0716944181397238e-21)  # the zero minus 1
_positive = where(x < 0, 1 - x, x)
_above = _positive - f.floor(_positive)
_from_zero = (((_above - _ZERO[0]) - _ZERO[1]) - _ZERO[2]) - _ZERO[3]
_digamma_near = _from_zero * polynomial(_above - 0.5, fits.DIGAMMA_NEAR) / (1 + _above)
_square = _positive * _positive
_digamma_far = f.log(_positive) - (0.5 + polynomial(1 / _square - 1 / 8, fits.DIGAMMA_FAR) / _positive) / _positive
_digamma_positive = where(
    _positive < 1, _digamma_near - 1 / _positive, where(_positive < 2, _digamma_near, _digamma_far)
)
_angle = math.pi * (x - f.rint(x))
_digamma = where(x < 0, _digamma_positive - math.pi * (_angle / _angle) / f.tan(_angle), _digamma_positive)

_shifted = where(_positive < 3, _positive + 3, _positive)
_added = 1 / _positive / _positive
for _k in (1, 2):
    _added = _added + 1 / (_positive + _k) / (_positive + _k)
_polynomial = polynomial(1 / (_shifted * _shifted) - 1 / 18, fits.TRIGAMMA_FAR)
_trigamma_far = 1 / _shifted + (0.5 + _polynomial / _shifted) / (_shifted * _shifted)
_trigamma_positive = where(_positive < 3, _added + _trigamma_far, _trigamma_far)
_cosecant = math.pi / f.sin(_angle)
_trigamma = where(x < 0, _cosecant * _cosecant - _trigamma_positive, _trigamma_positive)

# The derivative of trigamma, written so that it can be differentiated again: the recurrence 5.15.5, the reflection
# formula 5.15.6, and the first thirteen terms of the asymptotic expansion 5.15.9.
_inverse = 1 / (_positive + 8)
_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
    -236364091 / 2730,
    8553103 / 6,
)
_terms = polynomial(_inverse * _inverse, [(2 * k + 1) * _BERNOULLI[k - 1] for k in range(13, 0, -1)])
_cubes: Formula = number(0)
for _k in range(7, -1, -1):
    _cubes = _cubes + 1 / (_positive + _k) / (_positive + _k) / (_positive + _k)
_slope = -2 * _cubes - ((_terms * _inverse * _inverse + _inverse) + 1) * _inverse * _inverse
_away = math.pi * where(x < 0, x - f.rint(x), 0.25)  # a constant for x >= 0, where there is no pole
_sine_away = f.sin(_away)
_reflected = 2 * math.pi**3 * f.cos(_away) / _sine_away / _sine_away / _sine_away
trigamma_slope = _slope - where(x < 0, _reflected, 0)

DEFINITIONS: dict[str, Formula] = {
    "digamma": _digamma,
    "erfcx": _erfcx,
    "gamma": _gamma,
    "lgamma": _lgamma,
    "norm_cdf": _norm_cdf,
    "norm_pdf": _norm_pdf,
    "norm_ppf": _norm_ppf,
    "silu": _silu,
    "sinc": _sinc,
    "trigamma": _trigamma,
}
