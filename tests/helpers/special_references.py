"""The special functions of `gradwalk.math`, their definitions in mpmath, and the intervals of the operands."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from references import mpmath

import gradwalk.math as gm

DIGITS = 50


class Interval(NamedTuple):
    """An interval from which numbers are drawn: uniformly, or uniformly in the logarithm."""

    low: float
    high: float
    is_logarithmic: bool = False

    def draw(self, numbers: random.Random) -> float:
        """Draw a number."""
        if self.is_logarithmic:
            return math.exp(numbers.uniform(math.log(self.low), math.log(self.high)))
        return numbers.uniform(self.low, self.high)


class Special(NamedTuple):
    """A special function.

    Attributes:
        function: The function of gradwalk.
        true: The function in mpmath.
        domains: The intervals of the operands: one tuple for ordinary operands, and further ones for the tails.
        shifted: A function in mpmath with the same derivatives, if `true` is too near to a constant to have digits of
            its derivatives.
        partials: The first derivatives in mpmath, if they have a formula.
        scale: A function of the operands. Errors are relative to it where the value or derivative is smaller, as near
            the zeros of the Bessel functions.
    """

    function: Callable[..., Any]
    true: Callable[..., Any]
    domains: tuple[tuple[Interval, ...], ...]
    shifted: Callable[..., Any] | None = None
    scale: Callable[..., float] = lambda *xs: 0.0
    partials: tuple[Callable[..., Any], ...] = ()


def across(low: float, high: float) -> Interval:
    """Return an interval from which numbers are drawn uniformly in the logarithm."""
    return Interval(low, high, is_logarithmic=True)


def ndtr(x: Any) -> Any:
    """Compute the normal distribution function."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def upper_gamma_shifted(a: Any, x: Any) -> Any:
    """Compute gammaincc, less 1 for x < a."""
    return -lower_gamma(a, x) if x < a else upper_gamma(a, x)


def lower_gamma_shifted(a: Any, x: Any) -> Any:
    """Compute gammainc, less 1 for x >= a."""
    return lower_gamma(a, x) if x < a else -upper_gamma(a, x)


def lower_gamma(a: Any, x: Any) -> Any:
    """Compute gammainc by DLMF 8.5.1 and 8.2.5."""
    return x**a * mpmath.exp(-x) / mpmath.gamma(a + 1) * mpmath.hyp1f1(1, a + 1, x)


def upper_gamma(a: Any, x: Any) -> Any:
    """Compute gammaincc."""
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def beta_share(a: Any, b: Any, x: Any) -> Any:
    """Compute betainc by DLMF 8.17.8."""
    return x**a * (1 - x) ** b / (a * mpmath.beta(a, b)) * mpmath.hyp2f1(a + b, 1, a + 1, x)


def beta_shifted(a: Any, b: Any, x: Any) -> Any:
    """Compute betainc, less 1 if x is above the mean."""
    return beta_share(a, b, x) if x * (a + b) < a else -beta_share(b, a, 1 - x)


def owens_t(h: Any, a: Any) -> Any:
    """Compute Owen's T function by its integral."""
    integral = mpmath.quad(lambda t: mpmath.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), mpmath.linspace(0, a, 5))
    return integral / (2 * mpmath.pi)


def hurwitz(x: Any, q: Any) -> Any:
    """Compute the Hurwitz zeta function. mpmath's error is absolute, so small results need more digits."""
    with mpmath.workdps(2 * DIGITS):
        return mpmath.zeta(x, q)


OWENS_PARTIALS = (
    lambda h, a: -mpmath.npdf(h) * mpmath.erf(a * h / mpmath.sqrt(2)) / 2,
    lambda h, a: mpmath.exp(-h * h * (1 + a * a) / 2) / (1 + a * a) / (2 * mpmath.pi),
)


def bessel_k(order: int, x: Any) -> Any:
    """Compute the Bessel functions of the second kind by the trapezoidal rule for DLMF 10.32.9."""
    step = 1 / (10 + 5 * mpmath.sqrt(x))
    last = int(mpmath.acosh(1 + 130 / x) / step) + 1
    terms = [mpmath.exp(-x * mpmath.cosh(k * step)) * mpmath.cosh(order * k * step) for k in range(last + 1)]
    return step * (mpmath.fsum(terms) - terms[0] / 2)


