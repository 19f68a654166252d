"""The lane kernel in Python, for uncompiled runs. Compiled modules use functions of lanes.h with the same names."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from gradwalk.backend.schedule.encoding import FORMS, IN_SLOT, KINDS, SCALAR, WIDTH
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.evaluate import ARITIES, FUSED, fused
from gradwalk.program.code.opcodes import DOT, LOAD, SCATTER, STORE, SUM, TAKE

TILES = 4
CACHE_LINE = 64
PARTIAL_SUMS = 16
USES_LIBMVEC = False
USES_OWN_FUNCTIONS = False
COMPILER = b""


class Batch(NamedTuple):
    """Arguments shared by all shards of a batch: see `Batch` in lanes.h. Arrays are one-dimensional."""

    samples: int
    width: int
    shards: int
    totals: int
    code: Any
    tables: Any
    targets: Any
    length: int
    slots: int
    sums: int
    lanes: int
    scalars: Any
    columns: Any
    strides: Any
    tiles: Any
    outputs: Any
    output_strides: Any
    machine: int


def instruction_sets() -> int:
    """Return 1, the number of instruction sets in Python."""
    return 1


def c_library() -> bytes:
    """Return an empty string, because Python does not know the version of glibc."""
    return b""


def row_function(name: bytes, instruction_set: int, single: bool) -> int:
    """Return 0 instead of an address: functions for rows exist only in C."""
    return 0


def run(
    instruction_set: int, single: bool, batch: Batch, first: int, last: int, totals: Any, rows: Any, scratch: Any
) -> int:
    """Run the code of a batch on the shards `first` to `last - 1`, in float32 if `single`; return the status 0.

    `totals` accumulates two numbers per shard and output: the sum of the output over the samples of the shard, and the
    rounding error of that sum. `instruction_set`, `rows` and `scratch` are used only in C.
    """
    blocks = -(-batch.samples // batch.width)
    with numpy.errstate(all="ignore"):
        for shard in range(first, last):
            begin, end = [min(batch.samples, i * blocks // batch.shards * batch.width) for i in (shard, shard + 1)]
            own = totals[shard * batch.totals :]
            for start in range(begin, end, batch.width):
                _run_block(single, batch, own, slice(start, min(start + batch.width, end)))
    return 0


def checked(status: int) -> int:
    """Return the status."""
    return status


def scalars_of(computed: Any, count: int, single: bool) -> Any:
    """Return the first `count` numbers as scalars in the dtype of the batch."""
    with numpy.errstate(over="ignore"):  # numbers too large for float32 become inf
        return numpy.array(computed[:count], numpy.float32 if single else numpy.float64)


def totals_of(computed: Any, count: int) -> Any:
    """Return a view of the totals, which follow `count` numbers and memory of the same length."""
    return computed[2 * count :]


def add_totals(totals: Any, shards: int, outputs: int) -> None:
    """Add the totals of all shards to the totals of the first shard."""
    for shard in range(1, shards):
        for k in range(outputs):
            at = 2 * (shard * outputs + k)
            _add_to_total(totals, k, totals[at])
            totals[2 * k + 1] += totals[at + 1]


def _run_block(single: bool, batch: Batch, totals: Any, block: slice) -> None:
    kind = numpy.float32 if single else numpy.float64
    rows: dict[int, Any] = {}
    for k in range(0, batch.length, WIDTH):
        opcode, form = divmod(batch.code[k], FORMS)
        out, *fields = batch.code[k + 1 : k + WIDTH]
        if opcode == LOAD:
            rows[out] = numpy.array(batch.columns[fields[0]][block], kind)
            continue
        if opcode == TAKE:
            index = batch.scalars[fields[0]] if form & 1 else rows[fields[0]]
            rows[out] = _taken(batch, rows, index, fields[1], block, kind)
            continue
        operands = [batch.scalars[x] if form >> i & 1 else rows.get(x) for i, x in enumerate(fields)]
        if opcode == STORE:
            batch.outputs[out][block] = operands[0]
        elif opcode == SCATTER:
            _scatter(batch.targets, out, totals, operands)
        elif opcode in (SUM, DOT):
            _add(totals, out, operands, block.stop - block.start, opcode == DOT, kind)
        else:
            rows[out] = _computed(opcode, operands, block.stop - block.start, kind)


def _taken(batch: Batch, rows: dict[int, Any], index: Any, begin: int, block: slice, kind: Any) -> Any:
    """Look up each lane's index in the table at `begin`; return a row of entries, with nan for indices out of range."""
    entries = batch.tables[begin + 1 : begin + 1 + batch.tables[begin]].tolist()
    result = numpy.empty(block.stop - block.start, kind)
    for lane, number in enumerate(numpy.broadcast_to(index, len(result)).tolist()):
        position = evaluate.position_of(number, len(entries))
        which, entry_kind = divmod(entries[position], KINDS)
        if position < 0:
            result[lane] = numpy.nan
        elif entry_kind == IN_SLOT:
            result[lane] = rows[which][lane]
        else:
            result[lane] = batch.scalars[which] if entry_kind == SCALAR else batch.columns[which][block.start + lane]
    return result


