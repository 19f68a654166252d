"""Functions of functions, with JAX's names and meanings: `grad`, `jacobian`, `hessian`, `jvp`, `vjp` and their kin.

Each records the function that it is given, differentiates the recording, and evaluates the result: on numbers, or on
Values where an argument is a Value or where the function uses one that is being differentiated outside of it. Every
recording has inputs of its own, so derivatives nest to any order, and one is never taken for another.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MethodType
from typing import Any

import numpy

from gradwalk.batching.vmap import Vmap
from gradwalk.program.trace import Indices, Recordable, Recording, evaluate, named, reduced
from gradwalk.trees.tree import SCALAR, Parameters, Structure, flattened, scalars, tupled
from gradwalk.value.value import Value

Argnums = int | Sequence[int]


# Instructions that a Jacobian of numbers may become. A larger one is computed by one program for all columns, or rows:
# its zeros are then multiplied, and 0 · inf is nan.
_LARGEST_UNROLLED = 1_000_000


class Transform(Recordable):
    """A function made from another one. It has the other one's name and docstring."""

    __name__ = "function"

    def __init__(self, f: Callable[..., Any], argnums: Argnums) -> None:
        if not callable(f):
            raise TypeError(f"{type(self).__name__.lower()}() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._argnums = _checked(argnums)
        self._parameters = Parameters(f)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function is made for, at these arguments."""
        recording = Recording()
        places, structure = self.record(recording, args, kwargs)
        return structure.filled(recording.evaluate(places))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        return reduced(self, self._made_from())

    def _made_from(self) -> tuple[Any, ...]:
        """What to call the class with to make another one."""
        return self._f, self._argnums

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} of {self._f if isinstance(self._f, Recordable) else named(self._f)}>"

    def _opened(self, recording: Recording, args: Sequence[Any]) -> tuple[list[Any], list[Indices], list[Structure]]:
        """The arguments, inputs in place of those to differentiate by; the places of these, and their structures."""
        args = list(args)
        names = self._parameters.first(len(args))
        places, structures = [], []
        for i in self._positions(len(args)):
            args[i] = recording.add_inputs(args[i], names[i])
            inputs, structure = recording.input_indices(args[i])
            places.append(inputs)
            structures.append(structure)
        return args, places, structures

    def _positions(self, count: int) -> list[int]:
        """`argnums` as places among the positional arguments."""
        argnums = [self._argnums] if isinstance(self._argnums, int) else self._argnums
        for i in argnums:
            if not -count <= i < count:
                raise ValueError(
                    f"argnums={self._argnums} of {named(self._f)}, which was called with {count} positional "
                    f"argument{'s' if count != 1 else ''}: give the number of one of them, counted from 0"
                )
        return [i % count for i in argnums]

    def _of_arguments(self, structures: list[Structure]) -> Structure:
        """The structure of results that are like the arguments: one of them, or a tuple."""
        return structures[0] if isinstance(self._argnums, int) else tupled(structures)


class Grad(Transform):
    """The gradient of a function with one number as result: see `grad` and `value_and_grad`."""

    def __init__(self, f: Callable[..., Any], argnums: Argnums, has_aux: bool, with_value: bool) -> None:
        super().__init__(f, argnums)
        self._has_aux = has_aux
        self._with_value = with_value

    def _made_from(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._has_aux, self._with_value

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, Structure]:
        """The places of the gradient, and of value and aux if they are asked for."""
        args, wrt, structures = self._opened(recording, args)
        places, structure = recording.run(self._f, args, kwargs)
        [value, *aux], [_, *aux_structure] = self._value_and_aux(places, structure)
        one = recording.tape.constant(1.0)
        gradient = recording.tape.reverse([(value, one)], [place for inputs in wrt for place in inputs])
        gradient_structure = self._of_arguments(structures)
        if self._with_value:
            head = tupled([SCALAR, *aux_structure]) if aux_structure else SCALAR
            return [value, *aux, *gradient], tupled([head, gradient_structure])
        if aux_structure:
            return [*gradient, *aux], tupled([gradient_structure, *aux_structure])
        return gradient, gradient_structure

    def _value_and_aux(self, places: Indices, structure: Structure) -> tuple[Indices, list[Structure]]:
        """What the function has returned, checked: places, the first one the value's; and structures of the parts."""
        parts = [structure]
        if self._has_aux:
            parts = structure.parts()
            if len(parts) != 2:
                raise TypeError(f"with has_aux, {named(self._f)} has to return a pair (value, aux), not {structure}")
        if not parts[0].is_scalar:
            raise TypeError(
                f"a gradient is that of one number, and {named(self._f)} returned {parts[0]}: use jacobian, "
                "or return a sum"
            )
        return places, parts


class Jacobian(Transform):
    """All first derivatives of a function: see `jacobian`, `jacfwd` and `jacrev`."""

    def __init__(self, f: Callable[..., Any], argnums: Argnums, mode: str) -> None:
        super().__init__(f, argnums)
        self._mode = mode

    def _made_from(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._mode

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """All derivatives at these arguments."""
        recording = Recording()
        inputs, outputs, structures = self._run(recording, args, kwargs)
        matrix = self._matrix(recording, inputs, outputs)
        structure, order = self._arranged(*structures)
        return structure.filled(matrix.ravel()[order])

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, Structure]:
        """The places of all derivatives, as instructions of their own for every one that can differ from 0."""
        inputs, outputs, structures = self._run(recording, args, kwargs)
        structure, order = self._arranged(*structures)
        places = self._rows(recording, inputs, outputs).ravel()[order]
        return places.tolist(), structure

    def _run(
        self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Indices, Indices, tuple[Structure, list[Structure]]]:
        """Inputs, outputs, and the structures of the result and of the arguments."""
        args, wrt, structures = self._opened(recording, args)
        outputs, structure = recording.run(self._f, args, kwargs)
        return [place for inputs in wrt for place in inputs], outputs, (structure, structures)

    def _is_forward(self, inputs: Indices, outputs: Indices) -> bool:
        """Whether to go through the recording once an input, rather than once an output."""
        return self._mode == "forward" or (self._mode == "auto" and len(inputs) < 2 * len(outputs))

    def _rows(self, recording: Recording, inputs: Indices, outputs: Indices) -> Any:
        """The places of the derivatives, a row an output, a column an input."""
        tape = recording.tape
        one = tape.constant(1.0)
        if self._is_forward(inputs, outputs):
            columns = [tape.forward([(place, one)], outputs) for place in inputs]
            return numpy.array(columns, dtype=numpy.int32).reshape(len(inputs), len(outputs)).T
        rows = [tape.reverse([(place, one)], inputs) for place in outputs]
        return numpy.array(rows, dtype=numpy.int32).reshape(len(outputs), len(inputs))

    def _matrix(self, recording: Recording, inputs: Indices, outputs: Indices) -> Any:
        """The derivatives, a row an output, a column an input: numbers by one program, run once a column or a row."""
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

    def _arranged(self, result: Structure, arguments: list[Structure]) -> tuple[Structure, Any]:
        """The structure of the derivatives, and the order in which the entries of the matrix stand there.

        It is the structure of the result, with that of the arguments in place of each number.
        """
        columns = self._of_arguments(arguments)
        entries = numpy.arange(result.size * columns.size, dtype=numpy.float64).reshape(result.size, columns.size)
        tree = result.with_leaves([columns.with_leaves(blocks) for blocks in _blocks(entries, result, columns)])
        leaves, structure = flattened(tree, "a Jacobian")
        return structure, numpy.array(scalars(leaves), dtype=numpy.int64)


def grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `f` with respect to one of its arguments, or to several.

    `f` takes numbers, or lists, tuples, dicts, dataclasses and arrays of them, and returns one number; with `has_aux` a
    pair of it and of other numbers. `argnums`: which positional argument, counted from 0, or a sequence of them.
    The gradient is like the argument, or a tuple for a sequence; with `has_aux`, a pair of it and of those numbers.

    The result raises `TypeError` where `f` does not return one number or an argument holds something else than numbers,
    `ValueError` where `argnums` are out of range.

    >>> grad(lambda x, y: x * x + 3.0 * y)(2.0, 1.0)
    4.0
    >>> grad(grad(grad(lambda x: x**4)))(2.0)
    48.0
    """
    return _transformed(f, argnums, lambda g: Grad(g, argnums, has_aux, with_value=False))


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """The same as `grad`, but for a function that returns the value as well: a pair (value, gradient).

    With `has_aux`, the pair is ((value, aux), gradient).

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _transformed(f, argnums, lambda g: Grad(g, argnums, has_aux, with_value=True))


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns all derivatives of the results of `f` with respect to an argument, or to several.

    For an array of shape s as argument and one of shape r as result, that is an array of shape r + s. In general it is
    like the result, with something like the argument in place of each of its numbers. It takes the cheaper of
    `jacfwd` and `jacrev`: forward unless there are many more inputs than outputs.

    >>> jacobian(lambda x: [x[0] * x[1], x[0]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 0.0]]
    """
    return _transformed(f, argnums, lambda g: Jacobian(g, argnums, "auto"))


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The same as `jacobian` in forward mode: one pass for each input."""
    return _transformed(f, argnums, lambda g: Jacobian(g, argnums, "forward"))


def jacrev(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The same as `jacobian` in reverse mode: one pass for each output."""
    return _transformed(f, argnums, lambda g: Jacobian(g, argnums, "reverse"))


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns all second derivatives of `f`: forward over reverse, one pass for each input.

    >>> hessian(lambda x: x[0] * x[0] * x[1])([2.0, 3.0])
    [[6.0, 4.0], [4.0, 0.0]]
    """
    return _transformed(f, argnums, lambda g: Jacobian(Jacobian(g, argnums, "reverse"), argnums, "forward"))


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The result of `f` at `primals`, and its derivative in the direction of `tangents`: forward mode, one pass.

    `primals` and `tangents` are the arguments of `f` and how fast each changes: two sequences of like trees.
    Raises `TypeError` where these differ in structure.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)
    """
    recording, args, inputs = _primals(f, primals)
    seeds = list(zip(inputs, recording.add_seeds(_like(primals, tangents, "tangents")), strict=True))
    outputs, structure = recording.run(f, args, {})
    results = recording.evaluate(outputs + recording.tape.forward(seeds, outputs))
    return structure.filled(results[: len(outputs)]), structure.filled(results[len(outputs) :])


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The result of `f` at `primals`, and a function that pulls adjoints of the result back to the arguments.

    That function takes a tree like the result, and returns a tuple of trees like the arguments. Reverse mode; `f` is
    run once, however often it is called.

    >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pull(1.0), pull(10.0)
    (6.0, (3.0, 2.0), (30.0, 20.0))
    """
    recording, args, inputs = _primals(f, primals)
    outputs, structure = recording.run(f, args, {})
    result = structure.filled(recording.evaluate(outputs))
    arguments = tupled([flattened(primal, "an argument")[1] for primal in primals])
    operands = recording.operands.copy()
    adjoints = recording.add_seeds([0.0] * len(outputs))
    program = recording.tape.program(recording.tape.reverse(list(zip(outputs, adjoints, strict=True)), inputs))

    def pull(adjoint: Any) -> tuple[Any, ...]:
        given = _like(result, adjoint, "adjoints")
        pulled: tuple[Any, ...] = arguments.filled(evaluate(program, [*operands, *given]))
        return pulled

    return result, pull


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of `f` with respect to its first argument times a vector: how its gradient changes along `tangents`.

    Forward over reverse: it costs a few evaluations of `f`, however many inputs there are, and no matrix is made.

    >>> hvp(lambda x: x[0] * x[0] * x[1], ([2.0, 3.0],), ([1.0, 0.0],))
    [6.0, 4.0]
    """
    return jvp(grad(f), primals, tangents)[1]


def _transformed(
    f: Callable[..., Any], argnums: Argnums, made: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[..., Any]:
    """What is made of a function. Of a sum over a batch, it is the sum of what is made of the function of a sample."""
    if isinstance(f, Vmap) and f.sums_over_others(_checked(argnums)):
        return f.of(made(f.function), keeps=f.keeps)
    return made(f)


def _primals(f: Callable[..., Any], primals: Sequence[Any]) -> tuple[Recording, list[Any], Indices]:
    """A recording with the arguments of `f` as inputs."""
    if not callable(f):
        raise TypeError(f"jvp() or vjp() takes a function, not {type(f).__name__}: {f!r:.60}")
    if not isinstance(primals, (tuple, list)):
        raise TypeError(f"the primals are a tuple of the arguments of {named(f)}, not {type(primals).__name__}")
    recording = Recording()
    args, inputs = [], []
    for primal, name in zip(primals, Parameters(f).first(len(primals)), strict=True):
        args.append(recording.add_inputs(primal, name))
        inputs += recording.input_indices(args[-1])[0]
    return recording, args, inputs


def _checked(argnums: Any) -> Argnums:
    """`argnums` as an int, or as a tuple of ints. Raises `TypeError` where they are something else."""
    numbers = list(argnums) if isinstance(argnums, Iterable) else [argnums]
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"argnums takes an int or a sequence of ints, not {argnums!r}")
    positions = tuple(map(operator.index, numbers))
    return positions if isinstance(argnums, Iterable) else positions[0]


def _like(expected: Any, given: Any, what: str) -> list[Any]:
    """The numbers of a tree that has to have the structure of another."""
    structure = flattened(expected, what)[1]
    leaves, structure_given = flattened(given, what)
    if structure_given.with_numbers() != structure.with_numbers():
        raise TypeError(f"{what} have to be like what they belong to: {structure}, not {structure_given}")
    return scalars(leaves)


def _blocks(entries: Any, result: Structure, columns: Structure) -> Iterator[list[Any]]:
    """The entries of a matrix, cut up: for each leaf of the result, one block for each leaf of the arguments."""
    for rows, row_shape in result.ranges():
        yield [_block(entries[rows, part], (*row_shape, *shape)) for part, shape in columns.ranges()]


def _block(entries: Any, shape: tuple[int, ...]) -> Any:
    return entries.reshape(shape) if shape else float(entries[0, 0])


def _swept(recording: Recording, outputs: Indices, numbers: list[float], count: int) -> Any:
    """The outputs for each of the last `count` inputs being 1 and the others 0: a row each."""
    program = recording.tape.program(outputs)
    rows = numpy.empty((count, len(outputs)))
    operands = numpy.array([*numbers, *[0.0] * count], numpy.float64)
    for i in range(count):
        operands[len(numbers) + i] = 1.0
        rows[i] = program.run(operands)
        operands[len(numbers) + i] = 0.0
    return rows
