"""`Schedule`: a program for a batch. What is the same for all samples, and instructions over rows of lanes.

A row has a number for each lane, and a lane is a sample. Rows stand in slots, which are used again as soon as nothing
needs what they hold. Everything here takes time linear in the number of instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate
from gradwalk.ops.evaluate import ARITIES, NAMES
from gradwalk.program.listing import instructions, spelled
from gradwalk.program.opcodes import CALL, DOT, INSTRUCTIONS, LOAD, MULADD, STORE, SUM
from gradwalk.program.program import Program

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

_MUL = cython.declare(cython.int, NAMES.index("mul"))
_MULADD = cython.declare(cython.int, MULADD)
_CALL = cython.declare(cython.int, CALL)
_SUM = cython.declare(cython.int, SUM)
_DOT = cython.declare(cython.int, DOT)
_STORE = cython.declare(cython.int, STORE)
_LOAD = cython.declare(cython.int, LOAD)
_NONE = cython.declare(cython.int, -2)  # where a slot or a place could stand
WIDTH = 5  # numbers an instruction
_width = cython.declare(cython.int, WIDTH)


@cython.cclass
class Schedule:
    """How a program is run on a batch.

    `varies`: for each input, whether it has a number for each sample. `reduced`: whether the outputs are wanted as sums
    over the batch. `once`: what computes, from the inputs that do not vary, the `scalars` numbers that the lanes need,
    and then the outputs that do not vary, `fixed` by their positions. `code`: int32, five numbers an instruction, as
    lanes.h has them. `slots`: how many rows there are.
    """

    program = cython.declare(object, visibility="readonly")
    varies = cython.declare(tuple, visibility="readonly")
    reduced = cython.declare(cython.bint, visibility="readonly")
    code = cython.declare(object, visibility="readonly")
    slots = cython.declare(cython.int, visibility="readonly")
    once = cython.declare(object, visibility="readonly")
    scalars = cython.declare(cython.int, visibility="readonly")
    fixed = cython.declare(list, visibility="readonly")
    _first: cython.int  # the place of the first instruction
    _length: cython.int  # how many there are
    _instruction: cython.p_int
    _varying: cython.p_int  # by place, whether it depends on the batch
    _needed: cython.p_int  # by place
    _scalar: cython.p_int  # by place, where it stands among the scalars
    _column: cython.p_int  # by place, which column it is
    _roots: list  # (STORE or SUM or DOT, which output, place of x, place of y): what is done with results
    _arrays: list  # those that the pointers point to

    def __init__(self, program: Program, varies: Sequence[bool], reduced: bool) -> None:
        self.program = program
        self.varies = tuple(map(bool, varies))
        self.reduced = reduced
        self._first = program.inputs + len(program.constants)
        self._length = len(program)
        self._instruction = c_compat.integers(program.instructions)
        self._arrays = []
        self._varying = self._row(0)
        self._needed = self._row(0)
        self._scalar = self._row(0)
        self._column = self._row(0)
        self._roots = []
        self.fixed = []
        self._mark_varying()
        self._make_roots()
        self._mark_needed()
        self._split_off()
        orders = [self._emitted(order) for order in (self._as_written(), self._depth_first())]
        self.code, self.slots = min(orders, key=_slots)

    def __len__(self) -> int:
        """How many instructions are run for each block of lanes."""
        return len(self.code) // WIDTH

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        names = spelled(self.once)
        results = [names[place] for place in self.once.outputs]
        given = spelled(self.program)
        varying = [i for i, varies in enumerate(self.varies) if varies]
        columns = [given[i] if given[i] != f"v{i}" else f"column {column}" for column, i in enumerate(varying)]
        yield "once:"
        yield from instructions(self.once, names)
        yield f"for each block of lanes, in {self.slots} slots:"
        for operation, *places in self.code.reshape(-1, WIDTH).tolist():
            yield f"  {_described(operation, places, results, columns)}"
        for position, name in zip(self.fixed, results[self.scalars :], strict=True):
            yield f"output {position} = {name}"

    @cython.cfunc
    def _row(self, filling: cython.int) -> cython.p_int:
        """An array of int32 by place."""
        array = numpy.full(self._first + self._length, filling, numpy.int32)
        self._arrays.append(array)
        return c_compat.integers(array)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _operands(self, i: cython.int) -> cython.int:
        """How many operands an instruction has."""
        opcode: cython.int = self._instruction[4 * i]
        return evaluate.arity(opcode) if opcode < _CALL else 3

    def _mark_varying(self) -> None:
        """Know what depends on the batch. Raises `ValueError` where that is a call of a function in Python."""
        i: cython.int
        j: cython.int
        k: cython.int
        count: cython.int = 0
        for i in range(self.program.inputs):
            if self.varies[i]:
                self._varying[i] = True
                self._column[i] = count
                count += 1
        for i in range(self._length):
            k = 4 * i
            if self._instruction[k] == _CALL:
                function, places = self.program.calls[self._instruction[k + 1]]
                if any(self._varying[place] for place in places):
                    raise ValueError(f"{function.name} is a function in Python, which cannot be run on lanes")
                continue
            for j in range(1, 1 + self._operands(i)):
                self._varying[self._first + i] |= self._varying[self._instruction[k + j]]

    def _make_roots(self) -> None:
        """Know what is done with the outputs that vary."""
        for position, place in enumerate(self.program.outputs):
            if not self._varying[place]:
                self.fixed.append(position)
            elif not self.reduced:
                self._roots.append((STORE, position, place, -1))
        if self.reduced:
            self._make_sums()

    def _make_sums(self) -> None:
        """Add products to an output's total at once where nothing else needs them, as in a weight's gradient."""
        use: cython.p_int = self._row(0)
        i: cython.int
        j: cython.int
        k: cython.int
        place: cython.int
        for i in range(self._length):
            for j in range(1, 1 + (self._operands(i) if self._instruction[4 * i] != _CALL else 0)):
                use[self._instruction[4 * i + j]] += 1
        for place in self.program.outputs:
            use[place] += 1
        for position, output in enumerate(self.program.outputs):
            pending = [output] if self._varying[output] else []
            while pending:
                place = pending.pop()
                k = 4 * (place - self._first)
                if place < self._first or use[place] > 1 or not self._varying[place]:
                    self._roots.append((SUM, position, place, -1))
                elif self._instruction[k] == _MUL:
                    self._roots.append(self._product(position, self._instruction[k + 1], self._instruction[k + 2]))
                elif self._instruction[k] == _MULADD and (
                    self._varying[self._instruction[k + 1]] or self._varying[self._instruction[k + 2]]
                ):
                    self._roots.append(self._product(position, self._instruction[k + 1], self._instruction[k + 2]))
                    pending.append(self._instruction[k + 3])
                else:
                    self._roots.append((SUM, position, place, -1))

    def _product(self, position: int, x: cython.int, y: cython.int) -> tuple[int, int, int, int]:
        """A root that adds products to a total. Where a factor does not vary, it is the second one."""
        return (DOT, position, x, y) if self._varying[x] else (DOT, position, y, x)

    def _mark_needed(self) -> None:
        """Know what the roots need."""
        i: cython.int
        j: cython.int
        for _, _, x, y in self._roots:
            self._needed[x] = True
            if y >= 0:
                self._needed[y] = True
        for i in range(self._length - 1, -1, -1):
            if self._needed[self._first + i] and self._varying[self._first + i]:
                for j in range(1, 1 + self._operands(i)):
                    self._needed[self._instruction[4 * i + j]] = True

    def _split_off(self) -> None:
        """Make the program that is run once."""
        varying, needed, scalar = self._arrays[:3]
        start = self._first
        places = numpy.flatnonzero((needed != 0) & (varying == 0))
        scalar[places] = numpy.arange(len(places))
        self.scalars = len(places)
        instructions = self.program.instructions.reshape(-1, 4)
        kept = varying[start:] == 0
        fixed_inputs = self.program.inputs - sum(self.varies)
        moved = numpy.empty(len(varying), numpy.int32)  # to their new places
        moved[: self.program.inputs] = numpy.cumsum(varying[: self.program.inputs] == 0) - 1
        moved[self.program.inputs : start] = fixed_inputs + numpy.arange(start - self.program.inputs)
        moved[start:] = fixed_inputs + start - self.program.inputs + numpy.cumsum(kept) - 1
        code = instructions[kept].copy()
        computed = code[:, 0] != CALL
        code[computed, 1:] = moved[code[computed, 1:]]
        # operands that are not there are 0: so they stay
        arities = numpy.array(ARITIES)[code[:, 0]]
        for position in (2, 3):
            code[computed & (arities < position), position] = 0
        calls = [
            (f, [int(moved[place]) for place in used] if not any(varying[used]) else [])
            for f, used in self.program.calls
        ]
        outputs = [*places.tolist(), *(self.program.outputs[position] for position in self.fixed)]
        names = [name for name, varies in zip(self.program.input_names, self.varies, strict=False) if not varies]
        self.once = Program(
            fixed_inputs, self.program.constants, code.ravel(), calls, [int(moved[place]) for place in outputs], names
        )

    def _as_written(self) -> Any:
        """The order of the program, each root as soon as its operands are there: instructions, and ~root for a root."""
        varying, needed = self._arrays[:2]
        start = self._first
        kept = numpy.flatnonzero((varying[start:] != 0) & (needed[start:] != 0))
        last = numpy.array([max(x, y if y >= 0 and varying[y] else -1) for _, _, x, y in self._roots], numpy.int64)
        times = numpy.concatenate([kept, numpy.maximum(last - start, -1)])
        events = numpy.concatenate([kept, ~numpy.arange(len(self._roots))])
        return events[numpy.argsort(times, kind="stable")].astype(numpy.int32)

    def _depth_first(self) -> Any:
        """The order in which each root is done as soon as what it needs is computed, and no more."""
        order = numpy.empty(self._length + len(self._roots), numpy.int32)
        pending = numpy.empty(3 * self._length + 2, numpy.int32)
        event: cython.p_int = c_compat.integers(order)
        stack: cython.p_int = c_compat.integers(pending)
        state: cython.p_int = self._row(0)  # 1 where an instruction waits for its operands, 2 where it is done
        count: cython.int = 0
        top: cython.int
        place: cython.int
        operand: cython.int
        j: cython.int
        for root, (_, _, x, y) in enumerate(self._roots):
            top = 0
            for place in (y, x):
                if place >= self._first and self._varying[place]:
                    stack[top] = place
                    top += 1
            while top > 0:
                place = stack[top - 1]
                if state[place] == 0:
                    state[place] = 1
                    for j in range(self._operands(place - self._first), 0, -1):
                        operand = self._instruction[4 * (place - self._first) + j]
                        if operand >= self._first and self._varying[operand] and state[operand] == 0:
                            stack[top] = operand
                            top += 1
                    continue
                top -= 1
                if state[place] == 1:
                    state[place] = 2
                    event[count] = place - self._first
                    count += 1
            event[count] = ~root
            count += 1
        return order[:count]

    def _emitted(self, order: Any) -> tuple[Any, int]:
        """The code for an order, and how many slots it takes."""
        event: cython.p_int = c_compat.integers(order)
        writer: Writer = Writer(self, len(order))
        i: cython.int
        e: cython.int
        j: cython.int
        for i in range(len(order)):
            e = event[i]
            if e < 0:
                _, _, x, y = self._roots[~e]
                writer.last[x] = i
                if y >= 0:
                    writer.last[y] = i
            else:
                for j in range(1, 1 + self._operands(e)):
                    writer.last[self._instruction[4 * e + j]] = i
        for i in range(len(order)):
            if event[i] < 0:
                operation, position, x, y = self._roots[~event[i]]
                writer.write(operation, position, x, y, 0, 1 + (y >= 0), i)
            else:
                writer.compute(event[i], i)
        return writer.written()


@cython.final
@cython.cclass
class Writer:
    """Code as it is written, and the slots in use."""

    last: cython.p_int  # by place, when it is needed for the last time
    _schedule: Schedule
    _slot: cython.p_int  # by place
    _code: cython.p_int
    _length: cython.int  # of the code
    _free: cython.p_int  # slots, of which the last is taken first: it is in the cache
    _free_count: cython.int
    _idle: cython.p_int  # those that inputs have stood in, which may be memory of the user's: no result goes there
    _idle_count: cython.int
    _slots: cython.int
    _arrays: list

    def __init__(self, schedule: Schedule, count: int) -> None:
        self._schedule = schedule
        places = schedule._first + schedule._length
        code = numpy.zeros(WIDTH * (count + schedule.program.inputs), numpy.int32)
        self._arrays = [code]
        self.last = self._row(places)
        self._slot = self._row(places)
        self._free = self._row(places)
        self._idle = self._row(places)
        self._code = c_compat.integers(code)
        self._length = 0
        self._free_count = 0
        self._idle_count = 0
        self._slots = 0

    @cython.cfunc
    def _row(self, count: int) -> cython.p_int:
        array = numpy.full(count, -2, numpy.int32)
        self._arrays.append(array)
        return c_compat.integers(array)

    @cython.cfunc
    @cython.exceptval(check=False)
    def compute(self, i: cython.int, time: cython.int) -> cython.void:
        """Write an instruction of the program."""
        schedule: Schedule = self._schedule
        place: cython.int = schedule._first + i
        instruction: cython.p_int = schedule._instruction
        x: cython.int = instruction[4 * i + 1]
        y: cython.int = instruction[4 * i + 2]
        z: cython.int = instruction[4 * i + 3]
        self.write(instruction[4 * i], place, x, y, z, schedule._operands(i), time)

    @cython.cfunc
    @cython.exceptval(check=False)
    def write(
        self,
        operation: cython.int,
        out: cython.int,
        x: cython.int,
        y: cython.int,
        z: cython.int,
        operands: cython.int,
        time: cython.int,
    ) -> cython.void:
        """Write an instruction: `out` is a place, or which output it is."""
        form: cython.int = 0
        a: cython.int = self._operand(x)
        b: cython.int = self._operand(y) if operands > 1 else 0
        c: cython.int = self._operand(z) if operands > 2 else 0
        if not self._schedule._varying[x]:
            form += 1
        if operands > 1 and not self._schedule._varying[y]:
            form += 2
        if operands > 2 and not self._schedule._varying[z]:
            form += 4
        self._release(x, time)
        if operands > 1:
            self._release(y, time)
        if operands > 2:
            self._release(z, time)
        if operation < _LOAD:
            self._slot[out] = self._taken()
            out = self._slot[out]
        self._append(8 * operation + form, out, a, b, c)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _operand(self, place: cython.int) -> cython.int:
        """Where an operand stands: which scalar it is, or its slot. Inputs are loaded when they are first needed."""
        if not self._schedule._varying[place]:
            return self._schedule._scalar[place]
        if self._slot[place] == _NONE:
            if self._idle_count > 0:
                self._idle_count -= 1
                self._slot[place] = self._idle[self._idle_count]
            else:
                self._slot[place] = self._slots
                self._slots += 1
            self._append(8 * _LOAD, self._slot[place], self._schedule._column[place], 0, 0)
        return self._slot[place]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _release(self, place: cython.int, time: cython.int) -> cython.void:
        """Free the slot of what is not needed after this time."""
        if self.last[place] != time or not self._schedule._varying[place]:
            return
        self.last[place] = _NONE  # it may be another operand of the same instruction
        if place < self._schedule._first:
            self._idle[self._idle_count] = self._slot[place]
            self._idle_count += 1
        else:
            self._free[self._free_count] = self._slot[place]
            self._free_count += 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _taken(self) -> cython.int:
        if self._free_count > 0:
            self._free_count -= 1
            return self._free[self._free_count]
        self._slots += 1
        return self._slots - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _append(
        self, operation: cython.int, out: cython.int, x: cython.int, y: cython.int, z: cython.int
    ) -> cython.void:
        code: cython.p_int = self._code
        k: cython.int = self._length
        code[k] = operation
        code[k + 1] = out
        code[k + 2] = x
        code[k + 3] = y
        code[k + 4] = z
        self._length = k + _width

    def written(self) -> tuple[Any, int]:
        """The code, and how many slots it takes."""
        return self._arrays[0][: self._length].copy(), self._slots


def _slots(emitted: tuple[Any, int]) -> int:
    return emitted[1]


def _described(operation: int, places: Sequence[int], scalars: Sequence[str], columns: Sequence[str]) -> str:
    """An instruction as text, with these names for the scalars and the columns."""
    opcode, form = divmod(operation, 8)
    out, *rest = places
    operands = [scalars[place] if form >> i & 1 else f"r{place}" for i, place in enumerate(rest)]
    if opcode == LOAD:
        return f"r{out} = {columns[rest[0]]}"
    if opcode == STORE:
        return f"output {out} = {operands[0]}"
    if opcode in (SUM, DOT):
        return f"output {out} += the sum of {' * '.join(operands[: 1 + (opcode == DOT)])}"
    return f"r{out} = {INSTRUCTIONS[opcode].text.format(*operands)}"
