"""`ArrayTrace`: a recording, made by `jit`, of a function with large arrays as arguments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from gradwalk.arrays.array_program import ArrayProgram, operands_of, plain_operands
from gradwalk.arrays.kinds import ArrayKind, size_of
from gradwalk.arrays.recorder import RECORDER
from gradwalk.base.cached import cached_property
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import flat_operands
from gradwalk.program.tracing.trace_cache import argument_forms
from gradwalk.transforms.jit.jit_trace import JitTrace
from gradwalk.transforms.jit.prepared_arrays import PreparedArrays
from gradwalk.trees.fast.form import Form, WholeArrayForm
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
        """The trace itself, or None if there is no fast path because the trace captures Values."""
        return None if self.captured else self

    @cached_property
    def prepared(self) -> Any:
        """A prepared call with this path alone, or None if there is no fast path."""
        forms = None if self.captured else argument_forms(self.key, self._leaf_forms)
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
        """No guards: the calls of an array program end for any arguments."""
        return []

    @property
    def numbers(self) -> list[float]:
        """The number that each number of the inputs had when the function was recorded."""
        return flat_operands(self.given)

    def outputs(self, leaves: Sequence[Any]) -> Any:
        """Run the program on the leaves of the arguments; return its outputs."""
        plain = None if self.captured or refuses_nans() else plain_operands(leaves, self.program.kinds)
        if plain is not None:
            return self.program.run(*plain)
        return self.program.evaluate([*operands_of(leaves, self.program.kinds), *self.captured])

    def tree(self, outputs: Any) -> Any:
        """Return the result of the function, given the outputs of the program."""
        results = self.results(outputs)
        if isinstance(results, numpy.ndarray):
            return self.treedef.results(results)
        return RECORDER.unflattened(self.treedef, results)
