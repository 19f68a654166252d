"""`jacobian`, `jacfwd`, `jacrev` and `hessian`: dense first and second derivatives of a function."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

import numpy

from gradwalk.arrays.kinds import ArrayKind
from gradwalk.arrays.layout_calls import Join, MoveRows, Reshape, Unpack
from gradwalk.arrays.recorder import RECORDER
from gradwalk.arrays.run.array_program import ArrayProgram
from gradwalk.batching.vmapped import Vmap
from gradwalk.program.calls.call import append_call
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import RecordedArray
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.transforms.base import Argnums, Transform, refuse_real_arguments, transformed, with_aux
from gradwalk.trees.complex_leaves import joined
from gradwalk.trees.tree import Shape, TreeDef, flatten, refuse_static, size, tupled
from gradwalk.value.value import Value

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

# Maximum number of instructions of a program that performs all sweeps for a Jacobian of numbers. For a larger Jacobian,
# a program that performs one sweep runs once per column or row. That program multiplies zero tangents by partials,
# which gives nan if a partial is infinite.
_LARGEST_UNROLLED = 1_000_000
_MOST_ARRAY_CALLS = 20_000  # the same for programs with whole arrays


class Jacobian(Transform[P, R_co]):
    """A function that computes a Jacobian. `mode` is "forward", "reverse", or "auto" for the cheaper mode."""

    _arrays = RECORDER

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: Argnums,
        mode: str,
        has_aux: bool = False,
        holomorphic: bool = False,
    ) -> None:
        super().__init__(f, argnums, "jacobian")
        self._mode = mode
        self._opens_whole = mode == "reverse"  # forward mode has a sweep for each number
        self._has_aux = has_aux
        self._holomorphic = holomorphic

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the Jacobian at these arguments."""
        recording = Recording(arrays=self._arrays if self.takes_arrays else None)
        run = self._run(recording, args, kwargs)
        if recording.effects.indices or self._is_unrolled(recording, run):
            return recording.results(*self._unrolled(recording, run))  # type: ignore[no-any-return]
        # The matrix is computed last, because it appends inputs to the tape.
        others = [recording.results(indices, of_aux) for indices, of_aux in run.aux]
        arranged = _arranged(run.rows, run.columns)
        numbers = self._matrix(recording, run).ravel()[arranged.order]
        if arranged.negated:
            numbers[arranged.negated] = -numbers[arranged.negated]
        found = arranged.treedef.filled(numbers)
        return (found, *others) if run.aux else found  # type: ignore[return-value]

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append each derivative that can be nonzero to the tape; return the indices and treedef of the Jacobian."""
        if not self._opens_whole and any(map(_has_arrays, [args[i] for i in self._positions(len(args))])):
            return recording.run(self.__call__, args, kwargs)  # which has an input for each number
        return self._unrolled(recording, self._run(recording, args, kwargs))

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._mode, self._has_aux, self._holomorphic

    def _run(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> _Run:
        """Record the function."""
        opened, inputs, columns = self._opened(recording, args)
        if self._holomorphic:
            refuse_real_arguments("a Jacobian", self._f, columns)
        outputs, rows = recording.run(self._f, opened, kwargs)
        aux = []
        if self._has_aux:
            rows, of_aux = with_aux(self._f, rows)
            count = recording.count_of(rows, outputs)
            aux.append((outputs[count:], of_aux))
            outputs = outputs[:count]
        if not rows.shapes:
            refuse_static(rows.unflatten([]), f"the result of {display_name(self._f)}")
        self._check_complex(rows, columns)
        is_forward = self._mode == "forward" or (self._mode == "auto" and columns.size < 2 * rows.size)
        if rows.pairs or columns.pairs:
            outputs = _numbers_of(recording.tape, outputs)
        elif any(index in recording.tape.arrays for index in outputs):  # which reverse mode would sweep one by one
            is_forward = is_forward or not any(index in recording.tape.arrays for index in inputs)
        return _Run(inputs, outputs, rows.as_floats(), columns, aux, is_forward)

    def _check_complex(self, rows: TreeDef, columns: TreeDef) -> None:
        """Raise `TypeError` if there are complex arguments or results for which the Jacobian is not defined."""
        if self._holomorphic:
            if 2 * len(rows.pairs) != len(rows.shapes):
                raise TypeError(
                    f"a Jacobian with holomorphic=True needs complex results, and {display_name(self._f)} returned "
                    f"{rows}: omit holomorphic for real results"
                )
            return
        if columns.pairs and (rows.pairs or self._mode == "forward"):
            what = "a Jacobian in forward mode" if self._mode == "forward" else "a Jacobian of complex results"
            raise TypeError(
                f"{what} needs real arguments, and {display_name(self._f)} was called with {columns}: pass "
                "holomorphic=True if it is a holomorphic function, or use jvp or vjp"
            )
        if rows.pairs and self._mode == "reverse":
            raise TypeError(
                f"a Jacobian in reverse mode needs real results, and {display_name(self._f)} returned {rows}: use "
                "jacfwd for a function of real numbers, or pass holomorphic=True for a holomorphic function"
            )

    def _is_unrolled(self, recording: Recording, run: _Run) -> bool:
        """Return whether to append all sweeps to the tape, rather than to run a program that makes one sweep."""
        most = _MOST_ARRAY_CALLS if recording.tape.has_arrays else _LARGEST_UNROLLED
        if any(isinstance(operand, Value) for operand in recording.operands):
            return True
        is_of_arrays = not run.is_forward and any(index in recording.tape.arrays for index in run.outputs)
        return not is_of_arrays and len(recording.tape) * min(run.columns.size, run.rows.size) < most

    def _unrolled(self, recording: Recording, run: _Run) -> tuple[Indices, TreeDef]:
        """Append all derivatives to the tape; return their indices and the treedef of the Jacobian, and of aux."""
        tape = recording.tape
        one = tape.constant(1.0)
        if run.is_forward:
            sweeps = [tape.forward([(index, one)], run.outputs) for index in run.inputs]
        else:
            sweeps = [tape.reverse([(index, one)], run.inputs) for index in _numbers_of(tape, run.outputs)]
        arranged = _arranged(run.rows, run.columns)
        entries = run.outputs if run.is_forward else run.inputs
        if any(index in tape.arrays for index in entries):
            indices = [index for block in _blocks_of_arrays(tape, sweeps, run) for index in block]
        else:
            matrix = numpy.array(sweeps, numpy.int32).reshape(len(sweeps), len(entries))
            indices = (matrix.T if run.is_forward else matrix).ravel()[arranged.order].tolist()
        for i in arranged.negated:
            indices[i] = tape.append("neg", indices[i])
        for of_aux, aux_treedef in run.aux:
            return [*indices, *of_aux], tupled([arranged.treedef, aux_treedef])
        return indices, arranged.treedef

    def _matrix(self, recording: Recording, run: _Run) -> Any:
        """Compute the derivatives as an (outputs, inputs) matrix, with a program that makes one sweep."""
        operands = recording.operands.copy()
        tape = recording.tape
        seeded = run.inputs if run.is_forward else run.outputs
        zeros = [numpy.zeros(tape.arrays[index]) if index in tape.arrays else numpy.zeros(()) for index in seeded]
        seeds = list(zip(seeded, recording.add_seeds([x if x.ndim else 0.0 for x in zeros]), strict=True))
        if run.is_forward:
            return _swept(tape, tape.forward(seeds, run.outputs), operands, zeros).T
        return _swept(tape, tape.reverse(seeds, run.inputs), operands, zeros)


@overload
def jacobian(f: Vmap[...], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any: ...
@overload
def jacobian(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Jacobian[P, Any]: ...
def jacobian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any:
    """Compute the Jacobian of a function with respect to one or several of its arguments.

    Forward mode is used if the number of inputs is less than twice the number of outputs; otherwise reverse mode is
    used.

    Args:
        f: A function that takes and returns numbers or trees of numbers: nested lists, tuples, dicts, dataclasses,
            Modules and arrays.
        argnums: Position of the argument to differentiate with respect to (default 0), or a sequence of positions.
        has_aux: Whether `f` returns a pair (result, aux). Only the result is differentiated, and the returned function
            returns the pair (derivative, aux).
        holomorphic: Whether `f` is a holomorphic function of complex arguments with complex results. The Jacobian then
            has its complex derivatives. Without it, arguments or results may be complex, but not both. The derivative
            with respect to a complex argument is described at `grad`.

    Returns:
        A function with the arguments of `f` that returns the Jacobian. If the argument is an array of shape s and the
        result an array of shape r, the Jacobian is an array of shape r + s. In general, the Jacobian is the result of
        `f` with each leaf replaced by a tree like the argument, or by a tuple of such trees if `argnums` is a sequence.
        The function raises the same exceptions as a gradient function: see `grad`.

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints.

    Example:
        >>> jacobian(lambda x: [x[0] * x[1], x[0]])([2.0, 3.0])
        [[3.0, 2.0], [1.0, 0.0]]
    """
    return transformed(f, argnums, lambda g: Jacobian(g, argnums, "auto", has_aux, holomorphic))


@overload
def jacfwd(f: Vmap[...], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any: ...
@overload
def jacfwd(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Jacobian[P, Any]: ...
def jacfwd(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any:
    """Compute the Jacobian in forward mode, with one sweep per input. Efficient for few inputs and many outputs.

    Args:
        f: A function that takes and returns trees of numbers: see `jacobian`.
        argnums: Position of the argument to differentiate with respect to, or a sequence of positions.
        has_aux: Whether `f` returns a pair (result, aux): see `jacobian`.
        holomorphic: Whether `f` is a holomorphic function: see `jacobian`. Without it, the arguments must be real.

    Returns:
        A function that returns the Jacobian in the structure described at `jacobian`.

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints.

    Example:
        >>> jacfwd(lambda x: [x, x * x, x * x * x])(2.0)
        [1.0, 4.0, 12.0]
    """
    return transformed(f, argnums, lambda g: Jacobian(g, argnums, "forward", has_aux, holomorphic))


@overload
def jacrev(f: Vmap[...], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any: ...
@overload
def jacrev(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Jacobian[P, Any]: ...
def jacrev(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any:
    """Compute the Jacobian in reverse mode, with one sweep per output. Efficient for many inputs and few outputs.

    If the result has an array of at least 4,000 numbers, and the argument has none, the mode is forward. The Jacobian
    is the same.

    Args:
        f: A function that takes and returns trees of numbers: see `jacobian`.
        argnums: Position of the argument to differentiate with respect to, or a sequence of positions.
        has_aux: Whether `f` returns a pair (result, aux): see `jacobian`.
        holomorphic: Whether `f` is a holomorphic function: see `jacobian`. Without it, the results must be real.

    Returns:
        A function that returns the Jacobian in the structure described at `jacobian`.

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints.

    Example:
        >>> jacrev(lambda x: x[0] * x[1] * x[2])([2.0, 3.0, 4.0])
        [12.0, 8.0, 6.0]
    """
    return transformed(f, argnums, lambda g: Jacobian(g, argnums, "reverse", has_aux, holomorphic))


@overload
def hessian(f: Vmap[...], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any: ...
@overload
def hessian(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Jacobian[P, Any]: ...
def hessian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any:
    """Compute the Hessian of a function: the matrix of its second derivatives.

    The method is forward over reverse mode, with one forward sweep per input.

    Args:
        f: A function that takes and returns numbers or trees of numbers, as at `jacobian`.
        argnums: Position of the argument to differentiate with respect to (default 0), or a sequence of positions.
        has_aux: Whether `f` returns a pair (result, aux). Only the result is differentiated, and the returned function
            returns the pair (derivative, aux).
        holomorphic: Whether `f` is a holomorphic function: see `jacobian`. Without it, arguments and results must be
            real.

    Returns:
        A function with the arguments of `f` that returns the Hessian. If the argument is an array of shape s and the
        result a number, the Hessian is an array of shape s + s. In general, the Hessian is the Jacobian of the
        Jacobian, with the structure described at `jacobian`. The function raises the same exceptions as a gradient
        function: see `grad`.

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints.

    Example:
        >>> hessian(lambda x: x[0] * x[0] * x[1])([2.0, 3.0])
        [[6.0, 4.0], [4.0, 0.0]]
    """

    def transform(g: Callable[..., Any]) -> Any:
        gradient = Jacobian[..., Any](g, argnums, "reverse", has_aux, holomorphic)
        return Jacobian[..., Any](gradient, argnums, "forward", has_aux, holomorphic)

    return transformed(f, argnums, transform)


class _Run(NamedTuple):
    """The recording of a function.

    Attributes:
        inputs: The tape indices of the inputs: numbers and, in reverse mode, whole arrays.
        outputs: The tape indices of the outputs: numbers and, in forward mode, whole arrays.
        rows: The treedef of the result.
        columns: The treedef of the arguments.
        aux: The indices and the treedef of aux, if there is one.
        is_forward: Whether to use forward sweeps, one per input, rather than reverse sweeps, one per output.
    """

    inputs: Indices
    outputs: Indices
    rows: TreeDef
    columns: TreeDef
    aux: list[tuple[Indices, TreeDef]]
    is_forward: bool


class _Arranged(NamedTuple):
    """The arrangement of a Jacobian.

    Attributes:
        treedef: The treedef of the Jacobian: the treedef of the result in which each leaf is replaced by the treedef of
            the arguments.
        order: The index of each of its numbers in the flattened (outputs, inputs) matrix.
        negated: The positions of the numbers that are the negative of the matrix entry.
    """

    treedef: TreeDef
    order: Any
    negated: list[int]


def _arranged(rows: TreeDef, columns: TreeDef) -> _Arranged:
    """Return the arrangement of a Jacobian, given the treedefs of the result and of the arguments."""
    entries = numpy.arange(1.0, rows.size * columns.size + 1.0).reshape(rows.size, columns.size)
    tree = rows.of_items([columns.of_items(blocks) for blocks in _blocks(entries, rows, columns)])
    leaves, treedef = flatten(tree, "a Jacobian")
    signed = numpy.concatenate([numpy.empty(0), *map(numpy.ravel, leaves)]).astype(numpy.int64)
    negated = (signed < 0).nonzero()[0].tolist() if columns.pairs else []
    return _Arranged(treedef, numpy.abs(signed) - 1, negated)


def _blocks(entries: Any, rows: TreeDef, columns: TreeDef) -> Iterator[list[Any]]:
    """Yield one list per leaf of the result. It has one block of the matrix per leaf of the arguments."""
    column_parts = _parts(columns)
    for row in _parts(rows):
        yield [_complex_block(entries, row, column) for column in column_parts]


_Part = list[tuple[slice, Shape]]  # the numbers of a leaf, or the numbers of its real part and of its imaginary part


def _parts(treedef: TreeDef) -> list[_Part]:
    """Return the numbers of each leaf, and of each complex number or array."""
    parts = [[part] for part in treedef.ranges()]
    return treedef.with_pairs_joined(parts, operator.add) if treedef.pairs else parts


def _complex_block(entries: Any, row: _Part, column: _Part) -> Any:
    """Return the derivative of one leaf with respect to another.

    With respect to a complex x + iy, the derivative is d/dx - i d/dy of the real part, as the gradient is: see `grad`.
    """
    (row_range, row_shape), (column_range, shape) = row[0], column[0]
    real = _block(entries[row_range, column_range], row_shape, shape)
    if len(column) == 2:
        return joined(real, -_block(entries[row_range, column[1][0]], row_shape, shape))
    if len(row) == 2:
        return joined(real, _block(entries[row[1][0], column_range], row_shape, shape))
    return real


def _block(entries: Any, row_shape: Shape, shape: Shape) -> Any:
    """Reshape a block to the derivative of one leaf with respect to another: a float for two numbers, else an array."""
    shapes = [each for each in (row_shape, shape) if not isinstance(each, str)]
    return entries.reshape(sum(shapes, ())) if shapes else float(entries[0, 0])


def _blocks_of_arrays(tape: Tape, sweeps: Sequence[Indices], run: _Run) -> Iterator[Indices]:
    """Yield the indices of each block, the derivative of one leaf with respect to another: numbers, or one array."""
    sweep_of, entries_of = (run.columns, run.rows) if run.is_forward else (run.rows, run.columns)
    entries = _places(tape, run.outputs if run.is_forward else run.inputs, entries_of)
    pairs = list(itertools.product(sweep_of.ranges(), entries))
    if run.is_forward:  # the blocks of one leaf of the result follow each other
        pairs = [(seeded, places) for places, seeded in itertools.product(entries, sweep_of.ranges())]
    for (numbers, shape), places in pairs:
        parts = [sweep[places] for sweep in sweeps[numbers]]
        if not any(index in tape.arrays for index in itertools.chain.from_iterable(parts)):
            yield list(itertools.chain.from_iterable(zip(*parts, strict=True) if run.is_forward else parts))
        elif run.is_forward:
            yield [_columns(tape, [index for [index] in parts])]
        else:
            yield [_rows(tape, [index for [index] in parts], shape)]


def _columns(tape: Tape, arrays: Indices) -> int:
    """Append an array whose last axis has one entry for each of these arrays; return its index."""
    kind, count = tape.arrays[arrays[0]], len(arrays)
    found = _rows(tape, arrays, (count,))
    moved = tape.call(MoveRows((count, kind.size), 1), [found])
    return tape.call(Reshape(ArrayKind(kind.size, count), ArrayKind(kind.rows, kind.width * count)), [moved])


def _rows(tape: Tape, arrays: Indices, shape: Shape) -> int:
    """Append an array whose first axes, of this shape, have one entry for each of these arrays; return its index."""
    kinds = [tape.arrays[index] for index in arrays]
    total = len(arrays) * kinds[0].size
    rows = shape[0] if shape and not isinstance(shape, str) else kinds[0].rows
    joined = ArrayKind(len(arrays) * kinds[0].rows, kinds[0].width)
    return tape.call(Reshape(joined, ArrayKind(rows, total // rows)), [tape.call(Join(kinds), arrays)])


def _places(tape: Tape, indices: Indices, treedef: TreeDef) -> list[slice]:
    """Return for each leaf of a tree where its numbers or its array are among the indices of the tree."""
    found = []
    start = 0
    for shape in treedef.shapes:
        end = start + (1 if size(shape) and indices[start] in tape.arrays else size(shape))
        found.append(slice(start, end))
        start = end
    return found


def _numbers_of(tape: Tape, indices: Indices) -> Indices:
    """Return the indices of numbers, with the numbers of each array in its place."""
    found: Indices = []
    for index in indices:
        kind = tape.arrays.get(index)
        found += [index] if kind is None else append_call(Unpack(kind), tape, [index])
    return found


def _swept(tape: Tape, outputs: Indices, operands: list[Any], seeds: Sequence[Any]) -> Any:
    """Run a program once for each number of some arrays, the seeds; return one row per run.

    The inputs of the program are the operands and the seeds. In each run, one number of the seeds is 1, and the other
    numbers are 0.
    """
    run = ArrayProgram(tape, outputs).evaluate if tape.has_arrays else _run_of_numbers(tape, outputs)
    rows = []
    for seed in seeds:
        for at in numpy.ndindex(seed.shape):
            seed[at] = 1.0
            found = run([*operands, *(x if x.ndim else float(x) for x in seeds)])
            rows.append(numpy.concatenate([numpy.ravel(x) for x in found]))
            seed[at] = 0.0
    return numpy.array(rows)


def _run_of_numbers(tape: Tape, outputs: Indices) -> Callable[[list[Any]], list[Any]]:
    """Return the function that computes outputs of a tape without arrays, as a list with one array."""
    program = tape.program(outputs)
    return lambda operands: [program.run(numpy.array(operands, numpy.float64))]


def _has_arrays(argument: Any) -> bool:
    """Return whether there are whole arrays in an argument."""
    return any(isinstance(leaf, RecordedArray) for leaf in flatten(argument, "an argument")[0])
