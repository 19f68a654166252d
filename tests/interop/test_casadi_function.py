"""to_casadi: gradwalk functions in CasADi against the same CasADi expressions."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy
import pytest

from gradwalk import RecordingError, Value, math

casadi = pytest.importorskip("casadi")

from gradwalk.interop import to_casadi  # noqa: E402  after the check that CasADi is installed
from gradwalk.solvers import root  # noqa: E402

X, Y = casadi.MX.sym("x", 2), casadi.MX.sym("y", 2)
AT = [0.3, 0.7], [1.0, 2.0]
OURS = to_casadi(lambda x: math.exp(-(x @ x)) + x[0] * x[1] ** 3, 2)


def theirs(x):
    return casadi.exp(-casadi.dot(x, x)) + x[0] * x[1] ** 3


def numbers(inputs, expression, at):
    return casadi.Function("numbers", inputs, [expression])(*at).full()


@pytest.mark.parametrize(
    "expression",
    [
        lambda f: f(X),
        lambda f: casadi.jacobian(f(X), X),
        lambda f: casadi.gradient(f(X), X),
        lambda f: casadi.hessian(f(X), X)[0],
        lambda f: casadi.jacobian(casadi.jacobian(f(X), X), X),
        lambda f: casadi.jtimes(f(X), X, Y),
        lambda f: casadi.jtimes(casadi.jtimes(f(X), X, Y), X, Y),
        lambda f: casadi.jtimes(casadi.jtimes(f(X), X, Y), X, casadi.MX(2.0), True),
        lambda f: casadi.gradient(casadi.sum1(casadi.hessian(f(X), X)[0] @ Y), X),
    ],
    ids=["value", "jacobian", "gradient", "hessian", "twice", "forward", "second", "mixed", "third"],
)
def test_derivatives_of_any_order(expression):
    found, expected = (numbers([X, Y], expression(f), AT) for f in (OURS, theirs))
    numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


class TestMatrices:
    """Matrix arguments, which CasADi stores in column-major order."""

    A, B, S = casadi.MX.sym("a", 2, 3), casadi.MX.sym("b", 3), casadi.MX.sym("s")
    AT = numpy.arange(1.0, 7.0).reshape(2, 3), numpy.array([1.0, 2.0, 3.0]), 2.0

    @staticmethod
    def several(a, b, s):
        return a @ b * s, a * s, s * b[0]

    @pytest.mark.parametrize("output", range(3))
    @pytest.mark.parametrize("wrt", [A, B, S])
    def test_jacobians_of_several_outputs(self, output, wrt):
        inputs = [self.A, self.B, self.S]
        ours = to_casadi(self.several, (2, 3), 3, ())
        assert [ours.size_in(i) for i in range(3)] == [(2, 3), (3, 1), (1, 1)]
        for derivative in (
            casadi.jacobian,
            lambda e, x: casadi.jtimes(e, x, x),
            lambda e, x: casadi.jtimes(e, x, e, True),
        ):
            found, expected = (
                numbers(inputs, derivative(f(*inputs)[output], wrt), self.AT) for f in (ours, self.several)
            )
            numpy.testing.assert_allclose(found, expected)


class TestOneNumber:
    """Functions of one number, which CasADi differentiates differently."""

    X = casadi.MX.sym("x", 2)

    @pytest.mark.parametrize("shape", [(), 1])
    @pytest.mark.parametrize("several", [False, True])
    def test_hessians(self, shape, several):
        ours = to_casadi(lambda a: (a**3, a**2) if several else a**3, shape)
        results = ours(self.X[0])
        e = casadi.vertcat(*results) if several else results
        found = numbers([self.X], casadi.hessian(casadi.sum1(e) + self.X[1] ** 2, self.X)[0], [[1.0, 2.0]])
        assert found.tolist() == [[8.0 if several else 6.0, 0.0], [0.0, 2.0]]

    def test_ipopt(self):
        cube = to_casadi(lambda a: (a - 1.0) ** 4 + a * a, ())
        program = {"x": self.X, "f": cube(self.X[0]) + (self.X[1] - 3.0) ** 2, "g": cube(self.X[1])}
        quiet = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}
        solver = casadi.nlpsol("solver", "ipopt", program, quiet)
        found = solver(x0=1.0, ubg=100.0)["x"].full().ravel()
        slope = 4 * (found[0] - 1.0) ** 3 + 2 * found[0]
        assert solver.stats()["success"]
        assert found[1] == pytest.approx(3.0, abs=1e-6)
        assert slope == pytest.approx(0.0, abs=1e-6)


def test_jacobian_can_be_differentiated():
    chain = to_casadi(lambda x, s: (x[1:] - x[:-1] ** 3, s * x[0] ** 2), 4, ())
    x, s = casadi.MX.sym("x", 4), casadi.MX.sym("s")
    blocks = chain.jacobian()(x, s, casadi.MX(3, 1), casadi.MX(1, 1))
    assert blocks[0].nnz() == 6
    found = numbers([x, s], casadi.jacobian(casadi.sum2(blocks[2]), x), [[2.0, 1.0, 1.0, 1.0], 5.0])
    assert found.tolist() == [[10.0, 0.0, 0.0, 0.0]]


def test_functions_undefined_at_one():
    ours = to_casadi(lambda a: root(lambda x: x * x - (a - 2.0), 1.0), ())
    a = casadi.MX.sym("a")
    assert float(ours(11.0)) == pytest.approx(3.0)
    assert numbers([a], casadi.jacobian(ours(a), a), [11.0]).item() == pytest.approx(1 / 6)


def doubled(x):
    return x * 2.0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_copies(copied):
    ours = to_casadi(doubled, 2)
    again = copied(ours)
    del ours
    assert again([1.0, 2.0]).full().ravel().tolist() == [2.0, 4.0]
    assert numbers([X], casadi.jacobian(again(X), X), [[1.0, 2.0]]).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_shapes():
    assert to_casadi(doubled, numpy.int64(2)).size_in(0) == (2, 1)
    assert to_casadi(doubled, numpy.ones((2, 3)).shape).size_in(0) == (2, 3)
    for shape in (2.0, -1, (2, -1), "3", (2.0, 3), None):
        with pytest.raises(TypeError, match=r"the shape of argument 1 must be an int .*, got "):
            to_casadi(doubled, shape)


def test_patterns_are_sparse():
    n = 200
    z, multipliers = casadi.MX.sym("z", n), casadi.MX.sym("l", n - 1)
    chain = to_casadi(lambda z: z[1:] - z[:-1] ** 2, n)
    assert casadi.jacobian(chain(z), z).nnz() == 2 * (n - 1)
    assert casadi.hessian(casadi.dot(multipliers, chain(z)), z)[0].nnz() == n - 1


def solved(objective, constraints):
    """Solve problem HS071 of Hock and Schittkowski."""
    x = casadi.MX.sym("x", 4)
    quiet = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}
    solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": objective(x), "g": constraints(x)}, quiet)
    found = solver(x0=[1, 5, 5, 1], lbx=1, ubx=5, lbg=[25, 40], ubg=[numpy.inf, 40])
    return found["x"].full().ravel(), found["lam_g"].full().ravel(), solver.stats()["iter_count"]


def test_ipopt_gets_exact_second_derivatives():
    # IPOPT takes the same number of iterations as with CasADi expressions.
    objective = to_casadi(lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2], 4)
    constraints = to_casadi(lambda x: [x[0] * x[1] * x[2] * x[3], x @ x], 4)
    gc.collect()
    ours = solved(objective, lambda x: casadi.vertcat(*constraints(x)))
    expected = solved(
        lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
        lambda x: casadi.vertcat(x[0] * x[1] * x[2] * x[3], casadi.dot(x, x)),
    )
    numpy.testing.assert_allclose(ours[0], [1.0, 4.743, 3.8211, 1.3794], atol=1e-4)
    numpy.testing.assert_allclose(ours[0], expected[0], rtol=1e-9)
    numpy.testing.assert_allclose(ours[1], expected[1], rtol=1e-7)
    assert ours[2] == expected[2]


def test_function_keeps_its_name_if_casadi_allows_it():
    def energy(x):
        return x @ x

    assert to_casadi(energy, 2).name() == "energy"
    assert OURS.name() == "gradwalk_function"


def test_unsupported_shapes_raise():
    with pytest.raises(ValueError, match=r"must have at most two axes for CasADi, got the shape \(2, 2, 2\)"):
        to_casadi(lambda x: x.sum(), (2, 2, 2))
    with pytest.raises(ValueError, match=r"must have at most two axes for CasADi, got the shape \(2, 2, 2\)"):
        to_casadi(lambda x: numpy.array([[[x, x], [x, x]], [[x, x], [x, x]]]), ())
    with pytest.raises(TypeError, match=r"to_casadi\(\) takes a function, not int: 3"):
        to_casadi(3, 2)


def test_branches_and_captured_values_raise():
    with pytest.raises(RecordingError, match="branches on"):
        to_casadi(lambda x: x if x > 0 else 0.0, ())
    outside = Value(2.0)
    with pytest.raises(TypeError, match="uses Values that are not among its arguments"):
        to_casadi(lambda x: x * outside, ())
