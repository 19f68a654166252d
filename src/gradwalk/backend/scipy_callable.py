"""Recorded functions for SciPy's routines in C: integrands and filters that never go through Python."""

from __future__ import annotations

import ctypes
from typing import Any

from gradwalk.base.optional import from_scipy
from gradwalk.program.program import Program
from gradwalk.program.run import c_abi


def low_level_callable(program: Program) -> Any:
    """Make a program of one output a `scipy.LowLevelCallable`, for `quad`, `nquad`, `dblquad` and `tplquad`.

    SciPy then calls it without the interpreter lock, from any number of threads.

    Args:
        program: The program of a recorded function: `jit(f).program`, after a call. Its first inputs are what is
            integrated over, the later ones what `args` gives. With another number of them the result is nan.

    Returns:
        The `scipy.LowLevelCallable`.

    Raises:
        TypeError: If it is given anything but a program.
        ProgramError: If the program calls a function of Python.
        ValueError: If the program does not have exactly one output.
        ImportError: Without SciPy.

    Example:
        >>> from scipy.integrate import quad
        >>> from gradwalk import jit, math
        >>> bell = jit(lambda x, width: math.exp(-((x / width) ** 2)))
        >>> bell(0.0, 1.0)
        1.0
        >>> round(quad(low_level_callable(bell.program), -9.0, 9.0, args=(0.5,))[0] ** 2 / 0.5**2, 12)  # pi
        3.14159265359
    """
    _check(program, "low_level_callable()")
    if program.inputs == 1:
        return _callable(program, c_abi.OF_ONE(c_abi.ADDRESSES.of_one))
    return _callable(program, c_abi.OF_SEVERAL(c_abi.ADDRESSES.of_several))


def low_level_filter(program: Program) -> Any:
    """Make a program of one output a `scipy.LowLevelCallable` for `scipy.ndimage.generic_filter`.

    Args:
        program: The program of a recorded function: `jit(f).program`, after a call. Its inputs are the pixels under the
            footprint. With another number of them `generic_filter` raises `RuntimeError`.

    Returns:
        The `scipy.LowLevelCallable`.

    Raises:
        TypeError: If it is given anything but a program.
        ProgramError: If the program calls a function of Python.
        ValueError: If the program does not have exactly one output.
        ImportError: Without SciPy.

    Example:
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
    return _callable(program, c_abi.FILTER(c_abi.ADDRESSES.filter))


def _check(program: Program, name: str) -> None:
    if not isinstance(program, Program):
        raise TypeError(f"{name} takes a program, such as jit(f).program after a call, not {type(program).__name__}")
    if len(program.outputs) != 1:
        raise ValueError(f"{name} takes a program of one output, and this one has {len(program.outputs)}")
    program.code.refuse_calls("which nothing but Python can run")


def _callable(program: Program, function: Any) -> Any:
    low_level = from_scipy("scipy", "LowLevelCallable", "low_level_callable()")
    function.program = program  # The handle is valid for as long as the program lives.
    return low_level(function, user_data=ctypes.c_void_p(program.handle))
