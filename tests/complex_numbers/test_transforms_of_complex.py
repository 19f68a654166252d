"""Complex arguments and results of transforms: conventions, trees, batches, loops, solvers, and errors."""

from __future__ import annotations

import cmath as plain_cmath
import pickle
from dataclasses import dataclass

import numpy
import pytest

from gradwalk import (
    Complex,
    Value,
    checkpoint,
    cmath,
    grad,
    hessian,
    interop,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    loops,
    solvers,
    sparse_jacobian,
    stream,
    value_and_grad,
    vectorize,
    vjp,
    vmap,
)
from gradwalk.trees.tree import flatten

Z = 1.2 - 0.7j


@dataclass
class Pole:
    place: complex
    order: float


def holomorphic(z):
    return cmath.sqrt(z * z + 1.0) * cmath.exp(-z) / (z + 1j)


def real(z):
    return abs(holomorphic(z)) ** 2 + (z * z).imag


@pytest.mark.parametrize(
    "tree",
    [
        1j,
        numpy.complex64(1j),
        {"a": 1j, "b": [2.0, numpy.array([1j, 2.0])]},
        (1.0, 2j, (3j,)),
        [Pole(1j, 2.0)],
        numpy.zeros((0, 2), complex),
    ],
)
def test_trees_are_flattened_to_parts(tree):
    leaves, treedef = flatten(tree, "t")
    assert all(isinstance(leaf, (float, numpy.ndarray)) and not numpy.iscomplexobj(leaf) for leaf in leaves)
    assert repr(treedef.unflatten(leaves)) == repr(tree).replace("np.complex64(1j)", "1j")
    assert len(treedef.names("t")) == treedef.size == len(treedef.imaginary)
    assert pickle.loads(pickle.dumps(treedef)) == treedef
    assert treedef.with_shapes(treedef.shapes) == treedef
    assert treedef != flatten([0.0] * len(leaves), "t")[1]


def test_names_and_descriptions():
    treedef = flatten({"a": 1j, "b": (2.0, numpy.array([1j]))}, "t")[1]
    assert treedef.names("t") == ["t['a'].real", "t['a'].imag", "t['b'][0]", "t['b'][1].real[0]", "t['b'][1].imag[0]"]
    assert str(treedef) == "{'a': complex number, 'b': (number, complex array of shape (1,))}"
    assert [part.pairs for part in treedef.children().values()] == [(0,), (1,)]


def test_object_arrays_of_complex_numbers():
    array = numpy.array([Complex(Value(1.0), 2.0), 3.0, 1j], object)
    leaves, treedef = flatten(array, "t")
    assert [leaf.tolist()[1:] for leaf in leaves] == [[3.0, 0.0], [0.0, 1.0]]
    assert treedef.unflatten(leaves)[0].real is array[0].real
    with pytest.raises(TypeError, match="an element of t is a str"):
        flatten(numpy.array([1j, "a"], object), "t")


def test_jit_keeps_a_recording_for_each_structure():
    f = jit(lambda z, w: {"product": z * w, "length": abs(z)})
    for w in (2.0, 1j, 2.0, 3j):
        assert f(Z, w) == {"product": pytest.approx(Z * w), "length": abs(Z)}
        assert type(f(Z, w)["product"]) is complex
    assert f.statistics.recordings == 2
    assert f(numpy.complex64(1j), 2.0)["product"] == 2j
    assert f.program.input_names == ("z.real", "z.imag", "w.real", "w.imag")
    branches = jit(lambda z: z * 2 if abs(z) < 1.0 else z)
    assert [branches(z) for z in (0.5j, 2j, 0.25j)] == [1j, 2j, 0.5j]
    assert jit(lambda x, c: x * c, static_argnames="c")(2.0, 1j) == 2j


