"""`Effects`: the calls that a function makes for their side effects while it is recorded, such as `debug.print`.

A program runs only the instructions that its outputs depend on. So each of these calls has a token, the number -0.0,
which a recording adds to its outputs or computes with them: x + -0.0 is x for every x. Derivatives do not depend on
tokens, so they do not repeat the calls.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from gradwalk.value.value import Value

_current: ContextVar[Effects | None] = ContextVar("effects", default=None)


class Effects:
    """The tokens of the calls in one recording.

    Attributes:
        tokens: The tokens that are not on the tape yet.
        indices: The tape indices of the other tokens.
    """

    def __init__(self) -> None:
        self.tokens: list[Value] = []
        self.indices: list[int] = []

    def during(self, f: Callable[[], Any]) -> Any:
        """Call a function that adds tokens to `current_effects()`. The caller must discard the context."""
        _current.set(self)
        return f()

    def take(self) -> list[Value]:
        """Return the tokens that are not on the tape yet, and forget them."""
        tokens, self.tokens = self.tokens, []
        return tokens


def current_effects() -> Effects | None:
    """Return the effects of the innermost recording, or None if no function is being recorded."""
    return _current.get()
