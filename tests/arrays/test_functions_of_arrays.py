"""Functions of whole arrays, compared with the same functions recorded number by number, to second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from gradwalk import checkpoint, grad, jit, jvp, loops, math, stop_gradient, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder

GENERATOR = numpy.random.default_rng(1)
x = GENERATOR.normal(size=7)
y = GENERATOR.normal(size=7)
X = GENERATOR.normal(size=(7, 3))
WIDE = GENERATOR.normal(size=(3, 7))
CUBE = GENERATOR.normal(size=(2, 9, 3))
A = GENERATOR.normal(size=(4, 7))
w = GENERATOR.normal(size=3)
MASK = x > 0.0


def added_in_place(x: Any) -> Any:
    z = x
    z += 1.0
    z *= 2.0
    return (x * z).sum()


def assigned(x: Any) -> Any:
    z = x.copy()
    z[2] = 3.0 * x[1]
    z[4:] = x[:3]
    return (z * x).sum()


def changed_through_views(x: Any) -> Any:
    z = x.copy()
    part = z[1:4]
    z[2] = 0.0
    total = (part * part).sum()
    part[0] = 1.0
    return total * z.sum() + (z * z).sum()


def changed_part(z: Any, x: Any) -> Any:
    z[2:4] += x[:2]
    return z


def filled(z: Any, x: Any) -> None:
    numpy.add.at(z, [0, 1], x[:2])
    numpy.put(z, [2], x[2])
    z[3:5].fill(x[0])


def inverted(m: Any) -> Any:
    z = m * 1.0
    c = m > 0
    z[c] = z[c] ** 2
    z[~c] = 0.0
    z[c & (m < 1)] *= 3.0
    return z


def masked_twice(x: Any) -> Any:
    c = x > 0
    numpy.add.at(z := x * 1.0, c, 1.0)
    return z, c + c, numpy.asarray(c)


def doubled_where_positive(z: Any) -> Any:
    numpy.multiply(z, 2.0, out=z, where=z > 0)
    return z


def changed_view_of_view(x: Any) -> Any:
    z = (x * 1.0).reshape(1, -1)
    row = z[0]
    row[::2] = 2.0
    return (z * x).sum()


def changed_view_of_wide_array(m: Any) -> Any:
    z = m * 1.0
    flat = z.ravel()
    flat[1] = 0.5
    z += m
    return (z * z).sum() + (flat * flat).sum()


FUNCTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "sum": (lambda x: x.sum(), x),
    "elementwise": (lambda x: numpy.exp(numpy.sin(x) * 2 + 1).sum(), x),
    "powers": (lambda x: (x**3).sum() + (2**x).sum() + (1 / x).sum(), x),
    "subtraction": (lambda x: (1 - x) @ -x + abs(x).sum(), x),
    "maximum": (lambda x: gnp.max(x) ** 2 * x.max() - gnp.min(x * x), x),
    "tied maximum": (lambda x: gnp.max(gnp.round(x)) * x[0], x),
    "logsumexp": (lambda x: math.logsumexp(x) * x[1], x),
    "softmax": (lambda x: math.softmax(x) @ x + (math.log_softmax(x) * y).sum(), x),
    "neighbors": (lambda x: ((x[1:] - x[:-1]) ** 2).sum() + (numpy.diff(x) ** 3).sum(), x),
    "reversed": (lambda x: (x[::-1] * x).sum() + (x[::2] ** 2).sum() * x[-1], x),
    "elements": (lambda x: x[0] * x[-1] + x[2:5].sum() * x[2:5][0], x),
    "where": (lambda x: gnp.where(x > 0, gnp.sqrt(x), x * x).sum(), x),
    "guarded root": (lambda x: gnp.where(gnp.less(0.0, x), gnp.log(x), 0.0).sum() ** 2, x),
    "clip": (lambda x: gnp.clip(x, -0.5, 0.5).sum() * x.sum() + (gnp.maximum(x, 0.0) * x).sum(), x),
    "logical": (lambda x: gnp.where((x > -1) & (x < 1), x * x, 0.0).sum() + gnp.sum(x, where=x > 0), x),
    "predicates": (lambda x: gnp.where(gnp.isnan(x), 0.0, x * gnp.sign(x)).sum() ** 2, x),
    "moments": (lambda x: x.mean() ** 2 + x.var() * x.std(ddof=1) + gnp.var(x) * gnp.mean(x), x),
    "norm": (lambda x: numpy.linalg.norm(x) * x[3], x),
    "rows times vector": (lambda m: ((m @ w - y) ** 2).mean() + (gnp.dot(m, w) ** 3).sum(), X),
    "vector times rows": (lambda m: ((y @ m) ** 2).sum(), X),
    "normal equations": (lambda m: ((m.T @ m) ** 2).sum(), X),
    "constant matrix": (lambda x: ((A @ x) ** 2).sum() * (x @ A.T).sum(), x),
    "columns summed": (lambda m: (m.sum(axis=0) ** 2).sum() * (m.sum(axis=1) ** 3).sum(), X),
    "centered": (lambda m: ((m - m.mean(axis=0)) ** 2).sum() * ((m - m.mean(axis=1, keepdims=True)) ** 3).sum(), X),
    "maxima of axes": (lambda m: (gnp.max(m, axis=1) ** 2).sum() * (gnp.max(m, axis=0) ** 2).sum(), X),
    "logsumexp of axes": (lambda m: math.logsumexp(m, axis=1).sum() * (math.logsumexp(m, axis=0) ** 2).sum(), X),
    "softmax of axes": (lambda m: (math.softmax(m, axis=1) * m).sum() * (math.softmax(m, axis=0) * m).sum(), X),
    "columns": (lambda m: (m[:, 0] * m[:, 1]).sum() * m[2, 1] + (m[:, None, :] * m[:, :, None]).sum(), X),
    "transposed": (lambda m: (m.T * y).sum() ** 2 + m[1] @ m[2], X),
    "wide": (lambda m: (m[0] * m[1]).sum() * m[2, 3] + (m.T @ m[:, 1] * y).sum(), WIDE),
    "rows in the middle": (
        lambda m: (m[1] * m[0]).sum() * (m[:, 2, :] + m[0, :2, :]).sum() + m[..., 0].sum() ** 2,
        CUBE,
    ),
    "axes of a cube": (lambda m: (m.sum(axis=1) ** 2).sum() * (m.transpose(2, 0, 1)[1] ** 2).sum(), CUBE),
    "reshaped": (lambda m: (m.reshape(-1) ** 2).sum() * m.ravel()[4] + (m[:, 1].reshape(-1, 1) * m).sum() ** 2, X),
    "stacked": (lambda x: (numpy.stack([x, x * x], axis=1) ** 2).sum() + numpy.hstack([x, 2 * x]).sum() ** 2, x),
    "joined": (lambda m: (numpy.concatenate([m, m * m], axis=1) ** 2).sum() ** 2, X),
    "cumulative": (lambda x: (numpy.cumsum(x) ** 2).sum() * numpy.prod(x), x),
    "Python loops": (
        lambda x: sum(v * v for v in x) * sum(x) * max(x) + sum(a * b for a, b in zip(x, y, strict=True)),
        x,
    ),
    "sorted": (lambda x: (gnp.sort(x) * numpy.arange(7.0)).sum() + gnp.quantile(x, 0.3) ** 2 + gnp.median(x), x),
    "chosen": (lambda x: (x[MASK] ** 2).sum() + (x[numpy.array([0, 2, 2])] ** 2).sum() + x[gnp.argmax(x)] ** 2, x),
    "outer product": (lambda x: (x[:, None] * x[None, :]).sum() ** 2, x),
    "in place": (added_in_place, x),
    "assignments": (assigned, x),
    "views": (changed_through_views, x),
    "views of views": (changed_view_of_view, x),
    "view of a wide array": (changed_view_of_wide_array, WIDE),
    "masks": (lambda x: x[x > 0.1].sum() ** 2 + (x[~numpy.less(x, 0.1)] ** 3).sum(), x),
    "tied maxima of a matrix": (
        lambda m: gnp.max(m) ** 2 - gnp.min(m) * m.sum() + gnp.max(m, axis=1) @ y,
        numpy.rint(X),
    ),
    "branches": (lambda x: (x * x).sum() if x.sum() > 0 else (x**3).sum(), x),
    "branch of an element": (lambda x: (x * x).sum() if x[0] > 100 else (x**3).sum(), x),
    "two operands": (lambda x: numpy.arctan2(x, y).sum() * numpy.hypot(x, 1.0).sum(), x),
    "scalars and arrays": (lambda x: (x * x.sum()).sum() + (stop_gradient(x) * x).sum(), x),
    "tuple": (lambda t: (t[0] * t[1][:, 0]).sum() * t[2], (x, X, 2.5)),
    "nested gradient": (lambda x: (grad(lambda z: (z * z * x).sum())(x) * x).sum(), x),
    "gradient of one element": (lambda x: (grad(lambda z: (z**3).sum())(x[:1]) * x).sum(), x),
    "tangent of one element": (lambda m: jvp(lambda z: (z @ z).sum(), (m[:1, :1],), (m[1:2, 1:2],))[1] ** 2, X),
    "loop from one element": (lambda x: loops.fori_loop(0, 3, lambda i, z: z * z + x.mean(), x[:1]).sum(), x),
    "nested jit": (lambda x: jit(lambda z: (z * z).sum())(x) * x.sum(), x),
    "nested jvp": (lambda x: jvp(lambda z: (z**3).sum(), (x,), (x,))[1], x),
    "checkpoint": (lambda x: checkpoint(lambda z: (z * z).sum())(x) ** 2, x),
    "vmap": (lambda x: (vmap(lambda v: v * v * x[0])(x) * x).sum(), x),
    "vmap with branches": (lambda x: (vmap(lambda v: v * v if v > 0 else -v)(x) * x).sum(), x),
    "vmap with indices": (lambda x: vmap(lambda i, v: w[i] * v)(numpy.arange(7) % 3, x).sum() * x[1], x),
    "vmap with counts": (lambda x: vmap(lambda v: sum([v] * int(abs(v) * 5), 0.0))(x).sum() * x[1], x),
    "vmap of checkpoints": (lambda x: (vmap(checkpoint(lambda v: v * v * v))(x) * x).sum(), x),
    "vmap of gradients": (lambda m: (vmap(grad(lambda row: (row**3).sum()))(m) * m).sum(), X),
    "vmap of loops": (lambda x: vmap(lambda v: loops.fori_loop(0, 5, lambda i, c: c * v + 1, v))(x).sum() ** 2, x),
    "vmap over columns": (lambda m: (vmap(lambda column: column @ y, in_axes=1)(m) ** 2).sum(), X),
    "reduced vmap": (lambda x: vmap(lambda v, u: v * u, reduce="logsumexp")(x, y) * vmap(abs, reduce="max")(x), x),
    "all pairs": (lambda x: vmap(lambda a: numpy.exp(-((a - x) ** 2)).sum())(x).sum(), x),
    "sum in a vmap": (lambda x: (vmap(lambda a: a * x.sum() + math.logsumexp(x * a))(x) ** 2).sum(), x),
    "vmap in a vmap": (lambda m: vmap(lambda r: vmap(lambda s: (r @ s) ** 2)(m).sum())(m).sum(), X),
    "gradient in a vmap": (lambda x: vmap(grad(lambda z: z * z * x.sum()))(x).sum(), x),
    "loop in a vmap": (lambda x: vmap(lambda a: loops.fori_loop(0, 3, lambda i, c: c * a + x.sum(), 1.0))(x).sum(), x),
    "sum in a gradient": (lambda x: grad(lambda w: (x * w).sum() ** 2)(2.0) + x.sum(), x),
    "loop around arrays": (lambda x: loops.fori_loop(0, 3, lambda i, c: c * 0.5 + (x * c).sum(), 1.0), x),
    "scan of the elements": (lambda x: loops.scan(lambda c, v: (c * 0.9 + v * v, None), 0.0, x)[0], x),
    "cond": (lambda x: loops.cond(x.sum() > 0, lambda: x @ x, lambda: x**3 @ x), x),
    "functions of gradwalk.math": (lambda x: math.sigmoid(x).sum() * math.erf(x).sum() + math.relu(x).sum() ** 2, x),
    "rounded": (lambda x: (numpy.floor(x) * x).sum() + (numpy.mod(x, 1.0) * x).sum(), x),
    "like arrays": (lambda x: (numpy.zeros_like(x) + x).sum() ** 2 + x.copy().sum() / len(x) + x.shape[0] * x[0], x),
    "differences": (lambda m: (numpy.diff(m, axis=0) ** 2).sum() * (numpy.diff(m, 2) ** 3).sum(), X),
    "flipped": (lambda m: (numpy.flip(m) * m).sum() * (numpy.flip(m, 1)[:, 0] ** 2 * y).sum(), X),
    "squeezed": (lambda m: (m[:, :1].squeeze() * m[:, None, 1].squeeze(1) * y).sum() ** 2, X),
    "converted": (lambda x: (gnp.asarray(x, float) * gnp.array(x) * numpy.atleast_1d(x)).sum() ** 2, x),
    "integrals": (lambda m: gnp.trapezoid(m[:, 0] ** 2, y) * (gnp.trapezoid(m, axis=0, dx=0.5) ** 2).sum(), X),
    "einsum": (lambda m: numpy.einsum("ij,ij->", m, m) ** 2, X),
    "interp": (lambda x: (gnp.interp(x, y.cumsum() ** 2, w[[0, 1, 2, 0, 1, 2, 0]], left=0.3) * x).sum(), x),
    "interp in a table of Values": (lambda x: (gnp.interp(y, numpy.arange(7.0), x) * y).sum() ** 2, x),
    "select": (lambda x: (gnp.select([x > 0.5, x > -0.2], [x * x, numpy.sin(x)], x[0]) * x).sum(), x),
    "piecewise": (lambda x: (gnp.piecewise(x, [x < 0.0, x > 0.4], [lambda t: t**3, 2.0, gnp.cos]) * x).sum(), x),
    "gradient": (lambda m: (gnp.gradient(m, axis=0) ** 2).sum() * (gnp.gradient(m[:, 0], 0.5) ** 3).sum(), X),
    "any and all": (
        lambda m: gnp.where(gnp.any(m > 1.0) * gnp.all(m < 9.0), m, m * m).sum() + (gnp.any(m > 0.5, 0) * m**2).sum(),
        X,
    ),
    "branch on any": (lambda x: (x**2).sum() if (x > 0.3).any() and not numpy.all(x > 0.3) else x[0], x),
    "median": (lambda m: gnp.median(m[:, 0]) ** 2 * gnp.quantile(m[:, 1] * y, 0.3) + gnp.median(m) ** 3, X),
    "updates": (
        lambda x: (gnp.at(x)[2].set(x[0] * 2) * gnp.at(x)[MASK].multiply(x[1]) * gnp.at(x)[:3].min(y[:3])).sum(),
        x,
    ),
    "repeated updates": (lambda x: (gnp.at(x)[numpy.array([0, 0, 2])].add(x[4:]) ** 2).sum(), x),
    "updates of Values": (lambda x: (gnp.at(x)[gnp.argmax(x * y)].add(x[0]) ** 3).sum(), x),
    "taken at the maximum": (lambda x: gnp.take(x, gnp.argmax(x * y)) ** 2 * x[0], x),
    "arrays of arrays": (
        lambda x: (gnp.array([x, x * x]) ** 2).sum() * (gnp.asarray([y, x], float)[:, 1] ** 2).sum(),
        x,
    ),
    "covariance": (lambda m: (gnp.cov(m.T) ** 2).sum() * gnp.cov(m[:, 1]), X),
    "outer": (lambda x: (numpy.multiply.outer(x, w) ** 2).sum() * numpy.outer(x, x)[2].sum(), x),
    "updates where a condition holds": (lambda x: (gnp.at(x)[x > 0.2].set(2.0) * gnp.at(x)[x < 0].add(x[1])).sum(), x),
    "repeated updates by a number": (lambda x: (gnp.at(x)[[0, 0, 1]].add(x[3]) * gnp.at(x)[[1, 1]].power(2)).sum(), x),
    "added at": (lambda x: added_at(x * 1.0, [0, 0, 2], x[1:4] * x[0]), x),
    "masks of plain arrays": (
        lambda x: (x[:3] * numpy.arange(7.0)[x > 0][:3]).sum() + numpy.asarray(x > 0)[0] * x[0],
        x,
    ),
    "masks of products": (lambda x: (x[2:4].sum() * numpy.where((x > 0) * (x < 1), x, 2.0)).sum(), x),
    "numpy.select": (lambda x: (numpy.select([x > 0.5, x < 0], [x * x, x], 2.0) * x).sum(), x),
    "triangles": (lambda m: (numpy.tril(m, -1) ** 2 + numpy.triu(m) ** 3).sum() * numpy.trace(m), X),
    "differences with ends": (lambda x: (numpy.diff(x, 2, prepend=0.0, append=x[:2]) ** 2).sum(), x),
    "order of columns": (lambda m: (m.ravel("F") * numpy.arange(21.0) * numpy.atleast_2d(m).T.ravel()).sum(), X),
    "diagonals": (lambda m: (numpy.diag(m) ** 2).sum() + (m.sum() * numpy.diag(m, -2) ** 2).sum(), X),
    "einsum of numbers": (lambda m: (numpy.einsum("ij,j,->i", m, [1.0, 2.0, 3.0], m[0, 0]) ** 2).sum(), X),
    "digitized": (lambda x: (gnp.searchsorted(numpy.array([-0.5, 0.1, 0.6]), x) * x**2).sum(), x),
}


def added_at(z: Any, key: Any, values: Any) -> Any:
    numpy.add.at(z, key, values)
    numpy.subtract.at(z, [1, 1, 1], 0.5)
    return (z * z).sum()


def sum_of_squares(tree: Any) -> Any:
    leaves = tree if isinstance(tree, tuple) else (tree,)
    return sum((leaf * leaf).sum() if numpy.ndim(leaf) else leaf * leaf for leaf in leaves)


def all_derivatives(f: Callable[..., Any], argument: Any) -> list[Any]:
    """Return the value, and the first and second derivatives, recorded and not."""
    second = grad(lambda a: sum_of_squares(grad(f)(a)))
    found = [jit(f)(argument), grad(f)(argument), jit(grad(f))(argument), second(argument), jit(second)(argument)]
    return [numpy.concatenate([numpy.ravel(leaf) for leaf in (x if isinstance(x, tuple) else (x,))]) for x in found]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whole_arrays_agree_with_their_numbers(name, monkeypatch):
    f, argument = FUNCTIONS[name]
    expected = all_derivatives(f, argument)
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    for found, known in zip(all_derivatives(f, argument), expected, strict=True):
        assert found.dtype == numpy.float64
        numpy.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-11)


RESULTS: dict[str, tuple[Callable[..., Any], Any]] = {
    "itself": (lambda x: x, x),
    "twice": (lambda x: (x, x), x),
    "slice": (lambda x: x[1:], x),
    "transposed": (lambda m: m.T, X),
    "wide": (lambda m: m.T * 2, WIDE),
    "cube": (lambda m: (m * m, m.sum(axis=1), m.sum(axis=0) * 2, m.sum(axis=2), m[:, ::2]), CUBE),
    "axes of a cube": (
        lambda m: (m.reshape(-1), m.transpose(1, 2, 0)[3], numpy.moveaxis(m, 1, 0), m[:, :, None, 1:]),
        CUBE,
    ),
    "ints": (lambda i: (i * 2, i.sum(), i), numpy.arange(7)),
    "ints as indices": (lambda i: sum(x[j] for j in i[::2]), numpy.arange(7)),
    "bools": (lambda b: b * 2, MASK),
    "comparisons": (lambda x: (x > 0, gnp.less(x, 0.3), gnp.sum(x > 0)), x),
    "truths": (lambda m: (numpy.any(m > 1, 0), numpy.all(m, 1, keepdims=True), (m > 3).any(), gnp.all(m < 9)), X),
    "counts": (lambda m: ((m > 0).sum(axis=1), gnp.count_nonzero(m > 0, axis=0), (m > 0).sum()), X),
    "joined ints": (lambda i: (numpy.concatenate([i * 2, i * 3]), gnp.cumsum(i > 2), numpy.pad(i, 1)), numpy.arange(7)),
    "arithmetic of conditions": (
        lambda x: ((x > 0) + (x < 1), (x > 0) * (x < 1), (x > 0) * 1 + 2, 1 - (x > 0), ((x > 0) + (x < 1)).mean()),
        x,
    ),
    "functions of conditions": (
        lambda m: (
            *(numpy.diff(m > 0), numpy.cumsum(m > 0, axis=1), numpy.pad(m > 0, 1), numpy.maximum(m > 0, m < 1)),
            *(numpy.zeros_like(m > 0), numpy.concatenate([m > 0, numpy.ones((1, 3), int)]), (m > 0).astype(float) * m),
            *((m > 0).astype(int), (m > 0).astype(bool)),
        ),
        X,
    ),
    "carry of zeros": (lambda x: loops.fori_loop(0, 3, lambda i, z: changed_part(z, x), numpy.zeros_like(x)), x),
    "outputs of a carry of zeros": (
        lambda x: (
            loops.scan(lambda z, i: (z + x, z.sum()), numpy.zeros_like(x), numpy.arange(2.0))[1],
            loops.scan(lambda z, i: (z + x, z), numpy.ones_like(x), numpy.arange(2.0))[1],
            loops.fori_loop(0, 2, lambda i, t: (t[0] + x, t[0], t[2]), (numpy.zeros_like(x),) * 3)[1],
        ),
        x,
    ),
    "carry changed by functions": (
        lambda x: loops.fori_loop(0, 2, lambda i, z: (filled(z, x), z)[1], numpy.zeros_like(x)),
        x,
    ),
    "conditions as masks": (lambda m: (inverted(m), m[(m > 1).any(axis=1)], (m > 0)[m > 1], masked_twice(m[:, 0])), X),
    "where of ufuncs": (lambda x: doubled_where_positive(x * 1.0), x),
    "odd reflection": (lambda x: (numpy.pad(x, 2, "reflect", reflect_type="odd"), numpy.diff(x[:3], 7)), x),
    "carry of ints": (
        lambda x: loops.fori_loop(0, 3, lambda i, c: (c[0] + x, c[1], c[2] + 1), (x, numpy.arange(4), 0)),
        x,
    ),
    "float32": (lambda x: (x * 2, x.sum()), x.astype(numpy.float32)),
    "indices": (lambda x: (gnp.argmax(x), gnp.argmin(x), gnp.argsort(x)), x),
    "vmap": (lambda m: (vmap(lambda r: r * 2, out_axes=1)(m), vmap(lambda r: {"a": r.sum(), "b": (r, 3.0)})(m)), X),
    "vmap of ints": (vmap(lambda v: v * 2), numpy.arange(7)),
    "means of a vmap": (lambda x: (vmap(lambda v: v * v, reduce="mean")(x), vmap(abs, reduce="argmax")(x)), x),
    "stacked results of a scan": (lambda x: loops.scan(lambda c, v: (c + v, c * v), 0.0, x), x),
    "constants": (lambda x: (numpy.ones(3), x * 0 + 1, gnp.where(x > 0, 1.0, 0.0)), x),
    "tree": (lambda x: [x.sum(), x * 2, {"k": x[0]}], x),
    "complex": (lambda x: x * 1j, x),
}


def leaves_of(tree: Any) -> list[Any]:
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in leaves_of(part)]
    return [leaf for part in tree.values() for leaf in leaves_of(part)] if isinstance(tree, dict) else [tree]


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_the_same_types_and_shapes(name, monkeypatch):
    f, argument = RESULTS[name]
    expected = jit(f)(argument)
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    recorded = jit(f)
    for result in (recorded(argument), recorded(argument)):
        for found, known in zip(leaves_of(result), leaves_of(expected), strict=True):
            assert type(found) is type(known)
            assert getattr(found, "dtype", None) == getattr(known, "dtype", None)
            numpy.testing.assert_allclose(found, known, rtol=1e-12)
            assert not (isinstance(found, numpy.ndarray) and numpy.shares_memory(found, argument))


ERRORS: dict[str, Callable[[Any], Any]] = {
    "negative of conditions": lambda m: -(m > 0),
    "difference of conditions": lambda m: (m > 0) - (m < 1),
    "broadcast array": lambda m: numpy.broadcast_to(m, (2, 7, 3)).__setitem__(0, 1.0),
    "part of a broadcast array": lambda m: numpy.diagonal(m).__setitem__(0, 1.0),
    "einsum with a repeated index": lambda m: numpy.einsum("ij->ii", m),
    "edge with a constant": lambda m: numpy.pad(m, 1, "edge", constant_values=1),
    "mask with a matrix": lambda m: (m[:, 0] * 1.0).__setitem__([True] * 7, m),
    "shapes": lambda m: numpy.concatenate([m, m[:, 0]]),
    "broadcasting": lambda m: (m * 1.0).__setitem__(slice(2), m),
    "axis": lambda m: numpy.stack([m, m], axis=4),
    "index": lambda m: (m * 1.0).__setitem__((7, 0), 1.0),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_the_same_types(name, monkeypatch):
    with pytest.raises((TypeError, ValueError, IndexError)) as expected:
        jit(ERRORS[name])(X)
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    with pytest.raises(expected.type):
        jit(ERRORS[name])(X)
