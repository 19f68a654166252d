"""Translation of programs to LLVM IR that runs them on lanes. Each value in the IR is a vector of lanes.

The printed function runs the program for a few vectors of lanes at a time, side by side, to hide the latency of
instructions. Loops that were found in the program are printed as loops. Within an iteration of a loop, results stay in
registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import TAKE
from gradwalk.program.native.expressions import (
    PREFIX,
    VARIABLES,
    Body,
    Text,
    Type,
    declaration,
    printed_functions,
    signature,
    symbol,
)
from gradwalk.program.reroll.repeats import Moving, Repeat, result
from gradwalk.program.routine.storage import Loops, Placement, before, cells, in_cells

_CACHE_LINE = 64  # bytes
_PREFETCH = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
_CONSTANT = ", !invariant.load !0"  # for loads from memory that the function never writes


class Vectors(NamedTuple):
    """Vector versions of functions such as `exp`.

    Attributes:
        lanes: Number of lanes per call.
        letter: Letter that denotes the instruction set in the vector ABI of x86-64.
        functions: Functions with a vector version in the C library.
        of_rows: Functions that read and write lanes in memory: `void f(ptr from, ptr to, i64 lanes)`.
    """

    lanes: int
    letter: str
    functions: frozenset[str]
    of_rows: frozenset[str] = frozenset()


class Target(NamedTuple):
    """The target of the printed code.

    Attributes:
        type: Type of the values: a vector of all lanes that are computed side by side.
        vectors: Vector versions of functions.
        contract: Whether a product and a sum may be fused, so that they round only once.
    """

    type: Type
    vectors: Vectors
    contract: bool


class LaneIR(NamedTuple):
    """The result of `lane_ir`.

    Attributes:
        source: LLVM IR of the module.
        cells: Size of `memory`, in values of the target's type.
    """

    source: str
    cells: int


def lane_ir(code: Code, repeats: Sequence[Repeat], target: Target) -> LaneIR:
    """Print a program without calls as LLVM IR that runs it on lanes.

    The module defines `int run(ptr scalars, ptr rows, ptr memory, i64 lanes)`, which returns 0. The constants of `code`
    are placeholders for the scalars, which are the same for all lanes. `rows` contains the addresses of the columns
    (the inputs), followed by the addresses of the outputs. The number of lanes is rounded up to a multiple of the lanes
    of the target's type. `memory` is scratch memory for results that loops keep. `repeats` are the loops found in
    `code`.
    """
    printer = Printer(code, repeats, target)
    printer.print()
    text = [
        "define i32 @run(ptr noalias %scalars, ptr noalias %rows, ptr noalias %memory, i64 %lanes) #0 {",
        *printer.function(),
    ]
    called = printed_functions(printer.body.called, target.type, Library(target).printed, contract=target.contract)
    return LaneIR("\n".join([*called, *text, *attributes(target), _PREFETCH, "!0 = !{}", ""]), printer.cells)


def attributes(target: Target) -> Iterable[str]:
    """Yield the attribute groups. They request registers as wide as the target's vectors, and an aligned stack."""
    bits = target.vectors.lanes * (64 if target.type.real == "double" else 32)
    width = f'"min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}"'
    yield f"attributes #0 = {{ nounwind alignstack=64 {width} }}"
    yield f"attributes #1 = {{ nounwind memory(none) {width} }}"


