"""Print a routine for lanes as a C function that runs 16 samples side by side.

A mask says for which lanes the current statements run: it has a number per lane, which is 0 if they do not run. A loop
continues until its condition is false for all lanes; a lane whose condition is false keeps its numbers. A branch of a
switch is skipped if no lane selects it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gradwalk.exporting.lanes.lane_functions import Formulas, formula_of, function_lines, planned
from gradwalk.exporting.lanes.lane_writer import LANES, LaneWriter
from gradwalk.program.code.opcodes import INSTRUCTIONS
from gradwalk.program.routine.statements import (
    INPUTS,
    RESULTS,
    UNIFORM,
    Actions,
    Assign,
    Cell,
    Choose,
    Compute,
    Count,
    For,
    Grow,
    Lost,
    Operand,
    Read,
    Rest,
    Routine,
    Select,
    Statement,
    Store,
    Take,
    While,
    flattened,
    operands_in,
)

_ARRAYS = {INPUTS: "rows", RESULTS: "results", UNIFORM: "scalars"}


class LaneText(NamedTuple):
    """The C code of a routine.

    Attributes:
        lines: The definitions of the functions for all lanes, and of `SET(lanes)`.
        bytes: The size of the arrays on the stack.
        functions: The functions of <math.h> that it calls for all lanes, each with its number of operands.
    """

    lines: list[str]
    bytes: int
    functions: dict[str, int]


def array_sizes(routine: Routine) -> dict[str, int] | None:
    """Return the number of doubles in each array, or None if the memory of the routine has no bound.

    A routine without a bound has checkpoint plans, or stores the carries of loops without a maximum number of steps.
    """
    cells = dict(routine.arrays)
    for statement in flattened(routine.statements):
        if isinstance(statement, Actions):
            return None
        if isinstance(statement, While):
            grown = [x for x in statement.body if isinstance(x, Grow)]
            if grown and statement.most is None:
                return None
            cells |= {x.array: x.width * max(1, statement.most or 1) for x in grown}
    varying, live = routine.varying, _live(routine)
    sizes = {name: count * (LANES if name in varying else 1) for name, count in cells.items() if name in live}
    return sizes | {name: LANES for name in routine.variables if name in varying and name in live}


def lane_text(routine: Routine, sizes: dict[str, int]) -> LaneText:
    """Print a routine with these `array_sizes`."""
    printer: _Printer

    def write(writer: LaneWriter) -> Formulas:
        nonlocal printer
        printer = _Printer(writer, routine)
        return printer.print()

    writer, formulas = planned(write)
    functions, of_library = function_lines(formulas.called)
    varying = routine.varying
    sizes = sizes | dict.fromkeys(printer.masks, LANES)
    if writer.slots:
        sizes["slots"] = LANES * writer.slots
    text = "\n".join(writer.lines)
    scalars = [f"    double {name};" for name in routine.variables if name not in varying and name in printer.live]
    constants = [
        f"    static const double {name}[] = {{{', '.join(map(literal, numbers))}}};"
        for name, numbers in routine.constants.items()
        if name in printer.live
    ]
    arrays = [f"    double {name}[{size}];" for name, size in sizes.items()]
    unused = [
        f"    (void){name};" for name in ("scalars", "rows", "results") if not re.search(rf"\b{name}(\[| \+)", text)
    ]
    lines = [
        *functions,
        "static void SET(lanes)(const double *scalars, const double *const *rows, double *results)",
        "{",
        *constants,
        *scalars,
        *(f"    long {counter} = 0;" for counter in printer.counters),
        *arrays,
        *(["    int l;"] if "EACH" in text else []),
        *unused,
        *writer.lines,
        "}",
    ]
    return LaneText(lines, 8 * sum(sizes.values()), of_library)


def literal(number: float) -> str:
    """Return a C expression of a number."""
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "(-INFINITY)"
    return repr(number) if math.copysign(1.0, number) > 0 else f"({number!r})"


def _live(routine: Routine) -> set[str]:
    """Return the names of the constants, results, variables and arrays that the routine's results depend on."""
    live = {RESULTS}
    statements = [*flattened(routine.statements)]
    count = 0
    while count < len(live):
        count = len(live)
        for statement in statements:
            written = _written(statement)
            if not written or not live.isdisjoint(written):
                live.update(_read(statement))
    return live


