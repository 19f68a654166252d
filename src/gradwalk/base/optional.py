"""Lazy imports from SciPy, which is an optional dependency."""

from __future__ import annotations

import importlib
from typing import Any


def from_scipy(module: str, name: str, what: str) -> Any:
    """Import a class or function of SciPy; the error message says that `what` needs it."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        raise ImportError(f"{what} needs {module}.{name}; install SciPy: pip install 'gradwalk[scipy]'") from None
