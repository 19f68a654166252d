"""The arguments of the command line, and what its help says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

FILES = ("svg", "film", "page")  # the options of `walk` that name a file to write
_WITH_VALUE = ("--order", "--pass", "--replace", *(f"--{option}" for option in FILES))

_EXAMPLE = 'gradwalk walk "tanh(x1*w1 + x2*w2 + b)" x1=2 x2=0 w1=-3 w2=1 b=6.8813735870195432'


def parsed(arguments: Sequence[str], version: str) -> argparse.Namespace:
    """Parse the arguments of a call; `command` of the result is "walk", "lesson", "run" or "about".

    Prints help or what is wrong, and raises `SystemExit`, as argparse does.

    Args:
        arguments: The arguments after the name of the program.
        version: The version to print for --version.

    Returns:
        The options.
    """
    parser = argparse.ArgumentParser(
        prog="gradwalk", description="Scalar reverse-mode automatic differentiation, to watch and to use."
    )
    parser.add_argument("--version", action="version", version=f"gradwalk {version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    _add_walk(commands)
    _add_lesson(commands)
    _add_run(commands)
    _add_about(commands)
    options, unknown = parser.parse_known_args(_options_first(arguments))
    command = commands.choices[options.command]  # its usage is what helps
    if unknown:
        command.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command == "run" and options.replace is not None and not (options.script or options.module):
        command.error("--replace takes the name of a class, and behind that comes the path of the script")
    if options.command == "run" and not (options.script or options.module):
        command.error("run takes the path of a script, or -m and the name of a module")
    if options.command == "run" and options.replace is not None and options.module:
        command.error("--replace names a class of a script, and -m runs a module: give the path of the script")
    if options.command == "lesson" and options.microgpt and options.with_pyodide is not None:
        command.error("--with-pyodide adds a cell to the lesson, and --microgpt writes another page")
    return options


def _add_walk(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    walk = commands.add_parser(
        "walk",
        help="watch the gradients of an expression, or of a script, being made",
        description="Print the graph of an expression, its values in forward order, the backward pass step by step, the"
        " gradients, and a numerical check of each. Of a script: those of one backward(), and what .grad had before.",
        epilog=f"example: {_EXAMPLE}",
    )
    walk.add_argument(
        "what",
        metavar="expression|script.py",
        help="such as 'tanh(x*w + b)' or 'e = a + b; f = e*c', which is never run as Python; or a script, which is run",
    )
    walk.add_argument(
        "values", nargs="*", default=(), metavar="name=value", help="a number for each name; or the script's arguments"
    )
    walk.add_argument("--opened", action="store_true", help="show sumprod as the products and sums that it is made of")
    walk.add_argument(
        "--pass",
        dest="number",
        type=_number,
        metavar="N",
        help="which backward() of a script, counted from 1; the last, if not given",
    )
    _add_replace(walk)
    _add_order(walk)
    _add_outputs(walk)


def _add_replace(command: argparse.ArgumentParser) -> None:
    """Add the option for scripts that define micrograd's class themselves."""
    command.add_argument(
        "--replace",
        metavar="NAME",
        help="put gradwalk's Value in the place of this class, which the script defines for itself, as microgpt.py does"
        " with Value; refused where its numbers would change",
    )


def _add_order(walk: argparse.ArgumentParser) -> None:
    """Add the options that say how the backward pass goes."""
    walk.add_argument(
        "--order", metavar="d,b,c,a", help="visit the nodes in this order in the backward pass, and see what is lost"
    )
    walk.add_argument("--overwrite", action="store_true", help="write gradients with = in place of +=")


def _add_outputs(walk: argparse.ArgumentParser) -> None:
    """Add the options that say what is printed and written; `output.py` has a function for each."""
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


def _add_lesson(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lesson = commands.add_parser(
        "lesson",
        help="learn how gradients are made, in a browser",
        description="Write the lesson as one HTML file, which needs no network, and open it in the browser.",
    )
    lesson.add_argument("file", nargs="?", help="gradwalk-lesson.html or gradwalk-microgpt.html, if not given")
    lesson.add_argument(
        "--microgpt",
        action="store_true",
        help="instead, train a GPT on names of yours in the page, and look at every number of it",
    )
    lesson.add_argument(
        "--with-pyodide",
        metavar="FOLDER",
        help="add a cell for Python of the visitor's own, for a server: Pyodide is copied from this folder, which has"
        " NumPy's wheel, into pyodide/ beside the file",
    )
    lesson.add_argument("--no-open", action="store_true", help="only write the file")


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        help="run a script or module that was written for micrograd",
        usage="gradwalk run [-h] ([--replace NAME] script | -m module) ...",
        description="Run a script with `micrograd` meaning gradwalk: the same program, faster, and at any depth. With"
        " -m a module is run, as by `python -m`: `gradwalk run -m pytest` runs tests.",
    )
    _add_replace(run)
    run.add_argument("-m", nargs=argparse.REMAINDER, metavar="module", dest="module", help="a module and its arguments")
    run.add_argument("script", nargs="?", help="the path of a script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="the script's own arguments")


def _add_about(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    commands.add_parser(
        "about",
        help="what this installation is, for reports of errors",
        description="Print versions, how gradwalk was compiled, and what it computes with.",
    )


def _number(text: str) -> int:
    """Read the number of a pass."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a pass, which are counted from 1")
    return int(text)


def _options_first(arguments: Sequence[str]) -> list[str]:
    """Put the options of `walk` first and the rest behind a --, because an expression may begin with a minus.

    Everything behind the name of a script belongs to the script.
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
