"""Exact derivatives of the operations in mpmath, and operands at which rounding errors are large.

The formulas follow from the definitions, not from the table, and avoid subtractions that cancel.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy
from references import MPMATH, Functions, mpmath, not_real, psi

import gradwalk
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.rows import Operation
from gradwalk.value.apply import apply


class Format(NamedTuple):
    """A floating-point format: the bits of a significand, and the exponents of its normal numbers."""

    bits: int
    lowest: int
    highest: int

    @property
    def largest(self) -> float:
        return math.ldexp(2.0 - 2.0 ** (1 - self.bits), self.highest - 1)

    @property
    def smallest(self) -> int:
        """Exponent of the smallest positive number: 2 to this power."""
        return self.lowest - self.bits + 1


FLOAT64 = Format(53, -1022, 1024)
FLOAT32 = Format(24, -126, 128)


def _first() -> dict[str, Any]:
    m = mpmath
    zero, one = m.mpf(0), m.mpf(1)
    constant = (lambda *_: zero,)
    return {
        "add": (lambda x, y: one, lambda x, y: one),
        "sub": (lambda x, y: one, lambda x, y: -one),
        "mul": (lambda x, y: y, lambda x, y: x),
        "div": (lambda x, y: 1 / y, lambda x, y: -x / y / y),
        "pow": (_power_by_base, lambda x, y: zero if x == 0 and y >= 0 else m.power(x, y) * m.log(x)),
        "neg": (lambda x: -one,),
        "abs": (m.sign,),
        "exp": (m.exp,),
        "expm1": (m.exp,),
        "exp2": (lambda x: m.log(2) * m.power(2, x),),
        "cbrt": (lambda x: 1 / (3 * m.cbrt(x * x)),),
        "log1mexp": (lambda x: m.exp(x) / m.expm1(x),),
        "asinh": (lambda x: 1 / m.sqrt(1 + x * x),),
        "acosh": (lambda x: 1 / m.sqrt((x - 1) * (x + 1)),),
        "atanh": (lambda x: 1 / ((1 - x) * (1 + x)),),
        "sinc": (_of_sinc,),
        "silu": (lambda x: (1 + x / (1 + m.exp(x))) / (1 + m.exp(-x)),),
        "gelu": (lambda x: MPMATH["norm_cdf"](x) + x * m.npdf(x),),
        "erfc": (lambda x: -2 / m.sqrt(m.pi) * m.exp(-x * x),),
        "erfcx": (_of_erfcx,),
        "norm_pdf": (lambda x: -x * m.npdf(x),),
        "norm_cdf": (m.npdf,),
        "norm_ppf": (lambda x: 1 / m.npdf(MPMATH["norm_ppf"](x)),),
        "gamma": (lambda x: m.gamma(x) * psi(0, x),),
        "lgamma": (lambda x: psi(0, x),),
        "digamma": (lambda x: psi(1, x),),
        "trigamma": (lambda x: psi(2, x),),
        "floor": constant,
        "ceil": constant,
        "trunc": constant,
        "rint": constant,
        "log": (lambda x: 1 / x,),
        "log2": (lambda x: 1 / (x * m.log(2)),),
        "log10": (lambda x: 1 / (x * m.log(10)),),
        "log1p": (lambda x: 1 / (1 + x),),
        "sqrt": (lambda x: 1 / (2 * m.sqrt(x)),),
        "sin": (m.cos,),
        "cos": (lambda x: -m.sin(x),),
        "tan": (lambda x: 1 / m.cos(x) ** 2,),
        "asin": (lambda x: 1 / m.sqrt((1 - x) * (1 + x)),),
        "acos": (lambda x: -1 / m.sqrt((1 - x) * (1 + x)),),
        "atan": (lambda x: 1 / (1 + x * x),),
        "sinh": (m.cosh,),
        "cosh": (m.sinh,),
        "tanh": (lambda x: 1 / m.cosh(x) ** 2,),
        "sigmoid": (lambda x: 1 / (2 + 2 * m.cosh(x)),),
        "relu": (lambda x: one if x > 0 else zero,),
        "softplus": (lambda x: 1 / (1 + m.exp(-x)),),
        "erf": (lambda x: 2 / m.sqrt(m.pi) * m.exp(-x * x),),
        "atan2": (lambda x, y: y / (x * x + y * y), lambda x, y: -x / (x * x + y * y)),
        "hypot": (lambda x, y: x / m.sqrt(x * x + y * y), lambda x, y: y / m.sqrt(x * x + y * y)),
        "maximum": (lambda x, y: _share(x - y), lambda x, y: _share(y - x)),
        "minimum": (lambda x, y: _share(y - x), lambda x, y: _share(x - y)),
        "where": (lambda *_: zero, lambda x, y, z: one if x else zero, lambda x, y, z: zero if x else one),
        "sign": constant,
        "less": constant * 2,
        "less_equal": constant * 2,
        "equal": constant * 2,
        "floor_divide": constant * 2,
        "mod": (lambda x, y: one, lambda x, y: -MPMATH["floor_divide"](x, y)),
        "fmod": (lambda x, y: one, lambda x, y: -m.sign(x) * m.sign(y) * MPMATH["floor_divide"](abs(x), abs(y))),
        "remainder": (lambda x, y: one, _nearest_quotient),
        "fmax": (lambda x, y: _share(x - y), lambda x, y: _share(y - x)),
        "fmin": (lambda x, y: _share(y - x), lambda x, y: _share(x - y)),
        "copysign": (lambda x, y: m.sign(x) * m.sign(y), lambda x, y: zero),
        "logaddexp": (lambda x, y: 1 / (1 + m.exp(y - x)), lambda x, y: 1 / (1 + m.exp(x - y))),
        "stop_gradient": constant,
    }


def _second() -> dict[str, Callable[..., Any]]:
    m = mpmath
    return {
        "exp": m.exp,
        "expm1": m.exp,
        "exp2": lambda x: m.log(2) ** 2 * m.power(2, x),
        "cbrt": lambda x: -2 / (9 * m.sign(x) * m.cbrt(abs(x)) ** 5),
        "log1mexp": lambda x: -m.exp(x) / m.expm1(x) ** 2,
        "asinh": lambda x: -x / m.sqrt(1 + x * x) ** 3,
        "acosh": lambda x: -x / m.sqrt((x - 1) * (x + 1)) ** 3,
        "atanh": lambda x: 2 * x / ((1 - x) * (1 + x)) ** 2,
        "erfc": lambda x: 4 * x / m.sqrt(m.pi) * m.exp(-x * x),
        "norm_pdf": lambda x: (x - 1) * (x + 1) * m.npdf(x),
        "norm_cdf": lambda x: -x * m.npdf(x),
        "norm_ppf": lambda x: MPMATH["norm_ppf"](x) / m.npdf(MPMATH["norm_ppf"](x)) ** 2,
        "lgamma": lambda x: psi(1, x),
        "digamma": lambda x: psi(2, x),
        "trigamma": lambda x: psi(3, x),
        "sinc": _second_of_sinc,
        "silu": lambda x: (2 - x * m.tanh(x / 2)) / (2 + 2 * m.cosh(x)),
        "gelu": lambda x: (2 - x * x) * m.npdf(x),
        "erfcx": _second_of_erfcx,
        "gamma": lambda x: m.gamma(x) * (psi(0, x) ** 2 + psi(1, x)),
        "log": lambda x: -1 / x**2,
        "log2": lambda x: -1 / (x**2 * m.log(2)),
        "log10": lambda x: -1 / (x**2 * m.log(10)),
        "log1p": lambda x: -1 / (1 + x) ** 2,
        "sqrt": lambda x: -1 / (4 * x * m.sqrt(x)),
        "sin": lambda x: -m.sin(x),
        "cos": lambda x: -m.cos(x),
        "tan": lambda x: 2 * m.tan(x) / m.cos(x) ** 2,
        "asin": lambda x: x / m.sqrt((1 - x) * (1 + x)) ** 3,
        "acos": lambda x: -x / m.sqrt((1 - x) * (1 + x)) ** 3,
        "atan": lambda x: -2 * x / (1 + x * x) ** 2,
        "sinh": m.sinh,
        "cosh": m.cosh,
        "tanh": lambda x: -2 * m.tanh(x) / m.cosh(x) ** 2,
        "sigmoid": lambda x: -m.tanh(x / 2) / (2 + 2 * m.cosh(x)),
        "softplus": lambda x: 1 / (2 + 2 * m.cosh(x)),
        "erf": lambda x: -4 * x / m.sqrt(m.pi) * m.exp(-x * x),
    }


def _power_by_base(x: Any, y: Any) -> Any:
    return mpmath.mpf(0) if y == 0 else y * mpmath.power(x, y - 1)


def _of_sinc(x: Any) -> Any:
    """With 60 digits the difference is accurate down to 1e-12; below, the first terms of the series are used."""
    m = mpmath
    return (m.cospi(x) - m.sincpi(x)) / x if abs(x) > 1e-12 else -(m.pi**2) * x / 3 * (1 - m.pi**2 * x * x / 10)


def _second_of_sinc(x: Any) -> Any:
    m = mpmath
    if abs(x) < 1e-6:
        return -(m.pi**2) / 3 + m.pi**4 * x * x / 10 - m.pi**6 * x**4 / 168
    return -(m.pi**2) * m.sincpi(x) - 2 * _of_sinc(x) / x


def _of_erfcx(x: Any) -> Any:
    """Differentiate erfcx by DLMF 7.11.5, where no terms cancel."""
    m = mpmath
    return -2 / m.sqrt(m.pi) + 2 * x * MPMATH["erfcx"](x) if x < 20 else -x * m.hyperu(1.5, 1.5, x * x) / m.sqrt(m.pi)


def _second_of_erfcx(x: Any) -> Any:
    m, square = mpmath, x * x
    if x < 20:
        return (2 + 4 * square) * MPMATH["erfcx"](x) - 4 * x / m.sqrt(m.pi)
    return (3 * square * m.hyperu(2.5, 2.5, square) - m.hyperu(1.5, 1.5, square)) / m.sqrt(m.pi)


def _nearest_quotient(x: Any, y: Any) -> Any:
    with mpmath.workdps(1000):
        return -mpmath.nint(x / y)


def _share(difference: Any) -> Any:
    """Return the partial of a maximum (1, 1/2 or 0) by an operand that exceeds the other by `difference`."""
    return (1 + mpmath.sign(difference)) / 2


# For each row: one function of the operands per partial, and the second derivative if it has one operand.
FIRST, SECOND = Functions(_first), Functions(_second)


def exact(function: Callable[..., Any], operands: tuple[float, ...]) -> Any:
    """Evaluate a function of mpmath at floats, or return None if the result is not real."""
    try:
        with mpmath.workdps(60):
            result = function(*map(mpmath.mpf, operands))
    except not_real():
        return None
    return result if isinstance(result, mpmath.mpf) and mpmath.isfinite(result) else None


def ulps_off(number: float, true: Any, of: Format = FLOAT64) -> float | None:
    """Return the error of a number in ulp of the true one, or None if that is not a normal number."""
    if true is None or true == 0:
        return None
    exponent = int(mpmath.frexp(true)[1])  # the true number is at least 2 ** (exponent - 1)
    if not of.lowest < exponent <= of.highest or abs(true) > of.largest:
        return None
    if not math.isfinite(number):
        return math.inf
    with mpmath.workdps(60):
        return float(abs(number - true) * mpmath.mpf(2) ** (of.bits - exponent))


# Special points: zeros, poles, kinks, and where functions saturate, overflow or underflow.
_SPECIAL = (0.25, 0.5, 1.0, 2.0, 6.0, 19.0, 37.0, 88.0, 104.0, 354.0, 572.0, 709.0, 745.0, math.pi / 2, math.pi, 1e154)


def operands(row: Operation, count: int, of: Format = FLOAT64) -> list[tuple[float, ...]]:
    """Draw operands of a row with a fixed seed: of any magnitude, moderate, and near special points."""
    draw = random.Random(row.name)
    found = [*_of_one(draw, count, of)] if row.arity == 1 else [*_of_more(row, draw, count, of)]
    return list(dict.fromkeys(tuple(_rounded(x, of) for x in xs) for xs in found))


def _rounded(x: float, of: Format) -> float:
    """Round to a format, with its largest number instead of infinity."""
    if of == FLOAT64:
        return x
    fraction, exponent = math.frexp(x)
    step = max(exponent - of.bits, of.smallest)
    return max(-of.largest, min(of.largest, math.ldexp(round(math.ldexp(fraction, exponent - step)), step)))


def _of_any_magnitude(draw: random.Random, of: Format) -> float:
    return draw.choice((-1.0, 1.0)) * _power_of_2(draw.uniform(of.smallest, of.highest))


def _power_of_2(exponent: float) -> float:
    whole = math.floor(min(exponent, 1023.999))
    return math.ldexp(2.0 ** (min(exponent, 1023.999) - whole), whole)


def _of_one(draw: random.Random, count: int, of: Format) -> Iterator[tuple[float, ...]]:
    for special in _SPECIAL:
        for side in (-1.0, 1.0):
            for power in range(1, 53, 3):
                yield (side * special * (1 + draw.choice((-1, 1)) * 2.0**-power),)
            yield (side * special,)
    for _ in range(count):
        yield (_of_any_magnitude(draw, of),)
        yield (draw.uniform(-2.0, 2.0),)
        yield (draw.uniform(-40.0, 40.0),)
        yield (draw.uniform(-760.0, 760.0),)


def _of_more(row: Operation, draw: random.Random, count: int, of: Format) -> Iterator[tuple[float, ...]]:
    others = (1.5,) * (row.arity - 2)
    for _ in range(count):
        x, y = _of_any_magnitude(draw, of), _of_any_magnitude(draw, of)
        tiny = _power_of_2(draw.uniform(of.smallest, of.lowest))
        alike = x * draw.uniform(-1.0, 1.0)
        yield (x, y, *others)
        yield (x, max(-of.largest, min(of.largest, alike)), *others)
        yield (tiny, tiny * draw.uniform(-4.0, 4.0), *others)
        yield (draw.uniform(-20.0, 20.0), draw.uniform(-20.0, 20.0), *others)
        if row.name == "pow":
            base = abs(draw.choice((x, draw.uniform(0.0, 20.0), 1 + draw.uniform(-1, 1) * 2.0 ** draw.uniform(-50, 0))))
            exponent = draw.uniform(of.smallest, of.highest) / (math.log2(base) if base not in (0.0, 1.0) else 1.0)
            yield (base, exponent)
            yield (base, round(exponent) or 3.0)
            yield (-base, round(exponent) or 3.0)
            yield (x, draw.choice((0.5, -0.5, -1.0, 2.0, 3.0, 4.0, -2.0, 0.3, 1 / 3)))


# Measuring


class Worst(NamedTuple):
    """The largest error in ulp and the operands where it occurs."""

    ulps: float
    at: tuple[float, ...]


def function(row: Operation) -> Callable[..., Any]:
    """Return a row as a function of Values."""
    return lambda *xs: apply(OPCODES[row.name], *xs)


def quantities(row: Operation) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the name and the exact function of each measured quantity of a row."""
    yield "value", MPMATH[row.name]
    for position in range(row.arity):
        if position not in row.non_differentiable:
            yield f"d/d{'xyz'[position]}", FIRST[row.name][position]
    if row.name in SECOND:
        yield "d²/dx²", SECOND[row.name]