@pytest.mark.parametrize("transform", [lambda f: f, jit])
def test_batches(transform):
    points = numpy.array([0.3 + 0.1j, 1j, -2.0 + 0.5j])
    f = transform(vmap(lambda z, w: (z * w, abs(z)), in_axes=(0, None)))
    for _ in range(3):  # the second call of a recorded function takes a fast path
        for w in (2j, 0.5):
            for batch in (
                points,
                numpy.stack([points] * 2, axis=1)[:, 0],
                points[::-1],
                points.astype(numpy.complex64),
            ):
                product, length = f(batch, w)
                assert product.dtype == batch.dtype
                numpy.testing.assert_allclose(product, batch * batch.dtype.type(w), rtol=1e-6)
                numpy.testing.assert_allclose(length, numpy.abs(batch), rtol=1e-6)
    square = transform(vmap(lambda z: z * z))
    total = transform(vmap(lambda z: z * z, reduce="sum"))
    for _ in range(3):
        numpy.testing.assert_allclose(square(points), points**2)
        numpy.testing.assert_allclose(total(points), (points**2).sum())
    matrix = numpy.outer(points, points)
    numpy.testing.assert_allclose(transform(vmap(lambda z: z * 1j, in_axes=1, out_axes=1))(matrix), matrix * 1j)
    numpy.testing.assert_allclose(transform(vmap(lambda z: z @ z))(matrix), (matrix * matrix).sum(axis=1))
    split = transform(vmap(lambda z: z * 2 if z.real > 0 else -z))
    numpy.testing.assert_allclose(split(points), [0.6 + 0.2j, -1j, 2.0 - 0.5j])
    numpy.testing.assert_allclose(transform(vmap(grad(real)))(points[1:]), [grad(real)(z) for z in points[1:]])


def test_other_ways_to_run_batches():
    points = numpy.array([[0.3 + 0.1j, 1j]])
    numpy.testing.assert_allclose(vectorize(lambda z, x: z * x)(points, [[2.0], [3.0]]), points * [[2.0], [3.0]])
    total = stream(vmap(lambda z: z * z, reduce="sum"), numpy.tile(points[0], 5), rows=4)
    numpy.testing.assert_allclose(total, 5 * (points**2).sum())


def test_gradients_are_conjugated():
    step = 1e-6
    slopes = [(real(Z + h) - real(Z - h)) / (2 * step) for h in (step, 1j * step)]
    for way in (grad(real), jit(grad(real)), jacrev(real), jacobian(real)):
        assert way(Z) == pytest.approx(complex(slopes[0], -slopes[1]), rel=1e-8)
    value, gradient = value_and_grad(real)(Z)
    assert (value, gradient) == (pytest.approx(real(Z)), grad(real)(Z))
    z = Z
    for _ in range(200):
        z = z - 0.1 * grad(lambda z: abs(z - (2 + 1j)) ** 2)(z).conjugate()
    assert z == pytest.approx(2 + 1j)


def test_holomorphic_derivatives():
    slope = (holomorphic(Z + 1e-6) - holomorphic(Z - 1e-6)) / 2e-6
    for transform in (grad, jacobian, jacfwd, jacrev):
        assert transform(holomorphic, holomorphic=True)(Z) == pytest.approx(slope, rel=1e-8)
    assert value_and_grad(holomorphic, holomorphic=True)(Z)[0] == pytest.approx(holomorphic(Z))
    second = grad(grad(holomorphic, holomorphic=True), holomorphic=True)(Z)
    assert hessian(holomorphic, holomorphic=True)(Z) == pytest.approx(second)
    tangents = jvp(holomorphic, (Z,), (0.5j,))
    assert tangents == (pytest.approx(holomorphic(Z)), pytest.approx(0.5j * slope, rel=1e-8))
    assert vjp(holomorphic, Z)[1](0.5j)[0] == pytest.approx(0.5j * slope, rel=1e-8)
    gradient, aux = grad(lambda z: (z * z, {"z": z, "x": 1.0}), has_aux=True, holomorphic=True)(Z)
    assert (gradient, aux) == (pytest.approx(2 * Z), {"z": Z, "x": 1.0})
    assert pickle.loads(pickle.dumps(grad(plain_square, holomorphic=True)))(1j) == 2j


def plain_square(z):
    return z * z


