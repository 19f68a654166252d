"""gradwalk.loops against jax.lax: values, first and second derivatives under each transform, and errors."""

from __future__ import annotations

import functools
import itertools
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from beside_jax import as_values, compare, numbers
from checkout import IS_COMPILED
from hypothesis import given, settings
from hypothesis import strategies as st
from references import jax, jnp

from gradwalk import (
    RecordingError,
    Value,
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    loops,
    math,
    primitive,
    stop_gradient,
    value_and_grad,
    vmap,
    walk,
)
from gradwalk.program.code.checkpoint_plan import slots_for
from gradwalk.program.program import Program

BOUND = 60  # max_steps of traced while loops
BOUNDED = SimpleNamespace(**{name: getattr(loops, name) for name in loops.__all__})
BOUNDED.while_loop = functools.partial(loops.while_loop, max_steps=BOUND)


def power(lax: Any, m: Any, x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, y: y * x[0] + i * x[1], x[2])


def recurrence(lax: Any, m: Any, x: Any) -> Any:
    def step(carry: Any, item: Any) -> Any:
        position, speed = carry
        speed = speed - 0.1 * m.sin(position) * item
        return (position + 0.1 * speed, speed), position * speed

    (position, speed), products = lax.scan(step, (x[0], x[1]), x)
    return position + 2 * speed + (products * products).sum()


def backwards(lax: Any, m: Any, x: Any) -> Any:
    _, running = lax.scan(lambda total, item: (total * 0.5 + item, total * item), x[0], x, reverse=True)
    return (running * numpy.arange(1.0, 4.0)).sum()


def newton(lax: Any, m: Any, x: Any) -> Any:
    root = lax.while_loop(lambda r: abs(r * r - x[0]) > 1e-13, lambda r: 0.5 * (r + x[0] / r), x[1])
    return root * x[2]


def collatz(lax: Any, m: Any, x: Any) -> Any:
    """Run a while loop with two carried values; the condition uses only the first."""
    _, product = lax.while_loop(lambda c: c[0] < 20.0, lambda c: (c[0] * 2.0 + 1.0, c[1] * x[1] + x[2]), (x[0], x[1]))
    return product


def nested(lax: Any, m: Any, x: Any) -> Any:
    def step(carry: Any, item: Any) -> Any:
        inner = lax.fori_loop(0, 3, lambda i, y: m.sin(y * item) + carry, item)
        return lax.while_loop(lambda r: r > 0.5, lambda r: r * 0.5 * m.cos(inner), carry + inner), inner

    last, all_of_them = lax.scan(step, x[0], x)
    return last + (all_of_them * all_of_them).sum()


def branch(lax: Any, m: Any, x: Any) -> Any:
    return lax.cond(x[0] > x[1], lambda a, b: m.sqrt(a - b), lambda a, b: a * b * b, x[0], x[1]) * x[2]


def pieces(lax: Any, m: Any, x: Any) -> Any:
    choices = [lambda a: a * a, m.sin, lambda a: 1.0 / a]
    return sum(lax.switch(i, choices, x[i]) for i in range(3)) + lax.map(lambda a: a * a * a, x).sum()


FUNCTIONS = [power, recurrence, backwards, newton, collatz, nested, branch, pieces]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("at", [(1.3, 0.7, 0.4), (0.6, 1.9, -1.1)])
def test_values_and_derivatives_against_jax(f, at):
    x = numpy.array(at)

    def in_jax(x: Any) -> Any:
        return f(jax.lax, jnp, x)

    # Forward over forward: JAX has no reverse mode through while_loop.
    value, first, second = (numpy.asarray(g(x)) for g in (in_jax, jax.jacfwd(in_jax), jax.jacfwd(jax.jacfwd(in_jax))))
    values = as_values(x)
    root = f(loops, math, values)
    root.backward()
    compare("eager", numpy.array([root.data]), numpy.array([value]), 1e-12)
    compare("backward", numpy.array([v.grad for v in values]), first, 1e-10)
    for name, transform, expected in (
        ("value", lambda g: g, value),
        ("grad", grad, first),
        ("hessian", hessian, second),
    ):
        compare(name, numbers(transform(lambda x: f(loops, math, x))(x)), expected, 1e-9)
        recorded = jit(transform(lambda x: f(BOUNDED, math, x)))
        recorded(x + 0.25)  # traced with other arguments: no value may be baked in
        compare(f"jit {name}", numbers(recorded(x)), expected, 1e-9)
        lanes = vmap(transform(lambda x: f(BOUNDED, math, x)))(numpy.stack([x + 0.25, x]))
        compare(f"vmap {name}", numbers(lanes[1]), expected, 1e-9)


