"""`jacobian`, `jacfwd`, `jacrev` and `hessian`: dense first and second derivatives of a function."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

import numpy

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.tape import Indices
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.transforms.base import Argnums, Transform, refuse_real_arguments, transformed, with_aux
from gradwalk.trees.complex_leaves import joined
from gradwalk.trees.tree import Shape, TreeDef, flatten, refuse_static, scalars, tupled
from gradwalk.value.value import Value

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

# Maximum number of instructions of a program that performs all sweeps for a Jacobian of numbers. For a larger Jacobian,
# a program that performs one sweep runs once per column or row. That program multiplies zero tangents by partials,
# which gives nan if a partial is infinite.
_LARGEST_UNROLLED = 1_000_000


class Jacobian(Transform[P, R_co]):
    """A function that computes a Jacobian. `mode` is "forward", "reverse", or "auto" for the cheaper mode."""

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
        self._has_aux = has_aux
        self._holomorphic = holomorphic

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the Jacobian at these arguments."""
        recording = Recording()
        inputs, outputs, arranged, aux = self._run(recording, args, kwargs)
        # The matrix is computed last, because it appends inputs to the tape.
        others = [of_aux.results(recording.evaluate(indices)) for indices, of_aux in aux]
        numbers = self._matrix(recording, inputs, outputs).ravel()[arranged.order]
        if arranged.negated:
            numbers[arranged.negated] = -numbers[arranged.negated]
        found = arranged.treedef.filled(numbers)
        return (found, *others) if aux else found  # type: ignore[return-value]

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append each derivative that can be nonzero to the tape; return the indices and treedef of the Jacobian."""
        inputs, outputs, arranged, aux = self._run(recording, args, kwargs)
        indices: Indices = self._rows(recording, inputs, outputs).ravel()[arranged.order].tolist()
        for i in arranged.negated:
            indices[i] = recording.tape.append("neg", indices[i])
        for of_aux, aux_treedef in aux:
            return [*indices, *of_aux], tupled([arranged.treedef, aux_treedef])
        return indices, arranged.treedef

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._mode, self._has_aux, self._holomorphic

    def _run(
        self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Indices, Indices, _Arranged, list[tuple[Indices, TreeDef]]]:
        """Record the function.

        Returns:
            The indices of inputs and outputs, the arrangement of the Jacobian, and a list with the indices and the
            treedef of aux, which is empty if there is no aux.
        """
        opened, inputs, columns = self._opened(recording, args)
        if self._holomorphic:
            refuse_real_arguments("a Jacobian", self._f, columns)
        outputs, rows = recording.run(self._f, opened, kwargs)
        aux = []
        if self._has_aux:
            rows, of_aux = with_aux(self._f, rows)
            aux.append((outputs[rows.size :], of_aux))
        if not rows.shapes:
            refuse_static(rows.unflatten([]), f"the result of {display_name(self._f)}")
        self._check_complex(rows, columns)
        return inputs, outputs[: rows.size], _arranged(rows.as_floats(), columns), aux

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

    def _is_forward(self, inputs: Indices, outputs: Indices) -> bool:
        """Return whether to use forward sweeps, one per input, rather than reverse sweeps, one per output."""
        return self._mode == "forward" or (self._mode == "auto" and len(inputs) < 2 * len(outputs))

    def _rows(self, recording: Recording, inputs: Indices, outputs: Indices) -> Any:
        """Append all derivatives to the tape and return their indices as an (outputs, inputs) matrix."""
        tape = recording.tape
        one = tape.constant(1.0)
        if self._is_forward(inputs, outputs):
            columns = [tape.forward([(index, one)], outputs) for index in inputs]
            return numpy.array(columns, dtype=numpy.int32).reshape(len(inputs), len(outputs)).T
        rows = [tape.reverse([(index, one)], inputs) for index in outputs]
        return numpy.array(rows, dtype=numpy.int32).reshape(len(outputs), len(inputs))

    def _matrix(self, recording: Recording, inputs: Indices, outputs: Indices) -> Any:
        """Compute the derivatives as an (outputs, inputs) matrix."""
        is_small = len(recording.tape) * min(len(inputs), len(outputs)) < _LARGEST_UNROLLED
        if is_small or any(isinstance(operand, Value) for operand in recording.operands):
            entries = recording.evaluate(self._rows(recording, inputs, outputs).ravel().tolist())
            matrix = entries if isinstance(entries, numpy.ndarray) else numpy.empty(len(entries), dtype=object)
            matrix[:] = entries
            return matrix.reshape(len(outputs), len(inputs))
        numbers = recording.operands.copy()
        if self._is_forward(inputs, outputs):
            tangents = recording.add_seeds([0.0] * len(inputs))
            seeds = list(zip(inputs, tangents, strict=True))
            return _swept(recording, recording.tape.forward(seeds, outputs), numbers, len(inputs)).T
        adjoints = recording.add_seeds([0.0] * len(outputs))
        seeds = list(zip(outputs, adjoints, strict=True))
        return _swept(recording, recording.tape.reverse(seeds, inputs), numbers, len(outputs))


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
    signed = numpy.array(scalars(leaves), dtype=numpy.int64)
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


def _swept(recording: Recording, outputs: Indices, numbers: list[float], count: int) -> Any:
    """Run a program `count` times; return one row per run.

    In run i, the i-th of the last `count` inputs of the program is 1, and the rest of these inputs are 0.
    """
    program = recording.tape.program(outputs)
    rows = numpy.empty((count, len(outputs)))
    operands = numpy.array([*numbers, *[0.0] * count], numpy.float64)
    for i in range(count):
        operands[len(numbers) + i] = 1.0
        rows[i] = program.run(operands)
        operands[len(numbers) + i] = 0.0
    return rows
