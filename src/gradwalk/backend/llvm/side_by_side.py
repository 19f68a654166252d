"""Decide how many vectors of lanes a program computes side by side.

An instruction that needs the result of the instruction before waits for several cycles. Meanwhile, the processor can
run the same instruction on other vectors. Two vectors are enough for most programs, because most of their instructions
need not wait for each other, and more vectors would not fit into the registers. But the iterations of a short loop
often form a chain, as in Horner's method. Such loops run on up to eight vectors.
"""

from __future__ import annotations

import math
from collections.abc import Set

from gradwalk.program.native.expressions import calls_functions
from gradwalk.program.native.scalar_ir import work_of
from gradwalk.program.routine.statements import (
    INPUTS,
    Add,
    Assign,
    Cell,
    Choose,
    Compute,
    Count,
    For,
    Operand,
    Read,
    Routine,
    Store,
    While,
    flattened,
    operands_in,
)

FEWEST_VECTORS = 2
_MOST_VECTORS = 8
_LARGEST = 1 << 15  # maximum size of the arrays of more than two vectors, so that they fit in the cache
_BYTES = 64  # of a vector, at most


def vectors_side_by_side(routine: Routine, registers: int) -> int:
    """Return the number of vectors for a routine on lanes, if the processor has this many registers for vectors."""
    in_chains, most_live = 0, 0
    waiting = [(routine.statements, 1)]
    while waiting:
        statements, runs = waiting.pop()
        for loop in statements:
            if not isinstance(loop, For) or not isinstance(loop.times, int) or loop.step_of is not None:
                continue
            if _is_chain(loop, routine.varying):
                in_chains += runs * work_of([loop])
                most_live = max(most_live, _most_live(loop, routine.varying))
            else:
                waiting.append((loop.body, runs * loop.times))
    # The lanes of a group wait for each other in a `While` and in a `Choose`, so larger groups would wait longer.
    may_wait = any(isinstance(part, While | Choose) for part in flattened(routine.statements))
    if may_wait or 2 * in_chains < work_of(routine.statements):
        return FEWEST_VECTORS
    cells = sum(routine.arrays.values()) if not routine.growing else math.inf
    vectors = _MOST_VECTORS
    while vectors > FEWEST_VECTORS and (vectors * most_live > registers or vectors * _BYTES * cells > _LARGEST):
        vectors //= 2
    return vectors


def _is_chain(loop: For, varying: Set[str]) -> bool:
    """Return whether each iteration of a loop needs the results of the iteration before. It must not call functions."""
    for part in loop.body:
        is_simple = isinstance(part, Read | Store | Assign | Add | Count)
        if not is_simple and not (isinstance(part, Compute) and not calls_functions(part.opcode)):
            return False
    return any(isinstance(part, Assign) and part.target in varying for part in loop.body)


def _most_live(loop: For, varying: Set[str]) -> int:
    """Return how many numbers of a lane the registers must hold at once."""
    defined: dict[str, int] = {}  # variable -> position of its definition
    last: dict[str, int] = {}  # variable -> position of its last use
    outside: set[Operand] = set()  # numbers that all iterations use
    assigned = {part.target for part in loop.body if isinstance(part, Assign)}
    for position, part in enumerate(loop.body):
        for operand in operands_in([part]):
            if isinstance(operand, str) and operand in defined:
                last[operand] = len(loop.body) if isinstance(part, Assign) else position
            elif _stays(operand, varying) and operand not in assigned:
                outside.add(operand)
        if isinstance(part, Compute | Read):
            defined[part.result] = last[part.result] = position
    live = [
        sum(defined[name] <= position <= last[name] for name in defined if name in varying)
        for position in range(len(loop.body))
    ]
    return max(live) + len(outside)


def _stays(operand: Operand, varying: Set[str]) -> bool:
    """Return whether an operand is the same in all iterations, and differs between lanes."""
    if isinstance(operand, Cell):
        return operand.array == INPUTS and not operand.strides
    return isinstance(operand, str) and operand in varying
