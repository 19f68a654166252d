"""Print a routine for lanes as a C function that runs 16 samples side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradwalk.exporting.lanes.lane_functions import Formulas, formula_of, function_lines, planned
from gradwalk.exporting.lanes.lane_writer import LANES, LaneWriter
from gradwalk.program.code.opcodes import INSTRUCTIONS
from gradwalk.program.routine.statements import (
    INPUTS,
    RESULTS,
    UNIFORM,
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
    Take,
    flattened,
    operands_in,
)

_KNOWN = (Compute, Read, Count, Take, Assign, Store, For)
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


def can_print(routine: Routine) -> bool:
    """Return whether all lanes run the same statements: the routine has no conditions and no growing arrays."""
    statements = [*flattened(routine.statements)]
    return all(
        isinstance(x, _KNOWN) and not (isinstance(x, For) and (not isinstance(x.times, int) or x.step_of))
        for x in statements
    )


def lane_text(routine: Routine) -> LaneText:
    """Print a routine that `can_print` accepts."""
    writer, formulas = planned(lambda writer: _Printer(writer, routine).print())
    functions, of_library = function_lines(formulas.called)
    varying = routine.varying
    sizes = {name: cells * (LANES if name in varying else 1) for name, cells in routine.arrays.items()}
    sizes |= {name: LANES for name in routine.variables if name in varying}
    if writer.slots:
        sizes["slots"] = LANES * writer.slots
    text = "\n".join(writer.lines)
    scalars = [f"    double {name};" for name in routine.variables if name not in varying]
    constants = [
        f"    static const double {name}[] = {{{', '.join(map(literal, numbers))}}};"
        for name, numbers in routine.constants.items()
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


class _Printer:
    """Writes the statements of a routine."""

    def __init__(self, writer: LaneWriter, routine: Routine) -> None:
        self._writer, self._routine, self._varying = writer, routine, routine.varying
        self._formulas = Formulas(writer)
        self._variables = frozenset(routine.variables)
        self._variable_of = _Reads(routine).variables()

    def print(self) -> Formulas:
        """Write all statements."""
        self._print(self._routine.statements)
        self._writer.flush()
        return self._formulas

    def _print(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
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

    def _write(self, statement: Assign | Store) -> None:
        target = statement.target if isinstance(statement, Assign) else statement.cell
        text, names = self._operand(statement.operand)
        if (target.array if isinstance(target, Cell) else target) in self._varying:
            self._writer.effect(f"{self._text(target)} = {text};", names)
        else:
            self._writer.flush()
            self._writer.line(f"{self._text(target)} = {text};")

    def _for(self, statement: For) -> None:
        counter, times = statement.counter, statement.times
        head = f"for ({counter} = 0; {counter} < {times}; ++{counter})"
        if statement.is_reversed:
            head = f"for ({counter} = {times}; {counter}-- > 0;)"
        self._writer.flush()
        self._writer.line(f"long {counter};")
        self._writer.open(head)
        self._print(statement.body)
        self._writer.close()

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
            if isinstance(statement, For):
                self._used.append([])
                self._visit(statement.body)
                for result in self._used.pop():
                    if self._reads[result][2] <= len(self._used):
                        self._last[result] = self._time + 1
                continue
            for operand in operands_in([statement]):
                if operand in self._reads:
                    self._last[str(operand)] = self._time
                    for used in self._used:
                        used.append(str(operand))
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
    Assign: _Printer._write,
    Store: _Printer._write,
    For: _Printer._for,
}
