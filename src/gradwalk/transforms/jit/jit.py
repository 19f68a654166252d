"""`jit`: a function that is recorded at the first call and replayed, as compiled instructions, at all later ones."""

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
    """Record a function at the first call for a structure of arguments, and replay the recording at later calls.

    What `f` does besides computing its result (printing, drawing random numbers, changing variables) happens when it
    is recorded, not when it is replayed. Values that `f` uses without being given them are read at every call; other
    variables, arrays too, are what they were when it was recorded.

    While it is recorded, `f` may compute with numbers but not ask for them. `x > 0` is a Value then, for
    `gradwalk.math.where`; a branch on it raises `RecordingError`, and so do `float(x)`, `x.data` and `range(x)`.

    Args:
        f: A function of numbers, or of lists, tuples, dicts, dataclasses, Modules and arrays of them; or what `vmap`
            returns. Leave it out to set the others by a decorator, as in `@jit(static_argnames="steps")`.
        static_argnums: Positions of static arguments. These are hashable and need not be numbers; `f` is recorded anew
            for every value of theirs.
        static_argnames: Names of static arguments.
        branches: What to do where `f` branches on a number, as in `if x > 0`: "refuse" it, or "record" the way that it
            goes for these arguments. Such a recording serves other arguments if all its conditions hold, or do not,
            as they did; otherwise another way is tried or recorded. Every way that is met is a recording of its own,
            and so is every number of times that a `while` goes round: `gradwalk.loops` has branches and loops in one.

        backend: None, so that what has run long becomes machine code, in a thread beside, where the extra `native` is
            installed and, of batches, unless it is measured to be slower; "llvm" to make it at the first call, which
            waits for it; "lanes" never to make it. Results have the same bits.
        contract: Whether machine code may round a product and a sum once, as fused instructions do. Results are then
            faster, and may differ in their last bits once it is there.

    The 128 recordings that were used last are kept, fewer where they are very long. A function that is recorded again
    and again gets a `RecordingWarning`, which says why.

    Returns:
        A function that takes what `f` takes and returns what `f` returns, with `.graph`, `.program`, `.walk(*args)`
        and `.statistics`; for a vmapped function one with `.program`, `.kernel`, `.statistics` and `.lower(*args)`. In
        `.statistics.backends` stands what runs the latest recording, or each part of it, and why. It raises
        `TypeError` where an argument or the result holds something else than numbers or a static argument cannot be
        hashed, and `RecursionError` where `f` calls itself in the same way while it is recorded.

    Raises:
        TypeError: `f` is no function, or vmapped and there are static arguments or branches to record.
        ValueError: `f` has no parameter of such a name or position, `branches` is neither of the two, or there is no
            such backend.
        ImportError: The backend is "llvm", and llvmlite is not installed.

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
        raise ValueError(f'branches is {branches!r}: it is "refuse" or "record"')
    policy = checked_policy(backend, contract)
    if isinstance(f, Vmap):
        if static_argnums != () or static_argnames != ():
            raise TypeError(
                "jit() of a vmapped function takes no static arguments: give them to the function itself, by "
                "functools.partial, before vmap()"
            )
        if branches == "record":
            raise TypeError(
                'jit() of a vmapped function cannot take branches="record": its samples go different ways. Write '
                "them with gradwalk.loops.cond or gradwalk.math.where"
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
