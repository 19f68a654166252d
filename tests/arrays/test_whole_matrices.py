"""Tests of solutions, determinants and Cholesky factors of matrices that stay one operand."""

from __future__ import annotations

import numpy
import pytest
from whole_arrays import calls_of, compare_with_numbers, x

from gradwalk import grad, jit, loops, value_and_grad, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder
from gradwalk.numpy.linalg.whole_matrices import LogDeterminant, LowerSolution, Solution
from gradwalk.scipy.linalg import cho_factor, cho_solve, solve_triangular

FIXED = numpy.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.0, 1.0, -2.0]])


def matrix(a, x):
    return a * x[:9].reshape(3, 3) + FIXED


def in_a_loop(a, x):
    def step(_, b):
        return gnp.linalg.solve(matrix(a, x), b) + numpy.sin(b)

    return (loops.fori_loop(0, 3, step, x[9:]) ** 2).sum()


def positive(a, x):
    return matrix(a, x) @ matrix(a, x).T + 0.5 * numpy.eye(3) + numpy.triu(matrix(x[0], x), 1)


def of_gaussian_process(a, x):
    factor = gnp.linalg.cholesky(positive(a, x))
    half = gnp.linalg.solve(factor, x[9:])
    return half @ half + 2.0 * numpy.log(numpy.diag(factor)).sum()


def of_normal_equations(a, x):
    m = x.reshape(4, 3)
    return (gnp.linalg.solve(m.T @ m + FIXED @ FIXED.T, m.T @ numpy.cos(a * x[:4])) ** 2).sum()


def changed_one_by_one(a, x):
    m = matrix(a, x)
    for i in range(3):
        m[i, i] = m[i, i] + m.tolist()[0][1]
    return gnp.linalg.solve(m, x[9:]).sum() + gnp.linalg.slogdet(m)[1] + gnp.linalg.solve(positive(a, x), m[0])[1]