def scaled_bessel(function: Callable[..., Any], order: int, sign: int) -> Callable[[Any], Any]:
    """Return a Bessel function times exp(sign · |x|)."""
    return lambda x: function(order, x) * mpmath.exp(sign * abs(x))


def wave(x: float) -> float:
    """Return the amplitude of the Bessel functions of the first kind."""
    return min(1.0, math.sqrt(2.0 / (math.pi * max(abs(x), 1e-300))))


UNIT, AROUND_0, POSITIVE, WIDE = Interval(0.01, 0.99), Interval(-3.0, 3.0), across(0.1, 30.0), across(1e-3, 300.0)
TINY, CIRCLE = across(1e-20, 0.1), Interval(-30.0, 30.0)
COMMON = Interval(0.1, 8.0)

SPECIALS: dict[str, Special] = {
    "log_ndtr": Special(gm.log_ndtr, lambda x: mpmath.log(ndtr(x)), ((AROUND_0,), (Interval(-40.0, 8.0),))),
    "norm_logpdf": Special(
        gm.norm_logpdf,
        lambda x: -x * x / 2 - mpmath.log(2 * mpmath.pi) / 2,
        ((AROUND_0,), (CIRCLE,)),
        scale=lambda x: 1.0,
    ),
    "xlogy": Special(
        gm.xlogy, lambda x, y: x * mpmath.log(y), ((COMMON, COMMON), (COMMON, WIDE)), scale=lambda x, y: x
    ),
    "xlog1py": Special(
        gm.xlog1py,
        lambda x, y: x * mpmath.log1p(y),
        ((COMMON, COMMON), (COMMON, TINY)),
        scale=lambda x, y: x * min(y, 1.0),
    ),
    "entr": Special(gm.entr, lambda x: -x * mpmath.log(x), ((UNIT,), (WIDE,)), scale=lambda x: 1.0),
    "rel_entr": Special(
        gm.rel_entr, lambda x, y: x * mpmath.log(x / y), ((UNIT, UNIT), (WIDE, WIDE)), scale=lambda x, y: x
    ),
    "kl_div": Special(
        gm.kl_div, lambda x, y: x * mpmath.log(x / y) - x + y, ((UNIT, UNIT), (WIDE, WIDE)), scale=lambda x, y: x
    ),
    "logit": Special(gm.logit, lambda x: mpmath.log(x / (1 - x)), ((UNIT,), (TINY,))),
    "erfinv": Special(gm.erfinv, mpmath.erfinv, ((Interval(-0.99, 0.99),), (TINY,))),
    "erfcinv": Special(gm.erfcinv, lambda y: mpmath.erfinv(1 - y), ((Interval(0.01, 1.99),), (TINY,))),
    "owens_t": Special(
        gm.owens_t,
        owens_t,
        ((AROUND_0, AROUND_0), (Interval(0.0, 10.0), Interval(0.0, 5.0))),
        partials=OWENS_PARTIALS,
    ),
    "betaln": Special(
        gm.betaln,
        lambda a, b: mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b),
        ((POSITIVE, POSITIVE), (across(1e-3, 1e6), across(1e-3, 1e6))),
        scale=lambda a, b: 1.0,
    ),
    "polygamma(2, x)": Special(
        lambda x: gm.polygamma(2, x),
        lambda x: mpmath.psi(2, x),
        ((POSITIVE,), (Interval(-2.9, -2.1),)),
        scale=lambda x: 0.0 if x > 0.0 else 20.0,
    ),
    "polygamma(5, x)": Special(
        lambda x: gm.polygamma(5, x), lambda x: mpmath.psi(5, x), ((POSITIVE,), (Interval(-2.9, -2.1),))
    ),
    "zeta(x)": Special(gm.zeta, mpmath.zeta, ((Interval(1.01, 20.0),), (Interval(-9.0, 0.9),)), scale=lambda x: 0.1),
    "zeta(x, q)": Special(
        gm.zeta,
        hurwitz,
        ((Interval(1.01, 8.0), POSITIVE), (Interval(1.01, 60.0), across(0.1, 100.0))),
    ),
    "gammainc": Special(
        gm.gammainc, lower_gamma, ((COMMON, COMMON), (across(0.01, 100.0), across(0.01, 100.0))), lower_gamma_shifted
    ),
    "gammaincc": Special(
        gm.gammaincc, upper_gamma, ((COMMON, COMMON), (across(0.01, 100.0), across(0.01, 100.0))), upper_gamma_shifted
    ),
    "betainc": Special(
        gm.betainc, beta_share, ((COMMON, COMMON, UNIT), (across(0.1, 100.0), across(0.1, 100.0), UNIT)), beta_shifted
    ),
    "exp1": Special(gm.exp1, mpmath.e1, ((COMMON,), (WIDE,))),
    "expi": Special(gm.expi, mpmath.ei, ((Interval(-5.0, 5.0),), (WIDE,)), scale=lambda x: min(1.0, abs(x))),
    "lambertw": Special(
        gm.lambertw, lambda x: mpmath.lambertw(x).real, ((Interval(-0.35, 10.0),), (across(1e-5, 1e30),))
    ),
    "i0": Special(gm.i0, lambda x: mpmath.besseli(0, x), ((CIRCLE,), (WIDE,))),
    "i1": Special(gm.i1, lambda x: mpmath.besseli(1, x), ((CIRCLE,), (WIDE,))),
    "i0e": Special(gm.i0e, scaled_bessel(mpmath.besseli, 0, -1), ((CIRCLE,), (WIDE,))),
    "i1e": Special(gm.i1e, scaled_bessel(mpmath.besseli, 1, -1), ((CIRCLE,), (WIDE,))),
    "j0": Special(gm.j0, lambda x: mpmath.besselj(0, x), ((CIRCLE,), (WIDE,)), scale=wave),
    "j1": Special(
        gm.j1, lambda x: mpmath.besselj(1, x), ((CIRCLE,), (WIDE,)), scale=lambda x: wave(x) * min(x * x, 1.0)
    ),
    "k0": Special(gm.k0, lambda x: bessel_k(0, x), ((COMMON,), (WIDE,))),
    "k1": Special(gm.k1, lambda x: bessel_k(1, x), ((COMMON,), (WIDE,))),
    "k0e": Special(gm.k0e, scaled_bessel(bessel_k, 0, 1), ((COMMON,), (WIDE,))),
    "k1e": Special(gm.k1e, scaled_bessel(bessel_k, 1, 1), ((COMMON,), (WIDE,))),
}


