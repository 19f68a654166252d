"""`ArrayTrace`: a recording, made by `jit`, of a function with large arrays as arguments, and its fast call."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from gradwalk.arrays.kinds import ArrayKind, size_of
from gradwalk.arrays.recorder import RECORDER
from gradwalk.arrays.run.array_program import ArrayProgram, operands_of, plain_operands
from gradwalk.base.cached import cached_property
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import MISSED, Prepared
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import flat_operands
from gradwalk.program.tracing.trace_cache import argument_forms
from gradwalk.transforms.jit.jit_trace import JitTrace
from gradwalk.trees.fast.form import DictForm, Form, SequenceForm, WholeArrayForm
from gradwalk.trees.fast.forms import leaf_forms
from gradwalk.trees.tree import TreeDef, size
from gradwalk.value.modes import refuses_nans


@dataclass(frozen=True, eq=False)
class ArrayTrace(JitTrace):
    """A trace whose program takes large arrays as they are."""

    program: ArrayProgram  # type: ignore[assignment]

    @staticmethod
    def program_of(tape: Tape, outputs: Indices) -> ArrayProgram:
        """Return the program that computes some outputs of a tape."""
        return ArrayProgram(tape, outputs)

    @property
    def of_numbers(self) -> Program:
        """The program, with an input for each number of the arguments and an output for each number of the result."""
        return self.program.of_numbers

    @property
    def prepared_path(self) -> Any:
        """The trace itself, or None: see `JitTrace.prepared_path`."""
        return None if self.captured or (self.outcomes and not self.program.always_ends) else self

    @cached_property
    def prepared(self) -> Any:
        """A prepared call with this path alone, or None if there is no fast path."""
        forms = None if self.prepared_path is None else argument_forms(self.key, self._leaf_forms)
        return None if forms is None else PreparedArrays(*forms, self.program.kinds.count(None), self)

    def _leaf_forms(self, treedef: TreeDef, position: int) -> Iterator[Form | None]:
        """Iterate over the forms of leaves whose first number is at this position among all numbers."""
        for shape, number_type in zip(treedef.shapes, treedef.types or itertools.repeat(float), strict=False):
            start, kind = self._places[position]
            if kind is None or not size(shape) or isinstance(shape, str):
                yield from leaf_forms(TreeDef(None, (shape,), types=(number_type,)), start)
            else:
                yield WholeArrayForm(shape, tuple(kind)) if number_type is float else None
            position += size(shape)

    @cached_property
    def _places(self) -> dict[int, tuple[int, ArrayKind | None]]:
        """For each input, by the position of its first number: its position among inputs that are numbers; its kind.

        There is also an entry for the end.
        """
        kinds = [*self.program.kinds, None]
        starts = itertools.accumulate([kind is None for kind in kinds], initial=0)
        positions = itertools.accumulate(map(size_of, kinds), initial=0)
        return dict(zip(positions, zip(starts, kinds, strict=False), strict=False))

    @property
    def guards(self) -> list[Program]:
        """The guards: see `JitTrace.guards`. They are not needed if the calls end for any arguments."""
        return [] if self.program.always_ends else self._all_guards

    @property
    def numbers(self) -> list[float]:
        """The number that each number of the inputs had when the function was recorded."""
        return flat_operands(self.given)

    def outputs(self, leaves: Sequence[Any]) -> Any:
        """Run the program on the leaves of the arguments; return its outputs."""
        plain = None if self.captured or refuses_nans() else plain_operands(leaves, self.program.kinds)
        if plain is not None:
            return self.program.run(*plain)
        return self.apply([*operands_of(leaves, self.program.kinds), *self.captured])

    def apply(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs of the program: numbers, Values, arrays and handles."""
        return self.program.evaluate(operands)

    def tree(self, outputs: Any) -> Any:
        """Return the result of the function, given the outputs of the program."""
        results = self.results(outputs)
        if isinstance(results, numpy.ndarray):
            return self.treedef.results(results)
        return RECORDER.unflattened(self.treedef, results)


class PreparedArrays(Prepared):
    """Runs a trace on arguments of one form, without computing their key.

    Args:
        takes: The form of the tuple of positional arguments.
        keywords: The form of the dict of keyword arguments, or None if there are no keyword arguments.
        numbers: The count of numbers outside of whole arrays.
        trace: A trace without captured Values.
    """

    def __init__(self, takes: Form, keywords: Form | None, numbers: int, trace: ArrayTrace) -> None:
        self._takes = SequenceForm(tuple, [takes, keywords or DictForm([], [], [])])
        self._numbers = numbers
        self._trace = trace

    @property
    def key(self) -> Any:
        """The cache key of the arguments."""
        return self._trace.key

    def put_first(self, trace: ArrayTrace) -> None:
        """Run this trace from now on, which has the same key."""
        self._trace = trace

    def result(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """See `Prepared.result`. The arguments may take another path than the trace."""
        if refuses_nans():
            return MISSED
        arrays: list[Any] = []
        numbers = self._takes.numbers((args, kwargs), self._numbers, arrays)
        if numbers is None:
            return MISSED
        trace = self._trace
        outputs = trace.program.run(numbers, arrays)
        if trace.outcomes and trace.left_with(outputs) is not None:
            return MISSED
        return trace.tree(outputs)
