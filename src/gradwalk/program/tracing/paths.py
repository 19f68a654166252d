"""`Paths`: the recordings of a function that branches, one for each path that arguments have taken through it.

A recording of a path stores the outcome of each condition, and its program also computes the conditions. The result of
the program is valid if all conditions have the recorded outcomes. The first condition that has another outcome tells
which of the other recordings, if any, begin in the path that the arguments take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.trace import Outcome, has_outcome
from gradwalk.program.tracing.trace_cache import BRANCHES, MOST_TRACES, Trace, TraceCache
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

Outcomes = tuple[Outcome, ...]


@dataclass(frozen=True, eq=False)
class PathTrace(Trace):
    """A trace of one path through a function.

    Attributes:
        outcomes: Outcome of each condition that the function branched on, in order of evaluation: see `has_outcome`.
            The conditions are the last outputs of the program that was recorded.
    """

    outcomes: Outcomes

    def left_with(self, outputs: Sequence[Any]) -> Outcomes | None:
        """Return None if the outputs of the recorded program meet all conditions.

        Otherwise return the outcomes up to the first condition that differs, with its own outcome at the end. An
        enclosing recording, if any, records the conditions that are compared.
        """
        conditions = outputs[len(outputs) - len(self.outcomes) :]
        for i, (condition, outcome) in enumerate(zip(conditions, self.outcomes, strict=True)):
            if not has_outcome(condition, outcome):
                return self.left_at(i, primal_of(condition) if isinstance(condition, Value) else condition)
        return None

    def left_at(self, position: int, number: float) -> Outcomes:
        """Return the outcomes before the condition at `position`, and the other outcome of that condition.

        `number` is the number of the condition.
        """
        outcome: Outcome = not self.outcomes[position] if isinstance(self.outcomes[position], bool) else float(number)
        # One object is used for nan, because tuples compare nan by identity.
        return (*self.outcomes[:position], math.nan if outcome != outcome else outcome)


T = TypeVar("T", bound=PathTrace)


class Paths(Generic[T]):
    """Finds recordings in a cache by the key of the arguments and by the outcomes of conditions.

    Args:
        cache: The cache. Recordings without conditions are found by the key alone.
    """

    def __init__(self, cache: TraceCache[T]) -> None:
        self._cache = cache
        self._known: dict[Any, list[Outcomes]] = {}  # maps keys to paths with conditions, latest first

    def __contains__(self, key: Any) -> bool:
        """Return whether there may be recordings with conditions for a key."""
        return key in self._known

    def find(self, key: Any, begin: Outcomes = ()) -> T | None:
        """Return the latest recording for a key whose first outcomes are `begin`, or None if there is none."""
        for outcomes in self._known.get(key, ()):
            if outcomes[: len(begin)] == begin:
                trace = self._cache.find(_key_of_path(key, outcomes))
                if trace is not None:
                    return trace
                self._forget(key, outcomes)  # evicted from the cache
        return None

    def add(self, key: Any, trace: T) -> T:
        """Add a recording to the cache; return the recording that the caller must use: see `TraceCache.add`."""
        found = self._cache.add(_key_of_path(key, trace.outcomes), trace)
        self.put_first(key, found)
        return trace if trace.outcomes else found

    def put_first(self, key: Any, trace: T) -> None:
        """Find this recording first. The list of paths is replaced because other threads may be iterating over it."""
        paths = self._known.get(key, [])
        if trace.outcomes and trace.is_reusable and (not paths or paths[0] != trace.outcomes):
            others = [other for other in paths if other != trace.outcomes]
            self._known[key] = [trace.outcomes, *others[: MOST_TRACES - 1]]

    def _forget(self, key: Any, outcomes: Outcomes) -> None:
        others = [other for other in self._known.get(key, []) if other != outcomes]
        if others:
            self._known[key] = others
        else:
            self._known.pop(key, None)


def _key_of_path(key: Any, outcomes: Outcomes) -> Any:
    """Return the cache key of a recording: the key of the arguments extended by the outcomes of the conditions."""
    return (*key, (BRANCHES, outcomes)) if outcomes else key


def guards_of(program: Program, outcomes: Outcomes) -> list[Program]:
    """Return the guards of a path: programs that tell whether arguments take it, to be run one after the other.

    A guard has two outputs: the position of the first of its conditions that has another outcome, or `len(outcomes)` if
    there is none, and the number of this condition. If a condition has another outcome, later guards must not run: they
    call loops or Python functions, which might never return or raise an exception for arguments that take another path.

    Args:
        program: The recorded program, whose last outputs are the conditions.
        outcomes: The outcomes of the conditions.
    """
    tape = Tape()
    outputs = tape.inline(program, [tape.input() for _ in range(program.inputs)])
    conditions = outputs[len(outputs) - len(outcomes) :]
    return [_guard(tape, conditions, outcomes, stage) for stage in _stages(program.code, len(outcomes))]


def _guard(tape: Tape, conditions: list[int], outcomes: Outcomes, stage: range) -> Program:
    """Return the guard for the conditions at the positions in `stage`."""
    position, number = tape.constant(float(len(outcomes))), tape.constant(0.0)
    for i in reversed(stage):
        condition, outcome, here = conditions[i], outcomes[i], tape.constant(float(i))
        if outcome is True:
            position = tape.append("where", condition, position, here)
        elif outcome is False:
            position = tape.append("where", condition, here, position)
        else:
            is_nan = outcome != outcome
            is_equal = tape.append("equal", condition, condition if is_nan else tape.constant(outcome))
            left, stays = (here, condition), (position, number)
            of_equal, of_others = (left, stays) if is_nan else (stays, left)
            position = tape.append("where", is_equal, of_equal[0], of_others[0])
            number = tape.append("where", is_equal, of_equal[1], of_others[1])
    return tape.program([position, number])


def _stages(code: Code, count: int) -> list[range]:
    """Divide the positions of the `count` conditions, the last outputs, into stages.

    A new stage begins at each condition that depends on a call on which no condition before it depends.
    """
    if not code.calls:
        return [range(count)]
    calls = [0] * code.first  # for each index, a bit for each call that its number depends on
    of_results: dict[int, int] = {}
    for row in code.rows:
        if row[0] == CALL and row[1] in of_results:
            calls.append(of_results[row[1]])
            continue
        found = 0
        for index in code.used(row):
            found |= calls[index]
        if row[0] == CALL:
            of_results[row[1]] = found = found | 1 << row[1]
        calls.append(found)
    begins, known = [0], 0
    for i, index in enumerate(code.outputs[len(code.outputs) - count :]):
        if calls[index] & ~known:
            known |= calls[index]
            begins += [i] if i else []
    return [range(begin, end) for begin, end in zip(begins, [*begins[1:], count], strict=True)]
