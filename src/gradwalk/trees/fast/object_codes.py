"""Tables that assign codes to the objects in a traversal. Compiled modules use the C versions in `object_codes.pxd`."""

from __future__ import annotations

from typing import Any


def codes_by_object() -> dict[int, int]:
    """Return an empty dict from ids to codes. In C, this name is the type of a hash table on the stack."""
    return {}


def codes_begin(codes: dict[int, int], count: int) -> None:
    """Initialize a table for at most `count` objects in C; do nothing in Python."""


def codes_end(codes: dict[int, int]) -> None:
    """Free a table in C; do nothing in Python."""


def codes_agree(codes: dict[int, int], thing: object, code: int, is_new: bool) -> bool:
    """Return whether an object has the expected code in a table.

    If `is_new` is true, the object is expected to have no code yet, and gets this code. Objects must stay alive while
    the table is used. After a result of False, the table must not be used again.
    """
    if is_new:
        return codes.setdefault(id(thing), code) == code
    return codes.get(id(thing)) == code


def float_of_class(cls: Any, number: float) -> Any:
    """Return a number as an instance of `cls`, a subclass of float without additional fields."""
    return cls(number)
