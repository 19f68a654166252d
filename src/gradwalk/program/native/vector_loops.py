"""Print a routine for one sample as LLVM IR that runs several iterations of a loop at once.

The results have the same bits, unless the printer may contract operations. Then functions such as `exp` are vectorized
functions, and their last bits may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwalk.program.code.code import Code
from gradwalk.program.native.compiler_main import ALL_PASSES
from gradwalk.program.native.expressions import Body, Type, calls_functions, printed_functions
from gradwalk.program.native.scalar_ir import RoutinePrinter, work_of
from gradwalk.program.native.vector_library import Library, Target, Vectors, attributes
from gradwalk.program.routine.independent import Split, factors, split_loop
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


def ir_with_vectors(code: Code, vectors: Vectors, *, contract: bool, memory: int) -> str:
    """Print a program as `ir_source` does, but with loops that run on vectors.

    `contract` says whether a product and a sum may be fused into one operation that is rounded once. `memory` limits
    what a loop stores: see `Lowering`.
    """
    return VectorLoopPrinter(routine(code, memory=memory), vectors, contract=contract).module()


class VectorLoopPrinter(RoutinePrinter):
    """Prints the function of a routine. Several iterations of a loop run at once if that is possible and worthwhile.

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
        self._declared: list[str] = []
        self._vectors: dict[str, str] = {}  # variable of the open loop -> name of the vector of its iterations
        self._loop = ""  # counter of the open loop
        self._direction = 1  # how the counter changes from one iteration to the next
        self._iterations = 0  # the number of lanes that are iterations
        self._passed: Mapping[str, str] = {}  # variable -> the number that an iteration passes on with it
        self._masks: Mapping[int, str] = {}  # which lanes are iterations, in order (1) and reversed (-1); {}: all are

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
        split = split_loop(statement, self._has_vectors)
        if split is None or not self._is_worthwhile(statement, split):
            super()._for(statement)
            return
        assert isinstance(statement.times, int)
        chunks, rest = divmod(statement.times, self._kind.lanes)
        if chunks > 1:
            self._print_chunks(statement, split, chunks)
        elif chunks:
            self._print_lanes(statement, split, "0", self._kind.lanes)
        if rest:
            self._print_lanes(statement, split, str(chunks * self._kind.lanes), rest)

    def _print_chunks(self, loop: For, split: Split, chunks: int) -> None:
        """Print a loop over groups of iterations that run at once."""
        lanes = self._kind.lanes
        before, label, after = self._label("before"), self._label("loop"), self._label("after")
        self._jump(before)
        self.lines.append(f"  br label %{label}")
        self.begin(label)
        step = self._phi(label, before)
        self._poll(step, lanes * work_of(loop.body), chunks)
        self._print_lanes(loop, split, self.new(f"mul nsw i64 {step}, {lanes}"), lanes)
        self._latch(label, step)
        self._branch(self.new(f"icmp slt i64 %{label}_next, {chunks}"), label, after)
        self.begin(after)

    def _has_vectors(self, opcode: int) -> bool:
        """Return whether an instruction may run on vectors. Vectorized functions have other last bits."""
        return not calls_functions(opcode) or (self._target.contract and bool(self._target.vectors.functions))

    def _is_worthwhile(self, loop: For, split: Split) -> bool:
        """Return whether vectors are faster: if functions are called, or if consecutive iterations access neighbors."""
        if any(isinstance(x, Compute) and calls_functions(x.opcode) for x in split.together):
            return True
        accessed = [*operands_in(split.together), *map(_target, split.together)]
        steps = [factors(cell.strides).get(loop.counter, 0) for cell in accessed if isinstance(cell, Cell)]
        return not split.in_order and all(abs(step) <= 1 for step in steps)

    def _print_lanes(self, loop: For, split: Split, first: str, count: int) -> None:
        """Print `count` iterations of a loop from the iteration `first` on, one in each lane."""
        lanes = self._kind.lanes
        assert isinstance(loop.times, int)
        self._vectors, self._loop = {}, loop.counter
        self._direction = -1 if loop.is_reversed else 1
        self._iterations, self._passed = count, split.passed
        active = [f"i1 {'true' if lane < count else 'false'}" for lane in range(lanes)]
        self._masks = {step: f"<{', '.join(active[::step])}>" for step in (1, -1)} if count < lanes else {}
        counter = self.new(f"sub i64 {loop.times - 1}, {first}") if loop.is_reversed else first
        self._counters[loop.counter] = counter
        for statement in split.together:
            self._print_together(statement)
        if split.in_order:
            self._print_in_order(loop, split.in_order, counter, count)

    def _print_together(self, statement: Statement) -> None:
        """Print a statement for all lanes."""
        if isinstance(statement, Compute):
            operands = [self._in_lanes(operand) for operand in statement.operands]
            self._vectors[statement.result] = self._lanes.instruction(statement.opcode, operands)
        elif isinstance(statement, Read):
            is_passed = isinstance(statement.operand, str) and statement.operand in self._passed
            vector = self._passed_on(str(statement.operand)) if is_passed else self._in_lanes(statement.operand)
            self._vectors[statement.result] = vector
        elif isinstance(statement, Count):
            step = self._direction * factors(statement.factors).get(self._loop, 0)
            number = self._lanes.splat("i64", self._sum(statement.first, statement.factors))
            numbers = self.new(f"add {self._kind.of('i64')} {number}, {self._kind.spaced(step)}")
            self._vectors[statement.result] = self.new(
                f"sitofp {self._kind.of('i64')} {numbers} to {self._kind.numbers}"
            )
        else:
            assert isinstance(statement, Store | Assign)
            target, vector = _target(statement), self._in_lanes(statement.operand)
            if isinstance(target, Cell):
                self._store_lanes(target, vector)
            else:
                last = self.new(f"extractelement {self._kind.numbers} {vector}, i64 {self._iterations - 1}")
                self.lines.append(f"  store double {last}, ptr %{target}")

    def _passed_on(self, variable: str) -> str:
        """Return the name of a vector with the number of the iteration before in each lane."""
        vector, numbers, lanes = self._vectors[self._passed[variable]], self._kind.numbers, self._kind.lanes
        first = self.new(f"insertelement {numbers} poison, double {self._operand(variable)}, i64 0")
        order = ", ".join([f"i32 {lane}" for lane in (lanes, *range(lanes - 1))])
        return self.new(f"shufflevector {numbers} {vector}, {numbers} {first}, <{lanes} x i32> <{order}>")

    def _print_in_order(self, loop: For, statements: Sequence[Statement], counter: str, count: int) -> None:
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
            return self._vectors.get(operand) or self._lanes.splat("double", self._operand(operand))
        step = self._direction * factors(operand.strides).get(self._loop, 0)
        if step == 0:
            return self._lanes.splat("double", self._operand(operand))
        numbers, zeros = self._kind.numbers, f"{self._kind.numbers} zeroinitializer"
        kind, places, mask = self._places(operand, step)
        if kind == "ptr" and not mask:
            return self._in_turn(self._loaded(places, self._kind), step)
        name = self._declare(
            "load" if kind == "ptr" else "gather", numbers, f"{kind}, i32, {self._kind.bits}, {numbers}"
        )
        found = self.new(f"call {numbers} @{name}({kind} {places}, i32 8, {mask}, {zeros})")
        return self._in_turn(found, step)

    def _store_lanes(self, cell: Cell, vector: str) -> None:
        """Append code that writes a vector to the cells of the lanes."""
        step = self._direction * factors(cell.strides)[self._loop]
        numbers, vector = self._kind.numbers, self._in_turn(vector, step)
        kind, places, mask = self._places(cell, step)
        if kind == "ptr" and not mask:
            self.lines.append(f"  store {numbers} {vector}, ptr {places}, align 8")
            return
        name = self._declare(
            "store" if kind == "ptr" else "scatter", "void", f"{numbers}, {kind}, i32, {self._kind.bits}"
        )
        self.lines.append(f"  call void @{name}({numbers} {vector}, {kind} {places}, i32 8, {mask})")

    def _places(self, cell: Cell, step: int) -> tuple[str, str, str]:
        """Return where the numbers of all lanes are, `step` cells apart: the type of the address, the address, a mask.

        Neighbors have one address; the mask is "" if all lanes are iterations.
        """
        address, lanes = self._address(cell), self._kind.lanes
        if abs(step) == 1:
            first = address if step == 1 else self.new(f"getelementptr double, ptr {address}, i64 {1 - lanes}")
            return "ptr", first, f"{self._kind.bits} {self._masks[step]}" if self._masks else ""
        kind = self._kind.of("ptr")
        places = self.new(f"getelementptr double, ptr {address}, {self._kind.of('i64')} {self._kind.spaced(step)}")
        return kind, places, f"{self._kind.bits} {self._masks[1] if self._masks else 'splat (i1 true)'}"

    def _in_turn(self, vector: str, step: int) -> str:
        """Return the name of a vector of neighbors in the order of the lanes, or the reverse."""
        if step != -1:
            return vector
        numbers, order = self._kind.numbers, self._kind.spaced(-1, self._kind.lanes - 1, "i32")
        return self.new(f"shufflevector {numbers} {vector}, {numbers} poison, <{self._kind.lanes} x i32> {order}")

    def _declare(self, access: str, result: str, operands: str) -> str:
        """Declare a function of LLVM that accesses the memory of some lanes; return its name."""
        lanes = self._kind.lanes
        name = f"llvm.masked.{access}.v{lanes}f64.{'p0' if access in ('load', 'store') else f'v{lanes}p0'}"
        self._declared.append(f"declare {result} @{name}({operands})")
        return name


def _target(statement: Statement) -> str | Cell | None:
    """Return the variable or the cell that a statement changes, or None."""
    if isinstance(statement, Store):
        return statement.cell
    return statement.target if isinstance(statement, Assign) else None
