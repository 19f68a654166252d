"""Norms, condition numbers, and products of vectors and matrices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk.arrays.traced_array import is_whole
from gradwalk.complex_numbers.complex_array import has_complex
from gradwalk.numpy.arrays import holds_values
from gradwalk.numpy.complex_parts import refuse_complex
from gradwalk.numpy.elementwise import not_equal
from gradwalk.numpy.linalg.decompositions import svdvals
from gradwalk.numpy.linalg.matrices import inv, solve
from gradwalk.numpy.linalg.stacks import size_of
from gradwalk.numpy.names.ufuncs import absolute
from gradwalk.numpy.ordering import max as largest
from gradwalk.numpy.ordering import min as smallest
from gradwalk.value.arrays import Axis, as_array, counted_axes


def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the norm of vectors or matrices.

    Args:
        x: An array of Values or numbers.
        ord: Order of the norm, as for `numpy.linalg.norm`.
        axis: The axis of the vectors, or the two axes of the matrices; None for `x` as a whole.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, or a number.

    Raises:
        ValueError: The order is unknown.

    Example:
        >>> from gradwalk import grad
        >>> grad(norm)(numpy.array([3.0, 4.0])).round(6).tolist()
        [0.6, 0.8]
    """
    x = as_array(x)
    dimensions = x.ndim if axis is None else numpy.size(axis)
    if has_complex(x):
        if dimensions == 2 and ord not in (None, "fro", 1, -1, numpy.inf, -numpy.inf):
            refuse_complex(f"linalg.norm with ord={ord!r}", x)
        x = absolute(x)
    if keepdims and holds_values(x) and ord in (None, "fro"):
        return numpy.expand_dims(norm(x, ord, axis), counted_axes(axis, x.ndim))
    if ord == "fro" and dimensions == 2 and is_whole(x):
        return numpy.sqrt(numpy.sum(x * x, axis))
    if not holds_values(x) or ord is None or dimensions not in (1, 2):
        return numpy.linalg.norm(x, ord, axis, keepdims)
    if dimensions == 1 and not isinstance(ord, str):
        return _norm_of_vectors(x, ord, axis, keepdims)
    if ord in (2, -2, "nuc"):
        return _norm_of_singular_values(x, ord, range(2) if axis is None else axis, keepdims)  # type: ignore[arg-type]
    if ord not in (1, -1, numpy.inf, -numpy.inf):
        return numpy.linalg.norm(x, ord, axis, keepdims)
    rows, columns = range(2) if axis is None else axis  # type: ignore[misc]  # an int is a vector's
    added, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = absolute(x).sum(axis=added, keepdims=True)
    return (largest if ord > 0 else smallest)(sums, (added, compared), keepdims)


def _norm_of_vectors(x: Any, ord: Any, axis: Axis, keepdims: bool) -> Any:
    if ord == numpy.inf:
        return largest(absolute(x), axis, keepdims)
    if ord == -numpy.inf:
        return smallest(absolute(x), axis, keepdims)
    if ord == 0:
        return numpy.sum(not_equal(x, 0.0), axis=axis, keepdims=keepdims)
    if ord in (1, 2):
        return numpy.linalg.norm(x, ord, axis, keepdims)
    return numpy.sum(absolute(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _norm_of_singular_values(x: Any, ord: Any, axes: Sequence[int], keepdims: bool) -> Any:
    axes = counted_axes(tuple(axes), x.ndim)
    values = svdvals(numpy.moveaxis(x, axes, (-2, -1)))
    found = numpy.sum(values, axis=-1) if ord == "nuc" else values[..., 0 if ord > 0 else -1]
    return numpy.expand_dims(found, sorted(axes)) if keepdims else found


def vector_norm(x: Any, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Compute the norm of vectors.

    Args:
        x: An array of Values or numbers.
        axis: The axes that form a vector; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.
        ord: Order of the norm.

    Returns:
        An array, or a number.
    """
    x = as_array(x)
    axes = counted_axes(axis, x.ndim)
    moved = numpy.moveaxis(x, axes, range(len(axes)))
    found = norm(moved.reshape(-1, *moved.shape[len(axes) :]), ord, 0)
    return numpy.expand_dims(found, sorted(axes)) if keepdims else found


def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Compute the norm of the matrices in the last two axes.

    Args:
        x: A matrix of Values or numbers, or a stack of matrices.
        keepdims: Whether to keep the reduced axes, with length 1.
        ord: Order of the norm.

    Returns:
        An array, or a number.
    """
    return norm(x, ord, (-2, -1), keepdims)


def cond(x: Any, p: Any = None) -> Any:
    """Compute the condition number of a matrix.

    Args:
        x: A matrix of Values or numbers, or a stack of matrices.
        p: Order of the norm; None for 2.

    Returns:
        An array, or a number.
    """
    x = as_array(x)
    if not holds_values(x):
        return numpy.linalg.cond(x, p)
    if p in (None, 2, -2):
        values = svdvals(x)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))


def matrix_power(a: Any, n: int) -> Any:
    """Raise a square matrix to an integer power.

    Args:
        a: A square matrix of Values or numbers, or a stack of matrices.
        n: The exponent. A negative exponent needs the inverse.

    Returns:
        The power.

    Raises:
        LinAlgError: The matrix is not square, or it is singular and the exponent is negative.
    """
    a = as_array(a)
    if not holds_values(a):
        return numpy.linalg.matrix_power(a, n)
    identity = numpy.eye(size_of(a[(0,) * (a.ndim - 2)]))
    power = None
    base, rest = (a if n >= 0 else inv(a)), abs(_exponent(n))
    while rest:
        if rest % 2:
            power = base if power is None else power @ base
        rest //= 2
        base = base @ base if rest else base
    return numpy.broadcast_to(identity, a.shape).astype(object) if power is None else power


def _exponent(n: Any) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"exponent must be an integer, got {n!r}") from None


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Any:
    """Solve the tensor equation a x = b, where the product sums over all axes of x.

    Args:
        a: An array of Values or numbers, of shape b.shape + x.shape.
        b: An array of Values or numbers.
        axes: Axes of `a` that are moved to the end first, or None.

    Returns:
        The solution x.
    """
    a, b = as_array(a), as_array(b)
    if not holds_values(a, b):
        return numpy.linalg.tensorsolve(a, b, axes)
    a = a if axes is None else numpy.moveaxis(a, axes, range(-len(axes), 0))
    return solve(a.reshape(b.size, -1), b.ravel()).reshape(a.shape[b.ndim :])


