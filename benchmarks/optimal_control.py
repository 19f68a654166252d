"""Optimal control of a cart with a pole: sparse derivatives and whole solutions by IPOPT, on one core.

The program is `examples/cart_pole.py`, by multiple shooting and by direct collocation. The peer is casadi, which solves
the same nonlinear programs from the same start. Its interval is a function of SX that `map` repeats, as its authors
advise. It is measured as it is, in casadi's virtual machine, and as C code that gcc compiles (`jit`, -O3
-march=native). casadi's functions are called through buffers, without conversions of arguments; gradwalk's are called
as IPOPT calls them, from Python. All solutions are by the IPOPT that casadi contains, because its time would otherwise
depend on the build of IPOPT: gradwalk's functions are then callbacks of casadi. The forces must agree. Requires `gcc`
and `pip install gradwalk[ipopt]`.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy
from peers import on_one_core
from timing import CALLS, Row, beside, example, fastest, main, peer

from gradwalk.interop import IpoptProblem

FUNCTIONS = {
    "effort": "nlp_f",
    "gradient": "nlp_grad_f",
    "constraints": "nlp_g",
    "Jacobian": "nlp_jac_g",
    "Hessian of the Lagrangian": "nlp_hess_l",
}
SETTINGS = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.tol": 1e-9}
COMPILED = {"jit": True, "compiler": "shell", "jit_options": {"compiler": "gcc", "flags": ["-O3", "-march=native"]}}


class Solver(NamedTuple):
    """Solves a problem, and evaluates its functions at the solution. Forces are the last variables."""

    built: float
    solve: Callable[[], Any]
    functions: dict[str, Callable[[], object]]


def entries(ca: Any, structure: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return casadi's sparsity for the positions of entries, and the order in which casadi stores the entries."""
    sparsity, order = ca.Sparsity.triplet(*shape, *[[int(i) for i in indices] for indices in structure], False)
    return sparsity, numpy.array(order, int)


def callback(name: str, inputs: list[Any], outputs: list[Any], run: Callable[..., Sequence[Any]]) -> Any:
    """Return a function of casadi that calls Python with NumPy arrays; inputs and outputs are sparsities."""
    ca = peer("casadi", "casadi")

    class Called(ca.Callback):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_sparsity_in(self, i: int) -> Any:
            return inputs[i]

        def get_sparsity_out(self, i: int) -> Any:
            return outputs[i]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arguments: Any, results: Any) -> int:
            computed = run(*[numpy.frombuffer(each) if each is not None else None for each in arguments])
            for result, numbers in zip(results, computed, strict=True):
                if result is not None:
                    numpy.frombuffer(result)[:] = numbers
            return 0

    return Called()


def callbacks(problem: IpoptProblem) -> dict[str, Any]:
    """Return the functions of a problem as functions of casadi, with the arguments and results of `nlpsol`."""
    ca = peer("casadi", "casadi")
    n, m = problem.n, problem.m
    jacobian, order = entries(ca, problem.jacobianstructure(), (m, n))
    hessian, its_order = entries(ca, problem.hessianstructure()[::-1], (n, n))  # casadi stores the upper triangle
    x, none, one, g = (ca.Sparsity.dense(size, int(size > 0)) for size in (n, 0, 1, m))
    f_of, g_of, j_of, h_of = problem.objective, problem.constraints, problem.jacobian, problem.hessian
    return {
        "f": callback("effort", [x], [one], lambda x: [f_of(x)]),
        "g": callback("gaps", [x], [g], lambda x: [g_of(x)]),
        "grad_f": callback("gradient", [x, none], [one, x], lambda x, _: [f_of(x), problem.gradient(x)]),
        "jac_g": callback("jacobian", [x, none], [g, jacobian], lambda x, _: [g_of(x), j_of(x)[order]]),
        "hess_lag": callback(
            "hessian", [x, none, one, g], [hessian], lambda x, _, s, lam: [h_of(x, lam, s[0])[its_order]]
        ),
    }