class Printer:
    """Printer of the function `run`.

    Attributes:
        body: Lines that run the program for one block of lanes.
        allocated: Lines before the body that allocate the carried variables of loops.
        scalars: Lines before the body that load the scalars.
        cells: Number of values stored in `memory`.
    """

    def __init__(self, code: Code, repeats: Sequence[Repeat], target: Target) -> None:
        self._code = code
        self._placement = Placement(code, repeats)
        self._type = target.type
        self._cell_of = cells(self._placement)
        self._values: dict[int, str] = {}  # index -> name of the result or scalar
        self._carried: dict[int, str] = {}  # instruction -> name of its result in the previous iteration
        self._fetched: set[Moving] = set()  # columns that are already prefetched
        self._open: list[tuple[Loops, str]] = []  # open loops, each with its enclosing loops and its label
        self._counters: list[str] = []  # names of the counters of the open loops
        self.body = Body(target.type, contract=target.contract, text=Text("first"))
        self.allocated: list[str] = []
        self.scalars: list[str] = []
        self.cells = int(self._cell_of[self._placement.kept].max(initial=-1)) + 1

    def print(self) -> None:
        """Print all instructions, then the stores of the outputs."""
        for part, around in self._placement.everything:
            if isinstance(part, range):
                for i in part:
                    self._compute(i, around)
            elif part is None:
                self._end(*self._open.pop())
            else:
                self._begin((*around, part))
        for position, index in enumerate(self._code.outputs, self._code.inputs):
            self._store(self._operand(Moving(index, ()), ()), self._lanes_of(str(position)), 8)

    def function(self) -> list[str]:
        """Return the lines after the function's head, which run the body for each block of lanes."""
        return [
            "begin:",
            *self.allocated,
            *self.scalars,
            "  br label %test",
            "test:",
            "  %lane = phi i64 [ 0, %begin ], [ %next_lane, %block_end ]",
            "  %is_left = icmp slt i64 %lane, %lanes",
            "  br i1 %is_left, label %first, label %end",
            "first:",
            *self.body.lines,
            "  br label %block_end",
            "block_end:",
            f"  %next_lane = add nuw nsw i64 %lane, {self._type.lanes}",
            "  br label %test",
            "end:",
            "  ret i32 0",
            "}",
        ]

    def _compute(self, i: int, around: Loops) -> None:
        """Print an instruction."""
        index = self._code.first + i
        opcode = int(self._code.instructions[4 * i])
        given = [self._operand(place, around) for place in self._placement.operands(i, around)]
        value = self._taken(given[0], given[1:]) if opcode == TAKE else self.body.instruction(opcode, given)
        self._values[index] = value
        place = self._placement.keeps(i, around)
        if place is not None:
            self._store(value, self._cell(place, around))

    def _begin(self, loops: Loops) -> None:
        """Begin the last (innermost) of `loops`, with variables for the results carried to the next iteration."""
        label = f"loop{loops[-1].start}_{len(loops)}"
        numbers, carried = self._type.numbers, self._placement.carried[loops]
        for i in carried:
            start = self._operand(before(result(self._code, i, loops), loops), loops[:-1])
            self.allocated.append(f"  %c{i} = alloca {numbers}, align 64")
            self._store(start, f"%c{i}")
        self.body.lines.append(f"  br label %{label}_before")
        self.body.begin(f"{label}_before")
        self.body.lines.append(f"  br label %{label}")
        self.body.begin(label)
        self.body.lines.append(f"  %{label}_i = phi i64 [ 0, %{label}_before ], [ %{label}_next, %{label}_end ]")
        for i in carried:
            self._carried[i] = self.body.new(f"load {numbers}, ptr %c{i}, align 64")
        self._open.append((loops, label))
        self._counters.append(f"%{label}_i")

    def _end(self, loops: Loops, label: str) -> None:
        """End the loop, and store the results of its last iteration that are used after it."""
        carried = self._placement.carried[loops]
        for i in carried:
            self._store(self._values[self._code.first + i], f"%c{i}")
        self.body.lines += [
            f"  br label %{label}_end",
            f"{label}_end:",
            f"  %{label}_next = add nuw nsw i64 %{label}_i, 1",
            f"  %{label}_left = icmp ult i64 %{label}_next, {loops[-1].times}",
            f"  br i1 %{label}_left, label %{label}, label %{label}_after",
        ]
        self.body.begin(f"{label}_after")
        self._counters.pop()
        for i in carried:
            place = self._placement.keeps_last(i, loops)
            if place is not None:
                self._store(self._values[self._code.first + i], self._cell(place, loops[:-1]))

    def _operand(self, place: Moving, around: Loops) -> str:
        """Return the name of an operand of an instruction inside the loops `around`."""
        if self._placement.is_local(place, around):
            return self._values[place.start]
        carried = self._placement.carrying(place, around)
        if carried is not None:
            return self._carried[carried]
        if place.start < self._code.inputs:
            address = self._lanes_of(self._index(place))
            if place not in self._fetched:
                self._fetched.add(place)
                self._fetch(address)
            return self.body.new(f"load {self._type.numbers}, ptr {address}, align 8{_CONSTANT}")
        if place.start < self._code.first:
            return self._scalar(place._replace(start=place.start - self._code.inputs))
        if self._placement.is_in_memory(place):
            return self.body.new(f"load {self._type.numbers}, ptr {self._cell(place, around)}, align 64")
        return self._values[place.start]

    def _fetch(self, address: str) -> None:
        """Prefetch the next lanes of a column: hardware prefetchers cannot follow this many columns."""
        size = self._type.lanes * (8 if self._type.real == "double" else 4)
        for ahead in range(size, 2 * size, _CACHE_LINE):
            line = self.body.new(f"getelementptr i8, ptr {address}, i64 {ahead}")
            self.body.lines.append(f"  call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 3, i32 1)")

    def _scalar(self, place: Moving) -> str:
        """Return the name of a vector that has a scalar in all lanes."""
        if any(place.strides):
            return self._broadcast(self.body, self._index(place))
        if place.start not in self._values:
            body = Body(self._type)
            self._values[place.start] = self._broadcast(body, str(place.start)).replace("%t", f"%s{place.start}_")
            self.scalars += [line.replace("%t", f"%s{place.start}_") for line in body.lines]
        return self._values[place.start]

    def _broadcast(self, body: Body, index: str) -> str:
        """Append to `body` code that loads a scalar into all lanes of a vector; return the name of the vector."""
        real, numbers, lanes = self._type.real, self._type.numbers, self._type.lanes
        address = body.new(f"getelementptr {real}, ptr %scalars, i64 {index}")
        number = body.new(f"load {real}, ptr {address}{_CONSTANT}")
        first = body.new(f"insertelement {numbers} poison, {real} {number}, i64 0")
        return body.new(f"shufflevector {numbers} {first}, {numbers} poison, <{lanes} x i32> zeroinitializer")

    def _lanes_of(self, row: str) -> str:
        """Return the address of a row's lanes in the current block."""
        address = self.body.new(f"getelementptr ptr, ptr %rows, i64 {row}")
        begin = self.body.new(f"load ptr, ptr {address}{_CONSTANT}")
        return self.body.new(f"getelementptr {self._type.real}, ptr {begin}, i64 %lane")

    def _cell(self, place: Moving, around: Loops) -> str:
        """Return the address in `memory` of a stored result."""
        index = self._index(in_cells(self._cell_of, place))
        return self.body.new(f"getelementptr {self._type.numbers}, ptr %memory, i64 {index}")

    def _index(self, place: Moving) -> str:
        """Append code that computes an affine index from the counters of the open loops; return its name."""
        index = str(place.start)
        for counter, stride in zip(self._counters, place.strides, strict=False):
            if stride:
                index = self.body.new(f"add i64 {self.body.new(f'mul i64 {counter}, {stride}')}, {index}")
        return index

    def _store(self, value: str, address: str, align: int = 64) -> None:
        self.body.lines.append(f"  store {self._type.numbers} {value}, ptr {address}, align {align}")

    def _taken(self, index: str, table: Sequence[str]) -> str:
        """Append code that looks up an index in a table; the result is nan if the index is out of range."""
        numbers, bits, body = self._type.numbers, self._type.bits, self.body
        is_negative = body.new(f"fcmp olt {numbers} {index}, {self._type.literal(0.0)}")
        from_end = body.new(f"fadd {numbers} {index}, {self._type.literal(float(len(table)))}")
        position = body.new(f"select {bits} {is_negative}, {numbers} {from_end}, {numbers} {index}")
        taken = self._type.literal(float("nan"))
        for i, entry in enumerate(table):
            is_entry = body.new(f"fcmp oeq {numbers} {position}, {self._type.literal(float(i))}")
            taken = body.new(f"select {bits} {is_entry}, {numbers} {entry}, {numbers} {taken}")
        return taken