@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 4)), min_size=1, max_size=4),
    x=st.floats(-1.5, 1.5),
    y=st.floats(-1.5, 1.5),
)
@settings(max_examples=40, deadline=None)
def test_random_nests_of_counted_loops(steps, x, y):

    def body(lax: Any, m: Any, level: int, carry: Any) -> Any:
        if level == len(steps):
            return carry[0] * 0.9 + m.sin(carry[1]), carry[1] - 0.2 * carry[0]
        lower, upper = steps[level][0], steps[level][0] + steps[level][1]
        return lax.fori_loop(lower, upper, lambda i, c: body(lax, m, level + 1, (c[0] + 0.01 * i, c[1])), carry)

    expected = jax.grad(lambda x, y: sum(body(jax.lax, jnp, 0, (x, y))), argnums=(0, 1))(x, y)
    for f in (grad, lambda g, argnums: jit(grad(g, argnums=argnums))):
        found = f(lambda x, y: sum(body(loops, math, 0, (x, y))), argnums=(0, 1))(x, y)
        assert found == pytest.approx(tuple(map(float, expected)), rel=1e-9, abs=1e-9)


# Branches


def test_unselected_branch_is_not_run():
    def never(x: Any) -> Any:
        raise AssertionError

    assert loops.cond(True, lambda x: x, never, 2.0) == 2.0
    assert loops.cond(0.0, never, lambda x: x, 2.0) == 2.0
    assert loops.cond(Value(3.0) > 2, lambda x: x, never, 2.0) == 2.0
    assert loops.switch(1, [never, lambda: 5.0]) == 5.0


def test_unselected_branch_contributes_zero_to_second_order():
    # At 0 the derivative of sqrt is infinite.

    def f(x: Any) -> Any:
        return loops.cond(x > 0, math.sqrt, lambda x: 0.0 * x, x)

    for transformed, at_four in ((grad(f), 0.25), (grad(grad(f)), -1 / 32)):
        for way in (transformed, jit(transformed), lambda x, g=transformed: vmap(g)(numpy.array([x]))[0]):
            assert way(0.0) == 0.0
            assert way(4.0) == pytest.approx(at_four, rel=1e-12)


@pytest.mark.parametrize(("index", "expected"), [(-5, 1.0), (0, 1.0), (1, 2.0), (2, 3.0), (9, 3.0), (True, 2.0)])
def test_switch_clamps_the_index(index, expected):
    branches = [lambda: 1.0, lambda: 2.0, lambda: 3.0]
    assert loops.switch(index, branches) == expected
    assert float(jax.lax.switch(int(index), branches)) == expected
    assert jit(lambda i: loops.switch(i, branches))(float(index)) == expected
    assert loops.switch(Value(float(index)), branches) == expected


# Loops


def test_loops_without_steps():
    assert loops.fori_loop(3, 3, lambda i, y: y + 1, 1.0) == 1.0
    assert loops.fori_loop(3, 1, lambda i, y: y + 1, 1.0) == 1.0
    carry, outputs = loops.scan(lambda c, x: (c + x, (x, numpy.array([x, c]))), 1.0, numpy.zeros(0))
    assert carry == 1.0
    assert [part.shape for part in outputs] == [(0,), (0, 2)]
    assert loops.map(lambda x: x, numpy.zeros((0, 3))).shape == (0, 3)


def test_scan_accepts_and_returns_trees():
    xs = {"a": numpy.arange(3.0), "b": numpy.arange(6.0).reshape(3, 2)}

    def step(carry: Any, x: Any) -> Any:
        return carry + x["a"], {"sum": x["b"].sum() * carry, "row": x["b"] * 2.0}

    carry, outputs = loops.scan(step, 1.0, xs)
    in_jax, expected = jax.lax.scan(step, 1.0, {key: jnp.asarray(x) for key, x in xs.items()})
    assert carry == float(in_jax)
    for key, found in outputs.items():
        assert numpy.array_equal(found, numpy.asarray(expected[key]))
    assert loops.scan(lambda c, x: (c + 1.0, None), 0.0, length=5) == (5.0, None)


