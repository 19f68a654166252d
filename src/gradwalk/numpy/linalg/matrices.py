"""Solutions of linear systems, inverses, determinants and Cholesky factors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, holds_values, numbers
from gradwalk.numpy.linalg.elimination import determinant, log_determinant, lower_factor
from gradwalk.numpy.linalg.implicit import solver
from gradwalk.numpy.linalg.stacks import matrices_of, over_stacks, size_of, stacked
from gradwalk.numpy.linalg.whole_matrices import whole_cholesky, whole_slogdet, whole_solution
from gradwalk.value.arrays import as_array, of_objects
from gradwalk.value.modes import depth, is_staging
from gradwalk.value.value import Value


class SlogdetResult(NamedTuple):
    """The result of `slogdet`: the sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def solve(a: Any, b: Any) -> Any:
    """Solve a x = b for x.

    Derivatives are computed by solving systems with the same matrix, not by differentiating the elimination. LAPACK
    computes the numbers. In a recorded function, LAPACK solves large systems only. Smaller systems are solved by
    elimination with partial pivoting, and their derivatives reuse the LU factors.

    Args:
        a: A square matrix of Values or numbers, shape (N, N), or a stack of matrices, shape (..., N, N).
        b: A right-hand side of shape (N,), or an array of shape (..., N, K) whose columns are K right-hand sides.

    Returns:
        The solution, with the shape of `b`.

    Raises:
        LinAlgError: The matrix is not square, or it is singular. A recorded function does not raise for a singular
            matrix; its solution contains inf or nan.
        ValueError: The shapes do not match.

    Example:
        >>> from gradwalk import grad
        >>> a = numpy.array([[2.0, 1.0], [0.0, 4.0]])
        >>> grad(lambda b: solve(a, b)[0])(numpy.array([3.0, 4.0])).tolist()
        [0.5, -0.125]
    """
    a, b = as_array(a), as_array(b)
    if not holds_values(a, b):
        return numpy.linalg.solve(a, b)
    if a.ndim > 2 or b.ndim > 2:
        return _solutions(numpy.asarray(a), numpy.asarray(b))
    size = size_of(a)
    if b.ndim not in (1, 2) or len(b) != size:
        raise ValueError(f"solve: b must have the shape ({size},) or ({size}, K) for this matrix, got {b.shape}")
    if b.size == 0:
        return of_objects([], b.shape)
    found = whole_solution(a, b)
    if found is not None:
        return found
    if depth() == 0:
        return _solution_of_nodes(a, b)
    call = solver(size, False, is_recorded=is_staging())
    matrix = a.ravel().tolist()
    columns = [call.values([*matrix, *column]) for column in b.reshape(size, -1).T.tolist()]
    return of_objects([x for column in columns for x in column], (len(columns), size)).T.reshape(b.shape)


@over_stacks(keeps_whole=True)
def inv(a: Any) -> Any:
    """Invert a matrix. The differential of the inverse is -a⁻¹ da a⁻¹.

    Args:
        a: A square matrix of Values or numbers, or a stack of matrices.

    Returns:
        The inverse.

    Raises:
        LinAlgError: The matrix is not square, or it is singular. A recorded function does not raise for a singular
            matrix; its inverse contains inf or nan.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: inv(a).sum())(numpy.array([[2.0, 1.0], [0.0, 4.0]])).tolist()
        [[-0.1875, -0.125], [-0.046875, -0.03125]]
    """
    return solve(a, numpy.eye(size_of(a))) if holds_values(a) else numpy.linalg.inv(a)


@over_stacks(keeps_whole=True)
def det(a: Any) -> Any:
    """Compute the determinant of a matrix.

    The determinant of a matrix with up to three rows is computed as a polynomial of its elements. For larger matrices,
    the result is a single node whose partials are the cofactors (Jacobi's formula). In a function that is recorded or
    differentiated, elimination reduces the matrix to three rows: the result is the product of the pivots and the
    polynomial of these rows. The first three derivatives of this result are also correct for singular matrices. LAPACK
    computes the determinant of a large matrix; its derivatives are nan if the matrix is singular.

    Args:
        a: A square matrix of Values or numbers, or a stack of matrices.

    Returns:
        A Value, or a float.

    Raises:
        LinAlgError: The matrix is not square.

    Example:
        >>> from gradwalk import grad
        >>> grad(det)(numpy.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[4.0, -3.0], [-2.0, 1.0]]
    """
    if not holds_values(a):
        return numpy.linalg.det(a)
    if size_of(a) > 3 and depth() == 0:
        return _node("det", numpy.linalg.det(numbers(a)), a.flat, _cofactors(numbers(a)).flat)
    found = whole_slogdet(a)
    if found is not None:
        sign, logarithm = found
        return sign * math.exp(logarithm)
    return determinant(a.tolist())


