"""Rewrite unrecordable branches and loops as calls of `gradwalk.loops`, for suggestions in error messages.

The result is valid Python, which the user can copy. There is no suggestion if the rewritten code would behave
differently, for example because of `break` or an assignment to an attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradwalk.value.source.variables import Position

_LONGEST = 12  # lines of a suggestion

Branch = ast.If | ast.While | ast.IfExp


def rewritten(program: Sequence[str], position: Position) -> str:
    """Rewrite the branch or loop whose condition is evaluated at a source position.

    Args:
        program: The lines of the program, including the newlines.
        position: The source position of the instruction that evaluates the condition.

    Returns:
        The rewritten code; "" if no branch is found, if it cannot be written with `gradwalk.loops`, or if the code
        would be too long.

    Example:
        >>> print(rewritten(["y = x if x > 0 else 2*x"], (1, 1, 9, 14)))
        y = loops.cond(x > 0, lambda: x, lambda: 2 * x)
    """
    try:
        tree = ast.parse("".join(program))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    path = _path(tree, position)
    branch = next(
        (node for node in reversed(path) if isinstance(node, Branch) and _is_within(position, node.test)), None
    )
    if branch is None:
        return ""
    statement = next(node for node in reversed(path) if isinstance(node, ast.stmt))
    block = _block(path, statement)
    later = _loaded_after(path, branch)
    match branch:
        case ast.IfExp():
            lines = _of_expression(statement)
        case ast.If():
            lines = _of_choice(branch, block[block.index(statement) + 1 :], later)
        case ast.While():
            lines = _of_loop(branch, later)
    return "\n".join(lines) if len(lines) <= _LONGEST else ""


# Finding the branch


def _path(tree: ast.AST, position: Position) -> list[ast.AST]:
    """Return the syntax nodes that contain a source position, outermost first."""
    path, inner = [tree], True
    while inner:
        inner = False
        for child in ast.iter_child_nodes(path[-1]):
            if _is_within(position, child):
                path.append(child)
                inner = True
                break
    return path


def _is_within(position: Position, node: ast.AST) -> bool:
    line, last_line, column, last_column = position
    end, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    if None in (line, last_line, column, last_column, end, end_column):
        return False
    start = (node.lineno, node.col_offset)  # type: ignore[attr-defined]  # exists, as the end does
    return start <= (line, column) and (last_line, last_column) <= (end, end_column)


def _block(path: Sequence[ast.AST], statement: ast.stmt) -> list[ast.stmt]:
    """Return the block that contains a statement, as a list of statements."""
    parent = path[[*path].index(statement) - 1]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


# Conditional expressions


def _of_expression(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr):
        return []
    return ast.unparse(ast.fix_missing_locations(_Conditionals().visit(statement))).splitlines()


class _Conditionals(ast.NodeTransformer):
    """Replaces `a if c else b` by `loops.cond(c, lambda: a, lambda: b)`."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        body, orelse = self.visit(node.body), self.visit(node.orelse)
        return _called("cond", _condition(node.test), _thunk(body), _thunk(orelse))


# If statements


def _of_choice(branch: ast.If, following: Sequence[ast.stmt], later: set[str]) -> list[str]:
    """Rewrite `if` as a call of `cond`. It returns the function's result, or the variables that the branches assign."""
    orelse = branch.orelse
    if _returned(branch.body) is not None:
        result = _returned([*orelse, *following])
        return [] if result is None else [f"return {_choice(branch, _returned(branch.body), result)}"]
    names = _unique([*_assigned(branch.body), *_assigned(orelse)])
    if not names or not all(map(_is_assignment, [*branch.body, *orelse])):
        return []
    after = [name for name in names if name in later] or names
    if all(len(block) <= 1 for block in (branch.body, orelse)) and len(names) == 1:
        values = [_value(block[0]) if block else ast.Name(names[0]) for block in (branch.body, orelse)]
        return [f"{names[0]} = {_choice(branch, *values)}"]
    given = [name for name in names if _is_read_first(name, branch.body) or _is_read_first(name, orelse)]
    given += [name for name in after if name not in _assigned(branch.body) or name not in _assigned(orelse)]
    operands = _unique(given)
    call = ", ".join([ast.unparse(_condition(branch.test)), "chosen", "otherwise", *operands])
    return [
        *_function("chosen", operands, branch.body, after),
        *_function("otherwise", operands, orelse, after),
        f"{', '.join(after)} = loops.cond({call})",
    ]


def _choice(branch: ast.If, body: Any, orelse: Any) -> str:
    return ast.unparse(_called("cond", _condition(branch.test), _thunk(body), _thunk(orelse)))


def _returned(block: Sequence[ast.stmt]) -> ast.expr | None:
    """Return the expression that a block returns, or None if the block does not only return an expression."""
    match block:
        case [ast.Return(value=ast.expr() as value), *_]:
            return value
        case [ast.If() as inner, *following]:
            body, orelse = _returned(inner.body), _returned([*inner.orelse, *following])
            if body is not None and orelse is not None:
                return _called("cond", _condition(inner.test), _thunk(body), _thunk(orelse))
    return None


