"""Derivative templates of the operations, stored as arrays, and their instantiation on a tape."""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled.evaluate import ARITIES
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.compiled.templates import ADJOINT, OPERANDS, OUT, Template, template
from gradwalk.ops.table import TABLE
from gradwalk.program.instructions import simplify
from gradwalk.program.instructions.instruction_store import CONSTANT, NO_INDEX, InstructionStore

if not TYPE_CHECKING and cython.compiled:
    import cython

_NO_RESULT = -9  # the result of a template if the partial is always 0

_constant = cython.declare(cython.int, CONSTANT)
_none = cython.declare(cython.int, NO_INDEX)
_no_result = cython.declare(cython.int, _NO_RESULT)
_operand_x = cython.declare(cython.int, OPERANDS["x"])
_operand_y = cython.declare(cython.int, OPERANDS["y"])
_out = cython.declare(cython.int, OUT)
_adjoint = cython.declare(cython.int, ADJOINT)


@cython.final
@cython.cclass
class Templates:
    """Derivative templates of all operations, as arrays.

    Template 3 * opcode + position is the partial of `opcode` with respect to the operand at `position`.
    """

    start: cython.p_int  # per template: its first instruction; one more entry has the number of instructions
    result: cython.p_int  # per template: the reference of its result, or _NO_RESULT
    reads: cython.p_int  # per template: bit i is set if the partial reads operand i, bit 3 if it reads the result
    opcode: cython.p_int  # per instruction: its opcode, or 0 for a constant whose 32-bit halves are x and y
    x: cython.p_int  # per instruction: references of its operands
    y: cython.p_int
    z: cython.p_int
    index: cython.p_int  # scratch memory: the tape index of each instruction of the template being instantiated
    _arrays: Any  # the arrays that own the memory behind the pointers above

    def __init__(self) -> None:
        arrays, longest = _template_arrays()
        indices = numpy.empty(longest, numpy.int32)
        self._arrays = (arrays, indices)
        self.start, self.result = c_compat.integers(arrays[0]), c_compat.integers(arrays[1])
        self.reads, self.opcode = c_compat.integers(arrays[2]), c_compat.integers(arrays[3])
        self.x, self.y = c_compat.integers(arrays[4]), c_compat.integers(arrays[5])
        self.z = c_compat.integers(arrays[6])
        self.index = c_compat.integers(indices)


@cython.cfunc
@cython.exceptval(-1)
def instantiate(
    store: InstructionStore, templates: Templates, i: cython.int, position: cython.int, adjoint: cython.int
) -> cython.int:
    """Append the product of `adjoint` and a partial of instruction `i`; return the index of the product.

    The partial is with respect to the operand at `position`. In reverse mode `adjoint` is the index of the
    instruction's cotangent; in forward mode it is the index of the operand's tangent. Returns NO_INDEX if the partial
    is always 0.
    """
    which: cython.int = 3 * store.opcode[i] + position
    first: cython.int = templates.start[which]
    k: cython.int
    for k in range(first, templates.start[which + 1]):
        if templates.opcode[k] == 0:
            templates.index[k - first] = store.intern(_constant, templates.x[k], templates.y[k], 0)
        else:
            templates.index[k - first] = simplify.emit(
                store,
                templates.opcode[k],
                _resolved(store, templates, templates.x[k], i, adjoint),
                _resolved(store, templates, templates.y[k], i, adjoint),
                _resolved(store, templates, templates.z[k], i, adjoint),
            )
    result: cython.int = templates.result[which]
    return _none if result == _no_result else _resolved(store, templates, result, i, adjoint)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _resolved(
    store: InstructionStore, templates: Templates, reference: cython.int, i: cython.int, adjoint: cython.int
) -> cython.int:
    """Return the tape index that a reference in a template refers to."""
    if reference >= 0:
        return templates.index[reference]
    if reference == _adjoint:
        return adjoint
    if reference == _out:
        return i
    return store.x[i] if reference == _operand_x else store.y[i] if reference == _operand_y else store.z[i]


@cache
def _template_arrays() -> tuple[list[Any], int]:
    """Return seven arrays, the fields `start` to `z` of `Templates`, and the length of the longest template."""
    start, result, reads = [0, 0, 0], [_NO_RESULT] * 3, [0] * 3  # opcode 0 is unused
    instructions: list[tuple[int, ...]] = []
    rows = {OPCODES[row.name] for row in TABLE}
    for opcode in range(1, 1 + max(rows)):
        for position in range(3):
            start.append(len(instructions))
            found = template(opcode, position) if opcode in rows and position < ARITIES[opcode] else None
            result.append(_NO_RESULT if found is None else found.result)
            reads.append(0 if found is None else _read(found))
            for code, operands, number in found.instructions if found is not None else ():
                if code == 0:
                    instructions.append((0, c_compat.low_bits(number), c_compat.high_bits(number), 0))
                else:
                    instructions.append((code, *(*operands, 0, 0, 0)[:3]))
    start.append(len(instructions))
    columns = zip(*instructions, strict=True)
    longest = max(after - before for before, after in itertools.pairwise(start))
    return [numpy.array(column, numpy.int32) for column in (start, result, reads, *columns)], longest


def _read(found: Template) -> int:
    """Return the entry of `Templates.reads` for a template."""
    references = {found.result}.union(*[one.operands for one in found.instructions])
    return sum(1 << bit for bit, reference in enumerate([*OPERANDS.values(), OUT]) if reference in references)
