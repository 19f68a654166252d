"""Print a routine for one sample as LLVM IR that runs several iterations of a loop at once, where they call functions.

The functions, such as `exp`, are vectorized functions. Their results and the results of the C library may differ in the
last bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.program.code.code import Code
from gradwalk.program.native.compiler_main import ALL_PASSES
from gradwalk.program.native.expressions import Body, Type, calls_functions, printed_functions
from gradwalk.program.native.scalar_ir import RoutinePrinter, work_of
from gradwalk.program.native.vector_library import Library, Target, Vectors, attributes
from gradwalk.program.routine.independent import Split, factors, split_loop
from gradwalk.program.routine.limits import MEMORY
from gradwalk.program.routine.lower_calls import routine
from gradwalk.program.routine.statements import (
    Assign,
    Cell,
    Compute,
    Count,
    For,
    Operand,
    Read,
    Routine,
    Statement,
    Store,
    operands_in,
)


def ir_with_vectors(code: Code, vectors: Vectors, *, contract: bool = False, memory: int = MEMORY) -> str:
    """Print a program as `ir_source` does, but with vectorized functions in loops."""
    return VectorLoopPrinter(routine(code, memory=memory), vectors, contract=contract).module()


class VectorLoopPrinter(RoutinePrinter):
    """Prints the function of a routine. A loop that calls functions runs for several iterations at once, if possible.

    Args:
        routine: The routine.
        vectors: The vectorized functions.
        contract: See `Body`.
    """

    attributes = " #0"

    def __init__(self, routine: Routine, vectors: Vectors, *, contract: bool) -> None:
        super().__init__(routine, contract=contract)
        self._target = Target(Type("double", vectors.lanes), vectors, contract)
        self._kind = self._target.type
        self._lanes = Body(self._kind, contract=contract, text=self.text)
        self._own = f"<{', '.join([f'i64 {lane}' for lane in range(vectors.lanes)])}>"  # the number of each lane
        self._declared: list[str] = []
        self._vectors: dict[str, str] = {}  # variable of the open loop -> name of the vector of its iterations
        self._loop = ""  # counter of the open loop
        self._direction = 1  # how the counter changes from one iteration to the next
        self._mask = ""  # the lanes that are iterations of the loop, a vector of i1; "" if all lanes are

    def declarations(self) -> list[str]:
        """Return the lines that define or declare what the vectors need."""
        library = Library(self._target).printed
        functions = printed_functions(self._lanes.called, self._kind, library, contract=self._target.contract)
        return [*self._declared, *functions, *attributes(self._target)]

    def head(self) -> list[str]:
        """Return the first lines of the module."""
        return [ALL_PASSES] if self._lanes.called else super().head()

    # Statements

    def _for(self, statement: For) -> None:
        split = split_loop(statement)
        if split is None or not any(isinstance(x, Compute) and calls_functions(x.opcode) for x in split.together):
            super()._for(statement)
            return
        assert isinstance(statement.times, int)
        lanes, times = self._kind.lanes, statement.times
        before, label, after = self._label("before"), self._label("loop"), self._label("after")
        self._jump(before)
        self.lines.append(f"  br label %{label}")
        self.begin(label)
        step = self._phi(label, before)
        chunks = -(-times // lanes)
        self._poll(step, lanes * work_of(statement.body), chunks)
        self._print_lanes(statement, split, self.new(f"mul nsw i64 {step}, {lanes}"))
        self._latch(label, step)
        self._branch(self.new(f"icmp slt i64 %{label}_next, {chunks}"), label, after)
        self.begin(after)

    def _print_lanes(self, loop: For, split: Split, first: str) -> None:
        """Print the iterations of a loop from the iteration `first` on, one in each lane."""
        lanes, times = self._kind.lanes, loop.times
        assert isinstance(times, int)
        self._vectors, self._loop, self._mask = {}, loop.counter, ""
        self._direction = -1 if loop.is_reversed else 1
        left = self.new(f"sub i64 {times}, {first}")
        if times % lanes:
            self._mask = self.new(f"icmp slt {self._kind.of('i64')} {self._own}, {self._splat('i64', left)}")
        last = self.new(f"sub i64 {times - 1}, {first}")
        counter = self._counters[loop.counter] = last if loop.is_reversed else first
        for statement in split.together:
            self._print_together(statement)
        if split.in_order:
            count = self.new(f"call i64 @llvm.smin.i64(i64 {left}, i64 {lanes})")
            self._print_in_order(loop, split.in_order, counter, count)

    def _print_together(self, statement: Statement) -> None:
        """Print a statement for all lanes."""
        if isinstance(statement, Compute):
            operands = [self._in_lanes(operand) for operand in statement.operands]
            self._vectors[statement.result] = self._lanes.instruction(statement.opcode, operands)
        elif isinstance(statement, Read):
            self._vectors[statement.result] = self._in_lanes(statement.operand)
        elif isinstance(statement, Count):
            step = self._direction * factors(statement.factors).get(self._loop, 0)
            number = self._splat("i64", self._sum(statement.first, statement.factors))
            numbers = self.new(f"add {self._kind.of('i64')} {number}, {self._spaced(step)}")
            self._vectors[statement.result] = self.new(
                f"sitofp {self._kind.of('i64')} {numbers} to {self._kind.numbers}"
            )
        else:
            assert isinstance(statement, Store | Assign)
            cell = statement.cell if isinstance(statement, Store) else statement.target
            assert isinstance(cell, Cell)
            self._store_lanes(cell, self._in_lanes(statement.operand))

    def _print_in_order(self, loop: For, statements: Sequence[Statement], counter: str, count: str) -> None:
        """Print statements as a loop over the lanes. It reads the vectors from memory."""
        used = [x for x in dict.fromkeys(operands_in(statements)) if isinstance(x, str) and x in self._vectors]
        places = {}
        for name in used:
            places[name] = f"%{self._label('lanes')}"
            self._allocated.append(f"  {places[name]} = alloca {self._kind.numbers}, align 64")
            self.lines.append(f"  store {self._kind.numbers} {self._vectors[name]}, ptr {places[name]}, align 64")
        before, label, after = self._label("before"), self._label("loop"), self._label("after")
        self._jump(before)
        self.lines.append(f"  br label %{label}")
        self.begin(label)
        lane = self._phi(label, before)
        self._counters[loop.counter] = self.new(f"{'sub' if loop.is_reversed else 'add'} nsw i64 {counter}, {lane}")
        for name, place in places.items():
            address = self.new(f"getelementptr inbounds double, ptr {place}, i64 {lane}")
            self._names[name] = self._loaded(address, Type())
        self._print(statements)
        self._latch(label, lane)
        self._branch(self.new(f"icmp slt i64 %{label}_next, {count}"), label, after)
        self.begin(after)

    # Parts of statements

    def _in_lanes(self, operand: Operand) -> str:
        """Return the name of a vector with an operand for each lane."""
        if isinstance(operand, float):
            return self._kind.literal(operand)
        if isinstance(operand, str):
            return self._vectors.get(operand) or self._splat("double", self._operand(operand))
        step = self._direction * factors(operand.strides).get(self._loop, 0)
        if step == 0:
            return self._splat("double", self._operand(operand))
        numbers, bits, lanes = self._kind.numbers, self._kind.bits, self._kind.lanes
        address = self._address(operand)
        if step == 1 and not self._mask:
            return self._loaded(address, self._kind)
        mask, zeros = f"{bits} {self._mask or 'splat (i1 true)'}", f"{numbers} zeroinitializer"
        if step == 1:
            name = f"llvm.masked.load.v{lanes}f64.p0"
            self._declared.append(f"declare {numbers} @{name}(ptr, i32, {bits}, {numbers})")
            return self.new(f"call {numbers} @{name}(ptr {address}, i32 8, {mask}, {zeros})")
        name, pointers = f"llvm.masked.gather.v{lanes}f64.v{lanes}p0", self._kind.of("ptr")
        self._declared.append(f"declare {numbers} @{name}({pointers}, i32, {bits}, {numbers})")
        addresses = self._addresses(address, step)
        return self.new(f"call {numbers} @{name}({pointers} {addresses}, i32 8, {mask}, {zeros})")

    def _store_lanes(self, cell: Cell, vector: str) -> None:
        """Append code that writes a vector to the cells of the lanes."""
        step = self._direction * factors(cell.strides)[self._loop]
        numbers, bits, lanes = self._kind.numbers, self._kind.bits, self._kind.lanes
        address = self._address(cell)
        if step == 1 and not self._mask:
            self.lines.append(f"  store {numbers} {vector}, ptr {address}, align 8")
            return
        mask = f"{bits} {self._mask or 'splat (i1 true)'}"
        if step == 1:
            name, places, kind = f"llvm.masked.store.v{lanes}f64.p0", address, "ptr"
        else:
            name, kind = f"llvm.masked.scatter.v{lanes}f64.v{lanes}p0", self._kind.of("ptr")
            places = self._addresses(address, step)
        self._declared.append(f"declare void @{name}({numbers}, {kind}, i32, {bits})")
        self.lines.append(f"  call void @{name}({numbers} {vector}, {kind} {places}, i32 8, {mask})")

    def _addresses(self, address: str, step: int) -> str:
        """Return the name of a vector of addresses that are `step` numbers apart."""
        return self.new(f"getelementptr double, ptr {address}, {self._kind.of('i64')} {self._spaced(step)}")

    def _spaced(self, step: int) -> str:
        """Return a constant vector with `step` times the number of each lane."""
        return f"<{', '.join([f'i64 {step * lane}' for lane in range(self._kind.lanes)])}>"

    def _splat(self, kind: str, number: str) -> str:
        """Return the name of a vector with a number in each lane."""
        numbers, lanes = self._kind.of(kind), self._kind.lanes
        first = self.new(f"insertelement {numbers} poison, {kind} {number}, i64 0")
        return self.new(f"shufflevector {numbers} {first}, {numbers} poison, <{lanes} x i32> zeroinitializer")