def test_scan_outputs_contain_values():
    x = Value(2.0)
    _, powers = loops.scan(lambda c, k: (c * x, c), 1.0, numpy.zeros(3))
    assert powers.dtype == object
    assert numbers(powers).tolist() == [1.0, 2.0, 4.0]


def test_walk_contains_every_iteration():
    x = Value(0.5, label="x")
    found = walk(loops.fori_loop(0, 3, lambda i, y: y * x, x))
    assert len(found.graph) == 4


def test_derivative_goes_through_the_steps_taken():
    # Newton's method from a constant: the last steps carry the derivative.

    def root(x: Any) -> Any:
        return loops.while_loop(lambda r: abs(r * r - x) > 1e-14 * x, lambda r: (r + x / r) / 2, stop_gradient(x))

    assert grad(root)(9.0) == pytest.approx(1 / 6, rel=1e-12)


def test_exceeding_max_steps_raises_or_gives_nan():
    def halved(x: Any) -> Any:
        return loops.while_loop(lambda r: r > 1.0, lambda r: r / 2, x, max_steps=3)

    assert halved(8.0) == 1.0
    with pytest.raises(ValueError, match="still holds after max_steps=3 steps"):
        halved(9.0)
    recorded = jit(halved)
    assert recorded(8.0) == 1.0
    for recording in (recorded, jit(grad(halved)), grad(halved)):
        with pytest.raises(ValueError, match="still holds after max_steps=3 steps"):
            recording(9.0)
    lanes = vmap(halved)(numpy.array([8.0, 9.0]))
    assert lanes[0] == 1.0
    assert numpy.isnan(lanes[1])


def test_steps_after_the_end_are_not_computed():
    # One more step would take the square root of a negative number.

    def f(x: Any) -> Any:
        return loops.while_loop(lambda r: r > 0.3, lambda r: math.sqrt(r) - 0.5, x, max_steps=10)

    for x in (0.9, 0.2, 0.7):
        assert jit(f)(x) == pytest.approx(f(x), rel=1e-15)
        assert jit(grad(f))(x) == pytest.approx(grad(f)(x), rel=1e-12)
        assert jit(grad(grad(f)))(x) == pytest.approx(grad(grad(f))(x), rel=1e-12)


