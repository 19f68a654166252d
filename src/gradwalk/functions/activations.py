"""Further activations, with the names and the meaning of `jax.nn`."""

from __future__ import annotations

import math
from typing import Any

import numpy

from gradwalk.functions import pointwise, rows
from gradwalk.functions.elementary import clip, elu
from gradwalk.functions.extended import log
from gradwalk.functions.sequences import logsumexp
from gradwalk.value.arrays import Axis, as_array

__all__ = [
    "celu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "log_sigmoid",
    "logmeanexp",
    "mish",
    "relu6",
    "selu",
    "soft_sign",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
]

# Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks", 2017, equation 14.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """Compute the continuously differentiable exponential linear unit: x if x > 0, else alpha · (exp(x / alpha) - 1).

    Example:
        >>> round(celu(-1.0, 2.0), 6)
        -0.786939
    """
    is_positive = rows.less(0.0, x)
    scaled = rows.where(is_positive, 0.0, rows.divide(x, alpha))
    return rows.where(is_positive, x, rows.multiply(alpha, rows.expm1(scaled)))


def selu(x: Any) -> Any:
    """Compute the scaled exponential linear unit: 1.0507 · elu(x, 1.6733).

    Example:
        >>> round(selu(1.0), 6), round(selu(-1.0), 6)
        (1.050701, -1.111331)
    """
    return rows.multiply(_SELU_SCALE, elu(x, _SELU_ALPHA))


def relu6(x: Any) -> Any:
    """Return x clipped to the range from 0 to 6.

    Example:
        >>> relu6(-1.0), relu6(2.5), relu6(8.0)
        (0.0, 2.5, 6.0)
    """
    return clip(x, 0.0, 6.0)


def hard_sigmoid(x: Any) -> Any:
    """Return relu6(x + 3) / 6.

    Example:
        >>> hard_sigmoid(1.5)
        0.75
    """
    return rows.divide(relu6(rows.add(x, 3.0)), 6.0)


def hard_silu(x: Any) -> Any:
    """Return x · hard_sigmoid(x).

    Example:
        >>> hard_silu(1.5)
        1.125
    """
    return rows.multiply(x, hard_sigmoid(x))


hard_swish = hard_silu


def hard_tanh(x: Any) -> Any:
    """Return x clipped to the range from -1 to 1.

    Example:
        >>> hard_tanh(0.5), hard_tanh(2.0)
        (0.5, 1.0)
    """
    return clip(x, -1.0, 1.0)


def log_sigmoid(x: Any) -> Any:
    """Return log(sigmoid(x)) without overflow.

    Example:
        >>> round(log_sigmoid(0.0), 6), log_sigmoid(-1000.0)
        (-0.693147, -1000.0)
    """
    return rows.negative(pointwise.softplus(rows.negative(x)))


def soft_sign(x: Any) -> Any:
    """Return x / (1 + |x|).

    Example:
        >>> soft_sign(-3.0)
        -0.75
    """
    return rows.divide(x, rows.add(rows.absolute(x), 1.0))


def squareplus(x: Any, b: Any = 4.0) -> Any:
    """Return (x + √(x² + b)) / 2.

    Example:
        >>> squareplus(1.5)
        2.0
    """
    return rows.divide(rows.add(x, pointwise.sqrt(rows.add(rows.multiply(x, x), b))), 2.0)


def mish(x: Any) -> Any:
    """Return x · tanh(softplus(x)).

    Example:
        >>> round(mish(1.0), 6)
        0.865098
    """
    return rows.multiply(x, pointwise.tanh(pointwise.softplus(x)))


swish = pointwise.silu


def sparse_plus(x: Any) -> Any:
    """Return 0 if x <= -1, x if x >= 1, else (x + 1)² / 4.

    Example:
        >>> sparse_plus(-2.0), sparse_plus(0.0), sparse_plus(3.0)
        (0.0, 0.25, 3.0)
    """
    within = rows.divide(rows.multiply(rows.add(x, 1.0), rows.add(x, 1.0)), 4.0)
    return rows.where(rows.less_equal(x, -1.0), 0.0, rows.where(rows.less_equal(1.0, x), x, within))


def sparse_sigmoid(x: Any) -> Any:
    """Return (x + 1) / 2 clipped to the range from 0 to 1.

    Example:
        >>> sparse_sigmoid(0.5)
        0.75
    """
    return rows.multiply(0.5, clip(rows.add(x, 1.0), 0.0, 2.0))


def gelu(x: Any, approximate: bool = True) -> Any:
    """Compute the Gaussian error linear unit with the argument of `jax.nn.gelu`.

    Args:
        x: A `Value`, a real number, or an array.
        approximate: Whether to return x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))). Otherwise, x · norm_cdf(x).

    Returns:
        A `Value`, a number or an array. `gradwalk.math.gelu` is the exact function.

    Example:
        >>> round(gelu(0.5), 6), round(gelu(0.5, approximate=False), 6)
        (0.345714, 0.345731)
    """
    if not approximate:
        return pointwise.gelu(x)
    cube = rows.multiply(rows.multiply(x, x), x)
    inner = rows.multiply(math.sqrt(2.0 / math.pi), rows.add(x, rows.multiply(0.044715, cube)))
    return rows.multiply(rows.multiply(0.5, x), rows.add(1.0, pointwise.tanh(inner)))


def glu(x: Any, axis: int = -1) -> Any:
    """Split an array into two halves along an axis, and return first · sigmoid(second).

    Raises:
        ValueError: The length of the axis is odd.

    Example:
        >>> glu(numpy.array([1.0, 2.0, 0.0, 0.0])).tolist()
        [0.5, 1.0]
    """
    array = as_array(x)
    if array.shape[axis] % 2:
        raise ValueError(f"the length of axis {axis} must be even, got the shape {array.shape}")
    first, second = numpy.split(array, 2, axis)
    gate: Any = second
    return first * pointwise.sigmoid(gate)


def logmeanexp(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Compute the logarithm of the mean of exp(x) without overflow.

    Args:
        x: An array or a sequence of Values and real numbers.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        A number, or an array if axes remain.

    Example:
        >>> round(logmeanexp([1000.0, 1000.0]), 6)
        1000.0
    """
    array = as_array(x)
    total: Any = logsumexp(array, axis, keepdims=keepdims)
    return total - log(array.size / max(numpy.size(total), 1))


def standardize(x: Any, axis: Axis = -1, *, epsilon: float = 1e-5) -> Any:
    """Subtract the mean and divide by the standard deviation: (x - mean) / √(variance + epsilon).

    Args:
        x: An array of Values and real numbers.
        axis: The axis or axes of the mean and of the variance; all of them if None.
        epsilon: A number that is added to the variance.

    Returns:
        An array of the same shape.

    Example:
        >>> standardize(numpy.array([1.0, 3.0]), epsilon=0.0).tolist()
        [-1.0, 1.0]
    """
    array = as_array(x)
    centered = array - array.mean(axis=axis, keepdims=True)
    variance = (centered * centered).mean(axis=axis, keepdims=True)
    return centered / pointwise.sqrt(variance + epsilon)
