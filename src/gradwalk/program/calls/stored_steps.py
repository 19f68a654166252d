"""Split the step of a reverse pass into a part that the forward pass computes and stores, and the rest: `split`.

A step of the reverse pass computes intermediates of the loop's step again. Storing an intermediate takes two memory
accesses, so it is faster for functions such as `exp`, for divisions, and for results of calls. Sums and products are
computed again from the stored numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy

from gradwalk.program.code.code import Code, moved_rows
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, TAKE
from gradwalk.program.program import Program, trusted
from gradwalk.program.tape import Tape

_FREE = re.compile(r"\b(fabs|copysign)\(")  # functions that are a single instruction


class StoredStep(NamedTuple):
    """The two parts of a step of a reverse pass.

    Attributes:
        forward: The program of the loop's step, with the stored intermediates as additional outputs.
        back: The program of a step of the reverse pass, with the stored intermediates as additional inputs.
        width: The number of stored intermediates.
    """

    forward: Program
    back: Program
    width: int


def split(body: Program, back: Program) -> StoredStep | None:
    """Split a step of a reverse pass; return None if it has no intermediates that are worth storing.

    `body` is the program of the loop's step. The inputs of `back` are the inputs of `body`, and then the cotangents.
    """
    code = back.code
    stored = _stored(code, code.depending([i >= body.inputs for i in range(code.inputs)]))
    if not stored:
        return None
    tape = Tape()
    inputs = [tape.input() for _ in range(body.inputs)]
    unknown = [tape.constant(0.0)] * (code.inputs - body.inputs)
    outputs = tape.inline(body, inputs)
    intermediates = tape.inline(_with_outputs(code, stored), [*inputs, *unknown])
    forward = tape.program([*outputs, *intermediates])
    tape = Tape()
    inputs = [tape.input() for _ in range(code.inputs + len(stored))]
    rest = tape.program(tape.inline(_reading(code, stored), inputs))
    return StoredStep(forward, rest, len(stored))


def _stored(code: Code, depends: Sequence[bool]) -> list[int]:
    """Return the indices of the intermediates to store, in order.

    `depends` says for each index whether it depends on a cotangent. An intermediate is stored if an instruction that
    depends on a cotangent needs it, directly or through instructions that are computed again.
    """
    needed = numpy.zeros(code.count, bool)
    needed[list(code.outputs)] = True
    stored = []
    rows = code.rows
    for index in range(code.count - 1, code.first - 1, -1):
        row = rows[index - code.first]
        if not needed[index]:
            continue
        if not depends[index] and is_costly(row[0]):
            stored.append(index)
        else:
            needed[list(code.used(row))] = True
    return stored[::-1]


@cache
def is_costly(opcode: int) -> bool:
    """Return whether an instruction takes much longer than an addition: a division, a function or a call."""
    if opcode in (CALL, TAKE):
        return True
    return bool(re.search(r"\w\(|/", _FREE.sub("(", INSTRUCTIONS[opcode].c)))


def _with_outputs(code: Code, outputs: Sequence[int]) -> Program:
    """Return a program with the same instructions and other outputs."""
    return trusted(Code(code.inputs, code.constants, code.instructions, code.calls, outputs, tables=code.tables))


def _reading(code: Code, stored: Sequence[int]) -> Program:
    """Return a program with the same outputs that reads the intermediates `stored` from additional inputs."""
    moved = numpy.arange(code.count)
    moved[code.inputs :] += len(stored)
    moved[stored] = code.inputs + numpy.arange(len(stored))
    rows = moved_rows(code.instructions, moved)
    calls = [(call, moved[list(operands)].tolist()) for call, operands in code.calls]
    tables = [moved[list(table)].tolist() for table in code.tables]
    inputs, outputs = code.inputs + len(stored), moved[list(code.outputs)].tolist()
    return trusted(Code(inputs, code.constants, rows.ravel(), calls, outputs, tables=tables))
