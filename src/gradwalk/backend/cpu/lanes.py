"""The lane kernel for uncompiled runs, a lane at a time.

Compiled modules see the kernel of lanes.h under the same names: see `lanes.pxd`.
"""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.backend.schedule import WIDTH
from gradwalk.ops import evaluate
from gradwalk.ops.evaluate import ARITIES, FUSED, fused
from gradwalk.program.opcodes import DOT, LOAD, STORE, SUM


def instruction_sets() -> int:
    """Return the number of instruction sets to choose from: Python has one."""
    return 1


def run(
    instruction_set: int,
    single: bool,
    code: Any,
    length: int,
    scalars: Any,
    columns: Any,
    strides: Any,
    tiles: Any,
    outputs: Any,
    output_strides: Any,
    totals: Any,
    rows: Any,
    scratch: Any,
    slots: int,
    lanes: int,
    first: int,
    last: int,
) -> None:
    """Run a schedule's code on the samples from `first` up to `last`.

    The kernel in C needs the other arguments for addresses and memory; here they are not used.

    Args:
        instruction_set: Not used.
        single: Whether to compute in float32.
        code: The instructions, `WIDTH` numbers each.
        length: The length of the code.
        scalars: The numbers that are the same for all lanes.
        columns: A one-dimensional array for each input that has a number for each sample.
        strides: Not used.
        tiles: Not used.
        outputs: A one-dimensional array for each output that is stored.
        output_strides: Not used.
        totals: Two numbers for each output that is summed: the sum, and what rounding has taken from it.
        rows: Not used.
        scratch: Not used.
        slots: Not used.
        lanes: The number of samples in a block.
        first: The first sample.
        last: The one after the last sample.
    """
    with numpy.errstate(all="ignore"):
        for start in range(first, last, lanes):
            block = slice(start, min(start + lanes, last))
            _run_block(single, code, length, scalars, columns, outputs, totals, block)


def add_totals(totals: Any, strands: int, outputs: int) -> None:
    """Add the totals of all strands to those of the first one, in place."""
    for strand in range(1, strands):
        for k in range(outputs):
            at = 2 * (strand * outputs + k)
            _add_to_total(totals, k, totals[at])
            totals[2 * k + 1] += totals[at + 1]


def _run_block(
    single: bool, code: Any, length: int, scalars: Any, columns: Any, outputs: Any, totals: Any, block: slice
) -> None:
    kind = numpy.float32 if single else numpy.float64
    held: dict[int, Any] = {}
    for k in range(0, length, WIDTH):
        opcode, form = divmod(code[k], 8)
        out, *places = code[k + 1 : k + WIDTH]
        if opcode == LOAD:
            held[out] = numpy.array(columns[places[0]][block], kind)
            continue
        operands = [scalars[x] if form >> i & 1 else held.get(x) for i, x in enumerate(places)]
        if opcode == STORE:
            outputs[out][block] = operands[0]
        elif opcode in (SUM, DOT):
            _add(totals, out, operands, block.stop - block.start, opcode == DOT, kind)
        else:
            held[out] = _computed(opcode, operands, block.stop - block.start, kind)


def _computed(opcode: int, operands: list[Any], count: int, kind: Any) -> Any:
    """Return the row that an instruction gives. Fused instructions round each of their operations to `kind`."""
    lanes = [numpy.broadcast_to(numpy.asarray(x, kind), count) for x in operands[: ARITIES[opcode]]]
    if opcode in FUSED:
        return fused(opcode, *lanes)
    samples = zip(*[row.tolist() for row in lanes], strict=True)
    return numpy.array([evaluate.value(opcode, *(*sample, 0.0, 0.0)[:3]) for sample in samples], kind)


def _add(totals: Any, out: int, operands: list[Any], count: int, is_product: bool, kind: Any) -> None:
    """Add the sum of a row, or of the products of two, to a total, in the order in which lanes.h does."""
    x, y, *_ = operands
    if not isinstance(x, numpy.ndarray):
        _add_to_total(totals, out, float(x) * count)
    elif not is_product:
        _add_to_total(totals, out, _sum(x))
    else:
        _add_to_total(totals, out, _sum((x * y).astype(kind)))


def _sum(row: Any) -> float:
    sums = [0.0] * 16
    for i, x in enumerate(row.tolist()):
        sums[i % 16] += x
    eight = [sums[j] + sums[j + 8] for j in range(8)]
    four = [eight[j] + eight[j + 4] for j in range(4)]
    return (four[0] + four[2]) + (four[1] + four[3])


def _add_to_total(totals: Any, out: int, x: float) -> None:
    """Add to a total and keep what rounding takes from it."""
    total = totals[2 * out]
    after = total + x
    part = after - total
    totals[2 * out + 1] += (total - (after - part)) + (x - part)
    totals[2 * out] = after
