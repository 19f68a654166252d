"""`Call`: what graphs and tapes know of a function that stays whole, such as a primitive or a checkpoint.

On a tape such a function is a call, with as many results as the function has. A call knows how to pull adjoints of its
results back to its operands, and how to push tangents forward: by instructions, or by calls again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from gradwalk.graph.graph import Floats
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Tape
from gradwalk.program.tracing.trace import Indices
from gradwalk.value.modes import is_abstract, refuses_nans
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value, with_rule


class Expansion(NamedTuple):
    """Programs that together compute what a call computes.

    Attributes:
        first: A program of the first operands of the call. Calls that agree in these share it.
        rest: A program of the outputs of `first` and the other operands.
    """

    first: Program
    rest: Program


class Call:
    """A function of numbers as graphs and tapes hold it.

    Attributes:
        outputs: How many results it has.
        name: What displays call it.
        kind: What files call it; "" for a function of Python, which they cannot hold.
        remedy: For a function of Python, a sentence for messages that says what to do where it cannot be used.
        parts: The programs that it consists of.
        settings: What else files hold of it.
        described: What it is, in words: of one that consists of programs.
        shown_parts: The programs that are shown of it, each with its name.
        inputs: How many operands it takes; None for any number.
        weight: How many instructions it is without calls; infinite where there is no such program.
        expansion: What takes the place of the call once all derivatives of a tape have been appended; None where the
            function has to be called.
    """

    outputs = 1
    name = ""
    expansion: Expansion | None = None

    kind = ""
    remedy = "Write it with gradwalk.math and not as a primitive or checkpoint, so that it is recorded with the rest"
    parts: Sequence[Program] = ()
    described = ""
    shown_parts: Sequence[tuple[str, Program]] = ()
    inputs: int | None = None
    weight: float = math.inf

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return what runs its parts, by their names: see `Interpreter.backends`.

        Args:
            known: The calls that have been looked at, by their `id`.
        """
        return {}

    @property
    def settings(self) -> dict[str, Any]:
        """See the class."""
        return {}

    @property
    def portable(self) -> Program | None:
        """A program of calls that files know, where they do not know this one; None where there is none."""
        return None

    def flat(self) -> Program:
        """Return a program that computes the same by instructions and calls in it, where the weight is finite."""
        raise NotImplementedError

    def numbers(self, operands: Floats) -> Floats:
        """Return the results for numbers.

        Args:
            operands: A row of float64.

        Returns:
            A row of float64, with a number for each result.
        """
        raise NotImplementedError

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result with respect to every operand.

        Args:
            operands: The operands, as numbers.
            position: Which of the results.
            result: That result, which has been computed already.

        Returns:
            A float for each operand.
        """
        tape = Tape()
        inputs = [tape.input() for _ in operands]
        seeds = [(tape.call(self, inputs) + position, tape.constant(1.0))]
        found: list[float] = (
            tape.program(tape.reverse(seeds, inputs)).run(numpy.array(operands, numpy.float64)).tolist()
        )
        return found

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append what computes the adjoints of the operands.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the first result.
            adjoints: The indices of the adjoints of the results, `NO_INDEX` for those that are 0.

        Returns:
            The index of the adjoint of each operand on the tape, `NO_INDEX` for those that are 0.
        """
        raise NotImplementedError

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append what computes the adjoints of some operands: those of the others may be anything.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the first result.
            adjoints: The indices of the adjoints of the results, `NO_INDEX` for those that are 0.
            wanted: For each operand, whether its adjoint is asked for.

        Returns:
            The index of the adjoint of each operand on the tape, or `NO_INDEX`.
        """
        return self.vjp(tape, operands, base, adjoints)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append what computes the tangents of the results.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the first result.
            tangents: The indices of the tangents of the operands, `NO_INDEX` for those that are 0.

        Returns:
            The index of the tangent of each result on the tape, `NO_INDEX` for those that are 0.
        """
        raise NotImplementedError

    def values(self, operands: Sequence[Any]) -> list[Value]:
        """Return the results for Values and floats, as Values.

        Where nobody may ask for their numbers they are not computed: that might fail, or never end, for numbers that
        only stand for others, and a branch that these do not take is recorded, too.

        Args:
            operands: Values and floats.

        Returns:
            A Value for each result.
        """
        if is_abstract() and not refuses_nans():
            return self.results(operands, [math.nan] * self.outputs)
        numbers = [primal_of(operand) if isinstance(operand, Value) else operand for operand in operands]
        return self.results(operands, self.numbers(numpy.array(numbers, numpy.float64)).tolist())

    def results(self, operands: Sequence[Any], numbers: Sequence[float]) -> list[Value]:
        """Return the results for Values and floats, as Values, where their numbers are known.

        Args:
            operands: Values and floats.
            numbers: The numbers of the results.

        Returns:
            A Value for each result.
        """
        made_from = given = tuple([operand if isinstance(operand, Value) else Value(operand) for operand in operands])
        if len(given) * len(numbers) > _MOST_EDGES and any(level_of(operand) for operand in given):
            made_from = (with_rule(0.0, given, self.name, Whole(self, given, 0)),)
        return [with_rule(number, made_from, self.name, Result(self, given, i)) for i, number in enumerate(numbers)]


