"""`cached_property` without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  the name that Python's own has
    """A property that is computed at its first use, and kept in the instance.

    That of `functools` has, up to Python 3.11, one lock for all instances of a class: they would wait for each other,
    and in a process that is forked meanwhile for ever. Without it, two threads may compute the same.

    Args:
        compute: Returns the property of an instance.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        # What stands in the instance's own dictionary is found before this, which has no __set__.
        return instance.__dict__.setdefault(self._name, self._compute(instance))
