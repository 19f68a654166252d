"""`Effects`: the calls that a function makes for their side effects while it is recorded, such as `debug.print`.

A program runs only the instructions that its outputs depend on. So each of these calls returns a token, the number
-0.0, which is added to all results of the function: x + -0.0 is x for every x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from gradwalk.program.tracing.array_handle import ArrayHandle
from gradwalk.value.value import Value

_current: ContextVar[Effects | None] = ContextVar("effects", default=None)


class Effects:
    """The tokens of the calls in one recording.

    Args:
        inputs: The Values for the inputs of the recording.

    Attributes:
        tokens: The tokens.
        is_step: Whether the function is the step of a loop, whose tokens are not added to its results.
        indices: The tape indices of the tokens of a step.
    """

    def __init__(self, inputs: Sequence[Value]) -> None:
        self._inputs = inputs
        self._outer = _current.get()
        self.tokens: list[Value] = []
        self.is_step = False
        self.indices: list[int] = []

    @property
    def anchor(self) -> list[Value]:
        """An input of this or an enclosing recording, as a list of one Value; an empty list if there is none.

        Each call has the anchor as an operand, so that derivatives depend on the call.
        """
        effects: Effects | None = self
        while effects is not None:
            if effects._inputs:
                first = effects._inputs[0]
                return [first.first() if isinstance(first, ArrayHandle) else first]
            effects = effects._outer
        return []

    def during(self, f: Callable[[], Any]) -> Any:
        """Call a function that adds tokens to `current_effects()`. The caller must discard the context."""
        _current.set(self)
        return f()

    def take(self) -> list[Value]:
        """Return the tokens, and forget them."""
        tokens, self.tokens = self.tokens, []
        return tokens


def current_effects() -> Effects | None:
    """Return the effects of the innermost recording, or None if no function is being recorded."""
    return _current.get()
