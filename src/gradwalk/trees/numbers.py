"""`values` and `grads`: the numbers of Values, and their gradients, as plain floats in a tree like the given one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.nn import Module
from gradwalk.trees.complex_leaves import is_complex, separated
from gradwalk.trees.registry import leaves_and_modules
from gradwalk.trees.tree import flatten, of_numpy
from gradwalk.value.value import Value


def values(tree: Any) -> Any:
    """Return a tree with the numbers of its Values, for example to plot, sample or save them.

    Args:
        tree: A number, a Value, an array, or a list, tuple, dict, dataclass or Module of these.

    Returns:
        A tree like `tree`, in which each Value is replaced by its number, a float, and each array of Values by a
        float64 array. Other numbers and static data are left as they are. Modules and dataclasses are copied.

    Raises:
        TypeError: The tree contains something other than numbers and static data.
        RecordingError: A Value belongs to a function that is being recorded.

    Example:
        >>> import json
        >>> from gradwalk import Value
        >>> json.dumps(values({"rates": [Value(0.5), 0.25], "name": "curve"}))
        '{"rates": [0.5, 0.25], "name": "curve"}'
        >>> json.dumps(Value(3.0), default=values)
        '3.0'
    """
    return _replaced(tree, lambda number: number.data if isinstance(number, Value) else number)


def grads(tree: Any) -> Any:
    """Return a tree with the gradients of its Values, which `backward()` has computed.

    Args:
        tree: As in `values`.

    Returns:
        A tree like `tree`, in which each Value is replaced by its gradient, a float, and each array of Values by a
        float64 array. The gradient of a plain number is 0. The parts of a complex number have separate gradients.

    Raises:
        TypeError: The tree contains something other than numbers and static data.
        RecordingError: A Value belongs to a function that is being recorded.

    Example:
        >>> from gradwalk import Value
        >>> weights = {"w": Value(2.0), "b": Value(1.0)}
        >>> (weights["w"] * 3.0 + weights["b"]).backward()
        >>> grads(weights)
        {'w': 3.0, 'b': 1.0}
    """
    return _replaced(tree, lambda number: number.grad if isinstance(number, Value) else 0.0)


def _replaced(tree: Any, number_of: Callable[[Any], Any]) -> Any:
    """Return the tree with each number replaced by `number_of` of it."""
    leaves, treedef = flatten(tree, "the tree")
    if leaves and not isinstance(tree, Value):  # `flatten` replaces the parameters of Modules by their numbers
        leaves = [leaf for item in leaves_and_modules(tree) for leaf in _parameters(item)]
    return treedef.unflatten([_of_leaf(leaf, number_of) for leaf in leaves])


def _parameters(item: Any) -> Sequence[Any]:
    if isinstance(item, Module):
        return item.parameters()
    item = of_numpy(item)
    return separated(item) if is_complex(item) else [item]


def _of_leaf(leaf: Any, number_of: Callable[[Any], Any]) -> Any:
    if not isinstance(leaf, numpy.ndarray):
        return number_of(leaf)
    return numpy.array([number_of(item) for item in leaf.ravel().tolist()], _dtype(leaf)).reshape(leaf.shape)


def _dtype(array: Any) -> Any:
    return numpy.float64 if array.dtype == object else array.dtype
