"""Tests of the activations with names of jax.nn: values and two derivatives, compared with JAX."""

from __future__ import annotations

import functools

import numpy
import pytest
from every_way import in_every_way
from references import jax, jnp

import gradwalk.math as gm
from gradwalk import Value, grad, hessian, jit, nn, vmap

POINTWISE = [
    "celu",
    "elu",
    "gelu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "swish",
    "tanh",
]
INSIDE = [-4.2, -1.7, -0.4, 0.3, 2.6, 7.5]  # no kinks


@pytest.mark.parametrize("name", POINTWISE)
def test_activations_are_as_in_jax(name):
    ours, theirs = getattr(nn, name), getattr(jax.nn, name)
    xs = numpy.array(INSIDE)
    of_all = jax.jit(jax.vmap(lambda x: (theirs(x), jax.grad(theirs)(x), jax.hessian(theirs)(x))))
    value, first, second = map(numpy.array, of_all(xs))
    for mine, expected in ((ours, value), (grad(ours), first), (hessian(ours), second)):
        near = functools.partial(numpy.testing.assert_allclose, desired=expected, rtol=1e-12, atol=1e-14)
        near([mine(x) for x in INSIDE])
        near(vmap(mine)(xs))
        recorded = jit(mine)
        near([recorded(x) for x in INSIDE])
    numpy.testing.assert_allclose(ours(xs), value, rtol=1e-12, atol=1e-14)
    values = [Value(x) for x in INSIDE]
    for x in values:
        ours(x).backward()
    numpy.testing.assert_allclose([x.grad for x in values], first, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "name",
    sorted({*POINTWISE} - {"gelu", "silu", "swish"}),  # math.silu(-inf) is 0, in JAX nan
)
def test_corners_are_as_in_jax(name):
    for x in (numpy.inf, -numpy.inf, numpy.nan, 0.0, 800.0, -800.0):
        numpy.testing.assert_allclose(getattr(nn, name)(x), getattr(jax.nn, name)(x), rtol=1e-14, err_msg=str(x))


def test_parameters():
    in_every_way(nn.celu, jax.nn.celu, -0.7, 2.0)
    in_every_way(nn.squareplus, jax.nn.squareplus, -0.7, 2.0)
    in_every_way(lambda x: nn.gelu(x, approximate=False), lambda x: jax.nn.gelu(x, approximate=False), 0.4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("glu", {}),
        ("glu", {"axis": 0}),
        ("standardize", {}),
        ("standardize", {"axis": 0, "epsilon": 0.1}),
        ("logmeanexp", {}),
        ("logmeanexp", {"axis": 1, "keepdims": True}),
        ("softmax", {"axis": 0}),
        ("log_softmax", {}),
        ("logsumexp", {"axis": 0}),
    ],
)
def test_functions_of_arrays_are_as_in_jax(name, options):
    ours, theirs = getattr(nn, name), getattr(jax.nn, name)
    xs = numpy.array([[0.3, -1.2, 2.0, 0.7], [1.5, 0.1, -0.4, 0.9]])
    numpy.testing.assert_allclose(ours(xs, **options), theirs(xs, **options), rtol=1e-12)

    def loss(f, math, total):
        return lambda xs: total(math.sin(f(xs, **options)) ** 2)

    of_both = jax.jit(
        lambda xs: (jax.grad(loss(theirs, jnp, jnp.sum))(xs), jax.hessian(loss(theirs, jnp, jnp.sum))(xs))
    )
    expected = of_both(xs)
    for transform in (lambda f: f, jit):
        numpy.testing.assert_allclose(
            transform(grad(loss(ours, gm, numpy.sum)))(xs), expected[0], rtol=1e-9, atol=1e-11
        )
        numpy.testing.assert_allclose(
            transform(hessian(loss(ours, gm, numpy.sum)))(xs), expected[1], rtol=1e-9, atol=1e-11
        )


def test_names():
    assert nn.softmax is gm.softmax
    assert nn.one_hot is gm.one_hot
    with pytest.raises(AttributeError, match=r"module 'gradwalk.nn' has no attribute 'conv'"):
        nn.conv  # noqa: B018
    with pytest.raises(ValueError, match="must be even"):
        nn.glu(numpy.ones(3))
