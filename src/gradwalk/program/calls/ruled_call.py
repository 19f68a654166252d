"""`RuledCall`: a program that is one instruction, because its derivatives are given by the user's rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import Call, Result, Whole, instantiate_zeros
from gradwalk.program.calls.linearity import nonlinear_operation
from gradwalk.program.calls.program_derivatives import calling, has_effects, to_tape, weight, without_effects
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.program import Program
from gradwalk.program.routine.limits import why_not_lowerable
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.value.modes import is_staging, is_without_gradient
from gradwalk.value.node import primal_of, rule_of
from gradwalk.value.value import Value, with_rule


class Rules:
    """The derivatives of a `RuledCall` as programs, which are recorded when they are first needed."""

    # The function that has these derivatives.
    function: Callable[..., Any]
    # Whether the vector-Jacobian product may be any function of the cotangents, such as a clipped gradient.
    may_be_nonlinear = False

    def jvp_program(self, operands: int, results: int) -> Program:
        """Return the program that maps (operands, their tangents) to tangents of the results.

        `operands` and `results` are the numbers of both.
        """
        raise NotImplementedError

    def vjp_program(self, operands: int, results: int) -> Program:
        """Return the program that maps (operands, cotangents of the results) to cotangents of the operands."""
        raise NotImplementedError

    def refuse_captured(self) -> None:
        """Raise an error, because a derivative with respect to a Value outside the arguments is needed."""
        raise NotImplementedError


class RuledCall(Call):
    """A program with user-defined derivatives that is called as a single operation.

    Args:
        program: The program. Its inputs are the operands, followed by captured Values.
        name: The name of the function.
        operands: The number of operands.
        rules: The derivatives.
    """

    has_rules = True

    def __init__(self, program: Program, name: str, operands: int, rules: Rules) -> None:
        self.name = name
        self.inputs = program.inputs
        self.outputs = len(program.outputs)
        self.has_effects = has_effects(program)
        self.described = "a program with user-defined derivatives"
        self.parts = (program,)
        self.shown_parts = [("value", program)]
        self._program = program
        self._operands = operands
        self._rules = rules

    def is_of(self, f: Callable[..., Any]) -> bool:
        """Return whether the program is a recording of the function `f`."""
        return self._rules.function is f

    def __repr__(self) -> str:
        return f"<call of {self.name}>"

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of the program: see `Call.backends`."""
        return prefix_keys("value", self._program.interpreter.backends_beside(known))

    def numbers(self, operands: Floats) -> Floats:
        """Run the program on numbers: see `Call.numbers`."""
        results: Floats = self._program.run(operands)
        return results

    def cotangents(self, operands: Sequence[float], adjoints: Sequence[float]) -> Sequence[float]:
        """Return the cotangents of the operands, given the cotangents of the results."""
        if len(operands) > self._operands:
            self._rules.refuse_captured()
        found: list[float] = self._vjp.run(numpy.array([*operands, *adjoints], numpy.float64)).tolist()
        return found

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result with respect to each operand."""
        return self.cotangents(operands, [float(i == position) for i in range(self.outputs)])

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the instructions of the vector-Jacobian product: see `Call.vjp`."""
        return self.vjp_needed(tape, operands, base, adjoints, [True] * len(operands))

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the instructions of the vector-Jacobian product: see `Call.vjp_needed`."""
        own = self._operands
        if any(wanted[own:]):
            self._rules.refuse_captured()
        found: Indices = tape.inline(self._vjp, [*operands[:own], *instantiate_zeros(tape, adjoints)])
        return [*found, *[NO_INDEX] * (len(operands) - own)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the instructions of the Jacobian-vector product: see `Call.jvp`."""
        own = self._operands
        if any(tangent != NO_INDEX for tangent in tangents[own:]):
            self._rules.refuse_captured()
        found: Indices = tape.inline(self._jvp, [*operands[:own], *instantiate_zeros(tape, tangents[:own])])
        return found

    @cached_property
    def _vjp(self) -> Program:
        return self._rules.vjp_program(self._operands, self.outputs)

    @cached_property
    def _jvp(self) -> Program:
        return self._rules.jvp_program(self._operands, self.outputs)

    @cached_property
    def weight(self) -> float:
        """The number of instructions of the program: see `Call.weight`."""
        return weight(self._program)

    @cached_property
    def refusal(self) -> str:
        """The reason why the program cannot be lowered, or "": see `Call.refusal`."""
        return why_not_lowerable(self._program.code)

    def effectless(self, operands: int) -> Program | None:
        """Return a program that calls the program without side effects: see `Call.effectless`."""
        if not self.has_effects:
            return None
        return calling(RuledCall(without_effects(self._program), self.name, self._operands, self._rules), operands)

    def flat(self) -> Program:
        """Return the program: see `Call.flat`."""
        return self._program

    @property
    def portable(self) -> Program:
        """The program, which has the derivatives of its instructions once it is saved."""
        return self._program

    def results(self, operands: Sequence[Any], numbers: Sequence[float]) -> list[Value]:
        """Create a Value for each result: see `Call.results`."""
        given = tuple([operand if isinstance(operand, Value) else Value(operand) for operand in operands])
        if self._needs_all_cotangents:
            placeholder = (with_rule(0.0, given, self.name, _AllCotangents(self, given, 0)),)
            return [
                with_rule(number, placeholder, self.name, _Delivery(self, given, i)) for i, number in enumerate(numbers)
            ]
        return [with_rule(number, given, self.name, _RuledResult(self, given, i)) for i, number in enumerate(numbers)]

    @property
    def _needs_all_cotangents(self) -> bool:
        """Whether a backward pass over Values must call the rule once, with the cotangents of all results."""
        if self.outputs == 1 or not self._rules.may_be_nonlinear or is_staging() or is_without_gradient():
            return False
        varies = [i >= self._operands for i in range(self._vjp.inputs)]
        return bool(nonlinear_operation(self._vjp.code, varies))