def _scatter(targets: Any, begin: int, totals: Any, operands: list[Any]) -> None:
    """Add the number of each lane to the total that the lane's index selects: see `scatter` in lane_loops.h."""
    index, number, _ = operands
    outputs = targets[begin + 1 : begin + 1 + targets[begin]].tolist()
    for picked, x in zip(index.tolist(), numpy.broadcast_to(number, len(index)).tolist(), strict=True):
        if targets[begin - 1] and not (0 <= picked < targets[begin - 1] and picked == int(picked)):
            for output in outputs:
                if output >= 0:
                    _add_to_total(totals, output, math.nan)
        elif 0 <= picked < len(outputs) and picked == (k := int(picked)) and outputs[k] >= 0:
            _add_to_total(totals, outputs[k], x)


def _computed(opcode: int, operands: list[Any], count: int, kind: Any) -> Any:
    """Return the result row of an instruction. Fused instructions round to `kind` after each operation."""
    lanes = [numpy.broadcast_to(numpy.asarray(x, kind), count) for x in operands[: ARITIES[opcode]]]
    if opcode in FUSED:
        return fused(opcode, *lanes)
    samples = zip(*[row.tolist() for row in lanes], strict=True)
    return numpy.array([evaluate.value(opcode, *(*sample, 0.0, 0.0)[:3]) for sample in samples], kind)


def _add(totals: Any, out: int, operands: list[Any], count: int, is_product: bool, kind: Any) -> None:
    """Add the sum of a row, or of the products of two rows, to a total, in the same order as lanes.h."""
    x, y, *_ = operands
    if not isinstance(x, numpy.ndarray):
        _add_to_total(totals, out, float(x) * count)
    elif not is_product:
        _add_to_total(totals, out, _sum(x))
    else:
        _add_to_total(totals, out, _sum_of_products((x * y).astype(kind)))


def _sum_of_products(products: Any) -> float:
    """Sum products; in float32, add lanes that are 16 apart in groups of four before the conversion to float64."""
    fours = len(products) // 64 * 64 if products.dtype == numpy.float32 else 0
    parts = products[:fours].reshape(-1, 4, 16)
    added = (parts[:, 0] + parts[:, 1]) + (parts[:, 2] + parts[:, 3])
    found = _sum(numpy.concatenate([added.ravel(), products[fours:]]))
    return found if math.isfinite(found) else _sum(products)


def _sum(row: Any) -> float:
    sums = [0.0] * 16
    for i, x in enumerate(row.tolist()):
        sums[i % 16] += x
    eight = [sums[j] + sums[j + 8] for j in range(8)]
    four = [eight[j] + eight[j + 4] for j in range(4)]
    return (four[0] + four[2]) + (four[1] + four[3])


def _add_to_total(totals: Any, out: int, x: float) -> None:
    """Add to a total and accumulate the rounding error."""
    total = totals[2 * out]
    after = total + x
    part = after - total
    totals[2 * out + 1] += (total - (after - part)) + (x - part)
    totals[2 * out] = after
