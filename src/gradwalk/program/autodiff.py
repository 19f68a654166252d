"""Reverse and forward mode on a tape: derivatives are appended as further instructions.

The derivative rules of the operations are templates, a few instructions each (see `ops/templates.py`). Both modes
instantiate them with the operands of an instruction; each takes time linear in the number of instructions.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate
from gradwalk.ops.evaluate import ARITIES, NAMES
from gradwalk.ops.table import TABLE
from gradwalk.ops.templates import ADJOINT, OPERANDS, OUT, template
from gradwalk.program import simplify
from gradwalk.program.instruction_store import CONSTANT, NO_INDEX, InstructionStore
from gradwalk.program.opcodes import CALL, TAKE

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

_NO_RESULT = -9  # the result of a template that passes nothing on

_constant = cython.declare(cython.int, CONSTANT)
_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)
_none = cython.declare(cython.int, NO_INDEX)
_add = cython.declare(cython.int, NAMES.index("add"))
_less = cython.declare(cython.int, NAMES.index("less"))
_equal = cython.declare(cython.int, NAMES.index("equal"))
_where = cython.declare(cython.int, NAMES.index("where"))
_no_result = cython.declare(cython.int, _NO_RESULT)
_operand_x = cython.declare(cython.int, OPERANDS["x"])
_operand_y = cython.declare(cython.int, OPERANDS["y"])
_out = cython.declare(cython.int, OUT)
_adjoint = cython.declare(cython.int, ADJOINT)


def reverse(store: InstructionStore, seeds: list[tuple[int, int]], wrt: list[int]) -> list[int]:
    """Append adjoints, computed from results back to operands.

    Args:
        store: The tape. It is a `Tape` where it holds calls, whose rules append by its methods.
        seeds: Pairs of indices, of a result and of its adjoint.
        wrt: The indices of the instructions whose adjoints are asked for.

    Returns:
        The indices of these adjoints.
    """
    length: cython.int = store.length
    active_cells = numpy.zeros(length, numpy.int32)  # whether something asked for is among what it depends on
    adjoint_cells = numpy.full(length, NO_INDEX, numpy.int32)
    active: cython.p_int = c_compat.integers(active_cells)
    adjoint: cython.p_int = c_compat.integers(adjoint_cells)
    templates: Templates = Templates()
    i: cython.int
    for i in wrt:
        active[i] = True
    _mark_active(store, active)
    for i, seed in seeds:
        _accumulate(store, adjoint, i, seed)
    for i in range(length - 1, -1, -1):
        if active[i] == 0 or store.opcode[i] <= 0:
            continue
        if store.opcode[i] == _call:
            _pull_back_call(store, active_cells, adjoint_cells, i)
        elif store.opcode[i] == _take and adjoint[i] != _none:
            _pull_back_take(store, active, adjoint, i)
        elif adjoint[i] != _none:
            _pull_back(store, templates, active, adjoint, i)
    return [_or_zero(store, adjoint[i]) for i in wrt]


@cython.cfunc
def _mark_active(store: InstructionStore, active: cython.p_int) -> object:
    """Mark what depends on something active by an operand that an adjoint is passed to."""
    i: cython.int
    skipped: cython.int
    for i in range(store.length):
        if store.opcode[i] == _call:
            for operand in store.calls[store.x[i]][1]:
                active[i] |= active[operand]
        elif store.opcode[i] == _take:
            for operand in store.tables[store.y[i]]:
                active[i] |= active[operand]
        elif store.opcode[i] > 0 and active[i] == 0:
            skipped = evaluate.non_differentiable(store.opcode[i])
            if (
                (not skipped & 1 and active[store.x[i]])
                or (not skipped & 2 and evaluate.arity(store.opcode[i]) > 1 and active[store.y[i]])
                or (not skipped & 4 and evaluate.arity(store.opcode[i]) > 2 and active[store.z[i]])
            ):
                active[i] = True
    return None


@cython.cfunc
@cython.inline
def _pull_back(
    store: InstructionStore, templates: Templates, active: cython.p_int, adjoint: cython.p_int, i: cython.int
) -> object:
    """Add to the adjoints of an instruction's operands what it contributes to them."""
    arity: cython.int = evaluate.arity(store.opcode[i])
    if active[store.x[i]]:
        _accumulate(store, adjoint, store.x[i], _instantiate(store, templates, i, 0, adjoint[i]))
    if arity > 1 and active[store.y[i]]:
        _accumulate(store, adjoint, store.y[i], _instantiate(store, templates, i, 1, adjoint[i]))
    if arity > 2 and active[store.z[i]]:
        _accumulate(store, adjoint, store.z[i], _instantiate(store, templates, i, 2, adjoint[i]))
    return None


