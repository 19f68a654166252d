"""Equations as programs: a function is recorded once for each solution, and what it uses from outside is found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.graph.graph import Floats
from gradwalk.program.loop_recording import applied
from gradwalk.program.program import Program
from gradwalk.program.trace import Recording, named
from gradwalk.trees.tree import TreeDef, flattened, scalars
from gradwalk.value.value import Value

__all__ = ["applied", "check_count", "flat", "pointwise", "recorded"]


def recorded(f: Callable[..., Any], args: Sequence[Any], **unknowns: Any) -> tuple[Program, list[Any], TreeDef]:
    """Record a function of unknowns and of further arguments.

    Args:
        f: The function.
        args: The further arguments. Values in them are found like all others that `f` uses; the rest is what it is.
        **unknowns: The first arguments, trees of numbers, by what messages call them. Only their structures matter.

    Returns:
        The program, whose inputs are the unknowns and then the Values that `f` uses; these Values; and the structure of
        its result.

    Raises:
        RecordingError: `f` asks for a number that is not known.
    """

    @functools.wraps(f)
    def of_unknowns(*opened: Any) -> Any:
        return f(*opened, *args)

    recording = Recording(staged=True)
    opened = [recording.add_inputs(tree, name) for name, tree in unknowns.items()]
    count = len(recording.operands)
    outputs, treedef = recording.run(of_unknowns, opened, {})
    return recording.tape.program(outputs), recording.operands[count:], treedef


def flat(tree: Any, name: str) -> tuple[list[Any], TreeDef]:
    """Return the numbers of a tree, and the structure of one of computed numbers like it.

    Args:
        tree: The tree.
        name: What messages call it.

    Returns:
        Floats and Values, and the structure.
    """
    leaves, treedef = flattened(tree, name)
    numbers = [number if isinstance(number, Value) else float(number) for number in scalars(leaves)]
    return numbers, treedef.with_numbers()


def pointwise(program: Program, params: Floats) -> Callable[[Any], Floats]:
    """Return a program as a function of its first inputs.

    Args:
        program: The program.
        params: The numbers of its last inputs.

    Returns:
        A function of a row of numbers, for one thread.
    """
    row = numpy.empty(program.inputs)
    split = program.inputs - len(params)
    row[split:] = params

    def f(x: Any) -> Floats:
        row[:split] = x
        found: Floats = program.run(row)
        return found

    return f


def check_count(f: Callable[..., Any], found: int, size: int) -> None:
    """Refuse a function that does not return as many numbers as there are unknowns.

    Args:
        f: The function.
        found: How many it returns.
        size: How many unknowns there are.

    Raises:
        ValueError: These differ.
    """
    if found != size:
        raise ValueError(f"{named(f)} returned {found} numbers for {size} unknowns: give as many equations as unknowns")
