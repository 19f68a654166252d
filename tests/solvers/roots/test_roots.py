"""Tests of SciPy-based roots and fixed points against closed forms and JAX, and errors without a root."""

from __future__ import annotations

import dataclasses
import functools
import sys
from typing import Any

import numpy
import pytest
import scipy.optimize
from every_way import in_every_way
from hypothesis import given, settings
from hypothesis import strategies as st
from references import jax, jnp

from gradwalk import RecordingError, Value, grad, hessian, jacobian, jit, loops, math, vmap
from gradwalk.nn import Module
from gradwalk.solvers import fixed_point, root, root_scalar

BRACKET = [0.1, 10.0]


class Shift(Module):
    def __init__(self, slope: float) -> None:
        self.slope = Value(slope)

    def __call__(self, x: Any) -> Any:
        return x * self.slope


def power(x: Any, a: Any, b: Any) -> Any:
    return x**3 * b - a


CASES: dict[str, tuple[Any, Any]] = {
    "brentq": (lambda a, b: root_scalar(power, (a, b), bracket=BRACKET), lambda a, b: jnp.cbrt(a / b)),
    "newton": (lambda a, b: root_scalar(power, (a, b), x0=1.0), lambda a, b: jnp.cbrt(a / b)),
    "halley": (lambda a, b: root_scalar(power, (a, b), "halley", x0=1.0), lambda a, b: jnp.cbrt(a / b)),
    "secant": (lambda a, b: root_scalar(power, (a, b), x0=1.0, x1=1.1), lambda a, b: jnp.cbrt(a / b)),
    "from an argument": (lambda a, b: root_scalar(power, (a, b), x0=a), lambda a, b: jnp.cbrt(a / b)),
    "in a bracket of arguments": (
        lambda a, b: root_scalar(power, (a, b), bracket=[0.0 * a, a + 10.0]),
        lambda a, b: jnp.cbrt(a / b),
    ),
    "captured variables": (
        lambda a, b: root_scalar(lambda x: power(x, a, b), x0=1.0),
        lambda a, b: jnp.cbrt(a / b),
    ),
    "an argument that is also captured": (
        lambda a, b: root_scalar(lambda x, c: power(x, a, b) + c - a, (a,), x0=1.0),
        lambda a, b: jnp.cbrt(a / b),
    ),
    "an argument that is not used": (
        lambda a, b: b * root_scalar(lambda x, a, b: x * x - a, (a, b), x0=1.0),
        lambda a, b: b * jnp.sqrt(a),
    ),
    "an integer": (lambda a, b: b * root_scalar(power, (a, 3), x0=1), lambda a, b: b * jnp.cbrt(a / 3)),
    "the other solution": (
        lambda a, b: root_scalar(lambda x: x * x - a * b, bracket=[-10.0, 0.0]),
        lambda a, b: -jnp.sqrt(a * b),
    ),
    "a number by root": (lambda a, b: root(power, 1.0, (a, b)), lambda a, b: jnp.cbrt(a / b)),
    "one argument": (lambda a, b: b * root(lambda x, a: x * x - a, 1.0, a), lambda a, b: b * jnp.sqrt(a)),
    "two unknowns": (
        lambda a, b: root(lambda x: [x[0] * x[1] - a, x[0] - b * x[1]], [1.0, 1.0])[1],
        lambda a, b: jnp.sqrt(a / b),
    ),
    "a dict": (
        lambda a, b: root(
            lambda x, p: {"u": x["v"] - p["b"], "v": x["u"] * x["v"] - p["a"]}, {"v": 1.0, "u": 1.0}, {"a": a, "b": b}
        )["u"],
        lambda a, b: a / b,
    ),
    "a root in a root": (
        lambda a, b: root_scalar(lambda x: x * x - root(lambda y: y**3 * b - a * x, 1.0), x0=1.0),
        lambda a, b: (a / b) ** 0.2,
    ),
    "a root of a root": (
        lambda a, b: root_scalar(lambda x, c: x * x - c, (root_scalar(lambda y: y * y - a * b, x0=1.0),), x0=1.0),
        lambda a, b: (a * b) ** 0.25,
    ),
    "a root in a loop": (
        lambda a, b: loops.fori_loop(0, 3, lambda i, x: root_scalar(lambda z: z * z - x * a, x0=1.0), b),
        lambda a, b: (a * jnp.sqrt(a * jnp.sqrt(a * b))) ** 0.5,
    ),
    "a root in a while loop": (
        lambda a, b: loops.while_loop(
            lambda s: s[0] < 2.5,
            lambda s: (s[0] + 1.0, root_scalar(lambda z: z**3 - s[1] * a, x0=1.0)),
            (0.0, b),
            max_steps=5,
        )[1],
        lambda a, b: jnp.cbrt(a * jnp.cbrt(a * jnp.cbrt(a * b))),
    ),
    "a root in a choice": (
        lambda a, b: loops.cond(a > 1.0, lambda: root_scalar(lambda x: x * x - a * b, x0=1.0), lambda: a),
        lambda a, b: jnp.sqrt(a * b),
    ),
    "a gradient's root": (
        lambda a, b: root_scalar(grad(lambda x: x**4 * b - 4.0 * a * x), x0=1.0),
        lambda a, b: jnp.cbrt(a / b),
    ),
    "a fixed point": (lambda a, b: fixed_point(lambda x: 0.5 * (x + a / (b * x)), 1.0), lambda a, b: jnp.sqrt(a / b)),
    "a fixed point by iteration": (
        lambda a, b: fixed_point(lambda x, a: 0.1 * x + a, 1.0, a, method="iteration", xtol=1e-12) * b,
        lambda a, b: a / 0.9 * b,
    ),
    "a fixed point of two": (
        lambda a, b: fixed_point(lambda x: [0.5 * (x[0] + a / x[0]), x[0] * b], [1.0, 1.0])[1],
        lambda a, b: jnp.sqrt(a) * b,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_two_derivatives_in_every_transform(name):
    in_every_way(*CASES[name], 2.0, 3.0, tolerance=1e-6)


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "anderson", "krylov", "df-sane", "diagbroyden"])
def test_every_scipy_method_finds_the_root(method):
    def coupled(x, a):
        return [x[0] + 0.3 * math.sin(x[1]) - a, x[1] - 0.2 * math.cos(x[0]) + 0.1 * a]

    found = jit(jacobian(lambda a: root(coupled, [0.5, 0.5], a, method, tol=1e-10)))(1.0)
    exact = jit(jacobian(lambda a: root(coupled, [0.5, 0.5], a, tol=1e-12)))(1.0)
    numpy.testing.assert_allclose(found, exact, rtol=1e-5)


