"""Random programs of complex numbers beside JAX: values and derivatives, eager, recorded, and in batches."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradwalk import cmath, grad, jacfwd, jacobian, jacrev, jit, jvp, value_and_grad, vjp, vmap

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

UNARY = ("exp", "log", "sqrt", "sin", "cos", "tanh", "asinh", "atan", "conjugate", "square", "negative", "absolute")
BINARY = ("add", "sub", "mul", "div", "pow", "mul", "add")
IN_JAX = {"asinh": "arcsinh", "atan": "arctan"}
OURS: dict[str, Any] = {
    **{name: getattr(cmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "asinh", "atan")},
    "conjugate": lambda z: z.conjugate(),
    "square": lambda z: z**2,
    "negative": lambda z: -z,
    "absolute": lambda z: abs(z) + 0j,
}
JAXS: dict[str, Any] = {
    **{name: getattr(jax.numpy, IN_JAX.get(name, name)) for name in UNARY},
    "absolute": lambda z: jax.numpy.abs(z) + 0j,
}
OPERATORS: dict[str, Any] = {
    "add": lambda z, w: z + w,
    "sub": lambda z, w: z - w,
    "mul": lambda z, w: z * w,
    "div": lambda z, w: z / w,
    "pow": lambda z, w: (z + 3.0) ** (w * 0.25),
}
STEP = st.one_of(
    st.tuples(st.sampled_from(UNARY), st.integers(0, 20)),
    st.tuples(st.sampled_from(BINARY), st.integers(0, 20), st.integers(0, 20)),
)
COORDINATE = st.floats(0.1, 1.5) | st.floats(-1.5, -0.1)


def program(steps, functions):
    """Return a function of a complex and a real number with a complex result."""

    def run(z, x):
        known = [z, x * (1.0 + 0.5j), z * x, 0.7 - 0.2j + 0.0 * z]
        for name, *operands in steps:
            given = [known[i % len(known)] for i in operands]
            known.append((OPERATORS[name] if name in OPERATORS else functions[name])(*given))
        return known[-1] + 0.1 * known[-2]

    return run


def close(found, expected):
    both = [[numpy.asarray(leaf) for leaf in jax.tree.leaves(tree)] for tree in (found, expected)]
    for one, other in zip(*both, strict=True):
        assert numpy.iscomplexobj(one) == numpy.iscomplexobj(other)
        numpy.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * max(1.0, numpy.abs(other).max()))


@settings(max_examples=30 if IS_COMPILED else 8, deadline=None)
@given(steps=st.lists(STEP, min_size=1, max_size=7), a=COORDINATE, b=COORDINATE, x=COORDINATE)
def test_random_programs(steps, a, b, x):
    z = complex(a, b)
    ours, theirs = program(steps, OURS), program(steps, JAXS)
    expected, slope = jax.jvp(theirs, (z, x), (1.0 + 0.5j, 1.0))
    assume(numpy.isfinite(expected) and 1e-3 < abs(expected) < 1e3 and numpy.isfinite(slope) and abs(slope) < 1e3)
    close(ours(z, x), expected)
    close(jvp(ours, (z, x), (1.0 + 0.5j, 1.0)), (expected, slope))
    value, pull = vjp(ours, z, x)
    their_value, their_pull = jax.vjp(theirs, z, x)
    close((value, pull(0.5 - 2j)), (their_value, their_pull(jax.numpy.asarray(0.5 - 2j))))

    def real(z, x):
        return (ours(z, x) * (1.0 - 0.3j)).real

    def theirs_real(z, x):
        return (theirs(z, x) * (1.0 - 0.3j)).real

    gradients = jax.grad(theirs_real, (0, 1))(z, x)
    assume(all(numpy.isfinite(each) and abs(each) < 1e3 for each in gradients))
    for way in (grad(real, (0, 1)), jit(grad(real, (0, 1))), jacrev(real, (0, 1))):
        close(way(z, x), gradients)
    of_batch = vmap(grad(real, (0, 1)), in_axes=(0, None))(numpy.array([z, z.conjugate()]), x)
    close(tuple([part[0] for part in of_batch]), gradients)
    # Second derivatives, in a real direction and with respect to the real argument.
    second = jax.jvp(jax.grad(theirs_real, (0, 1)), (z, x), (1.0 + 0.5j, 1.0))[1]
    assume(all(numpy.isfinite(each) and abs(each) < 1e4 for each in second))
    close(jvp(grad(real, (0, 1)), (z, x), (1.0 + 0.5j, 1.0))[1], second)
    close(jit(lambda z, x: jvp(grad(real, (0, 1)), (z, x), (1.0 + 0.5j, 1.0))[1])(z, x), second)
    close(jit(jacfwd(ours, 1))(z, x), jax.jacfwd(theirs, 1)(z, x))


def heston(m, u, parameters, years=1.0):
    """Return the characteristic function of Heston's model, in the form of "The little Heston trap"."""
    variance, kappa, theta, sigma, rho = parameters
    b = kappa - 1j * rho * sigma * u
    d = m.sqrt(b * b + sigma**2 * (u * u + 1j * u))
    g = (b - d) / (b + d)
    decay = m.exp(-d * years)
    drift = kappa * theta / sigma**2 * ((b - d) * years - 2.0 * m.log((1.0 - g * decay) / (1.0 - g)))
    return m.exp(drift + variance * (b - d) / sigma**2 * (1.0 - decay) / (1.0 - g * decay))


