"""Simplify each instruction before it is appended, using identities that are exact in IEEE 754.

An identity is used only if it holds for every float64, including signed zeros, infinities and nan. For example,
`x + -0.0` is replaced by `x`, but `x + 0.0` is not, because `-0.0 + 0.0` is `0.0`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.instructions.instruction_store import CONSTANT, NO_INDEX, InstructionStore

if not TYPE_CHECKING and cython.compiled:
    import cython

_constant = cython.declare(cython.int, CONSTANT)
_none = cython.declare(cython.int, NO_INDEX)
_add = cython.declare(cython.int, NAMES.index("add"))
_sub = cython.declare(cython.int, NAMES.index("sub"))
_mul = cython.declare(cython.int, NAMES.index("mul"))
_div = cython.declare(cython.int, NAMES.index("div"))
_neg = cython.declare(cython.int, NAMES.index("neg"))
_pow = cython.declare(cython.int, NAMES.index("pow"))
_where = cython.declare(cython.int, NAMES.index("where"))
_less = cython.declare(cython.int, NAMES.index("less"))
_less_equal = cython.declare(cython.int, NAMES.index("less_equal"))
_equal = cython.declare(cython.int, NAMES.index("equal"))


@cython.cfunc
@cython.exceptval(-1)
def emit(store: InstructionStore, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
    """Simplify an instruction and return the index of the result. New instructions are appended."""
    arity: cython.int = evaluate.arity(opcode)
    if arity < 3:
        z = 0
    if arity < 2:
        y = 0
    if store.opcode[x] == _constant and (arity < 2 or store.opcode[y] == _constant):
        if arity < 3:
            return store.intern_constant(evaluate.value(opcode, _number(store, x), _number(store, y), 0.0))
        return y if _number(store, x) != 0.0 else z
    simpler: cython.int = _simplified(store, opcode, x, y, z)
    if simpler != _none:
        return simpler
    return store.intern(opcode, x, y, z)


@cython.cfunc
@cython.exceptval(-1)
def emit_take(store: InstructionStore, index: cython.int, table: tuple) -> cython.int:
    """Return the index of a `take`. If `index` is a constant, return the table entry that it selects instead.

    An out-of-range constant index gives a constant nan if all table entries are constants. Otherwise the `take` is
    kept, so that the derivatives of the entries become nan, too.
    """
    if store.opcode[index] != _constant:
        return store.intern_take(index, table)
    position: cython.Py_ssize_t = evaluate.position_of(_number(store, index), len(table))
    if position >= 0:
        return table[position]
    for entry in table:
        if store.opcode[cython.cast(cython.int, entry)] != _constant:
            return store.intern_take(index, table)
    return store.intern_constant(evaluate.NAN)


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _simplified(store: InstructionStore, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
    """Return the index of a simpler equivalent instruction, or NO_INDEX if there is none."""
    if opcode == _add:
        return _simplified_sum(store, x, y)
    if opcode == _sub:
        return _simplified_difference(store, x, y)
    if opcode == _mul:
        return _simplified_product(store, x, y)
    if opcode == _div:
        return _simplified_quotient(store, x, y)
    if opcode == _neg and store.opcode[x] == _neg:
        return store.x[x]
    if opcode == _pow and store.opcode[y] == _constant:
        return _simplified_power(store, x, _number(store, y))
    if opcode == _where:
        return _simplified_choice(store, x, y, z)
    return _none


@cython.cfunc
@cython.exceptval(-1)
def _simplified_sum(store: InstructionStore, x: cython.int, y: cython.int) -> cython.int:
    if store.opcode[y] == _neg:
        return emit(store, _sub, x, store.x[y], 0)
    if store.opcode[x] == _neg:
        return emit(store, _sub, y, store.x[x], 0)
    if _is_minus_zero(store, y):
        return x
    return y if _is_minus_zero(store, x) else _none


@cython.cfunc
@cython.exceptval(-1)
def _simplified_difference(store: InstructionStore, x: cython.int, y: cython.int) -> cython.int:
    if store.opcode[y] == _neg:
        return emit(store, _add, x, store.x[y], 0)
    if store.opcode[x] == _neg and store.x[x] == y:
        return emit(store, _mul, y, store.intern_constant(-2.0), 0)
    if store.opcode[y] == _constant and _number(store, y) == 0.0 and not _is_minus_zero(store, y):
        return x
    return emit(store, _neg, y, 0, 0) if _is_minus_zero(store, x) else _none


@cython.cfunc
@cython.exceptval(-1)
def _simplified_product(store: InstructionStore, x: cython.int, y: cython.int) -> cython.int:
    if store.opcode[x] == _constant:
        x, y = y, x
    if store.opcode[y] == _constant:
        if _number(store, y) == 1.0:
            return x
        if _number(store, y) == -1.0:
            return emit(store, _neg, x, 0, 0)
    if store.opcode[x] == _neg:
        return emit(store, _neg, emit(store, _mul, store.x[x], y, 0), 0, 0)
    if store.opcode[y] == _neg:
        return emit(store, _neg, emit(store, _mul, x, store.x[y], 0), 0, 0)
    return _none


@cython.cfunc
@cython.exceptval(-1)
def _simplified_quotient(store: InstructionStore, x: cython.int, y: cython.int) -> cython.int:
    if store.opcode[y] == _constant:
        if _number(store, y) == 1.0:
            return x
        if _number(store, y) == -1.0:
            return emit(store, _neg, x, 0, 0)
    if store.opcode[x] == _neg:
        return emit(store, _neg, emit(store, _div, store.x[x], y, 0), 0, 0)
    return _none


@cython.cfunc
@cython.exceptval(-1)
def _simplified_choice(store: InstructionStore, condition: cython.int, y: cython.int, z: cython.int) -> cython.int:
    if store.opcode[condition] == _constant:
        return y if _number(store, condition) != 0.0 else z
    if y == z:
        return y
    if store.opcode[y] == _where and store.x[y] == condition:
        return emit(store, _where, condition, store.y[y], z)
    if store.opcode[z] == _where and store.x[z] == condition:
        return emit(store, _where, condition, y, store.z[z])
    one: cython.bint = store.opcode[y] == _constant and _number(store, y) == 1.0
    zero: cython.bint = store.opcode[z] == _constant and _number(store, z) == 0.0 and not _is_minus_zero(store, z)
    is_1_or_0: cython.bint = store.opcode[condition] in (_less, _less_equal, _equal)
    return condition if one and zero and is_1_or_0 else _none


@cython.cfunc
@cython.exceptval(-1)
def _simplified_power(store: InstructionStore, x: cython.int, exponent: cython.double) -> cython.int:
    if exponent == 1.0:
        return x
    if exponent == 2.0:  # ieee.pow computes squares as this product, too
        return emit(store, _mul, x, x, 0)
    return store.intern_constant(1.0) if exponent == 0.0 else _none


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _number(store: InstructionStore, index: cython.int) -> cython.double:
    """Return the value of the constant with this index. Inlined because it is called for most instructions."""
    return c_compat.from_bits(store.x[index], store.y[index])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_minus_zero(store: InstructionStore, index: cython.int) -> cython.bint:
    return store.opcode[index] == _constant and store.x[index] == 0 and store.y[index] == -0x80000000
