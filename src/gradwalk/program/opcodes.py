"""What programs are made of: the rows of the table by opcode, and three that do two operations at once."""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.evaluate import SUMPROD
from gradwalk.ops.formula import Formula, c, name, substituted
from gradwalk.ops.table import TABLE

CALL = SUMPROD + 1  # a result of a function of Python
MULADD = SUMPROD + 2  # x * y + z. Both round, as they do apart
MULSUB = SUMPROD + 3  # x * y - z
SUBMUL = SUMPROD + 4  # z - x * y

_x, _y, _z = name("x"), name("y"), name("z")
_FIELDS = {"x": name("{0}"), "y": name("{1}"), "z": name("{2}")}


class ProgramError(ValueError):
    """What is wrong with a program, and at which instruction."""


class Instruction(NamedTuple):
    """An operation as programs know it.

    `name`: what files call it; `arity`: how many operands it has. `text` and `c`: how it is shown, and what it is in C,
    with {0}, {1} and {2} for the operands.
    """

    name: str
    arity: int
    text: str
    c: str


def _instruction(name: str, arity: int, formula: Formula, *, is_function: bool) -> Instruction:
    in_c = c(substituted(formula, _FIELDS))
    operands = ", ".join(f"{{{position}}}" for position in range(arity))
    return Instruction(name, arity, f"{name}({operands})" if is_function else in_c, in_c)


INSTRUCTIONS = {
    opcode: _instruction(row.name, row.arity, row.forward, is_function=row.is_function)
    for opcode, row in enumerate(TABLE, start=1)
} | {
    MULADD: _instruction("muladd", 3, _x * _y + _z, is_function=False),
    MULSUB: _instruction("mulsub", 3, _x * _y - _z, is_function=False),
    SUBMUL: _instruction("submul", 3, _z - _x * _y, is_function=False),
}
NAMES = {opcode: instruction.name for opcode, instruction in INSTRUCTIONS.items()} | {CALL: "call"}
OPCODES = {name: opcode for opcode, name in NAMES.items()}
