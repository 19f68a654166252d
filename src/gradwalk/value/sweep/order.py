"""Topological order, with operands before results, by a depth-first search without recursion.

A traversal marks the nodes that it visits, and clears the marks at its end. A node stores a single mark, so only one
thread at a time can run a traversal. A finalizer or signal handler may start a traversal inside another one; the inner
traversal saves the marks of the outer one, and restores them at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.base.locks import process_lock
from gradwalk.ops.compiled import evaluate
from gradwalk.value.memory import marks
from gradwalk.value.node import ValueNode

if not TYPE_CHECKING and cython.compiled:
    import cython

Root = TypeVar("Root", bound=ValueNode)

traversing = process_lock()  # held while nodes have marks

# The memory of a node is prefetched this many nodes before its turn. Without prefetching, the traversal of a graph that
# is larger than the CPU caches would wait for memory at every node.
AHEAD = cython.declare(cython.int, 12)

# During a traversal, the operands of nodes whose level is lower than this number are not visited.
floor = cython.declare(cython.int, 0)

# Whether a traversal is running in the thread that holds the lock. If an interrupt in plain Python leaves this True,
# later traversals search for marks to save, which only costs time.
_has_begun = cython.declare(cython.bint, False)


@cython.cfunc
def begin(roots: list) -> tuple | None:
    """Begin a traversal from some roots. The caller must hold the lock, and pass the result to `end`.

    If the traversal is nested, the result is the state of the outer traversal: its lowest level, and the marked nodes
    with their marks and indices. Otherwise, the result is None.
    """
    global _has_begun, floor
    if not _has_begun:
        _has_begun = True
        return None
    outer_floor, floor = floor, 0
    return outer_floor, _set_aside(roots)


@cython.cfunc
def end(aside: tuple | None) -> object:
    """End a traversal; `aside` is the result of `begin`."""
    global _has_begun, floor
    node: ValueNode
    if aside is None:
        _has_begun = False
        return None
    floor, marked = aside
    for node, mark, index in marked:
        node._mark = mark
        node._index = index
    return None


def _set_aside(roots: list) -> list:
    """Clear the marks of some roots and their ancestors. Return the marked nodes with their marks and indices."""
    node: ValueNode
    aside = []
    found = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if id(node) not in found:
            found.add(id(node))
            if node._mark != marks.NEW:  # unmarked nodes do not have an index yet
                aside.append((node, node._mark, node._index))
                node._mark = marks.NEW
            waiting.extend(node.operands)
    return aside


@cython.annotation_typing(False)
def topological_order(root: Root, key: Callable[[Root], Any] | None = None) -> list[Root]:
    """Return root and all Values that it depends on, operands before results.

    The order is the same in every run of a program.

    Args:
        root: A Value. It is the last Value of the result.
        key: A function that returns a sort key for an operand. The operands of a node are visited in the order of their
            keys; by default, they are visited from first to last.

    Returns:
        The Values, without repetitions.

    Raises:
        TypeError: If root is not a Value.
        ValueError: If hand-edited nodes form a cycle.

    Example:
        >>> from gradwalk import Value
        >>> a = Value(2.0, label="a")
        >>> b = a + 1
        >>> [v.data for v in topological_order(a * b)]
        [2.0, 3.0, 6.0]
    """
    order: list = _ordered(checked_root(root), None)
    if key is None:
        return order
    keys = {id(node): key(node) for node in order}
    keyed: list = _ordered(root, keys)
    return keyed


def checked_root(root: Any) -> Any:
    """Return the argument if it is a Value; raise `TypeError` otherwise."""
    if not isinstance(root, ValueNode):
        raise TypeError(
            f"the root of a graph must be a Value, got {type(root).__name__}; for several roots, call once for each"
        )
    return root


@cython.cfunc
def _ordered(root: ValueNode, keys: dict | None) -> list:
    order: list = []
    with traversing:
        aside = begin([root])
        try:
            visit(root, keys, order, None)
        finally:
            unmark(order)
            end(aside)
    return order


def visit_all(roots: list, order: list, lowest_level: int) -> None:
    """Fill the empty list `order` with the topological order of several roots; the nodes stay marked.

    The operands of nodes whose level is lower than `lowest_level` are not visited. The caller must hold the lock, begin
    and end the traversal, and unmark the nodes.
    """
    global floor
    floor = lowest_level
    try:
        for root in roots:
            visit(root, None, order, None)
    finally:
        floor = 0


@cython.cfunc
@cython.exceptval(-1)
def visit(root: ValueNode, keys: dict | None, order: list, earlier: list | None) -> cython.int:
    """Append a root and its ancestors to `order` in topological order; the nodes stay marked.

    If `earlier` is given, also move the gradients of the nodes to `earlier`. Returns whether any node has a custom
    rule.
    """
    node: ValueNode
    by_hand: cython.bint = False
    stack: list = [root]
    try:
        while stack:
            node = cython.cast(ValueNode, stack[len(stack) - 1])
            if node._mark == marks.NEW and node._level >= floor:
                node._mark = marks.OPEN
                by_hand = by_hand or (node._special != 0 and node._details.closure is not None)
                _push_operands(stack, order, earlier, node, keys)
            else:
                c_compat.fetch_item(stack, len(stack) - AHEAD)
                if node._mark != marks.DONE:
                    _close(node, order, earlier)
                stack.pop()
    except BaseException:
        unmark(stack)
        raise
    return by_hand


@cython.cfunc
def unmark(marked: list) -> object:
    """Clear the marks of nodes."""
    for node in marked:
        cython.cast(ValueNode, node)._mark = marks.NEW
    return None


@cython.cfunc
@cython.inline
def _close(node: ValueNode, order: list, earlier: list | None) -> object:
    """Append a node to the order after its operands have been visited."""
    node._index = len(order)
    order.append(node)  # append before marking: after an error, only nodes on the stack or in the order are unmarked
    node._mark = marks.DONE
    if earlier is not None and node._grad != 0.0:
        earlier.append((node, node._grad))
        node._grad = 0.0
    return None


@cython.cfunc
@cython.exceptval(-1)
def _push_operands(stack: list, order: list, earlier: list | None, node: ValueNode, keys: dict | None) -> cython.int:
    """Push the unvisited operands of a node onto the stack, so that the first one is on top."""
    skipped: cython.int = 0
    if keys is None and not node._special:
        if earlier is not None and (node._pa == 0.0 or node._pb == 0.0):
            skipped = evaluate.non_differentiable(node._opcode)
        return _push_two(stack, order, earlier, node, skipped)
    arguments: list = node._details.arguments if keys is None else _sorted(node.operands, keys)
    if earlier is not None and evaluate.non_differentiable(node._opcode) != 0:
        arguments = _without(arguments, evaluate.non_differentiable(node._opcode))
    for argument in arguments:
        if c_compat.is_kind(argument, ValueNode) and not _is_settled(cython.cast(ValueNode, argument), order, earlier):
            break
    else:
        return 0
    for argument in reversed(arguments):
        if c_compat.is_kind(argument, ValueNode):
            _push_operand(stack, cython.cast(ValueNode, argument))
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _push_two(stack: list, order: list, earlier: list | None, node: ValueNode, skipped: cython.int) -> cython.int:
    """Push the operands `_a` and `_b` of a node onto the stack, except operands whose bit is set in `skipped`."""
    if not skipped & 1 and not _is_settled(node._a, order, earlier):
        if not skipped & 2 and node._b is not None:
            _push_operand(stack, node._b)
        _push_operand(stack, node._a)
    elif not skipped & 2 and not _is_settled(node._b, order, earlier):
        _push_operand(stack, node._b)
    return 0


def _without(arguments: list[Any], positions: int) -> list[Any]:
    """Return the arguments, except arguments whose bit is set in `positions`.

    A sweep must not visit these arguments: their gradient is 0, and 0 times an infinite partial would be nan.
    """
    return [argument for position, argument in enumerate(arguments) if not positions >> position & 1]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_settled(operand: ValueNode | None, order: list, earlier: list | None) -> cython.bint:
    """Return whether an operand need not be pushed onto the stack.

    This is the case if the operand is None, has been visited, or has no operands to visit. An operand that has no
    operands to visit is appended to the order.
    """
    if operand is None or operand._mark == marks.DONE:
        return True
    if (operand._opcode <= 0 and not operand._special) or operand._level < floor:
        _close(operand, order, earlier)
        return True
    return False


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _push_operand(stack: list, operand: ValueNode | None) -> cython.int:
    if operand._mark == marks.OPEN:
        raise ValueError(f"the graph of Values has a cycle: {_cycle(stack, operand)}")
    if operand._mark == marks.NEW:
        stack.append(operand)
    return 0


def _sorted(operands: tuple[ValueNode, ...], keys: dict[int, Any]) -> list[ValueNode]:
    return sorted(operands, key=lambda operand: keys[id(operand)])


def _cycle(stack: list, first: ValueNode | None) -> str:
    """Format the cycle of OPEN nodes that begins with `first`, for an error message."""
    open_nodes = [node for node in stack if cython.cast(ValueNode, node)._mark == marks.OPEN]
    start = [node is first for node in open_nodes].index(True)
    return " -> ".join([node.label or repr(node) for node in [*reversed(open_nodes[start:]), open_nodes[-1]]])
