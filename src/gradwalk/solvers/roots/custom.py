"""`custom_root` and `custom_fixed_point`: implicit differentiation of user-defined solvers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.tracing.trace import display_name
from gradwalk.solvers.recorded import bind, check_callable, check_count, check_structure, flat, recorded, unknowns
from gradwalk.solvers.roots.implicit import Equation, Implicit
from gradwalk.solvers.roots.roots import without
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.modes import is_staging
from gradwalk.value.node import level_of, primal_of
from gradwalk.value.value import Value

Solver = TypeVar("Solver", bound=Callable[..., Any])

_OUTSIDE = (
    "{} uses a Value that is not one of its arguments. Solvers are called with numbers, so changes of this Value would "
    "be ignored. Make it an argument"
)


_DEPTH = 5  # search depth for captured Values; an attribute of an object in a closure has depth 2


def custom_root(optimality_fun: Callable[..., Any]) -> Callable[[Solver], Solver]:
    """Decorate a solver so that its solution is differentiated implicitly, as JAXopt's `custom_root` does.

    The solver is called with numbers only and may be any Python code: SciPy, a loop, or a C library. If the solver
    minimizes a function f, pass `grad(f)`: it is 0 at the minimum.

    Args:
        optimality_fun: Function `optimality_fun(solution, *args)`, where `args` are the solver's arguments after the
            first. It returns one number per unknown; all of them are 0 at the solution. It is recorded, as by `jit`.

    Returns:
        A decorator for a solver `solver(init_params, *args)` that returns a solution in the structure of `init_params`.
        If `init_params` is None, the solver is called one more time to find the structure of the solution; `jit` and
        `vmap` do not support this. Derivatives with respect to `init_params` are 0. The solver's keyword-only arguments
        must not be Values, and are not passed to `optimality_fun`.

        The decorated solver raises `TypeError` if the solution contains Values or does not have the structure of
        `init_params`. While `jit` or `vmap` records a call to the decorated solver, the call also raises `TypeError` if
        the solver uses Values of the recording from its closure, its attributes or a `functools.partial`. The decorated
        solver raises `RecordingError` if `optimality_fun` branches on a Value or converts a Value to a float.

    Raises:
        TypeError: `optimality_fun` or the solver is not callable.

    Example:
        >>> from gradwalk import grad
        >>> @custom_root(lambda x, a: x * x - a)
        ... def bisected(init_params, a):
        ...     low, high = 0.0, max(a, 1.0)
        ...     while high - low > 1e-12:
        ...         middle = (low + high) / 2
        ...         low, high = (middle, high) if middle * middle < a else (low, middle)
        ...     return low
        >>> round(bisected(1.0, 4.0), 9), round(grad(bisected, argnums=1)(1.0, 4.0), 9)
        (2.0, 0.25)
    """
    return _decorator(optimality_fun, is_fixed_point=False)


def custom_fixed_point(fixed_point_fun: Callable[..., Any]) -> Callable[[Solver], Solver]:
    """Decorate a fixed-point solver so that its solution is differentiated implicitly, as in JAXopt.

    The solution satisfies `fixed_point_fun(x, *args) = x`.

    Args:
        fixed_point_fun: Function `fixed_point_fun(solution, *args)`, where `args` are the solver's arguments after the
            first. Its result has the structure of the solution. It is recorded, as by `jit`.

    Returns:
        A decorator for a solver: see `custom_root`.

    Example:
        >>> from gradwalk import grad
        >>> @custom_fixed_point(lambda x, a: 0.5 * (x + a / x))
        ... def heron(init_params, a):
        ...     x = init_params
        ...     for _ in range(20):
        ...         x = 0.5 * (x + a / x)
        ...     return x
        >>> heron(1.0, 4.0), grad(heron, argnums=1)(1.0, 4.0)
        (2.0, 0.25)
    """
    return _decorator(fixed_point_fun, is_fixed_point=True)


def _decorator(f: Callable[..., Any], *, is_fixed_point: bool) -> Callable[[Solver], Solver]:
    check_callable(f)

    def decorate(solver: Solver) -> Solver:
        check_callable(solver)
        signature = _signature(solver)

        @functools.wraps(solver)
        def solved(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            init, *others = bound.args
            if is_staging() and _holds_recorded(solver, bound.kwargs):
                raise TypeError(_OUTSIDE.format(display_name(solver)))
            given = _Arguments(bound.args, display_name(solver))
            if init is None:
                init = _first_solution(solver, given, bound.kwargs)
            _, structure = unknowns(init, "init_params")
            program, captured, returned = recorded(f, others, init_params=init)
            if is_fixed_point:
                check_structure(f, returned, structure, "init_params")
            check_count(f, returned.size, structure.size)
            equation = Equation(without(program) if is_fixed_point else program)
            search = _Own(solver, given, bound.kwargs, structure)
            call = Implicit(getattr(solver, "__name__", "a solver"), equation, len(given.values), search)
            return structure.filled(bind(call, [*given.values, *captured]))

        return solved  # type: ignore[return-value]

    return decorate


def _signature(solver: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(solver)
    except ValueError:
        raise TypeError(
            f"the signature of {display_name(solver)} cannot be inspected: pass a function that calls it, such as "
            "lambda init_params, a: ..."
        ) from None


class _Arguments:
    """The arguments of a solver, in which Values can be replaced by numbers.

    Args:
        args: The arguments. The first argument may be None.
        name: Name of the solver in error messages.

    Attributes:
        values: The Values in the arguments.
    """

    def __init__(self, args: Any, name: str) -> None:
        self._has_init = args[0] is not None
        self._leaves, self._treedef = flatten(tuple(args if self._has_init else args[1:]), f"the arguments of {name}")
        self._is_varying = [any(isinstance(x, Value) for x in scalars([leaf])) for leaf in self._leaves]
        self.values = [x for i, leaf in enumerate(self._leaves) if self._is_varying[i] for x in scalars([leaf])]
        self._leaves = [None if varies else leaf for leaf, varies in zip(self._leaves, self._is_varying, strict=True)]

    def filled(self, numbers: Any) -> Any:
        """Return the arguments with the Values replaced by numbers."""
        leaves = list(self._leaves)
        start = 0
        for i, (part, shape) in enumerate(self._treedef.ranges()):
            if self._is_varying[i]:
                count = part.stop - part.start
                leaves[i] = TreeDef(None, (shape,)).filled(numpy.array(numbers[start : start + count], numpy.float64))
                start += count
        args = self._treedef.unflatten(leaves)
        return args if self._has_init else (None, *args)


class _Own:
    """A user-defined solver, which can be called as a `Search`.

    Args:
        solver: The solver.
        given: The arguments of the solver.
        keywords: The keyword-only arguments of the solver.
        structure: The treedef of the solution.
    """

    def __init__(self, solver: Callable[..., Any], given: _Arguments, keywords: dict[str, Any], structure: TreeDef):
        self._solver = solver
        self._given = given
        self._keywords = keywords
        self._structure = structure

    def __call__(self, equation: Equation, starts: Floats, params: Floats) -> Floats:
        """Call the solver with the numbers `starts` instead of Values, and return the numbers of the solution."""
        solution = self._solver(*self._given.filled(starts), **self._keywords)
        numbers, structure = _numbers(solution, self._solver)
        if structure != self._structure:
            raise TypeError(
                f"{display_name(self._solver)} must return a solution in the structure of init_params, "
                f"{self._structure}, got {structure}"
            )
        return numpy.array(numbers, numpy.float64)


def _first_solution(solver: Callable[..., Any], given: _Arguments, keywords: dict[str, Any]) -> Any:
    """Call the solver without initial parameters, to find the structure of solutions; return the solution."""
    if is_staging():
        raise TypeError(
            f"init_params of {display_name(solver)} must not be None while it is recorded, because the structure of "
            "the solution is unknown: pass numbers in that structure"
        )
    solution = solver(*given.filled([primal_of(x) for x in given.values]), **keywords)
    _numbers(solution, solver)
    return solution


def _numbers(solution: Any, solver: Callable[..., Any]) -> tuple[list[float], TreeDef]:
    """Return the numbers of a solution, and its treedef."""
    numbers, structure = flat(solution, f"the solution of {display_name(solver)}")
    if any(isinstance(x, Value) for x in numbers):
        raise TypeError(_OUTSIDE.format(display_name(solver)))
    return numbers, structure


def _holds_recorded(solver: Callable[..., Any], keywords: dict[str, Any]) -> bool:
    """Return whether a solver captures Values of the current recording. Changes of these Values would be ignored."""
    held = [solver, *keywords.values()]
    for _ in range(_DEPTH):
        if any(isinstance(x, Value) and level_of(x) > 0 for tree in held for x in _numbers_in(tree)):
            return True
        held = list({id(part): part for x in held for part in _parts(x)}.values())
    return False


def _parts(x: Any) -> list[Any]:
    """Return the objects that a function or object refers to: closure variables, attributes and bound arguments."""
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if inspect.ismethod(x):
        return [x.__func__, x.__self__]
    if inspect.isfunction(x):
        return list(inspect.getclosurevars(x).nonlocals.values())
    return [] if inspect.isclass(x) or inspect.ismodule(x) else list(getattr(x, "__dict__", {}).values())


def _numbers_in(tree: Any) -> list[Any]:
    try:
        return scalars(flatten(tree, "")[0])
    except TypeError:  # not a tree
        return []
