"""`TraceCache`: the recordings of one function, found again by the arguments that they serve.

Everything that records a function once and runs the recording many times (`jit`, `vmap`, `vectorize`, `checkpoint`,
`sparse_jacobian`, `primitive`) keeps what it has recorded here, as far as there is room.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from gradwalk.program.program import Program
from gradwalk.program.reroll.repeats import written
from gradwalk.program.run.fast_call import PreparedCall
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.trees.fast.form import ConstantForm, DictForm, SequenceForm
from gradwalk.trees.fast.forms import form_of, leaf_forms
from gradwalk.trees.tree import Parameters, TreeDef, flatten
from gradwalk.value.node import level_of
from gradwalk.value.source.source_line import users_line
from gradwalk.value.value import Value


@dataclass(frozen=True)
class Statistics:
    """How a recorded function has been used.

    Attributes:
        calls: How often the function was called.
        recordings: How many recordings are kept.
        instructions: The instructions of all these recordings together.
        forgotten: How many recordings had to make room for others.
        written: With how many instructions they are written, where those that repeat themselves are loops.
        backends: What runs the latest recording, by "", or by the names of its parts: "llvm", or what else, and why.
    """

    calls: int
    recordings: int
    instructions: int
    forgotten: int = 0
    written: int = 0
    backends: dict[str, str] = field(default_factory=dict, repr=False, compare=False)


class RecordingWarning(UserWarning):
    """A function is recorded again and again."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A recording of a function, as a cache keeps it. Each transform adds what it needs to run the program.

    Attributes:
        program: What computes the results.
        captured: The last inputs of the program that are no arguments: Values that the function uses without being
            given them, whose numbers are read at every call, and static numbers that it is differentiated by.
    """

    program: Program
    captured: list[Any]

    @property
    def backends(self) -> dict[str, str]:
        """What runs it: see `Statistics`."""
        return self.program.backends

    @property
    def is_reusable(self) -> bool:
        """Whether the recording serves later calls too: it uses no Value of a recording that surrounds it."""
        return not any(isinstance(value, Value) and level_of(value) > 0 for value in self.captured)


T = TypeVar("T", bound=Trace)

_MOST_TRACES = 128  # of one function
_MOST_INSTRUCTIONS = 4_000_000  # of these together: some hundred megabytes
_MOST_PREPARED = 4  # calls that are tried one after the other
_MANY = 64  # recordings, after which a function is told to be recorded again and again

BRANCHES = object()  # stands in keys before how the branches of a recording were decided

_caches: weakref.WeakSet[TraceCache[Any]] = weakref.WeakSet()  # all that there are


class _Kept(Generic[T]):
    """A recording in a cache, and when it was used last."""

    __slots__ = ("key", "trace", "used")
    _clock = itertools.count()

    def __init__(self, key: Any, trace: T) -> None:
        self.key = key
        self.trace = trace
        self.used = next(self._clock)

    def use(self) -> T:
        self.used = next(self._clock)
        return self.trace


class TraceCache(Generic[T]):
    """The recordings of one function, by key. Those that were used last are kept.

    Several threads may use one cache. Two that miss the same key both record the function; the first to finish wins,
    and both get its recording. A recording that is interrupted is never added, so it leaves nothing behind.

    Args:
        name: What messages call the function.

    Attributes:
        calls: How often the function was called; its owner counts.
        latest: The latest recording, reusable or not; None before the first one.
        prepared: The calls that are tried before a key is made, the latest one first.
    """

    def __init__(self, name: str) -> None:
        self.calls = 0
        self.latest: T | None = None
        self.prepared: tuple[Any, ...] = ()
        self._name = name
        self._kept: dict[Any, _Kept[T]] = {}  # setdefault and pop are all the locking that they need
        self._added = 0
        _caches.add(self)

    def find(self, key: Any) -> T | None:
        """Return the recording for a key, None where there is none.

        Args:
            key: The key.

        Returns:
            The recording, or None.
        """
        kept = self._kept.get(key)
        return None if kept is None else kept.use()

    def add(self, key: Any, trace: T) -> T:
        """Keep a recording, unless it serves one call only or another thread has been faster.

        Args:
            key: What to find it by; hashable.
            trace: The recording.

        Returns:
            The recording to use.
        """
        if not trace.is_reusable:
            self.latest = trace
            return trace
        self.latest = found = self._kept.setdefault(key, _Kept(key, trace)).trace
        self._added += found is trace
        if self._added == _MANY and found is trace:
            self._warn(key)
        self._make_room()
        return found

    def try_first(self, prepared: Any) -> None:
        """Try a prepared call before the others from now on, and forget the oldest beyond a few.

        Args:
            prepared: A `PreparedCall`, or a `PreparedBatch`.
        """
        others = [other for other in self.prepared if other is not prepared]
        self.prepared = (prepared, *others[: _MOST_PREPARED - 1])

    def last(self, name: str) -> T:
        """Return the latest recording.

        Args:
            name: What messages call the function.

        Returns:
            The recording.

        Raises:
            ValueError: The function has not been recorded yet.
        """
        if self.latest is None:
            raise ValueError(f"{name} has not been called yet, so there is no recording of it")
        return self.latest

    def clear(self) -> None:
        """Forget all recordings but the latest one, which nothing finds by a key any more."""
        self.prepared = ()
        self._kept.clear()
        self._added = 0

    @property
    def statistics(self) -> Statistics:
        """How the function has been used."""
        kept = list(self._kept.values())
        programs = [one.trace.program for one in kept]
        in_loops = sum(written(len(program), program.repeats) for program in programs)
        backends = {} if self.latest is None else self.latest.backends
        return Statistics(self.calls, len(kept), _instructions(kept), self._added - len(kept), in_loops, backends)

    def _make_room(self) -> None:
        """Forget the recordings that have not been used for longest, while there are too many or too long ones."""
        kept = sorted(self._kept.values(), key=lambda one: one.used)
        instructions = _instructions(kept)
        while len(kept) > 1 and (len(kept) > _MOST_TRACES or instructions > _MOST_INSTRUCTIONS):
            oldest = kept.pop(0)
            instructions -= len(oldest.trace.program)
            self._kept.pop(oldest.key, None)

    def _warn(self, key: Any) -> None:
        """Say that the function is recorded again and again, and why."""
        others = [kept for kept in list(self._kept.values()) if kept.key != key]
        reason = _difference(key, max(others, key=lambda one: one.used).key)
        line = users_line()
        warnings.warn_explicit(
            f"{self._name} has been recorded {_MANY} times{reason}. The recordings that are used least are forgotten "
            f"beyond {_MOST_TRACES}; .statistics counts them",
            RecordingWarning,
            line.filename,
            line.number,
        )


def clear_all() -> None:
    """Forget the recordings of all functions."""
    for cache in list(_caches):
        cache.clear()


def _instructions(kept: Iterable[_Kept[Any]]) -> int:
    return sum(len(one.trace.program) for one in kept)


def _difference(key: Any, earlier: Any) -> str:
    """Why a call did not find an earlier recording, as the end of a sentence: the first argument that differs."""
    if not isinstance(key, tuple) or not isinstance(earlier, tuple):
        return ""
    before = {part[0]: part for part in earlier if isinstance(part, tuple)}
    for name, *now in [part for part in key if isinstance(part, tuple)]:
        if name not in before or (name, *now) == before[name]:
            continue
        then = before[name][1]
        if name is BRANCHES:
            return (
                ", lately because its branches went another way. Every way is recorded by itself: write them with "
                "gradwalk.loops"
            )
        if isinstance(now[0], TreeDef) and isinstance(then, TreeDef):
            return (
                f", lately because {name} is {now[0]} where it was {then}. Every structure and length of an argument "
                "is recorded by itself: pad what varies to a few lengths"
            )
        return (
            f", lately because the static argument {name} is {now[0]!r:.40} where it was {then!r:.40}. Every value of "
            "a static argument is recorded by itself: give numbers that vary as other arguments"
        )
    return ""


class ArgumentKeys:
    """Make keys of the arguments of a function: calls with equal keys share a recording.

    A static argument belongs to the key with its value, every other one with its treedef.

    Args:
        f: The function.
        advise: Given an argument that is no tree of numbers, and its name: a sentence that says what to do about it,
            which is appended to the message.
        static_argnums: The positions of static arguments, negative ones counted from the last parameter.
        static_argnames: The names of static arguments. One that is known by name is known by position too.

    Raises:
        TypeError: A position is no int, or a name no str.
        ValueError: The function has no parameter at such a position, or of such a name.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        advise: Callable[[Any, str], str],
        static_argnums: int | Iterable[int] = (),
        static_argnames: str | Iterable[str] = (),
    ) -> None:
        self.parameters = Parameters(f)
        self.static_argnums = _set_of(int, static_argnums, "static_argnums")
        self.static_argnames = _set_of(str, static_argnames, "static_argnames")
        self._advise = advise
        if self.has_static:
            self._complete_static(f)

    @property
    def has_static(self) -> bool:
        """Whether there are static arguments."""
        return bool(self.static_argnums or self.static_argnames)

    def key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Return the key of arguments, and the leaves of those that are not static.

        Args:
            args: The positional arguments.
            kwargs: The keyword arguments.

        Returns:
            The key, and the leaves.

        Raises:
            TypeError: An argument holds something else than numbers, or a static one cannot be hashed.
        """
        leaves: list[Any] = []
        parts: list[Any] = [len(args)]
        names = self.parameters.first(len(args))
        for i, (name, arg) in enumerate([*zip(names, args, strict=True), *sorted(kwargs.items())]):
            if (i < len(args) and i in self.static_argnums) or name in self.static_argnames:
                parts.append((name, _hashable(arg, name), _kinds(arg)))
                continue
            try:
                found, treedef = flatten(arg, name)
            except TypeError as error:
                raise TypeError(f"{error}{self._advise(arg, name)}") from None
            leaves += found
            parts.append((name, treedef))
        return tuple(parts), leaves

    def open(
        self, recording: Recording, args: Sequence[Any], kwargs: Mapping[str, Any], names: list[str] | None = None
    ) -> tuple[list[Any], dict[str, Any]]:
        """Put inputs of a recording in place of the numbers in all arguments that are not static.

        Args:
            recording: The recording.
            args: The positional arguments.
            kwargs: The keyword arguments.
            names: A list to append the names of the inputs to, which become their labels as well.

        Returns:
            The positional and the keyword arguments to call the function with.
        """
        opened = [
            arg if i in self.static_argnums or name in self.static_argnames else recording.add_inputs(arg, name, names)
            for i, (name, arg) in enumerate(zip(self.parameters.first(len(args)), args, strict=True))
        ]
        keywords = {
            name: arg if name in self.static_argnames else recording.add_inputs(arg, name, names)
            for name, arg in sorted(kwargs.items())
        }
        return opened, keywords

    def _complete_static(self, f: Callable[..., Any]) -> None:
        """Know static arguments by name and by position, whichever they were given by."""
        try:
            parameters = inspect.signature(f).parameters
        except (TypeError, ValueError):  # some functions written in C do not say what they take
            return
        kinds = {parameter.kind for parameter in parameters.values()}
        for name in self.static_argnames - set(parameters):
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                raise ValueError(
                    f"static_argnames={name!r}: {display_name(f)} has the parameters {', '.join(parameters)}"
                )
        for i in self.static_argnums:
            if not -len(parameters) <= i < len(parameters) and inspect.Parameter.VAR_POSITIONAL not in kinds:
                raise ValueError(f"static_argnums={i}: {display_name(f)} has {len(parameters)} parameters")
        self.static_argnums = frozenset([i % len(parameters) if i < 0 else i for i in self.static_argnums])
        self.static_argnames |= {name for i, name in enumerate(parameters) if i in self.static_argnums}


def prepared_call(key: Any, program: Program, treedef: TreeDef) -> PreparedCall | None:
    """Prepare calls with arguments of a key.

    Args:
        key: The key: see `ArgumentKeys`.
        program: What computes the numbers of the result from those of the arguments.
        treedef: The treedef of the result.

    Returns:
        The prepared call; None where arguments have no form.
    """
    count, *parts = key
    forms: list[Any] = []
    position = 0
    for _, given, *kinds in parts:
        is_static = bool(kinds)
        forms.append(ConstantForm(given) if is_static else form_of(given, [*leaf_forms(given, position)]))
        position += 0 if is_static else given.size
    if None in forms:
        return None
    names = [name for name, *_ in parts[count:]]
    keywords = DictForm(names, forms[count:], names) if names else None
    takes = SequenceForm(tuple, forms[:count])
    return PreparedCall(program.interpreter, takes, keywords, form_of(treedef), treedef)


def _set_of(kind: type, given: Any, what: str) -> frozenset[Any]:
    """A setting that is one int or str, or several of them, as a set."""
    items = [given] if isinstance(given, kind) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
        raise TypeError(f"{what} takes {kind.__name__}, or several, not {given!r}")
    return frozenset(items)


def _kinds(arg: Any) -> Any:
    """What tells apart arguments that compare equal: 1, 1.0 and True, or 0.0 and -0.0."""
    if isinstance(arg, (tuple, frozenset)):
        return tuple([_kinds(item) for item in arg])
    return (type(arg), str(arg)) if isinstance(arg, float) else type(arg)


def _hashable(arg: Any, name: str) -> Any:
    try:
        hash(arg)
    except TypeError:
        raise TypeError(
            f"the static argument {name} is a {type(arg).__name__}, which cannot be hashed: its recording could not be "
            "found again. Give a tuple, a number or a string"
        ) from None
    return arg
