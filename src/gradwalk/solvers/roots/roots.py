"""`root`, `root_scalar` and `fixed_point`: SciPy's solvers with implicit derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.optional import from_scipy
from gradwalk.batching.progress import Advance, counter
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

_WITH_JACOBIAN = ("hybr", "lm")  # SciPy's methods that use a Jacobian
# Methods that can run as programs. An entry contains the function that records the method; the argument with the
# starting values, and the number of these values; the number of programs that the method calls (1 for f, 2 for f and
# the derivative of f); and SciPy's defaults of xtol, rtol and maxiter.
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
    progress: bool = False,
) -> Tree:
    """Find x with `fun(x, *args) = 0`, using `scipy.optimize.root` and the exact Jacobian.

    x is differentiated through the equation, to any order, with respect to the Values in `args` and the Values that
    `fun` captures. Derivatives with respect to `x0` are 0. If the Jacobian at x is singular, derivatives are inf or
    nan.

    Args:
        fun: Function `fun(x, *args)` that returns one number per unknown. It is recorded once per call, as by `jit`.
        x0: Initial guess: a number, or a list, tuple, dict, dataclass, Module or array of numbers.
        args: Further arguments of `fun`: a tuple, or a single argument.
        method: A method of `scipy.optimize.root`.
        tol: Tolerance, passed to SciPy.
        options: Options of the method, passed to SciPy.
        progress: Whether to show a progress bar that counts evaluations of `fun`. Requires tqdm:
            pip install 'gradwalk[progress]'.

    Returns:
        x, in the structure of `x0`.

    Raises:
        RuntimeError: The search does not converge (in a batch: for at least one sample).
        ValueError: `fun` does not return one number per unknown, or SciPy does not know the method.
        RecordingError: `fun` branches on a Value or converts a Value to a float: see `jit`.
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
        raise TypeError(f'method must name a method of scipy.optimize.root, such as "hybr", got {method!r:.60}')
    starts, treedef = unknowns(x0, "x0")
    program, captured, _ = recorded(fun, _tuple(args), x0=x0)
    check_count(fun, len(program.outputs), len(starts))
    call = Implicit("root", Equation(program), len(starts), SystemSearch(method, tol, options, progress))
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
    """Find a number x with `f(x, *args) = 0`, using `scipy.optimize.root_scalar` and exact derivatives.

    x is differentiated through the equation: see `root`. Derivatives with respect to `bracket`, `x0` and `x1` are 0.

    In a function that `jit` or `vmap` records, "newton" and "brentq" become part of the program and take the same steps
    as in SciPy. x is then nan if the search does not converge, or if `f` has the same sign at both ends of the bracket.

    Args:
        f: Function `f(x, *args)` that returns a number. It is recorded once per call, as by `jit`.
        args: Further arguments of `f`: a tuple, or a single argument.
        method: A method of `scipy.optimize.root_scalar`. Default: "brentq" if `bracket` is given, "secant" if `x1` is
            given, otherwise "newton".
        bracket: Two numbers at which `f` has different signs.
        x0: Initial guess.
        x1: Second initial guess.
        xtol: Absolute tolerance of x.
        rtol: Relative tolerance of x.
        maxiter: Maximum number of iterations.

    Returns:
        x.

    Raises:
        RuntimeError: The search does not converge (in a batch: for at least one sample).
        ValueError: `f` has the same sign at both ends of the bracket; neither `bracket` nor `x0` is given; SciPy does
            not know the method; the method needs an argument that is missing; `bracket` is not two numbers; `x0` or
            `x1` is not one number; or `xtol`, `rtol` or `maxiter` is too small.
        RecordingError: `f` branches on a Value or converts a Value to a float: see `jit`.
        ImportError: SciPy is not installed.

    Example:
        >>> from gradwalk import grad
        >>> cube_root = lambda a: root_scalar(lambda x: x**3 - a, bracket=[0.0, 10.0])
        >>> round(cube_root(8.0), 9), round(grad(cube_root)(8.0), 9)
        (2.0, 0.083333333)
    """
    if bracket is None and x0 is None:
        raise ValueError("root_scalar needs a bracket or an initial guess x0: root_scalar(f, bracket=[0.0, 1.0])")
    if method is not None and not isinstance(method, str):
        raise TypeError(f'method must name a method of root_scalar, such as "brentq", got {method!r:.60}')
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
    *,
    progress: bool = False,
) -> Tree:
    """Find x with `x = func(x, *args)`, using `scipy.optimize.fixed_point`.

    x is differentiated through the equation `x - func(x, *args) = 0`: see `root`.

    Args:
        func: Function `func(x, *args)` that returns the next x, in the structure of x. It may return a list or tuple
            instead of a one-dimensional array. It is recorded once per call, as by `jit`.
        x0: Initial guess: a number, or a list, tuple, dict, dataclass, Module or array of numbers.
        args: Further arguments of `func`: a tuple, or a single argument.
        xtol: Convergence tolerance for the relative change of x.
        maxiter: Maximum number of iterations.
        method: "del2" for Steffensen's acceleration of each number separately, or "iteration" for plain iteration.
        progress: Whether to show a progress bar that counts evaluations of `func`. Requires tqdm:
            pip install 'gradwalk[progress]'.

    Returns:
        x, in the structure of `x0`.

    Raises:
        RuntimeError: The iteration does not converge (in a batch: for at least one sample).
        ValueError: `func` returns more or fewer numbers than `x0` contains, or the method is unknown.
        TypeError: The result of `func` does not have the structure of `x0`.
        RecordingError: `func` branches on a Value or converts a Value to a float: see `jit`.
        ImportError: SciPy is not installed.

    Example:
        >>> from gradwalk import grad, math
        >>> half = lambda a: fixed_point(lambda x: a * math.cos(x), 1.0)
        >>> round(half(1.0), 9), round(grad(half)(1.0), 9)
        (0.739085133, 0.441610792)
    """
    if method not in ("del2", "iteration"):
        raise ValueError(f'method of fixed_point must be "del2" or "iteration", got {method!r:.60}')
    _check_maxiter(maxiter)
    starts, treedef = unknowns(x0, "x0")
    program, captured, returned = recorded(func, _tuple(args), x0=x0)
    check_structure(func, returned, treedef, "x0")
    search = Iteration(program, xtol, maxiter, method, progress)
    call = Implicit("fixed_point", Equation(without(program)), len(starts), search)
    return treedef.filled(bind(call, [*starts, *captured]))  # type: ignore[no-any-return]


