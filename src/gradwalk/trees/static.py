"""Static data in trees: objects without numbers whose meaning never changes, such as strings and members of enums.

A recording is valid only for the static data that it was made with, so treedefs contain the objects and compare them.
"""

from __future__ import annotations

import datetime
import enum
import types
from typing import Any

import numpy

# An object of these types is immutable, hashable, and equal only to objects with the same meaning.
_TYPES = (
    str,
    bytes,
    enum.Enum,
    range,
    slice,
    type,
    type(...),
    types.FunctionType,
    types.BuiltinFunctionType,
    numpy.dtype,
    numpy.ufunc,
    datetime.date,
    datetime.time,
    datetime.timedelta,
)


def is_static(item: Any) -> bool:
    """Return whether an object passes through functions as static data."""
    if isinstance(item, slice):
        return all(end is None or isinstance(end, (int, numpy.integer)) for end in (item.start, item.stop, item.step))
    return isinstance(item, _TYPES)


class Static:
    """A static object in a treedef."""

    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item

    def _key(self) -> Any:
        item = self.item
        return (item.start, item.stop, item.step) if isinstance(item, slice) else item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and type(self.item) is type(other.item) and bool(self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return repr(self.item)