def _written(statement: Statement) -> list[str]:
    """Return the names of the results, variables and arrays that a statement itself writes."""
    if isinstance(statement, Compute | Read | Count | Take):
        return [statement.result]
    if isinstance(statement, Select):
        return [result for result, _, _ in statement.choices]
    if isinstance(statement, Assign | Store):
        target = statement.target if isinstance(statement, Assign) else statement.cell
        return [target.array if isinstance(target, Cell) else target]
    return []


def _read(statement: Statement) -> Iterator[str]:
    """Yield the names of the results, variables and arrays that a statement itself reads."""
    if isinstance(statement, While):
        operands: Sequence[Operand] = [statement.condition]
    elif isinstance(statement, Choose):
        operands = [statement.selector]
    elif isinstance(statement, For | Lost):
        operands = []
    else:
        operands = [*operands_in([statement]), *([statement.table] if isinstance(statement, Take) else [])]
    for operand in operands:
        if not isinstance(operand, float):
            yield operand.array if isinstance(operand, Cell) else operand


class _Printer:
    """Writes the statements of a routine.

    Attributes:
        masks: The names of the arrays with masks, and with the numbers of iterations of each lane.
        counters: The names of the counters of loops with a condition.
        live: The names that `_live` finds. Statements that write to other names are left out.
    """

    def __init__(self, writer: LaneWriter, routine: Routine) -> None:
        self.masks: list[str] = []
        self.counters: list[str] = []
        self.live = _live(routine)
        self._writer, self._routine, self._varying = writer, routine, routine.varying
        self._formulas = Formulas(writer)
        self._variables = frozenset(routine.variables)
        self._variable_of = _Reads(routine).variables()
        self._mask = ""  # a result or an array; "" if the current statements run for all lanes
        self._defined_masks = 0
        steps = (x.step_of for x in flattened(routine.statements) if isinstance(x, For))
        self._counted = {step[0] for step in steps if step is not None}  # loops whose iterations run again
        self._length_of: dict[str, str] = {}  # counter of a `While` -> array: the number of iterations of each lane
        self._lost_in: dict[str, str] = {}  # counter of a `While` -> array: the lanes that take too many steps

    def print(self) -> Formulas:
        """Write all statements."""
        self._print(self._routine.statements)
        self._writer.flush()
        return self._formulas

    def _print(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            written = _written(statement)
            if not written or not self.live.isdisjoint(written):
                _PRINTERS[type(statement)](self, statement)

    def _compute(self, statement: Compute) -> None:
        if statement.result not in self._varying:
            given = [self._text(operand) for operand in statement.operands]
            self._writer.line(f"const double {statement.result} = {INSTRUCTIONS[statement.opcode].c.format(*given)};")
            return
        operands = {x: self._text(operand) for x, operand in zip("xyz", statement.operands, strict=False)}
        results = {str(operand) for operand in statement.operands if self._is_result(operand)}
        self._formulas.define(statement.result, formula_of(statement.opcode), operands, results)

    def _read(self, statement: Read) -> None:
        if statement.result not in self._varying:
            self._writer.line(f"const double {statement.result} = {self._text(statement.operand)};")
        elif statement.result not in self._variable_of:
            self._writer.define(statement.result, *self._operand(statement.operand))

    def _count(self, statement: Count) -> None:
        self._writer.line(f"const double {statement.result} = (double)({_index(statement.first, statement.factors)});")

    def _take(self, statement: Take) -> None:
        table, stride = statement.table, statement.stride
        at = _index(table.start, table.strides)
        end = f"{statement.length}, "
        if statement.result not in self._varying:
            base = f"{_ARRAYS.get(table.array, table.array)} + {at}"
            text = f"take({base}, {stride}, {end}{self._text(statement.subscript)})"
            self._writer.line(f"const double {statement.result} = {text};")
            return
        subscript, names = self._operand(statement.subscript)
        if table.array == INPUTS:
            text = f"SET(take_in_rows)(rows + {at}, {stride}, {end}{subscript}, l)"
        elif table.array in self._varying:
            text = f"take({table.array} + LANES * ({at}) + l, LANES * {stride}, {end}{subscript})"
        else:
            text = f"take({_ARRAYS.get(table.array, table.array)} + {at}, {stride}, {end}{subscript})"
        self._writer.define(statement.result, text, names)

    def _assign(self, statement: Assign) -> None:
        if not self._varies(statement.target):
            self._write(statement.target, self._text(statement.operand))
            return
        text, names = self._operand(statement.operand)
        place = self._text(statement.target)
        if self._mask:
            text = f"{self._lanes(names)} != 0.0 ? {text} : {place}"
        self._writer.effect(f"{place} = {text};", names)

    def _store(self, statement: Store) -> None:
        if not self._varies(statement.cell):
            self._write(statement.cell, self._text(statement.operand))
            return
        text, names = self._operand(statement.operand)
        self._writer.effect(f"{self._text(statement.cell)} = {text};", names)

    def _write(self, target: str | Cell, text: str) -> None:
        """Write a number that is the same for all lanes."""
        self._writer.flush()
        self._writer.line(f"{self._text(target)} = {text};")

    def _select(self, statement: Select) -> None:
        condition = self._text(statement.condition)
        for result, chosen, otherwise in statement.choices:
            text = f"{condition} != 0.0 ? {self._text(chosen)} : {self._text(otherwise)}"
            self._writer.line(f"const double {result} = {text};")

    def _grow(self, statement: Grow) -> None:
        """Write nothing: `array_sizes` has room for all rows."""

    # Loops and switches

    def _for(self, statement: For) -> None:
        counter, times = statement.counter, statement.times
        if isinstance(times, Rest):
            left = f"{times.total} - {times.length} * {times.segment}"
            times = f"({left} < {times.length} ? {left} : {times.length})"
        head = f"for ({counter} = 0; {counter} < {times}; ++{counter})"
        if statement.is_reversed:
            head = f"for ({counter} = {times}; {counter}-- > 0;)"
        self._writer.flush()
        self._writer.line(f"long {counter};")
        self._writer.open(head)
        of_loop, at = statement.step_of or ("", ())
        outer = self._mask
        if of_loop in self._length_of:
            self._mask = self._defined(f"{self._length_of[of_loop]}[l] > (double)({_index(0, at)})", [])
        self._print(statement.body)
        self._mask = outer
        self._writer.close()

    def _while(self, statement: While) -> None:
        counter, most, writer = statement.counter, statement.most, self._writer
        self.counters.append(counter)
        if not self._varies(statement.condition):
            self._same_while(statement)
            return
        outer, going = self._mask, self._array(f"going_{counter}")
        names: list[str] = []
        writer.effect(f"{going}[l] = {self._lanes(names) if outer else '1.0'};", names)
        if most is not None:
            self._lost_in[counter] = self._array(f"lost_{counter}")
            writer.effect(f"{self._lost_in[counter]}[l] = 0.0;", [])
        if counter in self._counted:
            self._length_of[counter] = self._array(f"length_{counter}")
            writer.effect(f"{self._length_of[counter]}[l] = 0.0;", [])
        self._mask = going
        writer.open(f"for ({counter} = 0;; ++{counter})")
        self._print(statement.test)
        condition, names = self._operand(statement.condition)
        writer.effect(f"{going}[l] = (({going}[l] != 0.0) & ({condition} != 0.0)) ? 1.0 : 0.0;", names)
        writer.flush()
        writer.line(f"if (!SET(any)({going})) break;")
        if most is not None:
            writer.open(f"if ({counter} == {most})")
            writer.line(f"memcpy({self._lost_in[counter]}, {going}, sizeof {going});")
            writer.line("break;")
            writer.close()
        if counter in self._counted:
            length = self._length_of[counter]
            writer.effect(f"{length}[l] = {going}[l] != 0.0 ? (double)({counter} + 1) : {length}[l];", [])
        self._print(statement.body)
        writer.close()
        self._mask = outer

    def _same_while(self, statement: While) -> None:
        """Write a loop whose condition is the same for all lanes. Its counter is -1 if it takes too many steps."""
        counter, writer = statement.counter, self._writer
        writer.open(f"for ({counter} = 0;; ++{counter})")
        self._print(statement.test)
        writer.flush()
        writer.line(f"if ({self._text(statement.condition)} == 0.0) break;")
        if statement.most is not None:
            writer.open(f"if ({counter} == {statement.most})")
            writer.line(f"{counter} = -1;")
            writer.line("break;")
            writer.close()
        self._print(statement.body)
        writer.close()

    def _lost(self, statement: Lost) -> None:
        lost = self._lost_in.get(statement.counter)
        if lost is not None:
            self._print_for(lost, statement.body)
        else:
            self._writer.open(f"if ({statement.counter} < 0)")
            self._print(statement.body)
            self._writer.close()

    def _choose(self, statement: Choose) -> None:
        last = len(statement.branches) - 1
        index, names = self._operand(statement.selector)
        tests = [f"{index} < {literal(i + 1.0)}" if i < last else f"{index} == {index}" for i in range(last + 1)]
        if not self._varies(statement.selector):
            for i, (test, branch) in enumerate(zip(tests, statement.branches, strict=True)):
                self._writer.open(f"else if ({test})" if i else f"if ({test})")
                self._print(branch)
                self._writer.close()
            self._writer.open("else")
            self._print(statement.otherwise)
            self._writer.close()
            return
        outer, left = self._mask, self._mask
        for test, branch in zip(tests, statement.branches, strict=True):
            self._mask = left
            own = self._defined(test, names)
            left = self._defined(f"!({test})", names)
            self._print_for(own, branch)
        self._mask = outer
        self._print_for(self._defined(f"{index} != {index}", names), statement.otherwise)

    def _print_for(self, mask: str, statements: Sequence[Statement]) -> None:
        """Write statements for the lanes of a mask. They are skipped if there are none."""
        outer, self._mask = self._mask, mask
        if mask in self.masks:
            self._writer.open(f"if (SET(any)({mask}))")
        else:
            self._writer.open("if (SET(any)({0}))", [mask])
        self._print(statements)
        self._writer.close()
        self._mask = outer

    def _defined(self, test: str, names: Sequence[str]) -> str:
        """Define the mask of the current lanes for which a test holds; return its name."""
        self._defined_masks += 1
        mask, names = f"mask{self._defined_masks}", [*names]
        both = f"({self._lanes(names)} != 0.0) & ({test})" if self._mask else test
        self._writer.define(mask, f"({both}) ? 1.0 : 0.0", names)
        return mask

    def _lanes(self, names: list[str]) -> str:
        """Return the text of the current mask. If it is a result, append it to `names`, the operands of a text."""
        if self._mask in self.masks:
            return f"{self._mask}[l]"
        if self._mask not in names:
            names.append(self._mask)
        return f"{{{names.index(self._mask)}}}"

    def _array(self, name: str) -> str:
        self.masks.append(name)
        return name

    # Parts of statements

    def _varies(self, operand: Operand) -> bool:
        return (operand.array if isinstance(operand, Cell) else operand) in self._varying

    def _is_result(self, operand: Operand) -> bool:
        """Return whether an operand is a result that differs between samples and is assigned once."""
        is_name = isinstance(operand, str) and operand in self._varying
        return is_name and operand not in self._variables and operand not in self._variable_of

    def _operand(self, operand: Operand) -> tuple[str, list[str]]:
        """Return the text of an operand with a placeholder for a result, and the result."""
        if self._is_result(operand):
            return "{0}", [str(operand)]
        return self._text(operand), []

    def _text(self, operand: Operand) -> str:
        """Return an operand as C text. In loops over lanes, the number of the lane is l."""
        if isinstance(operand, float):
            return literal(operand)
        if isinstance(operand, str):
            operand = self._variable_of.get(operand, operand)
            return f"{operand}[l]" if operand in self._variables and operand in self._varying else operand
        at = _index(operand.start, operand.strides)
        if operand.array == INPUTS:
            return f"rows[{at}][l]"
        array = _ARRAYS.get(operand.array, operand.array)
        if operand.array not in self._varying:
            return f"{array}[{at}]"
        at = str(LANES * operand.start) if not operand.strides else f"LANES * ({at})"
        return f"{array}[{at} + l]"


class _Reads:
    """Finds results that are copies of a variable and need no copy: the variable keeps the number until their use."""

    def __init__(self, routine: Routine) -> None:
        self._kept = {name for name in routine.variables if name in routine.varying}
        self._time = 0
        self._reads: dict[str, tuple[str, int, int]] = {}  # result -> variable, time, number of loops around it
        self._last: dict[str, int] = {}  # result -> time of the last use
        self._assigned: dict[str, list[int]] = {name: [] for name in self._kept}  # variable -> times
        self._used: list[list[str]] = []  # for each open loop, the results that it uses
        self._visit(routine.statements)

    def variables(self) -> dict[str, str]:
        """Return the variable for each of these results."""
        return {
            result: variable
            for result, (variable, time, _) in self._reads.items()
            if not any(time < at < self._last.get(result, time) for at in self._assigned[variable])
        }

    def _visit(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self._time += 1
            if isinstance(statement, For | While):
                self._visit_loop(statement)
            elif isinstance(statement, Lost):
                self._visit(statement.body)
            elif isinstance(statement, Choose):
                self._use(statement.selector)
                for branch in (*statement.branches, statement.otherwise):
                    self._visit(branch)
            else:
                self._visit_simple(statement)

    def _visit_loop(self, statement: For | While) -> None:
        self._used.append([])
        if isinstance(statement, While):
            self._visit(statement.test)
            self._use(statement.condition)
        self._visit(statement.body)
        for result in self._used.pop():
            if self._reads[result][2] <= len(self._used):
                self._last[result] = self._time + 1

    def _use(self, operand: Operand) -> None:
        if operand in self._reads:
            self._last[str(operand)] = self._time
            for used in self._used:
                used.append(str(operand))

    def _visit_simple(self, statement: Statement) -> None:
        for operand in operands_in([statement]):
            self._use(operand)
        if isinstance(statement, Read) and statement.operand in self._kept:
            self._reads[statement.result] = str(statement.operand), self._time, len(self._used)
        if isinstance(statement, Assign) and statement.target in self._kept:
            self._assigned[str(statement.target)].append(self._time)


def _index(start: int, strides: Sequence[tuple[str, int]]) -> str:
    """Return an index, a sum of counters times factors."""
    terms = [str(start), *(f"{factor} * {counter}" for counter, factor in strides)]
    return " + ".join(terms).replace("+ -", "- ").replace(" 1 * ", " ")


_PRINTERS: dict[type[Any], Any] = {
    Compute: _Printer._compute,
    Read: _Printer._read,
    Count: _Printer._count,
    Take: _Printer._take,
    Assign: _Printer._assign,
    Store: _Printer._store,
    Select: _Printer._select,
    Grow: _Printer._grow,
    For: _Printer._for,
    While: _Printer._while,
    Lost: _Printer._lost,
    Choose: _Printer._choose,
}
