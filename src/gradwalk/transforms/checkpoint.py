"""`checkpoint`: functions whose intermediate values are recomputed in the backward pass instead of stored."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar, overload

import numpy

from gradwalk.arrays.array_switch import ArraySwitch
from gradwalk.arrays.recorder import RECORDER
from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.calls.program_derivatives import calling, has_effects, jvp_program, vjp_program, without_effects
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import flat_operands
from gradwalk.transforms.jit.array_trace import ArrayTrace
from gradwalk.transforms.jit.jit_class import Jit
from gradwalk.transforms.jit.jit_trace import JitTrace
from gradwalk.value.modes import depth, refuses_nans
from gradwalk.value.value import Value

P = ParamSpec("P")
R = TypeVar("R")


class Block(Call):
    """A program that is called as a single operation. Its intermediate values are not stored."""

    def __init__(self, program: Program, name: str) -> None:
        self.outputs = len(program.outputs)
        self.name = name
        self.has_effects = has_effects(program)
        self._program = program

    def __repr__(self) -> str:
        return f"<block {self.name}>"

    def numbers(self, operands: Floats) -> Floats:
        """Return the results for float operands: see `Call.numbers`."""
        results: Floats = self._program.run(operands)
        return results

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result by running the VJP program, which recomputes the forward pass."""
        adjoints = [float(i == position) for i in range(self.outputs)]
        partials: list[float] = self._pulled.numbers(numpy.array([*operands, *adjoints])).tolist()
        return partials

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append a call of the VJP block to the tape, and return the indices of the operands' cotangents."""
        return append_call(self._pulled, tape, [*operands, *instantiate_zeros(tape, adjoints)])

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append a call of the JVP block to the tape, and return the indices of the results' tangents."""
        return append_call(self._pushed, tape, [*operands, *instantiate_zeros(tape, tangents)])

    def effectless(self, operands: int) -> Program | None:
        """Return a program that calls the block without side effects: see `Call.effectless`."""
        return calling(Block(self._quiet, self.name), operands) if self.has_effects else None

    @cached_property
    def _quiet(self) -> Program:
        return without_effects(self._program)

    @cached_property
    def _pulled(self) -> Block:
        """The VJP block: maps operands and cotangents of the results to cotangents of the operands."""
        return Block(vjp_program(self._quiet), f"{self.name}'")

    @cached_property
    def _pushed(self) -> Block:
        """The JVP block: maps operands and their tangents to tangents of the results."""
        return Block(jvp_program(self._quiet), f"{self.name}'")


@dataclass(frozen=True, eq=False)
class CheckpointTrace(JitTrace):
    """A trace that is applied to Values as a single call of `block`."""

    block: Block = field(kw_only=True)

    def apply(self, operands: Sequence[Any]) -> list[Value]:
        """Return the numbers of the result as Values. Each number is one node of the graph."""
        return self.block.values(operands)


@dataclass(frozen=True, eq=False)
class ArrayCheckpointTrace(ArrayTrace):
    """A trace with large arrays that is applied as a single call. `name` is the name of the function."""

    name: str = field(kw_only=True)

    @cached_property
    def _whole(self) -> ArraySwitch:
        """A switch with one branch, because the derivatives of a switch compute the branch again."""
        return ArraySwitch([self.program.part])

    @cached_property
    def _block(self) -> Block:
        return Block(self.of_numbers, self.name)

    def apply(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs: numbers, Values, arrays and handles."""
        if depth() and not refuses_nans():
            return RECORDER.apply(self._whole, [0.0, *operands])
        return self._block.values(flat_operands(operands))


class Checkpoint(Jit[P, R]):
    """A recorded function that becomes a single operation in a graph, returned by `checkpoint`."""

    _name = "checkpoint"

    def _record(self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> JitTrace:
        trace = super()._record(key, args, kwargs)
        fields = {field.name: getattr(trace, field.name) for field in dataclasses.fields(trace)}
        if isinstance(trace, ArrayTrace):
            if not trace.has_effects:
                return ArrayCheckpointTrace(**fields, name=self.__name__)
            fields |= {"captured": flat_operands(trace.captured), "given": flat_operands(trace.given)}
        program = fields["program"] = trace.of_numbers
        return CheckpointTrace(**fields, block=Block(program, self.__name__))


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
    """Trade time for memory: store only the arguments and results of `f`, and recompute the rest for derivatives.

    `f` is recorded as by `jit` with `branches="refuse"`. In a graph, a call to `f` is one node for each number in the
    result, however long `f` is. Computing a derivative runs the recording again; `backward` runs the recording once for
    each number in the result. For example, a loop of n checkpointed steps stores n states, but not the values that the
    steps compute in between.

    Args:
        f: A function accepted by `jit`. Omit it to use `checkpoint` as a decorator with arguments.
        static_argnums: Positions of static arguments: see `jit`.
        static_argnames: Names of static arguments: see `jit`.

    Returns:
        A recorded function with the signature of `f`: see `jit`.

    Raises:
        TypeError: `f` is not callable.
        ValueError: A name or position does not match a parameter of `f`.

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


remat = checkpoint
