"""`root`, `root_scalar` and `fixed_point`: SciPy's solvers, with its names, and derivatives by the equation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.base.optional import from_scipy
from gradwalk.graph.graph import Floats
from gradwalk.program.calls.program_derivatives import to_tape
from gradwalk.program.program import Program
from gradwalk.solvers.recorded import (
    bind,
    check_count,
    check_structure,
    flat,
    is_row,
    number,
    pointwise,
    recorded,
    unknowns,
)
from gradwalk.solvers.roots.implicit import Equation, Implicit, SearchedInPlace
from gradwalk.solvers.roots.traced_root_finders import brentq, newton, searched
from gradwalk.value.modes import is_staging

Tree = TypeVar("Tree")

_WITH_JACOBIAN = ("hybr", "lm")  # SciPy's other methods have no use for one
# Searches that are programs, by their names: what they are, what they start from, how many of f and its derivative they
# call, and SciPy's xtol, rtol and maxiter.
_PROGRAMS = {
    "newton": (newton, ("x0", 1), 2, 1.48e-8, 0.0, 50),
    "brentq": (brentq, ("bracket", 2), 1, 2e-12, 4.0 * numpy.finfo(float).eps, 100),
}


def root(
    fun: Callable[..., Any],
    x0: Tree,
    args: Any = (),
    method: str = "hybr",
    *,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> Tree:
    """Find x with `fun(x, *args) = 0`, by `scipy.optimize.root` and the exact Jacobian.

    The derivatives of x by Values in `args`, and by all others that `fun` uses, are those of the equation, to any
    order. By `x0` they are 0. Where the Jacobian at x is singular they are inf or nan.

    Args:
        fun: Called with x and `args`; returns as many numbers as x has. It is recorded once a call, as by `jit`.
        x0: Where the search starts: a number, or a list, tuple, dict, dataclass, Module or array of numbers.
        args: Further arguments of `fun`: a tuple, or a single one.
        method: A method of `scipy.optimize.root`.
        tol: Its tolerance.
        options: Its options.

    Returns:
        x, in the structure of `x0`.

    Raises:
        RuntimeError: The search does not converge; in a batch, for one of the samples.
        ValueError: `fun` returns another number of numbers, or SciPy knows no such method.
        RecordingError: `fun` asks for a number that is not known: see `jit`.
        ImportError: SciPy is not installed.

    Example:
        >>> from gradwalk import grad
        >>> def f(x, a):
        ...     return [x[0] ** 2 - a, x[0] * x[1] - 1.0]
        >>> [round(x, 9) for x in root(f, [1.0, 1.0], 4.0)]
        [2.0, 0.5]
        >>> round(grad(lambda a: root(f, [1.0, 1.0], a)[0])(4.0), 6)
        0.25
    """
    if not isinstance(method, str):
        raise TypeError(f'method is {method!r:.60}: give the name of one of scipy.optimize.root, such as "hybr"')
    starts, treedef = unknowns(x0, "x0")
    program, captured, _ = recorded(fun, _tuple(args), x0=x0)
    check_count(fun, len(program.outputs), len(starts))
    call = Implicit("root", Equation(program), len(starts), SystemSearch(method, tol, options))
    return treedef.filled(bind(call, [*starts, *captured]))  # type: ignore[no-any-return]


def root_scalar(
    f: Callable[..., Any],
    args: Any = (),
    method: str | None = None,
    bracket: Sequence[Any] | None = None,
    x0: Any = None,
    x1: Any = None,
    *,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
) -> Any:
    """Find the number x with `f(x, *args) = 0`, by `scipy.optimize.root_scalar` and exact derivatives.

    The derivatives of x are those of the equation: see `root`. By `bracket`, `x0` and `x1` they are 0.

    In a function that `jit` or `vmap` records, "newton" and "brentq" are programs with the same steps. There x is nan
    where the search does not converge, or `f` has one sign at both ends.

    Args:
        f: Called with x and `args`; returns a number. It is recorded once a call, as by `jit`.
        args: Further arguments of `f`: a tuple, or a single one.
        method: A method of `scipy.optimize.root_scalar`; by default "brentq" with a bracket, "secant" with `x1`, and
            "newton" else.
        bracket: Two numbers at which `f` has different signs.
        x0: Where the search starts.
        x1: A second start.
        xtol: The tolerance of x.
        rtol: Its tolerance relative to x.
        maxiter: How many iterations there may be.

    Returns:
        x.

    Raises:
        RuntimeError: The search does not converge; in a batch, for one of the samples.
        ValueError: `f` has one sign at both ends of the bracket, or there is neither a bracket nor `x0`, or the method
            needs what is not there, or is none; a bracket is not two numbers, or `x0` not one; a setting is too small.
        RecordingError: `f` asks for a number that is not known: see `jit`.
        ImportError: SciPy is not installed.

    Example:
        >>> from gradwalk import grad
        >>> cube_root = lambda a: root_scalar(lambda x: x**3 - a, bracket=[0.0, 10.0])
        >>> round(cube_root(8.0), 9), round(grad(cube_root)(8.0), 9)
        (2.0, 0.083333333)
    """
    if bracket is None and x0 is None:
        raise ValueError("root_scalar takes a bracket, or x0 to start from: root_scalar(f, bracket=[0.0, 1.0])")
    if method is not None and not isinstance(method, str):
        raise TypeError(f'method is {method!r:.60}: give the name of one of root_scalar, such as "brentq"')
    chosen = method or ("brentq" if bracket is not None else "newton" if x1 is None else "secant")
    starts: list[Any] = []
    where: list[tuple[str, int]] = []
    for name, tree in (("bracket", bracket), ("x0", x0), ("x1", x1)):
        numbers = [] if tree is None else _start(tree, name)
        where.append((name, len(numbers)))
        starts += numbers
    _check_settings(xtol, rtol, maxiter, least_rtol=_PROGRAMS[chosen][4] if chosen in _PROGRAMS else 0.0)
    program, captured, _ = recorded(f, _tuple(args), x=0.0)
    check_count(f, len(program.outputs), 1)
    search = ScalarSearch(chosen, where, {"xtol": xtol, "rtol": rtol, "maxiter": maxiter})
    call = Implicit("root_scalar", Equation(program), len(starts), search)
    return bind(search.in_place(call) if is_staging() else call, [*starts, *captured])[0]


def fixed_point(
    func: Callable[..., Any],
    x0: Tree,
    args: Any = (),
    xtol: float = 1e-8,
    maxiter: int = 500,
    method: str = "del2",
) -> Tree:
    """Find x with `x = func(x, *args)`, by `scipy.optimize.fixed_point`.

    The derivatives of x are those of the equation `x - func(x, *args) = 0`: see `root`.

    Args:
        func: Called with x and `args`; returns x in its structure, in which a list or tuple may stand for an
            array of one dimension. It is recorded once a call, as by `jit`.
        x0: Where the iteration starts: a number, or a list, tuple, dict, dataclass, Module or array of numbers.
        args: Further arguments of `func`: a tuple, or a single one.
        xtol: By how much x may change at last, relative to x.
        maxiter: How many iterations there may be.
        method: "del2" for Steffensen's acceleration of each number by itself, "iteration" for none.

    Returns:
        x, in the structure of `x0`.

    Raises:
        RuntimeError: The iteration does not converge; in a batch, for one of the samples.
        ValueError: `func` returns another number of numbers, or the method is none.
        TypeError: `func` returns another structure than that of `x0`.
        RecordingError: `func` asks for a number that is not known: see `jit`.
        ImportError: SciPy is not installed.

    Example:
        >>> from gradwalk import grad, math
        >>> half = lambda a: fixed_point(lambda x: a * math.cos(x), 1.0)
        >>> round(half(1.0), 9), round(grad(half)(1.0), 9)
        (0.739085133, 0.441610792)
    """
    if method not in ("del2", "iteration"):
        raise ValueError(f'method is {method!r:.60}: fixed_point takes "del2" or "iteration"')
    _check_maxiter(maxiter)
    starts, treedef = unknowns(x0, "x0")
    program, captured, returned = recorded(func, _tuple(args), x0=x0)
    check_structure(func, returned, treedef, "x0")
    search = Iteration(program, xtol, maxiter, method)
    call = Implicit("fixed_point", Equation(without(program)), len(starts), search)
    return treedef.filled(bind(call, [*starts, *captured]))  # type: ignore[no-any-return]


def without(program: Program) -> Program:
    """Return what is 0 at a fixed point: x less what a program makes of it.

    Args:
        program: The program of x and more.

    Returns:
        The program of the differences.
    """
    tape, inputs, outputs = to_tape(program)
    return tape.program([tape.append("sub", x, y) for x, y in zip(inputs, outputs, strict=False)])


@dataclasses.dataclass(frozen=True)
class SystemSearch:
    """`scipy.optimize.root`.

    Attributes:
        method: Its method.
        tol: Its tolerance.
        options: Its options.
    """

    method: str
    tol: float | None
    options: dict[str, Any] | None

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Return x for an equation, where the search starts, and its parameters."""
        solve = from_scipy("scipy.optimize", "root", "root()")
        known: dict[str, Any] = {"method": self.method, "tol": self.tol, "options": self.options}
        if self.method in _WITH_JACOBIAN:
            jacobian = pointwise(equation.jacobian, params)
            known["jac"] = lambda x: jacobian(x).reshape(equation.size, equation.size)
        found = solve(pointwise(equation.residual, params), starts, **known)
        if not found.success:
            raise RuntimeError(
                f"root does not converge by {self.method}: {' '.join(found.message.split())} The residuals at "
                f"x = {numpy.round(found.x, 6).tolist()!s:.60} are {found.fun.tolist()!s:.60}. Give an x0 that is "
                'nearer to the root, another method, such as "lm", or options={"maxfev": ...}'
            )
        x: Floats = found.x
        return x


