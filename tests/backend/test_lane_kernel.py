"""The lane kernel gives the same bits as single samples, for any instruction set, block size, layout and thread."""

from __future__ import annotations

import math
import pickle
import threading
from fractions import Fraction
from typing import ClassVar

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from kernels import (
    ALL,
    EXACT,
    FUSED,
    SPECIAL,
    Case,
    cases,
    laid_out,
    numbers,
    on_lanes,
    opcode,
    rounded,
    same,
    ulps_apart,
)
from programs import BY_NAME, EVERY, fewer

from gradwalk import vmap
from gradwalk.backend import lane_kernel, thread_pool
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.program.program import Program

BLOCKS = (16, 32, 64, 128, 256) if IS_COMPILED else (16, 32)
SEEDS = st.integers(0, 2**32 - 1)
KINDS = (numpy.float64, numpy.float32)


@pytest.fixture(params=lane_kernel.INSTRUCTION_SETS)
def instruction_set(request, monkeypatch):
    monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", request.param)
    return request.param


@st.composite
def blocks(draw: st.DrawFn) -> tuple[int, int]:
    """Draw the number of lanes per block and the number of samples, from none to several blocks and a tail."""
    lanes = draw(st.sampled_from(BLOCKS))
    return lanes, draw(st.sampled_from([0, 1, 2, 15, 16, 17, lanes - 1, lanes, lanes + 1, 2 * lanes, 3 * lanes + 5]))


def one_operation(name: str, varies: tuple[bool, ...] | None = None) -> Case:
    """Build a program of one operation."""
    count = 3 if name in FUSED else BY_NAME[name].arity
    code = numpy.array([opcode(name), *range(count), *[0] * (3 - count)], numpy.int32)
    return Case(Program(count, [], code, [], [count]), varies or (True,) * count)


def operand_forms(name: str) -> list[tuple[bool, ...]]:
    """Return every choice of operands that are rows, at least one; all other operands are scalars."""
    count = len(one_operation(name).varies)
    return [tuple(bool(form >> i & 1) for i in range(count)) for form in range(1, 2**count)]


@pytest.mark.usefixtures("instruction_set")
class TestExactOperations:
    @fewer(2)
    @given(cases(list(EXACT)), blocks(), SEEDS)
    def test_lanes_equal_single_samples_bitwise(self, case, block, seed):
        lanes, count = block
        shared, columns = case.batch(seed, count)
        expected = case.one_at_a_time(shared, columns, count)
        assert same(
            on_lanes(LaneKernel(case.program, case.varies, lanes=lanes), shared, columns, count), expected
        ).all()

    @pytest.mark.parametrize("kind", KINDS)
    @fewer(2)
    @given(case=cases(list(EXACT)), block=blocks(), seed=SEEDS)
    def test_lanes_equal_numpy_bitwise(self, kind, case, block, seed):
        lanes, count = block
        shared, columns = case.batch(seed, count, kind)
        expected = case.by_numpy(shared, columns, count, kind)
        found = on_lanes(LaneKernel(case.program, case.varies, lanes=lanes), shared, columns, count, kind)
        assert found.dtype == kind
        assert same(found, expected).all()

    @pytest.mark.parametrize("name", FUSED)
    def test_fused_products_round_twice(self, name):
        x = 1.0 + 2.0**-30
        operands = (x, x, -1.0 if name == "muladd" else 1.0)
        rounded_once = EXACT[name](*map(Fraction, operands))
        for varies in operand_forms(name):
            shared = numpy.array([number for number, v in zip(operands, varies, strict=True) if not v])
            columns = [numpy.full(20, number) for number, v in zip(operands, varies, strict=True) if v]
            found = on_lanes(LaneKernel(one_operation(name).program, varies), shared, columns, 20)
            assert set(found.ravel()) == {EXACT[name](*operands)} != {float(rounded_once)}


