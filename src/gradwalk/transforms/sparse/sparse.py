"""`sparse_jacobian` and `sparse_hessian`: derivatives that are mostly zero, as SciPy sparse arrays.

The first call for a structure of arguments records the function, finds the derivatives that can be nonzero, and colors
the columns or rows of the matrix. One sweep computes all columns (or rows) of a color. All sweeps are recorded into one
program; later calls only run this program. The coloring algorithms are in `coloring`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec

import numpy

from gradwalk.base.optional import from_scipy
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.program.tracing.trace_cache import ArgumentKeys, Trace, TraceCache
from gradwalk.transforms.base import Argnums, Transform
from gradwalk.transforms.grad import grad
from gradwalk.transforms.sparse.coloring import column_coloring, star_coloring
from gradwalk.transforms.sparse.sparsity_pattern import pattern, symmetric, transposed
from gradwalk.trees.tree import TreeDef, scalars, write
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value

_LARGEST = 10_000_000  # maximum length of a tape with all sweeps; beyond it, one program runs once per color

P = ParamSpec("P")
Pattern = tuple[Any, Any]


class SparseStatistics(NamedTuple):
    """The size of a recorded sparse matrix, and the cost of computing it.

    Attributes:
        nonzeros: Number of entries that can be nonzero.
        colors: Number of colors of the columns (forward mode) or rows (reverse mode). Each color takes one sweep.
        instructions: Number of instructions in the program.
    """

    nonzeros: int
    colors: int
    instructions: int


class Sums(NamedTuple):
    """A plan for reading a matrix from sums of its columns or rows. One sweep of the tape computes one sum.

    Entry k of the matrix is the number at `targets[at[k]]` in the sweep of color `sum_of[k]`.

    Attributes:
        sweep: `Tape.forward` or `Tape.reverse`.
        seeds: Tape indices to seed. Each sweep seeds the indices of one color.
        colors: Color of each seed.
        targets: Tape indices whose derivatives each sweep computes.
        sum_of: Color of the sweep that computes each entry.
        at: Position of each entry among the targets.
    """

    sweep: Callable[[list[tuple[int, int]], Indices], Indices]
    seeds: Indices
    colors: Any
    targets: Indices
    sum_of: Any
    at: Any


@dataclass(frozen=True, eq=False)
class SparseTrace(Trace):
    """A recorded program that computes a sparse matrix.

    The program's inputs are the numbers of the arguments, the captured Values, and the seeds. A program that performs
    all sweeps has no seeds. Any other program runs once for each group of seeds; the seeds of this group are then 1,
    and all other seeds are 0.

    Attributes:
        matrix: A matrix with the pattern of the results. It is copied for each result.
        first: Index of the first captured Value among the inputs.
        statistics: Size and cost of the recording.
        groups: The seeds of each color.
        positions: Two arrays: the run that computes each entry, and the position of the entry among the outputs of that
            run.
    """

    matrix: Any
    first: int
    statistics: SparseStatistics
    groups: list[Any]
    positions: tuple[Any, Any]

    def entries(self, row: Any) -> Any:
        """Compute the entries of the matrix from the inputs in `row`. Inputs that are not arguments are overwritten."""
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
    """Base class of functions that return a sparse matrix of derivatives."""

    _name = ""
    _dense = ""  # name of the corresponding dense transform, which accepts Values

    def __init__(self, f: Callable[P, Any], argnums: Argnums) -> None:
        super().__init__(f, argnums, self._name)
        self._keys = ArgumentKeys(f, self._advice)
        self._cache: TraceCache[SparseTrace] = TraceCache(display_name(f))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the matrix at these arguments. If their structure is new, the function is recorded first."""
        trace, leaves = self._trace(args, kwargs)
        row = numpy.zeros(trace.program.inputs)
        self._write(leaves, row)
        matrix = copy.copy(trace.matrix)  # the constructor would validate the structure again
        matrix.data, matrix.indices, matrix.indptr = trace.entries(row), matrix.indices.copy(), matrix.indptr.copy()
        return matrix

    def structure(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return a matrix with entries 0 and the sparsity structure for these arguments, without computing derivatives.

        Args:
            *args: Positional arguments of the function. Only their structure and shapes matter.
            **kwargs: Keyword arguments of the function.
        """
        return self._trace(args, kwargs)[0].matrix.copy()

    @property
    def statistics(self) -> SparseStatistics:
        """Size and cost of the latest recording; raises `ValueError` if there is none yet."""
        return self._cache.last(repr(self)).statistics

    @property
    def program(self) -> Program:
        """The `Program` of the latest recording; raises `ValueError` if there is none yet.

        It computes the stored entries of the matrix, in the order of `structure(...).data`.
        """
        trace = self._cache.last(repr(self))
        if trace.groups:
            raise ValueError(
                f"{self!r} has no single program: it runs a smaller one for each of its {len(trace.groups)} colors, "
                f"because all sweeps together would have more than {_LARGEST:,} instructions"
            )
        return trace.program

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Raise `TypeError`: another transform cannot record a function whose result is a sparse matrix."""
        raise self._refused()

    def _refused(self) -> TypeError:
        return TypeError(
            f"{self!r} returns a SciPy array of floats, through which no derivative flows, so its arguments must not "
            f"be Values: in a differentiated or recorded function use {self._dense}; elsewhere pass numbers (x.data)"
        )

    def _advice(self, arg: Any, name: str) -> str:
        return f". To fix an argument that is not a number, bind it first: {self._name}(lambda x: f(x, {name}))"

    def _write(self, leaves: list[Any], row: Any) -> None:
        """Write the numbers of the arguments to `row`. Raises `TypeError` if any of them is a Value."""
        if not write(leaves, row):
            numbers = scalars(leaves)
            if any(isinstance(number, Value) for number in numbers):
                raise self._refused()
            row[: len(numbers)] = numbers

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[SparseTrace, list[Any]]:
        """Return the trace for arguments with this structure, recorded if needed, and the leaves of the arguments."""
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
        program, groups = _unrolled(recording, sums) or _swept(recording, sums)
        statistics = SparseStatistics(len(indices), len(numpy.unique(sums.sum_of)), len(program))
        return SparseTrace(program, captured, matrix, first, statistics, groups, (sums.sum_of, sums.at))

    def _inputs(self, recording: Recording, args: list[Any]) -> Indices:
        """Return the indices of the inputs to differentiate with respect to."""
        positions = self._positions(len(args))
        if len(set(positions)) < len(positions):
            raise ValueError(f"argnums of {self!r} must be distinct, got {self._argnums}")
        found = [recording.input_indices(args[i]) for i in positions]
        self._refuse_complex(f"arguments of {self!r}", [treedef for _, treedef in found])
        return [index for indices, _ in found for index in indices]

    def _refuse_complex(self, what: str, treedefs: Iterable[TreeDef]) -> None:
        """Raise `TypeError` if there are complex numbers in arguments or results."""
        for treedef in treedefs:
            if treedef.pairs:
                raise TypeError(f"{what} must be real, got {treedef}: use {self._dense}, or separate the real part")

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Indices:
        """Return the indices of the numbers to differentiate."""
        raise NotImplementedError

    def _pattern(self, indptr: Any, indices: Any) -> Pattern:
        """Return the pattern of the matrix, given the pattern found in the program."""
        return indptr, indices

    def _sums(self, tape: Tape, inputs: Indices, outputs: Indices, pattern: Pattern) -> Sums:
        """Return the sums to compute: few sums from which all entries of the matrix can be read."""
        raise NotImplementedError


class SparseJacobian(Sparse[P]):
    """A function that computes a sparse Jacobian, returned by `sparse_jacobian`."""

    _name = "sparse_jacobian"
    _dense = "jacobian"

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Indices:
        outputs, treedef = recording.run(self._f, args, kwargs)
        self._refuse_complex(f"results of {display_name(self._f)}", [treedef])
        return outputs

    def _sums(self, tape: Tape, inputs: Indices, outputs: Indices, pattern: Pattern) -> Sums:
        """Sum columns (forward mode) or rows (reverse mode), whichever needs fewer colors."""
        is_forward, colors = _fewest_colors(pattern, transposed(*pattern, len(inputs)))
        rows, columns = _entries(pattern)
        if is_forward:
            return Sums(tape.forward, inputs, colors, outputs, colors[columns], rows)
        return Sums(tape.reverse, outputs, colors, inputs, colors[rows], columns)


class SparseHessian(Sparse[P]):
    """A function that computes a sparse Hessian, returned by `sparse_hessian`."""

    _name = "sparse_hessian"
    _dense = "hessian"

    def _outputs(self, recording: Recording, args: list[Any], kwargs: dict[str, Any]) -> Indices:
        return recording.run(grad(self._f, self._argnums), args, kwargs)[0]

    def _pattern(self, indptr: Any, indices: Any) -> Pattern:
        """Add the entry (j, i) of each entry (i, j) if it is missing. Both entries are then 0 at every point."""
        return symmetric(indptr, indices)

    def _sums(self, tape: Tape, inputs: Indices, outputs: Indices, pattern: Pattern) -> Sums:
        """Sum columns of the Jacobian of the gradient. Both entries of a symmetric pair are read from the same sum."""
        colors, flipped = star_coloring(*pattern)
        rows, columns = _entries(pattern)
        sum_of = numpy.where(flipped, colors[rows], colors[columns])
        return Sums(tape.forward, inputs, colors, outputs, sum_of, numpy.where(flipped, columns, rows))


def sparse_jacobian(f: Callable[P, Any], argnums: Argnums = 0) -> SparseJacobian[P]:
    """Compute the Jacobian of a function as a SciPy sparse array, skipping the entries that are always zero.

    `f` is recorded on the first call for each structure of arguments and replayed on later calls, as by `jit`. `f` must
    not branch on a number, because the sparsity pattern must be the same for all inputs. Values that `f` captures are
    read on every call.

    Columns of the same color have no nonzeros in common rows and are computed in one sweep. In reverse mode, rows are
    colored instead of columns. The time of the first call is proportional to the number of colors times the number of
    instructions. Later calls cost about one forward or reverse sweep per color; `.statistics` gives the number of
    colors. For a matrix with few zeros, use `jacobian`.

    Args:
        f: A function that takes and returns numbers, or lists, tuples, dicts, dataclasses, Modules and arrays of them.
        argnums: Position of the argument to differentiate with respect to, or a sequence of distinct positions.

    Returns:
        A function with the arguments of `f` that returns a `scipy.sparse.csr_array` of float64. The attribute
        `.statistics` of the function describes the latest recording. Row i belongs to the i-th number of the flattened
        result of `f`, and column j to the j-th number of the flattened arguments at `argnums`. Entries that happen to
        be 0 are stored, so the sparsity structure is the same at every point.

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints. When the returned function is called: an argument is
            a Value or contains something other than numbers.
        ValueError: When the returned function is called: `argnums` are out of range or repeated.
        RecordingError: When the returned function is called: `f` branches on a number.
        ImportError: When the returned function is called: SciPy is not installed.

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
    """Compute the Hessian of a function as a SciPy sparse array, skipping the entries that are always zero.

    `f` is recorded and replayed as by `sparse_jacobian`. The columns are star colored, so that an arrowhead matrix, for
    example, needs only 2 colors. The result can be passed to `scipy.optimize.minimize` as `hess` for Newton-CG and
    trust-constr, and as `hessp=lambda x, p: hessian(x) @ p` for trust-krylov and trust-ncg.

    Args:
        f: A function that returns one number: see `sparse_jacobian`.
        argnums: Position of the argument to differentiate with respect to, or a sequence of distinct positions.

    Returns:
        A function with the arguments of `f` that returns a `scipy.sparse.csr_array` of float64, which is exactly
        symmetric. Row i and column i belong to the i-th number of the flattened arguments at `argnums`. The attribute
        `.statistics` of the function describes the latest recording. The function raises the same exceptions as a
        function made by `sparse_jacobian`, and `TypeError` if `f` does not return one number.

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints.

    Example:
        >>> hessian = sparse_hessian(lambda x: x[0] * x[0] * x[1] + x[2] ** 3)
        >>> hessian([2.0, 3.0, 1.0]).toarray()
        array([[6., 4., 0.],
               [4., 0., 0.],
               [0., 0., 6.]])
    """
    return SparseHessian(f, argnums)


def _entries(pattern: Pattern) -> tuple[Any, Any]:
    """Return the row and the column of each entry."""
    indptr, indices = pattern
    return numpy.repeat(numpy.arange(len(indptr) - 1), numpy.diff(indptr)), indices


def _fewest_colors(by_rows: Pattern, by_columns: Pattern) -> tuple[bool, Any]:
    """Return a pair: whether to color the columns rather than the rows, and the colors.

    The number of column colors is at least the number of entries in the longest row. The number of row colors is at
    least the number of entries in the longest column. The side with the smaller bound is colored first. The other side
    is colored only if it could need fewer colors, because coloring the columns is slow if a row is dense, and coloring
    the rows is slow if a column is dense.
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
    """Return one array per color: the positions at which `colors` has this color."""
    ends = numpy.cumsum(numpy.bincount(colors, minlength=count))
    return numpy.split(numpy.argsort(colors, kind="stable"), ends[:-1])


def _unrolled(recording: Recording, sums: Sums) -> tuple[Program, list[Any]] | None:
    """Build one program that computes all entries and has no seeds. Return None if the program is too long."""
    tape = recording.tape
    one = tape.constant(1.0)
    entries = numpy.zeros(len(sums.at), numpy.int64)
    count = _count(sums.colors)
    for seeds, read in zip(_groups(sums.colors, count), _groups(sums.sum_of, count), strict=True):
        targets = [sums.targets[k] for k in sums.at[read]]
        entries[read] = sums.sweep([(sums.seeds[k], one) for k in seeds], targets)
        if len(tape) > _LARGEST:
            return None
    return recording.program(entries.tolist()), []


def _swept(recording: Recording, sums: Sums) -> tuple[Program, list[Any]]:
    """Return a program that performs one sweep and takes the seeds as last inputs, and the seeds of each color."""
    seeds = recording.add_seeds([0.0] * len(sums.seeds))
    outputs = sums.sweep(list(zip(sums.seeds, seeds, strict=True)), sums.targets)
    return recording.program(outputs), _groups(sums.colors, _count(sums.colors))
