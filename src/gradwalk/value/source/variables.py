"""Find the variable that a new node is assigned to, from the source position of the instruction that created the node.

Python stores the line and column range of every instruction. In `loss = (a - b)**2`, the range of the instruction `**`
is the whole right-hand side, so its node is assigned to `loss`. The range of `-` is only a part of the right-hand side,
so the node of `-` is not assigned to `loss`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import NamedTuple

RETURNED = ""  # marks a returned expression: the caller's line has the variable
ONE, MANY = "", "*"  # values of `Target.makes` other than a function name
_LONGEST = 40  # maximum number of characters of a name

# The source range of an instruction: first line, last line, first column, last column. Columns count bytes of UTF-8.
Position = tuple[int | None, int | None, int | None, int | None]

# Functions that return a container of Values instead of a Value.
_CONTAINERS = frozenset(
    ("list", "tuple", "set", "frozenset", "dict", "map", "filter", "zip", "sorted", "reversed", "array", "asarray")
)
_IN_SUBSCRIPTS = (ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)


class Target(NamedTuple):
    """The variable that an expression is assigned to, and how many nodes the expression creates.

    Attributes:
        variable: The name of the variable, such as `w[0]` or `self.b`; `RETURNED` if the expression is returned.
        makes: `ONE` for an operator, which creates one node. For a call, the name of the function: a function that is
            named like an operation creates one node. `MANY` for other expressions, which may create several nodes.
    """

    variable: str
    makes: str


def targets(program: Sequence[str]) -> dict[Position, Target]:
    """Find the expressions of a program whose results are assigned or returned.

    Args:
        program: The lines of the program, including the newlines.

    Returns:
        A dict from source ranges to targets. The key is the source range of the instruction that computes the result of
        an expression. The dict is empty if the program has a syntax error.

    Example:
        >>> targets(["x = 2*y"])
        {(1, 1, 4, 7): Target(variable='x', makes='')}
    """
    found: dict[Position, Target] = {}
    try:
        tree = ast.parse("".join(program))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for statement in ast.walk(tree):
        for variable, expression in _assigned(statement):
            for part in _results(expression):
                for position in _positions(part):
                    found.setdefault(position, Target(variable, _makes(part)))
    return found


def position_of(code: CodeType, instruction: int) -> Position:
    """Return the source range of an instruction, given its offset `frame.f_lasti`."""
    for offset, position in enumerate(code.co_positions()):
        if offset == instruction // 2:
            return position
    return None, None, None, None


def _assigned(statement: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each variable that a statement assigns to, with the expression assigned to it."""
    match statement:
        case ast.Assign(targets=[target, *_], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _unpacked(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _unpacked(target, value)
        case ast.AugAssign(target=target):  # the source range of the operator in `x += y` is the whole statement
            yield from _unpacked(target, statement)
        case ast.Return(value=ast.expr() as value) | ast.Lambda(body=value):
            yield RETURNED, value


def _unpacked(target: ast.expr, value: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each variable of a target with the expression assigned to it. Tuples are matched item by item."""
    match target, value:
        case ((ast.Tuple(elts=names) | ast.List(elts=names)), (ast.Tuple(elts=parts) | ast.List(elts=parts))):
            if len(names) == len(parts) and not any(isinstance(part, ast.Starred) for part in (*names, *parts)):
                for name, part in zip(names, parts, strict=True):
                    yield from _unpacked(name, part)
        case _:
            variable = _name(target)
            if variable.strip("_") and len(variable) <= _LONGEST:
                yield variable, value


def _name(target: ast.expr) -> str:
    """Return the name of an assignment target, such as `self.w`; "" for targets without a simple name."""
    match target:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr=name):
            whose = _name(owner)
            return whose and f"{whose}.{name}"
        case ast.Subscript(value=ast.Name() | ast.Attribute() as owner, slice=index):
            whose = _name(owner)
            is_simple = all(isinstance(part, _IN_SUBSCRIPTS) for part in ast.walk(index))
            return f"{whose}[{ast.unparse(index).strip('()')}]" if whose and is_simple else ""
    return ""


def _results(expression: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts that may compute the value of an expression, such as both branches of `a if c else b`."""
    match expression:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _results(body)
            yield from _results(orelse)
        case ast.NamedExpr(value=value):
            yield from _results(value)
        case ast.Call() if _makes(expression) in _CONTAINERS:
            return
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Call() | ast.Subscript() | ast.Attribute():
            yield expression
        case ast.AugAssign():
            yield expression


def _makes(expression: ast.AST) -> str:
    """Return `Target.makes` for an expression."""
    match expression:
        case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
            return MANY
        case ast.BinOp() | ast.AugAssign() | ast.UnaryOp() | ast.Compare():
            return ONE
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return MANY


def _positions(expression: ast.AST) -> Iterator[Position]:
    """Yield the possible source ranges of the instruction that computes an expression."""
    assert isinstance(expression, ast.expr | ast.stmt)
    end, last = expression.end_lineno, expression.end_col_offset
    yield expression.lineno, end, expression.col_offset, last
    match expression:
        case ast.Call(
            func=ast.Attribute(end_lineno=int() as line, end_col_offset=int() as column, attr=name) as method
        ):
            if method.lineno != line:  # the method name is on its own line, where the instruction begins
                start = column - len(name.encode())
                yield line, line, start, column
                yield line, end, start, last
