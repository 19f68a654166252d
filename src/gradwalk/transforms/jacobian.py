"""`jacobian`, `jacfwd`, `jacrev` and `hessian`: all first or second derivatives of a function, as dense arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.tracing.trace import Indices, Recording
from gradwalk.transforms.base import Argnums, Transform, transformed
from gradwalk.trees.tree import Shape, TreeDef, flatten, scalars
from gradwalk.value.value import Value

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

# Instructions that a Jacobian of numbers may become. A larger one is computed by one program for all columns, or rows.
# Its zeros are then multiplied by partials, and 0 · inf is nan.
_LARGEST_UNROLLED = 1_000_000


class Jacobian(Transform[P, R_co]):
    """All first derivatives of a function, as `jacobian`, `jacfwd` and `jacrev` make it.

    Args:
        f: The function.
        argnums: See `jacobian`.
        mode: "forward", "reverse", or "auto" for the cheaper of them.
    """

    def __init__(self, f: Callable[..., Any], argnums: Argnums, mode: str) -> None:
        super().__init__(f, argnums, "jacobian")
        self._mode = mode

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return all derivatives at these arguments."""
        recording = Recording()
        inputs, outputs, treedef, order = self._run(recording, args, kwargs)
        matrix = self._matrix(recording, inputs, outputs)
        return treedef.filled(matrix.ravel()[order])  # type: ignore[no-any-return]

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append what computes the derivatives to a tape: instructions of their own for each that can differ from 0.

        Args:
            recording: The recording that the tape belongs to.
            args: The positional arguments.
            kwargs: The keyword arguments.

        Returns:
            The indices of the derivatives, and the treedef of all derivatives.
        """
        inputs, outputs, treedef, order = self._run(recording, args, kwargs)
        indices: Indices = self._rows(recording, inputs, outputs).ravel()[order].tolist()
        return indices, treedef

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._mode

    def _run(
        self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Indices, Indices, TreeDef, Any]:
        """The indices of inputs and outputs, the treedef of the derivatives, and their order."""
        opened, inputs, columns = self._opened(recording, args)
        outputs, rows = recording.run(self._f, opened, kwargs)
        return inputs, outputs, *_arranged(rows, columns)

    def _is_forward(self, inputs: Indices, outputs: Indices) -> bool:
        """Whether to sweep forward, once an input, rather than in reverse, once an output."""
        return self._mode == "forward" or (self._mode == "auto" and len(inputs) < 2 * len(outputs))

    def _rows(self, recording: Recording, inputs: Indices, outputs: Indices) -> Any:
        """The indices of the derivatives on the tape, as a matrix with a row an output, a column an input."""
        tape = recording.tape
        one = tape.constant(1.0)
        if self._is_forward(inputs, outputs):
            columns = [tape.forward([(index, one)], outputs) for index in inputs]
            return numpy.array(columns, dtype=numpy.int32).reshape(len(inputs), len(outputs)).T
        rows = [tape.reverse([(index, one)], inputs) for index in outputs]
        return numpy.array(rows, dtype=numpy.int32).reshape(len(outputs), len(inputs))

    def _matrix(self, recording: Recording, inputs: Indices, outputs: Indices) -> Any:
        """The derivatives, as a matrix with a row an output, a column an input."""
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
def jacobian(f: Vmap[...], argnums: Argnums = 0) -> Any: ...
@overload
def jacobian(f: Callable[P, Any], argnums: Argnums = 0) -> Jacobian[P, Any]: ...
def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Differentiate all results of a function with respect to one of its arguments, or to several.

    It takes the cheaper of `jacfwd` and `jacrev`: forward unless there are many more inputs than outputs.

    Args:
        f: A function that takes and returns numbers, or lists, tuples, dicts, dataclasses, Modules and arrays of them.
        argnums: The position of the argument to differentiate by, or a sequence of positions.

    Returns:
        A function that returns the derivatives: for an array of shape s as argument and one of shape r as result, an
        array of shape r + s, also where that is (). In general they are like the result, with something like the
        argument, or a tuple for a sequence of them, in place of each number. It raises what the result of `grad`
        raises.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> jacobian(lambda x: [x[0] * x[1], x[0]])([2.0, 3.0])
        [[3.0, 2.0], [1.0, 0.0]]
    """
    return transformed(f, argnums, lambda g: Jacobian(g, argnums, "auto"))


