"""Functions of NumPy that multiply whole arrays, and integrals of products."""

from __future__ import annotations

import functools
import math as plain_math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk import math
from gradwalk.arrays import rows
from gradwalk.arrays.functions.elementwise import row_of_operand
from gradwalk.arrays.handles import apply_here, apply_layout, handle_of, is_real
from gradwalk.arrays.kinds import ArrayKind
from gradwalk.arrays.layout_calls import Reshape
from gradwalk.arrays.traced_array import (
    NOT_HANDLED,
    TracedArray,
    as_objects,
    implements,
    is_whole,
    of_ordered,
)
from gradwalk.arrays.whole_calls import Product
from gradwalk.value.arrays import Axis, as_array, counted_axes, of_objects, trapezoid

_MOST_MULTIPLICATIONS = 64  # for one row, in a product of matrices that is computed row by row
_MOST_REPEATED = 4  # how often elementwise products of einsum may repeat each element
_MOST_SHIFTS = 32  # elements of the shorter vector of a convolution
_LEAST_WHOLE = 1000  # numbers in a product or another matrix that stays whole


@implements(numpy.matmul, numpy.dot)
def _product(a: Any, b: Any, out: Any = None) -> Any:
    """Return the product of two vectors or matrices."""
    first, second = as_array(a), as_array(b)
    if out is not None or not 1 <= first.ndim <= 2 or not 1 <= second.ndim <= 2:
        return NOT_HANDLED
    if not all(is_whole(x) if isinstance(x, TracedArray) else is_real(x) for x in (first, second)):
        return NOT_HANDLED
    if first.shape[-1] != second.shape[0]:
        return NOT_HANDLED  # NumPy raises the error
    left, right = first[None] if first.ndim == 1 else first, second[:, None] if second.ndim == 1 else second
    found = _small_product(left, right)
    if found is None:
        found = _large_product(left, right)
    shape = (*first.shape[:-1], *second.shape[1:])
    return found.reshape(shape) if shape else as_objects(found)[0, 0]


def _small_product(a: Any, b: Any) -> Any:
    """Return the product of two matrices, computed with rows, or None if a row needs many multiplications."""
    (m, inner), n = a.shape, b.shape[1]
    if _has_rows(a, 1) or _has_rows(b, 0):
        return numpy.sum(a[..., None] * b[None], axis=1) if m * n <= _MOST_MULTIPLICATIONS else None
    if _has_rows(a, 0) and not isinstance(b, TracedArray) and inner * n <= _MOST_MULTIPLICATIONS:
        return _of_row(a, lambda row: row @ as_objects(b), 0)
    if _has_rows(b, 1) and not isinstance(a, TracedArray) and m * inner <= _MOST_MULTIPLICATIONS:
        return _of_row(b, lambda row: as_objects(a) @ row, 1)
    return None


def _large_product(a: Any, b: Any) -> Any:
    """Return the product of two matrices, computed by one instruction."""
    factors = [matrix_handle(a), matrix_handle(b)]
    [product] = apply_here(Product(factors[0].kind, factors[1].kind), factors)
    return array_of(product, (a.shape[0], b.shape[1]))


def array_of(matrix: Any, shape: tuple[int, int]) -> Any:
    """Return the array of the handle of a matrix, which stays whole if it is large."""
    if matrix.kind.size < _LEAST_WHOLE:
        return of_objects(matrix.elements(), shape)
    return of_ordered(matrix, shape, shape.index(max(shape)))


def matrix_handle(x: Any) -> Any:
    """Return the handle of a matrix, an array of Values or numbers."""
    kind = ArrayKind(*x.shape)
    if not is_whole(x):
        return handle_of(x)
    handle: Any = x.in_order()
    return handle if handle.kind == kind else apply_layout(Reshape(handle.kind, kind), [handle])[0]


def _has_rows(x: Any, axis: int) -> bool:
    return isinstance(x, TracedArray) and x.axis == axis


def _of_row(array: TracedArray, function: Callable[[Any], Any], axis: int) -> TracedArray:
    found = rows.in_rows(lambda: as_objects(function(array.rows)))
    return TracedArray(found, array.count, axis, array.steps + 1)


@implements(numpy.vdot)
def _vdot(a: Any, b: Any) -> Any:
    return numpy.sum(a.ravel() * b.ravel()) if is_whole(a) and is_whole(b) else NOT_HANDLED


@implements(numpy.inner)
def _inner_product(a: Any, b: Any) -> Any:
    return _product(a, b) if getattr(a, "ndim", 0) == 1 == getattr(b, "ndim", 0) else NOT_HANDLED


