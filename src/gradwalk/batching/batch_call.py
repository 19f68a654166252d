"""`BatchCall`: one instruction of a recorded function, which runs the program of one sample for a whole batch.

The derivatives of a `BatchCall` are computed by other `BatchCall`s. An input that all samples share has one cotangent,
which is summed over the batch. A column, which is an input with one number per sample, has one cotangent per sample. An
output that is summed over the batch has one cotangent, which all samples share.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.base import Backend, Kernel
from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls import loop
from gradwalk.program.calls.call import Call, ConstantCall, append_call, instantiate_zeros
from gradwalk.program.calls.program_derivatives import to_tape, weight
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape


class Sizes(NamedTuple):
    """The counts of shared inputs, columns and summed outputs.

    Attributes:
        shared: Number of inputs that all samples share.
        columns: Number of inputs with one operand per sample.
        summed: Number of outputs that are summed over the batch; the other outputs are stacked.
    """

    shared: int
    columns: int
    summed: int


class BatchCall(Call):
    """A call that runs the program of one sample for all samples of a batch.

    The operands are the shared numbers, followed by the columns one after the other. The results are the sums over the
    batch, followed by the stacked outputs one after the other. Each column and each stacked output has one number per
    sample.

    Args:
        program: The program of one sample, without calls of Python functions. The inputs are the shared numbers, one
            number of each column, and one number of each constant column. The outputs are the summed outputs, followed
            by the stacked outputs.
        sizes: The counts of shared inputs, columns and summed outputs.
        constants: The constant columns, which are not operands: a float64 array with one row per sample.
        backend: A function that makes a kernel from a program.
    """

    name = "vmap"
    is_pure = True
    inputs: int

    def __init__(self, program: Program, sizes: Sizes, constants: NDArray[numpy.float64], backend: Backend) -> None:
        self._program, self._sizes, self._constants, self._backend = program, sizes, constants, backend
        self._count = len(constants)
        self.inputs = sizes.shared + sizes.columns * self._count
        self.outputs = sizes.summed + (len(program.outputs) - sizes.summed) * self._count
        self.weight = self._count * weight(program)
        self._backs: dict[tuple[bool, ...], BatchCall] = {}

    def __repr__(self) -> str:
        return f"<batch of {self._count} samples of {len(self._program)} instructions>"

    def __reduce__(self) -> Any:
        return BatchCall, (self._program, self._sizes, self._constants, self._backend)

    def numbers(self, operands: Floats) -> Floats:
        """Compute the results from float operands: see `Call.numbers`."""
        summed = self._sizes.summed
        found = numpy.empty(self.outputs)
        if summed:
            shared, columns = self._parted(operands)
            found[:summed] = self._summing.run(shared, columns, [], self._count, single=False)
        if len(self._program.outputs) > summed:
            self._stack(operands, found[summed:].reshape(-1, self._count))
        return found

    def _parted(self, operands: Floats) -> tuple[Floats, list[NDArray[Any]]]:
        """Split the operands into the shared numbers and the columns, including the constant columns."""
        shared, columns, _ = self._sizes
        return operands[:shared], [operands[shared:].reshape(columns, self._count).T, self._constants]

    def _stack(self, operands: Floats, stacked: Floats) -> None:
        """Compute the stacked outputs and write each output to a row of `stacked`."""
        shared, columns = self._parted(operands)
        kernel = self._stacking
        fixed = kernel.run(shared, columns, list(stacked), self._count, single=False)
        for position, number in zip(kernel.fixed, fixed.tolist(), strict=True):
            stacked[position] = number

    @cached_property
    def _summing(self) -> Kernel:
        return self._kernel(range(self._sizes.summed), reduced=True)

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends: see `Call.backends`."""
        made = [(name, vars(self).get(f"_{name}")) for name in ("summing", "stacking")]
        return {
            name: text for part, kernel in made if kernel for name, text in prefix_keys(part, kernel.backends).items()
        }

    @cached_property
    def _stacking(self) -> Kernel:
        return self._kernel(range(self._sizes.summed, len(self._program.outputs)), reduced=False)

    def _kernel(self, outputs: range, *, reduced: bool) -> Kernel:
        """Return a kernel that computes the outputs at the given positions."""
        tape, inputs, found = to_tape(self._program)
        varies = [i >= self._sizes.shared for i in range(len(inputs))]
        return self._backend(tape.program([found[i] for i in outputs]), varies, reduced=reduced)

    # Derivatives

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append a call that computes the cotangents: see `Call.vjp_needed`."""
        shared, columns, summed = self._sizes
        count = self._count
        asked = (*wanted[:shared], *(any(wanted[i : i + count]) for i in range(shared, self.inputs, count or 1)))
        if not any(asked):
            return [NO_INDEX] * self.inputs
        seeds = instantiate_zeros(tape, adjoints)
        back = self._backs.setdefault(asked, self._back(asked))
        results = iter(
            append_call(back, tape, [*operands[:shared], *seeds[:summed], *operands[shared:], *seeds[summed:]])
        )
        found: Indices = []
        for is_asked, length in zip(asked, [1] * shared + [count] * columns, strict=True):
            found += [next(results) if is_asked else NO_INDEX for _ in range(length)]
        return found

    def _back(self, asked: Sequence[bool]) -> BatchCall:
        """Return a `BatchCall` that computes the cotangents of the inputs for which `asked` is true."""
        shared, columns, summed = self._sizes
        tape = Tape()
        of_shared = [tape.input() for _ in range(shared)]
        of_sums = [tape.input() for _ in range(summed)]
        of_columns = [tape.input() for _ in range(columns)]
        of_stacked = [tape.input() for _ in range(len(self._program.outputs) - summed)]
        constants = [tape.input() for _ in range(self._constants.shape[1])]
        outputs = tape.inline(self._program, [*of_shared, *of_columns, *constants])
        wrt = [index for index, is_asked in zip([*of_shared, *of_columns], asked, strict=True) if is_asked]
        found = tape.reverse(list(zip(outputs, [*of_sums, *of_stacked], strict=True)), wrt)
        sizes = Sizes(shared + summed, columns + len(of_stacked), sum(asked[:shared]))
        return BatchCall(tape.program(found), sizes, self._constants, self._backend)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append a call that computes the tangents: see `Call.jvp`."""
        shared = self._sizes.shared
        pushed = instantiate_zeros(tape, tangents)
        return append_call(
            self._forward, tape, [*operands[:shared], *pushed[:shared], *operands[shared:], *pushed[shared:]]
        )

    @cached_property
    def _forward(self) -> BatchCall:
        """A `BatchCall` that computes the tangents of all outputs."""
        shared, columns, summed = self._sizes
        tape = Tape()
        of_shared, by_shared = ([tape.input() for _ in range(shared)] for _ in range(2))
        of_columns, by_columns = ([tape.input() for _ in range(columns)] for _ in range(2))
        constants = [tape.input() for _ in range(self._constants.shape[1])]
        outputs = tape.inline(self._program, [*of_shared, *of_columns, *constants])
        seeds = zip([*of_shared, *of_columns], [*by_shared, *by_columns], strict=True)
        found = tape.forward(list(seeds), outputs)
        return BatchCall(tape.program(found), Sizes(2 * shared, 2 * columns, summed), self._constants, self._backend)

    @property
    def portable(self) -> Program:
        """The batch as a loop over the samples."""
        shared, columns, summed = self._sizes
        constants = self._constants.shape[1]
        stacked = len(self._program.outputs) - summed
        step = Tape()
        step.input()  # the loop counter
        totals = [step.input() for _ in range(summed)]
        outputs = step.inline(self._program, [step.input() for _ in range(shared + columns + constants)])
        added = [step.append("add", total, one) for total, one in zip(totals, outputs, strict=False)]
        sizes = loop.Sizes(summed, shared, columns + constants, stacked)
        whole = loop.Loop(step.program([*added, *outputs[summed:]]), sizes, 0, self._count)
        tape = Tape()
        operands = [tape.constant(0.0)] * summed + [tape.input() for _ in range(shared)]
        of_columns = [[tape.input() for _ in range(self._count)] for _ in range(columns)]
        for i, row in enumerate(self._constants.tolist()):
            operands += [*(column[i] for column in of_columns), *map(tape.constant, row)]
        results = append_call(whole, tape, operands)
        rows = results[summed:]
        return tape.program([*results[:summed], *(index for j in range(stacked) for index in rows[j::stacked])])

    def flat(self) -> Program:
        """Return the batch as a program without a loop, which computes one sample after the other."""
        shared, columns, summed = self._sizes
        tape = Tape()
        of_shared = [tape.input() for _ in range(shared)]
        of_columns = [[tape.input() for _ in range(self._count)] for _ in range(columns)]
        sums = [tape.constant(0.0)] * summed
        stacked: list[Indices] = []
        for i, row in enumerate(self._constants.tolist()):
            own = [column[i] for column in of_columns]
            outputs = tape.inline(self._program, [*of_shared, *own, *map(tape.constant, row)])
            sums = [tape.append("add", total, one) for total, one in zip(sums, outputs, strict=False)]
            stacked.append(outputs[summed:])
        return tape.program([*sums, *(index for column in zip(*stacked, strict=True) for index in column)])


