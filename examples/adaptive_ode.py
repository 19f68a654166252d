"""Simulate a thrown ball with an adaptive ODE solver, and differentiate its position with respect to the throw.

    python examples/adaptive_ode.py --output adaptive_ode.png

The Bogacki-Shampine method computes solutions of orders 3 and 2, and chooses the next step size from their difference.
The number of steps depends on the throw, so the solver is a `while_loop`, which is recorded as one instruction. Its
derivatives follow the steps that were taken. The results are compared with SciPy's `solve_ivp` at a tolerance of 1e-12
and with finite differences of it. Requires matplotlib and scipy: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from gradwalk import jacobian, jit, loops
from gradwalk.math import cos, maximum, minimum, sin, sqrt, stop_gradient, where

Array = NDArray[np.float64]

GRAVITY = 9.81  # m/s²
THROW = np.array([40.0, 0.9, 0.01])  # speed in m/s, angle in radians, drag in 1/m
NAMES = ("speed", "angle", "drag")
BLUE, ORANGE = "#0072B2", "#D55E00"  # color-blind safe


def slope(state: Any, drag: Any) -> tuple[Any, ...]:
    """Return the time derivative of the state (position and velocity)."""
    _, _, vx, vy = state
    speed = sqrt(vx * vx + vy * vy)
    return vx, vy, -drag * speed * vx, -GRAVITY - drag * speed * vy


def moved(state: Any, step: Any, *slopes: tuple[float, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Advance the state by one step along a weighted sum of slopes."""
    return tuple(x + step * sum(weight * k[i] for weight, k in slopes) for i, x in enumerate(state))


def flight(throw: Any, seconds: Any, tolerance: float) -> Any:
    """Return position, velocity and the number of attempted steps at a time in seconds after the throw."""
    speed, angle, drag = throw

    def goes_on(carry: Any) -> Any:
        return carry[1] < seconds

    def tried(carry: Any) -> Any:
        state, time, proposed, count = carry
        step = minimum(proposed, seconds - time)
        k1 = slope(state, drag)
        k2 = slope(moved(state, step, (1 / 2, k1)), drag)
        k3 = slope(moved(state, step, (3 / 4, k2)), drag)
        third = moved(state, step, (2 / 9, k1), (1 / 3, k2), (4 / 9, k3))
        k4 = slope(third, drag)
        second = moved(state, step, (7 / 24, k1), (1 / 4, k2), (1 / 3, k3), (1 / 8, k4))
        error = stop_gradient(sqrt(sum((x - y) ** 2 for x, y in zip(third, second, strict=True))) / tolerance + 1e-9)
        is_good = error <= 1.0
        reached = tuple(where(is_good, new, old) for new, old in zip(third, state, strict=True))
        following = stop_gradient(step) * minimum(maximum(0.9 * error ** (-1 / 3), 0.2), 5.0)
        return reached, time + where(is_good, step, 0.0), following, count + 1.0

    start = (0.0, 0.0, speed * cos(angle), speed * sin(angle))
    state, _, _, count = loops.while_loop(goes_on, tried, (start, 0.0, 0.01, 0.0))
    return np.array([*state, count])


def reference(throw: Any, seconds: float) -> Array:
    """Compute position and velocity with SciPy's solver."""
    speed, angle, drag = throw
    start = [0.0, 0.0, speed * np.cos(angle), speed * np.sin(angle)]

    def rhs(_: float, state: Any) -> Any:
        vx, vy = state[2:]
        return vx, vy, -drag * np.hypot(vx, vy) * vx, -GRAVITY - drag * np.hypot(vx, vy) * vy

    found = solve_ivp(rhs, (0.0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-12)
    return np.asarray(found.y[:, -1])


def reference_jacobian(throw: Any, seconds: float) -> Array:
    """Compute the Jacobian of `reference` by central differences."""
    columns = []
    for i, x in enumerate(throw):
        h = 1e-4 * x
        up, down = np.array(throw), np.array(throw)
        up[i], down[i] = x + h, x - h
        columns.append((reference(up, seconds) - reference(down, seconds)) / (2.0 * h))
    return np.array(columns).T


def draw(place: Any, slopes: Any, seconds: float, output: str) -> None:
    """Save a picture of the flight and of how it changes with each parameter of the throw."""
    times = np.linspace(0.02, seconds, 60)
    places = np.array([place(THROW, t)[:2] for t in times])
    changes = np.array([slopes(THROW, t)[:2] for t in times])
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*places.T, color=BLUE, linewidth=2, label="the flight")
    for column, (name, change) in enumerate(zip(NAMES, (2.0, 0.05, 0.002), strict=True)):
        arrows = change * changes[::6, :, column]
        axes.quiver(
            *places[::6].T, *arrows.T, angles="xy", scale_units="xy", scale=1, width=0.003,
            color=("#009E73", ORANGE, "#CC79A7")[column], label=f"{name} + {change:g}",
        )  # fmt: skip
    axes.set(title="How the flight changes with the throw", xlabel="metres", ylabel="metres")
    axes.set(aspect="equal", ylim=(-2, 38))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower center")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, simulate the flight, and print the comparison."""
    parser = argparse.ArgumentParser(description="Differentiate an adaptive ODE solver.")
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of the flight (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="error tolerance per step (default: %(default)s)")
    parser.add_argument("--output", default="adaptive_ode.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    place = jit(lambda throw, seconds: flight(throw, seconds, options.tolerance))
    slopes = jit(jacobian(lambda throw, seconds: flight(throw, seconds, options.tolerance)))
    *found, count = place(THROW, options.seconds)
    known = reference(THROW, options.seconds)
    print(f"steps tried: {count:.0f}, in a program of {len(place.program)} instructions")
    print("               x            y           vx           vy")
    print("place  " + "".join(f"{x:13.6f}" for x in found))
    print("known  " + "".join(f"{x:13.6f}" for x in known))
    derivatives = slopes(THROW, options.seconds)[:4]
    for name, column, other in zip(NAMES, derivatives.T, reference_jacobian(THROW, options.seconds).T, strict=True):
        print(f"d {name:5}" + "".join(f"{x:13.5f}" for x in column))
        print("known  " + "".join(f"{x:13.5f}" for x in other))
    draw(place, slopes, options.seconds, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
