"""`PreparedCall`: a fast path in C for calls whose arguments have the same structure as in an earlier call."""

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
from gradwalk.value.modes import refuses_nans

if not TYPE_CHECKING and cython.compiled:
    import cython

MISSED = object()  # the result of a call whose arguments do not have the prepared structure


@cython.final
@cython.cclass
class PreparedCall:
    """A program, with the form of the arguments that it accepts and the form of its result.

    Args:
        interpreter: The interpreter of the program.
        takes: The form of the tuple of positional arguments.
        keywords: The form of the dict of keyword arguments, or None if there are no keyword arguments.
        makes: The form of the result. If None, the result is unflattened with `treedef`.
        treedef: The treedef of the result.
        outcomes: For each condition among the last outputs of the program, whether it must hold, or the number that it
            must be equal to. The program computes the results for arguments that meet all conditions.
    """

    # The types of the fields are declared in fast_call.pxd.

    def __init__(
        self,
        interpreter: Interpreter,
        takes: form.Form,
        keywords: form.Form | None,
        makes: form.Form | None,
        treedef: TreeDef,
        outcomes: tuple[bool | float, ...] = (),
    ) -> None:
        self._interpreter = interpreter
        self._takes = takes
        self._keywords = keywords
        self._makes = makes
        self._treedef = treedef
        self._inputs = interpreter.inputs
        self._outputs = interpreter._outputs
        self._conditions = len(outcomes)
        self._outcomes = array("d", outcomes), array("i", [isinstance(outcome, bool) for outcome in outcomes])
        self._outcome = c_compat.doubles(self._outcomes[0])
        self._is_bool = c_compat.integers(self._outcomes[1])

    def result(self, args: tuple, kwargs: dict) -> Any:
        """Return the result, or `MISSED` if the arguments do not have the prepared structure or miss a condition."""
        if (self._keywords is None) != (not kwargs) or (self._conditions and refuses_nans()):
            return MISSED
        few, more = cython.declare(scratch.few_doubles), cython.declare(scratch.few_doubles)
        inputs: cython.p_double = scratch.acquire(self._inputs + 1, few)
        outputs: cython.p_double = scratch.acquire(self._outputs + 1, more)
        try:
            if not inputs or not outputs:
                raise MemoryError
            if not self._takes.read(args, inputs, None):
                return MISSED
            if self._keywords is not None and not self._keywords.read(kwargs, inputs, None):
                return MISSED
            self._interpreter._run(inputs, outputs)
            return self._built(outputs) if self._has_outcomes(outputs) else MISSED
        finally:
            scratch.release(inputs, few)
            scratch.release(outputs, more)

    def _has_outcomes(self, outputs: cython.p_double) -> cython.bint:
        """Return whether all conditions have the outcomes that they must have."""
        first: cython.int = self._outputs - self._conditions
        number: cython.double
        i: cython.int
        for i in range(self._conditions):
            number = outputs[first + i]
            if self._is_bool[i]:
                number = number != 0.0
            if number != self._outcome[i]:
                return False
        return True

    def _built(self, outputs: cython.p_double) -> object:
        """Build the result from its numbers."""
        if self._makes is not None:
            return self._makes.build(outputs)
        i: cython.int
        numbers = numpy.empty(self._outputs - self._conditions)
        number: cython.p_double = c_compat.doubles(numbers)
        for i in range(self._outputs - self._conditions):
            number[i] = outputs[i]
        return self._treedef.filled(numbers)
