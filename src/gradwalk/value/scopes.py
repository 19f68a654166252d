"""Named scopes, and labels for all Values of a tree. Both are stored only under `source_lines()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy

from gradwalk.value.modes import Setting, open_scopes, remembers_lines, scope_path
from gradwalk.value.node import as_text
from gradwalk.value.value import Value

Tree = TypeVar("Tree")


def named_scope(name: str) -> Setting:
    """Name a part of a computation, such as a module, an attention head or the step of a loop.

    Under `source_lines()`, every new node stores the scopes in which it was created, outermost first. Walks of large
    graphs group the nodes by these scopes. `jax.named_scope` does the same for JAX programs.

    Args:
        name: The name, such as `"attention"`. Dots separate nested scopes.

    Returns:
        A context manager, which can also decorate a function.

    Raises:
        ValueError: If the name, or a part of it between dots, is empty.

    Example:
        >>> from gradwalk import Graph, Value, source_lines
        >>> with source_lines(), named_scope("square"):
        ...     y = Value(3.0) ** 2
        >>> Graph.record(y).scopes
        {0: 'square', 1: 'square'}
    """
    if not all(as_text(name, "the name of a scope").split(".")):
        raise ValueError(f'the name of a scope must be a str such as "attention" or "layer0.attention", got {name!r}')
    return Setting(open_scopes, name)


def label(tree: Tree, name: str) -> Tree:
    """Label each Value of a tree with its path: the open scopes, `name`, and the position of the Value in the tree.

    Does nothing unless `source_lines()` is on. Values that already have a label keep it.

    Args:
        tree: A Value, or nested lists, tuples, dicts and arrays of Values. Other objects in the tree are ignored.
        name: The name of the tree, such as `"weight"`.

    Returns:
        The same tree.

    Example:
        >>> from gradwalk import Value, source_lines
        >>> x = Value(2.0)
        >>> with source_lines(), named_scope("powers"):
        ...     powers = label([x * x, x * x * x], "power")
        >>> [power.label for power in powers]
        ['powers.power.0', 'powers.power.1']
    """
    if remembers_lines():
        outer = scope_path()
        for value, path in _values(tree, f"{outer}.{name}" if outer else name):
            if not value.label:
                value.label = path
    return tree


def _values(tree: Any, name: str) -> Iterator[tuple[Value, str]]:
    """Yield each Value of a tree together with its path."""
    pending = [(tree, name)]
    while pending:
        part, path = pending.pop()
        if isinstance(part, Value):
            yield part, path
        elif isinstance(part, (list, tuple)) or (isinstance(part, numpy.ndarray) and part.ndim):
            pending += [(item, f"{path}.{i}") for i, item in enumerate(part)]
        elif isinstance(part, dict):
            pending += [(item, f"{path}.{key}") for key, item in part.items()]
