"""The little expression language that the rows of `ops.py` are written in, and its printers.

A `Formula` is built by ordinary Python: `1 - out * out` with `out` a `Formula` is a `Formula`. It can then be
printed as code for the engine (`code`), the page (`javascript`) and C (`c`), or as mathematics for a reader (`text`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

# How tightly an operator binds, for brackets. Calls, names and numbers bind tightest.
_BINDING = {"and": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "+": 4, "-": 4, "*": 5, "/": 5, "negative": 6}
_TIGHTEST = 9
_OPERATORS: dict[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "negative": operator.neg,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "and": lambda left, right: left and right,
}
_FUNCTIONS = {"/": "div"}
_CONDITIONS = ("<", "<=", ">", ">=", "==", "and")
_IN_JAVASCRIPT = {"==": "===", "!=": "!==", "and": "&&"}
_IN_C = {"and": "&&", "pow": "power"}

# What `c` uses and <math.h> has not, by name: the same as in ieee.py.
C_HELPERS = {
    "power": "static inline double power(double x, double y) { return y == 2.0 ? x * x : pow(x, y); }",
    "sign": "static inline double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }",
}


@dataclass(frozen=True)
class Formula:
    """An operator (or function name, or `name`, or `number`) applied to arguments.

    >>> x = name("x")
    >>> text(1 - x * x)
    '1 - x²'
    """

    operator: str
    arguments: tuple[Formula, ...] = ()
    atom: str | float = ""

    def __add__(self, other: Formula | float) -> Formula:
        return _apply("+", self, other)

    def __radd__(self, other: float) -> Formula:
        return _apply("+", other, self)

    def __sub__(self, other: Formula | float) -> Formula:
        return _apply("-", self, other)

    def __rsub__(self, other: float) -> Formula:
        return _apply("-", other, self)

    def __mul__(self, other: Formula | float) -> Formula:
        return _apply("*", self, other)

    def __rmul__(self, other: float) -> Formula:
        return _apply("*", other, self)

    def __truediv__(self, other: Formula | float) -> Formula:
        return _apply("/", self, other)

    def __rtruediv__(self, other: float) -> Formula:
        return _apply("/", other, self)

    def __neg__(self) -> Formula:
        return _apply("negative", self)

    def __lt__(self, other: Formula | float) -> Formula:
        return _apply("<", self, other)

    def __le__(self, other: Formula | float) -> Formula:
        return _apply("<=", self, other)

    def __gt__(self, other: Formula | float) -> Formula:
        return _apply(">", self, other)

    def __ge__(self, other: Formula | float) -> Formula:
        return _apply(">=", self, other)

    def __and__(self, other: Formula) -> Formula:
        return _apply("and", self, other)


def name(symbol: str) -> Formula:
    """A variable: an operand, or the result."""
    return Formula("name", atom=symbol)


def number(value: float) -> Formula:
    """A constant."""
    return Formula("number", atom=float(value))


def as_formula(value: Formula | float) -> Formula:
    """A `Formula` as it is, a number as a constant."""
    return value if isinstance(value, Formula) else number(value)


class Functions:
    """The functions of `ieee.py`, by name: `Functions().exp(x)` is the formula exp(x)."""

    def __getattr__(self, function: str) -> Callable[..., Formula]:
        return partial(_apply, function)


def equal(left: Formula, right: Formula | float) -> Formula:
    """Whether both sides have the same value. (`==` itself compares formulas as Python objects.)"""
    return _apply("==", left, right)


def where(condition: Formula, chosen: Formula | float, otherwise: Formula | float) -> Formula:
    """`chosen` where the condition holds (is not zero), else `otherwise`; the other one is not evaluated."""
    return _apply("where", condition, chosen, otherwise)


def is_choice_of_numbers(formula: Formula) -> bool:
    """Whether it is a number, or a choice among numbers by conditions."""
    if formula.operator == "where":
        return all(is_choice_of_numbers(branch) for branch in formula.arguments[1:])
    return formula.operator == "number"


def substituted(formula: Formula, values: Mapping[str, Formula]) -> Formula:
    """The formula with other formulas in place of some of its names.

    >>> text(substituted(1 / name("y"), {"y": name("b")}))
    '1 / b'
    """
    if formula.operator == "name":
        return values.get(str(formula.atom), formula)
    return replace(formula, arguments=tuple(substituted(part, values) for part in formula.arguments))


def folded(formula: Formula) -> Formula:
    """The formula with sums and products of its numbers worked out, and a first power as what it is a power of.

    >>> text(folded(2 * Functions().pow(name("x"), number(2) - 1)))
    '2 · x'
    """
    parts = tuple(folded(part) for part in formula.arguments)
    numbers = [float(part.atom) for part in parts if part.operator == "number"]
    if formula.operator in ("+", "-", "*") and len(numbers) == len(parts):
        return number(_OPERATORS[formula.operator](*numbers))
    if formula.operator == "pow" and parts[1] == number(1):
        return parts[0]
    return replace(formula, arguments=parts)


def evaluated(formula: Formula, values: Mapping[str, float], functions: object) -> float:
    """The number that a formula gives for numbers of its names; `functions` has its functions and `div` by name.

    >>> evaluated(1 - name("out") * name("out"), {"out": 0.5}, math)
    0.75
    """
    if formula.operator == "name":
        return values[str(formula.atom)]
    if formula.operator == "number":
        return float(formula.atom)
    if formula.operator == "where":
        return evaluated(_branch(formula, values, functions), values, functions)
    parts = [evaluated(part, values, functions) for part in formula.arguments]
    result = _OPERATORS.get(formula.operator) or getattr(functions, _FUNCTIONS.get(formula.operator, formula.operator))
    return float(result(*parts))


def resolved(formula: Formula, values: Mapping[str, float], functions: object) -> Formula:
    """The formula with its choices made, as they are for these numbers.

    >>> x = name("x")
    >>> text(resolved(where(x < 0, -x, x * x), {"x": 3.0}, math))
    'x²'
    """
    if formula.operator == "where":
        return resolved(_branch(formula, values, functions), values, functions)
    return replace(formula, arguments=tuple(resolved(part, values, functions) for part in formula.arguments))


def _branch(formula: Formula, values: Mapping[str, float], functions: object) -> Formula:
    condition, chosen, otherwise = formula.arguments
    return chosen if evaluated(condition, values, functions) else otherwise


def variables(formula: Formula) -> tuple[str, ...]:
    """The names in a formula, each once.

    >>> variables(1 - name("out") * name("out"))
    ('out',)
    """
    if formula.operator == "name":
        return (str(formula.atom),)
    return tuple(dict.fromkeys(variable for part in formula.arguments for variable in variables(part)))


def _apply(operator: str, *arguments: Formula | float) -> Formula:
    return Formula(operator, tuple(as_formula(argument) for argument in arguments))


def code(formula: Formula) -> str:
    """The formula as an expression in Python, which Cython turns into C.

    Division and functions go through `ieee`, so that they never raise: Python itself would for 1/0 or log(0).

    >>> code(1 / name("x"))
    'ieee.div(1.0, x)'
    """
    if formula.operator == "name":
        return str(formula.atom)
    if formula.operator == "number":
        return repr(formula.atom)
    parts = formula.arguments
    if formula.operator == "where":
        condition, chosen, otherwise = parts
        branches = [_bracketed(branch, formula, code, right=True) for branch in (chosen, otherwise)]
        return f"{branches[0]} if {_condition(condition)} else {branches[1]}"
    if formula.operator == "/":
        return f"ieee.div({code(parts[0])}, {code(parts[1])})"
    if formula.operator == "negative":
        return f"-{_bracketed(parts[0], formula, code)}"
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, code, right=part is parts[1]) for part in parts)
        return f"{left} {formula.operator} {right}"
    return f"ieee.{formula.operator}({', '.join(code(part) for part in parts)})"


def javascript(formula: Formula) -> str:
    """The formula as an expression in JavaScript, whose division never raises. Functions go through its `ieee`.

    >>> javascript(where(name("x") < 0, 0, 1 / name("x")))
    'x < 0 ? 0 : 1 / x'
    """
    if formula.operator == "number":
        return repr(formula.atom).removesuffix(".0")
    return _as_in_c(formula, javascript, _IN_JAVASCRIPT, "ieee.")


def c(formula: Formula) -> str:
    """The formula as an expression in C of doubles. It needs <math.h> and, where it names them, `C_HELPERS`.

    Nothing in it has side effects, so that both branches of a choice may be evaluated.

    >>> c(where(name("x") < 0, 0, Functions().pow(name("x"), name("y"))))
    'x < 0.0 ? 0.0 : power(x, y)'
    """
    if formula.operator == "number":
        return repr(formula.atom)
    return _as_in_c(formula, c, _IN_C)


def _as_in_c(formula: Formula, printer: Callable[[Formula], str], spelling: Mapping[str, str], prefix: str = "") -> str:
    """What languages with C's syntax write alike. `spelling`: of operators and functions; `prefix`: of functions."""
    if formula.operator == "name":
        return str(formula.atom)
    parts = formula.arguments
    spelled = spelling.get(formula.operator, formula.operator)
    if formula.operator == "where":
        condition, *branches = parts
        chosen, otherwise = (_bracketed(branch, formula, printer, right=True) for branch in branches)
        is_test = condition.operator in _CONDITIONS
        unequal = "" if is_test else f" {spelling.get('!=', '!=')} {printer(number(0))}"
        return f"{printer(condition)}{unequal} ? {chosen} : {otherwise}"
    if formula.operator == "negative":
        return f"-{_bracketed(parts[0], formula, printer, right=True)}"  # right: -- is another operator there
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, printer, right=part is parts[1]) for part in parts)
        return f"{left} {spelled} {right}"
    return f"{prefix}{spelled}({', '.join(printer(part) for part in parts)})"


