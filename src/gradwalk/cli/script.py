"""Runs a script and records its `backward()` calls."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import TextIO

from gradwalk.backend import thread_pool
from gradwalk.cli import micrograd
from gradwalk.cli.micrograd import Ending
from gradwalk.cli.replace import probe_points
from gradwalk.explain.timeline import Recorder
from gradwalk.value.modes import source_lines
from gradwalk.value.sweep.backward import observed


def recorded(
    script: str, arguments: Sequence[str], output: TextIO, wanted: int | None, replace: str | None = None
) -> tuple[Ending, Recorder]:
    """Run a script, and return how it ended and its recorded `backward()` calls.

    `output` receives the script's standard output. `wanted` is the number of the backward pass to walk through, counted
    from 1, or None for the last pass. `replace` is the name of a class of the script to replace by gradwalk's Value, or
    None.
    """
    recorder = Recorder(wanted)
    with observed(probe_points.observer(recorder)), source_lines(), contextlib.redirect_stdout(output):
        ending = micrograd.run(script, list(arguments), replace, command="walk")
        try:
            _join_threads()
        except KeyboardInterrupt as interrupt:
            ending = Ending(ending.error or interrupt)
    return ending, recorder


def _join_threads() -> None:
    """Wait for the script's non-daemon threads, as Python does at exit."""
    thread_pool.close()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
