"""Discrete Fourier transforms of arrays of Values and complex numbers, with the names of `jax.numpy.fft`.

Arrays of plain numbers are passed to `numpy.fft`. Arrays with Values are transformed by the algorithm of Cooley and
Tukey ("An algorithm for the machine calculation of complex Fourier series", 1965) for any factors of the length: a
length n with the prime factors p takes about n · sum(p) complex multiplications.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.fft import fftfreq as fftfreq
from numpy.fft import fftshift as fftshift
from numpy.fft import ifftshift as ifftshift
from numpy.fft import rfftfreq as rfftfreq

from gradwalk.complex_numbers.complex_array import as_complex_array
from gradwalk.numpy.arrays import holds_values
from gradwalk.value.arrays import as_array

Axes = Sequence[int] | None


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Compute the discrete Fourier transform along an axis: `sum(a[k] * exp(-2j * pi * j * k / n))` for each j.

    Args:
        a: An array of Values, complex numbers or numbers.
        n: Length of the transform. The array is cropped, or padded with zeros. By default, the length of the axis.
        axis: The axis.
        norm: "backward" (default), "ortho" or "forward": whether to multiply the result by 1, 1/sqrt(n) or 1/n.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: `n` is less than 1, or `norm` is unknown.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: abs(fft(x)[1]) ** 2)(numpy.array([1.0, 2.0, 4.0, 8.0])).tolist()
        [-6.0, -12.0, 6.0, 12.0]
    """
    return _along("fft", a, n, axis, norm, lambda line, n: _transformed(line, n, -1.0))


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Compute the inverse of `fft` along an axis.

    Args:
        a: An array of Values, complex numbers or numbers.
        n: Length of the transform, as for `fft`.
        axis: The axis.
        norm: As for `fft`. "backward" multiplies the result by 1/n, "ortho" by 1/sqrt(n), and "forward" by 1.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: `n` is less than 1, or `norm` is unknown.
    """
    return _along("ifft", a, n, axis, norm, lambda line, n: _transformed(line, n, 1.0))


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Compute the first n // 2 + 1 elements of the transform of real numbers; the other elements are conjugates.

    Args:
        a: An array of Values or numbers.
        n: Length of the transform, as for `fft`.
        axis: The axis.
        norm: As for `fft`.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: `n` is less than 1, or `norm` is unknown.
    """
    return _along("rfft", a, n, axis, norm, lambda line, n: _transformed(line, n, -1.0)[: n // 2 + 1])


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Compute the inverse of `rfft` along an axis.

    Args:
        a: An array of Values, complex numbers or numbers.
        n: Length of the result. By default, 2 (m - 1) for an axis of length m.
        axis: The axis.
        norm: As for `ifft`.

    Returns:
        An array of real numbers.

    Raises:
        ValueError: `n` is less than 1, or `norm` is unknown.
    """
    return _along("irfft", a, n, axis, norm, _real_inverse)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Compute the transform, which is real, of numbers whose second half are conjugates of the first half.

    Args:
        a: The first n // 2 + 1 elements: an array of Values, complex numbers or numbers.
        n: Length of the result, as for `irfft`.
        axis: The axis.
        norm: As for `fft`.

    Returns:
        An array of real numbers.

    Raises:
        ValueError: `n` is less than 1, or `norm` is unknown.
    """
    return _along("hfft", a, n, axis, norm, lambda line, n: _real_inverse(numpy.conjugate(line), n))


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Compute the inverse of `hfft` along an axis.

    Args:
        a: An array of Values or numbers.
        n: Length of the transform, as for `fft`.
        axis: The axis.
        norm: As for `ifft`.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: `n` is less than 1, or `norm` is unknown.
    """
    return _along("ihfft", a, n, axis, norm, lambda line, n: _transformed(line, n, 1.0)[: n // 2 + 1])


def fftn(a: Any, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None) -> Any:
    """Compute the discrete Fourier transform along several axes.

    Args:
        a: An array of Values, complex numbers or numbers.
        s: Length of the transform along each axis, as `n` of `fft`.
        axes: The axes. By default all axes, or the last axes if `s` is given.
        norm: As for `fft`.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: `s` and `axes` differ in length, or the arguments of `fft` would be invalid.
    """
    return _in_turn(fft, a, s, axes, norm)


def ifftn(a: Any, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None) -> Any:
    """Compute the inverse of `fftn`; the arguments are the same.

    Args:
        a: An array of Values, complex numbers or numbers.
        s: Length of the transform along each axis.
        axes: The axes.
        norm: As for `ifft`.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: As for `fftn`.
    """
    return _in_turn(ifft, a, s, axes, norm)


def fft2(a: Any, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Any:
    """Compute the discrete Fourier transform along two axes: see `fftn`.

    Args:
        a: An array of Values, complex numbers or numbers.
        s: Length of the transform along each axis.
        axes: The axes.
        norm: As for `fft`.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: As for `fftn`.
    """
    return _in_turn(fft, a, s, axes, norm)


def ifft2(a: Any, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Any:
    """Compute the inverse of `fft2`; the arguments are the same.

    Args:
        a: An array of Values, complex numbers or numbers.
        s: Length of the transform along each axis.
        axes: The axes.
        norm: As for `ifft`.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: As for `fftn`.
    """
    return _in_turn(ifft, a, s, axes, norm)


def _in_turn(transform: Callable[..., Any], a: Any, s: Sequence[int] | None, axes: Axes, norm: str | None) -> Any:
    """Apply a transform along several axes, one after the other."""
    array = as_array(a)
    if axes is None:
        axes = range(array.ndim) if s is None else range(-len(s), 0)
    lengths = [None] * len(axes) if s is None else s
    for axis, n in reversed(list(zip(axes, lengths, strict=True))):
        array = transform(array, n, axis, norm)
    return array


def _along(name: str, a: Any, n: int | None, axis: int, norm: str | None, transform: Callable[..., Any]) -> Any:
    """Apply a transform to each line along an axis."""
    array = as_array(a)
    if not holds_values(array):
        return getattr(numpy.fft, name)(array, n, axis, norm)
    from_half = name in ("irfft", "hfft")  # the array has the elements of frequencies up to n / 2
    if n is None:
        n = 2 * (array.shape[axis] - 1) if from_half else array.shape[axis]
    if n < 1:
        raise ValueError(f"n of {name}() must be at least 1, got {n}")
    lines = numpy.moveaxis(array, axis, -1)
    flat = lines.reshape(-1, lines.shape[-1])
    rows = [transform(_resized(line, n // 2 + 1 if from_half else n), n) for line in flat]
    found = numpy.array(rows, dtype=object).reshape(*lines.shape[:-1], -1)
    factor = _factor(norm, n, is_inverse=name in ("ifft", "irfft", "ihfft"))
    return as_complex_array(numpy.moveaxis(found if factor == 1.0 else found * factor, -1, axis))


def _resized(line: Any, n: int) -> Any:
    """Crop an array to `n` elements, or pad it with zeros."""
    return numpy.concatenate([line[:n], numpy.zeros(max(0, n - len(line)))])


def _factor(norm: str | None, n: int, *, is_inverse: bool) -> float:
    """Return the number that the sums of a transform are multiplied by."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'norm must be "backward", "ortho" or "forward", got {norm!r}')
    if norm == "ortho":
        return float(n**-0.5)
    return 1.0 / n if is_inverse == (norm != "forward") else 1.0


def _transformed(line: Any, n: int, sign: float) -> Any:
    """Return the transform of `n` numbers, in which the exponent has the given sign."""
    factor = next((p for p in itertools.takewhile(lambda p: p * p <= n, itertools.count(2)) if n % p == 0), n)
    if factor == 1:
        return line
    size = n // factor
    parts = numpy.array([_transformed(line[i::factor], size, sign) for i in range(factor)], dtype=object)
    turned = parts * _roots(numpy.outer(range(factor), range(size)), n, sign)
    return (_roots(numpy.outer(range(factor), range(factor)), factor, sign).astype(object) @ turned).ravel()


def _roots(exponents: Any, n: int, sign: float) -> Any:
    """Return `exp(sign * 2j * pi * exponents / n)`, exactly at quarter turns."""
    quarters, rest = numpy.divmod(4 * (exponents % n), n)
    angles = 0.5 * numpy.pi / n * rest
    return (numpy.cos(angles) + sign * 1j * numpy.sin(angles)) * numpy.array([1, sign * 1j, -1, sign * -1j])[quarters]


def _real_inverse(line: Any, n: int) -> Any:
    """Return the sums of the inverse transform, given the elements of frequencies from 0 to n / 2."""
    middle = line[1 : (n + 1) // 2]
    ends = numpy.array([x.real for x in (line[0], *line[len(middle) + 1 : n // 2 + 1])], dtype=object)
    whole = numpy.concatenate([ends[:1], middle, ends[1:], numpy.conjugate(middle[::-1])])
    return numpy.array([x.real for x in _transformed(whole, n, 1.0)], dtype=object)
