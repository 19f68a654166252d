"""Jacobians and Hessians of functions with whole arrays: data from outside, large arguments, and large results."""

from __future__ import annotations

import numpy
import pytest

import gradwalk.numpy as gnp
from gradwalk import grad, hessian, jacfwd, jacobian, jacrev, jit, jvp, loops, tree, vmap
from gradwalk.arrays import recorder
from gradwalk.arrays.handles import Handle
from gradwalk.transforms import jacobian as jacobians
from gradwalk.trees.tree import flatten

rng = numpy.random.default_rng(1)
data = rng.normal(size=12)
matrix = rng.normal(size=(12, 3))
t = numpy.array([0.5, -0.3, 0.8])
x = rng.normal(size=12)

# Functions of one argument, with the argument.
FUNCTIONS = {
    "residuals": (lambda t: numpy.tanh(data - matrix @ t), t),
    "tree of arrays": (
        lambda t: {"a": numpy.sin(data * t[0]).reshape(3, 4), "b": t[1] * t[2], "c": [numpy.exp(matrix * t)]},
        t,
    ),
    "dict": (
        lambda p: {"r": data * p["a"] + p["b"][0], "s": numpy.sum(matrix * p["b"]) * p["a"]},
        {"a": 0.3, "b": t},
    ),
    "number": (lambda a: numpy.cumsum(data * a), 0.7),
    "list of sums of an array": (lambda x: [numpy.sum(x * data), numpy.sum(numpy.sin(x)) * x[3]], x),
    "array to array": (lambda x: numpy.sin(x) * data, x),
    "array to small matrix": (
        lambda x: gnp.array([[numpy.sum(x * data), numpy.sum(x)], [numpy.sum(x * x), 1.0]]),
        x,
    ),
    "sum of an array": (lambda x: numpy.sum(numpy.sin(x) * data), x),
    "array and number": (lambda p: (numpy.sum(p[0] * data) * p[1], p[1] ** 2), (x, 0.4)),
    "matrix": (lambda m: [numpy.sum(m @ t), numpy.sum(numpy.exp(m))], matrix),
    "constant": (lambda t: (numpy.where(data > 0, data, 1.0) * 1.0, t[0]), t),
    "transposed": (lambda t: matrix.T * t[0], t),
    "complex": (lambda t: data * t[0] * (1 + 2j), t),
    "branch": (lambda t: data * t[0] if t[1] > 0 else numpy.sin(data * t[2]), t),
    "Jacobian": (lambda t: jacobian(lambda s: numpy.sin(data * s[0]) * s[1])(t)[:, 0] * t[2], t),
    "Hessian": (hessian(lambda s: numpy.sum(numpy.sin(data * s[0]) * s[1])), t),
    "loop": (lambda t: loops.fori_loop(0, 3, lambda i, c: numpy.sin(c) * t[0], data), t),
    "empty array": (lambda t: (numpy.zeros(0), data * t[0]), t),
}


def total(result):
    """Return the sum of the squared absolute values of all numbers in a tree."""
    return sum(gnp.sum(numpy.square(numpy.abs(leaf))) for leaf in tree.leaves(result))


# Ways of differentiating, up to third derivatives of `f`.
WAYS = {
    "jacobian": lambda f, a: jacobian(f)(a),
    "jacfwd": lambda f, a: jacfwd(f)(a),
    "jacrev": lambda f, a: jacrev(f)(a),
    "jit jacobian": lambda f, a: jit(jacobian(f))(a),
    "jit jacfwd": lambda f, a: jit(jacfwd(f))(a),
    "jit jacrev": lambda f, a: jit(jacrev(f))(a),
    "aux": lambda f, a: jacfwd(lambda a: (f(a), f(a)), has_aux=True)(a),
    "jit jacrev with aux": lambda f, a: jit(jacrev(lambda a: (f(a), {"q": f(a)}), has_aux=True))(a),
    "forward over reverse": lambda f, a: jacfwd(jacrev(f))(a),
    "reverse over forward": lambda f, a: jit(jacrev(jacfwd(f)))(a),
    "reverse over reverse": lambda f, a: jacrev(jacrev(f))(a),
    "gradient": lambda f, a: grad(lambda a: total(jacobian(f)(a)))(a),
    "jit gradient": lambda f, a: jit(grad(lambda a: total(jacfwd(f)(a))))(a),
    "vmap": lambda f, a: vmap(jacobian(f))(tree.map(lambda leaf: numpy.stack([leaf, leaf]), a)),
    "jvp": lambda f, a: jvp(jacfwd(f), (a,), (a,)),
}