@over_stacks(keeps_whole=True)
def slogdet(a: Any) -> SlogdetResult:
    """Compute the sign of the determinant of a matrix, and the logarithm of its absolute value.

    The logarithm is a single node whose partials are the elements of the transposed inverse. In a function that is
    recorded or differentiated, the logarithm is the sum of log(|pivot|) over the pivots of an elimination, or LAPACK
    computes it if the matrix is large.

    Args:
        a: A square matrix of Values or numbers, or a stack of matrices.

    Returns:
        The sign (1, -1 or 0), as a constant, and the logarithm. If the determinant is 0, the logarithm is -inf
        and its derivatives are nan.

    Raises:
        LinAlgError: The matrix is not square.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: slogdet(a)[1])(numpy.array([[2.0, 0.0], [0.0, -4.0]])).tolist()
        [[0.5, 0.0], [0.0, -0.25]]
    """
    if not holds_values(a):
        return SlogdetResult(*numpy.linalg.slogdet(a))
    size_of(a)
    if depth() == 0:
        found, logarithm = numpy.linalg.slogdet(numbers(a))
        is_singular = logarithm == -numpy.inf
        partials = numpy.full(a.shape, numpy.nan) if is_singular else _transposed_inverse(numbers(a))
        return SlogdetResult(float(found), _node("slogdet", logarithm, a.flat, partials.flat))
    found = whole_slogdet(a)
    sign, logarithm = log_determinant(a) if found is None else found
    return SlogdetResult(sign if is_staging() else numpy.linalg.slogdet(numbers(a))[0], logarithm)


@over_stacks(keeps_whole=True)
def cholesky(a: Any, *, upper: bool = False) -> Any:
    """Compute the lower triangular L with L Lᵀ = a for a positive definite a. Only the lower triangle of a is read.

    L is computed column by column, with one sum of products per element. Derivatives are taken through these steps.
    This is as fast as formulas for the derivatives of L (Murray, "Differentiation of the Cholesky decomposition",
    2016). In a recorded function, LAPACK computes L of a large matrix, and formulas its derivatives.

    Args:
        a: A symmetric matrix of Values or numbers, or a stack of matrices.
        upper: Whether to return the upper triangular Lᵀ. Only the upper triangle of `a` is then read.

    Returns:
        L. Its elements above the diagonal are 0.0.

    Raises:
        LinAlgError: The matrix is not square, or it is not positive definite. A recorded function does not raise for a
            matrix that is not positive definite; L then contains nan.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: cholesky(a)[0, 0])(numpy.array([[4.0, 0.0], [0.0, 1.0]])).tolist()
        [[0.25, 0.0], [0.0, 0.0]]
    """
    if upper:
        return numpy.swapaxes(cholesky(numpy.swapaxes(a, -1, -2)), -1, -2)
    if not holds_values(a):
        return numpy.linalg.cholesky(a)
    size = size_of(a)
    if are_known(a):
        numpy.linalg.cholesky(numbers(a))  # raises an exception if `a` is not positive definite
    found = whole_cholesky(a)
    if found is not None:
        return found
    return of_objects([x for row in lower_factor(a) for x in [*row, *[0.0] * (size - len(row))]], (size, size))


def _solutions(a: Any, b: Any) -> Any:
    """Solve a stack of systems."""
    shape = a.shape[:-2] if b.ndim < 2 else numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    matrices = matrices_of(numpy.broadcast_to(a, shape + a.shape[-2:]))
    sides = [b] * len(matrices) if b.ndim < 2 else matrices_of(numpy.broadcast_to(b, shape + b.shape[-2:]))
    return stacked([solve(x, y) for x, y in zip(matrices, sides, strict=True)], shape)


def _solution_of_nodes(a: Any, b: Any) -> Any:
    """Return the solution x as nodes whose operands are nodes of the residuals r = b - a x.

    The partials of r are taken at the computed x, and dx = inv(a) dr. For n unknowns, the nodes have 2 n² + n partials.
    Nodes of x with the operands a and b would have n³ + n² partials.
    """
    size = len(a)
    found = numpy.linalg.solve(numbers(a), numbers(b))
    inverse = numpy.linalg.inv(numbers(a))
    columns = []
    for right, solution in zip(b.reshape(size, -1).T, found.reshape(size, -1).T, strict=True):
        residuals = [_node("residual", 0.0, [*row, x], [*-solution, 1.0]) for row, x in zip(a, right, strict=True)]
        columns.append([_node("solve", x, residuals, row) for x, row in zip(solution, inverse, strict=True)])
    return of_objects([x for column in columns for x in column], (len(columns), size)).T.reshape(b.shape)


def _node(symbol: str, number: Any, operands: Iterable[Any], partials: Iterable[Any]) -> Value:
    """Return a node with the given partials; `symbol` is its label. Operands that are plain numbers are omitted."""
    pairs = [(x, float(partial)) for x, partial in zip(operands, partials, strict=True) if isinstance(x, Value)]
    node = Value(float(number), [x for x, _ in pairs], [partial for _, partial in pairs])
    node._op = symbol
    return node


def _cofactors(matrix: Any) -> Any:
    """Compute the cofactors from the singular value decomposition, which also works for singular matrices."""
    u, values, v = numpy.linalg.svd(matrix)
    others = [numpy.prod(numpy.delete(values, i)) for i in range(len(values))]
    return numpy.sign(numpy.linalg.det(u) * numpy.linalg.det(v)) * (u * others) @ v


def _transposed_inverse(matrix: Any) -> Any:
    """Compute the transposed inverse from the singular value decomposition, with inf and nan for a singular matrix."""
    u, values, v = numpy.linalg.svd(matrix)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return (u / values) @ v
