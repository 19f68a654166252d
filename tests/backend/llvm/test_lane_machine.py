"""Machine code for lanes gives the same bits as the C kernel, and is used only where it is faster."""

from __future__ import annotations

import ctypes
import itertools
import math
import pickle
import platform
import threading
import time

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from kernels import ALL, SPECIAL, cases, on_lanes, same
from programs import fewer

from gradwalk import jit, loops, threads, value_and_grad, vmap
from gradwalk import math as gm
from gradwalk.backend import lane_kernel
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.backend.llvm import lane_machine
from gradwalk.backend.llvm.lane_machine import Lanes, RefusedError, compiled_schedule
from gradwalk.backend.llvm.lane_program import lane_program
from gradwalk.backend.llvm.vector_ir import Scalars, lane_ir
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.backend.schedule.schedule import make_schedule
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import ROWS
from gradwalk.program.native import compiler_process
from gradwalk.program.native.expressions import Type
from gradwalk.program.native.vector_library import Target, Vectors
from gradwalk.program.routine import lower_calls, storage
from gradwalk.program.tape import Tape

pytest.importorskip("llvmlite")

KINDS = (numpy.float64, numpy.float32)
# Uncompiled kernels run in Python, which cannot call machine code.
SETS = lane_kernel.INSTRUCTION_SETS if IS_COMPILED else ()
SEEDS = st.integers(0, 2**32 - 1)


def with_machine_code(kernel: LaneKernel, kind=numpy.float64) -> LaneKernel:
    """Compile the kernel to machine code where that is supported, and return the kernel."""
    single = kind is numpy.float32
    kernel._compile(single)
    is_there = kernel._plans[single].machine is not None
    assert is_there == (kernel.instruction_set != "baseline" or not lane_kernel.USES_LIBMVEC)
    return kernel


def agree(program, varies, shared, columns, count, kind=numpy.float64, *, reduced=False) -> None:
    """Check that a program gives the same bits with and without machine code."""
    kernel = LaneKernel(program, varies, reduced=reduced)
    expected = on_lanes(kernel, shared, columns, count, kind)
    if IS_COMPILED:
        found = on_lanes(with_machine_code(kernel, kind), shared, columns, count, kind)
        assert same(found, expected).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", [row for row in ROWS if isinstance(row, Operation)], ids=lambda row: row.name)
def test_every_operation_gives_the_same_bits(row, kind):
    tape = Tape()
    program = tape.program([tape.append(row.name, *[tape.input() for _ in range(row.arity)])])
    special = [*SPECIAL, 0.5, 2.0, 7.25, 171.5][:: 1 if row.arity < 3 else 3]
    generator = numpy.random.default_rng(0)
    parts = [generator.normal(size=(500, row.arity)) * scale for scale in (0.1, 3.0, 100.0)]
    numbers = numpy.concatenate([list(itertools.product(special, repeat=row.arity)), *parts])
    with numpy.errstate(over="ignore"):
        columns = [column.copy() for column in numbers.astype(kind).T]
    agree(program, [True] * row.arity, numpy.empty(0), columns, len(numbers), kind)


@pytest.mark.parametrize("instruction_set", SETS or ["baseline"])
@pytest.mark.parametrize("kind", KINDS)
@fewer(4)
@given(case=cases(ALL), count=st.sampled_from([0, 1, 31, 32, 127, 128, 129, 300]), seed=SEEDS, reduced=st.booleans())
def test_random_programs_give_the_same_bits(instruction_set, kind, case, count, seed, reduced):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADWALK_INSTRUCTION_SET", instruction_set)
        shared, columns = case.batch(seed, count, kind)
        agree(case.program, case.varies, shared, columns, count, kind, reduced=reduced)


