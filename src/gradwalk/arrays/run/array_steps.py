"""The steps of an `ArrayProgram`: calls on arrays, and programs that compute the numbers between them.

Results that no later step needs are not computed. A call may write its result to the memory of an operand that no later
step needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.arrays.kinds import Sum
from gradwalk.arrays.layout_calls import Reshape, Scatter, Unslice
from gradwalk.arrays.map_call import Extremes, MapCall, sum_of_arrays
from gradwalk.base.array_types import Floats
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape


class Places:
    """The places of the operands or results of a step: numbers are in a vector, arrays in a dict, both by tape index.

    Args:
        indices: The tape index of each operand or result.
        tape: The tape.

    Attributes:
        numbers: The tape indices of those that are numbers: a slice if they are consecutive, which is faster.
        arrays: The position and the tape index of each one that is an array.
    """

    def __init__(self, indices: Indices, tape: Tape) -> None:
        self.arrays = [(i, index) for i, index in enumerate(indices) if index in tape.arrays]
        self._positions = [i for i, index in enumerate(indices) if index not in tape.arrays]
        self.numbers = _as_slice([indices[i] for i in self._positions])

    def get(self, numbers: Floats, arrays: Mapping[int, Any]) -> list[Any]:
        """Return the numbers and arrays in order."""
        found: list[Any] = numbers[self.numbers].tolist()
        for position, index in self.arrays:
            found.insert(position, arrays[index])
        return found

    def parted(self, items: Sequence[Any]) -> tuple[Floats, list[Any]]:
        """Return the numbers among some items, and the arrays."""
        numbers = itemgetter(*self._positions)(items) if self.arrays and self._positions else items
        found = numpy.array(numbers, numpy.float64).reshape(-1) if self._positions else numpy.empty(0)
        return found, [items[position] for position, _ in self.arrays]


def _as_slice(indices: Indices) -> slice | NDArray[numpy.intp]:
    """Return a slice of these indices if they are consecutive, else an array."""
    first = indices[0] if indices else 0
    end = first + len(indices)
    return slice(first, end) if list(indices) == [*range(first, end)] else numpy.array(indices, numpy.intp)


class NumberStep(NamedTuple):
    """A step that computes numbers.

    Attributes:
        program: The program.
        given: The tape index of each input of the program.
        found: The tape index of each output of the program.
    """

    program: Program
    given: Indices
    found: Indices


class CallStep(NamedTuple):
    """A step that runs a call on numbers and arrays.

    Attributes:
        call: The call.
        given: The tape index of each operand.
        found: The tape index of each result.
        done: The tape indices of the arrays that no later step needs.
        overwritten: The tape index of the operand whose memory the result takes, or None.
    """

    call: Any
    given: Indices
    found: Indices
    done: Sequence[int] = ()
    overwritten: int | None = None


Step = NumberStep | CallStep

MOST_JOINED = 1000  # maximum number of instructions of a row, if calls are joined


def steps_of(tape: Tape, outputs: Indices) -> list[Step]:
    """Return the steps that compute some outputs of a tape."""
    calls, stages = tape.stages(outputs)
    steps: list[Step] = []
    for i, (given, found) in enumerate(stages):
        if found:
            steps.append(NumberStep(tape.stage_program(given, found), given, found))
        if i < len(calls):
            call, operands, base = tape.calls[calls[i]]
            steps.append(CallStep(call, operands, list(range(base, base + call.outputs))))
    uses = uses_of(steps, outputs)
    joined = _joined(_with_sums_in_rows(of_used(steps, uses), uses), uses)
    return of_used(joined, uses_of(joined, outputs))


def uses_of(steps: Sequence[Step], outputs: Indices) -> Counter[int]:
    """Return how often each number and array is used."""
    return Counter([*outputs, *(index for step in steps for index in step.given)])


def of_used(steps: Sequence[Step], uses: Counter[int]) -> list[Step]:
    """Leave out the results of `MapCall`s that no step uses, and `MapCall`s without other results."""
    found: list[Step] = []
    for step in steps:
        flags = [uses[index] > 0 for index in step.found]
        if not any(flags):
            continue
        if isinstance(step, CallStep) and isinstance(step.call, MapCall) and not all(flags):
            call = step.call.only(flags)
            kept = [index for index, flag in zip(step.found, flags, strict=True) if flag]
            found.append(step if call is step.call else CallStep(call, step.given, kept))
        else:
            found.append(step)
    return found


def _with_sums_in_rows(steps: Sequence[Step], uses: Counter[int]) -> list[Step]:
    """Replace a sum with the result of `Unslice` by one call, which does not make an array of zeros."""
    made = {step.found[0]: step for step in steps if isinstance(step, CallStep) and isinstance(step.call, Unslice)}
    replaced: set[int] = set()

    def in_rows(step: Step) -> Step:
        if isinstance(step, CallStep) and isinstance(step.call, Sum):
            for total, part in (step.given, step.given[::-1]):
                if part in made and uses[part] == 1 and part not in replaced:
                    replaced.add(part)
                    return CallStep(made[part].call.adding, [total, *made[part].given], step.found)
        return step

    found = [in_rows(step) for step in steps]
    return [step for step in found if step.found[0] not in replaced]


def _joined(steps: Sequence[Step], uses: Counter[int]) -> list[Step]:
    """Let calls compute the arrays that they alone use, where that takes one pass over the rows.

    A call that sums is not changed: the order of its sums depends on the number of its instructions.
    """
    makers: dict[int, CallStep] = {}  # tape index of an array -> the step that makes it
    found: list[Step] = []
    for step in steps:
        found.append(_with_makers(step, makers) if isinstance(step, CallStep) else step)
        last = found[-1]
        if isinstance(last, CallStep) and is_map(last.call):
            made = [index for index, kind in zip(last.found, last.call.kinds, strict=True) if kind is not None]
            makers |= {index: last for index in made if uses[index] == 1}
    return found


def _with_makers(step: CallStep, makers: Mapping[int, CallStep]) -> CallStep:
    """Return a step that also computes the operands for which there are `makers`."""
    while isinstance(step.call, Sum) or (is_map(step.call) and not step.call.sums):
        maker = next((makers[index] for index in step.given if index in makers), None)
        call = sum_of_arrays(*step.call.kinds) if isinstance(step.call, Sum) else step.call
        if maker is None or len(call) + len(maker.call) > MOST_JOINED:
            break
        made = [index for index in maker.found if index in makers and index in step.given]
        joined, given = call.joined(step.given, maker.call, maker.given, maker.found, made)
        step = CallStep(joined, given, step.found)
    return step


def is_map(call: Any) -> bool:
    """Return whether a call computes each row in few instructions without loops."""
    return isinstance(call, MapCall) and not isinstance(call, Extremes) and call.always_ends


def without_copies(steps: Sequence[Step], outputs: Indices) -> list[Step]:
    """Let scatters read arrays as they are in memory, instead of the columns that `Reshape` copies them to."""
    made = {step.found[0]: step for step in steps if isinstance(step, CallStep) and isinstance(step.call, Reshape)}

    def reading(step: Step) -> Step:
        if isinstance(step, CallStep) and isinstance(step.call, Scatter) and step.given[0] in made:
            reshape = made[step.given[0]]
            call = step.call.of_numbers(reshape.call)
            return step if call is None else CallStep(call, reshape.given, step.found)
        return step

    found = list(map(reading, steps))
    return of_used(found, uses_of(found, outputs))


def with_memory(steps: Sequence[Step], tape: Tape, outputs: Indices) -> list[Step]:
    """Note where the memory of arrays may be used again."""
    owner, last = _last_uses(steps, tape, outputs)
    found: list[Step] = []
    for i, step in enumerate(steps):
        if isinstance(step, NumberStep):
            found.append(step)
            continue
        done = [index for index, use in last.items() if use == i]
        targets = [index for index in step.given[: step.call.overwritable] if index in done and owner[index] == index]
        overwritten = targets[0] if targets else None
        found.append(step._replace(done=[index for index in done if index != overwritten], overwritten=overwritten))
    return found


def _last_uses(steps: Sequence[Step], tape: Tape, outputs: Indices) -> tuple[dict[int, int], dict[int, int]]:
    """Return the owner of the memory of each array, and the last step that uses the memory of each owner.

    The owner of a view is the array whose memory it shares. An output is used after all steps.
    """
    owner: dict[int, int] = {}
    last: dict[int, int] = {}
    for i, step in enumerate(steps):
        if isinstance(step, NumberStep):
            continue
        for index in step.given:
            if index in owner:
                last[owner[index]] = i
        for index in step.found if step.call.makes_arrays else ():
            if index in tape.arrays:
                owner[index] = index
                last[index] = i
        if step.call.is_view and step.given[0] in owner:
            owner[step.found[0]] = owner[step.given[0]]
    for index in outputs:
        last.pop(owner.get(index, index), None)
    return owner, last
