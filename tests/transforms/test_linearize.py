"""Tests of linearize, and of has_aux in all derivatives, compared with JAX."""

from __future__ import annotations

import numpy
import pytest
from references import jax, jnp

import gradwalk
import gradwalk.math as gm
from gradwalk import (
    Value,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linearize,
    loops,
    primitive,
    value_and_grad,
    vjp,
    vmap,
)

POINT = {"x": 0.7, "y": [1.3, -0.4]}
TANGENT = {"x": 1.0, "y": [0.5, 2.0]}


def function(math):
    def f(tree):
        x, (y, z) = tree["x"], tree["y"]
        return {"a": math.sin(x * y) * z, "b": [math.exp(z) + x]}, {"sum": x + y, "two": 2.0}

    return f


def flat(tree):
    return numpy.array([float(x) for x in jax.tree.leaves(tree)])


@pytest.mark.parametrize("name", ["jvp", "vjp", "linearize"])
def test_products_with_aux_are_as_in_jax(name):
    found = []
    for library, math in ((gradwalk, gm), (jax, jnp)):
        f, transform = function(math), getattr(library, name)
        if name == "jvp":
            result, tangent, aux = transform(f, (POINT,), (TANGENT,), has_aux=True)
            without = transform(lambda t, f=f: f(t)[0], (POINT,), (TANGENT,))
        else:
            result, product, aux = transform(f, POINT, has_aux=True)
            vector = {"a": 2.0, "b": [3.0]} if name == "vjp" else TANGENT
            tangent = product(vector)
            assert flat(product(vector)).tolist() == flat(tangent).tolist()
            without = result, transform(lambda t, f=f: f(t)[0], POINT)[1](vector)
        assert flat(without).tolist() == pytest.approx(flat((result, tangent)).tolist(), rel=1e-14)
        found.append([flat(part) for part in (result, tangent, aux)])
    for ours, theirs in zip(*found, strict=True):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-13)


@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "jacobian", "hessian"])
def test_matrices_with_aux_are_as_in_jax(name):
    ours, aux = getattr(gradwalk, name)(function(gm), has_aux=True)(POINT)
    theirs, aux_in_jax = getattr(jax, name)(function(jnp), has_aux=True)(POINT)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    numpy.testing.assert_allclose(flat(ours), flat(theirs), rtol=1e-12, atol=1e-14)
    assert flat(aux) == pytest.approx(flat(aux_in_jax))
    recorded = jit(getattr(gradwalk, name)(function(gm), has_aux=True))
    for _ in range(2):
        assert flat(recorded(POINT)) == pytest.approx(flat((ours, aux)))


def test_linearize_in_transforms():
    def slope(x):
        _, push = linearize(gm.sin, x)
        return push(1.0) + push(2.0)

    assert slope(0.3) == pytest.approx(3.0 * gm.cos(0.3))
    assert grad(slope)(0.3) == pytest.approx(-3.0 * gm.sin(0.3))
    assert hessian(slope)(0.3) == pytest.approx(-3.0 * gm.cos(0.3))
    recorded = jit(grad(slope))
    assert [recorded(x) for x in (0.1, 0.3)] == pytest.approx([-3.0 * gm.sin(0.1), -3.0 * gm.sin(0.3)])
    assert vmap(slope)(numpy.array([0.1, 0.3])) == pytest.approx([3.0 * gm.cos(0.1), 3.0 * gm.cos(0.3)])
    x = Value(2.0)
    value, push = linearize(lambda y: x * y * y, 3.0)
    (value + push(1.0)).backward()
    assert x.grad == 9.0 + 6.0
    branching = jit(lambda x: linearize(lambda y: y * y if y > 0 else -y, x)[1](1.0))
    assert [branching(x) for x in (2.0, -1.0, 3.0)] == [4.0, -1.0, 6.0]


@pytest.mark.parametrize("product", [linearize, vjp])
def test_the_function_is_evaluated_once(product):
    calls = []

    @primitive
    def square(x):
        calls.append(x)
        return x * x

    @square.derivative
    def _(_, x):
        return 2.0 * stated(x)

    @primitive
    def stated(x):
        calls.append("derivative")
        return x

    stated.derivative(lambda *_: 1.0)
    result, push = product(lambda x: square(gm.exp(x)), 0.0)
    first = push(1.0)
    counted = len(calls)
    assert [push(1.0) for _ in range(3)] == [first] * 3
    assert len(calls) == counted
    assert result == 1.0


def test_products_through_loops():
    def f(x):
        return loops.fori_loop(0, 5, lambda _, c: gm.sin(c) * x, x)

    _, push = linearize(f, 0.9)
    _, pull = vjp(f, 0.9)
    assert [push(1.0), push(2.0), pull(1.0)[0], pull(3.0)[0]] == pytest.approx(
        [scale * jvp(f, (0.9,), (1.0,))[1] for scale in (1.0, 2.0, 1.0, 3.0)]
    )


def test_wrong_arguments():
    with pytest.raises(TypeError, match="takes a function, not int"):
        linearize(3, 1.0)
    _, push = linearize(gm.sin, 1.0)
    with pytest.raises(TypeError, match=r"tangents must have the structure \(number,\), got \(number, number\)"):
        push(1.0, 2.0)
    for derivative in (jacobian, jacfwd, jacrev, hessian, grad, value_and_grad):
        with pytest.raises(TypeError, match=r"with has_aux=True, sin\(\) must return a pair \(value, aux\)"):
            derivative(gm.sin, has_aux=True)(1.0)
    for product in (vjp, linearize):
        with pytest.raises(TypeError, match="must return a pair"):
            product(gm.sin, 1.0, has_aux=True)
    with pytest.raises(TypeError, match="must return a pair"):
        jvp(gm.sin, (1.0,), (1.0,), has_aux=True)
