"""`checkpoint` of functions with large arrays, which stay whole: the derivatives are those of the function itself."""

from __future__ import annotations

import numpy
import pytest

import gradwalk.numpy as gnp
from gradwalk import (
    Value,
    checkpoint,
    debug,
    grad,
    hessian,
    jit,
    jvp,
    linearize,
    loops,
    tree,
    value_and_grad,
    vjp,
    vmap,
)
from gradwalk.arrays import recorder
from gradwalk.arrays.handles import Handle

rng = numpy.random.default_rng(1)
data = rng.normal(size=12)
x = rng.normal(size=12)
direction = rng.normal(size=12)


def of_tree(c):
    part = c(lambda p: {"s": p["a"] ** 2, "v": numpy.exp(p["x"])})

    def f(a, x):
        found = part({"a": a, "x": x})
        return found["s"] * numpy.sum(found["v"][::2])

    return f


def twice(c):
    part = c(lambda x: numpy.sin(x) * x)
    return lambda a, x: numpy.sum(part(part(x))) * a


# Functions of a number and an array, made with `checkpoint` or with the identity.
FUNCTIONS = {
    "data": lambda c: lambda a, x: c(lambda a: numpy.sum(numpy.sin(data * a)))(a) * x[0],
    "argument": lambda c: lambda a, x: numpy.sum(c(lambda a, x: numpy.sin(x * a) * data)(a, x)),
    "captured": lambda c: lambda a, x: numpy.sum(c(lambda x: numpy.sin(x * a) + data)(x)),
    "twice": twice,
    "tree": of_tree,
    "inverse": lambda c: (
        lambda a, x: c(lambda m, a: gnp.linalg.inv(m * a))(x[:, None] * x + 10.0 * numpy.eye(12), a).sum()
    ),
    "in a loop": lambda c: (
        lambda a, x: numpy.sum(loops.fori_loop(0, 2, lambda i, y: c(lambda y, a: numpy.sin(y * a) + data)(y, a), x))
    ),
    "of a branch": lambda c: (
        lambda a, x: numpy.sum(c(lambda x, a: loops.cond(a > 0, lambda: numpy.sin(x), lambda: x * a))(x, a))
    ),
    "in jit": lambda c: jit(lambda a, x: numpy.sum(c(lambda x: x * x * a)(x))),
    "elements": lambda c: lambda a, x: c(lambda x: x[0] * x[3] + numpy.sum(x))(x) * a,
}


def by_backward(f):
    """Return the gradient that `Value.backward` computes."""

    def gradient(a, x):
        a, x = Value(a), numpy.array([Value(number) for number in x], dtype=object)
        f(a, x).backward()
        return a.grad, [value.grad for value in x]

    return gradient


WAYS = {
    "value": lambda f: f,
    "jit": jit,
    "grad": lambda f: grad(f, (0, 1)),
    "jit grad": lambda f: jit(grad(f, (0, 1))),
    "jit value_and_grad": lambda f: jit(value_and_grad(f, 1)),
    "jvp": lambda f: lambda a, x: jvp(f, (a, x), (0.5, direction)),
    "forward over reverse": lambda f: lambda a, x: jvp(grad(f, 1), (a, x), (0.5, direction)),
    "reverse over reverse": lambda f: jit(
        grad(lambda a, x: numpy.sum(grad(f, 1)(a, x) * direction) + grad(f)(a, x), (0, 1))
    ),
    "third": lambda f: jit(grad(lambda a, x: jvp(grad(f), (a, x), (0.5, direction))[1])),
    "hessian": lambda f: hessian(f, (0, 1)),
    "vmap": lambda f: lambda a, x: vmap(f)(numpy.stack([a, 2.0 * a]), numpy.stack([x, x])),
    "jit vmap grad": lambda f: jit(lambda a, x: vmap(grad(f), (0, None))(numpy.stack([a, 2.0 * a]), x)),
    "grad of jit": lambda f: grad(jit(f), (0, 1)),
    "backward": by_backward,
    "in a loop": lambda f: lambda a, x: jit(grad(lambda a: loops.fori_loop(0, 2, lambda i, c: f(c, x) * 0.1, a)))(a),
    "linearize": lambda f: lambda a, x: linearize(f, a, x)[1](0.5, direction),
    "vjp": lambda f: lambda a, x: vjp(f, a, x)[1](1.0),
}


def numbers_of(result):
    return numpy.concatenate([numpy.ravel(numpy.asarray(leaf, float)) for leaf in tree.leaves(result)])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_the_function(name, way, monkeypatch):
    expected = numbers_of(WAYS[way](FUNCTIONS[name](lambda f: f))(0.7, x))
    for least in (4000, 5, 1):
        monkeypatch.setattr(recorder, "LEAST_SIZE", least)
        found = numbers_of(WAYS[way](FUNCTIONS[name](checkpoint))(0.7, x))
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_large_arrays_stay_whole(monkeypatch):
    large = numpy.linspace(0.0, 1.0, 20_000)

    def refuse(self):
        raise AssertionError("the elements of an array are used one by one")

    monkeypatch.setattr(Handle, "elements", refuse)
    block = checkpoint(lambda a, x: numpy.sin(a * x) * large)
    for way in (grad, lambda f: jit(grad(f)), hessian):
        way(lambda a, x: numpy.sum(block(a, block(a, x))))(0.5, large)


def test_side_effects_are_made_once_per_run():
    seen = []
    large = numpy.linspace(0.0, 1.0, 20_000)

    @checkpoint
    def block(a):
        debug.callback(seen.append, a)
        return numpy.sin(a * large)

    for way in (jit, grad, lambda f: jit(grad(f)), lambda f: jit(value_and_grad(f))):
        run = way(lambda a: numpy.sum(block(a)))
        for a in (0.5, 0.7):
            seen.clear()
            run(a)
            assert seen == [a]
