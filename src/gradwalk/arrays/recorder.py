"""`RECORDER`: lets a recording treat large arrays as single inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy

from gradwalk.arrays import functions as _functions
from gradwalk.arrays.array_loop import ArrayLoop, Span
from gradwalk.arrays.array_switch import ArraySwitch
from gradwalk.arrays.elements import Elements
from gradwalk.arrays.handles import ROW_LEVEL, Handle, apply_here, constant, new_handle
from gradwalk.arrays.keys import MOST_WIDTH
from gradwalk.arrays.kinds import ArrayKind, WholeCall
from gradwalk.arrays.run.array_program import ArrayProgram, as_operand, lifted, uses_arrays
from gradwalk.arrays.traced_array import TracedArray, of_handle, of_ordered
from gradwalk.program.calls.loop import Sizes
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import ArrayHandle, OpenedArray, TracedPart
from gradwalk.trees.tree import TreeDef, size, type_of
from gradwalk.value.modes import depth

LEAST_SIZE = 4000  # numbers in an array that becomes one input

del _functions  # imported because it adds functions to `traced_array.FUNCTIONS`


class Recorder:
    """Makes the arrays of a recording, and evaluates tapes that have arrays: see `ArrayRecorder`."""

    def opened(self, leaf: Any) -> OpenedArray | None:
        """Return an array as a new input of a recording, or None if the leaf is not a large array."""
        if isinstance(leaf, TracedArray):
            handle = leaf.in_order() if math.prod(leaf.shape) > 1 else None  # as in `Recording._numbers`
            return None if handle is None else _opened_again(leaf, handle)
        if not isinstance(leaf, numpy.ndarray) or not self.is_large(leaf):
            return None
        axis = leaf.shape.index(max(leaf.shape))
        numbers = numpy.array(leaf, numpy.float64, order="C").reshape(leaf.shape[0], -1)  # a copy: `leaf` may change
        handle = new_handle(ArrayKind(*numbers.shape), numbers)
        number_type = int if leaf.dtype.kind in "iu" else float  # a bool argument is a float, as outside of arrays
        return OpenedArray(handle, numbers, partial(of_ordered, handle, leaf.shape, axis, number_type, is_input=True))

    def is_large(self, array: Any) -> bool:
        """Return whether an array becomes one operand of the current recording: see `ArrayMaker.is_large`."""
        if not array.ndim or array.size < LEAST_SIZE:
            return False
        if array.dtype.kind not in "fiub" or depth() >= ROW_LEVEL - 1:
            return False
        return bool(array.size // max(array.shape) <= MOST_WIDTH)

    def constant(self, array: Any) -> TracedArray:
        """Return a large array of numbers as a whole array: see `ArrayMaker.constant`."""
        axis = array.shape.index(max(array.shape))
        moved = numpy.moveaxis(array, axis, 0)
        handle = constant(moved.reshape(moved.shape[0], -1))
        made = of_handle(handle, moved.shape[1:], axis, type_of(array))
        numbers = numpy.moveaxis(handle.numbers.reshape(moved.shape), 0, axis)
        made.source = Elements(numbers.astype, [array.dtype])
        return made

    def kind_of(self, operand: Any) -> ArrayKind | None:
        """Return the kind of an operand that is an array or a handle, or None if it is a number."""
        if isinstance(operand, Handle):
            return operand.kind
        return ArrayKind(*operand.shape) if isinstance(operand, numpy.ndarray) else None

    def evaluate(self, tape: Tape, outputs: Indices, operands: Sequence[Any]) -> list[Any]:
        """Compute the results of instructions on a tape: see `ArrayRecorder.evaluate`."""
        return ArrayProgram(tape, outputs).evaluate(operands)

    def handle_of(self, leaf: Any, kind: ArrayKind) -> Handle:
        """Return the handle of an array of a kind: see `ArrayRecorder.handle_of`."""
        found = as_operand(leaf, kind)
        return found if isinstance(found, Handle) else constant(found)

    def loop(
        self, step: TracedPart, condition: TracedPart | None, sizes: Sizes, span: Span, memory: str | int | None
    ) -> ArrayLoop | None:
        """Return the call that runs a loop with arrays, or None: see `ArrayRecorder.loop`."""
        if not all(uses_arrays(part.tape) for part in (step, condition) if part is not None):
            return None
        return ArrayLoop(step, condition, sizes, span, memory)

    def switch(self, branches: Sequence[TracedPart]) -> ArraySwitch | None:
        """Return the call that runs one of several branches, or None: see `ArrayRecorder.switch`."""
        kinds = {tuple([branch.tape.arrays.get(index) for index in branch.outputs]) for branch in branches}
        if len(kinds) > 1 or not all(uses_arrays(branch.tape) for branch in branches):
            return None
        return ArraySwitch(branches)

    def apply(self, call: WholeCall, operands: Sequence[Any]) -> list[Any]:
        """Apply a call to numbers, arrays and Values: see `ArrayRecorder.apply`."""
        return apply_here(call, lifted(operands))

    def unflattened(self, treedef: TreeDef, numbers: Sequence[Any]) -> Any:
        """Return a tree, given its numbers and arrays."""
        rest = iter(numbers)
        leaves: list[Any] = []
        for shape, number_type in zip(treedef.shapes, treedef.types or [float] * len(treedef.shapes), strict=True):
            first = next(rest) if size(shape) else None
            if isinstance(first, ArrayHandle):
                assert isinstance(first, Handle)
                assert not isinstance(shape, str)
                leaves.append(of_ordered(first, shape, shape.index(max(shape)), number_type))
            elif isinstance(first, numpy.ndarray) and first.dtype != object:
                leaves.append(first.reshape(shape))
            else:
                others = [] if isinstance(first, numpy.ndarray) else islice(rest, max(size(shape) - 1, 0))
                found = first.ravel().tolist() if isinstance(first, numpy.ndarray) else [first, *others]
                one = TreeDef(None, (shape,), types=(number_type,))
                leaves.append(one.results(found if size(shape) else []))
        return treedef.unflatten(leaves)


def _opened_again(array: TracedArray, outer: Handle) -> OpenedArray:
    """Return an array of an enclosing recording as an input of a new recording."""
    handle = new_handle(outer.kind, outer.numbers)
    number_type, _ = array.note  # in a loop, later carries may be floats
    make = partial(of_ordered, handle, array.shape, array.axis, number_type, is_input=True)
    return OpenedArray(handle, outer, make)


RECORDER = Recorder()
