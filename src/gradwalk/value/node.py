"""What a Value remembers: its number, its operands, and the partial derivative with respect to each.

`ValueNode` is the memory of a `Value` without its operations. Traversals, the backward sweep and pickling work on
nodes, and `Value` adds what users do with one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled.evaluate import ARITIES
from gradwalk.ops.compiled.opcodes import SYMBOLS
from gradwalk.value.memory import marks
from gradwalk.value.source.source_line import NamedLine, SourceLine

if not TYPE_CHECKING and cython.compiled:
    import cython

UNCONNECTED = cython.declare(cython.int, -1)  # the opcode of leaves made by detach() or under no_grad()
ENDED = 255  # the level of the inputs of recordings that have ended


@cython.no_gc
@cython.freelist(4096)
@cython.cclass
class Details:
    """The parts of a node that only some have: a label, a rule, more than two operands, a source line."""

    __slots__ = ("arguments", "attributes", "closure", "label", "partials", "source", "symbol")

    label: str
    symbol: str
    arguments: list
    partials: cython.p_double  # d self / d argument, zeros for hand-made nodes; NULL where there are no arguments
    closure: Any
    source: Any
    attributes: Any

    def __dealloc__(self) -> None:
        c_compat.release(self.partials)


@cython.no_gc  # operands only point backward: there are no cycles to look for, and a node is 16 bytes smaller
@cython.cclass
class ValueNode:
    """The memory of a `Value`: base class of it alone, and never made by itself. node_memory.h knows its fields."""

    __slots__ = (
        *("__dict__", "_a", "_b", "_details", "_grad", "_index", "_level", "_mark", "_opcode", "_pa", "_pb"),
        *("_primal", "_special"),
    )

    _primal: cython.double
    _grad: cython.double
    _a: ValueNode | None  # the operands of a native node; None where a constant stands, or nothing
    _b: ValueNode | None
    _pa: cython.double  # d self / d _a; where _a is None, the constant in its place
    _pb: cython.double  # the same for _b; of a leaf, 1 while it is an input of a recording, else 0
    _details: Details | None
    _opcode: cython.schar  # 0 for leaves and hand-made nodes, UNCONNECTED for leaves that come out of a graph
    _level: cython.uchar  # of the innermost recorded function whose arguments it depends on; 0 outside of all
    _mark: cython.uchar
    _special: cython.uchar  # whether operands and rule are in the details
    _index: cython.int  # in the latest order that a traversal has found

    @property
    def label(self) -> str:
        """A name for displays, `""` at first."""
        details: Details | None = known_details(self)
        if details is None:
            return ""
        with cython.critical_section(details):
            return details.label

    @label.setter
    def label(self, label: Any) -> None:
        text: str = as_text(label, ".label")
        details: Details = details_of(self)
        with cython.critical_section(details):
            details.label = text

    @property
    def op(self) -> str:
        """The symbol of the operation that made it, `""` for a leaf."""
        if self._opcode > 0:
            return SYMBOLS[self._opcode]
        details: Details | None = known_details(self)
        return details.symbol if details is not None else ""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the operation, in order: Values, and plain numbers where constants stood."""
        if self._special:
            return tuple(self._details.arguments)
        if self._opcode <= 0:
            return ()
        left = self._a if self._a is not None else self._pa
        right = self._b if self._b is not None else self._pb
        return (left, right) if ARITIES[self._opcode] == 2 else (left,)

    @property
    def operands(self) -> tuple[Any, ...]:
        """The Values that it was made from, in order, repeats kept; constants are not among them."""
        return tuple([argument for argument in self.arguments if isinstance(argument, ValueNode)])

    @property
    def source(self) -> SourceLine | None:
        """The line of the user's program that made it, known if that was under `source_lines()` or `debug_nans()`."""
        details: Details | None = known_details(self)
        source = details.source if details is not None else None
        return source.line if isinstance(source, NamedLine) else source


if not cython.compiled and sys.platform == "emscripten":
    from gradwalk.value.memory.deep_release import release_operands

    ValueNode.__del__ = release_operands


@cython.cfunc
def set_leaf(node: ValueNode, primal: cython.double, level: cython.int) -> object:
    """Make a new node a leaf."""
    node._primal = primal
    node._grad = 0.0
    node._a = None
    node._b = None
    node._pa = 0.0
    node._pb = 0.0
    node._details = None
    node._opcode = 0
    node._level = level
    node._mark = marks.NEW
    node._special = False
    return None


_no_arguments = cython.declare(list, [])  # of all details without any: a list that nobody changes


@cython.cfunc
def details_of(node: ValueNode) -> Details:
    """The node's details, made at the first call."""
    with cython.critical_section(node):
        if node._details is None:
            details: Details = Details.__new__(Details)
            details.label = ""
            details.symbol = ""
            details.arguments = _no_arguments
            details.partials = c_compat.NO_FLOATS
            details.closure = None
            details.source = None
            details.attributes = None
            node._details = details
        return node._details


@cython.cfunc
def known_details(node: ValueNode) -> Details | None:
    """The node's details, or None, also where another thread makes them meanwhile."""
    with cython.critical_section(node):
        return node._details


