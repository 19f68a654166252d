"""`ArrayKind`: the shape of an array on a tape, and the calls that derivatives of all arrays need.

An array has rows, and each row has the same number of floats, its width.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.program.calls.call import Call
from gradwalk.program.tape import NO_INDEX, Indices, Tape

Operand = float | NDArray[numpy.float64]  # a number, or an array of shape (rows, width)
Kinds = Sequence["ArrayKind | None"]  # of operands or results; None for a number
Allocate = Callable[["ArrayKind"], NDArray[numpy.float64]]  # returns an array of a kind without initial values


class ArrayKind(NamedTuple):
    """The shape of an array on a tape.

    Attributes:
        rows: Number of rows.
        width: Number of floats in a row.
    """

    rows: int
    width: int

    @property
    def size(self) -> int:
        """Number of floats in the array."""
        return self.rows * self.width

    def zeros(self, tape: Tape) -> int:
        """Append an array of zeros; return its index."""
        return tape.call(Zeros(self), [])

    def add(self, tape: Tape, x: int, y: int) -> int:
        """Append the sum of two arrays of this kind; return its index."""
        return tape.call(Sum(self), [x, y])

    def where(self, tape: Tape, condition: int, x: int, y: int) -> int:
        """Append the array `x` if a number is not 0, else the array `y`; return its index."""
        return tape.call(Choice(self), [condition, x, y])

    def add_token(self, tape: Tape, x: int, token: int) -> int:
        """Append the array `x` as a result that also depends on a token; return its index."""
        return tape.call(AddToken(self), [x, token])


def new_array(kind: ArrayKind) -> NDArray[numpy.float64]:
    """Return a new array of a kind whose columns are contiguous, because programs of rows read and write columns."""
    return numpy.empty(kind, order="F")


class WholeCall(Call):
    """Base class of calls that take or return arrays.

    Args:
        kinds: The kind of each result that is an array, and None for each number.
    """

    is_pure = True
    inputs: int
    overwritable = 0  # number of first operands whose memory the result may take
    cotangents: Sequence[int] | None = None  # the positions of the operands whose gaps the result has; None for all
    is_view = False  # whether the result may share the memory of the operand
    numbers_cost = 0  # number of instructions that replace the call in a program of numbers, if it is better as a whole

    @property
    def always_ends(self) -> bool:
        """Whether the call ends for all operands, so that it can be run while a function is staged."""
        return True

    @property
    def makes_arrays(self) -> bool:
        """Whether each result has separate memory, which can be used again when the result is not needed any more."""
        return not self.is_view

    def __init__(self, kinds: Sequence[ArrayKind | None]) -> None:
        self.kinds = tuple(kinds)
        self.outputs = len(self.kinds)

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Compute the results: floats and arrays. The function `empty` makes new arrays."""
        raise NotImplementedError

    def with_gaps(self, operands: Indices) -> Indices | None:
        """Return the operands that must all have gaps for the result to have gaps, or None if it has none: see gaps."""
        del operands
        return None

    def reached(self, operands: Sequence[Operand]) -> Operand:
        """Return an array that is 1 where the result may be other than 0, for operands that are 1 where they may be."""
        [found] = self.run(operands)
        return numpy.asarray(numpy.not_equal(found, 0.0), numpy.float64)


class _Linear(WholeCall):
    """A call with one array of a kind as result, which is linear in its other operands of this kind."""

    def __init__(self, kind: ArrayKind) -> None:
        super().__init__([kind])
        self._kind = kind


class Constant(_Linear):
    """A call without operands that returns an array.

    Args:
        kind: The kind of the array.
        numbers: The array.
    """

    name = "constant"
    inputs = 0

    def __init__(self, kind: ArrayKind, numbers: NDArray[numpy.float64]) -> None:
        super().__init__(kind)
        self._numbers = numbers

    @property
    def makes_arrays(self) -> bool:
        """False: the array belongs to the call."""
        return False

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return a view of the array."""
        return [self._numbers[:]]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of constants: see `Call.expanded`."""
        return [list(map(tape.constant, self._numbers.ravel().tolist()))]


class Zeros(_Linear):
    """A call without operands that returns zeros."""

    name = "zeros"
    inputs = 0

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: there are always gaps. See `WholeCall.with_gaps`."""
        return []

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return an array of zeros."""
        found = empty(self._kind)
        found.fill(0.0)
        return [found]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of zeros: see `Call.expanded`."""
        return [[tape.constant(0.0)] * self._kind.size]


class Sum(_Linear):
    """A call that adds two arrays."""

    name = "add"
    inputs = 2
    overwritable = 2

    def with_gaps(self, operands: Indices) -> Indices:
        """Return all operands: see `WholeCall.with_gaps`."""
        return operands

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sum."""
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            return [numpy.add(operands[0], operands[1], out=empty(self._kind))]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Return the cotangent of the sum for both arrays: see `Call.vjp`."""
        return [*adjoints, *adjoints]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the sum of the tangents: see `Call.jvp`."""
        moved = [index for index in tangents if index != NO_INDEX]
        return [self._kind.add(tape, *moved)] if len(moved) == 2 else moved or [NO_INDEX]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the sums of the numbers: see `Call.expanded`."""
        return [[tape.append("add", x, y) for x, y in zip(*operands, strict=True)]]


class Choice(_Linear):
    """A call that returns one of two arrays: the first one if the condition, a number, is not 0."""

    name = "where"
    inputs = 3

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the chosen array."""
        condition, x, y = operands
        found = empty(self._kind)
        found[...] = x if condition != 0.0 else y
        return [found]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangents of both arrays; one of them is 0: see `Call.vjp`."""
        [adjoint], zeros = adjoints, self._kind.zeros(tape)
        first = self._kind.where(tape, operands[0], adjoint, zeros)
        return [NO_INDEX, first, self._kind.where(tape, operands[0], zeros, adjoint)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangent of the chosen array: see `Call.jvp`."""
        if tangents[1] == tangents[2] == NO_INDEX:
            return [NO_INDEX]
        moved = [self._kind.zeros(tape) if index == NO_INDEX else index for index in tangents[1:]]
        return [self._kind.where(tape, operands[0], *moved)]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append a choice of each number: see `Call.expanded`."""
        condition, first, second = operands
        return [[tape.append("where", condition, x, y) for x, y in zip(first, second, strict=True)]]


class AddToken(_Linear):
    """A call that adds a token, which is -0.0, to each number of an array: see `program/tracing/effects.py`."""

    name = "add_token"
    inputs = 2
    is_view = True

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return a view of the array, because its numbers are not changed."""
        return [operands[0][:]]  # type: ignore[index]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Return the cotangent for the array: see `Call.vjp`."""
        return [*adjoints, NO_INDEX]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Return the tangent of the array: see `Call.jvp`."""
        return tangents[:1]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the sums of the numbers and the token: see `Call.expanded`."""
        return [[tape.append("add", x, operands[1]) for x in operands[0]]]


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
