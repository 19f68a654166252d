"""Tests of grad and related transforms against exact arithmetic, mpmath and JAX, also nested."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import itertools
import math
import threading
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, OPCODES, ORDINARY, Program, fewer, programs, without_constants
from references import JAX, JUMPS, MPMATH, ROUNDED, at_50_digits, jax, jnp, mpmath, not_real
from wasm import run_coroutine

import gradwalk.math as gm
from gradwalk import (
    Value,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    value_and_grad,
    vjp,
    vmap,
    zero_grad,
)
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.program.tracing.trace import Recording
from gradwalk.value.apply import apply

Function = Callable[[Sequence[Any]], Any]
Point = namedtuple("Point", "x y")


def as_function(program: Program) -> Function:
    """Return a program as a function of the list of its leaves."""

    def f(leaves: Sequence[Any]) -> Any:
        rest = iter(leaves)
        return program.run(lambda _: next(rest), lambda name, *operands: apply(OPCODES[name], *operands))[1]

    return f


def third(f: Function) -> Function:
    """Return a function that computes all third derivatives of f."""
    return jacfwd(jacrev(jacfwd(f)))


def entry(f: Function, which: Sequence[int]) -> Function:
    """Return a function that differentiates f by these list entries in turn."""
    for i in which:
        f = functools.partial(lambda f, i, x: (grad, jacfwd, jacrev)[i % 3](f)(x)[i], f, i)
    return f


def recorded(f: Function, program: Program) -> tuple[Recording, list[int]]:
    """Trace a function for the leaves of a program; return the recording and the places of its results."""
    recording = Recording()
    places, _ = recording.run(f, [recording.add_inputs(list(program.leaves), "x")], {})
    return recording, places


class TestScalarFunctions:
    def test_gradients(self):
        assert grad(lambda x: x * x)(3.0) == 6.0
        assert grad(grad(lambda x: x**3))(2.0) == 12.0
        assert grad(grad(grad(lambda x: x**3)))(2.0) == 6.0
        assert grad(grad(grad(grad(lambda x: x**3))))(2.0) == 0.0

    def test_argnums(self):
        f = lambda x, y, z: x * y + y * z  # noqa: E731
        assert grad(f)(1.0, 2.0, 3.0) == 2.0
        assert grad(f, 1)(1.0, 2.0, 3.0) == grad(f, -2)(1.0, 2.0, 3.0) == 4.0
        assert grad(f, (0, 2))(1.0, 2.0, 3.0) == (2.0, 2.0)
        assert grad(f, [2, 0, -2])(1.0, 2.0, 3.0) == (2.0, 2.0, 4.0)
        assert grad(f, (1,))(1.0, 2.0, z=3.0) == (4.0,)

    def test_other_arguments_are_passed_through_unchanged(self):
        def f(x, n, mode, *, scale=1.0):
            assert (type(n), mode) == (int, "fast")
            return scale * x**n

        assert grad(f)(2.0, 3, "fast") == 12.0
        assert grad(f)(2.0, 3, "fast", scale=10.0) == 120.0

    def test_integers_and_booleans_are_numbers(self):
        assert grad(lambda x: x * x)(3) == 6.0
        assert isinstance(grad(lambda x: x)(numpy.int8(3)), float)
        assert grad(lambda x: 3 * x)(True) == 3.0

    def test_values_and_gradients(self):
        assert value_and_grad(lambda x: x * x)(3.0) == (9.0, 6.0)
        assert value_and_grad(lambda x, y: x * y, (0, 1))(3.0, 4.0) == (12.0, (4.0, 3.0))

    def test_auxiliary_results(self):
        f = lambda x: (x * x, {"twice": 2 * x, "none": None, "three": 3})  # noqa: E731
        aux = {"twice": 6.0, "none": None, "three": 3.0}
        assert grad(f, has_aux=True)(3.0) == (6.0, aux)
        assert value_and_grad(f, has_aux=True)(3.0) == ((9.0, aux), 6.0)
        assert jit(value_and_grad(f, has_aux=True))(3.0) == ((9.0, aux), 6.0)

    def test_independent_results_have_derivative_zero(self):
        assert grad(lambda x: 5.0)(3.0) == 0.0
        assert grad(lambda x: x.stop_gradient() * x)(3.0) == 3.0
        assert hessian(lambda x: 5)([1.0, 2.0]) == [[0.0, 0.0], [0.0, 0.0]]
        assert jvp(lambda x: 5.0, (3.0,), (1.0,)) == (5.0, 0.0)
        assert vjp(lambda x: 5.0, 3.0)[1](1.0) == (0.0,)

    def test_branches_depend_on_the_number(self):
        f = lambda x: x * x if x > 0 else -x  # noqa: E731
        assert (grad(f)(3.0), grad(f)(-3.0)) == (6.0, -1.0)

    @pytest.mark.parametrize("x", [-1.0, 0.0, 1.0])
    def test_kinks(self, x):
        sign = (x > 0) - (x < 0)
        assert grad(gm.relu)(x) == float(x > 0)
        assert grad(gm.abs)(x) == sign
        assert grad(lambda v: gm.maximum(v, 0.0))(x) == (1 + sign) / 2
        assert grad(lambda v: gm.minimum(v, 0.0))(x) == (1 - sign) / 2
        for f in (gm.relu, gm.abs, lambda v: gm.maximum(v, 0.0)):
            assert grad(grad(f))(x) == 0.0

    def test_numpy_and_builtin_functions(self):
        assert grad(numpy.sin)(0.0) == 1.0
        assert grad(lambda x: numpy.exp(numpy.array([x, 2 * x])).sum())(0.0) == 3.0
        assert grad(sum)([1.0, 2.0]) == [1.0, 1.0]
        assert grad(functools.partial(pow, 2.0))(0.0) == math.log(2.0)
        assert grad(abs)(-2.0) == -1.0


class TestDirections:
    def test_jvp(self):
        assert jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0)) == (6.0, 23.0)
        assert jvp(lambda x: {"a": x * x, "b": [x, 1.0]}, (3.0,), (1.0,)) == (
            {"a": 9.0, "b": [3.0, 1.0]},
            {"a": 6.0, "b": [1.0, 0.0]},
        )

    def test_vjp(self):
        value, pull = vjp(lambda x, y: [x * y, x], 2.0, 3.0)
        assert value == [6.0, 2.0]
        assert pull([1.0, 0.0]) == (3.0, 2.0)
        assert pull([10.0, 1.0]) == (31.0, 20.0)

    def test_vjp_runs_the_function_once(self):
        runs = []
        _, pull = vjp(lambda x: runs.append(1) or x * x, 3.0)
        assert (pull(1.0), pull(2.0), len(runs)) == ((6.0,), (12.0,), 1)

    def test_hessian_times_vector(self):
        f = lambda x, y: x[0] * x[0] * x[1] * y  # noqa: E731
        assert hvp(f, ([2.0, 3.0], 1.0), ([1.0, 0.0], 0.0)) == [6.0, 4.0]
        assert hvp(f, ([2.0, 3.0], 1.0), ([0.0, 0.0], 1.0)) == [12.0, 4.0]


# Exact arithmetic: integers, and the halves from ties of maximum and minimum, are exact in float64.

INTEGERS = st.integers(-3, 3).map(float)
EXACT = ["add", "sub", "mul", "neg", "abs", "relu", "maximum", "minimum", "where", "sign", "less", "less_equal"]
EXACT += ["equal", "add", "mul", "mul"]  # test_pitfalls.py tests stop_gradient
DIRECTIONS = [frozenset(s) for n in range(4) for s in itertools.combinations(range(3), n)]
Jet = dict[frozenset[int], Fraction]  # coefficients of numbers with three infinitesimals, whose squares are 0


def product(x: Jet, y: Jet) -> Jet:
    return {s: sum(x[part] * y[s - part] for part in DIRECTIONS if part <= s) for s in DIRECTIONS}


def scaled(x: Jet, factor: float | Fraction) -> Jet:
    return {s: Fraction(factor) * x[s] for s in DIRECTIONS}


def plus(x: Jet, y: Jet) -> Jet:
    return {s: x[s] + y[s] for s in DIRECTIONS}


def constant(number: float | Fraction) -> Jet:
    return {s: Fraction(number) if not s else Fraction(0) for s in DIRECTIONS}


def larger(x: Jet, y: Jet) -> Jet:
    a, b = x[frozenset()], y[frozenset()]
    return x if a > b else y if b > a else scaled(plus(x, y), Fraction(1, 2))


def exactly(name: str, *operands: Jet | float) -> Jet:
    """Compute an operation by its definition, with the derivatives chosen at kinks."""
    jets = [constant(x) if isinstance(x, float) else x for x in operands]
    numbers = [x[frozenset()] for x in jets]
    x, y = jets[0], jets[-1]
    if name in ("add", "sub"):
        return plus(x, scaled(y, 1 if name == "add" else -1))
    if name == "mul":
        return product(x, y)
    if name in ("neg", "abs", "relu"):
        sign = (numbers[0] > 0) - (numbers[0] < 0)
        return scaled(x, {"neg": -1, "abs": sign, "relu": max(sign, 0)}[name])
    if name in ("maximum", "minimum"):
        return larger(x, y) if name == "maximum" else scaled(larger(scaled(x, -1), scaled(y, -1)), -1)
    if name == "where":
        return jets[1] if numbers[0] else jets[2]
    if name == "sign":
        return constant((numbers[0] > 0) - (numbers[0] < 0))
    if name == "stop_gradient":
        return constant(numbers[0])
    a, b = numbers
    return constant({"less": a < b, "less_equal": a <= b, "equal": a == b}[name])


def exact_derivatives(program: Program) -> numpy.ndarray:
    """Compute all third derivatives; an index of n means none, so the last entries hold the lower orders."""
    n = len(program.leaves)
    entries = numpy.empty((n + 1,) * 3, dtype=object)
    for index in itertools.combinations_with_replacement(range(n + 1), 3):
        seeds = iter(range(n))

        def leaf(number: float, index: tuple[int, ...] = index, seeds: Any = seeds) -> Jet:
            i = next(seeds)
            jet = constant(number)
            jet.update({frozenset([k]): Fraction(index[k] == i) for k in range(3)})
            return jet

        largest = Fraction(0)

        def call(name: str, *operands: Any) -> Jet:
            nonlocal largest
            jet = exactly(name, *operands)
            largest = max(largest, *map(abs, jet.values()))
            return jet

        _, root = program.run(leaf, call)
        assume(largest < 2**24)
        wanted = frozenset(k for k in range(3) if index[k] < n)
        for permuted in itertools.permutations(index):
            entries[permuted] = root[wanted]
    return entries


@fewer(2)
@given(programs(EXTREME, EVERY, longest=6))
def test_sweep_and_tape_give_the_same_gradient(program):
    """Compare up to rounding, since contributions are added in different orders; nan and inf must match."""
    f, n = as_function(program), len(program.leaves)
    swept = grad(lambda *numbers: f(list(numbers)), range(n))(*program.leaves)
    taped = grad(f)(list(program.leaves))
    numpy.testing.assert_allclose(swept, taped, rtol=1e-9)


class TestExactDerivatives:
    @fewer(4)
    @given(programs(INTEGERS, EXACT, longest=8))
    def test_derivatives_up_to_third_order(self, program):
        f, x, n = as_function(program), list(program.leaves), len(program.leaves)
        expected = exact_derivatives(program)
        gradient = [float(e) for e in expected[:n, n, n]]
        matrix = [[float(e) for e in row] for row in expected[:n, :n, n]]
        cube = [[[float(e) for e in row] for row in rows] for rows in expected[:n, :n, :n]]
        assert value_and_grad(f)(x) == (float(expected[n, n, n]), gradient)
        for transform in (grad, jacobian, jacfwd, jacrev):
            for g in (transform(f), jit(transform(f)), transform(jit(f))):
                assert g(x) == gradient
        for outer, inner in itertools.product((jacfwd, jacrev, jacobian), (grad, jacfwd, jacrev)):
            assert outer(inner(f))(x) == matrix
        for g in (hessian(f), jit(hessian(f)), hessian(jit(f)), jit(jacrev(jit(jacfwd(jit(f)))))):
            assert g(x) == matrix
        for g in (third(f), jit(third(f)), third(jit(f)), hessian(grad(f)), jacrev(hessian(f))):
            assert g(x) == cube

    @fewer(2)
    @given(programs(INTEGERS, EXACT, longest=8))
    def test_gradients_without_a_tape(self, program):
        f, x, n = as_function(program), list(program.leaves), len(program.leaves)
        expected = exact_derivatives(program)
        gradient = tuple([float(e) for e in expected[:n, n, n]])
        of_numbers = lambda *numbers: f(list(numbers))  # noqa: E731
        assert grad(of_numbers, range(n))(*x) == gradient
        assert value_and_grad(of_numbers, range(n))(*x) == (float(expected[n, n, n]), gradient)
        assert [grad(of_numbers, i)(*x) for i in range(n)] == list(gradient)

    @fewer(8)
    @given(programs(INTEGERS, EXACT, longest=8), st.lists(INTEGERS, min_size=4, max_size=4))
    def test_directional_derivatives_agree_with_matrices(self, program, direction):
        f, x = as_function(program), list(program.leaves)
        v = direction[: len(x)]
        expected = exact_derivatives(program)
        n = len(x)
        gradient = [float(e) for e in expected[:n, n, n]]
        along = sum(a * b for a, b in zip(gradient, v, strict=True))
        product = [float(sum(e * Fraction(d) for e, d in zip(row, v, strict=True))) for row in expected[:n, :n, n]]
        assert jvp(f, (x,), (v,)) == jvp(jit(f), (x,), (v,)) == (f(x), along)
        assert vjp(f, x)[1](2.0) == ([2 * e for e in gradient],)
        assert jvp(grad(f), (x,), (v,)) == (gradient, product)
        assert hvp(f, (x,), (v,)) == vjp(grad(f), x)[1](v)[0] == product
        assert grad(lambda x: jvp(f, (x,), (v,))[1])(x) == product
        assert vjp(lambda x: jvp(f, (x,), (v,))[1], x)[1](1.0) == (product,)
        assert jit(lambda x, v: hvp(f, (x,), (v,)))(x, v) == product
        assert jit(lambda x, w: vjp(f, x)[1](w)[0])(x, 3.0) == [3 * e for e in gradient]

    @fewer(8)
    @given(programs(INTEGERS, EXACT, longest=6))
    def test_derivatives_along_a_line(self, program):
        f, n = as_function(program), len(program.leaves)
        line = lambda t: f([x + t for x in program.leaves])  # noqa: E731
        expected = exact_derivatives(program)
        assert grad(line)(0.0) == float(sum(expected[:n, n, n]))
        assert grad(grad(line))(0.0) == grad(jit(grad(line)))(0.0) == float(sum(expected[:n, :n, n].ravel()))
        for g in (grad(grad(grad(line))), jit(grad(jit(grad(jit(grad(line))))))):
            assert g(0.0) == float(sum(expected[:n, :n, :n].ravel()))

    @fewer(8)
    @given(programs(INTEGERS, EXACT, longest=8))
    def test_gradients_of_values_can_be_differentiated(self, program):
        f, n = as_function(program), len(program.leaves)
        expected = exact_derivatives(program)
        leaves = [Value(x) for x in program.leaves]
        first = grad(f)(leaves)[0]
        assert (first.data if isinstance(first, Value) else first) == float(expected[0, n, n])
        if isinstance(first, Value):
            first.backward()
        assert [leaf.grad for leaf in leaves] == [float(e) for e in expected[0, :n, n]]


ELSEWHERE = ("acosh", "log1mexp")  # defined, but not at the numbers of these tests
# Operations without kinks and without inexact constants.
SMOOTH = [row.name for row in TABLE if row.is_exact and row.name not in {*EXACT, *ELSEWHERE, *ROUNDED, *JUMPS}]
SMOOTH += ["add", "sub", "mul", "neg"]


class TestMpmath:
    """Tests of derivatives against mpmath, which differentiates the function numerically at 50 digits.

    The traced instructions also run at 50 digits, so the tolerance need not allow for conditioning; test_program.py
    checks that float64 runs the same instructions. Constants become leaves, because results of constants alone are
    rounded at once. test_tape.py tests the operations with inexact constants.
    """

    @fewer(4)
    @given(programs(st.floats(0.1, 3.0), SMOOTH, longest=5), st.data())
    def test_derivatives_up_to_third_order_match_mpmath(self, program, data):
        program = without_constants(program)
        n = len(program.leaves)
        which = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
        recording, places = recorded(entry(as_function(program), which), program)

        def exact(*leaves: mpmath.mpf) -> mpmath.mpf:
            rest = iter(leaves)
            return program.run(lambda _: next(rest), lambda name, *operands: MPMATH[name](*operands))[1]

        try:
            [ours] = at_50_digits(recording.tape.program(places), program.leaves)
            orders = tuple(which.count(i) for i in range(n))
            theirs = mpmath.diff(exact, tuple(map(mpmath.mpf, program.leaves)), orders)
        except not_real():
            assume(False)
        assume(isinstance(theirs, mpmath.mpf) and abs(theirs) < 1e12)
        assert abs(ours - theirs) <= 1e-20 * max(1, abs(theirs))

    @pytest.mark.parametrize(
        "name", [row.name for row in TABLE if row.is_exact and row.name not in {*EXACT, *ELSEWHERE, "hypot"}]
    )
    @pytest.mark.parametrize("x", [0.3, 0.7])
    def test_taylor_series_of_operations(self, name, x):
        """Check that the error is at most 16 roundings of the largest derivative involved."""
        f = functools.partial(on_a_line, lambda name, *operands: apply(OPCODES[name], *operands), name)
        exact = mpmath.taylor(functools.partial(on_a_line, lambda name, *x: MPMATH[name](*x), name), mpmath.mpf(x), 4)
        exact = [coefficient * math.factorial(k) for k, coefficient in enumerate(exact)]
        for order, g in enumerate((f, grad(f), grad(grad(f)), grad(grad(grad(f))))):
            assert abs(g(x) - exact[order]) <= 16 * 2.0**-53 * max(abs(e) for e in exact[: order + 2])


def on_a_line(call: Callable[..., Any], name: str, x: Any) -> Any:
    """Evaluate an operation whose operands all depend on one number."""
    return call(name, *[x + i for i in range(BY_NAME[name].arity)])


class TestJax:
    @fewer(20)
    @given(programs(ORDINARY, EVERY, longest=8), st.data())
    def test_derivatives_up_to_third_order_match_jax(self, program, data):
        which = data.draw(st.lists(st.integers(0, len(program.leaves) - 1), max_size=3))
        ours = entry(as_function(program), which)(list(program.leaves))
        theirs = by_jax(program, which)
        if not (ours == theirs or (ours != ours and theirs != theirs) or math.isclose(ours, theirs, rel_tol=1e-9)):
            assert is_ill_conditioned(program, which, ours) or (theirs != theirs and ours == ours), (ours, theirs)

    def test_derivatives_at_kinks_match_jax(self):
        for name, point in itertools.product(
            ("relu", "abs", "maximum", "minimum", "sign", "less", "equal", "where"), ([0.0, 0.0, 1.0], [1.0, 1.0, 0.0])
        ):
            program = Program(tuple(point), ((name, (0, 1, 2)[: BY_NAME[name].arity]),))
            for which in ([0], [1], [2], [0, 1], [1, 1]):
                assert entry(as_function(program), which)(point) == by_jax(program, which)


def by_jax(program: Program, which: Sequence[int]) -> float:
    """Compute the same derivative by JAX in nested forward mode, which gives 0 * inf least often."""

    def f(*leaves: jax.Array) -> jax.Array:
        rest = iter(leaves)
        call = lambda name, *operands: JAX[name](*[jnp.asarray(x, float) for x in operands])  # noqa: E731
        return program.run(lambda _: next(rest), call)[1]

    for i in which:
        f = functools.partial(
            lambda f, i, *x: jax.jvp(f, x, tuple(jnp.asarray(k == i, float) for k in range(len(x))))[1], f, i
        )
    return float(f(*[jnp.asarray(x, float) for x in program.leaves]))


def is_ill_conditioned(program: Program, which: Sequence[int], number: float) -> bool:
    """Return whether the same instructions give another number, or none, at 50 digits."""
    recording, places = recorded(entry(as_function(program), which), program)
    try:
        [exact] = at_50_digits(recording.tape.program(places), program.leaves)
    except not_real():
        return True
    return not abs(number - exact) <= 1e-9 * abs(exact)


class TestNesting:
    """Tests that derivatives are not confused: Siskind and Pearlmutter 2005, Manzyuk and others 2019."""

    @pytest.mark.parametrize("inner", [grad, jacfwd, jacrev, jacobian])
    @pytest.mark.parametrize("outer", [grad, jacfwd, jacrev, jacobian])
    @pytest.mark.parametrize("compiled", [False, True])
    def test_inner_and_outer_derivatives_are_not_confused(self, outer, inner, compiled):
        d, e = (lambda f: jit(outer(jit(f))), lambda f: jit(inner(jit(f)))) if compiled else (outer, inner)
        assert d(lambda x: x * e(lambda y: x + y)(1.0))(1.0) == 1.0
        assert d(lambda x: x * e(lambda y: x * y)(2.0))(3.0) == 6.0
        assert d(lambda x: x * e(lambda y: x * y * y)(x))(3.0) == 6.0 * 9.0
        assert d(lambda x: e(lambda y: x * e(lambda z: y * z * x)(y))(2.0) * x)(5.0) == 3 * 25.0
        assert d(lambda x: e(lambda y: 3.0 * x)(x))(5.0) == 0.0

    def test_nested_jvp_and_vjp(self):
        push = lambda f, x: jvp(f, (x,), (1.0,))[1]  # noqa: E731
        pull = lambda f, x: vjp(f, x)[1](1.0)[0]  # noqa: E731
        for d, e in itertools.product((push, pull), repeat=2):
            assert d(lambda x: x * e(lambda y: x + y, 1.0), 1.0) == 1.0  # noqa: B023
            assert d(lambda x: x * e(lambda y: x * y * y, x), 3.0) == 54.0  # noqa: B023
            assert d(lambda x: e(lambda y: x * e(lambda z: y * z * x, y), 2.0) * x, 5.0) == 75.0  # noqa: B023

    def test_pullback_used_inside_another_gradient(self):
        def f(x):
            _, pull = vjp(lambda y: x * y * y, 3.0)
            return grad(lambda z: pull(z)[0] * z)(x)

        assert grad(f)(2.0) == grad(lambda x: 12.0 * x * x)(2.0)

    def test_nested_shifts(self):
        """Test D s 0 with s u f x = f(x + u): applied twice to h, it is the second derivative of h."""
        d = lambda f: lambda x: grad(lambda u: f(x + u))(0.0)  # noqa: E731
        assert d(d(lambda x: x**3))(2.0) == 12.0
        assert d(d(d(lambda x: x**4)))(2.0) == 48.0
        assert d(d(gm.exp))(1.0) == math.exp(1.0)

    def test_captured_values_are_constants_inside(self):
        w = Value(3.0)
        inner = grad(lambda x: w * w * x * x)(2.0)
        inner.backward()
        assert (inner.data, w.grad) == (36.0, 24.0)

    def test_value_used_as_argument_and_captured(self):
        v = Value(3.0)
        partial = grad(lambda x: x * x * v)(v)
        partial.backward()
        assert (partial.data, v.grad) == (18.0, 12.0)

    def test_saddle_points(self):
        """Differentiate the minimum over y of (y - x)² + y x by x; the minimum is at y = x / 2."""

        def lowest(x):
            y = 0.0
            slope, bend = grad(lambda y: (y - x) ** 2 + y * x), hessian(lambda y: (y - x) ** 2 + y * x)
            y = y - slope(y) / bend(y)
            return (y - x) ** 2 + y * x

        assert (lowest(2.0), grad(lowest)(2.0), hessian(lowest)(2.0)) == (3.0, 3.0, 1.5)

    @pytest.mark.parametrize("transform", [grad, jacfwd, jacrev])
    @pytest.mark.parametrize("wrap", [lambda f: f, jit])
    def test_derivative_through_newton_steps(self, transform, wrap):
        """Test that the root of y³ + x y = 1 has dy/dx = -y / (3 y² + x)."""

        def root(x):
            g = lambda y: y**3 + x * y - 1  # noqa: E731
            y = 0.6
            for _ in range(6):
                y = y - g(y) / grad(g)(y)
            return y

        y = root(2.0)
        slope = -y / (3 * y * y + 2.0)
        bend = -(slope * (3 * y * y + 2.0) - y * (6 * y * slope + 1)) / (3 * y * y + 2.0) ** 2
        assert abs(y**3 + 2 * y - 1) < 1e-15
        assert wrap(transform(wrap(root)))(2.0) == pytest.approx(slope, rel=1e-14)
        assert wrap(transform(transform(root)))(2.0) == pytest.approx(bend, rel=1e-13)

    @pytest.mark.parametrize("wrap", [lambda f: f, jit])
    def test_derivative_through_gradient_descent(self, wrap):
        """Test ridge regression: the closed form w = 1 / (1 + λ) gives dw/dλ = -w / (1 + λ)."""

        def fitted(penalty):
            loss = wrap(lambda w, penalty: ((w[0] - 1) ** 2 + penalty * w[0] ** 2) / 2)
            w = [0.0]
            for _ in range(60):
                w = [w[0] - 0.5 * grad(loss)(w, penalty)[0]]
            return w[0]

        assert wrap(fitted)(0.5) == pytest.approx(1 / 1.5, rel=1e-14)
        assert wrap(grad(fitted))(0.5) == pytest.approx(-1 / 1.5**2, rel=1e-13)
        assert grad(wrap(grad(fitted)))(0.5) == pytest.approx(2 / 1.5**3, rel=1e-12)

    def test_grad_in_jit_in_grad_in_jit(self):
        f = jit(grad(jit(grad(jit(lambda x: x**5)))))
        assert f(2.0) == 160.0
        g = jit(lambda x: grad(jit(lambda y: grad(jit(lambda z: x * y * y * z**3))(y)))(x))
        assert g(2.0) == 12 * 2.0**4  # d/dy of 3 x y⁴

    def test_eighth_derivative(self):
        f = lambda x: x**8  # noqa: E731
        for _ in range(8):
            f = grad(f)
        assert f(3.0) == math.factorial(8)

    def test_coroutines_and_generators(self):
        async def slope(x):
            await asyncio.sleep(0)
            return grad(lambda y: x * y * y)(3.0)

        async def both(x):
            return sum(await asyncio.gather(slope(x), slope(x * x)))

        assert grad(lambda x: run_coroutine(both(x)))(2.0) == 6.0 + 24.0
        assert grad(lambda x: sum(grad(lambda y: x * y**n)(2.0) for n in range(1, 4)))(5.0) == 1 + 4 + 12  # noqa: B023

    def test_several_threads(self):
        wrong = []

        def work(i):
            for x in range(1, 30):
                expected = 6.0 * x * i
                results = {grad(grad(lambda x: i * x**3))(float(x)), jit(grad(grad(lambda x: i * x**3)))(float(x))}
                wrong.extend(results - {expected})

        threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


@dataclasses.dataclass
class Rates:
    short: Any
    long: Any


@dataclasses.dataclass(frozen=True)
class Curve:
    rates: Rates
    weights: Any


@pytest.fixture(scope="module")
def _dataclasses_known_to_jax():
    jax.tree_util.register_dataclass(Rates, ["short", "long"], [])
    jax.tree_util.register_dataclass(Curve, ["rates", "weights"], [])


ARGUMENTS = {
    "number": 2.0,
    "list": [2.0, 3.0],
    "tuple": (2.0, (3.0, 4.0)),
    "dict": {"b": 2.0, "a": [3.0, 4.0]},
    "ordered": OrderedDict(b=2.0, a=3.0),
    "namedtuple": Point(2.0, (3.0, 4.0)),
    "dataclass": Rates(2.0, [3.0]),
    "nested dataclasses": Curve(Rates(2.0, numpy.array([3.0, 4.0])), {"w": (5.0, None)}),
    "nothing inside": [None, 2.0, {"a": None}],
    "vector": numpy.array([1.0, 2.0, 3.0]),
    "matrix": numpy.arange(6.0).reshape(2, 3),
    "Fortran order": numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),
    "strided": numpy.arange(12.0).reshape(3, 4)[::2, ::-2],
    "empty array": numpy.zeros((2, 0)),
    "array without dimensions": numpy.array(2.0),
    "mixed": {"x": numpy.ones((1, 2)), "y": [2.0, numpy.zeros(0)], "z": Point(None, 1.0)},
}


def leaves_of(tree: Any) -> list[Any]:
    return jax.tree.leaves(tree)


def total(tree: Any) -> Any:
    """Return a number to which each leaf of the tree contributes differently."""
    cubes = [(i + 1) * (leaf * leaf * leaf) for i, leaf in enumerate(parts(tree))]
    return sum(cube.sum() if getattr(cube, "ndim", 0) else cube for cube in cubes)


def parts(tree: Any) -> list[Any]:
    """Return the leaves of a tree without JAX, which does not accept Values."""
    if tree is None:
        return []
    if dataclasses.is_dataclass(tree):
        return [x for field in dataclasses.fields(tree) for x in parts(getattr(tree, field.name))]
    if isinstance(tree, dict):
        keys = tree if isinstance(tree, OrderedDict) else sorted(tree)
        return [x for key in keys for x in parts(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [x for item in tree for x in parts(item)]
    return [tree]


RESULTS = {
    "number": total,
    "list": lambda tree: [total(tree), 2.0 * total(tree)],
    "dict": lambda tree: {"b": total(tree), "a": (total(tree) * total(tree),)},
    "namedtuple": lambda tree: Point(total(tree), None),
    "dataclass": lambda tree: Rates([total(tree)], total(tree) * 0.5),
    "tree itself": lambda tree: tree,
    "squares": lambda tree: [leaf * leaf for leaf in parts(tree)],
}

# JAX compiles for each shape, which is slow, so only some pairs are tested.
PAIRS = pytest.mark.parametrize(
    ("argument", "result"),
    [
        *itertools.product(["number", "nested dataclasses"], RESULTS),
        *itertools.product(ARGUMENTS, ["list", "tree itself"]),
    ],
)


@pytest.mark.usefixtures("_dataclasses_known_to_jax")
class TestTrees:
    """Tests that results have JAX's tree structure and shapes; floats may replace JAX's scalar arrays."""

    def agree(self, ours: Any, theirs: Any) -> None:
        assert jax.tree.structure(ours) == jax.tree.structure(theirs)
        for mine, other in zip(leaves_of(ours), leaves_of(theirs), strict=True):
            assert numpy.shape(mine) == numpy.shape(other)
            numpy.testing.assert_allclose(mine, other, rtol=1e-12)
            assert isinstance(mine, float) or (mine.dtype == float and mine.shape != ()) or mine.ndim == 0

    @pytest.mark.parametrize("argument", ARGUMENTS)
    def test_gradients(self, argument):
        x = ARGUMENTS[argument]
        self.agree(grad(total)(x), jax.grad(total)(x))
        self.agree(jit(grad(total))(x), jax.grad(total)(x))
        self.agree(value_and_grad(total)(x), jax.value_and_grad(total)(x))

    @PAIRS
    def test_jacobians(self, argument, result):
        x, f = ARGUMENTS[argument], RESULTS[result]
        for ours in (jacobian(f)(x), jacfwd(f)(x), jacrev(f)(x), jit(jacobian(f))(x), jacobian(jit(f))(x)):
            self.agree(ours, jax.jacrev(f)(x))

    @pytest.mark.parametrize("argument", ARGUMENTS)
    def test_hessians(self, argument):
        x = ARGUMENTS[argument]
        for ours in (hessian(total)(x), jit(hessian(total))(x), jacrev(grad(total))(x)):
            self.agree(ours, jax.hessian(total)(x))

    @pytest.mark.parametrize("transform", [grad, jacobian, jacfwd, jacrev, hessian, lambda f: grad(grad(f))])
    def test_zero_dimensional_arrays_have_such_derivatives(self, transform):
        for way in (transform(total), jit(transform(total))):
            assert isinstance(way(numpy.array(2.0)), numpy.ndarray)
            assert isinstance(way(2.0), float)
            assert way(numpy.array(2.0)).shape == ()
            assert way(numpy.array(2.0)) == way(2.0)

    @pytest.mark.parametrize("argnums", [0, 1, (0,), (1, 0)])
    def test_several_arguments(self, argnums):
        x, y = {"a": 2.0, "b": numpy.array([3.0, 4.0])}, numpy.ones((1, 2))
        f = lambda x, y: [total(x) * total(y), y]  # noqa: E731
        self.agree(jacobian(f, argnums)(x, y), jax.jacrev(f, argnums)(x, y))
        g = lambda x, y: total(x) * total(y)  # noqa: E731
        self.agree(grad(g, argnums)(x, y), jax.grad(g, argnums)(x, y))
        if argnums == (0,):
            self.agree(hessian(g, argnums)(x, y), jax.hessian(g, argnums)(x, y))

    @PAIRS
    def test_jvp_and_vjp(self, argument, result):
        x, f = ARGUMENTS[argument], RESULTS[result]
        tangent = jax.tree.map(
            lambda leaf: numpy.array(numpy.cos(leaf)) if hasattr(leaf, "ndim") else math.cos(leaf), x
        )
        self.agree(jvp(f, (x,), (tangent,)), jax.jvp(f, (x,), (tangent,)))
        value, pull = vjp(f, x)
        expected, theirs = jax.vjp(f, x)
        self.agree(value, expected)
        self.agree(pull(value), theirs(expected))

    @pytest.mark.parametrize("array", [numpy.arange(3), numpy.array([True, False]), numpy.arange(3, dtype="f4")])
    def test_gradients_of_other_dtypes_are_float64(self, array):
        gradient = grad(lambda x: (x * x).sum())(array)
        assert (gradient.dtype, gradient.tolist()) == (float, (2.0 * array).tolist())

    def test_arrays_of_values(self):
        v = Value(3.0)
        gradient = grad(lambda x: (x**2).sum() * x[0, 0])(numpy.array([[v, 2.0], [1, True]], dtype=object))
        assert gradient[0, 0].data == 3 * 9.0 + 6.0
        assert gradient[0, 1].data == 12.0
        gradient[0, 1].backward()
        assert v.grad == 4.0
        assert jacobian(lambda x: x * 2)(numpy.array([v, 1.0], dtype=object)).tolist() == [[2.0, 0.0], [0.0, 2.0]]

    def test_arguments_and_results_are_not_shared(self):
        x = numpy.array([1.0, 2.0])
        for g in (grad(lambda x: x.sum()), jit(grad(lambda x: x.sum())), jit(lambda x: x)):
            first, second = g(x), g(x)
            first[0] = 99.0
            assert x[0] == 1.0
            assert second[0] == 1.0
            assert g(x)[0] == 1.0

    def test_functions_may_modify_their_arguments(self):
        def f(x):
            x["a"] *= 2
            x["b"][0] = x["b"][0] * x["a"]
            x["c"] = 1.0
            return x["b"].sum()

        x = {"a": 2.0, "b": numpy.array([3.0, 4.0])}
        for g in (grad(f), jit(grad(f)), grad(jit(f)), jacfwd(f), lambda x: vjp(f, x)[1](1.0)[0]):
            gradient = g(x)
            assert (gradient["a"], gradient["b"].tolist()) == (6.0, [4.0, 1.0])
        assert hessian(f)(x)["a"]["b"].tolist() == [2.0, 0.0]
        assert (x["a"], x["b"].tolist(), len(x)) == (2.0, [3.0, 4.0], 2)


class TestCallables:
    def test_transforms_keep_name_and_docstring(self):
        def cube(x):
            """x times x times x."""
            return x**3

        for g in (grad(cube), jacobian(cube), jit(grad(cube))):
            assert (g.__name__, g.__doc__, g.__wrapped__.__name__) == ("cube", "x times x times x.", "cube")
        assert [repr(g) for g in (grad(cube), value_and_grad(cube), jacfwd(cube))] == [
            *("<grad of cube()>", "<grad of cube()>", "<jacobian of cube()>"),
        ]

    def test_methods(self):
        class Model:
            def __init__(self, rate):
                self.rate = rate

            @grad
            def slope(self, x): ...

            @functools.partial(grad, argnums=1)
            def gradient(self, x):
                return self.rate * x * x

            def value(self, x):
                return self.rate * x * x

            @staticmethod
            @grad
            def alone(x):
                return x * x

            def __call__(self, x):
                return self.rate * x

        model = Model(5.0)
        assert model.gradient(3.0) == Model.gradient(model, 3.0) == grad(model.value)(3.0) == 30.0
        assert Model.alone(3.0) == model.alone(3.0) == 6.0
        assert grad(model)(3.0) == 5.0

    def test_dataclasses_with_methods(self):
        @dataclasses.dataclass
        class Model:
            rate: float

            @grad
            def slope(self, x):
                return self.rate * self.rate * x

        assert Model(3.0).slope(2.0) == Model(12.0)

    def test_transforms_work_after_exceptions(self):
        def f(x):
            raise KeyError("mine")

        for call in (grad(f), jacobian(f), hessian(f), jit(f), lambda x: jvp(f, (x,), (1.0,)), lambda x: vjp(f, x)):
            with pytest.raises(KeyError, match="mine"):
                call(3.0)
            assert grad(lambda x: x * x)(3.0) == 6.0
            assert Value(3.0) > 2


class TestErrors:
    @pytest.mark.parametrize("f", [3.0, "f", None, [gm.sin], Value(1.0)])
    @pytest.mark.parametrize("transform", [grad, value_and_grad, jacobian, jacfwd, jacrev, hessian])
    def test_non_functions_raise(self, transform, f):
        with pytest.raises(TypeError, match=rf"takes a function, not {type(f).__name__}"):
            transform(f)

    @pytest.mark.parametrize("transform", [grad, value_and_grad, jacobian, jacfwd, jacrev, hessian])
    @pytest.mark.parametrize(
        ("result", "text"),
        [
            (None, r"f\(\) returned None; it must return a number or a tree of numbers: is a `return` missing\?"),
            ("text", r"the result of f\(\) is a str \('text'\), not a number|f\(\) returned 'text'"),
            ([1.0, {"text"}], r"the result of f\(\)\[1\] is a set"),
            (numpy.array(["a"]), r"the result of f\(\) is an array of <U1"),
            ({1.0}, r"the result of f\(\) is a set"),
        ],
        ids=["nothing", "text", "set inside", "array of text", "set"],
    )
    def test_non_numeric_results_raise(self, transform, result, text):
        def f(x):
            return result

        with pytest.raises(TypeError, match=text):
            transform(f)(3.0)

    @pytest.mark.parametrize("result", [[1.0], numpy.ones(2), numpy.ones((0, 1)), {"a": 1.0}, (1.0, 2.0)])
    def test_grad_of_several_results_raises(self, result):
        with pytest.raises(
            TypeError, match=r"grad needs a function that returns one number, and f\(\) returned .*: use jacobian"
        ):
            grad(self.constant(result))(3.0)
        with pytest.raises(TypeError, match="grad needs a function that returns one number"):
            grad(self.constant((result, 1.0)), has_aux=True)(3.0)

    @pytest.mark.parametrize(
        "one",
        [
            lambda x: numpy.tensordot(x, x, axes=1),
            lambda x: numpy.asarray(x[0] * x[0] + x[1] * x[1]),
            lambda x: numpy.squeeze(x[:1] * x[:1] + x[1:] * x[1:]),
            lambda x: numpy.where(True, x @ x, x[0]),
            lambda x: x[:1] * x[:1] + x[1:] * x[1:],
            lambda x: numpy.array([[x @ x]]),
        ],
        ids=["tensordot", "asarray", "squeeze", "where", "(1,)", "(1, 1)"],
    )
    def test_results_may_be_arrays_of_one_number(self, one):
        x = numpy.array([1.0, 2.0])
        for transform in (value_and_grad, lambda f: jit(value_and_grad(f))):
            value, gradient = transform(one)(x)
            assert value.shape == numpy.shape(one(x))
            assert value.item() == 5.0
            assert gradient.tolist() == [2.0, 4.0]
        assert grad(one)(x).tolist() == vmap(grad(one))(x[None])[0].tolist() == [2.0, 4.0]
        assert grad(lambda x: grad(one)(x) @ x)(x).tolist() == [4.0, 8.0]
        assert grad(lambda x: (one(x), x), has_aux=True)(x)[0].tolist() == [2.0, 4.0]
        assert jit(one).walk(x).graph.data[-1] == 5.0

    def constant(self, result):
        def f(x):
            return result

        return f

    @pytest.mark.parametrize("result", [1.0, [1.0], (1.0, 2.0, 3.0), numpy.ones(2)])
    def test_has_aux_without_a_pair_raises(self, result):
        with pytest.raises(TypeError, match=r"with has_aux=True, f\(\) must return a pair \(value, aux\), got "):
            grad(self.constant(result), has_aux=True)(3.0)

    @pytest.mark.parametrize(
        ("argument", "text"),
        [
            ("2", r"x is a str \('2'\), not a number"),
            ([1.0, {"a": {"b"}}], r"x\[1\]\['a'\] is a set"),
            (numpy.array([1.0, None], dtype=object), "an element of x is a NoneType"),
            (Decimal("0.5"), "x is a Decimal"),
            (lambda: 1.0, "x is a function"),
        ],
    )
    def test_non_numeric_arguments_raise(self, argument, text):
        for transform in (grad, jacobian, jacfwd, jacrev, hessian):
            with pytest.raises(TypeError, match=text):
                transform(lambda x: x)(argument)
        if isinstance(argument, str) or callable(argument):  # static data
            return
        with pytest.raises(TypeError, match=text):
            jvp(lambda x: x, (argument,), (1.0,))
        with pytest.raises(TypeError, match=text):
            vjp(lambda x: x, argument)

    @pytest.mark.parametrize("argnums", [True, "0", [0, True], (0, 1.0), ["x"]])
    def test_argnums_of_invalid_type_raise(self, argnums):
        with pytest.raises(TypeError, match="argnums must be an int or a sequence of ints, got"):
            grad(lambda x, y: x * y, argnums)(2.0, 3.0)

    def test_gradients_set_by_the_function_are_ignored(self):
        def f(x, y):
            x.grad = 5.0
            zero_grad(y * 3)
            return x * x

        assert grad(f, (0, 1))(2.0, 3.0) == (4.0, 0.0)

    def test_empty_argnums(self):
        assert grad(lambda x: x * x, ())(2.0) == ()
        assert value_and_grad(lambda x: x * x, ())(2.0) == (4.0, ())

    @pytest.mark.parametrize("argnums", [2, -3, (0, 2), [5]])
    def test_argnums_out_of_range_raise(self, argnums):
        def f(x, y):
            return x * y

        for transform in (grad, jacobian, hessian):
            with pytest.raises(
                ValueError,
                match=r"argnums of f\(\) must be positions of its 2 positional arguments, counted from 0, got",
            ):
                transform(f, argnums)(2.0, 3.0)
        with pytest.raises(ValueError, match="must be positions of its 1 positional argument, "):
            grad(f, 1)(2.0, y=3.0)

    @pytest.mark.parametrize(
        ("primals", "tangents", "text"),
        [
            (([1.0, 2.0],), ([1.0],), r"\(\[number, number\],\), got \(\[number\],\)"),
            (([1.0, 2.0],), ((1.0, 2.0),), r"got \(\(number, number\),\)"),
            ((1.0,), (1.0, 2.0), r"\(number,\), got \(number, number\)"),
            ((numpy.ones(2),), (numpy.ones(3),), r"shape \(2,\),\), got \(array of shape \(3,\),\)"),
            ((numpy.ones(1),), (1.0,), r"\(array of shape \(1,\),\), got \(number,\)"),
            (({"a": 1.0},), ({"b": 1.0},), r"\(\{'a': number\},\), got \(\{'b': number\},\)"),
            ((1.0,), ("a",), r"\(number,\), got \('a',\)"),
        ],
    )
    def test_tangents_of_different_structure_raise(self, primals, tangents, text):
        with pytest.raises(TypeError, match=text):
            jvp(lambda *x: 1.0, primals, tangents)

    def test_primals_must_be_a_sequence(self):
        with pytest.raises(
            TypeError, match=r"primals must be a tuple or list of the arguments of <lambda>\(\), got float"
        ):
            jvp(lambda x: x, 1.0, 1.0)

    @pytest.mark.parametrize("adjoint", [1.0, [1.0], (1.0, 2.0), [1.0, numpy.ones(2)], [1.0, None]])
    def test_adjoints_of_different_structure_raise(self, adjoint):
        with pytest.raises(TypeError, match=r"\[number, number\], got "):
            vjp(lambda x: [x, x], 1.0)[1](adjoint)

    def test_custom_nodes_raise_with_their_line(self):
        def f(x):
            return Value(9.0, (x,), "square")

        for transform in (grad, jacobian, hessian, jit):
            with pytest.raises(ValueError, match=r"f\(\) uses a hand-made node with the operation 'square'") as caught:
                transform(f)(3.0)
            assert f'{__file__}:{f.__code__.co_firstlineno + 1}: return Value(9.0, (x,), "square")' in str(caught.value)

    def test_wrong_calls_raise_the_usual_type_error(self):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
            grad(lambda x, y: x)(1.0)
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            grad(lambda x: x)(1.0, z=2.0)


def test_values_compare_as_numbers_inside_transforms():
    assert value_and_grad(lambda x: x if x == 1.0 else 2 * x)(1.0) == (1.0, 1.0)
    assert value_and_grad(lambda x: x if x != 1.0 else 2 * x)(1.0) == (2.0, 2.0)
    assert value_and_grad(lambda x, y: 3 * x if x == y else x)(1.0, 1.0) == (3.0, 3.0)
    assert grad(lambda x: 5 * x if x else 7.0 + x)(0.0) == 1.0
    f = jit(lambda x: gm.where(x == 1.0, 5.0, gm.where(x != 2.0, 6.0, 7.0)) * x)
    assert (f(1.0), f(2.0), f(3.0)) == (5.0, 14.0, 18.0)
    x, y = Value(1.0), Value(1.0)
    assert x != y
    assert Value(0.0)