@pytest.mark.parametrize("method", ["brentq", "brenth", "ridder", "bisect", "toms748"])
def test_every_bracketing_method_finds_the_root(method):
    found = grad(lambda a: root_scalar(lambda x: x * x - a, method=method, bracket=[0.0, 5.0], xtol=1e-12))(4.0)
    assert found == pytest.approx(0.25, rel=1e-9)


def system_in_jax(matrix: Any, a: Any) -> Any:
    """Solve matrix @ x + tanh(x) = a for x by JAX's `custom_root`."""

    def f(x: Any) -> Any:
        return matrix @ x + jnp.tanh(x) - a

    def newton(f: Any, x: Any) -> Any:
        for _ in range(30):
            x = x - jnp.linalg.solve(jax.jacobian(f)(x), f(x))
        return x

    def tangent_solve(g: Any, y: Any) -> Any:
        return jnp.linalg.solve(jax.jacobian(g)(y), y)

    return jax.lax.custom_root(f, jnp.zeros_like(a), newton, tangent_solve)


def loss(x: Any) -> Any:
    return (x**3).sum() + x[0] * x[1]


@functools.cache
def derivatives_in_jax() -> tuple[Any, Any]:
    gradient = jax.grad(lambda m, a: loss(system_in_jax(m, a)), argnums=(0, 1))
    return jax.jit(gradient), jax.jit(jax.jacfwd(gradient, argnums=1))


def system(matrix: Any, a: Any) -> Any:
    return root(lambda x, m: m @ x + math.tanh(x) - a, numpy.zeros(3), matrix, tol=1e-13)


GRADIENT = jit(grad(lambda m, a: loss(system(m, a)), argnums=(0, 1)))
SECOND = jit(jacobian(grad(lambda m, a: loss(system(m, a)), argnums=(0, 1)), argnums=1))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_derivatives_of_random_systems_match_jax(seed):
    random = numpy.random.default_rng(seed)
    matrix = random.uniform(-1.0, 1.0, (3, 3)) + 3.0 * numpy.eye(3)
    a = random.normal(size=3)
    for ours, theirs in zip((GRADIENT, SECOND), derivatives_in_jax(), strict=True):
        for found, expected in zip(ours(matrix, a), theirs(matrix, a), strict=True):
            numpy.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("size", [1, 8, 9, 20])