@cython.cfunc
def hold(node: ValueNode, arguments: list) -> object:
    """Keep the node's operands in its details, with partials of zero. Its level is the caller's to set."""
    details: Details = details_of(node)
    c_compat.untrack(arguments)
    partials = c_compat.allocate(len(arguments))
    c_compat.release(details.partials)
    details.partials = partials
    details.arguments = arguments
    node._special = True
    return None


@cython.cfunc
def set_operands_and_level(node: ValueNode, arguments: list) -> object:
    """Keep the node's operands in its details, with partials of zero, and depend on what they depend on."""
    hold(node, arguments)
    for argument in arguments:
        if c_compat.is_kind(argument, ValueNode) and cython.cast(ValueNode, argument)._level > node._level:
            node._level = cython.cast(ValueNode, argument)._level
    return None


@cython.cfunc
def set_closure(node: ValueNode, closure: Any) -> object:
    """Give a node a rule of its own. A native one keeps its partials, for a rule that calls the one before it."""
    if not node._special:
        set_operands_and_level(node, list(node.arguments))
        if node._opcode > 0:
            node._details.partials[0] = node._pa
        if len(node._details.arguments) > 1:
            node._details.partials[1] = node._pb
    node._details.closure = closure
    return None


@cython.cfunc
def set_by_hand(node: ValueNode, children: list, symbol: Any) -> object:
    """Give a leaf or hand-made node operands and a symbol."""
    refuse_if_native(node)
    set_operands_and_level(node, children)
    node._details.symbol = symbol
    node._opcode = 0
    return None


@cython.cfunc
def set_symbol(node: ValueNode, symbol: Any) -> object:
    """Give a leaf or hand-made node a symbol; a hand-made one keeps its operands and partials."""
    refuse_if_native(node)
    if not node._special:
        return set_by_hand(node, [], symbol)
    node._details.symbol = symbol
    return None


@cython.cfunc
def refuse_if_native(node: ValueNode) -> object:
    """Raise `ValueError` if a node's operation is one of the table."""
    if node._opcode > 0:
        raise ValueError(
            f"the operands and the symbol of a native node ({node.op}) cannot be edited; "
            "make a node by hand instead: Value(data, (operand, ...), 'name')"
        )
    return None


@cython.cfunc
def as_children(children: Iterable[ValueNode] | Any) -> list:
    """The children given for a hand-made node, as a list. Raises `TypeError` where they are not Values."""
    found: list
    if isinstance(children, ValueNode):
        raise TypeError("the children of a Value are a tuple of Values, not one Value: write (child,)")
    try:
        found = list(children)
    except TypeError:
        raise TypeError(f"the children of a Value are a tuple of Values, not {type(children).__name__}") from None
    for child in found:
        if not isinstance(child, ValueNode):
            raise TypeError(f"the children of a Value are Values, not {type(child).__name__}")
    return found


def as_text(text: Any, what: str) -> str:
    """Return a plain str. Raises `TypeError` for anything that is not a str.

    Args:
        text: What was given.
        what: What it was given for.

    Returns:
        The str.
    """
    if not isinstance(text, str):
        raise TypeError(f"{what} takes a str, not {type(text).__name__}")
    return text if type(text) is str else str(text)


# What the rest of the library asks of a Value. Recorded functions may not ask for `.data`, but the library may.


def primal_of(node: ValueNode) -> float:
    """Return the number of a Value, also while a function is being recorded.

    Args:
        node: The Value.

    Returns:
        The number.
    """
    return node._primal


def level_of(node: ValueNode) -> int:
    """Return the level of the innermost recorded function that a Value depends on; 0 outside of all.

    Args:
        node: The Value.

    Returns:
        The level.
    """
    return node._level


def rule_of(node: ValueNode) -> Any:
    """Return the rule that was set for a node by hand, or None.

    Args:
        node: The node.

    Returns:
        The rule.
    """
    return node._details.closure if node._special else None


def parameter_of(node: ValueNode) -> Any:
    """Return a node as a parameter: a leaf's number, the node itself in a recording; None where it was computed.

    Args:
        node: The node.

    Returns:
        A float, the node, or None.
    """
    if node._level > 0:
        return node
    return None if node._opcode > 0 or (node._special and node.operands) else node._primal


def open_inputs(leaves: list[Any], level: int, mark: int) -> None:
    """Make leaves the inputs of a recording.

    Args:
        leaves: New leaves.
        level: The level of the recording: 1 for the outermost, 2 for one inside it, and so on.
        mark: The mark of the recording, which no other recording has.

    Raises:
        RecursionError: If there are more levels than a node can tell apart.
    """
    if level >= ENDED:
        raise RecursionError("more than 254 recorded or differentiated functions call each other")
    for leaf in leaves:
        cython.cast(ValueNode, leaf)._level = level
        cython.cast(ValueNode, leaf)._pb = mark


def close_inputs(leaves: list[Any]) -> None:
    """Mark the inputs of a recording that has ended, so that they are known where they turn up later.

    Args:
        leaves: The inputs.
    """
    for leaf in leaves:
        cython.cast(ValueNode, leaf)._level = ENDED
        cython.cast(ValueNode, leaf)._pb = 0.0


def mark_of(node: ValueNode) -> float:
    """Return the mark of the recording that a Value is an input of.

    Args:
        node: The Value.

    Returns:
        The mark; 0 for Values that are not inputs of open recordings.
    """
    return node._pb if node._opcode == 0 and not node._special else 0.0
