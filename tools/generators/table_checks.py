"""Check `ops/table.py` before other files are generated from it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from generators.opcodes import INSTRUCTIONS, LARGEST_OPCODE, numbered
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.compiled.templates import missing_rows
from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import NEVER, as_formula, functions, given, number, variables
from gradwalk.ops.formula import name as variable
from gradwalk.ops.printing.printers import C_HELPERS, IN_C, python
from gradwalk.ops.rows import Reduction
from gradwalk.ops.table import FUSED, REDUCTIONS, TABLE

# The functions of C99's <math.h> from doubles to a double. Each also exists for floats, for example sinf.
_MATH_H = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
    fmin fmod hypot lgamma log log10 log1p log2 logb nearbyint nextafter pow remainder rint round sin sinh sqrt tan
    tanh tgamma trunc
"""


LONGEST_VALUE = 102  # of 120 columns, after `            out = `


def problems(root: Path) -> list[str]:
    """Return one sentence for each error in the table; an empty list if there are none."""
    wrong_rows = [*_wrong_fused_rows(), *(problem for row in REDUCTIONS for problem in _wrong_reduction(row))]
    return [*_wrong_numbers(), *wrong_rows, *_long_values(), *_lacking_functions(root), *_lacking_rows()]


def _wrong_numbers() -> Iterator[str]:
    """Check that names are unique, and that opcodes fit into their C type."""
    for name, count in Counter(INSTRUCTIONS).items():
        if count > 1:
            yield f"{count} instructions are called {name}: names must be unique"
    largest = max(numbered(OPCODES).values())
    if largest > LARGEST_OPCODE:
        yield (
            f"there are {largest} opcodes, but Value keeps its opcode in a signed char, which counts to "
            f"{LARGEST_OPCODE}: use a larger type there, and set LARGEST_OPCODE in tools/generators/opcodes.py"
        )


def _long_values() -> Iterator[str]:
    """Check that each value fits into one line of generated code."""
    for row in TABLE:
        if (width := len(python(row.forward))) > LONGEST_VALUE:
            yield (
                f"the value of {row.name} must have at most {LONGEST_VALUE} columns as Python, got {width}: write it "
                "as a function of ops/definitions.py, or as a formula with fewer conditions"
            )


def _wrong_fused_rows() -> Iterator[str]:
    """Check that fused operations only use Python operators, because they also run on Values and arrays."""
    for row in FUSED:
        parts = row.forward.arguments
        inner = [part for part in parts if part.arguments == (variable("x"), variable("y"))]
        others = [part for part in parts if part == variable("z")]
        operators = {row.forward.operator, *(part.operator for part in inner)}
        if len(parts) != 2 or not inner or not others or not operators <= {"+", "-", "*"}:
            yield (
                f"{row.name} is a fused row, which must apply one of +, - and * to x and y, and one of them to the "
                "result and z, as in x * y + z"
            )


def _wrong_reduction(row: Reduction) -> Iterator[str]:
    """Check that the formulas of a reduction only use variables that exist, and that no partial is 0."""
    if not 1 <= row.groups <= 3:
        yield f"the reduction {row.name} must have one to three partials, one for each sequence, got {row.groups}"
        return
    operands = {"x", "y", "z"} if row.groups == 3 else {"x", "y"} if row.groups == 2 else {"x"}
    formulas = [("first", row.first, set()), ("step", row.step, {"total", *operands})]
    formulas += [("a partial", partial, {"out", *operands}) for partial in row.partials]
    if row.start_partial is not None:
        formulas.append(("start_partial", row.start_partial, {"out"}))
    for what, formula, known in formulas:
        for unknown in sorted({*variables(as_formula(formula))} - known):
            may_name = ", ".join(sorted(known)) or "nothing"
            yield f"{what} of the reduction {row.name} uses {unknown}, but may only use {may_name}"
    if len(row.domain) != row.groups:
        yield f"the reduction {row.name} has {len(row.domain)} intervals in its domain for {row.groups} sequences"
    if number(0) in map(as_formula, [*row.partials, 1 if row.start_partial is None else row.start_partial]):
        yield f"a partial of the reduction {row.name} is 0, but every operand of a reduction must have a gradient"


