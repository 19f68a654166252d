"""Arithmetic written as text, such as `tanh(x*w + b)`, made into Values. It is parsed against the table, never run."""

from __future__ import annotations

import ast
import difflib
import math
import unicodedata
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gradwalk.engine import Value, apply
from gradwalk.lettering import width
from gradwalk.ops import BY_NAME, TABLE, Operation

_OPCODES = {row.name: opcode for opcode, row in enumerate(TABLE, start=1)}
_FUNCTIONS = {row.name: row for row in TABLE if row.is_function}
_OPERATORS: dict[type[ast.AST], Operation] = {
    ast.Add: BY_NAME["add"],
    ast.Sub: BY_NAME["sub"],
    ast.Mult: BY_NAME["mul"],
    ast.Div: BY_NAME["div"],
    ast.Pow: BY_NAME["pow"],
    ast.USub: BY_NAME["neg"],
}
_SHOWN = 100  # letters of a line that an error shows
_COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class ExpressionError(ValueError):
    """What is wrong with an expression, and where: the message shows the line with a caret under the place."""

    def __init__(self, problem: str, text: str = "", line: int = 1, column: int = 0, hint: str = "") -> None:
        place = ""
        lines = text.splitlines()
        if 0 < line <= len(lines):
            start = max(0, column - _SHOWN // 2)
            shown = lines[line - 1][start : start + _SHOWN]
            place = f"\n  {shown}\n  {' ' * width(shown[: column - start])}^"
        super().__init__(problem + place + (f"\n{hint}" if hint else ""))


@dataclass(frozen=True)
class Parsed:
    """An expression that has been found to be arithmetic, and the names in it, in the order of their appearance."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]


def parse(text: str) -> Parsed:
    """Read an expression: numbers, names, + - * / **, brackets, comparisons, and the functions of the table.

    Raises `ExpressionError` for a syntax error and for anything else that Python allows.

    >>> parse("tanh(x*w + b)").names
    ('x', 'w', 'b')
    """
    text = text.strip()
    if not text:
        raise ExpressionError("the expression is empty", hint="write one such as tanh(x*w + b)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # what Python only warns of is an error here
            tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        column = error.offset - 1 if error.offset else len(text)
        raise ExpressionError(f"syntax error: {error.msg}", text, error.lineno or 1, column) from None
    except (RecursionError, MemoryError):
        problem = "the expression is nested, or chained as in x + x + ..., too deeply for Python's parser"
        raise ExpressionError(problem, hint="bracket long sums in parts, as in (a + b) + (c + d)") from None
    except ValueError as error:  # a NUL character
        raise ExpressionError(f"syntax error: {error}") from None
    parts = list(_operands_first(tree))
    for node in reversed(parts):  # what stands outside is looked at first
        _check(node, text)
    names = dict.fromkeys(node.id for node in parts if isinstance(node, ast.Name))
    return Parsed(text, tree, tuple(names))


def evaluate(parsed: Parsed, values: Mapping[str, float]) -> tuple[Value, dict[str, Value]]:
    """The expression's value, and its leaves by name. Every Value is labelled with its part of the text.

    Raises `ExpressionError` where a name has no value, or a value no name in the expression.

    >>> root, leaves = evaluate(parse("a*b"), {"a": 2.0, "b": -3.0})
    >>> root
    Value(data=-6.0, grad=0.0, label='a*b')
    """
    values = {unicodedata.normalize("NFKC", name): value for name, value in values.items()}  # as Python reads names
    for name in values:
        if name not in parsed.names:
            known = ", ".join(parsed.names) or "none"
            raise ExpressionError(
                f"{name}={values[name]:g} is given, but the expression has no {name!r}; it has: {known}"
            )
    leaves = {name: Value(value, label=name) for name, value in values.items()}
    results: dict[ast.AST, Value | float] = {}
    for node in _operands_first(parsed.tree):
        if isinstance(node, ast.Name) and node.id not in leaves:
            hint = f"give it one: {node.id}={getattr(math, node.id) if node.id in ('pi', 'e', 'tau') else 1.0}"
            raise _error(f"no value is given for the name {node.id!r}", parsed.text, node, hint)
        results[node] = result = _evaluate(node, results, leaves)
        if isinstance(result, Value) and not result.label:
            result.label = ast.get_source_segment(parsed.text, node) or ""
    root = results[parsed.tree]
    return (root if isinstance(root, Value) else Value(root, label=parsed.text)), leaves


def _operands_first(tree: ast.expr) -> Iterator[ast.expr]:
    """Every part of an expression, the operands of an operation before it, from left to right."""
    pending = [(tree, False)]
    while pending:
        node, visited = pending.pop()
        if visited:
            yield node
        else:
            pending.append((node, True))
            pending.extend((operand, False) for operand in reversed(_operands(node)))


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Call():
            return node.args
    return []


def _check(node: ast.expr, text: str) -> None:
    """Raise `ExpressionError` where a part of the tree is not arithmetic."""
    match node:
        case ast.Name() | ast.UnaryOp(op=ast.UAdd()):
            pass
        case ast.BinOp(op=operator) | ast.UnaryOp(op=operator) if type(operator) in _OPERATORS:
            pass
        case ast.Compare(ops=[operator]) if isinstance(operator, _COMPARISONS):
            pass
        case ast.Constant(value=bool() as value):
            raise _error(f"{value!r} is not a real number", text, node)
        case ast.Constant(value=int() | float() as value):
            _check_number(node, value, text)
        case ast.Call():
            _check_call(node, text)
        case ast.Constant(value=value):
            raise _error(f"{value!r} is not a real number", text, node)
        case ast.BinOp(op=ast.BitXor()):
            place = ast.Name("^", lineno=node.left.end_lineno or 1, col_offset=node.left.end_col_offset or 0)
            raise _error("^ is not an operation here", text, place, "for powers write **")
        case ast.Attribute():
            hint = "call functions by their bare names, as in exp(x)"
            raise _error(f"attributes such as .{node.attr} are not part of an expression", text, node, hint)
        case _:
            hint = "there are numbers, names, + - * / **, one of < <= > >=, brackets and functions such as exp(x)"
            raise _error("this is not arithmetic", text, node, hint)


def _check_number(node: ast.expr, value: int | float, text: str) -> None:
    try:
        float(value)
    except OverflowError:
        raise _error("this integer is too large for a float", text, node) from None


def _check_call(node: ast.Call, text: str) -> None:
    if not isinstance(node.func, ast.Name):
        hint = "call functions by their bare names, as in exp(x)"
        raise _error("only functions called by name are part of an expression", text, node.func, hint)
    row = _FUNCTIONS.get(node.func.id)
    if row is None:
        close = difflib.get_close_matches(node.func.id, _FUNCTIONS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise _error(f"unknown function {node.func.id!r}", text, node.func, f"{hint}known: {', '.join(_FUNCTIONS)}")
    if node.keywords:
        raise _error(f"{row.name}() takes no named arguments", text, node.keywords[0].value)
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise _error("* cannot stand before an argument here", text, argument)
    if len(node.args) != row.arity:
        arguments = "argument" if row.arity == 1 else "arguments"
        raise _error(f"{row.name}() takes {row.arity} {arguments}, not {len(node.args)}", text, node)


def _evaluate(node: ast.expr, results: Mapping[ast.AST, Value | float], leaves: Mapping[str, Value]) -> Value | float:
    """The value of one part of the tree, those of its operands being known."""
    operands = [results[operand] for operand in _operands(node)]
    match node:
        case ast.Name():
            return leaves[node.id]
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.UAdd()):
            return operands[0]
        case ast.Compare(ops=[operator]):
            left, right = operands
            return float(_compare(operator, left, right))
        case ast.Call(func=ast.Name(id=name)):
            return _apply(_FUNCTIONS[name], operands)
        case ast.BinOp(op=operator) | ast.UnaryOp(op=operator):
            return _apply(_OPERATORS[type(operator)], operands)
    raise AssertionError(f"{ast.dump(node)} got past the check")


def _compare(operator: ast.cmpop, left: Value | float, right: Value | float) -> bool:
    match operator:
        case ast.Lt():
            return left < right
        case ast.LtE():
            return left <= right
        case ast.Gt():
            return left > right
    return left >= right


def _apply(row: Operation, operands: list[Value | float]) -> Value | float:
    result: Value | float = apply(_OPCODES[row.name], *operands)
    return result


def _error(problem: str, text: str, node: ast.expr, hint: str = "") -> ExpressionError:
    """An error at a part of the tree. Python counts columns in bytes of UTF-8."""
    line = text.splitlines()[node.lineno - 1].encode()
    return ExpressionError(problem, text, node.lineno, len(line[: node.col_offset].decode()), hint)