def _pull_back_call(store: InstructionStore, active: Any, adjoints: Any, i: int) -> None:
    """Add what a call contributes, at its first result, because by then all of its results have their adjoints."""
    function, operands, base = store.calls[store.x[i]]
    seeds = adjoints[base : base + function.outputs].tolist()
    if i == base and any(seed != NO_INDEX for seed in seeds):
        for operand, contribution in zip(operands, function.pull(store, operands, base, seeds), strict=True):
            if active[operand]:
                _accumulate(store, c_compat.integers(adjoints), operand, contribution)


@cython.cfunc
def _pull_back_take(store: InstructionStore, active: cython.p_int, adjoint: cython.p_int, i: cython.int) -> object:
    """Add to the adjoint of each operand of a table that of the result where the index picks it, and exactly 0 else."""
    table: tuple = store.tables[store.y[i]]
    zero: cython.int = store.intern_constant(0.0)
    position: cython.int = _counted_from_0(store, store.x[i], len(table))
    k: cython.int
    operand: cython.int
    is_picked: cython.int
    for k in range(len(table)):
        operand = table[k]
        if active[operand]:
            is_picked = simplify.emit(store, _equal, position, store.intern_constant(k), 0)
            _accumulate(store, adjoint, operand, simplify.emit(store, _where, is_picked, adjoint[i], zero))
    return None


@cython.cfunc
@cython.exceptval(-1)
def _counted_from_0(store: InstructionStore, index: cython.int, length: cython.int) -> cython.int:
    """Append the position in a table of some length that an index picks, negative ones being counted from the end."""
    is_negative: cython.int = simplify.emit(store, _less, index, store.intern_constant(0.0), 0)
    from_end: cython.int = simplify.emit(store, _add, index, store.intern_constant(length), 0)
    return simplify.emit(store, _where, is_negative, from_end, index)


def forward(store: InstructionStore, seeds: list[tuple[int, int]], outputs: list[int]) -> list[int]:
    """Append tangents, computed from operands on to results.

    Args:
        store: The tape. It is a `Tape` where it holds calls, whose rules append by its methods.
        seeds: Pairs of indices, of an instruction and of its tangent.
        outputs: The indices of the results whose tangents are asked for.

    Returns:
        The indices of these tangents.
    """
    last: cython.int = max(outputs, default=-1)  # later instructions, such as earlier tangents, are not needed
    tangent_cells = numpy.full(store.length, NO_INDEX, numpy.int32)
    tangent: cython.p_int = c_compat.integers(tangent_cells)
    templates: Templates = Templates()
    i: cython.int
    for i, seed in seeds:
        tangent[i] = seed
    for i in range(last + 1):
        if store.opcode[i] > 0 and tangent[i] == _none:
            if store.opcode[i] == _call:
                _push_forward_call(store, tangent_cells, i)
            elif store.opcode[i] == _take:
                _push_forward_take(store, tangent, i)
            else:
                _push_forward(store, templates, tangent, i)
    return [_or_zero(store, tangent[i]) for i in outputs]


@cython.cfunc
@cython.inline
def _push_forward(store: InstructionStore, templates: Templates, tangent: cython.p_int, i: cython.int) -> object:
    """Compute the tangent of an instruction from those of its operands."""
    arity: cython.int = evaluate.arity(store.opcode[i])
    if tangent[store.x[i]] != _none:
        _accumulate(store, tangent, i, _instantiate(store, templates, i, 0, tangent[store.x[i]]))
    if arity > 1 and tangent[store.y[i]] != _none:
        _accumulate(store, tangent, i, _instantiate(store, templates, i, 1, tangent[store.y[i]]))
    if arity > 2 and tangent[store.z[i]] != _none:
        _accumulate(store, tangent, i, _instantiate(store, templates, i, 2, tangent[store.z[i]]))
    return None