# Errors


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: loops.fori_loop(0, 2.5, lambda i, y: y, 1.0), ValueError, "upper must be a whole number, got 2.5"),
        (lambda: loops.fori_loop(0, float("nan"), lambda i, y: y, 1.0), ValueError, "must be a whole number"),
        (lambda: loops.fori_loop(0, float("inf"), lambda i, y: y, 1.0), ValueError, "must be a whole number"),
        (lambda: loops.fori_loop("0", 2, lambda i, y: y, 1.0), TypeError, "lower must be a number, got '0', a str"),
        (lambda: loops.fori_loop(0, 2, lambda i, y: (y, y), 1.0), TypeError, "must return the structure"),
        (lambda: loops.fori_loop(0, 2, lambda i, y: None, 1.0), TypeError, "returned a None as the next carry"),
        (lambda: loops.fori_loop(0, 2, lambda i, y: y, {"1"}), TypeError, "init_val is a set"),
        (lambda: loops.while_loop(lambda y: y < 3, lambda y: [y], 1.0), TypeError, "must return the structure"),
        (lambda: loops.scan(lambda c, x: c, 0.0, numpy.zeros(2)), TypeError, "must return a pair"),
        (
            lambda: loops.scan(lambda c, x: (c, x), 0.0, [1.0, 2.0]),
            TypeError,
            "xs\\[0\\] must be an array to loop over, got 1.0",
        ),
        (lambda: loops.scan(lambda c, x: (c, x), 0.0), ValueError, "xs and length are missing"),
        (lambda: loops.scan(lambda c, x: (c, x), 0.0, numpy.zeros(2), length=3), ValueError, r"\[2, 3\] differ"),
        (
            lambda: loops.scan(lambda c, x: (c, x), 0.0, (numpy.zeros(2), numpy.zeros(3))),
            ValueError,
            r"\[2, 3\] differ",
        ),
        (
            lambda: loops.scan(lambda c, x: (c + 1.0, x if c else (x, x)), 0.0, numpy.zeros(2)),
            TypeError,
            "at first and",
        ),
        (lambda: loops.cond("yes", abs, abs, 1.0), TypeError, "pred must be a number, got 'yes'"),
        (lambda: loops.switch(0, [], 1.0), ValueError, "at least one function"),
        (lambda: loops.switch(0.5, [abs], 1.0), ValueError, "index must be a whole number, got 0.5"),
        (
            lambda: jit(lambda x: loops.cond(x > 0, lambda: (x, x), lambda: x))(1.0),
            TypeError,
            "true_fun returned .* and false_fun",
        ),
    ],
)
def test_invalid_arguments_raise(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


# Loops traced as one instruction


def test_program_length_does_not_depend_on_the_count():
    def f(x: Any, steps: int) -> Any:
        return loops.fori_loop(0, steps, lambda i, y: y + 0.001 * math.sin(y), x)

    lengths = set()
    for steps in (1, 10, 100_000):
        recorded = jit(value_and_grad(f), static_argnums=1)
        recorded(0.5, steps)
        lengths.add(len(recorded.program))
    assert len(lengths) == 1
    assert lengths.pop() <= 4


def test_bounds_can_be_traced():
    def f(x: Any, lower: Any, upper: Any) -> Any:
        return loops.fori_loop(lower, upper, lambda i, y: y * x + i, 1.0)

    recorded, slope = jit(f), jit(grad(f))
    for lower, upper in ((0, 3), (2, 7), (4, 4), (5, 2)):
        assert recorded(1.5, lower, upper) == f(1.5, lower, upper)
        assert slope(1.5, lower, upper) == pytest.approx(grad(lambda x, a=lower, b=upper: f(x, a, b))(1.5), rel=1e-14)


@pytest.mark.parametrize("checkpoint", ["sqrt", "binomial", 1, 2, 5, 1000])
@pytest.mark.parametrize("steps", [1, 2, 3, 10, 57])
def test_checkpoint_policy_does_not_change_results(checkpoint, steps):
    rows = numpy.linspace(0.5, 1.5, steps)

    def counted(x: Any, kept: Any) -> Any:
        step = lambda i, c: (c[0] + 0.1 * math.sin(c[1] * x), c[1] * 0.9 + c[0] * i)  # noqa: E731
        return sum(loops.fori_loop(2, 2 + steps, step, (x, 1.0), checkpoint=kept))

    def scanned(x: Any, kept: Any) -> Any:
        last, outputs = loops.scan(lambda c, r: (math.cos(c * r), c * x), x, rows, checkpoint=kept)
        return last + (outputs * outputs).sum()

    def conditioned(x: Any, kept: Any) -> Any:
        goes_on = lambda c: c[1] < steps  # noqa: E731
        return loops.while_loop(goes_on, lambda c: (math.sin(c[0]) + x, c[1] + 1.0), (x, 0.0), checkpoint=kept)[0]

    for f in (counted, scanned, conditioned):
        for transform in (grad, lambda g: grad(grad(g))):
            all_kept, some_kept = transform(lambda x, f=f: f(x, None)), transform(lambda x, f=f: f(x, checkpoint))
            assert some_kept(0.7) == all_kept(0.7)


def test_checkpoints_bound_the_memory():
    def f(x: Any, kept: Any) -> Any:
        step = lambda i, c: tuple(0.999 * y + 0.001 * x for y in c)  # noqa: E731
        return sum(loops.fori_loop(0, 20_000, step, (x,) * 10, checkpoint=kept))

    peaks = {}
    for kept in (None, "sqrt", "binomial", 20):
        slope = jit(grad(lambda x, kept=kept: f(x, kept)), backend="lanes")  # compiling would allocate memory, too
        slope(0.5)
        tracemalloc.start()
        slope(0.5)
        peaks[kept] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    numbers = 10 * 8
    assert peaks[None] > 20_000 * numbers
    assert peaks["sqrt"] < 202 * numbers + 20_000
    assert peaks["binomial"] < 10 * numbers + 20_000
    assert peaks[20] < 20 * numbers + 20_000


@pytest.mark.parametrize("kept", [None, "sqrt", "binomial", 1, 4, 20, 1000])
@pytest.mark.parametrize("steps", [1, 2, 10, 100])
def test_checkpoints_bound_the_recomputed_steps(steps, kept):
    runs = 0

    @primitive
    def noted(x: float) -> float:
        nonlocal runs
        runs += 1
        return x

    @noted.derivative
    def one(result: Any, x: Any) -> Any:
        return 1.0

    def counted(x: Any) -> Any:
        return loops.fori_loop(0, steps, lambda i, y: noted(math.sin(y)) + x, x, checkpoint=kept)

    def conditioned(x: Any) -> Any:
        step = lambda c: (noted(math.sin(c[0])) + x, c[1] + 1)  # noqa: E731
        return loops.while_loop(lambda c: c[1] < steps, step, (x, 0), checkpoint=kept)[0]

    slots = slots_for(kept, steps)
    again = next(times for times in range(steps) if math.comb(slots + times, times) >= steps)
    assert again <= {None: 1, "sqrt": 2, "binomial": slots}.get(kept, steps)
    for f, is_counted in ((counted, False), (conditioned, True)):
        slope = jit(grad(f))
        slope(0.3)
        runs = 0
        slope(0.3)
        keeps_all = slots == steps and not (is_counted and isinstance(kept, str))
        assert runs <= (steps if keeps_all else (again + is_counted) * steps)


def test_body_that_indexes_a_list_is_unrolled():
    table = [1.0, 2.0, 4.0]

    def f(x: Any) -> Any:
        return loops.fori_loop(0, 3, lambda i, y: y * x + table[i], 1.0)

    assert jit(f)(2.0) == f(2.0)
    assert jit(grad(f))(2.0) == grad(f)(2.0) == 3 * 4.0 + 2 * 2.0 + 2.0


@pytest.mark.parametrize("table", [numpy.array([1.0, 2.0, 4.0]), {0: 1.0, 1: 2.0, 2: 4.0}, (1.0, 2.0, 4.0)], ids=type)
def test_body_that_indexes_another_container_is_unrolled(table):
    def f(x: Any) -> Any:
        return loops.fori_loop(0, 3, lambda i, y: y * x + table[i], 1.0)

    assert jit(grad(f))(2.0) == 18.0


def test_error_names_the_unsupported_operation():
    with pytest.raises(RecordingError, match=r"float"):
        jit(lambda x: loops.while_loop(lambda y: y < 3.0, lambda y: y + float(x), x))(1.0)


def test_bounds_can_be_large():
    first = 3_000_000_000
    assert jit(lambda x: loops.fori_loop(first, first + 2, lambda i, y: y + i, x))(0.5) == 2.0 * first + 1.5


def test_body_can_branch_unless_branches_are_refused():
    def f(x: Any) -> Any:
        return loops.fori_loop(0, 3, lambda i, y: y * x if y < 3 else y - x, x)

    assert grad(f)(2.0) == 8.0  # the derivative of (x*x - x) * x
    with pytest.raises(RecordingError, match="branches on"):
        jit(f, branches="refuse")(2.0)
    recorded = jit(grad(f))
    assert [recorded(x) for x in (2.0, 1.0, 4.0, 2.0)] == [grad(f)(x) for x in (2.0, 1.0, 4.0, 2.0)]


def test_branches_on_the_result_of_a_loop():
    def f(x):
        y = loops.fori_loop(0, 3, lambda i, y: y * x, 1.0)
        return 2.0 * y if y > 0 else loops.cond(y < -10.0, lambda: -y, lambda: y)

    points = [2.0, -1.0, -3.0, 2.0]
    for transform in (lambda f: f, grad, hessian):
        expected = [transform(f)(x) for x in points]
        recorded = jit(transform(f))
        assert [recorded(x) for x in points] == expected
        assert vmap(transform(f))(numpy.array(points)).tolist() == expected


@pytest.mark.parametrize("kept", [None, 2])
def test_mixed_second_derivatives_of_a_scan(kept):
    # Cotangents that the first derivative does not need are not computed. Differentiate by every pair of arguments.

    def f(lax: Any, m: Any, x: Any, y: Any, rows: Any, **more: Any) -> Any:
        def step(carry: Any, row: Any) -> Any:
            a, b, c = carry
            return (m.sin(a) * y + row, b * 0.5 + a, c * x + 1.0), a * c

        last, outputs = lax.scan(step, (x, y, 0.3), rows, **more)
        return last[0] * last[1] + last[2] + (outputs * outputs).sum()

    rows, n = numpy.array([0.1, 0.7, -0.4]), 3
    in_jax = functools.partial(f, jax.lax, jnp)
    for first in range(n):
        for second in range(n):
            expected = jax.jacfwd(jax.grad(in_jax, argnums=first), argnums=second)(0.6, 0.9, rows)
            ours = functools.partial(f, loops, math, checkpoint=kept)
            for outer, inner in ((jacrev, grad), (jacfwd, grad), (jacrev, jacfwd)):
                found = outer(inner(ours, argnums=first), argnums=second)(0.6, 0.9, rows)
                assert numpy.asarray(found, float) == pytest.approx(numpy.asarray(expected), rel=1e-12, abs=1e-12)


@primitive
def cubed(x: float) -> float:
    return x * x * x


@cubed.derivative
def three_squares(result: Any, x: Any) -> Any:
    return 3 * x * x


def test_primitives_and_checkpoints_in_loops_to_second_order():
    kept = checkpoint(lambda y: math.sin(y) * y)

    def f(x: Any, cube: Any, sine: Any) -> Any:
        return loops.fori_loop(0, 3, lambda i, y: 0.1 * cube(y) + sine(y) * x, x)

    def plain(x: Any) -> Any:
        return f(x, lambda y: y * y * y, lambda y: math.sin(y) * y)

    def whole(x: Any) -> Any:
        return f(x, cubed, kept)

    for transform in (lambda g: g, grad, lambda g: grad(grad(g)), lambda g: jacfwd(jacfwd(g))):
        assert transform(whole)(0.8) == pytest.approx(transform(plain)(0.8), rel=1e-12)
        assert jit(transform(whole))(0.8) == pytest.approx(transform(plain)(0.8), rel=1e-12)
        assert vmap(transform(whole))(numpy.array([0.3, 0.8]))[1] == pytest.approx(transform(plain)(0.8), rel=1e-12)


def test_jitted_loops_accept_values():
    recorded = jit(lambda x, y: loops.fori_loop(0, 5, lambda i, c: math.sin(c * x) + y, 0.3))
    x, y = Value(0.7), Value(0.2)
    recorded(x, y).backward()
    assert (x.grad, y.grad) == pytest.approx(grad(recorded, argnums=(0, 1))(0.7, 0.2), rel=1e-14)


def test_captured_values_get_gradients():
    w = Value(0.5)
    doubled = jit(lambda x: loops.while_loop(lambda y: y < 10.0 * w, lambda y: y * 2.0 + w, x))
    last = doubled(1.0)
    last.backward()
    assert last.data == ((1 * 2 + 0.5) * 2 + 0.5)
    assert w.grad == 2 + 1


def test_loop_over_constants_in_a_jitted_function():
    assert jit(lambda x: x + loops.fori_loop(0, 4, lambda i, y: y + i, 1.0))(2.0) == 9.0


def test_endless_loops_can_be_interrupted():
    program = (
        "import signal\n"
        "from gradwalk import jit, loops\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT\n"
        "endless = jit(lambda x: loops.while_loop(lambda y: y > 0, lambda y: y * 1.0, x))\n"
        "endless(0.0)\n"
        "print('ready', flush=True)\n"
        "endless(1.0)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in said


@pytest.mark.parametrize("kept", ["all", 0, True, 1.5])
def test_invalid_checkpoint_raises(kept):
    with pytest.raises(ValueError, match="checkpoint must be None"):
        loops.fori_loop(0, 2, lambda i, y: y, 1.0, checkpoint=kept)


TABLE = {0: 1.0, 2: 4.0}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: loops.fori_loop(0, 4, lambda i, v: v * x + TABLE.get(i, 0.5), 0.0),
        lambda x: loops.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * x + TABLE.get(s[0], 0.5)), (0, 0.0))[
            1
        ],
        lambda x: loops.fori_loop(0, 4, lambda i, v: v * x + (2.0 if i in {1, 3} else 0.0), 0.0),
    ],
)
def test_loops_with_dict_lookups_are_unrolled(f):
    # A dict does not contain a traced counter, so the loop must be unrolled.
    h = 1e-6
    assert grad(f)(2.0) == pytest.approx((f(2.0 + h) - f(2.0 - h)) / (2 * h), rel=1e-6)


