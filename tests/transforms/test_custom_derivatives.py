"""Tests of primitives, checkpoints and stop_gradient."""

from __future__ import annotations

import copy
import math
import pickle
import tracemalloc

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    Value,
    check,
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    primitive,
    refresh,
    stop_gradient,
    topological_order,
    vjp,
    walk,
)


@primitive
def sine(x):
    return math.sin(x)


@primitive
def cosine(x):
    return math.cos(x)


@sine.derivative
def _(out, x):
    return cosine(x)


@cosine.derivative
def _(out, x):
    return -sine(x)


@primitive
def power(x, y):
    return math.pow(x, y)


@power.derivative
def _(out, x, y):
    return y * power(x, y - 1.0), out * gm.log(x)


def step(state):
    """Advance a pendulum by 20 steps, about a hundred operations."""
    angle, speed = state
    for _ in range(20):
        speed = speed - 0.05 * gm.sin(angle)
        angle = angle + 0.05 * speed
    return [angle, speed]


def rolled(step):
    def energy(angle):
        state = [angle, 0.5]
        for _ in range(4):
            state = step(state)
        return state[0] ** 2 + state[1]

    return energy


@pytest.mark.parametrize("order", range(5))
def test_primitive_has_derivatives_of_any_order(order):
    f, g = sine, gm.sin
    for _ in range(order):
        f, g = grad(f), grad(g)
    assert f(0.7) == pytest.approx(g(0.7), rel=1e-15)
    assert jit(f)(0.7) == f(0.7)


def test_primitive_in_every_transform():
    def f(x, y):
        return power(x, sine(y)) * x

    def g(x, y):
        return x ** gm.sin(y) * x

    at = (1.3, 0.4)
    for transform in (grad, jacfwd, jacrev, hessian):
        numpy.testing.assert_allclose(transform(f, (0, 1))(*at), transform(g, (0, 1))(*at), rtol=1e-13)
        numpy.testing.assert_allclose(jit(transform(f))(*at), transform(g)(*at), rtol=1e-13)
    assert jvp(f, at, (1.0, 2.0)) == pytest.approx(jvp(g, at, (1.0, 2.0)), rel=1e-14)
    assert vjp(f, *at)[1](2.0) == pytest.approx(vjp(g, *at)[1](2.0), rel=1e-14)


def test_primitive_on_values():
    x, y = Value(1.3, label="x"), Value(0.4)
    out = power(x, y) * 2.0
    out.backward()
    assert x.grad == pytest.approx(2 * 0.4 * 1.3**-0.6)
    assert y.grad == pytest.approx(2 * 1.3**0.4 * math.log(1.3))
    assert out.operands[0].op == "power"
    assert walk(out).gradients["x"] == x.grad
    assert check(out).ok
    x.data = 2.0
    refresh(out)
    assert out.data == 2.0 * 2.0**0.4
    twin = copy.deepcopy(out)
    twin.backward()
    [leaf] = [node for node in topological_order(twin) if node.label == "x"]
    assert leaf is not x
    assert leaf.grad != x.grad


def test_primitive_with_a_variable_number_of_operands():
    @primitive
    def total(*operands):
        return sum(operands)

    @total.derivative
    def _(out, *operands):
        return (1.0,) * len(operands) if len(operands) > 1 else 1.0

    assert grad(lambda x, y: 2.0 * total(x) + total(x, y), argnums=(0, 1))(2.0, 3.0) == (3.0, 1.0)
    assert jit(grad(lambda x, y: 2.0 * total(x, y) + total(x)))(2.0, 3.0) == 3.0


def test_primitive_accepts_floats_and_can_be_pickled():
    assert sine(0.5) == math.sin(0.5)
    assert power(2.0, Value(3.0)).data == 8.0
    assert pickle.loads(pickle.dumps(sine)) is sine
    assert repr(sine) == "<primitive sine()>"


def test_invalid_derivative_rules_raise():
    @primitive
    def unruled(x):
        return x

    with pytest.raises(TypeError, match=r"unruled\(\) has no derivative: give it one with @unruled.derivative"):
        grad(unruled)(1.0)

    @primitive
    def miscounted(x, y):
        return x

    miscounted.derivative(lambda out, x, y: (1.0,))
    with pytest.raises(ValueError, match="must return 2 partials, one per operand, got 1"):
        grad(miscounted)(1.0, 2.0)
    with pytest.raises(ValueError, match="must return 2 partials, one per operand, got 1"):
        miscounted(Value(1.0), 2.0).backward()

    @primitive
    def opaque(x):
        return math.sin(x)

    opaque.derivative(lambda out, x: math.cos(x))
    x = Value(0.5)
    opaque(x).backward()  # the rule is called with numbers
    assert x.grad == math.cos(0.5)
    with pytest.raises(RecordingError, match=r"math\.cos") as error:
        grad(opaque)(0.5)
    assert "derivative of the primitive opaque() is recorded" in error.value.__notes__[0]

    outside = Value(2.0)

    @primitive
    def capturing(x):
        return x

    capturing.derivative(lambda out, x: outside * x)
    with pytest.raises(ValueError, match="uses a Value that is not one of its arguments"):
        grad(capturing)(1.0)