def numbers_of(result):
    """Return the numbers in a tree, and a text that describes its structure."""
    leaves, treedef = flatten(result, "the result")
    return numpy.concatenate([numpy.ravel(numpy.asarray(leaf, complex)) for leaf in leaves]), str(treedef)


def compare(f, argument, way, monkeypatch):
    """Compare derivatives of functions with whole arrays with those of the same functions number by number."""
    try:
        known, structure = numbers_of(way(f, argument))
    except TypeError as error:
        known, structure = error, ""
    for least in (5, 1):
        monkeypatch.setattr(recorder, "LEAST_SIZE", least)
        if isinstance(known, TypeError):
            with pytest.raises(TypeError, match="in reverse mode needs real results"):
                way(f, argument)
            continue
        found, own = numbers_of(way(f, argument))
        assert own == structure
        numpy.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_the_numbers(name, way, monkeypatch):
    compare(*FUNCTIONS[name], WAYS[way], monkeypatch)


@pytest.mark.parametrize("way", ["jacobian", "jacfwd", "jacrev", "aux", "forward over reverse", "vmap"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_sweep_at_a_time(name, way, monkeypatch):
    monkeypatch.setattr(jacobians, "_MOST_ARRAY_CALLS", 0)
    compare(*FUNCTIONS[name], WAYS[way], monkeypatch)


def test_data_from_outside_stay_whole(monkeypatch):
    large = numpy.linspace(0.0, 1.0, 20_000)

    def loss(t, weights):
        r = numpy.exp(-t[0] * large) - t[1]
        return numpy.sum(weights * r * r) * t[2]

    def refuse(self):
        raise AssertionError("the elements of an array are used one by one")

    second = hessian(loss)(t, large)
    rows = jacobian(lambda t: numpy.exp(-t[0] * large) * t[1])(t)
    monkeypatch.setattr(Handle, "elements", refuse)
    numpy.testing.assert_array_equal(hessian(loss)(t, large), second)
    numpy.testing.assert_allclose(jit(hessian(loss))(t, large), second, rtol=1e-12)
    numpy.testing.assert_array_equal(jacobian(lambda t: numpy.exp(-t[0] * large) * t[1])(t), rows)
    decay = numpy.exp(-t[0] * large)
    numpy.testing.assert_allclose(rows, numpy.stack([-large * decay * t[1], decay, 0.0 * decay], 1), rtol=1e-14)
    exact = numpy.sum(large * 2.0 * (large**2 * decay * (2.0 * decay - t[1]))) * t[2]
    numpy.testing.assert_allclose(second[0, 0], exact, rtol=1e-12)
    of_weights = jacrev(lambda w: [loss(t, w), numpy.sum(w)])(large)
    numpy.testing.assert_allclose(of_weights[0], (decay - t[1]) ** 2 * t[2], rtol=1e-12)
    numpy.testing.assert_array_equal(of_weights[1], numpy.ones_like(large))


def test_reverse_mode_of_large_results():
    large = numpy.linspace(0.0, 1.0, 4100)
    large[1] = numpy.inf
    ones = numpy.ones_like(large)
    for transform in (jacrev, lambda f: jit(jacrev(f))):
        found = transform(lambda p: large * p[0] + p[1])(numpy.array([0.4, 0.5]))
        numpy.testing.assert_array_equal(found, numpy.stack([large, ones], 1))  # no 0 * inf
    large[1] = 0.5
    found = jacrev(lambda x: gnp.sin(x) * 2.0)(large)
    numpy.testing.assert_allclose(found, numpy.diag(2.0 * numpy.cos(large)), rtol=1e-15)
