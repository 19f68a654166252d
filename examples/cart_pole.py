"""Swing up a pole on a cart with the least effort: optimal control by multiple shooting and by direct collocation.

    python examples/cart_pole.py --intervals 100 --output cart_pole.png

The problem and its numbers are from Kelly, "An Introduction to Trajectory Optimization", SIAM Review 59 (2017): a force
moves the cart so that the pole, which hangs down, stands upright after 2 s, 1 m further on; the integral of the squared
force is to be minimal. Multiple shooting integrates each interval by the method of Runge and Kutta, with a constant
force. Collocation of Hermite and Simpson has a quadratic force. IPOPT solves both problems with the exact sparse
Jacobian of the constraints and the exact sparse Hessian of the Lagrangian. SciPy then simulates the cart with the
forces that were found. `--c FOLDER` writes the functions and their derivatives as C code. Requires cyipopt:
`pip install gradwalk[examples,ipopt]`; benchmarks/optimal_control.py compares with CasADi.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cyipopt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from gradwalk import grad, jit, sparse_hessian, sparse_jacobian
from gradwalk.interop import IpoptProblem

Array = NDArray[np.float64]

CART, POLE, LENGTH, GRAVITY = 1.0, 0.3, 0.5, 9.81  # masses in kg, length in m
SECONDS, DISTANCE = 2.0, 1.0
MOST_FORCE, MOST_DISTANCE = 20.0, 2.0  # bounds in N and in m
END = (DISTANCE, np.pi, 0.0, 0.0)  # position, angle and their rates; the cart starts at rest at 0
SUBSTEPS = 2  # steps of Runge and Kutta in each interval
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"  # color-blind safe


def dynamics(state: Any, force: Any) -> Any:
    """Return the rates of position, angle, speed and angular speed."""
    _, angle, speed, turning = state
    sine, cosine = np.sin(angle), np.cos(angle)
    mass = CART + POLE * sine * sine
    pull = LENGTH * POLE * sine * turning * turning + force
    forward = (pull + POLE * GRAVITY * cosine * sine) / mass
    around = -(pull * cosine + (CART + POLE) * GRAVITY * sine) / (LENGTH * mass)
    return np.array([speed, turning, forward, around])


def runge_kutta(state: Any, force: Any, step: float) -> Any:
    """Advance the state over one interval with a constant force."""
    dt = step / SUBSTEPS
    for _ in range(SUBSTEPS):
        k1 = dynamics(state, force)
        k2 = dynamics(state + dt / 2.0 * k1, force)
        k3 = dynamics(state + dt / 2.0 * k2, force)
        k4 = dynamics(state + dt * k3, force)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state


def shooting_gaps(states: Any, forces: Any, step: float) -> Any:
    """Return how far each state is from the integrated one before it."""
    return states[:, 1:] - runge_kutta(states[:, :-1], forces, step)


def shooting_effort(forces: Any, step: float) -> Any:
    """Return the integral of the square of a force that is constant in each interval."""
    return step * (forces**2).sum()


def collocation_gaps(states: Any, forces: Any, step: float) -> Any:
    """Return by how much each interval violates Simpson's rule; every other force is in the middle of an interval."""
    rates = dynamics(states, forces[::2])
    middle = (states[:, :-1] + states[:, 1:]) / 2.0 + step / 8.0 * (rates[:, :-1] - rates[:, 1:])
    inside = dynamics(middle, forces[1::2])
    return states[:, 1:] - states[:, :-1] - step / 6.0 * (rates[:, :-1] + 4.0 * inside + rates[:, 1:])


def collocation_effort(forces: Any, step: float) -> Any:
    """Return the integral of the square of the force by Simpson's rule."""
    return step / 6.0 * (forces[:-2:2] ** 2 + 4.0 * forces[1::2] ** 2 + forces[2::2] ** 2).sum()


