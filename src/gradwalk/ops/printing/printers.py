"""Print formulas in Python (which Cython compiles), C and JavaScript, and in mathematical notation.

The printed code calls functions of `ieee.py` (Python), `ieee.pxd` (Cython), <math.h> and `C_HELPERS` (C), and the
page's `ieee.js` (JavaScript). `tools/generate.py` reports functions of the table that one of these files lacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import Formula, number, textbook

# Operator precedence; an operand of lower precedence needs parentheses.
_BINDING = {"and": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "+": 4, "-": 4, "*": 5, "/": 5, "negative": 6}
_TIGHTEST = 9  # precedence of calls, variables and constants
_CONDITIONS = ("<", "<=", ">", ">=", "==", "and")
_IN_JAVASCRIPT = {"==": "===", "!=": "!==", "and": "&&"}

# Names in C that differ from Python. `power` is a helper that computes squares as products: see ieee.py. Functions of
# definitions.py get a prefix because some C libraries have a different function named gamma.
IN_C = {"and": "&&", "pow": "power", **{function: f"gradwalk_{function}" for function in DEFINITIONS}}

# Functions that the output of `c` may call but <math.h> lacks. Their results are the same as in ieee.py.
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
    """Print a formula as a Python expression, which Cython translates to C.

    Division and functions become calls of `ieee`, because Python itself raises exceptions for 1/0 or log(0).

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
    """Print a formula as a C expression of type double.

    The expression requires <math.h> and possibly some of `C_HELPERS`. It has no side effects, so a compiler may
    evaluate both branches of a conditional.

    Example:
        >>> from gradwalk.ops.formula import Functions, name, where
        >>> c(where(name("x") < 0, 0, Functions().pow(name("x"), name("y"))))
        'x < 0.0 ? 0.0 : power(x, y)'
    """
    if formula.operator == "number":
        return repr(formula.atom)
    return _with_c_syntax(formula, c, IN_C)


def javascript(formula: Formula) -> str:
    """Print a formula as a JavaScript expression. Functions are called from the page's module `ieee`.

    Example:
        >>> from gradwalk.ops.formula import name, where
        >>> javascript(where(name("x") < 0, 0, 1 / name("x")))
        'x < 0 ? 0 : 1 / x'
    """
    if formula.operator == "number":
        return repr(formula.atom).removesuffix(".0")
    return _with_c_syntax(formula, javascript, _IN_JAVASCRIPT, "ieee.")


def text(formula: Formula) -> str:
    """Print a formula in mathematical notation, on one line, in its textbook form.

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
    """Print a formula in C-like syntax.

    `spelling` maps operators and functions to names in the language. `prefix` is printed before each called function.
    """
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
        # Operands of equal precedence get parentheses, too: `--x` would be the decrement operator.
        return f"-{_bracketed(parts[0], formula, printer, right=True)}"
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, printer, right=part is parts[1]) for part in parts)
        return f"{left} {spelled} {right}"
    return f"{prefix}{spelled}({', '.join(printer(part) for part in parts)})"


def _bracketed(part: Formula, whole: Formula, printer: Callable[[Formula], str], *, right: bool = False) -> str:
    """Print `part` as an operand of `whole`, in parentheses if the precedence requires them."""
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
