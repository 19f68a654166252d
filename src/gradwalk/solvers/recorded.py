"""Record the equation of a solver as a program, and validate the arguments of solvers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.calls.trace_loop import bind
from gradwalk.program.program import Program
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.convert import is_number
from gradwalk.value.value import Value

__all__ = [
    "bind",
    "check_callable",
    "check_count",
    "check_structure",
    "flat",
    "is_row",
    "number",
    "pointwise",
    "recorded",
    "unknowns",
]


def recorded(f: Callable[..., Any], args: Sequence[Any], **unknowns: Any) -> tuple[Program, list[Any], TreeDef]:
    """Record a function of unknowns and further arguments as a program.

    Args:
        f: The function.
        args: The further arguments. Values in them are treated like Values that `f` captures. Numbers are constants.
        **unknowns: The first arguments of `f`, trees of numbers. Only the structure of each tree is used. Its keyword
            is the name of the argument in error messages.

    Returns:
        The program, the Values that `f` uses, and the treedef of the result. The inputs of the program are the
        unknowns, followed by the Values.
    """
    check_callable(f)

    @functools.wraps(f)
    def of_unknowns(*opened: Any) -> Any:
        return f(*opened, *args)

    recording = Recording(staged=True)
    opened = [recording.add_inputs(tree, name) for name, tree in unknowns.items()]
    count = len(recording.operands)
    outputs, treedef = recording.run(of_unknowns, opened, {})
    return recording.program(outputs), recording.operands[count:], treedef


def flat(tree: Any, name: str) -> tuple[list[Any], TreeDef]:
    """Flatten a tree; return its numbers (floats and Values) and its treedef, whose leaves are numbers."""
    leaves, treedef = flatten(tree, name)
    numbers = [number if isinstance(number, Value) else float(number) for number in scalars(leaves)]
    return numbers, treedef.with_numbers()


def unknowns(tree: Any, name: str) -> tuple[list[Any], TreeDef]:
    """Flatten a tree of unknowns as `flat` does; raise `ValueError` if it is empty."""
    numbers, treedef = flat(tree, name)
    if not numbers:
        raise ValueError(f"{name} must contain at least one number to solve for, got {tree!r:.60}")
    return numbers, treedef


def check_callable(f: Any) -> None:
    """Raise `TypeError` if `f` is not callable."""
    if not callable(f):
        raise TypeError(f"expected a function, got {type(f).__name__}: {f!r:.60}")


def pointwise(program: Program, params: Floats) -> Callable[[Any], Floats]:
    """Return a function of the first inputs of a program that runs the program with `params` as the last inputs.

    Only one thread at a time may call the function.
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
    """Raise `ValueError` if a function returns more or fewer numbers than there are unknowns."""
    if found != size:
        raise ValueError(f"{display_name(f)} must return {size} numbers, as many as there are unknowns, got {found}")


def check_structure(f: Callable[..., Any], found: TreeDef, unknowns: TreeDef, name: str) -> None:
    """Raise an exception if the result of `f` does not have the structure of the unknowns.

    Lists, tuples and one-dimensional arrays of the same length are interchangeable. A number and a sequence of length 1
    are interchangeable, too. Raises `ValueError` if the count of numbers differs, `TypeError` if only the structure
    does.
    """
    check_count(f, found.size, unknowns.size)
    if found.with_numbers() != unknowns.with_numbers() and not (is_row(found) and is_row(unknowns)):
        raise TypeError(f"{display_name(f)} must return the structure of {name}, {unknowns}, got {found}")


def is_row(treedef: TreeDef) -> bool:
    """Return whether a tree is a number, a list or tuple of numbers, or a one-dimensional array."""
    if treedef.spec is None:
        return len(treedef.array_shapes[0]) < 2
    parts = treedef.parts()
    return bool(parts) and all(part.spec is None and part.size == 1 for part in parts)


def number(setting: Any, name: str) -> float:
    """Convert a setting of a solver to a float; raise `TypeError` if it is not a concrete number."""
    if not is_number(setting):
        raise TypeError(f"{name} must be a concrete number, got {type(setting).__name__}: {setting!r:.60}")
    return float(setting)
