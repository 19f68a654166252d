"""Decompositions of matrices, pseudoinverses and exponentials, with derivatives of any order.

LAPACK or NumPy computes the numbers, also in recorded functions. The derivatives agree with jax.numpy.linalg: for
eigenvalues, singular values and QR see Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation", 2008; for the pseudoinverse see Golub and Pereyra, "The differentiation of pseudo-inverses
and nonlinear least squares problems whose variables separate", 1973.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy
from numpy.linalg import LinAlgError

from gradwalk.arrays.traced_array import is_whole
from gradwalk.numpy.arrays import are_known, holds_values, numbers, untyped
from gradwalk.numpy.elementwise import greater
from gradwalk.numpy.linalg.matrix_call import Rule, Shape, matrix_call
from gradwalk.numpy.linalg.stacks import matrices_of, over_stacks, size_of
from gradwalk.numpy.linalg.whole_matrices import whole_lower_solution
from gradwalk.numpy.linalg.whole_matrix_call import whole_results
from gradwalk.numpy.names.ufuncs import plain
from gradwalk.value.arrays import as_array


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """The factors of a QR decomposition."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """The factors of a singular value decomposition."""

    U: Any
    S: Any
    Vh: Any


@over_stacks(keeps_whole=True)
def eigh(a: Any, UPLO: str = "L") -> EighResult:  # noqa: N803  NumPy's name
    """Compute the eigenvalues and eigenvectors of a symmetric matrix.

    A matrix of Values is first replaced by (a + aᵀ) / 2, as in JAX. If two eigenvalues are equal, derivatives of their
    eigenvectors do not exist, and are inf or nan; first derivatives of eigenvalues exist only in some directions, and
    are those for the eigenvectors that LAPACK returns.

    Args:
        a: A symmetric matrix of Values or numbers, or a stack of matrices.
        UPLO: "L" or "U": the triangle of a matrix of numbers that is read.

    Returns:
        The eigenvalues, in ascending order, and the matrix whose columns are the eigenvectors. The signs of the
        eigenvectors are LAPACK's.

    Raises:
        LinAlgError: The matrix is not square. If LAPACK fails, for example because of nan, the results for a matrix of
            Values are nan.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: eigh(a)[0][1])(numpy.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    if not holds_values(a):
        return EighResult(*untyped.linalg.eigh(a, UPLO))
    if UPLO not in ("L", "U", "l", "u"):
        raise ValueError(f"UPLO argument must be 'L' or 'U', got {UPLO!r}")
    size_of(a)
    return EighResult(*_results(_EIGH, (a + a.T) / 2.0))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803  NumPy's name
    """Compute the eigenvalues of a symmetric matrix. See `eigh` for derivatives if eigenvalues are equal.

    Args:
        a: A symmetric matrix of Values or numbers, or a stack of matrices.
        UPLO: "L" or "U": the triangle of a matrix of numbers that is read.

    Returns:
        The eigenvalues, in ascending order.

    Raises:
        LinAlgError: The matrix is not square.
    """
    if not holds_values(as_array(a)):
        return untyped.linalg.eigvalsh(a, UPLO)
    return eigh(a)[0]


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Compute the singular value decomposition a = U diag(S) Vh.

    If two singular values are equal, derivatives of their singular vectors do not exist, and are inf or nan; so are
    second derivatives of the singular values. If the smallest singular value is 0, its first derivative is one-sided,
    and for a matrix that is not square the derivatives of its singular vectors are nan.

    Args:
        a: A matrix of Values or numbers, or a stack of matrices.
        full_matrices: Whether U and Vh are square. A matrix of Values must then be square.
        compute_uv: Whether to return U and Vh, or only S.

    Returns:
        U, S and Vh, or only S. S is in descending order.

    Raises:
        TypeError: `full_matrices` is true, and the matrix of Values is not square.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: svd(a, compute_uv=False)[0])(numpy.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    a = as_array(a)
    if not holds_values(a):
        found = untyped.linalg.svd(a, full_matrices, compute_uv)
        return SVDResult(*found) if compute_uv else found
    if compute_uv and full_matrices and a.ndim > 1 and a.shape[-1] != a.shape[-2]:
        raise TypeError(
            "svd(full_matrices=True) needs a square matrix of Values, because its further singular vectors have no "
            f"derivatives, got the shape {a.shape}: pass full_matrices=False"
        )
    result: SVDResult = _thin_svd(a)
    return result if compute_uv else result.S


def svdvals(x: Any) -> Any:
    """Compute the singular values of a matrix. See `svd` for derivatives if singular values are equal or 0.

    Args:
        x: A matrix of Values or numbers, or a stack of matrices.

    Returns:
        The singular values, in descending order.
    """
    return svd(x, compute_uv=False)


@over_stacks(keeps_whole=True)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Compute the QR decomposition of a matrix. Derivatives exist if the leading columns are linearly independent.

    Args:
        a: A matrix of Values or numbers, or a stack of matrices.
        mode: "reduced", "complete" or "r"; for a matrix of numbers also the other modes of `numpy.linalg.qr`.

    Returns:
        Q, with orthonormal columns, and the upper triangular R, or only R if `mode` is "r".

    Raises:
        TypeError: `mode` is "complete", and a matrix of Values has more rows than columns.
        ValueError: The mode is unknown.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda a: qr(a)[1][0, 0])(numpy.array([[2.0, 0.0], [0.0, 1.0]])).round(6).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    if not holds_values(a):
        found = untyped.linalg.qr(a, mode)
        return QRResult(*found) if mode in ("reduced", "complete") else found
    rows, columns = a.shape
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f'mode must be "reduced", "complete" or "r" for a matrix of Values, got {mode!r}')
    if mode == "complete" and rows > columns:
        raise TypeError(
            'qr(mode="complete") needs a matrix of Values that is square or wide, because the further '
            f'columns of Q have no derivatives, got the shape {a.shape}: pass mode="reduced"'
        )
    q, r = _results(_QR, a[:, :rows])
    if columns > rows:
        r = numpy.concatenate([r, q.T @ a[:, rows:]], axis=1)
    return r if mode == "r" else QRResult(q, r)


