"""Equations as programs: a function is recorded once for each solution, and what it uses from outside is found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.graph.graph import Floats
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
        TypeError: `f` is no function.
    """
    check_callable(f)

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
    leaves, treedef = flatten(tree, name)
    numbers = [number if isinstance(number, Value) else float(number) for number in scalars(leaves)]
    return numbers, treedef.with_numbers()


def unknowns(tree: Any, name: str) -> tuple[list[Any], TreeDef]:
    """Return what a search starts from: see `flat`.

    Args:
        tree: The tree.
        name: What messages call it.

    Raises:
        ValueError: There is no number.
    """
    numbers, treedef = flat(tree, name)
    if not numbers:
        raise ValueError(f"{name} is {tree!r:.60}, which has no numbers: there is nothing to solve for")
    return numbers, treedef


def check_callable(f: Any) -> None:
    """Refuse what is no function.

    Args:
        f: Any object.

    Raises:
        TypeError: It cannot be called.
    """
    if not callable(f):
        raise TypeError(f"{f!r:.60} is no function, but of type {type(f).__name__}: give what is to be called")


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
        raise ValueError(
            f"{display_name(f)} returned {found} numbers for {size} unknowns: give as many equations as unknowns"
        )


def check_structure(f: Callable[..., Any], found: TreeDef, unknowns: TreeDef, name: str) -> None:
    """Refuse a function that does not return the structure of the unknowns: a number in another place is another one.

    Rows are all alike: a list, a tuple, an array of one dimension, and a number for one of these of length 1.

    Args:
        f: The function.
        found: The structure that it returns.
        unknowns: That of the unknowns.
        name: What messages call these.

    Raises:
        ValueError: There are more or fewer numbers.
        TypeError: The structures differ.
    """
    check_count(f, found.size, unknowns.size)
    if found.with_numbers() != unknowns.with_numbers() and not (is_row(found) and is_row(unknowns)):
        raise TypeError(
            f"{display_name(f)} returned {found}, where {name} is {unknowns}: what it returns has to have the "
            f"structure of {name}"
        )


def is_row(treedef: TreeDef) -> bool:
    """Return whether a tree is a number, a list or tuple of numbers, or an array of one dimension.

    Args:
        treedef: Its structure.
    """
    if treedef.spec is None:
        return len(treedef.array_shapes[0]) < 2
    parts = treedef.parts()
    return bool(parts) and all(part.spec is None and part.size == 1 for part in parts)


def number(setting: Any, name: str) -> float:
    """Return a setting of a solver as a float.

    Args:
        setting: The setting.
        name: What messages call it.

    Raises:
        TypeError: It is no number, or one of the recording, which is not known.
    """
    if not is_number(setting):
        raise TypeError(f"{name} is {setting!r:.60}, a {type(setting).__name__}: give one number, which is known")
    return float(setting)
