"""Sentences about the steps of a walk and about lost contributions.

The verb of a sentence depends on the formula for the local derivative in the operation table:

- "copies": the formula is 1.
- "flips the sign": the formula is -1.
- "swaps and scales": the formula is the other operand.
- "lets through" or "holds back": the operation selects one operand.
- "is flat": the derivative is always 0.
- "scales": any other formula.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from gradwalk.base import ieee
from gradwalk.explain.text import is_name, one_line, short
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.ops.formula import Formula, folded, number, resolved, substituted, textbook
from gradwalk.ops.formula import name as variable
from gradwalk.ops.printing.printers import text
from gradwalk.ops.rows import Gather

_OPERANDS = ("x", "y", "z")
_ORDINALS = ("first", "second", "third")
_INDEX = re.compile(r"\[[0-9]+\]")
_MOST_ENTRIES = 8  # maximum number of table entries that are written out
_MOST_REASONS = 5  # maximum number of reasons given for one wrong gradient


def computed(node: Node, graph: Graph) -> str:
    """Describe the computation of a node's value, such as "c = a * b = 2 * 3 = 6"."""
    if node.is_leaf:
        return f"{_said(node.name)} is given: {short(node.data)}"
    if node.row is None and not isinstance(node.variadic, Gather):
        return f"{_said(node.name)} = {_said(node.symbol)} of {len(node.arguments)} operands = {short(node.data)}"
    numbers = [short(graph.nodes[x].data) if isinstance(x, int) else short(x) for x in node.arguments]
    parts = [_said(node.name), operation_text(node, graph), _applied(node, numbers), short(node.data)]
    return " = ".join(dict.fromkeys(parts))


def operation_text(node: Node, graph: Graph) -> str:
    """Format a node's operation with the names of its operands as Python code, such as "a * b" or "tanh(x)"."""
    return _applied(node, [_said(graph.names[x]) if isinstance(x, int) else short(x) for x in node.arguments])


def _applied(node: Node, operands: list[str]) -> str:
    """Format a node's operation on some operands as Python code."""
    row = node.row
    if isinstance(node.variadic, Gather):
        index, *table = operands
        shown = table if len(table) <= _MOST_ENTRIES else [*table[:3], "...", table[-1]]
        return f"{node.symbol}([{', '.join(shown)}], {index})"
    if row is None or not row.is_operator:
        return f"{row.name if row else node.symbol}({', '.join(operands)})"
    bracketed = [x if is_name(x) or _is_path(x) else f"({x})" for x in operands]
    return f"-{bracketed[0]}" if row.arity == 1 else f" {row.symbol} ".join(bracketed)


def _is_path(text: str) -> bool:
    """Return whether a text is a number or a name with attributes and indices, such as 2.5 and `layers[0].b`.

    Superscript digits are powers, not digits.
    """
    letters = _INDEX.sub("", text).replace(".", "")
    return bool(letters) and all(letter.isalpha() or letter.isdecimal() for letter in letters)


def formula(node: Node, position: int) -> str:
    """Format the formula for a local derivative in terms of x, y, z and out; return "" for custom rules."""
    partial = node.partial_formula(position)
    if node.by_hand or partial is None:
        return ""
    if node.variadic is not None:
        for other, operand_name in _element(node, position):
            if partial == variable(operand_name) and other != position:
                return f"the other factor, operand {other + 1}"
    return text(partial)


def _element(node: Node, position: int) -> list[tuple[int, str]]:
    """Return (position, name in formulas) of each operand that the derivative at `position` can depend on."""
    return list(zip(node.element(position), _OPERANDS, strict=False))


def passed_on(graph: Graph, node: Node, position: int, upstream: float, *, has_got: bool) -> tuple[str, str]:
    """Describe the contribution of a node with gradient `upstream` to the operand at a position.

    `has_got` is true if a contribution has reached the node; otherwise the node propagates nothing. Returns the verb,
    such as "* swaps and scales", and the clause, such as "a gets upstream 1 times ...".
    """
    operand, local = node.arguments[position], node.partials[position]
    gets = f"{_said(graph.names[operand] if isinstance(operand, int) else '')} gets"
    scaled = f"{gets} upstream {short(upstream)} times"
    making = f"making {short(local * upstream)}"
    symbol = _said(node.symbol)
    partial = node.partial_formula(position)
    if not has_got and not math.isfinite(local):
        return f"{symbol} has received no gradient itself", f"{gets} nothing"
    if node.by_hand:
        return f"{symbol} follows a rule made by hand", f"{scaled} {short(local)}, {making}"
    if partial is None:
        return f"{symbol} has the local derivatives that it was made with", f"{scaled} {short(local)}, {making}"
    if node.selects:
        return _selected(symbol, gets, upstream, local)
    element = _element(node, position)
    if partial == number(1):
        verb = "copies" if element else "copies to its start"
        return f"{symbol} {verb}", f"{gets} upstream {short(upstream)} unchanged"
    if partial == number(-1):
        return f"{symbol} flips the sign", f"{scaled} -1, {making}"
    for other, operand_name in element:
        if partial == variable(operand_name):
            return f"{symbol} swaps and scales", f"{scaled} {_value_of(node, other, graph)}, {making}"
    numbers = {"out": node.data, **{x: _number(node.arguments[i], graph) for i, x in element}}
    partial = resolved(textbook(partial), numbers, ieee)
    if partial == variable("out"):
        return f"{symbol} scales", f"{scaled} {_said(node.name)}'s own value {short(node.data)}, {making}"
    named = {x: _as_formula(node.arguments[i], graph) for i, x in element}
    return f"{symbol} scales", f"{scaled} {text(folded(substituted(partial, named)))} ({short(local)}), {making}"


