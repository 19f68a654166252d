"""Formulas as they are printed: as they are computed, and with a variable for each part that stands there twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gradwalk.ops.formula import NEVER, Formula, decided, given, name

LOCALS = "abcd"


def computed(formula: Formula) -> Formula:
    """A formula without what is only shown, and without choices that others have made."""
    return decided(given(formula, NEVER, False))


def in_parts(formula: Formula) -> tuple[list[tuple[str, Formula]], Formula]:
    """The parts that a formula has more than once, each with a local variable, and the formula by these.

    Smaller parts come first.
    """
    named = []
    for local in LOCALS:
        parts = _parts(formula)
        used = Counter(operand for part in parts for operand in part.arguments)
        shared = [part for part in parts if part.arguments and used[part] > 1]
        if not shared:
            break
        part = min(shared, key=lambda part: len(_parts(part)))
        named.append((local, part))
        formula = _with_name(formula, part, local)
    return named, formula


def _parts(formula: Formula) -> list[Formula]:
    """A formula and all formulas in it, each once."""
    inner = (part for operand in formula.arguments for part in _parts(operand))
    return list(dict.fromkeys([formula, *inner]))


def _with_name(formula: Formula, part: Formula, local: str) -> Formula:
    """A formula with a variable in place of one of its parts."""
    if formula == part:
        return name(local)
    return replace(formula, arguments=tuple(_with_name(inner, part, local) for inner in formula.arguments))
