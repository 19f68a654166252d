"""The data of a Value: its number, its operands, and the partial derivative with respect to each operand.

`ValueNode` has these fields, and its subclass `Value` adds the operations and the public methods. Traversals, the
backward sweep and pickling use only the fields.
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

UNCONNECTED = cython.declare(cython.int, -1)  # the opcode of leaves created by detach() or under no_grad()
ENDED = 255  # the level of the inputs of a recording after the recording has ended


@cython.no_gc
@cython.freelist(4096)
@cython.cclass
class Details:
    """Fields that most nodes do not need: label, custom rule, more than two operands, source line."""

    __slots__ = ("arguments", "attributes", "closure", "label", "number_type", "partials", "source", "symbol")

    label: str
    symbol: str
    arguments: list
    partials: cython.p_double  # d node / d argument; 0 if hand-made with a `_backward`; NULL if there are no arguments
    closure: Any
    source: Any
    attributes: Any
    number_type: Any  # the type that the number has where a recorded function returns it, if noted; else None

    def __dealloc__(self) -> None:
        c_compat.release(self.partials)


@cython.no_gc  # saves 16 bytes per node; operands are older than their node, so there are no cycles
@cython.cclass
class ValueNode:
    """The fields of a `Value`. This class itself is never instantiated. node_memory.h declares the same fields in C."""

    __slots__ = (
        *("__dict__", "_a", "_b", "_details", "_grad", "_index", "_level", "_mark", "_opcode", "_pa", "_pb"),
        *("_primal", "_special"),
    )

    _primal: cython.double
    _grad: cython.double
    _a: ValueNode | None  # the operands of a native node; None for a constant or a missing operand
    _b: ValueNode | None
    _pa: cython.double  # partial with respect to _a; if _a is None, the constant operand itself
    _pb: cython.double  # the same for _b; for an input of an open recording, the recording's mark
    _details: Details | None
    _opcode: cython.schar  # 0 for leaves and hand-made nodes, UNCONNECTED for leaves of detach() and no_grad()
    _level: cython.uchar  # level of the innermost recording that the node depends on; 0 outside of recordings
    _mark: cython.uchar
    _special: cython.uchar  # whether the operands, and the custom rule if any, are stored in _details
    _index: cython.int  # position of the node in the order of the latest traversal

    @property
    def label(self) -> str:
        """A name for displays, `""` by default."""
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
        """The symbol of the operation that computed the node, `""` for a leaf."""
        if self._opcode > 0:
            return SYMBOLS[self._opcode]
        details: Details | None = known_details(self)
        return details.symbol if details is not None else ""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the operation, in order: Values, and floats for constants."""
        if self._special:
            return tuple(self._details.arguments)
        if self._opcode <= 0:
            return ()
        left = self._a if self._a is not None else self._pa
        right = self._b if self._b is not None else self._pb
        return (left, right) if ARITIES[self._opcode] == 2 else (left,)

    @property
    def operands(self) -> tuple[Any, ...]:
        """The Values among the arguments, in order. A Value that occurs twice is listed twice."""
        return tuple([argument for argument in self.arguments if isinstance(argument, ValueNode)])

    @property
    def source(self) -> SourceLine | None:
        """The source line that created the node. None if it was not stored: see `source_lines` and `debug_nans`."""
        details: Details | None = known_details(self)
        source = details.source if details is not None else None
        return source.line if isinstance(source, NamedLine) else source


if not cython.compiled and sys.platform == "emscripten":
    from gradwalk.value.memory.deep_release import release_operands

    ValueNode.__del__ = release_operands


@cython.cfunc
def set_leaf(node: ValueNode, primal: cython.double, level: cython.int) -> object:
    """Initialize a new node as a leaf."""
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


_no_arguments = cython.declare(list, [])  # shared by all details without arguments; never changed


@cython.cfunc
def details_of(node: ValueNode) -> Details:
    """Return the node's details, and create them at the first call."""
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
            details.number_type = None
            node._details = details
        return node._details


@cython.cfunc
def known_details(node: ValueNode) -> Details | None:
    """Return the node's details, or None if they do not exist yet."""
    with cython.critical_section(node):
        return node._details


def with_number_type(node: ValueNode, number_type: object) -> ValueNode:
    """Note the type that the number of a node has where a recorded function returns it; return the node."""
    details_of(node).number_type = number_type
    return node


def number_type_of(node: ValueNode) -> object:
    """Return the type that `with_number_type` noted, or None."""
    details: Details | None = known_details(node)
    return None if details is None else details.number_type


