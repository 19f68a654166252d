"""Print the loops that are found in a program as C loops. `storage.Placement` decides where results are stored."""

from __future__ import annotations

import numpy

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import INSTRUCTIONS, TAKE
from gradwalk.program.reroll.repeats import Moving, Repeat, result, traversed
from gradwalk.program.routine.layout import Loops
from gradwalk.program.routine.storage import Placement, before, loops_to_print

_COUNTERS = ("i", "j", "k", *(f"i{n}" for n in range(3, 60)))


class CRepeats:
    """Prints the loops of a program.

    Args:
        code: The parts of the program.
        name: The name of the C function, with which the names of C arrays begin.

    Attributes:
        parts: The outermost loops to print and the ranges of instructions between them, in program order.
        cells: The number of doubles in the C array `memory`.
        inside: A flag per index: whether the number with this index is the result of an instruction in a loop.
        kept: A flag per index: whether the number with this index is stored in `memory`.
    """

    def __init__(self, code: Code, name: str) -> None:
        self._code = code
        self._name = name
        self._placement = Placement(code, loops_to_print(code))
        self.parts = [part for part, around in self._placement.everything if part is not None and not around]
        self.inside, self.kept = self._placement.inside, self._placement.kept
        kept = numpy.flatnonzero(self.kept)
        self._first = int(kept[0]) if len(kept) else 0
        self.cells = int(kept[-1]) + 1 - self._first if len(kept) else 0

    def cell(self, index: int) -> int:
        """Return the cell of the array `memory` for the number with an index."""
        return index - self._first

    def read(self, place: Moving) -> str:
        """Return the C expression, a cell of the array `memory`, for a number with an affine index."""
        return f"memory[{place._replace(start=place.start - self._first).text(_COUNTERS)}]"

    def statement(self, repeat: Repeat) -> tuple[list[str], list[int]]:
        """Return the C code of an outermost loop, and the indices of its loop-invariant operands.

        The code has the placeholders {0}, {1} and so on for these operands.
        """
        lines: list[str] = []
        operands: dict[int, int] = {}
        open_loops: list[tuple[Repeat, ...]] = []  # each open loop, preceded by its enclosing loops
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

    def _begin(self, loops: Loops, operands: dict[int, int]) -> list[str]:
        """Return C code that declares variables for the carried results of the innermost loop and begins this loop."""
        counter = _COUNTERS[len(loops) - 1]
        lines = ["{{", f"    long {counter};"]
        for i in self._placement.carried[loops]:
            place = before(result(self._code, i, loops), loops)
            lines.append(f"    double c{self._code.first + i} = {self._operand(place, loops[:-1], operands)};")
        return [*lines, f"    for ({counter} = 0; {counter} < {loops[-1].times}; ++{counter}) {{{{"]

    def _end(self, loops: Loops) -> list[str]:
        """Return C code that ends the innermost loop.

        If only the last value of a carried result is needed, the code stores this value after the loop.
        """
        carried = self._placement.carried[loops]
        first = self._code.first
        last = [(i, self._placement.keeps_last(i, loops)) for i in carried]
        moved = [f"        c{first + i} = v{first + i};" for i in carried]
        stored = [f"    {self.read(place)} = c{first + i};" for i, place in last if place is not None]
        return [*moved, "    }}", *stored, "}}"]

    def _computing(self, i: int, around: Loops, operands: dict[int, int]) -> list[str]:
        """Return the C code of an instruction. Its loop-invariant operands are added to `operands`."""
        opcode = int(self._code.instructions[4 * i])
        given = [self._operand(place, around, operands) for place in self._placement.operands(i, around)]
        index = self._code.first + i
        lines = []
        if opcode == TAKE:
            lines.append(f"const double table{index}[] = {{{{{', '.join(given[1:])}}}}};")
            text = f"take(table{index}, 1, {len(given) - 1}, {given[0]})"
        else:
            text = INSTRUCTIONS[opcode].c.format(*given)
        lines.append(f"const double v{index} = {text};")
        place = self._placement.keeps(i, around)
        return lines if place is None else [*lines, f"{self.read(place)} = v{index};"]

    def _operand(self, place: Moving, around: Loops, operands: dict[int, int]) -> str:
        if self._placement.is_local(place, around):
            return f"v{place.start}"
        carried = self._placement.carrying(place, around)
        if carried is not None:
            return f"c{self._code.first + carried}"
        if any(place.strides) or self.inside[place.start]:
            return self._moving(place)
        return f"{{{operands.setdefault(place.start, len(operands))}}}"

    def _moving(self, place: Moving) -> str:
        if place.start < self._code.inputs:
            return f"inputs[{place.text(_COUNTERS)}]"
        if place.start < self._code.first:
            return f"{self._name}_constants[{place._replace(start=place.start - self._code.inputs).text(_COUNTERS)}]"
        return self.read(place)
