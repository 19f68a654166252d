"""Expressions of `jax.numpy` that gradwalk.numpy evaluates to the same numbers and derivatives, with JAX's results.

JAX needs about a minute for all expressions. tests/numpy/jnp_references.json therefore stores its results. After
changing an expression, run: python tests/helpers/jnp_expressions.py
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from beside_jax import as_values, loss
from checkout import ROOT
from references import jax, jnp

import gradwalk.numpy as gnp
from gradwalk import Value, grad, jit, jvp, vmap

REFERENCES = ROOT / "tests/numpy/jnp_references.json"

INPUTS = {
    "x": numpy.array([0.7, -0.3, 1.9, 1.1]),
    "y": numpy.array([0.4, 2.1, -0.8, 0.9]),
    "p": numpy.array([0.35, 0.8, 0.15, 0.6]),  # between 0 and 1
    "m": numpy.array([[2.0, 0.5, -0.1], [0.4, 3.0, 0.2], [-0.3, 0.6, 1.5]]),
    "n": numpy.array([[0.6, -1.5], [1.2, 0.3], [-0.9, 0.7]]),
}

EXPRESSIONS = """
np.abs(x) * x
np.absolute(x) * x
np.acos(p)
np.acosh(p + 1.2)
np.add(x, y)
np.all(np.greater(p, 0.0)) * x
np.allclose(x, x + 1e-9) * x
np.amax(x * y)
np.amin(m, axis=0)
np.any(np.greater(x, 1.0)) * x
np.append(x, y)
np.append(m, m, axis=1)
np.apply_along_axis(lambda row: row * row[0], 1, m)
np.apply_along_axis(np.sum, 0, m)
np.apply_over_axes(np.sum, m, [0, 1])
np.arccos(p)
np.arccosh(p + 1.2)
np.arcsin(p)
np.arcsinh(x)
np.arctan(x)
np.arctan2(x, y)
np.arctanh(p)
np.argmax(x) * x
np.argmin(m, axis=1) * m
np.argsort(x) * x
np.around(x) * x
np.array([x[0], 2.0, x[1] * x[2]])
np.array([x, y])
np.array(x * x, dtype=np.float64)
np.array_equal(x, x) * y
np.array_equiv(m, m) * m
np.array_split(x * x, 3)[1]
np.asarray([x, y * x])
np.asarray(x * x, dtype=float)
np.asin(p)
np.asinh(x)
np.astype(x * x, np.float64)
np.atan(x)
np.atan2(x, y)
np.atanh(p)
np.atleast_1d(x[0])
np.atleast_2d(x)
np.atleast_3d(m)
np.average(x)
np.average(x * x, weights=p)
np.average(m, axis=0, weights=numpy.array([0.2, 0.5, 0.3]))
np.bincount(numpy.array([0, 1, 1, 3]), weights=x * x)
np.block([[m, m * m], [m, m]])
np.broadcast_arrays(x, y[:1])[1]
np.broadcast_to(x, (2, 4))
np.cbrt(x)
np.ceil(x) * x
np.choose(numpy.array([0, 1, 1, 0]), [x * x, y])
np.clip(x, -0.2, 1.5)
np.clip(x * x, min=0.2)
np.column_stack([x, y])
np.compress(numpy.array([True, False, True]), m, axis=0)
np.concat([x, y])
np.concatenate([x, y * x])
np.concatenate([m, m], axis=1)
np.conj(x) * x
np.conjugate(x) * x
np.convolve(x, y)
np.convolve(x, y[:2], mode="same")
np.convolve(x, y[:2], mode="valid")
np.copy(x) * x
np.copysign(x, y)
np.corrcoef(x, y)
np.corrcoef(m)
np.correlate(x, y[:3])
np.correlate(x, y, mode="full")
np.cos(x)
np.cosh(x)
np.count_nonzero(x) * x
np.cov(m)
np.cov(x, y)
np.cov(x)
np.cov(m, rowvar=False, ddof=0)
np.cross(m[0], m[1])
np.cumprod(x)
np.cumprod(m, axis=0)
np.cumsum(x * x)
np.cumsum(m, axis=1)
np.cumulative_prod(x)
np.cumulative_sum(x * y)
np.cumulative_sum(x, include_initial=True)
np.deg2rad(x) * x
np.degrees(x) * x
np.delete(x, 1)
np.delete(m, 1, axis=0)
np.diag(x)
np.diag(m)
np.diagflat(x)
np.diagonal(m)
np.diff(x * x)
np.diff(m, n=2, axis=0)
np.digitize(x, numpy.array([0.0, 1.0])) * x
np.divide(x, y)
np.divmod(p, 0.3)[1] * p
np.dot(m, m)
np.dot(x, y)
np.dsplit(np.reshape(x, (1, 2, 2)), 2)[0]
np.dstack([x, y])
np.ediff1d(x * x)
np.ediff1d(x, to_begin=numpy.array([0.5]), to_end=y)
np.einsum("ij,jk->ik", m, m)
np.einsum("i,i,i->", x, y, x)
np.einsum("ii->i", m)
np.empty_like(x) * 0.0 + x
np.equal(x, 0.7) * x
np.exp(x)
np.exp2(x)
np.expand_dims(x, 0)
np.expand_dims(m, (0, 2))
np.expm1(x)
np.extract(numpy.array([True, False, True, True]), x * x)
np.fabs(x) * x
np.flip(x)
np.flip(m, axis=0)
np.fliplr(m)
np.flipud(m)
np.float_power(p, y)
np.floor(x) * x
np.floor_divide(x, 0.45) * x
np.fmax(x, y)
np.fmin(x, y)
np.fmod(x, 0.45) * y
np.fromfunction(lambda i, j: i + j, (2, 2)).sum() * x
np.full((2, 4), x)
np.full_like(x, 2.0) * x
np.geomspace(p[0], p[1] * 9.0, 4)
np.gradient(x * x)
np.gradient(x, 0.5)
np.gradient(x, numpy.array([0.0, 0.5, 0.7, 1.5]))
np.gradient(m, axis=1)
np.greater(x, y) * x
np.greater_equal(x, y) * x
np.heaviside(x, 0.5) * x
np.histogram(x, bins=numpy.array([-1.0, 0.0, 1.0, 2.0]), weights=y)[0]
np.hsplit(m, 3)[1]
np.hstack([x, y])
np.hypot(x, y)
np.imag(x) * y
np.inner(x, y)
np.inner(m, m)
np.insert(x, 1, y[0])
np.insert(x, numpy.array([1, 2]), y[:2])
np.insert(m, 1, x[:3], axis=0)
np.interp(p, numpy.array([0.0, 0.4, 1.0]), numpy.array([1.0, 3.0, 2.5])) * p
np.interp(p, numpy.array([0.0, 0.4, 1.0]), y[:3])
np.interp(p * 3.0 - 0.5, numpy.array([0.0, 0.4, 1.0]), y[:3], left=-1.0, right=9.0)
np.isclose(x, 0.7) * x
np.isfinite(x) * x
np.isin(x, numpy.array([0.7, 1.9])) * x
np.isinf(x) * x
np.isnan(x) * x + x
np.isneginf(x) * x
np.isposinf(x) * x
np.isreal(x) * x
np.kron(x, y)
np.kron(m, n)
np.ldexp(x, numpy.array([1, 2, 3, -1]))
np.less(x, y) * x
np.less_equal(x, y) * x
np.linspace(x[0], y[1], 5)
np.linspace(x, y, 3)
np.linspace(x, y, 3, endpoint=False, axis=1)
np.log(p)
np.log10(p)
np.log1p(p)
np.log2(p)
np.logaddexp(x, y)
np.logaddexp2(x, y)
np.logical_and(x, np.greater(y, 0.0)) * x
np.logical_not(np.less(x, y)) * x
np.logical_or(np.less(x, y), np.less(x, 0.0)) * x
np.logical_xor(np.less(x, y), np.less(x, 0.0)) * x
np.logspace(x[0], y[0], 3)
np.matmul(m, n)
np.matrix_transpose(n)
np.matvec(m, x[:3])
np.max(x * y)
np.max(m, axis=1, keepdims=True)
np.max(x, where=numpy.array([True, True, False, True]), initial=-5.0)
np.max(x, initial=1.2)
np.maximum(x, y)
np.mean(x * x)
np.mean(m * m, axis=(0, 1))
np.mean(x * x, where=np.less(y, 1.0))
np.median(x * x)
np.median(m, axis=1)
np.median(m, axis=0, keepdims=True)
np.meshgrid(x, y[:2])[1]
np.min(x * y)
np.minimum(x, y)
np.mod(x, 0.45) * y
np.modf(x)[0] * y
np.moveaxis(np.reshape(x, (1, 2, 2)), 0, 2)
np.multiply(x, y)
np.nan_to_num(x * y)
np.nanargmax(x) * x
np.nanargmin(x) * x
np.nancumprod(x)
np.nancumsum(x * y)
np.nanmax(x * y)
np.nanmean(x * x)
np.nanmean(np.where(np.less(x, 0.0), np.nan, x * x))
np.nanmedian(x * x)
np.nanmin(m, axis=1)
np.nanpercentile(x, 30.0)
np.nanprod(x)
np.nanquantile(x * y, 0.3)
np.nanstd(x)
np.nanstd(m, axis=0, ddof=1)
np.nansum(x * x)
np.nansum(np.where(np.less(x, 0.0), np.nan, x * x))
np.nanvar(x)
np.nanvar(m, axis=1)
np.negative(x) * x
np.not_equal(x, 0.7) * x
np.ones_like(x) * x
np.outer(x, y)
np.pad(x, 2)
np.pad(x, (1, 2), mode="edge")
np.pad(m, ((1, 0), (0, 2)), constant_values=1.5)
np.pad(x, 2, mode="reflect")
np.pad(x, 3, mode="wrap")
np.pad(x, 2, mode="symmetric")
np.partition(x, 2)[2] * x
np.percentile(x, 30.0)
np.percentile(m, numpy.array([20.0, 70.0]), axis=0)
np.permute_dims(n, (1, 0))
np.piecewise(x, [np.less(x, 0.0), np.greater_equal(x, 0.0)], [lambda t: t * t, lambda t: t**3])
np.piecewise(x, [np.less(x, 0.5)], [2.0, lambda t: t * t])
np.poly(x[:3])
np.polyadd(x, y[:2])
np.polyder(x)
np.polydiv(x, y[:2])[0]
np.polyfit(numpy.arange(4.0), x * x, 1)
np.polyfit(p, x, 2)
np.polyint(x)
np.polymul(x, y)
np.polysub(x, y[:2])
np.polyval(x, y)
np.positive(x) * x
np.pow(p, y)
np.power(p, y)
np.power(x, 3)
np.prod(x)
np.prod(m, axis=1)
np.prod(x, where=numpy.array([True, True, False, True]))
np.ptp(x * x)
np.ptp(m, axis=1)
np.quantile(x * x, 0.3)
np.quantile(x, numpy.array([0.0, 0.25, 1.0]))
np.quantile(m, p[0], axis=1, keepdims=True)
np.quantile(x, 0.4, method="higher")
np.quantile(x, 0.4, method="lower")
np.quantile(x, 0.4, method="midpoint")
np.quantile(x, 0.4, method="nearest")
np.rad2deg(x) * x
np.radians(x) * x
np.ravel(m) * 2.0
np.real(x) * y
np.reciprocal(x)
np.remainder(x, 0.45) * y
np.repeat(x, 2)
np.repeat(m, numpy.array([1, 2, 0]), axis=0)
np.reshape(x, (2, 2))
np.resize(x, (3, 2))
np.rint(x) * x
np.roll(x, 1)
np.roll(m, (1, 2), axis=(0, 1))
np.rollaxis(np.reshape(x, (1, 2, 2)), 2)
np.rot90(m)
np.round(x, 1) * x
np.searchsorted(numpy.array([0.0, 1.0]), x) * x
np.select([np.less(x, 0.0), np.less(x, 1.0)], [x * x, x**3], default=y)
np.select([np.less(x, 0.0), np.less(x, 1.0)], [x * x, x**3])
np.sign(x) * x
np.signbit(x) * x
np.sin(x)
np.sinc(x)
np.sinh(x)
np.sort(x * y)
np.sort(m, axis=0)
np.sort(m, axis=None)
np.split(x * x, 2)[1]
np.split(m, [1], axis=1)[0]
np.sqrt(p)
np.square(x)
np.squeeze(np.reshape(x, (1, 4, 1)))
np.stack([x, y], axis=1)
np.std(x)
np.std(m, axis=0, ddof=1)
np.subtract(x, y)
np.sum(x * x)
np.sum(m * m, axis=0, keepdims=True)
np.sum(x * x, where=np.less(y, 1.0))
np.sum(x, initial=2.0)
np.swapaxes(n, 0, 1)
np.take(x * x, numpy.array([2, 0]))
np.take(m, numpy.array([[2, 0], [1, 1]]), axis=1)
np.take(x, 2)
np.take_along_axis(m, np.argsort(numpy.array([[3, 1, 2]]), axis=1), axis=1)
np.tan(x)
np.tanh(x)
np.tensordot(m, n, 1)
np.tensordot(m, m)
np.tile(x, 2)
np.trace(m)
np.transpose(n)
np.trapezoid(x * x)
np.trapezoid(x, numpy.array([0.0, 0.5, 0.7, 1.5]))
np.trapezoid(m, dx=0.5, axis=0)
np.tril(m)
np.triu(m, 1)
np.true_divide(x, y)
np.trunc(x) * x
np.unravel_index(3, (2, 2))[0] * x
np.unstack(m)[1]
np.unwrap(numpy.array([0.0, 3.0, 6.0, 9.0]) + x)
np.vander(x, 3)
np.var(x)
np.var(m, axis=1, ddof=1)
np.var(x * x, where=np.less(y, 1.0))
np.vdot(x, y)
np.vecdot(m, m)
np.vecmat(x[:3], m)
np.vectorize(lambda s, t: s * t)(x, y)
np.vectorize(lambda r, t: r @ r * t, signature="(n),()->()")(m, y[:3])
np.vsplit(m, 3)[2]
np.vstack([x, y])
np.where(np.less(x, y), x * y, x * x)
np.where(x, x * x, y)
np.zeros_like(x) + x
"""

LINALG = """
np.linalg.cholesky(m @ m.T)
np.linalg.cond(m)
np.linalg.cond(m, 1)
np.linalg.cross(m[0], m[1])
np.linalg.det(m)
np.linalg.diagonal(m)
np.linalg.eigh(m @ m.T)[0]
np.abs(np.linalg.eigh(m @ m.T)[1])
np.linalg.eigvalsh(m @ m.T)
np.linalg.inv(m)
np.linalg.lstsq(n, x[:3])[0]
np.linalg.matmul(m, n)
np.linalg.matrix_norm(m)
np.linalg.matrix_power(m, 3)
np.linalg.matrix_power(m, -2)
np.linalg.matrix_transpose(n)
np.linalg.multi_dot([m, m, n])
np.linalg.norm(x)
np.linalg.norm(x, 1)
np.linalg.norm(x, 3)
np.linalg.norm(x, np.inf)
np.linalg.norm(m)
np.linalg.norm(m, 2)
np.linalg.norm(m, -2)
np.linalg.norm(m, "nuc")
np.linalg.norm(m, 1)
np.linalg.norm(m, axis=0)
np.linalg.outer(x, y)
np.linalg.pinv(n)
np.linalg.pinv(m)
np.linalg.qr(m)[1] ** 2
np.linalg.qr(n)[0] ** 2
np.linalg.slogdet(m)[1]
np.linalg.solve(m, x[:3])
np.linalg.solve(m, n)
np.linalg.svd(n, full_matrices=False)[0] ** 2
np.linalg.svd(m)[1]
np.linalg.svd(n, compute_uv=False)
np.linalg.svdvals(n)
np.linalg.lstsq(n.T, n.T[:, 0])[0]
np.linalg.lstsq(n, m)[0]
np.linalg.norm(m[None] * m[:, None], "nuc", axis=(0, 2), keepdims=True)
np.linalg.pinv(n.T)
np.linalg.qr(n)[1]
np.linalg.qr(m)[0]
np.linalg.svd(m)[0] ** 2
np.linalg.svd(m)[2] ** 2
np.linalg.svd(n.T, full_matrices=False)[0] ** 2
np.linalg.svd(n.T, full_matrices=False)[2] ** 2
np.linalg.tensordot(m, n, axes=1)
np.linalg.tensorinv(np.reshape(m, (3, 3, 1)), ind=1)
np.linalg.tensorsolve(m, x[:3])
np.linalg.trace(m)
np.linalg.vecdot(x, y)
np.linalg.vector_norm(m)
np.linalg.vector_norm(m[None] * m[:, None], axis=(0, 2), keepdims=True)
np.linalg.vector_norm(x, ord=3)
"""


ALL = [line for line in (EXPRESSIONS + LINALG).splitlines() if line]


def names_in(expression: str) -> list[str]:
    """Return the names of the inputs that an expression uses."""
    return [name for name in INPUTS if re.search(rf"(?<![\w.\"]){name}\b(?!=|\()", expression)]


def evaluate(expression: str, np: Any, *arrays: Any) -> Any:
    """Evaluate an expression with the functions of a module, and arrays for the names of the inputs."""
    values = dict(zip(names_in(expression), arrays, strict=True))
    return eval(expression, {"np": np, "numpy": numpy, **values})


def inputs_of(expression: str) -> list[Any]:
    """Return the inputs of an expression."""
    return [INPUTS[name] for name in names_in(expression)]


def directions_of(expression: str) -> list[Any]:
    """Return directions for the inputs of an expression."""
    random = numpy.random.default_rng(0)
    directions = {name: random.normal(size=array.shape) for name, array in INPUTS.items()}
    return [directions[name] for name in names_in(expression)]


def in_jax(expression: str, inputs: list[Any], directions: list[Any]) -> list[float]:
    """Return the loss of an expression's result, and its first two derivatives along the directions, by JAX."""

    def loss(t: Any) -> Any:
        moved = [jnp.asarray(x) + t * v for x, v in zip(inputs, directions, strict=True)]
        flat = jnp.ravel(jnp.asarray(evaluate(expression, jnp, *moved)))
        return jnp.sum(jnp.cos(jnp.arange(flat.size)) * (flat + 0.5 * flat * flat))

    def derivative(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda t: jax.jvp(f, (t,), (1.0,))[1]

    return [float(f(0.0)) for f in (loss, derivative(loss), derivative(derivative(loss)))]


def check_derivatives(expression: str, inputs: list[Any], directions: list[Any], expected: list[float]) -> None:
    """Compare the loss of an expression's result and its derivatives with JAX's, in each way of running."""
    argnums = tuple(range(len(inputs)))

    def total(*xs: Any) -> Any:
        return loss(evaluate(expression, gnp, *xs))

    def derivatives(*xs: Any) -> Any:
        gradient, product = jvp(grad(total, argnums), xs, tuple(directions))
        return total(*xs), _along(gradient, directions), _along(product, directions)

    values = [as_values(array) for array in inputs]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        root = total(*values)
    number = root.data if isinstance(root, Value) else root
    _compare([number, *derivatives(*inputs)[1:]], expected)
    if isinstance(root, Value):
        root.backward()
        gradients = [numpy.array([v.grad for v in x.ravel()]).reshape(x.shape) for x in values]
        _compare([_along(gradients, directions)], expected[1:2])
    recorded = jit(derivatives, branches="refuse")
    recorded(*[array + 0.01 for array in inputs])  # other numbers, so that constants in the recording would be noticed
    _compare(recorded(*inputs), expected)
    _compare([vmap(total)(*[numpy.stack([array + 0.01, array]) for array in inputs])[1]], expected[:1])


def _along(arrays: Any, directions: list[Any]) -> Any:
    return sum([(array * direction).sum() for array, direction in zip(arrays, directions, strict=True)])


def _compare(found: Any, expected: Any) -> None:
    scale = max(1.0, *map(abs, expected))
    numpy.testing.assert_allclose(numpy.asarray(found, float), expected, rtol=1e-9, atol=1e-9 * scale)


def main() -> None:
    """Write the results of JAX."""
    results = {each: in_jax(each, inputs_of(each), directions_of(each)) for each in ALL}
    lines = [f" {json.dumps(each)}: {json.dumps(result)}" for each, result in results.items()]
    Path(REFERENCES).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
