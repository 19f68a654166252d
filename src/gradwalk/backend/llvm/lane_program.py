"""`LaneProgram`: a schedule that runs most of its instructions as one program, so that LLVM can compile them."""

from __future__ import annotations

from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.schedule.analysis import Analysis
from gradwalk.backend.schedule.encoding import FORMS, PARTIAL, WIDTH
from gradwalk.backend.schedule.prologue import Prologue
from gradwalk.program.code.code import Code, moved_rows
from gradwalk.program.code.opcodes import DOT, LOAD, MACHINE, OPCODES, SUM, TAKE


class LaneProgram(NamedTuple):
    """A program for lanes.

    Attributes:
        code: The program. Its first inputs are the scalars, which are the same for all lanes: see `vector_ir.lane_ir`.
        scalars: Number of scalars.
        schedule: Instructions; int32, in the format of `encoding`. They load the columns, run `code` (`MACHINE`), and
            store or sum the results.
        slots: Number of slots: one for each other input of `code`, then one for each output, then one for each `SUM`.
        sums: Number of instructions `SUM` in `code`. Their slots hold partial sums.
    """

    code: Code
    scalars: int
    schedule: NDArray[numpy.int32]
    slots: int
    sums: int = 0


def lane_program(analysis: Analysis, prologue: Prologue, *, has_sums: bool = False) -> LaneProgram:
    """Build a `LaneProgram` from the instructions whose results vary over the batch, in the order of the program.

    If `has_sums`, the program itself sums the terms of its outputs over the lanes of a block.
    """
    does_vary = (analysis.needed != 0) & (analysis.varying != 0)
    columns = numpy.flatnonzero(does_vary[: analysis.first])
    kept = numpy.flatnonzero(does_vary[analysis.first :])
    scalars = int(((analysis.needed != 0) & (analysis.varying == 0)).sum())
    sums = _Sums(analysis, has_sums=has_sums)
    # Indices of the analysis and of added instructions -> indices in the lane program
    moved = numpy.concatenate([prologue.scalars, sums.indices])
    moved[columns] = scalars + numpy.arange(len(columns))
    order = numpy.argsort(numpy.concatenate([analysis.first + kept, sums.places]), kind="stable")
    indices = numpy.concatenate([analysis.first + kept, sums.indices])[order]
    moved[indices] = len(columns) + scalars + numpy.arange(len(indices))
    operands = analysis.roots[~sums.are_roots, 2:].ravel()
    outputs = numpy.unique(operands[(operands >= analysis.first) & does_vary[operands]])
    given = numpy.concatenate([analysis.program.instructions.reshape(-1, 4)[kept], sums.instructions])[order]
    instructions, tables = _moved_code(analysis, given, moved)
    code = Code(scalars + len(columns), (), instructions, [], moved[outputs].tolist(), tables=tables)
    slot = numpy.concatenate([prologue.scalars, sums.indices])  # index -> slot, or number of the scalar
    slot[columns] = numpy.arange(len(columns))
    slot[outputs] = len(columns) + numpy.arange(len(outputs))
    adding = indices[given[:, 0] == SUM]
    slot[adding] = len(columns) + len(outputs) + numpy.arange(len(adding))
    loads = numpy.zeros((len(columns) + 1, WIDTH), numpy.int32)
    loads[:-1, 0] = FORMS * LOAD
    loads[:-1, 1] = numpy.arange(len(columns))
    loads[:-1, 2] = analysis.columns[columns]
    loads[-1, 0] = FORMS * MACHINE
    schedule = numpy.concatenate([loads, _ends(analysis, slot, sums)])
    return LaneProgram(code, scalars, schedule.ravel(), len(columns) + len(outputs) + len(adding), len(adding))


class _Sums:
    """The instructions that are added to a program to sum the terms of its outputs.

    Each of them follows the last instruction that it needs, so that its operands are still in registers.

    Attributes:
        are_roots: A flag per root of the analysis: whether it is the sum of a term.
        instructions: The added instructions: a `SUM` for each different term, after its `mul` if it is a product.
        indices: Their indices, which follow the indices of the analysis.
        places: The index of the instruction that each of them follows.
        of_root: The index of the `SUM` for each root whose flag is set.
    """

    def __init__(self, analysis: Analysis, *, has_sums: bool) -> None:
        opcodes, _, first_operands, _ = analysis.roots.T
        does_vary = analysis.varying != 0
        self.are_roots = has_sums & ((opcodes == SUM) | (opcodes == DOT)) & does_vary[first_operands]
        first, places, of_root = len(does_vary), [], []
        rows: list[tuple[int, int, int, int]] = []
        sum_of: dict[tuple[int, int], int] = {}  # factors of a term -> index of its `SUM`
        for x, y in analysis.roots[self.are_roots, 2:].tolist():
            if (x, y) not in sum_of:
                product = first + len(rows)
                added = [(SUM, x, 0, 0)] if y < 0 else [(OPCODES["mul"], x, y, 0), (SUM, product, 0, 0)]
                rows += added
                places += [max(x, y) if y >= 0 and does_vary[y] else x] * len(added)
                sum_of[x, y] = first + len(rows) - 1
            of_root.append(sum_of[x, y])
        self.instructions = numpy.array(rows, numpy.int32).reshape(-1, 4)
        self.indices = first + numpy.arange(len(rows), dtype=numpy.int32)
        self.places = numpy.array(places, numpy.int64)
        self.of_root = numpy.array(of_root, numpy.int64)


def _moved_code(
    analysis: Analysis, instructions: NDArray[numpy.int32], moved: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.int32], list[list[int]]]:
    """Return instructions and the tables that they use. `moved` maps operands to their new indices."""
    code = moved_rows(instructions, moved)
    takes = code[:, 0] == TAKE
    used, code[takes, 2] = numpy.unique(code[takes, 2], return_inverse=True)
    tables = [moved[list(analysis.program.tables[table])].tolist() for table in used.tolist()]
    return code.ravel(), tables


def _ends(analysis: Analysis, slot: NDArray[numpy.int32], sums: _Sums) -> NDArray[numpy.int32]:
    """Encode the roots, which store or sum the results, as instructions of a schedule."""
    opcode, out, x, y = analysis.roots.T
    has_second = y >= 0
    forms = (analysis.varying[x] == 0) + 2 * (has_second & (analysis.varying[y] == 0))
    ends = numpy.zeros((len(opcode), WIDTH), numpy.int32)
    ends[:, 0] = FORMS * opcode + forms
    ends[:, 1], ends[:, 2] = out, slot[x]
    ends[:, 3] = numpy.where(has_second, slot[y], 0)
    ends[sums.are_roots, 0] = FORMS * SUM + PARTIAL
    ends[sums.are_roots, 2] = slot[sums.of_root]
    ends[sums.are_roots, 3] = 0
    return ends