def eager(row: Operation, points: list[tuple[float, ...]]) -> dict[str, Any]:
    """Compute values and partials by Values, and second derivatives by a program for one sample."""
    found: dict[str, Any] = {"value": [], "d/dx": [], "d/dy": [], "d/dz": [], "d²/dx²": []}
    second = gradwalk.jit(gradwalk.grad(gradwalk.grad(function(row))))
    for xs in points:
        out = apply(OPCODES[row.name], *map(gradwalk.Value, xs))
        found["value"].append(out.data)
        for position, partial in enumerate(out.partials):
            found[f"d/d{'xyz'[position]}"].append(partial)
        if row.name in SECOND:
            found["d²/dx²"].append(float(second(*xs)))
    return found


def lanes(row: Operation, points: list[tuple[float, ...]], of: Format) -> dict[str, Any]:
    """Compute the quantities in batches."""
    columns = [
        numpy.array(column, numpy.float32 if of == FLOAT32 else numpy.float64) for column in zip(*points, strict=True)
    ]
    f = function(row)
    found: dict[str, Any] = {"value": gradwalk.vmap(f)(*columns)}
    for position in range(row.arity):
        if position not in row.non_differentiable:
            found[f"d/d{'xyz'[position]}"] = gradwalk.vmap(gradwalk.grad(f, argnums=position))(*columns)
    if row.name in SECOND:
        found["d²/dx²"] = gradwalk.vmap(gradwalk.grad(gradwalk.grad(f)))(*columns)
    return found


def worst(row: Operation, points: list[tuple[float, ...]], found: dict[str, Any], of: Format) -> dict[str, Worst]:
    """Find the largest error of each quantity where the operation is defined and the true number is normal."""
    largest = {}
    defined = [exact(MPMATH[row.name], xs) is not None for xs in points]
    for quantity, function_of in quantities(row):
        errors = [Worst(0.0, ())]
        for xs, number, inside in zip(points, found[quantity], defined, strict=True):
            off = ulps_off(float(number), exact(function_of, xs), of) if inside else None
            if off is not None:
                errors.append(Worst(off, xs))
        largest[quantity] = max(errors)
    return largest
