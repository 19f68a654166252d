"""`MatrixCall`: a function of a matrix that LAPACK or NumPy computes, with a rule for its derivatives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.calls.call import Call, instantiate_zeros
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.trace import Recording
from gradwalk.value.arrays import of_objects

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A function of a matrix, and its derivatives.

    Attributes:
        name: The name of the function.
        shapes: A function that maps the shape of the matrix to the shapes of the results.
        numbers: A function that maps the matrix to the results; it may raise `LinAlgError`.
        tangent: A function that maps the matrix, the results and the tangent of the matrix to the tangents of the
            results. It is linear in the tangent of the matrix.
        cotangent: A function that maps the matrix and the cotangents of the results to the cotangent of the matrix;
            None to transpose `tangent`.
    """

    name: str
    shapes: Callable[[Shape], Sequence[Shape]]
    numbers: Callable[[Any], Sequence[Any]]
    tangent: Callable[..., Sequence[Any]]
    cotangent: Callable[..., Any] | None = None


class MatrixCall(Call):
    """A call that evaluates a rule. The operands are the elements of the matrix.

    Args:
        rule: The rule.
        shape: The shape of the matrix.
    """

    remedy = "NumPy computes it outside of the recorded program"
    is_pure = True

    def __init__(self, rule: Rule, shape: Shape) -> None:
        self.name = rule.name
        self._rule, self._shape = rule, shape
        self._sizes = [math.prod(each) for each in rule.shapes(shape)]
        self.outputs = sum(self._sizes)

    def of(self, matrix: Any) -> list[Any]:
        """Return the results for a matrix of Values as arrays."""
        return _arrays(self.values(matrix.ravel().tolist()), self._rule.shapes(self._shape))

    def numbers(self, operands: Floats) -> Floats:
        """Return the results as a float64 array. They are nan if the algorithm fails."""
        try:
            results = self._rule.numbers(operands.reshape(self._shape))
        except numpy.linalg.LinAlgError:
            return numpy.full(self.outputs, numpy.nan)
        return numpy.concatenate([numpy.asarray(x, numpy.float64).ravel() for x in results])

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result with respect to each element of the matrix."""
        ends = list(itertools.accumulate(self._sizes))
        group = next(i for i, end in enumerate(ends) if position < end)
        seeds = numpy.zeros(self._sizes[group])
        seeds[position - ends[group]] = 1.0
        row = numpy.array(operands, numpy.float64)
        program = _pulled(self._rule, self._shape, tuple([i == group for i in range(len(ends))]))
        inputs = numpy.concatenate([row, self.numbers(row), seeds, numpy.zeros(row.size)])
        partials: list[float] = program.run(inputs).tolist()
        return partials

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangent of the matrix. Results without a cotangent contribute nothing, not even 0 * inf."""
        rest = iter(adjoints)
        groups = [list(itertools.islice(rest, size)) for size in self._sizes]
        has_adjoint = tuple([any(i != NO_INDEX for i in group) for group in groups])
        seeds = instantiate_zeros(tape, [i for group in chosen(groups, has_adjoint) for i in group])
        program = _pulled(self._rule, self._shape, has_adjoint)
        results = range(base, base + self.outputs)
        return tape.inline(program, [*operands, *results, *seeds, *[tape.constant(0.0)] * len(operands)])

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the results."""
        results = range(base, base + self.outputs)
        program = _pushed(self._rule, self._shape)
        return tape.inline(program, [*operands, *results, *instantiate_zeros(tape, tangents)])


@cache
def matrix_call(rule: Rule, shape: Shape) -> MatrixCall:
    """Return the cached call for matrices of a shape."""
    return MatrixCall(rule, shape)


@cache
def _pushed(rule: Rule, shape: Shape) -> Program:
    """Return the program that maps the matrix, the results and the matrix's tangent to the results' tangents."""
    recording = Recording(staged=True)
    [matrix, *results, tangent] = _inputs(recording, [shape, *rule.shapes(shape), shape])
    return _program(recording, rule.tangent, [matrix, results, tangent])


@cache
def _pulled(rule: Rule, shape: Shape, has_adjoint: tuple[bool, ...]) -> Program:
    """Return the program that maps the matrix, the results, some of their cotangents and zeros to the cotangent.

    The zeros are the tangent of the matrix, at which the rule for tangents, a linear function, is transposed.
    """
    recording = Recording(staged=True)
    shapes = rule.shapes(shape)
    inputs = _inputs(recording, [shape, *shapes, *chosen(shapes, has_adjoint), shape])
    matrix, results, adjoints = inputs[0], inputs[1 : len(shapes) + 1], inputs[len(shapes) + 1 : -1]
    if rule.cotangent is not None:
        return _program(recording, rule.cotangent, [matrix, adjoints])

    def product(matrix: Any, results: Any, adjoints: Any, tangent: Any) -> Any:
        tangents = chosen(rule.tangent(matrix, results, tangent), has_adjoint)
        return sum([numpy.sum(x * y) for x, y in zip(tangents, adjoints, strict=True)])

    [index], _ = recording.run(product, [matrix, results, adjoints, inputs[-1]], {})
    wrt, _ = recording.input_indices(inputs[-1])
    cotangents = recording.tape.reverse([(index, recording.tape.constant(1.0))], wrt)
    return recording.tape.program(instantiate_zeros(recording.tape, cotangents))


def _inputs(recording: Recording, shapes: Sequence[Shape]) -> list[Any]:
    """Append arrays of inputs to a recording."""
    return [recording.add_inputs(numpy.full(shape, numpy.nan), "operand") for shape in shapes]


def _program(recording: Recording, f: Callable[..., Any], args: list[Any]) -> Program:
    indices, _ = recording.run(f, args, {})
    return recording.tape.program(indices)


def chosen(items: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Return the items with a flag."""
    return [item for item, flag in zip(items, flags, strict=True) if flag]


def _arrays(flat: Sequence[Any], shapes: Sequence[Shape]) -> list[Any]:
    """Split a list into arrays of these shapes."""
    rest = iter(flat)
    return [of_objects(list(itertools.islice(rest, math.prod(shape))), shape) for shape in shapes]
