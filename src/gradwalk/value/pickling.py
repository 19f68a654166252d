"""Copy and pickle graphs of any depth, without recursion."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value import modes
from gradwalk.value import node as nodes
from gradwalk.value.node import ValueNode
from gradwalk.value.source.source_line import users_line
from gradwalk.value.sweep.order import topological_order

if not TYPE_CHECKING and cython.compiled:
    import cython

_pickling = threading.local()  # `listed` has the ids of the nodes that an `_Ancestors` is pickling


def attributes_of(node: ValueNode) -> dict[str, Any]:
    """Return a dict of the attributes that users set on a node."""
    if hasattr(node, "__dict__"):
        return node.__dict__
    details: nodes.Details | None = nodes.known_details(node)
    return (details.attributes if details is not None else None) or {}


@cython.cfunc
def _is_recorded(node: ValueNode) -> cython.bint:
    """Return whether a node belongs to a recording.

    A recorded function may use other threads, whose context does not contain the recording. In such a thread, only the
    level of the node shows that it was created in a recording.
    """
    return modes.recordings != 0 and (node._level > 0 or modes.is_being_recorded(node))


def copied(node: ValueNode) -> Any:
    """Copy a node; the copy has the same operands. A node of a recording is returned unchanged."""
    if _is_recorded(node):
        return node
    copy: ValueNode = _restored(_state(node), node.arguments)
    _set_attributes(copy, attributes_of(node))
    if node._special and node._details.closure is not None:
        nodes.set_closure(copy, node._details.closure)
    return copy


def deep_copied(root: ValueNode, memo: dict[int, Any]) -> Any:
    """Copy the whole graph of a root, including its leaves. A root that belongs to a recording is returned unchanged.

    `memo` maps the `id` of each copied object to its copy. Nodes in `memo` are not copied again.
    """
    if _is_recorded(root):
        return root
    node: ValueNode
    copy: ValueNode
    for node in topological_order(root):
        if id(node) not in memo:
            arguments = [memo[id(x)] if isinstance(x, ValueNode) else x for x in node.arguments]
            memo[id(node)] = copy = _restored(_state(node), tuple(arguments))
            _set_attributes(copy, deepcopy(attributes_of(node), memo))
            if node._special and node._details.closure is not None:
                nodes.set_closure(copy, node._details.closure.replaced(memo))
    return memo[id(root)]


def reduced(node: ValueNode) -> tuple[Any, ...]:
    """Return the result of `__reduce_ex__`: a function, its arguments, and the attributes that users set.

    Raises `TypeError` if the node has a custom rule, because closures cannot be pickled.
    """
    if _is_recorded(node):
        message = (
            f"{users_line()}: a Value cannot be pickled while the function that computes it is being recorded. Inside "
            "the function, use copy.copy or copy.deepcopy, which keep the Value connected"
        )
        raise modes.refused(message, node)
    if node._special and node._details.closure is not None:
        raise TypeError(
            f"cannot pickle the hand-made node {node!r} (operation {node.op!r}): its _backward is a closure"
        )
    is_listed = id(node) in getattr(_pickling, "listed", ())
    ancestors = None if is_listed or not node.operands else _Ancestors(node)
    # one flat tuple, because the pickler keeps every tuple alive, and the garbage collector scans each of them
    return unpickled, (ancestors, *_state(node), *node.arguments), attributes_of(node) or None


class _Ancestors:
    """The ancestors of a node, operands before results.

    They are pickled before the node. The pickler then finds every operand in its memo and does not recurse.
    """

    def __init__(self, node: ValueNode) -> None:
        self._node = node

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (), None, self._nodes()

    def _nodes(self) -> Iterator[ValueNode]:
        ancestors = topological_order(self._node)[:-1]
        listed: frozenset[int] = getattr(_pickling, "listed", frozenset())
        _pickling.listed = listed.union([id(node) for node in ancestors])
        try:
            yield from ancestors
        finally:
            _pickling.listed = listed


def unpickled(ancestors: list[Any] | None, *state: Any) -> Any:
    """Restore a node from a pickle.

    `state` is the result of `_state`, followed by the arguments of the node. `ancestors` is not used: it is in the
    pickle only so that the operands are restored before the node.
    """
    partials = state[7]
    return _restored(state[: 8 + partials], state[8 + partials :])


def _state(node: ValueNode) -> tuple[Any, ...]:
    """Return the state of a node without its operands and its custom rule.

    The state contains the name of the operation instead of the opcode, so that other versions of gradwalk can read the
    pickle.
    """
    name = NAMES[node._opcode] if node._opcode > 0 else ""
    partials: tuple[float, ...] = (node._pa, node._pb)
    if node._special:
        partials = tuple([node._details.partials[i] for i in range(len(node._details.arguments))])
    details: nodes.Details | None = nodes.known_details(node)
    symbol = details.symbol if details is not None else ""
    kind = "unconnected" if node._opcode == nodes.UNCONNECTED else "wide" if node._special else ""
    return type(node), name, node._primal, node._grad, node.label, symbol, kind, len(partials), *partials


@cython.cfunc
def _restored(state: tuple, arguments: tuple) -> ValueNode:
    """Make a node from its `_state` and its arguments."""
    cls, name, data, grad, label, symbol, kind, _, *partials = state
    out: ValueNode = cls.__new__(cls)  # does not call the __init__ of a subclass
    nodes.set_leaf(out, data, modes.depth())
    out._grad = grad
    if label:
        out.label = label
    if modes.remembers_lines():
        nodes.details_of(out).source = users_line()
    out._opcode = NAMES.index(name) if name else nodes.UNCONNECTED if kind == "unconnected" else 0
    if kind == "wide":
        nodes.set_operands_and_level(out, list(arguments))
        out._details.symbol = symbol
        for i in range(len(arguments)):
            out._details.partials[i] = partials[i]
    elif arguments:
        out._level = max([cython.cast(ValueNode, x)._level for x in arguments if isinstance(x, ValueNode)])
        out._pa, out._pb = partials
        if isinstance(arguments[0], ValueNode):
            out._a = arguments[0]
        if len(arguments) == 2 and isinstance(arguments[1], ValueNode):
            out._b = arguments[1]
    return out


def _set_attributes(node: ValueNode, attributes: dict[str, Any]) -> None:
    if hasattr(node, "__dict__"):
        node.__dict__.update(attributes)
    elif attributes:
        nodes.details_of(node).attributes = dict(attributes)
