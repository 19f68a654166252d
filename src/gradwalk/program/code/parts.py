"""Split a program for batches: `split` separates uniform instructions from instructions that vary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import ARITIES, CALL, TAKE


class Part(NamedTuple):
    """Some instructions of a program, as a separate program.

    Attributes:
        code: The program made of these instructions.
        inputs: Index of each input in the whole program.
        outputs: Index of each output in the whole program.
    """

    code: Code
    inputs: Sequence[int]
    outputs: Sequence[int]


def split(code: Code, varies: Sequence[bool]) -> tuple[Part, Part]:
    """Split a program into the instructions that are the same for all samples and the instructions that vary.

    `varies` says which inputs vary. The outputs of the first part are the results that the second part uses, and the
    outputs of the program. Outputs of the program that are inputs or constants are in neither part. The inputs of the
    second part that do not vary come first.
    """
    of_index, rows = code.depending(varies), code.rows
    does_vary = of_index[code.first :]
    same = [i for i, does in enumerate(does_vary) if not does]
    varying = [i for i, does in enumerate(does_vary) if does]
    inputs = taken(code, rows, varying)
    outputs = {index for index in code.outputs if index >= code.first}
    needed = sorted(index for index in inputs | outputs if index >= code.first and not of_index[index])
    given = [i for i, does in enumerate(varies) if not does]
    return (
        part(code, same, given, needed),
        part(
            code,
            varying,
            sorted(inputs, key=lambda index: (of_index[index], index)),
            sorted(index for index in outputs if of_index[index]),
        ),
    )


def taken(code: Code, rows: Sequence[Sequence[int]], own: Iterable[int]) -> set[int]:
    """Return the indices that the instructions `own` use but do not compute, except constants."""
    results = {code.first + i for i in own}
    used = {index for i in own for index in code.used(rows[i])}
    return {index for index in used - results if index < code.inputs or index >= code.first}


def part(code: Code, own: Sequence[int], inputs: Sequence[int], outputs: Sequence[int]) -> Part:
    """Return the instructions `own` as a program."""
    place = {index: i for i, index in enumerate(inputs)}
    place |= {code.inputs + i: len(inputs) + i for i in range(len(code.constants))}
    first = len(inputs) + len(code.constants)
    place |= {code.first + i: first + k for k, i in enumerate(own)}
    calls: dict[int, int] = {}
    tables: dict[int, int] = {}
    rows = []
    for opcode, x, y, z in code.instructions.reshape(-1, 4)[list(own)].tolist():
        if opcode == CALL:
            rows.append((opcode, calls.setdefault(x, len(calls)), y, 0))
        elif opcode == TAKE:
            rows.append((opcode, place[x], tables.setdefault(y, len(tables)), 0))
        else:
            arity = ARITIES[opcode]
            moved = [place[index] for index in (x, y, z)[:arity]]
            rows.append((opcode, *moved, *(0,) * (3 - arity)))
    found = Code(
        len(inputs),
        code.constants,
        numpy.array(rows, numpy.int32).ravel(),
        [(code.calls[which][0], [place[index] for index in code.calls[which][1]]) for which in calls],
        [place[index] for index in outputs],
        tables=[[place[index] for index in code.tables[which]] for which in tables],
    )
    return Part(found, inputs, outputs)
