"""Print a routine as LLVM IR: one function that runs a whole program, including its loops and branches.

Every instruction is printed from the formula of its operation, as in C. The code calls the same functions of the C
library, such as `exp`, as the interpreter, so results are bitwise equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from gradwalk.program.code.code import Code
from gradwalk.program.native.compiler_main import ALL_PASSES
from gradwalk.program.native.expressions import (
    PREFIX,
    Body,
    Text,
    Type,
    calls_functions,
    declaration,
    declared_once,
    printed_functions,
    symbol,
)
from gradwalk.program.native.plan_ir import ACTION, PLAN
from gradwalk.program.native.status import DONE, INTERRUPTED, OUT_OF_MEMORY, TOO_MANY_STEPS
from gradwalk.program.routine.lower_calls import routine
from gradwalk.program.routine.statements import (
    INPUTS,
    Actions,
    Add,
    Assign,
    Cell,
    Choose,
    Compute,
    Count,
    For,
    Grow,
    Lost,
    Operand,
    Product,
    Read,
    Rest,
    Routine,
    Select,
    Statement,
    Store,
    Take,
    While,
    flattened,
    size,
)

_TYPE = Type()
# Arrays of at most this many bytes are on the stack, if all of them together have at most `_MOST_ON_STACK` bytes.
_MOST_IN_ARRAY = 4096
_MOST_ON_STACK = 32_768
# Weights of a branch that LLVM must not replace by a select instruction, which waits for the condition.
PREDICTABLE = '!1 = !{!"branch_weights", i32 2000, i32 1}'
# Number of statements between two checks for signals, approximately.
_UNCHECKED = 1 << 20
_FIRST_ROOM = 64  # number of rows that a growing array has room for at first

PYTHON = "python_"  # prefix of functions of Python that are called by address
_POLL = f"""\
declare i32 @{PYTHON}PyGILState_Ensure()
declare i32 @{PYTHON}PyErr_CheckSignals()
declare void @{PYTHON}PyGILState_Release(i32)
define internal i1 @is_interrupted() noinline {{
  %state = call i32 @{PYTHON}PyGILState_Ensure()
  %error = call i32 @{PYTHON}PyErr_CheckSignals()
  call void @{PYTHON}PyGILState_Release(i32 %state)
  %is_error = icmp ne i32 %error, 0
  ret i1 %is_error
}}"""
_INTEGERS = "\n".join([f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("smin", "smax")])
# Functions of Python that allocate memory for arrays. They need not hold the GIL, and tracemalloc counts the memory.
_MEMORY = f"""\
declare noalias ptr @{PYTHON}PyMem_RawMalloc(i64)
declare noalias ptr @{PYTHON}PyMem_RawRealloc(ptr, i64)
declare void @{PYTHON}PyMem_RawFree(ptr)"""


def ir_source(code: Code) -> str:
    """Print a program as an LLVM module with the function `int run(double *values)`.

    `values` has an entry for each index of the program. The function reads the inputs, writes results that are outputs,
    and may write other results. It returns `DONE` or one of the other statuses.

    Raises `TooLargeError` if the routine of the program has too many statements.
    """
    return RoutinePrinter(routine(code), contract=False).module()


def helpers(text: Sequence[str], poll: str) -> list[str]:
    """Return the definitions of the functions that a routine needs besides mathematical functions.

    `poll` defines a function that looks for signals.
    """
    used = "\n".join(text)
    found = [(poll, "@is_interrupted("), (_MEMORY, f"@{PYTHON}PyMem_RawFree("), (PLAN, "@action(")]
    return [*(definition for definition, name in found if name in used), _INTEGERS]


def _is_over_arrays(statement: Statement) -> bool:
    """Return whether a statement is a loop over cells of arrays that calls no functions."""
    if not isinstance(statement, For):
        return False
    return all(
        isinstance(part, Read | Count | Store)
        or (isinstance(part, Assign) and isinstance(part.target, Cell))
        or (isinstance(part, Compute) and not calls_functions(part.opcode))
        for part in statement.body
    )


def called_by_address(source: str, prefix: str = PREFIX) -> list[str]:
    """Return the names, without the prefix, of the functions that `source`, a result of `ir_source`, declares."""
    return re.findall(rf"^declare .*@{prefix}(\w+)\(", source, re.MULTILINE)


def called_in_python(source: str) -> list[str]:
    """Return the names of the functions of Python's C API that `source`, a result of `ir_source`, declares."""
    return called_by_address(source, PYTHON)


