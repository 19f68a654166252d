"""Machine code gives the same bits as the interpreter, and failures to compile are reported."""

from __future__ import annotations

import ctypes
import gc
import itertools
import math
import pickle
import re
import sys
import time

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from kernels import same
from programs import EVERY, EXTREME, as_recorded, fewer, prepared, programs

from gradwalk import debug_nans, grad, jit, loops, low_level_callable, primitive, vmap
from gradwalk import math as gm
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import ROWS
from gradwalk.program.native import compile_queue, compiler_process, machine_code, object_cache
from gradwalk.program.native.compiler_main import ALL_PASSES
from gradwalk.program.native.policy import Policy, why_not_compilable
from gradwalk.program.native.scalar_ir import called_by_address, ir_source
from gradwalk.program.program import Program
from gradwalk.program.routine import limits, lower_calls
from gradwalk.program.routine.lower_program import TooLargeError
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.program.tape import Tape

pytest.importorskip("llvmlite")

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 7.25, 40.0, 171.5, 1e-300, 1e300, math.inf, -math.inf, math.nan]


def run(code: machine_code.MachineCode, program: Program, inputs) -> numpy.ndarray:
    """Run machine code on inputs."""
    values = numpy.full(program.code.count, 1234.5)
    values[: program.inputs] = inputs
    values[program.inputs : program.code.first] = program.constants
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)(values.ctypes.data)
    return values[list(program.outputs)]


@pytest.mark.parametrize("row", [row for row in ROWS if isinstance(row, Operation)], ids=lambda row: row.name)
def test_every_operation_gives_the_same_bits(row):
    tape = Tape()
    operands = [tape.input() for _ in range(row.arity)]
    program = tape.program([tape.append(row.name, *operands)])
    code = machine_code.compiled(program.code)
    for inputs in itertools.product(SPECIAL if row.arity < 3 else SPECIAL[::3], repeat=row.arity):
        assert same(run(code, program, inputs), program.run(numpy.array(inputs))).all(), inputs


@fewer(10)
@given(st.lists(programs(EXTREME, EVERY, longest=12), min_size=1, max_size=3))
def test_random_programs_give_the_same_bits(drawn):
    program = as_recorded(*drawn)
    inputs = [number for one in drawn for number in one.leaves]
    assert same(run(machine_code.compiled(program.code), program, inputs), program.run(numpy.array(inputs))).all()


def test_products_are_not_contracted_with_sums():
    f = jit(lambda x, y, z: (x * y + z, x * y - z, z - x * y))
    inputs = numpy.random.default_rng(1).normal(size=(100, 3))
    f(*inputs[0])
    assert any(" fmul " in line for line in ir_source(f.program.code).splitlines())
    code = machine_code.compiled(f.program.code)
    for row in inputs:
        assert run(code, f.program, row).tolist() == f.program.run(row).tolist()


def test_take():
    f = jit(lambda x, i: gm.take([x, 2.0, x * x], i))
    f(1.5, 0.0)
    code = machine_code.compiled(f.program.code)
    for index in (0.0, 1.0, 2.0, -1.0, -3.0, -4.0, 3.0, 0.5, math.nan, math.inf, 1e300):
        assert same(run(code, f.program, [1.5, index]), f.program.run([1.5, index])).all(), index


def test_only_loops_over_arrays_are_worth_all_passes():
    xs = numpy.arange(500.0)
    arithmetic = jit(lambda xs: [3.0 * x + 1.0 for x in xs]).recorded(xs).program
    functions = jit(lambda xs: [gm.exp(x) for x in xs]).recorded(xs).program
    short = jit(lambda x: 3.0 * x + 1.0).recorded(1.0).program
    assert [ir_source(f.code).startswith(ALL_PASSES) for f in (arithmetic, functions, short)] == [True, False, False]


@pytest.mark.parametrize("count", range(12))
def test_labels_differ(count):
    """The formula of `sigmoid` has a branch, and the step of the loop has another one."""

    def f(x, y):
        for _ in range(count):
            x = gm.sin(x)
        start = (gm.sigmoid(x), x, y)
        return loops.while_loop(lambda c: c[0] < 3.0, lambda c: (c[0] + 1.0, gm.where(c[1], c[2], c[1]), c[2]), start)

    source = ir_source(jit(f).recorded(0.5, 0.25).program.code)
    labels = re.findall(r"^(\w+):$", source[source.index("@run") :], re.MULTILINE)
    assert {"formula_chosen", "chosen"} <= {label.rstrip("0123456789") for label in labels}
    assert len(set(labels)) == len(labels)


