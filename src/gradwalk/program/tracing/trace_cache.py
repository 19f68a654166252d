"""`TraceCache`: a cache of the recordings of one function, keyed by the structure of the arguments.

The transforms that record a function once and run the recording many times use this cache: `jit`, `vmap`, `vectorize`,
`checkpoint`, `sparse_jacobian` and `primitive`.
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
from gradwalk.program.run.fast_call import PreparedCall, PreparedPath
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.trees.fast.form import ConstantForm, DictForm, Form, SequenceForm
from gradwalk.trees.fast.forms import form_of, leaf_forms
from gradwalk.trees.tree import Parameters, TreeDef, flatten
from gradwalk.value.node import level_of
from gradwalk.value.source.source_line import users_line
from gradwalk.value.value import Value


@dataclass(frozen=True)
class Statistics:
    """Statistics about a function that is recorded and cached.

    Attributes:
        calls: Number of calls of the function.
        recordings: Number of recordings in the cache.
        instructions: Total number of instructions in the cached recordings.
        forgotten: Number of recordings that were evicted from the cache.
        written: Number of instructions in the cached recordings if repeated instructions are written as loops.
        backends: The backends of the latest recording: the backend of the recording under the key "", and the backend
            of each part under the part's name. A backend is "llvm", or the name of another backend followed by the
            reason why LLVM is not used.
    """

    calls: int
    recordings: int
    instructions: int
    forgotten: int = 0
    written: int = 0
    backends: dict[str, str] = field(default_factory=dict, repr=False, compare=False)


class RecordingWarning(UserWarning):
    """Warning that a function has been recorded many times, which is slow."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A cached recording of a function. Each transform adds the fields that it needs to run the program.

    Attributes:
        program: The program that computes the results.
        captured: Operands for the last inputs of the program, which are not arguments of the function. They are Values
            from outside the function, whose numbers are read at every call, and static numbers with respect to which
            the function is differentiated.
    """

    program: Program
    captured: list[Any]

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the program; see `Statistics.backends`."""
        return self.program.backends

    @property
    def is_reusable(self) -> bool:
        """Whether later calls may use the recording. False if it captures a Value of an enclosing recording."""
        return not any(isinstance(value, Value) and level_of(value) > 0 for value in self.captured)


T = TypeVar("T", bound=Trace)

MOST_TRACES = 128  # per function
_MOST_INSTRUCTIONS = 4_000_000  # per function, a few hundred MB
_MOST_PREPARED = 4  # maximum number of prepared calls that are tried one after the other
_MANY = 64  # number of recordings after which `RecordingWarning` is issued

BRANCHES = object()  # marks the part of a key that contains the branch outcomes of a recording

_caches: weakref.WeakSet[TraceCache[Any]] = weakref.WeakSet()  # all caches