def pinv(a: Any, rtol: float | None = None) -> Any:
    """Compute the pseudoinverse of a matrix. Derivatives are those for matrices of the same rank.

    Args:
        a: A matrix of Values or numbers, or a stack of matrices.
        rtol: Singular values below `rtol` times the largest are treated as 0. None for 10 times the precision times the
            larger dimension, as in JAX; for a matrix of numbers, None for 1e-15, as in NumPy.

    Returns:
        The pseudoinverse.

    Example:
        >>> pinv(numpy.array([[2.0], [0.0]])).tolist()
        [[0.5, 0.0]]
    """
    a = as_array(a)
    if not holds_values(a):
        return numpy.linalg.pinv(a) if rtol is None else numpy.linalg.pinv(a, rtol)
    chosen = 10.0 * _precision(a.shape) if rtol is None else rtol
    return _pinv_of_values(a, chosen)


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Any, Any, Any, Any]:
    """Solve a x = b by least squares. If there are several solutions, return the one with the smallest norm.

    The solution for Values is the product of the pseudoinverse and `b`. Its derivatives are those for matrices of the
    same rank.

    Args:
        a: A matrix of Values or numbers, shape (M, N).
        b: An array of shape (M,), or (M, K) for K systems.
        rcond: Singular values below rcond times the largest are treated as 0; None for the larger dimension times the
            precision.

    Returns:
        The solution; the sums of squared residuals; the rank of `a`, which is a Value in a recorded function; and the
        singular values of `a`. For numbers, the residuals are empty if the rank is less than N or M <= N.

    Raises:
        LinAlgError: The shapes do not match.

    Example:
        >>> from gradwalk import grad
        >>> a = numpy.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> grad(lambda b: lstsq(a, b)[0][0])(numpy.array([1.0, 2.0, 4.0])).round(6).tolist()
        [0.833333, 0.333333, -0.166667]
    """
    a, b = as_array(a), as_array(b)
    if not holds_values(a, b):
        return numpy.linalg.lstsq(a, b, rcond)
    if a.ndim != 2 or b.ndim not in (1, 2) or len(a) != len(b):
        raise LinAlgError(f"lstsq: a must have the shape (M, N), and b (M,) or (M, K), got {a.shape} and {b.shape}")
    rcond = _precision(a.shape) if rcond is None else rcond
    x = (_pinv_of_values(a, rcond) if holds_values(a) else numpy.linalg.pinv(a, rcond)) @ b
    residuals = numpy.sum((b - a @ x) ** 2, axis=0)
    values = svdvals(a)
    return x, numpy.atleast_1d(residuals), _rank(values, rcond), values


