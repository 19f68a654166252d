"""Record a function of numbers as a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk.program.program import Program
from gradwalk.program.tracing.trace import Recording


def record_program(f: Callable[..., Any], numbers: list[float]) -> Program:
    """Record a function of numbers; `numbers` are example arguments."""
    recording = Recording(staged=True)
    given = [recording.add_inputs(number, "operand") for number in numbers]
    indices, _ = recording.run(f, given, {})
    return recording.program(indices)
