"""Products of matrices. Large products are one instruction of a recorded function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.arrays.sorts_and_products import matrix_product_call
from gradwalk.numpy.arrays import holds_values
from gradwalk.value.arrays import WholeArray, as_array, of_objects, with_constants
from gradwalk.value.node import level_of
from gradwalk.value.value import Value

_MOST_MULTIPLICATIONS = 100_000  # in a product of matrices that is recorded number by number


def matmul(x1: Any, x2: Any) -> Any:
    """Multiply two matrices, vectors, or stacks of matrices, as `numpy.matmul` does.

    A recorded function computes a product of two matrices with more than 100,000 multiplications by one instruction.

    Args:
        x1: An array of Values or numbers.
        x2: An array of Values or numbers.

    Returns:
        An array, or a number if both arguments are vectors.

    Raises:
        ValueError: The shapes do not fit, or an argument is a number.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: matmul(x, x).sum())(numpy.eye(2)).tolist()
        [[2.0, 2.0], [2.0, 2.0]]
    """
    return _product(numpy.matmul, x1, x2)


def dot(a: Any, b: Any) -> Any:
    """Multiply two matrices, vectors or numbers, as `numpy.dot` does. For large matrices, see `matmul`.

    Args:
        a: An array of Values or numbers.
        b: An array of Values or numbers.

    Returns:
        An array, or a number if both arguments are vectors.

    Raises:
        ValueError: The shapes do not fit.
    """
    return _product(numpy.dot, a, b)


def _product(of_numpy: Callable[..., Any], x1: Any, x2: Any) -> Any:
    first, second = with_constants((as_array(x1), as_array(x2)))
    if isinstance(first, WholeArray) or isinstance(second, WholeArray):
        return of_numpy(first, second)  # which one instruction computes, too
    are_matrices = first.ndim == second.ndim == 2 and first.shape[1] == second.shape[0]
    if not are_matrices or first.size * second.shape[1] <= _MOST_MULTIPLICATIONS or not holds_values(first, second):
        return of_numpy(x1, x2)
    operands = [*first.ravel().tolist(), *second.ravel().tolist()]
    if not any(isinstance(x, Value) and level_of(x) for x in operands):
        return of_numpy(x1, x2)
    call = matrix_product_call(*first.shape, second.shape[1])
    return of_objects(call.values(operands), (first.shape[0], second.shape[1]))