class ExtremeCall(ConstantCall, BatchCall):
    """A call that finds the maximum or minimum (the extreme) of each output over a batch.

    The results are the extremes of all outputs, followed by the index of the first sample with each extreme. If an
    output is nan for any sample, its extreme is nan. The program must not have summed outputs.
    """

    def __init__(
        self, program: Program, sizes: Sizes, constants: NDArray[numpy.float64], backend: Backend, *, largest: bool
    ) -> None:
        super().__init__(program, sizes, constants, backend)
        self._largest = largest
        self.outputs = 2 * len(program.outputs)

    def __reduce__(self) -> Any:
        made = functools.partial(ExtremeCall, largest=self._largest)
        return made, (self._program, self._sizes, self._constants, self._backend)

    def numbers(self, operands: Floats) -> Floats:
        """Compute the results from float operands: see `Call.numbers`."""
        stacked = numpy.empty((len(self._program.outputs), self._count))
        self._stack(operands, stacked)
        places = stacked.argmax(axis=1) if self._largest else stacked.argmin(axis=1)
        return numpy.append(stacked[numpy.arange(len(stacked)), places], places.astype(numpy.float64))

    @property
    def portable(self) -> Program:
        """The search for the extremes as a loop over the samples."""
        shared, columns, _ = self._sizes
        row = columns + self._constants.shape[1]
        whole = loop.Loop(self._step, loop.Sizes(self.outputs, shared, row, 0), 0, self._count)
        tape, operands, of_columns = self._begun()
        for i, numbers in enumerate(self._constants.tolist()):
            operands += [*(column[i] for column in of_columns), *map(tape.constant, numbers)]
        return tape.program(append_call(whole, tape, operands))

    def flat(self) -> Program:
        """Return the search as a program without a loop, which examines one sample after the other."""
        tape, operands, of_columns = self._begun()
        best, shared = operands[: self.outputs], operands[self.outputs :]
        for i, numbers in enumerate(self._constants.tolist()):
            row = [*(column[i] for column in of_columns), *map(tape.constant, numbers)]
            best = tape.inline(self._step, [tape.constant(float(i)), *best, *shared, *row])
        return tape.program(best)

    def _begun(self) -> tuple[Tape, Indices, list[Indices]]:
        """Return a new tape, a list with the initial carry followed by the shared operands, and the columns."""
        shared, columns, _ = self._sizes
        tape = Tape()
        inputs = [tape.input() for _ in range(shared)]
        of_columns = [[tape.input() for _ in range(self._count)] for _ in range(columns)]
        worst = tape.constant(-math.inf if self._largest else math.inf)
        half = self.outputs // 2
        return tape, [*[worst] * half, *[tape.constant(0.0)] * half, *inputs], of_columns

    @cached_property
    def _step(self) -> Program:
        """The program of one loop step, which updates the extremes and their indices for one more sample."""
        tape = Tape()
        place, zero, one = tape.input(), tape.constant(0.0), tape.constant(1.0)
        best = [tape.input() for _ in range(self.outputs)]
        inputs = [tape.input() for _ in range(self._program.inputs)]
        half = self.outputs // 2
        bests, places = [], []
        for x, known, where in zip(tape.inline(self._program, inputs), best[:half], best[half:], strict=True):
            # Comparisons with nan are false, so their negation makes nan better than any number. A nan is never
            # replaced.
            no_better = tape.append("less_equal", x, known) if self._largest else tape.append("less_equal", known, x)
            is_number = tape.append("equal", known, known)
            better = tape.append("where", is_number, tape.append("sub", one, no_better), zero)
            bests.append(tape.append("where", better, x, known))
            places.append(tape.append("where", better, place, where))
        return tape.program([*bests, *places])
