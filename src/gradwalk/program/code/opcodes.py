"""The instructions that programs are made of, by opcode: what files call them, how they are shown, what they are in C.

All of it is derived from the rows of the table, those of fused instructions included.
"""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.compiled import opcodes
from gradwalk.ops.formula import name, substituted
from gradwalk.ops.printing.printers import c
from gradwalk.ops.rows import Fused, Operation
from gradwalk.ops.table import ROWS

CALL = opcodes.OPCODES["call"]  # a result of a Python function
TAKE = opcodes.OPCODES["take"]  # the operand in a table of the program that an index selects

# Instructions of schedules alone: load a column of the batch, store numbers to an output, add a sum or a sum of
# products to the total of an output, add numbers to the outputs that an index selects, and run machine code.
LOAD, STORE, SUM, DOT, SCATTER, MACHINE = [
    opcodes.OPCODES[name] for name in ("load", "store", "sum", "dot", "scatter", "machine")
]

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
INSTRUCTIONS = {opcodes.OPCODES[row.name]: _described(row) for row in ROWS}
NAMES = {opcode: instruction.name for opcode, instruction in INSTRUCTIONS.items()} | {CALL: "call", TAKE: "take"}
OPCODES = {name: opcode for opcode, name in NAMES.items()}
