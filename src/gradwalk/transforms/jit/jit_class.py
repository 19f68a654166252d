"""`Jit`: a function with its recordings, returned by `jit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy

from gradwalk.arrays.recorder import RECORDER
from gradwalk.arrays.run.array_program import uses_arrays
from gradwalk.graph.graph import Graph
from gradwalk.loops import own_arrays
from gradwalk.program.native.policy import DEFAULT, Policy, compiling
from gradwalk.program.program import Program
from gradwalk.program.run.fast_call import PreparedFunction
from gradwalk.program.tracing.array_handle import ArrayRecorder, flat_operands
from gradwalk.program.tracing.paths import Outcomes, Paths
from gradwalk.program.tracing.trace import Recording, display_name, takes_arrays
from gradwalk.program.tracing.trace_cache import ArgumentKeys, Statistics, TraceCache
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.transforms.jit.array_trace import ArrayTrace
from gradwalk.transforms.jit.jit_trace import JitTrace
from gradwalk.transforms.zero_derivatives import warn_of_plain_result
from gradwalk.trees.structs import examples
from gradwalk.trees.tree import flatten, scalars
from gradwalk.value.arrays import WholeArray
from gradwalk.value.modes import is_abstract, is_staging, known_number, refuses_nans
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value

if TYPE_CHECKING:
    from gradwalk.explain.walk import Walk
    from gradwalk.transforms.jit.lowered import Lowered

P = ParamSpec("P")
R = TypeVar("R")

# The recordings in progress in the current context, as pairs (id of the function, key of the arguments).
_in_progress: ContextVar[tuple[tuple[int, Any], ...]] = ContextVar("in_progress", default=())


class Jit(WrappedFunction[P, R], PreparedFunction):
    """A recorded function, returned by `jit`."""

    _name = "jit"
    _arrays: ArrayRecorder | None = RECORDER  # makes large arrays single inputs

    def __init__(
        self,
        f: Callable[P, R],
        static_argnums: int | Iterable[int],
        static_argnames: str | Iterable[str],
        policy: Policy = DEFAULT,
        follows_branches: bool = False,
    ) -> None:
        WrappedFunction.__init__(self, f, self._name)
        self._policy = policy
        self._follows_branches = follows_branches
        self._keys = ArgumentKeys(f, self._advice, static_argnums, static_argnames)
        PreparedFunction.__init__(self, TraceCache[JitTrace](display_name(f)))
        self._paths: Paths[JitTrace] = Paths(self._cache)

    if TYPE_CHECKING:
        _cache: TraceCache[JitTrace]

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """See `PreparedFunction.__call__`."""

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

        If the function branches, the program computes one path through it. Its last outputs, called branch[0],
        branch[1] and so on, are the conditions of the branches.

        Raises:
            ValueError: The function has not been recorded yet.
        """
        trace = self._last()
        conditions = [f"branch[{i}]" for i in range(len(trace.outcomes))]
        return trace.of_numbers.named(trace.labels, [*trace.treedef.names("out"), *conditions])

    @property
    def latest(self) -> JitTrace:
        """The latest recording. Raises `ValueError` if the function has not been recorded yet."""
        return self._last()

    @property
    def name(self) -> str:
        """The name of the function in messages."""
        return display_name(self._f)

    @property
    def statistics(self) -> Statistics:
        """The number of calls, the number of recordings, and the number of instructions in all recordings."""
        return replace(self._cache.statistics, calls=self._calls)

    def recorded(self, *args: P.args, **kwargs: P.kwargs) -> JitTrace:
        """Return the recording for arguments with this structure, without running it. Record the function if needed.

        Args:
            *args: Positional arguments of the function.
            **kwargs: Keyword arguments of the function.
        """
        return self._trace(args, kwargs)[0]

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """Record the function for arguments like these, without running it.

        Args:
            *args: Positional arguments of the function. A leaf may be a `ShapeDtypeStruct`.
            **kwargs: Keyword arguments of the function.

        Returns:
            The recording, with the methods `as_text`, `cost_analysis` and `compile`.

        Raises:
            ValueError: The function branches on its arguments.
        """
        from gradwalk.transforms.jit.lowered import Lowered  # loaded on demand

        args, kwargs = examples((args, kwargs))
        trace = self._trace(args, kwargs)[0]
        name = display_name(self._f)
        if trace.outcomes:
            raise ValueError(
                f"{name} branches on its arguments, but a program contains only one path through the branches: branch "
                "with gradwalk.loops.cond, or select with gradwalk.math.where"
            )
        program = trace.of_numbers.named(trace.labels, trace.treedef.names("out"))
        return Lowered(name, program, flatten(self._keys.dynamic(args, kwargs), name)[1], trace.treedef, trace.captured)

    def walk(self, *args: P.args, **kwargs: P.kwargs) -> Walk:
        """Return the walk through the function's graph for these arguments.

        Args:
            *args: Positional arguments of the function.
            **kwargs: Keyword arguments of the function.

        Returns:
            The walk, in which the result is the root.

        Raises:
            TypeError: The result is not one number.

        Warns:
            ZeroDerivativeWarning: The function uses an argument only in comparisons, `int` or `round`.
        """
        from gradwalk.explain.walk import walk  # imported late: it takes a third of the import time of jit

        trace, leaves = self._trace(args, kwargs)
        if not trace.treedef.has_one_number:
            raise TypeError(
                f"walk needs a function that returns one number, and {display_name(self._f)} returned {trace.treedef}"
            )
        numbers = [*scalars(leaves), *trace.captured]
        if trace.outcomes:
            are_numbers = [not isinstance(outcome, bool) for outcome in trace.outcomes]
            warn_of_plain_result(self._f, trace.of_numbers.code, [True] * len(numbers), are_numbers)
        return walk(trace.roots([primal_of(x) if isinstance(x, Value) else x for x in numbers])[0])

    def _reduce_args(self) -> tuple[Any, ...]:
        nums, names = tuple(self._keys.static_argnums), tuple(self._keys.static_argnames)
        return self._f, nums, names, self._policy, self._follows_branches

    def _last(self) -> JitTrace:
        return self._cache.last(display_name(self._f))

    def _advice(self, arg: Any, name: str) -> str:
        if isinstance(arg, numpy.ndarray):  # not hashable, so it cannot be static
            return ""
        return f". Or pass it to {display_name(self._f)} as a static argument: jit(f, static_argnames={name!r})"

    def _run(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """See `PreparedFunction._run`."""
        return self._f(*args, **kwargs)

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """See `PreparedFunction._call`."""
        if self._policy is DEFAULT:
            return self._computed(args, kwargs)
        with compiling(self._policy):  # the policy also applies to parts that are compiled on their first run
            return self._computed(args, kwargs)

    def _computed(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return the result for these arguments, and prepare a fast path for arguments like these."""
        key, leaves = self._keys.key(args, kwargs)
        if self._arrays is not None and takes_arrays(self._f) and any(isinstance(leaf, WholeArray) for leaf in leaves):
            return self._f(*own_arrays(args), **own_arrays(kwargs))  # it becomes a part of the enclosing function
        trace, outputs = self._found(key, leaves, args, kwargs)
        self._prepare(trace)
        if outputs is None:
            outputs = trace.outputs(leaves)
            trace.left_with(outputs)  # returns None; an enclosing recording sees the conditions
        return trace.tree(outputs)

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JitTrace, list[Any]]:
        """Return the trace for these arguments, recorded if needed, and the leaves that are not static."""
        key, leaves = self._keys.key(args, kwargs)
        trace, _ = self._found(key, leaves, args, kwargs)
        self._prepare(trace)
        return trace, leaves

    def _found(self, key: Any, leaves: list[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JitTrace, Any]:
        """Return the trace for these arguments, recorded if needed, given their key and the leaves.

        The second element holds the outputs of the program if they were computed to find the trace. Otherwise it is
        None.
        """
        trace = self._cache.find(key)
        if trace is not None:
            return trace, None
        # Under `debug_nans()`, operations of a path that is not taken must not raise, so the function itself runs.
        if key in self._paths and not refuses_nans():
            trace, outputs = self._walked(key, leaves)
            if trace is not None:
                return trace, outputs
        return self._paths.add(key, self._record_once(key, args, kwargs)), None

    def _walked(self, key: Any, leaves: list[Any]) -> tuple[JitTrace | None, Any]:
        """Return the trace of the recorded path that the arguments take, and its outputs, or None twice."""
        begin: Outcomes = ()  # the first outcomes of the path that the arguments take
        trace = self._paths.find(key)
        while trace is not None:
            left, outputs = self._tried(trace, leaves)
            if left is None:
                self._paths.put_first(key, trace)
                return trace, outputs
            # A condition may be rounded differently in another program, in which case no path may fit.
            trace = self._paths.find(key, left) if len(left) > len(begin) else None
            begin = left
        return None, None

    def _tried(self, trace: JitTrace, leaves: list[Any]) -> tuple[Outcomes | None, Any]:
        """Run a trace. Return `left_with` and the outputs, which are None if a condition has a different outcome."""
        operands = [*scalars(leaves), *trace.captured] if trace.guards or is_staging() else []
        if operands and not (is_abstract() and any(isinstance(x, Value) and level_of(x) for x in operands)):
            given = numpy.array([known_number(x) if isinstance(x, Value) else x for x in operands], numpy.float64)
            # An enclosing recording must see the conditions of one trace only, so that it asks the same conditions in
            # the same order each time, whichever traces are tried.
            left = trace.left_early_with(given)
            if left is not None:
                return left, None
        outputs = trace.outputs(leaves)
        return trace.left_with(outputs), outputs

    def _prepare(self, trace: JitTrace) -> None:
        """Try the fast path of a trace first in later calls, if the trace has one."""
        prepared, path = trace.prepared, trace.prepared_path
        if prepared is None or path is None or not trace.is_reusable:
            return
        if trace.outcomes:
            prepared = next((other for other in self._cache.prepared if other.key == trace.key), prepared)
            prepared.put_first(path)
        self._cache.try_first(prepared)

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
        arrays = self._arrays if takes_arrays(self._f) else None
        recording = Recording(staged=True, follows_branches=self._follows_branches, arrays=arrays)
        names: list[str] = []
        opened, keywords = self._keys.open(recording, args, kwargs, names)
        recording.refuse_branches_of_placeholders()
        count = len(recording.operands)
        outputs, treedef = recording.run(self._f, opened, keywords)
        captured = recording.operands[count:]
        given = [primal_of(x) if isinstance(x, Value) else x for x in recording.operands]
        conditions, outcomes = recording.branches
        is_whole = self._arrays is not None and recording.tape.has_arrays and uses_arrays(recording.tape)
        if recording.tape.has_arrays and not is_whole:
            captured, given = flat_operands(captured), flat_operands(given)
        made: Any = ArrayTrace if is_whole else JitTrace
        program = made.program_of(recording.tape, [*recording.with_effects(outputs), *conditions])
        trace: JitTrace = made(program, captured, tuple(outcomes), treedef, given, key)
        return trace
