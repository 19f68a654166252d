"""`jit`: record a function on the first call and replay it as compiled instructions on later calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, overload

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.native.policy import checked_policy
from gradwalk.transforms.jit.jit_class import Jit

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(  # type: ignore[overload-overlap]  # a Vmap is a function too
    f: Vmap[P],
    *,
    branches: str = "record",
    backend: str | None = None,
    contract: bool = False,
    memory: float | None = None,
) -> Vmap[P]: ...
@overload
def jit(
    f: Callable[P, R],
    *,
    static_argnums: int | Iterable[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Iterable[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    branches: str = "record",
    backend: str | None = None,
    contract: bool = False,
    memory: float | None = None,
) -> Jit[P, R]: ...
@overload
def jit(
    f: None = None,
    *,
    static_argnums: int | Iterable[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Iterable[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    branches: str = "record",
    backend: str | None = None,
    contract: bool = False,
    memory: float | None = None,
) -> Callable[[Callable[P, R]], Jit[P, R]]: ...
def jit(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Iterable[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    branches: str = "record",
    backend: str | None = None,
    contract: bool = False,
    memory: float | None = None,
) -> Any:
    """Record a function on the first call for each structure of arguments, and replay the recording on later calls.

    Side effects of `f` (printing, drawing random numbers, assigning variables) happen only while it is recorded. A
    captured `Value` is read again on every call. Any other captured variable, such as an array, keeps the contents that
    it had during the recording.

    During the recording, the arguments are Values. A branch on them, such as `if x > 0`, is recorded: the recording is
    used for other arguments only if all its conditions have the same outcomes. Otherwise another recording is used, or
    `f` is recorded again. The results of `int(x)`, `round(x, 2)`, `x.is_integer()` and string formatting are conditions
    as well.
    To put all branches or iterations in one recording, use `gradwalk.loops` and `gradwalk.math.where`.
    `float(x)`, `x.data` and `range(x)` always raise `RecordingError`.

    The 128 most recently used recordings are cached, fewer if they are very long. A function that is recorded
    repeatedly emits a `RecordingWarning` that gives the reason.

    Args:
        f: A function of numbers, or of lists, tuples, dicts, dataclasses, Modules and arrays of them; or a vmapped
            function. Omit it to use `jit` as a decorator with arguments, as in `@jit(static_argnames="steps")`.
        static_argnums: Positions of static arguments. They must be hashable and need not be numbers; `f` is recorded
            once for each combination of their values.
        static_argnames: Names of static arguments.
        donate_argnums: Ignored; accepted for compatibility with JAX. Recorded functions never write to their arguments.
        donate_argnames: Ignored, like `donate_argnums`.
        branches: "record" (the default) records each path through the branches. "refuse" raises `RecordingError` if `f`
            branches on a number; the message shows the branch rewritten with `gradwalk.loops`, if possible.
        backend: If None (the default), code that has run often is compiled to machine code in a background thread, if
            the extra `native` is installed. A batch uses machine code only if the machine code was measured to be
            faster than the interpreter. "llvm" compiles during the first call. "lanes" uses the interpreter and never
            compiles. All backends return bitwise identical results.
        contract: Whether machine code may contract a product and a sum to a fused multiply-add, divide several
            numbers by one number by multiplying them by its reciprocal, call vectorized versions of functions such as
            `exp` for several iterations of a loop at once, and compute a short batch inside of `f` one sample after the
            other, in the same function. This is faster if such operations can run at once, but not if each must wait
            for the one before it. The last bits of the results may change once the machine code is used. Each such
            quotient is at most 1.5 units in the last place from the exact quotient, unless the divisor is above 2**1022
            or subnormal, and each result of a vectorized function is at most 4 units from the exact one (libmvec of
            glibc; other systems call no vectorized functions outside of batches).
        memory: The number of bytes that machine code of a loop may store for its reverse pass, for each thread; None
            for 256 MiB. For one sample, it limits the intermediates that are stored to avoid computing them again. The
            carries are limited by the `checkpoint` of the loop. In a batch, it limits the carries, too.

    Returns:
        A function with the signature of `f`. Its attributes describe the latest recording: `.program` is the list of
        instructions, `.graph` the graph of operations, `.statistics` counts calls and recordings, and
        `.statistics.backends` gives the backend of each part, with the reason. `.walk(*args)` walks through a call step
        by step. `.lower(*args)` records without running. A vmapped function has `.program`, `.kernel`, `.statistics`
        and `.lower(*args)`.

    Raises:
        TypeError: `f` is not callable, `memory` is not a number, or `f` is vmapped and static arguments are given. When
            the returned function is called: an argument or the result contains something other than numbers, or a
            static argument is not hashable.
        ValueError: A static name or position does not match a parameter of `f`, `branches` or `backend` is unknown, or
            `memory` is negative.
        ImportError: The backend is "llvm" and llvmlite is not installed.
        RecursionError: `f` calls the returned function while `f` is being recorded, with arguments of the same
            structure.

    Example:
        >>> @jit
        ... def area(width, height):
        ...     return width * height
        >>> area(2.0, 3.0), area(4.0, 5.0)
        (6.0, 20.0)
        >>> area.statistics
        Statistics(calls=2, recordings=1, instructions=1, forgotten=0, written=1)
        >>> @jit
        ... def tax(income):
        ...     return 0.2 * income if income < 100 else 0.3 * income - 10
        >>> tax(50.0), tax(150.0), tax(60.0)
        (10.0, 35.0, 12.0)
        >>> tax.statistics.recordings
        2
    """
    del donate_argnums, donate_argnames
    static_argnums = () if static_argnums is None else static_argnums
    static_argnames = () if static_argnames is None else static_argnames
    if branches not in ("refuse", "record"):
        raise ValueError(f'branches must be "refuse" or "record", got {branches!r}')
    policy = checked_policy(backend, contract, memory)
    if isinstance(f, Vmap):
        if static_argnums != () or static_argnames != ():
            raise TypeError(
                "jit() of a vmapped function takes no static arguments: bind them with functools.partial before "
                "calling vmap()"
            )
        return f.kept(policy, follows_branches=branches == "record")
    if f is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            branches=branches,
            backend=backend,
            contract=contract,
            memory=memory,
        )
    return Jit(f, static_argnums, static_argnames, policy, branches == "record")
