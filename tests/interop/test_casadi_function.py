"""Functions of CasADi's that gradwalk runs, against the same expressions of CasADi's own."""

from __future__ import annotations

import gc

import numpy
import pytest

from gradwalk import RecordingError, Value, math

casadi = pytest.importorskip("casadi")

from gradwalk.interop import to_casadi  # noqa: E402  after the check that there is CasADi

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
    """CasADi counts entries of matrices by columns."""

    A, B, S = casadi.MX.sym("a", 2, 3), casadi.MX.sym("b", 3), casadi.MX.sym("s")
    AT = numpy.arange(1.0, 7.0).reshape(2, 3), numpy.array([1.0, 2.0, 3.0]), 2.0

    @staticmethod
    def several(a, b, s):
        return a @ b * s, a * s, s * b[0]

    @pytest.mark.parametrize("output", range(3))
    @pytest.mark.parametrize("wrt", [A, B, S])
    def test_jacobians_of_several_results(self, output, wrt):
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


def test_patterns_are_sparse():
    n = 200
    z, multipliers = casadi.MX.sym("z", n), casadi.MX.sym("l", n - 1)
    chain = to_casadi(lambda z: z[1:] - z[:-1] ** 2, n)
    assert casadi.jacobian(chain(z), z).nnz() == 2 * (n - 1)
    assert casadi.hessian(casadi.dot(multipliers, chain(z)), z)[0].nnz() == n - 1


def solved(objective, constraints):
    """HS071, of Hock and Schittkowski."""
    x = casadi.MX.sym("x", 4)
    quiet = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}
    solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": objective(x), "g": constraints(x)}, quiet)
    found = solver(x0=[1, 5, 5, 1], lbx=1, ubx=5, lbg=[25, 40], ubg=[numpy.inf, 40])
    return found["x"].full().ravel(), found["lam_g"].full().ravel(), solver.stats()["iter_count"]


def test_ipopt_has_exact_second_derivatives():
    """It goes the same way as with CasADi's own."""
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


def test_the_function_has_the_name_of_its_own_where_casadi_allows_it():
    def energy(x):
        return x @ x

    assert to_casadi(energy, 2).name() == "energy"
    assert OURS.name() == "gradwalk_function"


def test_what_casadi_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"array of shape \(2, 2, 2\): CasADi has matrices"):
        to_casadi(lambda x: x.sum(), (2, 2, 2))
    with pytest.raises(ValueError, match=r"array of shape \(2, 2, 2\): CasADi has matrices"):
        to_casadi(lambda x: numpy.array([[[x, x], [x, x]], [[x, x], [x, x]]]), ())
    with pytest.raises(TypeError, match=r"to_casadi\(\) takes a function, not int: 3"):
        to_casadi(3, 2)


def test_branches_and_values_from_outside_are_refused():
    with pytest.raises(RecordingError, match="branches on"):
        to_casadi(lambda x: x if x > 0 else 0.0, ())
    outside = Value(2.0)
    with pytest.raises(TypeError, match="uses Values that are not among its arguments"):
        to_casadi(lambda x: x * outside, ())