def test_the_vectorizer_of_llvm_is_not_used():
    """It ends the compiler process for this function, whose loop passes numbers from one iteration to the next."""

    def squash(x):
        return x / (1.0 + abs(x))

    def f(x):
        found = [x[59], x[5], x[59], x[0], x[0], x[57], x[59], x[58]]
        for i in range(16):
            found.append(squash(1.75 - gm.where(x[44 + i], x[54 - i], found[-1])))
        start = [squash(found[18 - 2 * i] ** 2) for i in range(8)]

        def step(carry, row):
            p, q = row
            new = tuple(squash((q * carry[i - 1] + p) * -0.19 + abs(carry[i - 1])) for i in range(4))
            return new, abs(carry[-1] * p)

        _, ys = loops.scan(step, tuple(start[7 - 2 * i] for i in range(4)), (numpy.array(found), numpy.array(found)))
        return sum((0.5 + 0.25 * (k % 3)) * v for k, v in enumerate(start + list(ys)))

    slopes = jit(grad(f), backend="llvm")
    x = numpy.random.default_rng(0).uniform(-2, 2, 60)
    assert same(slopes(x), jit(grad(f), backend="lanes")(x)).all()
    assert slopes.statistics.backends == {"": "llvm"} or not IS_COMPILED


def test_unused_inputs_are_not_read():
    f = jit(lambda x: x[1] * x[7000] + 2.5)
    f(numpy.arange(9000.0))
    assert ir_source(f.program.code).count("load double") == 2
    code = machine_code.compiled(f.program.code)
    assert run(code, f.program, numpy.arange(9000.0)).tolist() == [7002.5]


def test_llvm_does_not_see_c_library_names():
    f = jit(lambda x: gm.exp(x) ** 2.5 + gm.sqrt(x))
    f(1.0)
    source = ir_source(f.program.code)
    assert sorted(called_by_address(source)) == ["exp", "pow"]
    assert "@exp(" not in source


def count_compiled_steps(program: Program) -> int:
    """Count the loop steps and loop conditions that have machine code."""
    runners = [call.runner for call, _ in program.calls]
    parts = [part for runner in runners for part in (runner.body, runner.condition) if part is not None]
    return sum(part.machine_code is not None for part in parts)


def wait_for(condition) -> bool:
    """Wait up to 10 seconds for a condition, and return whether it holds."""
    end = time.monotonic() + 10
    while time.monotonic() < end and not condition():
        time.sleep(0.01)
    return bool(condition())


def path(x, steps):
    """Run a loop whose number of steps is an argument."""
    return loops.while_loop(lambda s: s[1] < steps, lambda s: (s[0] + gm.sin(s[0] * x) * 1e-3, s[1] + 1.0), (1.0, 0.0))[
        0
    ]


def test_the_steps_of_a_long_loop_are_compiled_during_its_first_run():
    value = jit(path)
    assert count_compiled_steps(value.recorded(0.5, 10.0).program) == 0
    value(0.5, 6e6 if IS_COMPILED else 1e3)
    # Without compiled modules, runs have no memory that machine code could use.
    assert wait_for(lambda: count_compiled_steps(value.program) == (2 if IS_COMPILED else 0))
    assert wait_for(lambda: not compile_queue._queue._tasks)


@pytest.mark.parametrize("transform", [lambda f: f, grad, lambda f: grad(grad(f))], ids=["value", "grad", "second"])
def test_programs_with_loops_are_compiled_as_a_whole(transform):
    f = jit(transform(path))
    few = 1000.0 if IS_COMPILED else 100.0
    expected = [f(x, few) for x in (0.5, 2.0)]
    assert f.statistics.backends[""].startswith("interpreter: ")
    for _ in range(110 if IS_COMPILED else 2):
        f(0.5, few)
    assert wait_for(lambda: (f.statistics.backends == {"": "llvm"}) == IS_COMPILED)
    assert wait_for(lambda: not compile_queue._queue._tasks)
    assert [f(x, few) for x in (0.5, 2.0)] == expected
    with debug_nans(), pytest.raises(FloatingPointError):
        f(math.nan, 10.0)


