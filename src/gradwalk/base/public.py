"""`public`: an object with a public name, for modules below the one that defines it."""

from __future__ import annotations

import sys
from typing import Any


def public(path: str) -> Any:
    """Return the object with a name such as "numpy.linalg.inv" in gradwalk, or None if there is none.

    Its module is imported at the first use, like the names in `gradwalk/__init__.py`.
    """
    found: Any = sys.modules["gradwalk"]
    for name in path.split("."):
        found = getattr(found, name, None)
    return found
