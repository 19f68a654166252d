"""Stacks of matrices: arrays whose last two axes are the axes of matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy
from numpy.linalg import LinAlgError

from gradwalk.numpy.arrays import holds_values
from gradwalk.value.arrays import as_array

Function = TypeVar("Function", bound=Callable[..., Any])


def over_stacks(*, keeps_whole: bool = False) -> Callable[[Function], Function]:
    """Return a decorator for a function of one matrix, which is then called for each matrix of a stack of Values.

    The first argument, the matrix or stack, is converted to an array. Stacks of numbers are passed on. If
    `keeps_whole`, a matrix that a recorded function treats as one operand is passed on as it is.
    """

    def decorated(function: Function) -> Function:
        @functools.wraps(function)
        def over_stack(a: Any, *args: Any, **kwargs: Any) -> Any:
            a = as_array(a)
            if not (keeps_whole and a.ndim == 2):
                a = numpy.asarray(a)
            if a.ndim < 2 and holds_values(a):
                raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
            if a.ndim < 3 or not holds_values(a):
                return function(a, *args, **kwargs)
            return stacked([function(x, *args, **kwargs) for x in matrices_of(a)], a.shape[:-2])

        return over_stack  # type: ignore[return-value]  # with the signature of the function

    return decorated


def matrices_of(a: Any) -> list[Any]:
    """Return the matrices of a stack."""
    return list(a.reshape(-1, *a.shape[-2:]))


def stacked(results: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Join results, arrays or named tuples of arrays, into stacks of this shape."""
    if isinstance(results[0], tuple):
        joined = [stacked(each, shape) for each in zip(*results, strict=True)]
        kind = type(results[0])
        return kind(*joined) if kind is not tuple else tuple(joined)
    stack = numpy.stack([numpy.asarray(x, object) for x in results])
    return stack.reshape(shape + stack.shape[1:])


def size_of(a: Any) -> int:
    """Return the number of rows of a square matrix."""
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[0] != a.shape[1]:
        raise LinAlgError(f"the array of shape {a.shape} must be square")
    return len(a)