def test_hot_programs_are_compiled():
    f = jit(lambda x: gm.exp(-x * x) * gm.cos(3.0 * x))
    expected = f(0.25)
    interpreter = Interpreter(f.program.code)
    numbers = numpy.array([0.25])
    for _ in range(300_000 if IS_COMPILED else 10):
        interpreter.run(numbers)
    assert wait_for(lambda: (interpreter.machine_code is not None) == IS_COMPILED)
    assert interpreter.run(numbers).tolist() == prepared(interpreter, (0.25,)) == [expected]
    for _ in range(300_000 if IS_COMPILED else 10):
        f(0.25)
    quad = pytest.importorskip("scipy.integrate").quad
    assert quad(low_level_callable(f.program), 0.0, 1.0)[0] == pytest.approx(quad(f, 0.0, 1.0)[0], rel=1e-14)


def test_reasons_for_not_compiling(monkeypatch):
    f = jit(lambda x: x * x)
    f(1.0)
    policy = Policy()
    assert why_not_compilable(f.program.code, policy) == ""
    assert why_not_compilable(f.program.code, Policy("lanes")) == 'the backend is "lanes"'
    with monkeypatch.context() as patch:
        patch.setattr(compiler_process, "why_not", lambda: compiler_process.NOT_INSTALLED)
        patch.setattr(compiler_process, "is_installed", lambda: False)
        assert "pip install 'gradwalk[native]'" in why_not_compilable(f.program.code, policy)
        with pytest.raises(ImportError, match="llvmlite is not installed: pip install 'gradwalk"):
            jit(f, backend="llvm")
    with monkeypatch.context() as patch:
        patch.setenv("GRADWALK_BACKEND", "lanes")
        assert why_not_compilable(f.program.code, policy) == 'GRADWALK_BACKEND is "lanes"'
        assert why_not_compilable(f.program.code, Policy("llvm")) == ""
    with monkeypatch.context() as patch:
        patch.setattr(limits, "MOST_SEARCHED", 0)
        assert "are too many: at most 0" in why_not_compilable(f.program.code, policy)
    with monkeypatch.context() as patch:
        patch.setattr(lower_calls, "MOST", 0)
        with pytest.raises(TooLargeError):
            ir_source(f.program.code)
    looping = jit(lambda x: loops.fori_loop(0, 9, lambda i, y: y * x, x))
    looping(1.0)
    assert why_not_compilable(looping.program.code, policy) == ""
    kept = jit(grad(lambda x: loops.fori_loop(0, 9, lambda i, y: y * x, x, checkpoint=3)))
    kept(1.0)
    assert why_not_compilable(kept.program.code, policy) == ""
    floor = primitive(math.floor)
    calling = jit(lambda x: loops.fori_loop(0, 9, lambda i, y: y * floor(x), x))
    calling(1.0)
    reason = why_not_compilable(calling.program.code, policy)
    assert reason.startswith("it calls floor, a Python function. Write it with gradwalk.math instead of a primitive")


class StandIn:
    """The attributes of an interpreter that `compile_for` uses, for a program that calls the C library."""

    def __init__(self, backend: str | None) -> None:
        f = jit(lambda x: gm.exp(x) * gm.sin(x))
        f(1.0)
        self.code = f.program.code
        self.policy = Policy(backend)
        self.failure = ""
        self.machine_code = None

    def install(self, code) -> None:
        self.machine_code = code


