"""Functions with a derivative of the user's own: `primitive`, and `stop_gradient` for those that have none."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.graph.graph import Floats
from gradwalk.program.calls.call import Call
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Tape
from gradwalk.program.tracing.trace import Indices, Recording, display_name, reduce_for_pickle
from gradwalk.program.tracing.trace_cache import Trace, TraceCache
from gradwalk.trees.tree import flatten, scalars
from gradwalk.value.convert import is_number
from gradwalk.value.modes import RecordingError, without_numbers
from gradwalk.value.value import Value

Rule = TypeVar("Rule", bound=Callable[..., Any])
Tree = TypeVar("Tree")


class Primitive(Call):
    """A function with a derivative of its own, as `primitive` makes it.

    Args:
        f: The function.

    Raises:
        TypeError: `f` is no function.
    """

    __name__ = "function"

    def __init__(self, f: Callable[..., float]) -> None:
        if not callable(f):
            raise TypeError(f"primitive() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f)
        self.name = self.__name__
        self._f = f
        self._rule: Callable[..., Any] | None = None
        self._rules: TraceCache[Trace] = TraceCache(self.name)  # recordings of the rule, by the number of operands

    def __call__(self, *operands: Any) -> Any:
        """Return the result for numbers or Values.

        Args:
            *operands: Numbers and Values.

        Returns:
            A Value if an operand is one, else what the function returns.

        Raises:
            TypeError: There is a Value among the operands, and one of the others is no number.
        """
        if not any(isinstance(operand, Value) for operand in operands):
            return self._f(*operands)
        for i, operand in enumerate(operands):
            if not isinstance(operand, Value) and not is_number(operand):
                kind = type(operand).__name__
                raise TypeError(f"argument {i + 1} of the primitive {display_name(self._f)} is a {kind}, not a number")
        return self.values(operands)[0]

    def __reduce__(self) -> Any:
        return reduce_for_pickle(self, (self._f,))

    def __repr__(self) -> str:
        return f"<primitive {display_name(self._f)}>"

    def derivative(self, rule: Rule) -> Rule:
        """Set the derivative; to be used as a decorator.

        Args:
            rule: A function of the result and the operands. It returns the partial where there is one operand, else a
                tuple with a partial for each of them.

        Returns:
            The rule.
        """
        self._rule = rule
        self._rules = TraceCache(self.name)
        return rule

    def numbers(self, operands: Floats) -> Floats:
        """Return the result for numbers.

        Args:
            operands: A row of float64.

        Returns:
            A row of the one result.

        Raises:
            TypeError: The function does not return a real number.
        """
        result = self._f(*operands.tolist())
        if not is_number(result):
            raise TypeError(f"the primitive {display_name(self._f)} returned a {type(result).__name__}, not a number")
        return numpy.array([float(result)])

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials with respect to every operand, by calling the rule with numbers.

        Args:
            operands: Floats.
            position: The index of the result.
            result: Its number.

        Returns:
            A float for each operand.
        """
        given = self._apply_rule(result, *operands)
        return [float(partial) for partial in self._counted(scalars(flatten(given, self._what)[0]), len(operands))]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the products of the adjoint of the result and every partial, and return their indices.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the result.
            adjoints: The index of its adjoint, in a list.

        Returns:
            The indices of the products.
        """
        return [tape.append("mul", adjoints[0], partial) for partial in self._partials(tape, operands, base)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the sum of tangents times partials, and return its index.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the result.
            tangents: The indices of the tangents of the operands.

        Returns:
            The index of the sum, in a list.
        """
        terms = zip(tangents, self._partials(tape, operands, base), strict=True)
        products = [tape.append("mul", tangent, partial) for tangent, partial in terms if tangent != NO_INDEX]
        return [functools.reduce(lambda total, product: tape.append("add", total, product), products)]

    def _partials(self, tape: Tape, operands: Indices, base: int) -> Indices:
        """The indices of the partials, by the recording of the rule for so many operands."""
        trace = self._rules.find(len(operands))
        if trace is None:
            trace = self._rules.add(len(operands), Trace(self._recorded_rule(len(operands)), []))
        return tape.inline(trace.program, [base, *operands])

    def _recorded_rule(self, count: int) -> Program:
        recording = Recording(staged=True)
        given = [recording.add_inputs(math.nan, "operand") for _ in range(count + 1)]  # nobody may ask for the numbers
        try:
            with without_numbers():
                partials, _ = recording.run(self._apply_rule, given, {})
        except RecordingError as error:
            error.add_note(
                f"The derivative of the primitive {display_name(self._f)} is recorded here, to be used in a recorded "
                "graph. Write it with gradwalk.math, or make what cannot be a primitive as well."
            )
            raise
        if len(recording.operands) > count + 1:
            raise ValueError(f"{self._what} uses a Value that is none of its arguments: make that an operand")
        return recording.tape.program(list(self._counted(partials, count)))

    def _apply_rule(self, *result_and_operands: Any) -> Any:
        if self._rule is None:
            name = self.__name__
            raise TypeError(f"the primitive {name}() has no derivative: give it one with @{name}.derivative")
        return self._rule(*result_and_operands)

    def _counted(self, partials: Sequence[Any], count: int) -> Sequence[Any]:
        if len(partials) != count:
            raise ValueError(f"{self._what} returned {len(partials)} partials, and there are {count} operands")
        return partials

    @property
    def _what(self) -> str:
        return f"the derivative of the primitive {display_name(self._f)}"


def primitive(f: Callable[..., float]) -> Primitive:
    """Make a function of numbers one operation with a derivative that is given: for what cannot be recorded.

    The derivative is set by `@f.derivative`: a function of the result and the operands that returns the partial, or a
    tuple with one for each operand. In `backward` it is called with numbers. Every other transform records it, so that
    it can be differentiated again: it may use `gradwalk.math` and primitives, and may not ask for numbers.

    Args:
        f: A function that takes and returns real numbers.

    Returns:
        A function of numbers and Values, with `.derivative`. It raises `TypeError` where it has no derivative, or where
        `f` or an operand is no number; `ValueError` where the derivative gives too few or too many partials; and
        `RecordingError` where the derivative cannot be recorded.

    Raises:
        TypeError: `f` is no function.

    Example:
        >>> import math
        >>> @primitive
        ... def gamma(x):
        ...     return math.lgamma(x)
        >>> @primitive
        ... def digamma(x, h=1e-4):
        ...     return (math.lgamma(x + h) - math.lgamma(x - h)) / (2 * h)
        >>> @gamma.derivative
        ... def _(out, x):
        ...     return digamma(x)
        >>> x = Value(5.0)
        >>> y = 2.0 * gamma(x)
        >>> y.backward()
        >>> round(x.grad, 4)  # twice 1 + 1/2 + 1/3 + 1/4, less Euler's constant
        3.0122
    """
    return Primitive(f)


def stop_gradient(x: Tree) -> Tree:
    """Return the same numbers as constants, through which no gradient passes.

    Args:
        x: A number or Value, or a tree of them.

    Returns:
        A tree like `x`.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    leaves, treedef = flatten(x, "x")
    numbers = [number.detach() if isinstance(number, Value) else number for number in scalars(leaves)]
    constants: Tree = treedef.filled(numbers)
    return constants
