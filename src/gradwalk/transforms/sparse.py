"""Jacobians and Hessians that are mostly zeros, as SciPy's sparse arrays: `sparse_jacobian` and `sparse_hessian`.

The first call with arguments of a structure records the function, finds which derivatives can differ from 0, and
colours them: columns that do not get in each other's way are differentiated together, by one sweep. All sweeps become
one program, without anything that a tangent of 0 would be multiplied by, and later calls only run it. `sparsity` has
the combinatorial part.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from gradwalk.backend.from_scipy import from_scipy
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.trace import Places, Recording, named
from gradwalk.transforms.coloring import column_coloring, pattern, star_coloring, symmetric, transposed
from gradwalk.transforms.grad import Argnums, Transform, grad
from gradwalk.trees.tree import Structure, flattened, scalars, write
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value

_LARGEST = 10_000_000  # instructions on a tape; where all sweeps together would need more, one is run for each colour

Pattern = tuple[Any, Any]


class SparseStatistics(NamedTuple):
    """What a recording came to: entries that can differ from 0, colours, and instructions of the program.

    Every colour is one sum of columns (or, in reverse mode, of rows), from which some of the entries are read.
    """

    nonzeros: int
    colors: int
    instructions: int


class Sums(NamedTuple):
    """How to read a matrix off sums of its columns, or of its rows; one sweep of the tape gives one of these sums.

    `sweep`: the method of the tape. `seeds`: the places that are seeded, those of a colour by one sweep; `colors`:
    theirs. `targets`: the places that the sweep is asked for. Entry k of the matrix is the number at targets[at[k]] in
    the sweep of colour sum_of[k].
    """

    sweep: Callable[[list[tuple[int, int]], Places], Places]
    seeds: Places
    colors: Any
    targets: Places
    sum_of: Any
    at: Any


class Replay(NamedTuple):
    """A recording: the program that is run for the entries of the matrix, and a matrix whose numbers will be replaced.

    Inputs of the program are the numbers of the arguments; from place `first` on, those of the Values that the function
    uses without being given them; and last the seeds. There are none where the program makes all sweeps at once.
    Otherwise it is run for each of `groups`, with 1 for these seeds, and `places` says where the entries stand then:
    the numbers of the runs, and places among the outputs.
    """

    program: Program
    matrix: Any
    first: int
    captured: list[Value]
    statistics: SparseStatistics
    groups: list[Any]
    places: tuple[Any, Any]

    def numbers(self, row: Any) -> Any:
        """The entries of the matrix for a row of inputs; those that are no arguments are 0."""
        if self.captured:
            row[self.first : self.first + len(self.captured)] = [primal_of(value) for value in self.captured]
        if not self.groups:
            return self.program.run(row)
        seeds = row[self.first + len(self.captured) :]
        runs = []
        for group in self.groups:
            seeds[group] = 1.0
            runs.append(self.program.run(row))
            seeds[group] = 0.0
        return numpy.array(runs)[self.places]


class Sparse(Transform):
    """A function that returns a matrix of derivatives: see `sparse_jacobian` and `sparse_hessian`."""

    _name = ""
    _dense = ""  # the function that takes Values too

    def __init__(self, f: Callable[..., Any], argnums: Argnums) -> None:
        if not callable(f):
            raise TypeError(f"{self._name}() takes a function, not {type(f).__name__}: {f!r:.60}")
        super().__init__(f, argnums)
        self._replays: dict[Any, Replay] = {}
        self._latest: Replay | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The matrix at these arguments: replayed if there is a recording for their structure, else recorded first."""
        replay, leaves = self._replay(args, kwargs)
        row = numpy.zeros(replay.program.inputs)
        self._write(leaves, row)
        matrix = copy.copy(replay.matrix)  # a new one would be looked through for whether its structure is right
        matrix.data, matrix.indices, matrix.indptr = replay.numbers(row), matrix.indices.copy(), matrix.indptr.copy()
        return matrix

    def __repr__(self) -> str:
        return f"<{self._name} of {named(self._f)}>"

    @property
    def statistics(self) -> SparseStatistics:
        """Those of the latest recording. Raises `ValueError` where there is none yet."""
        if self._latest is None:
            raise ValueError(f"{self!r} has not been called yet, so there is no recording")
        return self._latest.statistics

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Places, Structure]:
        """Raises `TypeError`: the result is no tree of numbers, and derivatives do not go through it."""
        raise self._refused()

    def _refused(self) -> TypeError:
        return TypeError(
            f"{self!r} returns a SciPy array of numbers, which derivatives do not go through, so it takes no Values: "
            f"inside a differentiated or recorded function use {self._dense}; elsewhere give numbers, such as x.data"
        )

    def _write(self, leaves: list[Any], row: Any) -> None:
        """Write the numbers of the arguments to a row. Raises `TypeError` where one is a Value."""
        if not write(leaves, row):
            numbers = scalars(leaves)
            if any(isinstance(number, Value) for number in numbers):
                raise self._refused()
            row[: len(numbers)] = numbers

    def _replay(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Replay, list[Any]]:
        """The recording for arguments like these, made if there is none; and the leaves of these."""
        names = self._parameters.first(len(args))
        leaves: list[Any] = []
        key: list[Any] = [len(args)]
        for name, arg in [*zip(names, args, strict=True), *sorted(kwargs.items())]:
            found, structure = self._flattened(arg, name)
            leaves += found
            key.append((name, structure))
        found_key = tuple(key)
        if found_key not in self._replays:
            self._write(leaves, numpy.empty(len(scalars(leaves))))
            self._latest = self._replays[found_key] = self._recorded(names, args, kwargs)
        return self._replays[found_key], leaves

    def _flattened(self, arg: Any, name: str) -> tuple[list[Any], Structure]:
        try:
            return flattened(arg, name)
        except TypeError as error:
            raise TypeError(
                f"{error}. An argument that is none can be set beforehand: {self._name}(lambda x: f(x, {name}))"
            ) from None

    def _recorded(self, names: list[str], args: Sequence[Any], kwargs: dict[str, Any]) -> Replay:
        """Record the function for these arguments."""
        csr_array = from_scipy("scipy.sparse", "csr_array", self._name)
        recording = Recording(strict=True)
        opened = [recording.opened(arg, name) for name, arg in zip(names, args, strict=True)]
        keywords = {name: recording.opened(arg, name) for name, arg in sorted(kwargs.items())}
        inputs = self._inputs(recording, opened)
        first = len(recording.operands)
        outputs = self._outputs(recording, opened, keywords)
        captured = recording.operands[first:]
        if any(level_of(value) > 0 for value in captured):
            raise self._refused()
        columns = recording.tape.program(inputs).outputs
        indptr, indices = self._pattern(*pattern(recording.tape.program(outputs), columns))
        matrix = csr_array((numpy.zeros(len(indices)), indices, indptr), shape=(len(outputs), len(inputs)))
        sums = self._sums(recording.tape, inputs, outputs, (indptr, indices))
        program, groups = _unrolled(recording.tape, sums) or _swept(recording, sums)
        statistics = SparseStatistics(len(indices), len(numpy.unique(sums.sum_of)), len(program))
        return Replay(program, matrix, first, captured, statistics, groups, (sums.sum_of, sums.at))

    def _inputs(self, recording: Recording, args: list[Any]) -> Places:
        """The places of the numbers to differentiate by."""
        positions = self._positions(len(args))
        if len(set(positions)) < len(positions):
            raise ValueError(
                f"argnums={self._argnums} of {self!r} has an argument twice: the matrix has its columns once"
            )
        return [place for i in positions for place in recording.places(args[i])[0]]

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Places:
        """The places of the numbers to be differentiated."""
        raise NotImplementedError

    def _pattern(self, indptr: Any, indices: Any) -> Pattern:
        """The pattern of the matrix, from what has been found."""
        return indptr, indices

    def _sums(self, tape: Tape, inputs: Places, outputs: Places, pattern: Pattern) -> Sums:
        """Few sums that the matrix can be read off."""
        raise NotImplementedError