@dataclasses.dataclass(frozen=True)
class ScalarSearch:
    """`scipy.optimize.root_scalar`.

    Attributes:
        method: Its method.
        where: What the numbers are that it starts from: for each argument its name, and how many numbers it has.
        settings: Its other keyword arguments.
    """

    method: str
    where: list[tuple[str, int]]
    settings: dict[str, Any]

    def in_place(self, call: Implicit) -> Implicit:
        """Return a call with its search as a program, where there is one for the method.

        Args:
            call: The call.

        Returns:
            The call to record.
        """
        if self.method not in _PROGRAMS:
            return call
        search, start, used, *defaults = _PROGRAMS[self.method]
        if [given for given in self.where if given[1]] != [start]:  # SciPy leaves out what is too much, or refuses
            return call
        settings = [x if given is None else given for x, given in zip(defaults, self.settings.values(), strict=True)]
        functions = [call.equation.residual, call.equation.jacobian][:used]
        return SearchedInPlace(call, searched(search, functions, call.starts, settings))

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Return x for an equation, where the search starts, and its parameters."""
        solve = from_scipy("scipy.optimize", "root_scalar", "root_scalar()")
        known = dict(self.settings)
        begin = 0
        for name, count in self.where:
            numbers = starts[begin : begin + count].tolist()
            known[name] = numbers if name == "bracket" and numbers else numbers[0] if numbers else None
            begin += count
        if self.method in ("newton", "halley"):
            known["fprime"] = _scalar(equation.jacobian, params)
        if self.method == "halley":
            known["fprime2"] = _scalar(Equation(equation.jacobian).jacobian, params)
        found = solve(_scalar(equation.residual, params), method=self.method, **known)
        if not found.converged:
            raise RuntimeError(
                f"root_scalar does not converge by {self.method}: {found.flag} after {found.iterations} iterations, at "
                f"x = {found.root!r}. Give a bracket=[a, b] at whose ends f has different signs, an x0 that is nearer "
                "to the root, or more by maxiter=..."
            )
        return numpy.array([found.root])


@dataclasses.dataclass(frozen=True)
class Iteration:
    """`scipy.optimize.fixed_point`.

    Attributes:
        program: What makes the next x.
        xtol: Its tolerance.
        maxiter: How many iterations there may be.
        method: Its method.
    """

    program: Program
    xtol: float
    maxiter: int
    method: str

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Return x for where the iteration starts, and the parameters."""
        solve = from_scipy("scipy.optimize", "fixed_point", "fixed_point()")
        step = pointwise(self.program, params)
        try:
            found: Floats = solve(step, starts, xtol=self.xtol, maxiter=self.maxiter, method=self.method)
        except RuntimeError as error:
            raise RuntimeError(
                f"fixed_point does not converge: {error}. Give an x0 that is nearer to the fixed point, or more by "
                "maxiter=...; where func is no contraction, gradwalk.solvers.root finds x of func(x) - x = 0"
            ) from None
        return found


