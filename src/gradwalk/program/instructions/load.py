"""Append traced graphs and programs to a tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.instructions import expansions, simplify
from gradwalk.program.instructions.instruction_store import NO_INDEX, InstructionStore
from gradwalk.program.program import Program

if not TYPE_CHECKING and cython.compiled:
    import cython

_none = cython.declare(cython.int, NO_INDEX)
_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)


def load_graph(
    store: InstructionStore,
    opcodes: Any,
    offsets: Any,
    operands: Any,
    constants: Any,
    indices: Any,
    functions: dict,
) -> None:
    """Append a traced graph, given as arrays.

    Args:
        store: The tape to append to.
        opcodes: The opcode of each node; 0 for the result of a call.
        offsets: The start of each node's operands in `operands` and `constants`.
        operands: The node number of each operand; negative if the operand is a constant.
        constants: The constant for each negative entry of `operands`, at the same position.
        indices: The tape index of each leaf, and `NO_INDEX` for all other nodes. Each `NO_INDEX` is replaced by the
            tape index of the node.
        functions: Maps the number of each node that is the result of a call to the rule of this node.
    """
    opcode: cython.p_int = c_compat.integers(opcodes)
    offset: cython.p_int = c_compat.integers(offsets)
    operand: cython.p_int = c_compat.integers(operands)
    constant: cython.p_double = c_compat.doubles(constants)
    index: cython.p_int = c_compat.integers(indices)
    x: cython.int
    y: cython.int
    z: cython.int
    i: cython.int
    k: cython.int
    bases: dict = {}
    store.reserve(store.length + 4 * len(opcodes))  # enough for the gradient, too
    for i in range(len(opcodes)):
        if index[i] != _none:
            continue
        k = offset[i]
        if opcode[i] == 0:
            result = functions[i]
            if id(result.operands) not in bases:
                called = [_operand(store, operand, constant, index, x) for x in range(k, offset[i + 1])]
                bases[id(result.operands)] = store.call(result.call, called)
            index[i] = bases[id(result.operands)] + result.position
            continue
        if opcode[i] == _take:
            table = [_operand(store, operand, constant, index, x) for x in range(k + 1, offset[i + 1])]
            index[i] = simplify.emit_take(store, _operand(store, operand, constant, index, k), tuple(table))
            continue
        if evaluate.is_variadic(opcode[i]):
            index[i] = _expanded(store, opcode[i], operand, constant, index, k, offset[i + 1])
            continue
        x = _operand(store, operand, constant, index, k)
        y = _operand(store, operand, constant, index, k + 1) if offset[i + 1] > k + 1 else 0
        z = _operand(store, operand, constant, index, k + 2) if offset[i + 1] > k + 2 else 0
        index[i] = simplify.emit(store, opcode[i], x, y, z)


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _operand(
    store: InstructionStore,
    operand: cython.p_int,
    constant: cython.p_double,
    index: cython.p_int,
    k: cython.int,
) -> cython.int:
    """Return the tape index of the operand at position k of the arrays `operand` and `constant`."""
    return index[operand[k]] if operand[k] >= 0 else store.intern_constant(constant[k])


@cython.cfunc
@cython.exceptval(-1)
def _expanded(
    store: InstructionStore,
    opcode: cython.int,
    operand: cython.p_int,
    constant: cython.p_double,
    index: cython.p_int,
    k: cython.int,
    end: cython.int,
) -> cython.int:
    """Append a reduction, such as a sum of products, as one or more instructions per element."""
    groups: cython.int = expansions.groups(opcode)
    starts: cython.int = expansions.starts(opcode)
    total: cython.int = (
        _operand(store, operand, constant, index, k) if starts else expansions.first_total(store, opcode)
    )
    k += starts
    n: cython.int = (end - k) // groups
    i: cython.int
    x: cython.int
    y: cython.int = 0
    z: cython.int = 0
    for i in range(k, k + n):
        x = _operand(store, operand, constant, index, i)
        if groups > 1:
            y = _operand(store, operand, constant, index, i + n)
        if groups > 2:
            z = _operand(store, operand, constant, index, i + 2 * n)
        total = expansions.append_step(store, opcode, total, x, y, z)
    return total


def inline_program(
    store: InstructionStore, program: Program, operands: list, expands: bool = False, replaced: Any = None
) -> list:
    """Append the instructions of a program; return the indices of its outputs.

    Args:
        store: The tape to append to.
        program: The program.
        operands: The tape indices that replace the program's inputs.
        expands: Whether to replace each call that has an expansion by the expansion. If several calls have the same
            `Expansion.first` and the same operands for this program, its instructions are appended once.
        replaced: Function that takes a call and returns the program that replaces the call, or None to keep the call.
    """
    code: cython.p_int = c_compat.integers(program.instructions)
    indices = numpy.zeros(len(operands) + len(program.constants) + len(program), numpy.int32)
    index: cython.p_int = c_compat.integers(indices)
    results: dict = {}  # position of a call -> tape indices of its results
    shared: dict = {}  # id and operands of an `Expansion.first` -> tape indices of its outputs
    i: cython.int = 0
    k: cython.int
    x: cython.int
    y: cython.int
    z: cython.int
    for x in operands:
        index[i] = x
        i += 1
    for number in program.constants:
        index[i] = store.intern_constant(number)
        i += 1
    for k in range(0, len(program.instructions), 4):
        if code[k] == _call:
            if code[k + 1] not in results:
                function, given = program.calls[code[k + 1]]
                results[code[k + 1]] = _called(store, function, [index[x] for x in given], expands, replaced, shared)
            index[i] = results[code[k + 1]][code[k + 2]]
        elif code[k] == _take:
            table = tuple([index[x] for x in program.code.tables[code[k + 2]]])
            index[i] = simplify.emit_take(store, index[code[k + 1]], table)
        else:
            x, y, z = index[code[k + 1]], index[code[k + 2]], index[code[k + 3]]
            if evaluate.is_scalar(code[k]):
                index[i] = simplify.emit(store, code[k], x, y, z)
            else:
                index[i] = expansions.append_unfused(store, code[k], x, y, z)
        i += 1
    return [index[x] for x in program.outputs]


def _called(store: InstructionStore, function: Any, operands: list, expands: bool, replaced: Any, shared: dict) -> Any:
    """Append a call or the program that replaces it; return the indices of its results."""
    program = replaced(function) if replaced is not None else None
    if program is not None:
        return inline_program(store, program, operands, expands, replaced)
    if not expands or function.expansion is None:
        base = store.call(function, operands)
        return range(base, base + function.outputs)
    first, rest = function.expansion
    key = (id(first), *operands[: first.inputs])
    if key not in shared:
        shared[key] = inline_program(store, first, operands[: first.inputs])
    return inline_program(store, rest, [*shared[key], *operands[first.inputs :]])