@pytest.mark.usefixtures("instruction_set")
class TestEveryOperation:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", EVERY)
    def test_every_operand_form_is_within_4_ulps(self, name, kind):
        # 16 ulps are allowed for formulas of several vector functions, each of which is within 4 ulps.
        most = 16 if name in DEFINITIONS else 4
        generator = numpy.random.default_rng(1)
        count = 500 if IS_COMPILED else 50
        for varies in operand_forms(name):
            case = one_operation(name, varies)
            for shared in [[]] if all(varies) else [[x] * varies.count(False) for x in (*SPECIAL, 2.0, 3.0, -0.5)]:
                # scalars are rounded to the dtype before the operation
                given = rounded(rounded(shared, kind), numpy.float64)
                columns = [rounded(numbers_of_all_sizes(generator, count), kind) for _ in range(sum(varies))]
                expected = rounded(case.one_at_a_time(given, columns, count), kind)
                found = on_lanes(LaneKernel(case.program, varies), given, columns, count, kind)
                # near zeros of the function terms cancel, so the bound is absolute
                cancels = (abs(expected) < 2.0) & (name in ("logaddexp", "lgamma", "digamma"))
                assert ulps_apart(found[~cancels], expected[~cancels]).max(initial=0) <= most
                assert (abs(found[cancels] - expected[cancels]) <= 4 * most * numpy.finfo(found.dtype).eps).all()
                zeros = expected == 0
                assert (numpy.signbit(found) == numpy.signbit(expected))[zeros].all()

    @pytest.mark.parametrize("name", ["exp", "log", "tanh", "sin", "pow"])
    def test_ends_of_the_range_are_within_4_ulps(self, name):
        edges = numpy.array([709.78, 709.79, -745.1, -745.2, -708.5, 1e-320, 5e-324, 1e300, -1e300, 1e22])
        case = one_operation(name)
        columns = [edges, edges[::-1]][: len(case.varies)]
        expected = case.one_at_a_time([], columns, len(edges))
        found = on_lanes(LaneKernel(case.program, case.varies), numpy.empty(0), columns, len(edges))
        assert ulps_apart(found, expected).max() <= 4


@pytest.mark.usefixtures("instruction_set")
class TestLanesAreIndependent:
    @pytest.mark.parametrize("kind", KINDS)
    @fewer(4)
    @given(case=cases(ALL), block=blocks(), seed=SEEDS)
    def test_results_do_not_depend_on_lane_positions(self, kind, case, block, seed):
        lanes, count = block
        shared, columns = case.batch(seed, count, kind)
        order = numpy.random.default_rng(seed).permutation(count)
        found = on_lanes(LaneKernel(case.program, case.varies, lanes=lanes), shared, columns, count, kind)
        moved = [column[order] for column in columns]
        for other in (lanes, BLOCKS[0]):
            permuted = on_lanes(LaneKernel(case.program, case.varies, lanes=other), shared, moved, count, kind)
            assert same(permuted, found[order]).all()

    @pytest.mark.parametrize("kind", KINDS)
    @fewer(4)
    @given(case=cases(ALL), block=blocks(), seed=SEEDS)
    def test_results_do_not_depend_on_other_lanes(self, kind, case, block, seed):
        lanes, count = block
        shared, columns = case.batch(seed, count, kind)
        generator = numpy.random.default_rng(seed)
        changed = generator.random(count) < 0.5
        others = [numpy.where(changed, numbers(generator, count, kind), column) for column in columns]
        made = LaneKernel(case.program, case.varies, lanes=lanes)
        first = on_lanes(made, shared, columns, count, kind)
        second = on_lanes(made, shared, others, count, kind)
        assert same(first, second)[~changed].all()

    @pytest.mark.parametrize("name", ALL)
    def test_special_numbers_do_not_affect_other_lanes(self, name):
        # Special numbers may switch their lanes to another algorithm.
        case = one_operation(name)
        generator = numpy.random.default_rng(2)
        columns = [generator.uniform(-2, 2, 64) for _ in case.varies]
        alone = on_lanes(LaneKernel(case.program, case.varies), numpy.empty(0), columns, 64)
        for special in (*SPECIAL, 800.0, -800.0, 1e22):
            disturbed = [column.copy() for column in columns]
            for column in disturbed:
                column[::3] = special
            found = on_lanes(LaneKernel(case.program, case.varies), numpy.empty(0), disturbed, 64)
            kept = numpy.arange(64) % 3 != 0
            assert same(found, alone)[kept].all()


