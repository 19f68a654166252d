"""Dicts from opcodes to the names of instructions in files, their text in listings and their expressions in C.

The dicts are derived from the operation table and include fused instructions.
"""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.compiled import opcodes
from gradwalk.ops.formula import name, substituted
from gradwalk.ops.printing.printers import c
from gradwalk.ops.rows import Fused, Operation
from gradwalk.ops.table import ROWS

CALL = opcodes.OPCODES["call"]  # an instruction for one result of a call
TAKE = opcodes.OPCODES["take"]  # selects an entry of a table of the program by an index

# Instructions that occur only in batch schedules. LOAD loads a column of the batch, and STORE stores numbers to an
# output. SUM adds a sum to the total of an output, and DOT adds a sum of products. SCATTER adds numbers to the outputs
# that an index selects. MACHINE runs machine code.
LOAD, STORE, SUM, DOT, SCATTER, MACHINE = [
    opcodes.OPCODES[name] for name in ("load", "store", "sum", "dot", "scatter", "machine")
]

_FIELDS = {"x": name("{0}"), "y": name("{1}"), "z": name("{2}")}


class ProgramError(ValueError):
    """Raised if a program is not well formed, or cannot be used as requested."""


class OpcodeInfo(NamedTuple):
    """Name of an instruction in files, and its text in listings and in C.

    Attributes:
        name: The name of the instruction in files.
        arity: The number of its operands.
        text: The text in listings, with {0}, {1} and {2} for the operands.
        c: The expression in C, with {0}, {1} and {2} for the operands.
    """

    name: str
    arity: int
    text: str
    c: str


def _described(row: Operation | Fused) -> OpcodeInfo:
    in_c = c(substituted(row.forward, _FIELDS))
    operands = ", ".join(f"{{{position}}}" for position in range(row.arity))
    return OpcodeInfo(row.name, row.arity, f"{row.name}({operands})" if row.is_function else in_c, in_c)


# Instructions with a fixed number of operands: all but `CALL` and `TAKE`.
INSTRUCTIONS = {opcodes.OPCODES[row.name]: _described(row) for row in ROWS}
# Opcode -> number of operands. `SUM` also occurs in programs that are compiled for lanes: see `lane_program`.
ARITIES = {opcode: instruction.arity for opcode, instruction in INSTRUCTIONS.items()} | {SUM: 1}
NAMES = {opcode: instruction.name for opcode, instruction in INSTRUCTIONS.items()} | {CALL: "call", TAKE: "take"}
OPCODES = {name: opcode for opcode, name in NAMES.items()}