@cython.cfunc
def _push_forward_take(store: InstructionStore, tangent: cython.p_int, i: cython.int) -> object:
    """Take the tangent of the result from those of the table."""
    table: list = []
    is_constant: cython.bint = True
    for operand in store.tables[store.y[i]]:
        table.append(tangent[cython.cast(cython.int, operand)])
        is_constant = is_constant and table[-1] == _none
    if not is_constant:
        tangent[i] = simplify.emit_take(store, store.x[i], tuple([_or_zero(store, index) for index in table]))
    return None


def _push_forward_call(store: InstructionStore, tangents: Any, i: int) -> None:
    """Compute the tangents of all results of a call, at its first result."""
    function, operands, base = store.calls[store.x[i]]
    seeds = [int(tangents[operand]) for operand in operands]
    if i == base and any(seed != NO_INDEX for seed in seeds):
        tangents[base : base + function.outputs] = function.push(store, operands, base, seeds)


@cython.cfunc
@cython.inline
def _accumulate(store: InstructionStore, total: cython.p_int, index: cython.int, contribution: cython.int) -> object:
    """Add a contribution, which may be NO_INDEX, to an adjoint or a tangent."""
    if contribution != _none:
        total[index] = (
            contribution if total[index] == _none else simplify.emit(store, _add, total[index], contribution, 0)
        )
    return None


@cython.cfunc
@cython.exceptval(-1)
def _or_zero(store: InstructionStore, index: cython.int) -> cython.int:
    return index if index != _none else store.intern_constant(0.0)


@cython.cfunc
@cython.exceptval(-1)
def _instantiate(
    store: InstructionStore, templates: Templates, i: cython.int, position: cython.int, adjoint: cython.int
) -> cython.int:
    """Append what an instruction contributes to the operand at a position, and return its index or NO_INDEX."""
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
    """Return the index that a reference of a template stands for."""
    if reference >= 0:
        return templates.index[reference]
    if reference == _adjoint:
        return adjoint
    if reference == _out:
        return i
    return store.x[i] if reference == _operand_x else store.y[i] if reference == _operand_y else store.z[i]


@cython.final
@cython.cclass
class Templates:
    """The templates of all operations as arrays, and scratch memory to instantiate one of them.

    The template of an opcode for the operand at a position has the number 3 * opcode + position.
    """

    start: cython.p_int  # of each template's instructions; one more than there are templates
    result: cython.p_int  # of each template: a reference, or _NO_RESULT
    opcode: cython.p_int  # of each instruction; 0 for a constant, whose two halves are x and y
    x: cython.p_int  # references
    y: cython.p_int
    z: cython.p_int
    index: cython.p_int  # the indices of the instructions of the template that is being instantiated
    _arrays: Any  # what these point to

    def __init__(self) -> None:
        arrays, longest = _template_arrays()
        indices = numpy.empty(longest, numpy.int32)
        self._arrays = (arrays, indices)
        self.start, self.result = c_compat.integers(arrays[0]), c_compat.integers(arrays[1])
        self.opcode, self.x = c_compat.integers(arrays[2]), c_compat.integers(arrays[3])
        self.y, self.z = c_compat.integers(arrays[4]), c_compat.integers(arrays[5])
        self.index = c_compat.integers(indices)


@cache
def _template_arrays() -> tuple[list[Any], int]:
    """Return start, result, opcode, x, y and z of all templates, and the length of the longest."""
    start, result = [0, 0, 0], [_NO_RESULT] * 3  # opcode 0 is no operation
    instructions: list[tuple[int, ...]] = []
    for opcode in range(1, len(TABLE) + 1):
        for position in range(3):
            start.append(len(instructions))
            found = template(opcode, position) if position < ARITIES[opcode] else None
            result.append(_NO_RESULT if found is None else found.result)
            for code, operands, number in found.instructions if found is not None else ():
                if code == 0:
                    instructions.append((0, c_compat.low_bits(number), c_compat.high_bits(number), 0))
                else:
                    instructions.append((code, *(*operands, 0, 0, 0)[:3]))
    start.append(len(instructions))
    columns = zip(*instructions, strict=True)
    longest = max(after - before for before, after in itertools.pairwise(start))
    return [numpy.array(column, numpy.int32) for column in (start, result, *columns)], longest
