"""`MapCall`: one instruction that runs the program of one row on all rows of some arrays.

Other `MapCall`s compute its derivatives. A number that all rows share has one cotangent, which is summed over the rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy

from gradwalk.arrays.gaps import has_gaps, reached
from gradwalk.arrays.kinds import Allocate, ArrayKind, Operand, WholeCall, new_array
from gradwalk.backend.base import Kernel
from gradwalk.backend.loops.loop_kernel import make_kernel
from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.batching.batch_call import BatchCall, ExtremeCall
from gradwalk.batching.batch_call import Sizes as BatchSizes
from gradwalk.program.calls.call import ConstantCall, append_call
from gradwalk.program.calls.program_derivatives import to_tape
from gradwalk.program.calls.stored_steps import is_costly
from gradwalk.program.native.policy import current_policy, prefix_keys
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape

# A program of numbers has a loop over the rows if all rows together have more instructions.
_MOST_FLAT = 1_000_000
_NOTHING = numpy.empty(0)
_KERNELS: WeakValueDictionary[Any, Kernel] = WeakValueDictionary()  # those that are in use, by their instructions


class Sizes(NamedTuple):
    """The sizes of the groups of operands and results of a `MapCall`.

    Attributes:
        shared: Number of operands that are numbers, which all rows share.
        widths: The width of each operand that is an array.
        summed: Number of results that are summed over the rows.
        made: The width of each result that is an array.
    """

    shared: int
    widths: tuple[int, ...]
    summed: int
    made: tuple[int, ...]


class MapCall(WholeCall):
    """A call that runs the program of one row on all rows.

    The operands are the shared numbers, followed by the arrays. The results are the sums over the rows, followed by the
    arrays.

    Args:
        program: The program of one row. The inputs are the shared numbers and the row of each array. The outputs are
            the numbers to be summed, and the row of each array that is a result.
        rows: Number of rows.
        sizes: The sizes of the groups of operands and results.
    """

    name = "map"
    inputs: int

    def __init__(self, program: Program, rows: int, sizes: Sizes) -> None:
        self._program, self._rows, self._sizes = program, rows, sizes
        self._kinds_made = [ArrayKind(rows, width) for width in sizes.made]
        super().__init__([*[None] * sizes.summed, *self._kinds_made])
        self.inputs = sizes.shared + len(sizes.widths)
        self.masks = 0  # number of last operands that are masks of gaps: see `_pullback`
        self.receives: Sequence[
            bool
        ] = ()  # of a derivative: the operands or results whose derivatives are not always 0
        self._pullbacks: dict[tuple[Sequence[bool], ...], MapCall] = {}
        self._pushforwards: dict[Sequence[bool], MapCall] = {}

    def __repr__(self) -> str:
        return f"<map of {len(self._program)} instructions over {self._rows} rows>"

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Compute the results: floats and arrays."""
        shared = numpy.array(operands[: self._sizes.shared], numpy.float64)
        numbers, arrays = self.run_rows(shared, operands[self._sizes.shared :], empty)
        return [*numbers.tolist(), *arrays]

    def run_rows(self, shared: Floats, arrays: Sequence[Any], empty: Allocate) -> tuple[Floats, list[Any]]:
        """Compute the results from the shared numbers and the arrays; return the numbers and the arrays."""
        sums = _NOTHING
        if self._sizes.summed:
            sums = self._summing.run(shared, arrays, [], self._rows, single=False)
        if not self._sizes.made:
            return sums, []
        made = [empty(kind) for kind in self._kinds_made]
        kernel = self._making
        fixed = kernel.run(shared, arrays, made, self._rows, single=False)
        if len(fixed):
            columns = [column for array in made for column in array.T]
            for position, number in zip(kernel.fixed, fixed.tolist(), strict=True):
                columns[position][:] = number
        return sums, made

    def with_gaps(self, operands: Indices) -> Indices | None:
        """Return [] if the call computes cotangents from cotangents with gaps, else None: see `WholeCall.with_gaps`."""
        return None if self.cotangents is None else []

    def reached(self, operands: Sequence[Operand]) -> Operand:
        """Return an array that is 1 in each row in which an operand is not 0: see `WholeCall.reached`."""
        joined = numpy.concatenate([numpy.asarray(x) for x in operands], axis=1)
        return numpy.asarray(numpy.any(joined, axis=1, keepdims=True), numpy.float64)

    @property
    def always_ends(self) -> bool:
        """Whether the program of a row has no loops."""
        return not self._program.calls

    def only(self, flags: Sequence[bool]) -> MapCall:
        """Return the call that computes only the results with a flag."""
        ends = itertools.accumulate([*[1] * self._sizes.summed, *self._sizes.made], initial=0)
        kept = [range(*pair) for pair, flag in zip(itertools.pairwise(ends), flags, strict=True) if flag]
        tape, _, found = to_tape(self._program)
        program = tape.program([found[i] for part in kept for i in part])
        made = [width for width, flag in zip(self._sizes.made, flags[self._sizes.summed :], strict=True) if flag]
        return MapCall(program, self._rows, self._sizes._replace(summed=len(kept) - len(made), made=tuple(made)))

    @property
    def sums(self) -> bool:
        """Whether results are summed over the rows."""
        return self._sizes.summed > 0

    def joined(
        self, operands: Indices, other: MapCall, given: Indices, results: Indices, made: Sequence[int]
    ) -> tuple[MapCall, Indices]:
        """Return a call that computes the same results, and some operands, too; and the operands of that call.

        Args:
            operands: The tape index of each operand of this call.
            other: A call with the same rows, which makes the operands `made`.
            given: The tape index of each of its operands.
            results: The tape index of each of its results.
            made: The tape indices of the operands to compute.
        """
        shared = list(dict.fromkeys([*operands[: self._sizes.shared], *given[: other._sizes.shared]]))
        widths = dict(zip(given[other._sizes.shared :], other._sizes.widths, strict=True))
        widths |= dict(zip(operands[self._sizes.shared :], self._sizes.widths, strict=True))
        arrays = [index for index in widths if index not in made]
        tape = Tape()
        rows = {index: [tape.input()] for index in shared}
        rows |= {index: [tape.input() for _ in range(widths[index])] for index in arrays}
        found = tape.inline(other._program, list(itertools.chain.from_iterable(rows[index] for index in given)))
        starts = itertools.accumulate(other._sizes.made, initial=other._sizes.summed)
        for index, start, width in zip(results[other._sizes.summed :], starts, other._sizes.made, strict=False):
            if index in made:
                rows[index] = found[start : start + width]
        outputs = tape.inline(self._program, list(itertools.chain.from_iterable(rows[index] for index in operands)))
        sizes = Sizes(len(shared), tuple(widths[index] for index in arrays), self._sizes.summed, self._sizes.made)
        return MapCall(tape.program(outputs), self._rows, sizes), [*shared, *arrays]

    @property
    def widths(self) -> list[int]:
        """The width of each operand that is an array, and 0 for each number."""
        return [*[0] * self._sizes.shared, *self._sizes.widths]

    @property
    def is_costly(self) -> bool:
        """Whether a row takes more than additions and multiplications."""
        return any(is_costly(row[0]) for row in self._program.code.rows)

    def program_of(self, result: int) -> Program:
        """Return the program that computes a row of one of the results, from the same inputs."""
        return self.only([i == result for i in range(self.outputs)])._program

    @cached_property
    def _summing(self) -> Kernel:
        return self._kernel(range(self._sizes.summed), reduced=True)

    @cached_property
    def _making(self) -> Kernel:
        return self._kernel(range(self._sizes.summed, len(self._program.outputs)), reduced=False)

    def _kernel(self, outputs: range, *, reduced: bool) -> Kernel:
        """Return a kernel that computes the outputs at the given positions. Calls with equal programs share kernels."""
        code, shared = self._program.code, self._sizes.shared
        constants = numpy.array(code.constants).tobytes()  # because 0.0 == -0.0
        parts = code.inputs, constants, code.instructions.tobytes(), code.outputs, code.tables
        key = (*parts, outputs, shared, reduced, current_policy())
        kernel = None if code.calls else _KERNELS.get(key)
        if kernel is None:
            tape, inputs, found = to_tape(self._program)
            varies = [i >= shared for i in range(len(inputs))]
            kernel = _KERNELS[key] = make_kernel(tape.program([found[i] for i in outputs]), varies, reduced=reduced)
        return kernel

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends: see `Call.backends`."""
        made = [(name, vars(self).get(f"_{name}")) for name in ("summing", "making")]
        return {
            name: text for part, kernel in made if kernel for name, text in prefix_keys(part, kernel.backends).items()
        }

    def __len__(self) -> int:
        """Return the number of instructions of one row."""
        return len(self._program)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the instructions or a loop for the numbers of all arrays: see `Call.expanded`."""
        shared, widths, summed, made = self._sizes
        sizes = BatchSizes(shared, sum(widths), summed)
        call = BatchCall(self._program, sizes, numpy.empty((self._rows, 0)), make_kernel)
        results = tape.inline(_of_numbers(call), self._columns(operands))
        starts = itertools.accumulate([width * self._rows for width in made[:-1]], initial=summed)
        arrays = []
        for start, width in zip(starts, made, strict=False):
            columns = [results[start + i * self._rows : start + (i + 1) * self._rows] for i in range(width)]
            arrays.append(list(itertools.chain.from_iterable(zip(*columns, strict=True))))
        return [*results[:summed], *arrays]

    def _columns(self, operands: list[Any]) -> Indices:
        """Return the shared operands, followed by the columns of all arrays."""
        shared, widths, _, _ = self._sizes
        given: Indices = operands[:shared]
        for array, width in zip(operands[shared:], widths, strict=True):
            for position in range(width):
                given += array[position::width]
        return given

    # Derivatives

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append a call that computes the cotangents: see `Call.vjp_needed`."""
        asked = tuple(wanted)
        seeded = tuple([index != NO_INDEX for index in adjoints])
        if not any(asked):
            return [NO_INDEX] * self.inputs
        gaps = tuple([index in tape.arrays and has_gaps(tape, index) for index in adjoints])
        key = asked, seeded, gaps
        if key not in self._pullbacks:
            self._pullbacks[key] = self._pullback_with_gaps(*key)
        pullback = self._pullbacks[key]
        if not any(pullback.receives):
            return [NO_INDEX] * self.inputs
        given = _merged(operands, self._sizes.shared, adjoints, self._sizes.summed)
        if pullback.masks:
            given += [reached(tape, index) for index, flag in zip(adjoints, gaps, strict=True) if flag]
        results = iter(append_call(pullback, tape, given))
        return [next(results) if flag else NO_INDEX for flag in pullback.receives]

    def _pullback_with_gaps(self, asked: Sequence[bool], seeded: Sequence[bool], gaps: Sequence[bool]) -> MapCall:
        """Return a call that computes the cotangents of operands, with masks only if they are needed."""
        pullback = self._pullback(asked, seeded, [False] * len(gaps))
        if any(gaps) and pullback.is_costly:
            pullback = self._pullback(asked, seeded, gaps)
        if gaps == seeded:  # all cotangents have gaps, and so have the results
            last = pullback.inputs
            pullback.cotangents = range(last - (pullback.masks or sum(seeded)), last)
        return pullback

    def _pullback(self, asked: Sequence[bool], seeded: Sequence[bool], gaps: Sequence[bool]) -> MapCall:
        """Return a call that computes the cotangents of operands.

        A mask chooses between a result whose cotangent has gaps and 0. A result that is not chosen has the derivative
        0, even if it would be infinite. Sums and products of finite numbers count as finite and need no masks, as in
        `autodiff/cotangents.py`.

        Args:
            asked: The operands.
            seeded: The results that have cotangents.
            gaps: The results whose cotangents have gaps: see gaps.py.
        """
        shared, widths, summed, made = self._sizes
        tape = Tape()
        groups = _Groups(tape, shared, widths)
        seeds = _Groups(tape, summed, made, seeded)
        masks = _Groups(tape, summed, made, gaps)
        outputs = tape.inline(self._program, groups.primals)
        given = [
            (x if mask == NO_INDEX else tape.append("where", mask, x, tape.constant(0.0)), seed)
            for x, seed, mask in zip(outputs, seeds.primals, masks.primals, strict=True)
            if seed != NO_INDEX
        ]
        wrt = [[index] for index in groups.shared] + groups.rows
        wrt = [part if is_asked else [] for part, is_asked in zip(wrt, asked, strict=True)]
        found = iter(tape.reverse(given, list(itertools.chain.from_iterable(wrt))))
        parts = [list(itertools.islice(found, len(part))) for part in wrt]
        call = _made(tape, parts, self._rows, (groups, seeds, masks), shared)
        call.masks = sum(gaps)
        return call

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append a call that computes the tangents: see `Call.jvp`."""
        moved = tuple([index != NO_INDEX for index in tangents])
        if not any(moved):
            return [NO_INDEX] * self.outputs
        if moved not in self._pushforwards:
            self._pushforwards[moved] = self._pushforward(moved)
        pushforward = self._pushforwards[moved]
        if not any(pushforward.receives):
            return [NO_INDEX] * self.outputs
        given = _merged(operands, self._sizes.shared, tangents, self._sizes.shared)
        results = iter(append_call(pushforward, tape, given))
        return [next(results) if flag else NO_INDEX for flag in pushforward.receives]

    def _pushforward(self, moved: Sequence[bool]) -> MapCall:
        """Return a call that computes the tangents of all results. The operands `moved` have tangents."""
        shared, widths, summed, made = self._sizes
        tape = Tape()
        groups = _Groups(tape, shared, widths)
        seeds = _Groups(tape, shared, widths, moved)
        outputs = tape.inline(self._program, groups.primals)
        given = [(x, seed) for x, seed in zip(groups.primals, seeds.primals, strict=True) if seed != NO_INDEX]
        found = iter(tape.forward(given, outputs))
        parts = [list(itertools.islice(found, width)) for width in [*[1] * summed, *made]]
        return _made(tape, parts, self._rows, (groups, seeds), summed)


