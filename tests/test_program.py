"""Programs: the same instructions for arrays of numbers, for floats and for Values."""

from __future__ import annotations

import math
import threading
from fractions import Fraction

import numpy
import pytest
from conftest import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, OPCODES, fewer, programs

from gradwalk import Value
from gradwalk.blocks import Call
from gradwalk.engine import apply
from gradwalk.ops import TABLE
from gradwalk.program import Program
from gradwalk.tape import Tape

FINITE = st.floats(-1e100, 1e100)


def same(a: float, b: float) -> bool:
    """The same number: signed zeros told apart, all nans alike."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def number(x: Value | float) -> float:
    return x.data if isinstance(x, Value) else x


def of_row(name: str, arity: int) -> Program:
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


def test_it_is_printed_an_instruction_a_line():
    tape = Tape()
    x, y = tape.input(), tape.input()
    product = tape.append("mul", x, y)
    out = tape.append("sub", tape.append("sin", product), tape.append("mul", product, tape.constant(0.5)))
    program = tape.program([out, x])
    assert str(program).splitlines() == [
        *("v0 = input 0", "v1 = input 1", "v2 = 0.5", "v3 = mul(v0, v1)", "v4 = sin(v3)"),
        *("v5 = v4 - v3 * v2", "return v5, v0"),
    ]
    assert len(program) == 3
    assert (program.inputs, program.constants, program.calls) == (2, [0.5], [])


def test_outputs_may_be_inputs_constants_and_the_same_twice():
    tape = Tape()
    x = tape.input()
    program = tape.program([x, tape.constant(7.0), x])
    assert len(program) == 0
    assert program.run(numpy.array([3.0])).tolist() == program([3.0]) == [3.0, 7.0, 3.0]
    leaf = Value(3.0)
    assert program([leaf]) == [leaf, 7.0, leaf]


def test_results_are_arrays_of_their_own():
    program = of_row("sin", 1)
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
def test_every_row_gives_the_same_bit_for_bit_in_every_way(row, numbers):
    numbers = numbers[: row.arity]
    program = of_row(row.name, row.arity)
    expected = apply(OPCODES[row.name], *numbers)
    assert same(program.run(numpy.array(numbers))[0], expected)
    assert same(program.on_floats(numbers)[0], expected)
    assert same(number(program(list(numbers))[0]), expected)
    assert same(number(program([Value(x) for x in numbers])[0]), expected)


@pytest.mark.parametrize("way", FUSED)
@fewer(4)
@given(numbers=st.one_of(st.tuples(FINITE, FINITE, FINITE), st.tuples(EXTREME, EXTREME, EXTREME)))
def test_fused_products_round_twice(way, numbers):
    program, expected = FUSED[way]
    assert len(program) == 1
    assert same(program.run(numpy.array(numbers))[0], expected(*numbers))
    assert same(program.on_floats(numbers)[0], expected(*numbers))
    assert same(program(list(numbers))[0], expected(*numbers))
    assert same(program([Value(x) for x in numbers])[0].data, expected(*numbers))


@pytest.mark.parametrize("way", FUSED)
def test_a_product_whose_rounding_shows(way):
    program, expected = FUSED[way]
    x = 1.0 + 2.0**-30
    numbers = (x, x, -1.0 if "+" in way else 1.0)
    rounded_once = float(expected(*map(Fraction, numbers)))
    assert program.run(numpy.array(numbers))[0] == expected(*numbers) != rounded_once


@fewer(4)
@given(programs(EXTREME, EVERY, longest=12))
def test_numbers_and_values_give_the_same_bit_for_bit(program):
    tape = Tape()
    _, out = program.run(
        lambda _: tape.input(),
        lambda name, *operands: tape.append(name, *[tape.constant(x) if isinstance(x, float) else x for x in operands]),
    )
    compiled = tape.program([out])
    expected = compiled.run(numpy.array(program.leaves))[0]
    assert same(number(compiled([Value(x) for x in program.leaves])[0]), expected)
    assert same(compiled(list(program.leaves))[0], expected)


def test_values_and_floats_mix():
    tape = Tape()
    x, y = tape.input(), tape.input()
    program = tape.program([tape.append("mul", x, y), tape.append("sin", y)])
    leaf = Value(2.0)
    product, sine = program([leaf, 3.0])
    product.backward()
    assert (product.data, leaf.grad, sine) == (6.0, 3.0, math.sin(3.0))


class TestTheShortestWay:
    def test_takes_as_many_floats_as_there_are_inputs(self):
        program = of_row("mul", 2)
        assert program.on_floats((2.0, 3.0)) == [6.0]

    @pytest.mark.parametrize(
        "numbers", [(2.0,), (2.0, 3.0, 4.0), (2, 3.0), (numpy.float64(2.0), 3.0), (Value(2.0), 3.0), (True, 3.0)]
    )
    def test_is_not_taken_otherwise(self, numbers):
        assert of_row("mul", 2).on_floats(numbers) is None

    def test_is_not_taken_where_a_function_is_called(self):
        tape = Tape()
        assert tape.program([tape.call(Of(math.floor), [tape.input()])]).on_floats((2.5,)) is None


class Of(Call):
    """A call of any function of numbers."""

    def __init__(self, function):
        self.name = function.__name__
        self._function = function

    def numbers(self, operands):
        return [self._function(*operands)]


class TestCalls:
    def test_get_numbers_or_values_as_the_program_does(self):
        seen = []
        tape = Tape()
        x = tape.input()
        program = tape.program([tape.append("neg", tape.call(Of(lambda v: seen.append(v) or v * v), [x]))])
        leaf = Value(3.0)
        assert program.run(numpy.array([3.0])).tolist() == [-9.0]
        [root] = program([leaf])
        assert (root.data, seen) == (-9.0, [3.0, 3.0])
        assert root.operands[0].operands == (leaf,)

    def test_may_run_the_program_again(self):
        tape = Tape()
        x, one = tape.input(), tape.constant(1.0)
        below = tape.append("sub", x, one)
        rest = tape.call(Of(lambda n: program.run(numpy.array([n]))[0] if n > 0 else 1.0), [below])
        program = tape.program([tape.append("where", tape.append("less", x, one), one, tape.append("mul", x, rest))])
        assert program.run(numpy.array([5.0])).tolist() == [120.0]

    def test_may_raise(self):
        tape = Tape()
        program = tape.program([tape.call(Of(lambda x: 1 // 0 if x > 2 else x), [tape.input()])])
        with pytest.raises(ZeroDivisionError):
            program.run(numpy.array([3.0]))
        assert program.run(numpy.array([1.0])).tolist() == [1.0]

    def test_that_give_no_number_are_refused(self):
        tape = Tape()
        program = tape.program([tape.call(Of(lambda x: "three"), [tape.input()])])
        with pytest.raises(TypeError):
            program.run(numpy.array([3.0]))

    def test_are_printed(self):
        tape = Tape()
        x = tape.input()
        assert str(tape.program([tape.call(Of(max), [x, x])])).splitlines()[1] == "v1 = max(v0, v0)[0]"


def test_several_threads_run_the_same_program():
    program = fused("add", product_first=True)
    wrong = []

    def work(i: float) -> None:
        numbers = numpy.array([i, i, i])
        results = {
            *(program.run(numbers)[0] for _ in range(2000)),
            *(program.on_floats((i, i, i))[0] for _ in range(2000)),
        }
        wrong.extend(results - {i * i + i})

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4 if IS_COMPILED else 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
