"""`Call`: a function that stays one instruction in graphs and on tapes, such as a primitive or a checkpoint.

A call has one or more results. The methods `vjp` and `jvp` append its derivatives to a tape, as instructions or calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.effects import current_effects
from gradwalk.value.modes import is_staging, leaves_numbers_unknown
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value, with_rule


class Expansion(NamedTuple):
    """Two programs that together compute the results of a call.

    Attributes:
        first: A program whose inputs are the leading operands of the call. Calls with the same leading operands share
            the outputs of `first`.
        rest: A program whose inputs are the outputs of `first` and the remaining operands of the call.
    """

    first: Program
    rest: Program


class Call:
    """Base class of calls. A call is a function of numbers that is a single instruction.

    Attributes:
        outputs: Number of results.
        name: Name in program listings.
        kind: Name in program files; "" for a Python function, which cannot be saved.
        remedy: Advice for error messages, if the call is a Python function and cannot be used.
        parts: The programs inside the call.
        settings: The other data that a program file stores for the call.
        described: Description of a call that consists of programs.
        shown_parts: The programs that listings show, each with its name.
        inputs: Number of operands; None if the call takes any number of operands.
        weight: Number of instructions that replace the call when it is inlined; infinite if it cannot be inlined.
        is_pure: Whether the call has no side effects, so that it need not run twice on the same operands.
        has_effects: Whether the call, or a call in one of its programs, is made for its side effects.
        has_rules: Whether the user defined the derivatives. The call is inlined only where no derivatives follow.
        kinds: For each result, None for a number, or the kind of an array that stays one operand; () for numbers only.
        expansion: The programs that replace the call once all derivatives have been appended to a tape. None if the
            call is not replaced.
    """

    outputs = 1
    kinds: Sequence[Any] = ()
    name = ""
    expansion: Expansion | None = None
    is_pure = False
    has_effects = False
    has_rules = False

    kind = ""
    remedy = "Write it with gradwalk.math instead of a primitive or checkpoint, so that it is traced with the rest"
    parts: Sequence[Program] = ()
    described = ""
    shown_parts: Sequence[tuple[str, Program]] = ()
    inputs: int | None = None
    weight: float = math.inf

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return a dict from the names of parts to their backends; skip the calls whose ids are in `known`."""
        return {}

    @property
    def settings(self) -> dict[str, Any]:
        """The data of the call that a program file stores, besides the programs in `parts`."""
        return {}

    @property
    def portable(self) -> Program | None:
        """An equivalent program that can be saved; None if the call itself can be saved, or no such program exists."""
        return None

    @property
    def refusal(self) -> str:
        """The reason why the call cannot be a part of a routine, or "" if it can: see `routine/lower_calls.py`."""
        if self.kind or self.weight < math.inf:
            return f"it calls {self.name}, which runs separately"
        return f"it calls {self.name}, a Python function. {self.remedy}"

    def effectless(self, operands: int) -> Program | None:
        """Return an equivalent program without side effects, or None if the call has no side effects.

        `operands` is the number of operands.
        """
        return None

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append an equivalent call of numbers; an array among the operands or results is the list of its indices."""
        del operands, tape
        raise NotImplementedError

    def flat(self) -> Program:
        """Return an equivalent program with the call inlined. Needs a finite `weight`."""
        raise NotImplementedError

    def numbers(self, operands: Floats) -> Floats:
        """Compute the results from the operands; both are float64 arrays."""
        raise NotImplementedError

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of the result at `position`, whose value is `result`, with respect to every operand."""
        tape = Tape()
        inputs = [tape.input() for _ in operands]
        seeds = [(tape.call(self, inputs) + position, tape.constant(1.0))]
        found: list[float] = (
            tape.program(tape.reverse(seeds, inputs)).run(numpy.array(operands, numpy.float64)).tolist()
        )
        return found

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the vector-Jacobian product; return the index of each operand's cotangent.

        `base` is the index of the first result, and `adjoints` are the indices of the results' cotangents. In the
        arguments and in the return value `NO_INDEX` denotes a zero cotangent.
        """
        raise NotImplementedError

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the vector-Jacobian product as `vjp` does. Only the cotangents marked in `wanted` must be correct."""
        return self.vjp(tape, operands, base, adjoints)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the Jacobian-vector product; return the index of each result's tangent.

        `base` is the index of the first result, and `tangents` are the indices of the operands' tangents. In the
        arguments and in the return value `NO_INDEX` denotes a zero tangent.
        """
        raise NotImplementedError

    def values(self, operands: Sequence[Any]) -> list[Value]:
        """Compute the results from operands that are Values or floats; return the results as Values.

        While a function is staged, the call is not run, and each result is nan: see `leaves_numbers_unknown`.
        """
        if self.has_effects:
            return self._values_with_effects(operands)
        if leaves_numbers_unknown():
            return self.results(operands, [math.nan] * self.outputs)
        numbers = [primal_of(operand) if isinstance(operand, Value) else operand for operand in operands]
        return self.results(operands, self.numbers(numpy.array(numbers, numpy.float64)).tolist())

    def _values_with_effects(self, operands: Sequence[Any]) -> list[Any]:
        """Make the side effects now or, if a function is staged, each time that its recording runs."""
        numbers = numpy.array([primal_of(x) if isinstance(x, Value) else x for x in operands], numpy.float64)
        quiet = self.effectless(len(operands))
        effects = current_effects()
        assert quiet is not None
        if effects is None or not is_staging():
            self.numbers(numbers)
            return quiet([*operands])
        unknown = leaves_numbers_unknown()
        found = self.results(operands, [math.nan] * self.outputs if unknown else quiet.run(numbers).tolist())
        effects.tokens += Token().results(found[:1], [-0.0])
        return found

    def results(self, operands: Sequence[Any], numbers: Sequence[float]) -> list[Value]:
        """Create a Value for each number in `numbers`, the results of the call. The Values depend on `operands`."""
        made_from = given = tuple([operand if isinstance(operand, Value) else Value(operand) for operand in operands])
        if len(given) * len(numbers) > _MOST_EDGES and any(level_of(operand) for operand in given):
            made_from = (with_rule(0.0, given, self.name, Whole(self, given, 0)),)
        return [with_rule(number, made_from, self.name, Result(self, given, i)) for i, number in enumerate(numbers)]


def token_program(operands: int) -> Program:
    """Return a program with this number of inputs whose output is -0.0."""
    tape = Tape()
    for _ in range(operands):
        tape.input()
    return tape.program([tape.constant(-0.0)])


class ConstantCall(Call):
    """Base class of calls whose results are treated as constants by derivatives."""

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Return a symbolic zero for each operand: see `Call.vjp_needed`."""
        return [NO_INDEX] * len(operands)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Return a symbolic zero for each result: see `Call.jvp`."""
        return [NO_INDEX] * self.outputs


class Token(ConstantCall):
    """A call whose result is the number -0.0, which stands for the side effects of another call, its operand."""

    name = "token"

    def numbers(self, operands: Floats) -> Floats:
        """Return -0.0: see `Call.numbers`."""
        return numpy.array([-0.0])

    def effectless(self, operands: int) -> Program:
        """Return a program that returns -0.0: see `Call.effectless`."""
        return token_program(operands)


_MOST_EDGES = 4096  # maximum number of edges between the results of a call and its operands in a trace


class Result:
    """Backward rule of a Value that is the result at `position` of a call.

    All results of one call share the same tuple of operands, which identifies them as results of one call.
    """

    def __init__(self, call: Call, operands: tuple[Value, ...], position: int) -> None:
        self.call = call
        self.operands = operands
        self.position = position

    def __call__(self, node: Value) -> None:
        """Add to the gradient of each operand the gradient of `node` times the partial with respect to the operand."""
        numbers = [primal_of(operand) for operand in self.operands]
        partials = self.call.partials(numbers, self.position, primal_of(node))
        for operand, partial in zip(self.operands, partials, strict=True):
            operand.grad += partial * node.grad

    @property
    def receivers(self) -> tuple[Value, ...]:
        """The Values whose gradients this rule adds to."""
        return self.operands

    def replaced(self, memo: dict[int, Any]) -> Result:
        """Return the rule for copies of the operands; `memo` maps the id of an original to its copy."""
        copies = memo.setdefault(id(self.operands), tuple([memo[id(operand)] for operand in self.operands]))
        return type(self)(self.call, copies, self.position)

    def recomputed(self) -> float:
        """Return the result for the current numbers of the operands."""
        numbers = numpy.array([primal_of(operand) for operand in self.operands])
        return float(self.call.numbers(numbers)[self.position])


class Whole(Result):
    """Rule of a placeholder Value between the operands and the results of a large call, used only while tracing.

    Each result has a single edge, to the placeholder, instead of one edge to every operand. The rules of the results
    propagate the gradients.
    """

    def __call__(self, node: Value) -> None:
        """Do nothing: the rules of the results propagate the gradients."""

    def recomputed(self) -> float:
        """Return 0, because the number of the placeholder is never used."""
        return 0.0


def append_call(call: Call, tape: Tape, operands: Indices) -> Indices:
    """Append a call to a tape; return the indices of its results."""
    base = tape.call(call, operands)
    return list(range(base, base + call.outputs))


def instantiate_zeros(tape: Tape, derivatives: Indices) -> Indices:
    """Replace each `NO_INDEX` (a zero derivative) by the index of the constant 0."""
    return [tape.constant(0.0) if index == NO_INDEX else index for index in derivatives]
