"""to_pytensor: gradwalk functions in PyTensor against PyTensor expressions, and a posterior sampled by PyMC."""

from __future__ import annotations

import pickle

import numpy
import pytest

from gradwalk import RecordingError, math
from gradwalk.nn import MLP

cloudpickle = pytest.importorskip("cloudpickle")
pytensor = pytest.importorskip("pytensor")
pt = pytest.importorskip("pytensor.tensor")

from gradwalk.interop import to_pytensor  # noqa: E402  after the check that PyTensor is installed
from gradwalk.solvers import root  # noqa: E402

# Compiling every small graph to C would take most of the time.
FAST = pytensor.compile.mode.Mode(linker="py", optimizer="fast_compile")
X = pt.tensor("x", shape=(2,), dtype="float64")
AT = numpy.array([0.3, 0.7])


def bell(module, dot):
    return lambda x: module.exp(-dot(x, x)) + x[0] * x[1] ** 3


OURS, THEIRS = to_pytensor(bell(math, numpy.dot)), bell(pt, pt.dot)


def number(expression, **inputs):
    return pytensor.function([X], expression, mode=FAST)(AT)


@pytest.mark.parametrize(
    "expression",
    [
        lambda f: f(X),
        lambda f: pytensor.grad(f(X), X),
        lambda f: pytensor.gradient.hessian(f(X), X),
        lambda f: pytensor.gradient.Rop(f(X), X, 2 * X),
        lambda f: pytensor.grad(pytensor.grad(pt.sin(f(X)), X).sum(), X),
    ],
    ids=["value", "gradient", "hessian", "forward", "second"],
)
def test_derivatives(expression):
    numpy.testing.assert_allclose(number(expression(OURS)), number(expression(THEIRS)), rtol=1e-12)


def test_verify_grad():
    pytensor.gradient.verify_grad(OURS, [AT], rng=numpy.random.default_rng(0), mode=FAST)


def test_several_arguments_and_results():
    f = to_pytensor(lambda a, x: {"line": a @ x, "number": (a[0] * x).sum()})
    a = numpy.arange(6.0).reshape(3, 2)
    found = f(a, X)
    assert found["line"].type.shape == (3,)
    numpy.testing.assert_allclose(number(found["line"]), a @ AT)
    numpy.testing.assert_allclose(number(pytensor.grad(found["number"], X)), a[0])  # unused results contribute zero
    numpy.testing.assert_allclose(number(pytensor.grad(found["line"].sum() + found["number"], X)), a.sum(0) + a[0])


def test_vectorized_graphs():
    batch = pt.tensor("batch", shape=(3, 2), dtype="float64")
    many = pytensor.graph.vectorize_graph(OURS(X), {X: batch})
    at = numpy.arange(6.0).reshape(3, 2) / 5.0
    found = pytensor.function([batch], many, mode=FAST)(at)
    numpy.testing.assert_allclose(found, [pytensor.function([X], THEIRS(X), mode=FAST)(x) for x in at], rtol=1e-12)


def test_integer_arguments_have_no_gradient():
    f = to_pytensor(lambda x, n: (x * n).sum())
    numpy.testing.assert_allclose(number(pytensor.grad(f(X, 3), X)), [3.0, 3.0])


def test_results_have_dtype_floatx():
    with pytensor.config.change_flags(floatX="float32"):
        narrow = to_pytensor(lambda x: x * 2.0)(pt.tensor("x", shape=(2,), dtype="float32"))
    assert narrow.type.dtype == "float32"
    assert narrow.eval({narrow.owner.inputs[0]: AT.astype("float32")}, mode=FAST).dtype == numpy.float32


def test_equal_calls_are_merged():
    doubled = pytensor.function([X], OURS(X) + OURS(X))
    assert sum("<lambda>()" in str(node.op) for node in doubled.maker.fgraph.apply_nodes) == 1


def test_functions_can_be_cloudpickled():
    op = cloudpickle.loads(cloudpickle.dumps(OURS(X).owner.op))
    numpy.testing.assert_allclose(number(op(X)), number(THEIRS(X)))


def energy(x):
    return math.exp(-(x @ x))


def test_functions_and_graphs_can_be_pickled():
    function = pickle.loads(pickle.dumps(to_pytensor(energy)))
    x = pytensor.tensor.vector("x", shape=(2,))
    gradient = pytensor.grad(function(x), x)
    x, gradient = pickle.loads(pickle.dumps((x, gradient)))
    found = gradient.eval({x: numpy.array([0.0, 1.0])})
    numpy.testing.assert_allclose(found, [0.0, -2.0 * numpy.exp(-1.0)], atol=1e-12)


def test_static_shapes_are_required():
    with pytest.raises(
        ValueError, match=r"argument 1 of <lambda>\(\) must have a static shape, got \(None,\).*specify_shape"
    ):
        to_pytensor(lambda x: x.sum())(pt.dvector("x"))


def test_unsupported_arguments_raise():
    with pytest.raises(TypeError, match=r"argument 1 of <lambda>\(\) must be a real tensor, got complex128"):
        to_pytensor(lambda x: x)(pt.tensor("x", shape=(2,), dtype="complex128"))
    with pytest.raises(TypeError, match="must be positional, got x by keyword"):
        to_pytensor(lambda x: x)(x=X)
    with pytest.raises(TypeError, match=r"to_pytensor\(\) takes a function, not int: 3"):
        to_pytensor(3)


def test_branches_and_captured_values_raise():
    with pytest.raises(RecordingError, match="branches on"):
        to_pytensor(lambda x: x[0] if x[0] > 0 else 0.0)(X)
    model = MLP(2, [1])
    with pytest.raises(TypeError, match="uses Values that are not among its arguments"):
        to_pytensor(model)(X)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # raised when ArviZ is imported
def test_nuts_samples_a_known_posterior():
    # Normal data with a normal prior: the mean and standard deviation of the posterior are known in closed form.
    pymc = pytest.importorskip("pymc")
    data = numpy.random.default_rng(0).normal(1.5, 2.0, size=40)
    likelihood = to_pytensor(lambda mean: -((data - mean) ** 2).sum() / (2.0 * 4.0))
    with pymc.Model():
        mean = pymc.Normal("mean", 0.0, 10.0)
        pymc.Potential("likelihood", likelihood(mean))
        trace = pymc.sample(
            2000, tune=500, chains=1, cores=1, random_seed=1, progressbar=False, compute_convergence_checks=False
        )
    precision = 1 / 10.0**2 + len(data) / 2.0**2
    samples = numpy.asarray(trace.posterior["mean"])
    assert samples.mean() == pytest.approx(data.sum() / 2.0**2 / precision, abs=0.04)
    assert samples.std() == pytest.approx(precision**-0.5, rel=0.1)


def test_functions_undefined_at_one():
    from_root = to_pytensor(lambda a: root(lambda x: x * x - (a[0] - 2.0), a[1]))
    slope = pytensor.function([X], [from_root(X), pytensor.grad(from_root(X), X)], mode=FAST)
    found, gradient = slope([11.0, 1.0])
    assert float(found) == pytest.approx(3.0)
    numpy.testing.assert_allclose(gradient, [1 / 6, 0.0], rtol=1e-6)