def test_while_loop_that_indexes_an_array_is_unrolled():
    table = numpy.array([1.0, 2.0, 4.0])

    def f(x):
        return loops.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x + table[s[0]]), (0, 0.0))[1]

    assert value_and_grad(f)(2.0) == (12.0, 6.0)


class TestTracingRunsNothing:
    """Tracing does not run loop bodies on the arguments of the first call, which may be outside their domain."""

    @staticmethod
    def root(x):
        return loops.while_loop(lambda r: abs(r * r - x) > 1e-9, lambda r: (r + x / r) / 2, x, max_steps=50)

    def test_branches(self):
        f = lambda x: loops.cond(x > 0, self.root, lambda x: 0.0 * x, x)  # noqa: E731
        assert jit(f)(-1.0) == 0.0
        assert vmap(f)(numpy.array([-1.0, 4.0])).tolist() == pytest.approx([0.0, 2.0])
        assert jit(f, branches="record")(-4.0) == 0.0

    def test_loops(self):
        def f(x):
            return loops.fori_loop(0, 3, lambda i, y: loops.cond(i > 0, self.root, lambda y: y + 3, y), x)

        assert grad(f)(-1.0) == pytest.approx(0.14865, rel=1e-4)
        assert vmap(self.root)(numpy.empty(0)).shape == (0,)


