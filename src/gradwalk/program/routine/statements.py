"""`Routine`: a program as statements on variables and arrays, with loops and branches.

`lower_program.py` creates routines. A printer of a language needs to know only these statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

INPUTS = "values"  # the array that holds the inputs and, for one sample, receives the outputs
UNIFORM, RESULTS = "uniform", "results"  # on lanes: the array of inputs that are the same for all samples, and outputs
SUMS = "sums"  # on lanes: the sums of a result over the samples


class Cell(NamedTuple):
    """A cell of an array.

    Attributes:
        array: Name of the array.
        start: Index of the cell if all counters are 0.
        strides: Pairs of a loop counter and the factor by which the index grows with this counter.
    """

    array: str
    start: int
    strides: tuple[tuple[str, int], ...] = ()

    def moved(self, by: int, *strides: tuple[str, int]) -> Cell:
        """Return the cell `by` cells further, with additional strides."""
        return Cell(self.array, self.start + by, (*self.strides, *strides))


# A variable, a constant, or the number in a cell.
Operand = str | float | Cell


class Compute(NamedTuple):
    """Define a variable as the result of an operation."""

    result: str
    opcode: int
    operands: Sequence[Operand]


class Read(NamedTuple):
    """Define a variable as the current number of an operand."""

    result: str
    operand: Operand


class Count(NamedTuple):
    """Define a variable as `first` plus the sum of loop counters, each times a factor."""

    result: str
    first: int
    factors: tuple[tuple[str, int], ...]


class Take(NamedTuple):
    """Define a variable as the entry of a table at a subscript, or nan if the subscript is out of range.

    The table consists of `length` cells, `stride` cells apart; the first is `table`.
    """

    result: str
    subscript: Operand
    table: Cell
    stride: int
    length: int


class Assign(NamedTuple):
    """Change a variable that can be assigned several times (see `Routine.variables`), or the number in a cell.

    On lanes, the number changes only for the samples for which the statement runs.
    """

    target: str | Cell
    operand: Operand


class Store(NamedTuple):
    """Write a number to a cell. On lanes, it is undefined for samples for which the statement does not run."""

    cell: Cell
    operand: Operand


class Add(NamedTuple):
    """On lanes, add the number of each sample to a sum over the samples."""

    cell: Cell
    operand: Operand


class Grow(NamedTuple):
    """Make sure that a growing array has room for a row of `width` cells; `row` is a number or a counter."""

    array: str
    row: str | int
    width: int


class Rest(NamedTuple):
    """The number of steps in a segment: `length`, or fewer in the last segment.

    Attributes:
        segment: The counter of the segments.
        length: The number of steps of the other segments.
        total: The number of steps of all segments.
    """

    segment: str
    length: int
    total: int


class For(NamedTuple):
    """Run statements for each number of a counter from 0 to `times - 1`, or in reverse order.

    Attributes:
        counter: Name of the counter.
        times: The number of iterations, or the name of a counter of a `While` that has ended.
        body: The statements.
        is_reversed: Whether the counter runs from `times - 1` to 0.
        step_of: On lanes, the counter of a `While` and the number of its step that an iteration runs again, as a sum of
            counters, each times a factor. The iteration runs for the samples that take this step. None for all samples.
    """

    counter: str
    times: int | str | Rest
    body: Sequence[Statement]
    is_reversed: bool = False
    step_of: tuple[str, tuple[tuple[str, int], ...]] | None = None


class Product(NamedTuple):
    """Define a counter as the product of two counters."""

    result: str
    factors: tuple[str, str]


class Actions(NamedTuple):
    """Run statements for each action of a checkpoint plan: see `checkpoint_plan.py`.

    The plan keeps carries in rows: the carry before step 0 is in row 1, and row 0 holds a carry that the plan does not
    keep. Each action runs some steps forward, from the last row that is kept, and then some steps backward.

    Attributes:
        policy: The policy of the plan: see `checkpoint_plan.slots_for`.
        steps: The number of steps, or the counter that holds it.
        starts: The array with the number of the step for each row.
        counters: The names of the counters of an action.
        body: The statements of an action.
    """

    policy: str | int
    steps: int | str
    starts: str
    counters: ActionCounters
    body: Sequence[Statement]


class ActionCounters(NamedTuple):
    """The counters of an action.

    Attributes:
        top: The row that the action starts from.
        begin: The number of the step before which the carry had the state in row `top`.
        steps: The number of steps that run forward.
        keeps: 1 if the carry before each of these steps is kept in a row, else 0.
        base: The row of the first of these carries, or 0.
        after: The row of the carry after these steps.
        backs: The number of steps that run backward. Their carries are in consecutive rows from row `base` on.
        back_begin: The number of the step whose carry is in row `base`.
    """

    top: str
    begin: str
    steps: str
    keeps: str
    base: str
    after: str
    backs: str
    back_begin: str


class While(NamedTuple):
    """Run statements as long as a condition holds. Afterwards the counter is the number of iterations.

    Attributes:
        counter: Name of the counter.
        test: The statements that compute the condition.
        condition: The condition: another iteration runs if this number is not 0.
        most: The largest number of iterations, or None. The routine fails if the condition holds after them.
        body: The statements of an iteration. They can use the variables that `test` defines.
    """

    counter: str
    test: Sequence[Statement]
    condition: Operand
    most: int | None
    body: Sequence[Statement]


class Lost(NamedTuple):
    """Run statements for the samples for which the condition of a `While` still held after the largest number of steps.

    Attributes:
        counter: The counter of the `While`.
        body: The statements.
    """

    counter: str
    body: Sequence[Statement]


class Choose(NamedTuple):
    """Run one of several lists of statements: list i for a selector below i + 1, the last one for larger selectors.

    If the selector is nan, `otherwise` runs.
    """

    selector: Operand
    branches: Sequence[Sequence[Statement]]
    otherwise: Sequence[Statement]


class Select(NamedTuple):
    """Define variables by a branch, for one sample.

    Attributes:
        condition: The condition of the branch: it holds if this number is not 0.
        choices: For each variable its name, its number if the condition holds, and its number otherwise.
    """

    condition: Operand
    choices: list[tuple[str, Operand, Operand]]


Statement = (
    Compute
    | Read
    | Count
    | Take
    | Assign
    | Store
    | Add
    | Select
    | Grow
    | For
    | Product
    | Actions
    | While
    | Lost
    | Choose
)


class Routine(NamedTuple):
    """Statements, and the variables and arrays that they use.

    Attributes:
        statements: The statements.
        variables: The variables that are changed by `Assign`.
        arrays: Maps the name of each local array to its number of cells.
        growing: The names of the arrays that `Grow` enlarges. They have no cells at first.
        constants: Maps the name of each array of constants to its numbers.
        varying: The names of the variables and arrays whose numbers differ between samples. Empty for one sample.
    """

    statements: Sequence[Statement]
    variables: Sequence[str]
    arrays: Mapping[str, int]
    growing: Sequence[str]
    constants: Mapping[str, Sequence[float]]
    varying: Set[str]


def flattened(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield all statements, including the statements inside loops and branches, in any order."""
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, For | Actions | While | Lost):
            waiting += statement.body
        if isinstance(statement, While):
            waiting += statement.test
        if isinstance(statement, Choose):
            for branch in (*statement.branches, statement.otherwise):
                waiting += branch


def operands_in(statements: Sequence[Statement]) -> Iterator[Operand]:
    """Yield the operands of all statements, including the statements inside loops and branches."""
    for statement in flattened(statements):
        if isinstance(statement, Compute):
            yield from statement.operands
        elif isinstance(statement, Read | Assign | Store | Add):
            yield statement.operand
        elif isinstance(statement, Take):
            yield statement.subscript
        elif isinstance(statement, While):
            yield statement.condition
        elif isinstance(statement, Choose):
            yield statement.selector
        elif isinstance(statement, Select):
            yield statement.condition
            for _, chosen, otherwise in statement.choices:
                yield chosen
                yield otherwise


def size(statements: Sequence[Statement]) -> int:
    """Return the number of statements, including the statements inside loops and branches."""
    return sum(1 for _ in flattened(statements))