def _start(tree: Any, name: str) -> list[Any]:
    """The two numbers of a bracket, or the one of another start."""
    numbers, treedef = flat(tree, name)
    is_number = treedef.with_numbers().is_scalar
    if name == "bracket" and (is_number or len(numbers) != 2 or not is_row(treedef)):
        raise ValueError(f"bracket is {treedef}: it takes two numbers, as in root_scalar(f, bracket=[0.0, 1.0])")
    if name != "bracket" and not is_number:
        raise ValueError(f"{name} is {treedef}: it takes one number, as in root_scalar(f, {name}=1.0)")
    return numbers


def _check_settings(xtol: Any, rtol: Any, maxiter: Any, least_rtol: float) -> None:
    """Refuse what SciPy refuses, which is not called for a program."""
    if xtol is not None and not number(xtol, "xtol") > 0.0:
        raise ValueError(f"xtol is {xtol!r}: a tolerance of x is more than 0")
    if rtol is not None and not number(rtol, "rtol") >= least_rtol:
        raise ValueError(f"rtol is {rtol!r}: a tolerance relative to x is {least_rtol:g} or more")
    if maxiter is not None:
        _check_maxiter(maxiter)


def _check_maxiter(maxiter: Any) -> None:
    if not isinstance(maxiter, (int, numpy.integer)) or isinstance(maxiter, bool):
        raise TypeError(f"maxiter is {maxiter!r:.60}, a {type(maxiter).__name__}: give an int")
    if maxiter < 1:
        raise ValueError(f"maxiter is {maxiter}: there is at least one iteration")


def _scalar(program: Program, params: Floats) -> Callable[[float], float]:
    f = pointwise(program, params)
    return lambda x: float(f(x)[0])


def _tuple(args: Any) -> tuple[Any, ...]:
    """Further arguments as a tuple, as SciPy takes them: a single one may stand for itself."""
    return args if isinstance(args, tuple) else (args,)
