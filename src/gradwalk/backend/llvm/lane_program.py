"""`LaneProgram`: a schedule that runs most of its instructions as one program, so that LLVM can compile them."""

from __future__ import annotations

from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.schedule.analysis import Analysis
from gradwalk.backend.schedule.encoding import FORMS, WIDTH
from gradwalk.backend.schedule.prologue import Prologue
from gradwalk.program.code.code import Code, moved_rows
from gradwalk.program.code.opcodes import LOAD, MACHINE, TAKE


class LaneProgram(NamedTuple):
    """A program for lanes.

    Attributes:
        code: The program. Its first inputs are the scalars, which are the same for all lanes: see `vector_ir.lane_ir`.
        scalars: Number of scalars.
        schedule: Instructions; int32, in the format of `encoding`. They load the columns, run `code` (`MACHINE`), and
            store or sum the results.
        slots: Number of slots: one for each other input of `code`, then one for each output.
    """

    code: Code
    scalars: int
    schedule: NDArray[numpy.int32]
    slots: int


def lane_program(analysis: Analysis, prologue: Prologue) -> LaneProgram:
    """Build a `LaneProgram` from the instructions whose results vary over the batch, in the order of the program."""
    does_vary = (analysis.needed != 0) & (analysis.varying != 0)
    columns = numpy.flatnonzero(does_vary[: analysis.first])
    kept = numpy.flatnonzero(does_vary[analysis.first :])
    scalars = int(((analysis.needed != 0) & (analysis.varying == 0)).sum())
    moved = prologue.scalars.copy()  # index in the whole program -> index in the lane program
    moved[columns] = scalars + numpy.arange(len(columns))
    moved[analysis.first + kept] = len(columns) + scalars + numpy.arange(len(kept))
    operands = analysis.roots[:, 2:].ravel()
    outputs = numpy.unique(operands[(operands >= analysis.first) & does_vary[operands]])
    instructions, tables = _moved_code(analysis, kept, moved)
    code = Code(scalars + len(columns), (), instructions, [], moved[outputs].tolist(), tables=tables)
    slot = prologue.scalars.copy()  # index in the whole program -> slot, or number of the scalar
    slot[columns] = numpy.arange(len(columns))
    slot[outputs] = len(columns) + numpy.arange(len(outputs))
    loads = numpy.zeros((len(columns) + 1, WIDTH), numpy.int32)
    loads[:-1, 0] = FORMS * LOAD
    loads[:-1, 1] = numpy.arange(len(columns))
    loads[:-1, 2] = analysis.columns[columns]
    loads[-1, 0] = FORMS * MACHINE
    schedule = numpy.concatenate([loads, _ends(analysis, slot)])
    return LaneProgram(code, scalars, schedule.ravel(), len(columns) + len(outputs))


def _moved_code(
    analysis: Analysis, kept: NDArray[numpy.int64], moved: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.int32], list[list[int]]]:
    """Return the instructions `kept` and the tables that they use. `moved` maps operands to their new indices."""
    code = moved_rows(analysis.program.instructions.reshape(-1, 4)[kept], moved)
    takes = code[:, 0] == TAKE
    used, code[takes, 2] = numpy.unique(code[takes, 2], return_inverse=True)
    tables = [moved[list(analysis.program.tables[table])].tolist() for table in used.tolist()]
    return code.ravel(), tables


def _ends(analysis: Analysis, slot: NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """Encode the roots, which store or sum the results, as instructions of a schedule."""
    opcode, out, x, y = analysis.roots.T
    has_second = y >= 0
    forms = (analysis.varying[x] == 0) + 2 * (has_second & (analysis.varying[y] == 0))
    ends = numpy.zeros((len(opcode), WIDTH), numpy.int32)
    ends[:, 0] = FORMS * opcode + forms
    ends[:, 1], ends[:, 2] = out, slot[x]
    ends[:, 3] = numpy.where(has_second, slot[y], 0)
    return ends
