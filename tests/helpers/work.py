"""Count function calls as a measure of work, which does not depend on the machine's load as times do."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def count_calls(function: Callable[[], object]) -> int:
    """Return how many Python and C functions a call of `function` makes in this thread, without garbage collection."""
    count = 0

    def look(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event.endswith("call")

    before, collects = sys.getprofile(), gc.isenabled()
    gc.collect()
    gc.disable()  # it would call the finalizers of other tests' objects
    sys.setprofile(look)
    try:
        function()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return count