def _lacking_functions(root: Path) -> Iterator[str]:
    """Check that every function in a formula exists in all languages that formulas are printed in."""
    rows_by_function: dict[str, list[str]] = {}
    formulas = {row.name: [row.forward, *map(row.partial, range(row.arity))] for row in TABLE}
    for row in REDUCTIONS:
        start_partial = [] if row.start_partial is None else [row.start_partial]
        formulas[row.name] = [as_formula(x) for x in (row.first, row.step, *row.partials, *start_partial)]
    formulas |= {f"{name} in definitions.py": [formula] for name, formula in DEFINITIONS.items()}
    for name, written in formulas.items():
        computed = [given(formula, NEVER, False) for formula in written]
        for function in dict.fromkeys(function for formula in computed for function in functions(formula)):
            rows_by_function.setdefault(function, []).append(name)
    known = _known_functions(root)
    for function, rows in rows_by_function.items():
        lacking = [target for target, names in known.items() if function not in names | DEFINITIONS.keys()]
        if lacking:
            yield f"{function}(), which the row {rows[0]} calls, is missing in {', '.join(lacking)}"


def _known_functions(root: Path) -> dict[str, set[str]]:
    """Return the functions that each target has, under the names that formulas use."""

    def read(file: str) -> str:
        return (root / file).read_text(encoding="utf-8")

    math_h = set(_MATH_H.split())
    lane_loops = read("src/gradwalk/backend/cpu/lane_loops.h")
    macros = {helper for helper in C_HELPERS if f"#define {helper.upper()}(" in lane_loops}
    return {
        "src/gradwalk/base/libm.py (uncompiled modules)": _python_names(read("src/gradwalk/base/libm.py")),
        "src/gradwalk/base/ieee.pxd (compiled modules)": set(
            re.findall(r"^ *(?:cdef inline )?double (\w+)\(", read("src/gradwalk/base/ieee.pxd"), re.M)
        ),
        "<math.h> and C_HELPERS of src/gradwalk/ops/printing/printers.py (C)": _c_names(math_h | C_HELPERS.keys()),
        "<math.h> and the macros of src/gradwalk/backend/cpu/lane_loops.h (batches)": _c_names(math_h | macros),
        "web/src/core/libm.js (the page)": _exported_names(read("web/src/core/libm.js")),
    }


def _python_names(source: str) -> set[str]:
    """Return the names that a module defines at its top level."""
    names = set()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            names.update(target.id for target in statement.targets if isinstance(target, ast.Name))
    return names


def _c_names(available: set[str]) -> set[str]:
    """Return the names that formulas use for functions with a C name: power() in C is pow() in formulas."""
    respelled = {function for function, spelled in IN_C.items() if spelled in available}
    return {function for function in available if function not in IN_C} | respelled


def _exported_names(source: str) -> set[str]:
    """Return the names that a JavaScript module exports."""
    names = set(re.findall(r"^export function (\w+)", source, re.M))
    for exported in re.findall(r"^export (?:const )?\{([^}]*)\}", source, re.M):
        names.update(re.split(r":| as ", item)[-1].strip() for item in exported.split(","))
    return names


def _lacking_rows() -> Iterator[str]:
    """Check that the derivative of every operation consists of operations of the table."""
    for row in TABLE:
        for operation in missing_rows(row):
            yield f"the derivative of the row {row.name} needs {operation}(), which no row computes: add a row for it"
    for reduction in REDUCTIONS:
        for operation in missing_rows(reduction):
            yield f"the reduction {reduction.name} needs {operation}(), which no row computes: add a row for it"