@pytest.mark.usefixtures("instruction_set")
class TestSums:
    @fewer(2)
    @given(cases(["add", "add", "mul", "muladd", "muladd", "mulsub", "sub", "neg"]), blocks(), SEEDS)
    def test_sums_equal_sums_of_single_samples(self, case, block, seed):
        lanes, count = block
        generator = numpy.random.default_rng(seed)
        shared = generator.normal(size=case.varies.count(False))
        columns = [laid_out(generator, generator.normal(size=count)) for _ in range(sum(case.varies))]
        case = without_special_constants(case)
        results = case.one_at_a_time(shared, columns, count)
        # a sum may be split into terms, each of which rounds, so the bound uses their absolute values
        sizes = with_absolute_values(case).one_at_a_time(abs(shared), [abs(column) for column in columns], count)
        sums = on_lanes(LaneKernel(case.program, case.varies, reduced=True, lanes=lanes), shared, columns, count)
        for found, column, size in zip(sums, results.T, sizes.T, strict=True):
            if size.max(initial=0.0) < 1e300:
                assert abs(found - math.fsum(column)) <= 64 * 2.0**-53 * math.fsum(size) + 1e-300

    @fewer(4)
    @given(cases(ALL), blocks(), SEEDS)
    def test_random_sums_with_special_numbers(self, case, block, seed):
        lanes, count = block
        shared, columns = case.batch(seed, count)
        results = case.one_at_a_time(shared, columns, count)
        sums = on_lanes(LaneKernel(case.program, case.varies, reduced=True, lanes=lanes), shared, columns, count)
        for found, column in zip(sums, results.T, strict=True):
            if numpy.isnan(column).any() or {math.inf, -math.inf} <= set(column):
                assert numpy.isnan(found)
            elif numpy.isinf(column).any():
                assert found == column[numpy.isinf(column)][0] or is_mixed(column)

    @pytest.mark.parametrize("kind", KINDS)
    def test_sums_are_compensated_in_float64(self, kind):
        count = 100_003 if IS_COMPILED else 2003
        case = one_operation("stop_gradient")
        generator = numpy.random.default_rng(3)
        column = (generator.normal(size=count) * 10.0 ** generator.integers(-6, 7, count)).astype(kind)
        [found] = on_lanes(LaneKernel(case.program, case.varies, reduced=True), numpy.empty(0), [column], count, kind)
        assert abs(found - math.fsum(column)) <= 16 * 2.0**-53 * math.fsum(abs(column))

    @pytest.mark.parametrize("shard", [[1.0, 1e17, -1e17], [1e17, 1.0, -1e17], [1e17, -1e17, 1.0]])
    @pytest.mark.parametrize("shards", [1, 64])
    def test_cancellation_between_blocks_is_exact(self, shard, shards):
        # 3 blocks are 3 shards; 192 blocks are 64 shards of 3 blocks.
        column = numpy.repeat(shard * shards, 16)
        case = one_operation("stop_gradient")
        made = LaneKernel(case.program, case.varies, reduced=True, lanes=16)
        assert on_lanes(made, numpy.empty(0), [column], len(column)).tolist() == [16.0 * shards]

    @pytest.mark.parametrize(
        ("column", "expected"),
        [
            ([], 0.0),
            ([-0.0], 0.0),
            ([1.0, math.inf], math.inf),
            ([-math.inf, 1e308, 1e308], -math.inf),
            ([math.inf, -math.inf], math.nan),
            ([math.nan, 1.0], math.nan),
            ([1e308] * 40, math.inf),
        ],
    )
    def test_sums_of_special_numbers(self, column, expected):
        given = numpy.array(column, float)
        for name in ("stop_gradient", "mul"):
            case = one_operation(name)
            columns = [given, numpy.ones(len(given))][: len(case.varies)]
            [found] = on_lanes(LaneKernel(case.program, case.varies, reduced=True), numpy.empty(0), columns, len(given))
            assert same(numpy.array([found]), numpy.array([expected])).all()

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        ("factor", "column", "expected"),
        [
            (0.0, [1.7e38] * 20, 0.0),
            (math.inf, [2.0, -1.0], math.nan),
            (math.inf, [2.0, 1.0], math.inf),
            (2.0**-100, [1.7e38, 1.7e38], 2 * 1.7e38 * 2.0**-100),
            (0.0, [1.0, math.inf], math.nan),
            (3.0, [1.0, 2.0], 9.0),
        ],
    )
    def test_sums_of_products_with_an_unbatched_factor(self, factor, column, expected, kind):
        scale = 1.0 if kind is numpy.float32 else 2.0**896  # makes the sum of the column alone overflow
        given = numpy.array([x * scale if abs(x) > 1e38 else x for x in column]).astype(kind)
        factor = factor / scale if factor == 2.0**-100 else factor
        case = one_operation("mul", (True, False))
        made = LaneKernel(case.program, case.varies, reduced=True)
        [found] = on_lanes(made, numpy.array([factor]), [given], len(given), kind)
        assert found == pytest.approx(expected, rel=1e-6, nan_ok=True)

    @pytest.mark.parametrize("count", [3, 63, 64, 65, 127, 250])
    @given(SEEDS)
    def test_sums_of_products_in_float32(self, count, seed):
        # Each product and each sum of four products is rounded to float32.
        x, y = numpy.random.default_rng(seed).normal(size=(2, count)).astype("f4")
        case = one_operation("mul")
        [found] = on_lanes(
            LaneKernel(case.program, case.varies, reduced=True), numpy.empty(0), [x, y], count, numpy.float32
        )
        products = [float(a) * float(b) for a, b in zip(x, y, strict=True)]
        assert found == pytest.approx(math.fsum(products), abs=3.01 * 2.0**-24 * math.fsum(map(abs, products)), rel=0)

    @pytest.mark.parametrize("varies", [(True, True), (True, False)])
    def test_sums_of_four_products_that_overflow_float32(self, varies):
        x = numpy.repeat(numpy.array([3e38, 3e38, -3e38, -2e38], "f4"), 16)
        case = one_operation("mul", varies)
        columns = [x, numpy.ones(64, "f4")][: sum(varies)]
        made = LaneKernel(case.program, varies, reduced=True)
        [found] = on_lanes(made, numpy.ones(2 - sum(varies)), columns, 64, numpy.float32)
        assert found == pytest.approx(1.6e39, rel=1e-6)

    def test_sums_of_empty_batches_and_unbatched_values(self):
        case = Case(Program(2, [math.inf], numpy.array([], numpy.int32), [], [1, 2, 0, 0]), (True, False))
        made = LaneKernel(case.program, case.varies, reduced=True)
        assert on_lanes(made, numpy.array([3.0]), [numpy.empty(0)], 0).tolist() == [0.0, 0.0, 0.0, 0.0]
        assert on_lanes(made, numpy.array([3.0]), [numpy.ones(5)], 5).tolist() == [15.0, math.inf, 5.0, 5.0]


