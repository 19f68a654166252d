"""`Elements`: the elements of an array that depends on numbers and single Values only, computed one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.value.modes import with_gradient

_MOST_STEPS = 32  # functions that are applied one after the other


class Elements:
    """The elements of such an array, which are computed when the recorded function needs one of them.

    They are not taken out of the array: for each part that is taken, the derivative needs an array of zeros.

    Args:
        function: A function of arrays.
        operands: Its operands: numbers, Values, arrays, and the elements of other arrays.
    """

    def __init__(self, function: Callable[..., Any], operands: Sequence[Any]) -> None:
        self._function, self._operands = function, operands
        self.steps: int = 1 + max([x.steps for x in operands if isinstance(x, Elements)], default=0)

    @classmethod
    def of(cls, function: Callable[..., Any], operands: Sequence[Any]) -> Elements | None:
        """Return the elements that a function computes, or None if this takes many steps."""
        made = cls(function, operands)
        return made if made.steps <= _MOST_STEPS else None

    @cached_property
    def values(self) -> Any:
        """The elements as an array of NumPy's class. It must not be changed."""
        given = [x.values if isinstance(x, Elements) else x for x in self._operands]
        with with_gradient(), numpy.errstate(all="ignore"):  # the array was computed before
            return self._function(*given)
