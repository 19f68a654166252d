"""Expression trees for the formulas in `table.py`.

A `Formula` is built with Python operators: if `out` is a `Formula`, so is `1 - out * out`. This module builds and
evaluates formulas; `printers.py` prints them as Python, C and JavaScript code, and as mathematics.
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
# All operators that are not function calls.
_SYNTAX = {*_OPERATORS, "/", "where", "name", "number"}


@dataclass(frozen=True)
class Formula:
    """An immutable expression: an operator or a function applied to arguments, a variable, or a constant.

    Formulas compare by structure. Python operators on formulas build larger formulas.

    Attributes:
        operator: An operator as written in Python, such as `"+"`; `"negative"` or `"where"`; the name of a function;
            `"name"` for a variable; or `"number"` for a constant.
        arguments: The operand formulas.
        atom: The name of a variable, or the value of a constant. For a `where` made by `usually` or `unless`, the
            branch that holds the textbook formula: "chosen" or "otherwise".

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
    def _hash(self) -> int:  # cached: hashing a formula hashes all its parts
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
    """Return a variable."""
    return Formula("name", atom=symbol)


def number(value: float) -> Formula:
    """Return a constant."""
    return Formula("number", atom=float(value))


def as_formula(value: Formula | float) -> Formula:
    """Convert a number to a constant; return a formula unchanged."""
    return value if isinstance(value, Formula) else number(value)


NEVER = number(0)  # a condition that is always false


class Functions:
    """An object whose attributes are functions that build formulas. Any attribute name is accepted.

    `tools/generate.py` reports an error if the table calls a function that one of the target languages lacks.

    Example:
        >>> Functions().exp(name("x")).operator
        'exp'
    """

    def __getattr__(self, function: str) -> Callable[..., Formula]:
        return partial(_apply, function)


def equal(left: Formula, right: Formula | float) -> Formula:
    """Return the condition `left == right` as a formula. Python's `==` would compare the structure of the formulas."""
    return _apply("==", left, right)


def where(condition: Formula, chosen: Formula | float, otherwise: Formula | float) -> Formula:
    """Return the formula `chosen if condition else otherwise`. `evaluated` computes only one of its branches.

    Args:
        condition: A comparison, or any other formula, which counts as true if its value is not zero.
        chosen: The value if the condition is true.
        otherwise: The value if the condition is false.
    """
    return _apply("where", condition, chosen, otherwise)


def usually(usual: Formula | float, condition: Formula, otherwise: Formula | float) -> Formula:
    """Return a choice between two mathematically equal formulas that differ in their rounding errors.

    Args:
        usual: The textbook formula, used if the condition holds. `text` prints only this formula.
        condition: A comparison. If it is `NEVER`, the textbook formula is printed but never computed.
        otherwise: The formula used if the condition does not hold. It may be arbitrary if its value is then ignored.
    """
    return replace(where(condition, usual, otherwise), atom="chosen")


def unless(usual: Formula | float, condition: Formula, otherwise: Formula | float) -> Formula:
    """Return `usually` with the opposite condition: the textbook formula is used if `condition` does not hold."""
    return replace(where(condition, otherwise, usual), atom="otherwise")


def _apply(operator: str, *arguments: Formula | float) -> Formula:
    return Formula(operator, tuple(as_formula(argument) for argument in arguments))


# Reading formulas


def variables(formula: Formula) -> tuple[str, ...]:
    """Return the names of the variables in a formula, each once, in order of appearance.

    Example:
        >>> variables(1 - name("out") * name("out"))
        ('out',)
    """
    if formula.operator == "name":
        return (str(formula.atom),)
    return tuple(dict.fromkeys(variable for part in formula.arguments for variable in variables(part)))


def functions(formula: Formula) -> tuple[str, ...]:
    """Return the names of the functions that a formula calls, each once, outer functions first.

    Operators and `where` are not functions.

    Example:
        >>> f = Functions()
        >>> functions(1 / f.log1p(f.exp(name("x"))))
        ('log1p', 'exp')
    """
    own = () if formula.operator in _SYNTAX else (formula.operator,)
    return tuple(dict.fromkeys([*own, *(function for part in formula.arguments for function in functions(part))]))


def is_choice_of_numbers(formula: Formula) -> bool:
    """Return whether a formula is a constant, or a `where` whose branches are constants: `where(x < 0, 0, 1)`."""
    if formula.operator == "where":
        return all(is_choice_of_numbers(branch) for branch in formula.arguments[1:])
    return formula.operator == "number"


# Computing with formulas


def substituted(formula: Formula, values: Mapping[str, Formula]) -> Formula:
    """Replace variables in a formula by formulas. `values` maps the names of variables to these formulas.

    Example:
        >>> substituted(1 / name("y"), {"y": name("b")}) == 1 / name("b")
        True
    """
    if formula.operator == "name":
        return values.get(str(formula.atom), formula)
    return replace(formula, arguments=tuple(substituted(part, values) for part in formula.arguments))


def textbook(formula: Formula) -> Formula:
    """Replace each choice made by `usually` or `unless` by its textbook branch.

    Example:
        >>> x, out = name("x"), name("out")
        >>> textbook(usually(1 - out * out, x < 1, Functions().exp(-2 * x))) == 1 - out * out
        True
    """
    if formula.operator == "where" and formula.atom:
        return textbook(formula.arguments[1 if formula.atom == "chosen" else 2])
    return replace(formula, arguments=tuple(textbook(part) for part in formula.arguments))


def given(formula: Formula, condition: Formula, holds: bool) -> Formula:
    """Simplify a formula, given that a condition holds or, if `holds` is false, that it does not hold.

    The condition must be written exactly as in the formula. Branches that a constant condition excludes are also
    removed.

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
    """Remove conditions whose truth is known, because an enclosing `where` has the same condition.

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
    """Remove the branches of a formula that are only printed, and its redundant conditions.

    Example:
        >>> x = name("x")
        >>> computed(usually(1 / x, NEVER, x)) == x
        True
    """
    return decided(given(formula, NEVER, False))


def folded(formula: Formula) -> Formula:
    """Evaluate sums, differences and products of constants, and replace pow(x, 1) by x.

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
    """Evaluate a formula.

    Args:
        formula: The formula.
        values: The value of each variable.
        functions: An object that has the functions in the formula as attributes, and `div` for division: for example,
            the module `gradwalk.base.ieee`.

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
    """Replace each `where` by the branch that is taken for these values of the variables.

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
