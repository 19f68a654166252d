"""Instruction orders for a schedule. They differ in the number of results that are live at the same time.

An order is an int32 array: i is instruction i of the program, and ~i is root i of the analysis. Each instruction and
each root comes after the instructions that compute its operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.backend.schedule.analysis import Analysis
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat

if not TYPE_CHECKING and cython.compiled:
    import cython


def as_written(analysis: Analysis) -> Any:
    """Return the order of the program. Each root comes directly after the last instruction that it depends on."""
    x, y = analysis.roots[:, 2], analysis.roots[:, 3]
    kept = numpy.flatnonzero(analysis.varying[analysis.first :] & analysis.needed[analysis.first :])  # both 0 or 1
    last = numpy.maximum(x, numpy.where((y >= 0) & (analysis.varying[y] != 0), y, -1)).astype(numpy.int64)
    times = numpy.concatenate([kept, numpy.maximum(last - analysis.first, -1)])
    events = numpy.concatenate([kept, ~numpy.arange(len(last))])
    return events[numpy.argsort(times, kind="stable")].astype(numpy.int32)


def depth_first(analysis: Analysis) -> Any:
    """Return a depth-first order: each root comes after the instructions that it and earlier roots depend on."""
    roots = analysis.roots
    order = numpy.empty(len(analysis.starts) - 1 + len(roots), numpy.int32)
    pending = numpy.empty(len(analysis.operands) + 2, numpy.int32)
    states = numpy.where(analysis.varying == 0, 2, 0).astype(numpy.int32)
    states[: analysis.first] = 2
    event: cython.p_int = c_compat.integers(order)
    stack: cython.p_int = c_compat.integers(pending)
    state: cython.p_int = c_compat.integers(states)  # 1: waiting for its operands, 2: done
    start: cython.p_int = c_compat.integers(analysis.starts)
    operand: cython.p_int = c_compat.integers(analysis.operands)
    root: cython.p_int = c_compat.integers(roots.reshape(-1))
    first: cython.int = analysis.first
    count: cython.int = 0
    r: cython.int
    j: cython.int
    for r in range(len(roots)):
        for j in (2, 3):
            if root[4 * r + j] >= 0:
                stack[0] = root[4 * r + j]
                count = _visit(stack, state, start, operand, first, event, count)
        event[count] = ~r
        count += 1
    return order[:count]


@cython.cfunc
@cython.exceptval(check=False)
def _visit(
    stack: cython.p_int,
    state: cython.p_int,
    start: cython.p_int,
    operand: cython.p_int,
    first: cython.int,
    event: cython.p_int,
    count: cython.int,
) -> cython.int:
    """Append to the order `stack[0]`, after the instructions that it depends on; return the new length."""
    top: cython.int = 1
    index: cython.int
    j: cython.int
    while top > 0:
        index = stack[top - 1]
        if state[index] == 0:
            state[index] = 1
            for j in range(start[index - first + 1] - 1, start[index - first] - 1, -1):
                if state[operand[j]] == 0:
                    stack[top] = operand[j]
                    top += 1
            continue
        top -= 1
        if state[index] == 1:
            state[index] = 2
            event[count] = index - first
            count += 1
    return count
