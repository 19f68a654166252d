"""The derivatives of a program, as programs."""

from __future__ import annotations

import math

from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.trace import Indices


def pulled(program: Program) -> Program:
    """Return a program's reverse mode.

    Args:
        program: The program.

    Returns:
        The program from its inputs and the adjoints of its outputs to the adjoints of its inputs.
    """
    tape, inputs, outputs = unrolled(program)
    return tape.program(tape.reverse([(output, tape.input()) for output in outputs], inputs))


def pushed(program: Program) -> Program:
    """Return a program's forward mode.

    Args:
        program: The program.

    Returns:
        The program from its inputs and their tangents to the tangents of its outputs.
    """
    tape, inputs, outputs = unrolled(program)
    return tape.program(tape.forward([(index, tape.input()) for index in inputs], outputs))


MOST_UNROLLED = 2_000_000  # instructions


def weight(program: Program) -> float:
    """Return how many instructions a program is without calls.

    Args:
        program: The program.

    Returns:
        The number; infinite where a call is no such program.
    """
    return len(program) + sum(function.weight for function, _ in program.calls)


def flattened(program: Program) -> Program:
    """Return a program in which loops and choices are replaced by their instructions, unless these are too many.

    Args:
        program: The program.

    Returns:
        A program that computes the same, with the same names.
    """
    weights = [function.weight for function, _ in program.calls if function.weight < math.inf]
    if not weights or sum(weights) > MOST_UNROLLED:
        return program
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs)]
    outputs = tape.inline(program, inputs, flattens=True)
    return tape.program(outputs).named(list(program.input_names), list(program.output_names))


def unrolled(program: Program) -> tuple[Tape, Indices, Indices]:
    """Return a tape with the instructions of a program.

    Args:
        program: The program.

    Returns:
        The tape, and the indices of the program's inputs and outputs on it.
    """
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs)]
    return tape, inputs, tape.inline(program, inputs)
