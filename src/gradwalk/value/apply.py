"""Create the result nodes of operations, for the operators and methods of `Value` and for `gradwalk.math`.

Results are instances of `Value`. This module cannot import `Value`, because value.py imports this module; value.py
therefore passes the class to `register`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Complex
from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value import arrays, convert, modes, scalars, variadic
from gradwalk.value import node as nodes
from gradwalk.value.memory import node_memory
from gradwalk.value.node import ValueNode

if not TYPE_CHECKING and cython.compiled:
    import cython

_value_class = cython.declare(object, None)  # `Value`, set by `register`
_complex_operator = cython.declare(object, None)  # set by `register_complex`


def register(cls: type) -> None:
    """Set the class of new nodes to `Value`. If compiled, its instances then use the allocator of node_memory.h."""
    global _value_class
    node_memory.manage_nodes(cls)
    _value_class = cls


def register_complex(operator: Callable[..., Any]) -> None:
    """Set the function that applies an operation to operands with a complex number.

    It takes the name of the operation and the operands, and returns NotImplemented if it cannot be applied.
    """
    global _complex_operator
    _complex_operator = operator


@cython.cfunc
def new_leaf(data: cython.double, level: cython.int) -> ValueNode:
    """Return a new leaf."""
    return cython.cast(ValueNode, node_memory.make_node(_value_class, 0, level, None, None, data, 0.0, 0.0))


@cython.cfunc
@cython.inline
def new_node(
    opcode: cython.int,
    a: ValueNode | None,
    b: ValueNode | None,
    data: cython.double,
    pa: cython.double,
    pb: cython.double,
) -> Any:
    """Create the result of an operation.

    `pa` and `pb` are the partials with respect to `a` and `b`. If the first operand is a constant, `a` is None and `pa`
    is the constant itself; the same holds for `b` and `pb`.
    """
    level: cython.int = a._level if a is not None else 0
    if b is not None and b._level > level:
        level = b._level
    out: ValueNode = cython.cast(ValueNode, node_memory.make_node(_value_class, opcode, level, a, b, data, pa, pb))
    if modes.open_switches != 0 or level < modes.staging:
        modes.inspect(out)
    return out


@cython.cfunc
def unary(opcode: cython.int, a: ValueNode) -> Any:
    """Apply an operation to one node."""
    out: cython.double = evaluate.value(opcode, a._primal, 0.0, 0.0)
    return new_node(opcode, a, None, out, evaluate.partial(opcode, 0, a._primal, 0.0, 0.0, out), 0.0)


@cython.cfunc
def binary(opcode: cython.int, left: Any, right: Any) -> Any:
    """Apply an operation to two operands, at least one of which is a Value.

    The result is a `Complex` if an operand is a complex number, and NotImplemented if it is not a number either.
    """
    a: ValueNode
    b: ValueNode
    x: cython.double
    y: cython.double
    out: cython.double
    if c_compat.is_kind(left, ValueNode) and c_compat.is_kind(right, ValueNode):
        a, b = cython.cast(ValueNode, left), cython.cast(ValueNode, right)
        x, y = a._primal, b._primal
        out = evaluate.value(opcode, x, y, 0.0)
        return new_node(
            opcode, a, b, out, evaluate.partial(opcode, 0, x, y, 0.0, out), evaluate.partial(opcode, 1, x, y, 0.0, out)
        )
    if not (scalars.is_operand(left) and scalars.is_operand(right)):
        has_complex: cython.bint = isinstance(left, convert.COMPLEX_TYPES) or isinstance(right, convert.COMPLEX_TYPES)
        return _complex_operator(NAMES[opcode], left, right) if has_complex else NotImplemented
    x, y = scalars.number(left), scalars.number(right)
    out = evaluate.value(opcode, x, y, 0.0)
    if c_compat.is_kind(left, ValueNode):
        return new_node(opcode, cython.cast(ValueNode, left), None, out, evaluate.partial(opcode, 0, x, y, 0.0, out), y)
    return new_node(opcode, None, cython.cast(ValueNode, right), out, x, evaluate.partial(opcode, 1, x, y, 0.0, out))


@cython.cfunc
def ternary(opcode: cython.int, arguments: list) -> ValueNode:
    """Apply an operation to three operands. The new node stores the operands in its details."""
    x: cython.double = scalars.number(arguments[0])
    y: cython.double = scalars.number(arguments[1])
    z: cython.double = scalars.number(arguments[2])
    position: cython.int
    out: ValueNode = _new(opcode, evaluate.value(opcode, x, y, z))
    nodes.set_operands_and_level(out, arguments)
    for position in range(3):
        out._details.partials[position] = evaluate.partial(opcode, position, x, y, z, out._primal)
    if modes.open_switches != 0 or out._level < modes.staging:
        modes.inspect(out)
    return out


@cython.cfunc
@cython.inline
def variadic_node(opcode: cython.int, arguments: list) -> object:
    """Apply a variadic operation. The result is a plain float if no operand is a Value."""
    out: ValueNode = _new(opcode, 0.0)
    nodes.hold(out, arguments)
    if not variadic.compute(out):
        return out._primal
    if modes.open_switches != 0 or out._level < modes.staging:
        modes.inspect(out)
    return out


@cython.cfunc
@cython.inline
def listed(operands: Any) -> Any:
    """Return a list or a tuple unchanged; convert any other iterable of operands to a tuple."""
    return operands if type(operands) is list or type(operands) is tuple else tuple(operands)


@cython.cfunc
@cython.inline
def _new(opcode: cython.int, data: cython.double) -> ValueNode:
    """Create a node without operands. The caller must add the operands to the details of the node."""
    return cython.cast(ValueNode, node_memory.make_node(_value_class, opcode, 0, None, None, data, 0.0, 0.0))


def apply_variadic(opcode: int, operands: list) -> Any:
    """Apply a variadic operation to a list of Values and numbers. The new node keeps the list as its arguments."""
    return variadic_node(opcode, operands)


def apply(opcode: int, *operands: Any) -> Any:
    """Apply an operation to Values and numbers, or elementwise to arrays of them.

    Args:
        opcode: The opcode of the operation, which must not be variadic.
        *operands: Values and numbers, or arrays and lists of them, one for each operand of the operation.

    Returns:
        A Value if any operand is a Value, else a float. If an operand is an array or a list, an array with one result
        per element.

    Raises:
        TypeError: If an operand is not a Value, a real number, or an array or list of them.
    """
    if len(operands) == 1 and c_compat.is_kind(operands[0], ValueNode):
        return unary(opcode, cython.cast(ValueNode, operands[0]))
    return applied(opcode, operands) if convert.are_operands(operands) else _of_arrays(opcode, operands)


@cython.cfunc
def _of_arrays(opcode: cython.int, operands: tuple) -> object:
    """Apply an operation elementwise to operands that include arrays or lists.

    Raises `TypeError` if an operand has another type.
    """
    if arrays.are_there(operands):
        return arrays.elementwise(partial(apply, opcode), operands)
    numbers = tuple([arrays.without_dimensions(operand) for operand in operands])
    if convert.are_operands(numbers):
        return applied(opcode, numbers)
    hint = ""
    if any(isinstance(x, Complex) and not convert.is_real(x) for x in numbers):
        result = _complex_operator(NAMES[opcode], *numbers)
        if result is not NotImplemented:
            return result
        hint = "; gradwalk.cmath has functions of complex numbers"
    given = ", ".join([type(operand).__name__ for operand in operands])
    raise TypeError(f"{NAMES[opcode]}() takes Values and real numbers, not ({given}){hint}")


@cython.cfunc
def applied(opcode: cython.int, operands: tuple) -> object:
    """Apply an operation to Values and numbers."""
    connected: cython.bint = False
    for operand in operands:
        connected = connected or c_compat.is_kind(operand, ValueNode)
    if not connected:
        return _of_numbers(opcode, operands)
    if len(operands) == 1:
        return unary(opcode, cython.cast(ValueNode, operands[0]))
    if len(operands) == 2:
        return binary(opcode, operands[0], operands[1])
    return ternary(opcode, [x if c_compat.is_kind(x, ValueNode) else scalars.number(x) for x in operands])


@cython.cfunc
def _of_numbers(opcode: cython.int, operands: tuple) -> cython.double:
    """Apply an operation to numbers."""
    count: cython.Py_ssize_t = len(operands)
    x: cython.double = scalars.number(operands[0])
    y: cython.double = scalars.number(operands[1]) if count > 1 else 0.0
    z: cython.double = scalars.number(operands[2]) if count > 2 else 0.0
    return evaluate.value(opcode, x, y, z)
