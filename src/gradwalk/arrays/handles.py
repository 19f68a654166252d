"""Handles of arrays, and calls on handles while a function is recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any
from weakref import WeakValueDictionary

import numpy

from gradwalk.arrays.kinds import ArrayKind, Constant, WholeCall
from gradwalk.arrays.layout_calls import LayoutCall, Pack, Slice, Unpack
from gradwalk.program.calls.call import Result
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import ArrayHandle
from gradwalk.value.convert import is_number
from gradwalk.value.modes import depth, leaves_numbers_unknown, staging_level, with_gradient
from gradwalk.value.node import level_of, primal_of, set_level
from gradwalk.value.value import Value, with_rule

# The level of the numbers of a row. It is higher than the level of every recording, so that a row may be combined with
# the Values of all recordings. Recordings inside a row have still higher levels.
ROW_LEVEL = 128


class Handle(ArrayHandle):
    """A Value that stands for an array of a kind: see `ArrayHandle`."""

    kind: ArrayKind
    numbers: Any

    def elements(self) -> Sequence[Any]:
        """Return the numbers of the array as Values."""
        return apply_layout(Unpack(self.kind), [self])

    def first(self) -> Value:
        """Return the first number of the array as a Value."""
        [row] = apply_layout(Slice(self.kind, slice(0, 1)), [self])
        assert isinstance(row, Handle)
        found: Value = row.elements()[0]
        return found

    def constant(self, tape: Tape) -> int:
        """Append the array as a constant to a tape; return its index."""
        return tape.call(Constant(self.kind, self.numbers), [])

    def packed(self, tape: Tape, indices: Indices) -> int:
        """Append an array of this kind with these numbers to a tape; return its index."""
        return tape.call(Pack(self.kind), indices)


def new_handle(kind: ArrayKind, numbers: Any) -> Handle:
    """Return the handle of an array that was not computed by a call. `numbers` is the array, or None if unknown."""
    handle = Handle(math.nan)
    handle.kind, handle.numbers = kind, numbers
    return handle


# The handles of constant arrays that are in use. A key tells where the array is in memory, and how.
_constants: WeakValueDictionary[tuple[Any, ...], Handle] = WeakValueDictionary()


def constant(array: Any) -> Handle:
    """Return the handle of a constant array of shape (rows, width). The array is copied, because it may change.

    If a function uses an array several times, the handle is the same.
    """
    numbers = numpy.array(array, numpy.float64, order="C")
    key = array.__array_interface__["data"], array.shape, array.strides, array.dtype.str
    known = _constants.get(key)
    if known is not None and numpy.array_equal(known.numbers.view(numpy.int64), numbers.view(numpy.int64)):
        return known
    made = _constants[key] = new_handle(ArrayKind(*numbers.shape), numbers)
    return made


def handle_of(table: Any) -> Handle:
    """Return the handle of an array of shape (rows, width) with numbers, or with numbers and Values."""
    if table.dtype != object:
        return constant(table)
    [packed] = apply_layout(Pack(ArrayKind(*table.shape)), table.ravel().tolist())
    assert isinstance(packed, Handle)
    return packed


def is_real(array: Any) -> bool:
    """Return whether an array has real numbers and Values only."""
    if array.dtype != object:
        return array.dtype.kind in "fiub"
    return all(isinstance(item, Value) or is_number(item) for item in array.flat)


def apply_layout(call: LayoutCall, operands: Sequence[Any]) -> list[Any]:
    """Apply a call that only moves numbers. Unlike a computation, it has a derivative under `no_grad()`, too."""
    with with_gradient():
        return apply_call(call, operands)


_level_around_row: ContextVar[int] = ContextVar("level_around_row", default=0)


def step_level() -> int:
    """Return the level of the loop step, branch or other staged function that computes now. Rows do not count."""
    level = staging_level()
    return level if level < ROW_LEVEL else _level_around_row.get()


def enter_row(level: int) -> None:
    """Note the `step_level` around a function of a row. The caller must discard the context."""
    _level_around_row.set(level)


def apply_here(call: WholeCall, operands: Sequence[Any]) -> list[Any]:
    """Apply a call as `apply_call` does. The results belong to the step or branch that computes now.

    Otherwise a branch would be computed without being chosen, if none of its operands belongs to it.
    """
    return apply_call(call, operands, step_level())


def apply_call(call: WholeCall, operands: Sequence[Any], level: int = 0) -> list[Any]:
    """Apply a call to Values, floats and handles; return a Value for each number and a handle for each array.

    The results belong to the recording with this level or, if it is higher, to the innermost recording of an operand.
    A recording inside captures them.
    """
    given = tuple([x if isinstance(x, Value) else Value(x) for x in operands])
    known = [x.numbers if isinstance(x, ArrayHandle) else primal_of(x) for x in given]
    level = max(level, *map(level_of, given)) if given else level
    # Numbers of an enclosing recording are computed now, because this recording cannot tell it that they are unknown.
    waits = not call.always_ends and level >= depth() and leaves_numbers_unknown()
    is_unknown = waits or any(x is None for x in known)
    numbers: list[Any] = [None] * call.outputs if is_unknown else call.run(known)
    unknown = 1.0 if isinstance(call, LayoutCall) else math.nan  # NumPy warns if it compares the nan of many elements
    kinds = call.kinds or [None] * call.outputs
    results = []
    for position, (number, kind) in enumerate(zip(numbers, kinds, strict=True)):
        rule = Result(call, given, position)
        if kind is None:
            results.append(with_rule(unknown if number is None else number, given, call.name, rule))
            continue
        handle = with_rule(math.nan, given, call.name, rule, Handle)
        assert isinstance(handle, Handle)
        handle.kind, handle.numbers = kind, number
        results.append(handle)
    for result in results if level else ():
        set_level(result, level)
    return results
