"""Let a loop over primals and tangents replace the loop over the primals: `without_repeated_loops`.

Forward mode appends a dual (see `Loop.dual`), which computes the results of the loop again, beside the tangents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.code import Code, moved_rows
from gradwalk.program.code.opcodes import CALL

# The position of the dual that replaces a loop, and the position of each result of the loop among its results.
Replacement = tuple[int, NDArray[numpy.intp]]


def without_repeated_loops(code: Code) -> Code:
    """Return a program in which loops read their results from their dual, where the program has it.

    The instructions are put in an order in which operands come before results again. Returns `code` itself if nothing
    can be replaced.
    """
    pairs = dict(_pairs(code))
    if pairs and _order(code, _redirected(code, pairs)) is None:  # some duals depend on results of their loops
        every, pairs = pairs, {}
        for which, dual in every.items():
            if _order(code, _redirected(code, {**pairs, which: dual})) is not None:
                pairs[which] = dual
    return _reordered(code, pairs) if pairs else code


def _pairs(code: Code) -> Iterator[tuple[int, Replacement]]:
    """Yield the position of each loop whose dual has the same primals as operands, and its replacement."""
    positions: dict[int, list[int]] = {}
    for position, (call, _) in enumerate(code.calls):
        positions.setdefault(id(call), []).append(position)
    for which, (call, operands) in enumerate(code.calls):
        for dual in call.duals.values() if call.kind == "loop" else ():
            for position in positions.get(id(dual.loop), ()) if dual.loop is not call else ():
                if tuple(dual.operands.split(code.calls[position][1])[0]) == operands:
                    yield which, (position, dual.results.primals)


def _redirected(code: Code, pairs: Mapping[int, Replacement]) -> NDArray[numpy.int32]:
    """Return the instructions as rows, with the results of loops replaced by results of their duals."""
    rows = numpy.array(code.instructions).reshape(-1, 4)
    is_call = rows[:, 0] == CALL
    for i in numpy.flatnonzero(is_call & numpy.isin(rows[:, 1], list(pairs))).tolist():
        dual, primals = pairs[rows[i, 1]]
        rows[i, 1], rows[i, 2] = dual, primals[rows[i, 2]]
    return rows


def _order(code: Code, instructions: NDArray[numpy.int32]) -> list[int] | None:
    """Return an order of instructions in which operands come before results; None if the program has a cycle."""
    rows = instructions.tolist()
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


def _reordered(code: Code, pairs: Mapping[int, Replacement]) -> Code:
    """Return the program without the loops in `pairs`, with its instructions in an order that is possible then."""
    redirected = _redirected(code, pairs)
    order = _order(code, redirected)
    moved = numpy.arange(code.count)
    moved[code.first + numpy.array(order)] = code.first + numpy.arange(len(code))
    rows = moved_rows(redirected[order], moved)
    kept = [position for position in range(len(code.calls)) if position not in pairs]
    is_call = rows[:, 0] == CALL
    rows[is_call, 1] = numpy.searchsorted(kept, rows[is_call, 1])
    return Code(
        code.inputs,
        code.constants,
        rows.ravel(),
        [(code.calls[position][0], moved[list(code.calls[position][1])].tolist()) for position in kept],
        moved[list(code.outputs)].tolist(),
        code.input_names,
        code.output_names,
        [moved[list(table)].tolist() for table in code.tables],
    )
