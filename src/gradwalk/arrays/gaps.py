"""Gaps of arrays of cotangents: zeros of elements that no result depends on.

If a function selects or replaces some elements of an array, the array of cotangents is 0 for the other elements. These
must not contribute to gradients: the derivative of the function that computes them may be infinite, and 0 * inf is nan.
The calls alone determine the gaps, and not the numbers: a number that is 0 in a recording may have derivatives, so it
is not a gap.
"""

from __future__ import annotations

import bisect
from typing import Any
from weakref import WeakValueDictionary

import numpy

from gradwalk.arrays.kinds import ArrayKind, Constant, Operand, WholeCall
from gradwalk.program.tape import Indices, Tape


class Mask(Constant):
    """A call that returns an array that is 0 for each gap and 1 for other elements."""

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: see `WholeCall.with_gaps`."""
        return operands


_MASKS: WeakValueDictionary[Any, Mask] = WeakValueDictionary()  # those that are in use, by their kinds and elements


def has_gaps(tape: Tape, index: int) -> bool:
    """Return whether an array of cotangents may have gaps. This takes time for calls, and not for elements."""
    waiting = [index]
    while waiting:
        call, operands = _maker(tape, waiting.pop())
        found = None if call is None else call.with_gaps(operands)
        if found is None:
            return False
        waiting += found
    return True


def reached(tape: Tape, index: int) -> int:
    """Append an array that is 0 for each gap of an array of cotangents, and 1 for its other elements."""
    known: dict[int, Operand] = {}
    waiting = [index]
    while waiting:
        at = waiting[-1]
        call, operands = _maker(tape, at)
        if call is None or at not in tape.arrays or call.with_gaps(operands) is None:
            known[at] = _ones(tape, at)
        else:
            operands = operands if call.cotangents is None else [operands[i] for i in call.cotangents]
            missing = [x for x in operands if x not in known]
            if missing:
                waiting += missing
                continue
            known[at] = numpy.broadcast_to(call.reached([known[x] for x in operands]), tape.arrays[at])
        waiting.pop()
    return tape.call(_mask(tape.arrays[index], known[index]), [])


def _mask(kind: ArrayKind, numbers: Any) -> Mask:
    """Return a call that returns an array of zeros and ones. Equal arrays share memory."""
    key = kind, numpy.packbits(numbers != 0.0).tobytes()
    mask = _MASKS.get(key)
    if mask is None:
        mask = _MASKS[key] = Mask(kind, numpy.asfortranarray(numbers))
    return mask


def _ones(tape: Tape, index: int) -> Operand:
    """Return 1 for a number, or ones for an array. The constant 0 is 0: it is the cotangent of a number without one."""
    kind = tape.arrays.get(index)
    return float(index != tape.constant(0.0)) if kind is None else numpy.ones(kind)


def _maker(tape: Tape, index: int) -> tuple[WholeCall | None, Indices]:
    """Return the call on arrays with a result, and its operands, or None for other numbers and arrays."""
    position = bisect.bisect_right(tape.calls, index, key=_base) - 1
    if position < 0:
        return None, []
    call, operands, base = tape.calls[position]
    is_made = isinstance(call, WholeCall) and index < base + call.outputs
    return (call, list(operands)) if is_made else (None, [])


def _base(call: Any) -> int:
    """Return the index of the first result of a call on a tape."""
    base: int = call[2]
    return base
