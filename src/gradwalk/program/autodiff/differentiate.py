"""Reverse and forward mode on a tape: append derivatives as instructions.

The derivative rules of the operations are templates of a few instructions (see `ops/compiled/templates.py`). Both modes
instantiate them for each instruction, in time linear in the number of instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.program.autodiff.cotangents import Cotangents
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.instructions.instruction_store import InstructionStore

if not TYPE_CHECKING and cython.compiled:
    import cython

_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)


def reverse(store: InstructionStore, seeds: list[tuple[int, int]], wrt: list[int]) -> list[int]:
    """Append the cotangents of the instructions `wrt` in reverse mode; return the indices of the cotangents.

    `seeds` are pairs (index of a result, index of its cotangent). The store must be a `Tape` if it contains calls.
    """
    length: cython.int = store.length
    active_cells = numpy.zeros(length, numpy.int32)  # per instruction: whether it depends on an instruction in `wrt`
    active: cython.p_int = c_compat.integers(active_cells)
    adjoints: Cotangents = Cotangents(store, False)
    i: cython.int
    for i in wrt:
        active[i] = True
    _mark_active(store, active)
    for i, seed in seeds:
        adjoints.seed(i, seed)
    for i in range(length - 1, -1, -1):
        if active[i] == 0 or store.opcode[i] <= 0:
            continue
        if store.opcode[i] == _call:
            adjoints.pull_back_call(i, active)
        elif adjoints.has_one(i):
            if store.opcode[i] == _take:
                adjoints.pull_back_take(i, active)
            else:
                adjoints.pull_back(i, active)
    return [adjoints.total(i) for i in wrt]


@cython.cfunc
def _mark_active(store: InstructionStore, active: cython.p_int) -> object:
    """Mark an instruction as active if at least one of its differentiable operands is active."""
    i: cython.int
    skipped: cython.int
    for i in range(store.length):
        if store.opcode[i] == _call:
            if store.y[i] > 0:  # not the first result
                active[i] |= active[i - store.y[i]]
            else:
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


def forward(store: InstructionStore, seeds: list[tuple[int, int]], outputs: list[int]) -> list[int]:
    """Append the tangents of the instructions `outputs` in forward mode; return the indices of the tangents.

    `seeds` are pairs (index of an instruction, index of its tangent). The store must be a `Tape` if it contains calls.
    """
    last: cython.int = max(outputs, default=-1)  # `outputs` do not depend on instructions after the last output
    tangents: Cotangents = Cotangents(store, True)
    i: cython.int
    for i, seed in seeds:
        tangents.seed(i, seed)
    for i in range(last + 1):
        if store.opcode[i] <= 0 or tangents.has_one(i):
            continue
        if store.opcode[i] == _call:
            tangents.push_forward_call(i)
        elif store.opcode[i] == _take:
            tangents.push_forward_take(i)
        else:
            tangents.push_forward(i)
    return [tangents.total(i) for i in outputs]
