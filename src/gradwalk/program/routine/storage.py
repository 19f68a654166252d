"""Decide which results of a program with loops are local variables and which are stored in the array `memory`.

A result that is used only in the iteration that computes it or in the next one is a local variable. Other results that
are needed are stored in `memory`. They are stored in program order, so an operand whose index is affine in the loop
counters also has an affine index in `memory`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import ARITIES, CALL, TAKE
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import Moving, Repeat, operand, result, traversed
from gradwalk.program.routine.layout import Access, Loops, in_cells, indices, table_access

# A function as `layout.order`.
Order = Callable[[int, Sequence[Access]], NDArray[numpy.int64]]

# Programs of at most this many instructions are printed without loops, so that all numbers can stay in registers.
FLAT_BELOW = 250
_FEWEST = 8  # minimum number of instructions that a loop must save


def loops_to_print(code: Code) -> list[Repeat]:
    """Return the outermost loops of a program that are printed as loops, with the inner loops that are."""
    return _worthwhile(fold(code)) if len(code) > FLAT_BELOW else []


def _worthwhile(repeats: Iterable[Repeat]) -> list[Repeat]:
    """Return the loops that save enough instructions."""
    large = [repeat for repeat in repeats if repeat.period * (repeat.times - 1) >= _FEWEST]
    return [repeat._replace(inner=tuple(_worthwhile(repeat.inner))) for repeat in large]


class Placement:
    """The decision where each result of a program with loops is stored.

    Args:
        code: The parts of the program.
        repeats: The loops to print.

    Attributes:
        code: The parts of the program.
        everything: The loops and instructions in the order in which they are printed; see `traversed`.
        inside: A flag per index: whether the number with this index is the result of an instruction in a loop.
        kept: A flag per index: whether the number with this index is stored in `memory`.
        moves: The reads and writes of `memory` in loops.
        carried: Maps a tuple of nested loops to instructions of the innermost loop: those whose results the next
            iteration uses.
    """

    def __init__(self, code: Code, repeats: Sequence[Repeat]) -> None:
        self.code = code
        self.everything = list(traversed(range(len(code)), repeats))
        self.inside = numpy.zeros(code.count, bool)
        self.kept = numpy.zeros(code.count, bool)
        for repeat in repeats:
            self.inside[code.first + repeat.start : code.first + repeat.stop] = True
        self._around = {  # instruction in first iterations -> its enclosing loops
            i: around for part, around in self.everything if isinstance(part, range) and around for i in part
        }
        self.moves: list[Access] = []
        self.carried: defaultdict[Loops, list[int]] = defaultdict(list)
        if repeats:
            self._keep()

    def operands(self, i: int, around: Loops) -> Iterator[Moving]:
        """Yield the affine index of each operand of instruction `i`; for `take`: the subscript and the table entries.

        `around` are the loops that enclose the instruction. `i` is its position in the program in their first
        iterations.
        """
        opcode, _, table, _ = self.code.instructions[4 * i : 4 * i + 4].tolist()
        for column in range(1, 2 if opcode == TAKE else 1 + ARITIES[opcode]):
            yield operand(self.code, i, column, around)
        if opcode == TAKE:
            for entry in self.code.tables[table]:
                yield Moving(entry, (0,) * len(around))

    def is_local(self, place: Moving, around: Loops) -> bool:
        """Return whether an operand in these loops is the result of an earlier instruction of the same iteration."""
        loops = self._around.get(place.start - self.code.first)
        if loops is None or loops != around[: len(loops)]:
            return False
        periods = tuple([loop.period for loop in loops])
        return place.strides == periods + (0,) * (len(around) - len(loops))

    def carrying(self, place: Moving, around: Loops) -> int | None:
        """Return the instruction whose result in the previous innermost iteration is this operand, or None."""
        if not around:
            return None
        i = place.start - self.code.first + around[-1].period
        is_carried = self._around.get(i) == around and place.strides == result(self.code, i, around).strides
        return i if is_carried else None

    def is_in_memory(self, place: Moving) -> bool:
        """Return whether an operand that is neither local nor carried is read from `memory`."""
        return place.start >= self.code.first and bool(any(place.strides) or self.inside[place.start])

    def keeps(self, i: int, around: Loops) -> Moving | None:
        """Return the affine index at which iterations store the result of instruction `i` in `memory`.

        Returns None if no iteration stores it.
        """
        place = result(self.code, i, around)
        kept = self._are_kept(place, around)
        if around and i in self.carried[around]:  # the result of the last iteration is stored after the loop
            kept = kept.reshape(-1, around[-1].times)[:, :-1]
        return place if kept.any() else None

    def keeps_last(self, i: int, loops: Loops) -> Moving | None:
        """Return the affine index at which a carried result is stored after the innermost loop.

        Returns None if the iterations store the result (see `keeps`), or if the result is not stored at all.
        """
        last = _last(result(self.code, i, loops), loops)
        is_kept = self.keeps(i, loops) is None and self._are_kept(result(self.code, i, loops), loops).any()
        return last if is_kept else None

    def _keep(self) -> None:
        for part, around in self.everything:
            if isinstance(part, range) and around:
                for i in part:
                    for operand_place in self.operands(i, around):
                        self._keep_operand(operand_place, around)
            elif isinstance(part, range):
                self._keep_used(part)
        outputs = numpy.array(self.code.outputs, int)
        self.kept[outputs] |= self.inside[outputs]
        for i, around in self._around.items():  # if one iteration stores the result, all iterations do
            place, loops = self.keeps(i, around), around
            if place is None and i in self.carried[around]:
                place, loops = self.keeps_last(i, around), around[:-1]
            if place is not None:
                self.kept[indices(place, loops)] = True
                self.moves.append(Access(place, loops))

    def _keep_used(self, instructions: range) -> None:
        """Keep the operands of instructions outside of loops. The operands of a call are looked at once."""
        rows = self.code.instructions.reshape(-1, 4)[instructions.start : instructions.stop]
        is_call = rows[:, 0] == CALL
        used = {index for call in set(rows[is_call, 1].tolist()) for index in self.code.calls[call][1]}
        for row in rows[~is_call].tolist():
            used.update(self.code.used(row))
        found = numpy.fromiter(used, int, len(used))
        self.kept[found] |= self.inside[found]

    def _keep_operand(self, place: Moving, around: Loops) -> None:
        carried = self.carrying(place, around)
        while carried is not None:  # the number that the first iteration reads may be carried by an enclosing loop
            if carried in self.carried[around]:
                return
            self.carried[around].append(carried)
            place, around = place._replace(strides=place.strides[:-1]), around[:-1]
            carried = self.carrying(place, around)
        if self.is_in_memory(place) and not self.is_local(place, around):
            self.kept[indices(place, around)] = True
            self.moves.append(Access(place, around))

    def _are_kept(self, place: Moving, around: Loops) -> NDArray[numpy.bool_]:
        return self.kept[indices(place, around)]


def before(place: Moving, loops: Loops) -> Moving:
    """Return the index that a result of the innermost loop would have in an iteration before the first iteration."""
    return Moving(place.start - loops[-1].period, place.strides[:-1])


def _last(place: Moving, loops: Loops) -> Moving:
    """Return the index of a result of the innermost loop in the last iteration."""
    return Moving(place.start + loops[-1].period * (loops[-1].times - 1), place.strides[:-1])


def cells(placement: Placement, order: Order) -> NDArray[numpy.int64]:
    """Return the cell in `memory` of each index.

    Kept indices get consecutive cells if all affine indices of operands then remain affine. Otherwise, cells have the
    same distances as indices. `order` then changes the order of the cells: see `layout.order`.
    """
    kept, accesses = placement.kept, list(dict.fromkeys(placement.moves))
    cell_of = numpy.cumsum(kept) - 1
    if not all(access.is_affine(cell_of) for access in accesses):
        cell_of = numpy.arange(len(kept)) - int(numpy.argmax(kept))
    in_memory = [Access(in_cells(cell_of, place), loops) for place, loops in accesses]
    in_memory += [
        table_access(cell_of[list(table)].tolist()) for table in placement.code.tables if kept[list(table)].all()
    ]
    cell_of[kept] = order(int(cell_of[kept].max(initial=-1)) + 1, in_memory)[cell_of[kept]]
    return cell_of