@pytest.mark.usefixtures("instruction_set")
class TestRunsOfProducts:
    """Sums of products, whose totals stay in registers, have the bits of separate operations."""

    FUNCTIONS: ClassVar = {
        "of rows": lambda x, w: sum_of(a * b for a, b in zip(x, x[::-1], strict=True)),
        "of scalars and rows": lambda x, w: sum_of(b * a for a, b in zip(x, w, strict=True)),
        "of rows and scalars": lambda x, w: sum_of(a * b for a, b in zip(x, w, strict=True)),
        "of both": lambda x, w: sum_of(x[i] * (x[i + 1] if i % 3 == 0 else w[i]) for i in range(len(x) - 1)),
        "whose factor is the sum": lambda x, w: horner(x),
        "with a sum that is used twice": lambda x, w: (s := x[0] * w[0] + x[1]) * (x[2] * w[2] + s) + s,
    }

    @pytest.mark.parametrize("name", FUNCTIONS)
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("count", [1, 16, 17, 63, 64, 65, 127, 129, 300] if IS_COMPILED else [1, 17, 65])
    def test_results_are_bitwise_equal_to_numpy(self, name, kind, count):
        f = self.FUNCTIONS[name]
        generator = numpy.random.default_rng(count)
        x, w = generator.normal(size=(count, 9)).astype(kind), generator.normal(size=9).astype(kind)
        found = vmap(f, in_axes=(0, None))(x, w)
        expected = f(list(x.T), list(w))  # NumPy rounds each product and each sum
        assert found.dtype == kind
        assert found.tolist() == expected.tolist()


