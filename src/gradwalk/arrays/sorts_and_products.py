"""Calls on whole arrays: one instruction of a recorded program sorts, reorders or multiplies arrays.

Their derivatives are calls of the same kinds. Cotangents are reordered by the inverse permutation, which is the
permutation that sorts the permutation. The cotangents of the factors of a matrix product C = A B are C̄ Bᵀ and Aᵀ C̄,
where C̄ is the cotangent of C.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy

from gradwalk import loops
from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.functions.indexing import take
from gradwalk.math import equal, less, where
from gradwalk.program.calls.call import Call, ConstantCall, append_call, instantiate_zeros
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.record_program import record_program


class Argsort(ConstantCall):
    """A call that returns the indices that sort its operands, with nan last. The sort is stable.

    The indices are constant where the elements differ.

    Args:
        size: Number of operands.
    """

    name = "argsort"
    inputs: int

    def __init__(self, size: int) -> None:
        self.inputs = self.outputs = size

    def __reduce__(self) -> Any:
        return argsort_call, (self.outputs,)

    def numbers(self, operands: Floats) -> Floats:
        """Return the indices as float64."""
        return numpy.argsort(operands, kind="stable").astype(numpy.float64)

    @cached_property
    def portable(self) -> Program:
        """The sort as loops: the rank of an element is the number of elements that come before it."""
        return record_program(_sorting_indices, numpy.zeros(self.inputs).tolist())


class Reorder(Call):
    """A call that reorders elements by a permutation. The operands are the permutation, then the elements.

    Args:
        size: Number of elements.
    """

    name = "reorder"
    inputs: int

    def __init__(self, size: int) -> None:
        self.inputs, self.outputs = 2 * size, size

    def __reduce__(self) -> Any:
        return reorder_call, (self.outputs,)

    def numbers(self, operands: Floats) -> Floats:
        """Return the elements in the order of the permutation."""
        permutation, elements = operands[: self.outputs], operands[self.outputs :]
        reordered: Floats = elements[permutation.astype(numpy.intp)]
        return reordered

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return 1 for the element that becomes the result at `position`, and 0 for the other operands."""
        chosen = self.outputs + int(operands[position])
        return [float(i == chosen) for i in range(self.inputs)]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangents in the inverse order; return the indices of the operands' cotangents."""
        inverse = append_call(argsort_call(self.outputs), tape, operands[: self.outputs])
        cotangents = append_call(self, tape, [*inverse, *instantiate_zeros(tape, adjoints)])
        return [NO_INDEX] * self.outputs + cotangents

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the elements in the order of the permutation, and return their indices."""
        of_elements = instantiate_zeros(tape, tangents[self.outputs :])
        return append_call(self, tape, [*operands[: self.outputs], *of_elements])

    @cached_property
    def portable(self) -> Program:
        """The call as a loop over the permutation."""
        return record_program(_reordered, numpy.arange(self.inputs, dtype=float).tolist())


class MatrixProduct(Call):
    """A call that multiplies two matrices. The operands are the rows of A, of shape (m, k), then the rows of B, (k, n).

    Args:
        rows: m.
        inner: k.
        columns: n.
    """

    name = "matrix_product"
    inputs: int

    def __init__(self, rows: int, inner: int, columns: int) -> None:
        self._sizes = rows, inner, columns
        self.inputs, self.outputs = inner * (rows + columns), rows * columns

    def __reduce__(self) -> Any:
        return matrix_product_call, self._sizes

    def _factors(self, operands: Any) -> tuple[Any, Any]:
        """Return the two matrices in a sequence with one item per operand, as arrays."""
        rows, inner, columns = self._sizes
        array = numpy.asarray(operands)
        return array[: rows * inner].reshape(rows, inner), array[rows * inner :].reshape(inner, columns)

    def numbers(self, operands: Floats) -> Floats:
        """Return the rows of the product."""
        first, second = self._factors(operands)
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            product: Floats = (first @ second).ravel()
        return product

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangents of the factors that are needed: see `Call.vjp_needed`."""
        rows, _, columns = self._sizes
        first, second = self._factors(operands)
        cotangent = numpy.array(instantiate_zeros(tape, adjoints)).reshape(rows, columns)
        found = []
        for is_needed, one, other in (
            (any(wanted[: first.size]), cotangent, second.T),
            (any(wanted[first.size :]), first.T, cotangent),
        ):
            size = one.shape[0] * other.shape[1]
            found += _appended_product(tape, one, other) if is_needed else [NO_INDEX] * size
        return found

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents dA B + A dB, and return their indices."""
        first, second = self._factors(operands)
        of_first, of_second = self._factors(instantiate_zeros(tape, tangents))
        terms = []
        if any(index != NO_INDEX for index in tangents[: first.size]):
            terms.append(_appended_product(tape, of_first, second))
        if any(index != NO_INDEX for index in tangents[first.size :]):
            terms.append(_appended_product(tape, first, of_second))
        return [functools.reduce(partial(tape.append, "add"), pair) for pair in zip(*terms, strict=True)]

    @cached_property
    def portable(self) -> Program:
        """The product as two nested loops."""

        def product(*operands: Any) -> Any:
            first, second = self._factors(numpy.array(operands, dtype=object))

            def of_row(_: None, row: Any) -> Any:
                return None, loops.scan(lambda _, column: (None, (row * column).sum()), None, second.T)[1]

            return loops.scan(of_row, None, first)[1]

        return record_program(product, numpy.zeros(self.inputs).tolist())


def _appended_product(tape: Tape, first: Any, second: Any) -> Indices:
    """Append the product of two matrices of indices; return the indices of its rows."""
    call = matrix_product_call(*first.shape, second.shape[1])
    return append_call(call, tape, [*first.ravel().tolist(), *second.ravel().tolist()])


@cache
def argsort_call(size: int) -> Argsort:
    """Return the cached call that sorts `size` elements."""
    return Argsort(size)


@cache
def matrix_product_call(rows: int, inner: int, columns: int) -> MatrixProduct:
    """Return the cached call that multiplies matrices of the shapes (rows, inner) and (inner, columns)."""
    return MatrixProduct(rows, inner, columns)


@cache
def reorder_call(size: int) -> Reorder:
    """Return the cached call that reorders `size` elements."""
    return Reorder(size)


def _sorting_indices(*elements: Any) -> Any:
    numbered = numpy.array(elements, dtype=object), numpy.arange(float(len(elements)))

    def rank(_: None, element: Any) -> Any:
        x, i = element

        def step(count: Any, other: Any) -> Any:
            y, j = other
            # Equal elements keep their order, and so do elements that are nan.
            is_tied = where(equal(x, x), equal(x, y), 1.0 - equal(y, y))
            is_before = where(equal(x, x), less(y, x), equal(y, y))
            return count + where(is_tied, less(j, i), is_before), None

        return None, loops.scan(step, 0.0, numbered)[0]

    ranks = loops.scan(rank, None, numbered)[1]

    def index(_: None, position: Any) -> Any:
        def step(found: Any, ranked: Any) -> Any:
            element, i = ranked
            return where(equal(element, position), i, found), None

        return None, loops.scan(step, 0.0, (ranks, numbered[1]))[0]

    return tuple(loops.scan(index, None, numbered[1])[1])


def _reordered(*operands: Any) -> Any:
    permutation, elements = numpy.array(operands, dtype=object).reshape(2, -1)
    return tuple(loops.scan(lambda _, index: (None, take(elements, index)), None, permutation)[1])
