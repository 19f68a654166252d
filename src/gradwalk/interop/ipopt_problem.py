"""`IpoptProblem`: an objective and constraints with sparse derivatives, wrapped in the interface of cyipopt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from gradwalk.interop.array_function import structure
from gradwalk.program.tracing.trace import display_name
from gradwalk.transforms.grad import grad
from gradwalk.transforms.jit.jit import jit
from gradwalk.transforms.jit.jit_class import Jit
from gradwalk.transforms.sparse.sparse import sparse_hessian, sparse_jacobian
from gradwalk.trees.tree import TreeDef

Array = NDArray[Any]
Structure = tuple[Array, Array]


class IpoptProblem:
    """An objective, constraints, and their exact sparse derivatives, with the interface that cyipopt expects.

    Pass the problem to `cyipopt.Problem(n=problem.n, m=problem.m, problem_obj=problem, lb=..., ub=..., cl=...,
    cu=...)`. The functions are recorded as by `jit`. IPOPT receives only the structurally nonzero entries of the
    constraints' Jacobian and of the lower triangle of the Lagrangian's Hessian.

    The problem can be pickled if its functions can be pickled.

    Args:
        objective: A function of a vector that returns one number.
        x: A vector with the same length as the argument of both functions, such as the initial guess.
        constraints: A function of a vector that returns the values of the constraints, as a vector or a list of
            numbers. None if there are no constraints other than bounds on the variables.

    Attributes:
        n: Number of variables.
        m: Number of constraints.

    Raises:
        TypeError: One of the functions is not callable or captures Values, `objective` does not return one number, or
            `constraints` does not return a vector.
        ValueError: `x` is not a vector.

    Example:
        >>> problem = IpoptProblem(lambda x: x[0] * x[1], [1.0, 1.0, 1.0], lambda x: [x[0] ** 2 + x[2]])
        >>> problem.gradient(numpy.array([2.0, 3.0, 4.0])).tolist()
        [3.0, 2.0, 0.0]
        >>> [indices.tolist() for indices in problem.jacobianstructure()]
        [[0, 0], [0, 2]]
        >>> problem.jacobian(numpy.array([2.0, 3.0, 4.0])).tolist()
        [4.0, 1.0]
        >>> [indices.tolist() for indices in problem.hessianstructure()]
        [[0, 1], [0, 0]]
        >>> problem.hessian(numpy.array([2.0, 3.0, 4.0]), numpy.array([10.0]), 1.0).tolist()
        [20.0, 1.0]
    """

    def __init__(
        self, objective: Callable[[Any], Any], x: ArrayLike, constraints: Callable[[Any], Any] | None = None
    ) -> None:
        for what, f in {"objective": objective, "constraints": constraints}.items():
            if not callable(f) and not (f is None and what == "constraints"):
                raise TypeError(f"IpoptProblem() takes a function as {what}, not {type(f).__name__}: {f!r:.60}")
        start = numpy.asarray(x, numpy.float64)
        if start.ndim != 1:
            raise ValueError(f"x must be a vector, such as x.ravel(), got an array of shape {start.shape}")

        def constrained(x: Any) -> Any:
            return numpy.asarray(constraints(x)) if constraints else numpy.zeros(0)

        def lagrangian(x: Any, multipliers: Any, factor: Any) -> Any:
            total = factor * objective(x)
            return total + multipliers @ constrained(x) if constraints else total

        self._reduce_args = (objective, start, constraints)
        self._objective = jit(objective)
        _check_result(objective, self._objective, start, "one number, such as x @ x", _is_number)
        if constraints:
            _check_result(constraints, jit(constraints), start, "a vector, or a list of numbers", _is_vector)
        self._gradient = jit(grad(objective))
        self._constraints = jit(constrained)
        self._jacobian = sparse_jacobian(constrained)
        self._hessian = sparse_hessian(lagrangian)
        self.n = len(start)
        self.m = len(self._constraints(start))
        jacobian = self._jacobian(start).tocoo()
        hessian = self._hessian(start, numpy.ones(self.m), 1.0).tocoo()
        self._is_lower = hessian.row >= hessian.col
        self._structures = (
            (jacobian.row, jacobian.col),
            (hessian.row[self._is_lower], hessian.col[self._is_lower]),
        )

    def __reduce__(self) -> Any:
        return type(self), self._reduce_args

    def objective(self, x: Array) -> float:
        """Return the value of the objective.

        Args:
            x: The variables.
        """
        return self._objective(x)  # type: ignore[no-any-return]

    def gradient(self, x: Array) -> Array:
        """Return the gradient of the objective.

        Args:
            x: The variables.
        """
        return self._gradient(x)  # type: ignore[no-any-return]

    def constraints(self, x: Array) -> Array:
        """Return the values of the constraints.

        Args:
            x: The variables.
        """
        return self._constraints(x)  # type: ignore[no-any-return]

    def jacobianstructure(self) -> Structure:
        """Return the row and column indices of the nonzeros of the constraints' Jacobian."""
        return self._structures[0]

    def jacobian(self, x: Array) -> Array:
        """Return the nonzeros of the constraints' Jacobian.

        Args:
            x: The variables.
        """
        return self._jacobian(x).data  # type: ignore[no-any-return]

    def hessianstructure(self) -> Structure:
        """Return the row and column indices of the nonzeros in the lower triangle of the Lagrangian's Hessian."""
        return self._structures[1]

    def hessian(self, x: Array, lagrange: Array, obj_factor: float) -> Array:
        """Return the nonzeros in the lower triangle of the Lagrangian's Hessian.

        Args:
            x: The variables.
            lagrange: Lagrange multipliers of the constraints.
            obj_factor: Factor of the objective in the Lagrangian.
        """
        return self._hessian(x, lagrange, obj_factor).data[self._is_lower]  # type: ignore[no-any-return]


def _check_result(
    f: Callable[..., Any], recorded: Jit[..., Any], x: Array, expected: str, is_right: Callable[[TreeDef], bool]
) -> None:
    """Raise `TypeError` if a function of the variables does not return the expected structure."""
    found = structure(recorded, [x], display_name(f))
    if not is_right(found):
        raise TypeError(f"{display_name(f)} must return {expected}, got {found}")


def _is_number(result: TreeDef) -> bool:
    return result.spec is None and result.array_shapes == [()]


def _is_vector(result: TreeDef) -> bool:
    if result.spec is None:
        return len(result.array_shapes[0]) == 1
    return result.size == 0 or (bool(result.parts()) and all(map(_is_number, result.parts())))
