"""`vmap`: a function of one sample, run on a batch of them: recorded once, and computed for all lanes together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, NamedTuple

import numpy

from gradwalk.backend.executor import Columns, Kernel
from gradwalk.batching.axes import Axes, Batch, Batching, Outputs, as_array, plain_numbers, shown
from gradwalk.program.opcodes import CALL, INSTRUCTIONS
from gradwalk.program.program import Program
from gradwalk.program.trace import Recordable, Recording, named, reduced
from gradwalk.trees.tree import Parameters, Structure, scalars, size, write
from gradwalk.value.modes import is_without_gradient, refuses_nans
from gradwalk.value.node import level_of


class Recorded(NamedTuple):
    """A recording of a function for one sample.

    `captured`: the Values that it uses without being given them, the program's last inputs. There is no kernel where
    the program calls functions in Python. `fixed`: the positions of the outputs that are the same for all samples.
    """

    program: Program
    kernel: Kernel | None
    structure: Structure
    captured: list[Any]
    fixed: list[int]

    def results(self, batch: Batch, batching: Batching) -> Any:
        """The results for a batch."""
        if batching.reduce is not None:
            reduced_results = batching.of_sums(self.sums(batch), batch.size)
            if batching.reduce == "mean" and self.fixed and batch.size:
                reduced_results[self.fixed] = self._fixed_results(batch)  # the sum of equal numbers may be rounded
            return self.filled(reduced_results, batch.kind)
        has_values = self._has_values(batch)
        outputs = Outputs(self.structure, batching.out_axes, batch.size, object if has_values else batch.kind)
        outputs.refuse_varying(self.fixed)
        found: dict[int, Any]  # by position
        if self.kernel is None or has_values or refuses_nans():
            found = dict(enumerate(map(as_array, self._one_by_one(batch, has_values))))
            found |= zip(self.fixed, self._fixed_results(batch) if self.fixed else [], strict=True)
        else:
            found = dict(zip(self.fixed, self._run(self.kernel, batch, outputs.columns).tolist(), strict=True))
        for position, numbers in found.items():
            outputs.fill(position, numbers)
        return outputs.tree()

    def filled(self, numbers: Any, kind: type[numpy.floating[Any]]) -> Any:
        """The result that has these numbers, its arrays of that type unless there are Values among them."""
        if numbers.dtype == object:
            return self.structure.filled(numbers)
        with numpy.errstate(over="ignore"):
            return self.structure.filled(numbers.astype(kind))

    def sums(self, batch: Batch) -> Any:
        """The sums over a batch of all numbers of the result: float64, or objects where Values are to come out."""
        has_values = self._has_values(batch)
        if self.kernel is None or has_values or refuses_nans():
            return as_array([sum(column, start=0.0) for column in self._one_by_one(batch, has_values)])
        return self._run(self.kernel, batch, [])

    def _has_values(self, batch: Batch) -> bool:
        """Whether Values are to come out."""
        return (batch.has_values or bool(self.captured)) and not is_without_gradient()

    def _fixed_results(self, batch: Batch) -> list[Any]:
        """The outputs that are the same for all samples: those of the first one."""
        first = self._of_sample(batch.first(), self._has_values(batch))
        return [first[position] for position in self.fixed]

    def _run(self, kernel: Kernel, batch: Batch, outputs: list[Any]) -> Any:
        """Run the kernel: see `Kernel.run`."""
        shared = [*batch.shared(), *self.captured]
        numbers = numpy.empty(kernel.schedule.once.inputs)
        if not write(shared, numbers):
            numbers[:] = plain_numbers(shared)
        columns = Columns(batch.columns())
        return kernel.run(numbers, columns, Columns(outputs), batch.size, single=batch.kind is numpy.float32)

    def _one_by_one(self, batch: Batch, has_values: bool) -> list[Any]:
        """The numbers of the results in columns, where Values are to come out or functions in Python are called."""
        rows = [self._of_sample(batch.sample(i), has_values) for i in range(batch.size)]
        return list(zip(*rows, strict=True)) or [()] * len(self.program.outputs)

    def _of_sample(self, leaves: list[Any], has_values: bool) -> list[Any]:
        """The numbers of the result for one sample."""
        operands = [*leaves, *self.captured]
        if has_values:
            return self.program(scalars(operands))
        numbers: list[Any] = self.program.run(numpy.array(plain_numbers(operands), numpy.float64)).tolist()
        return numbers


class Vmap:
    """A function of batches: see `vmap`. `keeps`: whether its recordings are used again, as after `jit`."""

    __name__ = "function"

    def __init__(
        self, f: Callable[..., Any], in_axes: Axes, out_axes: Axes, reduce: str | None, keeps: bool = False
    ) -> None:
        if not callable(f):
            raise TypeError(f"vmap() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())
        self.function = f
        self.batching = Batching(named(f), Parameters(f), in_axes, out_axes, reduce).checked()
        self.keeps = keeps
        self._recordings: dict[Any, Recorded] = {}
        self._latest: Recorded | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for a batch."""
        batch = self.batching.batch(args, kwargs)
        return self.recorded(batch).results(batch, self.batching)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        batching = self.batching
        return reduced(self, (self.function, batching.in_axes, batching.out_axes, batching.reduce, self.keeps))

    def __repr__(self) -> str:
        of_f = f"vmap of {self.function if isinstance(self.function, Recordable) else named(self.function)}"
        return f"<jit of {of_f}>" if self.keeps else f"<{of_f}>"

    @property
    def program(self) -> Program:
        """The program of the latest recording, for one sample. Raises `ValueError` where there is none yet."""
        recorded = self._found()
        return recorded.program.named(recorded.program.input_names, recorded.structure.names("out"))

    @property
    def kernel(self) -> Kernel:
        """What runs it on batches: `print(f.kernel)` shows how. Raises `ValueError` where there is none."""
        kernel = self._found().kernel
        if kernel is None:
            raise ValueError(f"{self.batching.name} calls functions in Python: it is run one sample at a time")
        return kernel

    def kept(self) -> Vmap:
        """The same function, with recordings that are used again."""
        return self if self.keeps else self.of(self.function, keeps=True)

    def of(self, f: Callable[..., Any], *, keeps: bool = False) -> Vmap:
        """The same for another function."""
        batching = self.batching
        return type(self)(f, batching.in_axes, batching.out_axes, batching.reduce, keeps)

    def sums_over_others(self, argnums: int | Sequence[int]) -> bool:
        """Whether it is a sum or mean over a batch, and these arguments are the same for all samples.

        The derivative of a sum is then the sum of the derivatives.
        """
        axes = self.batching.in_axes
        positions = [argnums] if isinstance(argnums, int) else argnums
        if self.batching.reduce is None or not isinstance(axes, (tuple, list)):
            return False
        return all(-len(axes) <= i < len(axes) and axes[i] is None for i in positions)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The same function, for arguments like these, without the code that it was made from.

        It is a program and how to run it: it can be pickled wherever its code could not be found again.
        """
        batch = self.batching.batch(args, kwargs)
        recorded = self.recorded(batch)
        if recorded.captured or recorded.program.calls or recorded.kernel is None:
            raise ValueError(
                f"{self.batching.name} uses Values that are not among its arguments, or calls functions in Python: "
                "lower() takes what follows from its arguments alone"
            )
        return Lowered(self.batching, batch.key, recorded)

    def recorded(self, batch: Batch) -> Recorded:
        """The recording for a sample of the batch."""
        found = self._recordings.get(batch.key) if self.keeps else None
        if found is None:
            found = self._record(batch)
            if self.keeps and not any(level_of(x) > 0 for x in found.captured):
                self._recordings[batch.key] = found
            self._latest = found
        return found

    def _found(self) -> Recorded:
        if self._latest is None:
            raise ValueError(f"{self.batching.name} has not been called yet, so there is no recording of it")
        return self._latest

    def _record(self, batch: Batch) -> Recorded:
        """Record the function for one sample."""
        recording = Recording(strict=True)
        names: list[str] = []
        opened = [recording.opened(arg, name, names) for arg, name in zip(batch.example(), batch.names, strict=True)]
        inputs = len(recording.operands)
        keywords = dict(zip(batch.names[batch.positional :], opened[batch.positional :], strict=True))
        places, structure = recording.run(self.function, opened[: batch.positional], keywords)
        captured = recording.operands[inputs:]
        program = recording.tape.program(places).named([*names, *(x.label for x in captured)], [])
        varies = [v for shape, v in zip(batch.shapes, batch.varies, strict=True) for _ in range(size(shape))]
        varies += [False] * len(captured)
        depends = _dependent(program, varies) if program.calls else []
        if any(depends[place] for _, operands in program.calls for place in operands):
            fixed = [position for position, place in enumerate(program.outputs) if not depends[place]]
            return Recorded(program, None, structure, captured, fixed)
        kernel = Kernel(program, varies, reduced=self.batching.reduce is not None)
        return Recorded(program, kernel, structure, captured, kernel.schedule.fixed)


class Lowered:
    """A function of batches without the code that it was made from: see `Vmap.lower`."""

    def __init__(self, batching: Batching, key: Any, recorded: Recorded) -> None:
        self.batching = batching
        self._key = key
        self._recorded = recorded

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for a batch. Raises `TypeError` where the arguments are not like those it was made for."""
        batch = self.batching.batch(args, kwargs)
        return self.recorded(batch).results(batch, self.batching)

    def recorded(self, batch: Batch) -> Recorded:
        """The recording. Raises `TypeError` where the batch is not like the one that it was made for."""
        if batch.key != self._key:
            raise TypeError(
                f"{self!r} was made for other arguments: samples like {shown(self._key)}, not like {shown(batch.key)}"
            )
        return self._recorded

    def __repr__(self) -> str:
        return f"<lowered vmap of {self.batching.name}>"

    @property
    def kernel(self) -> Kernel:
        """What runs it: `print(f.kernel)` shows its instructions."""
        assert self._recorded.kernel is not None
        return self._recorded.kernel


