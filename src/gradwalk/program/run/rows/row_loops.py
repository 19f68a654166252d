"""Rows of instructions for uncompiled runs, an instruction at a time.

Compiled modules see the loops of row_loops.h, which says what a segment is, under the same names: see `row_loops.pxd`.
"""

from __future__ import annotations

from typing import Any

from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.evaluate import ARITIES, FUSED, fused

ROW_WIDTH, STRIDED, INDEXED, ROW_FORMS = 13, 8, 9, 10
CHAIN, LINK_WIDTH = 0, 8
IS_NUMBER, IS_ROW, IS_SCALED, ADD_SCALED, ADD_PRODUCTS, ADD_ROW = range(6)


def run_rows(segments: Any, at: int, count: int, code: Any, links: Any, value: Any) -> int:
    """Run segments up to one that has to be interpreted, or to the end.

    Args:
        segments: The segments.
        at: The number of the first one to run.
        count: How many segments there are.
        code: Instructions, whose operands segments may name.
        links: The links of chains.
        value: The numbers by slot.

    Returns:
        The number of the segment that has to be interpreted, or how many there are.
    """
    while at < count and segments[ROW_WIDTH * at] >= 0:
        operation, length, out, *operands = map(int, segments[ROW_WIDTH * at : ROW_WIDTH * (at + 1)])
        opcode, form = divmod(operation, ROW_FORMS)
        for r in range(operands[6]):
            for i in range(length):
                if operation == CHAIN:
                    number = _total(links, operands, r, i, value)
                else:
                    number = _one(opcode, [value[slot] for slot in _slots(code, opcode, form, operands, r, i)])
                value[out + r * length + i] = number
        at += 1
    return at


def _one(opcode: int, numbers: list[float]) -> float:
    """One operation."""
    if opcode in FUSED:
        return fused(opcode, *numbers)
    return evaluate.value(opcode, *numbers, *[0.0] * (3 - len(numbers)))


def _slots(code: Any, opcode: int, form: int, operands: list[int], r: int, i: int) -> list[int]:
    """The slots of the operands of an instruction of a segment, in one of its repetitions."""
    positions = range(3 if opcode in FUSED else ARITIES[opcode])
    if form == INDEXED:
        return [int(code[4 * (operands[0] + i) + 1 + k]) for k in positions]
    moves = [operands[3 + k] if form == STRIDED else 1 - (form >> k & 1) for k in positions]
    return [operands[k] + r * operands[7 + k] + i * moves[k] for k in positions]


def _total(links: Any, operands: list[int], r: int, i: int, value: Any) -> float:
    """A total that a chain makes."""
    total = 0.0
    for at in range(operands[0], operands[0] + operands[1]):
        kind, first, second, leap, other_leap, times, *moves = map(int, links[LINK_WIDTH * at : LINK_WIDTH * (at + 1)])
        first += r * leap
        second += r * other_leap + i
        for _ in range(times):
            x, y = value[first + i] if kind == ADD_PRODUCTS else value[first], value[second]
            if kind in (IS_NUMBER, IS_ROW):
                total = x if kind == IS_NUMBER else y
            elif kind == IS_SCALED:
                total = x * y
            else:
                total = total + y if kind == ADD_ROW else x * y + total
            first += moves[0]
            second += moves[1]
    return float(total)
