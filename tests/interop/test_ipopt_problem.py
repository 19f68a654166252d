"""IpoptProblem: derivatives against JAX, and solutions by cyipopt."""

from __future__ import annotations

import pickle

import numpy
import pytest

from gradwalk import Value, math

pytest.importorskip("scipy")

from gradwalk.interop import IpoptProblem

INFINITE = 2e19  # infinity in IPOPT


def dense(entries, structure, shape):
    matrix = numpy.zeros(shape)
    numpy.add.at(matrix, structure, entries)
    return matrix


def objective(x):
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


def constraints(x):
    return [x[0] * x[1] * x[2] * x[3], x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2]


def solved(problem, start, **bounds):
    cyipopt = pytest.importorskip("cyipopt")
    solver = cyipopt.Problem(n=problem.n, m=problem.m, problem_obj=problem, **bounds)
    for name, option in {"print_level": 0, "sb": "yes", "tol": 1e-9}.items():
        solver.add_option(name, option)
    return solver.solve(numpy.array(start))


def test_derivatives_against_jax():
    jax = pytest.importorskip("jax")
    x, multipliers, factor = numpy.array([1.5, 4.0, 3.0, 2.0]), numpy.array([0.5, -2.0]), 0.25
    problem = IpoptProblem(objective, numpy.ones(4), constraints)

    def lagrangian(x):
        return factor * objective(x) + multipliers @ jax.numpy.stack(constraints(x))

    def derivatives(x):
        return (
            jax.grad(objective)(x),
            jax.jacobian(lambda x: jax.numpy.stack(constraints(x)))(x),
            jax.hessian(lagrangian)(x),
        )

    with jax.enable_x64(True):
        gradient, jacobian, hessian = map(numpy.asarray, jax.jit(derivatives)(x))
    numpy.testing.assert_allclose(problem.gradient(x), gradient)
    numpy.testing.assert_allclose(dense(problem.jacobian(x), problem.jacobianstructure(), (2, 4)), jacobian)
    lower = dense(problem.hessian(x, multipliers, factor), problem.hessianstructure(), (4, 4))
    numpy.testing.assert_allclose(lower, numpy.tril(hessian))
    assert problem.objective(x) == objective(x)
    numpy.testing.assert_allclose(problem.constraints(x), constraints(x))


def test_hs071():
    # The example and its solution from IPOPT's documentation.
    start = [1.0, 5.0, 5.0, 1.0]
    x, about = solved(
        IpoptProblem(objective, start, constraints),
        start,
        lb=numpy.ones(4),
        ub=numpy.full(4, 5.0),
        cl=[25.0, 40.0],
        cu=[INFINITE, 40.0],
    )
    assert about["status"] == 0
    numpy.testing.assert_allclose(x, [1.0, 4.7429996, 3.8211499, 1.3794083], atol=1e-6)
    assert about["obj_val"] == pytest.approx(17.0140173)
    numpy.testing.assert_allclose(about["mult_g"], [-0.55229366, 0.16146857], atol=1e-6)


def test_without_constraints():
    valley = IpoptProblem(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, [-1.2, 1.0])
    assert (valley.n, valley.m) == (2, 0)
    assert valley.jacobian(numpy.ones(2)).shape == (0,)
    x, about = solved(valley, [-1.2, 1.0], lb=[-2.0, -2.0], ub=[2.0, 2.0])
    assert about["status"] == 0
    numpy.testing.assert_allclose(x, [1.0, 1.0], atol=1e-7)


def swing_up(steps):
    """Return the swing-up of a pendulum in 5 s with least torque; the unknowns are all angles, speeds and torques."""
    h = 5.0 / steps

    def torque(z):
        return h / 2.0 * (z[2 * steps + 2 :] ** 2).sum()

    def motion(z):
        angle, speed, push = z[: steps + 1], z[steps + 1 : 2 * steps + 2], z[2 * steps + 2 :]
        pull = math.sin(angle)
        moved = angle[1:] - angle[:-1] - h / 2.0 * (speed[1:] + speed[:-1])
        turned = speed[1:] - speed[:-1] - h * push + h / 2.0 * (pull[1:] + pull[:-1])
        return numpy.concatenate([moved, turned])

    start = numpy.zeros(3 * steps + 2)
    start[: steps + 1] = numpy.linspace(0.0, numpy.pi, steps + 1)
    lower = numpy.full(3 * steps + 2, -INFINITE)
    ends = {0: 0.0, steps: numpy.pi, steps + 1: 0.0, 2 * steps + 1: 0.0}
    lower[list(ends)] = list(ends.values())
    upper = numpy.where(lower > -INFINITE, lower, INFINITE)
    return torque, motion, start, lower, upper