def test_exceeding_max_steps_in_a_batch_gives_nan():
    f = functools.partial(loops.while_loop, lambda r: r > 1.0, lambda r: r / 2, max_steps=3)
    for transform in (lambda f: f, grad, jacfwd, hessian):
        for batch in ([8.0, 9.0], [9.0, 8.0]):
            found = vmap(transform(f))(numpy.array(batch))
            assert numpy.isnan(found).tolist() == [x == 9.0 for x in batch]


@pytest.mark.parametrize("transform", [lambda f: f, grad, jacrev, jacfwd, hessian])
def test_exceeding_max_steps_gives_nan_also_if_the_derivative_is_zero(transform):
    f = functools.partial(loops.while_loop, lambda s: s[0] > s[1], lambda s: (s[0] - 1.0, s[1]), max_steps=8)
    found = vmap(transform(lambda x: f((10.0, x))[0]))(numpy.array([2.5, 1.0]))
    assert numpy.isnan(found).tolist() == [False, True]


def test_a_checkpoint_may_be_any_large_number():
    f = grad(lambda x: loops.while_loop(lambda s: s < 9.0, lambda s: s * x, 1.0, checkpoint=2**64))
    g = jit(f)
    assert g(2.0) == f(2.0) == 32.0
    assert Program.from_json(g.program.to_json()).run([2.0]) == [32.0]
    for wrong in (numpy.array([1, 2]), numpy.array("sqrt"), 0, 1.5, True):
        with pytest.raises(ValueError, match="checkpoint must be None"):
            loops.fori_loop(0, 3, lambda i, s: s, 1.0, checkpoint=wrong)