def test_jacobians_of_trees():
    found = jacobian(lambda t: [t["z"].real * t["x"], (t["z"] * t["z"].conjugate()).real])({"z": 1 + 2j, "x": 3.0})
    assert found == [{"z": 3 + 0j, "x": 1.0}, {"z": 2 - 4j, "x": 0.0}]
    array = jacobian(lambda x: numpy.exp(x * numpy.array([1j, 2.0])))(0.5)
    numpy.testing.assert_allclose(array, [1j * plain_cmath.exp(0.5j), 2.0 * plain_cmath.exp(1.0)])
    square = jacobian(lambda z: z * z, holomorphic=True)(numpy.array([1j, 2.0]))
    assert square.tolist() == [[2j, 0], [0, 4]]
    nested = jit(jacfwd(lambda x: jacobian(lambda y: cmath.exp(1j * x * y))(0.5)))
    assert nested(0.3) == pytest.approx((1j - 0.15) * plain_cmath.exp(0.15j))


def test_loops_and_solvers():
    def iterated(z):
        return loops.fori_loop(0, 5, lambda i, w: w * w + z, z)

    expected = Z
    for _ in range(5):
        expected = expected * expected + Z
    for way in (iterated, jit(iterated)):
        assert way(Z) == pytest.approx(expected)
    assert jit(grad(iterated, holomorphic=True))(0.3j) == pytest.approx(jvp(iterated, (0.3j,), (1 + 0j,))[1])
    last, rows = jit(lambda z: loops.scan(lambda c, x: (c * x, c), z, numpy.array([1j, 2j, 3j])))(Z)
    assert (last, rows.tolist()) == (pytest.approx(-6j * Z), pytest.approx([Z, 1j * Z, -2 * Z]))
    assert jit(lambda z: loops.cond(z.real > 0, lambda: z * 2, lambda: z))(Z) == 2 * Z

    def root(z):
        return solvers.root(lambda w: w * w - z, 1 + 0.1j)

    assert root(Z) == pytest.approx(plain_cmath.sqrt(Z))
    assert grad(root, holomorphic=True)(Z) == pytest.approx(0.5 / plain_cmath.sqrt(Z))
    turned = solvers.odeint(lambda y, t: 1j * y, 1 + 0j, numpy.array([0.0, 1.0]))
    numpy.testing.assert_allclose(turned, numpy.exp([0j, 1j]), rtol=1e-6)
    assert grad(checkpoint(cmath.exp), holomorphic=True)(Z) == pytest.approx(plain_cmath.exp(Z))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grad(holomorphic)(Z), r"grad needs a function that returns a real number, .* a complex number"),
        (lambda: grad(lambda x: x * 1j)(1.0), r"grad needs a function that returns a real number"),
        (lambda: grad(real, holomorphic=True)(Z), r"holomorphic=True needs a function that returns one complex number"),
        (lambda: grad(holomorphic, holomorphic=True)(1.0), r"holomorphic=True needs complex arguments, .* a number"),
        (lambda: jacfwd(real)(Z), r"a Jacobian in forward mode needs real arguments"),
        (lambda: jacobian(holomorphic)(Z), r"a Jacobian of complex results needs real arguments"),
        (lambda: jacrev(lambda x: x * 1j)(1.0), r"a Jacobian in reverse mode needs real results"),
        (lambda: jacobian(real, holomorphic=True)(Z), r"holomorphic=True needs complex results"),
        (lambda: hessian(real)(Z), r"needs real arguments"),
        (lambda: jvp(real, (Z,), (1.0,)), r"tangents must have the structure \(complex number,\), got \(number,\)"),
        (lambda: sparse_jacobian(abs)(numpy.array([1j])), r"arguments of .* must be real"),
        (lambda: sparse_jacobian(lambda x: x * 1j)(numpy.ones(2)), r"results of .* must be real"),
        (lambda: vmap(lambda z: z, reduce="max")(numpy.array([1j])), r"requires real results, got a complex number"),
        (lambda: vmap(lambda z: z)(numpy.array([1j]), out=numpy.array([1j])), r"out= requires real results"),
    ],
)
def test_errors(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_other_libraries_get_real_results():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="must return real numbers, got a complex number"):
        interop.to_torch(lambda x: x * 1j)(torch.tensor(1.0))