def test_optimal_control_with_a_thousand_unknowns():
    # Against the same problem in CasADi expressions, solved by the IPOPT in the CasADi wheel.
    casadi = pytest.importorskip("casadi")
    steps = 333
    torque, motion, start, lower, upper = swing_up(steps)
    problem = IpoptProblem(torque, start, motion)
    assert (problem.n, problem.m) == (3 * steps + 2, 2 * steps)
    assert len(problem.jacobianstructure()[0]) == 9 * steps
    assert len(problem.hessianstructure()[0]) == 2 * steps + 1
    x, about = solved(problem, start, lb=lower, ub=upper, cl=numpy.zeros(problem.m), cu=numpy.zeros(problem.m))
    assert about["status"] == 0
    z, h = casadi.SX.sym("z", problem.n), 5.0 / steps
    angle, speed, push = z[: steps + 1], z[steps + 1 : 2 * steps + 2], z[2 * steps + 2 :]
    pull = casadi.sin(angle)
    equations = casadi.vertcat(
        angle[1:] - angle[:-1] - h / 2 * (speed[1:] + speed[:-1]),
        speed[1:] - speed[:-1] - h * push + h / 2 * (pull[1:] + pull[:-1]),
    )
    quiet = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}
    solver = casadi.nlpsol("solver", "ipopt", {"x": z, "f": h / 2 * casadi.sumsqr(push), "g": equations}, quiet)
    expected = solver(x0=start, lbx=lower, ubx=upper, lbg=0, ubg=0)
    assert about["obj_val"] == pytest.approx(float(expected["f"]), rel=1e-7)
    numpy.testing.assert_allclose(x, expected["x"].full().ravel(), atol=1e-5)


def test_variables_must_be_a_vector():
    with pytest.raises(ValueError, match=r"x must be a vector, .*, got an array of shape \(2, 2\)"):
        IpoptProblem(lambda x: x.sum(), numpy.ones((2, 2)))


OUTSIDE = Value(2.0)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda x: x, r"<lambda>\(\) must return one number, .*, got an array of shape \(2,\)"),
        (lambda x: x[:1], r"must return one number, .*, got an array of shape \(1,\)"),
        (lambda x: [x[0]], r"must return one number, .*, got \[number\]"),
        (lambda x: None, r"returned None; it must return a number"),
        (lambda x: x[0] * OUTSIDE, "uses Values that are not among its arguments"),
        (3, r"IpoptProblem\(\) takes a function as objective, not int: 3"),
        (None, "takes a function as objective, not NoneType"),
    ],
)
def test_objective_must_return_one_number(objective, message):
    with pytest.raises(TypeError, match=message):
        IpoptProblem(objective, [1.0, 2.0])


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (lambda x: x[0] + x[1], r"must return a vector, or a list of numbers, got a number"),
        (lambda x: [x, x[0]], r"must return a vector, .*, got \[array of shape \(2,\), number\]"),
        (lambda x: x[:, None] * x, r"must return a vector, .*, got an array of shape \(2, 2\)"),
        (lambda x: {"a": x[0]}, r"must return a vector, .*, got \{'a': number\}"),
        (lambda x: None, r"returned None; it must return a number"),
        (lambda x: [x[0] * OUTSIDE], "uses Values that are not among its arguments"),
        (3, r"IpoptProblem\(\) takes a function as constraints, not int: 3"),
    ],
)
def test_constraints_must_return_a_vector(constraints, message):
    with pytest.raises(TypeError, match=message):
        IpoptProblem(lambda x: x @ x, [1.0, 2.0], constraints)


@pytest.mark.parametrize("constraints", [lambda x: (x[0], 3.0), lambda x: x[:2], lambda x: [], lambda x: x[:0]])
def test_constraints_can_be_sequences_or_empty(constraints):
    x = numpy.array([1.0, 2.0])
    assert IpoptProblem(lambda x: x @ x, x, constraints).constraints(x).tolist() == [*constraints(x)]


def test_problems_can_be_pickled():
    start = numpy.array([1.0, 5.0, 5.0, 1.0])
    for problem in (IpoptProblem(objective, start, constraints), IpoptProblem(objective, start)):
        copy = pickle.loads(pickle.dumps(problem))
        multipliers = numpy.ones(problem.m)
        assert (copy.n, copy.m) == (problem.n, problem.m)
        assert copy.objective(start) == problem.objective(start)
        assert copy.gradient(start).tolist() == problem.gradient(start).tolist()
        assert copy.hessian(start, multipliers, 1.0).tolist() == problem.hessian(start, multipliers, 1.0).tolist()
        for structure in ("jacobianstructure", "hessianstructure"):
            numpy.testing.assert_array_equal(getattr(copy, structure)(), getattr(problem, structure)())
