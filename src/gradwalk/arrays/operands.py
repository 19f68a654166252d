"""Operands and results of calls, each of which is a number or an array."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gradwalk.arrays.kinds import ArrayKind
from gradwalk.program.tape import NO_INDEX, Indices, Tape

Kinds = Sequence[ArrayKind | None]  # of operands or results; None for a number


def size_of(kind: ArrayKind | None) -> int:
    """Return how many numbers an operand of a kind has."""
    return 1 if kind is None else kind.size


def chosen(items: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Return the items with a flag."""
    return list(itertools.compress(items, flags))


def with_zeros(tape: Tape, kinds: Kinds, derivatives: Indices) -> Indices:
    """Replace each `NO_INDEX` by the index of a zero or of an array of zeros."""
    return [
        index if index != NO_INDEX else tape.constant(0.0) if kind is None else kind.zeros(tape)
        for kind, index in zip(kinds, derivatives, strict=True)
    ]


def new_inputs(tape: Tape, kinds: Kinds) -> Indices:
    """Append an input of each kind to a tape; return the indices."""
    return [tape.input() if kind is None else tape.array_input(kind) for kind in kinds]


def flat(operands: Sequence[Any]) -> Indices:
    """Return the indices of all numbers. The operand of an array is the list of its indices."""
    return [index for x in operands for index in (x if isinstance(x, list) else [x])]


def grouped(indices: Indices, kinds: Kinds) -> list[Any]:
    """Return the indices with a list for each array."""
    rest = iter(indices)
    return [next(rest) if kind is None else list(itertools.islice(rest, kind.size)) for kind in kinds]