class RoutinePrinter(Body):
    """Prints the function of a routine for one sample."""

    attributes = ""  # of the function `run`
    _most_bytes: int | None = None  # maximum size of a growing array

    def __init__(self, routine: Routine, *, contract: bool) -> None:
        super().__init__(_TYPE, contract=contract, text=Text("first"))
        self._routine = routine
        self._names: dict[str, str] = {}  # variable of the routine -> its name in LLVM IR
        self._counters: dict[str, str] = {}
        self._labels = 0
        self._allocated: list[str] = []
        self._pointers = {INPUTS: "%values", **{name: f"@{name}" for name in routine.constants}}
        self._work = 0  # size of the memory that is allocated for arrays, in bytes

    def _place_arrays(self) -> None:
        """Decide which arrays are on the stack."""
        left = _MOST_ON_STACK
        for name, cells in self._routine.arrays.items():
            kind = self._kind_of(name)
            size = kind.bytes * cells
            self._pointers[name] = f"%{name}"
            if size <= min(_MOST_IN_ARRAY, left):
                left -= size
                self._allocated.append(f"  %{name} = alloca [{max(cells, 1)} x {kind.numbers}], align 64")
            else:
                self._allocated.append(f"  %{name} = getelementptr inbounds i8, ptr %work, i64 {self._work}")
                self._work += (size + 63) // 64 * 64
        for name in self._routine.variables:
            self._allocated.append(f"  %{name} = alloca {self._kind_of(name).numbers}")
        for name in self._routine.growing:
            self._allocated += [f"  %{name} = alloca ptr", f"  store ptr null, ptr %{name}"]
            self._allocated += [f"  %{name}_room = alloca i64", f"  store i64 0, ptr %{name}_room"]

    def _kind_of(self, name: str) -> Type:
        """Return the type of the numbers that a variable or an array holds."""
        return _TYPE

    def globals(self) -> list[str]:
        """Return the lines that define the arrays of constants."""
        return [
            f"@{name} = internal unnamed_addr constant [{len(numbers)} x double] "
            f"[{', '.join([f'double {_TYPE.literal(number)}' for number in numbers])}]"
            for name, numbers in self._routine.constants.items()
        ]

    def module(self) -> str:
        """Return the module with the function `run`."""
        text = self.function()
        functions = printed_functions(self.called, _TYPE, declared, contract=bool(self._flags))
        lines = declared_once([*functions, *self.declarations(), *self.globals(), *text])
        return "\n".join([*self.head(), *helpers(text, _POLL), *lines, PREDICTABLE, ""])

    def head(self) -> list[str]:
        """Return the first lines of the module."""
        return [ALL_PASSES] if any(map(_is_over_arrays, flattened(self._routine.statements))) else []

    def declarations(self) -> list[str]:
        """Return the lines that define or declare what only this kind of printer needs."""
        return []

    def function(self) -> list[str]:
        """Return the lines of the function `run`."""
        begin, end = self._printed()
        return [
            f"define i32 @run(ptr noalias %values){self.attributes} {{",
            *begin,
            "first:",
            *self.lines,
            "  br label %end",
            *end,
        ]

    def _printed(self) -> tuple[list[str], list[str]]:
        """Print all statements; return the lines before the block "first" and the lines from the block "end" on."""
        self._place_arrays()
        self._print(self._routine.statements)
        allocated = [f"  %work = call ptr @{PYTHON}PyMem_RawMalloc(i64 {self._work})"] if self._work else []
        check = ["  %has_work = icmp ne ptr %work, null", "  br i1 %has_work, label %first, label %end_work"]
        free, freed = f"@{PYTHON}PyMem_RawFree", []
        for name in self._routine.growing:
            freed += [f"  %{name}_last = load ptr, ptr %{name}", f"  call void {free}(ptr %{name}_last)"]
        freed += [f"  call void {free}(ptr %work)"] if self._work else []
        return [
            "begin:",
            "  %status = alloca i32",
            f"  store i32 {DONE}, ptr %status",
            *allocated,
            *self._allocated,
            *(check if self._work else ["  br label %first"]),
        ], [
            "end:",
            *freed,
            "  %found = load i32, ptr %status",
            "  ret i32 %found",
            *(["end_work:", f"  ret i32 {OUT_OF_MEMORY}"] if self._work else []),
            "}",
        ]

    # Statements

    def _print(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            getattr(self, _PRINT[type(statement)])(statement)

    def _compute(self, statement: Compute) -> None:
        self._names[statement.result] = self.instruction(
            statement.opcode, [self._operand(operand) for operand in statement.operands]
        )

    def _read(self, statement: Read) -> None:
        self._names[statement.result] = self._operand(statement.operand)

    def _count(self, statement: Count) -> None:
        number = self._sum(statement.first, statement.factors)
        self._names[statement.result] = self.new(f"sitofp i64 {number} to double")

    def _take(self, statement: Take) -> None:
        kind = self._kind_of(statement.result)
        numbers, bits, whole_numbers = kind.numbers, kind.bits, kind.of("i64")
        index, count = self._as(kind, statement.subscript), kind.literal(float(statement.length))
        is_negative = self.new(f"fcmp olt {numbers} {index}, {kind.literal(0.0)}")
        from_end = self.new(f"fadd {numbers} {index}, {count}")
        position = self.new(f"select {bits} {is_negative}, {numbers} {from_end}, {numbers} {index}")
        is_one = self.new(f"fcmp oge {numbers} {position}, {kind.literal(0.0)}")
        is_inside = self.new(f"and {bits} {is_one}, {self.new(f'fcmp olt {numbers} {position}, {count}')}")
        safe = self.new(f"select {bits} {is_inside}, {numbers} {position}, {numbers} {kind.literal(0.0)}")
        whole = self.new(f"fptosi {numbers} {safe} to {whole_numbers}")
        again = self.new(f"sitofp {whole_numbers} {whole} to {numbers}")
        is_whole = self.new(f"fcmp oeq {numbers} {again}, {position}")
        picked = self._entry(statement, whole)
        is_there = self.new(f"and {bits} {is_inside}, {is_whole}")
        nan = kind.literal(float("nan"))
        self._names[statement.result] = self.new(f"select {bits} {is_there}, {numbers} {picked}, {numbers} {nan}")

    def _entry(self, statement: Take, number: str) -> str:
        """Append code that loads an entry of a table, given its number; return its name."""
        first = self._address(statement.table)
        distance = self.new(f"mul i64 {number}, {statement.stride}")
        return self.new(f"load double, ptr {self.new(f'getelementptr double, ptr {first}, i64 {distance}')}")

    def _assign(self, statement: Assign) -> None:
        operand, target = self._operand(statement.operand), statement.target
        address = self._address(target) if isinstance(target, Cell) else f"%{target}"
        self.lines.append(f"  store double {operand}, ptr {address}")

    def _store(self, statement: Store) -> None:
        operand = self._operand(statement.operand)
        self.lines.append(f"  store double {operand}, ptr {self._address(statement.cell)}")

    def _select(self, statement: Select) -> None:
        condition = self.new(f"fcmp une double {self._operand(statement.condition)}, 0.0")
        operands = [(self._operand(x), self._operand(y)) for _, x, y in statement.choices]
        chosen, otherwise, after = self._label("chosen"), self._label("otherwise"), self._label("selected")
        self.lines.append(f"  br i1 {condition}, label %{chosen}, label %{otherwise}, !prof !1")
        for label in (chosen, otherwise):
            self.begin(label)
            self.lines.append(f"  br label %{after}")
        self.begin(after)
        for (result, _, _), (x, y) in zip(statement.choices, operands, strict=True):
            self._names[result] = self.new(f"phi double [ {x}, %{chosen} ], [ {y}, %{otherwise} ]")

    def _grow(self, statement: Grow) -> None:
        name, full, ready = f"%{statement.array}", self._label("full"), self._label("ready")
        room = self.new(f"load i64, ptr {name}_room")
        row = self._counters[statement.row] if isinstance(statement.row, str) else str(statement.row)
        has_room = self.new(f"icmp slt i64 {row}, {room}")
        self._branch(has_room, ready, full)
        self.begin(full)
        is_first = self.new(f"icmp eq i64 {room}, 0")
        doubled = self.new(f"select i1 {is_first}, i64 {_FIRST_ROOM}, i64 {self.new(f'mul i64 {room}, 2')}")
        needed = self.new(f"add i64 {row}, 1")
        more = self.new(f"call i64 @llvm.smax.i64(i64 {doubled}, i64 {needed})")
        bytes_ = self.new(f"mul i64 {more}, {self._kind_of(statement.array).bytes * max(statement.width, 1)}")
        if self._most_bytes is not None:
            is_small = self.new(f"icmp sle i64 {bytes_}, {self._most_bytes}")
            self._fail_unless(is_small, self._label("small"), OUT_OF_MEMORY)
        old = self.new(f"load ptr, ptr {name}")
        new = self.new(f"call ptr @{PYTHON}PyMem_RawRealloc(ptr {old}, i64 {bytes_})")
        grown = self._label("grown")
        self._fail_unless(self.new(f"icmp ne ptr {new}, null"), grown, OUT_OF_MEMORY)
        self.lines += [f"  store ptr {new}, ptr {name}", f"  store i64 {more}, ptr {name}_room"]
        self._jump(ready)

    def _for(self, statement: For) -> None:
        if statement.times == 0:
            return
        times = self._times(statement.times)
        before, label, after = self._label("before"), self._label("loop"), self._label("after")
        self._jump(before)
        self._branch(self.new(f"icmp sgt i64 {times}, 0"), label, after)
        self.begin(label)
        step = self._phi(label, before)
        last = self.new(f"sub i64 {times}, 1") if statement.is_reversed else ""
        self._counters[statement.counter] = self.new(f"sub i64 {last}, {step}") if last else step
        self._poll(step, work_of(statement.body), _most(statement.times))
        self._print_iteration(statement)
        self._latch(label, step)
        self._branch(self.new(f"icmp slt i64 %{label}_next, {times}"), label, after)
        self.begin(after)

    def _print_iteration(self, statement: For) -> None:
        self._print(statement.body)

    def _product(self, statement: Product) -> None:
        one, other = [self._counters[factor] for factor in statement.factors]
        self._counters[statement.result] = self.new(f"mul i64 {one}, {other}")

    def _actions(self, statement: Actions) -> None:
        """Print a loop over the actions: `CheckpointPlan.next` with `slots` rows, and the body."""
        steps = self._times(statement.steps)
        slots = self._slots(statement.policy, steps)
        first = self.new(f"sub i64 {steps}, 1")
        last, top, work = self._new_counter(first), self._new_counter("1"), self._new_counter("0")
        loop, pop, late, found = [self._label(name) for name in ("action", "kept", "late", "found")]
        after, go = self._label("after"), self._label("go")
        self._jump(loop)
        before = self.new(f"load i64, ptr {last}")
        self._branch(self.new(f"icmp slt i64 {before}, 0"), after, pop)
        self.begin(pop)
        row = self.new(f"load i64, ptr {top}")
        start = self._loaded(self._address(Cell(statement.starts, 0, ((self._named(row), 1),))), _TYPE)
        begin = self.new(f"fptosi double {start} to i64")
        self._branch(self.new(f"icmp sgt i64 {begin}, {before}"), late, found)
        self.begin(late)
        self.lines.append(f"  store i64 {self.new(f'sub i64 {row}, 1')}, ptr {top}")
        self.lines.append(f"  br label %{pop}")
        self.begin(found)
        action = self.new(f"call {ACTION} @action(i64 {before}, i64 {begin}, i64 {row}, i64 {slots})")
        count, keeps, base, end_row, backs, back_begin, next_last, next_top = [
            self.new(f"extractvalue {ACTION} {action}, {i}") for i in range(8)
        ]
        self.lines += [f"  store i64 {next_last}, ptr {last}", f"  store i64 {next_top}, ptr {top}"]
        more = self.new(f"mul i64 {self.new(f'add i64 {count}, {backs}')}, {work_of(statement.body)}")
        unchecked = self.new(f"add i64 {more}, {self.new(f'load i64, ptr {work}')}")
        self.lines.append(f"  store i64 {unchecked}, ptr {work}")
        due = self._label("due")
        self._branch(self.new(f"icmp slt i64 {unchecked}, {_UNCHECKED}"), go, due)
        self.begin(due)
        self.lines.append(f"  store i64 0, ptr {work}")
        self._check_signals(go)
        numbers = row, begin, count, keeps, base, end_row, backs, back_begin
        self._counters.update(zip(statement.counters, numbers, strict=True))
        self._print(statement.body)
        self.lines.append(f"  br label %{loop}")
        self.begin(after)

    def _slots(self, policy: str | int, steps: str) -> str:
        """Return the number of rows that a plan keeps: `checkpoint_plan.slots_for`."""
        if policy == "sqrt":
            number = self.new(f"sitofp i64 {self.new(f'shl i64 {steps}, 1')} to double")
            self.called["sqrt"] = 1
            root = self.new(f"fptosi double {self.new(f'call double @llvm.sqrt.f64(double {number})')} to i64")
            slots = self.new(f"add i64 {root}, 1")
        elif policy == "binomial":
            slots = self.new(f"call i64 @binomial_slots(i64 {steps})")
        else:
            slots = str(policy)
        slots = self.new(f"call i64 @llvm.smin.i64(i64 {slots}, i64 {steps})")
        return self.new(f"call i64 @llvm.smax.i64(i64 {slots}, i64 1)")

    def _new_counter(self, number: str) -> str:
        """Return the address of a new integer variable."""
        variable = f"%{self._label('counter')}"
        self._allocated.append(f"  {variable} = alloca i64")
        self.lines.append(f"  store i64 {number}, ptr {variable}")
        return variable

    def _named(self, number: str) -> str:
        """Return the name of a counter with this number."""
        self._counters[number] = number
        return number

    def _while(self, statement: While) -> None:
        before, label, after = self._label("before"), self._label("loop"), self._label("after")
        self._jump(before)
        self.lines.append(f"  br label %{label}")
        self.begin(label)
        step = self._counters[statement.counter] = self._phi(label, before)
        self._print(statement.test)
        condition = self.new(f"fcmp une double {self._operand(statement.condition)}, 0.0")
        self._branch(condition, f"{label}_body", after)
        self.begin(f"{label}_body")
        if statement.most is not None:
            is_left = self.new(f"icmp ne i64 {step}, {statement.most}")
            self._fail_unless(is_left, self._label("left"), TOO_MANY_STEPS)
        self._poll(step, work_of([*statement.test, *statement.body]), math.inf)
        self._print(statement.body)
        self._latch(label, step)
        self.lines.append(f"  br label %{label}")
        self.begin(after)

    def _lost(self, statement: Lost) -> None:
        """Print nothing: the function fails if a loop takes too many steps."""

    def _choose(self, statement: Choose) -> None:
        index, after = self._operand(statement.selector), self._label("joined")
        last = len(statement.branches) - 1
        for i, branch in enumerate(statement.branches):
            label, other = self._label("branch"), self._label("other")
            test = f"fcmp olt double {index}, {_TYPE.literal(i + 1.0)}" if i < last else f"fcmp ord double {index}, 0.0"
            self._branch(self.new(test), label, other)
            self.begin(label)
            self._print(branch)
            self.lines.append(f"  br label %{after}")
            self.begin(other)
        self._print(statement.otherwise)
        self._jump(after)

    # Parts of statements

    def _operand(self, operand: Operand) -> str:
        if isinstance(operand, Cell):
            return self._loaded(self._address(operand), self._kind_of(operand.array))
        if isinstance(operand, float):
            return _TYPE.literal(operand)
        return self._names.get(operand) or self._loaded(f"%{operand}", self._kind_of(operand))

    def _as(self, kind: Type, operand: Operand) -> str:
        """Return the name of an operand as a number of a type."""
        return self._operand(operand)

    def _loaded(self, address: str, kind: Type, flags: str = "") -> str:
        return self.new(f"load {kind.numbers}, ptr {address}, align {kind.bytes // kind.lanes}{flags}")

    def _address(self, cell: Cell) -> str:
        index = self._sum(cell.start, cell.strides)
        pointer = self._pointers.get(cell.array) or self.new(f"load ptr, ptr %{cell.array}")
        return self.new(f"getelementptr inbounds {self._kind_of(cell.array).numbers}, ptr {pointer}, i64 {index}")

    def _sum(self, start: int, factors: Sequence[tuple[str, int]]) -> str:
        """Append code that computes `start` plus the sum of counters, each times a factor; return its name."""
        total = str(start)
        for counter, factor in factors:
            if factor:
                product = self.new(f"mul nsw i64 {self._counters[counter]}, {factor}") if factor != 1 else ""
                total = self.new(f"add nsw i64 {product or self._counters[counter]}, {total}")
        return total

    def _times(self, times: int | str | Rest) -> str:
        if isinstance(times, Rest):
            done = self.new(f"mul nsw i64 {self._counters[times.segment]}, {times.length}")
            left = self.new(f"sub nsw i64 {times.total}, {done}")
            is_whole = self.new(f"icmp sgt i64 {left}, {times.length}")
            return self.new(f"select i1 {is_whole}, i64 {times.length}, i64 {left}")
        return self._counters[times] if isinstance(times, str) else str(times)

    def _label(self, name: str) -> str:
        self._labels += 1
        return f"{name}{self._labels}"

    def _jump(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")
        self.begin(label)

    def _branch(self, condition: str, label: str, other: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{label}, label %{other}")

    def _phi(self, label: str, before: str) -> str:
        return self.new(f"phi i64 [ 0, %{before} ], [ %{label}_next, %{label}_end ]")

    def _latch(self, label: str, step: str) -> None:
        self._jump(f"{label}_end")
        self.lines.append(f"  %{label}_next = add nuw nsw i64 {step}, 1")

    def _fail_unless(self, condition: str, label: str, status: int) -> None:
        """Go on at a new block if a condition holds; otherwise let `run` return a status."""
        fail = self._label("fail")
        self._branch(condition, label, fail)
        self.begin(fail)
        self.lines += [f"  store i32 {status}, ptr %status", "  br label %end"]
        self.begin(label)

    def _poll(self, step: str, work: int, times: float) -> None:
        """Check for signals in a long loop, in each iteration whose number is a multiple of a power of 2."""
        if work * times < _UNCHECKED:
            return
        period = 1 << max(0, (_UNCHECKED // work).bit_length() - 1)
        ready, due = self._label("ready"), self._label("due")
        left = self.new(f"and i64 {step}, {period - 1}")
        self._branch(self.new(f"icmp ne i64 {left}, {period - 1}"), ready, due)
        self.begin(due)
        self._check_signals(ready)

    def _check_signals(self, ready: str) -> None:
        """Let signal handlers run; continue at a new block `ready` unless one of them raises an exception."""
        is_interrupted = self.new("call i1 @is_interrupted()")
        self._fail_unless(self.new(f"xor i1 {is_interrupted}, true"), self._label("not_interrupted"), INTERRUPTED)
        self._jump(ready)


# The method of `RoutinePrinter` that prints a statement.
_PRINT = {
    Compute: "_compute",
    Read: "_read",
    Count: "_count",
    Take: "_take",
    Assign: "_assign",
    Store: "_store",
    Add: "_add",
    Select: "_select",
    Grow: "_grow",
    For: "_for",
    Product: "_product",
    Actions: "_actions",
    While: "_while",
    Lost: "_lost",
    Choose: "_choose",
}


def work_of(statements: Sequence[Statement]) -> int:
    """Return the number of statements that run. A `While` counts as one iteration, because it polls by itself."""
    total = 1
    for statement in statements:
        if isinstance(statement, For):
            most = _most(statement.times)
            total += work_of(statement.body) * (int(most) if most < math.inf else 1)
        elif isinstance(statement, Actions | While | Choose):
            total += size([statement])
        else:
            total += 1
    return total


def _most(times: int | str | Rest) -> float:
    """Return the largest number of iterations, or infinity if it is unknown."""
    return math.inf if isinstance(times, str) else times.length if isinstance(times, Rest) else times


def declared(function: str, arity: int) -> list[str]:
    """Return the declaration of a function of the C library."""
    return [declaration(symbol(function, _TYPE), _TYPE, arity)]