def draw(special: Special, tails: bool, count: int, seed: int) -> list[tuple[float, ...]]:
    """Draw operands, from the intervals for ordinary operands or from those for the tails."""
    numbers = random.Random(seed)
    return [tuple(interval.draw(numbers) for interval in special.domains[tails]) for _ in range(count)]


def exact(special: Special, xs: tuple[float, ...], argnum: int = 0, order: int = 0) -> Any:
    """Return the value, or a derivative of some order with respect to one operand, to at least 20 digits."""
    with mpmath.workdps(DIGITS):
        if not order:
            return special.true(*map(mpmath.mpf, xs))
        f = special.partials[argnum] if special.partials else special.shifted or special.true
        order -= bool(special.partials)

        def along(t: Any) -> Any:
            return f(*[t if i == argnum else mpmath.mpf(x) for i, x in enumerate(xs)])

        at = mpmath.mpf(xs[argnum])
        # The error of the differences is about the square of the step, and their rounding 1e-50 / step^3.
        return mpmath.diff(along, at, order, h=mpmath.mpf(10) ** -10 * abs(at))


def relative_error(special: Special, xs: tuple[float, ...], found: float, true: Any) -> float:
    """Return the error of a number, relative to its size or to the scale of the function."""
    error = float(abs(found - true) / max(abs(true), special.scale(*xs), mpmath.mpf(10) ** -300))
    return math.inf if math.isnan(error) else error
