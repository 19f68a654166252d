"""`Elements`: the elements of an array that depends on numbers and single Values only, computed one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.value.modes import with_gradient

_MOST_STEPS = 32  # functions that are applied one after the other


class Elements:
    """The elements of an array that depends on no other array. They are computed when the function needs one of them.

    To take an element out of a whole array would cost more: its derivative is an array of zeros and one number.

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