def test_systems_of_any_size(size):
    def solution(a: Any) -> Any:
        x = root(lambda x: x + 0.2 * x**3 + 0.1 * x.sum() - a * numpy.arange(1.0, size + 1), numpy.zeros(size))
        return (x * x).sum()

    slope = 1e-5
    expected = (solution(0.7 + slope) - solution(0.7 - slope)) / (2 * slope)
    a = Value(0.7)
    solution(a).backward()
    for found in (a.grad, grad(solution)(0.7), jit(grad(solution))(0.7), vmap(grad(solution))(numpy.array([0.7]))[0]):
        assert found == pytest.approx(expected, rel=1e-7)
    bend = (grad(solution)(0.7 + slope) - grad(solution)(0.7 - slope)) / (2 * slope)
    assert hessian(solution)(0.7) == pytest.approx(bend, rel=1e-6)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


def test_unknowns_and_arguments_may_be_trees():
    def equation(p: Point, q: dict[str, Any], shift: Shift) -> Point:
        return Point(p.x * p.x - q["a"][0], p.y + shift(p.x) - q["a"][1])

    def found(q: dict[str, Any], shift: Shift) -> Point:
        return root(equation, Point(1.0, 1.0), (q, shift))

    q = {"a": numpy.array([4.0, 5.0])}
    solution = found(q, Shift(0.5))
    assert (solution.x.data, solution.y.data) == pytest.approx((2.0, 4.0))  # Values, because the parameter is one
    slopes = jacobian(found, argnums=(0, 1))(q, Shift(0.5))
    of_q, of_shift = slopes.y
    assert of_q["a"].tolist() == pytest.approx([-0.125, 1.0])
    assert of_shift.slope == pytest.approx(-2.0)


def test_unknowns_keep_their_array_shape():
    a = numpy.array([[1.0, 4.0], [9.0, 16.0]])
    found = root(lambda x: x * x - a, numpy.ones((2, 2)))
    assert found.dtype == float
    numpy.testing.assert_allclose(found, numpy.sqrt(a), rtol=1e-9)
    slopes = jacobian(lambda a: root(lambda x: x * x - a, numpy.ones((2, 2))))(a)
    assert slopes.shape == (2, 2, 2, 2)
    numpy.testing.assert_allclose(slopes[1, 0], [[0.0, 0.0], [1 / 6, 0.0]], atol=1e-9)


def test_initial_guess_has_zero_derivative():
    def found(start: Any) -> Any:
        return root_scalar(lambda x: x * x - 4.0, x0=start) + root(lambda x: x - 1.0, start)

    assert grad(found)(1.0) == 0.0
    assert jit(grad(found))(1.0) == 0.0
    start = Value(1.0)
    found(start).backward()
    assert start.grad == 0.0


def test_captured_module_parameters_get_gradients():
    shift = Shift(3.0)
    root_scalar(lambda x: shift(x) - 6.0, x0=1.0).backward()
    [parameter] = shift.parameters()
    assert parameter.grad == pytest.approx(-2.0 / 3.0)


def test_equation_is_traced_once():
    calls = []

    def f(x: Any, a: Any) -> Any:
        calls.append(x)
        return x * x - a

    solve = jit(grad(lambda a: root_scalar(f, a, x0=1.0)))
    for a in (4.0, 9.0, 16.0):
        assert solve(a) == pytest.approx(0.5 / numpy.sqrt(a))
    assert len(calls) == 1
    assert root_scalar(f, 4.0, x0=1.0) == pytest.approx(2.0)  # without jit: once per call
    assert len(calls) == 2


