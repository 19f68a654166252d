"""The command line: `gradwalk walk EXPRESSION name=value ...`, `walk script.py`, `lesson`, `run script.py`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import gradwalk
from gradwalk.backend import thread_pool
from gradwalk.cli import expression, keys, micrograd
from gradwalk.cli.expression import ExpressionError
from gradwalk.explain import report
from gradwalk.explain.check.check import StaleError, check
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.page.page import page
from gradwalk.explain.terminal import Terminal
from gradwalk.explain.walk import OrderError, Walk, walk
from gradwalk.graph.graph import Graph, as_json
from gradwalk.value.modes import source_lines
from gradwalk.value.value import Value

_FILES = ("svg", "film", "page")  # options that name a file
_WITH_VALUE = ("--order", *(f"--{option}" for option in _FILES))
_LARGEST = 1000  # nodes whose steps are printed

_EXAMPLE = 'gradwalk walk "tanh(x1*w1 + x2*w2 + b)" x1=2 x2=0 w1=-3 w2=1 b=6.8813735870195432'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0, or 2 for bad input, or that of the script that was run."""
    sys.stdout = sys.stdout or io.StringIO()  # None where whoever called has closed it
    sys.stdin = sys.stdin or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter still gets the table
    parser = _parser()
    options = parser.parse_args(_protected(sys.argv[1:] if arguments is None else arguments))
    try:
        code: int = options.command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(
            f"gradwalk: {error.filename}: {error.strerror}" if error.filename else f"gradwalk: {error}", file=sys.stderr
        )
        return 2
    except (ExpressionError, OrderError, PictureError, ModuleNotFoundError) as error:
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
        help="watch the gradients of an expression, or of a script, being made",
        description="Print the graph of an expression, its values in forward order, the backward pass step by step, the"
        " gradients, and a numerical check of each. Of a script: those of its last backward().",
        epilog=f"example: {_EXAMPLE}",
    )
    walk.add_argument(
        "what",
        metavar="expression|script.py",
        help="such as 'tanh(x*w + b)' or 'e = a + b; f = e*c', which is never run as Python; or a script, which is run",
    )
    walk.add_argument(
        "values", nargs="*", metavar="name=value", help="a number for each name; or the script's arguments"
    )
    walk.add_argument(
        "--order", metavar="d,b,c,a", help="visit the nodes in this order in the backward pass, and see what is lost"
    )
    walk.add_argument("--overwrite", action="store_true", help="write gradients with = in place of +=")
    walk.add_argument(
        "--svg", metavar="FILE", help="draw the graph; a name that ends with .png or .dot is taken at its word"
    )
    walk.add_argument(
        "--film", metavar="FILE", help="a picture after each step: an animated .svg or .gif, or a .png of all"
    )
    walk.add_argument(
        "--page", metavar="FILE", help="an .html file to walk through in a browser, with the lines of the script"
    )
    walk.add_argument(
        "--step", action="store_true", help="take the steps one at a time, forward and back, a key a step"
    )
    walk.add_argument("--json", action="store_true", help="print JSON for programs; nan and inf as strings")
    walk.set_defaults(command=_walk)

    lesson = commands.add_parser(
        "lesson",
        help="learn how gradients are made, in a browser",
        description="Write the lesson as one HTML file, which needs no network, and open it in the browser.",
    )
    lesson.add_argument("file", nargs="?", default="gradwalk-lesson.html", help="%(default)s, if not given")
    lesson.add_argument("--no-open", action="store_true", help="only write the file")
    lesson.set_defaults(command=_lesson)

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
    """The arguments with the options first, the others behind a --: an expression may begin with a minus.

    What stands behind the name of a script is the script's.
    """
    if not arguments or arguments[0] != "walk":
        return list(arguments)
    options, others = [], []
    rest = iter(arguments[1:])
    for argument in rest:
        if argument.startswith("--") or argument == "-h":
            value = next(rest, None) if argument in _WITH_VALUE else None
            options.append(argument if value is None else f"{argument}={value}")
        else:
            others.append(argument)
            others.extend(rest if argument.endswith(".py") and len(others) == 1 else ())
    return ["walk", *options, "--", *others]


def _walk(options: argparse.Namespace) -> int:
    for option in _FILES:
        if getattr(options, option) == "":
            raise PictureError(f"--{option} needs the name of a file")
    is_script = options.what.endswith(".py")
    code, graph = _run(options) if is_script else (0, _evaluated(options))
    if graph is None:
        if code == 0:
            print(f"gradwalk: {options.what} did not call backward()", file=sys.stderr)
        return code or 2
    order = None if options.order is None else _split(options.order)
    walked = walk(graph, order, overwrite=options.overwrite)
    _save(options, walked)
    if options.json:
        print(_as_json(options, walked))
    elif options.step:
        _step_through(walked)
    elif len(graph) > _LARGEST:
        _print_large(graph)
    else:
        terminal = Terminal(sys.stdout)
        walked.print(terminal)
        _print_check(terminal, walked)
    return code


