"""`LoopMachine`: machine code that runs a program with loops on a batch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend.lane_count import FEWEST_LANES
from gradwalk.backend.lane_kernel import chosen_instruction_set
from gradwalk.backend.launch import INSTRUCTION_SETS, IS_COMPILED, USES_LIBMVEC, USES_OWN_FUNCTIONS, row_functions
from gradwalk.backend.llvm.lane_machine import Lanes, LoopCode, RefusedError, compiled_loops
from gradwalk.backend.thread_pool import look_for_halt
from gradwalk.program.code.code import Code
from gradwalk.program.code.parts import split
from gradwalk.program.native import compile_queue, machine_code
from gradwalk.program.native.scalar_ir import DONE
from gradwalk.program.routine.lower_calls import why_not_lowerable

_COLD = 2  # machine code is compiled when the program has run so many times
_NUMBERS = ctypes.c_void_p
_RUN = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, _NUMBERS, _NUMBERS, _NUMBERS, ctypes.c_int64, ctypes.c_int64
)  # see `loop_ir`


class LoopMachine:
    """Machine code of a program for float64 and for float32, which is compiled while other code runs the program.

    Args:
        code: The program.
        varies: Whether each input has one number per sample.
        policy: When and how to compile.

    Attributes:
        uniform: Indices of the values that are the same for all samples.
        columns: Indices of the inputs that vary.
        outputs: Indices of the results.
    """

    def __init__(self, code: Code, varies: Sequence[bool], policy: machine_code.Policy) -> None:
        _, part = split(code, varies)
        self._code = part.code
        given = [index < code.inputs and varies[index] for index in part.inputs]
        count = len(given) - sum(given)
        self.uniform, self.columns, self.outputs = part.inputs[:count], part.inputs[count:], part.outputs
        self._policy = policy
        self._runs = [0, 0]
        self._found: list[LoopCode | None] = [None, None]
        self._refusals = ["", ""]

    def prepare(self, *, single: bool) -> None:
        """Request machine code: before the first run if the policy is "llvm", else when the program has run before."""
        self._runs[single] += 1
        if self._runs[single] > _COLD or self.refusal(single=single):
            return
        if self._policy.backend == "llvm":
            self._runs[single] = _COLD + 1
            machine_code.run_now(partial(self._compile, single))
        elif self._runs[single] == _COLD:
            compile_queue.submit(partial(self._compile, single))

    def refusal(self, *, single: bool) -> str:
        """Return the reason why the program is not compiled, or ""."""
        if not IS_COMPILED:
            return "gradwalk runs uncompiled"
        return self._policy.refusal or self._refusals[single] or why_not_lowerable(self._code)

    @property
    def backends(self) -> dict[str, str]:
        """The backend of each dtype used so far: "llvm", or "lanes: " and the reason why machine code is not used."""
        used = [single for single in (False, True) if self._runs[single]] or [False]
        return {"float32" if single else "float64": self._backend(single=single) for single in used}

    def _backend(self, *, single: bool) -> str:
        if self._found[single] is not None:
            return "llvm"
        why = self.refusal(single=single)
        if not why:
            is_due = self._runs[single] >= _COLD
            why = "the compilation has not finished" if is_due else "the program has not run twice"
        return f"lanes: {why}"

    def run(
        self, uniform: Sequence[float], columns: Sequence[NDArray[Any]], samples: int, kind: type[Any]
    ) -> NDArray[Any] | None:
        """Run the program; return its results, an array of shape (results, samples).

        Returns None if there is no machine code, or if the program needs too much memory or too many steps.

        Args:
            uniform: The values at `self.uniform`.
            columns: The values at `self.columns`: arrays with a number per sample.
            samples: Number of samples, at least 1.
            kind: float64 or float32.
        """
        found = self._found[kind is numpy.float32]
        if found is None:
            return None
        pitch = -(-samples // found.lanes) * found.lanes
        numbers = numpy.array(uniform, numpy.float64)
        values = numpy.empty((len(columns), pitch), kind)
        results = numpy.empty((len(self.outputs), pitch), kind)
        for row, column in zip(values, columns, strict=True):
            row[:samples] = column
            row[samples:] = column[-1]
        run: Callable[..., int] = _RUN(found.machine_code.address)
        addresses = [array.ctypes.data for array in (numbers, values, results)]
        return results[:, :samples] if run(look_for_halt, *addresses, pitch, pitch) == DONE else None

    def _compile(self, single: bool) -> None:
        """Compile the program, or store why it cannot be compiled."""
        instruction_set = chosen_instruction_set()
        at = INSTRUCTION_SETS.index(instruction_set)
        functions = row_functions(at, single) if USES_OWN_FUNCTIONS else {}
        lanes = Lanes(instruction_set, USES_LIBMVEC, functions, FEWEST_LANES)
        refusal = "compiling it failed"
        try:
            self._found[single] = compiled_loops(
                self._code, len(self.uniform), lanes, single=single, contract=self._policy.contract
            )
            refusal = ""
        except RefusedError as error:
            refusal = str(error)
        finally:
            self._refusals[single] = refusal