class SparseJacobian(Sparse):
    """All first derivatives of a function that can differ from 0."""

    _name = "sparse_jacobian"
    _dense = "jacobian"

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Places:
        return recording.run(self._f, args, kwargs)[0]

    def _sums(self, tape: Tape, inputs: Places, outputs: Places, pattern: Pattern) -> Sums:
        """Sums of columns, or of rows where fewer of these are enough."""
        is_forward, colors = _fewest_colors(pattern, transposed(*pattern, len(inputs)))
        rows, columns = _entries(pattern)
        if is_forward:
            return Sums(tape.forward, inputs, colors, outputs, colors[columns], rows)
        return Sums(tape.reverse, outputs, colors, inputs, colors[rows], columns)


class SparseHessian(Sparse):
    """All second derivatives of a function that can differ from 0."""

    _name = "sparse_hessian"
    _dense = "hessian"

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Places:
        return recording.run(grad(self._f, self._argnums), args, kwargs)[0]

    def _pattern(self, indptr: Any, indices: Any) -> Pattern:
        """Symmetric: where only one of a pair can differ from 0 by the look of the program, neither does."""
        return symmetric(indptr, indices)

    def _sums(self, tape: Tape, inputs: Places, outputs: Places, pattern: Pattern) -> Sums:
        """Sums of columns of the gradient's Jacobian, both entries of a pair from one of them."""
        colors, flipped = star_coloring(*pattern)
        rows, columns = _entries(pattern)
        sum_of = numpy.where(flipped, colors[rows], colors[columns])
        return Sums(tape.forward, inputs, colors, outputs, sum_of, numpy.where(flipped, columns, rows))