@implements(numpy.linalg.norm)
def _norm(
    x: Any,
    ord: Any = None,  # noqa: A002  # the name of NumPy's parameter
    axis: Axis = None,
    keepdims: bool = False,
) -> Any:
    if not is_whole(x) or ord not in (None, 2) or (ord == 2 and x.ndim != 1 and not isinstance(axis, int)):
        return NOT_HANDLED
    return math.sqrt(numpy.sum(x * x, axis, keepdims=keepdims))


@implements(numpy.outer)
def _outer(a: Any, b: Any) -> Any:
    return numpy.ravel(a)[:, None] * numpy.ravel(b)[None]


@implements(numpy.einsum)
def _einsum(subscripts: Any, /, *operands: Any, optimize: Any = False) -> Any:
    """Return a sum of products of elements."""
    whole = [x for x in operands if isinstance(x, TracedArray)]
    if not isinstance(subscripts, str) or "." in subscripts or not all(x.is_whole for x in whole):
        return NOT_HANDLED
    operands = tuple(map(as_array, operands))
    terms, result = _einsum_terms(subscripts)
    is_valid = len(set(result)) == len(result) and set(result) <= set("".join(terms))
    if not is_valid or [len(term) for term in terms] != [x.ndim for x in operands]:
        return NOT_HANDLED  # NumPy raises the error
    found = _einsum_of_rows(operands, terms, result)
    return _einsum_of_arrays(operands, terms, result) if found is NOT_HANDLED else found


def _einsum_of_rows(operands: Sequence[Any], terms: Sequence[str], result: str) -> Any:
    """Return a sum of products, if all whole arrays have their rows along the same index."""
    whole = [x for x in operands if isinstance(x, TracedArray)]
    letters = {term[x.axis] for term, x in zip(terms, operands, strict=True) if isinstance(x, TracedArray)}
    if len(letters) != 1 or len({x.count for x in whole}) != 1:
        return NOT_HANDLED
    [letter] = letters
    aligned = [_einsum_row(x, term, letter, whole[0].count) for x, term in zip(operands, terms, strict=True)]
    sizes = _einsum_sizes(operands, terms)
    steps = plain_math.prod(n for name, n in sizes.items() if name != letter)
    if any(row is NOT_HANDLED for row in aligned) or steps > _MOST_MULTIPLICATIONS:
        return NOT_HANDLED
    of_row = f"{','.join(terms)}->{result}".replace(letter, "")
    found = rows.in_rows(lambda: as_objects(numpy.einsum(of_row, *aligned)))
    axis = max(result.find(letter), 0)
    made = TracedArray(found, whole[0].count, axis, 1 + max(x.steps for x in whole))
    return made if letter in result else numpy.sum(made, axis=0)


def _einsum_of_arrays(operands: Sequence[Any], terms: Sequence[str], result: str) -> Any:
    """Return a sum of products, by a product of two matrices or by elementwise products of arrays."""
    sizes = _einsum_sizes(operands, terms)
    shapes = [tuple([sizes[name] for name in term]) for term in terms]
    if shapes != [x.shape for x in operands] or any(len(set(term)) < len(term) for term in terms):
        return NOT_HANDLED  # different sizes, for which NumPy raises the error, or diagonals
    if len(terms) == 2:
        first, second = terms
        summed = [name for name in first if name in second and name not in result]
        kept = [name for name in first + second if name not in summed]
        if sorted(kept) == sorted(result):
            axes: Any = [first.index(name) for name in summed], [second.index(name) for name in summed]
            product: Any = numpy.tensordot(operands[0], operands[1], axes)
            return product.transpose([kept.index(name) for name in result]) if kept else product
    order = [*result, *(name for name in sizes if name not in result)]
    if plain_math.prod(sizes.values()) > _MOST_REPEATED * max(x.size for x in operands):
        return NOT_HANDLED
    aligned = [
        x.transpose([term.index(name) for name in order if name in term]).reshape(
            [sizes[name] if name in term else 1 for name in order]
        )
        for x, term in zip(operands, terms, strict=True)
    ]
    product = functools.reduce(numpy.multiply, aligned)
    return numpy.sum(product, axis=tuple(range(len(result), len(order))))


def _einsum_sizes(operands: Sequence[Any], terms: Sequence[str]) -> dict[str, int]:
    """Return the size of each index."""
    return {name: n for x, term in zip(operands, terms, strict=True) for name, n in zip(term, x.shape, strict=True)}