def without(program: Program) -> Program:
    """Return the program of x - f(x, p), whose roots are the fixed points of f; `program` computes f."""
    tape, inputs, outputs = to_tape(program)
    return tape.program([tape.append("sub", x, y) for x, y in zip(inputs, outputs, strict=False)])


@dataclasses.dataclass(frozen=True)
class SystemSearch:
    """A search with `scipy.optimize.root`. The attributes are arguments of `root`."""

    method: str
    tol: float | None
    options: dict[str, Any] | None
    progress: bool

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Return x, given the equation, the initial guess, and the parameters."""
        solve = from_scipy("scipy.optimize", "root", "root()")
        known: dict[str, Any] = {"method": self.method, "tol": self.tol, "options": self.options}
        if self.method in _WITH_JACOBIAN:
            jacobian = pointwise(equation.jacobian, params)
            known["jac"] = lambda x: jacobian(x).reshape(equation.size, equation.size)
        with counter(None, "evaluations", shown=self.progress) as advance:
            found = solve(_counted(pointwise(equation.residual, params), advance), starts, **known)
        if not found.success:
            raise RuntimeError(
                f"root with method {self.method!r} did not converge: {' '.join(found.message.split())} The residuals "
                f"at x = {numpy.round(found.x, 6).tolist()!s:.60} are {found.fun.tolist()!s:.60}. Pass an x0 closer to "
                'the root, another method, such as "lm", or options={"maxfev": ...}'
            )
        x: Floats = found.x
        return x


@dataclasses.dataclass(frozen=True)
class ScalarSearch:
    """A search with `scipy.optimize.root_scalar`.

    Attributes:
        method: The method.
        where: Pairs of the name of an argument (`bracket`, `x0` or `x1`) and the number of starting values in this
            argument. The number is 0 if the argument was not given.
        settings: Keyword arguments `xtol`, `rtol` and `maxiter`.
    """

    method: str
    where: list[tuple[str, int]]
    settings: dict[str, Any]

    def in_place(self, call: Implicit) -> Implicit:
        """Return a call that runs the method as a program, or `call` itself if that is not possible."""
        if self.method not in _PROGRAMS:
            return call
        search, start, used, *defaults = _PROGRAMS[self.method]
        if [given for given in self.where if given[1]] != [start]:  # SciPy ignores or rejects other arguments
            return call
        settings = [x if given is None else given for x, given in zip(defaults, self.settings.values(), strict=True)]
        functions = [call.equation.residual, call.equation.jacobian][:used]
        return SearchedInPlace(call, searched(search, functions, call.starts, settings))

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Return x, given the equation, the starting values, and the parameters."""
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
                f"root_scalar with method {self.method!r} did not converge: {found.flag} after {found.iterations} "
                f"iterations, at x = {found.root!r}. Pass a bracket=[a, b] at whose ends f has different signs, an x0 "
                "closer to the root, or a larger maxiter=..."
            )
        return numpy.array([found.root])


