"""Analysis of a program for a batch: which values vary over the batch, which are needed, and where results go.

Indices number the values of a program: the inputs first, then the constants, then the results of the instructions.
All functions take time linear in the number of instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.base import PythonCallError
from gradwalk.backend.schedule.scatter import picks, scattered
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.program.code.code import arities_of
from gradwalk.program.code.opcodes import CALL, DOT, OPCODES, STORE, SUM, TAKE
from gradwalk.program.program import Program

if not TYPE_CHECKING and cython.compiled:
    import cython

_ADD = cython.declare(cython.int, OPCODES["add"])
_MUL = cython.declare(cython.int, OPCODES["mul"])
_MULADD = cython.declare(cython.int, OPCODES["muladd"])
_SUM = cython.declare(cython.int, SUM)
_DOT = cython.declare(cython.int, DOT)
_MOST_APART = cython.declare(cython.int, 2)  # sums of more products are added up per sample first, in registers


class Analysis(NamedTuple):
    """Properties of a program that is run on batches. All arrays are int32.

    Attributes:
        program: The program.
        first: Index of the first instruction.
        starts: The operands of instruction i are `operands[starts[i] : starts[i + 1]]`.
        operands: Indices of the operands of all instructions except calls.
        varying: One flag per index: 1 if the value depends on an input that varies over the batch, else 0.
        needed: One flag per index: 1 if a root depends on the value, else 0.
        columns: `columns[index]` is the column of the batch that contains the varying input `index`.
        roots: One row of four numbers for each root, that is, each use of a varying result by an output. A row is
            `STORE`, `SUM` or `DOT`, the output position, and the indices of two operands (the second is -1 if it is
            missing); or `SCATTER`, the start of a list in `targets`, the index that the `take` looks up, and the
            index of the number to add.
        targets: Outputs that `SCATTER` adds to, in the format that `scattered` describes.
        apart: Whether the terms of an output are summed over the batch separately.
        fixed: Positions of the outputs that do not vary.
    """

    program: Program
    first: int
    starts: NDArray[numpy.int32]
    operands: NDArray[numpy.int32]
    varying: NDArray[numpy.int32]
    needed: NDArray[numpy.int32]
    columns: NDArray[numpy.int32]
    roots: NDArray[numpy.int32]
    targets: NDArray[numpy.int32]
    apart: bool
    fixed: tuple[int, ...]


def analyse(program: Program, varies: Sequence[bool], reduced: bool, apart: bool = True) -> Analysis:
    """Analyze a program for a batch.

    Args:
        program: The program to run for each sample.
        varies: Whether each input has one number per sample, instead of one number for the whole batch.
        reduced: Whether the outputs are summed over the batch.
        apart: Whether the terms of an output that is a sum of products may be summed over the batch separately.

    Raises:
        PythonCallError: The program calls a Python function with an argument that depends on the batch.
    """
    first = program.inputs + len(program.constants)
    starts, operands = _operands(program)
    varying = numpy.zeros(program.code.count, numpy.int32)
    varying[: program.inputs] = varies
    columns = numpy.cumsum(varying[:first], dtype=numpy.int32) - 1
    _mark_varying(starts, operands, varying)
    _refuse_varying_calls(program, varying)
    outputs = numpy.array(program.outputs, numpy.int32)
    does_vary = varying[outputs] != 0
    positions = numpy.flatnonzero(does_vary).astype(numpy.int32)
    if reduced:
        uses = numpy.bincount(operands, minlength=len(varying)) + numpy.bincount(outputs, minlength=len(varying))
        picked = picks(program, varying)
        sums = _sums(program.instructions, uses.astype(numpy.int32), varying, outputs, positions, picked, apart)
        roots, targets = scattered(program, sums, picked)
    else:
        sums = targets = numpy.zeros(1, numpy.int32)
        roots = numpy.full((len(positions), 4), (STORE, 0, 0, -1), numpy.int32)
        roots[:, 1] = positions
        roots[:, 2] = outputs[positions]
    needed = _needed(starts, operands, varying, roots)
    fixed = tuple(numpy.flatnonzero(~does_vary).tolist())
    is_apart = reduced and len(sums) > len(positions)
    return Analysis(program, first, starts, operands, varying, needed, columns, roots, targets, is_apart, fixed)


def _operands(program: Program) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """Return `starts` and `operands` of `Analysis`."""
    rows = program.instructions.reshape(-1, 4)
    arities = arities_of(program.instructions)
    takes = numpy.flatnonzero(rows[:, 0] == TAKE)
    counts = arities.copy()
    counts[takes] += numpy.array([len(program.tables[table]) for table in rows[takes, 2]], numpy.int32)
    starts = numpy.zeros(len(rows) + 1, numpy.int32)
    numpy.cumsum(counts, out=starts[1:])
    operands = numpy.zeros(starts[-1], numpy.int32)
    for position in range(3):
        has_operand = arities > position
        operands[starts[:-1][has_operand] + position] = rows[has_operand, 1 + position]
    for i in takes.tolist():
        operands[starts[i] + 1 : starts[i + 1]] = program.tables[rows[i, 2]]
    return starts, operands


def _mark_varying(starts: Any, operands: Any, varying: Any) -> None:
    """Set the flags of instructions with a varying operand. `_refuse_varying_calls` checks calls."""
    start: cython.p_int = c_compat.integers(starts)
    operand: cython.p_int = c_compat.integers(operands)
    does_vary: cython.p_int = c_compat.integers(varying)
    length: cython.int = len(starts) - 1
    first: cython.int = len(varying) - length
    i: cython.int
    j: cython.int
    for i in range(length):
        for j in range(start[i], start[i + 1]):
            does_vary[first + i] |= does_vary[operand[j]]


def _refuse_varying_calls(program: Program, varying: Any) -> None:
    """Raise `PythonCallError` if a Python function would have to be called for each sample."""
    if not program.calls:
        return
    instructions = program.instructions.reshape(-1, 4)
    for which in dict.fromkeys(instructions[instructions[:, 0] == CALL, 1].tolist()):
        function, operands = program.calls[which]
        if any(varying[index] for index in operands):
            raise PythonCallError(f"cannot run {function.name} on a batch: it is a Python function")


def _sums(
    instructions: Any, uses: Any, varying: Any, outputs: Any, positions: Any, picked: Any, apart: cython.bint
) -> Any:
    """Return the roots of outputs that are summed over the batch.

    A product that is used only once, as in the gradient of a weight, is added directly to the total of its output and
    needs no row. If `apart` is true, an output is split into its terms if it is a sum of at most `_MOST_APART` such
    products, or of terms that a `SCATTER` can add. `uses` counts how often each index is an operand or an output.
    """
    length = len(instructions) // 4
    # Each product that is split off becomes one root, and so does the rest of each output.
    roots = numpy.empty(4 * (len(positions) + length), numpy.int32)
    use: cython.p_int = c_compat.integers(uses)
    root: cython.p_int = c_compat.integers(roots)
    code: cython.p_int = c_compat.integers(instructions)
    does_vary: cython.p_int = c_compat.integers(varying)
    pick: cython.p_int = c_compat.integers(picked)
    first: cython.int = len(varying) - length
    count: cython.int = 0
    position: cython.int
    index: cython.int
    k: cython.int
    may_part: cython.bint
    for position, output in zip(positions.tolist(), outputs[positions].tolist(), strict=True):
        index = output
        may_part = apart and not _has_many_products(code, use, does_vary, first, index)
        while index >= 0:
            k = 4 * (index - first)
            root[count + 1] = position
            if index >= first and use[index] == 1 and _is_product(code, k, does_vary) and (may_part or code[k] == _MUL):
                # A factor that does not vary comes second.
                root[count] = _DOT
                root[count + 2] = code[k + 1] if does_vary[code[k + 1]] else code[k + 2]
                root[count + 3] = code[k + 2] if does_vary[code[k + 1]] else code[k + 1]
                index = code[k + 3] if code[k] == _MULADD else -1
            elif index >= first and use[index] == 1 and may_part and code[k] == _ADD and pick[code[k + 2]] >= 0:
                root[count] = _SUM
                root[count + 2] = code[k + 2]
                root[count + 3] = -1
                index = code[k + 1]
            else:
                root[count] = _SUM
                root[count + 2] = index
                root[count + 3] = -1
                index = -1
            count += 4
    return roots[:count].reshape(-1, 4).copy()


@cython.cfunc
@cython.exceptval(check=False)
def _has_many_products(
    code: cython.p_int, use: cython.p_int, does_vary: cython.p_int, first: cython.int, index: cython.int
) -> cython.bint:
    """Return whether an output is a sum of more than `_MOST_APART` products."""
    count: cython.int = 0
    k: cython.int
    while index >= first and use[index] == 1 and count <= _MOST_APART:
        k = 4 * (index - first)
        if not _is_product(code, k, does_vary):
            break
        count += 1
        if code[k] == _MUL:
            break
        index = code[k + 3]
    return count > _MOST_APART


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_product(code: cython.p_int, k: cython.int, does_vary: cython.p_int) -> cython.bint:
    """Return whether the instruction at `k` is a `mul` or `muladd` with a varying factor."""
    return (code[k] == _MUL or code[k] == _MULADD) and (does_vary[code[k + 1]] | does_vary[code[k + 2]]) != 0


def _needed(starts: Any, operands: Any, varying: Any, roots: Any) -> Any:
    """Return one flag per index: whether a root depends on it, other than through the uniform prologue; int32."""
    length: cython.int = len(starts) - 1
    first: cython.int = len(varying) - length
    marks = numpy.zeros(len(varying), numpy.int32)
    marks[roots[:, 2]] = 1
    marks[roots[roots[:, 3] >= 0, 3]] = 1
    needed: cython.p_int = c_compat.integers(marks)
    start: cython.p_int = c_compat.integers(starts)
    operand: cython.p_int = c_compat.integers(operands)
    does_vary: cython.p_int = c_compat.integers(varying)
    i: cython.int
    j: cython.int
    for i in range(length - 1, -1, -1):
        if needed[first + i] and does_vary[first + i]:
            for j in range(start[i], start[i + 1]):
                needed[operand[j]] = 1
    return marks
