"""Find the statements of a loop that can run for several iterations at once: `split_loop(loop)`."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from gradwalk.program.routine.statements import (
    Assign,
    Cell,
    Choose,
    Compute,
    Count,
    For,
    Operand,
    Read,
    Select,
    Statement,
    Store,
    Take,
    flattened,
    operands_in,
)

# A loop of fewer iterations, or with more statements, is not split. The time of the search grows with their square.
_LEAST, _MOST = 4, 500


class Split(NamedTuple):
    """The statements of a loop in two parts. For some consecutive iterations, the first part can run before the second.

    Attributes:
        together: The statements that can run for several iterations at once, in an order in which they can run.
        in_order: The statements that must run for one iteration after the other.
        passed: Maps each variable that `together` reads and assigns to the variable whose number is assigned to it, for
            the next iteration.
    """

    together: Sequence[Statement]
    in_order: Sequence[Statement]
    passed: Mapping[str, str]


class _Access(NamedTuple):
    """An access of a statement of a loop to cells of an array.

    Attributes:
        position: The position of the statement in the loop.
        cell: The cell, or one of the cells.
        reach: The distances from `cell` to the first and to the last cell. None if they are unknown.
        is_write: Whether the statement writes the cells.
    """

    position: int
    cell: Cell
    reach: tuple[int, int] | None
    is_write: bool


def split_loop(loop: For, is_allowed: Callable[[int], bool] = lambda _: True) -> Split | None:
    """Split a loop; return None if no statement can run for several iterations at once.

    Args:
        loop: The loop.
        is_allowed: Tells whether an instruction, given its opcode, may run for several iterations at once.
    """
    if not isinstance(loop.times, int) or loop.times < _LEAST or loop.step_of is not None:
        return None
    inside = list(flattened(loop.body))
    if len(inside) > _MOST or not all(isinstance(part, _SIMPLE | Take | Select | For | Choose) for part in inside):
        return None
    allowed = {i for i, part in enumerate(loop.body) if not isinstance(part, Compute) or is_allowed(part.opcode)}
    dependences = _Dependences(loop, loop.times)
    order = dependences.together(allowed)
    if not order:
        return None
    together = set(order)
    in_order = [statement for i, statement in enumerate(loop.body) if i not in together]
    return Split([loop.body[i] for i in order], in_order, dependences.passed(order))


def factors(strides: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the factor of each counter in an index, without factors of 0."""
    found: dict[str, int] = {}
    for counter, factor in strides:
        found[counter] = found.get(counter, 0) + factor
    return {counter: factor for counter, factor in found.items() if factor}


