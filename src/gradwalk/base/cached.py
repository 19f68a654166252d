"""`cached_property` without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  named like functools.cached_property
    """A property that is computed at first use and cached in the instance.

    Up to Python 3.11, `functools.cached_property` has one lock for all instances of a class. So threads wait for each
    other, and a process that is forked while the lock is held may deadlock. This class does not lock, so two threads
    may compute the same value.
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
        # Without __set__, the instance's dict has priority over this descriptor, so later reads find the value there.
        return instance.__dict__.setdefault(self._name, self._compute(instance))
