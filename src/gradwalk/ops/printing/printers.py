"""Formulas as text: in Python (which Cython compiles), C and JavaScript, and as mathematics for a reader.

What a formula's functions are called in each language stands in `ieee.py`, `ieee.pxd`, <math.h> with `C_HELPERS`, and
the page's `ieee.js`. `tools/generate.py` names whichever of them lacks a function that the table calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import Formula, number, textbook

# How tightly an operator binds; looser operands need brackets. Calls, variables and constants bind tightest.
_BINDING = {"and": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "+": 4, "-": 4, "*": 5, "/": 5, "negative": 6}
_TIGHTEST = 9
_CONDITIONS = ("<", "<=", ">", ">=", "==", "and")
_IN_JAVASCRIPT = {"==": "===", "!=": "!==", "and": "&&"}

# How C spells what Python spells otherwise. A power is a helper's, because squares are products: see ieee.py. Functions
# of definitions.py have names of their own, because some C libraries have a gamma that is another function.
IN_C = {"and": "&&", "pow": "power", **{function: f"gradwalk_{function}" for function in DEFINITIONS}}

# Functions that `c` prints and <math.h> lacks, by name. They compute what those of ieee.py do.
C_HELPERS = {
    "power": "static inline double power(double x, double y) { return y == 2.0 ? x * x : pow(x, y); }",
    "sign": "static inline double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }",
    "floor_divide": """static inline double floor_divide(double x, double y) {
    const double m = fmod(x, y);
    const double q = (x - m) / y - (m != 0.0 && (m < 0.0) != (y < 0.0) ? 1.0 : 0.0);
    const double below = floor(q);
    return y == 0.0 ? x / y : q == 0.0 ? copysign(0.0, x / y) : q - below > 0.5 ? below + 1.0 : below;
}""",
    "mod": """static inline double mod(double x, double y) {
    const double m = fmod(x, y);
    return m == 0.0 ? copysign(0.0, y) : (m < 0.0) != (y < 0.0) ? m + y : m;
}""",
}


def python(formula: Formula) -> str:
    """Print a formula as an expression in Python, which Cython turns into C.

    Division and functions go through `ieee`, because Python's own raise for 1/0 or log(0).

    Args:
        formula: The formula to print.

    Returns:
        The expression. Its variables are those of the formula.

    Example:
        >>> from gradwalk.ops.formula import name
        >>> python(1 / name("x"))
        'ieee.div(1.0, x)'
    """
    if formula.operator == "name":
        return str(formula.atom)
    if formula.operator == "number":
        return repr(formula.atom).replace("e+", "e")  # as ruff formats it
    parts = formula.arguments
    if formula.operator == "where":
        condition, chosen, otherwise = parts
        branches = [_bracketed(branch, formula, python, right=True) for branch in (chosen, otherwise)]
        is_test = condition.operator in _CONDITIONS
        test = python(condition) if is_test else f"{_bracketed(condition, number(0) < 0, python)} != 0.0"
        return f"{branches[0]} if {test} else {branches[1]}"
    if formula.operator == "/":
        return f"ieee.div({python(parts[0])}, {python(parts[1])})"
    if formula.operator == "negative":
        return f"-{_bracketed(parts[0], formula, python)}"
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, python, right=part is parts[1]) for part in parts)
        return f"{left} {formula.operator} {right}"
    return f"ieee.{formula.operator}({', '.join(python(part) for part in parts)})"


def c(formula: Formula) -> str:
    """Print a formula as an expression of doubles in C.

    It needs <math.h> and, where it names them, `C_HELPERS`. Nothing in it has side effects, so that a compiler may
    evaluate both branches of a choice.

    Args:
        formula: The formula to print.

    Returns:
        The expression. Its variables are those of the formula.

    Example:
        >>> from gradwalk.ops.formula import Functions, name, where
        >>> c(where(name("x") < 0, 0, Functions().pow(name("x"), name("y"))))
        'x < 0.0 ? 0.0 : power(x, y)'
    """
    if formula.operator == "number":
        return repr(formula.atom)
    return _with_c_syntax(formula, c, IN_C)


def javascript(formula: Formula) -> str:
    """Print a formula as an expression in JavaScript.

    Functions go through the page's module `ieee`; division never raises there.

    Args:
        formula: The formula to print.

    Returns:
        The expression. Its variables are those of the formula.

    Example:
        >>> from gradwalk.ops.formula import name, where
        >>> javascript(where(name("x") < 0, 0, 1 / name("x")))
        'x < 0 ? 0 : 1 / x'
    """
    if formula.operator == "number":
        return repr(formula.atom).removesuffix(".0")
    return _with_c_syntax(formula, javascript, _IN_JAVASCRIPT, "ieee.")


def text(formula: Formula) -> str:
    """Print a formula as a person would write it, in its textbook form.

    Args:
        formula: The formula to print.

    Returns:
        The formula in mathematical notation, on one line.

    Example:
        >>> from gradwalk.ops.formula import name
        >>> x, y = name("x"), name("y")
        >>> text(x / (x * x + y * y))
        'x / (x² + y²)'
    """
    return _text(textbook(formula))


def _text(formula: Formula) -> str:
    if formula.operator == "name":
        return str(formula.atom)
    if formula.operator == "number":
        return "π" if formula.atom == math.pi else f"{formula.atom:g}"
    parts = formula.arguments
    if formula.operator == "where":
        condition, chosen, otherwise = (_text(part) for part in parts)
        return f"{chosen} if {condition}, else {otherwise}"
    if formula.operator == "negative":
        return f"-{_bracketed(parts[0], formula, _text)}"
    if formula.operator == "*" and parts[0] == parts[1] and parts[0].operator == "name":
        return f"{_text(parts[0])}²"
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, _text, right=part is parts[1]) for part in parts)
        return f"{left} {formula.operator.replace('==', '=').replace('*', '·')} {right}"
    return f"{formula.operator}({', '.join(_text(part) for part in parts)})"


def _with_c_syntax(
    formula: Formula, printer: Callable[[Formula], str], spelling: Mapping[str, str], prefix: str = ""
) -> str:
    """Print what languages with C's syntax share. `spelling` is by operator and function; calls get the `prefix`."""
    if formula.operator == "name":
        return str(formula.atom)
    parts = formula.arguments
    spelled = spelling.get(formula.operator, formula.operator)
    if formula.operator == "where":
        condition, *branches = parts
        chosen, otherwise = (_bracketed(branch, formula, printer, right=True) for branch in branches)
        is_test = condition.operator in _CONDITIONS
        unequal = "" if is_test else f" {spelling.get('!=', '!=')} {printer(number(0))}"
        test = printer(condition) if is_test else _bracketed(condition, number(0) < 0, printer)
        return f"{test}{unequal} ? {chosen} : {otherwise}"
    if formula.operator == "negative":
        # Brackets around an operand that binds equally: `--x` would be the decrement operator.
        return f"-{_bracketed(parts[0], formula, printer, right=True)}"
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, printer, right=part is parts[1]) for part in parts)
        return f"{left} {spelled} {right}"
    return f"{prefix}{spelled}({', '.join(printer(part) for part in parts)})"


def _bracketed(part: Formula, whole: Formula, printer: Callable[[Formula], str], *, right: bool = False) -> str:
    """Print `part` as an operand of `whole`, in brackets where it binds less tightly."""
    inside, outside = _binding(part), _binding(whole)
    associative = whole.operator in ("+", "*", "and") and part.operator == whole.operator
    needed = inside < outside or (right and inside == outside and not (associative and printer is _text))
    return f"({printer(part)})" if needed else printer(part)


def _binding(formula: Formula) -> int:
    if formula.operator == "where":
        return 0
    if formula.operator == "number" and isinstance(formula.atom, float) and formula.atom < 0:
        return _BINDING["negative"]
    return _BINDING.get(formula.operator, _TIGHTEST)
