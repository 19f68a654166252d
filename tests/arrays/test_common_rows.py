"""Whole arrays stay whole in elementwise functions if their rows are along different axes, and in products."""

from __future__ import annotations

import numpy
import pytest
from whole_arrays import calls_of, compare_with_numbers

from gradwalk import grad, jit
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder
from gradwalk.arrays.functions import elementwise
from gradwalk.arrays.layout_calls import Pack, Unpack
from gradwalk.arrays.traced_array import is_whole

FUNCTIONS = {
    "symmetric part": lambda a, m: (m[:, :3] + a * m[:, :3].T) / 2.0,
    "difference of all pairs": lambda a, m: numpy.sin(a * m.ravel()[None, :] - m.ravel()[:, None]),
    "product with a vector of columns": lambda a, m: m * (a * m[0]),
    "product with a vector of rows": lambda a, m: m.T * (a + m[0])[:, None] - m[:1].T,
    "three arrays": lambda a, m: gnp.where(m > 0.0, a * m[1], m[:, 1][:, None] * m[2]),
    "stack and its transpose": lambda a, m: m.reshape(2, 3, 2) * a - m.reshape(2, 3, 2).transpose(2, 1, 0),
    "vector and stack": lambda a, m: numpy.exp(m.reshape(2, 3, 2) * a * m.ravel()[:2]),
    "outer": lambda a, m: numpy.multiply.outer(a * m[0], m.ravel()),
}
PRODUCTS = {
    "tensordot": lambda a, m: numpy.tensordot(a * m.reshape(3, 2, 2), m.reshape(2, 3, 2), ([0, 2], [1, 0])),
    "tensordot of all axes": lambda a, m: numpy.tensordot(a * m, m) * m,
    "tensordot of one axis": lambda a, m: numpy.tensordot(m, a * m.T, 1),
    "tensordot of no axes": lambda a, m: numpy.tensordot(a * m, m[0], 0),
    "multi_dot": lambda a, m: numpy.linalg.multi_dot([m[:, 0], a * m, m.T, m]),
    "multi_dot with a vector": lambda a, m: numpy.linalg.multi_dot([a * m.T, m, m[0]]),
    "einsum of matrices": lambda a, m: numpy.einsum("ij,kj->ki", a * m, m[:2] ** 2),
    "einsum of stacks": lambda a, m: numpy.einsum("ijk,kil->lj", a * m.reshape(2, 3, 2), m.reshape(2, 2, 3)),
    "einsum of rows": lambda a, m: numpy.einsum("ij,ji->j", a * m, m.T),
    "einsum of all elements": lambda a, m: numpy.einsum("ij,ij->", a * m, m) * m,
    "einsum of three": lambda a, m: numpy.einsum("ij,i,j->ij", a * m, m[:, 0], m[1]),
    "einsum of one": lambda a, m: numpy.einsum("ij->j", a * m),
    "einsum with a diagonal": lambda a, m: numpy.einsum("ii,ij->j", a * m[:, :3], m),
    "inner": lambda a, m: numpy.inner(a * m, m[:2]),
    "inner of vectors": lambda a, m: numpy.inner(a * m[0], m[1]) * m,
    "kron": lambda a, m: numpy.kron(a * m[:, :3], m),
    "kron with a vector": lambda a, m: numpy.kron(a * m[0], m[:, :2]),
    "dstack": lambda a, m: numpy.dstack([m, a * m, m.reshape(3, 4, 1) ** 2]),
    "dstack of vectors": lambda a, m: numpy.dstack([m[0], a * m[1]]),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *PRODUCTS])
def test_derivatives_agree_with_the_numbers(name, monkeypatch):
    def f(a, x):
        found = (FUNCTIONS | PRODUCTS)[name](a, x.reshape(3, 4))
        return (found * numpy.cos(numpy.arange(float(found.size))).reshape(found.shape)).sum()

    compare_with_numbers(f, monkeypatch)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (((x + x.T) / 2.0) ** 2).sum(),
        lambda x: (x * x[0] * numpy.sin(x[:, 1])[:, None]).sum(),
        lambda x: ((x[0][:, None] - x[1][None, :]) ** 2 * x).sum(),
        lambda x: (numpy.einsum("ij,kj->ik", x, numpy.sin(x)) ** 2).sum(),
        lambda x: (numpy.einsum("ij,ij->i", x, x.T) ** 2).sum(),
        lambda x: (numpy.tensordot(x, x, (0, 1)) ** 2).sum(),
        lambda x: (numpy.inner(x, x) ** 2).sum(),
        lambda x: (numpy.linalg.multi_dot([x, x.T, x]) ** 2).sum(),
        lambda x: (numpy.kron(x, numpy.ones((2, 2))) ** 2).sum(),
        lambda x: (numpy.dstack([x, x.T]) ** 3).sum(),
        lambda x: (numpy.block([[x, x.T], [x, x]]) ** 3).sum(),
    ],
)
def test_arrays_stay_whole(f):
    x = numpy.random.default_rng(1).normal(size=(80, 80))
    recorded = jit(grad(f))
    recorded(x)
    assert not calls_of(recorded, Pack, Unpack)


def test_a_result_with_too_long_rows_is_an_array_of_values(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    monkeypatch.setattr(elementwise, "MOST_WIDTH", 5)
    whole = []

    def f(x):
        whole.extend(is_whole(x[:, None] * x[None, :n]) for n in (5, 6))
        return x.sum()

    jit(f)(numpy.ones(6))
    assert whole == [True, False]


@pytest.mark.parametrize("size", [3, 80])
def test_a_block_is_a_copy(size):
    def f(x):
        y = numpy.block(x)
        y[0, 0] = 5.0
        return x[0, 0]

    assert jit(f)(numpy.ones((size, size))) == 1.0
