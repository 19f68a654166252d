"""What a row of the table passes back, traced once into a template: a few operations of the table, to be stamped out.

The derivative of a recorded graph is again a graph, because every formula of the table can be written in its rows.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gradwalk.ops.formula import Formula, name, number, where
from gradwalk.ops.table import TABLE, Operation

# What an instruction of a template refers to: an earlier one by its place, or one of these.
OPERANDS = {"x": -1, "y": -2, "z": -3}
OUT = -4
ADJOINT = -5
_NAMES = {**OPERANDS, "out": OUT, "adjoint": ADJOINT}

_OPCODES = {row.name: opcode for opcode, row in enumerate(TABLE, start=1)}
_FUNCTIONS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "negative": "neg", "fabs": "abs", "and": "mul"}
_COMPARISONS = {"<": "less", "<=": "less_equal", ">": "less", ">=": "less_equal", "==": "equal"}
_WHOLE = {row.forward: row for row in TABLE if row.is_exact}  # a formula that is a row's own needs one instruction

adjoint = name("adjoint")


class Instruction(NamedTuple):
    """An operation and what it is applied to; opcode 0 stands for the constant `number`."""

    opcode: int
    operands: tuple[int, ...] = ()
    number: float = 0.0


class Template(NamedTuple):
    """Instructions, operands first, and which of them is the result (or one of the references above)."""

    instructions: tuple[Instruction, ...]
    result: int


@cache
def template(opcode: int, position: int) -> Template | None:
    """What a row passes to the operand at `position`, for the adjoint of its result; None where that is nothing.

    Read forward it is what the operand's tangent adds to that of the result, with the tangent in place of the adjoint.

    >>> template(_OPCODES["mul"], 0)
    Template(instructions=(Instruction(opcode=3, operands=(-5, -2), number=0.0),), result=0)
    """
    row = TABLE[opcode - 1]
    if position in row.inert:
        return None
    instructions: list[Instruction] = []
    result = _traced(_contribution(row, position), instructions)
    return Template(tuple(instructions), result)


def _contribution(row: Operation, position: int) -> Formula:
    """The adjoint times the partial. A row that selects passes the adjoint itself, or exactly 0, never 0 · inf."""
    partial = row.partial(position)
    return _chosen(partial) if row.selects else _scaled(partial)


def _chosen(partial: Formula) -> Formula:
    if partial.operator == "where":
        condition, chosen, otherwise = partial.arguments
        return where(condition, _chosen(chosen), _chosen(otherwise))
    return partial if partial == number(0) else _scaled(partial)


def _scaled(partial: Formula) -> Formula:
    if partial == number(1):
        return adjoint
    return -adjoint if partial == number(-1) else adjoint * partial


def _traced(formula: Formula, instructions: list[Instruction]) -> int:
    """The reference to a formula's value, its instructions appended where they do not stand there yet."""
    if formula.operator == "name":
        return _NAMES[str(formula.atom)]
    if formula.operator == "number":
        return _placed(Instruction(0, (), float(formula.atom)), instructions)
    operands = [_traced(part, instructions) for part in _operands(formula)]
    return _placed(Instruction(_OPCODES[_row(formula)], tuple(operands)), instructions)


def _row(formula: Formula) -> str:
    """The name of the row that computes the outermost operation of a formula."""
    if formula in _WHOLE:
        return _WHOLE[formula].name
    operator = formula.operator
    return _COMPARISONS.get(operator) or _FUNCTIONS.get(operator, operator)


def _operands(formula: Formula) -> tuple[Formula, ...]:
    """What that row is to be applied to."""
    if formula in _WHOLE:
        return tuple(name(operand) for operand in list(OPERANDS)[: _WHOLE[formula].arity])
    return formula.arguments[::-1] if formula.operator in (">", ">=") else formula.arguments


def _placed(instruction: Instruction, instructions: list[Instruction]) -> int:
    if instruction not in instructions:
        instructions.append(instruction)
    return instructions.index(instruction)