class Method(NamedTuple):
    """A way to turn the control problem into a problem of finitely many variables: all states, then all forces."""

    name: str
    intervals: int
    forces: int
    gaps: Callable[[Any, Any, float], Any]
    squares: Callable[[Any, float], Any]

    def split(self, variables: Any) -> tuple[Any, Any]:
        """Return the states, with one row for each of the four numbers, and the forces."""
        return variables[: -self.forces].reshape(4, self.intervals + 1), variables[-self.forces :]

    def constraints(self, variables: Any) -> Any:
        """Return the gaps between intervals, which must be 0."""
        return self.gaps(*self.split(variables), SECONDS / self.intervals).ravel()

    def effort(self, variables: Any) -> Any:
        """Return the integral of the squared force."""
        return self.squares(self.split(variables)[1], SECONDS / self.intervals)

    def lagrangian(self, variables: Any, multipliers: Any, factor: Any) -> Any:
        """Return the function whose Hessian IPOPT needs."""
        return factor * self.effort(variables) + multipliers @ self.constraints(variables)

    def start(self) -> Array:
        """Return the initial guess: a straight line from start to end, without any force."""
        line = np.outer([DISTANCE, np.pi, 0.0, 0.0], np.linspace(0.0, 1.0, self.intervals + 1))
        return np.concatenate([line.ravel(), np.zeros(self.forces)])

    def bounds(self) -> tuple[Array, Array]:
        """Return the lower and upper bounds of the variables; the first and the last state are fixed."""
        upper = np.full((4, self.intervals + 1), np.inf)
        upper[0] = MOST_DISTANCE
        lower = -upper
        lower[:, 0] = upper[:, 0] = 0.0
        lower[:, -1] = upper[:, -1] = END
        strongest = np.full(self.forces, MOST_FORCE)
        return np.concatenate([lower.ravel(), -strongest]), np.concatenate([upper.ravel(), strongest])


def methods(intervals: int) -> list[Method]:
    """Return both methods."""
    return [
        Method("multiple shooting", intervals, intervals, shooting_gaps, shooting_effort),
        Method("direct collocation", intervals, 2 * intervals + 1, collocation_gaps, collocation_effort),
    ]


def solve(method: Method, problem: IpoptProblem) -> tuple[Array, dict[str, Any]]:
    """Return the variables that IPOPT finds, and what it reports."""
    lower, upper = method.bounds()
    zeros = np.zeros(problem.m)
    solver = cyipopt.Problem(problem.n, problem.m, problem_obj=problem, lb=lower, ub=upper, cl=zeros, cu=zeros)
    for name, setting in {"print_level": 0, "sb": "yes", "tol": 1e-9}.items():
        solver.add_option(name, setting)
    found, report = solver.solve(method.start())
    assert report["status"] == 0, report["status_msg"]
    return found, report


def force_at(method: Method, forces: Array, moment: float) -> float:
    """Return the force at a time, as the method interpolates it."""
    i = min(int(moment / SECONDS * method.intervals), method.intervals - 1)
    if method.forces == method.intervals:
        return float(forces[i])
    a, b, c = forces[2 * i : 2 * i + 3]
    s = moment / SECONDS * method.intervals - i
    return float(a + s * (4.0 * b - 3.0 * a - c) + 2.0 * s * s * (a - 2.0 * b + c))


def simulate(method: Method, forces: Array) -> Array:
    """Return the state at the end of a simulation by SciPy, with the forces that were found."""
    state = np.zeros(4)
    times = np.linspace(0.0, SECONDS, method.intervals + 1)
    for begin, end in itertools.pairwise(times):
        inside = np.clip([begin, end], begin + 1e-12, end - 1e-12)  # the force may jump at the ends
        rates = lambda t, y, ends=inside: dynamics(y, force_at(method, forces, float(np.clip(t, *ends))))  # noqa: E731
        state = solve_ivp(rates, (begin, end), state, rtol=1e-10, atol=1e-12).y[:, -1]
    return np.asarray(state)


def write_c(method: Method, folder: Path) -> None:
    """Write C code of the functions and their derivatives."""
    x = method.start()
    multipliers = np.ones(4 * method.intervals)
    recorded: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "effort": (jit(method.effort), (x,)),
        "effort_gradient": (jit(grad(method.effort)), (x,)),
        "constraints": (jit(method.constraints), (x,)),
        "constraints_jacobian": (sparse_jacobian(method.constraints), (x,)),
        "lagrangian_hessian": (sparse_hessian(method.lagrangian), (x, multipliers, 1.0)),
    }
    folder.mkdir(exist_ok=True)
    for name, (function, arguments) in recorded.items():
        function(*arguments)
        path = folder / f"{method.name.split()[1]}_{name}.c"
        path.write_text(function.program.to_c(name), encoding="utf-8")
        print(
            f"{path}: {len(function.program):,} instructions, {path.read_text(encoding='utf-8').count(chr(10))} lines"
        )


