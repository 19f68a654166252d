"""Imports from SciPy, which is optional, when something of it is needed."""

from __future__ import annotations

import importlib
from typing import Any


def from_scipy(module: str, name: str, what: str) -> Any:
    """Import a class of SciPy.

    Args:
        module: The module of the class.
        name: The name of the class.
        what: The function that returns an object of the class, for the message.

    Returns:
        The class.

    Raises:
        ImportError: If SciPy is not installed.
    """
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        raise ImportError(
            f"{what} returns a {module}.{name}: to have it, install SciPy: pip install 'gradwalk[scipy]'"
        ) from None
