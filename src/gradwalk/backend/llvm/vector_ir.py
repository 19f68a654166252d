"""Print a program as LLVM IR for lanes: one function that runs it on a batch, with its loops and switches.

Each number that varies is a vector with a lane per sample. A few vectors side by side run the same statements, which
hides the latency of instructions. A mask says for which lanes the current statements run. A loop continues until its
condition is false for all lanes; a lane whose condition is false keeps its numbers. A branch of a switch is skipped if
no lane selects it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradwalk.backend.llvm.side_by_side import FEWEST_VECTORS, vectors_side_by_side
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import OPCODES, SUM
from gradwalk.program.native.compiler_main import ALL_PASSES
from gradwalk.program.native.expressions import Body, Type, declared_once, printed_functions
from gradwalk.program.native.scalar_ir import PREDICTABLE, PYTHON, RoutinePrinter, declared, helpers, work_of
from gradwalk.program.native.status import DONE
from gradwalk.program.native.vector_library import Library, Target, attributes
from gradwalk.program.routine.lower_calls import routine_on_lanes
from gradwalk.program.routine.statements import (
    INPUTS,
    RESULTS,
    SUMS,
    UNIFORM,
    Add,
    Assign,
    Cell,
    Choose,
    Compute,
    For,
    Lost,
    Operand,
    Read,
    Routine,
    Statement,
    Store,
    Take,
    While,
)

PARTIAL_SUMS = 16  # in the order of lanes.h
_CACHE_LINE = 64  # bytes
_AHEAD = 2  # iterations: main memory takes longer than one iteration
_PREFETCH = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
_CONSTANT = ", !invariant.load !0"  # for loads from memory that the function never writes
HALT = "look_for_halt"  # the function of Python that long loops call: see `thread_pool`
_POLL = f"""\
@{HALT} = external global i8
declare i32 @{PYTHON}PyGILState_Ensure()
declare void @{PYTHON}PyGILState_Release(i32)
declare ptr @{PYTHON}PyObject_CallNoArgs(ptr)
declare void @{PYTHON}Py_DecRef(ptr)
define internal i1 @is_interrupted() noinline {{
  %state = call i32 @{PYTHON}PyGILState_Ensure()
  %result = call ptr @{PYTHON}PyObject_CallNoArgs(ptr @{HALT})
  call void @{PYTHON}Py_DecRef(ptr %result)
  call void @{PYTHON}PyGILState_Release(i32 %state)
  %is_error = icmp eq ptr %result, null
  ret i1 %is_error
}}"""


class Scalars(NamedTuple):
    """The numbers that are the same for all lanes.

    Attributes:
        used: The number of scalars that the program uses.
        behind: In float32, the distance from the scalars back to their float64 values, in numbers of float64.
    """

    used: int
    behind: int


def lane_ir(code: Code, scalars: Scalars, target: Target) -> str:
    """Print a program whose instructions all vary as an LLVM module that runs it on lanes.

    The module defines `int run(ptr scalars, ptr rows, i64 lanes)`. The first inputs of the program are the scalars;
    `rows` has the addresses of the other inputs (the columns), followed by the addresses of the outputs. The number of
    lanes is rounded up to a multiple of the lanes of the target's type. The function returns a status of `scalar_ir`.

    An instruction `SUM` adds the number of lane i to the partial sum i % `PARTIAL_SUMS`, in float64. If the program has
    such instructions, the row after the outputs holds the partial sums of all of them.

    Raises `TooLargeError` if the routine of the program has too many statements.
    """
    routine = routine_on_lanes(code, scalars.used, target.type.lanes, memory=target.memory)
    vectors = vectors_side_by_side(routine, target.vectors.registers)
    wide = target._replace(type=target.type._replace(lanes=target.type.lanes * vectors // FEWEST_VECTORS))
    targets = [wide, target] if vectors > FEWEST_VECTORS else [target]
    printers = [_LanePrinter(routine, scalars, code, each, is_full=each is not target) for each in targets]
    text: list[str] = []
    lines, called = printers[0].globals(), dict[str, int]()
    for each, printer in zip(targets, printers, strict=True):
        text += printer.function()
        lines += printer.declared
        lines += printed_functions(printer.lanes.called, each.type, Library(each).printed, contract=target.contract)
        called |= printer.called
    lines += printed_functions(called, Type(), declared, contract=target.contract)
    lines += [*text, *_run([each.type.lanes for each in targets]), *attributes(target)]
    return "\n".join([ALL_PASSES, _PREFETCH, *helpers(text, _POLL), *declared_once(lines), "!0 = !{}", PREDICTABLE, ""])


def _run(sizes: Sequence[int]) -> list[str]:
    """Return the lines of the function `run`. It runs full groups of the first size, then groups of the next."""
    lines = ["define i32 @run(ptr noalias %scalars, ptr noalias %rows, i64 %lanes) #0 {", "begin:"]
    first = "0"
    for size in sizes[:-1]:
        lines += [
            f"  %full_{size} = and i64 %lanes, -{size}",
            f"  %status_{size} = call i32 @run_{size}(ptr %scalars, ptr %rows, i64 {first}, i64 %full_{size})",
            f"  %has_run_{size} = icmp eq i32 %status_{size}, {DONE}",
            f"  br i1 %has_run_{size}, label %after_{size}, label %failed_{size}",
            f"failed_{size}:",
            f"  ret i32 %status_{size}",
            f"after_{size}:",
        ]
        first = f"%full_{size}"
    last = f"call i32 @run_{sizes[-1]}(ptr %scalars, ptr %rows, i64 {first}, i64 %lanes)"
    return [*lines, f"  %status = {last}", "  ret i32 %status", "}"]


class _LanePrinter(RoutinePrinter):
    """Prints the function of a routine for lanes. Numbers that do not vary are scalars.

    The function fails if the trail of a `while_loop` is larger than the target's `memory`. Lanes can run such loops:
    they keep only some carries.

    Args:
        is_full: Whether all lanes have a sample.

    Attributes:
        lanes: Prints instructions on vectors.
        declared: Declarations of functions of LLVM that the lines call.
    """

    def __init__(self, routine: Routine, scalars: Scalars, code: Code, target: Target, *, is_full: bool) -> None:
        super().__init__(routine, contract=target.contract)
        self.lanes = Body(target.type, contract=target.contract, text=self.text)
        self._sums = Body(Type(lanes=min(PARTIAL_SUMS, target.type.lanes)), contract=target.contract, text=self.text)
        self.declared: list[str] = []
        self._most_bytes = target.memory
        self._kind = target.type
        self._own = target.type.spaced(1)  # the number of each lane
        self._varying = routine.varying
        self._scalars = scalars
        self._first_row = {INPUTS: 0, RESULTS: code.inputs - scalars.used}  # array -> number of its first row
        self._row_of_sums = self._first_row[RESULTS] + len(code.outputs)
        self._has_sums, self._is_full = bool((code.instructions[::4] == SUM).any()), is_full
        self._pointers |= {UNIFORM: "%uniform", SUMS: "%sums"}
        self._fetched: set[Cell] = set()  # columns that are already prefetched
        self._mask = ""  # the lanes for which the current statements run, a vector of i1; "" if they are all lanes
        self._integers = self._kind.of("i64" if self._kind.real == "double" else "i32")
        self._lengths: dict[str, str] = {}  # counter of a `While` -> variable: the number of iterations of each lane
        self._lost_in: dict[str, str] = {}  # counter of a `While` -> variable: the lanes that take too many steps
        self._sampled = ""  # the lanes that have a sample, a vector of i1, if the program has sums

    def function(self) -> list[str]:
        """Return the lines of the function that runs the program on the lanes from `first_lane` to `lanes - 1`."""
        if self._has_sums:
            self._find_sums()
        begin, end = self._printed()
        behind = self._scalars.behind if self._kind.real == "float" else 0
        return [
            f"define internal i32 @run_{self._kind.lanes}"
            "(ptr noalias %scalars, ptr noalias %rows, i64 %first_lane, i64 %lanes) #0 {",
            *begin[:-1],
            f"  %uniform = getelementptr double, ptr %scalars, i64 -{behind}",
            begin[-1].replace("label %first", "label %test"),
            "test:",
            "  %lane = phi i64 [ %first_lane, %begin ], [ %next_lane, %block_end ]",
            "  %is_left = icmp slt i64 %lane, %lanes",
            "  br i1 %is_left, label %first, label %end",
            "first:",
            *self.lines,
            "  br label %block_end",
            "block_end:",
            f"  %next_lane = add nuw nsw i64 %lane, {self._kind.lanes}",
            "  br label %test",
            *end,
        ]

    def _find_sums(self) -> None:
        """Append code that finds the partial sums of these lanes, and the lanes that have a sample."""
        row = self.new(f"getelementptr ptr, ptr %rows, i64 {self._row_of_sums}")
        sums = self.new(f"load ptr, ptr {row}{_CONSTANT}")
        place = self.new(f"and i64 %lane, {PARTIAL_SUMS - 1}")
        self.lines.append(f"  %sums = getelementptr double, ptr {sums}, i64 {place}")
        self._sampled = "" if self._is_full else self._samples()

    def _kind_of(self, name: str) -> Type:
        return self._kind if name in self._varying else Type()

    # Statements

    def _compute(self, statement: Compute) -> None:
        if statement.result not in self._varying:
            super()._compute(statement)
            return
        operands = [self._vector(operand) for operand in statement.operands]
        self._names[statement.result] = self.lanes.instruction(statement.opcode, operands)

    def _read(self, statement: Read) -> None:
        self._names[statement.result] = self._operand(statement.operand)

    def _entry(self, statement: Take, number: str) -> str:
        if statement.result not in self._varying:
            return super()._entry(statement, number)
        table, places = statement.table, self._kind.of("i64")
        distance = self.new(f"mul {places} {number}, splat (i64 {statement.stride})")
        if table.array not in self._varying:
            entry = self._loads("double", self._moved(self._address(table), "double", distance))
            narrow = f"fptrunc {self._kind.of('double')} {entry} to {self._kind.numbers}"
            return self.new(narrow) if self._kind.real == "float" else entry
        if table.array == INPUTS:
            row = self.new(f"getelementptr ptr, ptr %rows, i64 {self._sum(table.start, table.strides)}")
            rows = self._loads("ptr", self._moved(row, "ptr", distance))
            lanes = self.new(f"add {places} {self.lanes.splat('i64', '%lane')}, {self._own}")
            addresses = self.new(f"getelementptr {self._kind.real}, {self._kind.of('ptr')} {rows}, {places} {lanes}")
            return self._loads(self._kind.real, addresses)
        distance = self.new(f"mul {places} {distance}, splat (i64 {self._kind.lanes})")
        distance = self.new(f"add {places} {distance}, {self._own}")
        return self._loads(self._kind.real, self._moved(self._address(table), self._kind.real, distance))

    def _moved(self, address: str, kind: str, distance: str) -> str:
        """Append code that computes an address for each lane; return the name of the vector."""
        return self.new(f"getelementptr {kind}, ptr {address}, {self._kind.of('i64')} {distance}")

    def _loads(self, kind: str, addresses: str) -> str:
        """Append code that loads a number from an address per lane; return the name of the vector."""
        loaded, lanes = self._kind.of(kind), self._kind.lanes
        name = f"llvm.masked.gather.v{lanes}{ {'double': 'f64', 'float': 'f32', 'ptr': 'p0'}[kind] }.v{lanes}p0"
        pointers, bits = self._kind.of("ptr"), self._kind.bits
        self.declared.append(f"declare {loaded} @{name}({pointers}, i32, {bits}, {loaded})")
        size = 4 if kind == "float" else 8
        return self.new(
            f"call {loaded} @{name}({pointers} {addresses}, i32 {size}, {bits} splat (i1 true), {loaded} poison)"
        )

    def _assign(self, statement: Assign) -> None:
        target = statement.target
        if (target.array if isinstance(target, Cell) else target) not in self._varying:
            super()._assign(statement)
            return
        address = self._address(target) if isinstance(target, Cell) else f"%{target}"
        value = self._vector(statement.operand)
        if self._mask:
            before, numbers = self._loaded(address, self._kind), self._kind.numbers
            value = self.new(f"select {self._kind.bits} {self._mask}, {numbers} {value}, {numbers} {before}")
        self._put(value, address)

    def _store(self, statement: Store) -> None:
        if statement.cell.array in self._varying:
            self._put(self._vector(statement.operand), self._address(statement.cell))
        else:
            super()._store(statement)

    def _add(self, statement: Add) -> None:
        cell, numbers = statement.cell, self._kind.numbers
        strides = tuple([(counter, PARTIAL_SUMS * factor) for counter, factor in cell.strides])
        address = self._address(Cell(SUMS, PARTIAL_SUMS * cell.start, strides))
        number, part = self._vector(statement.operand), self._sums.kind
        total = self._loaded(address, part)
        for first in range(0, self._kind.lanes, part.lanes):
            added = self._sums.instruction(OPCODES["add"], [total, self._part(number, numbers, first)])
            if self._sampled:
                mask = self._part(self._sampled, self._kind.bits, first)
                added = self.new(f"select {part.bits} {mask}, {part.numbers} {added}, {part.numbers} {total}")
            total = added
        self._put(total, address, part)

    def _part(self, vector: str, kind: str, first: int) -> str:
        """Append code that extracts the lanes for the partial sums from lane `first` on."""
        lanes = self._sums.kind.lanes
        if lanes == self._kind.lanes:
            return vector
        which = ", ".join([f"i32 {lane}" for lane in range(first, first + lanes)])
        return self.new(f"shufflevector {kind} {vector}, {kind} poison, <{lanes} x i32> <{which}>")

    def _print_iteration(self, statement: For) -> None:
        counter, at = statement.step_of or ("", ())
        lengths, outer = self._lengths.get(counter), self._mask
        if lengths is not None:
            step = self._splat(self._sum(0, at))
            self._mask = self.new(f"icmp sgt {self._integers} {self._integer(lengths)}, {step}")
        super()._print_iteration(statement)
        self._mask = outer

    def _while(self, statement: While) -> None:
        if not self._varies(statement.condition):
            super()._while(statement)
            return
        outer = self._mask
        going, length, lost = [self._new_integer(what) for what in ("going", "length", "lost")]
        self._set_integer(going, f"sext {self._kind.bits} {outer or self._samples()} to {self._integers}")
        before, label, after = self._label("before"), self._label("loop"), self._label("after")
        self._jump(before)
        self.lines.append(f"  br label %{label}")
        self.begin(label)
        step = self._counters[statement.counter] = self._phi(label, before)
        self._mask = self._bits(going)
        self._print(statement.test)
        holds = self.new(
            f"fcmp une {self._kind.numbers} {self._vector(statement.condition)}, {self._kind.literal(0.0)}"
        )
        self._mask = self.new(f"and {self._kind.bits} {self._mask}, {holds}")
        self._branch(self._any(), f"{label}_body", after)
        self.begin(f"{label}_body")
        if statement.most is not None:
            left, losing = self._label("left"), self._label("losing")
            self._branch(self.new(f"icmp ne i64 {step}, {statement.most}"), left, losing)
            self.begin(losing)
            self._set_integer(lost, f"sext {self._kind.bits} {self._mask} to {self._integers}")
            self.lines.append(f"  br label %{after}")
            self.begin(left)
        self._set_integer(going, f"sext {self._kind.bits} {self._mask} to {self._integers}")
        done, so_far = self._splat(self.new(f"add nuw nsw i64 {step}, 1")), self._integer(length)
        self._set_integer(
            length, f"select {self._kind.bits} {self._mask}, {self._integers} {done}, {self._integers} {so_far}"
        )
        self._poll(step, work_of([*statement.test, *statement.body]), math.inf)
        self._print(statement.body)
        self._latch(label, step)
        self.lines.append(f"  br label %{label}")
        self.begin(after)
        self._mask = outer
        self._lengths[statement.counter], self._lost_in[statement.counter] = length, lost

    def _lost(self, statement: Lost) -> None:
        lost = self._lost_in.get(statement.counter)
        if lost is not None:
            self._print_for(self._bits(lost), statement.body)

    def _choose(self, statement: Choose) -> None:
        if not self._varies(statement.selector):
            super()._choose(statement)
            return
        index, numbers = self._vector(statement.selector), self._kind.numbers
        left = self.new(f"fcmp ord {numbers} {index}, {self._kind.literal(0.0)}")
        nan = self.new(f"fcmp uno {numbers} {index}, {self._kind.literal(0.0)}")
        for i, branch in enumerate(statement.branches):
            own = left
            if i < len(statement.branches) - 1:
                is_below = self.new(f"fcmp olt {numbers} {index}, {self._kind.literal(i + 1.0)}")
                own = self.new(f"and {self._kind.bits} {left}, {is_below}")
                left = self.new(f"and {self._kind.bits} {left}, {self._not(is_below)}")
            self._print_for(own, branch)
        self._print_for(nan, statement.otherwise)

    def _print_for(self, lanes: str, statements: Sequence[Statement]) -> None:
        """Print statements for some of the current lanes. They are skipped if there are none."""
        outer = self._mask
        self._mask = self.new(f"and {self._kind.bits} {outer}, {lanes}") if outer else lanes
        some, after = self._label("some"), self._label("after")
        self._branch(self._any(), some, after)
        self.begin(some)
        self._print(statements)
        self._jump(after)
        self._mask = outer

    # Parts of statements

    def _varies(self, operand: Operand) -> bool:
        return (operand.array if isinstance(operand, Cell) else operand) in self._varying

    def _as(self, kind: Type, operand: Operand) -> str:
        return self._operand(operand) if kind.lanes == 1 else self._vector(operand)

    def _vector(self, operand: Operand) -> str:
        """Return the name of a vector with an operand in each lane."""
        if isinstance(operand, float):
            return self._kind.literal(operand)
        number = self._operand(operand)
        if self._varies(operand):
            return number
        if self._kind.real == "float":
            number = self.new(f"fptrunc double {number} to float")
        return self.lanes.splat(self._kind.real, number)

    def _address(self, cell: Cell) -> str:
        if cell.array not in (INPUTS, RESULTS):
            return super()._address(cell)
        row = self._sum(self._first_row[cell.array] + cell.start, cell.strides)
        lanes = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr %rows, i64 {row}')}{_CONSTANT}")
        return self.new(f"getelementptr {self._kind.real}, ptr {lanes}, i64 %lane")

    def _operand(self, operand: Operand) -> str:
        if not isinstance(operand, Cell) or operand.array not in (INPUTS, UNIFORM):
            return super()._operand(operand)
        address, kind = self._address(operand), self._kind_of(operand.array)
        if operand.array == INPUTS and operand not in self._fetched:
            self._fetched.add(operand)
            self._fetch(address)
        return self._loaded(address, kind, _CONSTANT)

    def _fetch(self, address: str) -> None:
        """Prefetch later lanes of a column to the L2 cache: hardware prefetchers cannot follow this many columns."""
        for ahead in range(_AHEAD * self._kind.bytes, (_AHEAD + 1) * self._kind.bytes, _CACHE_LINE):
            line = self.new(f"getelementptr i8, ptr {address}, i64 {ahead}")
            self.lines.append(f"  call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 2, i32 1)")

    def _put(self, value: str, address: str, kind: Type | None = None) -> None:
        kind = kind or self._kind
        self.lines.append(f"  store {kind.numbers} {value}, ptr {address}, align {kind.bytes // kind.lanes}")

    def _samples(self) -> str:
        """Append code that says which lanes have a sample. The other lanes have arbitrary numbers."""
        left = self.lanes.splat("i64", self.new("sub i64 %lanes, %lane"))
        return self.new(f"icmp slt {self._kind.of('i64')} {self._own}, {left}")

    # Variables with an integer per lane: masks, and numbers of iterations

    def _new_integer(self, name: str) -> str:
        variable = f"%{self._label(name)}"
        self._allocated.append(f"  {variable} = alloca {self._integers}")
        self.lines.append(f"  store {self._integers} zeroinitializer, ptr {variable}")
        return variable

    def _set_integer(self, variable: str, text: str) -> None:
        self.lines.append(f"  store {self._integers} {self.new(text)}, ptr {variable}")

    def _integer(self, variable: str) -> str:
        return self.new(f"load {self._integers}, ptr {variable}")

    def _bits(self, variable: str) -> str:
        """Return the signs of a variable with an integer per lane."""
        return self.new(f"icmp slt {self._integers} {self._integer(variable)}, zeroinitializer")

    def _splat(self, number: str) -> str:
        """Append code that puts a number of type i64 into all lanes."""
        if self._kind.real == "float":
            return self.lanes.splat("i32", self.new(f"trunc i64 {number} to i32"))
        return self.lanes.splat("i64", number)

    def _not(self, bits: str) -> str:
        return self.new(f"xor {self._kind.bits} {bits}, splat (i1 true)")

    def _any(self) -> str:
        """Append code that says whether the mask has a lane."""
        size = f"i{self._kind.lanes}"
        return self.new(f"icmp ne {size} {self.new(f'bitcast {self._kind.bits} {self._mask} to {size}')}, 0")
