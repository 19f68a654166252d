"""`JitTrace`: a recording of one way through a function, and the conditions under which it is valid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradwalk.base.cached import cached_property
from gradwalk.graph.graph import Floats
from gradwalk.program.calls.program_derivatives import to_tape
from gradwalk.program.native.machine_code import DEFAULT, current_policy
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import PreparedCall, PreparedWay
from gradwalk.program.tracing.trace import Outcome, has_outcome
from gradwalk.program.tracing.trace_cache import Trace, prepared_call
from gradwalk.trees.fast.forms import form_of
from gradwalk.trees.tree import TreeDef
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

Outcomes = tuple[Outcome, ...]


@dataclass(frozen=True, eq=False)
class JitTrace(Trace):
    """A trace made by `jit`: one way through a function.

    Attributes:
        treedef: Treedef of the result.
        names: Names of the inputs that are numbers in the arguments.
        numbers: Number that each input had when the function was recorded.
        key: Cache key of the arguments.
        outcomes: Outcome of each condition that the function branched on, in order of evaluation: see `has_outcome`.
            The conditions are the last outputs of the program.
    """

    treedef: TreeDef
    names: list[str]
    numbers: list[float]
    key: Any
    outcomes: Outcomes = ()

    @cached_property
    def prepared_way(self) -> PreparedWay | None:
        """The fast path for arguments that take this way, or None.

        There is no fast path if the trace captures Values. A trace that calls other programs has no fast path under a
        custom policy, because the policy must be set when these programs are compiled, which happens on their first
        run. It has no fast path if it has conditions either: the calls might raise an exception or never return for
        arguments that take another way.
        """
        if self.captured or (self.program.calls and (self.outcomes or current_policy() is not DEFAULT)):
            return None
        return PreparedWay(self.program.interpreter, form_of(self.treedef), self.treedef, self.outcomes)

    @cached_property
    def prepared(self) -> PreparedCall | None:
        """A prepared call with this way alone, or None if there is no fast path."""
        return None if self.prepared_way is None else prepared_call(self.key, self.prepared_way)

    @property
    def labels(self) -> list[str]:
        """Names of all inputs; "" for an unnamed input."""
        return [*self.names, *(getattr(x, "label", "") for x in self.captured)]

    def apply(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs of the program. At least one operand must be a Value."""
        return self.program(list(operands))

    def results(self, outputs: Any) -> Any:
        """Return the outputs of the program without the conditions."""
        return outputs[: len(outputs) - len(self.outcomes)]

    def roots(self, numbers: Sequence[float]) -> list[Value]:
        """Return the numbers of the result as Values, computed from new labeled leaves."""
        leaves = [Value(number, label=label) for number, label in zip(numbers, self.labels, strict=True)]
        results = self.results(self.program(list(leaves)))
        return [x if isinstance(x, Value) else Value(x) for x in results]

    # Conditions

    @cached_property
    def guard(self) -> Program | None:
        """A program that computes only the conditions, or None if the recorded program can run for any arguments.

        A program that calls other programs might raise an exception or never return if the arguments take another way.
        """
        if not self.outcomes or not self.program.calls:
            return None
        tape, _, outputs = to_tape(self.program)
        return tape.program(outputs[len(outputs) - len(self.outcomes) :])

    def left_with(self, outputs: Sequence[Any]) -> Outcomes | None:
        """Return None if the outputs of the program or of `guard` meet all conditions.

        Otherwise return the outcomes up to the first condition that differs, with its own outcome at the end.
        """
        conditions = outputs[len(outputs) - len(self.outcomes) :]
        for i, (condition, outcome) in enumerate(zip(conditions, self.outcomes, strict=True)):
            if not has_outcome(condition, outcome):
                return (*self.outcomes[:i], _other(condition, outcome))
        return None

    def left_early_with(self, numbers: Floats) -> Outcomes | None:
        """Return `left_with` for these inputs, or None if an exception is raised before a condition differs.

        The conditions are computed one at a time, so that an exception in a later condition does not matter.
        """
        tape, _, outputs = to_tape(self.program)
        conditions = outputs[len(outputs) - len(self.outcomes) :]
        for i, (condition, outcome) in enumerate(zip(conditions, self.outcomes, strict=True)):
            [found] = tape.program([condition]).run(numbers)
            if not has_outcome(found, outcome):
                return (*self.outcomes[:i], _other(found, outcome))
        return None


def _other(condition: Any, outcome: Outcome) -> Outcome:
    """Return the outcome of a condition that does not have the given outcome."""
    if isinstance(outcome, bool):
        return not outcome
    number = float(primal_of(condition) if isinstance(condition, Value) else condition)
    return math.nan if number != number else number  # one object, because tuples compare nan by identity
