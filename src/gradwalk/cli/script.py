"""Runs a script and keeps the graph of its last `backward()`."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Sequence
from typing import TextIO

from gradwalk.backend import thread_pool
from gradwalk.cli import micrograd
from gradwalk.graph.graph import Graph
from gradwalk.value.backward import observed
from gradwalk.value.modes import source_lines
from gradwalk.value.value import Value


def last_graph(script: str, arguments: Sequence[str], output: TextIO) -> tuple[int, Graph | None]:
    """Run a script and return the graph of its last `backward()`, as it was then.

    Args:
        script: The path of the script.
        arguments: The script's own arguments.
        output: Where to put what the script prints to standard output.

    Returns:
        The exit code of the script, and the graph; None if the script failed or never called `backward()`.
    """
    last: list[Graph] = []

    def keep(root: Value) -> None:
        last[:] = [Graph.record(root)]

    with observed(keep), source_lines(), contextlib.redirect_stdout(output):
        code = _run(script, arguments)
    return code, last[0] if last and code == 0 else None


def _run(script: str, arguments: Sequence[str]) -> int:
    """Run a script to the end of its threads, and return its exit code."""
    try:
        code = micrograd.run(script, list(arguments))
        thread_pool.close()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()  # as Python does before it ends
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return code
