"""Let a loop over primals and tangents replace the loop over the primals: `without_repeated_loops`.

Forward mode appends `Loop.dual`, which computes the results of the loop again, beside the tangents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, TAKE


def without_repeated_loops(code: Code) -> Code:
    """Return a program in which loops read their results from their dual, where the program has it.

    The instructions are put in an order in which operands come before results again. Returns `code` itself if nothing
    can be replaced.
    """
    for which, dual in _pairs(code):
        rows = numpy.array(code.instructions).reshape(-1, 4)
        loop = code.calls[which][0]
        own = numpy.flatnonzero((rows[:, 0] == CALL) & (rows[:, 1] == which))
        rows[own, 2] = [_position_in_dual(loop, position) for position in rows[own, 2].tolist()]
        rows[own, 1] = dual
        order = _order(code, rows.tolist())
        if order is not None:
            code = _reordered(code, rows, order, which)
            return without_repeated_loops(code)
    return code


def _pairs(code: Code) -> Iterator[tuple[int, int]]:
    """Yield the position of each loop whose dual has the same primals as operands, and the position of the dual."""
    positions: dict[int, list[int]] = {}
    for position, (call, _) in enumerate(code.calls):
        positions.setdefault(id(call), []).append(position)
    for which, (call, operands) in enumerate(code.calls):
        dual = vars(call).get("dual") if call.kind == "loop" else None
        for position in positions.get(id(dual), ()):
            if tuple(call.parted_operands(code.calls[position][1])[0]) == operands:
                yield which, position


def _position_in_dual(loop: Any, position: int) -> int:
    """Return the position among the results of a loop's dual of the result of the loop at a position."""
    carry, out = loop.sizes.carry, loop.sizes.out
    if position < carry:
        return position
    step, i = divmod(position - carry, out)
    return int(2 * (carry + step * out) + i)


def _order(code: Code, rows: Sequence[Sequence[int]]) -> list[int] | None:
    """Return an order of instructions in which operands come before results; None if there is no such order."""
    order: list[int] = []
    state = [0] * len(rows)  # 1: its operands are being visited, 2: visited
    ready: set[int] = set()  # calls whose operands have been visited
    for root in range(len(rows)):
        waiting = [root]
        while waiting:
            i = waiting[-1]
            if state[i] == 2:
                waiting.pop()
                continue
            is_known_call = rows[i][0] == CALL and rows[i][1] in ready
            if state[i] == 1 or is_known_call:
                state[i] = 2
                order.append(waiting.pop())
                if rows[i][0] == CALL:
                    ready.add(rows[i][1])
                continue
            state[i] = 1
            needed = [index - code.first for index in code.used(rows[i]) if index >= code.first]
            if any(state[k] == 1 for k in needed):
                return None
            waiting += [k for k in reversed(needed) if state[k] == 0]
    return order


def _reordered(code: Code, rows: Any, order: Sequence[int], dropped: int) -> Code:
    """Return the program with its instructions in this order, and without the call at position `dropped`."""
    moved = numpy.arange(code.count)
    moved[code.first + numpy.array(order)] = code.first + numpy.arange(len(order))
    rows = rows[list(order)]
    for arity in (1, 2, 3):
        has = numpy.array([_operands(row[0]) >= arity for row in rows.tolist()], bool)
        rows[has, arity] = moved[rows[has, arity]]
    calls = rows[:, 0] == CALL
    rows[calls, 1] -= rows[calls, 1] > dropped
    kept = [one for position, one in enumerate(code.calls) if position != dropped]
    return Code(
        code.inputs,
        code.constants,
        rows.ravel(),
        [(call, moved[list(operands)].tolist()) for call, operands in kept],
        moved[list(code.outputs)].tolist(),
        code.input_names,
        code.output_names,
        [moved[list(table)].tolist() for table in code.tables],
    )


def _operands(opcode: int) -> int:
    """Return the number of fields of an instruction that are indices."""
    return 0 if opcode == CALL else 1 if opcode == TAKE else INSTRUCTIONS[opcode].arity