def sparse_jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> SparseJacobian:
    """A function that returns the Jacobian of `f` as a `scipy.sparse.csr_array` of float64.

    Row i is the i-th number of the result of `f`, in the order of its tree, column j the j-th number of the argument,
    or of all the arguments that `argnums` names. Arguments, keywords included, are numbers, or lists, tuples, dicts,
    dataclasses and arrays of them. Entries that happen to be 0 are kept, so the structure is the same at every point.

    `f` is recorded at the first call for a structure of arguments and replayed at later ones, by the rules of `jit`: it
    may compute with numbers but not ask for them, since the pattern has to hold for all; a branch on one raises
    `RecordingError`. Values that `f` uses without being given them are read at every call. The first call takes time in
    proportion to colours times instructions, later ones about as much as the few sweeps in forward or reverse mode that
    the colours stand for; `.statistics` says how many there are. A matrix without zeros is better left to `jacobian`.

    The result raises `TypeError` where an argument is a Value or holds something else than numbers, `ValueError` where
    `argnums` are out of range or repeated, and `ImportError` where SciPy is not installed.

    >>> jacobian = sparse_jacobian(lambda x: [x[i] * x[i + 1] for i in range(3)])
    >>> jacobian(numpy.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> jacobian.statistics
    SparseStatistics(nonzeros=6, colors=2, instructions=0)
    """
    return SparseJacobian(f, argnums)


def sparse_hessian(f: Callable[..., Any], argnums: Argnums = 0) -> SparseHessian:
    """A function that returns the Hessian of `f`, which returns one number, as a `scipy.sparse.csr_array` of float64.

    Rows and columns are the numbers of the argument in the order of its tree, or of all the arguments that `argnums`
    names. The matrix is symmetric to the last bit. Everything else is as `sparse_jacobian` says; colours are those of a
    star colouring, of which a matrix with one dense row and column needs 2. SciPy's `minimize` takes the result as
    `hess` for Newton-CG and trust-constr, and as hessp=lambda x, p: hessian(x) @ p for trust-krylov and trust-ncg.

    The result also raises `TypeError` where `f` does not return one number.

    >>> hessian = sparse_hessian(lambda x: x[0] * x[0] * x[1] + x[2] ** 3)
    >>> hessian([2.0, 3.0, 1.0]).toarray()
    array([[6., 4., 0.],
           [4., 0., 0.],
           [0., 0., 6.]])
    """
    return SparseHessian(f, argnums)


def _entries(pattern: Pattern) -> tuple[Any, Any]:
    """The row and the column of each entry."""
    indptr, indices = pattern
    return numpy.repeat(numpy.arange(len(indptr) - 1), numpy.diff(indptr)), indices


def _fewest_colors(by_rows: Pattern, by_columns: Pattern) -> tuple[bool, Any]:
    """Whether the columns are to be coloured rather than the rows, and those colours.

    As many colours as the longest row has entries are the least that columns can do with. Where what is found first has
    no more than that, colours for the other side are not looked for: it may have dense rows, which take long.
    """
    sides = [(by_rows, by_columns, True), (by_columns, by_rows, False)]
    sides.sort(key=lambda side: _longest(side[0]))
    best: tuple[bool, Any] | None = None
    for rows, columns, are_columns in sides:
        if best is None or _longest(rows) < _count(best[1]):
            colors = column_coloring(*rows, len(columns[0]) - 1)
            if best is None or _count(colors) < _count(best[1]):
                best = are_columns, colors
    assert best is not None
    return best


def _longest(pattern: Pattern) -> int:
    return int(numpy.diff(pattern[0]).max(initial=0))


def _count(colors: Any) -> int:
    return int(colors.max(initial=-1)) + 1


def _groups(colors: Any, count: int) -> list[Any]:
    """For each colour, where it stands."""
    ends = numpy.cumsum(numpy.bincount(colors, minlength=count))
    return numpy.split(numpy.argsort(colors, kind="stable"), ends[:-1])


def _unrolled(tape: Tape, sums: Sums) -> tuple[Program, list[Any]] | None:
    """One program for all entries of a matrix, and no groups of seeds; None where it would become too large."""
    one = tape.constant(1.0)
    entries = numpy.zeros(len(sums.at), numpy.int64)
    count = _count(sums.colors)
    for seeds, read in zip(_groups(sums.colors, count), _groups(sums.sum_of, count), strict=True):
        targets = [sums.targets[k] for k in sums.at[read]]
        entries[read] = sums.sweep([(sums.seeds[k], one) for k in seeds], targets)
        if len(tape) > _LARGEST:
            return None
    return tape.program(entries.tolist()), []


def _swept(recording: Recording, sums: Sums) -> tuple[Program, list[Any]]:
    """A program for any one sum, and for each of them which seeds are 1."""
    seeds = recording.extra([0.0] * len(sums.seeds))
    places = sums.sweep(list(zip(sums.seeds, seeds, strict=True)), sums.targets)
    return recording.tape.program(places), _groups(sums.colors, _count(sums.colors))
