"""Routines read numbers where they are, share the forward pass of loops, and fail without a wrong result."""

from __future__ import annotations

import math
import threading
import time

import numpy
import pytest
from alarms import alarm, needs_timers
from checkout import IS_COMPILED

from gradwalk import grad, jacrev, jit, jvp, loops, value_and_grad, vmap
from gradwalk import math as gm
from gradwalk.program.code.opcodes import NAMES
from gradwalk.program.program import Program
from gradwalk.program.routine.lower_calls import routine
from gradwalk.program.routine.statements import Compute, For, Routine, Statement, Store, While, size

pytest.importorskip("llvmlite")


def program_of(f, *args) -> Program:
    return jit(f).recorded(*args).program


def routine_of(f, *args) -> Routine:
    return routine(program_of(f, *args).code)


def all_of(kind: type, statements) -> list[Statement]:
    """List the statements of a kind, with those in loops."""
    found, waiting = [], list(statements)
    while waiting:
        statement = waiting.pop()
        found += [statement] if isinstance(statement, kind) else []
        for part in ("body", "test"):
            waiting += getattr(statement, part, [])
    return found


def newton(x, **options):
    return loops.while_loop(lambda s: abs(s * s - x) > 1e-12, lambda s: 0.5 * (s + x / s), 1.0 + x, **options)


def sum_of_roots(x, **options):
    return loops.fori_loop(0, 30, lambda i, total: total + gm.sin(newton(x + i, **options)), 0.0)


def twice(f):
    return grad(grad(f))


def forward_over_reverse(f):
    return lambda x: jvp(grad(f), (x,), (1.0,))


class TestArrays:
    def test_xs_are_read_from_the_inputs(self):
        found = routine_of(lambda x: loops.scan(lambda c, y: (c + gm.sin(y), None), 0.0, x)[0], numpy.arange(50.0))
        assert not found.arrays
        assert [statement.times for statement in all_of(For, found.statements)] == [50]

    def test_overlapping_windows_of_inputs_are_not_copied(self):
        def f(x):
            return loops.scan(lambda c, pair: (c + pair[0] * pair[1], None), 0.0, (x[:-1], x[1:]))[0]

        assert not routine_of(f, numpy.arange(50.0)).arrays

    def test_ys_are_the_xs_of_the_next_loop(self):
        def f(x):
            _, ys = loops.scan(lambda c, y: (c + y, c * y), 0.0, x)
            return loops.scan(lambda c, y: (c + gm.exp(-y), None), 0.0, ys)[0]

        assert list(routine_of(f, numpy.arange(50.0)).arrays.values()) == [50]

    def test_the_statements_do_not_grow_with_the_number_of_steps(self):
        def f(x):
            _, ys = loops.scan(lambda c, y: (c + gm.sin(y), c * y), 0.0, x)
            return loops.scan(lambda c, y: (c + gm.exp(-y), None), 0.0, ys)[0]

        sizes = {size(routine_of(grad(f), numpy.linspace(0.0, 1.0, n)).statements) for n in (60, 600)}
        assert len(sizes) == 1

    def test_a_table_of_constants_is_not_filled_in_each_step(self):
        def f(x, table):
            return loops.fori_loop(0, 20, lambda i, c: c + gm.take(list(table), i) * x, 0.0)

        found = routine_of(f, 0.5, numpy.arange(30.0))
        [loop] = all_of(For, found.statements)
        assert not all_of(Store, loop.body)


class TestSharing:
    def test_value_and_gradient_share_the_forward_pass(self):
        assert len(all_of(While, routine_of(value_and_grad(newton), 2.0).statements)) == 1

    def test_a_loop_over_tangents_replaces_the_loop_over_primals(self):
        program = program_of(lambda x: jvp(newton, (x,), (1.0,)), 2.0)
        assert len(program.calls) == 1
        assert program.run([2.0]).tolist() == pytest.approx([math.sqrt(2.0), 0.5 / math.sqrt(2.0)])

    def test_a_loop_that_the_tangents_depend_on_stays(self):
        def f(x):
            y = newton(x)
            return y, jvp(newton, (x,), (y,))[1]

        program = program_of(f, 2.0)
        assert len(program.calls) == 2
        assert program.run([2.0]).tolist() == pytest.approx([math.sqrt(2.0), 0.5])

    def test_functions_are_not_computed_again_on_the_way_back(self):
        def f(x):
            return loops.fori_loop(0, 30, lambda i, c: c + gm.exp(-c * x), x)

        found = routine_of(grad(f), 0.5)
        forward, backward = sorted(all_of(For, found.statements), key=lambda loop: loop.is_reversed)
        names = [[NAMES[one.opcode] for one in all_of(Compute, loop.body)] for loop in (forward, backward)]
        assert names[0].count("exp") == 1
        assert "exp" not in names[1]


