"""Sections about the operations of the table: description, ways to call, and a plot."""

from __future__ import annotations

import builtins
import inspect
import math
import re
from collections.abc import Callable, Iterator

import numpy
import scipy.special

from gradwalk import Value
from gradwalk.ops import table
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.ops.formula import as_formula
from gradwalk.ops.printing.printers import text
from gradwalk.ops.rows import Gather, Operation, Reduction
from gradwalk.value.apply import apply
from website.plots import plot

Point = tuple[float, tuple[float, ...]]

_WIDEST = 4.0  # plots show at most -4 to 4
_OTHERS = {2: ((0.5,), (1.0,), (2.0,)), 3: ((1.0, -1.0),)}  # the fixed operands of plotted curves, by arity
_GRID = [i / 4 for i in range(-80, 81)]


def groups() -> dict[str, list[Operation]]:
    """Return the operations by the first sentence of the comments above them in the table."""
    found: dict[str, list[Operation]] = {}
    heading = ""
    source = inspect.getsource(table).partition("\nTABLE")[2]
    for part in re.finditer(
        r'^    # (.*?)(?:, which|\.)[^\n]*(?:\n    # [^\n]*)*|^    Operation\(\s*"(\w+)"', source, re.M
    ):
        if part[1]:
            heading = part[1]
        else:
            found.setdefault(heading, []).append(table.BY_NAME[part[2]])
    return found


def sections() -> str:
    """Return the sections of all operations, in Markdown."""
    lines: list[str] = []
    for heading, rows in groups().items():
        lines += [f"## {heading}", ""]
        for row in rows:
            lines += _section(row)
    lines += ["## Any number of operands", ""]
    for variadic in table.VARIADIC:
        lines += _variadic(variadic)
    return "\n".join(lines)


def _section(row: Operation) -> Iterator[str]:
    operands = "xyz"[: row.arity]
    partials = [(f"d/d{x}", f"`{text(row.partial(i))}`") for i, x in enumerate(operands)]
    yield from _card(
        row.name,
        _sentence(row.words),
        [("symbol", f"`{row.symbol}`"), ("value", f"`{text(row.forward)}`"), *partials, *_facts(row)],
        _plot(row),
    )


def _variadic(row: Reduction | Gather) -> Iterator[str]:
    if isinstance(row, Gather):
        facts = [
            ("value", "`values[index]`"),
            ("d/dvalues[i]", "`1` if i is the index, else `0`"),
            ("d/dindex", "`0`"),
        ]
        call = "`take(values, index)`"
    else:
        facts = [("value", f"`total` becomes `{text(row.step)}` for each element")]
        facts += [(f"d/d{p}", f"`{text(as_formula(d))}`") for p, d in zip(row.parameters, row.partials, strict=True)]
        facts += [] if row.start_partial is None else [("d/dstart", f"`{text(as_formula(row.start_partial))}`")]
        call = f"`math.{row.name}({', '.join(row.parameters)}, start)`"
    yield from _card(row.name, _sentence(row.words), [*facts, ("calls", call)], "")


def _sentence(words: str) -> str:
    first = words.split(maxsplit=1)[0]
    is_a_word = len(first) > 1 and "(" not in first  # not the name of an operand
    return f"{words[0].upper()}{words[1:]}." if is_a_word else f"{words}."


def _card(name: str, words: str, facts: list[tuple[str, str]], drawing: str) -> Iterator[str]:
    yield from (f"### {name}", "", words, "", "::::{container} operation", "")
    yield from ("| | |", "|---|---|", *(f"| {what} | {fact} |" for what, fact in facts), "")
    if drawing:
        yield from ("```{raw} html", drawing, "```", "")
    yield from ("::::", "")


def _facts(row: Operation) -> Iterator[tuple[str, str]]:
    yield "calls", ", ".join(f"`{call}`" for call in calls(row))
    if row.arity == 1:
        yield "defined", _defined(row)
    for interval, operand in zip(row.domain, "xyz", strict=False):
        yield f"tested, {operand}", f"{interval[0]:g} to {interval[1]:g}"
    if kinks := [*_kinks(row)]:
        yield "kinks", "; ".join(kinks)


