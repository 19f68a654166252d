"""The command line: `gradwalk walk EXPRESSION name=value ...`, `walk script.py`, `lesson`, `run script.py`, `about`.

Without arguments, it prints the version, the backends, and which commands to try first.
"""

from __future__ import annotations

import io
import os
import re
import sys
import webbrowser
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import gradwalk
from gradwalk.cli import arguments, expression, micrograd, output, script, serve
from gradwalk.cli.expression import ExpressionError
from gradwalk.cli.micrograd import NothingToRunError
from gradwalk.cli.replace import replacement
from gradwalk.cli.replace.value_like_class import ReplacementError
from gradwalk.cli.serve import PyodideError
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.page.page import microgpt_page, page, served_page
from gradwalk.explain.text import is_name
from gradwalk.explain.timeline import Timeline
from gradwalk.explain.visit_order import OrderError
from gradwalk.explain.walk import walk
from gradwalk.graph.graph import Graph
from gradwalk.graph.opening import opened


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with the arguments `argv`, by default `sys.argv[1:]`.

    Returns:
        The exit code: 0 for success, 2 for invalid input, 130 after Ctrl-C, or the exit code of the script that was
        run.
    """
    sys.stdout = sys.stdout or io.StringIO()  # sys.stdout is None if the caller has closed it
    sys.stdin = sys.stdin or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for characters that the terminal cannot show
    options = arguments.parsed(sys.argv[1:] if argv is None else argv, gradwalk.__version__)
    try:
        code = _COMMANDS[options.command](options)
        if not sys.stdout.closed:  # a script may have closed standard output
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}" if error.filename else error)
    except (ExpressionError, OrderError, PictureError, ReplacementError, PyodideError, NothingToRunError) as error:
        return _failed(error)
    return code


def _failed(problem: object) -> int:
    """Print an error message and return exit code 2."""
    print(f"gradwalk: {problem}", file=sys.stderr)
    return 2


def _walk(options: Namespace) -> int:
    """Walk through an expression or a script, and produce the output that the options request."""
    output.refuse_empty_names(options)
    if options.what.endswith(".py"):
        return _walk_script(options)
    if options.replace is not None:
        raise ExpressionError(
            "--replace does not work with an expression: give the path of a script that defines the class"
        )
    if options.number is not None:
        raise ExpressionError("--pass does not work with an expression, which has only one backward pass")
    root, _ = expression.evaluate(expression.parse(options.what), _values(options.values))
    root.backward()
    graph = Graph.record(root)
    return _show(options, opened(graph) if options.opened else graph, None)


def _walk_script(options: Namespace) -> int:
    """Run a script, and show one of its backward passes and the timeline of all passes.

    If the script raises, the passes before the exception are shown first, and then the exception is reported.
    """
    for option in arguments.misplaced(options.values):
        print(
            f"gradwalk: {option} after the script is an argument of the script; write it before the script",
            file=sys.stderr,
        )
    # With --json, standard output is reserved for the JSON, so the script's output goes to standard error.
    printed = sys.stderr if options.json else sys.stdout
    ending, recorder = script.recorded(options.what, options.values, printed, options.number, options.replace)
    timeline = recorder.timeline()
    code = 0
    if timeline is not None:
        timeline = timeline.mapped(opened) if options.opened else timeline
        code = _show(options, timeline.graph, timeline)
    elif recorder.count:
        code = _failed(f"{options.what} called backward() {recorder.count:,} times: there is no pass {options.number}")
    elif ending.error is None or (isinstance(ending.error, SystemExit) and not ending.error.code):
        return _failed(_nothing_to_walk(options))
    if not sys.stdout.closed:
        sys.stdout.flush()
    return ending.report() or code


def _nothing_to_walk(options: Namespace) -> str:
    """Return the message for a script that did not call `backward()` of gradwalk."""
    name = options.what
    own = None if options.replace else replacement.own_class_name(Path(name).read_bytes(), name)
    if own is None:
        return f"{name} did not call backward() of a gradwalk Value"
    return (
        f"{name} did not call backward() of a gradwalk Value. It defines its own class {own}, whose backward() cannot "
        f"be walked through. To replace {own} by gradwalk's Value: gradwalk walk --replace {own} {name}"
    )


def _show(options: Namespace, graph: Graph, timeline: Timeline | None) -> int:
    """Walk through a graph, and produce the output that the options request."""
    order = None if options.order is None else _split(options.order)
    walked = walk(graph, order, overwrite=options.overwrite)
    output.write_files(options, walked, timeline)
    if sys.stdout.closed:
        return _failed(f"{options.what} closed standard output, so the walk cannot be printed")
    output.print_walk(options, walked, timeline)
    return 0


def _lesson(options: Namespace) -> int:
    """Write a lesson, print its path, and open it in a browser if one is found."""
    if options.with_pyodide is not None:
        return _served_lesson(options.file or "index.html", Path(options.with_pyodide))
    file = options.file or ("gradwalk-microgpt.html" if options.microgpt else "gradwalk-lesson.html")
    output.write_page(file, microgpt_page() if options.microgpt else page())
    path = Path(file).resolve()
    print(path)
    sys.stdout.flush()
    if not options.no_open and not webbrowser.open(path.as_uri()):
        print("gradwalk: no browser was found; open the file manually", file=sys.stderr)
    return 0


def _served_lesson(file: str, distribution: Path) -> int:
    """Write a lesson for a web server, copy Pyodide beside the page, and print how to serve the page."""
    folder = Path(file).resolve().parent
    packages = serve.put_python(distribution, folder / serve.FOLDER)
    output.write_page(file, served_page(packages))
    print(folder / Path(file).name)
    print(f"gradwalk: to view the page, serve its folder: python -m http.server -d {folder}", file=sys.stderr)
    return 0


def _run(options: Namespace) -> int:
    """Run a script or module that was written for micrograd."""
    if options.module:
        return micrograd.run_module(options.module[0], options.module[1:], options.adopt).report()
    return micrograd.run(options.script, options.arguments, options.replace, packages=options.adopt).report()


def _about(options: Namespace) -> int:
    """Print a description of this installation."""
    try:
        print(gradwalk.about())
    except ValueError as error:  # GRADWALK_INSTRUCTION_SET is not valid
        return _failed(error)
    return 0


def _welcome(options: Namespace) -> int:
    """Print the version, the backends, and which commands to try first."""
    try:
        about = gradwalk.about()
    except ValueError as error:  # GRADWALK_INSTRUCTION_SET is not valid
        return _failed(error)
    if about.compiler:
        kind, batches = f"compiled by {about.compiler}", f"compiled kernels for {about.instruction_set}"
    else:
        kind, batches = "plain Python, slower than compiled modules", "plain Python"
    llvm = about.packages["llvmlite"]
    native = f"LLVM, by llvmlite {llvm}" if llvm else 'not available; to add it: pip install "gradwalk[native]"'
    print(_WELCOME.format(version=about.version, kind=kind, batches=batches, native=native))
    return 0


_WELCOME = """gradwalk {version}, {kind}
  batches       {batches}
  machine code  {native}

