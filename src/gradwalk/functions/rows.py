"""The operations that other functions are composed of, as functions of Values, numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value.apply import apply


def _row(name: str) -> Callable[..., Any]:
    return partial(apply, NAMES.index(name))


absolute = _row("abs")
add = _row("add")
asinh = _row("asinh")
atanh = _row("atanh")
copysign = _row("copysign")
cos = _row("cos")
cosh = _row("cosh")
digamma = _row("digamma")
divide = _row("div")
equal = _row("equal")
erf = _row("erf")
erfcx = _row("erfcx")
exp = _row("exp")
expm1 = _row("expm1")
floor_divide = _row("floor_divide")
fmax = _row("fmax")
fmod = _row("fmod")
gamma = _row("gamma")
hypot = _row("hypot")
less = _row("less")
less_equal = _row("less_equal")
lgamma = _row("lgamma")
log = _row("log")
log1mexp = _row("log1mexp")
log1p = _row("log1p")
logaddexp = _row("logaddexp")
maximum = _row("maximum")
minimum = _row("minimum")
multiply = _row("mul")
negative = _row("neg")
norm_cdf = _row("norm_cdf")
norm_pdf = _row("norm_pdf")
norm_ppf = _row("norm_ppf")
power = _row("pow")
rint = _row("rint")
sigmoid = _row("sigmoid")
sign = _row("sign")
sin = _row("sin")
sinh = _row("sinh")
sqrt = _row("sqrt")
stop_gradient = _row("stop_gradient")
subtract = _row("sub")
trigamma = _row("trigamma")
where = _row("where")
