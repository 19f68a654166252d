"""Scatter-add: a sum over the batch in which each sample adds to one of many outputs, as in the gradient of a `take`.

The derivative of `take` is one `where` per element of the table: the cotangent if the index selects that element,
otherwise 0, or nan if the index is out of range. Summing each `where` over the batch would cost time proportional to
the length of the table. Instead, one `SCATTER` instruction adds the cotangent of each lane to the selected output.
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.opcodes import OPCODES, SCATTER, SUM, TAKE
from gradwalk.program.program import Program

# A list of targets has at most this many entries per output of the program.
_SPARSEST = 16


def picks(program: Program, varying: NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """Find the instructions of the form `where(index == constant, number, 0)` whose index varies over the batch.

    Instead of 0, the last operand may be a `take` from a table of zeros: it is 0, or nan if the index is out of range.
    Returns an int32 array with one entry per index of the program: the constant (an integer >= 0) if the instruction
    has this form, else -1.
    """
    first = program.inputs + len(program.constants)
    rows = program.instructions.reshape(-1, 4)
    constants = numpy.full(len(varying), numpy.nan)
    constants[program.inputs : first] = program.constants
    found = numpy.full(len(varying), -1, numpy.int32)
    chosen = numpy.flatnonzero(rows[:, 0] == OPCODES["where"])
    is_zero = (constants == 0.0) | (_table_lengths(program, constants) > 0)
    chosen = chosen[is_zero[rows[chosen, 3]] & (rows[chosen, 1] >= first)]
    _, index, constant, _ = rows[rows[chosen, 1] - first].T
    equals = rows[rows[chosen, 1] - first, 0] == OPCODES["equal"]
    numbers = constants[constant]
    is_whole = (numbers >= 0.0) & (numbers < _SPARSEST * len(program.outputs)) & (numbers == numpy.floor(numbers))
    kept = equals & is_whole & (varying[index] != 0)
    found[first + chosen[kept]] = numbers[kept]
    for i in chosen[kept].tolist():
        zero, position = int(rows[i, 3]), int(rows[rows[i, 1] - first, 1])
        if zero >= first and not _is_position_in(program, position, zero):
            found[first + i] = -1
    return found


def _table_lengths(program: Program, constants: NDArray[numpy.float64]) -> NDArray[numpy.int32]:
    """Return the table length of each `take` from a table of zeros, and 0 for all other indices of the program."""
    first = program.inputs + len(program.constants)
    rows = program.instructions.reshape(-1, 4)
    lengths = numpy.zeros(len(constants), numpy.int32)
    for i in numpy.flatnonzero(rows[:, 0] == TAKE).tolist():
        table = numpy.asarray(program.tables[rows[i, 2]])
        if (constants[table] == 0.0).all():
            lengths[first + i] = len(table)
    return lengths


def _is_position_in(program: Program, position: int, taken: int) -> bool:
    """Return whether `position` is the index of the `take` at `taken` (plus the table length if that index is < 0)."""
    first = program.inputs + len(program.constants)
    rows = program.instructions.reshape(-1, 4)
    _, index, table, _ = rows[taken - first].tolist()
    if position < first:
        return False
    opcode, is_negative, from_end, otherwise = rows[position - first].tolist()
    if opcode != OPCODES["where"] or otherwise != index or min(is_negative, from_end) < first:
        return False
    less, added = rows[is_negative - first].tolist(), rows[from_end - first].tolist()
    zero, length = _constant(program, less[2]), _constant(program, added[2])
    return (
        less[:2] == [OPCODES["less"], index]
        and added[:2] == [OPCODES["add"], index]
        and (zero, length) == (0.0, float(len(program.tables[table])))
    )


def _constant(program: Program, index: int) -> float | None:
    is_constant = 0 <= index - program.inputs < len(program.constants)
    return float(program.constants[index - program.inputs]) if is_constant else None


def scattered(
    program: Program, roots: NDArray[numpy.int32], picked: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """Merge the sums that `picks` found: sums with the same index, number and table length become one `SCATTER`.

    Returns the new roots and the lists of targets. In place of an output, a `SCATTER` root has the start k of its list
    in `targets`. `targets[k]` is the number of targets. The outputs for the indices 0, 1, ... follow (-1 for an index
    without an output). `targets[k - 1]` is the length of the table, or 0. If it is not 0, an index out of range adds
    nan to all outputs in the list. If it is 0, an index out of range adds nothing.
    """
    if (picked < 0).all():
        return roots, numpy.zeros(1, numpy.int32)
    first = program.inputs + len(program.constants)
    groups: dict[tuple[int, int, int], dict[int, int]] = {}
    kept: list[list[int]] = []
    for root in roots.tolist():
        kind, output, chosen, _ = root
        if kind != SUM or picked[chosen] < 0:
            kept.append(root)
            continue
        _, equality, number, zero = program.instructions[4 * (chosen - first) : 4 * (chosen - first) + 4].tolist()
        index = int(program.instructions[4 * (equality - first) + 1])
        table = len(program.tables[program.instructions[4 * (zero - first) + 2]]) if zero >= first else 0
        targets = groups.setdefault((index, number, table), {})
        if int(picked[chosen]) in targets:  # an earlier output is the same sum
            kept.append(root)
        else:
            targets[int(picked[chosen])] = output
    flat: list[int] = []
    for (index, number, table), targets in groups.items():
        kept.append([SCATTER, len(flat) + 1, index, number])
        length = max(targets) + 1
        flat += [table, length, *(targets.get(i, -1) for i in range(length))]
    return numpy.array(kept, numpy.int32).reshape(-1, 4), numpy.array(flat or [0], numpy.int32)
