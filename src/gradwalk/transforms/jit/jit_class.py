"""`Jit`: a function with its recordings, as `jit` makes it."""

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

# The recordings that go on in a context: by the id of the function, and its key.
_in_progress: ContextVar[tuple[tuple[int, Any], ...]] = ContextVar("in_progress", default=())


@dataclass(frozen=True, eq=False)
class JitTrace(Trace):
    """A recording that `jit` has made.

    Attributes:
        treedef: The treedef of the result.
        names: The names of the inputs that are arguments.
        numbers: The numbers of all inputs when it was recorded.
        key: The key of the arguments.
    """

    treedef: TreeDef
    names: list[str]
    numbers: list[float]
    key: Any

    @cached_property
    def prepared(self) -> PreparedCall | None:
        """What is tried first for arguments like these; None where each call needs a closer look.

        That is where it uses Values, or has parts that are only made when it is run, under the policy of its function.
        """
        if self.captured or (self.program.calls and current_policy() is not DEFAULT):
            return None
        return prepared_call(self.key, self.program, self.treedef)

    @property
    def labels(self) -> list[str]:
        """The names of all inputs, "" for those without one."""
        return [*self.names, *(getattr(x, "label", "") for x in self.captured)]

    def apply(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the numbers of the result as Values, for operands of which at least one is a Value.

        Args:
            operands: Values and floats.

        Returns:
            The numbers of the result.
        """
        return self.program(list(operands))

    def roots(self, numbers: Sequence[float]) -> list[Value]:
        """Return the numbers of the result as Values, made from new leaves that are labelled.

        Args:
            numbers: A number for each operand.

        Returns:
            The Values.
        """
        leaves = [Value(number, label=label) for number, label in zip(numbers, self.labels, strict=True)]
        results = self.program(list(leaves))
        return [x if isinstance(x, Value) else Value(x) for x in results]


class Jit(WrappedFunction[P, R]):
    """A recorded function, as `jit` makes it.

    Args:
        f: The function.
        static_argnums: See `jit`.
        static_argnames: See `jit`.
        policy: When its programs are compiled, and how.
    """

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
        """Return the result for these arguments, by the recording for their treedef, which is made if needed."""
        self._cache.calls += 1
        for prepared in self._cache.prepared:
            result = prepared.result(args, kwargs)
            if result is not MISSED:
                return result  # type: ignore[no-any-return]
        if self._policy is DEFAULT:
            trace, leaves = self._trace(args, kwargs)
            return trace.treedef.filled(self._numbers(trace, leaves))  # type: ignore[no-any-return]
        with compiling(self._policy):  # that of parts, too, that are only made when they are first run
            trace, leaves = self._trace(args, kwargs)
            return trace.treedef.filled(self._numbers(trace, leaves))  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        """The graph of the latest recording, simplified, with the numbers that it was recorded for.

        Raises:
            ValueError: There is no recording yet.
        """
        trace = self._last()
        return Graph.record(trace.roots(trace.numbers))

    @property
    def program(self) -> Program:
        """The program of the latest recording, with names for the numbers of arguments and the Values it captured.

        Raises:
            ValueError: There is no recording yet.
        """
        trace = self._last()
        return trace.program.named(trace.labels, trace.treedef.names("out"))

    @property
    def statistics(self) -> Statistics:
        """How often it was called and recorded, and the instructions of all recordings."""
        return self._cache.statistics

    def recorded(self, *args: P.args, **kwargs: P.kwargs) -> JitTrace:
        """Return the recording for arguments like these, which is made if needed, and is not run.

        Args:
            *args: The positional arguments of the function.
            **kwargs: Its keyword arguments.
        """
        return self._trace(args, kwargs)[0]

    def walk(self, *args: P.args, **kwargs: P.kwargs) -> Walk:
        """Return the walk through its graph for these arguments.

        Args:
            *args: The positional arguments of the function.
            **kwargs: Its keyword arguments.

        Returns:
            The walk to the result.

        Raises:
            TypeError: The result is not one number.
        """
        from gradwalk.explain.walk import walk  # loading it takes a third of the time that loading jit does

        trace, leaves = self._trace(args, kwargs)
        if not trace.treedef.has_one_number:
            raise TypeError(f"a walk is that to one number, and {display_name(self._f)} returned {trace.treedef}")
        numbers = [*scalars(leaves), *trace.captured]
        return walk(trace.roots([primal_of(x) if isinstance(x, Value) else x for x in numbers])[0])

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, tuple(self._keys.static_argnums), tuple(self._keys.static_argnames), self._policy

    def _last(self) -> JitTrace:
        return self._cache.last(display_name(self._f))

    def _advice(self, arg: Any, name: str) -> str:
        if isinstance(arg, numpy.ndarray):  # which cannot be hashed, so it cannot be static
            return ""
        return f". {display_name(self._f)} can take it as a static argument: jit(f, static_argnames={name!r})"

    def _numbers(self, trace: JitTrace, leaves: list[Any]) -> Any:
        """The numbers of the result."""
        if not trace.captured:
            row = numpy.empty(trace.program.inputs)
            if write(leaves, row):
                return trace.program.run(row)
        operands = [*scalars(leaves), *trace.captured]
        if any(isinstance(operand, Value) for operand in operands):
            return trace.apply(operands)
        return trace.program.run(numpy.array(operands))

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JitTrace, list[Any]]:
        """The recording for arguments like these, made if there is none; and the leaves of those that vary."""
        key, leaves = self._keys.key(args, kwargs)
        trace = self._cache.find(key)
        if trace is None:
            trace = self._cache.add(key, self._record_once(key, args, kwargs))
        if trace.prepared is not None:
            self._cache.try_first(trace.prepared)
        return trace, leaves

    def _record_once(self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> JitTrace:
        """Record the function, unless that is what calls it."""
        mark = (id(self), key)
        if mark in _in_progress.get():
            raise RecursionError(
                f"{display_name(self._f)} calls itself while it is being recorded, with arguments of the same "
                "structure: that would never end. Write the recursion as a loop, or give what it depends on as a "
                "static argument"
            )
        context = copy_context()  # which ends with the recording, however that ends
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
