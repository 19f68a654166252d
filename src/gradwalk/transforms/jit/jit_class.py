"""`Jit`: a function with its recordings, returned by `jit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.graph.graph import Graph
from gradwalk.program.native.machine_code import DEFAULT, Policy, compiling, current_policy
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import MISSED, PreparedCall
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.program.tracing.trace_cache import ArgumentKeys, Statistics, Trace, TraceCache, prepared_call
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.trees.tree import TreeDef, scalars, write
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

if TYPE_CHECKING:
    from gradwalk.explain.walk import Walk

P = ParamSpec("P")
R = TypeVar("R")

# The recordings in progress in the current context, as pairs (id of the function, key of the arguments).
_in_progress: ContextVar[tuple[tuple[int, Any], ...]] = ContextVar("in_progress", default=())


@dataclass(frozen=True, eq=False)
class JitTrace(Trace):
    """A trace made by `jit`.

    Attributes:
        treedef: Treedef of the result.
        names: Names of the inputs that are numbers in the arguments.
        numbers: Number that each input had when the function was recorded.
        key: Cache key of the arguments.
    """

    treedef: TreeDef
    names: list[str]
    numbers: list[float]
    key: Any

    @cached_property
    def prepared(self) -> PreparedCall | None:
        """The fast path for arguments with this structure, or None.

        There is no fast path if the trace captures Values. There is no fast path either if the trace calls other
        programs under a custom policy: the policy must be set when these programs are compiled, which happens on their
        first run.
        """
        if self.captured or (self.program.calls and current_policy() is not DEFAULT):
            return None
        return prepared_call(self.key, self.program, self.treedef)

    @property
    def labels(self) -> list[str]:
        """Names of all inputs; "" for an unnamed input."""
        return [*self.names, *(getattr(x, "label", "") for x in self.captured)]

    def apply(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the numbers of the result. At least one operand must be a Value."""
        return self.program(list(operands))

    def roots(self, numbers: Sequence[float]) -> list[Value]:
        """Return the numbers of the result as Values, computed from new labeled leaves."""
        leaves = [Value(number, label=label) for number, label in zip(numbers, self.labels, strict=True)]
        results = self.program(list(leaves))
        return [x if isinstance(x, Value) else Value(x) for x in results]


