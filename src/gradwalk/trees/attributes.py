"""Access to a Module's `__dict__`. Compiled modules use the C versions in `attributes.pxd`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk.nn import attributes_of


def get_attributes(module: Any) -> dict[str, Any]:
    """Return the `__dict__` of a Module without materializing it."""
    return attributes_of(module)


def supports_lazy(cls: Any, looked_at: Callable[[Any], Any]) -> bool:
    """Make Modules of a class materialize themselves when an attribute is missing or `__dict__` is read.

    Returns whether this is possible. In Python, it is never possible; in C, it is possible unless the class customizes
    attribute access.
    """
    return False
