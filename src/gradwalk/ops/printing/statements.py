"""Print formulas as function bodies in Python, C and JavaScript, split into short lines.

Common subexpressions become local variables, as do parts that would make a line too long. A `where` becomes an `if`, so
that only the branch taken is computed; in batch code, which computes both branches, it remains an expression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import Formula, decided, name
from gradwalk.ops.printing import printers

_LONGEST = 60  # maximum length of a nested expression, in characters
_CONDITIONS = ("<", "<=", ">", ">=", "==", "and")


class _Language(NamedTuple):
    """The statement syntax of a language.

    Attributes:
        expression: Function that prints a formula.
        test: Text before and after a condition; None to print `where` as an expression.
        end_of_branch: Line that closes a branch, or "".
        declared: Text before the name of a new local variable.
        end: Text at the end of a statement.
        indent: Indentation of a branch.
    """

    expression: Callable[[Formula], str]
    test: tuple[str, str] | None
    end_of_branch: str
    declared: str
    end: str
    indent: str


_PYTHON = _Language(printers.python, ("if ", ":"), "", "", "", "    ")
_C = _Language(printers.c, ("if (", ") {"), "}", "const double ", ";", "    ")
_LANES = _C._replace(test=None, declared="const REAL ")
_JAVASCRIPT = _Language(printers.javascript, ("if (", ") {"), "}", "const ", ";", "  ")


def python_body(formula: Formula) -> list[str]:
    """Return the unindented lines of a function body in Python. In Cython, they are valid if variables are declared.

    Example:
        >>> from gradwalk.ops.formula import Functions, name, where
        >>> x = name("x")
        >>> print(*python_body(where(x < 0, 1, Functions().exp(x) + Functions().exp(x))), sep=chr(10))
        if x < 0.0:
            return 1.0
        v1 = ieee.exp(x)
        return v1 + v1
    """
    return list(_statements(formula, _PYTHON))


def c_body(formula: Formula) -> list[str]:
    """Return the unindented lines of a function body in C."""
    return list(_statements(formula, _C))


def lane_body(formula: Formula) -> list[str]:
    """Return the unindented lines of a function body in C without branches.

    Variables have the type REAL, but functions and constants have the type double.
    """
    return list(_statements(formula, _LANES))


def javascript_body(formula: Formula) -> list[str]:
    """Return the unindented lines of a function body in JavaScript."""
    return list(_statements(formula, _JAVASCRIPT))


def local_variables(body: list[str]) -> list[str]:
    """Return the local variables assigned in the lines of a Python function body, each once, in order of appearance."""
    return list(dict.fromkeys(line.split()[0] for line in body if " = " in line))


def c_definitions(text: str) -> list[str]:
    """Return the C definitions of the functions of `definitions.py` that are called in `text`.

    `text` is C code that `printers.c` printed.
    """
    lines = []
    for function, formula in DEFINITIONS.items():
        if f"{printers.IN_C[function]}(" in text:
            body = [f"    {line}" for line in c_body(formula)]
            lines += ["", f"static double {printers.IN_C[function]}(double x)", "{", *body, "}"]
    return lines


def _statements(formula: Formula, language: _Language) -> Iterator[str]:
    is_choice = formula.operator == "where" and len(language.expression(formula.arguments[0])) <= _LONGEST
    if language.test and is_choice:
        condition, chosen, otherwise = decided(formula).arguments
        yield language.expression(condition).join(language.test)
        yield from (language.indent + line for line in _statements(chosen, language))
        if language.end_of_branch:
            yield language.end_of_branch
        yield from _statements(otherwise, language)
        return
    parts, result = in_parts(formula, language.expression)
    yield from (f"{language.declared}{local} = {language.expression(part)}{language.end}" for local, part in parts)
    yield f"return {language.expression(result)}{language.end}"


def in_parts(formula: Formula, expression: Callable[[Formula], str]) -> tuple[list[tuple[str, Formula]], Formula]:
    """Split a formula into local variables, each defined by earlier variables, and a result in terms of them."""
    inner = _parts(formula)
    uses = Counter(operand for part in inner for operand in part.arguments)
    parts: list[tuple[str, Formula]] = []
    written: dict[Formula, Formula] = {}
    for part in inner:
        new = replace(part, arguments=tuple(written[operand] for operand in part.arguments))
        is_long = len(expression(new)) > _LONGEST
        if new.arguments and part != formula and part.operator not in _CONDITIONS and (uses[part] > 1 or is_long):
            parts.append((f"v{len(parts) + 1}", new))
            new = name(parts[-1][0])
        written[part] = new
    return parts, written[formula]


def _parts(formula: Formula) -> list[Formula]:
    """Return all subformulas and the formula itself, each once, in topological order."""
    found: dict[Formula, None] = {}
    waiting = [(formula, False)]
    while waiting:
        part, is_ready = waiting.pop()
        if is_ready:
            found[part] = None
        elif part not in found:
            waiting.append((part, True))
            waiting += [(operand, False) for operand in reversed(part.arguments)]
    return list(found)
