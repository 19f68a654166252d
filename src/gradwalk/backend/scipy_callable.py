"""Conversion of traced functions to `scipy.LowLevelCallable`, which SciPy's C routines call without Python."""

from __future__ import annotations

import ctypes
from typing import Any

from gradwalk.base.optional import from_scipy
from gradwalk.program.program import Program
from gradwalk.program.run import c_abi


def low_level_callable(program: Program) -> Any:
    """Convert a program with one output to an integrand for `quad`, `nquad`, `dblquad` and `tplquad`.

    SciPy calls the integrand without the GIL. Any number of threads may call it.

    Args:
        program: The program of a traced function: `jit(f).program`, after a call. Its first inputs are the integration
            variables, and the other inputs come from SciPy's `args`. The integrand is nan if SciPy passes more or fewer
            numbers than the program has inputs.

    Returns:
        The `scipy.LowLevelCallable`.

    Raises:
        TypeError: If `program` is not a program.
        ProgramError: If the program calls a Python function.
        ValueError: If the program does not have exactly one output.
        ImportError: If SciPy is not installed.

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
    """Convert a program with one output to a `scipy.LowLevelCallable` for `scipy.ndimage.generic_filter`.

    Args:
        program: The program of a traced function: `jit(f).program`, after a call. Its inputs are the pixels under the
            footprint. `generic_filter` raises `RuntimeError` if the number of pixels is not the number of inputs.

    Returns:
        The `scipy.LowLevelCallable`.

    Raises:
        TypeError: If `program` is not a program.
        ProgramError: If the program calls a Python function.
        ValueError: If the program does not have exactly one output.
        ImportError: If SciPy is not installed.

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
        raise TypeError(
            f"{name}: program must be a Program (jit(f).program after a call), got {type(program).__name__}"
        )
    if len(program.outputs) != 1:
        conditions = [output for output in program.output_names if output.startswith("branch[")]
        advice = ". The last outputs are conditions of branches: use gradwalk.math.where or gradwalk.loops.cond"
        raise ValueError(
            f"{name}: program must have exactly one output, got {len(program.outputs)}{advice if conditions else ''}"
        )
    program.code.refuse_calls("which only Python can run")


def _callable(program: Program, function: Any) -> Any:
    low_level = from_scipy("scipy", "LowLevelCallable", "low_level_callable()")
    function.program = program  # the handle below is valid only while the program is alive
    return low_level(function, user_data=ctypes.c_void_p(program.handle))
