"""`PreparedCall`: a fast path in C for calls whose arguments have the same form as in an earlier call."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.program.run import scratch
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.trees.fast import form
from gradwalk.trees.tree import TreeDef
from gradwalk.value import modes
from gradwalk.value.modes import refuses_nans
from gradwalk.value.without_jit import is_jit_disabled

if not TYPE_CHECKING and cython.compiled:
    import cython

_MOST_PATHS = 16  # of one prepared call
MISSED = object()  # the result of a call without a prepared path


@cython.final
@cython.cclass
class PreparedPath:
    """A program that computes the results for arguments that meet all its conditions, and the form of its result.

    Args:
        interpreter: The interpreter of the program.
        makes: The form of the result. If None, the result is unflattened with `treedef`.
        treedef: The treedef of the result.
        outcomes: For each condition among the last outputs of the program, whether it must hold, or the number that it
            must be equal to.
    """

    # The types of the fields of both classes are declared in fast_call.pxd.

    def __init__(
        self,
        interpreter: Interpreter,
        makes: form.Form | None,
        treedef: TreeDef,
        outcomes: tuple[bool | float, ...] = (),
    ) -> None:
        self._interpreter = interpreter
        self._makes = makes
        self._treedef = treedef
        self._outputs = interpreter._outputs
        self._conditions = len(outcomes)
        self._outcomes = array("d", outcomes), array("i", [isinstance(outcome, bool) for outcome in outcomes])
        self._outcome = c_compat.doubles(self._outcomes[0])
        self._is_bool = c_compat.integers(self._outcomes[1])

    def left_at(self, outputs: cython.p_double) -> cython.int:
        """Return the position of the first condition that has another outcome, or -1 if all conditions are met."""
        first: cython.int = self._outputs - self._conditions
        i: cython.int
        for i in range(self._conditions):
            if self._outcome_of(i, outputs[first + i]) != self._outcome[i]:
                return i
        return -1

    def follows(self, other: PreparedPath, position: cython.int, outputs: cython.p_double) -> cython.bint:
        """Return whether arguments that leave the path `other` at a condition, with these outputs, may take this path.

        The conditions before it have the outcomes that `other` has.
        """
        i: cython.int
        if self._conditions <= position:
            return False
        for i in range(position):
            if self._outcome[i] != other._outcome[i]:
                return False
        number = cython.declare(cython.double, outputs[other._outputs - other._conditions + position])
        return self._outcome[position] == other._outcome_of(position, number)

    def _outcome_of(self, i: cython.int, number: cython.double) -> cython.double:
        """Return the outcome of condition `i`, given its number."""
        if self._is_bool[i]:
            return 1.0 if number != 0.0 else 0.0
        return number

    def built(self, outputs: cython.p_double) -> object:
        """Build the result from its numbers."""
        if self._makes is not None:
            return self._makes.build(outputs)
        i: cython.int
        numbers = numpy.empty(self._outputs - self._conditions)
        number: cython.p_double = c_compat.doubles(numbers)
        for i in range(self._outputs - self._conditions):
            number[i] = outputs[i]
        return self._treedef.filled(numbers)


@cython.cclass
class Prepared:
    """Base class of fast paths for calls whose arguments have the same form as in an earlier call."""

    def result(self, args: tuple, kwargs: dict) -> Any:
        """Return the result, or `MISSED` if the fast path cannot compute it for these arguments."""
        raise NotImplementedError


@cython.final
@cython.cclass
class PreparedCall(Prepared):
    """The paths of a function for arguments of one form. They differ in the outcomes of conditions that they share.

    Args:
        takes: The form of the tuple of positional arguments.
        keywords: The form of the dict of keyword arguments, or None if there are no keyword arguments.
        path: The first path.
        key: The cache key of the arguments.

    Attributes:
        key: The cache key of the arguments.
    """

    def __init__(self, takes: form.Form, keywords: form.Form | None, path: PreparedPath, key: object = None) -> None:
        self.key = key
        self._takes = takes
        self._keywords = keywords
        self._inputs = path._interpreter.inputs
        self._paths: tuple[PreparedPath, ...] = (path,)

    def put_first(self, path: PreparedPath) -> None:
        """Try this path first from now on."""
        self._paths = (path, *[other for other in self._paths if other is not path][: _MOST_PATHS - 1])

    def result(self, args: tuple, kwargs: dict) -> Any:
        """See `Prepared.result`. The arguments may have another form or take none of the paths."""
        paths: tuple = self._paths
        path: PreparedPath = paths[0]
        if (self._keywords is None) != (not kwargs) or (path._conditions and refuses_nans()):
            return MISSED
        few, more = cython.declare(scratch.few_doubles), cython.declare(scratch.few_doubles)
        inputs: cython.p_double = scratch.acquire(self._inputs + 1, few)
        outputs: cython.p_double = scratch.acquire(_most_outputs(paths) + 1, more)
        position: cython.int
        try:
            if not inputs or not outputs:
                raise MemoryError
            if not self._takes.read(args, inputs, None):
                return MISSED
            if self._keywords is not None and not self._keywords.read(kwargs, inputs, None):
                return MISSED
            for _ in range(len(paths)):
                path._interpreter._run(inputs, outputs)
                position = path.left_at(outputs)
                if position < 0:
                    if path is not paths[0]:
                        self.put_first(path)
                    return path.built(outputs)
                found: PreparedPath | None = _next(paths, path, position, outputs)
                if found is None:
                    break
                path = found
            return MISSED
        finally:
            scratch.release(inputs, few)
            scratch.release(outputs, more)


def _most_outputs(paths: tuple) -> cython.int:
    """Return the largest number of outputs of some paths. Other threads may replace the paths of a call meanwhile."""
    most: cython.int = 0
    path: PreparedPath
    for path in paths:
        most = max(most, path._outputs)
    return most


def _next(paths: tuple, left: PreparedPath, position: cython.int, outputs: cython.p_double) -> PreparedPath | None:
    """Return a path for arguments that leave the path `left` at a condition, or None."""
    path: PreparedPath
    for path in paths:
        if path.follows(left, position, outputs):
            return path
    return None


@cython.cclass
class PreparedFunction:
    """Base class of `Jit`. It tries the prepared calls of a function, because methods in C are called faster.

    Args:
        cache: The cache of the function's recordings, with the prepared calls.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache
        self._calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result for these arguments. If they take a new path, the function is recorded first."""
        self._calls += 1
        if modes.open_switches != 0 and is_jit_disabled():
            return self._run(args, kwargs)
        prepared: Prepared
        for prepared in self._cache.prepared:
            result = prepared.result(args, kwargs)
            if result is not MISSED:
                return result
        return self._call(args, kwargs)

    def _run(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call the function itself, without a recording."""
        raise NotImplementedError

    def _call(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return the result for these arguments without a prepared call."""
        raise NotImplementedError