class Jit(WrappedFunction[P, R]):
    """A recorded function, returned by `jit`."""

    _name = "jit"

    def __init__(
        self,
        f: Callable[P, R],
        static_argnums: int | Iterable[int],
        static_argnames: str | Iterable[str],
        policy: Policy = DEFAULT,
    ) -> None:
        super().__init__(f, self._name)
        self._policy = policy
        self._keys = ArgumentKeys(f, self._advice, static_argnums, static_argnames)
        self._cache: TraceCache[JitTrace] = TraceCache(display_name(f))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result for these arguments. If their structure is new, the function is recorded first."""
        self._cache.calls += 1
        for prepared in self._cache.prepared:
            result = prepared.result(args, kwargs)
            if result is not MISSED:
                return result  # type: ignore[no-any-return]
        if self._policy is DEFAULT:
            trace, leaves = self._trace(args, kwargs)
            return trace.treedef.filled(self._numbers(trace, leaves))  # type: ignore[no-any-return]
        with compiling(self._policy):  # the policy also applies to parts that are compiled on their first run
            trace, leaves = self._trace(args, kwargs)
            return trace.treedef.filled(self._numbers(trace, leaves))  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        """The simplified graph of the latest recording, with the numbers of the recorded call.

        Raises:
            ValueError: The function has not been recorded yet.
        """
        trace = self._last()
        return Graph.record(trace.roots(trace.numbers))

    @property
    def program(self) -> Program:
        """The program of the latest recording, with named inputs for the arguments and the captured Values.

        Raises:
            ValueError: The function has not been recorded yet.
        """
        trace = self._last()
        return trace.program.named(trace.labels, trace.treedef.names("out"))

    @property
    def statistics(self) -> Statistics:
        """The number of calls, the number of recordings, and the number of instructions in all recordings."""
        return self._cache.statistics

    def recorded(self, *args: P.args, **kwargs: P.kwargs) -> JitTrace:
        """Return the recording for arguments with this structure, without running it. Record the function if needed.

        Args:
            *args: Positional arguments of the function.
            **kwargs: Keyword arguments of the function.
        """
        return self._trace(args, kwargs)[0]

    def walk(self, *args: P.args, **kwargs: P.kwargs) -> Walk:
        """Return the walk through the function's graph for these arguments.

        Args:
            *args: Positional arguments of the function.
            **kwargs: Keyword arguments of the function.

        Returns:
            The walk, in which the result is the root.

        Raises:
            TypeError: The result is not one number.
        """
        from gradwalk.explain.walk import walk  # imported late: it takes a third of the import time of jit

        trace, leaves = self._trace(args, kwargs)
        if not trace.treedef.has_one_number:
            raise TypeError(
                f"walk needs a function that returns one number, and {display_name(self._f)} returned {trace.treedef}"
            )
        numbers = [*scalars(leaves), *trace.captured]
        return walk(trace.roots([primal_of(x) if isinstance(x, Value) else x for x in numbers])[0])

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, tuple(self._keys.static_argnums), tuple(self._keys.static_argnames), self._policy

    def _last(self) -> JitTrace:
        return self._cache.last(display_name(self._f))

    def _advice(self, arg: Any, name: str) -> str:
        if isinstance(arg, numpy.ndarray):  # not hashable, so it cannot be static
            return ""
        return f". Or pass it to {display_name(self._f)} as a static argument: jit(f, static_argnames={name!r})"

    def _numbers(self, trace: JitTrace, leaves: list[Any]) -> Any:
        """Run a trace and return the numbers of the result."""
        if not trace.captured:
            row = numpy.empty(trace.program.inputs)
            if write(leaves, row):
                return trace.program.run(row)
        operands = [*scalars(leaves), *trace.captured]
        if any(isinstance(operand, Value) for operand in operands):
            return trace.apply(operands)
        return trace.program.run(numpy.array(operands))

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JitTrace, list[Any]]:
        """Return the trace for arguments of this structure, recorded if needed, and the leaves that are not static."""
        key, leaves = self._keys.key(args, kwargs)
        trace = self._cache.find(key)
        if trace is None:
            trace = self._cache.add(key, self._record_once(key, args, kwargs))
        if trace.prepared is not None:
            self._cache.try_first(trace.prepared)
        return trace, leaves

    def _record_once(self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> JitTrace:
        """Record the function, or raise `RecursionError` if this recording is already in progress."""
        mark = (id(self), key)
        if mark in _in_progress.get():
            raise RecursionError(
                f"{display_name(self._f)} calls itself while it is being recorded, with arguments of the same "
                "structure, so the recording would never end. Write the recursion as a loop, or pass the argument that "
                "the recursion depends on as a static argument"
            )
        context = copy_context()  # discarded after the recording, even if an exception is raised
        context.run(_in_progress.set, (*_in_progress.get(), mark))
        return context.run(self._record, key, args, kwargs)

    def _record(self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> JitTrace:
        """Record the function for these arguments."""
        recording = self._new_recording()
        names: list[str] = []
        opened, keywords = self._keys.open(recording, args, kwargs, names)
        count = len(recording.operands)
        outputs, treedef = recording.run(self._f, opened, keywords)
        captured = recording.operands[count:]
        numbers = [primal_of(x) if isinstance(x, Value) else x for x in recording.operands]
        return self._as_trace(recording, outputs, captured, treedef, names, numbers, key)

    def _new_recording(self) -> Recording:
        return Recording(staged=True)

    def _as_trace(self, recording: Recording, outputs: list[int], *others: Any) -> JitTrace:
        return JitTrace(recording.tape.program(outputs), *others)
