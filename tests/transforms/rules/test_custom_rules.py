"""Tests of custom_jvp and custom_vjp, compared with JAX where JAX supports the case."""

from __future__ import annotations

import copy
import functools
import pickle
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
from every_way import in_every_way
from references import jax, jnp

import gradwalk
import gradwalk.math as gm
from gradwalk import (
    Program,
    RecordingError,
    Value,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacrev,
    jit,
    jvp,
    loops,
    no_grad,
    vmap,
)


def ruled(library: Any, math: Any) -> Any:
    """Define functions with rules in a library that has JAX's names; return a function of two numbers."""

    @library.custom_jvp
    def log1pexp(x):
        return math.log(1.0 + math.exp(x))

    @log1pexp.defjvp
    def _(primals, tangents):
        (x,), (tangent,) = primals, tangents
        return log1pexp(x), (1.0 - 1.0 / (1.0 + math.exp(x))) * tangent

    @library.custom_jvp
    def pair(x, y):
        return {"product": x * y, "sum": (x + y,)}

    pair.defjvps(
        lambda tangent, _, x, y: {"product": tangent * y, "sum": (tangent,)},
        lambda tangent, _, x, y: {"product": x * tangent, "sum": (tangent,)},
    )

    @library.custom_vjp
    def wave(state):
        return math.sin(state["x"]) * state["y"], state["y"] ** 2

    def forward(state):
        return wave(state), (state["y"], math.sin(state["x"]), math.cos(state["x"]))

    def backward(residuals, cotangents):
        y, sine, cosine = residuals
        first, second = cotangents
        return ({"x": first * cosine * y, "y": first * sine + 2.0 * second * y},)

    wave.defvjp(forward, backward)

    @functools.partial(library.custom_jvp, nondiff_argnums=(0,))
    def applied(f, x):
        return f(x)

    @applied.defjvp
    def _(f, primals, tangents):
        return applied(f, primals[0]), (1.0 - f(primals[0]) ** 2) * tangents[0]

    def total(x, y):
        both, waves = pair(x, y), wave({"x": x, "y": y})
        return log1pexp(x) * both["product"] + both["sum"][0] * waves[0] + waves[1] * applied(math.tanh, x)

    return total


def plain(x, y):
    """Compute the same function without rules in JAX."""
    waves = jnp.sin(x) * y
    return jnp.log(1.0 + jnp.exp(x)) * x * y + (x + y) * waves + y**2 * jnp.tanh(x)


def test_rule_of_a_product_with_a_constant():
    def product(library):
        @library.custom_jvp
        def multiplied(x, y):
            return x * y

        @multiplied.defjvp
        def _(primals, tangents):
            (x, y), (of_x, of_y) = primals, tangents
            return multiplied(x, y), y * of_x + of_y * x / 2.0 + of_y * x / 2.0

        return multiplied

    own, its = product(gradwalk), product(jax)
    first = jax.grad(lambda x: its(x, 3.0) * its(0.5, x))
    for transform in (grad, lambda f: jit(grad(f)), lambda f: grad(jit(f))):
        derivative = transform(lambda x: own(x, 3.0) * own(0.5, x))
        assert derivative(0.4) == pytest.approx(float(first(0.4)), rel=1e-6)
        assert grad(derivative)(0.4) == pytest.approx(float(jax.grad(first)(0.4)), rel=1e-6)


def test_rules_in_every_way():
    in_every_way(ruled(gradwalk, gm), plain, 0.7, -0.4)


def test_values_and_gradients_are_as_in_jax():
    f, in_jax = ruled(gradwalk, gm), ruled(jax, jnp)
    assert f(0.7, -0.4) == pytest.approx(float(in_jax(0.7, -0.4)), rel=1e-14)
    assert grad(f, (0, 1))(0.7, -0.4) == pytest.approx([float(x) for x in jax.grad(in_jax, (0, 1))(0.7, -0.4)])


def test_rules_in_loops():
    f = ruled(gradwalk, gm)

    def looped(x, y):
        return loops.fori_loop(0, 4, lambda _, c: (0.1 * f(*c) + c[0], 0.9 * c[1]), (x, y))[0]

    def in_jax(x, y):
        for _ in range(4):
            x, y = 0.1 * plain(x, y) + x, 0.9 * y
        return x

    in_every_way(looped, in_jax, 0.7, -0.4)