@dataclasses.dataclass(frozen=True)
class Iteration:
    """A search with `scipy.optimize.fixed_point`. `program` computes the next x from x and the parameters."""

    program: Program
    xtol: float
    maxiter: int
    method: str
    progress: bool

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Return x, given the initial guess and the parameters."""
        solve = from_scipy("scipy.optimize", "fixed_point", "fixed_point()")
        step = pointwise(self.program, params)
        settings = {"xtol": self.xtol, "maxiter": self.maxiter, "method": self.method}
        try:
            with counter(None, "evaluations", shown=self.progress) as advance:
                found: Floats = solve(_counted(step, advance), starts, **settings)
        except RuntimeError as error:
            raise RuntimeError(
                f"fixed_point did not converge: {error}. Pass an x0 closer to the fixed point or a larger maxiter=...; "
                "if func is not a contraction, solve func(x) - x = 0 with gradwalk.solvers.root"
            ) from None
        return found


def _counted(f: Callable[[Any], Floats], advance: Advance) -> Callable[[Any], Floats]:
    """Return a function that advances a progress bar whenever it is called."""

    def evaluated(x: Any) -> Floats:
        advance(1)
        return f(x)

    return evaluated


def _start(tree: Any, name: str) -> list[Any]:
    """Return the two numbers of a bracket, or the single number of an initial guess."""
    numbers, treedef = flat(tree, name)
    is_number = treedef.with_numbers().is_scalar
    if name == "bracket" and (is_number or len(numbers) != 2 or not is_row(treedef)):
        raise ValueError(f"bracket must be two numbers, as in root_scalar(f, bracket=[0.0, 1.0]), got {treedef}")
    if name != "bracket" and not is_number:
        raise ValueError(f"{name} must be one number, as in root_scalar(f, {name}=1.0), got {treedef}")
    return numbers


def _check_settings(xtol: Any, rtol: Any, maxiter: Any, least_rtol: float) -> None:
    """Check the settings as SciPy does, because SciPy is not called if the search is a program."""
    if xtol is not None and not number(xtol, "xtol") > 0.0:
        raise ValueError(f"xtol must be > 0, got {xtol!r}")
    if rtol is not None and not number(rtol, "rtol") >= least_rtol:
        raise ValueError(f"rtol must be >= {least_rtol:g}, got {rtol!r}")
    if maxiter is not None:
        _check_maxiter(maxiter)


def _check_maxiter(maxiter: Any) -> None:
    if not isinstance(maxiter, (int, numpy.integer)) or isinstance(maxiter, bool):
        raise TypeError(f"maxiter must be an int, got {type(maxiter).__name__}: {maxiter!r:.60}")
    if maxiter < 1:
        raise ValueError(f"maxiter must be >= 1, got {maxiter}")


def _scalar(program: Program, params: Floats) -> Callable[[float], float]:
    f = pointwise(program, params)
    return lambda x: float(f(x)[0])


def _tuple(args: Any) -> tuple[Any, ...]:
    """Return `args` as a tuple. As in SciPy, a single argument need not be in a tuple."""
    return args if isinstance(args, tuple) else (args,)
