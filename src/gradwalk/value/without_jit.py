"""`disable_jit`: a mode in which recorded functions run as ordinary Python functions."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from gradwalk.value.modes import Setting, value_of

_disabling_jit: ContextVar[tuple[Any, ...]] = ContextVar("disabling_jit", default=())


def disable_jit(disable: bool = True) -> Setting:
    """Call functions of `jit` and `checkpoint` as ordinary Python functions, to debug them.

    The functions then get the caller's arguments, so that `print` shows numbers and debuggers can step through them.
    Loops of `gradwalk.loops` run step by step, unless an enclosing function is recorded. `vmap` still records.

    Args:
        disable: False to enable recordings again, inside of another `disable_jit()`.

    Returns:
        A context manager, which can also decorate a function. It does not affect threads that are already running.

    Example:
        >>> from gradwalk import jit
        >>> shout = jit(lambda x: print(x) or 2.0 * x)
        >>> with disable_jit():
        ...     shout(3.0)
        3.0
        6.0
    """
    return Setting(_disabling_jit, disable, is_switch=True)


def is_jit_disabled() -> bool:
    """Return whether `disable_jit()` is in effect in this context."""
    return value_of(_disabling_jit, False) is True
