"""Write src/gradwalk/ops/fits.py: polynomials for functions without a short formula, fitted by mpmath.

usage: python tools/coefficients.py

A fit is a polynomial in the distance from the middle of its interval, where the function is smooth and has no poles or
zeros. It interpolates the function at Chebyshev points.

For the vector functions of backend/cpu/vector_functions.h there are polynomials in the variable itself, and constants
with more digits than a float has: as sums of several floats, or in binary.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]

mpmath: Any = importlib.import_module("mpmath")  # does not have type annotations

Function = Callable[[Any], Any]

_WORDS = 37  # 32-bit words of 2/pi: enough for the fractions of the largest floats, and 160 bits more


def by_inverse(function: Function, limit: Any, power: int) -> Function:
    """Express a function of x as a function of w = 1 / x**power, with its limit at infinity."""
    return lambda w: limit if w < 1e-12 else function(1 / mpmath.root(w, power))


def by_ratio(function: Function, middle: int, limit: Any) -> Function:
    """Express a function of x as a function of t = (x - middle) / (x + middle), with its limit at infinity."""
    return lambda t: limit if t > 1 - mpmath.mpf(10) ** -15 else function(middle * (1 + t) / (1 - t))


def less_one(function: Function) -> Function:
    """Divide f(t) - 1 by s, for a function of t = s - 1 that is 1 at s = 0."""
    return lambda s: (function(max(s, mpmath.mpf(10) ** -25) - 1) - 1) / max(s, mpmath.mpf(10) ** -25)


def between(u: Any) -> Any:
    """Move u = 0 or u = 1 slightly inward, because the quotient to fit is 0 / 0 there."""
    return min(max(u, mpmath.mpf(10) ** -25), 1 - mpmath.mpf(10) ** -25)


def erfcx(x: Any) -> Any:
    """Compute exp(x²) · erfc(x) by the confluent hypergeometric function of DLMF 7.11.5, which does not overflow."""
    return mpmath.hyperu(0.5, 0.5, x * x) / mpmath.sqrt(mpmath.pi)


class Fit(NamedTuple):
    """A function to fit on an interval by a polynomial of a given degree."""

    name: str
    words: str
    function: Function
    low: Any
    high: Any
    degree: int


def fits() -> Iterator[Fit]:
    """Yield all fits in the distance from the middle of an interval."""
    m, zero, one, root_pi = mpmath, mpmath.mpf(0), mpmath.mpf(1), mpmath.sqrt(mpmath.pi)
    scaled = by_ratio(lambda x: (1 + 2 * x) * erfcx(x), 3, 2 / root_pi)
    words = "((1 + 2x) erfcx(x) - 1) / (1 + t) for t = (x - 3) / (x + 3) from -1 to 1, in powers of t"
    yield Fit("ERFCX", words, less_one(scaled), zero, 2 * one, 26)
    slope = by_ratio(lambda x: (1 + 2 * x) ** 2 * (2 / root_pi - 2 * x * erfcx(x)), 3, 4 / root_pi)
    yield Fit(
        "ERFCX_SLOPE", "-(1 + 2x)² erfcx'(x) for t from -5/7 to 1, in powers of t - 1/7", slope, -one * 5 / 7, one, 24
    )

    yield Fit(
        "GAMMA_2_TO_3", "gamma(2 + u) for u from 0 to 1, in powers of u - 1/2", lambda u: m.gamma(2 + u), zero, one, 16
    )
    far = by_inverse(lambda x: m.gamma(x) * m.exp(x) / x ** (x - one / 2), m.sqrt(2 * m.pi), 1)
    yield Fit("GAMMA_FAR", "gamma(x) exp(x) / x^(x - 1/2) for x >= 8, in powers of 1/x - 1/16", far, zero, one / 8, 10)

    near = lambda u: m.loggamma(1 + between(u)) / (between(u) * (between(u) - 1))  # noqa: E731
    yield Fit(
        "LGAMMA_1_TO_2", "lgamma(1 + u) / (u (u - 1)) for u from 0 to 1, in powers of u - 1/2", near, zero, one, 21
    )
    near = lambda u: m.loggamma(2 + between(u)) / between(u)  # noqa: E731
    yield Fit("LGAMMA_2_TO_3", "lgamma(2 + u) / u for u from 0 to 1, in powers of u - 1/2", near, zero, one, 16)
    half_log = m.log(2 * m.pi) / 2 - one / 2
    far = by_inverse(lambda x: (m.loggamma(x) - (x - one / 2) * (m.log(x) - 1) - half_log) * x, one / 12, 2)
    words = "the rest of Stirling's series, times x, for x >= 8, in powers of 1/x² - 1/128"
    yield Fit("LGAMMA_FAR", words, far, zero, one / 64, 6)

    root = m.findroot(m.digamma, 1.46)
    near = lambda x: x * m.digamma(x) / (x - root)  # noqa: E731
    yield Fit(
        "DIGAMMA_NEAR", "x digamma(x) / (x - its zero) for x from 1 to 2, in powers of x - 3/2", near, one, 2 * one, 16
    )
    far = by_inverse(lambda x: (m.log(x) - m.digamma(x) - 1 / (2 * x)) * x * x, one / 12, 2)
    yield Fit(
        "DIGAMMA_FAR", "(log(x) - digamma(x) - 1/(2x)) x² for x >= 2, in powers of 1/x² - 1/8", far, zero, one / 4, 17
    )
    far = by_inverse(lambda x: (m.psi(1, x) - 1 / x - 1 / (2 * x * x)) * x**3, one / 6, 2)
    yield Fit(
        "TRIGAMMA_FAR", "(trigamma(x) - 1/x - 1/(2x²)) x³ for x >= 3, in powers of 1/x² - 1/18", far, zero, one / 9, 14
    )


class Tail(NamedTuple):
    """A function without the first terms of its series, to be fitted for float64 and for float32."""

    name: str
    words: str
    function: Function
    high: Any
    degrees: tuple[int, int]


def away_from_0(function: Function) -> Function:
    """Keep the argument of a function away from 0, where its formula would be 0 / 0."""
    return lambda x: function(x if abs(x) > mpmath.mpf(10) ** -30 else mpmath.mpf(10) ** -30)


def tails() -> Iterator[Tail]:
    """Yield the fits for vector_functions.h: exp on both sides of 0, the other functions in a square from 0 on."""
    m, slack = mpmath, 1 + mpmath.mpf(2) ** -20  # rounding may exceed the interval by this factor
    yield Tail(
        "EXP",
        "(exp(r) - 1 - r - r²/2) / r³ for r between -log(2)/2 and log(2)/2, in powers of r",
        lambda r: (m.exp(r) - 1 - r - r**2 / 2) / r**3,
        m.log(2) / 2 * slack,
        (9, 4),
    )
    yield Tail(
        "LOG",
        "(2 atanh(s) / s - 2) / s² for s = f / (2 + f), 1 + f from sqrt(1/2) to sqrt(2), in powers of s²",
        lambda z: (2 * m.atanh(m.sqrt(z)) / m.sqrt(z) - 2) / z,
        (m.sqrt(2) - 1) ** 4 * slack,
        (6, 2),
    )
    eighth = (m.pi / 4) ** 2 * slack
    yield Tail(
        "SIN",
        "(sin(r) - r) / r³ for r from 0 to pi/4, in powers of r²",
        lambda z: (m.sin(m.sqrt(z)) / m.sqrt(z) - 1) / z,
        eighth,
        (6, 3),
    )
    yield Tail(
        "COS",
        "(cos(r) - 1 + r²/2) / r⁴ for r from 0 to pi/4, in powers of r²",
        lambda z: (m.cos(m.sqrt(z)) - 1 + z / 2) / z**2,
        eighth,
        (5, 2),
    )


def rounded(number: Any, bits: int, *, down: bool = False) -> Any:
    """Round a number to a number of bits: to nearest, or towards 0 if `down`."""
    with mpmath.workprec(bits):
        return mpmath.mpf(number, rounding="d") if down else +number


def parts(number: Any, *bits: int) -> Iterator[Any]:
    """Split a number into a sum of parts with the given bits. All but the last are rounded down, for exact products."""
    for last, count in enumerate(bits, 1 - len(bits)):
        part = rounded(number, count, down=last < 0)
        yield part
        number -= part


def constants() -> Iterator[str]:
    """Yield the lines of fits.py with the constants."""
    log_2, half_pi = mpmath.log(2), mpmath.pi / 2
    yield "# log(2) as a sum of two numbers. The first number times an 11-bit (float32: 8-bit) integer is exact."
    yield f"LOG_2 = {tuple(float(part) for part in parts(log_2, 42, 53))}"
    yield f"LOG_2_SINGLE = {tuple(float(part) for part in parts(log_2, 16, 24))}"
    yield ""
    yield "# pi/2 as a sum of four numbers (float32: two). Each number but the last, times a 20-bit integer, is exact."
    yield "HALF_PI = ("
    yield from (f"    {float(part)!r}," for part in parts(half_pi, 33, 33, 33, 53))
    yield ")"
    yield f"HALF_PI_SINGLE = {tuple(float(part) for part in parts(half_pi, 33, 53))}"
    yield ""
    yield "# pi/2 as a sum of two floats."
    yield f"HALF_PI_WHOLE = {tuple(float(part) for part in parts(half_pi, 53, 53))}"
    yield ""
    yield "# The binary digits of 2/pi after the point, 32 per number."
    yield "TWO_OVER_PI = ("
    with mpmath.workprec(2000):
        digits = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (32 * _WORDS)))
    yield from (f"    0x{digits >> 32 * (_WORDS - 1 - word) & 0xFFFFFFFF:08X}," for word in range(_WORDS))
    yield ")"


def lines() -> Iterator[str]:
    """Yield the lines of fits.py."""
    yield '"""Polynomials that approximate functions, for definitions.py and the vectorized functions.'
    yield ""
    yield "`tools/coefficients.py` writes this file. The first coefficient belongs to the highest power. A comment such"
    yield 'as "f for t from a to b, in powers of s, error e" means: the polynomial in s approximates f for a <= t <= b,'
    yield "with a maximum error of e."
    yield '"""'
    for fit in fits():
        middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
        found, error = mpmath.chebyfit(
            lambda u, fit=fit, c=middle: fit.function(c + u), [-half, half], fit.degree + 1, True
        )
        yield from polynomial(fit.name, fit.words, found, error, 53)
    for tail in tails():
        low = -tail.high if tail.name == "EXP" else mpmath.mpf(0)
        for suffix, degree, bits in zip(("_TAIL", "_TAIL_SINGLE"), tail.degrees, (53, 24), strict=True):
            with mpmath.workdps(150):  # most of the digits cancel near 0
                found, error = mpmath.chebyfit(away_from_0(tail.function), [low, tail.high], degree + 1, True)
            yield from polynomial(tail.name + suffix, tail.words, found, error, bits)
    yield ""
    yield from constants()


def polynomial(name: str, words: str, coefficients: list[Any], error: Any, bits: int) -> Iterator[str]:
    """Yield the lines of fits.py with a polynomial, its coefficients rounded to a number of bits."""
    yield ""
    yield f"# {words}, error {mpmath.nstr(error, 2)}"
    yield f"{name} = ("
    yield from (f"    {float(rounded(coefficient, bits))!r}," for coefficient in coefficients)
    yield ")"


def main() -> None:
    """Write the file."""
    mpmath.mp.dps = 60
    (ROOT / "src/gradwalk/ops/fits.py").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
