"""Recorded graphs and finished programs, appended to a tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate
from gradwalk.program import simplify
from gradwalk.program.instruction_store import NO_INDEX, InstructionStore
from gradwalk.program.opcodes import CALL, MULADD, MULSUB
from gradwalk.program.program import Program

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

_none = cython.declare(cython.int, NO_INDEX)
_add = cython.declare(cython.int, evaluate.NAMES.index("add"))
_sub = cython.declare(cython.int, evaluate.NAMES.index("sub"))
_mul = cython.declare(cython.int, evaluate.NAMES.index("mul"))
_sumprod = cython.declare(cython.int, evaluate.SUMPROD)
_call = cython.declare(cython.int, CALL)
_muladd = cython.declare(cython.int, MULADD)
_mulsub = cython.declare(cython.int, MULSUB)


def load_graph(
    store: InstructionStore,
    opcodes: Any,
    offsets: Any,
    operands: Any,
    constants: Any,
    indices: Any,
    functions: dict,
) -> None:
    """Append a recorded graph, which is given as arrays.

    Args:
        store: The tape to append to.
        opcodes: The opcode of each node; 0 for the result of a call.
        offsets: Where each node's operands begin in `operands` and `constants`.
        operands: The nodes that are operands; negative where the operand is a constant.
        constants: These constants.
        indices: The index on the tape of each leaf, and `NO_INDEX` for every other node, whose index is written here.
        functions: For each node that is the result of a call, by its number, the rule of the call.
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
    store.reserve(store.length + 4 * len(opcodes))  # a gradient will follow
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
        if opcode[i] == _sumprod:
            index[i] = _sum_of_products(store, operand, constant, index, k, offset[i + 1])
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
    """Return the index of a graph's k-th operand."""
    return index[operand[k]] if operand[k] >= 0 else store.intern_constant(constant[k])


@cython.cfunc
@cython.exceptval(-1)
def _sum_of_products(
    store: InstructionStore,
    operand: cython.p_int,
    constant: cython.p_double,
    index: cython.p_int,
    k: cython.int,
    end: cython.int,
) -> cython.int:
    """Append start + p[0]*q[0] + p[1]*q[1] + ... as sums and products."""
    n: cython.int = (end - k) // 2
    i: cython.int
    x: cython.int
    y: cython.int
    total: cython.int = _operand(store, operand, constant, index, k)
    for i in range(k + 1, k + 1 + n):
        x = _operand(store, operand, constant, index, i)
        y = _operand(store, operand, constant, index, i + n)
        total = simplify.emit(store, _add, total, simplify.emit(store, _mul, x, y, 0), 0)
    return total


def inline_program(store: InstructionStore, program: Program, operands: list) -> list:
    """Append the instructions of a program.

    Args:
        store: The tape to append to.
        program: The program.
        operands: The indices on the tape of what takes the place of the program's inputs.

    Returns:
        The indices of the program's outputs.
    """
    code: cython.p_int = c_compat.integers(program.instructions)
    indices = numpy.zeros(len(operands) + len(program.constants) + len(program), numpy.int32)
    index: cython.p_int = c_compat.integers(indices)
    bases: dict = {}
    i: cython.int = 0
    k: cython.int
    for x in operands:
        index[i] = x
        i += 1
    for number in program.constants:
        index[i] = store.intern_constant(number)
        i += 1
    for k in range(0, len(program.instructions), 4):
        if code[k] == _call:
            function, given = program.calls[code[k + 1]]
            if code[k + 1] not in bases:
                bases[code[k + 1]] = store.call(function, [index[x] for x in given])
            index[i] = bases[code[k + 1]] + code[k + 2]
        else:
            index[i] = _unfused(store, code[k], index[code[k + 1]], index[code[k + 2]], index[code[k + 3]])
        i += 1
    return [index[x] for x in program.outputs]


@cython.cfunc
@cython.exceptval(-1)
def _unfused(store: InstructionStore, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
    """Append a program's instruction; a fused one as a product and a sum or difference."""
    if opcode < _call:
        return simplify.emit(store, opcode, x, y, z)
    product: cython.int = simplify.emit(store, _mul, x, y, 0)
    if opcode == _muladd:
        return simplify.emit(store, _add, product, z, 0)
    if opcode == _mulsub:
        return simplify.emit(store, _sub, product, z, 0)
    return simplify.emit(store, _sub, z, product, 0)