def _selected(symbol: str, gets: str, upstream: float, local: float) -> tuple[str, str]:
    """Describe the contribution of an operation that selects one of its operands, such as `maximum`."""
    if local == 0.0:
        return f"{symbol} holds back", f"{gets} nothing of upstream {short(upstream)}"
    if local == 1.0:
        return f"{symbol} lets through", f"{gets} upstream {short(upstream)} unchanged"
    return (
        f"{symbol} is at a tie and splits",
        f"{gets} upstream {short(upstream)} times {short(local)}, making {short(local * upstream)}",
    )


def kept(graph: Graph, node: Node) -> str:
    """Describe the operands that never receive a gradient from a node: "floor is flat: it passes nothing to x.".

    Returns "" if a gradient can flow to all operands.
    """
    blocked = () if node.by_hand else node.non_differentiable
    operands = [x for i in blocked if isinstance(x := node.arguments[i], int)]
    if not operands:
        return ""
    names = " and ".join(dict.fromkeys(_said(graph.names[x]) for x in operands))
    symbol, row = _said(node.symbol), node.row
    if row and not row.is_exact:
        return f"{symbol} passes nothing to {names}."
    where = (
        "" if len(blocked) == len(node.arguments) else f" in its {' and '.join(_ORDINALS[i] for i in blocked)} operand"
    )
    return f"{symbol} is flat{where}: it passes nothing to {names}."


def _value_of(node: Node, position: int, graph: Graph) -> str:
    """Return the name and value of an operand as text."""
    argument = node.arguments[position]
    if isinstance(argument, float):
        return f"the constant {short(argument)}"
    return f"{_said(graph.names[argument])}'s value {short(graph.nodes[argument].data)}"


def _number(argument: int | float, graph: Graph) -> float:
    """Return the value of an operand."""
    return argument if isinstance(argument, float) else graph.nodes[argument].data


def _as_formula(argument: int | float, graph: Graph) -> Formula:
    """Convert an operand to a formula."""
    if isinstance(argument, float):
        return number(argument)
    said = _said(graph.names[argument])
    return variable(said if is_name(said) else f"({said})")


def received(before: float, after: float, late: bool, again: bool, overwrite: bool) -> str:
    """Describe how a contribution changes the gradient of its operand.

    Returns "" for the first contribution to an operand, unless it is late.

    Args:
        before: The gradient of the operand before the contribution.
        after: The gradient of the operand after the contribution.
        late: Whether the operand was visited before.
        again: Whether the operand received a contribution before.
        overwrite: Whether contributions overwrite earlier contributions instead of being added.
    """
    if late:
        return ", too late: it has been visited already"
    if not again:
        return ""
    return f", which overwrites {short(before)}" if overwrite else f", on top of {short(before)}: {short(after)} in all"


def visited(node: Node, upstream: float, *, is_root: bool) -> str:
    """Describe the visit of a node with gradient `upstream`."""
    who = _said(node.name)
    if is_root:
        return f"{who} is the root: its gradient is 1."
    if node.is_leaf:
        return f"{who} is a leaf: it keeps its gradient {short(upstream)}."
    return f"{who} has gradient {short(upstream)}."


def joined(spoken: list[tuple[str, str]]) -> str:
    """Join the results of `passed_on` into sentences, one for each verb."""
    sentences: dict[str, list[str]] = {}
    for verb, clause in spoken:
        sentences.setdefault(verb, []).append(clause)
    return " ".join(f"{verb}: {'; '.join(clauses)}." for verb, clauses in sentences.items())


def visited_after(giver: str, taker: str) -> str:
    """Describe why a contribution from the node `giver` to the operand `taker` was late."""
    return f"{_said(giver)} was visited after {_said(taker)}"


def written_over(giver: str, amount: float) -> str:
    """Describe why a contribution was lost: the contribution `amount` of the node `giver` overwrote it."""
    return f"{_said(giver)}'s {short(amount)} was written over it"


def lost(
    names: tuple[str, str, str], amount: float, was_late: bool, because: str, derivative: float, missing: float
) -> str:
    """Describe the effect of a lost contribution on the gradient of a node, without a final period.

    Args:
        names: The names of three nodes: the giver, which passed the contribution back; the operand that lost the
            contribution; and the node with the wrong gradient.
        amount: The contribution.
        was_late: Whether the contribution was late rather than overwritten.
        because: The reason, from `visited_after` or `written_over`.
        derivative: The derivative of the operand with respect to the node.
        missing: The error in the node's gradient.
    """
    giver, taker, node = names
    how = "came too late" if was_late else "was lost"
    told = f"{giver}'s contribution {short(amount)} to {taker} {how}: {because}"
    if taker == node:
        return told
    by = "/d".join(name if is_name(name) else f"({name})" for name in (taker, node))
    return f"{told}; so {node} misses {short(amount)} times d{by} {short(derivative)} = {short(missing)}"


def wrong(name: str, got: float, right: float, reasons: Sequence[str]) -> str:
    """Describe a wrong gradient; `reasons` are results of `lost`; the first five are quoted."""
    more = f" And {len(reasons) - _MOST_REASONS:,} more." if len(reasons) > _MOST_REASONS else ""
    told = ". ".join(reasons[:_MOST_REASONS])
    return f"{_said(name)} gets {short(got)} and should get {short(right)}. {told}.{more}"


def _said(name: str) -> str:
    """Return a name on one line, or "?" if the name is empty."""
    return one_line(name) or "?"