SINGULAR = {
    "a number": lambda a: root_scalar(lambda x: x**3 - 0.0 * a, bracket=[-1.0, 1.0]),
    "two unknowns": lambda a: root(lambda x: [x[0] - a, (x[0] - x[1]) ** 2], [a, a])[1],
    "many unknowns": lambda a: root(lambda x: x**3 - 0.0 * a, numpy.zeros(10)).sum(),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_jacobian_gives_nonfinite_derivatives(name):
    f = SINGULAR[name]
    assert numpy.isfinite([f(1.0), jit(f)(1.0)]).all()
    a = Value(1.0)
    f(a).backward()
    lanes = numpy.array([1.0])
    for found in (a.grad, grad(f)(1.0), jit(grad(f))(1.0), vmap(grad(f))(lanes)[0], hessian(f)(1.0)):
        assert not numpy.isfinite(found)


def test_missing_root_raises_with_advice():
    with pytest.raises(RuntimeError, match=r"root with method 'hybr' did not converge: .*Pass an x0 closer"):
        root(lambda x: x * x + 1.0, 1.0)
    with pytest.raises(
        RuntimeError, match=r"root_scalar with method 'newton' did not converge: convergence error after 9"
    ):
        root_scalar(lambda x: x * x + 1.0, x0=0.7, maxiter=9)
    with pytest.raises(RuntimeError, match="fixed_point did not converge: Failed to converge after 20 iterations"):
        fixed_point(lambda x: 2.0 * x + 1.0, 1.0, maxiter=20, method="iteration")
    with pytest.raises(RuntimeError, match=r"root_scalar with .* did not converge"):
        vmap(lambda a: root_scalar(lambda x: x * x - a, x0=0.7, x1=0.8))(numpy.array([1.0, -1.0]))
    recorded = jit(grad(lambda a: root(lambda x: x * x - a, 1.0)))
    with pytest.raises(RuntimeError, match=r"root with .* did not converge"):
        recorded(-1.0)
    assert recorded(4.0) == pytest.approx(0.25)


def test_invalid_equations_raise():
    with pytest.raises(ValueError, match=r"sum\(\) must return 2 numbers, as many as there are unknowns, got 1"):
        root(sum, [1.0, 2.0])
    with pytest.raises(ValueError, match="needs a bracket or an initial guess x0"):
        root_scalar(lambda x: x)
    with pytest.raises(ValueError, match="different signs"):
        root_scalar(lambda x: x, bracket=[1.0, 2.0])
    with pytest.raises(ValueError, match="Unknown solver"):
        root(lambda x: x, 1.0, method="nothing")
    with pytest.raises(RecordingError, match="branches on"):
        root_scalar(lambda x: x if x > 0 else -x, x0=1.0)


@pytest.mark.parametrize("name", ["x0", "x1"])
@pytest.mark.parametrize("start", [[3.0], [1.0, 2.0], [], {"a": 1.0}, numpy.ones(2)])
def test_initial_guess_must_be_one_number(name, start):
    with pytest.raises(ValueError, match=rf"{name} must be one number, as in root_scalar\(f, {name}=1.0\), got "):
        root_scalar(lambda x: x * x - 2.0, **{"x0": 1.0, name: start})
    assert root_scalar(lambda x: x * x - 4.0, x0=numpy.array(1.0)) == pytest.approx(2.0)


@pytest.mark.parametrize("bracket", [[0.0, 1.0, 2.0], [1.0], [], 1.0, {"a": 0.0, "b": 3.0}, numpy.ones((2, 1))])
def test_bracket_must_be_two_numbers(bracket):
    with pytest.raises(ValueError, match=r"bracket must be two numbers, as in root_scalar\(f, bracket=\["):
        root_scalar(lambda x: x * x - 2.0, bracket=bracket)
    for pair in ((0.0, 3.0), numpy.array([0.0, 3.0])):
        assert root_scalar(lambda x: x * x - 4.0, bracket=pair) == pytest.approx(2.0)


SETTINGS = [
    ({"xtol": 0.0}, ValueError, "xtol must be > 0, got 0.0"),
    ({"xtol": -1.0}, ValueError, "xtol must be > 0, got -1.0"),
    ({"xtol": numpy.nan}, ValueError, "xtol must be > 0, got nan"),
    ({"xtol": [1e-9]}, TypeError, r"xtol must be a concrete number, got list: \[1e-09\]"),
    ({"rtol": -1.0}, ValueError, "rtol must be >= .*, got -1.0"),
    ({"maxiter": 0}, ValueError, "maxiter must be >= 1, got 0"),
    ({"maxiter": 2.5}, TypeError, "maxiter must be an int, got float: 2.5"),
]


@pytest.mark.parametrize(("settings", "error", "message"), SETTINGS)
@pytest.mark.parametrize("method", [{"bracket": [0.0, 9.0]}, {"x0": 1.0}, {"x0": 1.0, "x1": 2.0}])
def test_invalid_settings_raise_in_every_transform(method, settings, error, message):
    def solve(a: Any) -> Any:
        return root_scalar(lambda x: x * x - a, **method, **settings)

    for f in (solve, jit(solve), lambda a: vmap(solve)(numpy.array([a])), grad(solve)):
        with pytest.raises(error, match=message):
            f(4.0)


def test_brent_rejects_rtol_below_scipy_minimum():
    for f in (lambda g: g, jit):
        with pytest.raises(ValueError, match=r"rtol must be >= 8.88178e-16, got 1e-16"):
            f(lambda a: root_scalar(lambda x: x * x - a, bracket=[0.0, 9.0], rtol=1e-16))(4.0)
    assert root_scalar(lambda x: x * x - 4.0, x0=1.0, rtol=1e-16) == pytest.approx(2.0)


def test_invalid_fixed_point_settings_raise():
    with pytest.raises(ValueError, match="""method of fixed_point must be "del2" or "iteration", got 'foo'"""):
        fixed_point(lambda x: x / 2.0, 1.0, method="foo")
    with pytest.raises(ValueError, match="maxiter must be >= 1, got 0"):
        fixed_point(lambda x: x / 2.0, 1.0, maxiter=0)


@pytest.mark.parametrize("nothing", [[], {}, numpy.zeros(0), numpy.zeros((0, 2))])
def test_empty_x0_raises(nothing):
    for solve in (root, fixed_point):
        for method in {"root": ("hybr", "lm", "krylov"), "fixed_point": ("del2", "iteration")}[solve.__name__]:
            with pytest.raises(ValueError, match=r"x0 must contain at least one number to solve for, got "):
                solve(lambda x: x, nothing, method=method)


def test_invalid_functions_and_methods_raise():
    for solve in (lambda: root(3, 1.0), lambda: fixed_point(3, 1.0), lambda: root_scalar(3, x0=1.0)):
        with pytest.raises(TypeError, match="expected a function, got int: 3"):
            solve()
    for solve in (lambda: root(math.sin, 1.0, method=None), lambda: root_scalar(math.sin, x0=1.0, method=3)):
        with pytest.raises(TypeError, match=r"method must name a method of .*, got "):
            solve()


OTHER_STRUCTURES = {
    "a list for a dict": ([1.0, 0.0], {"x": 0.0, "v": 0.0}, r"must return the structure of x0, \{.*, got \["),
    "other keys": ({"x": 1.0, "typo": 0.0}, {"x": 0.0, "v": 0.0}, "typo"),
    "another shape": (
        numpy.ones((3, 2)),
        numpy.zeros((2, 3)),
        r"the structure of x0, an array of .*, got an array of shape \(3, 2\)",
    ),
    "a row for a table": ([1.0, 2.0, 3.0, 4.0], numpy.zeros((2, 2)), "must return the structure of x0"),
    "nested lists": ([[1.0, 2.0], [3.0]], [1.0, [2.0, 3.0]], "must return the structure of x0"),
}


@pytest.mark.parametrize("name", OTHER_STRUCTURES)
def test_fixed_point_of_another_structure_raises(name):
    result, start, message = OTHER_STRUCTURES[name]
    with pytest.raises(TypeError, match=message):
        fixed_point(lambda x: result, start)


def test_lists_tuples_and_arrays_are_interchangeable():
    for start in (numpy.ones(2), [1.0, 1.0], (1.0, 1.0)):
        for kind in (list, tuple, numpy.array):
            found = fixed_point(lambda x, kind=kind: kind([0.5 * x[0] + 1.0, 0.5 * x[1]]), start)
            assert type(found) is type(start)
            assert list(found) == pytest.approx([2.0, 0.0], abs=1e-9)
    assert fixed_point(lambda x: [0.5 * x + 1.0], 1.0) == pytest.approx(2.0)


def test_results_match_scipy():
    def f(x: Any) -> Any:
        return [x[0] ** 2 + x[1] - 3.0, x[0] - x[1] ** 3]

    expected = scipy.optimize.root(f, [1.0, 1.0], jac=lambda x: [[2 * x[0], 1.0], [1.0, -3 * x[1] ** 2]])
    assert root(f, [1.0, 1.0]) == pytest.approx(expected.x.tolist(), abs=1e-14)


def test_missing_scipy_raises_with_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    for f in (root, fixed_point):
        with pytest.raises(ImportError, match=r"needs scipy.optimize.\w+; install SciPy: pip install"):
            f(math.cos, 1.0)
    assert jit(lambda a: root_scalar(lambda x: x * x - a, x0=1.0))(4.0) == pytest.approx(2.0)  # programs need no SciPy
