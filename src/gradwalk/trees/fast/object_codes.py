"""Codes of the objects met in a traversal. Compiled modules use the C versions in `object_codes.pxd`."""

from __future__ import annotations

from typing import Any


def codes_by_object() -> dict[int, int]:
    """Return an empty dict. In C this is the type of a hash table by address, on the stack."""
    return {}


def codes_begin(codes: dict[int, int], count: int) -> None:
    """Initialize a table for at most `count` objects. In Python this does nothing."""


def codes_end(codes: dict[int, int]) -> None:
    """Free a table. In Python this does nothing."""


def codes_agree(codes: dict[int, int], thing: object, code: int, is_new: bool) -> bool:
    """Return whether an object has the expected code; a new object is given the code.

    `is_new` says whether the object is expected to be new. The object must stay alive while the table is used. After
    False the table must not be used again.
    """
    if is_new:
        return codes.setdefault(id(thing), code) == code
    return codes.get(id(thing)) == code


def float_of_class(cls: Any, number: float) -> Any:
    """Return a number as an instance of a subclass of float without additional fields."""
    return cls(number)