FUNCTIONS = {
    "vector": lambda a, x: (gnp.linalg.solve(matrix(a, x), x[9:]) ** 3).sum(),
    "columns": lambda a, x: (gnp.linalg.solve(matrix(a, x), a * x[3:].reshape(3, 3)) ** 3).sum(),
    "a list": lambda a, x: (gnp.linalg.solve(matrix(a, x), [a, 1.0, x[0]]) ** 3).sum(),
    "constant matrix": lambda a, x: (gnp.linalg.solve(FIXED, a * x.reshape(3, 4)) ** 3).sum(),
    "constant vector": lambda a, x: (gnp.linalg.solve(matrix(a, x), numpy.ones(3)) ** 3).sum(),
    "transposed": lambda a, x: (gnp.linalg.solve(matrix(a, x).T, x[9:]) ** 3).sum(),
    "inverse": lambda a, x: (gnp.linalg.inv(matrix(a, x)) ** 2).sum(),
    "logarithm": lambda a, x: gnp.linalg.slogdet(matrix(a, x))[1] ** 2,
    "sign": lambda a, x: gnp.linalg.slogdet(matrix(a, x) - 3.0)[0] * (a * x).sum(),
    "determinant": lambda a, x: gnp.linalg.det(matrix(a, x)) * a,
    "likelihood": lambda a, x: x[9:] @ gnp.linalg.solve(matrix(a, x), x[9:]) + gnp.linalg.slogdet(matrix(a, x))[1],
    "factor": lambda a, x: (gnp.linalg.cholesky(positive(a, x)) ** 3).sum(),
    "upper factor": lambda a, x: (gnp.linalg.cholesky(positive(a, x), upper=True) * x[:9].reshape(3, 3)).sum(),
    "one element of a factor": lambda a, x: gnp.linalg.cholesky(positive(a, x))[2, 1] ** 2,
    "gaussian process": of_gaussian_process,
    "changed one by one": changed_one_by_one,
    "one by one": lambda a, x: gnp.linalg.slogdet(a * x[:1].reshape(1, 1))[1] + gnp.linalg.inv(x[1:2, None])[0, 0],
    "lower triangle": lambda a, x: (solve_triangular(matrix(a, x), x[9:], lower=True) ** 3).sum(),
    "upper triangle": lambda a, x: (solve_triangular(matrix(a, x), a * x[3:].reshape(3, 3)) ** 3).sum(),
    "transposed triangle": lambda a, x: (solve_triangular(matrix(a, x), x[9:], "T", lower=True) ** 3).sum(),
    "transposed upper triangle": lambda a, x: (solve_triangular(FIXED, a * x[9:], 1) ** 3).sum(),
    "unit diagonal": lambda a, x: (solve_triangular(matrix(a, x), x[9:], unit_diagonal=True) ** 3).sum(),
    "two triangles": lambda a, x: (cho_solve(cho_factor(positive(a, x)), x[9:]) ** 3).sum(),
    "stack": lambda a, x: (gnp.linalg.inv(x[:8].reshape(2, 2, 2) + numpy.eye(2) * (3.0 + a)) ** 2).sum(),
    "other functions": lambda a, x: (
        gnp.linalg.det(matrix(a, x)) + gnp.linalg.cholesky(matrix(a, x) + 9.0 * numpy.eye(3)).sum()
    ),
    "loop": in_a_loop,
    "normal equations": of_normal_equations,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_agree_with_the_numbers(name, monkeypatch):
    """The reference computes the elements one by one, by elimination."""
    compare_with_numbers(FUNCTIONS[name], monkeypatch)


@pytest.mark.usefixtures("whole")
def test_matrices_are_single_operands():
    f = jit(
        grad(lambda x: (gnp.linalg.solve(matrix(1.0, x), x[9:]) ** 2).sum() + gnp.linalg.slogdet(matrix(1.0, x))[1])
    )
    f(x)
    assert calls_of(f, Solution, LogDeterminant) == [Solution, Solution, Solution]  # the inverse, for the determinant


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("size", [64, 75])
def test_large_triangles_are_solved_by_blocks(size, lower, trans):
    generator = numpy.random.default_rng(3)
    a, b = generator.normal(size=(size, size)), generator.normal(size=(size, 70))
    a += 3.0 * size * numpy.eye(size)
    triangle = numpy.tril(a) if lower else numpy.triu(a)
    inverse = numpy.linalg.inv(triangle.T if trans else triangle)
    f = jit(lambda a, b: solve_triangular(a, b, trans, lower))
    numpy.testing.assert_allclose(f(a, b), inverse @ b, rtol=1e-10, atol=1e-14)
    assert calls_of(f, Solution) == [LowerSolution]
    of_matrix = jit(grad(lambda a, b: solve_triangular(a, b, trans, lower).sum()))(a, b)
    expected = -numpy.outer(inverse.sum(0), (inverse @ b).sum(1))
    expected = expected.T if trans else expected
    numpy.testing.assert_allclose(of_matrix, numpy.tril(expected) if lower else numpy.triu(expected), atol=1e-12)


def test_singular_triangles_have_no_solution():
    assert numpy.isnan(
        jit(lambda b: solve_triangular(numpy.zeros((70, 70)), b, lower=True))(numpy.ones((70, 60)))
    ).all()


def test_large_factors():
    generator = numpy.random.default_rng(1)
    m = generator.normal(size=(110, 110))
    a = m @ m.T + numpy.eye(110)
    numpy.testing.assert_allclose(jit(gnp.linalg.cholesky)(a), numpy.linalg.cholesky(a))
    logarithm = lambda a: numpy.log(numpy.diag(gnp.linalg.cholesky(a))).sum()  # noqa: E731
    inverse = numpy.linalg.inv(a)
    expected = numpy.tril(inverse) - numpy.diag(numpy.diag(inverse)) / 2.0
    numpy.testing.assert_allclose(jit(grad(logarithm))(a), expected, rtol=1e-7, atol=1e-10)


@pytest.mark.usefixtures("whole")
def test_matrices_that_are_not_positive_definite():
    factor = jit(gnp.linalg.cholesky)(-numpy.eye(2))
    assert numpy.isnan(factor[[0, 1, 1], [0, 0, 1]]).all()
    assert factor[0, 1] == 0.0
    assert numpy.isnan(jit(grad(lambda a: gnp.linalg.cholesky(a)[1, 1]))(-numpy.eye(2)))[0, 0]
    with pytest.raises(numpy.linalg.LinAlgError, match="not positive definite"):
        grad(lambda a: gnp.linalg.cholesky(a).sum())(-numpy.eye(2))


@pytest.mark.usefixtures("whole")
def test_infinite_cotangents_above_the_diagonal_of_a_factor_have_no_effect():
    a = numpy.array([[4.0, 1.0], [1.0, 2.0]])
    found = jit(grad(lambda a: (1.0 / gnp.linalg.cholesky(a))[numpy.tril_indices(2)].sum()))(a)
    assert numpy.isfinite(found).all()


def test_matrices_stay_whole_if_elements_are_used_one_by_one():
    generator = numpy.random.default_rng(2)
    m = generator.normal(size=(110, 110)) + 20.0 * numpy.eye(110)
    f = jit(grad(lambda m: sum(gnp.linalg.inv(m).ravel().tolist()[::3])))
    f(m)
    assert calls_of(f, Solution) == [Solution, Solution]


def test_large_systems():
    generator = numpy.random.default_rng(0)
    m, b = generator.normal(size=(120, 120)), generator.normal(size=120)
    value, logarithm = jit(lambda m: (gnp.linalg.solve(m, b), gnp.linalg.slogdet(m)))(m)
    numpy.testing.assert_allclose(value, numpy.linalg.solve(m, b))
    numpy.testing.assert_allclose(logarithm, numpy.linalg.slogdet(m))
    inverse = numpy.linalg.inv(m)
    of_matrix, of_vector = jit(grad(lambda m, b: gnp.linalg.solve(m, b).sum(), (0, 1)))(m, b)
    numpy.testing.assert_allclose(of_vector, inverse.sum(0), rtol=1e-9)
    numpy.testing.assert_allclose(of_matrix, -numpy.outer(inverse.sum(0), inverse @ b), rtol=1e-7, atol=1e-9)
    numpy.testing.assert_allclose(grad(lambda m: gnp.linalg.slogdet(m)[1])(m), inverse.T, rtol=1e-7, atol=1e-9)
    determinant, of_matrix = jit(value_and_grad(gnp.linalg.det))(m)
    numpy.testing.assert_allclose(determinant, numpy.linalg.det(m))
    numpy.testing.assert_allclose(of_matrix / determinant, inverse.T, rtol=1e-7, atol=1e-9)


@pytest.mark.usefixtures("whole")
def test_singular_matrices():
    singular = numpy.ones((3, 3))
    solution = lambda m: gnp.linalg.solve(m, numpy.ones(3))  # noqa: E731
    assert numpy.isnan(jit(solution)(singular)).all()
    with pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix"):
        grad(lambda m: solution(m).sum())(singular)
    sign, logarithm = jit(gnp.linalg.slogdet)(singular)
    assert (sign, logarithm) == (0.0, -numpy.inf)
    assert numpy.isnan(jit(grad(lambda m: gnp.linalg.slogdet(m)[1]))(singular)).all()
    assert jit(gnp.linalg.det)(singular) == 0.0
    assert numpy.isnan(jit(grad(gnp.linalg.det))(singular)).all()


@pytest.mark.usefixtures("whole")
def test_elements_that_are_nan():
    m = numpy.where(numpy.eye(3) == 1.0, numpy.nan, 1.0)
    assert numpy.isnan(grad(lambda m: gnp.linalg.inv(m).sum())(m)).all()
    assert numpy.isnan(jit(gnp.linalg.slogdet)(m)[1])


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda m: gnp.linalg.solve(m[:2], numpy.ones(2)), numpy.linalg.LinAlgError),
        (lambda m: gnp.linalg.solve(m, numpy.ones(2)), ValueError),
        (lambda m: gnp.linalg.inv(m[0]), numpy.linalg.LinAlgError),
        (lambda m: gnp.linalg.slogdet(m[:, :2]), numpy.linalg.LinAlgError),
    ],
)
def test_wrong_shapes(f, error):
    with pytest.raises(error):
        jit(f)(FIXED)


@pytest.mark.usefixtures("whole")
def test_complex_systems_are_refused_as_small_ones():
    with pytest.raises(TypeError, match="must be a real number"):
        jit(lambda b: gnp.linalg.solve(FIXED * (1.0 + 1.0j), b))(x[:3])


def test_the_sign_of_a_differentiated_function_is_a_float(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    signs = []
    grad(lambda m: signs.append(gnp.linalg.slogdet(m)[0]) or m.sum())(FIXED)
    assert [type(sign) for sign in signs] == [numpy.float64]


def test_batches_of_matrices(monkeypatch):
    matrices = numpy.random.default_rng(5).normal(size=(4, 3, 3))
    f = lambda m: (gnp.linalg.slogdet(m)[1], gnp.linalg.inv(m).sum())  # noqa: E731
    expected = vmap(f)(matrices)
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    numpy.testing.assert_allclose(jit(vmap(f))(matrices), expected)
    numpy.testing.assert_allclose(vmap(jit(f))(matrices), expected)


def test_empty_matrices():
    assert [float(each) for each in jit(lambda x: gnp.linalg.slogdet(x[:0, :0]))(FIXED)] == [1.0, 0.0]