def path(market, shocks):
    """Compute a loss in loops whose results the backward pass needs."""
    x, total, seen = market[0], 0.0, []
    for shock in shocks:
        x = x * market[1] + gm.sin(shock * x)
        seen.append(x)
    for y in reversed(seen):
        for z in seen[:3]:
            total = total + gm.exp(-y * y) * z
    return total / len(shocks) + seen[-1] * seen[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reduce", [None, "sum"])
@pytest.mark.parametrize("layout", ["samples together", "steps together"])
def test_loops_give_the_same_bits(kind, reduce, layout):
    axis = 1 if layout == "samples together" else 0
    shocks = numpy.random.default_rng(1).normal(size=(40, 300)).astype(kind)
    shocks = shocks if axis == 1 else shocks.T.copy()
    market = numpy.array([0.3, 0.9], kind)
    step = jit(vmap(value_and_grad(path, argnums=(0, 1)), in_axes=(None, axis), reduce=reduce))
    kernel = step.lower(market, shocks).kernel
    for count in (300, 130, 5):
        numbers = shocks[:, :count] if axis == 1 else shocks[:count]
        columns = [numbers.T if axis == 1 else numbers]
        agree(kernel.schedule.program, kernel.schedule.varies, market.astype(float), columns, count, kind)
        if reduce:
            agree(
                kernel.schedule.program,
                kernel.schedule.varies,
                market.astype(float),
                columns,
                count,
                kind,
                reduced=True,
            )


def test_loops_are_written_once(monkeypatch):
    step = jit(vmap(value_and_grad(path, argnums=(0, 1)), in_axes=(None, 0), reduce="sum"))
    schedule = step.lower(numpy.array([0.3, 0.9]), numpy.ones((3, 200))).kernel.schedule
    analysis = analyse(schedule.program, schedule.varies, reduced=True)
    program = lane_program(analysis, make_prologue(analysis))
    assert len(program.code) > 4000
    target = Target(Type("double", 16), Vectors(4, "d", frozenset()), contract=False)
    source = lane_ir(program.code, Scalars(program.scalars, 0), target).splitlines()
    assert sum(" fmul " in line for line in source) < 60
    monkeypatch.setattr(storage, "FLAT_BELOW", len(program.code))
    monkeypatch.setattr(lower_calls, "MOST_ON_LANES", 10_000)
    flat = lane_ir(program.code, Scalars(program.scalars, 0), target).splitlines()
    assert sum(" fmul " in line for line in flat) > 2000


@pytest.mark.parametrize("table", [3, 20])
def test_take(table):
    def f(x, i):
        return gm.take([x, 2.0, x * x, *([x + 1.0] * (table - 3))], i)

    index = numpy.array([0.0, 1.0, 2.0, -1.0, -3.0, -table - 1.0, table, 0.5, math.nan, math.inf, 1e300] * 13)
    x = numpy.random.default_rng(0).normal(size=len(index))
    kernel = jit(vmap(f)).lower(x, index).kernel
    agree(kernel.schedule.program, (True, True), numpy.empty(0), [x, index], len(x))


def test_contraction_is_opt_in():
    tape = Tape()
    x, y, z = tape.input(), tape.input(), tape.input()
    schedule = make_schedule(tape.program([tape.append("add", tape.append("mul", x, y), z)]), [True] * 3, reduced=False)
    sets = [name for name in SETS if name != "baseline"] or ["baseline"]
    lanes = Lanes(sets[-1], lane_kernel.USES_LIBMVEC, {}, 128)
    for contract in (False, True):
        found = compiled_schedule(schedule, lanes, single=False, contract=contract)
        numbers = numpy.full((4, 32), 1.0 + 2.0**-30)
        numbers[2] = -1.0
        rows = numpy.array([row.ctypes.data for row in numbers])
        signature = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2, ctypes.c_int64)
        assert signature(found.machine_code.address)(None, rows.ctypes.data, 16) == 0
        once, twice = 2.0**-29 + 2.0**-60, 2.0**-29
        has_fused = sets[-1] != "baseline" or platform.machine() in ("aarch64", "arm64")
        assert numbers[3, 0] == (once if contract and has_fused else twice)


def test_hot_kernels_switch_to_machine_code(monkeypatch):
    monkeypatch.setattr(lane_kernel, "_TIMES", math.inf)  # accept machine code of any speed

    def f(x):
        for _ in range(50):
            x = gm.sin(x) + x * 0.5
        return x

    step = jit(vmap(f))
    numbers = numpy.random.default_rng(0).normal(size=10_000)
    kernel = step.lower(numbers).kernel
    expected = step(numbers[:1000] if not IS_COMPILED else numbers)
    end = time.monotonic() + 20
    while IS_COMPILED and kernel._plans[0].machine is None and time.monotonic() < end:
        step(numbers)
        time.sleep(0.001)
    assert (kernel._plans[0].machine is not None) == runs_machine_code(kernel)
    for count in (1, 2):
        with threads(count):
            assert step(numbers[: len(expected)]).tolist() == expected.tolist()
    again = pickle.loads(pickle.dumps(kernel))
    assert again._plans[0].machine is None