@cython.cfunc
def hold(node: ValueNode, arguments: list) -> object:
    """Store the arguments of a node in its details, and set all partials to 0. The caller must set the node's level."""
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
    """Store the arguments of a node as `hold` does. Increase its level to the highest level of an argument."""
    hold(node, arguments)
    for argument in arguments:
        if c_compat.is_kind(argument, ValueNode) and cython.cast(ValueNode, argument)._level > node._level:
            node._level = cython.cast(ValueNode, argument)._level
    return None


@cython.cfunc
def set_closure(node: ValueNode, closure: Any) -> object:
    """Set the custom rule of a node.

    A native node keeps its partials, because the custom rule may call the native rule, which needs them.
    """
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
    """Set the operands and the symbol of a leaf or hand-made node."""
    refuse_if_native(node)
    set_operands_and_level(node, children)
    node._details.symbol = symbol
    node._opcode = 0
    return None


@cython.cfunc
def set_symbol(node: ValueNode, symbol: Any) -> object:
    """Set the symbol of a leaf or hand-made node; a hand-made node keeps its operands and partials."""
    refuse_if_native(node)
    if not node._special:
        return set_by_hand(node, [], symbol)
    node._details.symbol = symbol
    return None


@cython.cfunc
def refuse_if_native(node: ValueNode) -> object:
    """Raise `ValueError` if a node was computed by an operation of the table."""
    if node._opcode > 0:
        raise ValueError(
            f"the operands and the symbol of a native node ({node.op}) cannot be edited; "
            "create a hand-made node instead: Value(data, (operand, ...), 'name')"
        )
    return None


@cython.cfunc
def as_children(children: Iterable[ValueNode] | Any) -> list:
    """Return the children of a hand-made node as a list; raise `TypeError` if one is not a Value."""
    found: list
    if isinstance(children, ValueNode):
        raise TypeError("the children of a Value must be a tuple of Values, got one Value: write (child,)")
    try:
        found = list(children)
    except TypeError:
        raise TypeError(f"the children of a Value must be a tuple of Values, got {type(children).__name__}") from None
    for child in found:
        if not isinstance(child, ValueNode):
            raise TypeError(f"the children of a Value must be Values, got {type(child).__name__}")
    return found


def as_text(text: Any, what: str) -> str:
    """Convert a str, or an instance of a subclass, to a plain str.

    Raises `TypeError` for other types. `what` names the text in the message.
    """
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, got {type(text).__name__}")
    return text if type(text) is str else str(text)


# Accessors for the rest of the library. They also work while a function is being recorded.


def primal_of(node: ValueNode) -> float:
    """Return the number of a Value, even while a function is being recorded."""
    return node._primal


def set_primal(node: ValueNode, number: float) -> None:
    """Set the number of a Value, even while a function is being recorded."""
    node._primal = number


def level_of(node: ValueNode) -> int:
    """Return the level of the innermost recording that a Value depends on; 0 outside of recordings."""
    return node._level


def set_level(node: ValueNode, level: int) -> None:
    """Set the level of a new node that depends on no recording above this level."""
    node._level = level


def rule_of(node: ValueNode) -> Any:
    """Return the custom rule of a node, or None."""
    return node._details.closure if node._special else None


def parameter_of(node: ValueNode) -> Any:
    """Return the number of a leaf, and None for the result of an operation.

    If the node belongs to a recording, return the node itself instead.
    """
    if node._level > 0:
        return node
    return None if node._opcode > 0 or (node._special and node.operands) else node._primal


def open_inputs(leaves: list[Any], level: int, mark: int) -> None:
    """Make new leaves the inputs of a recording: set their level (1 is the outermost) and the mark of the recording."""
    if level >= ENDED:
        raise RecursionError("recorded or differentiated functions must not be nested more than 254 levels deep")
    for leaf in leaves:
        cython.cast(ValueNode, leaf)._level = level
        cython.cast(ValueNode, leaf)._pb = mark


def close_inputs(leaves: list[Any]) -> None:
    """Set the level of the inputs of an ended recording to `ENDED`, so that later uses of these inputs are detected."""
    for leaf in leaves:
        cython.cast(ValueNode, leaf)._level = ENDED
        cython.cast(ValueNode, leaf)._pb = 0.0


def mark_of(node: ValueNode) -> float:
    """Return the mark of the open recording that a Value is an input of. Return 0 if there is none."""
    return node._pb if node._opcode == 0 and not node._special else 0.0
