"""The summation order of lanes is the same in C, on all instruction sets, and in Python."""

from __future__ import annotations

import re

import numpy
import pytest
from checkout import ROOT
from hypothesis import given
from hypothesis import strategies as st
from kernels import Case, numbers, on_lanes, opcode, rounded, same
from programs import fewer

from gradwalk.backend import lane_kernel, thread_pool
from gradwalk.backend.cpu import column_table, lanes
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.program.program import Program

SHARDS = 64


def compensated_add(total, x):
    """Add a number to a (total, rounding error) pair with compensated summation."""
    after = total[0] + x
    part = after - total[0]
    return after, total[1] + ((total[0] - (after - part)) + (x - part))


def sum_of_row(row):
    sums = [0.0] * 16
    for i, x in enumerate(row):
        sums[i % 16] += x
    while len(sums) > 4:
        half = len(sums) // 2
        sums = [sums[j] + sums[j + half] for j in range(half)]
    return (sums[0] + sums[2]) + (sums[1] + sums[3])


def sum_of_batch(terms, width):
    """Sum as the kernel does: 16 partial sums per block, then compensated sums over blocks and over shards."""
    blocks = -(-len(terms) // width)
    shards = max(1, min(SHARDS, blocks))
    totals = []
    for shard in range(shards):
        total = 0.0, 0.0
        for block in range(shard * blocks // shards, (shard + 1) * blocks // shards):
            total = compensated_add(total, sum_of_row(terms[block * width : (block + 1) * width].tolist()))
        totals.append(total)
    total = totals[0]
    for other, lost in totals[1:]:
        total = compensated_add(total, other)
        total = total[0], total[1] + lost
    return total[0] + total[1] if numpy.isfinite(total[1]) else total[0]


def one_operation(name, varies):
    code = numpy.array([opcode(name), 0, len(varies) - 1, 0], numpy.int32)
    return Case(Program(len(varies), [], code, [], [len(varies)]), varies)


COUNTS = st.sampled_from([0, 1, 15, 16, 17, 31, 33, 70, 66 * 16 + 5])


@pytest.fixture(params=lane_kernel.INSTRUCTION_SETS)
def instruction_set(request, monkeypatch):
    monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", request.param)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
@pytest.mark.parametrize("varies", [(True,), (True, True), (True, False), (False, True)])
@fewer(40)
@given(count=COUNTS, width=st.sampled_from([16, 32, 64]), seed=st.integers(0, 2**32 - 1), special=st.booleans())
def test_sums_of_products_have_the_expected_bits(kind, varies, count, width, seed, special):
    generator = numpy.random.default_rng(seed)
    drawn = numbers if special else lambda generator, count, kind: generator.normal(size=count).astype(kind) * kind(1e7)
    columns = [drawn(generator, count, kind) for _ in range(sum(varies))]
    shared = drawn(generator, varies.count(False), numpy.float64)
    case = one_operation("mul", varies)
    operands = [*columns, *rounded(shared, kind)]
    with numpy.errstate(all="ignore"):
        terms = operands[0] * operands[-1]
    with thread_pool.threads(2):
        [found] = on_lanes(LaneKernel(case.program, varies, reduced=True, lanes=width), shared, columns, count, kind)
    assert same(found, numpy.float64(sum_of_batch(terms.astype(float), width)))


@pytest.mark.usefixtures("instruction_set")
@fewer(40)
@given(count=COUNTS, seed=st.integers(0, 2**32 - 1))
def test_sums_of_inputs_have_the_expected_bits(count, seed):
    column = numbers(numpy.random.default_rng(seed), count)
    case = Case(Program(1, [], numpy.array([], numpy.int32), [], [0, 0]), (True,))
    found = on_lanes(LaneKernel(case.program, (True,), reduced=True, lanes=16), numpy.empty(0), [column], count)
    assert same(found, numpy.float64(sum_of_batch(column, 16))).all()


def test_totals_of_shards_are_added_with_compensation():
    totals = [1e16, 0.0, 2.0, 0.5, 1.0, 0.25, 3.0, 0.0]
    lanes.add_totals(totals, 2, 2)
    assert totals[:4] == [1e16, 1.25, 5.0, 0.5]


def test_python_has_one_instruction_set():
    assert lanes.instruction_sets() == 1


def test_tile_sizes_in_python_and_c_agree():
    # `LaneKernel.memory` must not depend on whether gradwalk is compiled.
    headers = [ROOT / "src/gradwalk/backend/cpu" / name for name in ("column_table.h", "lanes.h")]
    sizes = re.search(
        r"TILE = (\d+).*TILES = (\d+)", "".join(path.read_text(encoding="utf-8") for path in headers), re.S
    )
    assert sizes is not None
    assert tuple(map(int, sizes.groups())) == (column_table.TILE, lanes.TILES)
