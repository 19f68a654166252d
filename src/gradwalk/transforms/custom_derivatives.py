"""`primitive`, a function with a user-defined derivative, and `stop_gradient`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.calls.call import Call
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.trace import Recording, display_name, reduce_for_pickle
from gradwalk.program.tracing.trace_cache import Trace, TraceCache
from gradwalk.trees.tree import flatten, scalars
from gradwalk.value.convert import is_number
from gradwalk.value.modes import RecordingError, without_numbers
from gradwalk.value.value import Value

Rule = TypeVar("Rule", bound=Callable[..., Any])
Tree = TypeVar("Tree")


class Primitive(Call):
    """A function with a user-defined derivative, returned by `primitive`. Raises `TypeError` if `f` is not callable."""

    __name__ = "function"

    def __init__(self, f: Callable[..., float]) -> None:
        if not callable(f):
            raise TypeError(f"primitive() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f)
        self.name = self.__name__
        self._f = f
        self._rule: Callable[..., Any] | None = None
        self._rules: TraceCache[Trace] = TraceCache(self.name)  # traces of the rule, keyed by the number of operands

    def __call__(self, *operands: Any) -> Any:
        """Return the result for numbers or Values.

        Args:
            *operands: Numbers and Values.

        Returns:
            A Value if any operand is a Value, otherwise the return value of the function.

        Raises:
            TypeError: One operand is a Value and another is neither a Value nor a number.
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
        """Set the derivative of the primitive. Use this method as a decorator.

        Args:
            rule: A function `rule(result, *operands)`. It returns the partial derivative if there is one operand,
                otherwise a tuple with one partial derivative per operand.

        Returns:
            `rule` itself.
        """
        self._rule = rule
        self._rules = TraceCache(self.name)
        return rule

    def numbers(self, operands: Floats) -> Floats:
        """Return the result for float operands, as a float64 array of shape (1,)."""
        result = self._f(*operands.tolist())
        if not is_number(result):
            raise TypeError(f"the primitive {display_name(self._f)} returned a {type(result).__name__}, not a number")
        return numpy.array([float(result)])

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partial derivative with respect to each operand by calling the rule on floats."""
        given = self._apply_rule(result, *operands)
        return [float(partial) for partial in self._counted(scalars(flatten(given, self._what)[0]), len(operands))]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append to the tape the product of the result's cotangent and each partial. Return the product indices."""
        return [tape.append("mul", adjoints[0], partial) for partial in self._partials(tape, operands, base)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append to the tape the sum of all products tangent * partial. Return a list with the index of the sum."""
        terms = zip(tangents, self._partials(tape, operands, base), strict=True)
        products = [tape.append("mul", tangent, partial) for tangent, partial in terms if tangent != NO_INDEX]
        return [functools.reduce(lambda total, product: tape.append("add", total, product), products)]

    def _partials(self, tape: Tape, operands: Indices, base: int) -> Indices:
        """Inline a trace of the rule into the tape, and return the indices of the partials."""
        trace = self._rules.find(len(operands))
        if trace is None:
            trace = self._rules.add(len(operands), Trace(self._recorded_rule(len(operands)), []))
        return tape.inline(trace.program, [base, *operands])

    def _recorded_rule(self, count: int) -> Program:
        recording = Recording(staged=True)
        given = [recording.add_inputs(math.nan, "operand") for _ in range(count + 1)]  # nan, as no number is known
        try:
            with without_numbers():
                partials, _ = recording.run(self._apply_rule, given, {})
        except RecordingError as error:
            error.add_note(
                f"The derivative of the primitive {display_name(self._f)} is recorded here because it is needed in a "
                "recorded graph. Write it with gradwalk.math, or make the part that cannot be recorded a primitive."
            )
            raise
        if len(recording.operands) > count + 1:
            raise ValueError(f"{self._what} uses a Value that is not one of its arguments: make that Value an operand")
        return recording.program(list(self._counted(partials, count)))

    def _apply_rule(self, *result_and_operands: Any) -> Any:
        if self._rule is None:
            name = self.__name__
            raise TypeError(f"the primitive {name}() has no derivative: give it one with @{name}.derivative")
        return self._rule(*result_and_operands)

    def _counted(self, partials: Sequence[Any], count: int) -> Sequence[Any]:
        if len(partials) != count:
            raise ValueError(f"{self._what} must return {count} partials, one per operand, got {len(partials)}")
        return partials

    @property
    def _what(self) -> str:
        return f"the derivative of the primitive {display_name(self._f)}"


def primitive(f: Callable[..., float]) -> Primitive:
    """Turn a function that cannot be recorded into a single operation with a user-defined derivative.

    Set the derivative with the decorator `@f.derivative`. The decorated function takes the result and the operands, and
    returns the partial derivative, or a tuple with one partial derivative per operand. `backward` calls this function
    with numbers. `grad` and the other transforms record this function, so that the derivative can be differentiated
    again. The function can therefore use `gradwalk.math` and other primitives, but it must not branch on a Value or
    convert a Value to a float.

    Args:
        f: A function that takes and returns real numbers.

    Returns:
        A function of numbers and Values, with the method `.derivative`.

    Raises:
        TypeError: `f` is not callable. When the primitive is used: an operand or the return value of `f` is not a
            number, or the derivative is needed but was not set.
        ValueError: When the derivative is used: it returns the wrong number of partials.
        RecordingError: When the derivative is used: it cannot be recorded.

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
    """Return `x` with each Value replaced by a constant, so that no gradient flows through the result.

    Args:
        x: A number, a Value, or a tree of them.

    Returns:
        A tree with the structure of `x`.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    leaves, treedef = flatten(x, "x")
    numbers = [number.detach() if isinstance(number, Value) else number for number in scalars(leaves)]
    constants: Tree = treedef.filled(numbers)
    return constants
