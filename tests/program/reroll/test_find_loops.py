"""Loops found in recorded programs expand to exactly the same instructions."""

from __future__ import annotations

import ctypes

import numpy
import pytest
from c_compiler import SAME_BITS, compiled
from checkout import IS_COMPILED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernels import same
from loopy import loopy
from programs import EVERY, EXTREME, as_recorded, fewer, programs

from gradwalk import grad, hessian, jit, primitive, value_and_grad
from gradwalk import math as gmath
from gradwalk.program.code.code import Code
from gradwalk.program.formats.c import c_program
from gradwalk.program.native.machine_code import compiled as compiled_to_machine_code
from gradwalk.program.program import Program
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import Repeat, traversed, written
from gradwalk.program.routine import storage
from gradwalk.program.tape import Tape


def expand(rows: numpy.ndarray, start: int, stop: int, repeats: tuple[Repeat, ...]) -> numpy.ndarray:
    """Rebuild the instructions from `start` to `stop` from first iterations and strides only."""
    pieces = []
    for repeat in repeats:
        pieces.append(rows[start : repeat.start])
        body = expand(rows, repeat.start, repeat.start + repeat.period, repeat.inner)
        second = tuple([shift(inner, repeat.period) for inner in repeat.inner])
        stride = expand(rows, repeat.start + repeat.period, repeat.start + 2 * repeat.period, second) - body
        pieces += [body + i * stride for i in range(repeat.times)]
        start = repeat.stop
    return numpy.concatenate([*pieces, rows[start:stop]])


def shift(repeat: Repeat, by: int) -> Repeat:
    return repeat._replace(start=repeat.start + by, inner=tuple([shift(inner, by) for inner in repeat.inner]))


def assert_same(code: Code, repeats: tuple[Repeat, ...]) -> None:
    rows = numpy.array(code.instructions).reshape(-1, 4)
    assert (expand(rows, 0, len(rows), repeats) == rows).all()


@pytest.mark.parametrize("irregular", ["none", "first", "last"])
def test_iterations_pass_few_results_to_the_next_iteration(irregular):
    tape = Tape()
    xs, z = [tape.input() for _ in range(10)], tape.input()
    results = []
    for i, x in enumerate(xs):
        product = tape.append("mul", x, z) if (irregular, i) != ("first", 0) else tape.append("mul", z, x)
        sine = tape.append("sin", product)
        results.append(tape.append("add", sine, z) if (irregular, i) != ("last", 9) else tape.append("add", z, sine))
    [repeat] = fold(tape.program(results).code)
    assert repeat.start % 3 == 0
    assert (repeat.period, repeat.times) == (3, 10 if irregular == "none" else 9)


def record_program(f, *args) -> Program:
    f = jit(f)
    f(*args)
    return f.program


@fewer(300)
@given(st.integers(0, 10**9))
def test_random_loops_expand_to_the_same_instructions(seed):
    x = numpy.linspace(-0.8, 1.1, 9)
    program = record_program(loopy(seed), x)
    assert_same(program.code, program.repeats)
    assert written(len(program), program.repeats) <= len(program)


@fewer(30)
@given(st.integers(0, 10**9))
def test_loops_in_derivatives_expand_to_the_same_instructions(seed):
    f, x = loopy(seed, depth=2, most=5), numpy.linspace(-0.8, 1.1, 5)
    for derived in (value_and_grad(lambda x: sum(f(x))), hessian(lambda x: sum(f(x)))):
        program = record_program(derived, x)
        assert_same(program.code, program.repeats)


@fewer(50)
@given(st.lists(programs(EXTREME, EVERY, longest=12), min_size=1, max_size=20))
def test_random_programs_expand_to_the_same_instructions(drawn):
    program = as_recorded(*drawn)
    assert_same(program.code, program.repeats)


@fewer(100)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=6),
    st.integers(1, 40),
    st.integers(0, 10**9),
)
def test_imperfect_patterns_expand_to_the_same_instructions(pattern, times, seed):
    # Repeated instructions in which about 5 % of the operands are off by one.
    rng = numpy.random.default_rng(seed)
    rows = numpy.zeros((len(pattern) * times, 4), numpy.int32)
    for i, (opcode, x, y) in enumerate(pattern * times):
        operands = numpy.array([x * (i // len(pattern)), y + i]) - (rng.random(2) < 0.05)
        rows[i] = [opcode, *numpy.clip(operands, 0, 4 + i), 0]
    code = Code(3, [1.0, 2.0], rows.ravel(), [], [len(rows) + 4])
    assert_same(code, fold(code))


def everything_of(seeds):
    """Return a function that computes the functions of several seeds, and the gradient of the first one."""
    functions = [loopy(seed, depth=3, most=5) for seed in seeds]
    return lambda x: ([f(x) for f in functions], grad(lambda x: sum(functions[0](x)))(x))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.integers(0, 10**9), min_size=4, max_size=4), st.sampled_from([5, 250]))
def test_loops_in_c_give_the_same_bits(tmp_path, monkeypatch, seeds, piece):
    monkeypatch.setattr(c_program, "_PIECE", piece)
    monkeypatch.setattr(storage, "FLAT_BELOW", 10)
    x = numpy.linspace(-0.8, 1.1, 9)
    program = record_program(everything_of(seeds), x)
    found = numpy.array(compiled(tmp_path, program.to_c(), *SAME_BITS)(x.tolist(), len(program.outputs)))
    expected = program.run(x)
    numpy.testing.assert_array_equal(found, expected)  # treats nan as equal to nan
    assert (numpy.signbit(found) == numpy.signbit(expected))[~numpy.isnan(found)].all()


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=2))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_loops_in_machine_code_give_the_same_bits(monkeypatch, seeds):
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(storage, "FLAT_BELOW", 10)
    x = numpy.linspace(-0.8, 1.1, 9)
    program = record_program(everything_of(seeds), x)
    machine_code = compiled_to_machine_code(program.code)
    values = numpy.full(program.code.count, 1234.5)
    values[: program.inputs] = x
    values[program.inputs : program.inputs + len(program.constants)] = program.constants
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(machine_code.address)(values.ctypes.data)
    assert same(values[list(program.outputs)], program.run(x)).all()


