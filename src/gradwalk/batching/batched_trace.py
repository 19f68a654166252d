"""`BatchedTrace`: a function recorded for one sample and run on batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.base import Backend, Kernel, PythonCallError
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.backend.loops.loop_kernel import LoopKernel, make_kernel, written_out
from gradwalk.base.cached import cached_property
from gradwalk.batching.axes import SUMS, Batch, Batching, as_array, plain_numbers
from gradwalk.batching.batch_call import BatchCall, ExtremeCall, Sizes
from gradwalk.batching.out_argument import Target, put, targets_of
from gradwalk.batching.outputs import Outputs, columns_of, reduce_columns
from gradwalk.batching.prepared_batch import PreparedBatch, prepared_batch
from gradwalk.program.calls.program_derivatives import has_effects, weight, without_effects
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.paths import Outcomes, PathTrace, guards_of
from gradwalk.program.tracing.trace import Recording
from gradwalk.trees.tree import TreeDef, flatten, scalars, size, write
from gradwalk.value.modes import depth, is_staging, is_without_gradient, refuses_nans

_LEAST_WHOLE = 1000  # minimum total number of instructions of a batch that becomes one `BatchCall`
_BACKEND: Backend = make_kernel
_GUARD = flatten((0.0, 0.0), "the outputs of a guard")[1]  # the treedef of a guard's results: a position and a number


class _MadeOf(NamedTuple):
    """The operands of a `BatchCall` and the arguments of its constructor."""

    operands: list[Any]
    program: Program
    sizes: Sizes
    constants: NDArray[numpy.float64]


@dataclass(frozen=True, eq=False)
class BatchedTrace(PathTrace):
    """A recording of a function for one sample. The program computes the results, without the conditions.

    Attributes:
        kernel: The kernel that runs the program on a batch; None if the program has side effects, or if it calls a
            Python function with an argument that depends on the batch.
        treedef: The treedef of the result for one sample.
        fixed: Positions of the outputs that are the same for all samples.
        guards: Guards that tell which samples take the path of the recording. Empty if there are no conditions.
        is_guard: Whether this is the trace of a guard.
        conditions: A program that computes the conditions of the path; None if there are no conditions.
        key: The key of the batches that the recording is for: see `Batch.key`.
        prepared: Maps the dtypes of the array arguments to a `PreparedBatch`, or to None if there is no fast path.
    """

    kernel: Kernel | None
    treedef: TreeDef
    fixed: list[int]
    guards: list[Guard] = field(default_factory=list)
    conditions: Program | None = None
    is_guard: bool = False
    key: Any = None
    prepared: dict[tuple[Any, ...], PreparedBatch | None] = field(default_factory=dict)

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the kernel, or of the program if there is no kernel: see `Statistics`."""
        return self.program.backends if self.kernel is None else self.kernel.backends

    def prepared_for(self, batch: Batch, batching: Batching) -> PreparedBatch | None:
        """Return a `PreparedBatch` for batches like this one, or None if there is no fast path for such batches."""
        types = tuple([array.dtype for array in batch.arrays])
        if types not in self.prepared:
            kernel = self._lane_kernel(single=batch.kind is numpy.float32)
            if kernel is None:
                return None
            means = batching._replace(out_axes=0, reduce="mean")
            found = [guard.summed.prepared_for(batch, means) for guard in self.guards]
            guards = [guard for guard in found if guard is not None]
            if len(guards) < len(found):
                return None
            self.prepared[types] = prepared_batch(batching, batch, self, kernel, guards)
        return self.prepared[types]

    @property
    def portable(self) -> BatchedTrace:
        """The trace without derivative rules, which are Python code."""
        return replace(self, program=written_out(self.program))

    def _lane_kernel(self, *, single: bool) -> LaneKernel | None:
        """Return the lane kernel that runs the program, or None if there is none yet."""
        kernel = self.kernel
        if isinstance(kernel, LoopKernel):
            return kernel.lane_kernel(single=single)
        return kernel if isinstance(kernel, LaneKernel) else None

    def results(self, batch: Batch, batching: Batching, out: Any = None) -> Any:
        """Return the results for a batch, stacked along a batch axis or reduced over the batch.

        Args:
            batch: The batch.
            batching: The axes of arguments and results, and the reduction.
            out: Arrays to write the results to: see `vmap`.

        Raises:
            TypeError: `out` contains something other than arrays of the right dtype, or `out` is given although the
                results are Values.
            ValueError: The results do not match `out` or `out_axes`.
        """
        if batching.reduce is not None:
            return self._reduced(batch, batching, out)
        has_values = self.has_values(batch)
        if out is not None:
            self.refuse_values(batch, batching)
        kind = object if has_values else batch.kind
        outputs = Outputs(self.treedef, batching.out_axes, batch.size, kind, out)
        outputs.refuse_varying(self.fixed)
        found: dict[int, Any]  # maps positions to numbers
        if self.stays_whole(batch):
            found = dict(enumerate(self._whole(batch, reduced=False)))
            found |= zip(self.fixed, self._fixed_results(batch) if self.fixed else [], strict=True)
        elif self.kernel is None or has_values or refuses_nans():
            found = dict(enumerate(map(as_array, self._one_by_one(batch, has_values))))
            found |= zip(self.fixed, self._fixed_results(batch) if self.fixed else [], strict=True)
        else:  # the kernel writes varying results to the columns itself
            outputs.keep_apart(batch.varying)
            found = dict(zip(self.fixed, self._run(self.kernel, batch, outputs.columns).tolist(), strict=True))
        for position, numbers in found.items():
            outputs.fill(position, numbers)
        return outputs.tree()

    def reduced(self, batch: Batch, batching: Batching, out: Any = None) -> Any:
        """Return the same as `results`, for all reductions instead of those in `SUMS`."""
        reduce = batching.reduce
        if reduce is None or reduce in SUMS:
            return self.results(batch, batching, out)
        if out is not None:
            raise TypeError(f"out= of a loaded function needs reduce=None, 'sum' or 'mean', not {reduce!r}")
        numbers = reduce_columns(reduce, columns_of(self.results(batch, batching._replace(reduce=None)), batch.size))
        if reduce.startswith("arg"):
            return self.treedef.as_floats().filled(numbers)
        return self.unflatten(numbers, batch.kind)

    def unflatten(self, numbers: Any, kind: type[numpy.floating[Any]]) -> Any:
        """Fill a tree like the result with these numbers. Its arrays have dtype `kind`, or object for Values."""
        if numbers.dtype == object:
            return self.treedef.filled(numbers)
        with numpy.errstate(over="ignore"):
            return self.treedef.as_floats().filled(numbers.astype(kind))

    def sums(self, batch: Batch) -> Any:
        """Return the sums over a batch, one per number of the result: float64, or objects if the results are Values."""
        has_values = self.has_values(batch)
        if self.stays_whole(batch):
            return as_array([total for [total] in self._whole(batch, reduced=True)])
        if self.kernel is None or has_values or refuses_nans():
            return as_array([sum(column, start=0.0) for column in self._one_by_one(batch, has_values)])
        return self._run(self.kernel, batch, [])

    def targets(self, batch: Batch, batching: Batching, out: Any, kind: Any) -> list[Target]:
        """Return the target array of each leaf of a reduced result: see `targets_of`.

        Raises:
            TypeError: `out` contains something other than arrays of dtype `kind`, or the result contains Values.
            ValueError: The result does not match `out`.
        """
        self.refuse_values(batch, batching)
        return targets_of(out, self.treedef.with_shapes(self.treedef.array_shapes), kind)

    def refuse_values(self, batch: Batch, batching: Batching) -> None:
        """Raise `TypeError` if the results for a batch are Values, which cannot be written to `out`."""
        if self.has_values(batch):
            raise TypeError(
                f"out= requires numbers, but the results of {batching.name} are Values here: take derivatives inside, "
                "as in vmap(value_and_grad(f)), or call it under no_grad()"
            )

    def _reduced(self, batch: Batch, batching: Batching, out: Any) -> Any:
        targets = [] if out is None else self.targets(batch, batching, out, batch.kind)
        results = batching.of_sums(self.sums(batch), batch.size)
        if batching.reduce == "mean" and self.fixed and batch.size:
            results[self.fixed] = self._fixed_results(batch)  # a mean of equal numbers would have a rounding error
        result = self.unflatten(results, batch.kind)
        return result if out is None else put(result, targets)

    def has_values(self, batch: Batch) -> bool:
        """Return whether the results are Values."""
        depends = batch.has_values or bool(self.captured) or (has_effects(self.program) and is_staging())
        return depends and not is_without_gradient()

    def stays_whole(self, batch: Batch) -> bool:
        """Return whether a batch of Values becomes one `BatchCall`. Short batches are recorded sample by sample."""
        if not self.has_values(batch):
            return False
        is_long = batch.size * max(weight(self.program), 1) >= _LEAST_WHOLE
        return is_long and depth() > 0 and self.kernel is not None and not refuses_nans()

    def extremes(self, batch: Batch, *, largest: bool) -> tuple[list[Any], list[Any]]:
        """Return the maximum or minimum of each output over a batch, and the index of the first sample that has it.

        The batch must satisfy `stays_whole`. No gradient flows through these results.
        """
        made_of = self._as_call(batch, range(len(self.program.outputs)), summed=0)
        call = ExtremeCall(made_of.program, made_of.sizes, made_of.constants, _BACKEND, largest=largest)
        results = call.values(made_of.operands)
        return results[: len(results) // 2], results[len(results) // 2 :]

    def _whole(self, batch: Batch, *, reduced: bool) -> list[list[Any]]:
        """Compute the outputs with one `BatchCall`.

        Returns one list per output. If `reduced` is true, the list contains the sum over the batch. Otherwise it
        contains the number of each sample, or is empty if the output is the same for all samples.
        """
        positions = [i for i in range(len(self.program.outputs)) if reduced or i not in self.fixed]
        made_of = self._as_call(batch, positions, summed=len(positions) if reduced else 0)
        call = BatchCall(made_of.program, made_of.sizes, made_of.constants, _BACKEND)
        results = iter(call.values(made_of.operands))
        length = 1 if reduced else batch.size
        found = {i: [next(results) for _ in range(length)] for i in positions}
        return [found.get(i, []) for i in range(len(self.program.outputs))]

    def _as_call(self, batch: Batch, positions: Sequence[int], *, summed: int) -> _MadeOf:
        """Return the parts of a `BatchCall` that computes the outputs at `positions`; the first `summed` are summed."""
        kinds: list[int] = []  # kind of each input: 0 (shared), 1 (column of Values) or 2 (column of numbers)
        shared: list[Any] = []
        columns: list[Any] = []
        constants: list[Any] = []
        for leaf, varies in zip(
            [*batch.leaves, *self.captured], [*batch.varies, *[False] * len(self.captured)], strict=True
        ):
            if not varies:
                numbers = scalars([leaf])
                shared += numbers
                kinds += [0] * len(numbers)
                continue
            rows = leaf.reshape(batch.size, -1)
            is_constant = leaf.dtype != object
            (constants if is_constant else columns).extend(rows.T)
            kinds += [2 if is_constant else 1] * rows.shape[1]
        array = numpy.array(constants, numpy.float64).reshape(len(constants), batch.size).T
        operands = [*shared, *(number for column in columns for number in column)]
        sizes = Sizes(len(shared), len(columns), summed)
        return _MadeOf(operands, _reordered(self.program, kinds, positions), sizes, array)

    def _fixed_results(self, batch: Batch) -> list[Any]:
        """Compute the outputs that are the same for all samples, using the first sample."""
        return _outputs(self._of_fixed, [*batch.first(), *self.captured], self.has_values(batch))

    @cached_property
    def _of_fixed(self) -> Program:
        """The program that computes the outputs that are the same for all samples."""
        return _reordered(without_effects(self.program), [0] * self.program.inputs, self.fixed)

    def _run(self, kernel: Kernel, batch: Batch, outputs: list[Any]) -> Any:
        """Run the kernel: see `Kernel.run`."""
        shared = _numbers([*batch.shared(), *self.captured], kernel.uniform_inputs)
        return kernel.run(shared, batch.columns(), outputs, batch.size, single=batch.kind is numpy.float32)

    def departures(self, batch: Batch) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return where each sample leaves the path of the recording: see `guards_of`.

        Returns two arrays with an entry for each sample: the position of the first condition that has another outcome,
        or the number of conditions if there is none, and the number of that condition.
        """
        batch = batch.primals
        count = len(self.outcomes)
        positions, numbers = self.guards[0].stacked._columns(batch)
        for guard in self.guards[1:]:
            [staying] = (positions == count).nonzero()
            positions[staying], numbers[staying] = guard.stacked._columns(batch.take(staying))
        return positions, numbers

    def record_conditions(self, batch: Batch, i: int) -> None:
        """Make it a condition of the enclosing recording that sample `i` takes the path of this recording."""
        if self.conditions is not None and self.has_values(batch):
            self.left_with(self.conditions(scalars([*batch.sample(i), *self.captured])))

    def _columns(self, batch: Batch) -> list[NDArray[Any]]:
        """Return a column for each number of the result. The batch must not contain Values."""
        if self.kernel is None:
            return [numpy.array(column) for column in self._one_by_one(batch, has_values=False)]
        columns = [numpy.empty(batch.size, batch.kind) for _ in self.program.outputs]
        for position, number in zip(self.fixed, self._run(self.kernel, batch, columns).tolist(), strict=True):
            columns[position][:] = number
        return columns

    def _one_by_one(self, batch: Batch, has_values: bool) -> list[Any]:
        """Compute the results sample by sample. Return a list of columns, one per number of the result.

        This method is used if the results are Values, the program calls Python functions, or `debug_nans()` is active.
        """
        samples = ([*batch.sample(i), *self.captured] for i in range(batch.size))
        rows = [_outputs(self.program, leaves, has_values) for leaves in samples]
        return list(zip(*rows, strict=True)) or [()] * len(self.program.outputs)


class Guard:
    """Tells which samples of a batch take a path: see `guards_of`.

    Args:
        program: The program of the guard for one sample.
        varies: Whether each input of the program is batched.
        captured: Operands for the last inputs of the program: see `Trace`.
    """

    def __init__(self, program: Program, varies: Sequence[bool], captured: list[Any]) -> None:
        self._program = program
        self._varies = varies
        self._captured = captured

    @cached_property
    def stacked(self) -> BatchedTrace:
        """A trace that computes the outputs of the guard for each sample."""
        return self._trace(reduced=False)

    @cached_property
    def summed(self) -> BatchedTrace:
        """A trace that computes the sums of the outputs of the guard over a batch."""
        return self._trace(reduced=True)

    def _trace(self, *, reduced: bool) -> BatchedTrace:
        return make_trace(
            self._program,
            self._varies,
            reduced=reduced,
            captured=self._captured,
            outcomes=(),
            treedef=_GUARD,
            is_guard=True,
        )


def record_sample(
    f: Callable[..., Any], batch: Batch, *, reduced: bool, follows_branches: bool = True, imposed: Outcomes = ()
) -> BatchedTrace:
    """Record a function for the first sample of a batch.

    Args:
        f: The function of one sample.
        batch: The batch.
        reduced: Whether results are summed over the batch.
        follows_branches: Whether the function may branch on its arguments.
        imposed: Outcomes that the first conditions are given: see `Recording`.

    Raises:
        RecordingError: The function uses the number of an argument.
        TypeError: The result contains something other than numbers.
    """
    recording = Recording(staged=True, follows_branches=follows_branches, imposed=imposed)
    names: list[str] = []
    opened = [recording.add_inputs(arg, name, names) for arg, name in zip(batch.example(), batch.names, strict=True)]
    recording.refuse_branches_of_placeholders()
    inputs = len(recording.operands)
    keywords = dict(zip(batch.names[batch.positional :], opened[batch.positional :], strict=True))
    outputs, treedef = recording.run(f, opened[: batch.positional], keywords)
    captured = recording.operands[inputs:]
    labels = [*names, *(x.label for x in captured)]
    varies = [v for shape, v in zip(batch.shapes, batch.varies, strict=True) for _ in range(size(shape))]
    varies += [False] * len(captured)
    conditions, outcomes = recording.branches
    path: Outcomes = tuple(outcomes)
    asked = recording.tape.program(conditions) if path else None
    return make_trace(
        written_out(recording.program(outputs), keeps_rules=True).named(labels, []),
        varies,
        reduced=reduced,
        captured=captured,
        outcomes=path,
        treedef=treedef,
        key=batch.key,
        conditions=asked,
        guards=[Guard(written_out(guard), varies, captured) for guard in (guards_of(asked, path) if asked else ())],
    )


def make_trace(program: Program, varies: Sequence[bool], *, reduced: bool, **others: Any) -> BatchedTrace:
    """Return a trace with a kernel that runs the program, if possible. `others` are further fields of the trace."""
    if not has_effects(program):
        with suppress(PythonCallError):
            kernel = _BACKEND(program, varies, reduced=reduced)
            return BatchedTrace(program=program, kernel=kernel, fixed=list(kernel.fixed), **others)
    depends = program.code.depending(varies)
    fixed = [position for position, index in enumerate(program.outputs) if not depends[index]]
    return BatchedTrace(program=program, kernel=None, fixed=fixed, **others)


def _outputs(program: Program, leaves: Sequence[Any], has_values: bool) -> list[Any]:
    """Run a program on the numbers of the leaves. Return Values if `has_values` is true, else floats."""
    if has_values:
        return program(scalars(leaves))
    numbers: list[Any] = program.run(_numbers(leaves, program.inputs)).tolist()
    return numbers


def _numbers(leaves: Sequence[Any], count: int) -> NDArray[numpy.float64]:
    """Return an array of the `count` numbers in the leaves."""
    numbers = numpy.empty(count)
    if not write(leaves, numbers):
        numbers[:] = plain_numbers(leaves)
    return numbers


def _reordered(program: Program, kinds: Sequence[int], outputs: Sequence[int]) -> Program:
    """Return the program with the inputs sorted by kind, and with only the outputs at the given positions."""
    tape = Tape()
    inputs = {i: tape.input() for i in sorted(range(program.inputs), key=lambda i: kinds[i])}
    found = tape.inline(program, [inputs[i] for i in range(program.inputs)])
    return tape.program([found[i] for i in outputs])
