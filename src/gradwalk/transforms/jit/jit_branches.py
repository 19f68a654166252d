"""`jit(f, branches="record")`: one recording for each path taken through the branches of a function.

A recording stores the outcome of the condition of each branch. The recorded program also computes the conditions. The
result of the program is valid if all conditions have the recorded outcomes; otherwise the next recording is tried. If
no recording fits, the function is recorded again for these arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.graph.graph import Floats
from gradwalk.program.calls.program_derivatives import to_tape
from gradwalk.program.native.machine_code import DEFAULT, Policy, compiling
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import MISSED, PreparedCall
from gradwalk.program.tracing.trace import Outcome, Recording, has_outcome
from gradwalk.program.tracing.trace_cache import BRANCHES, prepared_call
from gradwalk.transforms.jit.jit_class import Jit, JitTrace
from gradwalk.trees.tree import scalars
from gradwalk.value.modes import refuses_nans
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Way(JitTrace):
    """A trace of one path through the branches.

    Attributes:
        outcomes: Outcome of each condition, in order of evaluation: see `has_outcome`. The conditions are the last
            outputs of the program.
    """

    outcomes: tuple[Outcome, ...]

    @cached_property
    def prepared(self) -> PreparedCall | None:
        """The fast path for arguments that take this path, or None: see `JitTrace.prepared`.

        There is no fast path if the program contains calls, which might raise an exception or never return for
        arguments that take another path.
        """
        if self.captured or self.program.calls:
            return None
        return prepared_call(self.key, self.program, self.treedef, self.outcomes)

    def fits(self, numbers: Sequence[Any]) -> bool:
        """Return whether all conditions have the recorded outcomes, given the outputs of the program or of `guard`."""
        conditions = numbers[len(numbers) - len(self.outcomes) :]
        return all(map(has_outcome, conditions, self.outcomes))

    @cached_property
    def guard(self) -> Program | None:
        """A program that computes only the conditions, or None if the recorded program contains no calls."""
        if not self.program.calls:
            return None
        tape, _, outputs = to_tape(self.program)
        return tape.program(outputs[len(outputs) - len(self.outcomes) :])

    def is_left_early(self, numbers: Floats) -> bool:
        """Return whether a condition has an outcome that differs from the recorded outcome.

        The conditions are computed one at a time until an outcome differs. Exceptions that the conditions raise before
        that point are not caught.
        """
        tape, _, outputs = to_tape(self.program)
        conditions = outputs[len(outputs) - len(self.outcomes) :]
        values = (tape.program([condition]).run(numbers)[0] for condition in conditions)
        return not all(map(has_outcome, values, self.outcomes))

    def results(self, numbers: Any) -> Any:
        """Return the program outputs without the conditions."""
        return numbers[: len(numbers) - len(self.outcomes)]

    def roots(self, numbers: Sequence[float]) -> list[Value]:
        """Return the numbers of the result as Values: see `JitTrace.roots`."""
        found: list[Value] = self.results(super().roots(numbers))
        return found


class JitBranches(Jit[P, R]):
    """A function with a recording for each path through its branches."""

    def __init__(
        self,
        f: Callable[P, R],
        static_argnums: int | Iterable[int],
        static_argnames: str | Iterable[str],
        policy: Policy = DEFAULT,
    ) -> None:
        super().__init__(f, static_argnums, static_argnames, policy)
        self._ways: dict[Any, list[tuple[Outcome, ...]]] = {}  # maps argument keys to paths, latest match first

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result for these arguments. If they take a new path, it is recorded first."""
        self._cache.calls += 1
        for prepared in self._cache.prepared:
            result = prepared.result(args, kwargs)
            if result is not MISSED:
                return result  # type: ignore[no-any-return]
        with compiling(self._policy):
            trace, numbers = self._found(args, kwargs)
            if trace.prepared is not None and trace.is_reusable:
                self._cache.try_first(trace.prepared)
            return trace.treedef.filled(trace.results(numbers))  # type: ignore[no-any-return]

    @property
    def program(self) -> Program:
        """The program of the latest recording, with named inputs, results and conditions."""
        trace = self._last()
        names = trace.treedef.names("out")
        conditions = [f"branch[{i}]" for i in range(len(trace.program.outputs) - len(names))]
        return trace.program.named(trace.labels, [*names, *conditions])

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JitTrace, list[Any]]:
        trace, _ = self._found(args, kwargs)
        return trace, self._keys.key(args, kwargs)[1]

    def _found(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Way, Any]:
        """Return the trace that fits the arguments, and the outputs of its program. Record a new trace if none fits."""
        key, leaves = self._keys.key(args, kwargs)
        # Under `debug_nans()`, operations of a path that is not taken must not raise, so the function itself runs.
        ways = [] if refuses_nans() else self._ways.get(key, [])
        for outcomes in ways:
            trace: Any = self._cache.find(_key_of_way(key, outcomes))
            if trace is None:  # evicted from the cache
                self._ways[key] = [other for other in self._ways.get(key, []) if other != outcomes]
                continue
            numbers = self._tried(trace, leaves)
            if numbers is not None:
                if ways[0] != outcomes:
                    self._put_first(key, outcomes)
                return trace, numbers
        made: Any = self._record_once(key, args, kwargs)
        trace = self._cache.add(_key_of_way(key, made.outcomes), made)
        if trace.is_reusable:
            self._put_first(key, trace.outcomes)
        numbers = self._numbers(trace, leaves)
        trace.fits(numbers)  # always true; called so that an enclosing recording sees the conditions
        return trace, numbers

    def _tried(self, trace: Way, leaves: list[Any]) -> Any:
        """Return the outputs of a trace's program, or None if the trace does not fit."""
        guard = trace.guard
        operands = [*scalars(leaves), *trace.captured] if guard else []
        if guard and not any(isinstance(x, Value) and level_of(x) for x in operands):
            # The program might raise an exception or never return if the arguments take another path.
            given = numpy.array([primal_of(x) if isinstance(x, Value) else x for x in operands], numpy.float64)
            try:
                conditions = guard.run(given)
            except Exception:
                if trace.is_left_early(given):
                    return None
                raise
            if not trace.fits(conditions):
                return None
        numbers = self._numbers(trace, leaves)
        return numbers if trace.fits(numbers) else None

    def _put_first(self, key: Any, outcomes: tuple[Outcome, ...]) -> None:
        """Move a path to the front of the list. The list is replaced because other threads may be iterating over it."""
        self._ways[key] = [outcomes, *(other for other in self._ways.get(key, []) if other != outcomes)]

    def _new_recording(self) -> Recording:
        return Recording(staged=True, follows_branches=True)

    def _as_trace(self, recording: Recording, outputs: list[int], *others: Any) -> Way:
        conditions, outcomes = recording.branches
        trace = super()._as_trace(recording, [*outputs, *conditions], *others)
        return Way(**vars(trace), outcomes=tuple(outcomes))


def _key_of_way(key: Any, outcomes: tuple[Outcome, ...]) -> Any:
    """Return the cache key of a recording: the key of the arguments extended by the outcomes of the branches."""
    parts = key if isinstance(key, tuple) else (key,)
    return (*parts, (BRANCHES, outcomes))
