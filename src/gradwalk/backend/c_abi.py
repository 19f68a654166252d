"""C functions that run a program: their types, and Python functions in their place for uncompiled runs.

Each gets the program as a pointer to the Python object.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

_Doubles = ctypes.POINTER(ctypes.c_double)

# What runs it: void (void *program, const double *inputs, double *outputs).
RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _Doubles, _Doubles)
# One output, of one number or of n: what SciPy integrates.
OF_ONE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
OF_SEVERAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, _Doubles, ctypes.c_void_p)
# One output of the n numbers under a footprint; returns whether there were as many as there are inputs.
FILTER = ctypes.CFUNCTYPE(ctypes.c_int, _Doubles, ctypes.c_ssize_t, _Doubles, ctypes.c_void_p)

TYPES = RUN, OF_ONE, OF_SEVERAL, FILTER
_functions: list[Any] = []  # made once, and never freed


def addresses() -> Any:
    """Where the functions of these types are that call Python."""
    if not _functions:
        _functions.extend([RUN(_run), OF_ONE(_of_one), OF_SEVERAL(_of_several), FILTER(_filter)])
    return tuple([ctypes.cast(function, ctypes.c_void_p).value or 0 for function in _functions])


def _outputs(program: Any, numbers: Any) -> Any:
    return ctypes.cast(program, ctypes.py_object).value.run(numpy.array(numbers))


def _inputs(program: Any) -> int:
    count: int = ctypes.cast(program, ctypes.py_object).value.inputs
    return count


def _run(program: Any, inputs: Any, outputs: Any) -> None:
    for i, number in enumerate(_outputs(program, inputs[: _inputs(program)])):
        outputs[i] = number


def _of_one(x: float, program: Any) -> float:
    return float(_outputs(program, [x])[0])


def _of_several(n: int, x: Any, program: Any) -> float:
    return float(_outputs(program, x[:n])[0]) if n == _inputs(program) else float("nan")


def _filter(numbers: Any, n: int, result: Any, program: Any) -> int:
    if n != _inputs(program):
        return 0
    result[0] = _outputs(program, numbers[:n])[0]
    return 1
