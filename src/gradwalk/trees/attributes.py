"""The dict of a Module as it is. Compiled modules use `attributes.pxd` beside this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk.nn import attributes_of


def get_attributes(module: Any) -> dict[str, Any]:
    """Return the dict of a Module, whether anybody has looked at it or not.

    Args:
        module: The Module.
    """
    return attributes_of(module)


def supports_lazy(cls: Any, looked_at: Callable[[Any], Any]) -> bool:
    """Have Modules of a class looked at where an attribute is missing, or all are asked for.

    Args:
        cls: The class.
        looked_at: What gives a Module its attributes.

    Returns:
        Whether that is so: never in Python, and in C not for classes that find attributes in their own ways.
    """
    return False
