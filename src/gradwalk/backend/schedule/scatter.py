"""Sums over the batch of what goes to one of many outputs, as the gradient of a table that samples take from.

The derivative of `take` is a choice for each element of the table: the adjoint where the index picks that element, and
elsewhere 0, or nan if the index is out of range. Summed over the batch one by one, these choices would cost as much as
the table is long. Instead one instruction adds the adjoint of each lane to the total of the output that is picked.
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.opcodes import OPCODES, SCATTER, SUM, TAKE
from gradwalk.program.program import Program

# A list of targets may be so many times as long as there are outputs. Those that nothing goes to are left empty.
_SPARSEST = 16


def picks(program: Program, varying: NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """Find the instructions that are a number where an index equals a constant, and elsewhere 0, or nan out of range.

    Args:
        program: The program.
        varying: By index of the program, whether it varies over the batch.

    Returns:
        By index of the program, that constant, a whole number from 0 on; -1 for everything else. int32.
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
    """Return the length of the table of each instruction that takes from a table of zeros; 0 for all others."""
    first = program.inputs + len(program.constants)
    rows = program.instructions.reshape(-1, 4)
    lengths = numpy.zeros(len(constants), numpy.int32)
    for i in numpy.flatnonzero(rows[:, 0] == TAKE).tolist():
        table = numpy.asarray(program.tables[rows[i, 2]])
        if (constants[table] == 0.0).all():
            lengths[first + i] = len(table)
    return lengths


def _is_position_in(program: Program, position: int, taken: int) -> bool:
    """Return whether a number is the position that the index of a `take` means: the index, plus the length below 0."""
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
    """Replace the sums of choices by one root for all that have the same index and the same number.

    Args:
        program: The program.
        roots: As `Analysis` has them.
        picked: As `picks` has it.

    Returns:
        The roots, in which a `SCATTER` has where its targets begin in place of an output; and the targets: before that
        place the length of the table, or 0 if an index out of range adds nothing; then how many targets there are, and
        the outputs that the indices 0, 1, ... pick, -1 for none. Out of range, nan is added to all targets.
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
        if int(picked[chosen]) in targets:  # another output has the same gradient
            kept.append(root)
        else:
            targets[int(picked[chosen])] = output
    flat: list[int] = []
    for (index, number, table), targets in groups.items():
        kept.append([SCATTER, len(flat) + 1, index, number])
        length = max(targets) + 1
        flat += [table, length, *(targets.get(i, -1) for i in range(length))]
    return numpy.array(kept, numpy.int32).reshape(-1, 4), numpy.array(flat or [0], numpy.int32)
