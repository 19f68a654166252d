"""Tests of user-defined solvers whose derivatives come from their equations."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any

import numpy
import pytest
import scipy.optimize
from every_way import in_every_way
from references import jnp

from gradwalk import Value, grad, hessian, jacobian, jit, loops, vmap
from gradwalk import numpy as gnp
from gradwalk.solvers import custom_fixed_point, custom_root


@custom_root(lambda x, a, b=1.0: x * x * b - a)
def bisected(init_params: Any, a: float, b: float = 1.0, *, steps: int = 60) -> float:
    assert isinstance(a, float)
    low, high = 0.0, max(a, 1.0)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * middle * b < a else (low, middle)
    return low


@custom_fixed_point(lambda x, a: 0.5 * (x + a / x))
def heron(init_params: float, a: float) -> float:
    x = init_params
    for _ in range(30):
        x = 0.5 * (x + a / x)
    return x


@custom_root(grad(lambda x, p: (x[0] - p["a"]) ** 4 + (x[0] - p["a"]) ** 2 + (x[1] - x[0] * p["b"]) ** 2))
def minimized(init_params: Any, p: dict[str, float]) -> Any:
    def f(x: Any) -> Any:
        return (x[0] - p["a"]) ** 4 + (x[0] - p["a"]) ** 2 + (x[1] - x[0] * p["b"]) ** 2

    return scipy.optimize.minimize(f, init_params, tol=1e-12).x.tolist()


CASES: dict[str, tuple[Any, Any]] = {
    "bisection": (lambda a, b: bisected(1.0, a, b), lambda a, b: jnp.sqrt(a / b)),
    "by name": (lambda a, b: bisected(a=a, init_params=1.0, b=b), lambda a, b: jnp.sqrt(a / b)),
    "a default": (lambda a, b: b * bisected(1.0, a), lambda a, b: b * jnp.sqrt(a)),
    "an integer": (lambda a, b: b * bisected(1.0, a, 2), lambda a, b: b * jnp.sqrt(a / 2)),
    "a start of arguments": (lambda a, b: heron(a + b, a * b), lambda a, b: jnp.sqrt(a * b)),
    "captured variables": (
        lambda a, b: custom_root(lambda x, c: x * b - c)(lambda init_params, c: c / 3.0)(1.0, a),
        lambda a, b: a / b,
    ),
    "in a loop": (
        lambda a, b: loops.fori_loop(0, 2, lambda i, x: bisected(1.0, x * a, b), 1.0),
        lambda a, b: jnp.sqrt(jnp.sqrt(a / b) * a / b),
    ),
    "in another equation": (
        lambda a, b: custom_root(lambda x, a, b: x - bisected(1.0, a * x, b))(
            lambda init_params, a, b: a / b,
        )(1.0, a, b),
        lambda a, b: a / b,
    ),
}


@pytest.mark.parametrize("name", [name for name in CASES if name != "captured variables"])
def test_two_derivatives_in_every_transform(name):
    in_every_way(*CASES[name], 2.0, 3.0)


def test_equations_may_capture_values():
    f, _ = CASES["captured variables"]
    assert grad(f, (0, 1))(2.0, 3.0) == pytest.approx((1.0 / 3.0, -2.0 / 9.0))
    assert jit(grad(f, (0, 1)))(2.0, 3.0) == pytest.approx((1.0 / 3.0, -2.0 / 9.0))
    a, b = Value(2.0), Value(3.0)
    f(a, b).backward()
    assert (a.grad, b.grad) == pytest.approx((1.0 / 3.0, -2.0 / 9.0))


def test_minimum_as_a_root_of_the_gradient():
    p = {"a": 2.0, "b": 3.0}
    assert minimized([1.0, 1.0], p) == pytest.approx([2.0, 6.0], abs=1e-5)
    slopes = jacobian(minimized, argnums=1)([1.0, 1.0], p)
    assert [slopes[0]["a"], slopes[1]["a"], slopes[1]["b"]] == pytest.approx([1.0, 3.0, 2.0], abs=1e-4)
    recorded = jit(hessian(lambda p: minimized([1.0, 1.0], p)[1]))
    assert recorded(p)["a"]["b"] == pytest.approx(1.0, abs=1e-4)


def test_ridge_regression_example_of_jaxopt():
    random = numpy.random.default_rng(0)
    x, y = random.normal(size=(6, 3)), random.normal(size=6)

    @custom_root(grad(lambda w, penalty, x, y: ((x @ w - y) ** 2).sum() + penalty * (w**2).sum()))
    def ridge(init_params: Any, penalty: float, x: Any, y: Any) -> Any:
        return numpy.linalg.solve(x.T @ x + penalty * numpy.eye(3), x.T @ y)

    def direct(penalty: Any, x: Any, y: Any) -> Any:
        return gnp.linalg.solve(x.T @ x + penalty * numpy.eye(3), x.T @ y)

    for derivative in (jacobian, lambda f, argnums: jacobian(jacobian(f, argnums), argnums)):
        for position in (0, 1, 2):
            expected = derivative(direct, position)(10.0, x, y)
            found = derivative(ridge, position + 1)(None, 10.0, x, y)
            recorded = jit(derivative(ridge, position + 1))(numpy.zeros(3), 10.0, x, y)
            numpy.testing.assert_allclose(found, expected, atol=1e-12)
            numpy.testing.assert_allclose(recorded, expected, atol=1e-12)


def test_init_params_may_be_none_outside_jit():
    assert bisected(None, 4.0) == pytest.approx(2.0)
    assert grad(lambda a: bisected(None, a))(4.0) == pytest.approx(0.25)
    a = Value(4.0)
    bisected(None, a).backward()
    assert a.grad == pytest.approx(0.25)
    with pytest.raises(TypeError, match=r"init_params of bisected\(\) must not be None .*pass numbers"):
        jit(lambda a: bisected(None, a))(4.0)


def test_keyword_only_arguments_go_to_the_solver():
    assert bisected(1.0, 4.0, steps=2) == 1.0
    assert grad(lambda a: bisected(1.0, a, steps=2))(4.0) == 0.5  # the equation's derivative at the solver's result


def outside(b: Any, number: Any) -> Any:
    @custom_root(lambda x, a: x * x * b - a)
    def solver(init_params: Any, a: float) -> Any:
        return (a / number(b)) ** 0.5

    return solver(1.0, 4.0)


@pytest.mark.parametrize("transform", [grad, jit, lambda f: jit(grad(f)), vmap])
def test_solvers_that_capture_tracers_raise(transform):
    given = numpy.array([2.0]) if transform is vmap else 2.0
    with pytest.raises(
        TypeError, match=r"solver\(\) uses a Value that is not one of its arguments.*Make it an argument"
    ):
        transform(lambda b: outside(b, lambda b: b))(given)


@pytest.mark.parametrize("transform", [jit, lambda f: jit(grad(f)), vmap])
def test_solvers_that_capture_tracer_data_raise(transform):
    given = numpy.array([2.0]) if transform is vmap else 2.0
    with pytest.raises(TypeError, match="Make it an argument"):
        transform(lambda b: outside([b], lambda b: b[0].data))(given)


@dataclasses.dataclass
class Record:
    number: Any


class Holder:
    def __init__(self, number: Any) -> None:
        self.number = number

    def found(self, init_params: Any, a: float) -> float:
        return (a / self.number.data) ** 0.5

    def __call__(self, init_params: Any, a: float) -> float:
        return self.found(init_params, a)


def in_a_helper(b: Any) -> Any:
    def helper(a: float) -> float:
        return (a / b.data) ** 0.5

    return lambda init_params, a: helper(a)


def of_object(holder: Any) -> Any:
    return lambda init_params, a: (a / holder.number.data) ** 0.5


HIDDEN = {
    "an attribute": lambda b: of_object(Holder(b)),
    "a field": lambda b: of_object(Record(b)),
    "an attribute of an attribute": lambda b: of_object(Holder(Holder(b))),
    "a method": lambda b: Holder(b).found,
    "an object that is called": Holder,
    "a partial": lambda b: functools.partial(lambda c, init_params, a: (a / c.data) ** 0.5, b),
    "a partial by name": lambda b: functools.partial(lambda init_params, a, *, c: (a / c.data) ** 0.5, c=b),
    "a partial of an object": lambda b: functools.partial(lambda h, init_params, a: h.found(1.0, a), Holder(b)),
    "a helper": in_a_helper,
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("transform", [jit, lambda f: jit(grad(f)), vmap])
def test_captured_tracers_are_found_in_nested_objects(name, transform):
    def solved(b: Any) -> Any:
        return custom_root(lambda x, a, c=0.0: x * x * b - a)(HIDDEN[name](b))(1.0, 4.0)

    with pytest.raises(TypeError, match=r"uses a Value that is not one of its arguments.*Make it an argument"):
        transform(solved)(numpy.array([2.0]) if transform is vmap else 2.0)


def test_tracers_as_keyword_only_arguments_raise():
    @custom_root(lambda x, a: x * x - a)
    def solver(init_params: Any, a: float, *, b: Any) -> float:
        return (a * b.data) ** 0.5

    with pytest.raises(TypeError, match="uses a Value that is not one of its arguments"):
        jit(lambda b: solver(1.0, 4.0, b=b))(1.0)


def test_solvers_may_capture_concrete_numbers():
    assert grad(lambda b: outside(b, lambda b: b.data))(2.0) == pytest.approx(-0.5 * 2.0**0.5 / 2.0)
    b = Value(2.0)
    outside(b, lambda b: b.data).backward()
    assert b.grad == pytest.approx(-0.5 * 2.0**0.5 / 2.0)


def test_solution_of_another_structure_raises():
    solver = custom_root(lambda x, a: x - a)(lambda init_params, a: numpy.array(a))
    with pytest.raises(
        TypeError, match=r"must return a solution in the structure of init_params, \[.*, got an array of shape \(2,\)"
    ):
        custom_root(lambda x, a: [x[0] - a, x[1] - a])(lambda init_params, a: numpy.array([a, a]))([0.0, 0.0], 1.0)
    assert solver(0.0, 2.0) == 2.0  # zero-dimensional arrays count as numbers
    with pytest.raises(ValueError, match="must return 2 numbers, as many as there are unknowns, got 1"):
        custom_root(lambda x, a: x[0] - a)(lambda init_params, a: [a, a])([0.0, 0.0], 1.0)


def test_fixed_point_of_another_structure_raises():
    solver = custom_fixed_point(lambda x, a: [a, 1.0])(lambda init_params, a: {"u": a, "v": 1.0})
    with pytest.raises(TypeError, match=r"must return the structure of init_params, \{.*, got \["):
        solver({"u": 0.0, "v": 0.0}, 1.0)


@pytest.mark.parametrize("decorator", [custom_root, custom_fixed_point])
def test_non_functions_raise(decorator):
    with pytest.raises(TypeError, match="expected a function, got int: 3"):
        decorator(3)
    with pytest.raises(TypeError, match="expected a function, got int: 4"):
        decorator(lambda x, a: x - a)(4)
    with pytest.raises(TypeError, match=r"the signature of max\(\) cannot be inspected: pass a function that calls it"):
        decorator(lambda x, a: x - a)(max)


def test_solvers_may_be_partials_methods_or_callable_objects():
    class Power:
        def __call__(self, init_params: Any, a: float, exponent: float = 0.5) -> float:
            return a**exponent

        def found(self, init_params: Any, a: float) -> float:
            return self(init_params, a)

    for solver in (functools.partial(Power(), exponent=0.5), Power(), Power().found):
        solve = custom_root(lambda x, a, exponent=0.5: x * x - a)(solver)
        assert solve(1.0, 4.0) == 2.0
        assert grad(solve, argnums=1)(1.0, 4.0) == jit(grad(solve, argnums=1))(1.0, 4.0) == 0.25


def test_empty_init_params_raise():
    with pytest.raises(ValueError, match=r"init_params must contain at least one number to solve for, got \[\]"):
        custom_root(lambda x, a: [])(lambda init_params, a: [])([], 1.0)


def test_solvers_keep_names_and_can_be_pickled():
    assert bisected.__name__ == "bisected"
    recorded = jit(grad(lambda a: bisected_outside(1.0, a)))
    assert recorded(4.0) == pytest.approx(0.25)
    program = pickle.loads(pickle.dumps(recorded.program))
    assert program.run([9.0]).tolist() == pytest.approx([1.0 / 6.0])


def square_root(init_params: float, a: float) -> float:
    return a**0.5


bisected_outside = custom_root(lambda x, a: x * x - a)(square_root)
