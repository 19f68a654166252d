"""`cached_property` without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  named like functools.cached_property
    """A property that is computed at first use and cached in the instance.

    Until Python 3.11, `functools.cached_property` has one lock for all instances of a class. Threads wait for each
    other there, and a process forked meanwhile deadlocks. Without a lock, two threads may compute the same value.
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
        # Later reads find the value in the instance's dict first, as this descriptor has no __set__.
        return instance.__dict__.setdefault(self._name, self._compute(instance))
