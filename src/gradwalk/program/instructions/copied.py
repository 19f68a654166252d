"""Copy instructions from one tape to another, and replace arrays by their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.instructions import simplify
from gradwalk.program.instructions.instruction_store import CONSTANT, INPUT, InstructionStore

if not TYPE_CHECKING and cython.compiled:
    import cython

_input = cython.declare(cython.int, INPUT)
_constant = cython.declare(cython.int, CONSTANT)
_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)


def copy_instructions(
    store: InstructionStore, target: InstructionStore, outputs: list, known: dict, *, whole: bool = False
) -> None:
    """Append the instructions that `outputs` depend on to another tape.

    Args:
        store: The tape to copy from.
        target: The tape to append to.
        outputs: Indices on `store`.
        known: Maps indices on `store` to indices on `target`, or to a list of them for an array. All inputs that are
            used must be known. The indices of the copies are added.
        whole: Whether arrays stay arrays. If not, calls of arrays are replaced by calls of numbers.
    """
    used_cells = numpy.zeros(store.length, numpy.int32)
    used: cython.p_int = c_compat.integers(used_cells)
    i: cython.int
    x: cython.int
    y: cython.int
    z: cython.int
    arity: cython.int
    for i in outputs:
        used[i] = True
    _mark_used(store, used, known)
    for i in range(store.length):
        if used[i] == 0 or i in known:
            continue
        if store.opcode[i] == _constant:
            known[i] = target.intern_constant(store.number(i))
        elif store.opcode[i] == _call:
            _copy_call(store, target, store.x[i], known, whole)
        elif store.opcode[i] == _take:
            table = tuple([known[entry] for entry in store.tables[store.y[i]]])
            known[i] = simplify.emit_take(target, known[store.x[i]], table)
        else:
            arity = evaluate.arity(store.opcode[i])
            x = known[store.x[i]]
            y = known[store.y[i]] if arity > 1 else 0
            z = known[store.z[i]] if arity > 2 else 0
            known[i] = simplify.emit(target, store.opcode[i], x, y, z)


@cython.cfunc
def _mark_used(store: InstructionStore, used: cython.p_int, known: dict) -> object:
    """Mark the instructions that the marked instructions depend on. Stop at known instructions."""
    i: cython.int
    operand: cython.int
    arity: cython.int
    latest: cython.int = -1  # the call whose operands were marked last; the results of a call are adjacent
    for i in range(store.length - 1, -1, -1):
        if used[i] == 0 or store.opcode[i] <= 0 or i in known:
            continue
        if store.opcode[i] == _call:
            if store.x[i] != latest:
                latest = store.x[i]
                for operand in store.calls[latest][1]:
                    used[operand] = True
        elif store.opcode[i] == _take:
            used[store.x[i]] = True
            for operand in store.tables[store.y[i]]:
                used[operand] = True
        else:
            arity = evaluate.arity(store.opcode[i])
            used[store.x[i]] = True
            if arity > 1:
                used[store.y[i]] = True
            if arity > 2:
                used[store.z[i]] = True
    return None


@cython.cfunc
def _copy_call(
    store: InstructionStore, target: InstructionStore, position: cython.int, known: dict, whole: cython.bint
) -> object:
    """Append a call, and add the indices of all its results to `known`."""
    function, operands, base = store.calls[position]
    given = [known[operand] for operand in operands]
    if not whole and (function.kinds or list in set(map(type, given))):
        found = function.expanded(target, given)
    else:
        first = target.call(function, given)
        found = range(first, first + function.outputs)
    for i, result in enumerate(found):
        known[base + i] = result
    return None


def expand_arrays(store: InstructionStore, target: InstructionStore, outputs: list) -> list:
    """Append the instructions that `outputs` depend on to a new tape, with each array replaced by its numbers.

    An input that is an array becomes one input for each of its numbers.

    Returns:
        The indices of the outputs, with one index for each number of an array.
    """
    known: dict[int, Any] = {}
    i: cython.int
    for i in range(store.length):
        if store.opcode[i] == _input:
            kind = store.arrays.get(i)
            known[i] = target.input() if kind is None else [target.input() for _ in range(kind.size)]
    copy_instructions(store, target, outputs, known)
    found: list = []
    for i in outputs:
        if i in store.arrays:
            found.extend(known[i])
        else:
            found.append(known[i])
    return found


def split_at_arrays(store: InstructionStore, outputs: list) -> tuple[list, list]:
    """Split the instructions that `outputs` depend on into stages between the calls that take or return arrays.

    Returns:
        The positions of these calls in `store.calls`, in order, and the stages: one before each call and one after the
        last call. A stage is a pair of lists of indices: the inputs and results of calls that it needs, and the numbers
        that it computes for later stages, for calls or as outputs. Each number is computed in the first possible stage.
    """
    used_cells = numpy.zeros(store.length, numpy.int32)
    used: cython.p_int = c_compat.integers(used_cells)
    stage_cells = numpy.zeros(store.length, numpy.int32)
    stage: cython.p_int = c_compat.integers(stage_cells)
    i: cython.int
    operand: cython.int
    by: cython.int
    for i in outputs:
        used[i] = True
    _mark_used(store, used, {})
    calls: list = []
    stages: list = [({}, {})]  # dicts, because they keep the order of their keys
    of_calls: dict = {}  # position of a call of arrays -> the stage after it
    of_latest: cython.int = 0
    latest: cython.int = -1  # the call whose operands were visited last, and whose results have the stage `of_latest`
    for i in range(store.length):
        if used[i] == 0 or store.opcode[i] <= 0:
            continue
        if store.opcode[i] == _call and store.x[i] == latest:
            stage[i] = of_latest
            continue
        operands = _operands_of(store, i)
        by = -1
        if store.opcode[i] == _call and _has_arrays(store, store.x[i]):
            calls.append(store.x[i])
            of_calls[store.x[i]] = stage[i] = len(calls)
            stages.append(({}, {}))
        else:
            stage[i] = by = _latest_stage(operands, stage)
        for operand in operands:
            _need(store, operand, of_calls, stages, stage, by)
        if store.opcode[i] == _call:
            latest, of_latest = store.x[i], stage[i]
    for i in outputs:
        _need(store, i, of_calls, stages, stage, -1)
    return calls, [(list(given), list(found)) for given, found in stages]


@cython.cfunc
def _latest_stage(operands: Any, stage: cython.p_int) -> cython.int:
    """Return the stage in which the last of these numbers is computed."""
    found: cython.int = 0
    operand: cython.int
    for operand in operands:
        found = max(found, stage[operand])
    return found


@cython.cfunc
def _need(
    store: InstructionStore, i: cython.int, of_calls: dict, stages: list, stage: cython.p_int, by: cython.int
) -> object:
    """Note that the stage `by` needs a number. If `by` is negative, a call of arrays or the caller needs it."""
    is_given: cython.bint = store.opcode[i] == _input or (store.opcode[i] == _call and store.x[i] in of_calls)
    if store.opcode[i] == _constant:
        if by < 0:
            stages[0][1][i] = None
    elif is_given:
        if by >= 0:
            stages[by][0][i] = None
    elif by != stage[i]:
        stages[stage[i]][1][i] = None
        if by >= 0:
            stages[by][0][i] = None
    return None


@cython.cfunc
def _has_arrays(store: InstructionStore, position: cython.int) -> cython.bint:
    """Return whether a call takes or returns arrays."""
    function, operands, _ = store.calls[position]
    return bool(function.kinds) or not store.arrays.keys().isdisjoint(operands)


@cython.cfunc
def _operands_of(store: InstructionStore, i: cython.int) -> Any:
    """Return the indices of the operands of an instruction."""
    if store.opcode[i] == _call:
        return store.calls[store.x[i]][1]
    if store.opcode[i] == _take:
        return [store.x[i], *store.tables[store.y[i]]]
    return [store.x[i], store.y[i], store.z[i]][: evaluate.arity(store.opcode[i])]


def inputs_of(store: InstructionStore) -> list:
    """Return the index of each input of a tape."""
    return [i for i in range(store.length) if store.opcode[i] == _input]
