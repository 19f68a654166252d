"""`sparse_jacobian` and `sparse_hessian`: derivatives that are mostly zeros, as SciPy's sparse arrays.

The first call for a structure of arguments records the function, finds which derivatives can differ from 0, and
colors them: columns without a row in common get one color and are differentiated together, by one sweep. All sweeps
become one program, without anything that a tangent of 0 would be multiplied by, and later calls only run it.
`coloring` has the combinatorial part.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec

import numpy

from gradwalk.base.optional import from_scipy
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.trace import Indices, Recording, display_name
from gradwalk.program.tracing.trace_cache import ArgumentKeys, Trace, TraceCache
from gradwalk.transforms.base import Argnums, Transform
from gradwalk.transforms.grad import grad
from gradwalk.transforms.sparse.coloring import column_coloring, star_coloring
from gradwalk.transforms.sparse.sparsity_pattern import pattern, symmetric, transposed
from gradwalk.trees.tree import TreeDef, scalars, write
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value

_LARGEST = 10_000_000  # Instructions on a tape. Where all sweeps together would need more, one is run for each color.

P = ParamSpec("P")
Pattern = tuple[Any, Any]


class SparseStatistics(NamedTuple):
    """The size and cost of a recorded sparse matrix.

    Attributes:
        nonzeros: The entries that can differ from 0.
        colors: The colors of the columns, or of the rows in reverse mode. For each color there is one sweep, from which
            some of the entries are read.
        instructions: The instructions of the program.
    """

    nonzeros: int
    colors: int
    instructions: int


class Sums(NamedTuple):
    """How to read a matrix off sums of its columns, or of its rows. One sweep of the tape gives one of these sums.

    Entry k of the matrix is the number at `targets[at[k]]` in the sweep of color `sum_of[k]`.

    Attributes:
        sweep: The method of the tape that sweeps forward or in reverse.
        seeds: The indices that are seeded, those of one color by one sweep.
        colors: The colors of the seeds.
        targets: The indices that a sweep is asked for.
        sum_of: The color for each entry.
        at: The position among the targets for each entry.
    """

    sweep: Callable[[list[tuple[int, int]], Indices], Indices]
    seeds: Indices
    colors: Any
    targets: Indices
    sum_of: Any
    at: Any


@dataclass(frozen=True, eq=False)
class SparseTrace(Trace):
    """A recording of a sparse matrix.

    Inputs of the program are the numbers of the arguments, those of the captured Values, and the seeds. There are no
    seeds where the program makes all sweeps at once. Otherwise it is run once for each group of seeds, set to 1.

    Attributes:
        matrix: A matrix of this pattern, to be copied and given other numbers.
        first: The index of the first captured Value among the inputs.
        statistics: What the recording came to.
        groups: The seeds of each color.
        positions: For each entry, which run it is read from, and its position among the outputs of this run.
    """

    matrix: Any
    first: int
    statistics: SparseStatistics
    groups: list[Any]
    positions: tuple[Any, Any]

    def entries(self, row: Any) -> Any:
        """Return the entries of the matrix.

        Args:
            row: The inputs, of which those that are no arguments are 0 and will be written.
        """
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
        return numpy.array(runs)[self.positions]


class Sparse(Transform[P, Any]):
    """A function that returns a sparse matrix of derivatives.

    Args:
        f: The function to differentiate.
        argnums: The positional arguments to differentiate by.
    """

    _name = ""
    _dense = ""  # the function that takes Values too

    def __init__(self, f: Callable[P, Any], argnums: Argnums) -> None:
        super().__init__(f, argnums, self._name)
        self._keys = ArgumentKeys(f, self._advice)
        self._cache: TraceCache[SparseTrace] = TraceCache(display_name(f))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the matrix at these arguments, by the recording for their treedef, which is made if needed."""
        trace, leaves = self._trace(args, kwargs)
        row = numpy.zeros(trace.program.inputs)
        self._write(leaves, row)
        matrix = copy.copy(trace.matrix)  # making a new one would check its structure again
        matrix.data, matrix.indices, matrix.indptr = trace.entries(row), matrix.indices.copy(), matrix.indptr.copy()
        return matrix

    def structure(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the matrix for arguments like these with 0 in place of its entries, for which nothing is computed.

        Args:
            *args: The positional arguments of the function, of which the structure and shapes count.
            **kwargs: Its keyword arguments.
        """
        return self._trace(args, kwargs)[0].matrix.copy()

    @property
    def statistics(self) -> SparseStatistics:
        """The size and cost of the latest recording.

        Raises:
            ValueError: There is no recording yet.
        """
        return self._cache.last(repr(self)).statistics

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Refuse to be recorded by another transform: the result is a sparse matrix, not a tree of numbers.

        Args:
            recording: The recording.
            args: The positional arguments.
            kwargs: The keyword arguments.

        Raises:
            TypeError: Always, naming the function to use instead.
        """
        raise self._refused()

    def _refused(self) -> TypeError:
        return TypeError(
            f"{self!r} returns a SciPy array of numbers, which derivatives do not go through, so it takes no Values: "
            f"inside a differentiated or recorded function use {self._dense}; elsewhere give numbers, such as x.data"
        )

    def _advice(self, arg: Any, name: str) -> str:
        return f". An argument that is none can be set beforehand: {self._name}(lambda x: f(x, {name}))"

    def _write(self, leaves: list[Any], row: Any) -> None:
        """Write the numbers of the arguments to a row. Raises `TypeError` where one is a Value."""
        if not write(leaves, row):
            numbers = scalars(leaves)
            if any(isinstance(number, Value) for number in numbers):
                raise self._refused()
            row[: len(numbers)] = numbers

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[SparseTrace, list[Any]]:
        """The recording for arguments like these, made if there is none; and the leaves of these."""
        key, leaves = self._keys.key(args, kwargs)
        trace = self._cache.find(key)
        if trace is None:
            self._write(leaves, numpy.empty(len(scalars(leaves))))
            trace = self._cache.add(key, self._record_matrix(args, kwargs))
        return trace, leaves

    def _record_matrix(self, args: Sequence[Any], kwargs: dict[str, Any]) -> SparseTrace:
        """Record the function for these arguments."""
        csr_array = from_scipy("scipy.sparse", "csr_array", self._name)
        recording = Recording(staged=True)
        opened, keywords = self._keys.open(recording, args, kwargs)
        inputs = self._inputs(recording, opened)
        first = len(recording.operands)
        outputs = self._outputs(recording, opened, keywords)
        captured = recording.operands[first:]
        if any(level_of(value) > 0 for value in captured):
            raise self._refused()
        columns = list(recording.tape.program(inputs).outputs)
        indptr, indices = self._pattern(*pattern(recording.tape.program(outputs), columns))
        matrix = csr_array((numpy.zeros(len(indices)), indices, indptr), shape=(len(outputs), len(inputs)))
        sums = self._sums(recording.tape, inputs, outputs, (indptr, indices))
        program, groups = _unrolled(recording.tape, sums) or _swept(recording, sums)
        statistics = SparseStatistics(len(indices), len(numpy.unique(sums.sum_of)), len(program))
        return SparseTrace(program, captured, matrix, first, statistics, groups, (sums.sum_of, sums.at))

    def _inputs(self, recording: Recording, args: list[Any]) -> Indices:
        """The indices of the numbers to differentiate by."""
        positions = self._positions(len(args))
        if len(set(positions)) < len(positions):
            raise ValueError(
                f"argnums={self._argnums} of {self!r} has an argument twice: the matrix has its columns once"
            )
        return [index for i in positions for index in recording.input_indices(args[i])[0]]

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Indices:
        """The indices of the numbers to differentiate."""
        raise NotImplementedError

    def _pattern(self, indptr: Any, indices: Any) -> Pattern:
        """The pattern of the matrix, given what has been found of it."""
        return indptr, indices

    def _sums(self, tape: Tape, inputs: Indices, outputs: Indices, pattern: Pattern) -> Sums:
        """As few sums as will do to read the matrix off them."""
        raise NotImplementedError


class SparseJacobian(Sparse[P]):
    """All first derivatives of a function that can differ from 0, as `sparse_jacobian` makes it."""

    _name = "sparse_jacobian"
    _dense = "jacobian"

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Indices:
        return recording.run(self._f, args, kwargs)[0]

    def _sums(self, tape: Tape, inputs: Indices, outputs: Indices, pattern: Pattern) -> Sums:
        """Sums of columns, or of rows where fewer of these are enough."""
        is_forward, colors = _fewest_colors(pattern, transposed(*pattern, len(inputs)))
        rows, columns = _entries(pattern)
        if is_forward:
            return Sums(tape.forward, inputs, colors, outputs, colors[columns], rows)
        return Sums(tape.reverse, outputs, colors, inputs, colors[rows], columns)


class SparseHessian(Sparse[P]):
    """All second derivatives of a function that can differ from 0, as `sparse_hessian` makes it."""

    _name = "sparse_hessian"
    _dense = "hessian"

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Indices:
        return recording.run(grad(self._f, self._argnums), args, kwargs)[0]

    def _pattern(self, indptr: Any, indices: Any) -> Pattern:
        """Drop structural nonzeros that have no symmetric counterpart: they are 0 at every point."""
        return symmetric(indptr, indices)

    def _sums(self, tape: Tape, inputs: Indices, outputs: Indices, pattern: Pattern) -> Sums:
        """Sums of columns of the gradient's Jacobian. Both entries of a symmetric pair are read off one of them."""
        colors, flipped = star_coloring(*pattern)
        rows, columns = _entries(pattern)
        sum_of = numpy.where(flipped, colors[rows], colors[columns])
        return Sums(tape.forward, inputs, colors, outputs, sum_of, numpy.where(flipped, columns, rows))


def sparse_jacobian(f: Callable[P, Any], argnums: Argnums = 0) -> SparseJacobian[P]:
    """Differentiate all results of a function, where most derivatives are always 0: a SciPy sparse array.

    `f` is recorded at the first call for a structure of arguments and replayed at later ones, by the rules of `jit`: it
    may compute with numbers but not ask for them, since the pattern has to hold for all of them. Values that `f` uses
    without being given them are read at every call.

    The first call takes time in proportion to colors times instructions, later ones about as much as a sweep in forward
    or reverse mode for each color; `.statistics` says how many there are. A matrix without zeros is better left to
    `jacobian`.

    Args:
        f: A function that takes and returns numbers, or lists, tuples, dicts, dataclasses, Modules and arrays of them.
        argnums: The position of the argument to differentiate by, or a sequence of different positions.

    Returns:
        A function that returns a `scipy.sparse.csr_array` of float64, with `.statistics`. Row i is the i-th number of
        the result of `f`, in the order of its tree; column j is the j-th number of the argument, or of all the
        arguments that `argnums` names. Entries that happen to be 0 are kept, so the structure is the same at every
        point. It raises `TypeError` where an argument is a Value or holds something else than numbers, `ValueError`
        where `argnums` are out of range or repeated, `RecordingError` where `f` branches on a number, and `ImportError`
        where SciPy is not installed.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> jacobian = sparse_jacobian(lambda x: [x[i] * x[i + 1] for i in range(3)])
        >>> jacobian(numpy.array([1.0, 2.0, 3.0, 4.0])).toarray()
        array([[2., 1., 0., 0.],
               [0., 3., 2., 0.],
               [0., 0., 4., 3.]])
        >>> jacobian.statistics
        SparseStatistics(nonzeros=6, colors=2, instructions=0)
    """
    return SparseJacobian(f, argnums)


def sparse_hessian(f: Callable[P, Any], argnums: Argnums = 0) -> SparseHessian[P]:
    """Compute all second derivatives of a function, where most of them are always 0: a SciPy sparse array.

    `f` is recorded and replayed as by `sparse_jacobian`. Colors are those of a star coloring, of which a matrix with
    one dense row and column needs 2. SciPy's `minimize` takes the result as `hess` for Newton-CG and trust-constr, and
    as `hessp=lambda x, p: hessian(x) @ p` for trust-krylov and trust-ncg.

    Args:
        f: A function that returns one number: see `sparse_jacobian`.
        argnums: The position of the argument to differentiate by, or a sequence of different positions.

    Returns:
        A function that returns a `scipy.sparse.csr_array` of float64 that is symmetric to the last bit, with
        `.statistics`. Rows and columns are the numbers of the argument, in the order of its tree, or of all the
        arguments that `argnums` names. It raises what the result of `sparse_jacobian` raises, and `TypeError` where
        `f` does not return one number.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
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
    """Whether to color the columns rather than the rows, and the colors.

    Columns need at least as many colors as the longest row has entries, and rows as the longest column. The side with
    the lower bound is colored first, and the other one only where it could do with fewer: coloring a side with dense
    rows takes long.
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
    """The positions of each color."""
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
    """A program for any one sum, and for each color which seeds are 1."""
    seeds = recording.add_seeds([0.0] * len(sums.seeds))
    outputs = sums.sweep(list(zip(sums.seeds, seeds, strict=True)), sums.targets)
    return recording.tape.program(outputs), _groups(sums.colors, _count(sums.colors))
