"""The kinds of calls that are programs themselves, such as loops: what files hold of them, and how they are made again.

Each kind is entered by the module that defines it. So programs can be written and read whose calls know more than
programs do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gradwalk.program.code import Code

Make = Callable[[Sequence[Code], Mapping[str, Any]], Any]
M = TypeVar("M", bound=Make)

KINDS: dict[str, Make] = {}
_PASSES: list[Callable[[Code], Code]] = []


def before_writing(change: Callable[[Code], Code]) -> Callable[[Code], Code]:
    """Enter a pass that replaces calls which files do not know by others.

    Args:
        change: From a program to one that computes the same.

    Returns:
        The pass.
    """
    _PASSES.append(change)
    return change


def for_files(code: Code) -> Code:
    """Return a program as files hold it.

    Args:
        code: The program.

    Returns:
        One that computes the same.
    """
    for change in _PASSES:
        code = change(code)
    return code


def made_by(kind: str) -> Callable[[M], M]:
    """Enter a kind of call.

    Args:
        kind: What files call it.

    Returns:
        A decorator of the function that makes such a call from the programs that it consists of, which are well formed,
        and its settings, which may be anything. It raises `ProgramError` where these make no sense.
    """

    def entered(make: M) -> M:
        KINDS[kind] = make
        return make

    return entered
