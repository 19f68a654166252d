"""Runs a script and keeps its `backward()` calls."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Sequence
from typing import TextIO

from gradwalk.backend import thread_pool
from gradwalk.cli import micrograd, samples
from gradwalk.explain.timeline import Recorder
from gradwalk.value.backward import observed
from gradwalk.value.modes import source_lines


def recorded(
    script: str, arguments: Sequence[str], output: TextIO, wanted: int | None, replace: str | None = None
) -> tuple[int, Recorder]:
    """Run a script and record each `backward()` as it was then.

    Args:
        script: The path of the script.
        arguments: The script's own arguments.
        output: Where to put what the script prints to standard output.
        wanted: The number of the pass to walk through; the last if None.
        replace: The class of the script that gradwalk's Value takes the place of, if one is to be replaced.

    Returns:
        The exit code of the script, and what was recorded.
    """
    recorder = Recorder(wanted)
    with observed(samples.observer(recorder)), source_lines(), contextlib.redirect_stdout(output):
        code = _run(script, arguments, replace)
    return code, recorder


def _run(script: str, arguments: Sequence[str], replace: str | None) -> int:
    """Run a script to the end of its threads, and return its exit code."""
    try:
        code = micrograd.run(script, list(arguments), replace, command="walk")
        thread_pool.close()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()  # as Python does before it ends
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return code