class TestReversePassesThatDoNotDependOnTheCarry:
    def test_the_loop_does_not_run_first(self):
        found = routine_of(grad(sum_of_roots), 2.0).statements
        assert [loop.is_reversed for loop in all_of(For, found)] == [True, True]  # of the sum, and of Newton's method
        assert len(all_of(While, found)) == 1

    def test_the_loop_runs_first_if_its_result_is_needed(self):
        found = routine_of(value_and_grad(sum_of_roots), 2.0).statements
        assert sorted(loop.is_reversed for loop in all_of(For, found)) == [False, True, True]
        assert len(all_of(While, found)) == 2

    def test_other_reverse_passes_read_the_same_intermediates(self):
        def f(x):
            return loops.fori_loop(0, 30, lambda i, c: (c[0] + gm.exp(x * i), c[1] + gm.exp(x * i) * i), (0.0, 0.0))

        found = routine_of(jacrev(f), 0.5)
        assert sorted(loop.is_reversed for loop in all_of(For, found.statements)) == [False, True, True]
        assert [NAMES[one.opcode] for one in all_of(Compute, found.statements)].count("exp") == 1

    @pytest.mark.parametrize("policy", [None, "sqrt", "binomial", 3])
    @pytest.mark.parametrize("transform", [grad, value_and_grad, twice, forward_over_reverse])
    def test_results_are_those_of_the_interpreter(self, transform, policy):
        def f(x):
            def step(c, y):
                return c + gm.sin(newton(x + y)) * y, gm.exp(-y * x)

            total, ys = loops.scan(step, 0.0, xs, checkpoint=policy)
            return total + sum(ys * ys)

        xs = numpy.linspace(0.5, 2.0, 40)
        results = [jit(transform(f), backend=name)(0.75) for name in ("llvm", "lanes")]
        assert results[0] == results[1]
        batches = [jit(vmap(transform(f)), backend=name)(numpy.linspace(0.5, 1.0, 20)) for name in ("llvm", "lanes")]
        numpy.testing.assert_array_equal(*batches)

    def test_a_failure_of_the_loop_is_raised(self):
        def f(x, y):
            return loops.fori_loop(0, 3, lambda i, total: total + y + newton(x, max_steps=2) * 1.0, 0.0)

        for name in ("llvm", "lanes"):
            with pytest.raises(ValueError, match="the condition still holds after max_steps=2 steps"):
                jit(grad(f, 1), backend=name)(50.0, 1.0)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 8, 9, 10, 50])
@pytest.mark.parametrize("transform", [grad, lambda f: grad(grad(f))], ids=["grad", "second"])
def test_evenly_spaced_checkpoints_give_the_same_bits(steps, transform):
    def f(x):
        def step(carry, y):
            return (carry[0] + 0.1 * gm.sin(carry[1] * y), carry[1] * gm.exp(-0.01 * carry[0]) + 0.01 * x), carry[0] * y

        (a, b), ys = loops.scan(step, (x, 1.0), numpy.linspace(0.1, 1.0, steps), checkpoint="sqrt")
        return a * b + sum(ys * ys)

    compiled = jit(transform(f), backend="llvm")
    assert compiled(0.7) == jit(transform(f), backend="lanes")(0.7)
    assert compiled.statistics.backends == {"": "llvm"} or not IS_COMPILED


def test_results_of_a_loop_survive_its_reverse_pass():
    def f(x):
        carry = loops.fori_loop(0, 10, lambda i, c: gm.sin(c[::-1]) + 0.1 * i, x, checkpoint="sqrt")
        return sum(carry * carry)

    x = numpy.linspace(0.0, 1.0, 100)
    (value, slopes), (expected, right) = [jit(value_and_grad(f), backend=name)(x) for name in ("llvm", "lanes")]
    assert value == expected == f(x)
    assert slopes.tolist() == right.tolist()


class TestFailures:
    def test_too_many_steps_raise_the_error_of_the_interpreter(self):
        f = jit(lambda x: loops.while_loop(lambda s: s > x, lambda s: s + 1.0, 1.0, max_steps=7), backend="llvm")
        assert f(2.0) == 1.0
        with pytest.raises(ValueError, match="the condition still holds after max_steps=7 steps"):
            f(0.0)
        assert f.statistics.backends == {"": "llvm"} or not IS_COMPILED

    @needs_timers
    @pytest.mark.parametrize("transform", [lambda f: f, grad], ids=["value", "grad"])
    def test_signal_handlers_interrupt_endless_loops(self, transform):
        f = transform(lambda x: loops.while_loop(lambda s: s > x, lambda s: s + 1e-9 * gm.sin(s), 1.0 + 1e-3 * x))
        endless = jit(f, backend="llvm")
        endless(2.0)
        with alarm(0.1):
            endless(0.0)
        assert endless(2.0) == jit(f, backend="lanes")(2.0)

    @needs_timers
    @pytest.mark.parametrize("in_batch", [False, True])
    def test_signal_handlers_interrupt_a_reverse_pass_with_checkpoints(self, in_batch):
        def with_steps(n):
            f = grad(lambda x: loops.fori_loop(0, n, lambda i, s: gm.sin(s) * x, x, checkpoint=1))
            return jit(vmap(f) if in_batch else f, backend="llvm")

        x = numpy.linspace(0.1, 0.9, 16) if in_batch else 0.5
        with_steps(10)(x)  # starts the compiler
        slow = with_steps(100_000)
        with alarm(1.0):
            slow(x)

    def test_other_threads_run_during_a_long_loop(self):
        def repeated(x, n):
            return loops.while_loop(lambda s: s[1] < n, lambda s: (gm.sin(s[0]), s[1] + 1.0), (x, 0.0))[0]

        g = jit(repeated, backend="llvm")
        g(1.0, 1.0)
        turns: list[float] = []
        thread = threading.Thread(target=g, args=(1.0, 3e7 if IS_COMPILED else 2e5))
        thread.start()
        while thread.is_alive():
            turns.append(time.perf_counter())
            time.sleep(0.001)
        assert len(turns) > 10

    def test_without_memory_the_error_of_the_interpreter_is_raised(self):
        f = jit(grad(lambda x: loops.fori_loop(0, 10**13, lambda i, c: gm.sin(c), x)), backend="llvm")
        with pytest.raises((MemoryError, ValueError)):
            f(1.0)
