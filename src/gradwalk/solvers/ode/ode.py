"""`odeint`: solutions of ordinary differential equations, differentiated by adjoint and tangent equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.solvers.ode.ode_calls import Ode
from gradwalk.solvers.ode.ode_steps import Steps
from gradwalk.solvers.recorded import bind, check_structure, flat, is_row, number, recorded, unknowns
from gradwalk.trees.tree import TreeDef
from gradwalk.value.arrays import of_objects
from gradwalk.value.value import Value


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    hmax: float = numpy.inf,
    method: str = "RK45",
    progress: bool = False,
) -> Any:
    """Solve `dy/dt = func(y, t, *args)` and return y at the given times, as `jax.experimental.ode.odeint` does.

    RK45 runs in compiled code. The other methods run in SciPy; methods that use a Jacobian get the exact one.

    y can be differentiated to any order with respect to `y0`, `t`, and all Values in `args` or captured by `func`.
    Reverse mode integrates the adjoint equation backward along the solution. Forward mode integrates the tangents
    together with y. `backward()` integrates y together with the sensitivities of y to `y0` and to all these Values.

    Args:
        func: Function `func(y, t, *args)` that returns dy/dt in the structure of y. It may return a list or tuple
            instead of a one-dimensional array. It is recorded once per call of `odeint`, as by `jit`.
        y0: y at the first time: a number, or a list, tuple, dict, dataclass or array of numbers.
        t: The times, a list or array of numbers in ascending or descending order. Equal times are allowed. If a time
            is nan, y is nan at this time and at all times after it.
        *args: Further arguments of `func`.
        rtol: Relative tolerance of the error per step.
        atol: Absolute tolerance of the error per step.
        hmax: Maximum step length.
        method: A method of `scipy.integrate.solve_ivp`: "RK45", "DOP853" or "RK23"; for stiff equations "BDF", "Radau"
            or "LSODA".
        progress: Whether to show a progress bar of t. Requires tqdm: pip install 'gradwalk[progress]'.

    Returns:
        y in the structure of `y0`, with an additional leading axis for the times.

    Raises:
        RuntimeError: The integration fails, for example because the steps become too small (in a batch: for at least
            one sample).
        ValueError: A time is infinite, or the times are not in order; `func` returns more or fewer numbers than `y0`
            contains; `y0` or `t` is empty; a tolerance is negative; `hmax` is not positive; or SciPy does not know the
            method.
        TypeError: `func` is not callable, or its result does not have the structure of `y0`.
        RecordingError: `func` branches on a Value or converts a Value to a float: see `jit`.
        ImportError: The method is not RK45, and SciPy is not installed.

    Example:
        >>> from gradwalk import grad
        >>> def decayed(rate):
        ...     return odeint(lambda y, t, rate: -rate * y, 2.0, [0.0, 1.0], rate)[-1]
        >>> round(float(decayed(0.5)), 6), round(grad(decayed)(0.5), 6)
        (1.213061, -1.213061)
    """
    start, treedef = unknowns(y0, "y0")
    times = _times(t)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not number(tolerance, name) >= 0.0:
            raise ValueError(f"{name} must be >= 0, got {tolerance!r}")
    if not number(hmax, "hmax") > 0.0:
        raise ValueError(f"hmax must be > 0, got {hmax!r}")
    program, captured, returned = recorded(func, args, y0=y0, t=0.0)
    check_structure(func, returned, treedef, "y0")
    call = Ode(program, len(times), Steps(method, rtol, atol, hmax, progress))
    found = bind(call, [*start, *times, *captured])
    return _stacked(found, len(times), treedef)


def _times(t: Any) -> list[Any]:
    """Return the times as a list; raise `ValueError` if `t` is empty or not one-dimensional."""
    times, treedef = flat(t, "t")
    if treedef.with_numbers().is_scalar or not is_row(treedef) or not times:
        raise ValueError(f"t of odeint must be a nonempty list or one-dimensional array of numbers, got {treedef}")
    return times


def _stacked(numbers: list[Any], times: int, treedef: TreeDef) -> Any:
    """Return a tree of arrays with the structure of `treedef` and a leading axis for the times."""
    table = of_objects(numbers, (times, treedef.size)) if any(isinstance(x, Value) for x in numbers) else None
    table = numpy.array(numbers).reshape(times, -1) if table is None else table
    shapes = [() if isinstance(shape, str) else shape for _, shape in treedef.ranges()]
    parts = [part for part, _ in treedef.ranges()]
    leaves = [table[:, part].reshape(times, *shape) for part, shape in zip(parts, shapes, strict=True)]
    return treedef.unflatten(leaves)
