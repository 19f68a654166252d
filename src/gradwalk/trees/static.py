"""Static data in trees: objects without numbers whose meaning never changes, such as strings and members of enums.

A recording is valid only for the static data that it was made with, so treedefs contain the objects and compare them.
"""

from __future__ import annotations

import datetime
import enum
import types
from typing import Any

import numpy

# Equal objects of these types have the same meaning. Objects of their subclasses may differ although they are equal.
_BY_VALUE = frozenset([str, bytes, numpy.str_, range, slice, datetime.date, datetime.timedelta])
# An object of these types has the same meaning as long as it exists.
_BY_IDENTITY = (enum.Enum, type, type(...), types.FunctionType, types.BuiltinFunctionType, numpy.dtype, numpy.ufunc)


def is_static(item: Any) -> bool:
    """Return whether an object passes through functions as static data."""
    if type(item) not in _BY_VALUE:
        if isinstance(item, types.BuiltinFunctionType):  # also a method of an object, which may change
            return item.__self__ is None or isinstance(item.__self__, (types.ModuleType, type))
        return isinstance(item, _BY_IDENTITY)
    if type(item) is slice:
        return all(end is None or isinstance(end, (int, numpy.integer)) for end in (item.start, item.stop, item.step))
    return True


class Static:
    """A static object in a treedef."""

    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item

    def _key(self) -> Any:
        item = self.item
        if type(item) in (range, slice):  # ranges of equal elements may differ, and a slice has no hash
            return item.start, item.stop, item.step
        return item if type(item) in _BY_VALUE else id(item)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and type(self.item) is type(other.item) and bool(self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return repr(self.item)
