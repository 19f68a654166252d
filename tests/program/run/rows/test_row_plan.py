"""Row plans give the same bits as the interpreter, and are used for large hot programs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from kernels import ALL, SPECIAL, arity, opcode, same
from programs import fewer, prepared

from gradwalk import debug_nans, grad, jit, loops, nn, value_and_grad, vmap
from gradwalk import math as gm
from gradwalk.program.program import Program
from gradwalk.program.run import interpreter
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.program.run.rows import row_loops
from gradwalk.program.run.rows.row_plan import row_plan
from gradwalk.program.tape import Tape


@st.composite
def grouped_programs(draw: st.DrawFn) -> Program:
    """Draw a program with groups of equal operations whose operands have zero, positive or negative strides."""
    inputs = draw(st.integers(1, 12))
    constants = draw(st.lists(st.sampled_from([*SPECIAL, 0.5, 2.0]), max_size=6))
    first = inputs + len(constants)
    code: list[int] = []
    end = first
    for _ in range(draw(st.integers(1, 8))):
        operation = opcode(draw(st.sampled_from(ALL)))
        length = draw(st.integers(1, 12))
        starts = [draw(st.integers(0, end - 1)) for _ in range(arity(operation))]
        strides = [draw(st.sampled_from([0, 1, 1, -1, 2, -3, 5])) for _ in starts]
        jumps = draw(st.booleans())
        for i in range(length):
            operands = [
                (start + stride * i * (1 + 2 * jumps * (i % 3))) % end
                for start, stride in zip(starts, strides, strict=True)
            ]
            code += [operation, *operands, *[0] * (3 - len(operands))]
        end = first + len(code) // 4
    outputs = draw(st.lists(st.integers(0, end - 1), min_size=1, max_size=6))
    return Program(inputs, constants, numpy.array(code, numpy.int32), [], outputs)


def agree(program: Program, numbers: list[float]) -> None:
    """Check that a program gives the same bits in rows as in the interpreter."""
    given_numbers = numpy.array(numbers, float)
    expected = program.run(given_numbers)
    in_rows = Interpreter(program.code)
    in_rows.install_rows(row_plan(program.code))
    assert same(in_rows.run(given_numbers), expected).all()
    assert same(numpy.array(prepared(in_rows, tuple(map(float, numbers)))), expected).all()


@st.composite
def accumulating_programs(draw: st.DrawFn) -> Program:
    """Draw a program that accumulates rows of numbers and sometimes uses a total twice."""
    length = draw(st.integers(4, 37))
    repetitions = draw(st.integers(1, 3))
    inputs = 3 * length
    code: list[int] = []
    for link in range(draw(st.integers(2, 6))):
        operation = draw(st.sampled_from(["mul", "muladd", "add", "muladd", "sub"] if link == 0 else ["muladd", "add"]))
        count = arity(opcode(operation))
        starts = [draw(st.integers(0, length - 1)) for _ in range(count)]
        strides = [draw(st.sampled_from([0, 1])) for _ in range(count)]
        leaps = [draw(st.sampled_from([0, 1, length // 2])) for _ in range(count)]
        place = draw(st.sampled_from([count - 1, count - 1, 0]))  # operand position of the running total
        for i in range(length * repetitions):
            operands = [
                start + stride * (i % length) + leap * (i // length)
                for start, stride, leap in zip(starts, strides, leaps, strict=True)
            ]
            if link > 0:
                operands[place] = inputs + len(code) // 4 - length * repetitions
            code += [opcode(operation), *operands, *[0] * (3 - count)]
    end = inputs + len(code) // 4
    outputs = [*range(end - length * repetitions, end), *draw(st.lists(st.integers(inputs, end - 1), max_size=2))]
    return Program(inputs, [], numpy.array(code, numpy.int32), [], outputs)


@fewer(4)
@given(accumulating_programs(), st.integers(0, 1000))
def test_random_accumulations(program, seed):
    generator = numpy.random.default_rng(seed)
    numbers = generator.uniform(-2.0, 2.0, program.inputs)
    special = generator.random(program.inputs) < 0.1
    numbers[special] = generator.choice(SPECIAL, special.sum())
    agree(program, numbers.tolist())


@fewer(4)
@given(grouped_programs(), st.data())
def test_random_programs(program, data):
    numbers = st.one_of(st.sampled_from(SPECIAL), st.floats(-3.0, 3.0))
    agree(program, data.draw(st.lists(numbers, min_size=program.inputs, max_size=program.inputs)))


def forms(program: Program) -> list[int]:
    """Return the form of each row of a program."""
    operations = row_plan(program.code).segments.reshape(-1, row_loops.ROW_WIDTH)[:, 0]
    return (operations[operations >= 0] % row_loops.ROW_FORMS).tolist()


def test_matrix_vector_product_and_its_gradient():
    def f(matrix, x):
        return gm.tanh(sum((matrix @ x) ** 2))

    slope = jit(grad(f, argnums=(0, 1)))
    generator = numpy.random.default_rng(0)
    matrix, x = generator.normal(size=(8, 8)), generator.normal(size=8)
    slope(matrix, x)
    plan = row_plan(slope.program.code)
    assert plan.length < len(slope.program) / 4
    assert len(plan.copies) > 0  # copies of matrix columns
    agree(slope.program, [*matrix.ravel(), *x])


def chains(program: Program) -> list[tuple[list[list[int]], int]]:
    """Return each chain of a program: the kind and count of its links, and its number of repetitions."""
    plan = row_plan(program.code)
    links = plan.links.reshape(-1, row_loops.LINK_WIDTH)[:, [0, 5]].tolist()
    segments = plan.segments.reshape(-1, row_loops.ROW_WIDTH).tolist()
    return [(links[s[3] : s[3] + s[4]], s[9]) for s in segments if s[0] == row_loops.CHAIN]


def test_totals_and_outer_products_are_chains():
    code: list[int] = []

    def row(name: str, *operands: Sequence[int]) -> range:
        """Append six instructions of one operation, and return the indices of their results."""
        for slots in zip(*operands, strict=True):
            code.extend([opcode(name), *slots, *[0] * (3 - len(slots))])
        return range(6 + len(code) // 4, 12 + len(code) // 4)

    def same_for_all(slot: int) -> list[int]:
        return [slot] * 6

    x, y = range(6), range(6, 12)
    begins = {
        row("mul", same_for_all(0), y): [row_loops.IS_SCALED],
        row("muladd", same_for_all(0), y, same_for_all(1)): [row_loops.IS_NUMBER, row_loops.ADD_SCALED],
        row("muladd", x, same_for_all(1), y): [row_loops.IS_ROW, row_loops.ADD_SCALED],
        row("add", x, y): [row_loops.IS_ROW, row_loops.ADD_ROW],
        row("sin", x): [row_loops.IS_ROW],
    }
    ends = []
    for total in begins:
        scaled = row("muladd", same_for_all(2), y, total)
        squares = row("muladd", x, x, scaled)
        ends += row("add", squares, y)
    program = Program(12, [], numpy.array(code, numpy.int32), [], ends)
    numbers = [0.3 * k - 1.0 for k in range(12)]
    agree(program, numbers)
    added = [row_loops.ADD_SCALED, row_loops.ADD_PRODUCTS, row_loops.ADD_ROW]
    kinds = sorted([kind for kind, times in links for _ in range(times)] for links, _ in chains(program))
    assert kinds == sorted([*begin, *added] for begin in begins.values())

    outer = jit(numpy.outer)
    outer(numpy.ones(5), numpy.ones(7))
    plan = row_plan(outer.program.code)
    assert plan.length == 1
    assert plan.segments[9] == 5
    agree(outer.program, numbers)


def test_matrix_vector_product_is_one_chain():
    times = jit(lambda matrix, x: matrix @ x)
    matrix = numpy.random.default_rng(0).normal(size=(64, 8))
    times(matrix, numpy.ones(8))
    [(links, repetitions)] = chains(times.program)  # one link per group of columns
    assert links == [[row_loops.IS_SCALED, 1], [row_loops.ADD_SCALED, 2], [row_loops.ADD_SCALED, 5]]
    assert repetitions == 1
    agree(times.program, [*matrix.ravel(), *numpy.arange(8.0)])


def test_totals_that_are_used_twice_are_stored():
    tape = Tape()
    x = [tape.input() for _ in range(8)]
    squares = [tape.append("mul", x[0], a) for a in x]
    sums = [tape.append("add", a, b) for a, b in zip(squares, x, strict=True)]
    program = tape.program([*sums, squares[3]])
    assert not chains(program)
    agree(program, list(range(8)))


def test_rows_with_take_and_exp():
    def f(x, i):
        return [gm.exp(gm.take([a, a * a, -a], i)) + a for a in x]

    recorded = jit(f)
    x = [0.1 * k for k in range(12)]
    recorded(x, 1.0)
    for index in (0.0, 1.0, 2.0, -1.0, 5.0, math.nan):
        agree(recorded.program, [*x, index])


def test_descending_rows_are_reversed():
    tape = Tape()
    x = [tape.input() for _ in range(9)]
    squares = [tape.append("mul", a, a) for a in x]
    program = tape.program([tape.append("maximum", a, b) for a, b in zip(reversed(squares), reversed(x), strict=True)])
    assert forms(program) == [0, 0]
    agree(program, list(range(9)))


def test_alternating_rows_are_sorted_by_operands():
    tape = Tape()
    x = [tape.input() for _ in range(33)]
    pairs = [(x[16 - i], x[32 - i]) for i in range(16)]
    program = tape.program([tape.append("mul", x[0], a) for pair in pairs for a in pair])
    assert forms(program) == [1]
    agree(program, [0.1 * k for k in range(33)])


def network(x):
    """Compute the loss of a network on one sample, with all parameters in one array."""
    weights, bias = x[:400].reshape(20, 20), x[400:]
    return (numpy.tanh(weights @ bias) @ weights).sum()


def test_large_hot_programs_run_in_rows(monkeypatch):
    monkeypatch.setattr(interpreter, "submit", lambda task: task())
    slope = jit(grad(network), backend="lanes")
    numbers = numpy.random.default_rng(1).normal(size=420)
    expected = slope(numbers)
    for _ in range(4_000_000 // len(slope.program) if IS_COMPILED else 2):
        slope(numbers)
    in_rows = "rows: the backend" in slope.statistics.backends[""]
    assert in_rows == IS_COMPILED
    assert slope(numbers).tolist() == expected.tolist()
    numbers[3] = math.nan
    with debug_nans(), pytest.raises(FloatingPointError):
        slope(numbers)
    assert numpy.isnan(slope(numbers)).any()


@pytest.mark.parametrize("memory", [None, "sqrt"])
def test_large_hot_loop_steps_run_in_rows(monkeypatch, memory):
    monkeypatch.setattr(interpreter, "submit", lambda task: task())

    def last(x, rows):
        def step(y, row):
            moved = gm.sin(y[0]) + numpy.concatenate([x[:1] + row, x[1:] * y[:-1]])
            return y + 0.1 * moved * moved[::-1], y[1] * moved[2]

        y, seen = loops.scan(step, x, rows, checkpoint=memory)
        return y.sum() + (seen * seen).sum()

    def searched(x):
        return loops.while_loop(lambda y: y[0] < 1.0, lambda y: 1.1 * y + 0.01 * x * y[::-1], x)[3]

    generator = numpy.random.default_rng(0)
    for f, given_numbers in (
        (last, (generator.uniform(0.1, 0.9, 200), generator.normal(size=12))),
        (searched, (generator.uniform(0.1, 0.9, 400),)),
    ):
        slope = jit(grad(f), backend="lanes")
        expected = slope(*given_numbers)
        for _ in range(5 if IS_COMPILED else 1):
            found = slope(*given_numbers)
        assert found.tolist() == expected.tolist()
        in_rows = [name for name, text in slope.statistics.backends.items() if "rows: the backend" in text]
        assert any("step back" in name for name in in_rows) == IS_COMPILED
        given_numbers[0][3] = math.nan
        with debug_nans(), pytest.raises(FloatingPointError):
            slope(*given_numbers)


def test_call_results_may_be_used_in_any_order():
    # Operands and results of calls are copied in contiguous ranges.

    def f(x, y):
        results = vmap(lambda p, q: (gm.exp(p) * q, p + q))(numpy.concatenate([x[::-1], x]), numpy.append(y, x))
        turned = results[0][::-2] * results[1][::2]
        return turned.sum() + results[0][7] - results[1][0] * loops.scan(lambda c, r: (c * r, c), y[0], x)[0]

    x, y = numpy.random.default_rng(0).uniform(0.5, 1.5, (2, 300))
    found = jit(value_and_grad(f, argnums=(0, 1)))(x, y)
    expected = value_and_grad(f, argnums=(0, 1))(x, y)
    assert found[0] == pytest.approx(expected[0])
    numpy.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_a_network_of_modules():
    model = nn.MLP(6, [12, 12, 1])
    f = jit(grad(lambda model, x: model(x) ** 2))
    x = [0.1 * k - 0.2 for k in range(6)]
    f(model, x)
    agree(f.program, [*(p.data for p in model.parameters()), *x])


def test_small_programs_do_not_run_in_rows():
    chain = jit(lambda x: gm.fabs(sum(gm.sin(x * k) ** 3 for k in range(40))), backend="lanes")
    chain(0.3)
    for _ in range(10):
        chain(0.3)
    assert "rows" not in chain.statistics.backends[""]
