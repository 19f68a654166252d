"""Find the code that reads and writes calls in files by name, so that no file depends on earlier imports.

Programs contain loops and branches, whose modules import the module of programs. So files look these modules up here
and import them when a file has such a call.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwalk.program.code.code import Code

Make = Callable[[Sequence[Code], Mapping[str, Any]], Any]

# For each kind of call in a file, the function that makes a call from the programs that it consists of, which are well
# formed, and from its settings, which may be anything. It raises `ProgramError` for settings that make no sense.
KINDS = {
    "loop": "gradwalk.program.calls.loop:loop_from_file",
    "loop_back": "gradwalk.program.calls.loop:loop_vjp_from_file",
    "switch": "gradwalk.program.calls.switch:switch_from_file",
}
_PORTABLE = "gradwalk.program.calls.program_derivatives:portable"


def maker(kind: str) -> Make:
    """Return the function that reads calls of a kind from files.

    Args:
        kind: One of `KINDS`.

    Returns:
        The function.
    """
    make: Make = _found(KINDS[kind])
    return make


def for_files(code: Code) -> Code:
    """Return a program whose calls are all of kinds that files know, as far as there is one.

    Args:
        code: The program.

    Returns:
        A program that computes the same.
    """
    if not code.calls:
        return code
    replaced: Code = _found(_PORTABLE)(code)
    return replaced


def _found(place: str) -> Any:
    """Import the module and return the function of "module:function"."""
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)
