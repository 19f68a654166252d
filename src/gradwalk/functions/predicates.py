"""Predicates of numbers, without derivatives.

They return bools. Inside a function that `jit` or `vmap` records, they return Values that are 1 or 0, as comparisons of
Values do. Such a Value can be the condition of `where`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from gradwalk.value import arrays
from gradwalk.value.value import Value


def isnan(x: Any) -> Any:
    """Return whether x is nan.

    Args:
        x: A `Value`, a real number, or an array of these.

    Returns:
        A bool, or an array of bools if x is an array. In a recorded function, Values that are 1 or 0 instead of bools.

    Example:
        >>> isnan(math.nan)
        True
    """
    return _asked(arrays.PREDICATES[numpy.isnan], x)


def isinf(x: Any) -> Any:
    """Return whether x is inf or -inf.

    Args:
        x: A `Value`, a real number, or an array of these.

    Returns:
        A bool, or an array of bools if x is an array. In a recorded function, Values that are 1 or 0 instead of bools.

    Example:
        >>> isinf(-math.inf)
        True
    """
    return _asked(arrays.PREDICATES[numpy.isinf], x)


def isfinite(x: Any) -> Any:
    """Return whether x is neither infinite nor nan.

    Args:
        x: A `Value`, a real number, or an array of these.

    Returns:
        A bool, or an array of bools if x is an array. In a recorded function, Values that are 1 or 0 instead of bools.

    Example:
        >>> isfinite(1e308)
        True
    """
    return _asked(arrays.PREDICATES[numpy.isfinite], x)


def isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    """Return whether two numbers are equal or close to each other, like Python's `math.isclose`.

    Args:
        a: A `Value`, a real number, or an array of these.
        b: A `Value`, a real number, or an array of these.
        rel_tol: Maximum difference relative to the larger of |a| and |b|.
        abs_tol: Maximum absolute difference. The numbers are close if they satisfy one of the two tolerances.

    Returns:
        A bool, or an array of bools if `a` or `b` is an array. In a recorded function, Values that are 1 or 0 instead
        of bools.

    Raises:
        ValueError: If a tolerance is negative.

    Example:
        >>> isclose(1.0, 1.0 + 1e-12)
        True
    """
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError(f"the tolerances of isclose() must not be negative, got {rel_tol} and {abs_tol}")

    def are_close(a: Any, b: Any) -> Any:
        apart = abs(a - b)
        is_near = _either(_either(apart <= rel_tol * abs(a), apart <= rel_tol * abs(b)), apart <= abs_tol)
        return _either(_both(a <= b, b <= a), _both(is_near, apart < math.inf))

    return _asked(are_close, a, b)


def _asked(question: Any, *operands: Any) -> Any:
    """Evaluate a predicate for Values and numbers, or for each element of arrays."""
    if arrays.are_there(operands):
        return arrays.elementwise(question, operands, bool)
    answer = question(*operands)
    return answer if isinstance(answer, Value) else bool(answer)


def _both(first: Any, second: Any) -> Any:
    return first * second if isinstance(first * second, Value) else first and second


def _either(first: Any, second: Any) -> Any:
    return arrays.negated(_both(arrays.negated(first), arrays.negated(second)))
