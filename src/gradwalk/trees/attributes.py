"""The dict of a Module as it is. Compiled modules use `attributes.pxd` beside this file."""

from __future__ import annotations

from typing import Any

from gradwalk.nn import attributes_of


def get_attributes(module: Any) -> dict[str, Any]:
    """Return the dict of a Module, whether anybody has looked at it or not.

    Args:
        module: The Module.
    """
    return attributes_of(module)
