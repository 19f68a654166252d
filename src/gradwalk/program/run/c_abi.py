"""The types and addresses of C functions that run a program.

Each function takes a handle, which is the address of an `Interpreter`. The function needs the GIL only if the program
has calls, and several threads may run one program at once. If gradwalk is not compiled, the functions are callbacks
into Python.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from gradwalk.base import _cython as cython
from gradwalk.program.run.interpreter import Interpreter

if not TYPE_CHECKING and cython.compiled:
    import cython

_nan = cython.declare(cython.double, numpy.nan)

_Doubles = ctypes.POINTER(ctypes.c_double)

# Type of functions that compute the outputs from the inputs: void (void *handle, const double *inputs, double
# *outputs).
RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _Doubles, _Doubles)
# Types of functions that return the output of a program with a single output: OF_ONE for one input, OF_SEVERAL for
# several inputs. They are the types of integrands in `scipy.integrate`.
OF_ONE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
OF_SEVERAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, _Doubles, ctypes.c_void_p)
# Type of functions that compute the output for the n numbers in a footprint, as `scipy.ndimage` needs. The functions
# return 0 if n is not the number of inputs, else 1.
FILTER = ctypes.CFUNCTYPE(ctypes.c_int, _Doubles, ctypes.c_ssize_t, _Doubles, ctypes.c_void_p)


class Addresses(NamedTuple):
    """The addresses of the C functions of types `RUN`, `OF_ONE`, `OF_SEVERAL` and `FILTER`."""

    run: int
    of_one: int
    of_several: int
    filter: int


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _run(handle: cython.p_void, inputs: cython.p_double, outputs: cython.p_double) -> cython.void:
    cython.cast(Interpreter, handle).compute(inputs, outputs)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _of_one(number: cython.double, handle: cython.p_void) -> cython.double:
    return _of_several(1, cython.address(number), handle)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _of_several(count: cython.int, numbers: cython.p_double, handle: cython.p_void) -> cython.double:
    result: cython.double = _nan
    if count == cython.cast(Interpreter, handle).inputs:
        cython.cast(Interpreter, handle).compute(numbers, cython.address(result))
    return result


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _filter(
    numbers: cython.p_double, count: cython.Py_ssize_t, result: cython.p_double, handle: cython.p_void
) -> cython.int:
    if count != cython.cast(Interpreter, handle).inputs:
        return 0
    cython.cast(Interpreter, handle).compute(numbers, result)
    return 1


def _interpreter(handle: Any) -> Any:
    return ctypes.cast(handle, ctypes.py_object).value


def _outputs_of(interpreter: Any, numbers: Any) -> Any:
    """Run a program; return nan for all outputs if it raises an error, because C cannot propagate errors."""
    try:
        return interpreter.run(numpy.array(numbers))
    except Exception:
        return numpy.full(len(interpreter.code.outputs), numpy.nan)


def _run_in_python(handle: Any, inputs: Any, outputs: Any) -> None:
    interpreter = _interpreter(handle)
    for i, number in enumerate(_outputs_of(interpreter, inputs[: interpreter.inputs])):
        outputs[i] = number


def _of_one_in_python(number: float, handle: Any) -> float:
    return float(_outputs_of(_interpreter(handle), [number])[0])


def _of_several_in_python(count: int, numbers: Any, handle: Any) -> float:
    interpreter = _interpreter(handle)
    return float(_outputs_of(interpreter, numbers[:count])[0]) if count == interpreter.inputs else float("nan")


def _filter_in_python(numbers: Any, count: int, result: Any, handle: Any) -> int:
    interpreter = _interpreter(handle)
    if count != interpreter.inputs:
        return 0
    result[0] = _outputs_of(interpreter, numbers[:count])[0]
    return 1


@functools.cache
def _functions_in_python() -> tuple[Any, ...]:
    """Return the callbacks into Python. They are cached so that they stay alive while C may call them."""
    return (
        RUN(_run_in_python),
        OF_ONE(_of_one_in_python),
        OF_SEVERAL(_of_several_in_python),
        FILTER(_filter_in_python),
    )


def addresses_in_python() -> Addresses:
    """Return the addresses of the callbacks into Python, which are used if gradwalk is not compiled."""
    return Addresses(*[ctypes.cast(function, ctypes.c_void_p).value or 0 for function in _functions_in_python()])


if cython.compiled:
    ADDRESSES = Addresses(
        cython.cast(cython.size_t, cython.cast(cython.p_void, _run)),
        cython.cast(cython.size_t, cython.cast(cython.p_void, _of_one)),
        cython.cast(cython.size_t, cython.cast(cython.p_void, _of_several)),
        cython.cast(cython.size_t, cython.cast(cython.p_void, _filter)),
    )
else:
    ADDRESSES = addresses_in_python()
