"""The kinds of rows that the table of operations has."""

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
    """A row of the table.

    Attributes:
        name: What the method and the function are called.
        symbol: What a drawing shows.
        forward: The value, as a formula of the operands.
        partials: The local derivative with respect to each operand, as formulas of the operands and `out`.
        domain: For each operand, the interval that tests draw from.
        words: What it computes, in words for a reader.
        operator: Python's special method without its underscores, or "" if it has none.
        ufunc: The name of NumPy's (or SciPy's) ufunc, or "" if there is none.
        is_exact: Whether the partials are the derivatives of `forward`. Those of `stop_gradient` are not.
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
        """The number of operands."""
        return len(self.partials)

    @property
    def is_function(self) -> bool:
        """Whether it is called by its name, as a method and in `gradwalk.math`; `a + b` is not."""
        return self.name not in ("add", "sub", "mul", "div", "neg")

    @property
    def is_operator(self) -> bool:
        """Whether it is written with its symbol, as `a + b` and `-a` are; `abs(a)` is not."""
        return bool(self.operator) and self.symbol != self.name

    @cached_property
    def selects(self) -> bool:
        """Whether it passes on one operand and leaves out the others, as relu, maximum and where do.

        Its partials are then constants, chosen by a condition. An operand that is left out gets a gradient of exactly
        0, even where the upstream gradient is infinite and 0 · inf would be nan.
        """
        partials = [self.partial(position) for position in range(self.arity)]
        return any(p.operator == "where" for p in partials) and all(is_choice_of_numbers(p) for p in partials)

    @cached_property
    def non_differentiable(self) -> tuple[int, ...]:
        """The positions of operands that never get a gradient, such as the condition of `where`."""
        return tuple(i for i in range(self.arity) if self.partial(i) == number(0))

    def partial(self, position: int) -> Formula:
        """Return the local derivative with respect to one operand.

        Args:
            position: Which operand, counted from 0.

        Returns:
            The derivative, as a formula of the operands and `out`.

        Example:
            >>> from gradwalk.ops.table import BY_NAME
            >>> BY_NAME["mul"].partial(0) == name("y")
            True
        """
        return as_formula(self.partials[position])


@dataclass(frozen=True)
class Reduction:
    """A row for any number of operands, which are folded into a total one element after the other.

    An element is one operand, or a pair or triple of operands with the same index in as many sequences. The node of a
    `Value` has as operands `start`, where the row takes one, then the first sequence, then the second. Recorded
    programs contain no reductions: they are expanded into `step` for each element, written in the other rows.

    Attributes:
        name: What the function is called.
        symbol: What a drawing shows.
        first: The total before the first element, as a formula without variables. It is the default of `start` where
            the row takes one.
        step: The total after an element, as a formula of `total` and the operands `x`, `y` and `z` of the element.
        partials: For each sequence, the derivative of the result with respect to its operand in an element, as a
            formula of the operands of the same element and the result `out`.
        start_partial: The derivative of the result with respect to `start`, as a formula of `out`; None where the row
            takes no operand `start`.
        domain: For each sequence, the interval that tests draw from.
        words: What it computes, in words for a reader.
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
        """The number of operands in an element, which is the number of sequences."""
        return len(self.partials)

    @property
    def starts(self) -> int:
        """The number of operands before the first sequence: 1 where the row takes `start`, else 0."""
        return 0 if self.start_partial is None else 1

    @property
    def parameters(self) -> str:
        """The name of each sequence in the signature of the function."""
        return "x" if self.groups == 1 else "pqr"[: self.groups]

    @property
    def takes(self) -> str:
        """What `accepts` accepts, in words."""
        if self.groups == 1:
            return "at least one"
        if self.groups == 2:
            return "an odd number of" if self.starts else "an even number of"
        return f"a multiple of {self.groups}" + (" and one more" if self.starts else "")

    @cached_property
    def selects(self) -> bool:
        """Whether it passes on some operands and leaves out the others, as `Operation.selects` says of other rows."""
        partials = [as_formula(p) for p in self.partials]
        return any(p.operator == "where" for p in partials) and all(is_choice_of_numbers(p) for p in partials)

    @property
    def non_differentiable(self) -> tuple[int, ...]:
        """The positions of operands that never get a gradient: none."""
        return ()

    def accepts(self, count: int) -> bool:
        """Return whether a node may have so many operands.

        Args:
            count: The number of operands, `start` included.

        Returns:
            Whether they are at least one, and the same number for each sequence.
        """
        return count > 0 and (count - self.starts) % self.groups == 0

    def element(self, position: int, count: int) -> tuple[int, ...]:
        """Return the positions of the operands in the element of an operand.

        Args:
            position: The position of the operand in the node.
            count: The number of operands of the node.

        Returns:
            A position for each of x, y and z that the row has; none for `start`.

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
        """Return the local derivative with respect to one operand.

        Args:
            position: The position of the operand in the node.
            count: The number of operands of the node.

        Returns:
            The derivative, as a formula of the operands of its element and `out`.
        """
        if self.start_partial is not None and position == 0:
            return as_formula(self.start_partial)
        return as_formula(self.partials[self.element(position, count).index(position)])


@dataclass(frozen=True)
class Gather:
    """A row for an index and a table of any number of operands, of which it passes on the one that the index picks.

    The node of a `Value` has as operands the index, then the table. Indices count from 0, negative ones from the end as
    in Python. Where the index is none of the table, such as 1.5, the result is nan. Recorded programs contain it as one
    instruction, whose operands stand in a list of the program's own, `Code.tables`.

    Attributes:
        name: What the function is called.
        symbol: What a drawing shows.
        words: What it computes, in words for a reader.
    """

    name: str
    symbol: str
    words: str
    takes = "at least two"  # what `accepts` accepts, in words
    selects = True  # as `Operation.selects` says of other rows
    non_differentiable = (0,)  # the index

    def accepts(self, count: int) -> bool:
        """Return whether a node may have so many operands.

        Args:
            count: The number of operands, the index included.

        Returns:
            Whether there is a table of at least one.
        """
        return count > 1

    def element(self, position: int, count: int) -> tuple[int, ...]:
        """Return the positions of the operands that the derivative with respect to an operand names.

        Args:
            position: The position of the operand in the node.
            count: The number of operands of the node.

        Returns:
            The position of the index, which is called x there.
        """
        return (0,)

    def partial(self, position: int, count: int) -> Formula:
        """Return the local derivative with respect to one operand.

        Args:
            position: The position of the operand in the node.
            count: The number of operands of the node.

        Returns:
            The derivative, as a formula of the index `x`: 1 where that picks the operand, counted from either end.

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
    """An instruction of programs that does the work of two rows at once.

    Recorded functions are full of sums of products, and one instruction costs less than two. Both operations of the
    formula round as their own rows would, so that fusing changes no result. Programs are taken apart into rows before
    they are differentiated: a fused instruction needs no partials.

    Attributes:
        name: What program files call it.
        forward: The value: one of +, - and * applied to `x` and `y`, and another one applied to that and `z`.
    """

    name: str
    forward: Formula
    is_function = False  # listings show the formula, not a call

    @property
    def arity(self) -> int:
        """The number of operands."""
        return len(variables(self.forward))


def is_arithmetic(row: Operation | Fused) -> bool:
    """Return whether a row is made of arithmetic and choices, so that IEEE 754 defines its bits.

    Args:
        row: The row.

    Returns:
        False where it calls a function of the C library.
    """
    return set(functions(row.forward)) <= {"fabs", "sqrt"}
