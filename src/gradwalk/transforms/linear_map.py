"""`LinearMap`: a derivative at fixed arguments, which is applied to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.program.code import parts
from gradwalk.program.program import Program, trusted
from gradwalk.program.tracing.trace import evaluate
from gradwalk.value.value import Value


class LinearMap:
    """A program with fixed operands, which maps vectors to numbers.

    If the program has calls, such as loops and primitives, the instructions that do not depend on the vector are run
    once. Splitting a program without calls would take longer than a thousand runs of all instructions.

    Args:
        program: The program. Its inputs are the operands, followed by the vector.
        operands: The operands: floats and Values.
    """

    def __init__(self, program: Program, operands: Sequence[Any]) -> None:
        self._program = program
        self._operands = operands

    def __call__(self, vector: Sequence[Any]) -> Any:
        """Return the outputs of the program for a vector of floats and Values."""
        if not self._program.calls:
            return evaluate(self._program, [*self._operands, *vector])
        code, (part, program) = self._program.code, self._split[1]
        known = self._known | dict(enumerate(vector, len(self._operands)))
        results = evaluate(program, [known[i] for i in part.inputs])
        known.update(zip(part.outputs, results, strict=True))
        found = [known[index] for index in code.outputs]
        return found if any(isinstance(x, Value) for x in found) else numpy.array(found, numpy.float64)

    @cached_property
    def _split(self) -> list[tuple[parts.Part, Program]]:
        """The instructions that do not depend on the vector, and the instructions that do."""
        code = self._program.code
        split = parts.split(code, [i >= len(self._operands) for i in range(code.inputs)])
        return [(part, trusted(part.code)) for part in split]

    @cached_property
    def _known(self) -> dict[int, Any]:
        """The numbers that do not depend on the vector, by their index in the program."""
        code, (part, program) = self._program.code, self._split[0]
        known = dict(enumerate(self._operands)) | dict(enumerate(code.constants, code.inputs))
        known.update(zip(part.outputs, evaluate(program, self._operands), strict=True))
        return known
