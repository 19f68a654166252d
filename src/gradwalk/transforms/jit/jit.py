"""`jit`: record a function on the first call and replay it as compiled instructions on later calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, overload

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.native.machine_code import checked_policy
from gradwalk.transforms.jit.jit_branches import JitBranches
from gradwalk.transforms.jit.jit_class import Jit

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(f: Vmap[P], *, backend: str | None = None, contract: bool = False) -> Vmap[P]: ...  # type: ignore[overload-overlap]  # a Vmap is a function too
@overload
def jit(
    f: Callable[P, R],
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
    branches: str = "refuse",
    backend: str | None = None,
    contract: bool = False,
) -> Jit[P, R]: ...
@overload
def jit(
    f: None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
    branches: str = "refuse",
    backend: str | None = None,
    contract: bool = False,
) -> Callable[[Callable[P, R]], Jit[P, R]]: ...
def jit(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
    branches: str = "refuse",
    backend: str | None = None,
    contract: bool = False,
) -> Any:
    """Record a function on the first call for each structure of arguments, and replay the recording on later calls.

    Side effects of `f` (printing, drawing random numbers, assigning variables) happen only while it is recorded.
    Values that `f` captures are read on every call; other captured variables, including arrays, keep the contents they
    had while recording.

    While it is recorded, `f` may compute with its arguments but not read their numbers: `x > 0` is a Value, to be used
    with `gradwalk.math.where`. A Python branch on it raises `RecordingError`, as do `float(x)`, `x.data` and
    `range(x)`.

    The 128 most recently used recordings are cached, fewer if they are very long. A function that is recorded over and
    over emits a `RecordingWarning` that gives the reason.

    Args:
        f: A function of numbers, or of lists, tuples, dicts, dataclasses, Modules and arrays of them; or a vmapped
            function. Omit it to use `jit` as a decorator with arguments, as in `@jit(static_argnames="steps")`.
        static_argnums: Positions of static arguments. They must be hashable and need not be numbers; `f` is recorded
            for each of their values.
        static_argnames: Names of static arguments.
        branches: If `f` branches on a number, as in `if x > 0`, "refuse" raises an error and "record" records the path
            taken for these arguments. A recorded path is replayed for other arguments if all its conditions have the
            same outcomes; otherwise another path is tried or recorded. Each path is a separate recording, and so is
            each number of iterations of a `while`: `gradwalk.loops` puts all branches or iterations in one recording.
        backend: None compiles code that has run often to machine code in a background thread, if the extra `native` is
            installed; for batches, machine code is not used where it measures slower. "llvm" compiles at the first
            call, which waits for it. "lanes" never compiles. The results are bitwise equal.
        contract: Whether machine code may contract a product and a sum to a fused multiply-add. This is faster, but
            results may differ in the last bits once the machine code is used.

    Returns:
        A function with the signature of `f` and the attributes `.graph`, `.program`, `.walk(*args)` and `.statistics`;
        for a vmapped function `.program`, `.kernel`, `.statistics` and `.lower(*args)`. `.statistics.backends` lists
        the backend of each part of the latest recording, and the reason. The function raises `TypeError` if an argument
        or the result holds anything but numbers or a static argument is not hashable, and `RecursionError` if `f` calls
        itself with the same structure of arguments while it is recorded.

    Raises:
        TypeError: `f` is not callable, or `f` is vmapped and there are static arguments or branches to record.
        ValueError: A static name or position does not match a parameter of `f`, or `branches` or `backend` is unknown.
        ImportError: The backend is "llvm" and llvmlite is not installed.

    Example:
        >>> @jit
        ... def area(width, height):
        ...     return width * height
        >>> area(2.0, 3.0), area(4.0, 5.0)
        (6.0, 20.0)
        >>> area.statistics
        Statistics(calls=2, recordings=1, instructions=1, forgotten=0, written=1)
        >>> @jit(branches="record")
        ... def tax(income):
        ...     return 0.2 * income if income < 100 else 0.3 * income - 10
        >>> tax(50.0), tax(150.0), tax(60.0)
        (10.0, 35.0, 12.0)
        >>> tax.statistics.recordings
        2
    """
    if branches not in ("refuse", "record"):
        raise ValueError(f'branches must be "refuse" or "record", got {branches!r}')
    policy = checked_policy(backend, contract)
    if isinstance(f, Vmap):
        if static_argnums != () or static_argnames != ():
            raise TypeError(
                "jit() of a vmapped function takes no static arguments: bind them with functools.partial before "
                "calling vmap()"
            )
        if branches == "record":
            raise TypeError(
                'jit() of a vmapped function does not support branches="record", as each sample may take a different '
                "branch: use gradwalk.loops.cond or gradwalk.math.where"
            )
        return f.kept(policy)
    if f is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            branches=branches,
            backend=backend,
            contract=contract,
        )
    kind = JitBranches if branches == "record" else Jit
    return kind(f, static_argnums, static_argnames, policy)