def draw_cart(axes: Axes, states: Array) -> None:
    """Draw the cart and its pole at some times, earlier ones lighter."""
    for i in np.linspace(0, states.shape[1] - 1, 13).astype(int):
        position, angle = states[:2, i]
        shade = 0.2 + 0.8 * i / (states.shape[1] - 1)
        tip = position + LENGTH * np.sin(angle), -LENGTH * np.cos(angle)
        axes.plot([position, tip[0]], [0.0, tip[1]], color=BLUE, alpha=shade, linewidth=2.0)
        axes.plot(*tip, "o", color=ORANGE, alpha=shade, markersize=7.0)
        axes.plot(position, 0.0, "s", color=BLUE, alpha=shade, markersize=9.0)
    axes.plot(states[0] + LENGTH * np.sin(states[1]), -LENGTH * np.cos(states[1]), color=GRAY, linewidth=1.0)
    axes.set(aspect="equal", xlabel="m", ylabel="m", ylim=(-0.62, 0.62))
    axes.set_title("The swing-up", loc="left")


def draw(found: list[tuple[Method, Array]], output: str) -> None:
    """Save a picture of the motion, of the forces, and of the pattern of the constraints' Jacobian."""
    figure = Figure(figsize=(8.0, 7.2), layout="constrained")
    axes = figure.subplot_mosaic([["cart", "cart"], ["force", "pattern"]], height_ratios=[1.15, 1.0])
    (shooting, shot), (collocation, collocated) = found
    draw_cart(axes["cart"], collocation.split(collocated)[0])
    edges = np.linspace(0.0, SECONDS, shooting.intervals + 1)
    axes["force"].stairs(shooting.split(shot)[1], edges, baseline=None, color=GRAY, label=shooting.name)
    forces = collocation.split(collocated)[1]
    axes["force"].plot(np.linspace(0.0, SECONDS, len(forces)), forces, color=ORANGE, label=collocation.name)
    axes["force"].set(xlabel="s", ylabel="force, N", xlim=(0.0, SECONDS))
    axes["force"].legend(fontsize="small")
    axes["force"].grid(alpha=0.3)
    axes["force"].set_title("The force on the cart", loc="left")
    small = methods(10)[1]
    pattern = sparse_jacobian(small.constraints).structure(small.start()).tocoo()
    axes["pattern"].plot(pattern.col, pattern.row, "s", color=BLUE, markersize=2.5)
    axes["pattern"].set(xlabel="variable", ylabel="constraint", ylim=(40.0, -1.0))
    axes["pattern"].set_title("Nonzeros of the Jacobian, 10 intervals", loc="left")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, solve the problem by both methods, simulate the results, and draw them."""
    parser = argparse.ArgumentParser(description="Swing up a pole on a cart with the least effort.")
    parser.add_argument("--intervals", type=int, default=100, help="intervals in time (default: %(default)s)")
    parser.add_argument("--c", type=Path, metavar="FOLDER", help="write C code of all functions to this folder")
    parser.add_argument("--output", default="cart_pole.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    found = []
    for method in methods(options.intervals):
        begin = time.perf_counter()
        problem = IpoptProblem(method.effort, method.start(), method.constraints)
        recorded = time.perf_counter()
        variables, _ = solve(method, problem)
        solved = time.perf_counter()
        missed = np.abs(simulate(method, method.split(variables)[1]) - END)[:2].max()
        print(f"{method.name:20}{problem.n} variables, {problem.m} constraints")
        print(f"{'':20}recorded in {1e3 * (recorded - begin):.0f} ms, solved in {1e3 * (solved - recorded):.0f} ms")
        print(f"{'':20}effort {method.effort(variables):.4f} N²s, simulation misses the end by {missed:.1e}")
        found.append((method, variables))
        if options.c:
            write_c(method, options.c)
    draw(found, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
