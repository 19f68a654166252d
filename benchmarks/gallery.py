"""The satellite and the way to Mars of the gallery, beside the tools that people use now, on one core.

`examples/satellite.py` computes the derivatives of a satellite's positions at 1,441 times with respect to six orbital
elements, through the Python code of the package sgp4. The peer is the C++ code of the same package: central and forward
differences of all positions of all perturbed satellites, which `SatrecArray` computes in one call. The derivatives by
central differences must agree to six digits.

`examples/orbit.py` finds the velocity for a flight to Mars, by SciPy's `root` and the Jacobian of 800 steps. The peers
are JAX (`scan`, compiled, with `jacfwd`, which is faster than `jacrev` here), and SciPy alone: `solve_ivp` by DOP853
with a tolerance of 1e-10, and differences by `root`. The velocities must agree up to the errors of the integrators.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy
from peers import jax, on_one_core
from scipy.integrate import solve_ivp
from scipy.optimize import root
from timing import Row, beside, example, fastest, main, peer

from gradwalk import adopt, jacobian, jit, vmap

Run = Callable[[], Any]


def differences_in_cpp(program: Any, minutes: Any, central: bool) -> Run:
    """Return derivatives by differences of positions that sgp4's C++ code computes."""
    api = peer("sgp4.api", "sgp4")
    days = minutes / 1440.0
    steps = 1e-6 * numpy.maximum(numpy.abs(program.ELEMENTS), 0.1)
    epoch = 21450.5  # days since the end of 1949, as in the example
    whole, part = numpy.full(len(days), 2433281.5 + epoch), days

    def satellite(elements: Any) -> Any:
        made = api.Satrec()
        made.sgp4init(api.WGS72, "i", 25544, epoch, 2.8098e-05, 0.0, 0.0, *elements)
        return made

    def run() -> Any:
        moved = steps * numpy.eye(6)
        every = [program.ELEMENTS + move for move in moved]
        every += [program.ELEMENTS - move for move in moved] if central else [program.ELEMENTS]
        errors, positions, _ = api.SatrecArray([satellite(elements) for elements in every]).sgp4(whole, part)
        assert not errors.any()
        width = 2.0 * steps if central else steps
        return numpy.moveaxis((positions[:6] - positions[6:]) / width[:, None, None], 0, -1)

    return run


def satellite_rows(quick: bool) -> list[Row]:
    """Compare the derivatives of positions."""
    program = example("satellite")
    minutes = numpy.linspace(0.0, 1440.0, 25 if quick else 1441)
    peers = {
        f"sgp4 in C++, {kind} differences": differences_in_cpp(program, minutes, kind == "central")
        for kind in ("central", "forward")
    }
    with adopt("sgp4"):
        slopes = jit(vmap(jacobian(program.position), in_axes=(None, 0)))
        begin = time.perf_counter()
        ours = numpy.stack(slopes(program.ELEMENTS, minutes), axis=1)
        first = time.perf_counter() - begin
        largest = numpy.abs(ours).max()
        found = {name: numpy.abs(run() - ours).max() / largest for name, run in peers.items()}
        assert min(found.values()) < 1e-6, found
        runs: dict[str, Run] = {"ours": lambda: slopes(program.ELEMENTS, minutes), **peers}
        us = {name: 1e6 * taken for name, taken in fastest(1 if quick else 7, runs, 2 if quick else 20).items()}
    claim = f"satellite, derivatives of {len(minutes):,} positions"
    rows = [beside(claim, "us", us["ours"], (f"{name}, errors up to {found[name]:.0e}", us[name])) for name in peers]
    return [*rows, Row(f"{claim}, first", f"{1e3 * first:,.0f} ms")]


def flight_in_jax(program: Any, steps: int) -> Run:
    """Return the search for the velocity with JAX's functions."""
    j = jax()
    jnp = j.numpy
    force = j.grad(lambda q: -program.GM / jnp.hypot(q[0], q[1]))
    dt = program.FLIGHT / steps

    def leapfrog(state: Any, _: Any) -> Any:
        q, v = state
        v = v - force(q) * (dt / 2.0)
        q = q + v * dt
        return (q, v - force(q) * (dt / 2.0)), None

    def miss(velocity: Any) -> Any:
        start = jnp.asarray(program.LEAVING[:2]), velocity
        return j.lax.scan(leapfrog, start, None, length=steps)[0][0] - program.ARRIVING[:2]

    value, slope = j.jit(miss), j.jit(j.jacfwd(miss))
    return lambda: (
        root(lambda x: numpy.asarray(value(x)), start_of(program), jac=lambda x: numpy.asarray(slope(x)), tol=1e-12).x
    )


def flight_in_scipy(program: Any) -> Run:
    """Return the search with an integrator of SciPy, and differences."""

    def rates(_: float, y: Any) -> Any:
        pull = -program.GM / (y[0] ** 2 + y[1] ** 2) ** 1.5
        return [y[2], y[3], pull * y[0], pull * y[1]]

    def miss(velocity: Any) -> Any:
        state = numpy.concatenate([program.LEAVING[:2], velocity])
        end = solve_ivp(rates, (0.0, program.FLIGHT), state, method="DOP853", rtol=1e-10, atol=1e-10).y[:2, -1]
        return end - program.ARRIVING[:2]

    return lambda: root(miss, start_of(program), tol=1e-9).x


def start_of(program: Any) -> Any:
    """Return the initial guess of the example: the Earth's velocity."""
    return 2.0 * numpy.pi * numpy.array([-program.LEAVING[1], program.LEAVING[0]])


def flight_rows(quick: bool) -> list[Row]:
    """Compare the searches for the velocity."""
    program = example("orbit")
    steps = 40 if quick else 800
    miss = program.miss_of(steps)
    functions = jit(miss), jit(jacobian(miss))
    runs = {
        "ours": lambda: root(functions[0], start_of(program), jac=functions[1], tol=1e-12).x,
        "JAX": flight_in_jax(program, steps),
        "SciPy, differences": flight_in_scipy(program),
    }
    firsts = {}
    for name, run in runs.items():
        begin = time.perf_counter()
        velocity = run()
        firsts[name] = time.perf_counter() - begin
        numpy.testing.assert_allclose(velocity, program.LEAVING[2:], atol=10.0 / steps**2 + 1e-8, err_msg=name)
    us = {name: 1e6 * taken for name, taken in fastest(1 if quick else 7, runs, 2 if quick else 20).items()}
    claim = f"velocity to Mars, {steps} steps"
    names = list(runs)[1:]
    return [
        *(beside(claim, "us", us["ours"], (name, us[name])) for name in names),
        *(beside(f"{claim}, first", "ms", 1e3 * firsts["ours"], (name, 1e3 * firsts[name])) for name in names),
    ]


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    on_one_core()
    return [*satellite_rows(quick), *flight_rows(quick)]


if __name__ == "__main__":
    main(measure)