# Loops


def _of_loop(loop: ast.While, later: set[str]) -> list[str]:
    """Rewrite `while` as a call of `while_loop`. The carry holds the variables that a later step or statement reads."""
    if loop.orelse or not all(map(_is_assignment, loop.body)):
        return []
    names = _unique(_assigned(loop.body))
    asked = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    carry = [name for name in names if name in asked or name in later or _is_read_first(name, loop.body)]
    if not carry:
        return []
    test = ast.unparse(_condition(loop.test))
    if len(carry) == 1 and len(loop.body) == 1 and names == carry:
        [name] = carry
        step = ast.unparse(_value(loop.body[0]))
        return [f"{name} = loops.while_loop(lambda {name}: {test}, lambda {name}: {step}, {name})"]
    state = ", ".join(carry)
    if len(carry) == 1:
        return [
            *_function("step", carry, loop.body, carry),
            f"{state} = loops.while_loop(lambda {state}: {test}, step, {state})",
        ]
    unpacked = ast.parse(f"{state} = carry").body
    return [
        *_function("goes_on", ["carry"], unpacked, [], test),
        *_function("step", ["carry"], [*unpacked, *loop.body], carry),
        f"{state} = loops.while_loop(goes_on, step, ({state}))",
    ]


# Building blocks


def _function(
    name: str, parameters: Iterable[str], body: Sequence[ast.stmt], results: Sequence[str], result: str = ""
) -> list[str]:
    lines = [line for statement in body for line in ast.unparse(statement).splitlines()]
    return [
        f"def {name}({', '.join(parameters)}):",
        *(f"    {line}" for line in [*lines, f"return {result or ', '.join(results)}"]),
    ]


def _called(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("loops", ast.Load()), name, ast.Load()), list(arguments), [])


def _thunk(body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def _condition(test: ast.expr) -> ast.expr:
    """Replace `and`, `or`, `not` and chained comparisons in a condition: they call `bool()` on their operands."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return _product([_condition(value) for value in values])
        case ast.BoolOp(values=values) if all(isinstance(value, ast.Compare) for value in values):
            some = ast.BinOp(_condition(values[0]), ast.Add(), _condition(values[1]))
            for value in values[2:]:
                some = ast.BinOp(some, ast.Add(), _condition(value))
            return ast.Compare(some, [ast.Gt()], [ast.Constant(0)])
        case ast.BoolOp(values=values):  # a sum of the values may be 0 although none of them is 0
            neither = _product([_condition(ast.UnaryOp(ast.Not(), value)) for value in values])
            return ast.Compare(neither, [ast.Eq()], [ast.Constant(0)])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ast.Compare(_condition(operand), [ast.Eq()], [ast.Constant(0)])
        case ast.Compare(left=left, ops=ops, comparators=comparators) if len(ops) > 1:
            sides = zip([left, *comparators], ops, comparators, strict=False)
            return _product([ast.Compare(one, [op], [other]) for one, op, other in sides])
    return test


def _product(factors: Sequence[ast.expr]) -> ast.expr:
    product = factors[0]
    for factor in factors[1:]:
        product = ast.BinOp(product, ast.Mult(), factor)
    return product


def _is_assignment(statement: ast.stmt) -> bool:
    """Return whether a statement only assigns to variables."""
    match statement:
        case ast.Assign(targets=[target]):
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            return all(isinstance(name, ast.Name) for name in names)
        case ast.AugAssign(target=ast.Name()) | ast.AnnAssign(target=ast.Name(), value=ast.expr()):
            return True
    return False


def _value(statement: ast.stmt) -> ast.expr:
    """Return the expression that a statement assigns."""
    if isinstance(statement, ast.AugAssign):
        assert isinstance(statement.target, ast.Name)
        return ast.BinOp(ast.Name(statement.target.id, ast.Load()), statement.op, statement.value)
    assert isinstance(statement, ast.Assign | ast.AnnAssign)
    assert statement.value is not None
    return statement.value


def _assigned(block: Iterable[ast.stmt]) -> list[str]:
    return _unique(_names(block, ast.Store))


def _is_read_first(name: str, block: Sequence[ast.stmt]) -> bool:
    """Return whether a block reads a variable before it assigns to it."""
    for statement in block:
        if isinstance(statement, ast.AugAssign) and name in _names([statement.target], ast.Store):
            return True
        if name in _names([statement], ast.Load):
            return True
        if name in _names([statement], ast.Store):
            return False
    return False


def _loaded_after(path: Sequence[ast.AST], branch: Branch) -> set[str]:
    """Return the variables that the enclosing function may read after a branch."""
    inside = [number for number, node in enumerate(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    function = inside[-1] if inside else 0
    loop = next(
        (node for node in path[function:] if isinstance(node, ast.For | ast.While) and node is not branch), None
    )
    first = loop.lineno if loop else (branch.end_lineno or 0) + 1  # the next step of a loop runs earlier lines again
    return {node.id for node in ast.walk(path[function]) if isinstance(node, ast.Name) and node.lineno >= first}


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> Iterator[str]:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, context):
                yield part.id


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
