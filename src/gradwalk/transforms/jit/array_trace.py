"""`ArrayTrace`: a recording, made by `jit`, of a function with large arrays as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from gradwalk.arrays.array_program import ArrayProgram, operands_of, plain_operands
from gradwalk.arrays.recorder import RECORDER
from gradwalk.base.cached import cached_property
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import PreparedPath
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import flat_operands
from gradwalk.transforms.jit.jit_trace import JitTrace
from gradwalk.value.modes import refuses_nans


@dataclass(frozen=True, eq=False)
class ArrayTrace(JitTrace):
    """A trace whose program takes large arrays as they are."""

    program: ArrayProgram  # type: ignore[assignment]

    @staticmethod
    def program_of(tape: Tape, outputs: Indices) -> ArrayProgram:
        """Return the program that computes some outputs of a tape."""
        return ArrayProgram(tape, outputs)

    @property
    def of_numbers(self) -> Program:
        """The program, with an input for each number of the arguments and an output for each number of the result."""
        return self.program.of_numbers

    @cached_property
    def prepared_path(self) -> PreparedPath | None:
        """None: there is no fast path."""
        return None

    @property
    def guards(self) -> list[Program]:
        """No guards: the calls of an array program end for any arguments."""
        return []

    @property
    def numbers(self) -> list[float]:
        """The number that each number of the inputs had when the function was recorded."""
        return flat_operands(self.given)

    def outputs(self, leaves: Sequence[Any]) -> Any:
        """Run the program on the leaves of the arguments; return its outputs."""
        plain = None if self.captured or refuses_nans() else plain_operands(leaves, self.program.kinds)
        if plain is not None:
            return self.program.run(*plain)
        return self.program.evaluate([*operands_of(leaves, self.program.kinds), *self.captured])

    def tree(self, outputs: Any) -> Any:
        """Return the result of the function, given the outputs of the program."""
        results = self.results(outputs)
        if isinstance(results, numpy.ndarray):
            return self.treedef.results(results)
        return RECORDER.unflattened(self.treedef, results)