def calls(row: Operation) -> list[str]:
    """Return the ways to write an operation on Values a, b and c.

    These are its operator, the method, the function in `gradwalk.math`, and the ufunc of NumPy or `scipy.special`.
    """
    names = "abc"[: row.arity]
    found = []
    if row.is_operator:
        found.append(f"{row.symbol}a" if row.arity == 1 else f"a {row.symbol} b")
    elif hasattr(builtins, row.operator):
        found.append(f"{row.operator}({', '.join(names)})")
    if row.is_function:
        found += [f"a.{row.name}({', '.join(names[1:])})", f"math.{row.name}({', '.join(names)})"]
    if row.ufunc:
        home = "numpy" if hasattr(numpy, row.ufunc) else "scipy.special"
        assert hasattr(numpy, row.ufunc) or hasattr(scipy.special, row.ufunc), row
        found.append(f"{home}.{row.ufunc}({', '.join(names)})")
    return found


def at(row: Operation, *operands: float) -> Point:
    """Return the value and the partials of an operation, computed by gradwalk."""
    node = apply(NAMES.index(row.name), *map(Value, operands))
    return node.data, node.partials


def _slice(row: Operation, others: tuple[float, ...], of_partial: bool) -> Callable[[float], float]:
    def along(x: float) -> float:
        value, partials = at(row, x, *others)
        return partials[0] if of_partial else value

    return along


def _plot(row: Operation) -> str:
    slices, middle = _OTHERS.get(row.arity, ((),)), _middle(row)
    curves = [("value" if o == middle else "value faint", _slice(row, o, False)) for o in slices]
    curves.append(("slope", _slice(row, middle, True)))
    low, high = max(row.domain[0][0], -_WIDEST), min(row.domain[0][1], _WIDEST)
    low, high = (round(low, 2), round(high, 2)) if high - low > 1 else (low, high)
    key = "value, and d/dx dashed"
    if row.arity == 2:
        key += "; y = 1, fainter ½ and 2"
    if row.arity == 3:
        key += "; y = 1, z = -1"
    return f"<figure>{plot(f'{row.name}: {key}', low, high, curves)}<figcaption>{key}</figcaption></figure>"


def _middle(row: Operation) -> tuple[float, ...]:
    """Return the other operands for the curve whose derivative is plotted."""
    slices = _OTHERS.get(row.arity, ((),))
    return slices[len(slices) // 2]


def _defined(row: Operation) -> str:
    """Describe where the value is a number; the bounds are found numerically by bisection."""
    is_number = [not math.isnan(at(row, x)[0]) for x in _GRID]
    edges = [i for i in range(1, len(_GRID)) if is_number[i] != is_number[i - 1]]
    if not edges:
        return "for all x"
    if len(edges) > 2:
        return "for all x except negative integers"
    sides = [_edge(row, _GRID[i - 1], _GRID[i]) for i in edges]
    if len(sides) == 2:
        return f"from {sides[0]} to {sides[1]}"
    return f"for x >= {sides[0]}" if is_number[-1] else f"for x <= {sides[0]}"


def _edge(row: Operation, low: float, high: float) -> str:
    starts = math.isnan(at(row, low)[0])
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.isnan(at(row, middle)[0]) == starts else (low, middle)
    return f"{round(high, 9) + 0.0:g}"


def _kinks(row: Operation) -> Iterator[str]:
    """Describe jumps of the value or derivative along x, found numerically at multiples of ¼."""
    others = _middle(row)
    step = 1e-12
    jumps = []
    for x in (x for x in _GRID if abs(x) <= 3):
        (left, dl), (here, d), (right, dr) = (at(row, x + h, *others) for h in (-step, 0.0, step))
        if not all(map(math.isfinite, (left, here, right))):
            continue
        if abs(left - right) > 1e-2:
            jumps.append(x)
        elif abs(dl[0] - dr[0]) > 1e-2 * max(1.0, abs(dl[0])) and math.isfinite(d[0]):
            yield f"at x = {x:g} the derivative jumps from {dl[0]:.4g} to {dr[0]:.4g}; it is {d[0]:.4g} there"
    if jumps:
        shown = ", ".join(f"{x:g}" for x in jumps[:3])
        yield f"the value jumps at x = {shown}{', …' if len(jumps) > 3 else ''}"
