"""`odeint`: ordinary differential equations, with derivatives by adjoint and tangent equations."""

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
) -> Any:
    """Solve `dy/dt = func(y, t, *args)` for y at some times, as `jax.experimental.ode.odeint` does.

    The steps are those of `scipy.integrate.solve_ivp`: of RK45 in compiled code, of its other methods by SciPy itself,
    with the exact Jacobian where the method takes one. y has derivatives by `y0`, by `t`, and by all Values in `args`
    or used by `func`, to any order. Reverse mode goes back once along the solution with its adjoints, forward mode
    solves for tangents beside y, and `backward()` takes the sensitivities to all of them, which are found together.

    Args:
        func: Called with y, the time and `args`; returns the derivative of y in the structure of y, in which a list or
            tuple may stand for an array of one dimension. It is recorded once a call, as by `jit`.
        y0: y at the first time: a number, or a list, tuple, dict, dataclass or array of numbers.
        t: The times, a list or array of numbers in ascending or descending order. y is the same at times that are
            equal, and nan from a time on that is nan.
        *args: Further arguments of `func`.
        rtol: The error of a step relative to y.
        atol: The error of a step besides.
        hmax: How long a step may be.
        method: A method of `scipy.integrate.solve_ivp`: "RK45", "DOP853" or "RK23"; for stiff equations "BDF", "Radau"
            or "LSODA".

    Returns:
        y in the structure of `y0`, with a first axis for the times.

    Raises:
        RuntimeError: The steps become too small; in a batch, for one of the samples.
        ValueError: Times are not in order, or infinite; `func` returns another number of numbers than `y0` has; `y0`
            or `t` has none; a tolerance is negative, or `hmax` not positive; or SciPy knows no such method.
        TypeError: `func` returns another structure than that of `y0`, or is no function.
        RecordingError: `func` asks for a number that is not known: see `jit`.
        ImportError: The method is SciPy's, which is not installed.

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
            raise ValueError(f"{name} is {tolerance!r}: an error that is allowed is 0 or more")
    if not number(hmax, "hmax") > 0.0:
        raise ValueError(f"hmax is {hmax!r}: a step has to be longer than 0")
    program, captured, returned = recorded(func, args, y0=y0, t=0.0)
    check_structure(func, returned, treedef, "y0")
    call = Ode(program, len(times), Steps(method, rtol, atol, hmax))
    found = bind(call, [*start, *times, *captured])
    return _stacked(found, len(times), treedef)


def _times(t: Any) -> list[Any]:
    """The times, of which there is at least one."""
    times, treedef = flat(t, "t")
    if treedef.with_numbers().is_scalar or not is_row(treedef) or not times:
        raise ValueError(
            f"t of odeint is {treedef}: give the times as a list, or an array of one dimension, of numbers"
        )
    return times


def _stacked(numbers: list[Any], times: int, treedef: TreeDef) -> Any:
    """A tree of arrays whose first axis is that of the times."""
    table = of_objects(numbers, (times, treedef.size)) if any(isinstance(x, Value) for x in numbers) else None
    table = numpy.array(numbers).reshape(times, -1) if table is None else table
    shapes = [() if isinstance(shape, str) else shape for _, shape in treedef.ranges()]
    parts = [part for part, _ in treedef.ranges()]
    leaves = [table[:, part].reshape(times, *shape) for part, shape in zip(parts, shapes, strict=True)]
    return treedef.unflatten(leaves)
