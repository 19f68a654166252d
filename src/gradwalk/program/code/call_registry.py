"""Registry of the call types that program files can store. Modules are imported by name when they are needed.

The modules of loops and switches import program.py, which reads files, so importing them at module level would be
circular. Importing them on demand also makes reading a file independent of earlier imports.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwalk.program.code.code import Code

Make = Callable[[Sequence[Code], Mapping[str, Any]], Any]

# Maps each call type in a file to the function that creates the call from its programs, which are validated, and its
# settings, which are not: it raises `ProgramError` for invalid settings.
KINDS = {
    "loop": "gradwalk.program.calls.loop:loop_from_file",
    "loop_back": "gradwalk.program.calls.loop:loop_vjp_from_file",
    "switch": "gradwalk.program.calls.switch:switch_from_file",
}
_PORTABLE = "gradwalk.program.calls.program_derivatives:portable"


def maker(kind: str) -> Make:
    """Return the function that reads calls of a type (a key of `KINDS`) from files."""
    make: Make = _found(KINDS[kind])
    return make


def for_files(code: Code) -> Code:
    """Return an equivalent program whose calls can all be stored in files, as far as possible."""
    if not code.calls:
        return code
    replaced: Code = _found(_PORTABLE)(code)
    return replaced


def _found(place: str) -> Any:
    """Import "module:function" and return the function."""
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)