def sum_of(products):
    total, *others = products
    for product in others:
        total = total + product
    return total


def horner(x):
    total = x[0]
    for number in x[1:]:
        total = total * x[3] + number
    return total


def is_mixed(column):
    """Return whether the terms of an infinite sum may contain inf of both signs or overflow."""
    return abs(column[numpy.isfinite(column)]).max(initial=0.0) > 1e290 or numpy.isinf(column).sum() < len(column)


def without_special_constants(case: Case) -> Case:
    program = case.program
    constants = [x if math.isfinite(x) and 1e-3 < abs(x) < 1e3 else 0.25 for x in program.constants]
    return Case(Program(program.inputs, constants, program.instructions, [], program.outputs), case.varies)


def with_absolute_values(case: Case) -> Case:
    """Replace subtraction by addition and negation by identity, to bound the size of all terms."""
    program = case.program
    positive = {opcode("sub"): opcode("add"), opcode("neg"): opcode("stop_gradient")}
    positive |= dict.fromkeys(FUSED.values(), FUSED["muladd"])
    code = program.instructions.copy()
    code[::4] = [positive.get(operation, operation) for operation in code[::4].tolist()]
    constants = [abs(x) for x in program.constants]
    return Case(Program(program.inputs, constants, code, [], program.outputs), case.varies)


def numbers_of_all_sizes(generator: numpy.random.Generator, count: int):
    """Draw numbers of all sizes."""
    parts = [
        generator.normal(size=count) * 10.0 ** generator.integers(-10, 10, count),
        generator.uniform(-30, 30, count),
        generator.uniform(-1, 1, count),
        1 + generator.normal(size=count) * 1e-3,
        generator.integers(0, 2**64, count, dtype=numpy.uint64).view(numpy.float64),
        generator.choice(SPECIAL, count),
    ]
    return generator.permutation(numpy.concatenate(parts))[:count]


