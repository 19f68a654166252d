"""Templates: the contribution of each operation to the cotangents of its operands, as instructions.

The derivative of a recorded program is again a program, because every partial can be written with operations of the
table. The contribution to each operand of an operation is converted once to a `Template`. Its instructions are appended
to the tape wherever the operation is differentiated. Reductions and fused instructions have templates, too, which
consist of the operations that replace them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from gradwalk.ops.compiled.opcodes import NAMES, OPCODES
from gradwalk.ops.formula import NEVER, Formula, as_formula, given, name, number, where
from gradwalk.ops.rows import Fused, Operation, Reduction
from gradwalk.ops.table import BY_NAME, TABLE

# References in a template: the index of an earlier instruction, or one of these negative numbers.
OPERANDS = {"x": -1, "y": -2, "z": -3}
OUT = -4
ADJOINT = -5
TOTAL = -6
_REFERENCES = {**OPERANDS, "out": OUT, "adjoint": ADJOINT, "total": TOTAL}

# The operation for each operator in formulas. Conditions are 1.0 or 0.0, so `and` is a product.
_ROWS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "negative": "neg", "fabs": "abs", "and": "mul"}
_ROWS |= {"<": "less", "<=": "less_equal", ">": "less", ">=": "less_equal", "==": "equal"}
_SWAPPED = (">", ">=")  # computed as < and <= with swapped operands

# Formulas that a single operation computes. For example, the derivative of softplus is the operation sigmoid.
_WHOLE = {row.forward: row for row in TABLE if row.is_exact}

adjoint = name("adjoint")


class Instruction(NamedTuple):
    """An instruction of a template.

    Attributes:
        opcode: The opcode of the operation, or 0 for a constant.
        operands: A reference for each operand: see `OPERANDS`.
        number: The value of a constant.
    """

    opcode: int
    operands: tuple[int, ...] = ()
    number: float = 0.0


class Template(NamedTuple):
    """A formula as instructions.

    Attributes:
        instructions: The instructions, in topological order.
        result: Reference to the value of the formula.
    """

    instructions: tuple[Instruction, ...]
    result: int


@cache
def template(opcode: int, position: int) -> Template | None:
    """Return the template for the contribution to an operand's cotangent, or None if the contribution is always zero.

    Forward mode uses the same template. Given the tangent of the operand instead of the cotangent of the result, it
    computes the contribution of the operand to the tangent of the result.

    Example:
        >>> template(OPCODES["mul"], 0)
        Template(instructions=(Instruction(opcode=3, operands=(-5, -2), number=0.0),), result=0)
    """
    row = BY_NAME[NAMES[opcode]]
    if position in row.non_differentiable:
        return None
    return _template(_contribution(row, position))


def expansion(row: Reduction) -> tuple[Template, Template]:
    """Return two templates of a reduction: for the total before the first element, and for one step.

    Example:
        >>> from gradwalk.ops.table import REDUCTION_BY_NAME
        >>> first, step = expansion(REDUCTION_BY_NAME["sumprod"])
        >>> [instruction.opcode for instruction in step.instructions] == [OPCODES["mul"], OPCODES["add"]]
        True
    """
    return _template(as_formula(row.first)), _template(row.step)


def taken_apart(row: Fused) -> Template:
    """Return the template of the two operations that a fused instruction performs.

    Example:
        >>> from gradwalk.ops.table import FUSED
        >>> [instruction.operands for instruction in taken_apart(FUSED[0]).instructions]
        [(-1, -2), (0, -3)]
    """
    return _template(row.forward)


def missing_rows(row: Operation | Reduction) -> list[str]:
    """Return the names of functions that an operation's derivative calls but that are not in the table.

    For a reduction, its expansion is checked instead of its derivative. `template` and `expansion` raise an error until
    the table has all of these functions.
    """
    if isinstance(row, Reduction):
        formulas = [as_formula(row.first), row.step]
    else:
        formulas = [_contribution(row, i) for i in range(row.arity) if i not in row.non_differentiable]
    needed = [operation for formula in formulas for operation in _needed(formula)]
    return [operation for operation in dict.fromkeys(needed) if operation not in BY_NAME]


def _contribution(row: Operation, position: int) -> Formula:
    """Return cotangent * partial as a formula.

    If the operation selects operands, the result is exactly 0 for unselected operands, even if the cotangent is inf.
    """
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
    """Append the instructions that compute a formula, without duplicates. Return the reference to its value."""
    if formula.operator == "name":
        return _REFERENCES[str(formula.atom)]
    if formula.operator == "number":
        return _appended(Instruction(0, (), float(formula.atom)), instructions)
    operands = [_traced(part, instructions) for part in _operands(formula)]
    return _appended(Instruction(OPCODES[_row(formula)], tuple(operands)), instructions)


def _needed(formula: Formula) -> Iterator[str]:
    """Yield the name of the operation for each instruction that `_traced` would append."""
    if formula.operator not in ("name", "number"):
        yield _row(formula)
        for part in _operands(formula):
            yield from _needed(part)


def _row(formula: Formula) -> str:
    """Return the name of the operation that computes the outermost operator of a formula."""
    if formula in _WHOLE:
        return _WHOLE[formula].name
    return _ROWS.get(formula.operator, formula.operator)


def _operands(formula: Formula) -> tuple[Formula, ...]:
    """Return the operands of the operation named by `_row`."""
    if formula in _WHOLE:
        return tuple(name(operand) for operand in list(OPERANDS)[: _WHOLE[formula].arity])
    return formula.arguments[::-1] if formula.operator in _SWAPPED else formula.arguments


def _appended(instruction: Instruction, instructions: list[Instruction]) -> int:
    if instruction not in instructions:
        instructions.append(instruction)
    return instructions.index(instruction)
