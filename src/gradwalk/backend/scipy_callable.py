"""Recorded functions for SciPy's routines in C: integrands and filters that never go through Python."""

from __future__ import annotations

import ctypes
from typing import Any

from gradwalk.backend import c_abi
from gradwalk.backend.from_scipy import from_scipy
from gradwalk.program.opcodes import refuse_calls
from gradwalk.program.program import ADDRESSES, Program


def low_level_callable(program: Program) -> Any:
    """A program of one output as a `scipy.LowLevelCallable`, for `quad`, `nquad`, `dblquad` and `tplquad`.

    The first inputs are what is integrated over, the later ones what `args` gives. With another number of them the
    result is nan. The program is that of a recorded function, `jit(f).program`, after a call with numbers of any size.
    It needs no interpreter lock, and any number of threads may run it.

    Raises `ProgramError` where the program calls a function of Python, `ValueError` where it has another number of
    outputs than one, `ImportError` without SciPy.

    >>> from scipy.integrate import quad
    >>> from gradwalk import jit, math
    >>> bell = jit(lambda x, width: math.exp(-((x / width) ** 2)))
    >>> bell(0.0, 1.0)
    1.0
    >>> round(quad(low_level_callable(bell.program), -9.0, 9.0, args=(0.5,))[0] ** 2 / 0.5**2, 12)  # pi
    3.14159265359
    """
    _check(program, "low_level_callable()")
    return _callable(program, c_abi.OF_ONE if program.inputs == 1 else c_abi.OF_SEVERAL)


def low_level_filter(program: Program) -> Any:
    """A program of one output as a `scipy.LowLevelCallable` for `scipy.ndimage.generic_filter`.

    Its inputs are the pixels under the footprint, as many as that has; else `generic_filter` raises `RuntimeError`.
    Raises the same errors as `low_level_callable`.

    >>> import numpy
    >>> from scipy.ndimage import generic_filter
    >>> from gradwalk import jit
    >>> spread = jit(lambda pixels: (pixels[0] - pixels[2]) ** 2)
    >>> spread(numpy.zeros(3))
    0.0
    >>> generic_filter(numpy.array([1.0, 2.0, 4.0, 8.0]), low_level_filter(spread.program), size=3)
    array([ 1.,  9., 36., 16.])
    """
    _check(program, "low_level_filter()")
    return _callable(program, c_abi.FILTER)


def _check(program: Program, name: str) -> None:
    if not isinstance(program, Program):
        raise TypeError(f"{name} takes a program, such as jit(f).program after a call, not {type(program).__name__}")
    if len(program.outputs) != 1:
        raise ValueError(f"{name} takes a program of one output, and this one has {len(program.outputs)}")
    refuse_calls(program, "which nothing but Python can run")


def _callable(program: Program, kind: Any) -> Any:
    low_level = from_scipy("scipy", "LowLevelCallable", "low_level_callable()")
    function = kind(ADDRESSES[c_abi.TYPES.index(kind)])
    function.program = program  # which has to live as long as what has its address
    return low_level(function, user_data=ctypes.c_void_p(program.handle))