class _Kept(Generic[T]):
    """A cached recording and the time of its last use."""

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
    """A cache that maps keys to recordings of one function. It evicts the least recently used recordings.

    Several threads may use one cache. If two threads find no recording for the same key, both record the function, and
    both use the recording that is added first. A recording that is interrupted by an exception is not added.

    Args:
        name: The name of the function, for warnings.

    Attributes:
        latest: The latest recording, even if it is not reusable; None before the first recording.
        prepared: The prepared calls, most recent first. They are tried before a key is computed.
    """

    def __init__(self, name: str) -> None:
        self.latest: T | None = None
        self.prepared: tuple[Any, ...] = ()
        self._name = name
        self._kept: dict[Any, _Kept[T]] = {}  # dict.setdefault and dict.pop are atomic, so no lock is needed
        self._added = 0
        _caches.add(self)

    def find(self, key: Any) -> T | None:
        """Return the recording for a key, or None if there is none."""
        kept = self._kept.get(key)
        return None if kept is None else kept.use()

    def add(self, key: Any, trace: T) -> T:
        """Add a recording; return the recording that the caller must use.

        If another thread has already added a recording for this key, that recording is returned. A recording that is
        not reusable is not added to the cache.
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
        """Try this `PreparedCall` or `PreparedBatch` first from now on; drop the oldest if there are too many."""
        others = [other for other in self.prepared if other is not prepared]
        self.prepared = (prepared, *others[: _MOST_PREPARED - 1])

    def last(self, name: str) -> T:
        """Return the latest recording. Raises `ValueError` if the function has not been recorded yet."""
        if self.latest is None:
            raise ValueError(f"{name} has not been called yet, so there is no recording of it: call it first")
        return self.latest

    def clear(self) -> None:
        """Remove all recordings from the cache. `latest` is kept."""
        self.prepared = ()
        self._kept.clear()
        self._added = 0

    @property
    def statistics(self) -> Statistics:
        """The statistics of the recordings. The number of calls is 0, because the owner of the cache counts them."""
        kept = list(self._kept.values())
        programs = [one.trace.program for one in kept]
        in_loops = sum(written(len(program), program.repeats) for program in programs)
        backends = {} if self.latest is None else self.latest.backends
        return Statistics(0, len(kept), _instructions(kept), self._added - len(kept), in_loops, backends)

    def _make_room(self) -> None:
        """Evict the least recently used recordings while the cache exceeds its limits."""
        kept = sorted(self._kept.values(), key=lambda one: one.used)
        instructions = _instructions(kept)
        while len(kept) > 1 and (len(kept) > MOST_TRACES or instructions > _MOST_INSTRUCTIONS):
            oldest = kept.pop(0)
            instructions -= len(oldest.trace.program)
            self._kept.pop(oldest.key, None)

    def _warn(self, key: Any) -> None:
        """Issue a `RecordingWarning` that says why the function was recorded again."""
        others = [kept for kept in list(self._kept.values()) if kept.key != key]
        reason = _difference(key, max(others, key=lambda one: one.used).key)
        line = users_line()
        warnings.warn_explicit(
            f"{self._name} has been recorded {_MANY} times{reason}. The results are correct, but recording is slow. "
            f"The {MOST_TRACES} most recently used recordings are kept; .statistics counts them",
            RecordingWarning,
            line.filename,
            line.number,
        )


def clear_all() -> None:
    """Clear the caches of all functions."""
    for cache in list(_caches):
        cache.clear()


def _instructions(kept: Iterable[_Kept[Any]]) -> int:
    return sum(len(one.trace.program) for one in kept)


def _difference(key: Any, earlier: Any) -> str:
    """Return a clause for a warning that names the argument because of which an earlier recording cannot be used."""
    if not isinstance(key, tuple) or not isinstance(earlier, tuple):
        return ""
    before = {part[0]: part for part in earlier if isinstance(part, tuple)}
    for name, *now in [part for part in key if isinstance(part, tuple)]:
        if name not in before or (name, *now) == before[name]:
            continue
        then = before[name][1]
        if name is BRANCHES:
            return (
                ", most recently because it took another path through its branches. Each path needs its own recording: "
                "write branches and loops with gradwalk.loops, or select with gradwalk.math.where"
            )
        if isinstance(now[0], TreeDef) and isinstance(then, TreeDef):
            return (
                f", most recently because {name} changed from {then} to {now[0]}. Each structure and length of an "
                "argument needs its own recording: pad arguments of varying length to a few fixed lengths"
            )
        return (
            f", most recently because the static argument {name} changed from {then!r:.40} to {now[0]!r:.40}. Each "
            "value of a static argument needs its own recording: pass numbers that vary as non-static arguments"
        )
    return ""


class ArgumentKeys:
    """Computes cache keys from the arguments of a function. Calls with equal keys share a recording.

    A key contains the values of the static arguments and the treedefs of the other arguments.

    Args:
        f: The function.
        advise: Function that takes an argument that is not a tree of numbers, and the argument's name. It returns
            advice for the error message, as a sentence.
        static_argnums: Positions of static arguments. Negative positions count from the last parameter.
        static_argnames: Names of static arguments. An argument with one of these names is static even if it is passed
            by position.

    Raises:
        TypeError: A position is not an int, or a name is not a str.
        ValueError: A position or a name does not match any parameter of the function.
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
        """Whether any argument is static."""
        return bool(self.static_argnums or self.static_argnames)

    def key(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Return the key of the arguments and the leaves of the non-static arguments.

        Raises `TypeError` if a non-static argument contains something other than numbers, or if a static argument is
        not hashable.
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

    def dynamic(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments that are not static, with the keyword arguments in the order of their names."""
        names = self.parameters.first(len(args))
        kept = [
            arg
            for i, (name, arg) in enumerate(zip(names, args, strict=True))
            if i not in self.static_argnums and name not in self.static_argnames
        ]
        return tuple(kept), {name: arg for name, arg in sorted(kwargs.items()) if name not in self.static_argnames}

    def open(
        self, recording: Recording, args: Sequence[Any], kwargs: Mapping[str, Any], names: list[str] | None = None
    ) -> tuple[list[Any], dict[str, Any]]:
        """Replace the numbers in all non-static arguments by inputs of a recording; return the new args and kwargs.

        If `names` is a list, the name of each input is appended to it and becomes the label of the input's Value.
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
        """Add the parameter names at static positions to the static names; check names and positions."""
        try:
            parameters = inspect.signature(f).parameters
        except (TypeError, ValueError):  # some functions written in C have no signature
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


def prepared_call(key: Any, path: PreparedPath) -> PreparedCall | None:
    """Return a `PreparedCall` with one path for arguments with this key, or None if an argument has no form.

    `key` is a key that `ArgumentKeys.key` returned.
    """
    forms = argument_forms(key, leaf_forms)
    return None if forms is None else PreparedCall(*forms, path, key)


def argument_forms(
    key: Any, leaf_forms: Callable[[TreeDef, int], Iterable[Form | None]]
) -> tuple[Form, Form | None] | None:
    """Return the forms of the positional and of the keyword arguments, or None if an argument has no form.

    Args:
        key: A key that `ArgumentKeys.key` returned.
        leaf_forms: Function that returns the forms of the leaves of an argument that is not static, given its treedef
            and the position of its first number.

    Returns:
        The form of the tuple of positional arguments, and the form of the dict of keyword arguments, which is None if
        there are none; or None if an argument has no form.
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
    return SequenceForm(tuple, forms[:count]), DictForm(names, forms[count:], names) if names else None


def _set_of(kind: type, given: Any, what: str) -> frozenset[Any]:
    """Convert a setting to a set. The setting is an int, a str, or several ints or strs."""
    items = [given] if isinstance(given, kind) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
        raise TypeError(f"{what} must be {kind.__name__} or a sequence of {kind.__name__}, got {given!r}")
    return frozenset(items)


def _kinds(arg: Any) -> Any:
    """Return the types in a static argument.

    Keys contain these types to distinguish arguments that compare equal, such as 1, 1.0 and True, or 0.0 and -0.0.
    """
    if isinstance(arg, (tuple, frozenset)):
        return tuple([_kinds(item) for item in arg])
    return (type(arg), str(arg)) if isinstance(arg, float) else type(arg)


def _hashable(arg: Any, name: str) -> Any:
    try:
        hash(arg)
    except TypeError:
        raise TypeError(
            f"the static argument {name} must be hashable, so that its recording can be found again, got "
            f"{type(arg).__name__}: give a tuple, a number or a string"
        ) from None
    return arg
