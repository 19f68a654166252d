"""Read the graph of some Values into flat arrays. Graphs and recordings are made from these arrays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value.modes import refuse_if_staging
from gradwalk.value.node import ValueNode, rule_of
from gradwalk.value.source.source_line import NamedLine, SourceLine
from gradwalk.value.sweep import node_locks, order
from gradwalk.value.sweep.backward import partials_of
from gradwalk.value.sweep.order import checked_root, traversing, visit_all

if not TYPE_CHECKING and cython.compiled:
    import cython

_OWN = "self."  # begins the name of a variable that is an attribute of an object
CONSTANT = -1  # operand index of a constant
_constant = cython.declare(cython.int, CONSTANT)  # `CONSTANT` as a C variable


class FlatNodes(NamedTuple):
    """Nodes as arrays, in topological order: operands before results. A node is identified by its index.

    Attributes:
        opcodes: Opcode of each node's operation; 0 for leaves and hand-made nodes.
        offsets: The slice `offsets[i]:offsets[i + 1]` of `operands` and `partials` belongs to node i.
        operands: Index of each operand; `CONSTANT` for constants.
        partials: d node / d operand; for constants, the constant itself.
        data: Number of each node.
        grad: Gradient of each node.
        noted: Dict from indices to node objects. It has all nodes that may have properties that the arrays do not hold:
            leaves, and nodes with a label, a backward rule, a source line, or more than two operands.
        outputs: Indices of the roots.
    """

    opcodes: Any
    offsets: Any
    operands: Any
    partials: Any
    data: Any
    grad: Any
    noted: dict[int, Any]
    outputs: tuple[int, ...]


def record(roots: list[Any]) -> FlatNodes:
    """Record the graph of some Values into new arrays.

    The rule of each hand-made node is run with a gradient of 1 to find the partials of the node. Errors of a rule are
    not caught.

    Raises:
        TypeError: If a root is not a Value.
        ValueError: If hand-edited nodes form a cycle.
        RecordingError: If called inside a function that is being recorded.
    """
    for root in roots:
        refuse_if_staging(checked_root(root), "reads the graph of")
    if node_locks.exist():
        for root in roots:
            node_locks.wait_for_others(order.topological_order(root))
    nodes = _flat(roots, 0)
    _probe_rules(nodes)  # last, because rules may run arbitrary code
    return nodes


def record_from(roots: list[Any], level: int) -> FlatNodes:
    """Record the graph of some Values. Nodes whose level is lower than `level` become leaves."""
    return _flat(roots, level)


def _flat(roots: list[Any], level: int) -> FlatNodes:
    found: list = []
    with traversing:
        aside = order.begin(roots)
        try:
            visit_all(roots, found, level)
            outputs = tuple([cython.cast(ValueNode, root)._index for root in roots])
            return FlatNodes._make((*_flattened(found, level), outputs))
        finally:
            order.unmark(found)
            order.end(aside)


@cython.cfunc
def _flattened(found: list, level: cython.int) -> tuple:
    """Return the fields of a FlatNodes except `outputs`."""
    node: ValueNode
    room: cython.int = 2 * len(found)  # enough if no node has more than two operands
    opcodes = numpy.empty(len(found), numpy.int32)
    offsets = numpy.zeros(len(found) + 1, numpy.int32)
    operands = numpy.empty(room, numpy.int32)
    partials = numpy.empty(room)
    data = numpy.empty(len(found))
    grad = numpy.empty(len(found))
    noted: dict = {}

    opcode: cython.p_int = c_compat.integers(opcodes)
    offset: cython.p_int = c_compat.integers(offsets)
    operand: cython.p_int = c_compat.integers(operands)
    local: cython.p_double = c_compat.doubles(partials)
    primal: cython.p_double = c_compat.doubles(data)
    adjoint: cython.p_double = c_compat.doubles(grad)
    k: cython.int = 0
    i: cython.int = 0
    for node in found:
        primal[i] = node._primal
        adjoint[i] = node._grad
        if node._level < level or (node._opcode <= 0 and not node._special):
            opcode[i] = 0
            noted[i] = node
        else:
            opcode[i] = max(node._opcode, 0)
            if node._special and k + 2 * (len(found) - i) + len(node._details.arguments) > room:
                room = 2 * room + len(node._details.arguments)
                operands.resize(room, refcheck=False)
                partials.resize(room, refcheck=False)
                operand, local = c_compat.integers(operands), c_compat.doubles(partials)
            k = _write_operands(node, k, operand, local)
            if node._details is not None:
                noted[i] = node
        i += 1
        offset[i] = k
    operands.resize(k, refcheck=False)
    partials.resize(k, refcheck=False)
    return opcodes, offsets, operands, partials, data, grad, noted


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _write_operands(node: ValueNode, k: cython.int, operand: cython.p_int, local: cython.p_double) -> cython.int:
    """Write the operands and partials of a node to the arrays, from index k on. Return the index after the last one."""
    if node._special:
        return _write_many(node, k, operand, local)
    operand[k] = node._a._index if node._a is not None else _constant
    local[k] = node._pa
    k += 1
    if evaluate.arity(node._opcode) == 2:
        operand[k] = node._b._index if node._b is not None else _constant
        local[k] = node._pb
        k += 1
    return k


@cython.cfunc
@cython.exceptval(-1)
def _write_many(node: ValueNode, k: cython.int, operand: cython.p_int, local: cython.p_double) -> cython.int:
    """Do the work of `_write_operands` for a node that stores its operands in its details."""
    i: cython.Py_ssize_t = 0
    for argument in node._details.arguments:
        if c_compat.is_kind(argument, ValueNode):
            operand[k] = cython.cast(ValueNode, argument)._index
            local[k] = node._details.partials[i]
        else:
            operand[k] = _constant
            local[k] = argument
        k += 1
        i += 1
    return k


class Notes(NamedTuple):
    """Properties that only some nodes have. Keys of the dicts and items of `by_hand` are node indices."""

    labels: dict[int, str]
    symbols: dict[int, str]
    sources: dict[int, SourceLine]
    by_hand: frozenset[int]
    scopes: dict[int, str]


def notes_of(nodes: FlatNodes) -> Notes:
    """Return the properties of recorded nodes that the arrays do not hold."""
    node: ValueNode
    notes = Notes({}, {}, {}, frozenset([i for i, node in nodes.noted.items() if rule_of(node) is not None]), {})
    named: dict[int, NamedLine] = {}
    for index, node in nodes.noted.items():
        if node._details is None:
            continue
        if node._details.label:
            notes.labels[index] = node._details.label
        if node._opcode <= 0 and node._special:
            notes.symbols[index] = node._details.symbol
        if node.source is not None:
            notes.sources[index] = node.source
        if isinstance(node._details.source, NamedLine):
            if node._details.source.variable:
                named[index] = node._details.source
            if node._details.source.scope:
                notes.scopes[index] = node._details.source.scope
    _name_by_variables(nodes, named, notes.labels)
    return notes


def _name_by_variables(nodes: FlatNodes, named: dict[int, NamedLine], labels: dict[int, str]) -> None:
    """Label unlabeled nodes with the variables they were assigned to. If a name is taken, a number is added to it.

    A leaf that is an attribute of `self`, such as the bias of a neuron, gets no label: all objects of the class would
    share it.
    """
    inner: set[int] = set()  # intermediate results of the expression, such as partial sums in x = sum(terms)
    for index, line in named.items():
        if line.makes and line.makes != NAMES[nodes.opcodes[index]]:
            operands = nodes.operands[nodes.offsets[index] : nodes.offsets[index + 1]].tolist()
            inner.update([operand for operand in operands if named.get(operand) == line])
    taken = set(labels.values())
    numbers: dict[str, Iterator[int]] = {}
    for index, line in named.items():
        is_leaf = nodes.offsets[index] == nodes.offsets[index + 1]
        if index in labels or index in inner or (is_leaf and line.variable.startswith(_OWN)):
            continue
        name = variable = line.variable.removeprefix(_OWN)
        if name in taken:
            tried = numbers.setdefault(name, count(2))
            name = next(n for k in tried if (n := f"{variable} ({k})") not in taken)
        taken.add(name)
        labels[index] = name


def _probe_rules(nodes: FlatNodes) -> None:
    """Compute the partials of nodes whose rule was set by hand."""
    node: ValueNode
    for index, node in nodes.noted.items():
        if node._special and node._details.closure is not None:
            edges = slice(nodes.offsets[index], nodes.offsets[index + 1])
            nodes.partials[edges][nodes.operands[edges] != CONSTANT] = partials_of(node)