def test_a_dense_layer_is_three_instructions():
    def layer(weights, x):
        return [gmath.tanh(sum(w * v for w, v in zip(row, x, strict=True))) for row in weights]

    program = record_program(layer, numpy.ones((16, 20)), numpy.ones(20))
    assert written(len(program), program.repeats) == 3
    (neurons,) = program.repeats
    assert (neurons.times, [inner.times for inner in neurons.inner]) == (16, [19])
    assert str(program).splitlines()[2:7] == [
        "  for i in range(16):",
        "    v[341 + 21*i] = weights[i, 0] * x[0] + 0.0",
        "    for j in range(19):",
        "      v[342 + 21*i + j] = weights[i, 1 + j] * x[1 + j] + v[341 + 21*i + j]",
        "    v[361 + 21*i] = tanh(v[360 + 21*i])",
    ]


def test_time_steps_and_their_backward_pass_are_loops():
    def oscillator(x, v):
        for _ in range(500):
            x, v = x + 0.01 * v, v - 0.01 * gmath.sin(x)
        return x

    program = record_program(value_and_grad(oscillator), 1.0, 0.0)
    assert len(program) > 3_000
    assert written(len(program), program.repeats) < 40
    assert {repeat.times for repeat in program.repeats} <= set(range(495, 501))


def test_constants_may_differ_between_iterations():
    weights = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.3, 1.7]
    program = record_program(lambda x: sum(w * gmath.sin(x + i) for i, w in enumerate(weights)), 1.0)
    assert any("[0.25, 0.4, 0.55, 0.7, 0.85, …, 1.7][i]" in line for line in str(program).splitlines())


def test_code_without_repetition_has_no_loops():
    rng = numpy.random.default_rng(1)
    rows = [[rng.integers(1, 4), *rng.integers(0, 2 + i, 2), 0] for i in range(5_000)]
    code = Code(2, [], numpy.array(rows, numpy.int32).ravel(), [], [5_001])
    assert fold(code) == ()


@pytest.mark.parametrize("opcodes", [[1], [1, 3], [1, 1, 3]])
def test_search_is_fast_if_only_opcodes_repeat(opcodes):
    # The opcodes repeat everywhere and the operands nowhere: searching every period would take hours.
    count = 100_000 if IS_COMPILED else 10_000
    rows = numpy.zeros((count, 4), numpy.int32)
    rows[:, 0] = numpy.resize(opcodes, count)
    rows[:, 1:3] = (numpy.random.default_rng(1).random((count, 2)) * numpy.arange(2, 2 + count)[:, None]).astype(int)
    code = Code(2, [], rows.ravel(), [], [count + 1])
    assert fold(code) == ()


def test_loops_end_where_operands_become_constants():
    # The operand indices go with stride 1 from the inputs (0 to 3) to the constants (4 to 7).
    rows = [[1, i, i, 0] for i in range(8)]
    code = Code(4, [1.0] * 4, numpy.array(rows, numpy.int32).ravel(), [], [15])
    assert fold(code) == (Repeat(0, 1, 4, ()), Repeat(4, 1, 4, ()))


@pytest.mark.parametrize("period", [1, 2, 3, 5, 33, 65, 100])
def test_three_repetitions_of_any_length_are_a_loop(period):
    rng = numpy.random.default_rng(1)
    body = numpy.column_stack([rng.integers(1, 4, period), rng.integers(0, 3, (period, 2)), numpy.zeros(period, int)])
    rows = numpy.concatenate([body + numpy.array([0, 3 * i, 0, 0]) for i in range(3)])
    code = Code(9, [], rows.astype(numpy.int32).ravel(), [], [9])
    assert [(repeat.start, repeat.period, repeat.times) for repeat in fold(code)] == [(0, period, 3)]


def test_calls_are_not_put_in_loops():
    @primitive
    def gamma(x):
        return x

    program = record_program(lambda x: [x := gamma(x) + 1.0 for _ in range(10)][-1], 0.5)
    assert program.repeats == ()


def test_empty_programs():
    assert Tape().program([]).repeats == ()
    assert list(traversed(range(0), ())) == []