class TestThreads:
    @pytest.mark.parametrize("reduced", [False, True])
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_number_of_threads_changes_no_bits(self, kind, reduced):
        count = 150 * 16 + 3  # more blocks than shards
        generator = numpy.random.default_rng(4)
        case = Case(
            Program(
                *(2, [], numpy.array([opcode("sin"), 0, 0, 0, opcode("muladd"), 2, 1, 0], numpy.int32), [], [2, 3, 3])
            ),
            (True, True),
        )
        columns = [numbers(generator, count, kind) for _ in range(2)]
        columns[0][~numpy.isfinite(columns[0])] = 1.0
        columns[1][:] = generator.normal(size=count)
        made = LaneKernel(case.program, case.varies, reduced=reduced, lanes=16)
        results = []
        for threads in (1, 2, 3, 7):
            with thread_pool.threads(threads):
                results += [on_lanes(made, numpy.empty(0), columns, count, kind).tobytes() for _ in range(3)]
        assert len(set(results)) == 1

    def test_threads_may_share_a_kernel(self):
        case = one_operation("mul")
        made = LaneKernel(case.program, case.varies, lanes=16)
        wrong = []

        def work(number: float) -> None:
            columns = [numpy.full(200, number), numpy.arange(200.0)]
            for _ in range(50 if IS_COMPILED else 3):
                found = on_lanes(made, numpy.empty(0), columns, 200)
                wrong.extend(found[:, 0] != number * columns[1])

        threads = [threading.Thread(target=work, args=(float(i),)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not any(wrong)

    def test_threads_may_write_to_the_columns_meanwhile(self):
        case = Case(Program(1, [], numpy.array([opcode("exp"), 0, 0, 0] * 20, numpy.int32), [], [1, 20, 0]), (True,))
        column = numpy.zeros(5000 if IS_COMPILED else 100)
        made = LaneKernel(case.program, case.varies)
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                column[:] = numpy.random.default_rng().normal(size=len(column)) * 1e3

        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(50):
            found = on_lanes(made, numpy.empty(0), [column], len(column))
        stop.set()
        writer.join()
        assert found.shape == (len(column), 3)


class TestMemory:
    def test_inputs_are_neither_changed_nor_aliased(self):
        case = Case(
            Program(2, [], numpy.array([opcode("add"), 0, 1, 0] * 4, numpy.int32), [], [0, 1, 2, 5, 5]), (True, True)
        )
        columns = [numpy.arange(256.0), numpy.ones(256)]
        copies = [column.copy() for column in columns]
        made = LaneKernel(case.program, case.varies, lanes=128)
        found = on_lanes(made, numpy.empty(0), columns, 256)
        found += 1.0
        assert all(map(numpy.array_equal, columns, copies))
        assert not any(numpy.shares_memory(found, column) for column in columns)

    @fewer(10)
    @given(case=cases(list(EXACT)), block=blocks(), seed=SEEDS)
    def test_outputs_may_have_any_strides(self, case, block, seed):
        lanes, count = block
        shared, columns = case.batch(seed, count)
        expected = case.one_at_a_time(shared, columns, count)
        made = LaneKernel(case.program, case.varies, lanes=lanes)
        outputs = len(case.program.outputs)
        around = numpy.full((count + 2, outputs + 2), 7.0)
        backwards = numpy.full((outputs, count), 7.0)[:, ::-1]
        made.run(shared, columns, [around[1:-1, 1:-1]], count, single=False)
        made.run(shared, columns, list(backwards), count, single=False)
        varying = [i for i in range(outputs) if i not in made.fixed]
        assert same(around[1:-1, 1:-1][:, varying], expected[:, varying]).all()
        assert same(backwards.T[:, varying], expected[:, varying]).all()
        around[1:-1, 1:-1] = 7.0
        assert (around == 7.0).all()

    def test_arrays_may_hold_several_columns(self):
        array = numpy.arange(24.0).reshape(4, 3, 2)
        code = numpy.array([], numpy.int32)
        case = Case(Program(7, [], code, [], list(range(7))), (True,) * 7)
        outputs = [numpy.zeros((4, 3, 2)), numpy.zeros(4)]
        for same_numbers in (array, numpy.asfortranarray(array), array[::-1].copy()[::-1]):
            columns = [same_numbers, numpy.arange(4.0)]
            LaneKernel(case.program, case.varies).run(numpy.empty(0), columns, outputs, 4, single=False)
            assert (outputs[0] == array).all()
            assert outputs[1].tolist() == [0.0, 1.0, 2.0, 3.0]

    @pytest.mark.usefixtures("instruction_set")
    @pytest.mark.parametrize("kind", KINDS)
    @fewer(10)
    @given(
        width=st.sampled_from([1, 7, 8, 9, 16, 20]),
        block=blocks(),
        rows=st.sampled_from([1, -1, 2, 0]),
        columns=st.sampled_from([1, -1, 2]),
        offset=st.sampled_from([0, 1, 4, 8]),
        seed=SEEDS,
    )
    def test_samples_are_read_with_any_strides(self, kind, width, block, rows, columns, offset, seed):
        # Columns that are adjacent in memory are read eight at a time.
        lanes, count = block
        generator = numpy.random.default_rng(seed)
        size = numpy.dtype(kind).itemsize
        memory = numbers(generator, 2 * count * 2 * width, kind).tobytes()
        whole = numpy.frombuffer(b"?" * offset + memory, kind, len(memory) // size, offset).reshape(-1, 2 * width)
        array = whole[::rows] if rows else numpy.broadcast_to(whole[:1], (count if len(whole) else 0, 2 * width))
        array = array[:count, ::columns][:, :width]
        order = generator.permutation(numpy.repeat(numpy.arange(width), 2)).tolist()
        case = Case(Program(width, [], numpy.array([], numpy.int32), [], order), (True,) * width)
        outputs = numpy.zeros((2 * width, len(array)), kind)
        made = LaneKernel(case.program, case.varies, lanes=lanes)
        made.run(numpy.empty(0), [array], list(outputs), len(array), single=kind is numpy.float32)
        assert same(outputs.T, array[:, order]).all()

    @pytest.mark.usefixtures("instruction_set")
    @pytest.mark.parametrize("kind", KINDS)
    @fewer(10)
    @given(
        widths=st.lists(st.integers(1, 20), min_size=1, max_size=3),
        block=blocks(),
        rows=st.sampled_from([1, -1, 2]),
        columns=st.sampled_from([1, 1, -1, 2]),
        offset=st.sampled_from([0, 1, 4, 8]),
        fixed=st.integers(0, 30),
        seed=SEEDS,
    )
    def test_samples_are_written_with_any_strides(self, kind, widths, block, rows, columns, offset, fixed, seed):
        # Columns that are adjacent in memory are written eight at a time; unbatched outputs are not written.
        lanes, count = block
        width = sum(widths)
        generator = numpy.random.default_rng(seed)
        given_numbers = numbers(generator, count * width, kind).reshape(count, width)
        varies = [i != fixed for i in range(width)]
        shared = numpy.zeros(width - sum(varies))
        memory = numpy.zeros(offset + 4 * (count + 1) * width * numpy.dtype(kind).itemsize, numpy.uint8)
        whole = numpy.frombuffer(memory, kind, 4 * count * width, offset).reshape(-1, 2 * width)
        array = whole[::rows][:count, ::columns][:, :width]
        outputs = numpy.split(array, numpy.cumsum(widths)[:-1], axis=1)
        made = LaneKernel(Program(width, [], numpy.array([], numpy.int32), [], list(range(width))), varies, lanes=lanes)
        made.run(shared, [given_numbers[:, varies]], outputs, count, single=kind is numpy.float32)
        assert same(array[:, varies], given_numbers[:, varies]).all()
        array[:, varies] = 0
        assert not memory.any()

    def test_columns_may_be_broadcast_scalars(self):
        case = one_operation("add")
        columns = [numpy.broadcast_to(numpy.float64(3.0), 300), numpy.arange(300.0)]
        assert (
            on_lanes(LaneKernel(case.program, case.varies), numpy.empty(0), columns, 300)[:, 0] == columns[1] + 3
        ).all()

    def test_memory_per_thread_is_reported(self):
        made = LaneKernel(one_operation("hypot").program, (True, True), lanes=32)
        assert made.memory == made.schedule.slots * (32 * 8 + 64) + 32 * 32 * 8


class TestOverflowGivesNoWarning:
    """Overflow gives inf without a warning, which pytest would turn into an error."""

    def test_overflow_of_scalars_and_results_in_float32(self):
        case = one_operation("mul", (False, True))
        found = on_lanes(
            LaneKernel(case.program, case.varies), numpy.array([1e300]), [numpy.ones(3, "f4")], 3, numpy.float32
        )
        assert found.tolist() == [[math.inf]] * 3

    def test_overflow_of_lanes_and_sums(self):
        case = one_operation("mul")
        for kind, large in ((numpy.float64, 1e200), (numpy.float32, 1e30)):
            columns = [numpy.full(20, large, kind)] * 2
            assert (
                on_lanes(LaneKernel(case.program, case.varies), numpy.empty(0), columns, 20, kind) == math.inf
            ).all()
            reduced = LaneKernel(case.program, case.varies, reduced=True)
            assert on_lanes(reduced, numpy.empty(0), columns, 20, kind).tolist() == [math.inf]


class TestInstructionSets:
    def test_kernels_use_a_supported_set(self):
        assert lane_kernel.INSTRUCTION_SETS[0] == "baseline"
        assert LaneKernel(one_operation("exp").program, (True,)).instruction_set in lane_kernel.INSTRUCTION_SETS

    def test_the_environment_selects_the_set_of_new_kernels(self, monkeypatch):
        program = one_operation("exp").program
        monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", "baseline")
        made = LaneKernel(program, (True,))
        monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", "mmx")
        assert made.instruction_set == "baseline"
        with pytest.raises(ValueError, match=r"GRADWALK_INSTRUCTION_SET must be baseline.*, got mmx"):
            LaneKernel(program, (True,))
        monkeypatch.delenv("GRADWALK_INSTRUCTION_SET")
        assert LaneKernel(program, (True,)).instruction_set == lane_kernel.INSTRUCTION_SETS[-1]

    def test_sums_have_the_same_bits_on_all_sets(self, monkeypatch):
        generator = numpy.random.default_rng(5)
        columns = [generator.normal(size=1001) for _ in range(2)]
        case = one_operation("mul")
        results = set()
        for name in lane_kernel.INSTRUCTION_SETS:
            monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", name)
            made = LaneKernel(case.program, case.varies, reduced=True)
            results.add(on_lanes(made, numpy.empty(0), columns, 1001)[0])
        assert len(results) == 1


def test_kernels_can_be_pickled():
    case = one_operation("atan2", (True, False))
    made = LaneKernel(case.program, case.varies, reduced=True, lanes=32)
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.lanes, copy.reduced, str(copy)) == (32, True, str(made))
    columns = [numpy.linspace(-1, 1, 99)]
    assert on_lanes(copy, numpy.ones(1), columns, 99) == on_lanes(made, numpy.ones(1), columns, 99)


@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
@pytest.mark.parametrize(
    ("count", "lanes"), [(100, 128), (2047, 128), (2048, 256), (4095, 256), (4096, 512), (9999, 512)]
)
def test_large_batches_have_larger_blocks(count, lanes, kind):
    # Sums are added block by block, so their bits show the number of lanes per block.
    case = one_operation("mul", (True, True))
    columns = [numpy.random.default_rng(0).normal(size=count).astype(kind) * kind(1e7) for _ in range(2)]
    chosen = LaneKernel(case.program, case.varies, reduced=True)
    expected = LaneKernel(case.program, case.varies, reduced=True, lanes=lanes)
    assert on_lanes(chosen, numpy.empty(0), columns, count, kind) == on_lanes(
        expected, numpy.empty(0), columns, count, kind
    )
    rows = max(1 << 22, chosen.schedule.slots * 128 * 8)
    assert chosen.memory <= rows + chosen.schedule.slots * 64 + 32 * 512 * 8


def test_blocks_of_programs_with_many_slots_stay_small():
    count = 3000
    squares = [[opcode("mul"), i, i, 0] for i in range(count)]
    sums = [[opcode("add"), i, count + i, 0] for i in range(count)]
    code = numpy.array(squares + sums, numpy.int32).ravel()
    made = LaneKernel(Program(count, [], code, [], list(range(count, 3 * count))), (True,) * count)
    assert made.schedule.slots > 2048
    assert made.memory == made.schedule.slots * (8 * 128 + 64) + 32 * 8 * 128


@pytest.mark.parametrize("lanes", [0, -16, 8, 20])
def test_lanes_must_be_a_multiple_of_16(lanes):
    with pytest.raises(ValueError, match="multiple of 16"):
        LaneKernel(one_operation("hypot").program, (True, True), lanes=lanes)


def test_sums_of_outputs_whose_products_overflow():
    # The batch sum of p * q may be inf and the batch sum of r -inf although no output is infinite.
    f = vmap(lambda p, q, r: p * q + r, reduce="sum")
    p, q, r = numpy.array([1e200, 1.0]), numpy.array([1e200, 1.0]), numpy.array([-1e300, 2.0])
    assert f(p, q, r) == math.inf
    r = numpy.array([-math.inf, 2.0])
    assert math.isnan(f(p, q, r))  # inf - inf within one sample
    p, q, r = numpy.array([1e154, 1e154]), numpy.array([1e154, 1e154]), numpy.array([-1e308, -1e308])
    expected = sum(a * b + c for a, b, c in zip(p.tolist(), q.tolist(), r.tolist(), strict=True))
    assert f(p, q, r) == expected == 0.0
    r = numpy.array([-math.inf, -math.inf])
    assert f(p, q, r) == -math.inf