def test_traced_bounds_have_zero_derivative():
    def f(a, x):
        return loops.fori_loop(a, 5, lambda i, y: y + i * i * x, 0.0)

    for transform in (lambda g: g, jit):
        assert transform(grad(f, argnums=(0, 1)))(2.0, 1.0) == (0.0, 29.0)
    assert vmap(grad(f))(numpy.array([2.0]), numpy.array([1.0])).tolist() == [0.0]


@pytest.mark.parametrize(("index", "expected"), [(0.5, 1.0), (1.0, 2.0), (1.5, 2.0), (-1.0, 1.0), (9.0, 2.0)])
def test_traced_switch_rounds_the_index_down(index, expected):
    f = lambda i, x: loops.switch(i, [lambda x: x, lambda x: 2 * x], x)  # noqa: E731
    assert jit(f)(index, 1.0) == expected
    assert vmap(f)(numpy.array([index, numpy.nan]), numpy.ones(2)).tolist() == pytest.approx(
        [expected, numpy.nan], nan_ok=True
    )
    three = lambda i, x: loops.switch(i, [lambda x: x, lambda x: 2 * x, lambda x: 2 * x], x)  # noqa: E731
    assert jit(three)(index, 1.0) == vmap(three)(numpy.array([index]), numpy.ones(1))[0] == expected


@pytest.mark.parametrize(
    "f",
    [
        lambda: loops.while_loop(lambda c: c < 3, lambda c: c + 1, 0, max_steps=-1),
        lambda: loops.while_loop(lambda c: c < 3, lambda c: c + 1, 0, max_steps=2**70),
        lambda: loops.scan(lambda c, x: (c, c), 0.0, length=-1),
    ],
)
def test_invalid_counts_raise(f):
    with pytest.raises(ValueError, match="must be a whole number from 0 to 9007199254740992"):
        f()


