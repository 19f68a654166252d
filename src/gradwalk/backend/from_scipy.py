"""What is taken from SciPy, when it is needed: it is optional."""

from __future__ import annotations

import importlib
from typing import Any


def from_scipy(module: str, name: str, what: str) -> Any:
    """A class of SciPy's. Raises `ImportError` where SciPy is not there, saying that `what` returns one."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        raise ImportError(
            f"{what} returns a {module}.{name}: to have it, install SciPy: pip install 'gradwalk[scipy]'"
        ) from None
