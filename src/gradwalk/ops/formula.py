"""The small expression language that the rows of `table.py` are written in.

A `Formula` is built by ordinary Python: where `out` is a `Formula`, so is `1 - out * out`. This file builds formulas
and computes with them; `printers.py` prints them in Python, C and JavaScript, and for a reader.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from gradwalk.base.cached import cached_property

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
# All that the language has besides calls of functions.
_SYNTAX = {*_OPERATORS, "/", "where", "name", "number"}


@dataclass(frozen=True)
class Formula:
    """An expression: an operator or function applied to arguments, a variable, or a constant.

    Formulas are immutable and compare by structure. The operators of Python build larger ones.

    Attributes:
        operator: The operator as Python spells it, `"negative"`, `"where"`, the name of a function, or `"name"` or
            `"number"` for a variable or a constant.
        arguments: The operands, themselves formulas.
        atom: The name of a variable, or the value of a constant. In a choice that `usually` made, which of its branches
            is the textbook's: "chosen" or "otherwise".

    Example:
        >>> x = name("x")
        >>> (1 - x).operator
        '-'
        >>> 1 - x == number(1) - name("x")
        True
    """

    operator: str
    arguments: tuple[Formula, ...] = ()
    atom: str | float = ""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:  # kept, because every formula is hashed as a part of larger ones
        return hash((self.operator, self.arguments, self.atom))

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


# Building formulas


def name(symbol: str) -> Formula:
    """Return a variable: an operand, or the result.

    Args:
        symbol: What it is called.

    Returns:
        The formula that consists of this variable alone.
    """
    return Formula("name", atom=symbol)


def number(value: float) -> Formula:
    """Return a constant.

    Args:
        value: Any real number; it is kept as a float.

    Returns:
        The formula that consists of this constant alone.
    """
    return Formula("number", atom=float(value))


def as_formula(value: Formula | float) -> Formula:
    """Convert a number to a constant, and leave a formula as it is.

    Args:
        value: A formula or a real number.

    Returns:
        A formula.
    """
    return value if isinstance(value, Formula) else number(value)


NEVER = number(0)  # a condition that does not hold


class Functions:
    """The functions of `ieee.py` as attributes that build formulas.

    Any name is accepted here. `tools/generate.py` refuses a table that calls a function which some printer lacks.

    Example:
        >>> Functions().exp(name("x")).operator
        'exp'
    """

    def __getattr__(self, function: str) -> Callable[..., Formula]:
        return partial(_apply, function)


def equal(left: Formula, right: Formula | float) -> Formula:
    """Return the condition that both sides have the same value.

    Python's `==` is not this: it compares two formulas as objects.

    Args:
        left: One side.
        right: The other side.

    Returns:
        The condition, as a formula.
    """
    return _apply("==", left, right)


def where(condition: Formula, chosen: Formula | float, otherwise: Formula | float) -> Formula:
    """Return a choice between two formulas, of which only the chosen one is evaluated.

    Args:
        condition: A comparison, or a number that is tested against zero.
        chosen: The value where the condition holds or the number is not zero.
        otherwise: The value elsewhere.

    Returns:
        The choice, as a formula.
    """
    return _apply("where", condition, chosen, otherwise)


def usually(usual: Formula | float, condition: Formula, otherwise: Formula | float) -> Formula:
    """Return a choice between two formulas that are mathematically the same, by which of them is rounded less.

    Args:
        usual: The formula of the textbook, computed where the condition holds. `text` shows this one alone.
        condition: A comparison, or `NEVER` for a formula that is only shown.
        otherwise: What is computed elsewhere. It may be any number where its result is not used in turn.

    Returns:
        The choice, as a formula.
    """
    return replace(where(condition, usual, otherwise), atom="chosen")


def unless(usual: Formula | float, condition: Formula, otherwise: Formula | float) -> Formula:
    """Return the choice of `usually` for the opposite of a condition: the usual formula where it does not hold.

    Args:
        usual: The formula of the textbook.
        condition: A comparison.
        otherwise: What is computed where the condition holds.

    Returns:
        The choice, as a formula.
    """
    return replace(where(condition, otherwise, usual), atom="otherwise")


def _apply(operator: str, *arguments: Formula | float) -> Formula:
    return Formula(operator, tuple(as_formula(argument) for argument in arguments))


# Reading formulas


def variables(formula: Formula) -> tuple[str, ...]:
    """Return the names of the variables in a formula.

    Args:
        formula: The formula to read.

    Returns:
        Each name once, in order of appearance.

    Example:
        >>> variables(1 - name("out") * name("out"))
        ('out',)
    """
    if formula.operator == "name":
        return (str(formula.atom),)
    return tuple(dict.fromkeys(variable for part in formula.arguments for variable in variables(part)))


def functions(formula: Formula) -> tuple[str, ...]:
    """Return the names of the functions that a formula calls.

    Args:
        formula: The formula to read.

    Returns:
        Each name once, outer functions first. Operators and choices are not functions.

    Example:
        >>> f = Functions()
        >>> functions(1 / f.log1p(f.exp(name("x"))))
        ('log1p', 'exp')
    """
    own = () if formula.operator in _SYNTAX else (formula.operator,)
    return tuple(dict.fromkeys([*own, *(function for part in formula.arguments for function in functions(part))]))


def is_choice_of_numbers(formula: Formula) -> bool:
    """Return whether a formula is a constant, or a choice among constants by conditions.

    Args:
        formula: The formula to read.

    Returns:
        True for `where(x < 0, 0, 1)`, False for `where(x < 0, 0, x)`.
    """
    if formula.operator == "where":
        return all(is_choice_of_numbers(branch) for branch in formula.arguments[1:])
    return formula.operator == "number"


# Computing with formulas


def substituted(formula: Formula, values: Mapping[str, Formula]) -> Formula:
    """Return a formula with other formulas in place of some of its variables.

    Args:
        formula: The formula to start from.
        values: The replacements by name. Variables without one stay.

    Returns:
        A new formula.

    Example:
        >>> substituted(1 / name("y"), {"y": name("b")}) == 1 / name("b")
        True
    """
    if formula.operator == "name":
        return values.get(str(formula.atom), formula)
    return replace(formula, arguments=tuple(substituted(part, values) for part in formula.arguments))


def textbook(formula: Formula) -> Formula:
    """Return a formula as a person would write it: of what `usually` and `unless` choose from, the usual branch.

    Args:
        formula: The formula to read.

    Returns:
        A formula that is mathematically the same.

    Example:
        >>> x, out = name("x"), name("out")
        >>> textbook(usually(1 - out * out, x < 1, Functions().exp(-2 * x))) == 1 - out * out
        True
    """
    if formula.operator == "where" and formula.atom:
        return textbook(formula.arguments[1 if formula.atom == "chosen" else 2])
    return replace(formula, arguments=tuple(textbook(part) for part in formula.arguments))


def given(formula: Formula, condition: Formula, holds: bool) -> Formula:
    """Return a formula without the choices that a condition, or a number, decides.

    Args:
        formula: The formula to simplify.
        condition: The condition, exactly as the choices have it.
        holds: Whether it holds.

    Returns:
        A formula of the same value, if the condition holds or not as it is said to.

    Example:
        >>> x = name("x")
        >>> given(1 / where(x < 1, 1, x), x < 1, False) == 1 / x
        True
    """
    if formula == condition:
        return number(holds)
    parts = tuple(given(part, condition, holds) for part in formula.arguments)
    if formula.operator in ("where", "and") and parts[0].operator == "number":
        otherwise = parts[2] if formula.operator == "where" else number(0)
        return parts[1] if parts[0].atom else otherwise
    return replace(formula, arguments=parts)


def decided(formula: Formula) -> Formula:
    """Return a formula whose branches do not ask again what chose them.

    Args:
        formula: The formula to simplify.

    Returns:
        A formula of the same value.

    Example:
        >>> x = name("x")
        >>> decided(where(x < 1, 1, 1 / where(x < 1, 1, x))) == where(x < 1, 1, 1 / x)
        True
    """
    parts = formula.arguments
    if formula.operator == "where":
        condition, chosen, otherwise = parts
        parts = (condition, given(chosen, condition, True), given(otherwise, condition, False))
    return replace(formula, arguments=tuple(decided(part) for part in parts))


def computed(formula: Formula) -> Formula:
    """Return a formula as it is computed: without what is only shown, and without choices that others have made.

    Args:
        formula: The formula to simplify.

    Returns:
        A formula of the same value.

    Example:
        >>> x = name("x")
        >>> computed(usually(1 / x, NEVER, x)) == x
        True
    """
    return decided(given(formula, NEVER, False))


def folded(formula: Formula) -> Formula:
    """Return a formula with its constant sums and products computed, and first powers replaced by their base.

    Args:
        formula: The formula to simplify.

    Returns:
        A formula of the same value.

    Example:
        >>> folded(2 * Functions().pow(name("x"), number(2) - 1)) == 2 * name("x")
        True
    """
    parts = tuple(folded(part) for part in formula.arguments)
    numbers = [float(part.atom) for part in parts if part.operator == "number"]
    if formula.operator in ("+", "-", "*") and len(numbers) == len(parts):
        return number(_OPERATORS[formula.operator](*numbers))
    if formula.operator == "pow" and parts[1] == number(1):
        return parts[0]
    return replace(formula, arguments=parts)


def evaluated(formula: Formula, values: Mapping[str, float], functions: object) -> float:
    """Return the value of a formula for numbers in place of its variables.

    Args:
        formula: The formula to evaluate.
        values: A number for each of its variables.
        functions: An object whose attributes are the functions that the formula calls, and `div` for division: the
            module `gradwalk.base.ieee`, for example.

    Returns:
        The value as a float.

    Example:
        >>> import math
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
    function = "div" if formula.operator == "/" else formula.operator
    result = _OPERATORS.get(function) or getattr(functions, function)
    return float(result(*parts))


def resolved(formula: Formula, values: Mapping[str, float], functions: object) -> Formula:
    """Return a formula with each of its choices replaced by the branch that is taken.

    Args:
        formula: The formula to resolve.
        values: A number for each variable that its conditions need.
        functions: An object whose attributes are the functions that the conditions call, as for `evaluated`.

    Returns:
        A formula without choices.

    Example:
        >>> import math
        >>> x = name("x")
        >>> resolved(where(x < 0, -x, x * x), {"x": 3.0}, math) == x * x
        True
    """
    if formula.operator == "where":
        return resolved(_branch(formula, values, functions), values, functions)
    return replace(formula, arguments=tuple(resolved(part, values, functions) for part in formula.arguments))


def _branch(formula: Formula, values: Mapping[str, float], functions: object) -> Formula:
    condition, chosen, otherwise = formula.arguments
    return chosen if evaluated(condition, values, functions) else otherwise
