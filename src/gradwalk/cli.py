"""The command line: `gradwalk walk EXPRESSION name=value ...` and `gradwalk run script.py`."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Any

import gradwalk
from gradwalk import expression, micrograd
from gradwalk.engine import Value, topological_order
from gradwalk.expression import ExpressionError
from gradwalk.terminal import Terminal, name_of, names

_EXAMPLE = 'gradwalk walk "tanh(x1*w1 + x2*w2 + b)" x1=2 x2=0 w1=-3 w2=1 b=6.8813735870195432'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0, or 2 for bad input, or that of the script that was run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter still gets the table
    parser = _parser()
    options = parser.parse_args(_protected(sys.argv[1:] if arguments is None else arguments))
    try:
        code: int = options.command(options)
        sys.stdout.flush()
    except (ExpressionError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"gradwalk: {error}", file=sys.stderr)
        return 2
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradwalk", description="Scalar reverse-mode automatic differentiation, to watch and to use."
    )
    parser.add_argument("--version", action="version", version=f"gradwalk {gradwalk.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    walk = commands.add_parser(
        "walk",
        help="print every value and every gradient of an expression",
        description="Print every value of an expression in forward order, then every gradient in backward order.",
        epilog=f"example: {_EXAMPLE}",
    )
    walk.add_argument("expression", help="such as 'tanh(x*w + b)'; it is parsed, never run as Python")
    walk.add_argument("values", nargs="*", metavar="name=value", help="a number for each name in the expression")
    walk.add_argument("--json", action="store_true", help="print JSON for programs; nan and inf as strings")
    walk.set_defaults(command=_walk)

    run = commands.add_parser(
        "run",
        help="run a script that was written for micrograd",
        description="Run a script with `micrograd` meaning gradwalk: the same program, faster, and at any depth.",
    )
    run.add_argument("script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="the script's own arguments")
    run.set_defaults(command=lambda options: micrograd.run(options.script, options.arguments))
    return parser


def _protected(arguments: Sequence[str]) -> list[str]:
    """The arguments with the options first, and an expression such as -x*y marked as none by a space before it."""
    if not arguments or arguments[0] != "walk":
        return list(arguments)
    options = [a for a in arguments[1:] if a.startswith("--") or a == "-h"]
    others = [f" {a}" if a.startswith("-") else a for a in arguments[1:] if a not in options]
    return ["walk", *options, *others]


def _walk(options: argparse.Namespace) -> int:
    parsed = expression.parse(options.expression)
    root, _ = expression.evaluate(parsed, _values(options.values))
    root.backward()
    if options.json:
        print(json.dumps(_as_data(parsed.text, root), indent=2, ensure_ascii=False))
    else:
        _print_walk(root)
    return 0


def _values(given: Sequence[str]) -> dict[str, float]:
    """Numbers by name from arguments such as `x=2`. Raises `ExpressionError` for anything else."""
    values: dict[str, float] = {}
    for argument in given:
        name, equals, number = argument.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise ExpressionError("this is not a name and a value", argument, hint="write them as x=2.5")
        if name in values:
            raise ExpressionError(f"the name {name!r} is given twice", argument)
        try:
            values[name] = float(number)
        except ValueError:
            column = len(argument) - len(number)
            raise ExpressionError(f"the value of {name!r} is not a number", argument, column=column) from None
    return values


def _print_walk(root: Value) -> None:
    terminal = Terminal(sys.stdout)
    named = names(root)
    order = topological_order(root)
    terminal.heading("Values, in forward order")
    terminal.table(("node", "operation", "operands", "data"), [_row(v, named) for v in order])
    terminal.gap()
    terminal.heading("Gradients, in the order of the backward pass")
    rows = [[*_row(v, named), repr(v.grad)] for v in reversed(order)]
    terminal.table(("node", "operation", "operands", "data", "grad"), rows)


def _row(value: Value, named: dict[Value, str]) -> list[str]:
    operands = ", ".join(name_of(argument, named) for argument in value.arguments)
    return [named[value], value.op, operands, repr(value.data)]


def _as_data(text: str, root: Value) -> dict[str, Any]:
    named = names(root)
    order = topological_order(root)

    def described(value: Value) -> dict[str, Any]:
        operands = [named[x] if isinstance(x, Value) else _json_number(float(x)) for x in value.arguments]
        return {"node": named[value], "operation": value.op, "operands": operands, "data": _json_number(value.data)}

    return {
        "expression": text,
        "values": [described(value) for value in order],
        "gradients": [{**described(value), "grad": _json_number(value.grad)} for value in reversed(order)],
    }


def _json_number(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)
