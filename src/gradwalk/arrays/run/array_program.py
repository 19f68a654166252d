"""`ArrayProgram`: runs a tape that has arrays, one call of arrays after the other.

Between two calls, the numbers are computed by an ordinary program. A call takes its arrays as they are, so they are not
copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy

from gradwalk.arrays.handles import apply_call, apply_here, constant
from gradwalk.arrays.kinds import Allocate, ArrayKind, WholeCall, new_array
from gradwalk.arrays.layout_calls import Pack, Reshape, Unpack
from gradwalk.arrays.map_call import MapCall
from gradwalk.arrays.run.array_steps import CallStep, NumberStep, Places, Step, steps_of, with_memory, without_copies
from gradwalk.arrays.run.pieces import PiecesCall, with_pieces
from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.program_derivatives import has_effects
from gradwalk.program.native.policy import compiling, current_policy, prefix_keys
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import RecordedArray, TracedPart, flat_operands
from gradwalk.program.tracing.trace import evaluate
from gradwalk.trees.tree import have_values, scalars, write
from gradwalk.value.arrays import of_objects
from gradwalk.value.modes import depth, refuses_nans

# A tape becomes an array program if it has at most this many instructions, and if no call takes more elements out of an
# array than this, or than a quarter of the largest array.
_MOST_INSTRUCTIONS = 50_000
_MOST_ELEMENTS = 4000
_MOST_SELECTED = 64  # calls that take single elements out of arrays
_MANY = 200_000  # numbers in arrays for which more such calls are worth while
_MOST_KEPT = 64 * 2**20  # bytes in arrays of one kind that a program keeps between calls


def uses_arrays(tape: Tape) -> bool:
    """Return whether an array program is better than a program of numbers.

    It is not if the function uses the elements of an array one by one, unless a call is much slower on numbers.
    """
    if sum(call.numbers_cost for call, _, _ in tape.calls if isinstance(call, WholeCall)) > len(tape):
        return True
    counts = [call.count for call, _, _ in tape.calls if isinstance(call, (Unpack, Pack))]
    sizes = [kind.size for kind in tape.arrays.values()]
    if len(tape) > _MOST_INSTRUCTIONS or max(counts, default=0) > max(_MOST_ELEMENTS, max(sizes, default=0) // 4):
        return False
    return len(counts) <= _MOST_SELECTED or sum(sizes) > _MANY


class Buffers:
    """Arrays of earlier calls, whose memory is used again: new memory costs as much time as a simple function of it."""

    def __init__(self) -> None:
        self._free: dict[ArrayKind, list[Any]] = {}

    def take(self, kind: ArrayKind) -> Any:
        """Return an array of a kind."""
        free = self._free.get(kind)
        try:
            return free.pop() if free else new_array(kind)
        except IndexError:  # another thread has taken the last one
            return new_array(kind)

    def give(self, arrays: Sequence[Any]) -> None:
        """Keep arrays that are not needed any more, if they are not too large."""
        for array in arrays:
            free = self._free.setdefault(ArrayKind(*array.shape), [])
            if (len(free) + 1) * array.nbytes <= _MOST_KEPT:
                free.append(array)


class ArrayProgram:
    """The instructions of a tape with arrays that some outputs depend on.

    Args:
        tape: The tape.
        outputs: The tape indices of the outputs.

    Attributes:
        repeats: The repeats that were found in the program: none.
    """

    repeats: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, tape: Tape, outputs: Indices) -> None:
        self._tape, self._outputs = tape, outputs
        self._inputs = tape.input_indices
        self._buffers = Buffers()
        self._policy = current_policy()
        self._steps = steps_of(tape, outputs) if uses_arrays(tape) else None

    @property
    def part(self) -> TracedPart:
        """The tape and the outputs."""
        return TracedPart(self._tape, self._outputs)

    def evaluate(self, operands: Sequence[Any]) -> list[Any]:
        """Compute the outputs.

        Args:
            operands: A float, an array, a Value or an `ArrayHandle` for each input of the tape.

        Returns:
            The outputs: floats and arrays or, if an operand is a Value, also Values and handles.
        """
        arrays = [operands[i] for i, _ in self._places[0].arrays]
        has_values = have_values(operands) or any(x.dtype == object for x in arrays if isinstance(x, numpy.ndarray))
        if self._steps is None or (has_values and depth() == 0) or refuses_nans():
            return self._of_elements(operands)
        if has_values:
            return self._with_values(self._steps, operands)
        found = self.run(*self._places[0].parted(operands))
        results: list[Any] = found.tolist() if isinstance(found, numpy.ndarray) else found
        return results

    def _with_values(self, steps: Sequence[Step], operands: Sequence[Any]) -> list[Any]:
        """Compute the outputs from Values and handles."""
        known: dict[int, Any] = dict(zip(self._inputs, operands, strict=True))
        for step in steps:
            given = [known[index] for index in step.given]
            found = apply_here(step.call, lifted(given)) if isinstance(step, CallStep) else step.program(given)
            known.update(zip(step.found, found, strict=True))
        return separate([known[index] for index in self._outputs])

    def run(self, given: Floats, arrays: Sequence[Any]) -> Any:
        """Compute the outputs from floats and arrays. Needs a tape for which `uses_arrays` holds.

        Args:
            given: The inputs that are numbers.
            arrays: The inputs that are arrays.

        Returns:
            A list of floats and arrays, or an array if all outputs are numbers.
        """
        if self._policy is current_policy():
            return self._run(given, arrays)
        with compiling(self._policy):  # the policy also applies to kernels that are made on the first run
            return self._run(given, arrays)

    def _run(self, given: Floats, arrays: Sequence[Any]) -> Any:
        """See `run`."""
        inputs, outputs, places = self._places
        numbers = self._constants.copy()  # the number with each tape index
        numbers[inputs.numbers] = given
        known: dict[int, Any] = {index: array for (_, index), array in zip(inputs.arrays, arrays, strict=True)}
        for step, taken, found in places:
            if isinstance(step, NumberStep):
                numbers[found.numbers] = step.program.run(numbers[taken.numbers])
                continue
            numbers[found.numbers], made = self._called(step, taken, found, numbers, known)
            for (_, index), array in zip(found.arrays, made, strict=True):
                known[index] = array
            if step.done:
                self._buffers.give([known.pop(index) for index in step.done])
        return separate(outputs.get(numbers, known)) if outputs.arrays else numbers[outputs.numbers]

    def _called(
        self, step: CallStep, taken: Places, found: Places, numbers: Floats, known: dict[int, Any]
    ) -> tuple[Floats, list[Any]]:
        """Run a call; return the numbers and the arrays among its results."""
        if isinstance(step.call, MapCall):
            arrays = [known[index] for _, index in taken.arrays]
            return step.call.run_rows(numbers[taken.numbers], arrays, self._memory_for(step, known))
        operands = taken.get(numbers, known)
        return found.parted(step.call.run(operands, self._memory_for(step, known)))

    def _memory_for(self, step: CallStep, known: dict[int, Any]) -> Allocate:
        """Return the function that makes arrays for the results of a call."""
        if step.overwritten is None:
            return self._buffers.take
        target = known.pop(step.overwritten)
        return lambda kind: target

    @cached_property
    def _run_steps(self) -> list[Step]:
        """The steps that `run` takes."""
        steps = without_copies(with_pieces(self._steps or [], self._outputs), self._outputs)
        return with_memory(steps, self._tape, self._outputs)

    @cached_property
    def _places(self) -> tuple[Places, Places, list[tuple[Step, Places, Places]]]:
        """The places of the inputs and outputs; each step that needs operands, with their and its results' places."""
        steps = [
            (step, Places(step.given, self._tape), Places(step.found, self._tape))
            for step in self._run_steps
            if not _is_constant(step)
        ]
        return Places(self._inputs, self._tape), Places(self._outputs, self._tape), steps

    @cached_property
    def _constants(self) -> Floats:
        """For each tape index, its number if it is a constant. Other numbers are not set."""
        found = numpy.empty(len(self._tape))
        for step in filter(_is_constant, self._run_steps):
            found[list(step.found)] = step.program.run([])
        return found

    def reuse(self, arrays: Sequence[Any], needed: Sequence[Any]) -> None:
        """Use the memory of results of earlier calls again, except for arrays that are `needed`, and numbers."""
        kept = {id(x) for x in needed}
        self._buffers.give([x for x in arrays if isinstance(x, numpy.ndarray) and id(x) not in kept])

    def _of_elements(self, operands: Sequence[Any]) -> list[Any]:
        """Compute the outputs by the program of numbers. If an operand is a Value, arrays contain Values, too."""
        results = evaluate(self.of_numbers, flat_operands(operands))
        found: list[Any] = []
        start = 0
        for index in self._outputs:
            kind = self._tape.arrays.get(index)
            if kind is None:
                found.append(results[start])
            else:
                part = results[start : start + kind.size]
                found.append(of_objects(part, kind) if isinstance(part, list) else part.reshape(kind))
            start += 1 if kind is None else kind.size
        return found

    @cached_property
    def always_ends(self) -> bool:
        """Whether all calls end for any arguments, unlike a `while_loop`."""
        return all(isinstance(call, WholeCall) and call.always_ends for call, _ in self.calls)

    @property
    def calls(self) -> list[tuple[Any, Indices]]:
        """The calls on the tape, with their operands."""
        return [(call, operands) for call, operands, _ in self._tape.calls]

    @cached_property
    def kinds(self) -> list[ArrayKind | None]:
        """For each input, its kind if it is an array, else None."""
        return [self._tape.arrays.get(index) for index in self._inputs]

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the program and of its calls: see `Program.backends`."""
        if self._steps is None:
            return self.of_numbers.backends
        found: dict[str, str] = {}
        for i, step in enumerate(self._run_steps):
            own = step.call.backends(set()) if isinstance(step, CallStep) else step.program.backends
            found |= prefix_keys(f"{step.call.name if isinstance(step, CallStep) else 'numbers'}[{i}]", own)
        return found

    def __len__(self) -> int:
        """Return the number of instructions. The instructions of a row are counted once."""
        if self._steps is None:
            return len(self.of_numbers)
        return sum(_length(step) for step in self._run_steps)

    @cached_property
    def of_numbers(self) -> Program:
        """An equivalent program, which has each number of an array as an input or output."""
        return self._tape.program(self._outputs)


def _is_constant(step: Step) -> TypeGuard[NumberStep]:
    """Return whether a step computes constants, without side effects."""
    return isinstance(step, NumberStep) and not step.given and not has_effects(step.program)


def _length(step: Step) -> int:
    """Return the number of instructions of a step."""
    if isinstance(step, NumberStep):
        return len(step.program)
    return len(step.call) if isinstance(step.call, (MapCall, PiecesCall)) else 1


def operands_of(leaves: Sequence[Any], kinds: Sequence[ArrayKind | None]) -> list[Any]:
    """Return the operands of an `ArrayProgram`: the numbers of the leaves, and each array of a kind as it is.

    Args:
        leaves: The leaves of the arguments.
        kinds: The kind of each operand that is an array, and None for each number. More operands may follow.
    """
    operands: list[Any] = []
    for leaf in leaves:
        kind = kinds[len(operands)] if len(operands) < len(kinds) and getattr(leaf, "size", True) else None
        operands += scalars([leaf]) if kind is None else [as_operand(leaf, kind)]
    return operands


def plain_operands(leaves: Sequence[Any], kinds: Sequence[ArrayKind | None]) -> tuple[Floats, list[Any]] | None:
    """Return the numbers and the arrays of `operands_of` for `ArrayProgram.run`, or None if there are Values."""
    arrays: list[Any] = []
    others: list[Any] = []
    position = count = 0
    for leaf in leaves:
        size = getattr(leaf, "size", 1)
        kind = kinds[position] if size else None
        if kind is None:
            others.append(leaf)
            count += size
        elif type(leaf) is not numpy.ndarray or leaf.dtype == object:
            return None
        else:
            arrays.append(as_operand(leaf, kind))
        position += size if kind is None else 1
    row = numpy.empty(count)
    return (row, arrays) if write(others, row) else None


def as_operand(leaf: Any, kind: ArrayKind) -> Any:
    """Return an array as an operand of a kind: an array of floats, or of Values, or a handle."""
    if isinstance(leaf, RecordedArray):
        handle = leaf.in_order()
        if handle is None:
            return apply_call(Pack(kind), scalars([leaf]))[0]
        return handle if handle.kind == kind else apply_call(Reshape(handle.kind, kind), [handle])[0]
    if leaf.dtype != object:
        return numpy.require(leaf, numpy.float64, ["C", "ALIGNED"]).reshape(kind)
    return apply_call(Pack(kind), scalars([leaf]))[0] if depth() else leaf


def separate(outputs: list[Any], operands: Sequence[Any] = ()) -> list[Any]:
    """Copy the arrays that share memory with other arrays: views, and those that occur twice or among `operands`."""
    seen = set(map(id, operands))
    for i, x in enumerate(outputs):
        if isinstance(x, numpy.ndarray):
            if x.base is not None or not x.flags.owndata or id(x) in seen:
                outputs[i] = x.copy(order="F")
            seen.add(id(x))
    return outputs


def lifted(operands: Sequence[Any]) -> list[Any]:
    """Replace arrays by handles of constants."""
    return [constant(x) if isinstance(x, numpy.ndarray) else x for x in operands]