_MOST_EDGES = 4096  # from the results of a call to its operands, in a recording


class Result:
    """The backward rule of a Value that is a result of a call.

    All results of one call share one tuple of operands: that is how they are known to belong together.

    Args:
        call: The call.
        operands: Its operands.
        position: Which of its results the Value is.
    """

    def __init__(self, call: Call, operands: tuple[Value, ...], position: int) -> None:
        self.call = call
        self.operands = operands
        self.position = position

    def __call__(self, node: Value) -> None:
        """Add to the gradients of the operands, in a backward sweep."""
        numbers = [primal_of(operand) for operand in self.operands]
        partials = self.call.partials(numbers, self.position, primal_of(node))
        for operand, partial in zip(self.operands, partials, strict=True):
            operand.grad += partial * node.grad

    @property
    def receivers(self) -> tuple[Value, ...]:
        """The Values that it adds to the gradients of."""
        return self.operands

    def replaced(self, memo: dict[int, Any]) -> Result:
        """Return the rule for copies of the operands, which `memo` has by the `id` of the originals.

        Args:
            memo: The copies, by the `id` of the originals.

        Returns:
            The rule.
        """
        copies = memo.setdefault(id(self.operands), tuple([memo[id(operand)] for operand in self.operands]))
        return type(self)(self.call, copies, self.position)

    def recomputed(self) -> float:
        """Return the result for the numbers that the operands have now."""
        numbers = numpy.array([primal_of(operand) for operand in self.operands])
        return float(self.call.numbers(numbers)[self.position])


class Whole(Result):
    """The rule of a Value that stands for all results of a large call, in recordings alone.

    Each of the results is made from this Value, instead of from all operands. It passes no gradient on: they do.
    """

    def __call__(self, node: Value) -> None:
        """Do nothing."""

    def recomputed(self) -> float:
        """Return the number of the Value, which says nothing."""
        return 0.0


def append_call(call: Call, tape: Tape, operands: Indices) -> Indices:
    """Append a call to a tape.

    Args:
        call: The call.
        tape: The tape.
        operands: The indices of its operands.

    Returns:
        The indices of its results.
    """
    base = tape.call(call, operands)
    return list(range(base, base + call.outputs))


def instantiate_zeros(tape: Tape, derivatives: Indices) -> Indices:
    """Return derivatives with a constant for those that are 0.

    Args:
        tape: The tape.
        derivatives: The indices of the derivatives, or `NO_INDEX`.

    Returns:
        The indices.
    """
    return [tape.constant(0.0) if index == NO_INDEX else index for index in derivatives]
