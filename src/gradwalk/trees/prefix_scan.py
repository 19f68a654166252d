"""`associative_scan`: all partial results of an associative function, as in `jax.lax`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.trees.tree import TreeDef, flatten

Leaves = list[Any]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Compute all partial results `elems[0]`, `fn(elems[0], elems[1])`, ... of an associative function.

    `fn` is called about 2·log₂(n) times, with many elements at once, as in JAX: in pairs, then in pairs of pairs, and
    so on.

    Args:
        fn: An associative function of two trees like `elems`. It gets several elements at once, along the axis `axis`,
            so it must be elementwise along this axis, such as `operator.add`, or `operator.matmul` for an array of
            matrices.
        elems: An array, or a tree of arrays that have the same length along the axis.
        reverse: Whether to start with the last element.
        axis: The axis.

    Returns:
        A tree like `elems`, with the partial results along the axis.

    Raises:
        TypeError: A leaf of `elems` is not an array, or `fn` returns a tree of another structure.
        ValueError: The arrays differ in length.

    Example:
        >>> import operator
        >>> associative_scan(operator.add, numpy.array([1.0, 2.0, 3.0, 4.0]))
        array([ 1.,  3.,  6., 10.])
        >>> from gradwalk import math
        >>> associative_scan(math.maximum, numpy.array([1.0, 3.0, 2.0]), reverse=True)
        array([3., 3., 2.])
    """
    leaves, treedef = flatten(elems, "elems")
    leaves = [_moved(leaf, operator.index(axis), reverse) for leaf in leaves]
    if len({len(leaf) for leaf in leaves}) != 1:
        lengths = sorted({len(leaf) for leaf in leaves})
        raise ValueError(f"the arrays in elems must have one length along axis {axis}, got {lengths}")
    levels = [leaves]
    while len(levels[-1][0]) > 1:  # the results of pairs of neighbors
        last = levels[-1]
        levels.append(_combined(fn, treedef, axis, [x[:-1:2] for x in last], [x[1::2] for x in last]))
    odd = levels.pop()
    for level in reversed(levels):
        length = len(level[0])
        before = [x[: (length - 1) // 2] for x in odd]
        even = _combined(fn, treedef, axis, before, [x[2::2] for x in level])
        odd = [_interleaved(x[:1], y, z) for x, y, z in zip(level, even, odd, strict=True)]
    return treedef.unflatten([numpy.moveaxis(x[::-1] if reverse else x, 0, axis) for x in odd])


def _moved(leaf: Any, axis: int, reverse: bool) -> Any:
    """Return an array with the axis in front, and with its elements in the order of the scan."""
    if not isinstance(leaf, numpy.ndarray) or not -leaf.ndim <= axis < leaf.ndim:
        raise TypeError(f"elems must be arrays with an axis {axis}, got {leaf!r:.60}")
    moved = numpy.moveaxis(leaf if leaf.dtype == object else leaf.astype(numpy.float64), axis, 0)
    return moved[::-1] if reverse else moved


def _combined(fn: Callable[[Any, Any], Any], treedef: TreeDef, axis: int, left: Leaves, right: Leaves) -> Leaves:
    """Call the function for copies of several pairs of elements, and return the leaves of the result."""
    if not len(left[0]):
        return left
    trees = [treedef.unflatten([numpy.moveaxis(x, 0, axis).copy() for x in leaves]) for leaves in (left, right)]
    leaves, found = flatten(fn(*trees), "the result of fn")
    if found != treedef.with_shapes([numpy.moveaxis(x, 0, axis).shape for x in left]):
        raise TypeError(f"fn must return the structure and the shapes of its arguments, got {found}")
    return [numpy.moveaxis(x, axis, 0) for x in leaves]


def _interleaved(first: Any, even: Any, odd: Any) -> Any:
    """Return the results at even positions, which `first` and `even` hold, and at odd positions as one array."""
    parts = (first, even, odd)
    dtype = object if any(x.dtype == object for x in parts) else numpy.float64
    found = numpy.empty((len(first) + len(even) + len(odd), *first.shape[1:]), dtype)
    found[:1], found[2::2], found[1::2] = first, even, odd
    return found