@implements(numpy.inner)
def _inner(a: Any, b: Any) -> Any:
    """Sum products over the last axes."""
    left, right = as_array(a), as_array(b)
    return numpy.tensordot(left, right, (-1, -1)) if left.ndim and right.ndim else left * right


@implements(numpy.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sum products over axes of two arrays, by a product of matrices."""
    left, right = as_array(a), as_array(b)
    given = axes if numpy.iterable(axes) else (range(left.ndim - axes, left.ndim), range(axes))
    of_left, of_right = (
        counted_axes(tuple(part) if numpy.iterable(part) else part, x.ndim)
        for part, x in zip(given, (left, right), strict=True)
    )
    sizes = [left.shape[i] for i in of_left]
    if sizes != [right.shape[i] for i in of_right] or 0 in (left.size, right.size):
        return NOT_HANDLED  # arrays of different sizes: NumPy raises the error
    rows_kept, columns_kept = (
        [i for i in range(x.ndim) if i not in part] for part, x in ((of_left, left), (of_right, right))
    )
    inner = plain_math.prod(sizes)
    first = left.transpose(*rows_kept, *of_left).reshape(-1, inner)
    second = right.transpose(*of_right, *columns_kept).reshape(inner, -1)
    shape = [left.shape[i] for i in rows_kept] + [right.shape[i] for i in columns_kept]
    return (first @ second).reshape(shape) if shape else (first[0] @ second[:, 0])


@implements(numpy.linalg.multi_dot)
def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Multiply matrices. The first and the last factor may be vectors."""
    factors = list(map(as_array, arrays))
    if out is not None or len(factors) < 2 or any(x.ndim != 2 for x in factors[1:-1]):
        return NOT_HANDLED
    if factors[0].ndim == 2 and factors[-1].ndim == 1:
        return functools.reduce(lambda product, x: x @ product, reversed(factors))
    return functools.reduce(numpy.matmul, factors)


@implements(numpy.kron)
def _kron(a: Any, b: Any) -> Any:
    """Return a block for each element of the first array: its product with the second array."""
    left, right = as_array(a), as_array(b)
    ndim = max(left.ndim, right.ndim)
    sizes = [[1] * (ndim - x.ndim) + list(x.shape) for x in (left, right)]
    outer = left.reshape([size for m in sizes[0] for size in (m, 1)])
    inner = right.reshape([size for n in sizes[1] for size in (1, n)])
    return (outer * inner).reshape([m * n for m, n in zip(*sizes, strict=True)])


def _einsum_terms(subscripts: str) -> tuple[list[str], str]:
    """Return the indices of each operand and of the result."""
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    if not arrow:
        result = "".join(sorted(name for name in set(given) - {","} if given.count(name) == 1))
    return given.split(","), result


def _einsum_row(x: Any, term: str, letter: str, count: int) -> Any:
    """Return what an operand is for each row, or `NOT_HANDLED` if that is not possible."""
    if letter not in term:
        return as_objects(x)
    if term.count(letter) > 1 or x.shape[term.index(letter)] != count:
        return NOT_HANDLED
    return row_of_operand(x, x.ndim - term.index(letter), count)


@implements(numpy.polyval)
def _polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial by Horner's rule, as NumPy does."""
    found = numpy.zeros_like(x)
    for coefficient in p:
        found = found * x + coefficient
    return found


@implements(numpy.convolve)
def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Return the convolution of a whole vector and a short one, as a sum of shifted vectors."""
    long, short = (a, as_array(v)) if is_whole(a) else (v, as_array(a))
    if not is_whole(long) or long.ndim != 1 or short.ndim != 1 or not 0 < len(short) <= _MOST_SHIFTS:
        return NOT_HANDLED
    n, k = len(long), len(short)
    if mode not in ("full", "same", "valid") or n < k:
        return NOT_HANDLED
    left, count = {"full": (0, n + k - 1), "same": ((k - 1) // 2, n), "valid": (k - 1, n - k + 1)}[mode]
    padded = numpy.pad(long, k - 1)[left : left + count + k - 1]
    terms = [weight * padded[k - 1 - i : k - 1 - i + count] for i, weight in enumerate(short)]
    return sum(terms[1:], terms[0])


@implements(trapezoid)
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate by the trapezoidal rule, as NumPy does."""
    y = numpy.moveaxis(as_array(y), axis, -1)
    widths: Any = dx
    if x is not None:
        x = as_array(x)
        widths = numpy.diff(x if x.ndim == 1 else numpy.moveaxis(x, axis, -1))
    return numpy.sum(widths * (y[..., 1:] + y[..., :-1]) / 2.0, -1)
