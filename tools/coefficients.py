"""Write src/gradwalk/ops/fits.py: polynomials for functions that are no short formulas, fitted by mpmath.

usage: python tools/coefficients.py

A fit is a polynomial in the distance from the middle of its interval, in which a function without poles or zeros there
is smooth. Its coefficients are those of its interpolation at Chebyshev's points.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]

mpmath: Any = importlib.import_module("mpmath")  # which has no types

Function = Callable[[Any], Any]


def by_inverse(function: Function, limit: Any, power: int) -> Function:
    """A function of w = 1 / x to a power, given as one of x, with its limit at infinity."""
    return lambda w: limit if w < 1e-12 else function(1 / mpmath.root(w, power))


def by_ratio(function: Function, middle: int, limit: Any) -> Function:
    """A function of t = (x - middle) / (x + middle), given as one of x, with its limit at infinity."""
    return lambda t: limit if t > 1 - mpmath.mpf(10) ** -15 else function(middle * (1 + t) / (1 - t))


def less_one(function: Function) -> Function:
    """What a function of t = -1 + s is more than 1, divided by s; it is 1 where s is 0."""
    return lambda s: (function(max(s, mpmath.mpf(10) ** -25) - 1) - 1) / max(s, mpmath.mpf(10) ** -25)


def between(u: Any) -> Any:
    """A number next to u, where u is 0 or 1 and what is to be divided is 0 there."""
    return min(max(u, mpmath.mpf(10) ** -25), 1 - mpmath.mpf(10) ** -25)


def erfcx(x: Any) -> Any:
    """exp(x²) · erfc(x), by the confluent hypergeometric function of DLMF 7.11.5, which does not overflow."""
    return mpmath.hyperu(0.5, 0.5, x * x) / mpmath.sqrt(mpmath.pi)


class Fit(NamedTuple):
    """A function that is fitted on an interval by a polynomial of a degree."""

    name: str
    words: str
    function: Function
    low: Any
    high: Any
    degree: int


def fits() -> Iterator[Fit]:
    """All that are needed."""
    m, zero, one, root_pi = mpmath, mpmath.mpf(0), mpmath.mpf(1), mpmath.sqrt(mpmath.pi)
    scaled = by_ratio(lambda x: (1 + 2 * x) * erfcx(x), 3, 2 / root_pi)
    words = "((1 + 2x) erfcx(x) - 1) / (1 + t) for t = (x - 3) / (x + 3) from -1 to 1, in t"
    yield Fit("ERFCX", words, less_one(scaled), zero, 2 * one, 26)
    slope = by_ratio(lambda x: (1 + 2 * x) ** 2 * (2 / root_pi - 2 * x * erfcx(x)), 3, 4 / root_pi)
    yield Fit("ERFCX_SLOPE", "-(1 + 2x)² erfcx'(x) for t from -5/7 to 1, in t - 1/7", slope, -one * 5 / 7, one, 24)

    yield Fit("GAMMA_2_TO_3", "gamma(2 + u) for u from 0 to 1, in u - 1/2", lambda u: m.gamma(2 + u), zero, one, 16)
    far = by_inverse(lambda x: m.gamma(x) * m.exp(x) / x ** (x - one / 2), m.sqrt(2 * m.pi), 1)
    yield Fit("GAMMA_FAR", "gamma(x) exp(x) / x^(x - 1/2) for x from 8, in 1/x - 1/16", far, zero, one / 8, 10)

    near = lambda u: m.loggamma(1 + between(u)) / (between(u) * (between(u) - 1))  # noqa: E731
    yield Fit("LGAMMA_1_TO_2", "lgamma(1 + u) / (u (u - 1)) for u from 0 to 1, in u - 1/2", near, zero, one, 21)
    near = lambda u: m.loggamma(2 + between(u)) / between(u)  # noqa: E731
    yield Fit("LGAMMA_2_TO_3", "lgamma(2 + u) / u for u from 0 to 1, in u - 1/2", near, zero, one, 16)
    half_log = m.log(2 * m.pi) / 2 - one / 2
    far = by_inverse(lambda x: (m.loggamma(x) - (x - one / 2) * (m.log(x) - 1) - half_log) * x, one / 12, 2)
    yield Fit(
        "LGAMMA_FAR", "the rest of Stirling's series, times x, for x from 8, in 1/x² - 1/128", far, zero, one / 64, 6
    )

    root = m.findroot(m.digamma, 1.46)
    near = lambda x: x * m.digamma(x) / (x - root)  # noqa: E731
    yield Fit("DIGAMMA_NEAR", "x digamma(x) / (x - its zero) for x from 1 to 2, in x - 3/2", near, one, 2 * one, 16)
    far = by_inverse(lambda x: (m.log(x) - m.digamma(x) - 1 / (2 * x)) * x * x, one / 12, 2)
    yield Fit("DIGAMMA_FAR", "(log(x) - digamma(x) - 1/(2x)) x² for x from 2, in 1/x² - 1/8", far, zero, one / 4, 17)
    far = by_inverse(lambda x: (m.psi(1, x) - 1 / x - 1 / (2 * x * x)) * x**3, one / 6, 2)
    yield Fit("TRIGAMMA_FAR", "(trigamma(x) - 1/x - 1/(2x²)) x³ for x from 3, in 1/x² - 1/18", far, zero, one / 9, 14)


def lines() -> Iterator[str]:
    """The lines of fits.py."""
    yield '"""Polynomials in the distance from the middle of an interval, for definitions.py.'
    yield ""
    yield "`tools/coefficients.py` writes this file. The highest power comes first. Above each polynomial stands what"
    yield "was fitted, and the largest error that is left."
    yield '"""'
    for fit in fits():
        middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
        found, error = mpmath.chebyfit(
            lambda u, fit=fit, c=middle: fit.function(c + u), [-half, half], fit.degree + 1, True
        )
        yield ""
        yield f"# {fit.words}, to {mpmath.nstr(error, 2)}"
        yield f"{fit.name} = ("
        yield from (f"    {float(coefficient)!r}," for coefficient in found)
        yield ")"


def main() -> None:
    """Write the file."""
    mpmath.mp.dps = 60
    (ROOT / "src/gradwalk/ops/fits.py").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
