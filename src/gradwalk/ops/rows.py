"""The types of entries in the table of operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradwalk.base.cached import cached_property
from gradwalk.ops.formula import (
    Formula,
    as_formula,
    equal,
    functions,
    is_choice_of_numbers,
    name,
    number,
    variables,
    where,
)

Interval = tuple[float, float]


@dataclass(frozen=True)
class Operation:
    """An operation with a fixed number of operands.

    Attributes:
        name: Name of the method and the function.
        symbol: Label in drawings.
        forward: The value, as a formula of the operands.
        partials: The partial derivative with respect to each operand, as formulas of the operands and `out`.
        domain: For each operand, the interval from which tests draw numbers.
        words: Description for readers.
        operator: Name of Python's special method without its underscores, or "" if there is none.
        ufunc: Name of the NumPy or SciPy ufunc, or "" if there is none.
        is_exact: Whether the partials are the derivatives of `forward`; False for `stop_gradient`.
    """

    name: str
    symbol: str
    forward: Formula
    partials: Sequence[Formula | float]
    domain: Sequence[Interval]
    words: str
    operator: str = ""
    ufunc: str = ""
    is_exact: bool = True

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.partials)

    @property
    def is_function(self) -> bool:
        """Whether the operation is called by its name, as a method or in `gradwalk.math`; False for `a + b`."""
        return self.name not in ("add", "sub", "mul", "div", "neg")

    @property
    def is_operator(self) -> bool:
        """Whether the operation is written with its symbol, as in `a + b` and `-a`; False for `abs(a)`."""
        return bool(self.operator) and self.symbol != self.name

    @cached_property
    def selects(self) -> bool:
        """Whether the operation returns one of its operands and ignores the rest, as `relu`, `maximum` and `where` do.

        The partials are then constants that a condition selects. An operand that was not selected gets a gradient of
        exactly 0. It is not computed as 0 times the gradient of the result, because this product is nan if the gradient
        is infinite.
        """
        partials = [self.partial(position) for position in range(self.arity)]
        return any(p.operator == "where" for p in partials) and all(is_choice_of_numbers(p) for p in partials)

    @cached_property
    def non_differentiable(self) -> tuple[int, ...]:
        """Positions of the operands that never get a gradient, such as the condition of `where`."""
        return tuple(i for i in range(self.arity) if self.partial(i) == number(0))

    def partial(self, position: int) -> Formula:
        """Return the partial derivative with respect to one operand, as a formula of the operands and `out`.

        Example:
            >>> from gradwalk.ops.table import BY_NAME
            >>> BY_NAME["mul"].partial(0) == name("y")
            True
        """
        return as_formula(self.partials[position])


@dataclass(frozen=True)
class Reduction:
    """An operation on any number of operands that accumulates a total, one element at a time.

    An element consists of one operand from each of 1, 2 or 3 sequences, all with the same index. The operands of a
    `Value` node are `start`, if the reduction takes one, then the first sequence, then the second and the third.
    Recorded programs contain no reductions: a reduction is replaced by the operations of one `step` per element.

    Attributes:
        name: Name of the function.
        symbol: Label in drawings.
        first: The total before the first element, as a constant formula. It is the default of `start`.
        step: The total after an element, as a formula of `total` and the operands `x`, `y` and `z` of the element.
        partials: For each sequence, the derivative of the result with respect to an operand of the sequence, as a
            formula of the result `out` and the operands of the same element.
        start_partial: The derivative of the result with respect to `start`, as a formula of `out`; None if the
            reduction takes no `start`.
        domain: For each sequence, the interval from which tests draw the operands.
        words: Description for readers.
    """

    name: str
    symbol: str
    first: Formula | float
    step: Formula
    partials: Sequence[Formula | float]
    start_partial: Formula | float | None
    domain: Sequence[Interval]
    words: str

    @property
    def groups(self) -> int:
        """Number of operands in an element, equal to the number of sequences."""
        return len(self.partials)

    @property
    def starts(self) -> int:
        """Number of operands before the first sequence: 1 if the reduction takes `start`, else 0."""
        return 0 if self.start_partial is None else 1

    @property
    def parameters(self) -> str:
        """Names of the sequences in the signature of the function, one letter each."""
        return "x" if self.groups == 1 else "pqr"[: self.groups]

    @property
    def takes(self) -> str:
        """The permitted number of operands, for error messages."""
        if self.groups == 1:
            return "at least one"
        if self.groups == 2:
            return "an odd number of" if self.starts else "an even number of"
        return f"a multiple of {self.groups}" + (" and one more" if self.starts else "")

    @cached_property
    def selects(self) -> bool:
        """Whether the reduction returns some of its operands and ignores the rest: see `Operation.selects`."""
        partials = [as_formula(p) for p in self.partials]
        return any(p.operator == "where" for p in partials) and all(is_choice_of_numbers(p) for p in partials)

    @property
    def non_differentiable(self) -> tuple[int, ...]:
        """Positions of the operands that never get a gradient; always empty."""
        return ()

    def accepts(self, count: int) -> bool:
        """Return whether a node may have `count` operands, `start` included."""
        return count > 0 and (count - self.starts) % self.groups == 0

    def element(self, position: int, count: int) -> tuple[int, ...]:
        """Return the positions of all operands of the element that contains the given operand; () for `start`.

        Example:
            >>> from gradwalk.ops.table import REDUCTION_BY_NAME
            >>> REDUCTION_BY_NAME["sumprod"].element(1, 5)
            (1, 3)
        """
        length = (count - self.starts) // self.groups
        if position < self.starts:
            return ()
        index = self.starts + (position - self.starts) % length
        return tuple(index + group * length for group in range(self.groups))

    def partial(self, position: int, count: int) -> Formula:
        """Return the partial with respect to an operand, as a formula of `out` and the operands of its element."""
        if self.start_partial is not None and position == 0:
            return as_formula(self.start_partial)
        return as_formula(self.partials[self.element(position, count).index(position)])


@dataclass(frozen=True)
class Gather:
    """An operation whose operands are an index and a table of numbers, and which returns the entry at the index.

    The operands of a `Value` node are the index, then the table. Indices count from 0, negative indices from the end as
    in Python. For an invalid index, such as 1.5, the result is nan. In recorded programs, a gather is one instruction,
    whose operands are stored in `Code.tables`.

    Attributes:
        name: Name of the function.
        symbol: Label in drawings.
        words: Description for readers.
    """

    name: str
    symbol: str
    words: str
    takes = "at least two"  # the permitted number of operands, for error messages
    selects = True  # see `Operation.selects`
    non_differentiable = (0,)  # the index

    def accepts(self, count: int) -> bool:
        """Return whether a node may have `count` operands, the index included."""
        return count > 1

    def element(self, position: int, count: int) -> tuple[int, ...]:
        """Return the positions of the operands that the partials depend on: only position 0, which holds the index."""
        return (0,)

    def partial(self, position: int, count: int) -> Formula:
        """Return the partial derivative with respect to one operand, as a formula of the index `x`.

        The partial is 1 if the index, counted from either end, selects this operand, else 0.

        Example:
            >>> from gradwalk.ops.printing.printers import text
            >>> from gradwalk.ops.table import GATHERS
            >>> text(GATHERS[0].partial(3, 5))
            '1 if x = 2, else 1 if x = -2, else 0'
        """
        if position == 0:
            return number(0)
        x = name("x")
        return where(equal(x, position - 1), 1, where(equal(x, position - count), 1, 0))


@dataclass(frozen=True)
class Fused:
    """A program instruction that performs two operations, such as a product followed by a sum.

    Recorded functions contain many sums of products, and one instruction costs less than two. Each of the two
    operations rounds its result, so fusing does not change results. A fused instruction has no partials, because it is
    replaced by the two operations before differentiation.

    Attributes:
        name: Name in program files.
        forward: The value, as a formula. It applies one of +, - and * to `x` and `y`, and another one to the result and
            `z`.
    """

    name: str
    forward: Formula
    is_function = False  # listings show the formula, not a call

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(variables(self.forward))


def is_arithmetic(row: Operation | Fused) -> bool:
    """Return whether IEEE 754 defines all bits of the result: no C function is called except fabs and sqrt."""
    return set(functions(row.forward)) <= {"fabs", "sqrt"}
