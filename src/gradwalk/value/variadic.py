"""Nodes of operations with any number of operands, such as sums of products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value import convert
from gradwalk.value.node import ValueNode

if not TYPE_CHECKING and cython.compiled:
    import cython


@cython.cfunc
def compute(node: ValueNode) -> cython.bint:
    """Compute the number, the partials and the level of a variadic node; return whether an operand is a Value.

    The numbers of the operands are first copied into the C array of the partials. The formulas then replace each number
    by the partial. Raises `TypeError` if an operand is neither a Value nor a real number.
    """
    arguments: list = node._details.arguments
    numbers: cython.p_double = node._details.partials
    count: cython.Py_ssize_t = len(arguments)
    i: cython.Py_ssize_t = 0
    connected: cython.bint = False
    for argument in arguments:
        if c_compat.is_kind(argument, ValueNode):
            operand: ValueNode = cython.cast(ValueNode, argument)
            numbers[i] = operand._primal
            connected = True
            if operand._level > node._level:
                node._level = operand._level
        elif isinstance(argument, float):
            numbers[i] = cython.cast(cython.double, argument)
        elif convert.is_real(argument):
            numbers[i] = convert.to_double(argument)
            arguments[i] = numbers[i]  # stored as a float, so that refresh() runs no user code
        else:
            raise TypeError(f"{NAMES[node._opcode]}() takes Values and real numbers, not {type(argument).__name__}")
        i += 1
    node._primal = evaluate.variadic_value(node._opcode, numbers, count)
    evaluate.replace_by_partials(node._opcode, numbers, count, node._primal)
    return connected


def unequal(name: str, sequences: list[Any]) -> ValueError:
    """Return the error for two or three sequences of different lengths."""
    count = ("two", "three")[len(sequences) - 2]
    lengths = " and ".join(str(len(operands)) for operands in sequences)
    return ValueError(f"{name}() takes {count} sequences of equal length, got lengths {lengths}")
