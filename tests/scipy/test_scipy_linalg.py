"""gradwalk.scipy.linalg: values and derivatives are those of JAX."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from references import jax

from gradwalk import grad, hessian, jit, vmap
from gradwalk.scipy import linalg


def positive(a: Any) -> Any:
    """Return a symmetric positive definite matrix."""
    return a @ a.T + 2.0 * numpy.eye(len(a))


CASES = {
    "cholesky": lambda la, a, b: la.cholesky(positive(a)),
    "cholesky, lower": lambda la, a, b: la.cholesky(positive(a), lower=True),
    "cho_solve": lambda la, a, b: la.cho_solve(la.cho_factor(positive(a)), b),
    "cho_solve, lower": lambda la, a, b: la.cho_solve(la.cho_factor(positive(a), lower=True), b[:, 0]),
    "solve": lambda la, a, b: la.solve(a, b),
    "solve, symmetric": lambda la, a, b: la.solve(positive(a), b, assume_a="sym"),
    "solve, positive": lambda la, a, b: la.solve(positive(a), b, assume_a="pos"),
    "solve, positive, lower": lambda la, a, b: la.solve(positive(a), b[:, 1], lower=True, assume_a="pos"),
    "block_diag": lambda la, a, b: la.block_diag(a, b[0], b),
    **{
        f"solve_triangular, {trans}, {lower}, {unit}": lambda la, a, b, trans=trans, lower=lower, unit=unit: (
            la.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit)
        )
        for trans, lower, unit in [
            (0, False, False),
            (0, True, True),
            ("T", False, True),
            (1, True, False),
        ]
    },
}


@pytest.fixture
def point() -> tuple[Any, Any]:
    draws = numpy.random.default_rng(3)
    return draws.normal(size=(3, 3)) + 3.0 * numpy.eye(3), draws.normal(size=(3, 2))


@pytest.mark.parametrize("case", CASES)
def test_results_and_derivatives_are_those_of_jax(case, point):
    f = CASES[case]

    def total(la: Any, *args: Any) -> Any:
        found = f(la, *args)
        return (found * found * (1.0 + numpy.arange(found.size)).reshape(found.shape)).sum()

    theirs = jax.scipy.linalg
    expected = f(theirs, *point)
    batched = vmap(lambda a, b: f(linalg, a, b))(*(numpy.stack([x, x]) for x in point))
    for found in (f(linalg, *point), jit(lambda *args: f(linalg, *args))(*point), batched[1]):
        numpy.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    slopes = jax.grad(lambda *args: total(theirs, *args), argnums=(0, 1))(*point)
    ours = grad(lambda *args: total(linalg, *args), argnums=(0, 1))
    for found in (ours(*point), jit(ours)(*point)):
        for x, y in zip(found, slopes, strict=True):
            numpy.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("case", ["cholesky", "cho_solve", "solve_triangular, T, False, True"])
def test_second_derivatives_are_those_of_jax(case, point):
    def total(la: Any, a: Any) -> Any:
        return (CASES[case](la, a, point[1]) ** 3).sum()

    expected = jax.hessian(lambda a: total(jax.scipy.linalg, a))(point[0])
    found = hessian(lambda a: total(linalg, a))(point[0])
    numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lower", [False, True])
def test_the_other_triangle_is_not_read(lower, point):
    a, b = point
    polluted = numpy.where(numpy.tri(3, k=0 if lower else -1, dtype=bool) == lower, a, numpy.nan)
    numpy.testing.assert_allclose(
        linalg.solve_triangular(polluted, b, lower=lower),
        jax.scipy.linalg.solve_triangular(numpy.nan_to_num(polluted), b, lower=lower),
        rtol=1e-12,
    )
    symmetric = positive(a)
    polluted = numpy.where(numpy.tri(3, k=0 if lower else -1, dtype=bool) == lower, symmetric, numpy.nan)
    numpy.testing.assert_allclose(linalg.cholesky(polluted, lower), linalg.cholesky(symmetric, lower), rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, b: linalg.solve(a, b, assume_a="tri"), "assume_a must be one of 'gen', 'sym', 'her', 'pos', got 't"),
        (lambda a, b: linalg.solve_triangular(a, b, trans=3), "trans must be 0, 1, 2, 'N', 'T' or 'C', got 3"),
        (lambda a, b: linalg.solve_triangular(a, b[:2]), r"must have the shapes .* got \(3, 3\) and \(2, 2\)"),
        (lambda a, b: linalg.cho_solve((a, True), b.T), r"must have the shapes .* got \(3, 3\) and \(2, 3\)"),
        (lambda a, _: linalg.block_diag(a, a[None]), r"at most two axes, got shapes \[\(3, 3\), \(1, 3, 3\)\]"),
    ],
)
def test_errors_say_what_was_given(call, message, point):
    with pytest.raises(ValueError, match=message):
        call(*point)


def test_empty_systems_have_empty_solutions():
    assert linalg.solve_triangular(numpy.zeros((0, 0)), numpy.zeros(0)).shape == (0,)
    assert linalg.solve_triangular(numpy.eye(2), numpy.zeros((2, 0))).shape == (2, 0)
