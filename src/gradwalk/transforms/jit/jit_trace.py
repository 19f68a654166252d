"""`JitTrace`: a recording of one path through a function, made by `jit`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.program_derivatives import has_effects
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import PreparedCall, PreparedPath
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.paths import Outcomes, PathTrace, guards_of
from gradwalk.program.tracing.trace_cache import prepared_call
from gradwalk.trees.fast.forms import form_of
from gradwalk.trees.tree import TreeDef, scalars, write
from gradwalk.value.modes import is_staging
from gradwalk.value.value import Value


@dataclass(frozen=True, eq=False)
class JitTrace(PathTrace):
    """A trace made by `jit`: one path through a function.

    Attributes:
        treedef: Treedef of the result.
        given: The number or array that each input was when the function was recorded.
        key: Cache key of the arguments.
    """

    treedef: TreeDef
    given: list[Any]
    key: Any

    @cached_property
    def prepared_path(self) -> PreparedPath | None:
        """The fast path for arguments that take this path, or None.

        There is no fast path if the trace captures Values or has side effects. A trace that calls other programs has
        no fast path if it has conditions: the calls might raise an exception or never return for arguments that take
        another path.
        """
        if self.captured or self.has_effects or (self.program.calls and self.outcomes):
            return None
        return PreparedPath(self.program.interpreter, form_of(self.treedef), self.treedef, self.outcomes)

    @cached_property
    def prepared(self) -> PreparedCall | None:
        """A prepared call with this path alone, or None if there is no fast path."""
        return None if self.prepared_path is None else prepared_call(self.key, self.prepared_path)

    @property
    def labels(self) -> list[str]:
        """Names of all numbers of the inputs; "" for an unnamed input."""
        _, *parts = self.key
        names = [treedef.names(name) for name, treedef, *kinds in parts if not kinds]  # static arguments have kinds
        return [*itertools.chain.from_iterable(names), *(getattr(x, "label", "") for x in self.captured)]

    @property
    def numbers(self) -> list[float]:
        """The number that each input had when the function was recorded."""
        return self.given

    @staticmethod
    def program_of(tape: Tape, outputs: Indices) -> Any:
        """Return the program that computes some outputs of a tape."""
        return tape.program(outputs)

    @cached_property
    def has_effects(self) -> bool:
        """Whether the program makes calls for their side effects."""
        return has_effects(self.program)

    @property
    def of_numbers(self) -> Program:
        """The program, with an input for each number of the arguments and an output for each number of the result."""
        return self.program

    def outputs(self, leaves: Sequence[Any]) -> Any:
        """Run the program on the leaves of the arguments; return its outputs."""
        runs_later = self.has_effects and is_staging()  # in the recording of a function that calls this function
        if not self.captured and not runs_later:
            row = numpy.empty(self.program.inputs)
            if write(leaves, row):
                return self.program.run(row)
        operands = [*scalars(leaves), *self.captured]
        if runs_later or any(isinstance(operand, Value) for operand in operands):
            return self.apply(operands)
        return self.program.run(numpy.array(operands))

    def apply(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs of the program as Values and floats."""
        return self.program(list(operands))

    def tree(self, outputs: Any) -> Any:
        """Return the result of the function, given the outputs of the program."""
        return self.treedef.results(self.results(outputs))

    def results(self, outputs: Any) -> Any:
        """Return the outputs of the program without the conditions."""
        return outputs[: len(outputs) - len(self.outcomes)]

    def roots(self, numbers: Sequence[float]) -> list[Value]:
        """Return the numbers of the result as Values, computed from new labeled leaves."""
        leaves = [Value(number, label=label) for number, label in zip(numbers, self.labels, strict=True)]
        results = self.results(self.of_numbers(list(leaves)))
        return [x if isinstance(x, Value) else Value(x) for x in results]

    @cached_property
    def guards(self) -> list[Program]:
        """The guards to run before the program: see `guards_of`. Empty if the program can run for any arguments."""
        return self._all_guards if self.program.calls else []

    @cached_property
    def _all_guards(self) -> list[Program]:
        return guards_of(self.of_numbers, self.outcomes) if self.outcomes else []

    def left_early_with(self, numbers: Floats) -> Outcomes | None:
        """Return `left_with` for these inputs, using only the guards."""
        for guard in self._all_guards:
            position, number = guard.run(numbers).tolist()
            if position < len(self.outcomes):
                return self.left_at(int(position), number)
        return None
