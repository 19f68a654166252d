"""Tapes: simplification keeps results bitwise equal, and differentiation gives exact derivatives."""

from __future__ import annotations

import math

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import assume, given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, OPCODES, Program, as_values, fewer, programs, without_constants
from references import MPMATH, ROUNDED, at_50_digits, mpmath, not_real

from gradwalk import Graph, Value, debug, jit, loops, primitive
from gradwalk.functions.reductions import sumprod
from gradwalk.ops.compiled.templates import ADJOINT, OPERANDS, Instruction, Template, template
from gradwalk.ops.table import TABLE
from gradwalk.program.autodiff import derivative_templates
from gradwalk.program.calls.call import Call, Expansion
from gradwalk.program.calls.switch import Switch
from gradwalk.program.code.opcodes import NAMES
from gradwalk.program.tape import NO_INDEX, Tape
from gradwalk.value.apply import apply

# Numbers for which identities such as x + 0 = x may fail.
SPECIAL = st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.inf, -math.inf, math.nan]), EXTREME)
ALGEBRA = ["add", "sub", "mul", "div", "neg", "pow", "where", "stop_gradient", "sign", "maximum"]


def same(a: float, b: float) -> bool:
    """Return whether two numbers are equal; 0.0 and -0.0 differ, and nan equals nan."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def load_program(program: Program) -> tuple[Tape, list[int], list[int]]:
    """Record a program on a tape; return the tape, the indices of the leaves and the indices of all results."""
    tape = Tape()
    indices: list[int] = []

    def append(name: str, *operands: int | float) -> int:
        indices.append(tape.append(name, *[tape.constant(x) if isinstance(x, float) else x for x in operands]))
        return indices[-1]

    leaves, _ = program.run(lambda _: tape.input(), append)
    return tape, leaves, indices


def without_tape(program: Program) -> list[float]:
    """Compute all results by applying the operations of the table, without a tape."""
    results: list[float] = []

    def call(name: str, *operands: float) -> float:
        results.append(apply(OPCODES[name], *operands))
        return results[-1]

    program.run(float, call)
    return results


def operation_names(tape: Tape, outputs: list[int]) -> list[str]:
    """Return the names of the instructions that the outputs need."""
    return [NAMES[opcode] for opcode in tape.program(outputs).instructions[::4].tolist()]


@primitive
def cube(x, y):
    return x**3 * y


cube.derivative(lambda out, x, y: (3 * x * x * y, x**3))
cube(Value(1.0), Value(1.0))  # records the derivative rule


class TestSimplification:
    def test_equal_instructions_are_shared(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        assert tape.append("mul", x, y) == tape.append("mul", y, x)
        assert tape.append("add", x, y) == tape.append("add", y, x)
        assert tape.append("sub", x, y) != tape.append("sub", y, x)
        assert tape.append("sin", x) == tape.append("sin", x)
        assert tape.append("less", x, y) != tape.append("less", y, x)
        assert tape.constant(2.0) == tape.constant(2.0)
        assert tape.constant(0.0) != tape.constant(-0.0)
        assert tape.constant(math.nan) == tape.constant(math.nan)

    def test_constants_are_folded(self):
        tape = Tape()
        two = tape.constant(2.0)
        assert tape.append("mul", two, tape.constant(3.0)) == tape.constant(6.0)
        assert tape.append("sin", two) == tape.constant(math.sin(2.0))
        assert tape.append("log", tape.constant(0.0)) == tape.constant(-math.inf)
        assert tape.append("where", tape.constant(math.nan), two, tape.constant(3.0)) == two

    def test_neutral_operands_are_removed(self):
        tape = Tape()
        x = tape.input()
        one, zero, minus_zero = tape.constant(1.0), tape.constant(0.0), tape.constant(-0.0)
        assert tape.append("mul", x, one) == tape.append("mul", one, x) == tape.append("div", x, one) == x
        assert tape.append("pow", x, one) == x
        assert tape.append("add", x, minus_zero) == tape.append("sub", x, zero) == x
        assert tape.append("where", tape.append("less", x, one), x, x) == x
        assert tape.append("pow", x, zero) == one

    def test_other_operands_are_kept(self):
        tape = Tape()
        x = tape.input()
        zero, minus_zero = tape.constant(0.0), tape.constant(-0.0)
        for index in (
            tape.append("add", x, zero),  # -0 + 0 is 0
            tape.append("sub", x, minus_zero),
            tape.append("mul", x, zero),  # inf · 0 is nan
            tape.append("sub", x, x),  # inf - inf is nan
            tape.append("div", x, x),
            tape.append("sub", zero, x),  # 0 - 0 is 0, and -(0) is -0
        ):
            assert operation_names(tape, [index]) != []

    def test_negations_move_outward_and_cancel(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        minus_x, minus_y = tape.append("neg", x), tape.append("neg", y)
        assert tape.append("neg", minus_x) == x
        assert tape.append("mul", minus_x, minus_y) == tape.append("mul", x, y)
        assert tape.append("div", minus_x, y) == tape.append("neg", tape.append("div", x, y))
        assert tape.append("add", x, minus_y) == tape.append("sub", x, y)
        assert tape.append("sub", x, minus_y) == tape.append("add", x, y)
        assert tape.append("mul", x, tape.constant(-1.0)) == minus_x
        assert tape.append("sub", tape.constant(-0.0), x) == minus_x

    def test_a_square_is_a_product(self):
        tape = Tape()
        x = tape.input()
        assert tape.append("pow", x, tape.constant(2.0)) == tape.append("mul", x, x)

    def test_unused_instructions_are_not_run(self):
        tape = Tape()
        x = tape.input()
        needed = tape.append("sin", x)
        tape.append("exp", tape.append("cos", x))
        assert operation_names(tape, [needed]) == ["sin"]
        assert (
            operation_names(tape, []) == operation_names(tape, [x]) == operation_names(tape, [tape.constant(3.0)]) == []
        )

    def test_stop_gradient_is_kept(self):
        tape = Tape()
        x = tape.input()
        assert operation_names(tape, [tape.append("sin", tape.append("stop_gradient", x))]) == ["stop_gradient", "sin"]

    @pytest.mark.parametrize(
        ("outer", "order", "text"),
        [
            ("add", (0, 1), "v0 * v1 + v2"),
            ("add", (1, 0), "v0 * v1 + v2"),
            ("sub", (0, 1), "v0 * v1 - v2"),
            ("sub", (1, 0), "v2 - v0 * v1"),
        ],
    )
    def test_a_product_is_fused_with_its_sum(self, outer, order, text):
        tape = Tape()
        x, y, z = tape.input(), tape.input(), tape.input()
        operands = (tape.append("mul", x, y), z)
        assert text in str(tape.program([tape.append(outer, operands[order[0]], operands[order[1]])]))

    def test_a_product_used_twice_is_not_fused(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        product = tape.append("mul", x, y)
        assert operation_names(tape, [tape.append("add", product, x), product]) == ["mul", "add"]
        assert operation_names(tape, [tape.append("add", product, x), tape.append("sub", product, y)]) == [
            "mul",
            "add",
            "sub",
        ]
        assert operation_names(tape, [tape.append("add", product, product)]) == ["mul", "add"]

    @fewer(2)
    @given(st.one_of(programs(SPECIAL, EVERY, longest=12), programs(SPECIAL, ALGEBRA, longest=20)))
    def test_simplification_keeps_all_bits(self, program):
        tape, _, indices = load_program(program)
        numbers = numpy.array(program.leaves)
        results = without_tape(program)
        assert all(map(same, tape.program(indices).run(numbers), results))
        assert same(tape.program(indices[-1:]).run(numbers)[0], results[-1])

    @fewer(4)
    @given(st.one_of(programs(SPECIAL, EVERY, longest=12), programs(SPECIAL, ALGEBRA, longest=20)))
    def test_no_instruction_is_appended_twice(self, program):
        tape, leaves, indices = load_program(program)
        assert len(set(map(repr, tape.program(indices[-1:]).constants))) == len(tape.program(indices[-1:]).constants)
        length = len(tape)
        for (name, operands), index in zip(program.steps, indices, strict=True):
            earlier = [*leaves, *indices]
            again = [tape.constant(x) if isinstance(x, float) else earlier[x] for x in operands]
            assert tape.append(name, *again) == index
        assert len(tape) == length

    @fewer(4)
    @given(programs(SPECIAL, EVERY, longest=12), st.data())
    def test_outputs_do_not_depend_on_other_outputs(self, program, data):
        tape, _, indices = load_program(program)
        chosen = data.draw(st.lists(st.sampled_from(indices), min_size=1, max_size=4))
        numbers = numpy.array(program.leaves)
        alone = [tape.program([index]).run(numbers)[0] for index in chosen]
        assert all(map(same, tape.program(chosen).run(numbers), alone))


class TestSize:
    LENGTH = 300_000 if IS_COMPILED else 5_000

    def test_large_tapes_find_recent_instructions(self):
        tape = Tape()
        index = tape.input()
        for _ in range(self.LENGTH):
            earlier, index = index, tape.append("sin", index)
            assert tape.append("sin", earlier) == index
        assert len(tape) == self.LENGTH + 1

    def test_large_tapes_do_not_confuse_instructions(self):
        tape = Tape()
        x = tape.input()
        sums = [tape.append("add", tape.append("sin", x), tape.constant(float(i))) for i in range(self.LENGTH // 10)]
        for i in (1, 255, 256, 257, len(sums) - 1):
            assert tape.program([sums[i]]).run(numpy.array([0.5]))[0] == math.sin(0.5) + i

    def test_large_tapes_are_differentiated_without_recursion(self):
        tape = Tape()
        x = index = tape.input()
        for _ in range(self.LENGTH):
            index = tape.append("add", index, x)
        [gradient] = tape.reverse([(index, tape.constant(1.0))], [x])
        [tangent] = tape.forward([(x, tape.constant(1.0))], [index])
        assert tape.program([gradient, tangent]).run(numpy.zeros(1)).tolist() == [self.LENGTH + 1.0] * 2


class TestDerivatives:
    def test_reverse_mode(self):
        tape = Tape()
        x, y, seed = tape.input(), tape.input(), tape.input()
        out = tape.append("sub", tape.append("mul", x, y), x)
        gradients = tape.reverse([(out, seed)], [x, y])
        assert tape.program(gradients).run(numpy.array([2.0, 5.0, 10.0])).tolist() == [40.0, 20.0]

    def test_forward_mode(self):
        tape = Tape()
        x, y, dx, dy = (tape.input() for _ in range(4))
        out = tape.append("sub", tape.append("mul", x, y), x)
        program = tape.program(tape.forward([(x, dx), (y, dy)], [out, x]))
        assert program.run(numpy.array([2.0, 5.0, 1.0, 100.0])).tolist() == [204.0, 1.0]

    def test_independent_results_have_zero_derivative(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        zero, one = tape.constant(0.0), tape.constant(1.0)
        for out in (y, one, tape.append("stop_gradient", x), tape.append("sign", x), tape.append("less", x, y)):
            assert tape.reverse([(out, one)], [x]) == tape.forward([(x, one)], [out]) == [zero]

    def test_infinite_partials_on_blocked_paths_are_ignored(self):
        tape = Tape()
        x = tape.input()
        one = tape.constant(1.0)
        infinite = tape.append("log", x)
        condition = tape.append("less", infinite, x)
        out = tape.append("add", tape.append("where", condition, x, one), tape.append("stop_gradient", infinite))
        [gradient], [tangent] = tape.reverse([(out, one)], [x]), tape.forward([(x, one)], [out])
        assert tape.program([gradient, tangent]).run(numpy.array([0.0])).tolist() == [1.0, 1.0]

    def test_seeds_of_several_results_add_up(self):
        tape = Tape()
        x, a, b, c = (tape.input() for _ in range(4))
        square = tape.append("mul", x, x)
        [gradient] = tape.reverse([(square, a), (square, b), (x, c)], [x])
        assert tape.program([gradient]).run(numpy.array([3.0, 1.0, 10.0, 100.0])).tolist() == [166.0]

    def test_derivatives_of_inputs(self):
        tape = Tape()
        x, y, seed = tape.input(), tape.input(), tape.input()
        assert tape.reverse([(x, seed)], [x, y]) == [seed, tape.constant(0.0)]
        assert tape.forward([(x, seed)], [x, y]) == [seed, tape.constant(0.0)]
        assert tape.reverse([], [x]) == [tape.constant(0.0)]
        assert tape.reverse([(x, seed)], []) == tape.forward([], []) == []

    def test_constants_get_no_derivative(self):
        tape = Tape()
        x = tape.input()
        before = len(tape)
        out = tape.append("mul", tape.constant(2.0), x)
        [gradient] = tape.reverse([(out, tape.constant(1.0))], [x])
        assert gradient == tape.constant(2.0)
        assert len(tape) <= before + 3

    @pytest.mark.parametrize("row", [row for row in TABLE if row.is_exact], ids=lambda row: row.name)
    def test_every_operation_to_third_order_at_50_digits(self, row):
        # With 50 digits the derivatives equal mpmath's without rounding errors. Only rules with constants such as
        # log(2), 2/sqrt(pi) and 1/3 are less accurate, because these constants are rounded to 53 bits.
        draw = numpy.random.default_rng(OPCODES[row.name])
        for _ in range(3):
            point = [draw.uniform(low + 0.3 * (high - low), high - 0.3 * (high - low)) for low, high in row.domain]
            for orders in numpy.ndindex(*[4] * row.arity):
                if sum(orders) > 3:
                    continue
                tape = Tape()
                inputs = [tape.input() for _ in point]
                index = tape.append(row.name, *inputs)
                for x, order in zip(inputs, orders, strict=True):
                    for _ in range(order):
                        [index] = tape.reverse([(index, tape.constant(1.0))], [x])
                exact = mpmath.diff(MPMATH[row.name], tuple(map(mpmath.mpf, point)), orders)
                error = abs(at_50_digits(tape.program([index]), point)[0] - exact)
                assert error <= (2.0**-49 if row.name in ROUNDED else 1e-40) * max(1, abs(exact)), (point, orders)

    @fewer(4)
    @given(programs(st.floats(-4.0, 4.0), EVERY, longest=12))
    def test_forward_and_reverse_agree_at_50_digits(self, program):
        # The modes multiply along the paths in opposite directions, so they differ only by rounding. Constants are
        # replaced because constant folding rounds to 53 bits.
        program = without_constants(program)
        tape, leaves, indices = load_program(program)
        one = tape.input()
        reverse = tape.reverse([(indices[-1], one)], leaves)
        forward = [tape.forward([(leaf, one)], indices[-1:])[0] for leaf in leaves]
        try:
            numbers = at_50_digits(tape.program([*reverse, *forward]), [*program.leaves, 1.0])
        except not_real():
            assume(False)
        assume(all(abs(x) < 1e20 for x in numbers))
        for left, right in zip(numbers[: len(leaves)], numbers[len(leaves) :], strict=True):
            assert abs(left - right) <= 1e-20 * max(1, abs(left))


@pytest.fixture
def a_long_derivative(monkeypatch):
    """Replace the partial of sin by x + x + ... + x, a chain of 300 sums."""
    x = OPERANDS["x"]
    sums = [Instruction(OPCODES["add"], (i - 1 if i else x, x)) for i in range(300)]
    long = Template((*sums, Instruction(OPCODES["mul"], (ADJOINT, 299))), 300)
    replaced = (OPCODES["sin"], 0)
    monkeypatch.setattr(
        derivative_templates, "template", lambda *which: long if which == replaced else template(*which)
    )
    derivative_templates._template_arrays.cache_clear()
    yield
    derivative_templates._template_arrays.cache_clear()


@pytest.mark.usefixtures("a_long_derivative")
def test_derivatives_may_have_any_length():
    tape = Tape()
    x, seed = tape.input(), tape.input()
    out = tape.append("sin", x)
    program = tape.program([*tape.reverse([(out, seed)], [x]), *tape.forward([(x, seed)], [out])])
    assert program.run(numpy.array([2.0, 10.0])).tolist() == [6020.0, 6020.0]


class TestCalls:
    def test_calls_run_with_the_program(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        called = tape.call(cube, [x, y])
        assert tape.program([tape.append("add", called, x)]).run(numpy.array([2.0, 5.0])).tolist() == [42.0]

    def test_calls_use_their_derivative_rule(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        called = tape.append("sin", tape.call(cube, [x, y]))
        one = tape.constant(1.0)
        reverse = tape.reverse([(called, one)], [x, y])
        forward = [tape.forward([(index, one)], [called])[0] for index in (x, y)]
        numbers = tape.program([*reverse, *forward]).run(numpy.array([0.5, 3.0])).tolist()
        expected = [math.cos(0.375) * 2.25, math.cos(0.375) * 0.125]
        assert numbers == pytest.approx([*expected, *expected], rel=1e-14)

    def test_calls_are_appended_once_if_they_are_pure(self):
        tape = Tape()
        x, y = tape.input(), tape.input()
        assert tape.call(cube, [x, x]) != tape.call(cube, [x, x])
        pure = Switch([tape.program([y])])
        base = tape.call(pure, [x, y])
        assert tape.call(pure, [x, y]) == base
        assert tape.call(pure, [y, x]) != base
        assert tape.call(Switch(pure.branches), [x, y]) != base

    def test_switches_with_side_effects_are_not_pure(self):
        def f(x):
            return loops.cond(x > 0.0, lambda x: (debug.callback(lambda _: None, x), x)[1], lambda x: x, x)

        [function] = [call for call, _ in jit(f).recorded(1.0).program.calls if isinstance(call, Switch)]
        assert not function.is_pure


class TestLoading:
    @fewer(4)
    @given(programs(SPECIAL, EVERY, longest=12))
    def test_a_loaded_graph_gives_the_same_result(self, program):
        _, root = as_values(program)
        graph = Graph.record(root)
        tape, indices = load_graph(graph)
        numbers = graph.data[graph.opcodes == 0]
        assert same(tape.program([indices[graph.root]]).run(numbers)[0], root.data)

    def test_sumprod_is_loaded_as_products_and_sums(self):
        a, b = Value(2.0), Value(3.0)
        graph = Graph.record(sumprod([a, b, 4.0], [b, 5.0, a], 1.0))
        tape, indices = load_graph(graph)
        program = tape.program([indices[graph.root]])
        assert str(program).splitlines()[-4:-1] == [
            "  v5 = v0 * v1 + 1.0",
            "  v6 = v1 * 5.0 + v5",
            "  v7 = 4.0 * v0 + v6",
        ]
        assert program.run(numpy.array([2.0, 3.0])).tolist() == [30.0]


class SumAndDifference(Call):
    """A call for exp(x) + y or exp(x) - y. Its VJP rule gives 2 and 3, unlike the derivatives of its expansion."""

    def __init__(self, name: str) -> None:
        first, rest = Tape(), Tape()
        root = first.append("exp", first.input())
        combined = rest.append(name, rest.input(), rest.input())
        self.expansion = Expansion(first.program([root]), rest.program([combined]))

    def vjp(self, tape: Tape, operands: list[int], base: int, adjoints: list[int]) -> list[int]:
        return [tape.append("mul", adjoints[0], tape.constant(number)) for number in (2.0, 3.0)]


def test_calls_are_expanded_after_differentiation():
    tape = Tape()
    x, y = tape.input(), tape.input()
    results = [tape.call(SumAndDifference(name), [x, y]) for name in ("add", "sub")]
    gradient = tape.reverse([(results[0], tape.constant(1.0))], [x, y])
    program = tape.program([*results, *gradient])
    assert program.calls == ()
    assert str(program).count("exp") == 1  # shared by both expansions
    assert program.run(numpy.array([0.0, 5.0])).tolist() == [6.0, -4.0, 2.0, 3.0]


def load_graph(graph: Graph) -> tuple[Tape, list[int]]:
    """Load a graph onto a tape with its leaves as inputs; return the tape and the indices of the nodes."""
    tape = Tape()
    indices = numpy.full(len(graph), NO_INDEX, numpy.int32)
    indices[graph.opcodes == 0] = [tape.input() for _ in range((graph.opcodes == 0).sum())]
    tape.load(graph.opcodes, graph.offsets, graph.operands, graph.partials, indices, {})
    return tape, indices.tolist()


@pytest.mark.parametrize("operand", ["the one before", "one of few", "one of all"])
def test_an_equal_instruction_is_found_at_any_distance(operand):
    # The second half repeats the first. Instructions are found by their last operand or in the hash table.
    count = 100_000 if IS_COMPILED else 3_000
    tape = Tape()
    leaves = [tape.input() for _ in range(5)]

    def appended() -> list[int]:
        indices = list(leaves)
        for i in range(count):
            other = {
                "the one before": indices[-1],
                "one of few": leaves[i % 5],
                "one of all": indices[i * 7 % len(indices)],
            }
            indices.append(tape.append("add", tape.append("mul", other[operand], tape.constant(i + 0.5)), leaves[0]))
        return indices

    first = appended()
    length = len(tape)
    assert appended() == first
    assert len(tape) == length


def test_the_expansion_of_a_determinant_shares_minors():
    # There is one minor for each set of rows; a minor of k rows takes k products and k - 1 sums.
    n = 8
    tape = Tape()
    matrix = [[tape.input() for _ in range(n)] for _ in range(n)]

    def minor(rows: tuple[int, ...], column: int) -> int:
        if column == n - 1:
            return matrix[rows[0]][column]
        terms = [
            tape.append("mul", matrix[row][column], minor(rows[:k] + rows[k + 1 :], column + 1))
            for k, row in enumerate(rows)
        ]
        total = terms[0]
        for k, term in enumerate(terms[1:]):
            total = tape.append("add" if k % 2 else "sub", total, term)
        return total

    out = minor(tuple(range(n)), 0)
    products = sum(math.comb(n, k) * k for k in range(2, n + 1))
    assert len(tape.program([out])) == products  # all but the first of a minor are fused with a sum
