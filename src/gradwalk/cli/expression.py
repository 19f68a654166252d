"""Parses arithmetic such as `tanh(x*w + b)` and evaluates it with Values, without running it as Python.

A program has one or more parts, separated by semicolons or line ends: `e = a + b; f = e*c`. Every part except the last
assigns its result to a name, which later parts can use. The result of the last part is the root of the graph.

web/src/core/expression.js is the same parser for the page, with the same error messages. Change both together.
"""

from __future__ import annotations

import difflib
import keyword
import math
import operator
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from gradwalk.explain.text import is_name, width
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.value.apply import apply
from gradwalk.value.value import Value

_FUNCTIONS = {row.name: row for row in TABLE if row.is_function}
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

# Precedence of each binary operator. A sign binds less tightly than a power, because -x**2 is -(x**2).
_BINARY = {**dict.fromkeys(_COMPARISONS, 1), "+": 2, "-": 2, "*": 3, "/": 3, "//": 3, "%": 3, "**": 5}
_SIGN = 4
_ROWS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "mod", "**": "pow"}

# Characters of typeset formulas: other characters for the same operators, and superscript digits for powers. Some
# middle dots are allowed in names in Python, but are products here. The en dash is included because many keyboards have
# it instead of a minus sign.
_OTHERS = {"\u2212": "-", "\u2013": "-", "\u00f7": "/", "\u2264": "<=", "\u2265": ">="}
_SIGNS = dict.fromkeys("\u00b7\u0387\u22c5\u00d7", "*") | _OTHERS
_RAISED = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b", "0123456789-")

_DIGITS = "[0-9](?:_?[0-9])*"
_NUMBER = rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
_TOKEN = re.compile(
    r"(?P<space>[^\S\n]+|#[^\n]*)"
    rf"|(?P<constant>{_NUMBER}[jJ]|'[^'\n]*'|\"[^\"\n]*\")"
    rf"|(?P<number>{_NUMBER})"
    r"|(?P<end>[;\n])"
    r"|(?P<other>\*\*=|//=|<<|>>|->|[-+*/%=!:]=)"  # longer tokens come before their prefixes
    r"|(?P<symbol>\*\*|//|<=|>=|[-+*/%<>(),=^])"
    rf"|(?P<sign>[{''.join(_SIGNS)}])"
    "|(?P<exponent>\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)"
)
_BRACKET = re.compile(r"[^\S\n]*\(")

# Maps names of functions in other languages and packages to the expressions to use here.
_ELSEWHERE = {
    "absolute": "abs",
    "clip": "minimum(maximum(x, low), high)",
    "expit": "sigmoid",
    "gammaln": "lgamma",
    "int": "trunc",
    "interp": "a + (b - a)*t",
    "ln": "log",
    "logistic": "sigmoid",
    "log_softmax": "x - logaddexp(x, y)",
    "logsigmoid": "-softplus(-x)",
    "logsumexp": "logaddexp(x, y)",
    "max": "maximum",
    "min": "minimum",
    "ndtr": "norm_cdf",
    "ndtri": "norm_ppf",
    "norm": "hypot(x, y)",
    "power": "pow",
    "probit": "norm_ppf",
    "prod": "x*y",
    "psi": "digamma",
    "round": "rint",
    "sgn": "sign",
    "sigm": "sigmoid",
    "softmax": "exp(x) / (exp(x) + exp(y))",
    "square": "x**2",
    "sum": "x + y",
    "swish": "silu",
}
# Functions of two operands whose calls can be nested for more operands, as in hypot(hypot(x, y), z).
_NESTED = {"fmax", "fmin", "hypot", "logaddexp", "maximum", "minimum"}
_NO_HINT = "functions have the names of Python's math module, such as exp, log or tanh"
_SHOWN = 100  # maximum number of characters of a line that an error message shows
_LONGEST = 1000  # maximum length of a label; in a long chain, longer labels would take quadratic memory

_PLAIN_CALL = "call functions by their bare names, as in exp(x)"
_ARITHMETIC = "use only numbers, names, + - * / // % **, one of < <= > >=, brackets and functions such as exp(x)"


