"""`whole_results`: the rules of `matrix_call.py` for a large matrix that is one operand of a recorded function.

The derivatives of a rule are recorded once for each shape. Its functions compute with whole arrays then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, islice, pairwise
from typing import Any, NamedTuple

import numpy

from gradwalk.arrays.functions.products import matrix_handle
from gradwalk.arrays.handles import apply_here, new_handle
from gradwalk.arrays.kinds import Allocate, ArrayKind, Operand, WholeCall, new_array
from gradwalk.arrays.layout_calls import Pack
from gradwalk.arrays.recorder import RECORDER
from gradwalk.arrays.traced_array import is_whole, of_ordered
from gradwalk.numpy.linalg.matrix_call import Rule, Shape, chosen, matrix_call
from gradwalk.program.calls.call import append_call
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.trace import Recording
from gradwalk.value.modes import with_gradient


def whole_results(rule: Rule, a: Any) -> list[Any] | None:
    """Return the results of a rule for a matrix as whole arrays.

    Returns None if the matrix is not one operand, or if a result has only one element.
    """
    if not is_whole(a) or 1 in map(math.prod, rule.shapes(a.shape)):
        return None
    found = apply_here(_whole_call(rule, a.shape), [matrix_handle(a)])
    return [_array(handle, shape) for handle, shape in zip(found, rule.shapes(a.shape), strict=True)]


class WholeMatrixCall(WholeCall):
    """A call that evaluates a rule. The operand is the matrix, and the results are arrays.

    Args:
        rule: The rule.
        shape: The shape of the matrix.
    """

    inputs = 1

    def __init__(self, rule: Rule, shape: Shape) -> None:
        self.name = rule.name
        self._rule, self._shape = rule, shape
        self.numbers_cost = (
            max(shape) * min(shape) ** 2
        )  # the call stays one in programs of numbers, but not derivatives
        super().__init__([_kind(each) for each in rule.shapes(shape)])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Compute the results, which are nan if the algorithm fails."""
        del empty
        try:
            results = self._rule.numbers(numpy.asarray(operands[0]).reshape(self._shape))
        except numpy.linalg.LinAlgError:
            return [numpy.full(kind, numpy.nan) for kind in self.kinds]
        found: list[Operand] = [
            numpy.ascontiguousarray(x, numpy.float64).reshape(kind) for x, kind in zip(results, self.kinds, strict=True)
        ]
        return found

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangent of the matrix. Results without a cotangent contribute nothing, not even 0 * inf."""
        has_adjoint = tuple([index != NO_INDEX for index in adjoints])
        zeros = _kind(self._shape).zeros(tape)
        results = range(base, base + self.outputs)
        return _pulled(self._rule, self._shape, has_adjoint).append(
            tape, [*operands, *results, *chosen(adjoints, has_adjoint), zeros]
        )

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the results."""
        results = range(base, base + self.outputs)
        return _pushed(self._rule, self._shape).append(tape, [*operands, *results, *tangents])

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the call that takes the numbers of the matrix: see `Call.expanded`."""
        results = append_call(matrix_call(self._rule, self._shape), tape, list(operands[0]))
        ends = accumulate([kind.size for kind in self.kinds], initial=0)
        return [results[start:end] for start, end in pairwise(ends)]


class _Recorded(NamedTuple):
    """A function of arrays: the tape on which it was recorded, and the tape indices of its results."""

    tape: Tape
    results: Indices

    def append(self, tape: Tape, operands: Indices) -> Indices:
        """Append the function to a tape; return the indices of its results, `NO_INDEX` for zeros."""
        found = iter(tape.copy(self.tape, [index for index in self.results if index != NO_INDEX], operands))
        return [index if index == NO_INDEX else next(found) for index in self.results]


@cache
def _whole_call(rule: Rule, shape: Shape) -> WholeMatrixCall:
    return WholeMatrixCall(rule, shape)


@cache
def _pushed(rule: Rule, shape: Shape) -> _Recorded:
    """Record the function that maps the matrix, the results and the matrix's tangent to the results' tangents."""
    shapes = rule.shapes(shape)
    recording, [matrix, *results, tangent] = _inputs([shape, *shapes, shape])
    return _Recorded(recording.tape, _arrays_of(recording, lambda: rule.tangent(matrix, results, tangent), shapes))


@cache
def _pulled(rule: Rule, shape: Shape, has_adjoint: tuple[bool, ...]) -> _Recorded:
    """Record the function that maps the matrix, the results, some of their cotangents and zeros to the cotangent.

    The zeros are the tangent of the matrix, at which the rule for tangents, a linear function, is transposed.
    """
    shapes = rule.shapes(shape)
    recording, inputs = _inputs([shape, *shapes, *chosen(shapes, has_adjoint), shape])
    matrix, results, adjoints = inputs[0], inputs[1 : len(shapes) + 1], inputs[len(shapes) + 1 : -1]
    if rule.cotangent is not None:
        cotangent = rule.cotangent
        return _Recorded(recording.tape, _arrays_of(recording, lambda: [cotangent(matrix, adjoints)], [shape]))

    def product() -> Any:
        tangents = chosen(rule.tangent(matrix, results, inputs[-1]), has_adjoint)
        return sum([numpy.sum(x * y) for x, y in zip(tangents, adjoints, strict=True)])

    with with_gradient():
        [index], _ = recording.run(product, [], {})
    wrt, _ = recording.input_indices(inputs[-1])
    return _Recorded(recording.tape, recording.tape.reverse([(index, recording.tape.constant(1.0))], wrt))


def _inputs(shapes: Sequence[Shape]) -> tuple[Recording, list[Any]]:
    """Return a new recording, and its inputs, which are whole arrays."""
    recording = Recording(staged=True, arrays=RECORDER)
    arrays = [_array(new_handle(_kind(shape), None), shape) for shape in shapes]
    return recording, recording.add_inputs(arrays, "operand")


def _arrays_of(recording: Recording, f: Callable[[], Sequence[Any]], shapes: Sequence[Shape]) -> Indices:
    """Record a function without arguments; return the index of each array that it returns."""
    with with_gradient():
        found, _ = recording.run(f, [], {})
    tape, rest, results = recording.tape, iter(found), []
    for shape in shapes:
        first = next(rest)
        if first not in tape.arrays:  # the array is not whole
            first = tape.call(Pack(_kind(shape)), [first, *islice(rest, math.prod(shape) - 1)])
        results.append(first)
    return results


def _kind(shape: Shape) -> ArrayKind:
    return ArrayKind(shape[0], math.prod(shape[1:]))


def _array(handle: Any, shape: Shape) -> Any:
    """Return the array of a handle."""
    return of_ordered(handle, shape, shape.index(max(shape)))
