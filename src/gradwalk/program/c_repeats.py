"""The loops that were found in a program, in C.

Within a repetition results are variables, and so is what the next repetition needs. What else is needed is kept in an
array, `memory`, in the order of the program, so that operands that move evenly do so there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy
from numpy.typing import NDArray

from gradwalk.program.code import Code
from gradwalk.program.fold import fold
from gradwalk.program.opcodes import INSTRUCTIONS, TAKE
from gradwalk.program.repeats import Moving, Repeat, operand, result, traversed

_COUNTERS = ("i", "j", "k", *(f"i{n}" for n in range(3, 60)))
_FEWEST = 8  # instructions that a loop has to save: what is written out can stay in registers


class CRepeats:
    """Writes loops.

    Args:
        code: The parts of the program.
        suffix: What is appopen_loops to the names of arrays.
        most: How many instructions a program may have that is written without loops.

    Attributes:
        parts: The loops that are written, and the instructions between them, in order.
        cells: How many numbers `memory` holds.
        inside: Of each index, whether it is the result of an instruction in a loop.
        kept: Of each index, whether it stands in `memory`.
    """

    def __init__(self, code: Code, suffix: str, most: int) -> None:
        self._code = code
        self._suffix = suffix
        repeats = [repeat for repeat in _found(code, most) if repeat.period * (repeat.times - 1) >= _FEWEST]
        everything = list(traversed(range(len(code)), repeats))
        self.parts = [part for part, around in everything if part is not None and not around]
        self.inside = numpy.zeros(code.count, bool)
        self.kept = numpy.zeros(code.count, bool)
        for repeat in repeats:
            self.inside[code.first + repeat.start : code.first + repeat.stop] = True
        self._around = {  # of the instructions in first repetitions, the loops around
            i: around for part, around in everything if isinstance(part, range) and around for i in part
        }
        self._carried: defaultdict[tuple[Repeat, ...], list[int]] = defaultdict(list)  # by the loops around
        if repeats:
            self._keep(everything)
        kept = numpy.flatnonzero(self.kept)
        self._first = int(kept[0]) if len(kept) else 0
        self.cells = int(kept[-1]) + 1 - self._first if len(kept) else 0

    def read(self, place: Moving) -> str:
        """Return the number at an index that stands in `memory`."""
        return f"memory[{place._replace(start=place.start - self._first).text(_COUNTERS)}]"

    def statement(self, repeat: Repeat) -> tuple[list[str], list[int]]:
        """Write a loop.

        Args:
            repeat: The loop, which is in no other.

        Returns:
            Lines of C with {0}, {1} and so on for operands that do not move, and the indices of these operands.
        """
        lines: list[str] = []
        operands: dict[int, int] = {}
        open_loops: list[tuple[Repeat, ...]] = []  # the loops that are being written, each with those around
        for part, around in traversed(range(repeat.start, repeat.stop), [repeat]):
            indent = "    " * 2 * len(around)
            if isinstance(part, range):
                added = [line for i in part for line in self._computing(i, around, operands)]
            elif part is None:
                added = self._end(open_loops.pop())
            else:
                open_loops.append((*around, part))
                added = self._begin(open_loops[-1], operands)
            lines += [f"{indent}{line}" for line in added]
        return lines, list(operands)

    def _begin(self, loops: tuple[Repeat, ...], operands: dict[int, int]) -> list[str]:
        """Begin the innermost of these loops, with variables for what each repetition takes from the one before."""
        counter = _COUNTERS[len(loops) - 1]
        lines = ["{{", f"    long {counter};"]
        for i in self._carried[loops]:
            place = _before(result(self._code, i, loops), loops)
            lines.append(f"    double c{self._code.first + i} = {self._operand(place, loops[:-1], operands)};")
        return [*lines, f"    for ({counter} = 0; {counter} < {loops[-1].times}; ++{counter}) {{{{"]

    def _end(self, loops: tuple[Repeat, ...]) -> list[str]:
        """End it, and keep what is needed of its last repetition alone."""
        carried = [result(self._code, i, loops) for i in self._carried[loops]]
        moved = [f"        c{place.start} = v{place.start};" for place in carried]
        last = [place for place in carried if self._is_kept(place, loops) and not self._is_kept_always(place, loops)]
        stored = [f"    {self.read(_last(place, loops))} = c{place.start};" for place in last]
        return [*moved, "    }}", *stored, "}}"]

    def output(self, start: int, count: int) -> tuple[list[str], list[int]]:
        """Write `count` outputs from number `start` on, which stand in `memory` at equal distances, as a loop."""
        first, second = self._code.outputs[start : start + 2]
        number = self.read(Moving(first, (second - first,)))
        loop = f"for (i = 0; i < {count}; ++i) outputs[{Moving(start, (1,)).text('i')}] = {number};"
        return ["{{", "    long i;", f"    {loop}", "}}"], []

    def _computing(self, i: int, around: tuple[Repeat, ...], operands: dict[int, int]) -> list[str]:
        """Write an instruction; operands that do not move are entered with their numbers."""
        row = self._code.instructions[4 * i : 4 * i + 4].tolist()
        given = [self._operand(place, around, operands) for place in self._places(i, row, around)]
        own = result(self._code, i, around)
        lines = []
        if row[0] == TAKE:
            lines.append(f"const double table{own.start}[] = {{{{{', '.join(given[1:])}}}}};")
            text = f"take(table{own.start}, 1, {len(given) - 1}, {given[0]})"
        else:
            text = INSTRUCTIONS[row[0]].c.format(*given)
        lines.append(f"const double v{own.start} = {text};")
        if self._is_kept_always(own, around) if i in self._carried[around] else self._is_kept(own, around):
            lines.append(f"{self.read(own)} = v{own.start};")
        return lines

    def _operand(self, place: Moving, around: tuple[Repeat, ...], operands: dict[int, int]) -> str:
        if self._is_local(place, around):
            return f"v{place.start}"
        carried = self._carrying(place, around)
        if carried is not None:
            return f"c{self._code.first + carried}"
        if any(place.strides) or self.inside[place.start]:
            return self._moving(place)
        return f"{{{operands.setdefault(place.start, len(operands))}}}"

    def _moving(self, place: Moving) -> str:
        if place.start < self._code.inputs:
            return f"inputs[{place.text(_COUNTERS)}]"
        if place.start < self._code.first:
            return f"constants{self._suffix}[{place._replace(start=place.start - self._code.inputs).text(_COUNTERS)}]"
        return self.read(place)

    def _keep(self, everything: Iterable[tuple[Repeat | range | None, tuple[Repeat, ...]]]) -> None:
        """Find out what has to be kept."""
        for part, around in everything:
            if isinstance(part, range):
                for i in part:
                    self._keep_operands(i, around)
        outputs = numpy.array(self._code.outputs, int)
        self.kept[outputs] |= self.inside[outputs]
        for i, around in self._around.items():  # what one repetition keeps, all of them write
            place, loops = result(self._code, i, around), around
            if i in self._carried[around] and not self._is_kept_always(place, around):
                place, loops = _last(place, around), around[:-1]
            if self._is_kept(place, loops):
                self.kept[_indices(place, loops)] = True

    def _keep_operands(self, i: int, around: tuple[Repeat, ...]) -> None:
        row = self._code.instructions[4 * i : 4 * i + 4].tolist()
        if not around:
            used = numpy.array(self._code.used(row), int)
            self.kept[used] |= self.inside[used]
            return
        for place in self._places(i, row, around):
            self._keep_operand(place, around)

    def _keep_operand(self, place: Moving, around: tuple[Repeat, ...]) -> None:
        carried = self._carrying(place, around)
        while carried is not None:  # what it is before the first repetition, a loop around may carry, too
            if carried in self._carried[around]:
                return
            self._carried[around].append(carried)
            place, around = place._replace(strides=place.strides[:-1]), around[:-1]
            carried = self._carrying(place, around)
        in_memory = place.start >= self._code.first and (any(place.strides) or self.inside[place.start])
        if in_memory and not self._is_local(place, around):
            self.kept[_indices(place, around)] = True

    def _places(self, i: int, row: Sequence[int], around: Sequence[Repeat]) -> Iterator[Moving]:
        """Yield the indices of the operands of an instruction in a loop."""
        arity = 1 if row[0] == TAKE else INSTRUCTIONS[row[0]].arity
        for column in range(1, 1 + arity):
            yield operand(self._code, i, column, around)
        if row[0] == TAKE:
            for entry in self._code.tables[row[2]]:
                yield Moving(entry, (0,) * len(around))

    def _is_local(self, place: Moving, around: tuple[Repeat, ...]) -> bool:
        """Whether an operand in these loops is the result of an instruction in the same repetition of all of them."""
        loops = self._around.get(place.start - self._code.first)
        if loops is None or loops != around[: len(loops)]:
            return False
        periods = tuple([loop.period for loop in loops])
        return place.strides == periods + (0,) * (len(around) - len(loops))

    def _carrying(self, place: Moving, around: tuple[Repeat, ...]) -> int | None:
        """Return the instruction of these loops whose result in the repetition before is this operand, or None."""
        if not around:
            return None
        i = place.start - self._code.first + around[-1].period
        is_carried = self._around.get(i) == around and place.strides == result(self._code, i, around).strides
        return i if is_carried else None

    def _is_kept(self, place: Moving, around: Sequence[Repeat]) -> bool:
        """Whether any of these results stands in memory."""
        return bool(self.kept[_indices(place, around)].any())

    def _is_kept_always(self, place: Moving, around: Sequence[Repeat]) -> bool:
        """Whether any but those of last repetitions of the innermost loop does."""
        return bool(self.kept[_indices(place, around)].reshape(-1, around[-1].times)[:, :-1].any())


def _found(code: Code, most: int) -> Sequence[Repeat]:
    return fold(code) if len(code) > most else ()


def _indices(place: Moving, around: Sequence[Repeat]) -> NDArray[numpy.int64]:
    """Return all indices of an operand in these loops."""
    indices = numpy.array([place.start])
    for loop, stride in zip(around, place.strides, strict=True):
        if stride:
            indices = numpy.add.outer(indices, stride * numpy.arange(loop.times)).ravel()
    return indices


def _before(place: Moving, loops: Sequence[Repeat]) -> Moving:
    """Return the index of a result of the innermost loop in the repetition before its first one."""
    return Moving(place.start - loops[-1].period, place.strides[:-1])


def _last(place: Moving, loops: Sequence[Repeat]) -> Moving:
    """Return the index of a result of the innermost loop in its last repetition."""
    return Moving(place.start + loops[-1].period * (loops[-1].times - 1), place.strides[:-1])