def test_characteristic_function_of_real_parameters():
    parameters = numpy.array([0.04, 1.5, 0.06, 0.5, -0.7])
    points = numpy.array([0.1, 1.0, 5.0])

    def ours(p, u):
        return heston(cmath, u, p)

    def theirs(p, u):
        return heston(jax.numpy, u, p)

    close(vmap(ours, in_axes=(None, 0))(parameters, points), jax.vmap(theirs, in_axes=(None, 0))(parameters, points))
    expected = jax.vmap(jax.jacfwd(theirs), in_axes=(None, 0))(parameters, points)
    recorded = jit(vmap(jacobian(ours), in_axes=(None, 0)))
    for _ in range(3):
        close(recorded(parameters, points), expected)
    hessian = jit(jacfwd(jacrev(lambda p: ours(p, 1.0).real)))(parameters)
    close(hessian, jax.hessian(lambda p: theirs(p, 1.0).real)(parameters))


@pytest.mark.parametrize("power", [-2, -1, 1, 3])
def test_contour_integrals_of_real_parameters(power):
    """The integral of (z - c)**n over a circle around c is 2πi for n = -1, else 0; its derivatives by c are 0."""

    def integral(x, y):
        total = 0j
        for k in range(32):
            z = cmath.rect(2.0, 2.0 * cmath.pi * k / 32)
            total = total + (z - (x + 1j * y)) ** power * 1j * z * 2.0 * cmath.pi / 32
        return total

    expected = 2j * cmath.pi if power == -1 else 0.0
    assert jit(integral)(0.1, 0.2) == pytest.approx(expected, abs=1e-12)
    slopes = jit(jacobian(integral, (0, 1)))(0.1, 0.2)
    assert slopes == pytest.approx((0.0, 0.0), abs=1e-12)


def test_keplers_equation_with_complex_steps():
    """Newton's method for a complex eccentric anomaly: the derivative of the solution is that of the equation."""

    def anomaly(mean, eccentricity):
        e = mean
        for _ in range(20):
            e = e - (e - eccentricity * cmath.sin(e) - mean) / (1.0 - eccentricity * cmath.cos(e))
        return e

    mean = 1.0 + 0.3j
    value, slope = jit(value_and_grad(anomaly, holomorphic=True))(mean, 0.4)
    assert value - 0.4 * cmath.sin(value) == pytest.approx(mean)
    assert slope == pytest.approx(1.0 / (1.0 - 0.4 * cmath.cos(value)))
