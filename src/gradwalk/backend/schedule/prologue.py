"""The uniform prologue: the instructions whose results are the same for all samples, run once before the lanes."""

from __future__ import annotations

from itertools import compress
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.schedule.analysis import Analysis
from gradwalk.program.code.code import Code, moved_rows
from gradwalk.program.program import Program, trusted


class Prologue(NamedTuple):
    """The part of a program that is computed once per batch.

    Attributes:
        program: A program whose inputs are those inputs of the whole program that do not vary. Its outputs are the
            scalars (the uniform values that the lanes use), followed by the outputs that do not vary.
        scalars: `scalars[index]` is the number of the scalar that has this index in the whole program; int32.
    """

    program: Program
    scalars: NDArray[numpy.int32]


def make_prologue(analysis: Analysis) -> Prologue:
    """Build the prologue from the instructions that do not vary, in the order of the program."""
    program, varying = analysis.program, analysis.varying
    is_uniform = varying == 0
    needed = numpy.flatnonzero((analysis.needed != 0) & is_uniform)
    scalars = numpy.zeros(len(varying), numpy.int32)
    scalars[needed] = numpy.arange(len(needed))
    # The index of each uniform value in the prologue. The entries of varying values are never read.
    moved = numpy.cumsum(is_uniform) - 1
    calls = [
        (function, moved[used].tolist() if is_uniform[used].all() else [])
        for function, operands in program.calls
        for used in [numpy.array(operands, numpy.intp)]
    ]
    tables = [moved[list(table)].tolist() if is_uniform[list(table)].all() else [] for table in program.tables]
    outputs = [*needed.tolist(), *(program.outputs[position] for position in analysis.fixed)]
    are_given = is_uniform[: program.inputs].tolist()
    names = list(compress(program.input_names, are_given))
    code = _moved_code(analysis, is_uniform, moved)
    uniform = Code(sum(are_given), program.constants, code, calls, moved[outputs].tolist(), names, (), tables)
    return Prologue(trusted(uniform), scalars)


def _moved_code(analysis: Analysis, is_uniform: Any, moved: Any) -> Any:
    """Return the instructions that do not vary. `moved` maps operands to their indices in the prologue."""
    kept = numpy.flatnonzero(is_uniform[analysis.first :])
    return moved_rows(analysis.program.instructions.reshape(-1, 4)[kept], moved).ravel()
