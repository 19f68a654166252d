"""Registry of the call types that program files can store.

The modules of loops and switches are imported on demand, by name. Importing them here would be circular, because they
import program.py, which reads files. A file can also be read without importing these modules first.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwalk.program.code.code import Code

Make = Callable[[Sequence[Code], Mapping[str, Any]], Any]

# Maps each call type in a file to the function that creates such a call from its programs and its settings. The
# programs have been validated. The settings have not: the function must raise `ProgramError` if they are invalid.
KINDS = {
    "loop": "gradwalk.program.calls.loop:loop_from_file",
    "loop_back": "gradwalk.program.calls.loop:loop_vjp_from_file",
    "switch": "gradwalk.program.calls.switch:switch_from_file",
}
_PORTABLE = "gradwalk.program.calls.program_derivatives:portable"


def maker(kind: str) -> Make:
    """Return the function that creates calls of a type, a key of `KINDS`."""
    make: Make = _found(KINDS[kind])
    return make


def for_files(code: Code) -> Code:
    """Replace calls that cannot be stored in files by equivalent instructions, where possible."""
    if not code.calls:
        return code
    replaced: Code = _found(_PORTABLE)(code)
    return replaced


def _found(place: str) -> Any:
    """Import "module:function" and return the function."""
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)
