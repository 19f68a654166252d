"""Rows of instructions for uncompiled runs, an instruction at a time.

Compiled modules see the loops of row_loops.h, which says what a segment is, under the same names: see `row_loops.pxd`.
"""

from __future__ import annotations

from typing import Any

from gradwalk.ops import evaluate
from gradwalk.ops.evaluate import ARITIES, FUSED, fused

ROW_WIDTH, STRIDED, INDEXED, ROW_FORMS = 9, 8, 9, 10


def run_rows(segments: Any, at: int, count: int, code: Any, value: Any) -> int:
    """Run segments up to one that has to be interpreted, or to the end.

    Args:
        segments: The segments.
        at: The number of the first one to run.
        count: How many segments there are.
        code: Instructions, whose operands segments may name.
        value: The numbers by slot.

    Returns:
        The number of the segment that has to be interpreted, or how many there are.
    """
    while at < count and segments[ROW_WIDTH * at] >= 0:
        operation, length, out, *operands = segments[ROW_WIDTH * at : ROW_WIDTH * (at + 1)]
        opcode, form = divmod(int(operation), ROW_FORMS)
        arity = 3 if opcode in FUSED else ARITIES[opcode]
        for i in range(length):
            slots = [_slot(code, operands, form, k, i) for k in range(arity)]
            numbers = [value[slot] for slot in slots]
            value[out + i] = (
                fused(opcode, *numbers) if opcode in FUSED else evaluate.value(opcode, *numbers, *[0.0] * (3 - arity))
            )
        at += 1
    return at


def _slot(code: Any, operands: Any, form: int, k: int, i: int) -> int:
    """The slot of an operand of an instruction of a segment."""
    if form == INDEXED:
        return int(code[4 * (operands[0] + i) + 1 + k])
    stride = operands[3 + k] if form == STRIDED else 0 if form >> k & 1 else 1
    return int(operands[k] + i * stride)