class Library:
    """Printer of functions that apply a C library function to all lanes."""

    def __init__(self, target: Target) -> None:
        self._type, self._vectors = target.type, target.vectors

    def printed(self, function: str, arity: int) -> list[str]:
        """Print a function that applies a C function to all lanes, one vector or one lane at a time.

        `function` is the name of the C function for double.
        """
        in_c = function.removeprefix(PREFIX)
        if in_c in self._vectors.of_rows:
            return self._of_row(function, row_name(in_c, self._type, self._vectors))
        lanes = self._vectors.lanes if in_c in self._vectors.functions else 1
        called = Type(self._type.real, lanes)
        name = vector_name(in_c, called, arity, self._vectors) if lanes > 1 else f"{PREFIX}{in_c}"
        name += "f" if self._type.real == "float" else ""
        body = Body(self._type)
        results = []
        for first in range(0, self._type.lanes, lanes):
            given = [f"{called.numbers} {self._part(body, f'%{x}', first, called)}" for x in VARIABLES[:arity]]
            results.append(body.new(f"call {called.numbers} @{name}({', '.join(given)})"))
        lines = [signature(symbol(function, self._type), self._type, arity).replace("{", "#0 {"), "begin:"]
        end = self._joined(body, results, called)
        return [
            f"{declaration(name, called, arity)} #1",
            *lines,
            *body.lines,
            f"  ret {self._type.numbers} {end}",
            "}",
        ]

    def _of_row(self, function: str, name: str) -> list[str]:
        """Print a function that copies all lanes to the stack and calls the function for rows."""
        numbers = self._type.numbers
        return [
            f"declare void @{name}(ptr, ptr, i64)",
            signature(symbol(function, self._type), self._type, 1).replace("{", "#0 {"),
            "begin:",
            f"  %row = alloca {numbers}, align 64",
            f"  store {numbers} %{VARIABLES[0]}, ptr %row, align 64",
            f"  call void @{name}(ptr %row, ptr %row, i64 {self._type.lanes})",
            f"  %result = load {numbers}, ptr %row, align 64",
            f"  ret {numbers} %result",
            "}",
        ]

    def _part(self, body: Body, operand: str, first: int, kind: Type) -> str:
        """Append code that extracts the lanes from `first` on; return the name of the result, which has type `kind`."""
        numbers = self._type.numbers
        if kind.lanes == 1:
            return body.new(f"extractelement {numbers} {operand}, i64 {first}")
        return self._shuffled(body, numbers, operand, "poison", range(first, first + kind.lanes))

    def _joined(self, body: Body, parts: list[str], kind: Type) -> str:
        """Append code that concatenates the parts pairwise; return the name of the result."""
        if kind.lanes == 1:
            joined = "poison"
            for lane, part in enumerate(parts):
                joined = body.new(f"insertelement {self._type.numbers} {joined}, {kind.real} {part}, i64 {lane}")
            return joined
        lanes = kind.lanes
        while len(parts) > 1:
            numbers = Type(kind.real, lanes).numbers
            lanes *= 2
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._shuffled(body, numbers, *pair, range(lanes)) for pair in pairs]
        return parts[0]

    def _shuffled(self, body: Body, numbers: str, x: str, y: str, lanes: range) -> str:
        mask = ", ".join([f"i32 {lane}" for lane in lanes])
        return body.new(f"shufflevector {numbers} {x}, {numbers} {y}, <{len(lanes)} x i32> <{mask}>")


def vector_name(function: str, kind: Type, arity: int, vectors: Vectors) -> str:
    """Return the name of a vector function in the vector ABI of x86-64."""
    return f"_ZGV{vectors.letter}N{kind.lanes}{'v' * arity}_{function}"


def row_name(function: str, kind: Type, vectors: Vectors) -> str:
    """Return the symbol of a function that reads and writes lanes in memory. It names the instruction set and type."""
    return f"gradwalk_{vectors.letter}_{function}{'f' if kind.real == 'float' else ''}"
