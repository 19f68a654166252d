"""Formulas on lanes in C: which functions are called for all lanes at once, and the definitions of these functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from gradwalk.exporting.lanes.lane_writer import LANES, LaneWriter, Plan
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import Formula, Functions, computed, equal, name, where
from gradwalk.ops.printing import printers
from gradwalk.ops.printing.statements import in_parts
from gradwalk.ops.table import ROWS
from gradwalk.program.native.vector_library import VECTOR_FUNCTIONS

# Functions that every lane computes by itself. Their results are exact, so they do not depend on the C library.
_IN_LOOPS = frozenset(
    (
        *("fabs", "sqrt", "copysign", "floor", "ceil", "trunc", "rint"),
        *("fmod", "remainder", "sign", "floor_divide", "mod"),
    )
)
_SYNTAX = frozenset(("+", "-", "*", "/", "negative", "<", "<=", ">", ">=", "==", "and", "where", "name", "number"))
_VARIABLES = ("x", "y", "z")
_x, _y = name("x"), name("y")
_POWER = where(equal(_y, 2), _x * _x, Functions().libm_pow(_x, _y))


@cache
def formula_of(opcode: int) -> Formula:
    """Return the formula of an instruction, in terms of x, y and z."""
    return computed(_ROWS[opcode].forward)


_ROWS = {OPCODES[row.name]: row for row in ROWS}


class Formulas:
    """Writes formulas to a `LaneWriter`.

    Args:
        writer: The writer.
        prefix: Prefix of the names of intermediate results.

    Attributes:
        called: The functions that are called for all lanes, each with its number of operands.
    """

    def __init__(self, writer: LaneWriter, prefix: str = "t") -> None:
        self.called: dict[str, int] = {}
        self._writer, self._prefix, self._count = writer, prefix, 0

    def define(self, result: str, formula: Formula, operands: dict[str, str], results: set[str]) -> None:
        """Write the computation of `result`.

        Args:
            result: The name of the result.
            formula: The formula.
            operands: Maps each variable of the formula to C text, or to the name of a result.
            results: The operands that are names of results.
        """
        if self._is_called(formula) and all(part.operator == "name" for part in formula.arguments):
            self._call(result, formula.operator, [operands[str(part.atom)] for part in formula.arguments], results)
            return
        text, names = self._text(formula, operands, results)
        self._writer.define(result, text, names)

    def _is_called(self, formula: Formula) -> bool:
        return formula.operator not in _SYNTAX and formula.operator not in _IN_LOOPS

    def _call(self, result: str, function: str, operands: Sequence[str], results: set[str]) -> None:
        rows = [operand if operand in results else self._row(operand) for operand in operands]
        self.called[function] = len(operands)
        self._writer.call(result, f"row_{_c_name(function)}", rows)

    def _row(self, text: str) -> str:
        """Define C text as a result; return its name."""
        row = self._new()
        self._writer.define(row, text.replace("{", "{{").replace("}", "}}"), [])
        return row

    def _new(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"

    def _text(self, formula: Formula, operands: dict[str, str], results: set[str]) -> tuple[str, list[str]]:
        """Return a formula as a C expression with placeholders, and the results that they stand for."""
        names: list[str] = []
        return printers.c(self._without_calls(formula, operands, results, names)), names

    def _without_calls(
        self, formula: Formula, operands: dict[str, str], results: set[str], names: list[str]
    ) -> Formula:
        """Replace the operands, and the functions that are called for all lanes, by their C text."""
        if formula.operator == "number":
            return formula
        if formula.operator == "name":
            operand = operands[str(formula.atom)]
            return _placeholder(operand, names) if operand in results else name(operand)
        if not self._is_called(formula):
            parts = [self._without_calls(part, operands, results, names) for part in formula.arguments]
            return Formula(formula.operator, tuple(parts), formula.atom)
        rows = []
        for part in formula.arguments:
            text, used = self._text(part, operands, results)
            if part.operator == "name" and used:
                rows += used
            else:
                rows.append(self._new())
                self._writer.define(rows[-1], text, used)
        result = self._new()
        self._call(result, formula.operator, rows, {*rows})
        return _placeholder(result, names)


def _placeholder(result: str, names: list[str]) -> Formula:
    if result not in names:
        names.append(result)
    return name(f"{{{names.index(result)}}}")


def _c_name(function: str) -> str:
    return f"gradwalk_{function}" if function in DEFINITIONS else function


def function_lines(called: dict[str, int]) -> tuple[list[str], dict[str, int]]:
    """Return the C definitions of functions for all lanes, and the functions of <math.h> that they call.

    `called` maps the name of each function to its number of operands.
    """
    lines: list[str] = []
    of_library: dict[str, int] = {}
    done: set[str] = set()

    def define(function: str, arity: int) -> None:
        if function in done:
            return
        done.add(function)
        formula = _POWER if function == "pow" else computed(DEFINITIONS[function]) if function in DEFINITIONS else None
        if formula is None:
            of_library[function.removeprefix("libm_")] = arity
            lines.extend(_of_library(function, arity))
            return
        own, inner = _defined(function, arity, formula)
        for other, others in inner.items():
            define(other, others)
        lines.extend(own)

    for function, arity in called.items():
        define(function, arity)
    return lines, of_library


def _of_library(function: str, arity: int) -> list[str]:
    """Return the definition of a function that calls <math.h>, or libmvec if this instruction set uses it."""
    given = ", ".join([f"const double *{x}" for x in _VARIABLES[:arity]])
    in_c = function.removeprefix("libm_")
    head = [f"static void SET(row_{function})({given}, double *out)", "{", "    int l;"]
    lanes = f"    EACH out[l] = {in_c}({', '.join(f'{x}[l]' for x in _VARIABLES[:arity])});"
    if in_c not in VECTOR_FUNCTIONS:
        return [*head, lanes, "}", ""]
    values = [f"        vector {x};" for x in _VARIABLES[:arity]]
    loads = [
        f"        memcpy(&{x}, {'xyz'[i]} + l, sizeof {x});" for i, x in enumerate(f"v{x}" for x in _VARIABLES[:arity])
    ]
    names = ", ".join([f"v{x}" for x in _VARIABLES[:arity]])
    return [
        *head,
        "#ifdef VECTOR",
        "    for (l = 0; l < LANES; l += (int)(sizeof(vector) / sizeof(double))) {",
        *(line.replace(" vector ", " vector v") for line in values),
        *loads,
        f"        vx = VECTOR({'v' * arity}, {in_c})({names});",
        "        memcpy(out + l, &vx, sizeof vx);",
        "    }",
        "#else",
        lanes,
        "#endif",
        "}",
        "",
    ]


def _defined(function: str, arity: int, formula: Formula) -> tuple[list[str], dict[str, int]]:
    """Return the definition of a function by its formula, and the functions that it calls."""
    variables = _VARIABLES[:arity]

    def write(writer: LaneWriter) -> Formulas:
        formulas = Formulas(writer)
        operands = {variable: f"{variable}[l]" for variable in variables}
        results: set[str] = set()
        parts, result = in_parts(formula, printers.c)
        for part, of_part in parts:
            formulas.define(part, of_part, operands, results)
            operands[part] = part
            results.add(part)
        formulas.define("result", result, operands, results)
        writer.effect("out[l] = {0};", ["result"])
        writer.flush()
        return formulas

    writer, formulas = planned(write)
    given = ", ".join([f"const double *{x}" for x in variables])
    slots = [f"    double slots[{LANES * writer.slots}];"] if writer.slots else []
    head = [f"static void SET(row_{_c_name(function)})({given}, double *out)", "{", *slots, "    int l;"]
    return [*head, *writer.lines, "}", ""], formulas.called


def planned(write: Callable[[LaneWriter], Formulas]) -> tuple[LaneWriter, Formulas]:
    """Write instructions with a plan: the first pass finds what is used, the second where, and the third writes."""
    plan: Plan | None = None
    for _ in range(2):
        writer = LaneWriter(plan)
        write(writer)
        plan = writer.plan() if plan is None else writer.plan()._replace(live=plan.live)
    writer = LaneWriter(plan)
    return writer, write(writer)
