"""Fourier transforms of arrays of Values agree with NumPy and JAX, with derivatives."""

from __future__ import annotations

import numpy
import pytest
from references import jax, jnp

from gradwalk import Value, grad, jit, vmap
from gradwalk import numpy as gnp
from gradwalk.numpy import fft

RANDOM = numpy.random.default_rng(0)
ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
W = RANDOM.normal(size=40)


def loss(transform, module):
    """Return a function of the parts and absolute values of a transform."""

    def of_array(x):
        found = transform(x)
        return (abs(found) ** 2 * W[: len(found)]).sum() + (module.real(found) ** 3).sum() + module.imag(found).sum()

    return of_array


@pytest.mark.parametrize("name", ONE_AXIS)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 8, 9, 12])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_values_and_gradients_agree_with_jax(name, size, norm):
    x = RANDOM.normal(size=size)
    ours = loss(lambda x: getattr(fft, name)(x, norm=norm), gnp)
    of_jax = loss(lambda x: getattr(jnp.fft, name)(x, norm=norm), jnp)
    numpy.testing.assert_allclose(jit(ours)(x), of_jax(x), rtol=1e-12)
    numpy.testing.assert_allclose(jit(grad(ours))(x), jax.grad(of_jax)(x), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ONE_AXIS)
@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize("axis", [0, -1])
def test_lengths_and_axes(name, n, axis):
    z = RANDOM.normal(size=(4, 5))
    if name not in ("rfft", "ihfft"):
        z = z + 1j * RANDOM.normal(size=(4, 5))
    found = jit(lambda z: getattr(fft, name)(z, n, axis))(z)
    expected = getattr(numpy.fft, name)(z, n, axis)
    assert found.dtype == expected.dtype
    numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    numpy.testing.assert_array_equal(getattr(fft, name)(z, n, axis), expected)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2"])
@pytest.mark.parametrize("s", [None, (2, 6)])
def test_several_axes(name, s):
    z = RANDOM.normal(size=(2, 3, 4)) + 1j * RANDOM.normal(size=(2, 3, 4))
    axes = () if s is None or name.endswith("2") else ((0, 2),)
    numpy.testing.assert_allclose(
        jit(lambda z: getattr(fft, name)(z, s, *axes))(z), getattr(numpy.fft, name)(z, s, *axes), atol=1e-13
    )
    ours = jit(grad(lambda z: (abs(getattr(fft, name)(z)) ** 3).sum()))(z)
    numpy.testing.assert_allclose(ours, jax.grad(lambda z: (abs(getattr(jnp.fft, name)(z)) ** 3).sum())(z), rtol=1e-10)


def test_second_derivatives_batches_and_values():
    f = lambda x: (abs(fft.fft(x)) ** 4).sum()  # noqa: E731
    slope = lambda x: (grad(f)(x) ** 2).sum()  # noqa: E731
    x = RANDOM.normal(size=6)
    g = lambda x: (jax.grad(lambda x: (abs(jnp.fft.fft(x)) ** 4).sum())(x) ** 2).sum()  # noqa: E731
    numpy.testing.assert_allclose(jit(grad(slope))(x), jax.grad(g)(x), rtol=1e-11)
    batch = vmap(fft.fft)(numpy.array([x, -x]))
    numpy.testing.assert_allclose(batch[1], numpy.fft.fft(-x), atol=1e-14)
    values = [Value(number) for number in x]
    found = fft.rfft(values)[1]
    (found.real * found.real).backward()
    expected = jax.grad(lambda x: jnp.fft.rfft(x)[1].real ** 2)(x)
    numpy.testing.assert_allclose([v.grad for v in values], expected, rtol=1e-12)


def test_frequencies_and_shifts_are_those_of_numpy():
    assert fft.fftfreq is numpy.fft.fftfreq
    assert fft.rfftfreq is numpy.fft.rfftfreq
    x = numpy.arange(5.0)
    shifted = jit(lambda x: fft.ifftshift(fft.fftshift(x) * 2.0))(x)
    assert shifted.tolist() == (2.0 * x).tolist()


def test_invalid_arguments_are_refused():
    values = numpy.array([Value(1.0), Value(2.0)])
    with pytest.raises(ValueError, match=r"n of fft\(\) must be at least 1, got 0"):
        fft.fft(values, 0)
    with pytest.raises(ValueError, match='norm must be "backward", "ortho" or "forward"'):
        fft.fft(values, norm="unitary")
    with pytest.raises(ValueError, match="argument 2 is"):
        fft.fftn(values.reshape(1, 2), (2,), (0, 1))