class _Dependences:
    """The dependences between the statements and iterations of a loop."""

    def __init__(self, loop: For, times: int) -> None:
        self._body, self._counter, self._times = loop.body, loop.counter, times
        inside = list(flattened(loop.body))
        self._assigned = {part.target for part in inside if isinstance(part, Assign) and isinstance(part.target, str)}
        self._made = {name: i for i, part in enumerate(loop.body) for x in flattened([part]) for name in _made(x)}
        self._accesses = [access for i, statement in enumerate(loop.body) for access in _accesses(i, statement)]
        self._passing = {  # position of a statement that reads or assigns a variable which is passed on -> the variable
            i: passing for passing in _passing(loop.body, self._made) for i in (*passing.reads, passing.assign)
        }

    def together(self, allowed: Set[int]) -> list[int]:
        """Return the positions of the statements that can run for several iterations at once, if they are `allowed`.

        The positions are in an order in which the statements can run.
        """
        found = {i for i in allowed if isinstance(self._body[i], _SIMPLE)}
        while True:
            while wrong := {i for i in found if not self._can_run(i, found)}:
                found -= wrong
            sorter = TopologicalSorter({i: self._before(i, found) for i in sorted(found)})
            try:
                sorter.prepare()
            except CycleError as error:
                found.difference_update(error.args[1])
                continue
            return _first_to_last(sorter)

    def passed(self, together: Sequence[int]) -> dict[str, str]:
        """Return the variables that are passed on, and their numbers, if their statements are `together`."""
        return {self._passing[i].variable: self._passing[i].number for i in together if i in self._passing}

    def _before(self, position: int, together: Set[int]) -> list[int]:
        """Return the positions of the statements that must run before a statement, among those `together`."""
        statement = self._body[position]
        names = [operand for operand in operands_in([statement]) if isinstance(operand, str)]
        found = {self._made[name] for name in names if name in self._made}
        passing = self._passing.get(position)
        if passing is not None:
            found.update([self._made[passing.number]] if position in passing.reads else passing.reads)
        own = [access for access in self._accesses if access.position == position]
        found |= {
            other.position
            for other in self._accesses
            for access in own
            if other.position < position and other.cell.array == access.cell.array
            if other.is_write or access.is_write
        }
        return [i for i in found if i in together]

    def _can_run(self, position: int, together: Set[int]) -> bool:
        """Return whether a statement can run for several iterations at once if the other statements `together` do."""
        statement = self._body[position]
        passing = self._passing.get(position)
        if passing is not None:
            return {self._made[passing.number], passing.assign, *passing.reads} <= together
        target = statement.cell if isinstance(statement, Store) else getattr(statement, "target", None)
        if isinstance(target, str) or (target is not None and not self._is_free(position, target, together)):
            return False
        return all(self._is_known(operand, position, together) for operand in operands_in([statement]))

    def _is_known(self, operand: Operand, position: int, together: Set[int]) -> bool:
        """Return whether a statement of `together` can read an operand before the other statements run."""
        if isinstance(operand, Cell):
            return self._is_free(position, operand, together, only_writes=True)
        if operand in self._assigned:
            return False
        return operand not in self._made or self._made[operand] in together

    def _is_free(self, position: int, cell: Cell, together: Set[int], *, only_writes: bool = False) -> bool:
        """Return whether other accesses allow a statement to access a cell for several iterations at once."""
        for other in self._accesses:
            if other.cell.array != cell.array or not (other.is_write or not only_writes):
                continue
            if self._meets(cell, other):
                return False
            is_same = (cell.start, factors(cell.strides)) == (other.cell.start, factors(other.cell.strides))
            if is_same and other.position < position and other.position not in together:
                return False
        return True

    def _meets(self, cell: Cell, other: _Access) -> bool:
        """Return whether a cell in one iteration may be a cell of an access in another iteration."""
        strides, others = factors(cell.strides), factors(other.cell.strides)
        step, step_of_other = strides.pop(self._counter, 0), others.pop(self._counter, 0)
        distance = other.cell.start - cell.start
        if strides != others or other.reach is None:
            return True
        if step != step_of_other or other.reach != (0, 0):
            most = self._times - 1
            (low, high), (least, greatest) = sorted([0, step * most]), sorted([0, step_of_other * most])
            first, last = other.reach
            return low <= distance + greatest + last and distance + least + first <= high
        if step == 0:
            return distance == 0
        return distance % step == 0 and 0 < abs(distance // step) < self._times


_SIMPLE = Compute | Read | Count | Assign | Store


class _Passing(NamedTuple):
    """A variable by which each iteration passes a number to the next one.

    Attributes:
        variable: The variable.
        number: The name of the number in the iteration that passes it on.
        reads: The positions of the statements that read the number of the iteration before.
        assign: The position of the statement that assigns the number.
    """

    variable: str
    number: str
    reads: Set[int]
    assign: int


def _passing(body: Sequence[Statement], made: Mapping[str, int]) -> list[_Passing]:
    """Return the variables that pass on a number which does not depend on the number that they passed before."""
    assigns = [(i, part) for i, part in enumerate(body) if isinstance(part, Assign) and isinstance(part.target, str)]
    inside = [part.target for part in flattened(body) if isinstance(part, Assign)]
    found = []
    for position, part in assigns:
        name, number = str(part.target), part.operand
        users = {i for i, other in enumerate(body) if name in operands_in([other])}
        is_simple = all(isinstance(body[i], Read) and i < position for i in users)
        if not is_simple or not isinstance(number, str) or number not in made or inside.count(name) > 1:
            continue
        if not users & _sources(made[number], body, made):
            found.append(_Passing(name, number, users, position))
    return found


def _sources(position: int, body: Sequence[Statement], made: Mapping[str, int]) -> set[int]:
    """Return the positions of the statements that define what a statement needs, and of the statement itself."""
    found, waiting = set(), [position]
    while waiting:
        position = waiting.pop()
        if position not in found:
            found.add(position)
            names = [operand for operand in operands_in([body[position]]) if isinstance(operand, str)]
            waiting += [made[name] for name in names if name in made]
    return found


def _first_to_last(sorter: TopologicalSorter[int]) -> list[int]:
    """Return all positions in an order of the sorter, smaller positions first."""
    order: list[int] = []
    ready: list[int] = []
    while sorter.is_active():
        for position in sorter.get_ready():
            heapq.heappush(ready, position)
        order.append(heapq.heappop(ready))
        sorter.done(order[-1])
    return order


def _made(statement: Statement) -> list[str]:
    """Return the names of the variables that a statement defines."""
    if isinstance(statement, Select):
        return [name for name, _, _ in statement.choices]
    return [statement.result] if isinstance(statement, Compute | Read | Count | Take) else []


def _accesses(position: int, statement: Statement) -> list[_Access]:
    """Return the accesses of a statement of a loop."""
    inside = list(flattened([statement]))
    times = {part.counter: part.times for part in inside if isinstance(part, For)}
    found = [_access(position, x, times, is_write=False) for x in operands_in([statement]) if isinstance(x, Cell)]
    for part in inside:
        if isinstance(part, Take):
            reach = min(0, part.stride * (part.length - 1)), max(0, part.stride * (part.length - 1))
            found.append(_access(position, part.table, times, reach, is_write=False))
        target = part.cell if isinstance(part, Store) else part.target if isinstance(part, Assign) else None
        if isinstance(target, Cell):
            found.append(_access(position, target, times, is_write=True))
    return found


def _access(
    position: int, cell: Cell, times: Mapping[str, object], reach: tuple[int, int] = (0, 0), *, is_write: bool
) -> _Access:
    """Return the access to a cell, whose index depends on the counters of inner loops: `times` has their iterations."""
    first, last = reach
    outer = []
    for counter, stride in cell.strides:
        most = times.get(counter, 1)
        if not isinstance(most, int):
            return _Access(position, cell, None, is_write)
        first, last = first + min(0, stride * (most - 1)), last + max(0, stride * (most - 1))
        outer += [] if counter in times else [(counter, stride)]
    return _Access(position, cell._replace(strides=tuple(outer)), (first, last), is_write)
