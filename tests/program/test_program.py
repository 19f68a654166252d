"""Programs: the same instructions run on arrays, floats and Values."""

from __future__ import annotations

import copy
import ctypes
import gc
import math
import pickle
import sys
import threading
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, OPCODES, as_recorded, fewer, prepared, programs
from programs import Program as Drawn
from references import numba

from gradwalk import Value, debug_nans, jit, primitive
from gradwalk import math as gmath
from gradwalk.nn import Number
from gradwalk.ops.table import TABLE
from gradwalk.program.calls.call import Call
from gradwalk.program.program import Program, ProgramError
from gradwalk.program.run.fast_call import MISSED
from gradwalk.program.tape import Tape
from gradwalk.value.apply import apply

FINITE = st.floats(-1e100, 1e100)


def same(a: float, b: float) -> bool:
    """Return whether two numbers are equal; 0.0 and -0.0 differ, and nan equals nan."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def number(x: Value | float) -> float:
    return x.data if isinstance(x, Value) else x


def one_operation(name: str, arity: int) -> Program:
    tape = Tape()
    inputs = [tape.input() for _ in range(arity)]
    return tape.program([tape.append(name, *inputs)])


def fused(outer: str, *, product_first: bool) -> Program:
    tape = Tape()
    x, y, z = tape.input(), tape.input(), tape.input()
    operands = (tape.append("mul", x, y), z)
    return tape.program([tape.append(outer, *(operands if product_first else operands[::-1]))])


FUSED = {
    "x * y + z": (fused("add", product_first=True), lambda x, y, z: x * y + z),
    "z + x * y": (fused("add", product_first=False), lambda x, y, z: z + x * y),
    "x * y - z": (fused("sub", product_first=True), lambda x, y, z: x * y - z),
    "z - x * y": (fused("sub", product_first=False), lambda x, y, z: z - x * y),
}


def test_attributes_and_repr():
    tape = Tape()
    x, y = tape.input(), tape.input()
    product = tape.append("mul", x, y)
    out = tape.append("sub", tape.append("sin", product), tape.append("mul", product, tape.constant(0.5)))
    program = tape.program([out, x])
    assert len(program) == 3
    assert (program.inputs, program.constants, program.calls) == (2, (0.5,), ())
    assert repr(program) == "<Program of 3 instructions from 2 inputs to 2 outputs>"
    assert repr(one_operation("sin", 1)) == "<Program of 1 instruction from 1 input to 1 output>"


def test_named_returns_a_program_with_names():
    program = one_operation("sin", 1)
    named = program.named(["angle"], ["height"])
    assert (named.input_names, named.output_names) == (("angle",), ("height",))
    assert (program.input_names, program.output_names) == ((), ())
    assert named.instructions is program.instructions
    named.validate()


class TestInputs:
    def test_inputs_may_be_any_1d_numbers(self):
        program = one_operation("mul", 2)
        wide = numpy.zeros(4)
        wide[::2] = 2.0, 3.0
        for numbers in ([2, 3], (2.0, True + 2), numpy.float32([2, 3]), wide[::2], numpy.array([2.0, 3.0], ">f8")):
            assert program.run(numbers).tolist() == [6.0]

    @pytest.mark.parametrize("numbers", [[], [1.0], [1.0, 2.0, 3.0], numpy.float32([1, 2, 3, 4])])
    def test_a_wrong_number_of_inputs_is_refused(self, numbers):
        with pytest.raises(ValueError, match=f"2 inputs takes one number per input, got {len(numbers)}"):
            one_operation("mul", 2).run(numbers)
        with pytest.raises(ValueError, match=f"2 inputs takes one operand per input, got {len(numbers)}"):
            one_operation("mul", 2)(list(numbers))

    @pytest.mark.parametrize("numbers", [numpy.zeros((2, 1)), [[1.0], [2.0]]])
    def test_2d_inputs_are_refused(self, numbers):
        with pytest.raises(ValueError, match=r"must be a 1-D array, got an array of shape \(2, 1\)"):
            one_operation("mul", 2).run(numbers)

    def test_strings_are_refused(self):
        with pytest.raises((TypeError, ValueError)):
            one_operation("mul", 2).run(["one", "two"])


def test_outputs_may_be_inputs_constants_or_repeated():
    tape = Tape()
    x = tape.input()
    program = tape.program([x, tape.constant(7.0), x])
    assert len(program) == 0
    assert program.run(numpy.array([3.0])).tolist() == program([3.0]) == [3.0, 7.0, 3.0]
    leaf = Value(3.0)
    assert program([leaf]) == [leaf, 7.0, leaf]


def test_each_run_returns_a_new_array():
    program = one_operation("sin", 1)
    first = program.run(numpy.array([1.0]))
    program.run(numpy.array([2.0]))
    assert first[0] == math.sin(1.0)


def test_programs_without_inputs_or_outputs():
    tape = Tape()
    assert tape.program([]).run(numpy.empty(0)).tolist() == tape.program([])([]) == []
    assert tape.program([tape.constant(2.0)]).run(numpy.empty(0)).tolist() == [2.0]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@fewer(20)
@given(numbers=st.tuples(EXTREME, EXTREME, EXTREME))
def test_every_operation_gives_the_same_bits(row, numbers):
    numbers = numbers[: row.arity]
    program = one_operation(row.name, row.arity)
    expected = apply(OPCODES[row.name], *numbers)
    assert same(program.run(numpy.array(numbers))[0], expected)
    assert same(prepared(program.interpreter, numbers)[0], expected)
    assert same(number(program(list(numbers))[0]), expected)
    assert same(number(program([Value(x) for x in numbers])[0]), expected)


@pytest.mark.parametrize("way", FUSED)
@fewer(4)
@given(numbers=st.one_of(st.tuples(FINITE, FINITE, FINITE), st.tuples(EXTREME, EXTREME, EXTREME)))
def test_fused_products_round_twice(way, numbers):
    program, expected = FUSED[way]
    assert len(program) == 1
    assert same(program.run(numpy.array(numbers))[0], expected(*numbers))
    assert same(prepared(program.interpreter, numbers)[0], expected(*numbers))
    assert same(program(list(numbers))[0], expected(*numbers))
    assert same(program([Value(x) for x in numbers])[0].data, expected(*numbers))


@pytest.mark.parametrize("way", FUSED)
def test_a_fused_product_with_visible_rounding(way):
    program, expected = FUSED[way]
    x = 1.0 + 2.0**-30
    numbers = (x, x, -1.0 if "+" in way else 1.0)
    rounded_once = float(expected(*map(Fraction, numbers)))
    assert program.run(numpy.array(numbers))[0] == expected(*numbers) != rounded_once


@fewer(4)
@given(programs(EXTREME, EVERY, longest=12))
def test_numbers_and_values_give_the_same_bits(program):
    tape = Tape()
    _, out = program.run(
        lambda _: tape.input(),
        lambda name, *operands: tape.append(name, *[tape.constant(x) if isinstance(x, float) else x for x in operands]),
    )
    compiled = tape.program([out])
    expected = compiled.run(numpy.array(program.leaves))[0]
    assert same(number(compiled([Value(x) for x in program.leaves])[0]), expected)
    assert same(compiled(list(program.leaves))[0], expected)


def test_values_and_floats_can_be_mixed():
    tape = Tape()
    x, y = tape.input(), tape.input()
    program = tape.program([tape.append("mul", x, y), tape.append("sin", y)])
    leaf = Value(2.0)
    product, sine = program([leaf, 3.0])
    product.backward()
    assert (product.data, leaf.grad, sine) == (6.0, 3.0, math.sin(3.0))


class TestPreparedCalls:
    @pytest.mark.parametrize(
        "numbers", [(2.0, 3.0), (2, 3.0), (numpy.float64(2.0), numpy.int32(3)), (2.0, Number(3.0))]
    )
    def test_all_kinds_of_numbers_are_accepted(self, numbers):
        assert prepared(one_operation("mul", 2).interpreter, numbers) == [6.0]

    @pytest.mark.parametrize("numbers", [(2.0,), (2.0, 3.0, 4.0), (Value(2.0), 3.0), ("2", 3.0), ((2.0, 3.0),)])
    def test_other_arguments_return_missed(self, numbers):
        assert prepared(one_operation("mul", 2).interpreter, numbers) is MISSED

    def test_programs_with_calls(self):
        tape = Tape()
        program = tape.program([tape.call(Of(math.floor), [tape.input()])])
        assert prepared(program.interpreter, (2.5,)) == [2.0]

    def test_debug_nans_raises(self):
        with debug_nans(), pytest.raises(FloatingPointError, match="log"):
            prepared(one_operation("log", 1).interpreter, (-1.0,))

    def test_without_inputs_or_outputs(self):
        tape = Tape()
        assert prepared(tape.program([]).interpreter, ()) == []
        assert prepared(tape.program([tape.constant(2.0)]).interpreter, ()) == [2.0]


class Of(Call):
    """A call of an arbitrary Python function."""

    def __init__(self, function):
        self.name = function.__name__
        self._function = function

    def numbers(self, operands):
        return numpy.array([self._function(*operands.tolist())])


class Several(Call):
    """A call with many results."""

    def __init__(self, outputs):
        self.name = "several"
        self.outputs = outputs

    def numbers(self, operands):
        return operands[0] + numpy.arange(self.outputs)


class TestCalls:
    def test_calls_on_numbers_and_values(self):
        seen = []
        tape = Tape()
        x = tape.input()
        program = tape.program([tape.append("neg", tape.call(Of(lambda v: seen.append(v) or v * v), [x]))])
        leaf = Value(3.0)
        assert program.run(numpy.array([3.0])).tolist() == [-9.0]
        [root] = program([leaf])
        assert (root.data, seen) == (-9.0, [3.0, 3.0])
        assert root.operands[0].operands == (leaf,)

    def test_calls_may_run_the_program_recursively(self):
        tape = Tape()
        x, one = tape.input(), tape.constant(1.0)
        below = tape.append("sub", x, one)
        rest = tape.call(Of(lambda n: program.run(numpy.array([n]))[0] if n > 0 else 1.0), [below])
        program = tape.program([tape.append("where", tape.append("less", x, one), one, tape.append("mul", x, rest))])
        assert program.run(numpy.array([5.0])).tolist() == [120.0]

    def test_calls_may_raise(self):
        tape = Tape()
        program = tape.program([tape.call(Of(lambda x: 1 // 0 if x > 2 else x), [tape.input()])])
        with pytest.raises(ZeroDivisionError):
            program.run(numpy.array([3.0]))
        assert program.run(numpy.array([1.0])).tolist() == [1.0]

    def test_results_that_are_not_numbers_are_refused(self):
        tape = Tape()
        program = tape.program([tape.call(Of(lambda x: "three"), [tape.input()])])
        with pytest.raises(ValueError, match="could not convert string to float"):
            program.run(numpy.array([3.0]))

    def test_only_the_last_result_may_be_needed(self):
        tape = Tape()
        first = tape.call(Several(100), [tape.input()])
        assert tape.program([first + 99]).run(numpy.array([0.5])).tolist() == [99.5]

    def test_python_calls_have_no_address(self):
        tape = Tape()
        program = tape.program([tape.call(Of(max), [tape.input()])])
        with pytest.raises(ProgramError, match=r"calls max, a Python function, which only Python can run"):
            program.address  # noqa: B018  the property raises


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
class TestCopies:
    @fewer(50)
    @given(drawn=programs(EXTREME, EVERY, longest=12))
    def test_copies_give_the_same_results(self, copied, drawn):
        program = as_recorded(drawn).named([f"x{i}" for i in range(len(drawn.leaves))], ["out"])
        found = copied(program)
        assert str(found) == str(program)
        assert found.instructions.tolist() == program.instructions.tolist()
        assert same(found.run(drawn.leaves)[0], program.run(drawn.leaves)[0])

    def test_copies_keep_calls(self, copied):
        tape = Tape()
        program = copied(tape.program([tape.call(Of(math.floor), [tape.input()])]))
        assert program.run([2.5]).tolist() == [2.0]


class TestUnpickling:
    def test_operations_are_pickled_by_name(self, monkeypatch):
        rebuilt, (names, *parts) = one_operation("atan2", 2).__reduce__()
        assert names == ["atan2"]
        assert rebuilt(["hypot"], *parts).run([3.0, 4.0]).tolist() == [5.0]
        with pytest.raises(ProgramError, match="pickled by another version of gradwalk: 'zeta' is unknown"):
            rebuilt(["zeta"], *parts)

    def test_invalid_programs_are_refused(self):
        rebuilt, (names, code, *parts) = one_operation("atan2", 2).__reduce__()
        code[2] = 1000
        with pytest.raises(ProgramError, match=r"instruction 0 \(v2, atan2\) has index 1000 as operand"):
            rebuilt(names, code, *parts)


class TestFromC:
    """Calls of `Program.address` through ctypes."""

    @fewer(20)
    @given(programs(EXTREME, EVERY, longest=12), programs(EXTREME, EVERY, longest=12))
    def test_c_calls_give_the_same_bits(self, one, another):
        program = as_recorded(one, another)
        numbers = [*one.leaves, *another.leaves]
        assert all(map(same, from_c(program, numbers), program.run(numbers)))

    def test_several_threads_may_call_it(self):
        program = as_recorded(SINES)
        expected = {x: program.run([x])[0] for x in (0.25, 0.5, 1.0, 2.0)}
        wrong = []

        def work(x: float) -> None:
            for _ in range(200 if IS_COMPILED else 5):
                wrong.extend({from_c(program, [x])[0]} - {expected[x]})

        threads = [threading.Thread(target=work, args=(x,)) for x in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_numba_calls_it(self):
        program = as_recorded(SINES)
        run = RUN(program.address)

        @numba.njit
        def sines(handle, numbers, outputs):
            for i in range(len(numbers)):
                run(handle, numbers[i:].ctypes.data, outputs[i:].ctypes.data)

        numbers = numpy.linspace(0.0, 1.0, 20)
        outputs = numpy.empty(20)
        sines(program.handle, numbers, outputs)
        assert outputs.tolist() == [program.run([x])[0] for x in numbers]

    def test_numba_calls_it_from_threads(self):
        program = as_recorded(SINES)
        run = RUN(program.address)
        prange = numba.prange  # numba must see the function itself, not an attribute of the `Reference`

        @numba.njit(parallel=True)
        def sines(handle, numbers, outputs):
            for i in prange(len(numbers)):
                run(handle, numbers[i:].ctypes.data, outputs[i:].ctypes.data)

        numbers = numpy.linspace(0.0, 1.0, 1000 if IS_COMPILED else 20)
        outputs = numpy.empty(len(numbers))
        sines(program.handle, numbers, outputs)
        assert outputs.tolist() == [program.run([x])[0] for x in numbers]


RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
SINES = Drawn((0.5,), tuple([("sin", (i,)) for i in range(300)]))


def from_c(program: Program, numbers: Sequence[float]) -> list[float]:
    given = numpy.array(numbers)
    outputs = numpy.empty(len(program.outputs))
    RUN(program.address)(program.handle, given.ctypes.data, outputs.ctypes.data)
    return outputs.tolist()


class TestImmutability:
    @pytest.mark.parametrize("name", ["inputs", "constants", "instructions", "outputs", "handle", "anything"])
    def test_attributes_cannot_be_set(self, name):
        with pytest.raises(AttributeError):
            setattr(one_operation("sin", 1), name, 2)

    @pytest.mark.parametrize("name", ["inputs", "constants", "instructions", "outputs"])
    def test_attributes_of_code_cannot_be_set(self, name):
        with pytest.raises(AttributeError):
            setattr(one_operation("sin", 1).code, name, 2)

    def test_instructions_cannot_be_written_to(self):
        program = one_operation("sin", 1)
        with pytest.raises(ValueError, match="read-only"):
            program.instructions[0] = 1
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
            program.instructions.flags.writeable = True

    def test_constructor_arguments_are_copied(self):
        rows = numpy.array([[OPCODES["mul"], 0, 1, 0]], numpy.int32)
        function, operands = Of(math.floor), [0]
        constants, calls, outputs, names = [2.0], [(function, operands)], [2], ["x"]
        program = Program(1, constants, rows.ravel(), calls, outputs, names)
        rows[:] = 0
        constants[0], outputs[0], names[0], operands[0] = 5.0, 0, "y", 7
        calls.clear()
        assert program.run([3.0]).tolist() == [6.0]
        assert program([3.0]) == [6.0]
        assert (program.constants, program.outputs, program.input_names) == ((2.0,), (2,), ("x",))
        assert program.calls == ((function, (0,)),)


class Garbage:
    """An object in a reference cycle that calls a function when it is collected."""

    def __init__(self, finalize):
        self.finalize = finalize
        self.cycle = self

    def __del__(self):
        self.finalize()


@pytest.fixture
def collected():
    """Return a function that creates garbage, which the next allocation of a container collects.

    The argument is called when the garbage is collected. Until Python 3.11 that happens during the allocation.
    """

    def collected(finalize):
        gc.disable()
        Garbage(finalize)
        containers = [[] for _ in range(200)]  # more than the free list of Python holds
        gc.enable()
        return containers

    thresholds = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1)
    yield collected
    gc.set_threshold(*thresholds)


class TestReentrancy:
    """Nested and concurrent runs of one program do not affect each other."""

    @pytest.mark.parametrize("length", [5, 2000])
    def test_finalizers_may_run_the_program(self, length, collected):
        program = chain(length)
        numbers = (0.25, 0.5)
        expected = program.run(numbers).tolist()
        finalized = []

        def finalize():
            finalized.append((prepared(program.interpreter, (7.0, 8.0)), program.run([9.0, 8.0])))

        containers = collected(finalize)
        found = prepared(program.interpreter, numbers)
        containers = collected(finalize)
        found_in_array = program.run(numpy.array(numbers))
        del containers
        gc.collect()
        assert (found, found_in_array.tolist()) == (expected, expected)
        assert len(finalized) == 2

    def test_threads_may_run_the_program(self, collected):
        numbers = [(i / 8, -i / 8) for i in range(4)]
        function = jit(lambda x, y: tuple([x * y + i for i in range(20)] + [gmath.sin(x)] * 2))
        expected = [function(*operands) for operands in numbers]
        wrong = []

        def work(i):
            for _ in range(200 if IS_COMPILED else 20):
                containers = collected(lambda: time.sleep(0))  # lets other threads run
                wrong.extend({function(*numbers[i])} - {expected[i]})
                del containers

        run_in_threads(work, range(4))
        assert wrong == []

    @pytest.mark.parametrize("length", [5, 2000])
    def test_threads_may_run_the_program_from_c(self, length):
        program = chain(length)
        numbers = [(i / 8, -i / 8) for i in range(4)]
        expected = [program.run(operands).tolist() for operands in numbers]
        wrong = []

        def work(i):
            for _ in range(500 if IS_COMPILED else 2):
                wrong.extend([] if from_c(program, numbers[i]) == expected[i] else [i])

        run_in_threads(work, range(4))
        assert wrong == []

    def test_a_primitive_may_run_the_program(self):
        depth = [0.0] * 3  # the largest depth, so that it does not call itself while it is recorded

        @primitive
        def again(x):
            if len(depth) == 3:
                return x
            depth.append(x)
            inner = function(x + 1.0, 10.0 * x)
            depth.pop()
            return inner

        function = jit(lambda x, y: x * y + again(x) - y)
        function(1.0, 2.0)
        depth.clear()

        def in_python(x, y, depth):
            return x * y + (x if depth == 3 else in_python(x + 1.0, 10.0 * x, depth + 1)) - y

        assert function(1.0, 2.0) == in_python(1.0, 2.0, 0)
        assert function(3.0, -1.0) == in_python(3.0, -1.0, 0)


def chain(length: int) -> Program:
    """Build a program of two inputs that outputs some of its many results."""
    tape = Tape()
    results = [tape.input(), tape.input()]
    for _ in range(length):
        results.append(tape.append("sin", tape.append("add", results[-1], results[-2])))
    return tape.program([results[0], results[length // 2], results[-1]])


def run_in_threads(work, arguments) -> None:
    """Run a function in one thread per argument, with a short switch interval."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(argument,)) for argument in arguments]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


def test_a_program_without_instructions_is_true():
    program = Program(1, [], numpy.array([], numpy.int32), [], [0])
    assert len(program) == 0
    assert program
