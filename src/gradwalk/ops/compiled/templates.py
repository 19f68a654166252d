"""Templates: what each row passes back to its operands, written in rows of the table itself.

The derivative of a recorded program is again a program, because every partial can be written in the table's rows. Each
row is traced once, for each operand, into a `Template`: a few instructions that the tape instantiates wherever it
differentiates that row. Reductions and fused instructions are traced in the same way, into the rows that they stand
for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from gradwalk.ops.compiled.opcodes import NAMES, OPCODES
from gradwalk.ops.formula import NEVER, Formula, as_formula, given, name, number, where
from gradwalk.ops.rows import Fused, Operation, Reduction
from gradwalk.ops.table import BY_NAME, TABLE

# An instruction of a template refers to an earlier one by its index, or to one of these.
OPERANDS = {"x": -1, "y": -2, "z": -3}
OUT = -4
ADJOINT = -5
TOTAL = -6
_REFERENCES = {**OPERANDS, "out": OUT, "adjoint": ADJOINT, "total": TOTAL}

# The rows that compute what formulas spell in another way. Conditions are 1.0 or 0.0, so that `and` is a product.
_ROWS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "negative": "neg", "fabs": "abs", "and": "mul"}
_ROWS |= {"<": "less", "<=": "less_equal", ">": "less", ">=": "less_equal", "==": "equal"}
_SWAPPED = (">", ">=")  # computed by the opposite comparison of swapped operands

# A formula that is the whole of some row needs one instruction: sigmoid in the derivative of softplus, for example.
_WHOLE = {row.forward: row for row in TABLE if row.is_exact}

adjoint = name("adjoint")


class Instruction(NamedTuple):
    """An operation of a template and what it is applied to.

    Attributes:
        opcode: The row, or 0 for the constant `number`.
        operands: A reference for each operand.
        number: The constant, where the opcode is 0.
    """

    opcode: int
    operands: tuple[int, ...] = ()
    number: float = 0.0


class Template(NamedTuple):
    """A formula as instructions: what a row passes back to one operand, for example, or a step of a reduction.

    Attributes:
        instructions: The instructions, each after those that it refers to.
        result: The reference to the value of the formula.
    """

    instructions: tuple[Instruction, ...]
    result: int


@cache
def template(opcode: int, position: int) -> Template | None:
    """Return what a row passes back to an operand, given the adjoint of its result.

    The same template serves forward mode. With the operand's tangent in place of the adjoint, it gives what the operand
    contributes to the tangent of the result.

    Args:
        opcode: The row.
        position: Which of its operands, counted from 0.

    Returns:
        The template, or None where the row never passes anything to that operand.

    Example:
        >>> template(OPCODES["mul"], 0)
        Template(instructions=(Instruction(opcode=3, operands=(-5, -2), number=0.0),), result=0)
    """
    row = BY_NAME[NAMES[opcode]]
    if position in row.non_differentiable:
        return None
    return _template(_contribution(row, position))


def expansion(row: Reduction) -> tuple[Template, Template]:
    """Return the instructions that a reduction is expanded into in programs.

    Args:
        row: The reduction.

    Returns:
        A template for the total before the first element, and one for the total after an element.

    Example:
        >>> from gradwalk.ops.table import REDUCTION_BY_NAME
        >>> first, step = expansion(REDUCTION_BY_NAME["sumprod"])
        >>> [instruction.opcode for instruction in step.instructions] == [OPCODES["mul"], OPCODES["add"]]
        True
    """
    return _template(as_formula(row.first)), _template(row.step)


def taken_apart(row: Fused) -> Template:
    """Return the instructions of rows that a fused instruction does the work of.

    Args:
        row: The fused instruction.

    Returns:
        A template of two instructions: one of `x` and `y`, and one of its result and `z`.

    Example:
        >>> from gradwalk.ops.table import FUSED
        >>> [instruction.operands for instruction in taken_apart(FUSED[0]).instructions]
        [(-1, -2), (0, -3)]
    """
    return _template(row.forward)


def missing_rows(row: Operation | Reduction) -> list[str]:
    """Return the operations that the derivative of a row needs and that no row of the table computes.

    Args:
        row: The row to look at; of a reduction, the operations that its expansion needs.

    Returns:
        The names of the functions, in order of appearance. The table has to be changed until there are none:
        `template` and `expansion` do not work for the row before.
    """
    if isinstance(row, Reduction):
        formulas = [as_formula(row.first), row.step]
    else:
        formulas = [_contribution(row, i) for i in range(row.arity) if i not in row.non_differentiable]
    needed = [operation for formula in formulas for operation in _needed(formula)]
    return [operation for operation in dict.fromkeys(needed) if operation not in BY_NAME]


def _contribution(row: Operation, position: int) -> Formula:
    """Return the adjoint times the partial; of a row that selects, the adjoint itself or exactly 0, never 0 · inf."""
    partial = given(row.partial(position), NEVER, False)
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


def _template(formula: Formula) -> Template:
    instructions: list[Instruction] = []
    result = _traced(formula, instructions)
    return Template(tuple(instructions), result)


def _traced(formula: Formula, instructions: list[Instruction]) -> int:
    """Append the instructions that compute a formula, but for those already there, and return the reference to it."""
    if formula.operator == "name":
        return _REFERENCES[str(formula.atom)]
    if formula.operator == "number":
        return _appended(Instruction(0, (), float(formula.atom)), instructions)
    operands = [_traced(part, instructions) for part in _operands(formula)]
    return _appended(Instruction(OPCODES[_row(formula)], tuple(operands)), instructions)


def _needed(formula: Formula) -> Iterator[str]:
    """Yield the name of the row for each instruction that `_traced` would append."""
    if formula.operator not in ("name", "number"):
        yield _row(formula)
        for part in _operands(formula):
            yield from _needed(part)


def _row(formula: Formula) -> str:
    """Return the name of the row that computes the outermost operation of a formula."""
    if formula in _WHOLE:
        return _WHOLE[formula].name
    return _ROWS.get(formula.operator, formula.operator)


def _operands(formula: Formula) -> tuple[Formula, ...]:
    """Return what that row is to be applied to."""
    if formula in _WHOLE:
        return tuple(name(operand) for operand in list(OPERANDS)[: _WHOLE[formula].arity])
    return formula.arguments[::-1] if formula.operator in _SWAPPED else formula.arguments


def _appended(instruction: Instruction, instructions: list[Instruction]) -> int:
    if instruction not in instructions:
        instructions.append(instruction)
    return instructions.index(instruction)
