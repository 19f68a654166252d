"""`Stages`: a program with loops and switches, split into stages that run on a batch one after the other.

The instructions between two calls form a program that a lane kernel runs, and each call is one stage. Values that are
the same for all samples are computed once, before the stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradwalk.program.code import parts
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL
from gradwalk.program.program import Program, trusted


@dataclass(frozen=True)
class Segment:
    """The instructions of a program between two calls, as a separate program.

    Attributes:
        program: The program made of these instructions.
        inputs: Index of each input in the whole program.
        outputs: Index of each output in the whole program. The outputs are the results that other stages or the outputs
            of the whole program use.
    """

    program: Program
    inputs: list[int]
    outputs: list[int]


@dataclass(frozen=True)
class CallStage:
    """A call that is run as one stage.

    Attributes:
        call: The call.
        operands: The indices that the call's operands have in the whole program.
        results: A dict from indices in the whole program to the position of the result with this index in the call. It
            contains only the results that the program reads.
    """

    call: Any
    operands: Sequence[int]
    results: dict[int, int]


@dataclass(frozen=True)
class Stages:
    """A program split into stages.

    Attributes:
        uniform: Instructions whose results are the same for all samples, run once.
        varying: Segments and calls in execution order.
        varies: Whether the value at each index of the program has one number per sample.
    """

    uniform: Segment
    varying: list[Segment | CallStage]
    varies: list[bool]


def split(program: Program, varies: Sequence[bool]) -> Stages:
    """Split a program into stages. `varies` tells which inputs have one number per sample."""
    code, rows = program.code, program.code.rows
    of_index = code.depending(varies)
    level = _levels(code, rows, of_index)
    users = _users(code, rows, of_index, level)
    same = [i for i in range(len(rows)) if not of_index[code.first + i]]
    inputs = [i for i, does in enumerate(varies) if not does]
    uniform = _segment(code, same, inputs, [code.first + i for i in same if users[code.first + i]])
    stages: list[Segment | CallStage] = []
    for depth in range(1 + max(level, default=0)):
        if depth:
            stages += _calls(code, rows, level, depth)
        own = [i for i, row in enumerate(rows) if of_index[code.first + i] and level[code.first + i] == depth]
        plain = [i for i in own if rows[i][0] != CALL]
        if plain:
            taken = sorted(parts.taken(code, rows, plain))
            stages.append(_segment(code, plain, taken, [code.first + i for i in plain if users[code.first + i]]))
    return Stages(uniform, stages, of_index)


def _levels(code: Code, rows: Sequence[Sequence[int]], varies: Sequence[bool]) -> list[int]:
    """Return the level of each index: the largest number of varying calls on a dependency path to the index."""
    level = [0] * code.first
    calls: dict[int, int] = {}
    for does_vary, row in zip(varies[code.first :], rows, strict=True):
        if not does_vary:
            level.append(0)
        elif row[0] != CALL:
            level.append(max((level[index] for index in code.used(row)), default=0))
        else:
            if row[1] not in calls:
                calls[row[1]] = 1 + max((level[index] for index in code.used(row)), default=0)
            level.append(calls[row[1]])
    return level


def _users(code: Code, rows: Sequence[Sequence[int]], varies: Sequence[bool], level: Sequence[int]) -> list[bool]:
    """Return one flag per index: whether an output of the program, a call or another stage uses its value."""
    used_elsewhere = [False] * code.count
    for index in code.outputs:
        used_elsewhere[index] = True
    for _, operands in code.calls:
        for index in operands:
            used_elsewhere[index] = True
    for i, row in enumerate(rows, code.first):
        if row[0] == CALL:
            continue
        for index in code.used(row):
            same_stage = varies[index] == varies[i] and level[index] == level[i]
            used_elsewhere[index] |= not same_stage or (index >= code.first and rows[index - code.first][0] == CALL)
    return used_elsewhere


def _calls(code: Code, rows: Sequence[Sequence[int]], level: Sequence[int], depth: int) -> list[CallStage]:
    """Return the calls at level `depth`."""
    found: dict[int, CallStage] = {}
    for i, (opcode, which, position, _) in enumerate(rows, code.first):
        if opcode == CALL and level[i] == depth:
            call, operands = code.calls[which]
            found.setdefault(which, CallStage(call, operands, {})).results[i] = position
    return list(found.values())


def _segment(code: Code, own: Sequence[int], inputs: list[int], outputs: list[int]) -> Segment:
    """Build a program from the instructions `own`."""
    return Segment(trusted(parts.part(code, own, inputs, outputs).code), inputs, outputs)
