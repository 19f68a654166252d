"""Prints and writes the output of `gradwalk walk`, with one function for each format.

To add a format, add an option to `arguments.py` and call a function for it in `write_files` or `print_walk`.
"""

from __future__ import annotations

import contextlib
import sys
from argparse import Namespace
from typing import Any

from gradwalk.cli import keys
from gradwalk.cli.arguments import FILES
from gradwalk.explain import report
from gradwalk.explain.check.check import StaleError, check
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.page.page import page
from gradwalk.explain.terminal import Terminal
from gradwalk.explain.timeline import Timeline
from gradwalk.explain.walk import Walk
from gradwalk.graph.json.plain_json import as_json

_LARGEST_ON_A_SCREEN = 60  # maximum number of nodes for which steps are printed without --all
_MOST_LEAVES = 12  # maximum number of leaves in a summary
_LARGEST = 1000  # maximum number of nodes for which steps are printed and gradients are checked


def refuse_empty_names(options: Namespace) -> None:
    """Raise `PictureError` if a file option has an empty file name."""
    for option in FILES:
        if getattr(options, option) == "":
            raise PictureError(f"--{option} needs a file name")


def write_files(options: Namespace, walked: Walk, timeline: Timeline | None) -> None:
    """Write the requested files; `timeline` holds the backward passes of a script, or is None for an expression."""
    if options.svg:
        walked.draw().save(options.svg)
    if options.film:
        walked.film().save(options.film)
    if options.page:
        write_page(options.page, page(walked.essence() | _described(timeline), options.what))


def write_page(path: str, text: str) -> None:
    """Write an HTML page; the file name must end with .html."""
    raster.write(path, {".html": lambda: text})


def print_walk(options: Namespace, walked: Walk, timeline: Timeline | None) -> None:
    """Print a walk; `timeline` holds the backward passes of a script, or is None for an expression."""
    if options.json:
        _print_json(options.what, walked, timeline)
        return
    terminal = Terminal(sys.stdout)
    if timeline is not None:
        report.print_timeline(terminal, timeline)
    if options.step:
        _print_stepwise(terminal, walked)
    elif len(walked.graph) > (_LARGEST if options.all else _LARGEST_ON_A_SCREEN):
        _print_large(terminal, walked)
    else:
        _print_text(terminal, walked)
    if timeline is not None:
        report.print_earlier(terminal, timeline)


def _described(timeline: Timeline | None) -> dict[str, Any]:
    return {} if timeline is None else timeline.to_dict()


def _print_json(what: str, walked: Walk, timeline: Timeline | None) -> None:
    """Print the walk and its check as a JSON object; the check is null if the graph is large or numbers are stale."""
    document = walked.to_dict() | _described(timeline) | {"of": what, "check": None}
    if len(walked.graph) <= _LARGEST:
        with contextlib.suppress(StaleError):
            document["check"] = check(walked.graph).to_dict()
    print(as_json(document))


def _print_text(terminal: Terminal, walked: Walk) -> None:
    """Print the whole walk as tables and sentences, and the numerical check of every gradient."""
    walked.print(terminal)
    if walked.overwrite or not walked.is_legal:
        terminal.heading("The check verifies the correct gradients, not the gradients of this walk")
    try:
        found = check(walked.graph)
    except StaleError as error:
        terminal.heading(f"The gradients were not checked: {error}.")
    else:
        found.print(terminal)


def _print_large(terminal: Terminal, walked: Walk) -> None:
    """Print a summary of a large graph: its modules, the findings, and the largest gradients of labeled leaves."""
    graph = walked.graph
    report.print_graph(terminal, graph)
    report.print_findings(terminal, walked.findings)
    leaves = [node for node in graph.nodes if node.is_leaf and node.label]
    leaves.sort(key=lambda leaf: -abs(leaf.grad))
    terminal.heading("Gradients of labeled leaves, the largest first")
    terminal.table(
        ("node", "data", "grad"), [[leaf.name, repr(leaf.data), repr(leaf.grad)] for leaf in leaves[:_MOST_LEAVES]]
    )
    if len(leaves) > _MOST_LEAVES:
        terminal.line(f"  and {len(leaves) - _MOST_LEAVES:,} more")
    if len(graph) <= _LARGEST:
        terminal.line("--all prints every step and a check of every gradient; --svg draws a picture.")
    else:
        terminal.line(
            f"Steps and checks are printed for at most {_LARGEST:,} nodes; --json has all steps, --svg a picture."
        )


def _print_stepwise(terminal: Terminal, walked: Walk) -> None:
    """Step through a walk with key presses, and print each step."""
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
