"""`Flow`: find the derivatives of a loop that may differ from 0.

A number has no derivative with respect to the operands of a comparison that it depends on, or to the condition of a
`where`. So a loop that uses a number only in comparisons has no derivative with respect to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy
from numpy.typing import NDArray

from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import ROWS
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, TAKE

Edges = tuple[NDArray[numpy.intp], NDArray[numpy.intp]]  # operands, and the results that use them


def _differentiable() -> NDArray[numpy.bool_]:
    """Return a flag for each opcode and position: whether the operand at this position has a derivative."""
    flags = numpy.zeros((1 + max(OPCODES.values()), 3), bool)
    for row in ROWS:
        skipped = row.non_differentiable if isinstance(row, Operation) else ()
        flags[OPCODES[row.name], [i for i in range(row.arity) if i not in skipped]] = True
    return flags


_DIFFERENTIABLE = _differentiable()


class Flow:
    """The paths that derivatives take through the steps of a loop.

    Args:
        code: The program of a step.
        carried: Pairs of an output's position and of the input that gets this output in the next step.
    """

    def __init__(self, code: Code, carried: Sequence[tuple[int, int]]) -> None:
        edges = [*_edges(code), *_edges_of_calls(code)]
        edges += [(_array([code.outputs[position] for position, _ in carried]), _array([to for _, to in carried]))]
        operands, users = (numpy.concatenate(parts) for parts in zip(*edges, strict=True))
        order = numpy.argsort(operands, kind="stable")
        self._users: list[int] = users[order].tolist()
        self._start: list[int] = numpy.searchsorted(operands[order], numpy.arange(code.count + 1)).tolist()

    def reached(self, start: Iterable[int]) -> set[int]:
        """Return the indices whose derivative with respect to the indices `start` may differ from 0, in any step."""
        found = set(start)
        waiting = list(found)
        while waiting:
            index = waiting.pop()
            for user in self._users[self._start[index] : self._start[index + 1]]:
                if user not in found:
                    found.add(user)
                    waiting.append(user)
        return found


def _edges(code: Code) -> Iterator[Edges]:
    """Yield the edges of all instructions except calls."""
    rows = numpy.array(code.instructions).reshape(-1, 4)
    for i in range(3):
        own = numpy.flatnonzero(_DIFFERENTIABLE[rows[:, 0], i])
        yield rows[own, 1 + i], code.first + own
    for i in numpy.flatnonzero(rows[:, 0] == TAKE).tolist():
        table = _array(code.tables[rows[i, 2]])
        yield table, numpy.full(len(table), code.first + i)


def _edges_of_calls(code: Code) -> Iterator[Edges]:
    """Yield the edges of calls: from the operands to the first result, and from there to the other results."""
    rows = numpy.array(code.instructions).reshape(-1, 4)
    own = numpy.flatnonzero(rows[:, 0] == CALL)
    calls, first, which = numpy.unique(rows[own, 1], return_index=True, return_inverse=True)
    results = code.first + own
    yield results[first][which], results
    for position, result in zip(calls.tolist(), results[first].tolist(), strict=True):
        operands = _array(code.calls[position][1])
        yield operands, numpy.full(len(operands), result)


def _array(indices: Sequence[int]) -> NDArray[numpy.intp]:
    return numpy.array(indices, numpy.intp)