def _evaluated(options: argparse.Namespace) -> Graph:
    """The graph of the expression, with gradients."""
    parsed = expression.parse(options.what)
    root, _ = expression.evaluate(parsed, _values(options.values))
    root.backward()
    return Graph.record(root)


def _run(options: argparse.Namespace) -> tuple[int, Graph | None]:
    """Run the script; its exit code, and the graph of its last `backward()`, as it was then."""
    last: list[Graph] = []
    backward = Value.backward

    @functools.wraps(backward)
    def watched(root: Value) -> None:
        backward(root)
        last[:] = [Graph.record(root)]

    output = sys.stderr if options.json else sys.stdout  # what the script prints is not part of the JSON
    Value.backward = watched  # type: ignore[method-assign, assignment]
    try:
        with source_lines(), contextlib.redirect_stdout(output):
            code = micrograd.run(options.what, options.values)
            thread_pool.close()
            for thread in threading.enumerate():
                if thread is not threading.current_thread() and not thread.daemon:
                    thread.join()  # as Python does before it ends
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
    finally:
        Value.backward = backward  # type: ignore[method-assign]
    return code, last[0] if last and code == 0 else None


def _save(options: argparse.Namespace, walked: Walk) -> None:
    """Write the files that were asked for."""
    if options.svg:
        walked.draw().save(options.svg)
    if options.film:
        walked.film().save(options.film)
    if options.page:
        _write_page(options.page, page(walked, options.what))


def _lesson(options: argparse.Namespace) -> int:
    """Write the lesson, print where it is, and open it where there is a browser."""
    _write_page(options.file, page())
    path = Path(options.file).resolve()
    print(path)
    sys.stdout.flush()
    if not options.no_open and not webbrowser.open(path.as_uri()):
        print("gradwalk: there is no browser to open it with", file=sys.stderr)
    return 0


def _write_page(path: str, text: str) -> None:
    raster.write(path, {".html": lambda: text})


def _split(order: str) -> list[str]:
    """Names between commas; those inside brackets are part of a name such as max(a, b)."""
    names = [""]
    depth = 0
    for letter in order:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def _as_json(options: argparse.Namespace, walked: Walk) -> str:
    """The walk and the check, as one JSON object. No check of a graph too large for it, or with stale numbers."""
    document = json.loads(walked.to_json()) | {"of": options.what, "check": None}
    if len(walked.graph) <= _LARGEST:
        with contextlib.suppress(StaleError):
            document["check"] = json.loads(check(walked.graph).to_json())
    return as_json(document)


def _print_check(terminal: Terminal, walked: Walk) -> None:
    if walked.overwrite or not walked.is_legal:
        terminal.heading("The check is of the right gradients")
    try:
        found = check(walked.graph)
    except StaleError as error:
        terminal.heading(f"There is no check: {error}.")
    else:
        found.print(terminal)


def _print_large(graph: Graph) -> None:
    """What can be read of a graph with many nodes: its modules, and the gradients of what has a label."""
    terminal = Terminal(sys.stdout)
    report.print_graph(terminal, graph)
    terminal.heading("Gradients of leaves with a label")
    leaves = [node for node in graph.nodes if node.is_leaf and node.label]
    terminal.table(
        ("node", "data", "grad"), [[leaf.name, repr(leaf.data), repr(leaf.grad)] for leaf in leaves[: report.LONGEST]]
    )
    report.print_rest(terminal, len(leaves))
    terminal.line(
        f"Steps and checks are printed for at most {_LARGEST:,} nodes; --json has all steps, --svg a picture."
    )


def _step_through(walked: Walk) -> None:
    """Take steps as the keys say, and print each."""
    terminal = Terminal(sys.stdout)
    report.print_graph(terminal, walked.graph)
    cursor = walked.start()
    last = len(walked.steps)
    terminal.heading("space: next step   b: back   e: to the end   s: to the start   q: quit")
    sys.stdout.flush()
    for key in keys.presses():
        if key == "next":
            step = cursor.next()
            terminal.line(f"{cursor.position}/{last} {step.sentence}" if step else "This is the end.")
        elif key == "back":
            step = cursor.back()
            terminal.line(f"{cursor.position}/{last} taken back: {step.sentence}" if step else "This is the start.")
        elif key == "end":
            while step := cursor.next():
                terminal.line(f"{cursor.position}/{last} {step.sentence}")
        elif key == "start":
            cursor = walked.start()
            terminal.line(f"0/{last} Nothing is known yet.")
        sys.stdout.flush()


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