def in_gradwalk(method: Any) -> Solver:
    """Return gradwalk's functions, and their solution by casadi's IPOPT."""
    ca = peer("casadi", "casadi")
    begin = time.perf_counter()
    problem = IpoptProblem(method.effort, method.start(), method.constraints)
    built = time.perf_counter() - begin
    functions = callbacks(problem)
    variables = ca.MX.sym("x", problem.n)
    nlp = {"x": variables, "f": functions["f"](variables), "g": functions["g"](variables)}
    derivatives = {name: functions[name] for name in ("grad_f", "jac_g", "hess_lag")}
    solver = ca.nlpsol("solver", "ipopt", nlp, {**SETTINGS, "no_nlp_grad": True, **derivatives})
    start, (lower, upper) = method.start(), method.bounds()

    def solve() -> Any:
        solution = solver(x0=start, lbx=lower, ubx=upper, lbg=0.0, ubg=0.0)
        assert solver.stats()["success"], list(functions)  # casadi does not keep them alive
        return solution["x"].full().ravel()

    x, multipliers = solve(), numpy.ones(problem.m)
    runs: dict[str, Callable[[], object]] = {
        "effort": partial(problem.objective, x),
        "gradient": partial(problem.gradient, x),
        "constraints": partial(problem.constraints, x),
        "Jacobian": partial(problem.jacobian, x),
        "Hessian of the Lagrangian": partial(problem.hessian, x, multipliers, 1.0),
    }
    return Solver(built, solve, runs)


def rates_of(program: Any, ca: Any, state: Any, force: Any) -> Any:
    """Return the rates of the state, of casadi's symbols."""
    _, angle, speed, turning = ca.vertsplit(state)
    sine, cosine = ca.sin(angle), ca.cos(angle)
    mass = program.CART + program.POLE * sine * sine
    pull = program.LENGTH * program.POLE * sine * turning * turning + force
    forward = (pull + program.POLE * program.GRAVITY * cosine * sine) / mass
    weight = (program.CART + program.POLE) * program.GRAVITY * sine
    return ca.vertcat(speed, turning, forward, -(pull * cosine + weight) / (program.LENGTH * mass))


