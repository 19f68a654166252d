"""Labels for the Values of loop iterations, such as `newton.3.val`. They show to which iteration a node belongs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.trees.tree import flatten
from gradwalk.value.arrays import WholeArray
from gradwalk.value.node import parameter_of
from gradwalk.value.value import Value

_MOST = 1000  # maximum number of labeled iterations per loop

_PLAIN = frozenset([float, int, bool, type(None)])  # types without labels, for which labeling is skipped

_running = threading.local()  # `_running.path` is the prefix of labels in the current iteration


class Iterations:
    """A context manager that labels the Values of each iteration of a loop. Loops may be nested.

    Values that already have a label keep it.

    Args:
        body: The function that computes a step. Its name is used in the labels.
        name: The name to use if the name of `body` is not an identifier.
        tree: The initial carry.
    """

    def __init__(self, body: Callable[..., Any], name: str, tree: Any) -> None:
        own = getattr(body, "__name__", name)
        self._around = getattr(_running, "path", "")
        self._path = f"{self._around}{own if own.isidentifier() else name}."
        self._count = 0
        self._label(tree, "start", "val")

    def __enter__(self) -> Iterations:
        _running.path = f"{self._path}0."
        return self

    def __exit__(self, *_: object) -> None:
        _running.path = self._around

    def ended(self, carry: Any, output: Any = None) -> None:
        """Label the carry and the output that a step returned. Must be called before the next step begins."""
        if self._count < _MOST:
            self._label(carry, str(self._count), "val")
            self._label(output, str(self._count), "out")
        self._count += 1
        _running.path = f"{self._path}{self._count}."

    def _label(self, tree: Any, part: str, what: str) -> None:
        if type(tree) in _PLAIN or (type(tree) is tuple and _PLAIN.issuperset(map(type, tree))):
            return
        leaves, treedef = flatten(tree, what)
        if any(isinstance(leaf, WholeArray) for leaf in leaves):  # their elements are not Values yet
            for leaf, path in zip(leaves, treedef.paths(what), strict=True):
                if not isinstance(leaf, WholeArray):
                    self._label(leaf, part, path)
            return
        numbers = [x for leaf in leaves for x in (leaf.ravel() if isinstance(leaf, numpy.ndarray) else [leaf])]
        if not any(isinstance(x, Value) for x in numbers):
            return
        for x, name in zip(numbers, treedef.names(what), strict=True):
            if isinstance(x, Value) and not x.label and parameter_of(x) is None:
                x.label = f"{self._path}{part}.{name}"
