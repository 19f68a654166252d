"""The backward sweep: `operand.grad += partial * grad`, from the root to the leaves.

Each node stores its partial derivatives when it is created, so the sweep needs no derivative rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.value import modes
from gradwalk.value import node as nodes
from gradwalk.value.memory import marks
from gradwalk.value.node import ValueNode
from gradwalk.value.sweep import node_locks, order
from gradwalk.value.sweep.order import checked_root, topological_order, traversing

if not TYPE_CHECKING and cython.compiled:
    import cython

_is_sweeping = cython.declare(cython.bint, False)  # whether the current traversal belongs to a sweep
_observers: tuple[Callable[[Any], Callable[[], object]], ...] = ()


def backward(root: ValueNode) -> None:
    """Add d root / d node to the gradient of each node: of root and all its ancestors.

    Raises `RuntimeError` if root was computed without a graph, or if a sweep over the same nodes is running.
    """
    modes.refuse_if_recorded(root, "calls backward() on")
    if root._opcode == nodes.UNCONNECTED or (modes.is_without_gradient() and not root.operands):
        raise RuntimeError(
            "backward() needs a graph, but this Value was computed under no_grad() or made by detach(); "
            "compute it outside of no_grad() to differentiate it"
        )
    ends = started(root)
    if not _swept_natively(root):
        _sweep_with_rules(root)
    for end in ends:
        end()


def started(root: Any) -> list[Callable[[], object]]:
    """Call each observer with a root. Return the functions to call if the sweep then raises no error."""
    return [observer(root) for observer in _observers]


@contextmanager
def observed(observer: Callable[[Any], Callable[[], object]]) -> Iterator[None]:
    """Call `observer(root)` before every `backward()` in any thread, while this context is open.

    Observers are called in the order in which they were set. An observer returns a function, which is called after the
    sweep if the sweep raised no error.
    """
    global _observers
    with traversing:
        _observers = (*_observers, observer)
    try:
        yield
    finally:
        with traversing:
            others = list(_observers)
            others.remove(observer)  # removes only one entry: an outer context may have added the same observer
            _observers = tuple(others)


@cython.annotation_typing(False)
def zero_grad(root: Any) -> None:
    """Set the gradients of root and of all its ancestors to zero.

    Args:
        root: A Value.

    Raises:
        TypeError: If root is not a Value.
        RecordingError: If called inside a function that is being recorded.
    """
    modes.refuse_if_staging(checked_root(root), "sets .grad of the ancestors of")
    found = topological_order(root)
    node_locks.wait_for_others(found)
    with traversing:  # wait until the sweeps of other threads have ended
        _clear_gradients(found)


@cython.cfunc
def _clear_gradients(nodes_in_order: list) -> object:
    for node in nodes_in_order:
        cython.cast(ValueNode, node)._grad = 0.0
    return None


@cython.cfunc
@cython.exceptval(-1)
def _swept_natively(root: ValueNode) -> cython.bint:
    """Run the sweep in C.

    Returns False, and changes no gradient, if a node has a custom rule, if a thread may be calling a custom rule, or
    under `debug_nans()`.
    """
    global _is_sweeping
    visited: list = []
    earlier: list = []  # gradients of earlier sweeps: a sweep propagates only its own contributions
    with traversing:
        if modes.refuses_nans() or node_locks.exist():
            return False
        aside = order.begin([root])
        outer: cython.bint = _is_sweeping
        try:
            if outer and aside is not None:
                _refuse_what_is_swept(aside[1])
            _is_sweeping = True
            if order.visit(root, None, visited, earlier):
                order.unmark(visited)
                _take_back(visited, earlier)
                return False
            root._grad = 1.0
            root._mark = marks.REACHED
            _pass_back(visited)
        except BaseException:
            order.unmark(visited)
            _take_back(visited, earlier)
            raise
        finally:
            _is_sweeping = outer
            order.end(aside)
        _add_back(earlier)
    return True


def derivatives_within(root: Any, leaves: list[Any]) -> list[float] | None:
    """Return d root / d leaf for each input of an open recording. No gradient is changed.

    Args:
        root: The result of a function of the leaves.
        leaves: The inputs of the recording, at least one.

    Returns:
        The derivatives. None if the root is not a Value of the recording, if a node has a custom rule or was created
        outside of the recording, if a thread may be calling a custom rule, or under `debug_nans()`.
    """
    level: cython.int = cython.cast(ValueNode, leaves[0])._level
    if not isinstance(root, ValueNode) or cython.cast(ValueNode, root)._level != level:
        return None
    visited: list = []
    earlier: list = []
    found: list[float] | None = None
    with traversing:
        if modes.refuses_nans() or node_locks.exist():
            return None
        aside = order.begin([root])
        try:
            is_by_hand = order.visit(root, None, visited, earlier)
            if not is_by_hand and _are_native(visited, level) and not _are_of_others(visited, leaves):
                cython.cast(ValueNode, root)._grad = 1.0
                are_visited = [cython.cast(ValueNode, leaf)._mark != marks.NEW for leaf in leaves]
                cython.cast(ValueNode, root)._mark = marks.REACHED
                _pass_back(visited)
                found = [
                    cython.cast(ValueNode, leaf)._grad if is_visited else 0.0
                    for leaf, is_visited in zip(leaves, are_visited, strict=True)
                ]
        finally:
            order.unmark(visited)
            _take_back(visited, earlier)
            order.end(aside)
    return found


@cython.cfunc
def _are_native(visited: list, level: cython.int) -> cython.bint:
    """Return True if every node was created in the recording at this level and none has a custom rule."""
    node: ValueNode
    for item in visited:
        node = cython.cast(ValueNode, item)
        if node._level != level or (node._special and node._opcode <= 0):
            return False
    return True


def _are_of_others(visited: list[Any], leaves: list[Any]) -> bool:
    """Return whether any node is an input of a recording that another thread has open."""
    if modes.recordings == 0:
        return False
    own = set(map(id, leaves))
    return any(nodes.mark_of(node) and id(node) not in own for node in visited)


def _sweep_with_rules(root: ValueNode) -> None:
    """Sweep from a root over nodes that may have custom rules. A custom rule may run any code."""
    visited: list = []
    earlier: list = []
    with node_locks.claimed(topological_order(root), once=True):
        try:
            _visit(root, visited, earlier)
            root._grad = 1.0
            reached = {id(root)}
            for node in reversed(visited):
                # A custom rule may also add to the gradients of nodes that are not operands of its node. A node is
                # therefore skipped only if its gradient is 0.
                if id(node) not in reached and cython.cast(ValueNode, node)._grad == 0.0:
                    continue
                push(node)
                reached.update(map(id, _receivers(node)))
                if modes.refuses_nans():
                    modes.refuse_nans_from(node)
        except BaseException:
            _take_back(visited, earlier)
            raise
        _add_back(earlier)


def _visit(root: ValueNode, visited: list, earlier: list) -> None:
    """Append a root and its ancestors to `visited` in topological order. Move their gradients to `earlier`."""
    with traversing:
        aside = order.begin([root])
        try:
            order.visit(root, None, visited, earlier)
        finally:
            order.unmark(visited)
            order.end(aside)


@cython.cfunc
def _take_back(visited: list, earlier: list) -> object:
    """Reset all gradients to their values before a sweep."""
    node: ValueNode
    for node in visited:
        node._grad = 0.0
    for node, gradient in earlier:
        node._grad = gradient
    return None


@cython.cfunc
def _add_back(earlier: list) -> object:
    """Add the gradients that nodes had before a sweep to the gradients that the sweep computed."""
    node: ValueNode
    for node, gradient in earlier:
        node._grad += gradient
    return None


@cython.cfunc
def _pass_back(visited: list) -> object:
    """Propagate gradients from the root to the leaves. All nodes are native, so that no user code runs meanwhile.

    Nodes that no contribution has reached, such as unselected operands of `where`, are skipped: multiplying a zero
    gradient by an infinite partial would give nan.
    """
    node: ValueNode
    is_reached: cython.bint
    i: cython.Py_ssize_t = len(visited)
    for item in reversed(visited):
        i -= 1
        c_compat.fetch_item(visited, i - order.AHEAD)
        node = cython.cast(ValueNode, item)
        is_reached = node._mark == marks.REACHED
        node._mark = marks.NEW
        if is_reached:
            _push_partials(node, True)
    return None


def _refuse_what_is_swept(aside: list) -> None:
    """Raise `RuntimeError` if a finalizer or signal handler starts a sweep over nodes that are being swept."""
    for node, _, _ in aside:
        raise RuntimeError(
            f"a finalizer or signal handler calls backward() on {node!r}, which another backward() is visiting"
        )


# Contributions of one node to its operands


def push(node: ValueNode) -> None:
    """Add the contributions of a node to the gradients of its operands. A custom rule is called if there is one."""
    if node._special and node._details.closure is not None:
        node._details.closure(node)
    else:
        _push_partials(node, False)


def _receivers(node: ValueNode) -> Sequence[ValueNode]:
    """Return the operands that get a contribution from a node.

    For an operation that selects operands, such as `where`, return only the selected operands.
    """
    if (node._special and node._details.closure is not None) or not evaluate.selects(node._opcode):
        return node.operands
    return [operand for operand, local in zip(node.operands, partials_of(node), strict=True) if local != 0.0]


def call_rule(rule: Callable[[Any], object], node: ValueNode) -> None:
    """Call a custom rule outside of a sweep. Other threads that need the same gradients wait until it has ended."""
    with node_locks.claimed([node, *node.operands], once=False):
        rule(node)


def push_native(node: ValueNode) -> None:
    """Add partial * grad to the gradients of a node's operands, even if the node has a custom rule."""
    _push_partials(node, False)


