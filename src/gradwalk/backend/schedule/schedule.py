"""`Schedule`: an immutable, encoded program for batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from gradwalk.backend.schedule import orders
from gradwalk.backend.schedule.allocation import allocate
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.encoding import FORMS, IN_SLOT, KINDS, SCALAR, WIDTH
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.program.code.opcodes import DOT, INSTRUCTIONS, LOAD, SCATTER, STORE, SUM, TAKE
from gradwalk.program.formats.listing import instruction_lines
from gradwalk.program.formats.operand_text import operand_names
from gradwalk.program.program import Program


@dataclass(frozen=True, eq=False)
class Schedule:
    """The instructions that run a program on a batch.

    A lane is a sample, and a row has one number per lane. Rows are stored in slots, which are reused after the last use
    of a row. `str` shows one instruction per line.

    Attributes:
        program: The program to run for each sample.
        varies: Whether each input has one number per sample, instead of one number for the whole batch.
        reduced: Whether the outputs are summed over the batch.
        prologue: The uniform prologue. Its inputs are the inputs that do not vary. Its outputs are the scalars for the
            lanes, followed by the outputs that do not vary.
        scalars: Number of scalars.
        fixed: Positions of the outputs that do not vary.
        code: Instructions that run on each block of lanes; int32, in the format of `encoding`.
        tables: Tables that `take` reads; int32, in the format of `encoding`.
        targets: Outputs that `SCATTER` adds to; int32, in the format that `scatter.scattered` describes.
        slots: Number of slots.
        apart: Whether the terms of an output are summed over the batch separately.
    """

    program: Program
    varies: tuple[bool, ...]
    reduced: bool
    prologue: Program
    scalars: int
    fixed: tuple[int, ...]
    code: NDArray[numpy.int32]
    tables: NDArray[numpy.int32]
    targets: NDArray[numpy.int32]
    slots: int
    apart: bool

    def __len__(self) -> int:
        """Return the number of instructions that run on each block of lanes."""
        return len(self.code) // WIDTH

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        names = operand_names(self.prologue.code)
        results = [names[index] for index in self.prologue.outputs]
        given = operand_names(self.program.code)
        varying = [i for i, varies in enumerate(self.varies) if varies]
        columns = [given[i] if given[i] != f"v{i}" else f"column {column}" for column, i in enumerate(varying)]
        yield "uniform prologue:"
        yield from instruction_lines(self.prologue.code, names)
        yield f"for each block of lanes, in {self.slots} slots:"
        for operation, *fields in self.code.reshape(-1, WIDTH).tolist():
            yield f"  {self._line(operation, fields, results, columns)}"
        for position, name in zip(self.fixed, results[self.scalars :], strict=True):
            yield f"output {position} = {name}"

    def _line(self, operation: int, fields: Sequence[int], scalars: Sequence[str], columns: Sequence[str]) -> str:
        """Format an instruction with the given names of scalars and columns."""
        opcode, form = divmod(operation, FORMS)
        out, *rest = fields
        if opcode == TAKE:
            index, begin, _ = rest
            entries = [_entry(entry, scalars, columns) for entry in _listed(self.tables, begin)]
            return f"r{out} = take([{', '.join(entries)}], {scalars[index] if form & 1 else f'r{index}'})"
        operands = [scalars[x] if form >> i & 1 else f"r{x}" for i, x in enumerate(rest)]
        if opcode == LOAD:
            return f"r{out} = {columns[rest[0]]}"
        if opcode == STORE:
            return f"output {out} = {operands[0]}"
        if opcode == SCATTER:
            return f"outputs {_listed(self.targets, out)}[{operands[0]}] += {operands[1]}"
        if opcode in (SUM, DOT):
            return f"output {out} += the sum of {' * '.join(operands[: 1 + (opcode == DOT)])}"
        return f"r{out} = {INSTRUCTIONS[opcode].text.format(*operands)}"


def make_schedule(program: Program, varies: Sequence[bool], *, reduced: bool, apart: bool = True) -> Schedule:
    """Schedule a program: try two orders and return the schedule with fewer slots.

    Takes time linear in the number of instructions. `apart` allows the terms of an output to be summed over the batch
    separately. Raises `PythonCallError` if the program calls a Python function with an argument that depends on the
    batch.
    """
    analysis = analyse(program, varies, reduced, apart)
    prologue = make_prologue(analysis)
    orderings = (orders.as_written(analysis), orders.depth_first(analysis))
    allocations = [allocate(analysis, prologue, order) for order in orderings]
    code, tables, slots = min(allocations, key=lambda found: found.slots)
    code.flags.writeable = False
    fixed = analysis.fixed
    scalars = len(prologue.program.outputs) - len(fixed)
    given = tuple(map(bool, varies))
    arrays = (code, tables, analysis.targets)
    return Schedule(program, given, reduced, prologue.program, scalars, fixed, *arrays, slots, analysis.apart)


def _listed(lists: NDArray[numpy.int32], begin: int) -> list[int]:
    """Return the list that is stored at `begin`: its length, followed by its items."""
    return [int(x) for x in lists[begin + 1 : begin + 1 + lists[begin]]]


def _entry(entry: int, scalars: Sequence[str], columns: Sequence[str]) -> str:
    """Format an entry of a table."""
    which, kind = divmod(entry, KINDS)
    return f"r{which}" if kind == IN_SLOT else scalars[which] if kind == SCALAR else columns[which]
