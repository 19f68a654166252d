"""The little expression language that the rows of `ops.py` are written in, and its printers.

A `Formula` is built by ordinary Python: `1 - out * out` with `out` a `Formula` is a `Formula`. It can then
be printed as code for the engine (`code`) or as mathematics for a reader (`text`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

# How tightly an operator binds, for brackets. Calls, names and numbers bind tightest.
_BINDING = {"and": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "+": 4, "-": 4, "*": 5, "/": 5, "negative": 6}
_TIGHTEST = 9
_CONDITIONS = ("<", "<=", ">", ">=", "==", "and")


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