def test_recorded_functions_keep_their_rules():
    @custom_jvp
    def doubled_slope(x):
        return x

    doubled_slope.defjvp(lambda primals, tangents: (primals[0], 2.0 * tangents[0]))
    xs = numpy.array([1.0, 2.0])
    assert grad(jit(doubled_slope))(3.0) == 2.0
    assert grad(lambda xs: vmap(doubled_slope)(xs).sum())(xs).tolist() == [2.0, 2.0]
    assert grad(vmap(lambda w, x: doubled_slope(w * x), (None, 0), reduce="sum"))(1.0, xs) == 6.0
    assert grad(lambda x: loops.scan(lambda c, _: (doubled_slope(c), None), x, None, 3)[0])(1.0) == 8.0
    recorded = jit(lambda x: doubled_slope(x) * x)
    recorded(1.0)
    saved = Program.from_json(recorded.program.to_json())
    assert saved.calls == ()
    assert saved.run([3.0]).tolist() == [9.0]
    assert "void f(" in recorded.program.to_c()
    batched = pickle.loads(pickle.dumps(vmap(doubled_slope).lower(xs)))
    assert batched(xs).tolist() == [1.0, 2.0]


def test_the_rule_gets_the_cotangents_of_all_results():
    @custom_vjp
    def normalized(xs):
        return xs

    def backward(_, cotangents):
        return ([c / gm.hypot(*cotangents) for c in cotangents],)

    normalized.defvjp(lambda xs: (xs, None), backward)
    xs = [Value(1.0), Value(2.0)]
    outputs = normalized(xs)
    loss = 3.0 * outputs[0] + 4.0 * outputs[1]
    for scale in (1.0, 2.0):  # a second pass adds to the gradients
        loss.backward()
        assert [x.grad for x in xs] == pytest.approx([0.6 * scale, 0.8 * scale])
    copied = copy.deepcopy(loss)
    copied.backward()
    assert grad(lambda xs: 2.0 * normalized(xs)[0])([1.0, 2.0]) == [1.0, 0.0]
    assert jit(grad(lambda xs: 3.0 * normalized(xs)[0] + 4.0 * normalized(xs)[1]))([1.0, 2.0])
    with pytest.raises(TypeError, match=r"can differentiate only by transposing .* computes hypot"):
        jvp(normalized, ([1.0, 2.0],), ([1.0, 0.0],))
    with no_grad():
        assert [x.data for x in normalized(xs)] == [1.0, 2.0]


def test_a_clipped_gradient_on_a_value():
    @functools.partial(custom_vjp, nondiff_argnums=(0, 1))
    def clipped(low, high, x):
        return x

    def backward(low, high, _, cotangent):
        return (gm.clip(cotangent, low, high),)

    clipped.defvjp(lambda low, high, x: (x, None), backward)
    x = Value(2.0)
    (5.0 * clipped(-1.0, 1.0, x)).backward()
    assert x.grad == 1.0
    with pytest.raises(TypeError, match="low is in nondiff_argnums, so it must not hold Values"):
        clipped(x, 1.0, x)


@dataclass
class Point:
    x: Any
    y: Any


def test_trees_and_zeros():
    @custom_vjp
    def f(point, weights, steps):
        return sum(w * point.x for w in weights[:steps])

    f.defvjp(
        lambda point, weights, steps: (f(point, weights, steps), (point, weights, steps)),
        lambda residuals, c: (Point(c * sum(residuals[1][: residuals[2]]), None), [c * residuals[0].x, None], None),
    )
    point = Point(Value(2.0), Value(3.0))
    weights = [Value(4.0), 5.0]
    f(point, weights, 1).backward()
    assert (point.x.grad, point.y.grad, weights[0].grad) == (4.0, 0.0, 2.0)
    array = numpy.array([1.0, 2.0])

    @custom_jvp
    def norm(xs, *, eps=0.0):
        return (xs * xs).sum() + eps

    norm.defjvp(lambda primals, tangents: (norm(*primals), 2.0 * (primals[0] * tangents[0]).sum()))
    assert grad(norm)(array).tolist() == [2.0, 4.0]
    assert hessian(norm)(array).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert norm.__name__ == "norm"


def test_methods_branches_and_keywords():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @functools.partial(custom_jvp, nondiff_argnames=("self",))
        def scaled(self, x, power=2):
            return self.scale * x**power if x > 0 else 0.0 * x

        @scaled.defjvp
        def _(self, primals, tangents):
            x, power = primals
            return self.scale * x**power, self.scale * power * x ** (power - 1) * tangents[0]

    model = Model(3.0)
    assert grad(lambda x: model.scaled(x, power=3))(2.0) == 36.0
    assert grad(model.scaled)(2.0) == 12.0
    recorded = jit(model.scaled)
    assert [recorded(x) for x in (2.0, -1.0, 3.0)] == [12.0, 0.0, 27.0]
    assert recorded.statistics.recordings == 2


