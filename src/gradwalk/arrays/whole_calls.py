"""Calls that sort, reorder and multiply whole arrays. Expanded to numbers, they are calls of sorts_and_products.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk.arrays.kinds import Allocate, ArrayKind, Operand, WholeCall, new_array
from gradwalk.arrays.sorts_and_products import argsort_call, matrix_product_call, reorder_call
from gradwalk.program.calls.call import ConstantCall, append_call
from gradwalk.program.tape import NO_INDEX, Indices, Tape


class ArgsortRows(ConstantCall, WholeCall):
    """A call that returns the indices that sort a column, with nan last. The sort is stable.

    The indices are constant where the elements differ.

    Args:
        kind: The kind of the array, which has one column.
    """

    name = "argsort"
    inputs = 1

    def __init__(self, kind: ArrayKind) -> None:
        super().__init__([kind])
        self._kind = kind

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the indices as floats."""
        found = empty(self._kind)
        found[:, 0] = numpy.argsort(numpy.ravel(operands[0]), kind="stable")
        return [found]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append a sort of the numbers: see `Call.expanded`."""
        return [append_call(argsort_call(self._kind.rows), tape, operands[0])]


class ReorderRows(WholeCall):
    """A call that reorders a column by a permutation. The operands are the permutation and the column.

    Args:
        kind: The kind of both arrays, which have one column.
    """

    name = "reorder"
    inputs = 2

    def __init__(self, kind: ArrayKind) -> None:
        super().__init__([kind])
        self._kind = kind

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the elements in the order of the permutation."""
        permutation, elements = map(numpy.asarray, operands)
        return [numpy.take(elements, permutation[:, 0].astype(numpy.intp), axis=0, out=empty(self._kind), mode="clip")]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangents in the inverse order; return the index of the cotangent of the elements."""
        inverse = tape.call(ArgsortRows(self._kind), [operands[0]])
        return [NO_INDEX, tape.call(self, [inverse, adjoints[0]])]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the elements in the order of the permutation."""
        return [NO_INDEX if tangents[1] == NO_INDEX else tape.call(self, [operands[0], tangents[1]])]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the same call of numbers: see `Call.expanded`."""
        return [append_call(reorder_call(self._kind.rows), tape, [*operands[0], *operands[1]])]


class Product(WholeCall):
    """A call that multiplies two matrices A and B, or their transposes: C = op(A) op(B).

    The cotangents of the factors are products, too: for C = A B, they are Ā = C̄ Bᵀ and B̄ = Aᵀ C̄.

    Args:
        first: The kind of A.
        second: The kind of B.
        flipped: Whether A is transposed, and whether B is.
    """

    name = "matrix_product"
    inputs = 2

    def __init__(self, first: ArrayKind, second: ArrayKind, flipped: tuple[bool, bool] = (False, False)) -> None:
        self._factors, self._flipped = (first, second), flipped
        (rows, self._inner), (_, columns) = (
            _shape(kind, flip) for kind, flip in zip((first, second), flipped, strict=True)
        )
        self._product = ArrayKind(rows, columns)
        super().__init__([self._product])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the product."""
        given = map(numpy.asarray, operands)
        first, second = (array.T if flip else array for array, flip in zip(given, self._flipped, strict=True))
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            return [numpy.matmul(first, second, out=empty(self._product))]

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangents of the factors that are needed: see `Call.vjp_needed`."""
        (a, b), (flip_a, flip_b) = operands, self._flipped
        of_a, of_b = self._factors
        product = self._product
        found = [NO_INDEX, NO_INDEX]
        if wanted[0]:  # the cotangent of op(A) is C̄ op(B)ᵀ, and its transpose is op(B) C̄ᵀ
            pair = (
                (Product(of_b, product, (flip_b, True)), [b, *adjoints])
                if flip_a
                else (Product(product, of_b, (False, not flip_b)), [*adjoints, b])
            )
            found[0] = tape.call(*pair)
        if wanted[1]:  # the cotangent of op(B) is op(A)ᵀ C̄, and its transpose is C̄ᵀ op(A)
            pair = (
                (Product(product, of_a, (True, flip_a)), [*adjoints, a])
                if flip_b
                else (Product(of_a, product, (not flip_a, False)), [a, *adjoints])
            )
            found[1] = tape.call(*pair)
        return found

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangent dA B + A dB, and return its index."""
        (a, b), (da, db) = operands, tangents
        terms = [tape.call(self, pair) for pair in ([da, b], [a, db]) if NO_INDEX not in pair]
        if not terms:
            return [NO_INDEX]
        return terms if len(terms) == 1 else [self._product.add(tape, *terms)]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append a product of the numbers: see `Call.expanded`."""
        factors = [numpy.array(x).reshape(kind) for x, kind in zip(operands, self._factors, strict=True)]
        first, second = (x.T if flip else x for x, flip in zip(factors, self._flipped, strict=True))
        call = matrix_product_call(*first.shape, second.shape[1])
        return [append_call(call, tape, [*first.ravel().tolist(), *second.ravel().tolist()])]


def _shape(kind: ArrayKind, is_flipped: bool) -> tuple[int, int]:
    """Return the shape of a factor after it is transposed, if it is."""
    return (kind.width, kind.rows) if is_flipped else (kind.rows, kind.width)
