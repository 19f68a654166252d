"""Names of `jax.scipy.linalg`: solutions of linear systems, and Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.numpy import linalg
from gradwalk.numpy.arrays import holds_values
from gradwalk.numpy.linalg import det as det
from gradwalk.numpy.linalg import expm as expm
from gradwalk.numpy.linalg import inv as inv
from gradwalk.numpy.linalg.elimination import substituted
from gradwalk.numpy.linalg.stacks import size_of
from gradwalk.numpy.linalg.whole_matrices import whole_lower_solution
from gradwalk.value.arrays import as_array, of_objects

__all__ = ["block_diag", "cho_factor", "cho_solve", "cholesky", "det", "expm", "inv", "solve", "solve_triangular"]

_TRANSPOSED = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}
_STRUCTURES = ("gen", "sym", "her", "pos")


def cholesky(a: Any, lower: bool = False) -> Any:
    """Compute the upper triangular U with Uᵀ U = a for a positive definite a, or the lower triangular L with L Lᵀ = a.

    Only one triangle of `a` is read: the triangle that the result has. `gradwalk.numpy.linalg.cholesky` returns L by
    default, as NumPy does.

    Args:
        a: A symmetric matrix of Values or numbers, or a stack of matrices.
        lower: Whether to return L.

    Returns:
        U or L. The elements of the other triangle are 0.0.

    Raises:
        LinAlgError: The matrix is not square, or it is not positive definite. A recorded function does not raise for a
            matrix that is not positive definite; the result then contains nan.

    Example:
        >>> cholesky(numpy.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
        [[2.0, 1.0], [0.0, 2.0]]
    """
    return linalg.cholesky(a, upper=not lower)


def cho_factor(a: Any, lower: bool = False) -> tuple[Any, bool]:
    """Compute the Cholesky factor for `cho_solve`.

    Args:
        a: A symmetric positive definite matrix of Values or numbers.
        lower: Whether the factor is the lower triangular L. Otherwise it is the upper triangular Lᵀ.

    Returns:
        The factor, and `lower`.

    Raises:
        LinAlgError: As for `cholesky`.

    Example:
        >>> cho_solve(cho_factor(numpy.array([[4.0, 0.0], [0.0, 16.0]])), numpy.array([8.0, 32.0])).tolist()
        [2.0, 2.0]
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any) -> Any:
    """Solve a x = b for x, with the Cholesky factor of a.

    Args:
        c_and_lower: The result of `cho_factor`: a triangular matrix, and whether it is lower triangular.
        b: A right-hand side of shape (N,), or an array of shape (N, K) whose columns are K right-hand sides.

    Returns:
        The solution, with the shape of `b`.

    Raises:
        ValueError: The shapes do not match.

    Example:
        >>> from gradwalk import grad
        >>> def first(a):
        ...     return cho_solve(cho_factor(a), numpy.array([8.0, 32.0]))[0]
        >>> grad(first)(numpy.array([[4.0, 0.0], [0.0, 16.0]])).tolist()
        [[-0.5, -0.5], [0.0, 0.0]]
    """
    factor, lower = c_and_lower
    between = solve_triangular(factor, b, trans=not lower, lower=lower)
    return solve_triangular(factor, between, trans=bool(lower), lower=lower)


def solve(a: Any, b: Any, lower: bool = False, *, assume_a: str = "gen") -> Any:
    """Solve a x = b for x: see `gradwalk.numpy.linalg.solve`.

    Args:
        a: A square matrix of Values or numbers.
        b: A right-hand side of shape (N,), or an array of shape (N, K) whose columns are K right-hand sides.
        lower: For "pos": whether to read the lower triangle of `a`; otherwise only the upper triangle is read.
        assume_a: "pos" for a positive definite matrix, which is solved with its Cholesky factor. Other matrices ("gen",
            "sym" and "her") are solved alike.

    Returns:
        The solution, with the shape of `b`.

    Raises:
        LinAlgError: The matrix is not square, it is singular, or it is not positive definite.
        ValueError: The shapes do not match, or `assume_a` is invalid.

    Example:
        >>> solve(numpy.array([[4.0, 0.0], [0.0, 16.0]]), numpy.array([8.0, 32.0]), assume_a="pos").tolist()
        [2.0, 2.0]
    """
    if assume_a not in _STRUCTURES:
        raise ValueError(f"assume_a must be one of {', '.join(map(repr, _STRUCTURES))}, got {assume_a!r:.60}")
    return cho_solve(cho_factor(a, lower), b) if assume_a == "pos" else linalg.solve(a, b)


def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """Solve a x = b for x, for a triangular matrix, by substitution.

    Args:
        a: A square matrix of Values or numbers. Only one triangle is read.
        b: A right-hand side of shape (N,), or an array of shape (N, K) whose columns are K right-hand sides.
        trans: 0 or "N" to solve a x = b; 1, 2, "T" or "C" to solve aᵀ x = b.
        lower: Whether `a` is lower triangular.
        unit_diagonal: Whether the diagonal of `a` is 1, and is not read.

    Returns:
        The solution, with the shape of `b`.

    Raises:
        LinAlgError: `a` is not square.
        ValueError: The shapes do not match, or `trans` is invalid.

    Example:
        >>> from gradwalk import grad
        >>> a = numpy.array([[2.0, 1.0], [0.0, 4.0]])
        >>> grad(lambda b: solve_triangular(a, b)[0])(numpy.array([3.0, 4.0])).tolist()
        [0.5, -0.125]
    """
    a, b = as_array(a), as_array(b)
    size = size_of(a)
    if trans not in _TRANSPOSED:
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', got {trans!r:.60}")
    if a.ndim != 2 or b.ndim not in (1, 2) or len(b) != size:
        raise ValueError(f"a and b must have the shapes (N, N) and (N,) or (N, K), got {a.shape} and {b.shape}")
    matrix, is_transposed = a if lower else a.T, _TRANSPOSED[trans] == bool(lower)
    if unit_diagonal:
        matrix = numpy.tril(matrix, -1) + numpy.eye(size)
    found = whole_lower_solution(matrix, b, is_transposed=is_transposed)
    if found is not None:
        return found
    matrix, b = numpy.asarray(matrix), numpy.asarray(b)
    sides = b if b.ndim == 2 else b[:, None]
    columns = [substituted(matrix, column, is_transposed=is_transposed) for column in sides.T.tolist()]
    flat = [x for row in zip(*columns, strict=True) for x in row]
    return of_objects(flat, b.shape) if holds_values(matrix, b) else numpy.array(flat, float).reshape(b.shape)


def block_diag(*arrs: Any) -> Any:
    """Create a matrix with the given matrices on its diagonal, and 0.0 elsewhere.

    Args:
        *arrs: Matrices of Values or numbers; a vector is a matrix of one row, and a number a matrix of one element.

    Returns:
        A matrix.

    Raises:
        ValueError: An array has more than two axes.

    Example:
        >>> block_diag(2.0, numpy.array([[3.0, 4.0]])).tolist()
        [[2.0, 0.0, 0.0], [0.0, 3.0, 4.0]]
    """
    blocks = [numpy.atleast_2d(block) for block in arrs]
    if any(block.ndim > 2 for block in blocks):
        raise ValueError(f"blocks must have at most two axes, got shapes {[block.shape for block in blocks]}")
    height, width = (sum(block.shape[axis] for block in blocks) for axis in (0, 1))
    found = numpy.zeros((height, width), numpy.result_type(float, *blocks))
    if found.dtype == object:
        found = of_objects([0.0] * found.size, found.shape)
    row = column = 0
    for block in blocks:
        found[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return found