def text(formula: Formula) -> str:
    """The formula as a person would write it.

    >>> x, y = name("x"), name("y")
    >>> text(x / (x * x + y * y))
    'x / (x² + y²)'
    """
    if formula.operator == "name":
        return str(formula.atom)
    if formula.operator == "number":
        return "π" if formula.atom == math.pi else f"{formula.atom:g}"
    parts = formula.arguments
    if formula.operator == "where":
        condition, chosen, otherwise = (text(part) for part in parts)
        return f"{chosen} if {condition}, else {otherwise}"
    if formula.operator == "negative":
        return f"-{_bracketed(parts[0], formula, text)}"
    if formula.operator == "*" and parts[0] == parts[1] and parts[0].operator == "name":
        return f"{text(parts[0])}²"
    if formula.operator in _BINDING:
        left, right = (_bracketed(part, formula, text, right=part is parts[1]) for part in parts)
        return f"{left} {formula.operator.replace('==', '=').replace('*', '·')} {right}"
    return f"{formula.operator}({', '.join(text(part) for part in parts)})"


def _bracketed(part: Formula, whole: Formula, printer: Callable[[Formula], str], *, right: bool = False) -> str:
    """`part` printed as an operand of `whole`, in brackets where it binds less tightly."""
    inside, outside = _binding(part), _binding(whole)
    associative = whole.operator in ("+", "*", "and") and part.operator == whole.operator
    needed = inside < outside or (right and inside == outside and not (associative and printer is text))
    return f"({printer(part)})" if needed else printer(part)


def _binding(formula: Formula) -> int:
    if formula.operator == "where":
        return 0
    if formula.operator == "number" and isinstance(formula.atom, float) and formula.atom < 0:
        return _BINDING["negative"]
    return _BINDING.get(formula.operator, _TIGHTEST)


def _condition(formula: Formula) -> str:
    """A condition as code: a comparison as it is, a number as a test against zero."""
    return code(formula) if formula.operator in _CONDITIONS else f"{code(formula)} != 0.0"