def tensorinv(a: Any, ind: int = 2) -> Any:
    """Compute the inverse of a tensor, with respect to the product that sums over `ind` axes.

    Args:
        a: An array of Values or numbers. The first `ind` axes and the remaining axes have equal numbers of elements.
        ind: The number of first axes.

    Returns:
        The inverse, of shape a.shape[ind:] + a.shape[:ind].
    """
    a = as_array(a)
    if not holds_values(a):
        return numpy.linalg.tensorinv(a, ind)
    matrix = a.reshape(int(numpy.prod(a.shape[:ind])), -1)
    return inv(matrix).reshape(a.shape[ind:] + a.shape[:ind])


def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    """Compute the dot products of vectors along an axis.

    Args:
        x1: An array of Values or numbers.
        x2: An array of Values or numbers.
        axis: The axis of the vectors.

    Returns:
        An array, or a number.
    """
    x1, x2 = numpy.moveaxis(as_array(x1), axis, -1), numpy.moveaxis(as_array(x2), axis, -1)
    are_real = not any(has_complex(x) or numpy.iscomplexobj(x) for x in (x1, x2))
    if are_real and (is_whole(x1) or is_whole(x2)) and x1.shape[-1:] == x2.shape[-1:]:
        return numpy.sum(x1 * x2, axis=-1)
    return numpy.matmul(numpy.conj(x1)[..., numpy.newaxis, :], x2[..., numpy.newaxis])[..., 0, 0][()]


def matvec(x1: Any, x2: Any) -> Any:
    """Multiply matrices by vectors.

    Args:
        x1: An array of Values or numbers, of shape (..., M, N).
        x2: An array of Values or numbers, of shape (..., N).

    Returns:
        An array of shape (..., M).
    """
    return numpy.matmul(as_array(x1), as_array(x2)[..., numpy.newaxis])[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """Multiply vectors by matrices.

    Args:
        x1: An array of Values or numbers, of shape (..., M).
        x2: An array of Values or numbers, of shape (..., M, N).

    Returns:
        An array of shape (..., N).
    """
    return numpy.matmul(numpy.conj(as_array(x1))[..., numpy.newaxis, :], as_array(x2))[..., 0, :]


def matrix_transpose(x: Any) -> Any:
    """Exchange the last two axes.

    Args:
        x: A matrix of Values or numbers, or a stack of matrices.

    Returns:
        An array.
    """
    return numpy.swapaxes(x, -1, -2)


def diagonal(x: Any, *, offset: int = 0) -> Any:
    """Return the diagonals of the matrices in the last two axes.

    Args:
        x: A matrix of Values or numbers, or a stack of matrices.
        offset: The number of places to the right of the main diagonal.

    Returns:
        An array.
    """
    return numpy.diagonal(x, offset, -2, -1)


def trace(x: Any, *, offset: int = 0) -> Any:
    """Return the sums of the diagonals of the matrices in the last two axes.

    Args:
        x: A matrix of Values or numbers, or a stack of matrices.
        offset: The number of places to the right of the main diagonal.

    Returns:
        An array, or a number.
    """
    return numpy.trace(x, offset, -2, -1)


def tensordot(x1: Any, x2: Any, *, axes: Any = 2) -> Any:
    """Sum products over axes of two arrays. See `numpy.tensordot`.

    Args:
        x1: An array of Values or numbers.
        x2: An array of Values or numbers.
        axes: The number of axes, or a pair of sequences of axes.

    Returns:
        An array.
    """
    return numpy.tensordot(x1, x2, axes)
