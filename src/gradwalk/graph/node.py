"""`Node`: one node of a graph as readers see it, and `GraphError`."""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.ops.evaluate import NAMES
from gradwalk.ops.table import BY_NAME, Operation
from gradwalk.value.source_line import SourceLine


class GraphError(ValueError):
    """A graph is not well formed: the message says what is wrong, and at which node."""


class Node(NamedTuple):
    """One node of a graph, for readers. `arguments`: indices of operands (int) and constants (float), in order."""

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

    @property
    def is_leaf(self) -> bool:
        """Whether it was made from nothing."""
        return not self.arguments

    @property
    def row(self) -> Operation | None:
        """Its row in the table; None for leaves, hand-made nodes and sums of products."""
        return BY_NAME.get(NAMES[self.opcode])

    @property
    def inert(self) -> tuple[int, ...]:
        """The positions of operands that it passes nothing to, such as the condition of `where`.

        A rule made by hand does not tell the indices of one operand apart: it passes to the first of them.
        """
        if self.by_hand:
            return tuple(i for i, x in enumerate(self.arguments) if isinstance(x, int) and x in self.arguments[:i])
        return self.row.inert if self.row else ()

    @property
    def operands(self) -> tuple[int, ...]:
        """The indices among its arguments."""
        return tuple(x for x in self.arguments if isinstance(x, int))

    @property
    def condition_operands(self) -> tuple[int, ...]:
        """The operands that only decide: those at inert positions of its row."""
        operands = (self.arguments[i] for i in self.row.inert) if self.row else ()
        return tuple(x for x in operands if isinstance(x, int))
