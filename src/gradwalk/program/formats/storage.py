"""Where the numbers of a program with loops stand, for what prints it as code: `Placement`.

Within a repetition results are variables, and so is what the next repetition needs. What else is needed is kept in an
array, `memory`, in the order of the program, so that operands that move evenly do so there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import INSTRUCTIONS, TAKE
from gradwalk.program.reroll.repeats import Moving, Repeat, operand, result, traversed

Loops = tuple[Repeat, ...]


class Placement:
    """Finds out where numbers stand.

    Args:
        code: The parts of the program.
        repeats: The loops that are written.

    Attributes:
        code: The parts of the program.
        everything: The program as it is written: see `traversed`.
        inside: Of each index, whether it is the result of an instruction in a loop.
        kept: Of each index, whether it stands in `memory`.
        moves: What is read from `memory` and written there in loops, each with the loops around.
        carried: By the loops around, the instructions whose results the next repetition of the innermost one needs.
    """

    def __init__(self, code: Code, repeats: Sequence[Repeat]) -> None:
        self.code = code
        self.everything = list(traversed(range(len(code)), repeats))
        self.inside = numpy.zeros(code.count, bool)
        self.kept = numpy.zeros(code.count, bool)
        for repeat in repeats:
            self.inside[code.first + repeat.start : code.first + repeat.stop] = True
        self._around = {  # of the instructions in first repetitions, the loops around
            i: around for part, around in self.everything if isinstance(part, range) and around for i in part
        }
        self.moves: list[tuple[Moving, Loops]] = []
        self.carried: defaultdict[Loops, list[int]] = defaultdict(list)
        if repeats:
            self._keep()

    def operands(self, i: int, around: Loops) -> Iterator[Moving]:
        """Yield the indices of the operands of an instruction.

        Args:
            i: The number of the instruction in the first repetitions.
            around: The loops around it.

        Yields:
            The index of each operand; those of `take` are followed by those of the table's entries.
        """
        opcode, _, table, _ = self.code.instructions[4 * i : 4 * i + 4].tolist()
        for column in range(1, 2 if opcode == TAKE else 1 + INSTRUCTIONS[opcode].arity):
            yield operand(self.code, i, column, around)
        if opcode == TAKE:
            for entry in self.code.tables[table]:
                yield Moving(entry, (0,) * len(around))

    def is_local(self, place: Moving, around: Loops) -> bool:
        """Return whether an operand in these loops is the result of an instruction in the same repetition of them."""
        loops = self._around.get(place.start - self.code.first)
        if loops is None or loops != around[: len(loops)]:
            return False
        periods = tuple([loop.period for loop in loops])
        return place.strides == periods + (0,) * (len(around) - len(loops))

    def carrying(self, place: Moving, around: Loops) -> int | None:
        """Return the instruction of these loops whose result in the repetition before is this operand, or None."""
        if not around:
            return None
        i = place.start - self.code.first + around[-1].period
        is_carried = self._around.get(i) == around and place.strides == result(self.code, i, around).strides
        return i if is_carried else None

    def is_in_memory(self, place: Moving) -> bool:
        """Return whether an operand in a loop, which is neither local nor carried, is a result of a loop."""
        return place.start >= self.code.first and bool(any(place.strides) or self.inside[place.start])

    def keeps(self, i: int, around: Loops) -> Moving | None:
        """Return where each repetition keeps the result of an instruction; None where it does not.

        Args:
            i: The number of the instruction in the first repetitions.
            around: The loops around it.

        Returns:
            The index of the result.
        """
        place = result(self.code, i, around)
        kept = self._are_kept(place, around)
        if around and i in self.carried[around]:  # of these, the last repetition's is kept when the loop ends
            kept = kept.reshape(-1, around[-1].times)[:, :-1]
        return place if kept.any() else None

    def keeps_last(self, i: int, loops: Loops) -> Moving | None:
        """Return where a carried result is kept after the innermost of its loops, if only there; else None."""
        last = _last(result(self.code, i, loops), loops)
        is_kept = self.keeps(i, loops) is None and self._are_kept(result(self.code, i, loops), loops).any()
        return last if is_kept else None

    def _keep(self) -> None:
        for part, around in self.everything:
            if isinstance(part, range):
                for i in part:
                    self._keep_operands(i, around)
        outputs = numpy.array(self.code.outputs, int)
        self.kept[outputs] |= self.inside[outputs]
        for i, around in self._around.items():  # what one repetition keeps, all of them write
            place, loops = self.keeps(i, around), around
            if place is None and i in self.carried[around]:
                place, loops = self.keeps_last(i, around), around[:-1]
            if place is not None:
                self.kept[indices(place, loops)] = True
                self.moves.append((place, loops))

    def _keep_operands(self, i: int, around: Loops) -> None:
        if not around:
            used = numpy.array(self.code.used(self.code.instructions[4 * i : 4 * i + 4].tolist()), int)
            self.kept[used] |= self.inside[used]
            return
        for place in self.operands(i, around):
            self._keep_operand(place, around)

    def _keep_operand(self, place: Moving, around: Loops) -> None:
        carried = self.carrying(place, around)
        while carried is not None:  # what it is before the first repetition, a loop around may carry, too
            if carried in self.carried[around]:
                return
            self.carried[around].append(carried)
            place, around = place._replace(strides=place.strides[:-1]), around[:-1]
            carried = self.carrying(place, around)
        if self.is_in_memory(place) and not self.is_local(place, around):
            self.kept[indices(place, around)] = True
            self.moves.append((place, around))

    def _are_kept(self, place: Moving, around: Loops) -> NDArray[numpy.bool_]:
        return self.kept[indices(place, around)]


def indices(place: Moving, around: Iterable[Repeat]) -> NDArray[numpy.int64]:
    """Return all indices of an operand in some loops.

    Args:
        place: The operand.
        around: The loops.

    Returns:
        The indices, in the order in which the loops come to them.
    """
    found = numpy.array([place.start])
    for loop, stride in zip(around, place.strides, strict=True):
        if stride:
            found = numpy.add.outer(found, stride * numpy.arange(loop.times)).ravel()
    return found


def before(place: Moving, loops: Loops) -> Moving:
    """Return the index of a result of the innermost loop in the repetition before its first one."""
    return Moving(place.start - loops[-1].period, place.strides[:-1])


def _last(place: Moving, loops: Loops) -> Moving:
    """Return the index of a result of the innermost loop in its last repetition."""
    return Moving(place.start + loops[-1].period * (loops[-1].times - 1), place.strides[:-1])
