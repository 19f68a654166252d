"""Lower a program to a `Routine`: `lowered(code)`.

Loops that are found in the instructions become loops of the routine. `lower_calls.py` lowers the loops and switches
that a program calls. Their programs are inlined, so all numbers of a step are variables, unless they are indexed with a
loop counter or a subscript.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.base.cached import cached_property
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, SUM, TAKE
from gradwalk.program.code.parts import Part, split
from gradwalk.program.reroll.repeats import Moving, even_runs, result
from gradwalk.program.routine.layout import Access, Loops, Span, in_cells, merged, order, table_access
from gradwalk.program.routine.numbers import OTHER, Groups, Numbers
from gradwalk.program.routine.statements import (
    INPUTS,
    RESULTS,
    SUMS,
    UNIFORM,
    Add,
    Assign,
    Cell,
    Compute,
    For,
    Operand,
    Read,
    Routine,
    Statement,
    Store,
    Take,
)
from gradwalk.program.routine.storage import Order, Placement, before, cells, loops_to_print

# Minimum number of numbers that are copied by a loop.
_LONG = 8
# A group of numbers that change from step to step is an array if it has more numbers than this.
MOST_VARIABLES = 64

# Maps the key of a loop and its operands to the trail of the loop (see `lower_loops.py`), or to the first reverse pass
# that needs this trail.
Trails = dict[tuple[int, tuple[int, ...]], Any]
# A function that lowers a call: it takes the lowering, the call, its operands and the trails that the call leaves or
# uses, and returns the results of the call.
LowerCall = Callable[["Lowering", Any, Numbers, Trails], Sequence[Operand]]


class TooLargeError(Exception):
    """A routine would have more statements than allowed."""


class _Plan:
    """The loops and the arrays of a program that is lowered.

    Args:
        code: The program.
        order: As `Lowering.order`.

    Attributes:
        placement: The loops of the program, and the results that are stored in `memory`.
        spans: Ranges of inputs that are indexed with a counter or subscript.
    """

    def __init__(self, code: Code, order: Order) -> None:
        self.placement = Placement(code, loops_to_print(code))
        self.spans = _spans(code, self.placement)
        self._code, self._order = code, order

    @cached_property
    def cell_of(self) -> NDArray[numpy.int64]:
        """The cell of each index in `memory`."""
        return cells(self.placement, self._order)

    @cached_property
    def sum_of(self) -> NDArray[numpy.int64]:
        """The cell of each `SUM` in `SUMS`, by the index of the instruction."""
        is_sum = numpy.zeros(self._code.count, bool)
        is_sum[self._code.first :] = self._code.instructions[::4] == SUM
        return numpy.cumsum(is_sum) - 1

    @property
    def cells(self) -> int:
        """The size of `memory`."""
        return int(self.cell_of[self.placement.kept].max(initial=-1)) + 1


class Lowering:
    """Creates the statements of a routine.

    Args:
        most: The largest number of statements.

    Attributes:
        memory: The largest number of bytes that a loop stores for its reverse pass: the intermediates of all steps for
            one sample; on lanes, the carries or the intermediates of all steps and of the samples that run together.
        block: The statements of the innermost open loop or branch.
        arrays: See `Routine`.
        growing: See `Routine`.
        constants: See `Routine`.
        variables: See `Routine`.
        groups: The groups of cells in `Numbers`.
        varying: See `Routine`, and the other variables whose numbers differ between samples.
        lanes: The number of samples that run together.
    """

    def __init__(self, lower_call: LowerCall, most: int, memory: int, lanes: int = 1) -> None:
        self.memory = memory
        self.block: list[Statement] = []
        self.arrays: dict[str, int] = {}
        self.growing: list[str] = []
        self.constants: dict[str, Sequence[float]] = {}
        self.variables: list[str] = []
        self.varying: set[str] = set()
        self.lanes = lanes
        self._lower_call = lower_call
        self._left = most
        self._numbers = itertools.count()
        self._plans: dict[int, _Plan] = {}  # id of a code -> its plan
        self._parts: dict[tuple[int, tuple[bool, ...]], tuple[Part, Part]] = {}  # id of a code, flags -> results
        self.groups = Groups()
        self._kept: list[Code] = []

    # Building blocks

    def name(self, letter: str, *, varies: bool = False) -> str:
        """Return a new name."""
        name = f"{letter}{next(self._numbers)}"
        if varies:
            self.varying.add(name)
        return name

    def add(self, statement: Statement) -> None:
        """Append a statement. Raises TooLargeError if there are too many."""
        self._left -= 1
        if self._left < 0:
            raise TooLargeError
        self.block.append(statement)

    @contextlib.contextmanager
    def nested(self) -> Iterator[list[Statement]]:
        """Collect the statements that are appended in the `with` block in a new list."""
        outer, self.block = self.block, []
        try:
            yield self.block
        finally:
            self.block = outer

    def varies(self, operand: Operand) -> bool:
        """Return whether an operand differs between samples."""
        return (operand.array if isinstance(operand, Cell) else operand) in self.varying

    def array(self, cells: int, *, varies: bool) -> str:
        """Return the name of a new local array."""
        name = self.name("a", varies=varies)
        self.arrays[name] = cells
        return name

    def growing_array(self, *, varies: bool) -> str:
        """Return the name of a new array that `Grow` enlarges."""
        self.growing.append(self.name("g", varies=varies))
        return self.growing[-1]

    def variable(self, *, varies: bool) -> str:
        """Return the name of a new variable that can be assigned several times."""
        self.variables.append(self.name("m", varies=varies))
        return self.variables[-1]

    def read(self, operand: Operand) -> str:
        """Read an operand into a new variable."""
        name = self.name("v", varies=self.varies(operand))
        self.add(Read(name, operand))
        return name

    def store(
        self, first: Sequence[Cell], operands: Sequence[Operand], kind: type[Store] | type[Assign] = Store
    ) -> None:
        """Write numbers to cells. Evenly spaced cells are copied to evenly spaced cells by a loop."""
        pairs = sorted(zip(first, operands, strict=True), key=lambda pair: pair[0].start)
        steps = [_step_of(one, other) for one, other in itertools.pairwise(pairs)]
        for start, count in even_runs(steps, _LONG) if pairs else []:
            cell, operand = pairs[start]
            if count == 1:
                self.add(kind(cell, operand))
                continue
            to, by = steps[start] or (0, 0)
            counter = self.name("i")
            with self.nested() as body:
                source = operand.moved(0, (counter, by)) if isinstance(operand, Cell) else operand
                self.add(kind(cell.moved(0, (counter, to)), source))
            self.add(For(counter, count, body))

    def in_array(self, operands: Sequence[Operand]) -> tuple[Cell, int]:
        """Return evenly spaced cells with these numbers: the first cell and the distance.

        The numbers are copied to a new array unless they are in such cells.
        """
        if not operands:
            return Cell(INPUTS, 0), 1
        stride, first = Numbers.of(self.groups, operands).stride, operands[0]
        if stride is not None and isinstance(first, Cell):
            return first, stride
        return self._copied(operands, numpy.arange(len(operands)))[0], 1

    def _copied(self, operands: Sequence[Operand], cell_of: NDArray[numpy.int64]) -> list[Cell]:
        """Return cells of a new array with these numbers; number i is in cell `cell_of[i]`."""
        if all(isinstance(operand, float) for operand in operands):
            numbers = numpy.empty(len(operands))
            numbers[cell_of] = operands
            name = self.name("k")
            self.constants[name] = numbers.tolist()
            return [Cell(name, i) for i in cell_of.tolist()]
        name = self.array(len(operands), varies=any(map(self.varies, operands)))
        cells = [Cell(name, i) for i in cell_of.tolist()]
        self.store(cells, operands)
        return cells

    def order(self, count: int, accesses: Sequence[Access]) -> NDArray[numpy.int64]:
        """Return a cell for each number: see `layout.order`. On lanes, samples are neighbors, not iterations."""
        return order(count, accesses) if self.lanes == 1 else numpy.arange(count)

    def settled(self, operands: Sequence[Operand], changed: Sequence[str]) -> list[Operand]:
        """Return operands that stay the same when the arrays `changed` change."""
        return [self.read(x) if isinstance(x, Cell) and x.array in changed else x for x in operands]

    # Programs

    def kept(self, code: Code) -> Code:
        """Return the code of a program, and keep it alive, because its plan is found by its id."""
        self._kept.append(code)
        return code

    def plan(self, code: Code) -> _Plan:
        """Return the plan of a program. It is computed once."""
        if id(code) not in self._plans:
            self._plans[id(code)] = _Plan(code, self.order)
        return self._plans[id(code)]

    def program(self, code: Code, operands: Sequence[Operand], *, is_outermost: bool = False) -> list[Operand]:
        """Append the statements of a program; return its outputs.

        `operands` are the inputs. The outermost program stores the numbers that it keeps in the array of the inputs.
        Instructions that are the same for all samples run first.
        """
        varies = self._flags(operands)
        if not any(varies):
            return _ProgramLowering(self, code, operands, is_outermost=is_outermost).outputs()
        known: dict[int, Operand] = dict(enumerate([*operands, *code.constants]))
        for part, does_vary in zip(self.parts(code, varies), (False, True), strict=True):
            given = [known[index] for index in part.inputs]
            outputs = _ProgramLowering(self, part.code, given, varies=does_vary).outputs()
            known.update(zip(part.outputs, outputs, strict=True))
        return [known[index] for index in code.outputs]

    def parts(self, code: Code, varies: Sequence[bool]) -> tuple[Part, Part]:
        """Split a program: see `parts.split`. It is split once for the same inputs that vary."""
        key = id(code), tuple(varies)
        if key not in self._parts:
            self._parts[key] = split(code, varies)
        return self._parts[key]

    def spans(self, code: Code, varies: Sequence[bool]) -> list[Span]:
        """Return the ranges of inputs that are indexed with a counter or subscript, if these inputs vary."""
        if not any(varies):
            return list(self.plan(code).spans)
        found = []
        for part in self.parts(code, varies):
            for span in self.plan(part.code).spans:
                first, last = part.inputs[span.least], part.inputs[span.greatest]
                if last - first == span.greatest - span.least and last < code.inputs:
                    found.append(span.moved(first - span.least))
        return merged(found)

    def _flags(self, operands: Sequence[Operand]) -> list[bool]:
        """Return which operands vary. If none vary, the list may be empty."""
        return [self.varies(operand) for operand in operands] if self.varying else []

    def call(self, call: Any, operands: Numbers, trails: Trails) -> Sequence[Operand]:
        """Append the statements of a call; return its results."""
        return self._lower_call(self, call, operands, trails)

    def in_affine_cells(
        self, operands: Sequence[Operand], spans: Sequence[Span], *, is_exact: bool = False
    ) -> list[Operand]:
        """Return the operands, with each span of them in cells whose indices are affine, as all accesses to it need.

        If `is_exact`, a span is left as it is if only some of its operands vary.
        """
        found = list(operands)
        for span in spans:
            part = found[span.least : span.greatest + 1]
            if is_exact and len(set(map(self.varies, part))) > 1:
                continue
            found[span.least : span.greatest + 1] = self._affine(part, span.moved(-span.least).accesses)
        return found

    def _affine(self, operands: Sequence[Operand], accesses: Sequence[Access]) -> Sequence[Operand]:
        """Return cells with these numbers. They are copied to a new array unless all accesses are affine."""
        given = Numbers.of(self.groups, operands)
        if given.are_in_one_group and (given.stride or all(access.is_affine(given.starts) for access in accesses)):
            return operands
        return self._copied(operands, self.order(len(operands), accesses))

    def routine(self) -> Routine:
        """Return the routine of all statements that were appended."""
        return Routine(self.block, self.variables, self.arrays, self.growing, self.constants, self.varying)


class Changing:
    """A group of numbers that change from step to step: variables, or the cells of an array.

    Args:
        lowering: The lowering that the variables or the array are added to.
        count: The number of numbers.
        is_array: Whether the numbers are in an array. Many numbers always are.
        varies: Whether the numbers differ between samples.
        accesses: The accesses to the array that are indexed with a counter.

    Attributes:
        array: Name of the array, or "" if the numbers are variables.
    """

    def __init__(
        self, lowering: Lowering, count: int, *, is_array: bool, varies: bool, accesses: Sequence[Access] = ()
    ) -> None:
        self._lowering, self._varies, self._accesses = lowering, varies, accesses
        self.array = lowering.array(count, varies=varies) if is_array or count > MOST_VARIABLES else ""
        order = lowering.order(count, accesses).tolist() if self.array else []
        self._cells = [Cell(self.array, i) for i in order]
        self._variables = [] if self.array else [lowering.variable(varies=varies) for _ in range(count)]

    def __len__(self) -> int:
        return max(len(self._cells), len(self._variables))

    def another(self) -> Changing:
        """Return another group of the same size and kind."""
        is_array = bool(self.array)
        return Changing(self._lowering, len(self), is_array=is_array, varies=self._varies, accesses=self._accesses)

    def set(self, operands: Sequence[Operand]) -> None:
        """Change the numbers. The operands must not be cells of the same array: see `Lowering.settled`."""
        if self.array:
            self._lowering.store(self._cells, operands, Assign)
        for variable, operand in zip(self._variables, operands, strict=False):
            self._lowering.add(Assign(variable, operand))

    def current(self) -> list[Operand]:
        """Return the numbers as operands, which are valid until the numbers change."""
        return [*self._cells, *(self._lowering.read(variable) for variable in self._variables)]


class _ProgramLowering:
    """Appends the statements of one program to a lowering. Either all of its instructions vary or none."""

    def __init__(
        self,
        lowering: Lowering,
        code: Code,
        operands: Sequence[Operand],
        *,
        is_outermost: bool = False,
        varies: bool = False,
    ) -> None:
        self._lowering = lowering
        self._varies = varies
        self._code = code
        self._plan = plan = lowering.plan(code)
        self._placement = plan.placement
        self._inputs = lowering.in_affine_cells(operands, plan.spans)
        self._known: dict[int, Operand] = {}  # index -> operand that is the result
        self._carried: dict[int, tuple[str, str]] = {}  # instruction -> variable, and its value in this iteration
        self._counters: list[str] = []  # counters of the open loops
        self._outer: list[list[Statement]] = []  # the blocks around the open loops
        self._memory = Cell(INPUTS, 0)
        self._cell_of = numpy.arange(code.count) if is_outermost else plan.cell_of
        if not is_outermost and plan.cells:
            self._memory = Cell(lowering.array(plan.cells, varies=varies), 0)
        self._numbers = ""  # name of the array of constants, if it is used
        self._trails: Trails = {}
        self._called: set[int] = set()
        if code.calls:
            self._cells = _numbers_of(lowering, code, self._inputs, self._placement.inside, self._cell_of, self._memory)

    def outputs(self) -> list[Operand]:
        """Append all statements; return the outputs."""
        open_loops: list[Loops] = []
        for part, around in self._placement.everything:
            if isinstance(part, range) and around:
                for i in part:
                    self._repeated(i, around)
            elif isinstance(part, range):
                self._straight(part)
            elif part is None:
                self._end(open_loops.pop())
            else:
                open_loops.append((*around, part))
                self._begin(open_loops[-1])
        return [self._fixed(index) for index in self._code.outputs]

    def _straight(self, instructions: range) -> None:
        """Append instructions outside of loops."""
        code, kept = self._code, self._placement.kept
        rows = code.instructions.reshape(-1, 4)[instructions.start : instructions.stop]
        which = numpy.where(rows[:, 0] == CALL, rows[:, 1], -1)  # per instruction: the call whose result it is, or -1
        for i in numpy.flatnonzero((which < 0) | (numpy.diff(which, prepend=-1) != 0)).tolist():
            row, index = rows[i].tolist(), code.first + instructions.start + i
            if row[0] != CALL:
                self._instruction(Moving(index, ()), row, [self._fixed(used) for used in code.used(row)])
                if kept[index]:
                    self._lowering.add(Store(self._cell(Moving(index, ())), self._known[index]))
            elif row[1] not in self._called:
                self._called.add(row[1])
                self._call(row[1])

    def _repeated(self, i: int, around: Loops) -> None:
        """Append an instruction inside the loops `around`."""
        row = self._code.instructions[4 * i : 4 * i + 4].tolist()
        index = self._code.first + i
        operands = [self._operand(place, around) for place in self._placement.operands(i, around)]
        self._instruction(result(self._code, i, around), row, operands)
        place = self._placement.keeps(i, around)
        if place is not None:
            self._lowering.add(Store(self._cell(place), self._known[index]))

    def _instruction(self, place: Moving, row: Sequence[int], operands: list[Operand]) -> None:
        if row[0] == SUM:
            moved = in_cells(self._plan.sum_of, place)
            self._lowering.add(Add(Cell(SUMS, moved.start, self._strides(moved.strides)), operands[0]))
            return
        name = self._lowering.name("v", varies=self._varies)
        if row[0] == TAKE:
            table, stride = self._lowering.in_array(operands[1:])
            self._lowering.add(Take(name, operands[0], table, stride, len(operands) - 1))
        else:
            self._lowering.add(Compute(name, row[0], operands))
        self._known[place.start] = name

    def _call(self, which: int) -> None:
        code = self._code
        call, indices = code.calls[which]
        trails = {key: self._trails.get(key, back) for key, back in self._reversed(which)}
        operands = self._fixed_ones(numpy.array(indices, numpy.int64))
        results = Numbers.of(self._lowering.groups, self._lowering.call(call, operands, trails))
        self._trails |= trails
        rows = code.instructions.reshape(-1, 4)
        places = numpy.flatnonzero((rows[:, 0] == CALL) & (rows[:, 1] == which))
        positions = rows[places, 2]
        self._cells.groups[code.first + places] = results.groups[positions]
        self._cells.starts[code.first + places] = results.starts[positions]
        for i in numpy.flatnonzero(results.groups[positions] == OTHER).tolist():
            self._known[code.first + int(places[i])] = results[int(positions[i])]
        kept = (code.first + places[self._placement.kept[code.first + places]]).tolist()
        cells = [self._cell(Moving(index, ())) for index in kept]
        self._lowering.store(cells, [self._fixed(index) for index in kept])

    def _fixed_ones(self, indices: NDArray[numpy.int64]) -> Numbers:
        """Return the operands with these indices, outside of loops."""
        groups, starts = self._cells.groups[indices], self._cells.starts[indices]
        single = numpy.flatnonzero(groups == OTHER)
        if not len(single):
            return Numbers(self._lowering.groups, groups, starts, None)
        others = numpy.full(len(indices), None)
        for i in single.tolist():
            others[i] = self._fixed(int(indices[i]))
        return Numbers(self._lowering.groups, groups, starts, others)

    def _reversed(self, which: int) -> Iterator[tuple[tuple[int, tuple[int, ...]], Any]]:
        """Yield the key of the trail that a call leaves or uses, and the first reverse pass that uses it.

        The key of a trail is the id of the loop and the indices of the loop's operands. A reverse pass that does not
        depend on the carry needs no trail, unless other calls use it, too: the steps then compute intermediates once.
        """
        call, indices = self._code.calls[which]
        if call.kind == "loop_back":
            key = id(call.loop), indices[: call.loop.inputs]
            if call.reads_states or sum(map(partial(_uses, key), self._code.calls)) > 1:
                yield key, call
        elif call.kind == "loop":
            key = id(call), indices
            backs = [other for other, used in self._code.calls if other is not call and _uses(key, (other, used))]
            if backs:
                yield key, backs[0]

    def _begin(self, loops: Loops) -> None:
        """Begin the innermost of these loops."""
        lowering = self._lowering
        carried = self._placement.carried[loops]
        variables = [lowering.variable(varies=self._varies) for _ in carried]
        for i, variable in zip(carried, variables, strict=True):
            start = self._operand(before(result(self._code, i, loops), loops), loops[:-1])
            lowering.add(Assign(variable, start))
        self._outer.append(lowering.block)
        lowering.block = []
        self._counters.append(lowering.name("i"))
        for i, variable in zip(carried, variables, strict=True):
            self._carried[i] = variable, lowering.read(variable)

    def _end(self, loops: Loops) -> None:
        """End the innermost of these loops."""
        lowering = self._lowering
        carried = self._placement.carried[loops]
        for i in carried:
            lowering.add(Assign(self._carried[i][0], self._known[self._code.first + i]))
        body, lowering.block = lowering.block, self._outer.pop()
        lowering.add(For(self._counters.pop(), loops[-1].times, body))
        for i in carried:
            place = self._placement.keeps_last(i, loops)
            if place is not None:
                lowering.add(Store(self._cell(place), lowering.read(self._carried[i][0])))

    def _fixed(self, index: int) -> Operand:
        """Return the operand with an index, outside of loops."""
        code = self._code
        if index < code.inputs:
            return self._inputs[index]
        if index < code.first:
            return float(code.constants[index - code.inputs])
        if self._placement.inside[index]:
            return self._cell(Moving(index, ()))
        return self._known[index] if index in self._known else self._cells[index]

    def _operand(self, place: Moving, around: Loops) -> Operand:
        """Return an operand whose index is `place`, inside the loops `around`."""
        code = self._code
        if self._placement.is_local(place, around):
            return self._known[place.start]
        carried = self._placement.carrying(place, around)
        if carried is not None:
            return self._carried[carried][1]
        if place.start < code.inputs:
            return self._input(place)
        if place.start < code.first:
            return self._constant(place)
        return self._cell(place) if self._placement.is_in_memory(place) else self._fixed(place.start)

    def _input(self, place: Moving) -> Operand:
        first = self._inputs[place.start]
        if not any(place.strides):
            return first
        assert isinstance(first, Cell)
        moves = []
        for stride in place.strides:
            other = self._inputs[place.start + stride]
            assert isinstance(other, Cell)
            moves.append(other.start - first.start)
        return first.moved(0, *self._strides(moves))

    def _constant(self, place: Moving) -> Operand:
        if not any(place.strides):
            return float(self._code.constants[place.start - self._code.inputs])
        if not self._numbers:
            self._numbers = self._lowering.name("k")
            self._lowering.constants[self._numbers] = self._code.constants
        return Cell(self._numbers, place.start - self._code.inputs, self._strides(place.strides))

    def _cell(self, place: Moving) -> Cell:
        """Return the cell of `memory` for an affine index."""
        moved = in_cells(self._cell_of, place)
        return Cell(self._memory.array, moved.start, self._strides(moved.strides))

    def _strides(self, strides: Sequence[int]) -> tuple[tuple[str, int], ...]:
        return tuple([(counter, stride) for counter, stride in zip(self._counters, strides, strict=False) if stride])


def lowered(code: Code, lower_call: LowerCall, most: int, memory: int) -> Routine:
    """Lower a program whose inputs are in the array `INPUTS`. Each output is stored at its index.

    Args:
        code: The program.
        lower_call: The function that lowers calls.
        most: The largest number of statements.
        memory: See `Lowering`.

    Raises:
        TooLargeError: There would be more statements.
    """
    lowering = Lowering(lower_call, most, memory)
    outputs = lowering.program(code, [Cell(INPUTS, i) for i in range(code.inputs)], is_outermost=True)
    found = {index: operand for index, operand in zip(code.outputs, outputs, strict=True) if index >= code.first}
    moved = {index: operand for index, operand in sorted(found.items()) if operand != Cell(INPUTS, index)}
    lowering.store([Cell(INPUTS, index) for index in moved], list(moved.values()))
    return lowering.routine()


def lowered_on_lanes(code: Code, uniform: int, lanes: int, lower_call: LowerCall, most: int, memory: int) -> Routine:
    """Lower a program for a batch. All of its instructions vary.

    Args:
        code: The program. The first inputs are the same for all samples and are in the array `UNIFORM`; the inputs that
            vary are in `INPUTS`. The outputs are stored in `RESULTS`. An instruction `SUM` adds its operand to the next
            cell of `SUMS`.
        uniform: The number of inputs that are the same for all samples.
        lanes: The number of samples that run together.
        lower_call: As for `lowered`.
        most: As for `lowered`.
        memory: See `Lowering`.

    Raises:
        TooLargeError: As `lowered`.
    """
    lowering = Lowering(lower_call, most, memory, lanes)
    lowering.varying |= {INPUTS, RESULTS}
    inputs = [Cell(UNIFORM, i) for i in range(uniform)] + [Cell(INPUTS, i) for i in range(code.inputs - uniform)]
    outputs = lowering.program(code, inputs)
    lowering.store([Cell(RESULTS, i) for i in range(len(outputs))], outputs)
    return lowering.routine()


def _uses(key: tuple[int, tuple[int, ...]], called: tuple[Any, tuple[int, ...]]) -> bool:
    """Return whether a call, given with its operands, leaves or uses the trail with a key."""
    call, operands = called
    loop = call.loop if call.kind == "loop_back" else call
    return id(loop) == key[0] and operands[: loop.inputs] == key[1]


def _numbers_of(
    lowering: Lowering, code: Code, inputs: Sequence[Operand], inside: Any, cell_of: Any, memory: Cell
) -> Numbers:
    """Return an operand for each index of a program that is an input or in `memory`. The other operands are not set."""
    groups = numpy.full(code.count, OTHER, numpy.int64)
    starts = numpy.zeros(code.count, numpy.int64)
    given = Numbers.of(lowering.groups, inputs)
    groups[: code.inputs], starts[: code.inputs] = given.groups, given.starts
    groups[inside] = lowering.groups.number(memory)
    starts[inside] = cell_of[inside]
    return Numbers(lowering.groups, groups, starts, None)


def _spans(code: Code, placement: Placement) -> list[Span]:
    """Return the ranges of inputs that are indexed with counters or subscripts."""
    found = [
        Access(place, around)
        for part, around in placement.everything
        if isinstance(part, range) and around
        for i in part
        for place in placement.operands(i, around)
        if place.start < code.inputs and any(place.strides)
    ]
    found += [table_access(table) for table in code.tables if table and max(table) < code.inputs]
    return merged(map(Span.of, found))


def _step_of(one: tuple[Cell, Operand], other: tuple[Cell, Operand]) -> tuple[int, int] | None:
    """Return the distance of two cells that are written, and of the cells that are read; None if they are not even."""
    (to, source), (next_to, next_source) = one, other
    if to[::2] != next_to[::2]:
        return None
    if not isinstance(source, Cell) or not isinstance(next_source, Cell):
        return (next_to.start - to.start, 0) if source == next_source else None
    if source[::2] != next_source[::2]:
        return None
    return next_to.start - to.start, next_source.start - source.start