@cython.cfunc
@cython.inline
def _push_partials(node: ValueNode, marking: cython.bint) -> object:
    """Add partial * grad to the gradient of each operand of a native node.

    If `marking` is true, also set the mark of each operand that gets a contribution to REACHED.
    """
    if node._special:
        return _push_wide(node, marking)
    if node._a is not None:
        _give(node, node._a, node._pa, marking)
    if node._b is not None:
        _give(node, node._b, node._pb, marking)
    return None


@cython.cfunc
def _push_wide(node: ValueNode, marking: cython.bint) -> object:
    """Do the work of `_push_partials` for a node that stores its operands in its details."""
    partials: cython.p_double = node._details.partials
    i: cython.Py_ssize_t = 0
    for argument in node._details.arguments:
        if c_compat.is_kind(argument, ValueNode):
            _give(node, cython.cast(ValueNode, argument), partials[i], marking)
        i += 1
    return None


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _give(node: ValueNode, operand: ValueNode, local: cython.double, marking: cython.bint) -> cython.void:
    """Add a contribution to the gradient of an operand, unless the operation of the node did not select the operand."""
    if local == 0.0 and evaluate.selects(node._opcode):
        return
    operand._grad += local * node._grad
    if marking:
        operand._mark = marks.REACHED


def partials_of(node: ValueNode) -> tuple[float, ...]:
    """Return d node / d operand for every operand that is a Value, in order, as last computed."""
    if not node._special:
        return tuple([p for operand, p in ((node._a, node._pa), (node._b, node._pb)) if operand is not None])
    if node._details.closure is not None:
        return _probed_partials(node)
    arguments = node._details.arguments
    return tuple([node._details.partials[i] for i in range(len(arguments)) if isinstance(arguments[i], ValueNode)])


def _probed_partials(node: ValueNode) -> tuple[float, ...]:
    """Call the custom rule of a node with gradient 1, and return its contribution to each operand as the partials."""
    operand: ValueNode
    involved = [node, *getattr(node._details.closure, "receivers", node.operands)]
    with node_locks.claimed(involved, once=False):
        gradients = [cython.cast(ValueNode, v)._grad for v in involved]
        try:
            for operand in involved:
                operand._grad = 0.0
            node._grad = 1.0
            push(node)
            totals = {id(v): cython.cast(ValueNode, v)._grad for v in node.operands}
        finally:
            for operand, gradient in zip(involved, gradients, strict=True):
                operand._grad = gradient
        return tuple([totals.pop(id(v), 0.0) for v in node.operands])