def shooting(program: Any, ca: Any, count: int, symbols: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the effort and the gaps of multiple shooting."""
    states, forces = symbols
    step = program.SECONDS / count
    dt = step / program.SUBSTEPS
    rates = partial(rates_of, program, ca)
    start, end, force = ca.SX.sym("start", 4), ca.SX.sym("end", 4), ca.SX.sym("force")
    state = start
    for _ in range(program.SUBSTEPS):
        k1 = rates(state, force)
        k2 = rates(state + dt / 2.0 * k1, force)
        k3 = rates(state + dt / 2.0 * k2, force)
        k4 = rates(state + dt * k3, force)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    gap = ca.Function("gap", [start, end, force], [end - state])
    return step * ca.sumsqr(forces), gap.map(count)(states[:, :-1], states[:, 1:], forces)


def collocation(program: Any, ca: Any, count: int, symbols: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the effort and the gaps of collocation."""
    states, forces = symbols
    step = program.SECONDS / count
    rates = partial(rates_of, program, ca)
    start, end = ca.SX.sym("start", 4), ca.SX.sym("end", 4)
    first, middle, last = ca.SX.sym("first"), ca.SX.sym("middle"), ca.SX.sym("last")
    before, after = rates(start, first), rates(end, last)
    inside = rates((start + end) / 2.0 + step / 8.0 * (before - after), middle)
    difference = end - start - step / 6.0 * (before + 4.0 * inside + after)
    gap = ca.Function("gap", [start, end, first, middle, last], [difference])
    parts = forces[:-2:2], forces[1::2], forces[2::2]
    effort = step / 6.0 * (ca.sumsqr(parts[0]) + 4.0 * ca.sumsqr(parts[1]) + ca.sumsqr(parts[2]))
    return effort, gap.map(count)(states[:, :-1], states[:, 1:], *parts)


def through_buffers(function: Any, arguments: list[Any]) -> Callable[[], object]:
    """Return a call of casadi's function that converts nothing."""
    buffer, call = function.buffer()
    arguments = [numpy.ascontiguousarray(argument) for argument in arguments]
    results: list[Any] = [numpy.zeros(function.nnz_out(i)) for i in range(function.n_out())]
    for i, argument in enumerate(arguments):
        buffer.set_arg(i, memoryview(argument))
    for i, result in enumerate(results):
        buffer.set_res(i, memoryview(result))

    def run() -> Any:
        call()
        return arguments, results, buffer

    return run


def in_casadi(program: Any, method: Any, options: dict[str, Any]) -> Solver:
    """Return casadi's functions and its solution."""
    ca = peer("casadi", "casadi")
    count = method.intervals
    symbols = ca.MX.sym("states", 4, count + 1), ca.MX.sym("forces", 1, method.forces)
    form = shooting if method.forces == count else collocation
    begin = time.perf_counter()
    effort, gaps = form(program, ca, count, symbols)
    variables = ca.vertcat(ca.vec(symbols[0]), symbols[1].T)
    nlp = {"x": variables, "f": effort, "g": ca.vec(gaps)}
    solver = ca.nlpsol("solver", "ipopt", nlp, {**SETTINGS, **options})
    built = time.perf_counter() - begin

    def in_order(x: Any) -> Any:
        """Order states by time, as casadi's columns are."""
        states, forces = method.split(x)
        return numpy.concatenate([states.T.ravel(), forces])

    start, lower, upper = (in_order(x) for x in (method.start(), *method.bounds()))

    def solve() -> Any:
        found = solver(x0=start, lbx=lower, ubx=upper, lbg=0.0, ubg=0.0)
        assert solver.stats()["success"]
        return found["x"].full().ravel()

    x, none, multipliers = solve(), numpy.zeros(0), numpy.ones(4 * count)
    functions = {}
    for name, its in FUNCTIONS.items():
        arguments = [x, none, numpy.ones(1), multipliers] if its == "nlp_hess_l" else [x, none]
        functions[name] = through_buffers(solver.get_function(its), arguments)
    return Solver(built, solve, functions)


def measure(quick: bool) -> list[Row]:
    """Return the rows, from a folder for temporary files."""
    on_one_core()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # casadi compiles in the current folder
        return rows_of(quick)


def rows_of(quick: bool) -> list[Row]:
    """Check that both libraries find the same forces, and compare their times."""
    program = example("cart_pole")
    turns = 1 if quick else 7
    rows = []
    for method in program.methods(10 if quick else 100):
        ours = in_gradwalk(method)
        peers = {"casadi": in_casadi(program, method, {})}
        if not quick:
            peers["casadi, C by gcc"] = in_casadi(program, method, COMPILED)
        solutions = [solver.solve()[-method.forces :] for solver in (ours, *peers.values())]
        for solution in solutions:
            numpy.testing.assert_allclose(solution, solutions[0], atol=1e-6)
        for name in FUNCTIONS:
            runs = {which: solver.functions[name] for which, solver in {"ours": ours, **peers}.items()}
            us = {which: 1e6 * taken for which, taken in fastest(turns, runs, 2 if quick else CALLS).items()}
            rows += [beside(f"{method.name}, {name}", "us", us["ours"], (which, us[which])) for which in peers]
        runs = {which: solver.solve for which, solver in {"ours": ours, **peers}.items()}
        ms = {which: 1e3 * taken for which, taken in fastest(turns, runs, 1).items()}
        rows += [beside(f"{method.name}, solved by IPOPT", "ms", ms["ours"], (which, ms[which])) for which in peers]
        rows += [
            beside(f"{method.name}, recorded or built", "ms", 1e3 * ours.built, (which, 1e3 * solver.built))
            for which, solver in peers.items()
        ]
    return rows


if __name__ == "__main__":
    main(measure)
