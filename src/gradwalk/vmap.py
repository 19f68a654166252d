"""`vmap`: a function of one sample, run on a batch of them: recorded once, and computed for all lanes together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple

import numpy

from gradwalk import engine
from gradwalk.batches import Axes, Batch, Batching, Outputs, as_array
from gradwalk.engine import Value
from gradwalk.kernel import Columns, Kernel
from gradwalk.program import Program
from gradwalk.recording import Recordable, Recording, named, reduced
from gradwalk.trees import Parameters, Structure, scalars, size, write


class Recorded(NamedTuple):
    """A recording of a function for one sample.

    `captured`: the Values that it uses without being given them, the program's last inputs. There is no kernel where
    the program calls functions in Python.
    """

    program: Program
    kernel: Kernel | None
    structure: Structure
    captured: list[Any]

    def results(self, batch: Batch, batching: Batching) -> Any:
        """The results for a batch."""
        has_values = (batch.has_values or bool(self.captured)) and not engine.is_without_gradient()
        if self.kernel is None or has_values or engine.refuses_nans():
            return self._one_by_one(batch, batching, has_values)
        if batching.reduce is not None:
            return self.structure.filled(batching.of_sums(self._run(self.kernel, batch, []), batch.size))
        outputs = Outputs(self.structure, batching.out_axes, batch.size, batch.kind)
        outputs.refuse_varying(self.kernel.schedule.fixed)
        fixed = self._run(self.kernel, batch, outputs.columns)
        for position, number in zip(self.kernel.schedule.fixed, fixed.tolist(), strict=True):
            outputs.fill(position, number)
        return outputs.tree()

    def _run(self, kernel: Kernel, batch: Batch, outputs: list[Any]) -> Any:
        """Run the kernel: see `Kernel.run`."""
        shared = [*batch.shared(), *self.captured]
        numbers = numpy.empty(kernel.schedule.once.inputs)
        if not write(shared, numbers):
            numbers[:] = _numbers(shared)
        columns = Columns(batch.columns())
        return kernel.run(numbers, columns, Columns(outputs), batch.size, single=batch.kind is numpy.float32)

    def _one_by_one(self, batch: Batch, batching: Batching, has_values: bool) -> Any:
        """The results where Values are to come out, or where the program calls functions in Python."""
        rows = []
        for i in range(batch.size):
            operands = [*batch.sample(i), *self.captured]
            rows.append(
                self.program(scalars(operands))
                if has_values
                else self.program.run(numpy.array(_numbers(operands), numpy.float64)).tolist()
            )
        columns = list(zip(*rows, strict=True)) or [()] * len(self.program.outputs)
        if batching.reduce is not None:
            sums = [sum(column, start=0.0) for column in columns]
            return self.structure.filled(batching.of_sums(as_array(sums), batch.size))
        outputs = Outputs(self.structure, batching.out_axes, batch.size, object if has_values else batch.kind)
        outputs.refuse_varying([])
        for position, column in enumerate(columns):
            outputs.fill(position, as_array(column))
        return outputs.tree()


class Vmap(Recordable):
    """A function of batches: see `vmap`. `keeps`: whether its recordings are used again, as after `jit`."""

    __name__ = "function"

    def __init__(
        self, f: Callable[..., Any], in_axes: Axes, out_axes: Axes, reduce: str | None, keeps: bool = False
    ) -> None:
        if not callable(f):
            raise TypeError(f"vmap() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._batching = Batching(named(f), Parameters(f), in_axes, out_axes, reduce).checked()
        self._keeps = keeps
        self._recordings: dict[Any, Recorded] = {}
        self._latest: Recorded | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for a batch."""
        batch = self._batching.batch(args, kwargs)
        return self._recorded(batch).results(batch, self._batching)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        batching = self._batching
        return reduced(self, (self._f, batching.in_axes, batching.out_axes, batching.reduce, self._keeps))

    def __repr__(self) -> str:
        of_f = f"vmap of {self._f if isinstance(self._f, Recordable) else named(self._f)}"
        return f"<jit of {of_f}>" if self._keeps else f"<{of_f}>"

    @property
    def program(self) -> Program:
        """The program of the latest recording, for one sample. Raises `ValueError` where there is none yet."""
        return self._found().program

    @property
    def kernel(self) -> Kernel:
        """What runs it on batches: `print(f.kernel)` shows how. Raises `ValueError` where there is none."""
        kernel = self._found().kernel
        if kernel is None:
            raise ValueError(f"{self._batching.name} calls functions in Python: it is run one sample at a time")
        return kernel

    def kept(self) -> Vmap:
        """The same function, with recordings that are used again."""
        batching = self._batching
        return type(self)(self._f, batching.in_axes, batching.out_axes, batching.reduce, keeps=True)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The same function, for arguments like these, without the code that it was made from.

        It is a program and how to run it: it can be pickled wherever its code could not be found again.
        """
        batch = self._batching.batch(args, kwargs)
        recorded = self._recorded(batch)
        if recorded.captured or recorded.kernel is None:
            raise ValueError(
                f"{self._batching.name} uses Values that are not among its arguments, or calls functions in Python: "
                "lower() takes what follows from its arguments alone"
            )
        return Lowered(self._batching, batch.key, recorded)

    def _found(self) -> Recorded:
        if self._latest is None:
            raise ValueError(f"{self._batching.name} has not been called yet, so there is no recording of it")
        return self._latest

    def _recorded(self, batch: Batch) -> Recorded:
        """The recording for a sample of the batch."""
        found = self._recordings.get(batch.key) if self._keeps else None
        if found is None:
            found = self._record(batch)
            if self._keeps and not any(engine.level(x) > 0 for x in found.captured):
                self._recordings[batch.key] = found
            self._latest = found
        return found

    def _record(self, batch: Batch) -> Recorded:
        """Record the function for one sample."""
        recording = Recording(strict=True)
        opened = [recording.opened(arg, name) for arg, name in zip(batch.example(), batch.names, strict=True)]
        inputs = len(recording.operands)
        keywords = dict(zip(batch.names[batch.positional :], opened[batch.positional :], strict=True))
        places, structure = recording.run(self._f, opened[: batch.positional], keywords)
        program = recording.tape.program(places)
        captured = recording.operands[inputs:]
        varies = [v for shape, v in zip(batch.shapes, batch.varies, strict=True) for _ in range(size(shape))]
        varies += [False] * len(captured)
        kernel = None if program.calls else Kernel(program, varies, reduced=self._batching.reduce is not None)
        return Recorded(program, kernel, structure, captured)


class Lowered:
    """A function of batches without the code that it was made from: see `Vmap.lower`."""

    def __init__(self, batching: Batching, key: Any, recorded: Recorded) -> None:
        self._batching = batching
        self._key = key
        self._recorded = recorded

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for a batch. Raises `TypeError` where the arguments are not like those it was made for."""
        batch = self._batching.batch(args, kwargs)
        if batch.key != self._key:
            raise TypeError(
                f"{self!r} was made for other arguments: samples like {_shown(self._key)}, not like {_shown(batch.key)}"
            )
        return self._recorded.results(batch, self._batching)

    def __repr__(self) -> str:
        return f"<lowered vmap of {self._batching.name}>"

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
    they are computed: a gradient over any number of samples takes the memory of the parameters.

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


def _shown(key: Any) -> str:
    """What a sample is like, for messages."""
    return ", ".join(str(part) for part in key if isinstance(part, Structure))


def _numbers(leaves: list[Any]) -> list[float]:
    """All numbers of the leaves, those of Values too."""
    return [engine.number(x) if isinstance(x, Value) else x for x in scalars(leaves)]
