"""Find the terms of a sum that repeat one computation, such as the losses of the samples of a training set.

Two nodes have the same shape if the same operations lead to them, whatever the leaves and constants are. The shapes are
numbered by hash-consing in one pass. The terms of a sum that have the same shape are repetitions of one computation.
Leaves that several repetitions use are parameters, and the other leaves are the inputs of their repetition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from gradwalk.graph.graph import Graph, results_of
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import OPCODES

_ADD, _MULTIPLY = OPCODES["add"], OPCODES["mul"]
_SUMS = (_ADD, OPCODES["sub"])
_LINEAR = (*_SUMS, *map(OPCODES.__getitem__, ("neg", "mul", "div")))  # with a constant as the other operand
_MAX_SUMS = 8  # maximum number of sums that are compared
_OUTER, _SHARED = -1, -2


@dataclass(frozen=True)
class Repeats:
    """Repetitions of one computation.

    Attributes:
        kind: "samples" if the repetitions share parameters, "steps" if each uses results of the one before, else
            "terms".
        count: Number of repetitions.
        number: The repetition of each node; -1 for nodes outside of all repetitions and for nodes that several
            repetitions use.
        role: The index of the corresponding node of the first repetition; the index itself for all other nodes.
        is_constant: Whether each of the node's constants is the same in all repetitions. True outside of them.
    """

    kind: str
    count: int
    number: list[int]
    role: list[int]
    is_constant: list[bool]


def repeated_terms(graph: Graph, operands: Sequence[list[int]]) -> Repeats | None:
    """Find the samples of a graph, or None if its outputs are not sums of similar terms."""
    shapes = _shapes(graph, operands)
    best: tuple[int, list[int], list[int]] | None = None
    for terms in _similar_terms(graph, operands, shapes):
        owner = _owners(operands, terms)
        size = sum(number >= 0 and bool(given) for number, given in zip(owner, operands, strict=True))
        if size > (best[0] if best else 0) and _are_samples(graph, operands, terms, owner):
            best = size, terms, owner
    return _matched(graph, operands, best[1], best[2]) if best else None


def operand_lists(graph: Graph) -> list[list[int]]:
    """Return the operands of each node."""
    offsets, operands = graph.offsets.tolist(), graph.operands.tolist()
    return [operands[offsets[i] : offsets[i + 1]] for i in range(len(graph))]


def _shapes(graph: Graph, operands: Sequence[list[int]], is_told_apart: Sequence[bool] = ()) -> list[int]:
    """Return a number for the shape of each node; leaves have the shape 0, unless they are told apart."""
    ids: dict[tuple[int, ...], int] = {}
    shapes = [0] * len(operands) + [CONSTANT]  # the last entry is for constants, which have the index -1
    for node, (opcode, given) in enumerate(zip(graph.opcodes.tolist(), operands, strict=True)):
        if is_told_apart and is_told_apart[node]:
            shapes[node] = -2 - node
        elif given:
            shapes[node] = ids.setdefault((opcode, *[shapes[x] for x in given]), len(ids) + 1)
    return shapes[:-1]


# Terms of sums


def _similar_terms(graph: Graph, operands: Sequence[list[int]], shapes: Sequence[int]) -> list[list[int]]:
    """Return the similar terms of the outermost sums, at least two for each sum, in the order of the nodes."""
    if len(graph.outputs) > 1:
        sums = [list(graph.outputs)]
        starts = []
    else:
        sums, starts = [], [graph.root]
    for start in starts:  # grows in the loop
        terms = _terms(graph, operands, shapes, start)
        sums.append(terms)
        most = Counter(map(shapes.__getitem__, terms)).most_common(1)[0][1]
        if len(starts) < _MAX_SUMS and most * 2 <= len(terms):
            starts += [term for term in terms if term != start][: _MAX_SUMS - len(starts)]
    similar = []
    for terms in sums:
        distinct = list(dict.fromkeys(terms))
        shape, most = Counter(map(shapes.__getitem__, distinct)).most_common(1)[0]
        if most > 1 and shape:
            similar.append(sorted(term for term in distinct if shapes[term] == shape))
    return similar


def _terms(graph: Graph, operands: Sequence[list[int]], shapes: Sequence[int], start: int) -> list[int]:
    """Return the terms of the sum that leads to a node, which may be scaled; the node itself if it is not a sum.

    Sums such as `((t1 + t2) - t3) + t4` are followed along one operand. The sum ends at an operand of the same shape as
    the other terms, because a term may be a sum itself.
    """
    opcodes = graph.opcodes
    terms: list[int] = []
    node = start
    while not (terms and shapes[node] in (shapes[terms[-1]], shapes[terms[0]])):
        given = [x for x in operands[node] if x != CONSTANT]
        if opcodes[node] in _SUMS and len(given) == 2:
            rest, term = given
            if _is_sum(graph, term) and not _is_sum(graph, rest) and opcodes[node] == _ADD:
                rest, term = term, rest
            terms.append(term)
            node = rest
        elif len(given) == 1 and opcodes[node] in _LINEAR and operands[given[0]]:
            node = given[0]
        else:
            break
    return [*terms, node] if terms else [start]


def _is_sum(graph: Graph, node: int) -> bool:
    return graph.opcodes[node] in _SUMS


def _owners(operands: Sequence[list[int]], terms: Sequence[int]) -> list[int]:
    """Return the only term that uses each node, or a negative number: `_OUTER` or `_SHARED`."""
    unknown = -3
    owner = [unknown] * len(operands)
    start = {term: number for number, term in enumerate(terms)}
    for node in range(len(operands) - 1, -1, -1):
        if node in start:
            owner[node] = start[node] if owner[node] in (unknown, _OUTER) else _SHARED
        elif owner[node] == unknown:
            owner[node] = _OUTER
        own = owner[node]
        for operand in operands[node]:
            if operand != CONSTANT and owner[operand] != own:
                owner[operand] = own if owner[operand] == unknown else _SHARED
    return owner


def _are_samples(graph: Graph, operands: Sequence[list[int]], terms: Sequence[int], owner: Sequence[int]) -> bool:
    """Return whether similar terms are repetitions, and not the products of a neuron or the outputs of a network."""
    if any(owner[term] < 0 for term in terms):
        return False
    first = terms[0]
    if graph.opcodes[first] == _MULTIPLY and any(x != CONSTANT and not operands[x] for x in operands[first]):
        return False  # the product of a weight
    computed = Counter(number if number < 0 else 0 for number, given in zip(owner, operands, strict=True) if given)
    return computed[_SHARED] * len(terms) <= computed[0]


# Corresponding nodes


def _matched(graph: Graph, operands: Sequence[list[int]], terms: Sequence[int], owner: Sequence[int]) -> Repeats:
    """Find the node of the first term that corresponds to each node of the other terms.

    Corresponding nodes use the same parameters. If there is no such node, as in samples that take different rows of a
    table, corresponding nodes are in the same position.
    """
    role = _same_positions(operands, terms, owner)
    first: dict[int, int] = {}
    ids = _shapes(graph, operands, [number < 0 for number in owner])
    for node, number in enumerate(owner):
        if number == 0:
            first.setdefault(ids[node], node)
        elif number > 0 and operands[node]:
            role[node] = first.get(ids[node], role[node])
    is_constant, shares = _compared(graph, numpy.array(owner), numpy.array(role))
    number_of = [number if number >= 0 else -1 for number in owner]
    return Repeats("samples" if shares else "terms", len(terms), number_of, role, is_constant)


def _compared(graph: Graph, owner: Any, role: Any) -> tuple[list[bool], bool]:
    """Compare the nodes of all terms but the first with the corresponding nodes of the first term.

    Returns whether the constants of each node are the same in all terms, and whether terms have a leaf in common.
    """
    arity = numpy.diff(graph.offsets)
    result = results_of(graph)
    edges = numpy.flatnonzero(owner[result] > 0)
    result = result[edges]
    first = edges - graph.offsets[result] + graph.offsets[role[result]]  # the corresponding edges of the first term
    operand = graph.operands[edges]
    differs = (operand == CONSTANT) & (graph.partials[edges] != graph.partials[first])
    is_constant = numpy.ones(len(graph), bool)
    is_constant[role[result[differs]]] = False
    is_leaf_of_both = (operand != CONSTANT) & (owner[operand] < 0) & (arity[operand] == 0)
    return is_constant.tolist(), bool((is_leaf_of_both & (operand == graph.operands[first])).any())


def _same_positions(operands: Sequence[list[int]], terms: Sequence[int], owner: Sequence[int]) -> list[int]:
    """Return the node in the same position of the first term for each node of a term; other nodes themselves."""
    role = list(range(len(operands)))
    for number, term in enumerate(terms[1:], 1):
        pending = [(terms[0], term)]
        role[term] = terms[0]
        seen = {term}
        while pending:
            first, other = pending.pop()
            for x, y in zip(operands[first], operands[other], strict=True):
                if y != CONSTANT and owner[y] == number and y not in seen and owner[x] == 0:
                    seen.add(y)
                    role[y] = x
                    if operands[y]:
                        pending.append((x, y))
    return role
