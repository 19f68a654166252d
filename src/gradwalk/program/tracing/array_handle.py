"""`ArrayHandle`: a Value that stands for a whole array in a recording. `gradwalk.arrays` implements these classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy

from gradwalk.program.tape import Indices, Tape
from gradwalk.value.arrays import ArrayMaker, WholeArray
from gradwalk.value.value import Value


class ArrayHandle(Value):
    """A Value that stands for a whole array. Only calls that take arrays have it as an operand.

    Attributes:
        kind: The kind of the array: see `Call.kinds`.
        numbers: The array, or None if its numbers are unknown.
    """

    kind: Any
    numbers: Any

    def elements(self) -> Sequence[Any]:
        """Return the numbers of the array as Values."""
        raise NotImplementedError

    def first(self) -> Value:
        """Return the first number of the array as a Value."""
        raise NotImplementedError

    def constant(self, tape: Tape) -> int:
        """Append the array as a constant to a tape; return its index."""
        raise NotImplementedError

    def packed(self, tape: Tape, indices: Indices) -> int:
        """Append an array of this kind with these numbers to a tape; return its index."""
        raise NotImplementedError


class RecordedArray(WholeArray):
    """An array of an open recording."""

    def in_order(self) -> ArrayHandle | None:
        """Return the handle of an array with these elements in C order. Record the call that computes it, if needed.

        Returns None if there is no such handle, because the recorded function uses the elements one by one.
        """
        raise NotImplementedError

    def copy(self) -> Any:
        """Return a copy of the array."""
        raise NotImplementedError


class OpenedArray(NamedTuple):
    """An array that becomes one input of a recording.

    Attributes:
        handle: The handle.
        operand: The array itself, or its handle in an enclosing recording.
        array: Function that returns what the recorded function gets. It must be called after the handle has become an
            input.
    """

    handle: ArrayHandle
    operand: Any
    array: Callable[[], RecordedArray]


class TracedPart(NamedTuple):
    """A part of a loop, or a branch of a choice, whose inputs and outputs may be arrays.

    Attributes:
        tape: The tape. Its inputs are the inputs of the part, in order.
        outputs: The tape indices of the outputs.
    """

    tape: Tape
    outputs: Indices


class ArrayRecorder(ArrayMaker, Protocol):
    """Makes the arrays of a recording, and evaluates tapes that have arrays."""

    def opened(self, leaf: Any) -> OpenedArray | None:
        """Return an array as a new input of a recording, or None if the leaf is not a large array."""
        ...

    def kind_of(self, operand: Any) -> Any:
        """Return the kind of an operand that is an array or an `ArrayHandle`, or None if it is a number."""
        ...

    def evaluate(self, tape: Tape, outputs: Indices, operands: Sequence[Any]) -> list[Any]:
        """Compute the results of instructions on a tape. A result may be an array or an `ArrayHandle`."""
        ...

    def handle_of(self, leaf: Any, kind: Any) -> ArrayHandle:
        """Return the handle of an array of a kind. The leaf is an array with the same number of elements."""
        ...

    def loop(
        self,
        step: TracedPart,
        condition: TracedPart | None,
        sizes: Any,
        span: tuple[int, int | None],
        memory: str | int | None,
    ) -> Any:
        """Return the call that runs a loop with arrays, or None if its parts use the elements one by one.

        For the arguments, see `Loop`. A number or an array in the carry or among the constants counts as one.
        """
        ...

    def switch(self, branches: Sequence[TracedPart]) -> Any:
        """Return the call that runs one of several branches with arrays.

        Returns None if the branches use the elements one by one, or if their outputs differ in kind.
        """
        ...

    def apply(self, call: Any, operands: Sequence[Any]) -> list[Any]:
        """Apply a call to Values, numbers, arrays and handles. Returns Values and handles."""
        ...

    def unflattened(self, treedef: Any, numbers: list[Any]) -> Any:
        """Return a tree, given its numbers and arrays."""
        ...


def flat_operands(operands: Sequence[Any]) -> list[Any]:
    """Return the operands with the numbers of each array in its place."""
    flat: list[Any] = []
    for operand in operands:
        if isinstance(operand, ArrayHandle):
            flat += operand.elements()
        else:
            flat += operand.ravel().tolist() if isinstance(operand, numpy.ndarray) else [operand]
    return flat