class Extremes(ConstantCall, MapCall):
    """A call that finds the maximum or minimum of each output of a program over the rows.

    The results are all extremes, followed by the first row that has each of them. An extreme is nan if any row is nan.

    Args:
        program: The program of one row: see `MapCall`.
        rows: Number of rows.
        sizes: The sizes of the operands. The program has one array as result.
        largest: Whether to find maxima.
    """

    name = "extremes"

    def __init__(self, program: Program, rows: int, sizes: Sizes, *, largest: bool) -> None:
        super().__init__(program, rows, sizes)
        self._largest = largest
        self.outputs, self.kinds = 2 * len(program.outputs), ()

    def run_rows(self, shared: Floats, arrays: Sequence[Any], empty: Allocate) -> tuple[Floats, list[Any]]:
        """Return the extremes and their rows."""
        columns = self._columns_of(shared, arrays, empty)
        places = [int(column.argmax() if self._largest else column.argmin()) for column in columns]
        best = [column[place] for column, place in zip(columns, places, strict=True)]
        return numpy.array([*best, *places], numpy.float64), []

    def _columns_of(self, shared: Floats, arrays: Sequence[Any], empty: Allocate) -> list[Any]:
        """Return the column of each output. A column of an operand is not copied."""
        first = self._sizes.shared
        if any(not first <= index < self._program.inputs for index in self._program.outputs):
            _, [made] = super().run_rows(shared, arrays, empty)
            return list(numpy.asarray(made).T)
        given = [column for array in arrays for column in numpy.asarray(array).T]
        return [given[index - first] for index in self._program.outputs]

    def only(self, flags: Sequence[bool]) -> MapCall:
        """Return the call itself: it finds all results together."""
        return self

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the instructions or a loop for the numbers of all arrays: see `Call.expanded`."""
        sizes = BatchSizes(self._sizes.shared, sum(self._sizes.widths), 0)
        constants = numpy.empty((self._rows, 0))
        call = ExtremeCall(self._program, sizes, constants, make_kernel, largest=self._largest)
        return tape.inline(_of_numbers(call), self._columns(operands))


def sum_of_arrays(kind: ArrayKind) -> MapCall:
    """Return a call that adds two arrays, like `Sum`."""
    tape = Tape()
    x, y = [[tape.input() for _ in range(kind.width)] for _ in range(2)]
    program = tape.program([tape.append("add", *pair) for pair in zip(x, y, strict=True)])
    return MapCall(program, kind.rows, Sizes(0, (kind.width, kind.width), 0, (kind.width,)))


def _of_numbers(call: BatchCall) -> Program:
    """Return the program of numbers that computes a batch, without a loop if that is not too long.

    Values get gradients through the results of a loop one by one, and each takes time for all numbers of the loop.
    """
    return call.flat() if call.weight <= _MOST_FLAT else call.portable


class _Groups:
    """New inputs of a tape for numbers that all rows share, and for the rows of arrays.

    Args:
        tape: The tape.
        shared: Number of shared numbers.
        widths: The width of each array.
        are_there: Whether each number and each array has inputs. If not, its indices are `NO_INDEX`.

    Attributes:
        shared: The index of each shared number.
        rows: The indices of the row of each array.
    """

    def __init__(self, tape: Tape, shared: int, widths: Sequence[int], are_there: Sequence[bool] | None = None) -> None:
        flags = [True] * (shared + len(widths)) if are_there is None else are_there
        self.shared = [tape.input() if flag else NO_INDEX for flag in flags[:shared]]
        self.rows = [
            [tape.input() if flag else NO_INDEX for _ in range(width)]
            for width, flag in zip(widths, flags[shared:], strict=True)
        ]

    @property
    def primals(self) -> Indices:
        """All indices, in the order of the inputs or outputs of the program of a row."""
        return [*self.shared, *itertools.chain.from_iterable(self.rows)]


def _made(tape: Tape, parts: Sequence[Indices], rows: int, groups: Sequence[_Groups], numbers: int) -> MapCall:
    """Return the `MapCall` of a derivative, from a tape whose inputs are groups.

    `parts` are the indices of each result: `numbers` numbers to be summed, and rows of arrays. The call leaves out
    results that are always 0.
    """
    zeros = {NO_INDEX, tape.constant(0.0)}
    receives = [not zeros.issuperset(part) for part in parts]
    kept = [part for part, flag in zip(parts, receives, strict=True) if flag]
    arrays = [row for group in groups for row in group.rows if NO_INDEX not in row]
    shared = [index for group in groups for index in group.shared if index != NO_INDEX]
    ordered = Tape()
    inputs = {index: ordered.input() for index in [*shared, *itertools.chain.from_iterable(arrays)]}
    program = tape.program(list(itertools.chain.from_iterable(kept)))
    program = ordered.program(ordered.inline(program, [inputs[index] for index in sorted(inputs)]))
    summed = sum(receives[:numbers])
    call = MapCall(program, rows, Sizes(len(shared), tuple(map(len, arrays)), summed, tuple(map(len, kept[summed:]))))
    call.receives = receives
    return call


def _merged(operands: Indices, shared: int, derivatives: Indices, numbers: int) -> Indices:
    """Return the operands of a derivative: shared numbers and their derivatives, then arrays and their derivatives."""
    given = [
        *operands[:shared],
        *derivatives[:numbers],
        *operands[shared:],
        *derivatives[numbers:],
    ]
    return [index for index in given if index != NO_INDEX]
