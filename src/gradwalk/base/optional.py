"""Imports from SciPy, which is optional, when something of it is needed."""

from __future__ import annotations

import importlib
from typing import Any


def from_scipy(module: str, name: str, what: str) -> Any:
    """Import a class or a function of SciPy.

    Args:
        module: The module that has it.
        name: Its name.
        what: What needs it, for the message.

    Returns:
        The class or function.

    Raises:
        ImportError: If SciPy is not installed.
    """
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        raise ImportError(
            f"{what} needs {module}.{name}: to have it, install SciPy: pip install 'gradwalk[scipy]'"
        ) from None
