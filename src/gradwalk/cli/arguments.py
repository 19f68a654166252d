"""The command line's arguments and help texts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

FILES = ("svg", "film", "page")  # the options of `walk` that name a file to write
_WITH_VALUE = ("--adopt", "--order", "--pass", "--replace", *(f"--{option}" for option in FILES))

_EXAMPLE = 'gradwalk walk "tanh(x1*w1 + x2*w2 + b)" x1=2 x2=0 w1=-3 w2=1 b=6.8813735870195432'


def parsed(arguments: Sequence[str], version: str) -> argparse.Namespace:
    """Parse the arguments that follow the program name.

    The result's `command` is "walk", "lesson", "run" or "about", or None if there are no arguments.
    As in argparse, --help and errors print a message and raise `SystemExit`. `version` is the version that --version
    prints.
    """
    parser = argparse.ArgumentParser(
        prog="gradwalk", description="Scalar reverse-mode automatic differentiation, step by step or at full speed."
    )
    parser.add_argument("--version", action="version", version=f"gradwalk {version}")
    commands = parser.add_subparsers(required=bool(arguments), metavar="COMMAND", dest="command")
    _add_walk(commands)
    _add_lesson(commands)
    _add_run(commands)
    _add_about(commands)
    options, unknown = parser.parse_known_args(_options_first(arguments))
    if options.command is None:
        return options
    command = commands.choices[options.command]  # errors show the usage of this command
    if unknown:
        command.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command == "run" and options.replace is not None and not (options.script or options.module):
        command.error("--replace needs the name of a class, followed by the path of the script")
    if options.command == "run" and not (options.script or options.module):
        command.error("run needs the path of a script, or -m and the name of a module")
    if options.command == "run" and options.replace is not None and options.module:
        command.error("--replace does not work with -m: give the path of the script that defines the class")
    if options.command == "lesson" and options.microgpt and options.with_pyodide is not None:
        command.error("--with-pyodide cannot be combined with --microgpt, whose page has no Python cell")
    return options


def _add_walk(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    walk = commands.add_parser(
        "walk",
        help="show step by step how the gradients of an expression or a script are computed",
        description="Print the graph of an expression, its values in forward order, the backward pass step by step, the"
        " gradients, and a numerical check of each gradient. For a script, print the same for one backward() call, and"
        " each .grad before that call.",
        epilog=f"example: {_EXAMPLE}",
    )
    walk.add_argument(
        "what",
        metavar="expression|script.py",
        help="an expression such as 'tanh(x*w + b)' or 'e = a + b; f = e*c', which is never run as Python; or a Python"
        " script, which is run",
    )
    walk.add_argument(
        "values", nargs="*", default=(), metavar="name=value", help="a number for each name, or the script's arguments"
    )
    walk.add_argument("--opened", action="store_true", help="show each sumprod as separate products and sums")
    walk.add_argument(
        "--pass",
        dest="number",
        type=_number,
        metavar="N",
        help="the backward() call of a script to walk through, counted from 1 (default: the last)",
    )
    _add_replace(walk)
    _add_order(walk)
    _add_outputs(walk)


def _add_replace(command: argparse.ArgumentParser) -> None:
    """Add the option for scripts that define their own Value class."""
    command.add_argument(
        "--replace",
        metavar="NAME",
        help="replace this class of the script, such as Value in microgpt.py, by gradwalk's Value; refused if the"
        " script's numbers would change",
    )


def _add_order(walk: argparse.ArgumentParser) -> None:
    """Add the options that change the backward pass."""
    walk.add_argument(
        "--order",
        metavar="d,b,c,a",
        help="visit the nodes in this order in the backward pass, and show the lost contributions",
    )
    walk.add_argument("--overwrite", action="store_true", help="write gradients with = instead of +=")


def _add_outputs(walk: argparse.ArgumentParser) -> None:
    """Add the options for output formats; `output.py` has a function for each format."""
    walk.add_argument(
        "--svg", metavar="FILE", help="draw the graph as SVG, or as PNG or DOT if the name ends with .png or .dot"
    )
    walk.add_argument(
        "--film",
        metavar="FILE",
        help="draw the graph after each step: an animated .svg, .gif or .mp4, or one .png with all steps",
    )
    walk.add_argument(
        "--page",
        metavar="FILE",
        help="write an .html file with the walk, and the source lines of a script, to open in a browser",
    )
    walk.add_argument(
        "--all", action="store_true", help="print every step of a graph of more than 60 nodes, not only a summary"
    )
    walk.add_argument(
        "--step", action="store_true", help="step through the walk, forward and back, with one key press for each step"
    )
    walk.add_argument("--json", action="store_true", help="print JSON, with nan and inf as strings")


def _add_lesson(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lesson = commands.add_parser(
        "lesson",
        help="learn in a browser how gradients are computed",
        description="Write the lesson as one HTML file, which needs no network, and open it in a browser.",
    )
    lesson.add_argument(
        "file", nargs="?", help="the file to write (default: gradwalk-lesson.html or gradwalk-microgpt.html)"
    )
    lesson.add_argument(
        "--microgpt",
        action="store_true",
        help="write a different page, which trains a GPT on your own list of names and shows every number in the GPT",
    )
    lesson.add_argument(
        "--with-pyodide",
        metavar="FOLDER",
        help="add a cell in which visitors run their own Python, for a page on a server; copies Pyodide from this"
        " folder, which must have NumPy's wheel, into pyodide/ beside the file",
    )
    lesson.add_argument("--no-open", action="store_true", help="write the file without opening it")


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        help="run a script or module that was written for micrograd",
        usage="gradwalk run [-h] [--adopt PACKAGE] ([--replace NAME] script | -m module) ...",
        description="Run a script written for micrograd with gradwalk: unchanged, but faster, and with graphs of any"
        " depth. -m runs a module, as `python -m` does: `gradwalk run -m pytest` runs tests.",
    )
    _add_replace(run)
    run.add_argument(
        "--adopt",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="let this package compute with Values, as `gradwalk.adopt` does; may be given several times",
    )
    run.add_argument("-m", nargs=argparse.REMAINDER, metavar="module", dest="module", help="a module and its arguments")
    run.add_argument("script", nargs="?", help="the path of a script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="the script's own arguments")


def _add_about(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    commands.add_parser(
        "about",
        help="describe this installation, for bug reports",
        description="Print versions, how gradwalk was compiled, and the instruction set, threads and packages it uses.",
    )


def misplaced(given: Sequence[str]) -> list[str]:
    """Return the options of `walk` among the arguments of a script, which `walk` does not see."""
    options = (*_WITH_VALUE, "--all", "--json", "--opened", "--overwrite", "--step")
    return [name for name in dict.fromkeys(text.partition("=")[0] for text in given) if name in options]


def _number(text: str) -> int:
    """Parse the number of a backward pass, an int of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"the number of a pass must be at least 1, got {text!r}")
    return int(text)


def _options_first(arguments: Sequence[str]) -> list[str]:
    """Move the options of `walk` to the front, and put -- before the other arguments.

    Without the --, argparse would take an expression such as -x**2 for an option. All arguments after the name of a
    script belong to the script.
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