@pytest.mark.parametrize("backend", [None, "llvm"])
class TestFailures:
    @pytest.fixture
    def reported(self, monkeypatch):
        errors: list[str] = []
        monkeypatch.setattr(sys, "unraisablehook", lambda arguments: errors.append(str(arguments.exc_value)))
        return errors

    def test_success_reports_nothing(self, backend, reported):
        interpreter = StandIn(backend)
        machine_code.compile_for(interpreter)
        assert wait_for(lambda: interpreter.machine_code is not None and not compile_queue._queue._tasks)
        assert (interpreter.failure, reported) == ("", [])

    def test_a_missing_c_library_function_is_named(self, backend, reported, monkeypatch):
        monkeypatch.setattr(machine_code, "called_by_address", lambda source: ["exp", "gradwalk_has_no_such_function"])
        interpreter = StandIn(backend)
        machine_code.compile_for(interpreter)
        assert wait_for(lambda: interpreter.failure and not compile_queue._queue._tasks)
        assert interpreter.failure == "the C library lacks a function: gradwalk_has_no_such_function"
        assert reported == []

    def test_an_llvm_failure_is_reported(self, backend, reported, monkeypatch):
        monkeypatch.setattr(object_cache, "read", lambda key: None)
        monkeypatch.setattr(machine_code, "printed", lambda code, contract, memory: "nonsense")
        interpreter = StandIn(backend)
        machine_code.compile_for(interpreter)
        assert wait_for(lambda: len(reported) == 1)
        assert reported[0].startswith("LLVM refused the module: ")
        assert (interpreter.failure, interpreter.machine_code) == ("compiling it failed", None)

    def test_a_failed_llvmlite_import_is_reported_once(self, backend, reported, monkeypatch):
        def refuse():
            raise ImportError("no library")

        monkeypatch.setattr(compiler_process, "_refusals", [])
        monkeypatch.setattr(machine_code, "_llvm_binding", refuse)
        for _ in range(3):
            machine_code.compile_for(StandIn(backend))
            assert wait_for(lambda: reported and not compile_queue._queue._tasks)
        assert reported == ["llvmlite cannot be imported: no library"]
        assert StandIn(backend).policy.refusal == "llvmlite cannot be imported: no library"

    def test_an_internal_error_is_reported(self, backend, reported, monkeypatch):
        def broken(code, contract, memory):
            raise AttributeError("'NoneType' object has no attribute 'rows'")

        monkeypatch.setattr(machine_code, "printed", broken)
        interpreter = StandIn(backend)
        if backend == "llvm":  # compiled in this thread, so the error is raised
            with pytest.raises(AttributeError, match="has no attribute 'rows'"):
                machine_code.compile_for(interpreter)
        else:
            machine_code.compile_for(interpreter)
            assert wait_for(lambda: reported == ["'NoneType' object has no attribute 'rows'"])
        assert interpreter.failure == "compiling it failed"


def swing(x):
    """Combine a loop, a `cond` and a batch that is not unrolled."""
    path = loops.fori_loop(0, 50, lambda i, y: y + 0.01 * gm.sin(y * i), x)
    chosen = loops.cond(x > 0.0, lambda y: y * 2.0, lambda y: y - 1.0, path)
    return chosen + sum(vmap(lambda z: gm.exp(-z * path))(numpy.linspace(0.0, 1.0, 2000)))


