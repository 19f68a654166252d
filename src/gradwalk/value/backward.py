"""The backward sweep: `operand.grad += partial * grad`, from the root to the leaves.

A node stores the partial derivative with respect to each operand when it is made, so the sweep knows no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradwalk.ops import evaluate
from gradwalk.value import marks, modes, order
from gradwalk.value import node as nodes
from gradwalk.value.node import ValueNode
from gradwalk.value.order import checked_root, topological_order, traversing

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

_sweeps: list = []  # the orders being swept now: more than one when a closure calls backward()
_observers: tuple[Callable[[Any], object], ...] = ()


def backward(root: ValueNode) -> None:
    """Add d root / d node to the gradient of root and of every node that it was made from.

    Args:
        root: The Value to differentiate.

    Raises:
        RecordingError: In a function that is being recorded.
        RuntimeError: If root is connected to nothing, or a sweep over the same nodes goes on.
    """
    modes.refuse_if_staging(root, "calls backward() on")
    if root._opcode == nodes.UNCONNECTED or (modes.is_without_gradient() and not root.operands):
        raise RuntimeError(
            "this Value is connected to nothing: it was computed under no_grad() or made by detach(); "
            "compute it outside of no_grad() to differentiate it"
        )
    with traversing:
        _sweep(root)
    for observer in _observers:
        observer(root)


@contextmanager
def observed(observer: Callable[[Any], object]) -> Iterator[None]:
    """Call the observer with the root after every `backward()` that ends without an error, in any thread.

    Args:
        observer: A function of the root.

    Returns:
        A context manager. Observers that are set already are called too, before this one.
    """
    global _observers
    _observers = (*_observers, observer)
    try:
        yield
    finally:
        others = list(_observers)
        others.remove(observer)  # once: the same one may observe outside, too
        _observers = tuple(others)


@cython.annotation_typing(False)
def zero_grad(root: Any) -> None:
    """Set the gradient of every Value that root was made from, and of root, to zero.

    Args:
        root: A Value.

    Raises:
        TypeError: If root is not a Value.
        RecordingError: In a function that is being recorded.
    """
    modes.refuse_if_staging(checked_root(root), "sets .grad of what made")
    _clear_gradients(topological_order(root))


@cython.cfunc
def _clear_gradients(nodes_in_order: list) -> object:
    for node in nodes_in_order:
        cython.cast(ValueNode, node)._grad = 0.0
    return None


@cython.cfunc
def _sweep(root: ValueNode) -> object:
    node: ValueNode
    visited: list = []
    earlier: list = []  # gradients from before: set aside, so that only this sweep's own are passed on
    try:
        by_hand = order.visit(root, None, visited, earlier)
        root._grad = 1.0
        if by_hand or modes.refuses_nans():
            _pass_back_with_care(visited)
        else:
            _pass_back(visited)
    except BaseException:
        order.unmark(visited)
        for node in visited:
            node._grad = 0.0
        for node, gradient in earlier:
            node._grad = gradient
        raise
    for node, gradient in earlier:
        node._grad += gradient
    return None


@cython.cfunc
def _pass_back(visited: list) -> object:
    """From the root to the leaves, where all nodes are native: no other code runs meanwhile."""
    node: ValueNode
    _refuse_if_being_swept(visited)
    for item in reversed(visited):
        node = cython.cast(ValueNode, item)
        node._mark = marks.NEW
        push_partials(node)
    return None


def _pass_back_with_care(visited: list) -> None:
    """From the root to the leaves, where hand-made rules may run any code, or every gradient is looked at."""
    node: ValueNode
    _refuse_if_being_swept(visited)
    order.unmark(visited)
    _sweeps.append(visited)
    try:
        for node in reversed(visited):
            push(node)
            if modes.refuses_nans():
                modes.refuse_nans_from(node)
    finally:
        _sweeps.pop()


@cython.cfunc
def _refuse_if_being_swept(visited: list) -> object:
    """A closure may call backward(), but not on nodes that the sweep around it is still passing gradients through."""
    for outer in _sweeps:
        swept = {id(node) for node in outer}
        for node in visited:
            if id(node) in swept:
                raise RuntimeError(
                    f"backward() on {node!r} inside a _backward function that is part of a sweep over it"
                )
    return None


# What one node passes to its operands


def push(node: ValueNode) -> None:
    """Add a node's contributions to its operands' gradients, by the rule set for it or by its own.

    Args:
        node: The node.
    """
    if node._special and node._details.closure is not None:
        call_rule(node._details.closure, node)
    else:
        push_partials(node)


def call_rule(rule: Callable[[Any], object], node: ValueNode) -> None:
    """Call a rule that was set by hand. It may keep its node in a cell of its own, so one thread at a time.

    Args:
        rule: The rule.
        node: The node that it was set for.
    """
    with traversing:
        rule(node)


@cython.cfunc
@cython.inline
def push_partials(node: ValueNode) -> object:
    """operand.grad += partial * grad, for every operand of a native node."""
    if node._special:
        return _push_wide(node)
    if node._a is not None:
        node._a._grad += _contribution(node, node._pa)
    if node._b is not None:
        node._b._grad += _contribution(node, node._pb)
    return None


def push_native(node: ValueNode) -> None:
    """Add a node's contributions to its operands' gradients by its partials, whatever rule is set for it.

    Args:
        node: The node.
    """
    push_partials(node)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _contribution(node: ValueNode, local: cython.double) -> cython.double:
    """What a node adds to the gradient of an operand whose partial is `local`."""
    if local == 0.0 and evaluate.selects(node._opcode):
        return 0.0
    return local * node._grad


@cython.cfunc
def _push_wide(node: ValueNode) -> object:
    """operand.grad += partial * grad, for a node with its operands in the details."""
    partials: cython.p_double = node._details.partials
    gradient: cython.double = node._grad
    selecting: cython.bint = evaluate.selects(node._opcode)
    i: cython.Py_ssize_t = 0
    for argument in node._details.arguments:
        if isinstance(argument, ValueNode) and not (selecting and partials[i] == 0.0):
            cython.cast(ValueNode, argument)._grad += partials[i] * gradient
        i += 1
    return None


def partials_of(node: ValueNode) -> tuple[float, ...]:
    """Return d node / d operand for every operand that is a Value, in order, as of when the node was made.

    Args:
        node: The node.

    Returns:
        The partials.
    """
    if not node._special:
        return tuple([p for operand, p in ((node._a, node._pa), (node._b, node._pb)) if operand is not None])
    if node._details.closure is not None:
        return _probed_partials(node)
    arguments = node._details.arguments
    return tuple([node._details.partials[i] for i in range(len(arguments)) if isinstance(arguments[i], ValueNode)])


def _probed_partials(node: ValueNode) -> tuple[float, ...]:
    """What a hand-made node's closure adds to each operand's gradient for a gradient of 1."""
    operand: ValueNode
    with traversing:
        involved = [node, *node.operands]
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