class _RuledResult(Result):
    """Backward rule of a Value that is one result: it calls the user's rule with the cotangent of this result."""

    def __call__(self, node: Value) -> None:
        adjoints = [0.0] * self.call.outputs
        adjoints[self.position] = node.grad
        _add(self, adjoints)


class _Delivery(_RuledResult):
    """Backward rule of a Value that is one of several results: it delivers its cotangent to `_AllCotangents`."""

    def __call__(self, node: Value) -> None:
        [placeholder] = node.operands
        rule_of(placeholder).delivered.append((self.position, node.grad))
        placeholder.grad += 1.0


class _AllCotangents(Whole):
    """Backward rule of the placeholder between the operands and the results: it has the cotangents of all results.

    Attributes:
        delivered: The cotangents that results have delivered, as pairs (position, cotangent). The gradient of the
            placeholder is the number of those that belong to the current backward pass.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.delivered: list[tuple[int, float]] = []

    def __call__(self, node: Value) -> None:
        adjoints = [0.0] * self.call.outputs
        for position, cotangent in self.delivered[len(self.delivered) - int(node.grad) :]:
            adjoints[position] = cotangent
        self.delivered.clear()
        _add(self, adjoints)


def _add(result: Result, adjoints: Sequence[float]) -> None:
    """Add the cotangents of the operands to their gradients, given the cotangents of the results."""
    call: Any = result.call
    numbers = [primal_of(operand) for operand in result.operands]
    for operand, cotangent in zip(result.operands, call.cotangents(numbers, adjoints), strict=True):
        operand.grad += cotangent


def transposed(program: Program, count: int, size: int) -> Program:
    """Transpose a program that maps (numbers, vector) to a vector and is linear in the vector.

    Args:
        program: The program.
        count: The number of leading inputs in which the program is not linear.
        size: The number of outputs.

    Returns:
        The program that maps (numbers, cotangents of the outputs) to cotangents of the vector.
    """
    tape, inputs, outputs = to_tape(program)
    seeds = [(output, tape.input()) for output in outputs]
    backward = tape.program(tape.reverse(seeds, inputs[count:]))
    own = Tape()
    numbers = [own.input() for _ in range(count)]
    zero = own.constant(0.0)  # the derivative of a linear function is the same everywhere
    vector = [zero] * (program.inputs - count)
    return own.program(own.inline(backward, [*numbers, *vector, *[own.input() for _ in range(size)]]))