Try first:
  gradwalk walk "a*b + c" a=2 b=-3 c=10   show step by step how the gradients of an expression are computed
  gradwalk lesson                         learn backpropagation in a browser, in fifteen minutes
  gradwalk lesson --microgpt              train a small GPT in a browser, and see how every number in it is computed
  gradwalk --help                         list all commands

Documentation: https://gradwalk.github.io/gradwalk"""

_COMMANDS = {None: _welcome, "walk": _walk, "lesson": _lesson, "run": _run, "about": _about}


def _split(order: str) -> list[str]:
    """Split names at commas, except at commas inside brackets, which belong to a name such as w[i, j]."""
    names = [""]
    depth = 0
    for letter in order:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def _values(given: Sequence[str]) -> dict[str, float]:
    """Parse arguments such as `x=2` into a dict from names to numbers; raise `ExpressionError` for other arguments."""
    values: dict[str, float] = {}
    for argument in given:
        name, equals, number = argument.partition("=")
        name = name.strip()
        if not equals or not is_name(name):
            raise ExpressionError("values must be given as name=value", argument, hint="for example, x=2.5")
        if name in values:
            raise ExpressionError(f"the name {name!r} is given twice", argument)
        try:
            values[name] = float(re.sub("[\u2212\u2013]", "-", number))  # typographic minus and en dash
        except ValueError:
            column = len(argument) - len(number)
            raise ExpressionError(f"the value of {name!r} is not a number", argument, column=column) from None
    return values