def test_wrong_rules():
    def ruled(rule):
        f = custom_jvp(lambda x: x)
        f.defjvp(rule)
        return f

    for rule, message in (
        (lambda p, t: p[0], "must return a pair: result and tangent"),
        (lambda p, t: (p[0], [t[0]]), r"must have the structure of the function's result, a number, got \[number\]"),
        (lambda p, t: (p, t[0]), "the result that the rule .* must have the structure"),
        (lambda p, t: (p[0], t[0] * t[0]), "must be linear, but it computes mul"),
        (lambda p, t: (p[0], t[0] + 1.0), "must be linear, but it computes add"),
        (lambda p, t: (p[0], gm.where(t[0] > 0, 1.0, 0.0)), "must be linear, but it computes"),
    ):
        with pytest.raises(TypeError, match=message):
            grad(ruled(rule))(1.0)
    with pytest.raises(RecordingError, match="branch") as caught:
        grad(ruled(lambda p, t: (p[0], t[0] if p[0] > 0 else 0.0)))(1.0)
    assert "The derivative rule of <lambda>() is recorded" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match=r"without a rule: define one with @<lambda>.defjvp"):
        custom_jvp(lambda x: x)(1.0)
    with pytest.raises(TypeError, match=r"without rules: define them with <lambda>.defvjp"):
        custom_vjp(lambda x: x)(1.0)
    with pytest.raises(TypeError, match="takes a function, not int"):
        custom_jvp(3)
    backward = custom_vjp(lambda x, y: x)
    backward.defvjp(lambda x, y: (x, None), lambda _, c: c)
    with pytest.raises(TypeError, match=r"must return a tuple of 2 cotangents, one for each .* \(x, y\)"):
        grad(backward)(1.0, 2.0)
    backward.defvjp(lambda x, y: (x, None), lambda _, c: ([c], c))
    with pytest.raises(TypeError, match=r"the cotangent of x that .* must have the structure of the argument"):
        grad(backward)(1.0, 2.0)
    backward.defvjp(lambda x, y: x, lambda _, c: (c, c))
    with pytest.raises(TypeError, match="must return a pair: result and residuals"):
        grad(backward)(1.0, 2.0)
    with pytest.raises(TypeError, match="in nondiff_argnums"):
        ruled(lambda *_: None)({"text"})
    f = custom_jvp(lambda x: x, nondiff_argnums=3)
    f.defjvp(lambda *_: None)
    with pytest.raises(ValueError, match="must be positions of its arguments, got 3"):
        f(Value(1.0))
    with pytest.raises(TypeError, match="cannot be combined with nondiff_argnums"):
        custom_jvp(lambda f, x: x, 0).defjvps(None)
    f = custom_jvp(lambda x, y: x)
    f.defjvps(lambda t, *_: t)
    with pytest.raises(TypeError, match="was given 1 functions, and <lambda> was called with 2 arguments"):
        grad(f)(1.0, 2.0)


def test_captured_values_are_refused():
    weight = Value(2.0)
    f = custom_jvp(lambda x: weight * x)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(TypeError, match="uses a Value that is not one of its arguments"):
        f(Value(1.0)).backward()
    assert grad(f)(1.0) == 1.0
    with pytest.raises(TypeError, match="uses a Value that is not one of its arguments"):
        grad(lambda w: custom_captured(w)(1.0 * w))(2.0)
    f.defjvp(lambda primals, tangents: (primals[0], weight * tangents[0]))
    with pytest.raises(ValueError, match=r"the derivative rule of <lambda>.* uses a Value"):
        grad(f)(1.0)


def custom_captured(w):
    f = custom_jvp(lambda x: w * x)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    return f


def test_reverse_over_reverse_of_rules_that_call_each_other():
    sine, cosine = custom_jvp(gm.sin), custom_jvp(gm.cos)
    sine.defjvp(lambda p, t: (sine(*p), cosine(*p) * t[0]))
    cosine.defjvp(lambda p, t: (cosine(*p), -sine(*p) * t[0]))
    f, g = sine, gm.sin
    for _ in range(4):
        f, g = grad(f), grad(g)
        assert f(0.7) == pytest.approx(g(0.7), rel=1e-14)
    assert jacrev(jit(grad(sine)))(0.7) == pytest.approx(-gm.sin(0.7))