class ExpressionError(ValueError):
    """Raised for an invalid expression; the message shows the line with a caret under the error."""

    def __init__(self, problem: str, text: str = "", line: int = 1, column: int = 0, hint: str = "") -> None:
        place = ""
        if text:
            start = max(0, column - _SHOWN // 2)
            shown = text.split("\n")[line - 1][start : start + _SHOWN]
            place = f"\n  {shown}\n  {' ' * width(shown[: column - start])}^"
        super().__init__(problem + place + (f"\n{hint}" if hint else ""))


class Step(NamedTuple):
    """An instruction of the stack machine that evaluates a program.

    "number" and "name" push a value. "operation" and "comparison" pop their operands and push the result. "assignment"
    names the result on top of the stack.

    Attributes:
        kind: The type of the instruction.
        what: Depending on the kind: the number, the name, the name of the operation in the table of operations, or the
            comparison operator.
        start: Offset in the text at which the source of this instruction begins.
        end: Offset in the text at which the source of this instruction ends.
    """

    kind: Literal["number", "name", "operation", "comparison", "assignment"]
    what: str
    start: int
    end: int


@dataclass(frozen=True)
class Parsed:
    """A parsed program: its text, its steps, and the names that need values, in order of appearance."""

    text: str
    steps: tuple[Step, ...]
    names: tuple[str, ...]


def parse(text: str) -> Parsed:
    """Parse a program of numbers, names, + - * / // % **, comparisons, brackets, and functions of the table.

    Operators have the same precedence as in Python. Raises `ExpressionError` for any other text.

    Example:
        >>> parse("tanh(x*w + b)").names
        ('x', 'w', 'b')
        >>> parse("e = a + b; f = e*c").names
        ('a', 'b', 'c')
    """
    text = re.sub("\r\n?", "\n", text).strip()
    parts = _parts(text)
    if not parts:
        raise ExpressionError("the expression is empty", hint="write one such as tanh(x*w + b)")
    parser = _Parser(text)
    for part in parts:
        parser.read(part, is_last=part is parts[-1])
    return Parsed(text, tuple(parser.steps), tuple(parser.names))


def evaluate(parsed: Parsed, values: Mapping[str, float]) -> tuple[Value, dict[str, Value]]:
    """Evaluate a program with Values; return the result of the last part, and a dict from names to leaves.

    `values` maps each name that needs a value to a number. Every Value is labeled with its name or its source text.
    Raises `ExpressionError` if the value of a name is missing, or if a name in `values` is not in the program.

    Example:
        >>> root, leaves = evaluate(parse("a*b"), {"a": 2.0, "b": -3.0})
        >>> root
        Value(data=-6.0, grad=0.0, label='a*b')
    """
    values = {_normal(name): value for name, value in values.items()}
    _check_values(parsed, values)
    leaves = {name: Value(value, label=name) for name, value in values.items()}
    named: dict[str, Value | float] = {**leaves}
    results: list[Value | float] = []
    for step in parsed.steps:
        match step.kind:
            case "number":
                results.append(float(step.what))
            case "name":
                results.append(_found(step, named, parsed.text))
            case "comparison":
                right, left = results.pop(), results.pop()
                results.append(float(_COMPARISONS[step.what](left, right)))
            case "operation":
                operands = results[-BY_NAME[step.what].arity :]
                del results[-len(operands) :]
                results.append(_labeled(apply(OPCODES[step.what], *operands), _source(step, parsed.text)))
            case "assignment":
                named[step.what] = _labeled(results[-1], step.what)
    root = results[-1]
    return root if isinstance(root, Value) else Value(root, label=_label_of_constant(parsed)), leaves


def _check_values(parsed: Parsed, values: Mapping[str, float]) -> None:
    """Raise `ExpressionError` if a value is given for an unknown name, or for a name that the program assigns."""
    made = {step.what for step in parsed.steps if step.kind == "assignment"}
    needed = set(parsed.names)
    for name, value in values.items():
        if name in made:
            raise ExpressionError(f"{name}={value:g} is given, but the program computes {name} itself")
        if name not in needed:
            known = ", ".join([*parsed.names[:8], *["..."] * (len(parsed.names) > 8)]) or "none"
            raise ExpressionError(f"{name}={value:g} is given, but the expression has no '{name}'; it has: {known}")


def _found(step: Step, named: Mapping[str, Value | float], text: str) -> Value | float:
    """Look up the value of a name."""
    name = step.what
    if name not in named:
        hint = f"give it one: {name}={getattr(math, name) if name in ('pi', 'e', 'tau') else 1.0}"
        raise _error(f"no value is given for the name '{name}'", text, step.start, hint)
    return named[name]


def _labeled(result: Value | float, label: str) -> Value | float:
    if isinstance(result, Value):
        result.label = label
    return result


def _label_of_constant(parsed: Parsed) -> str:
    """Return the label of a root that was computed from numbers alone."""
    last = parsed.steps[-1]
    return last.what if last.kind == "assignment" else _source(last, parsed.text)


def _source(step: Step, text: str) -> str:
    """Return the source text of a step, or "" if it is too long for a label."""
    return text[step.start : step.end] if step.end - step.start <= _LONGEST else ""


def _normal(name: str) -> str:
    """Normalize a name with NFKC, as Python does."""
    return unicodedata.normalize("NFKC", name)


def _error(problem: str, text: str, offset: int, hint: str = "") -> ExpressionError:
    """Create an error that points to an offset in the text."""
    before = text[:offset]
    return ExpressionError(problem, text, before.count("\n") + 1, offset - (before.rfind("\n") + 1), hint)


# Tokens


class _Token(NamedTuple):
    """A token of the text.

    Attributes:
        kind: "number", "name", "symbol", "exponent" (superscript digits), "function" (a name and its opening bracket),
            "attribute", "constant" (not a real number), "end" (of a part), "space", or "other" (not in this grammar).
        text: The token's text. The text of a function is the function's name. The text of a typeset character is the
            operator that Python uses instead.
        start: Offset in the text at which the token begins.
        end: Offset in the text at which the token ends.
    """

    kind: str
    text: str
    start: int
    end: int


def _parts(text: str) -> list[list[_Token]]:
    """Split a text into its nonempty parts, each a list of tokens that ends with an "end" token."""
    parts: list[list[_Token]] = [[]]
    for token in _tokens(text):
        parts[-1].append(token)
        if token.kind == "end":
            parts.append([])
    return [part for part in parts if len(part) > 1]


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a text. Spaces, and line ends inside brackets, are left out."""
    depth = position = 0
    while position < len(text):
        token = _token(text, position)
        position = token.end
        if token.kind == "space" or (token.text == "\n" and depth > 0):
            continue
        depth = max(0, depth + (token.kind == "function" or token.text == "(") - (token.text == ")"))
        yield token
    yield _Token("end", "", len(text), len(text))


def _token(text: str, start: int) -> _Token:
    """Return the token or space that begins at an offset."""
    end = _name_end(text, start)
    if end > start:
        return _word(text, start, end)
    if text[start] == "." and (end := _name_end(text, start + 1)) > start + 1:
        return _Token("attribute", text[start:end], start, end)
    found = _TOKEN.match(text, start)
    if found is None:
        return _Token("other", text[start], start, start + 1)
    if found.lastgroup == "sign":
        return _Token("symbol", _SIGNS[found[0]], start, found.end())
    if found.lastgroup == "exponent":
        return _Token("exponent", found[0].translate(_RAISED), start, found.end())
    return _Token(str(found.lastgroup), found[0], start, found.end())


def _name_end(text: str, start: int) -> int:
    """Return the end of the name that begins at an offset, or the offset itself if no name begins there."""
    end = start
    while end < len(text) and (is_name(text[end]) if end == start else is_name(f"_{text[end]}")):
        end += 1
    return end


def _word(text: str, start: int, end: int) -> _Token:
    """Return the token for a name, a function, or a Python keyword."""
    word = text[start:end]
    if word in ("True", "False", "None"):
        return _Token("constant", word, start, end)
    if keyword.iskeyword(word):
        return _Token("other", word, start, end)
    bracket = _BRACKET.match(text, end)
    if bracket:
        return _Token("function", _normal(word), start, bracket.end())
    return _Token("name", _normal(word), start, end)


# Parsing


class _Waiting(NamedTuple):
    """An operator or opening bracket on the parser's stack.

    Attributes:
        what: The name of the operation or function, or the comparison operator; "+" for a unary plus, "(" for a
            bracket.
        token: The token.
        binding: The precedence; 0 for brackets and functions.
        operands: The number of operands; for a function, the number of arguments so far.
    """

    what: str
    token: _Token
    binding: int
    operands: int


class _Parser:
    """Parser that uses Dijkstra's shunting-yard algorithm.

    Operators and brackets stay on an explicit stack until their operands have been read, so nesting depth is unlimited.
    """

    def __init__(self, text: str) -> None:
        self.steps: list[Step] = []
        self.names: dict[str, None] = {}
        self._made: set[str] = set()
        self._text = text
        self._waiting: list[_Waiting] = []
        self._spans: list[tuple[int, int]] = []  # start and end of each pending operand, including brackets

    def read(self, tokens: Sequence[_Token], *, is_last: bool) -> None:
        """Parse the tokens of a part, including its "end" token."""
        first, begin = len(self.steps), tokens[0]
        if begin.kind == "name" and tokens[1].text == "=":
            if begin.text in self._made:
                raise self._error(f"'{begin.text}' is defined twice", begin, "give one of the two parts another name")
            self._read_expression(tokens[2:])
            self._assign(begin, self.steps[first:])
        else:
            self._read_expression(tokens)
            if not is_last:
                hint = "give it a name, as in e = a + b, and use that"
                raise self._error("the result of this part is not used", begin, hint)

    def _read_expression(self, tokens: Sequence[_Token]) -> None:
        """Parse the tokens of an expression."""
        wants_operand = True
        for token in tokens:
            wants_operand = self._operand(token) if wants_operand else self._operator(token)
        self._spans.clear()

    def _assign(self, token: _Token, steps: Sequence[Step]) -> None:
        """Assign the result of a part to the name in a token."""
        name = token.text
        if name in self.names:
            hint = "define a name once, before it is used"
            raise self._error(f"'{name}' is used before it is defined", token, hint)
        if all(step.kind != "name" for step in steps):
            hint = f"leave this part out, and give {name} a value as you do for other names"
            raise self._error(f"'{name}' is computed from numbers only", token, hint)
        if len(steps) == 1:
            other = steps[0].what
            raise self._error(f"'{name}' would be a second name for '{other}'", token, f"use {other} itself")
        self._made.add(name)
        self.steps.append(Step("assignment", name, token.start, token.end))

    def _operand(self, token: _Token) -> bool:
        """Process a token where an operand should begin; return whether an operand is still expected."""
        match token.kind, token.text:
            case "number", digits:
                if digits.replace("_", "").isdigit() and math.isinf(float(digits)):
                    raise self._error("this integer is too large for a float", token)
                self._push("number", token)
                return False
            case "name", name:
                if name not in self._made:
                    self.names[name] = None
                self._push("name", token)
                return False
            case "function", name:
                self._check_function(token)
                self._waiting.append(_Waiting(name, token, 0, 1))
            case "symbol", "(":
                self._waiting.append(_Waiting("(", token, 0, 1))
            case "symbol", "+" | "-":
                self._waiting.append(_Waiting("neg" if token.text == "-" else "+", token, _SIGN, 1))
            case _:
                raise self._no_operand(token)
        return True

    def _operator(self, token: _Token) -> bool:
        """Process a token that follows an operand; return whether another operand is expected."""
        match token.kind, token.text:
            case "symbol", symbol if symbol in _BINARY:
                self._binary(token)
                return True
            case "exponent", _:
                self._raise(token)
            case "symbol", ",":
                self._comma(token)
                return True
            case "symbol", ")":
                self._close(token)
            case "end", _:
                self._reduce(1)
                if self._waiting:
                    raise self._never_closed(self._waiting[-1])
            case _:
                raise self._no_operator(token)
        return False

    def _push(self, kind: Literal["number", "name"], token: _Token) -> None:
        self.steps.append(Step(kind, token.text, token.start, token.end))
        self._spans.append((token.start, token.end))

    def _binary(self, token: _Token) -> None:
        symbol, binding = token.text, _BINARY[token.text]
        self._reduce(binding + 1 if symbol == "**" or symbol in _COMPARISONS else binding)
        if symbol in _COMPARISONS and self._waiting and self._waiting[-1].what in _COMPARISONS:
            hint = "compare twice and multiply, as in (0 < x) * (x < 1)"
            raise self._error("comparisons cannot be chained", token, hint)
        self._waiting.append(_Waiting(_ROWS.get(symbol, symbol), token, binding, 2))

    def _raise(self, token: _Token) -> None:
        """Raise the preceding operand to a superscript exponent; no operator binds more tightly."""
        self._push("number", token)
        self._apply(_Waiting("pow", token, _BINARY["**"], 2), self._spans[-2][0], token.end)

    def _comma(self, token: _Token) -> None:
        self._reduce(1)
        if not self._waiting or self._waiting[-1].what == "(":
            raise self._error("syntax error: a comma is only allowed between arguments", token)
        function = self._waiting.pop()
        self._waiting.append(function._replace(operands=function.operands + 1))

    def _close(self, token: _Token) -> None:
        self._reduce(1)
        if not self._waiting:
            raise self._error("syntax error: unmatched ')'", token)
        opened = self._waiting.pop()
        if opened.what == "(":
            self._spans[-1] = (opened.token.start, token.end)
        else:
            self._check_arity(opened, opened.operands)
            self._apply(opened, opened.token.start, token.end)

    def _reduce(self, binding: int) -> None:
        """Pop and apply the operators on top of the stack whose precedence is at least `binding`."""
        while self._waiting and self._waiting[-1].binding >= binding:
            operator = self._waiting.pop()
            start = operator.token.start if operator.operands == 1 else self._spans[-2][0]
            self._apply(operator, start, self._spans[-1][1])

    def _apply(self, operator: _Waiting, start: int, end: int) -> None:
        del self._spans[-operator.operands :]
        self._spans.append((start, end))
        if operator.what in _COMPARISONS:
            self.steps.append(Step("comparison", operator.what, start, end))
        elif operator.what != "+":
            self.steps.append(Step("operation", operator.what, start, end))

    # Errors

    def _check_function(self, token: _Token) -> None:
        if token.text not in _FUNCTIONS:
            word = token.text.lower()
            known = _ELSEWHERE.get(word, word if word in _FUNCTIONS else "")
            close = [known] if known else difflib.get_close_matches(word, _FUNCTIONS)
            meant = " or ".join(filter(None, (", ".join(close[:-1]), *close[-1:])))
            hint = f"did you mean {meant}?" if close else _NO_HINT
            raise self._error(f"unknown function '{token.text}'", token, hint)

    def _check_arity(self, function: _Waiting, given: int) -> None:
        row = _FUNCTIONS[function.what]
        if given != row.arity:
            arguments = "argument" if row.arity == 1 else "arguments"
            hint = f"nest the calls: {row.name}({row.name}(x, y), z)" if given > 2 and row.name in _NESTED else ""
            raise self._error(f"{row.name}() takes {row.arity} {arguments}, not {given}", function.token, hint)

    def _no_operand(self, token: _Token) -> ExpressionError:
        """Create the error for a token that cannot begin an operand."""
        bracket = self._bracket()
        begins_argument = bracket is not None and bracket is self._waiting[-1] and bracket.what != "("
        if token.kind == "constant":
            return self._error(f"{token.text} is not a real number", token)
        if token.kind in ("other", "attribute"):
            return self._error("this is not arithmetic", token, _ARITHMETIC)
        if token.kind == "end" and bracket:
            return self._never_closed(bracket)
        if token.text in ("*", "**") and begins_argument:
            return self._error("* is not allowed before an argument here", token)
        if token.text == ")" and bracket and begins_argument and bracket.operands == 1:
            self._check_arity(bracket, 0)
        return self._error("syntax error: a number or a name is missing", token)

    def _no_operator(self, token: _Token) -> ExpressionError:
        """Create the error for a token that cannot follow an operand."""
        bracket = self._bracket()
        operand = token._replace(start=self._spans[-1][0])
        if token.kind == "other":
            return self._error("this is not arithmetic", token, _ARITHMETIC)
        if token.kind == "attribute":
            return self._error(f"attributes such as {token.text} are not part of an expression", operand, _PLAIN_CALL)
        if token.text == "^":
            return self._error("^ is not an operation here", token, "for powers write **")
        if token.text == "(":
            hint = f"{_PLAIN_CALL}; for a product write *"
            return self._error("only functions called by name are part of an expression", operand, hint)
        if token.text == "=" and bracket and bracket.what != "(":
            return self._error(f"{bracket.what}() takes no named arguments", token)
        if token.text == "=":
            return self._error("syntax error: only a part can be given a name", token, "as in e = a + b; f = e*c")
        hint = "for a product write *, and for a function brackets, as in 2*exp(x)"
        return self._error("syntax error: an operator is missing", token, hint)

    def _bracket(self) -> _Waiting | None:
        """Return the innermost open bracket, or None."""
        return next((waiting for waiting in reversed(self._waiting) if waiting.binding == 0), None)

    def _never_closed(self, opened: _Waiting) -> ExpressionError:
        return _error("syntax error: '(' was never closed", self._text, opened.token.end - 1)

    def _error(self, problem: str, token: _Token, hint: str = "") -> ExpressionError:
        return _error(problem, self._text, token.start, hint)
