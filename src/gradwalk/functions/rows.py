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
copysign = _row("copysign")
divide = _row("div")
equal = _row("equal")
exp = _row("exp")
expm1 = _row("expm1")
floor_divide = _row("floor_divide")
fmax = _row("fmax")
fmod = _row("fmod")
hypot = _row("hypot")
less = _row("less")
less_equal = _row("less_equal")
log = _row("log")
logaddexp = _row("logaddexp")
maximum = _row("maximum")
minimum = _row("minimum")
multiply = _row("mul")
negative = _row("neg")
sqrt = _row("sqrt")
stop_gradient = _row("stop_gradient")
subtract = _row("sub")
where = _row("where")
