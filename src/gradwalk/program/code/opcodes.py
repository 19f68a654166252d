"""The instructions that programs are made of, by opcode: what files call them, how they are shown, what they are in C.

All of it is derived from the rows of the table, those of fused instructions included.
"""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.compiled import numbering
from gradwalk.ops.formula import name, substituted
from gradwalk.ops.printing.printers import c
from gradwalk.ops.rows import Fused, Operation
from gradwalk.ops.table import ROWS

CALL = numbering.OPCODES["call"]  # a result of a function of Python
TAKE = numbering.OPCODES["take"]  # the operand in a table of the program's that an index picks
LOAD, STORE, SUM, DOT, SCATTER, MACHINE = [numbering.OPCODES[name] for name in numbering.SCHEDULED]  # in schedules

_FIELDS = {"x": name("{0}"), "y": name("{1}"), "z": name("{2}")}


class ProgramError(ValueError):
    """A program that is not well formed, or that cannot be used in the way asked for."""


class OpcodeInfo(NamedTuple):
    """An instruction as programs know it.

    Attributes:
        name: What files call it.
        arity: The number of its operands.
        text: How it is shown, with {0}, {1} and {2} for the operands.
        c: The expression in C, with the same fields.
    """

    name: str
    arity: int
    text: str
    c: str


def _described(row: Operation | Fused) -> OpcodeInfo:
    in_c = c(substituted(row.forward, _FIELDS))
    operands = ", ".join(f"{{{position}}}" for position in range(row.arity))
    return OpcodeInfo(row.name, row.arity, f"{row.name}({operands})" if row.is_function else in_c, in_c)


# Those with a fixed number of operands: all but `CALL` and `TAKE`, whose operands stand in lists of the program's own.
INSTRUCTIONS = {numbering.OPCODES[row.name]: _described(row) for row in ROWS}
NAMES = {opcode: instruction.name for opcode, instruction in INSTRUCTIONS.items()} | {CALL: "call", TAKE: "take"}
OPCODES = {name: opcode for opcode, name in NAMES.items()}
