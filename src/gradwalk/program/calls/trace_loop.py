"""Recording the parts of a loop, each by itself, as programs; what they use from outside becomes fixed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from gradwalk.program.calls.call import Call
from gradwalk.program.calls.loop import Loop, Sizes
from gradwalk.program.calls.switch import Switch
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.trace import Indices, Recording
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.modes import RecordingError, is_staging, refusals_here, refuses_nans, without_numbers
from gradwalk.value.value import Value

# NumPy and functions written in C raise one of these in place of the `RecordingError` that `__index__` has raised.
_IN_PLACE_OF_REFUSALS = TypeError, ValueError, LookupError


class Part:
    """A function of a loop that has been recorded: its step, or its condition.

    Args:
        f: The function.
        *args: Trees of numbers that it is called with. Only their structures matter.

    Attributes:
        sizes: How many numbers each argument has.
        results: How many numbers it returns.
        captured: The Values that it uses from outside.

    Raises:
        RecordingError: If the function asks for a number that is not known.
    """

    def __init__(self, f: Callable[..., Any], *args: Any) -> None:
        self._recording = Recording(staged=True)
        self.sizes: list[int] = []
        opened = []
        for arg in args:
            before = len(self._recording.operands)
            opened.append(self._recording.add_inputs(arg, "the carry"))
            self.sizes.append(len(self._recording.operands) - before)
        self._outputs = self._recorded(f, opened)
        self.results = len(self._outputs)
        self.captured: list[Any] = self._recording.operands[sum(self.sizes) :]

    def _recorded(self, f: Callable[..., Any], args: Sequence[Any]) -> Indices:
        """Record a call of the function, and return the indices of the numbers in its result."""
        refusals: list[RecordingError] = []

        @functools.wraps(f)
        def watched(*args: Any) -> Any:
            try:
                return f(*args)
            finally:
                refusals.extend(refusals_here())

        try:
            with without_numbers():
                return self._recording.run(watched, args, {})[0]
        except _IN_PLACE_OF_REFUSALS as error:
            if refusals and error is not refusals[0]:
                raise refusals[0] from error
            raise

    def program(self, fixed: Sequence[Any], before: int) -> Program:
        """Return the program of the function.

        Args:
            fixed: What all functions of the loop use from outside, and more; its numbers become inputs.
            before: How many of the arguments stand before what is fixed.

        Returns:
            The program. Its inputs are the numbers of these arguments, what is fixed, and those of the others.
        """
        tape = Tape()
        split = sum(self.sizes[:before])
        first = [tape.input() for _ in range(split)]
        places = {id(number): tape.input() for number in fixed}
        rest = [tape.input() for _ in range(sum(self.sizes) - split)]
        operands = [*first, *rest, *(places[id(number)] for number in self.captured)]
        return tape.program(tape.inline(self._recording.tape.program(self._outputs), operands))


class Carried:
    """What goes round a loop: its numbers, and their structure.

    Args:
        tree: The first carry.
        name: What messages call it.
        function: What messages call the function that makes the next one.
    """

    def __init__(self, tree: Any, name: str, function: str) -> None:
        leaves, treedef = flatten(tree, name)
        self.treedef = treedef.with_numbers()  # arithmetic makes numbers of arrays without dimensions
        self.numbers: list[Any] = list(scalars(leaves))
        self._name, self._function = name, function
        self._is_known = False

    def checked(self, tree: Any) -> list[Any]:
        """Return the numbers of the next carry.

        Args:
            tree: What the user's function has returned.

        Returns:
            Its numbers.

        Raises:
            TypeError: If its structure is another one.
        """
        leaves, treedef = flatten(tree, f"the carry that {self._function} returned")
        if treedef.with_numbers() != self.treedef:
            raise TypeError(
                f"{self._function} returned {treedef} as the next carry, where {self._name} is {self.treedef}: it has "
                "to return the structure that it is given"
            )
        return list(scalars(leaves))

    def next(self, tree: Any) -> Any:
        """Return the next carry as it is. It is checked the first time.

        Args:
            tree: What the user's function has returned.

        Returns:
            The same.

        Raises:
            TypeError: If its structure is another one.
        """
        if not self._is_known:
            self.checked(tree)
            self._is_known = True
        return tree


def recorded_loop(
    step: Callable[[Any, Any, Any], tuple[Any, Any]],
    carry: Carried,
    rows: Sequence[Any],
    span: tuple[int, int | None],
    goes_on: Callable[[Any], Any] | None = None,
    memory: str | int | None = None,
) -> tuple[Any, list[Any], TreeDef | None]:
    """Record a loop, and compute its results.

    Args:
        step: Called with the count, the carry and a row; returns the next carry, and what the step gives, or None.
        carry: The first carry.
        rows: What each step goes through, a tree of numbers or None for each.
        span: The count of the first step; how many there are or, with a condition, may be.
        goes_on: Called with the carry; returns whether there is another step. None where the span says.
        memory: How many carries are kept for the way back: see `Loop`.

    Returns:
        The last carry; the numbers that all steps gave; and the structure of what one gives, None if it is None.
    """
    found: list[TreeDef | None] = []

    def numbers(count: Any, tree: Any, row: Any) -> list[Any]:
        following, given = step(count, tree, row)
        leaves, treedef = ([], None) if given is None else flatten(given, "what f returned")
        found.append(treedef)
        return [*carry.checked(following), *scalars(leaves)]

    first, steps = span
    tree = carry.treedef.filled(carry.numbers)
    body = Part(numbers, 0.0, tree, rows[0] if rows else ())
    guard = None if goes_on is None else Part(lambda val: _number(goes_on(val)), tree)
    fixed = list({id(number): number for number in [*body.captured, *(guard.captured if guard else ())]}.values())
    out = body.results - carry.treedef.size
    sizes = Sizes(carry.treedef.size, len(fixed), body.sizes[2], out)
    condition = None if guard is None else guard.program(fixed, 1)
    loop = Loop(body.program(fixed, 2), sizes, first, steps, condition, memory)
    gone_through = [number for row in rows for number in scalars(flatten(row, "xs")[0])] if sizes.row else []
    results = bind(loop, [*carry.numbers, *fixed, *gone_through])
    return carry.treedef.filled(results[: sizes.carry]), results[sizes.carry :], found[0]


def _number(holds: Any) -> Any:
    """Whether a condition holds, as a number."""
    return float(holds) if isinstance(holds, (bool, numpy.bool_)) else holds


def recorded_choice(index: Any, functions: Mapping[str, Callable[[], Any]]) -> Any:
    """Record a choice between functions, and compute its result.

    Args:
        index: The number of the function, a Value.
        functions: What is called, by the names that messages have for them.

    Returns:
        The result.

    Raises:
        TypeError: If their results differ in structure.
    """
    treedefs: list[TreeDef] = []

    def numbers(name: str, f: Callable[[], Any]) -> list[Any]:
        leaves, treedef = flatten(f(), f"the result of {name}")
        treedefs.append(treedef)
        if treedef != treedefs[0]:
            raise TypeError(
                f"{next(iter(functions))} returned {treedefs[0]} and {name} {treedef}: where the choice is recorded, "
                "all functions have to return one structure"
            )
        return list(scalars(leaves))

    parts = [Part(functools.partial(numbers, name, f)) for name, f in functions.items()]
    shared = list({id(number): number for part in parts for number in part.captured}.values())
    choice = Switch([part.program(shared, 0) for part in parts])
    return treedefs[0].filled(bind(choice, [index, *shared]))


def bind(call: Call, operands: Sequence[Any]) -> list[Any]:
    """Return the results of a call: floats, or Values where an operand is one.

    Args:
        call: The call.
        operands: Floats and Values.

    Returns:
        The results.
    """
    if any(isinstance(operand, Value) for operand in operands):
        if is_staging() and not refuses_nans():
            # Nobody may ask for these numbers, and computing them might never end: a branch that these arguments do
            # not take is recorded, too.
            return list(call.results(operands, [math.nan] * call.outputs))
        return list(call.values(operands))
    return list(call.numbers(numpy.array(operands, numpy.float64)).tolist())
