"""The lane kernel for uncompiled runs, a lane at a time. Compiled modules use `lanes.pxd`: the one in lanes.h."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.backend.schedule import DOT, LOAD, STORE, SUM, WIDTH
from gradwalk.ops import evaluate
from gradwalk.program.opcodes import MULADD, MULSUB, SUBMUL


def instruction_sets() -> int:
    """How many there are to choose from."""
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
    """Run a schedule's code on samples `first` to `last`, in float32 where `single` says so.

    `columns` and `outputs` are one-dimensional arrays; `totals` holds two numbers for each output. What else C needs to
    know is not needed here.
    """
    with numpy.errstate(all="ignore"):
        for start in range(first, last, lanes):
            block = slice(start, min(start + lanes, last))
            _run_block(single, code, length, scalars, columns, outputs, totals, block)


def add_totals(totals: Any, strands: int, outputs: int) -> None:
    """Add the totals of all strands to those of the first one."""
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
    arity = 3 if opcode >= MULADD else evaluate.ARITIES[opcode]
    lanes = zip(*[numpy.broadcast_to(x, count).tolist() for x in operands[:arity]], strict=True)
    return numpy.array([_value(opcode, *lane, kind=kind) for lane in lanes], kind)


def _value(opcode: int, x: float, y: float = 0.0, z: float = 0.0, *, kind: Any) -> float:
    if opcode not in (MULADD, MULSUB, SUBMUL):
        return evaluate.evaluate(opcode, x, y, z)
    product = float(kind(x * y))
    return product + z if opcode == MULADD else product - z if opcode == MULSUB else z - product


def _add(totals: Any, out: int, operands: list[Any], count: int, is_product: bool, kind: Any) -> None:
    """Add the sum of a row, or of products, to a total, in the order in which lanes.h does it."""
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
    """Add to a total and keep what rounding takes."""
    total = totals[2 * out]
    after = total + x
    part = after - total
    totals[2 * out + 1] += (total - (after - part)) + (x - part)
    totals[2 * out] = after
