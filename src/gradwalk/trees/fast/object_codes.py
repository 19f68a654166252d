"""Codes of the objects that a traversal has met. Compiled modules use `object_codes.pxd` beside this file."""

from __future__ import annotations

from typing import Any


def codes_by_object() -> dict[int, int]:
    """Return an empty dict. In C this is the type of a table by address, on the stack."""
    return {}


def codes_begin(codes: dict[int, int], count: int) -> None:
    """Make room in a table.

    Args:
        codes: The table.
        count: How many objects may be met.
    """


def codes_end(codes: dict[int, int]) -> None:
    """Free a table. Python does that by itself.

    Args:
        codes: The table.
    """


def codes_agree(codes: dict[int, int], thing: object, code: int, is_new: bool) -> bool:
    """Return whether an object has the code that is expected of it. A new one is given it.

    Args:
        codes: The table.
        thing: The object, which has to stay alive.
        code: The code.
        is_new: Whether the object should not have been met before.

    Returns:
        True or False; after that the table is of no use.
    """
    if is_new:
        return codes.setdefault(id(thing), code) == code
    return codes.get(id(thing)) == code


def float_of_class(cls: Any, number: float) -> Any:
    """Return a number of a class that adds nothing to float.

    Args:
        cls: The class.
        number: The number.
    """
    return cls(number)
