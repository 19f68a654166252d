"""Elementwise functions with NumPy's names, built from the functions of `gradwalk.math`."""

from __future__ import annotations

import functools
import inspect
import math as real
from collections.abc import Callable
from typing import Any

import numpy

from gradwalk import cmath, math
from gradwalk.complex_numbers.complex_array import as_complex_array, has_complex
from gradwalk.numpy.arrays import holds_values
from gradwalk.numpy.names.advice import NUMBERS_ONLY
from gradwalk.value.arrays import as_array
from gradwalk.value.value import Value

__all__ = [  # noqa: RUF022  in groups
    # Exponentials and powers
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "float_power",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "pow",
    "power",
    "reciprocal",
    "sqrt",
    # Angles
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "hypot",
    "rad2deg",
    "radians",
    "sin",
    "sinc",
    "sinh",
    "tan",
    "tanh",
    # Signs, rounding and remainders
    "abs",
    "absolute",
    "ceil",
    "copysign",
    "fabs",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "ldexp",
    "mod",
    "modf",
    "remainder",
    "rint",
    "trunc",
    # Functions of numbers
    "frexp",
    "gcd",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "i0",
    "lcm",
    "lexsort",
    "nextafter",
    "roots",
    "spacing",
]


def _elementwise(
    of_numbers: Callable[..., Any], of_values: Callable[..., Any], of_complex: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Return a function that calls `of_values` if an operand contains Values, otherwise NumPy's function.

    It calls `of_complex` if an element is complex, by default the function of `gradwalk.cmath` with the same name.
    """
    name = of_numbers.__name__
    complex_function = of_complex or getattr(cmath, getattr(of_values, "__name__", ""), None)
    operands = list(inspect.signature(of_values).parameters)[: getattr(of_numbers, "nin", 1)]

    def function(*arrays: Any) -> Any:
        if len(arrays) != len(operands):
            raise TypeError(f"{name}() takes {len(operands)} positional arguments, got {len(arrays)}")
        operands_as_arrays = [as_array(array) for array in arrays]
        if not holds_values(*operands_as_arrays):
            return of_numbers(*arrays)
        if complex_function and any(map(has_complex, operands_as_arrays)):
            return as_complex_array(complex_function(*operands_as_arrays))
        return of_values(*operands_as_arrays)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _documentation(of_numbers, of_values, operands)
    parameters = [inspect.Parameter(x, inspect.Parameter.POSITIONAL_ONLY) for x in operands]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function


def _documentation(of_numbers: Callable[..., Any], of_values: Callable[..., Any], operands: list[str]) -> str:
    """Return a docstring: the summary of NumPy's docstring, then the derivatives of the function of `gradwalk.math`."""
    paragraphs = (inspect.getdoc(of_numbers) or "").split("\n\n")
    summary = next((x for x in paragraphs if not x.startswith(f"{of_numbers.__name__}(")), "")
    derivatives = [line for line in (inspect.getdoc(of_values) or "").splitlines() if line.startswith("d/d")]
    lines = [f"    {x}: An array of Values or numbers." for x in operands]
    returns = f"    An array. For arrays of numbers, the result of `numpy.{of_numbers.__name__}`."
    rules = [*derivatives, ""] if derivatives else []
    return "\n".join(
        [
            " ".join(summary.split()).partition(". ")[0].removesuffix(".") + ".",
            "",
            *rules,
            "Args:",
            *lines,
            "",
            "Returns:",
            returns,
        ]
    )


def _hypot(x: Any, y: Any) -> Any:
    return math.hypot(x, y)


# The rows give the function of NumPy and the function of Values. Aliases of the array API standard follow.
exp = _elementwise(numpy.exp, math.exp)
exp2 = _elementwise(numpy.exp2, math.exp2, lambda z: cmath.exp(z * real.log(2.0)))
expm1 = _elementwise(numpy.expm1, math.expm1)
log = _elementwise(numpy.log, math.log)
log10 = _elementwise(numpy.log10, math.log10)
log1p = _elementwise(numpy.log1p, math.log1p)
log2 = _elementwise(numpy.log2, math.log2, lambda z: cmath.log(z) / real.log(2.0))
logaddexp = _elementwise(numpy.logaddexp, math.logaddexp)
logaddexp2 = _elementwise(
    numpy.logaddexp2, lambda x, y: math.logaddexp(x * real.log(2.0), y * real.log(2.0)) / real.log(2.0)
)
sqrt = _elementwise(numpy.sqrt, math.sqrt)
cbrt = _elementwise(numpy.cbrt, math.cbrt)
power = pow = _elementwise(numpy.power, math.pow, lambda z, w: z**w)
float_power = _elementwise(numpy.float_power, math.pow)
reciprocal = _elementwise(numpy.reciprocal, lambda x: 1.0 / x)

sin = _elementwise(numpy.sin, math.sin)
cos = _elementwise(numpy.cos, math.cos)
tan = _elementwise(numpy.tan, math.tan)
sinh = _elementwise(numpy.sinh, math.sinh)
cosh = _elementwise(numpy.cosh, math.cosh)
tanh = _elementwise(numpy.tanh, math.tanh)
arcsin = asin = _elementwise(numpy.arcsin, math.asin)
arccos = acos = _elementwise(numpy.arccos, math.acos)
arctan = atan = _elementwise(numpy.arctan, math.atan)
arctan2 = atan2 = _elementwise(numpy.arctan2, math.atan2)
arcsinh = asinh = _elementwise(numpy.arcsinh, math.asinh)
arccosh = acosh = _elementwise(numpy.arccosh, math.acosh)
arctanh = atanh = _elementwise(numpy.arctanh, math.atanh)
deg2rad = _elementwise(numpy.deg2rad, math.radians)
radians = _elementwise(numpy.radians, math.radians)
rad2deg = _elementwise(numpy.rad2deg, math.degrees)
degrees = _elementwise(numpy.degrees, math.degrees)
hypot = _elementwise(numpy.hypot, _hypot)
sinc = _elementwise(numpy.sinc, math.sinc)

abs = absolute = _elementwise(numpy.absolute, math.abs, numpy.absolute)
ceil = _elementwise(numpy.ceil, math.ceil)
floor = _elementwise(numpy.floor, math.floor)
trunc = _elementwise(numpy.trunc, math.trunc)
rint = _elementwise(numpy.rint, math.rint)
fabs = _elementwise(numpy.fabs, math.abs)
copysign = _elementwise(numpy.copysign, math.copysign)
floor_divide = _elementwise(numpy.floor_divide, math.floor_divide)
mod = _elementwise(numpy.mod, math.mod)
remainder = _elementwise(numpy.remainder, math.mod)
fmod = _elementwise(numpy.fmod, math.fmod)
fmax = _elementwise(numpy.fmax, math.fmax)
fmin = _elementwise(numpy.fmin, math.fmin)
modf = _elementwise(numpy.modf, math.modf)
ldexp = _elementwise(numpy.ldexp, lambda x, i: x * 2.0**i)
heaviside = _elementwise(
    numpy.heaviside, lambda x, h0: math.where(math.equal(x, 0.0), h0, 0.5 * (math.sign(x) + math.sign(math.abs(x))))
)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy that raises `TypeError`, with the advice of NUMBERS_ONLY, for arrays of Values."""
    name = function.__name__

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, (Value, numpy.ndarray)) and holds_values(as_array(x)) for x in args):
            raise TypeError(f"gradwalk.numpy.{name} accepts arrays of numbers, not of Values: {NUMBERS_ONLY[name]}")
        return function(*args, **kwargs)

    return checked


frexp = plain(numpy.frexp)
gcd = plain(numpy.gcd)
histogram2d = plain(numpy.histogram2d)
histogram_bin_edges = plain(numpy.histogram_bin_edges)
histogramdd = plain(numpy.histogramdd)
i0 = _elementwise(numpy.i0, math.i0)
lcm = plain(numpy.lcm)
lexsort = plain(numpy.lexsort)
nextafter = plain(numpy.nextafter)
roots = plain(numpy.roots)
spacing = plain(numpy.spacing)