def matrix_rank(a: Any, rtol: float | None = None) -> Any:
    """Return the rank of a matrix: the number of singular values greater than a bound.

    Args:
        a: A matrix of Values or numbers, or a stack of matrices.
        rtol: The bound is `rtol` times the largest singular value; None for the larger dimension times the precision.

    Returns:
        An int or an array of ints. In a recorded function, Values with derivative 0.
    """
    a = as_array(a)
    if a.ndim < 2:
        return numpy.linalg.matrix_rank(numbers(a))
    return _rank(svdvals(numbers(a) if are_known(a) else a), _precision(a.shape) if rtol is None else rtol)


@over_stacks(keeps_whole=True)
def expm(a: Any) -> Any:
    """Compute the exponential of a matrix, like `jax.scipy.linalg.expm`.

    The method is scaling and squaring with a Padé approximant (Higham, "The scaling and squaring method for the matrix
    exponential revisited", 2005). The derivative in the direction e is a block of the exponential of [[a, e], [0, a]]
    (Van Loan, "Computing integrals involving the matrix exponential", 1978).

    Args:
        a: A square matrix of Values or numbers, or a stack of matrices.

    Returns:
        The exponential.

    Raises:
        LinAlgError: The matrix is not square.

    Example:
        >>> expm(numpy.array([[0.0, 1.0], [0.0, 0.0]])).round(6).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    if a.ndim > 2:
        return numpy.array([expm(x) for x in matrices_of(a)]).reshape(a.shape)
    size_of(a)
    return _results(_EXPM, a)[0] if holds_values(a) else _exponential(a.astype(numpy.result_type(a, numpy.float64)))


@over_stacks(keeps_whole=True)
def _thin_svd(a: Any) -> SVDResult:
    return SVDResult(*_results(_SVD, a))


@over_stacks(keeps_whole=True)
def _pinv_of_values(a: Any, rtol: float) -> Any:
    return _results(_pinv_rule(float(rtol)), a)[0]


def _rank(values: Any, rtol: float) -> Any:
    """Return the number of singular values greater than `rtol` times the largest."""
    known = numbers(values) if are_known(values) else values
    return numpy.sum(greater(known, rtol * known[..., :1]), axis=-1)


eig = plain(numpy.linalg.eig)
eigvals = plain(numpy.linalg.eigvals)


def _results(rule: Rule, a: Any) -> list[Any]:
    """Return the results of a rule for a matrix of Values."""
    found = whole_results(rule, a)
    return matrix_call(rule, a.shape).of(a) if found is None else found


def _precision(shape: Shape) -> float:
    return float(max(shape[-2:]) * numpy.finfo(float).eps)


def _eigh_tangent(_: Any, results: Any, da: Any) -> list[Any]:
    values, vectors = results
    turned = vectors.T @ (da + da.T) @ vectors / 2.0
    mixed = _divided(turned, values[None, :] - values[:, None])
    return [numpy.diagonal(turned), vectors @ mixed]


def _svd_tangent(a: Any, results: Any, da: Any) -> list[Any]:
    u, s, vt = results
    turned = u.T @ da @ vt.T
    by_columns, by_rows = turned * s, turned.T * s
    gaps = (s[None, :] - s[:, None]) * (s[None, :] + s[:, None])
    du = u @ _divided(by_columns + by_columns.T, gaps)
    dv = vt.T @ _divided(by_rows + by_rows.T, gaps)
    rows, columns = a.shape
    if rows > columns:
        moved = da @ vt.T
        du = du + (moved - u @ turned) / s
    if columns > rows:
        moved = da.T @ u
        dv = dv + (moved - vt.T @ turned.T) / s
    return [du, numpy.diagonal(turned), dv.T]


def _divided(matrix: Any, gaps: Any) -> Any:
    """Divide the elements of a matrix by gaps; elements of the diagonal become 0."""
    if is_whole(matrix):
        on_diagonal = numpy.eye(len(matrix))
        return numpy.where(on_diagonal == 1.0, 0.0, matrix / (gaps + on_diagonal))
    size = range(len(matrix))
    rows = [[0.0 if i == j else matrix[i, j] / gaps[i, j] for j in size] for i in size]
    return numpy.array(rows, object).reshape(matrix.shape)


def _qr_tangent(_: Any, results: Any, da: Any) -> list[Any]:
    q, r = results
    ratio = _of_upper_triangle(da, r)
    turned = q.T @ ratio
    lower = numpy.tril(turned, -1)
    upper = turned - lower + lower.T
    return [ratio - q @ upper, numpy.triu(upper @ r)]


def _of_upper_triangle(a: Any, r: Any) -> Any:
    """Return a r⁻¹, for an upper triangular r."""
    found = whole_lower_solution(r.T, a.T, is_transposed=False)
    if found is not None:
        return found.T
    columns: list[Any] = []
    for j in range(len(r)):
        rest = a[:, j]
        for k, column in enumerate(columns):
            rest = rest - column * r[k, j]
        columns.append(rest / r[j, j])
    return numpy.stack(columns, axis=1)


def _pinv_tangent(a: Any, results: Any, da: Any) -> list[Any]:
    [p] = results
    if len(p) > p.shape[1]:
        return [_pinv_tangent(a.T, [p.T], da.T)[0].T]
    of_residuals = p @ p.T @ da.T  # the order of the products avoids large matrices, because p is wide or square
    of_null_space = da.T @ p.T @ p
    return [of_residuals - of_residuals @ a @ p + of_null_space - p @ a @ of_null_space - p @ da @ p]


def _expm_tangent(a: Any, _: Any, da: Any) -> list[Any]:
    return [_derivative_of_exponential(a, da)]


def _expm_cotangent(a: Any, adjoints: Any) -> Any:
    return _derivative_of_exponential(a.T, adjoints[0])


def _derivative_of_exponential(a: Any, direction: Any) -> Any:
    size = len(a)
    blocks = numpy.block([[a, direction], [numpy.zeros(a.shape), a]])
    return expm(blocks)[:size, size:]


_PADE = [64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0]
_PADE += [10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0]
_LARGEST_NORM = 5.371920351148152  # the approximant is accurate up to this 1-norm


def _exponential(a: Any) -> Any:
    """Return the exponential of a matrix of numbers."""
    size = len(a)
    norm = numpy.abs(a).sum(axis=0).max(initial=0.0)
    if not numpy.isfinite(norm):
        return numpy.full(a.shape, numpy.nan)
    squarings = max(0, int(numpy.ceil(numpy.log2(norm / _LARGEST_NORM)))) if norm > 0.0 else 0
    x = a / 2.0**squarings
    powers = [numpy.eye(size)]
    for _ in range(3):
        powers.append(powers[-1] @ (x @ x))
    even, odd = (_polynomial(_PADE[start::2], powers) for start in (0, 1))
    odd = x @ odd
    found = numpy.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        found = found @ found
    return found


def _polynomial(coefficients: list[float], powers: list[Any]) -> Any:
    """Evaluate a polynomial of degree 6 in x², where `powers` are x⁰, x², x⁴ and x⁶."""
    low = sum(c * power for c, power in zip(coefficients[:4], powers, strict=True))
    high = sum(c * power for c, power in zip(coefficients[4:], powers[1:], strict=False))
    return low + powers[3] @ high


def _square_shape(shape: Shape) -> list[Shape]:
    return [shape]


def _eigh_shapes(shape: Shape) -> list[Shape]:
    return [shape[:1], shape]


def _svd_shapes(shape: Shape) -> list[Shape]:
    rank = min(shape)
    return [(shape[0], rank), (rank,), (rank, shape[1])]


def _qr_shapes(shape: Shape) -> list[Shape]:
    return [shape, (shape[1], shape[1])]


def _pinv_shapes(shape: Shape) -> list[Shape]:
    return [shape[::-1]]


def _expm_numbers(a: Any) -> list[Any]:
    return [_exponential(a)]


def _pinv_numbers(rtol: float, a: Any) -> list[Any]:
    return [numpy.linalg.pinv(a, rtol)]


_EIGH = Rule("eigh", _eigh_shapes, numpy.linalg.eigh, _eigh_tangent)
_SVD = Rule("svd", _svd_shapes, partial(numpy.linalg.svd, full_matrices=False), _svd_tangent)
_QR = Rule("qr", _qr_shapes, numpy.linalg.qr, _qr_tangent)
_EXPM = Rule("expm", _square_shape, _expm_numbers, _expm_tangent, _expm_cotangent)


@cache
def _pinv_rule(rtol: float) -> Rule:
    return Rule("pinv", _pinv_shapes, partial(_pinv_numbers, rtol), _pinv_tangent)
