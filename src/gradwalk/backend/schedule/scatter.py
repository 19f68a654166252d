"""Sums over the batch of what goes to one of many outputs, as the gradient of a table that samples take from.

The derivative of `take` is a choice for each element of the table: the adjoint where the index picks that element, and
0 elsewhere. Summed over the batch one by one, they would cost as much as the table is long. Instead one instruction
adds the adjoint of each lane to the total of the output that its index picks.
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

from gradwalk.program.opcodes import OPCODES, SCATTER, SUM
from gradwalk.program.program import Program

# A list of targets may be so many times as long as there are outputs. Those that nothing goes to are left empty.
_SPARSEST = 16


def picks(program: Program, varying: NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """Find the instructions that are some number where an index equals a constant, and 0 elsewhere.

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
    chosen = chosen[(constants[rows[chosen, 3]] == 0.0) & (rows[chosen, 1] >= first)]
    _, index, constant, _ = rows[rows[chosen, 1] - first].T
    equals = rows[rows[chosen, 1] - first, 0] == OPCODES["equal"]
    numbers = constants[constant]
    is_whole = (numbers >= 0.0) & (numbers < _SPARSEST * len(program.outputs)) & (numbers == numpy.floor(numbers))
    kept = equals & is_whole & (varying[index] != 0)
    found[first + chosen[kept]] = numbers[kept]
    return found


def scattered(
    program: Program, roots: NDArray[numpy.int32], picked: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """Replace the sums of choices by one root for all that have the same index and the same number.

    Args:
        program: The program.
        roots: As `Analysis` has them.
        picked: As `picks` has it.

    Returns:
        The roots, in which a `SCATTER` has where its targets begin in place of an output; and the targets: how many
        there are, and then the outputs that the indices 0, 1, ... pick, -1 for none.
    """
    if (picked < 0).all():
        return roots, numpy.zeros(1, numpy.int32)
    first = program.inputs + len(program.constants)
    groups: dict[tuple[int, int], dict[int, int]] = {}
    kept: list[list[int]] = []
    for root in roots.tolist():
        kind, output, chosen, _ = root
        if kind != SUM or picked[chosen] < 0:
            kept.append(root)
            continue
        _, equality, number, _ = program.instructions[4 * (chosen - first) : 4 * (chosen - first) + 4].tolist()
        index = int(program.instructions[4 * (equality - first) + 1])
        targets = groups.setdefault((index, number), {})
        if int(picked[chosen]) in targets:  # another output has the same gradient
            kept.append(root)
        else:
            targets[int(picked[chosen])] = output
    flat: list[int] = []
    for (index, number), targets in groups.items():
        kept.append([SCATTER, len(flat), index, number])
        length = max(targets) + 1
        flat += [length, *(targets.get(i, -1) for i in range(length))]
    return numpy.array(kept, numpy.int32).reshape(-1, 4), numpy.array(flat or [0], numpy.int32)
