"""`Flow`: find the derivatives of a loop that may differ from 0.

A number has no derivative with respect to the operands of a comparison that it depends on, or to the condition of a
`where`. So a loop that only compares a number with others has no derivative with respect to it.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import ROWS
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, TAKE

# For each opcode: the positions of the operands without a derivative.
_NON_DIFFERENTIABLE = {OPCODES[row.name]: row.non_differentiable for row in ROWS if isinstance(row, Operation)}


class Flow:
    """The paths that derivatives take through the steps of a loop.

    Args:
        code: The program of a step.
        carried: Pairs of an output's position and of the input that gets this output in the next step.
    """

    def __init__(self, code: Code, carried: Iterable[tuple[int, int]]) -> None:
        self._users: list[list[int]] = [[] for _ in range(code.count)]
        first_result: dict[int, int] = {}  # position of a call -> index of its first result
        for index, row in enumerate(code.rows, code.first):
            if row[0] == CALL:
                first = first_result.setdefault(row[1], index)
                operands = code.used(row) if first == index else [first]
            elif row[0] == TAKE:
                operands = code.tables[row[2]]
            else:
                skipped = _NON_DIFFERENTIABLE.get(row[0], ())
                operands = [index for i, index in enumerate(code.used(row)) if i not in skipped]
            for operand in operands:
                self._users[operand].append(index)
        for position, entry in carried:
            self._users[code.outputs[position]].append(entry)

    def reached(self, start: Iterable[int]) -> set[int]:
        """Return the indices whose derivative with respect to the indices `start` may differ from 0, in any step."""
        found: set[int] = set()
        waiting = list(start)
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                waiting += self._users[index]
        return found
