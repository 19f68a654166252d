"""Let the step of a `While` branch where it selects the next carry: `with_branches`.

A `where` waits for its condition. If a loop selects its carry with `where`, such as a descent that takes a step only if
it improves something, each step waits for the conditions of the step before. A branch is predicted instead, and the
operand that is not selected need not be computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.program.routine.statements import Assign, Cell, Compute, Operand, Select, Statement, operands_in

_WHERE = OPCODES["where"]


def with_branches(body: Sequence[Statement]) -> list[Statement]:
    """Replace the instructions `where` that only the next carry depends on by branches; return the statements.

    `body` is the step of a loop for one sample; at its end, it assigns the carry to variables.
    """
    end = next((i for i, x in enumerate(body) if isinstance(x, Assign) and isinstance(x.target, str)), len(body))
    selecting = _selecting(body, end)
    rest = [x for x in body[:end] if not (isinstance(x, Compute) and x.result in selecting)]
    return [*rest, *_grouped(selecting.values()), *body[end:]]


def _selecting(body: Sequence[Statement], end: int) -> dict[str, Compute]:
    """Return the instructions to replace, by result, in order."""
    uses = Counter(operands_in(body))
    allowed = Counter(x.operand for x in body[end:] if isinstance(x, Assign) and isinstance(x.operand, str))
    found: list[Compute] = []
    for statement in reversed(body[:end]):
        if not isinstance(statement, Compute) or statement.opcode != _WHERE:
            continue
        if uses[statement.result] == allowed[statement.result] and not any(
            isinstance(operand, Cell) for operand in statement.operands
        ):
            found.append(statement)
            allowed.update(operand for operand in statement.operands[1:] if isinstance(operand, str))
    return {statement.result: statement for statement in reversed(found)}


def _grouped(selecting: Iterable[Compute]) -> list[Select]:
    """Return branches that compute the instructions, one for all instructions with the same condition if possible."""
    groups: list[Select] = []
    group_of: dict[Operand, int] = {}  # result -> position of its group
    for result, _, (condition, chosen, otherwise) in selecting:
        first = 1 + max(group_of.get(operand, -1) for operand in (chosen, otherwise))
        which = next((i for i in range(first, len(groups)) if groups[i].condition == condition), len(groups))
        if which == len(groups):
            groups.append(Select(condition, []))
        groups[which].choices.append((result, chosen, otherwise))
        group_of[result] = which
    return groups