@overload
def jacfwd(f: Vmap[...], argnums: Argnums = 0) -> Any: ...
@overload
def jacfwd(f: Callable[P, Any], argnums: Argnums = 0) -> Jacobian[P, Any]: ...
def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Differentiate all results of a function in forward mode, one pass for each input: few inputs, many results.

    Args:
        f: A function that takes and returns trees of numbers: see `jacobian`.
        argnums: The position of the argument to differentiate by, or a sequence of positions.

    Returns:
        A function that returns the derivatives, as that of `jacobian` does.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> jacfwd(lambda x: [x, x * x, x * x * x])(2.0)
        [1.0, 4.0, 12.0]
    """
    return transformed(f, argnums, lambda g: Jacobian(g, argnums, "forward"))


@overload
def jacrev(f: Vmap[...], argnums: Argnums = 0) -> Any: ...
@overload
def jacrev(f: Callable[P, Any], argnums: Argnums = 0) -> Jacobian[P, Any]: ...
def jacrev(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Differentiate all results of a function in reverse mode, one pass for each result: many inputs, few results.

    Args:
        f: A function that takes and returns trees of numbers: see `jacobian`.
        argnums: The position of the argument to differentiate by, or a sequence of positions.

    Returns:
        A function that returns the derivatives, as that of `jacobian` does.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> jacrev(lambda x: x[0] * x[1] * x[2])([2.0, 3.0, 4.0])
        [12.0, 8.0, 6.0]
    """
    return transformed(f, argnums, lambda g: Jacobian(g, argnums, "reverse"))


@overload
def hessian(f: Vmap[...], argnums: Argnums = 0) -> Any: ...
@overload
def hessian(f: Callable[P, Any], argnums: Argnums = 0) -> Jacobian[P, Any]: ...
def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Compute all second derivatives of a function: forward over reverse mode, one pass for each input.

    Args:
        f: A function that takes and returns trees of numbers: see `jacobian`.
        argnums: The position of the argument to differentiate by, or a sequence of positions.

    Returns:
        A function that returns the derivatives: like the result of `f`, with something like the argument in place of
        each number, and again in place of each number there. It raises what the result of `grad` raises.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> hessian(lambda x: x[0] * x[0] * x[1])([2.0, 3.0])
        [[6.0, 4.0], [4.0, 0.0]]
    """
    return transformed(f, argnums, lambda g: Jacobian(Jacobian(g, argnums, "reverse"), argnums, "forward"))


def _arranged(rows: TreeDef, columns: TreeDef) -> tuple[TreeDef, Any]:
    """Return the treedef of the derivatives, and the order in which the entries of the matrix are in it.

    It is the treedef of the result, with that of the arguments in place of each number.
    """
    entries = numpy.arange(rows.size * columns.size, dtype=numpy.float64).reshape(rows.size, columns.size)
    tree = rows.unflatten([columns.unflatten(blocks) for blocks in _blocks(entries, rows, columns)])
    leaves, treedef = flatten(tree, "a Jacobian")
    return treedef, numpy.array(scalars(leaves), dtype=numpy.int64)


def _blocks(entries: Any, rows: TreeDef, columns: TreeDef) -> Iterator[list[Any]]:
    """The entries of a matrix, cut up: for each leaf of the result, one block for each leaf of the arguments."""
    for row_range, row_shape in rows.ranges():
        yield [_block(entries[row_range, part], row_shape, shape) for part, shape in columns.ranges()]


def _block(entries: Any, row_shape: Shape, shape: Shape) -> Any:
    """The derivatives of one leaf by another: a number where both are numbers, else an array."""
    shapes = [each for each in (row_shape, shape) if not isinstance(each, str)]
    return entries.reshape(sum(shapes, ())) if shapes else float(entries[0, 0])


def _swept(recording: Recording, outputs: Indices, numbers: list[float], count: int) -> Any:
    """The outputs with each of the last `count` inputs in turn being 1 and the others 0: a row each."""
    program = recording.tape.program(outputs)
    rows = numpy.empty((count, len(outputs)))
    operands = numpy.array([*numbers, *[0.0] * count], numpy.float64)
    for i in range(count):
        operands[len(numbers) + i] = 1.0
        rows[i] = program.run(operands)
        operands[len(numbers) + i] = 0.0
    return rows