def vmap(
    f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, *, reduce: str | None = None
) -> Callable[..., Any]:
    """A function that computes `f` for every sample of a batch, at once: JAX's `vmap`.

    `in_axes` says where the samples are in each argument: along an axis of NumPy arrays, or None for what all samples
    share; one for all arguments, or a tuple with one for each, which may be a tuple, list or dict again. Keywords have
    the batch as axis 0. `out_axes` says in the same way where it is in the results. These are arrays of float64, of
    float32 where all arrays that were given are. `f` is recorded as by `jit`: it may not ask for numbers.

    With `reduce`, the result is the "sum" or the "mean" over the batch of all numbers that `f` returns, added up as
    they are computed: what a gradient needs of memory grows with the parameters, not with the samples.

    It is recorded at every call; `jit(vmap(f))` records once for each structure of a sample. It is spread over the
    cores as `threads` says, with the same bits for any number of them. The values of + - * / and sqrt are those of `f`
    itself; functions such as exp may differ by 4 ulp. Where Values come in, or where `f` uses some, Values come out,
    one sample after the other, unless that is under `no_grad()`.

    Raises `ValueError` and `TypeError` where the arrays do not fit `in_axes`, `RecordingError` as `jit` does.

    >>> vmap(lambda rate, x: rate * x, in_axes=(None, 0))(2.0, numpy.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    >>> vmap(lambda x: x * x, reduce="mean")(numpy.array([1.0, 2.0, 4.0]))
    7.0
    """
    return Vmap(f, in_axes, out_axes, reduce)


def _dependent(program: Program, varies: Sequence[bool]) -> list[bool]:
    """For each place, whether it depends on an input that varies."""
    depends = [*varies, *[False] * len(program.constants)]
    for opcode, *places in program.instructions.reshape(-1, 4).tolist():
        used = program.calls[places[0]][1] if opcode == CALL else places[: INSTRUCTIONS[opcode].arity]
        depends.append(any(depends[place] for place in used))
    return depends
