"""`checkpoint`: functions that stay whole in a graph and are computed again for their derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.graph.graph import Floats
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.calls.program_derivatives import jvp_program, vjp_program
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.trace import Indices
from gradwalk.transforms.jit.jit_class import Jit, JitTrace
from gradwalk.value.value import Value

P = ParamSpec("P")
R = TypeVar("R")


class Block(Call):
    """A program as a call, of which nothing is kept between its operands and its results.

    Args:
        program: The program.
        name: What displays call it.
    """

    def __init__(self, program: Program, name: str) -> None:
        self.outputs = len(program.outputs)
        self.name = name
        self._program = program

    def __repr__(self) -> str:
        return f"<block {self.name}>"

    def numbers(self, operands: Floats) -> Floats:
        """Return the results for numbers: see `Call.numbers`."""
        results: Floats = self._program.run(operands)
        return results

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result, by running the program once more, and its adjoint.

        Args:
            operands: Floats.
            position: The index of the result.
            result: Its number.

        Returns:
            A float for each operand.
        """
        adjoints = [float(i == position) for i in range(self.outputs)]
        partials: list[float] = self._pulled.numbers(numpy.array([*operands, *adjoints])).tolist()
        return partials

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append a call of the block that computes the adjoints of the operands, and return their indices.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the first result.
            adjoints: The indices of the adjoints of the results.

        Returns:
            The indices of the adjoints of the operands.
        """
        return append_call(self._pulled, tape, [*operands, *instantiate_zeros(tape, adjoints)])

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append a call of the block that computes the tangents of the results, and return their indices.

        Args:
            tape: The tape.
            operands: The indices of the operands.
            base: The index of the first result.
            tangents: The indices of the tangents of the operands.

        Returns:
            The indices of the tangents of the results.
        """
        return append_call(self._pushed, tape, [*operands, *instantiate_zeros(tape, tangents)])

    @cached_property
    def _pulled(self) -> Block:
        """The block from operands and adjoints of the results to adjoints of the operands."""
        return Block(vjp_program(self._program), f"{self.name}'")

    @cached_property
    def _pushed(self) -> Block:
        """The block from operands and their tangents to tangents of the results."""
        return Block(jvp_program(self._program), f"{self.name}'")


@dataclass(frozen=True, eq=False)
class CheckpointTrace(JitTrace):
    """A recording that stays whole where it is applied to Values.

    Attributes:
        block: The program as a call.
    """

    block: Block

    def apply(self, operands: Sequence[Any]) -> list[Value]:
        """Return the numbers of the result as Values, each of which is one node.

        Args:
            operands: Values and floats.

        Returns:
            The Values.
        """
        return self.block.values(operands)


class Checkpoint(Jit[P, R]):
    """A recorded function that stays whole, as `checkpoint` makes it. The arguments are those of `Jit`."""

    _name = "checkpoint"

    def _record(self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> CheckpointTrace:
        trace = super()._record(key, args, kwargs)
        return CheckpointTrace(**vars(trace), block=Block(trace.program, self.__name__))


@overload
def checkpoint(
    f: Callable[P, R], *, static_argnums: int | Iterable[int] = (), static_argnames: str | Iterable[str] = ()
) -> Checkpoint[P, R]: ...
@overload
def checkpoint(
    f: None = None, *, static_argnums: int | Iterable[int] = (), static_argnames: str | Iterable[str] = ()
) -> Callable[[Callable[P, R]], Checkpoint[P, R]]: ...
def checkpoint(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """Trade time for memory: keep the arguments and results of a function, and compute what lies between them again.

    `f` is recorded once, by the rules of `jit`. In a graph it is one node for each result, however long it is, and each
    derivative runs the recording again. A loop of n checkpointed steps needs memory for n states, not for n times all
    that a step computes. In `backward` that is one run of the step for each of its results.

    Args:
        f: A function, as `jit` takes it. Leave it out to set the others by a decorator.
        static_argnums: Positions of static arguments: see `jit`.
        static_argnames: Names of static arguments: see `jit`.

    Returns:
        A function that takes what `f` takes and returns what `f` returns, as `jit` makes it.

    Raises:
        TypeError: `f` is no function.
        ValueError: `f` has no parameter of such a name or position.

    Example:
        >>> @checkpoint
        ... def step(x):
        ...     for _ in range(100):
        ...         x = x + 0.01 * x
        ...     return x
        >>> x = Value(1.0)
        >>> y = step(step(x))
        >>> len(y.operands), y.operands[0].operands[0] is x
        (1, True)
    """
    if f is None:
        return functools.partial(checkpoint, static_argnums=static_argnums, static_argnames=static_argnames)
    return Checkpoint(f, static_argnums, static_argnames)
