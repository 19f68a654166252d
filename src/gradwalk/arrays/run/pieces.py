"""Calls that compute each piece of an array by its own program.

A stencil such as `y[1:-1] += x[2:] - x[:-2]` adds an array to some rows of another array, and so do its derivatives.
Calls that do this one after the other read and write the arrays each time. A `PiecesCall` computes each row once. It
adds in the same order, so the bits are the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.arrays.kinds import Allocate, ArrayKind, Operand, WholeCall, Zeros, new_array
from gradwalk.arrays.layout_calls import AddRows, Replace, RowIndices, Unslice
from gradwalk.arrays.map_call import MapCall, Sizes
from gradwalk.arrays.run.array_steps import MOST_JOINED, CallStep, Step, is_map, of_used, uses_of
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape

_MOST_PIECES = 16
_LEAST_NUMBERS = 16_000  # in an array; calls of more pieces take longer than passes over a short array


class _Operand(NamedTuple):
    """A number that all rows share, or an array.

    Attributes:
        place: The tape index.
        width: The width of an array, and 0 for a number.
        offset: The row of the array that belongs to row 0 of the result.
    """

    place: int
    width: int = 0
    offset: int = 0

    def inputs(self, tape: Tape) -> Indices:
        """Append inputs for a row to a tape."""
        return [tape.input() for _ in range(self.width or 1)]


class Piece(NamedTuple):
    """Consecutive rows of an array, and the program that computes each of them.

    Attributes:
        start: The first row.
        stop: The end of the rows.
        program: The program of a row.
        operands: Its operands: numbers, then arrays.
    """

    start: int
    stop: int
    program: Program
    operands: tuple[_Operand, ...]

    def moved(self, count: int) -> Piece:
        """Return the piece `count` rows further down. It reads the same rows of its operands."""
        operands = tuple([x._replace(offset=x.offset - count) if x.width else x for x in self.operands])
        return Piece(self.start + count, self.stop + count, self.program, operands)

    def plus(self, other: Piece) -> Piece:
        """Return the sum with a piece of the same rows."""
        tape = Tape()
        operands = _numbers_first(dict.fromkeys([*self.operands, *other.operands]))
        inputs = {x: x.inputs(tape) for x in operands}
        first, second = (
            tape.inline(piece.program, [index for x in piece.operands for index in inputs[x]])
            for piece in (self, other)
        )
        program = tape.program([tape.append("add", *pair) for pair in zip(first, second, strict=True)])
        return self._replace(program=program, operands=operands)

    def without_unused(self) -> Piece:
        """Return the piece without the operands that no instruction uses."""
        code = self.program.code
        used = {*code.outputs, *itertools.chain.from_iterable(map(code.used, code.rows))}
        tape, kept = Tape(), []
        given: Indices = []
        for x in self.operands:
            size = x.width or 1
            is_used = not used.isdisjoint(range(len(given), len(given) + size))
            kept += [x] if is_used else []
            given += x.inputs(tape) if is_used else [tape.constant(0.0)] * size
        return self._replace(program=tape.program(tape.inline(self.program, given)), operands=tuple(kept))

    @property
    def call(self) -> MapCall:
        """A new call that computes the rows."""
        widths = tuple([x.width for x in self.operands if x.width])
        sizes = Sizes(len(self.operands) - len(widths), widths, 0, (len(self.program.outputs),))
        return MapCall(self.program, self.stop - self.start, sizes)


class PiecesCall(WholeCall):
    """A call that computes an array piece by piece. It has no derivatives, because it is made after differentiation.

    Args:
        kind: The kind of the array.
        pieces: The pieces, in order. Together they have all rows.

    Attributes:
        given: The tape index of each operand.
    """

    name = "pieces"

    def __init__(self, kind: ArrayKind, pieces: Sequence[Piece]) -> None:
        super().__init__([kind])
        self._kind, self.pieces = kind, pieces
        operands = _numbers_first(x for piece in pieces for x in piece.operands)
        self.given = list(dict.fromkeys(x.place for x in operands))
        self._calls = [piece.call for piece in pieces]

    def __len__(self) -> int:
        """Return the number of instructions of a row of each piece."""
        return sum(map(len, self._calls))

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the array."""
        found = empty(self._kind)
        known: dict[int, Any] = dict(zip(self.given, operands, strict=True))
        for piece, call in zip(self.pieces, self._calls, strict=True):
            start, stop, _, its = piece
            shared = numpy.array([known[x.place] for x in its if not x.width], numpy.float64)
            arrays = [known[x.place][start + x.offset : stop + x.offset] for x in its if x.width]
            call.run_rows(shared, arrays, partial(_rows_of, found, piece))
        return [found]

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends: see `Call.backends`."""
        return {
            name: text
            for i, call in enumerate(self._calls)
            for name, text in prefix_keys(f"piece{i}", call.backends(known)).items()
        }


def with_pieces(steps: Sequence[Step], outputs: Indices) -> list[Step]:
    """Let one call compute an array to which other arrays are added, or whose rows are replaced."""
    uses = uses_of(steps, outputs)
    makers: dict[int, CallStep] = {}  # tape index of an array -> the step that makes it
    found: list[Step] = []
    for step in steps:
        last = _in_one_pass(step, makers) if isinstance(step, CallStep) else step
        found.append(last)
        if isinstance(last, CallStep):
            makers |= {index: last for index in last.found if _can_move(last.call, uses[index])}
    return of_used(found, uses_of(found, outputs))


def _can_move(call: Any, uses: int) -> bool:
    """Return whether a call should compute its array where the array is used; `uses` counts the uses."""
    if isinstance(call, Zeros):
        return True
    if uses != 1:
        return False
    if isinstance(call, PiecesCall):
        return True
    return is_map(call) and not call.sums and (call.outputs == 1 or not call.is_costly)


def _in_one_pass(step: CallStep, makers: Mapping[int, CallStep]) -> CallStep:
    """Return a step that computes rows and adds or replaces them, or the same step if that would be no faster."""
    call = step.call
    if not isinstance(call, (AddRows, Replace, Unslice)) or not any(index in makers for index in step.given):
        return step
    [kind] = call.kinds
    rows = _consecutive(call.rows, kind.rows)
    if 2 * len(rows) < kind.rows or kind.size < _LEAST_NUMBERS:
        return step  # the call changes few rows in place, or the array is short
    *total, part = step.given
    old = _pieces(total[0], kind, makers) if total else [_zeros(kind)]
    new = [piece.moved(rows.start) for piece in _pieces(part, kind._replace(rows=len(rows)), makers)]
    pieces = _overlaid(old, new, adds=isinstance(call, AddRows))
    joined = PiecesCall(kind, pieces)
    is_short = len(pieces) <= _MOST_PIECES and len(joined) <= MOST_JOINED
    return CallStep(joined, joined.given, step.found) if is_short else step


def _consecutive(rows: RowIndices, count: int) -> range:
    """Return the indices of rows if they are consecutive, otherwise an empty range."""
    found = range(*rows.indices(count)) if isinstance(rows, slice) else range(0)
    return found if found.step == 1 else range(0)


def _overlaid(old: Sequence[Piece], new: Sequence[Piece], *, adds: bool) -> list[Piece]:
    """Return the pieces of an array whose rows are replaced by the rows of `new`, or to which these are added."""
    ends = sorted({end for piece in (*old, *new) for end in (piece.start, piece.stop)})
    found = []
    for start, stop in itertools.pairwise(ends):
        cut = [x._replace(start=start, stop=stop) for x in (*old, *new) if x.start <= start and stop <= x.stop]
        found.append(cut[0].plus(cut[1]) if adds and len(cut) == 2 else cut[-1])
    return found


def _pieces(index: int, kind: ArrayKind, makers: Mapping[int, CallStep]) -> Sequence[Piece]:
    """Return the pieces of an array: those that its maker computes, or one that reads the array."""
    step = makers.get(index)
    if step is None:
        return [Piece(0, kind.rows, _identity(kind.width), (_Operand(index, kind.width),))]
    call = step.call
    if isinstance(call, PiecesCall):
        return call.pieces
    if isinstance(call, Zeros):
        return [_zeros(kind)]
    operands = map(_Operand, step.given, call.widths)
    program = call.program_of(step.found.index(index))
    return [Piece(0, kind.rows, program, tuple(operands)).without_unused()]


def _zeros(kind: ArrayKind) -> Piece:
    tape = Tape()
    return Piece(0, kind.rows, tape.program([tape.constant(0.0)] * kind.width), ())


@cache
def _identity(width: int) -> Program:
    """Return the program that returns its inputs."""
    tape = Tape()
    return tape.program([tape.input() for _ in range(width)])


def _rows_of(array: NDArray[numpy.float64], piece: Piece, kind: ArrayKind) -> NDArray[numpy.float64]:
    """Return the rows of a piece as an array, which is a view. They are of the given kind."""
    del kind
    return array[piece.start : piece.stop]


def _numbers_first(operands: Iterable[_Operand]) -> tuple[_Operand, ...]:
    return tuple(sorted(operands, key=lambda x: x.width > 0))
