"""`Node`: one node of a graph as readers see it, and `GraphError`."""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.ops.formula import Formula
from gradwalk.ops.rows import Gather, Operation, Reduction
from gradwalk.ops.table import BY_NAME, VARIADIC_BY_NAME
from gradwalk.value.source.source_line import SourceLine


class GraphError(ValueError):
    """A graph is not well formed: the message says what is wrong, and at which node."""


class Node(NamedTuple):
    """One node of a graph.

    Attributes:
        place: The index of the node in the graph; the JSON form of walks calls it that.
        name: A name that no other node has.
        label: The label that the user gave, the variable that the node was assigned to if lines were recorded, or "".
        symbol: The symbol of the operation, "" for leaves.
        opcode: The number of the operation; 0 for leaves and hand-made nodes.
        arguments: The operands in order: the index of a node as an int, a constant as a float.
        partials: The partial derivative with respect to each argument; nan for constants.
        data: The number.
        grad: The gradient, as recorded.
        source: The line of the user's program that made the node, if it is known.
        by_hand: Whether its `_backward` was set by hand.
        scope: The named scopes that it was made in, with dots between them; "" if there are none.
    """

    place: int
    name: str
    label: str
    symbol: str
    opcode: int
    arguments: tuple[int | float, ...]
    partials: tuple[float, ...]
    data: float
    grad: float
    source: SourceLine | None
    by_hand: bool
    scope: str

    @property
    def is_leaf(self) -> bool:
        """Whether it has no operands."""
        return not self.arguments

    @property
    def row(self) -> Operation | None:
        """Its row in the table of operations; None for leaves, hand-made nodes and variadic rows."""
        return BY_NAME.get(NAMES[self.opcode])

    @property
    def variadic(self) -> Reduction | Gather | None:
        """Its row where that takes any number of operands; None for all other nodes."""
        return VARIADIC_BY_NAME.get(NAMES[self.opcode])

    @property
    def selects(self) -> bool:
        """Whether its operation passes on some operands and leaves out the others, as `maximum` does."""
        row = self.row or self.variadic
        return row is not None and row.selects

    def partial_formula(self, position: int) -> Formula | None:
        """Return the local derivative with respect to one argument, as the table has it.

        Args:
            position: Which argument, counted from 0.

        Returns:
            A formula of `out`, the node itself, and of x, y and z, the arguments that `element` names; None for leaves
            and hand-made nodes.
        """
        if self.row is not None:
            return self.row.partial(position)
        return self.variadic.partial(position, len(self.arguments)) if self.variadic is not None else None

    def element(self, position: int) -> tuple[int, ...]:
        """Return the positions of the arguments that `partial_formula(position)` calls x, y and z.

        Args:
            position: Which argument, counted from 0.

        Returns:
            A position for each letter that the row has: for a reduction those in the same element as the argument,
            and none for its `start`; for `take` that of the index.
        """
        if self.variadic is not None:
            return self.variadic.element(position, len(self.arguments))
        return tuple(range(len(self.arguments)))

    @property
    def non_differentiable(self) -> tuple[int, ...]:
        """The positions of operands that get no gradient, such as the condition of `where`.

        A rule made by hand cannot tell several positions of one operand apart, so only the first of them counts.
        """
        if self.by_hand:
            return tuple(i for i, x in enumerate(self.arguments) if isinstance(x, int) and x in self.arguments[:i])
        row = self.row or self.variadic
        return row.non_differentiable if row else ()

    @property
    def operands(self) -> tuple[int, ...]:
        """The indices of the nodes among its arguments."""
        return tuple(x for x in self.arguments if isinstance(x, int))

    @property
    def condition_operands(self) -> tuple[int, ...]:
        """The indices of the operands that only decide, such as the condition of `where`."""
        row = self.row or self.variadic
        operands = (self.arguments[i] for i in row.non_differentiable) if row else ()
        return tuple(x for x in operands if isinstance(x, int))
