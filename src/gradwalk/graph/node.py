"""`Node`, a view of a single node of a graph, and `GraphError`."""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.ops.formula import Formula
from gradwalk.ops.rows import Gather, Operation, Reduction
from gradwalk.ops.table import BY_NAME, VARIADIC_BY_NAME
from gradwalk.value.source.source_line import SourceLine


class GraphError(ValueError):
    """The error raised if a graph is not valid. The message gives the reason and the node."""


class Node(NamedTuple):
    """A node of a graph.

    Attributes:
        place: Index of the node in the graph. The JSON form of walks also calls it `place`.
        name: Unique name.
        label: The label set by the user; else the variable that the node was assigned to, if recorded; else "".
        symbol: Symbol of the operation, "" for leaves.
        opcode: Opcode of the operation; 0 for leaves and hand-made nodes.
        arguments: The operands in order: the index of a node as an int, a constant as a float.
        partials: Partial derivative with respect to each argument; nan for constants.
        data: The number.
        grad: The gradient, as recorded.
        source: Line of the user's program that created the node, or None.
        by_hand: Whether its `_backward` was set by hand.
        scope: Named scopes in which the node was created, joined by dots; "" if there are none.
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
        """Whether the node is a leaf: a node without operands."""
        return not self.arguments

    @property
    def row(self) -> Operation | None:
        """The node's operation in the table; None for leaves, hand-made nodes and variadic operations."""
        return BY_NAME.get(NAMES[self.opcode])

    @property
    def variadic(self) -> Reduction | Gather | None:
        """The node's operation if it is variadic, else None."""
        return VARIADIC_BY_NAME.get(NAMES[self.opcode])

    @property
    def selects(self) -> bool:
        """Whether the node's operation returns some of its operands and ignores the rest, as `maximum` does."""
        row = self.row or self.variadic
        return row is not None and row.selects

    def partial_formula(self, position: int) -> Formula | None:
        """Return the partial derivative with respect to the argument at a position, as the formula in the table.

        In the formula, `out` is the node itself, and x, y and z are the arguments at the positions that `element`
        returns. Returns None for leaves and hand-made nodes.
        """
        if self.row is not None:
            return self.row.partial(position)
        return self.variadic.partial(position, len(self.arguments)) if self.variadic is not None else None

    def element(self, position: int) -> tuple[int, ...]:
        """Return the positions of the arguments that `partial_formula(position)` calls x, y and z.

        For a reduction, these are the arguments of the element that contains `position`; for `start`, there are none.
        For `take`, this is only the index.
        """
        if self.variadic is not None:
            return self.variadic.element(position, len(self.arguments))
        return tuple(range(len(self.arguments)))

    @property
    def non_differentiable(self) -> tuple[int, ...]:
        """Positions of the operands that get no gradient, such as the condition of `where`.

        A rule set by hand cannot distinguish repeated operands, so only the first position of each operand gets a
        gradient.
        """
        if self.by_hand:
            return tuple(i for i, x in enumerate(self.arguments) if isinstance(x, int) and x in self.arguments[:i])
        row = self.row or self.variadic
        return row.non_differentiable if row else ()

    @property
    def operands(self) -> tuple[int, ...]:
        """Indices of the arguments that are nodes."""
        return tuple(x for x in self.arguments if isinstance(x, int))

    @property
    def condition_operands(self) -> tuple[int, ...]:
        """Indices of the operands that only act as conditions, such as the condition of `where`."""
        row = self.row or self.variadic
        operands = (self.arguments[i] for i in row.non_differentiable) if row else ()
        return tuple(x for x in operands if isinstance(x, int))