class TestOptions:
    def test_llvm_backend_compiles_at_the_first_call(self):
        for f in (swing, grad(swing), grad(grad(swing))):
            expected = jit(f, backend="lanes")(0.7)
            at_once = jit(f, backend="llvm")
            assert at_once(0.7) == expected
            backends = at_once.statistics.backends
            assert backends[""] == "interpreter: it calls vmap, which runs separately"
            if IS_COMPILED:
                assert {text for name, text in backends.items() if "step" in name} == {"llvm"}
        polynomial = jit(lambda x: x**3 - 2.0 * x, backend="llvm")
        assert polynomial(2.0) == 4.0
        compiled = "llvm" if IS_COMPILED else "interpreter: gradwalk runs uncompiled"
        assert polynomial.statistics.backends == {"": compiled}

    def test_statistics_name_the_backend(self):
        f = jit(lambda x: x * x)
        f(2.0)
        assert f.statistics.backends[""].startswith("interpreter: ")
        never = jit(lambda x: x * x, backend="lanes")
        never(2.0)
        assert never.statistics.backends == {"": 'interpreter: the backend is "lanes"'}

    def test_llvm_backend_on_batches(self):
        numbers = numpy.linspace(0.0, 3.0, 500 if IS_COMPILED else 20)
        expected = jit(vmap(swing), backend="lanes")(numbers)
        at_once = jit(vmap(swing), backend="llvm")
        assert at_once(numbers).tolist() == expected.tolist()
        assert at_once.statistics.calls == 1
        assert all(text.startswith(("llvm", "lanes: ")) for text in at_once.statistics.backends.values())
        flat = jit(vmap(lambda x: gm.exp(-x) * x), backend="llvm")
        flat(numbers)
        flat(numbers.astype(numpy.float32))
        assert list(flat.statistics.backends) == ["float64", "float32"]
        if IS_COMPILED and flat.kernel.instruction_set != "baseline":
            assert set(flat.statistics.backends.values()) == {"llvm"}
        unpickled = pickle.loads(pickle.dumps(flat.kernel))
        assert unpickled.policy == Policy("llvm")

    def test_contraction_is_opt_in(self):
        x, y, z = 1.0 + 2.0**-30, 1.0 + 2.0**-30, -1.0
        once, twice = 2.0**-29 + 2.0**-60, 2.0**-29

        def f(x, y, z):
            return x * y + z

        assert jit(f, backend="llvm")(x, y, z) == twice
        assert jit(f, backend="llvm", contract=True)(x, y, z) in ((once, twice) if IS_COMPILED else (twice,))
        batch = [numpy.full(200, number) for number in (x, y, z)]
        assert set(jit(vmap(f), backend="llvm")(*batch)) == {twice}
        assert set(jit(vmap(f), backend="llvm", contract=True)(*batch)) <= {once, twice}

    def test_contraction_shares_reciprocals_within_the_stated_bound(self):
        def f(x, y, z, divisor):
            return x / divisor, y / divisor, z / divisor

        rng = numpy.random.default_rng(5)
        shared, exact = jit(f, backend="llvm", contract=True), jit(f, backend="llvm")
        errors = []
        for numbers in rng.normal(size=(300, 4)) * 10.0 ** rng.integers(-100, 100, (300, 4)):
            for found, expected in zip(shared(*numbers), exact(*numbers), strict=True):
                errors.append(abs(found - expected) / numpy.spacing(abs(expected)))
        assert max(errors) <= 2.0  # from a quotient that is rounded itself
        assert not IS_COMPILED or max(errors) > 0.0

    def test_unknown_backends_are_refused(self):
        with pytest.raises(
            ValueError, match=r"backend must be \"lanes\", \"llvm\", or None to compile hot programs, got 'gpu'"
        ):
            jit(lambda x: x, backend="gpu")

    def test_memory_must_be_a_number_of_bytes(self):
        for memory in ("1e6", True, 1j):
            with pytest.raises(TypeError, match="memory must be a number of bytes or None, got"):
                jit(lambda x: x, memory=memory)
        for memory in (-1, math.inf, math.nan):
            with pytest.raises(ValueError, match="memory must be a number of bytes from 0 to"):
                jit(lambda x: x, memory=memory)

    def test_options_with_branches_and_pickling(self):
        @jit(branches="record", backend="llvm")
        def tax(income):
            return 0.2 * income if income < 100 else 0.3 * income - 10

        assert (tax(50.0), tax(150.0)) == (10.0, 35.0)
        again = pickle.loads(pickle.dumps(jit(math.floor, backend="llvm", contract=True, memory=1e6)))
        assert again._policy == Policy("llvm", True, 1_000_000)


class TestImportWithoutGarbageCollection:
    """A garbage collection in the compiler thread would block calls in other threads."""

    def collected_generations(self, work):
        generations = []

        def note(phase, info):
            generations.append(info["generation"])

        gc.callbacks.append(note)
        try:
            work()
        finally:
            gc.callbacks.remove(note)
        return generations

    def test_no_collection_runs_and_no_young_objects_remain(self):
        before, kept = gc.get_threshold(), []

        def many_objects():
            with machine_code._no_garbage_collected():
                kept.extend([] for _ in range(20_000))

        assert self.collected_generations(many_objects) == []
        assert gc.get_count()[0] < 1_000
        assert gc.get_threshold() == before
        assert gc.get_freeze_count() == 0

    def test_a_threshold_set_meanwhile_is_kept(self):
        before = gc.get_threshold()
        try:
            with machine_code._no_garbage_collected():
                gc.set_threshold(1234, 5, 6)
            assert gc.get_threshold() == (1234, 5, 6)
        finally:
            gc.set_threshold(*before)

    def test_frozen_objects_stay_frozen(self):
        gc.freeze()
        try:
            frozen = gc.get_freeze_count()
            with machine_code._no_garbage_collected():
                pass
            assert frozen / 2 < gc.get_freeze_count() <= frozen  # some may have been released
        finally:
            gc.unfreeze()

    def test_the_threshold_is_restored_after_an_error(self):
        before = gc.get_threshold()
        with pytest.raises(ImportError), machine_code._no_garbage_collected():
            raise ImportError
        assert gc.get_threshold() == before