def set_clock(monkeypatch, lanes: float, machine: float) -> None:
    """Fake the clock so that trials in this thread take the given times. Other threads keep the real clock."""
    clock, here = itertools.accumulate(itertools.cycle([0.0, lanes, 0.0, machine])), threading.get_ident()
    monkeypatch.setattr(
        lane_kernel, "perf_counter", lambda: next(clock) if threading.get_ident() == here else time.perf_counter()
    )


def runs_machine_code(kernel: LaneKernel) -> bool:
    """Return whether machine code exists for the instruction set of the kernel."""
    return IS_COMPILED and (kernel.instruction_set != "baseline" or not lane_kernel.USES_LIBMVEC)


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("times", [1.0, 2.5])
def test_slow_machine_code_is_discarded(monkeypatch, times, reduced):
    set_clock(monkeypatch, 1.0, times)
    kernel = LaneKernel(flat(5), [True], reduced=reduced)
    column = numpy.random.default_rng(0).normal(size=300)
    expected = on_lanes(kernel, numpy.empty(0), [column], 300)
    if IS_COMPILED:
        kernel._compile_if_faster(300, False)
        runs = times == 1.0 and runs_machine_code(kernel)
        assert (kernel.backends["float64"] == "llvm") == runs
        assert runs or times == 1.0 or "lanes: machine code took 2.5 times as long" in kernel.backends["float64"]
    assert same(on_lanes(kernel, numpy.empty(0), [column], 300), expected).all()


def test_a_coarse_clock_keeps_machine_code(monkeypatch):
    set_clock(monkeypatch, 0.0, 1.0)
    kernel = LaneKernel(flat(5), [True])
    if IS_COMPILED:
        kernel._compile_if_faster(300, False)
    assert (kernel.backends["float64"] == "llvm") == runs_machine_code(kernel)


def refusal(program, lanes) -> str:
    """Return the reason why a program is not compiled."""
    with pytest.raises(RefusedError) as caught:
        compiled_schedule(make_schedule(program, [True], reduced=False), lanes, single=False)
    return str(caught.value)


def flat(length: int):
    """Build a random program without loops."""
    tape = Tape()
    x = tape.input()
    generator = numpy.random.default_rng(length)
    indices = [x]
    for _ in range(length):
        name = ("add", "mul", "sub")[generator.integers(3)]
        indices.append(tape.append(name, indices[-1], indices[generator.integers(len(indices))]))
    return tape.program([indices[-1]])


def test_reasons_for_not_compiling(monkeypatch):
    lanes = Lanes("avx2", True, {}, 128)
    assert (
        refusal(flat(5), lanes._replace(instruction_set="baseline")) == "the processor has no AVX2, or AVX2 is disabled"
    )
    assert (
        refusal(flat(5), lanes._replace(lanes=4)) == "the lanes of a block must fill whole vectors of avx2, got 4 lanes"
    )
    assert refusal(flat(4000), lanes) == "it has more than 2,000 instructions, counting each loop once"
    monkeypatch.setattr(lane_machine, "MOST_FLAT", 10)
    assert "must be at most 10 to search for loops, got" in refusal(flat(100), lanes)
    kernel = LaneKernel(flat(100), [True])
    kernel._compile(False)
    assert kernel._plans[0].machine is None


def test_lanes_run_without_llvmlite_or_on_request(monkeypatch):
    monkeypatch.setattr(lane_kernel, "_HOT", 0)
    monkeypatch.setattr(lane_kernel, "_HOT_LANES", 0)
    for refuse in (lambda: monkeypatch.setenv("GRADWALK_BACKEND", "lanes"), lambda: None):
        refuse()
        kernel = LaneKernel(flat(5), [True])
        on_lanes(kernel, numpy.empty(0), [numpy.ones(10)], 10)
        assert kernel._plans[0].machine is None
        monkeypatch.setattr(compiler_process, "why_not", lambda: "llvmlite is not installed")


def test_compiled_parts_of_loops_keep_results():
    def f(x):
        return loops.while_loop(lambda y: y < 100.0, lambda y: y * 1.01 + gm.exp(-y), x)

    step = jit(vmap(f))
    numbers = numpy.random.default_rng(0).uniform(1.0, 5.0, 2000 if IS_COMPILED else 20)
    expected = step(numbers)
    for _ in range(4):
        assert step(numbers).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_backends_name_the_dtype_of_a_program_without_instructions(kind):
    batched = jit(vmap(lambda x: 0.0), backend="llvm")
    batched(numpy.ones(5, kind))
    assert list(batched.statistics.backends) == [kind]