def test_conditions_support_and_or_xor():
    def steps(x, most):
        goes_on = lambda c: (c[0] < x) & ((c[1] < most) | (c[0] < 2.0))  # noqa: E731
        return loops.while_loop(goes_on, lambda c: (c[0] * 2.0, c[1] + 1), (x / 64, 0.0))

    for x, most in itertools.product((1.0, 90.0, 150.0), (3.0, 100.0)):
        expected = steps(x, most)
        assert jit(steps)(x, most) == expected
        assert vmap(steps, in_axes=(0, None))(numpy.array([x, 2.0]), most)[1][0] == expected[1]
    for a, b in itertools.product((0.0, 1.0), (0.0, 1.0)):

        def joined(a, b):
            x, y = a > 0.5, b > 0.5
            return x & y, x | y, x ^ y, numpy.bool_(True) & x, x | False, True ^ y

        recorded = jit(lambda a, b: tuple(1.0 * x for x in joined(a, b)))(a, b)
        assert recorded == tuple(map(float, joined(a, b)))
    for wrong in (lambda x: x & 3.0, lambda x: 2 | x, lambda x: x ^ "y"):
        for f in (jit(wrong), lambda x: wrong(Value(x))):  # noqa: B023
            with pytest.raises(
                TypeError, match=r"unsupported operand|with an int to `x` while the function is being recorded"
            ):
                f(1.0)


def test_zero_dimensional_carries():
    x = numpy.array(2.0)
    for f in (
        lambda x: loops.fori_loop(0, 3, lambda i, c: c * 2.0, x),
        lambda x: loops.while_loop(lambda c: c < 9.0, lambda c: c * 2.0, x),
        lambda x: loops.scan(lambda c, y: (c * y, c), x, numpy.array([4.0, 2.0]))[0],
    ):
        assert f(x) == jit(f)(x) == 16.0
        assert grad(f)(x) == jit(grad(f))(x) == 8.0
    assert loops.scan(lambda c, y: (c * y, c), x, numpy.array([4.0, 2.0]))[1].tolist() == [2.0, 8.0]


def test_other_threads_run_during_a_loop():
    f = jit(lambda x: loops.while_loop(lambda c: c[0] < x, lambda c: (c[0] + 1.0, c[1] * 0.5 + 1.0), (0.0, 1.0)))
    f(1.0)
    ticks: list[float] = []
    thread = threading.Timer(0.05, lambda: ticks.append(time.perf_counter()))
    thread.start()
    f(2e7 if IS_COMPILED else 2e5)
    end = time.perf_counter()
    thread.join()
    assert ticks[0] < end


def test_outputs_keep_their_types():
    x = numpy.arange(3.0)

    def f(x):
        return loops.scan(lambda c, t: (c & (t < 5.0), (t > 1.0, 3, t)), True, x)

    for found in (f(x), jit(f)(x)):
        last, (masks, counts, numbers) = found
        assert last is True
        assert [masks.dtype, counts.dtype, numbers.dtype] == [bool, numpy.int64, numpy.float64]
        assert masks.tolist() == [False, False, True]
    chosen = jit(lambda x: loops.cond(x > 0.0, lambda: (x > 1.0, 1, 1), lambda: (x < 0.0, 2, x)))(2.0)
    assert chosen == (True, 1, 1.0)
    assert [type(item) for item in chosen] == [bool, int, float]


def test_elements_of_integer_arrays_are_integers_in_eager_loops():
    table = numpy.array([1.0, 2.0, 3.0])

    def f(x, places):
        return loops.scan(lambda c, i: (c * x + table[i], c), 1.0, places)[0]

    places = numpy.array([2, 0, 1], numpy.uint8)
    assert f(2.0, places) == 24.0
    assert [grad(f)(2.0, places), jit(f)(2.0, places), jit(grad(f))(2.0, places)] == [25.0, 24.0, 25.0]
    last, (counts, signs) = loops.scan(lambda c, x: (c + x[0], (x[0], not x[1])), 0, (places, places > 0))
    assert type(last) is int
    assert [counts.tolist(), signs.tolist(), signs.dtype] == [[2, 0, 1], [False, True, False], bool]


def test_carries_keep_their_types():
    f = jit(lambda x: loops.fori_loop(0, 3, lambda i, c: (c[1], c[0], c[2], c[3] & (x > 0.0)), (1, 2.5, 7, True)))
    assert f(1.0) == (2.5, 1.0, 7, True)
    assert [type(item) for item in f(1.0)] == [float, float, int, bool]


def test_functions_of_numpy_do_not_warn_about_numbers_that_are_not_known_yet():
    def f(v):
        return numpy.tanh(loops.cond(v.sum() > 0.1, lambda: v * 2, lambda: numpy.exp(v))).sum()

    v = numpy.linspace(-1.0, 1.0, 6)
    assert jit(f)(v) == f(v)
