"""Print and inspect numbers in recorded functions, with the interface of `jax.debug`.

`jit` and `vmap` record a function: an ordinary `print` in the function runs during the recording only, and shows Values
without numbers. The functions of this module become instructions of the recording and run every time it is replayed,
with the current numbers.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from gradwalk.base.jax_names import DEBUG, missing
from gradwalk.program.calls.callback import Callback, CallbackArguments
from gradwalk.program.tracing.effects import current_effects
from gradwalk.program.tracing.trace import display_name
from gradwalk.value.modes import is_staging

__all__ = ["callback", "print"]


def callback(callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Call a Python function with the numbers of Values every time a recorded function runs.

    Under `vmap`, `callback` is called once per sample. If a recorded function differentiates a function that calls
    `callback`, the call is still made once per run, and it is made even if no result depends on it. The functions of
    `gradwalk.solvers` make the call each time that they evaluate their argument. Programs with callbacks cannot be
    compiled to machine code or saved to a file.

    Args:
        callback: The function. Its return value is ignored.
        *args: Arguments of the function: trees in which Values are replaced by their numbers. Arrays with Values become
            float64 arrays.
        ordered: Ignored; accepted for compatibility with JAX. Calls are always made in program order.
        **kwargs: Keyword arguments of the function.

    Raises:
        TypeError: `callback` is not callable.

    Example:
        >>> from gradwalk import jit
        >>> seen = []
        >>> @jit
        ... def double(x):
        ...     callback(seen.append, 2.0 * x)
        ...     return 2.0 * x
        >>> double(1.0), double(3.0), seen
        (2.0, 6.0, [2.0, 6.0])
    """
    del ordered
    if not callable(callback):
        raise TypeError(f"callback must be a function, got {type(callback).__name__}: {callback!r:.60}")
    _call(f"debug.callback of {display_name(callback)}", callback, args, kwargs)


def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print numbers every time a recorded function runs: `print(fmt.format(*args, **kwargs))`.

    See `callback` for batches, derivatives and loops.

    Args:
        fmt: A format string, as for `str.format`.
        *args: Positional arguments for the format: numbers, Values, or trees of them.
        ordered: Ignored; accepted for compatibility with JAX. Lines are always printed in program order.
        **kwargs: Keyword arguments for the format.

    Raises:
        IndexError: The format has more fields than there are arguments.

    Example:
        >>> from gradwalk import grad, jit
        >>> @jit
        ... def square(x):
        ...     print("x = {}, x² = {square:.1f}", x, square=x * x)
        ...     return x * x
        >>> square(3.0)
        x = 3.0, x² = 9.0
        9.0
        >>> jit(grad(square))(5.0)
        x = 5.0, x² = 25.0
        10.0
    """
    del ordered
    _call("debug.print", lambda *args, **kwargs: builtins.print(fmt.format(*args, **kwargs)), args, kwargs)


def _call(name: str, f: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
    """Call a function now or, in a recorded function, every time it runs."""
    arguments = CallbackArguments(args, kwargs)
    effects = current_effects()
    # The token of the last call is an operand, so that calls are made in program order. The first call has another
    # operand instead, because a Value without operands would be a constant.
    last: list[Any] = effects.tokens[-1:] if effects and is_staging() else []
    operands = [*(last or [0.0]), *arguments.operands]
    arguments.operands = []  # the call must not keep the Values alive

    def called(numbers: list[float]) -> None:
        args, kwargs = arguments.filled(numbers[1:])
        f(*args, **kwargs)

    Callback(name, called).values(operands)


def __getattr__(name: str) -> Any:
    """Raise `AttributeError`, with a replacement for a name of `jax.debug`."""
    raise missing(__name__, name, DEBUG)