def test_primitive_rejects_non_numbers():
    with pytest.raises(TypeError, match=r"argument 2 of the primitive power\(\) is a str"):
        power(Value(1.0), "x")
    text = primitive(lambda x: "text")
    with pytest.raises(TypeError, match=r"the primitive <lambda>\(\) returned a str, not a number"):
        text(Value(1.0))
    with pytest.raises(TypeError, match="takes a function, not int"):
        primitive(3)


@pytest.mark.parametrize(
    "derive",
    [
        lambda f: f,
        grad,
        lambda f: grad(grad(f)),
        lambda f: grad(grad(grad(f))),
        lambda f: jit(grad(f)),
        lambda f: jit(hessian(f)),
        lambda f: lambda x: jvp(f, (x,), (2.0,))[1],
        lambda f: lambda x: jvp(grad(f), (x,), (1.0,))[1],
        lambda f: lambda x: vjp(f, x)[1](3.0)[0],
        lambda f: jacfwd(jacfwd(f)),
    ],
)
def test_checkpoint_does_not_change_derivatives(derive):
    whole, plain = derive(rolled(checkpoint(step)))(1.0), derive(rolled(step))(1.0)
    assert whole == pytest.approx(plain, rel=1e-12)


def test_checkpoint_in_a_graph_of_values():
    x, y = Value(1.0), Value(1.0)
    rolled(checkpoint(step))(x).backward()
    rolled(step)(y).backward()
    assert x.grad == pytest.approx(y.grad, rel=1e-13)
    out = rolled(checkpoint(step))(x)
    assert len(topological_order(out)) < 20 < len(topological_order(rolled(step)(x)))
    x.data = 0.3
    refresh(out)
    assert out.data == pytest.approx(rolled(step)(0.3), rel=1e-15)


def test_checkpoint_reads_captured_values_at_every_call():
    weight = Value(2.0)
    scaled = checkpoint(lambda x: weight * x * x)
    x = Value(3.0)
    scaled(x).backward()
    assert (x.grad, weight.grad) == (12.0, 9.0)
    weight.data = 5.0
    assert scaled(1.0).data == 5.0


def test_checkpoint_accepts_static_arguments():
    @checkpoint(static_argnames="n")
    def repeated(x, n):
        for _ in range(n):
            x = x * x
        return x

    assert grad(lambda x: repeated(x, n=3))(1.1) == pytest.approx(8 * 1.1**7)
    assert grad(lambda x: repeated(x, n=1))(1.1) == pytest.approx(2.2)


def test_loop_of_checkpoints_has_a_short_tape():
    def tape_length(step):
        gradient = jit(grad(rolled(step)))
        gradient(1.0)
        return gradient.statistics.instructions

    assert tape_length(checkpoint(step)) < 60 < 400 < tape_length(step)


def test_stop_gradient_of_numbers_values_and_trees():
    assert stop_gradient(2.0) == 2.0
    stopped = stop_gradient({"a": Value(2.0), "b": [1.0]})
    assert stopped["a"].operands == ()
    assert stopped["b"] == [1.0]
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert jit(grad(lambda x: x * stop_gradient(x * x)))(3.0) == 9.0
    f = jit(lambda x: stop_gradient(x) + x)
    assert (f(1.0), f(2.0)) == (2.0, 4.0)  # traced, not frozen
    assert grad(f)(1.0) == 1.0
    assert jvp(lambda x: stop_gradient(x) * x, (3.0,), (1.0,)) == (9.0, 3.0)


def test_check_reports_a_stopped_gradient_as_stopped():
    f = jit(lambda x: x * stop_gradient(x))
    f(3.0)
    assert {row.name: row.verdict for row in check(f.graph).rows}["x"] == "stopped"
    assert check(f.graph).ok


def test_traced_checkpoint_uses_memory_of_one_block():
    def steps(x):
        for _ in range(50):
            x = gm.tanh(x + 0.1)
        return x

    def most(block):
        def f(x):
            for _ in range(100):
                x = block(x)
            return x

        recorded = jit(grad(f))
        tracemalloc.start()
        try:
            recorded(0.3)
            recorded(0.4)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert most(checkpoint(steps)) < most(steps) / 10
