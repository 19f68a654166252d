"""`refresh`: recompute a graph in place from the numbers of its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.ops.compiled import evaluate
from gradwalk.value import modes, variadic
from gradwalk.value.node import ValueNode, primal_of, rule_of
from gradwalk.value.sweep.order import checked_root, topological_order

if not TYPE_CHECKING and cython.compiled:
    import cython


@cython.annotation_typing(False)
def refresh(root: Any) -> None:
    """Recompute root and its ancestors from the numbers of the leaves. Gradients are not changed.

    Args:
        root: A Value.

    Raises:
        ValueError: If a node cannot be recomputed. This is so for hand-made nodes, and for nodes that were created with
            their partials, such as the results of `linalg.solve`. In this case no node is changed.
        TypeError: If root is not a Value.
        RecordingError: If called inside a function that is being recorded.

    Example:
        >>> from gradwalk import Value
        >>> a = Value(2.0)
        >>> b = a * a
        >>> a.data = 3.0
        >>> refresh(b)
        >>> b.data
        9.0
    """
    modes.refuse_if_staging(checked_root(root), "sets .data of")
    _recompute_all(topological_order(root))


@cython.cfunc
def _recompute_all(order: list) -> object:
    node: ValueNode
    for node in order:
        if node._opcode <= 0 and node._special and node._details.arguments and not _is_recomputable(node):
            raise ValueError(_refusal(node))
    for node in order:
        if node._opcode > 0:
            _recompute(node)
        elif node._special and _is_recomputable(node):
            node._primal = node._details.closure.recomputed()
    return None


def _refusal(node: ValueNode) -> str:
    """Explain why a node cannot be recomputed."""
    if rule_of(node) is not None:
        return f"cannot recompute the hand-made node {node!r} (operation {node.op!r}): it has no forward rule"
    return (
        f"cannot recompute {node!r} (operation {node.op!r}): it was created with its number and its local derivatives, "
        "and has no rule to recompute them; call the function that created it again"
    )


def _is_recomputable(node: ValueNode) -> bool:
    """Return whether a node has a custom rule that can also compute its number."""
    return hasattr(rule_of(node), "recomputed")


@cython.cfunc
def _recompute(node: ValueNode) -> object:
    """Recompute a native node's number and partials from its operands' numbers."""
    if evaluate.is_variadic(node._opcode):
        variadic.compute(node)
        return None
    arguments = [primal_of(x) if isinstance(x, ValueNode) else x for x in node.arguments]
    x, y, z = arguments + [0.0] * (3 - len(arguments))
    node._primal = evaluate.value(node._opcode, x, y, z)
    if node._a is not None:
        node._pa = evaluate.partial(node._opcode, 0, x, y, z, node._primal)
    if node._b is not None:
        node._pb = evaluate.partial(node._opcode, 1, x, y, z, node._primal)
    if node._special:
        for position in range(len(arguments)):
            node._details.partials[position] = evaluate.partial(node._opcode, position, x, y, z, node._primal)
    return None
