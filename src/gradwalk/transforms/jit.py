"""`jit`: a function that is recorded at the first call and replayed, as compiled instructions, at all later ones."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from types import MethodType
from typing import Any, NamedTuple

import numpy

from gradwalk.batching.vmap import Vmap
from gradwalk.explain.walk import Walk, walk
from gradwalk.graph.graph import Graph
from gradwalk.program.program import Program
from gradwalk.program.trace import Recordable, Recording, named, reduced
from gradwalk.trees.tree import Parameters, Structure, flattened, scalars, write
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value


class Statistics(NamedTuple):
    """How a recorded function has been used: calls, recordings, and instructions in all recordings together."""

    calls: int
    recordings: int
    instructions: int


class Recorded(NamedTuple):
    """A recording: what computes the result, for inputs of these names.

    `captured`: the Values that the function uses without being given them, whose numbers are read at every call, and
    static numbers that it is differentiated by. They are the last inputs. `numbers`: those that it was recorded for.
    """

    program: Program
    structure: Structure
    names: list[str]
    captured: list[Any]
    numbers: list[float]

    @property
    def labels(self) -> list[str]:
        """What all inputs are called; "" for those without a name."""
        return [*self.names, *(getattr(x, "label", "") for x in self.captured)]


class Jit:
    """A function that is recorded: see `jit`."""

    __name__ = "function"

    def __init__(
        self, f: Callable[..., Any], static_argnums: int | Iterable[int], static_argnames: str | Iterable[str]
    ) -> None:
        if not callable(f):
            raise TypeError(f"jit() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._argnums = _all_of(int, static_argnums, "static_argnums")
        self._argnames = _all_of(str, static_argnames, "static_argnames")
        self._parameters = Parameters(f)
        self._name_positions()
        self._recordings: dict[Any, Recorded] = {}
        self._latest: Recorded | None = None
        self._on_floats: Recorded | None = None  # for positional arguments that are plain floats
        self._calls = 0
        self._in_progress = threading.local()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for these arguments: replayed if there is a recording for their structure, else recorded first."""
        self._calls += 1
        if self._on_floats is not None and not kwargs:
            outputs = self._on_floats.program.on_floats(args)
            if outputs is not None:
                structure = self._on_floats.structure
                return outputs[0] if structure.is_scalar else structure.with_leaves(outputs)
        recorded, leaves = self._recorded(args, kwargs)
        if not recorded.captured:
            row = numpy.empty(recorded.program.inputs)
            if write(leaves, row):
                return recorded.structure.filled(recorded.program.run(row))
        operands = [*scalars(leaves), *recorded.captured]
        if any(isinstance(operand, Value) for operand in operands):
            return recorded.structure.filled(self._on_values(recorded.program, operands))
        return recorded.structure.filled(recorded.program.run(numpy.array(operands)))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        return reduced(self, (self._f, tuple(self._argnums), tuple(self._argnames)))

    def __repr__(self) -> str:
        return f"<jit of {self._f if isinstance(self._f, Recordable) else named(self._f)}>"

    @property
    def graph(self) -> Graph:
        """The graph of the latest recording, simplified, with the numbers that it was recorded for.

        Raises `ValueError` where there is none yet.
        """
        recorded = self._found()
        return Graph.record(self._roots(recorded, recorded.numbers))

    @property
    def program(self) -> Program:
        """The program of the latest recording, with names: of the arguments' numbers, and of Values that it captured.

        Raises `ValueError` where there is none yet.
        """
        recorded = self._found()
        return recorded.program.named(recorded.labels, recorded.structure.names("out"))

    def walk(self, *args: Any, **kwargs: Any) -> Walk:
        """The walk through its graph for these arguments. The result has to be one number."""
        recorded, leaves = self._recorded(args, kwargs)
        if not recorded.structure.is_scalar:
            raise TypeError(f"a walk is that to one number, and {named(self._f)} returned {recorded.structure}")
        numbers = [*scalars(leaves), *recorded.captured]
        return walk(self._roots(recorded, [primal_of(x) if isinstance(x, Value) else x for x in numbers])[0])

    @property
    def statistics(self) -> Statistics:
        """How it has been used."""
        instructions = sum(len(recorded.program) for recorded in self._recordings.values())
        return Statistics(self._calls, len(self._recordings), instructions)

    def _on_values(self, program: Program, operands: Sequence[Any]) -> Sequence[Any]:
        """The results where an operand is a Value."""
        return program(list(operands))

    @staticmethod
    def _roots(recorded: Recorded, numbers: Sequence[float]) -> list[Value]:
        """The results for these numbers as Values, made from labelled leaves."""
        leaves = [Value(number, label=label) for number, label in zip(numbers, recorded.labels, strict=True)]
        results = recorded.program(list(leaves))
        return [x if isinstance(x, Value) else Value(x) for x in results]

    def _found(self) -> Recorded:
        if self._latest is None:
            raise ValueError(f"{named(self._f)} has not been called yet, so there is no recording of it")
        return self._latest

    def _recorded(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Recorded, list[Any]]:
        """The recording for arguments like these, made if there is none; and the leaves of those that vary."""
        names = self._parameters.first(len(args))
        leaves: list[Any] = []
        key: list[Any] = []
        for i, (name, arg) in enumerate([*zip(names, args, strict=True), *sorted(kwargs.items())]):
            if (i < len(args) and i in self._argnums) or name in self._argnames:
                key.append((name, _hashable(arg, name), _kinds(arg)))
            else:
                found, structure = _flattened(arg, name, self._f)
                leaves += found
                key.append((name, structure))
        found_key = (len(args), *key)
        if found_key not in self._recordings:
            recorded = self._record(found_key, args, kwargs)
            if any(isinstance(x, Value) and level_of(x) > 0 for x in recorded.captured):
                return recorded, leaves  # it uses what belongs to a recording around this one, and serves only that
            self._recordings[found_key] = self._latest = recorded
            if self._takes_floats(self._latest, len(args), kwargs):
                self._on_floats = self._latest
        return self._recordings[found_key], leaves

    def _record(self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Recorded:
        in_progress = self._in_progress.__dict__.setdefault("keys", set())
        if key in in_progress:
            raise RecursionError(
                f"{named(self._f)} calls itself while it is being recorded, with arguments of the same structure: that "
                "would never end. Write the recursion as a loop, or give what it depends on as a static argument"
            )
        in_progress.add(key)
        try:
            return self._run(args, kwargs)
        finally:
            in_progress.discard(key)

    def _run(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Recorded:
        """Record the function for these arguments."""
        recording = Recording(strict=True)
        names: list[str] = []
        opened = []
        for i, (name, arg) in enumerate(zip(self._parameters.first(len(args)), args, strict=True)):
            opened.append(arg if i in self._argnums or name in self._argnames else recording.opened(arg, name, names))
        keywords = {
            name: arg if name in self._argnames else recording.opened(arg, name, names)
            for name, arg in sorted(kwargs.items())
        }
        count = len(recording.operands)
        places, structure = recording.run(self._f, opened, keywords)
        numbers = [primal_of(x) if isinstance(x, Value) else x for x in recording.operands]
        return Recorded(recording.tape.program(places), structure, names, recording.operands[count:], numbers)

    def _takes_floats(self, recorded: Recorded, count: int, kwargs: dict[str, Any]) -> bool:
        """Whether a recording takes numbers and nothing else, and gives numbers, not arrays."""
        if recorded.captured or kwargs or self._argnums or self._argnames:
            return False
        return recorded.names == self._parameters.first(count) and recorded.structure.has_scalars_only

    def _name_positions(self) -> None:
        """Know static arguments by name and by position, whichever they were given by."""
        try:
            parameters = inspect.signature(self._f).parameters
        except (TypeError, ValueError):
            return
        kinds = {parameter.kind for parameter in parameters.values()}
        for name in self._argnames - set(parameters):
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                raise ValueError(
                    f"static_argnames={name!r}: {named(self._f)} has the parameters {', '.join(parameters)}"
                )
        for i in self._argnums:
            if not -len(parameters) <= i < len(parameters) and inspect.Parameter.VAR_POSITIONAL not in kinds:
                raise ValueError(f"static_argnums={i}: {named(self._f)} has {len(parameters)} parameters")
        self._argnums = frozenset([i % len(parameters) if i < 0 else i for i in self._argnums])
        self._argnames |= {name for i, name in enumerate(parameters) if i in self._argnums}


def jit(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """A function that records `f` at the first call for a structure of arguments, and replays it at later ones.

    All arguments are numbers, or lists, tuples, dicts, dataclasses and arrays of them, but for those named static by
    position or name: these are hashable, and `f` is recorded anew for every value of theirs. What `f` does besides
    computing its result (printing, drawing random numbers, changing variables) happens when it is recorded, not when it
    is replayed. Values that `f` uses without being given them are read at every call; other variables, arrays too, are
    what they were when it was recorded.

    While it is recorded, `f` may compute with numbers but not ask for them. `x > 0` is a Value then, for
    `gradwalk.math.where`; a branch on it raises `RecordingError`, and so do `float(x)`, `x.data`, `range(x)`.
    The result has `.graph`, `.program`, `.walk(*args)` and `.statistics`; that of a vmapped function has `.program`,
    `.kernel` and `.lower(*args)`.

    Also raises `TypeError` where an argument or the result holds something else than numbers or a static argument
    cannot be hashed, `RecursionError` where `f` calls itself in the same way while it is recorded.

    >>> @jit
    ... def area(width, height):
    ...     return width * height
    >>> area(2.0, 3.0), area(4.0, 5.0)
    (6.0, 20.0)
    >>> area.statistics
    Statistics(calls=2, recordings=1, instructions=1)
    """
    if isinstance(f, Vmap):
        if static_argnums != () or static_argnames != ():
            raise TypeError(
                "jit() of a vmapped function takes no static arguments: give them to the function itself, by "
                "functools.partial, before vmap()"
            )
        return f.kept()
    if f is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    return Jit(f, static_argnums, static_argnames)


def _flattened(arg: Any, name: str, f: Callable[..., Any]) -> tuple[list[Any], Structure]:
    try:
        return flattened(arg, name)
    except TypeError as error:
        if isinstance(arg, numpy.ndarray):  # which cannot be static
            raise
        raise TypeError(
            f"{error}. {named(f)} can take it as a static argument: jit(f, static_argnames={name!r})"
        ) from None


def _all_of(kind: type, given: Any, what: str) -> frozenset[Any]:
    """A setting that is one int or str, or several. Raises `TypeError` where it is something else."""
    items = [given] if isinstance(given, kind) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
        raise TypeError(f"{what} takes {kind.__name__}, or several, not {given!r}")
    return frozenset(items)


def _kinds(arg: Any) -> Any:
    """What tells arguments apart that are equal: 1, 1.0 and True, or 0.0 and -0.0."""
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
