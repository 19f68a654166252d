"""Where a thrown ball is after some seconds, and how that depends on the throw: an adaptive ODE solver as a loop.

    python examples/adaptive_ode.py --output adaptive_ode.png

The method of Bogacki and Shampine takes steps of orders 3 and 2 at once, and chooses the next step by how far they are
apart. How many steps that takes depends on the throw: a `while_loop`, recorded as one instruction, whose derivatives
are those of the steps that were taken. Known answers: SciPy's solve_ivp at a tolerance of 1e-12, and differences of it.
Needs matplotlib and scipy: `pip install gradwalk[examples]`.
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

GRAVITY = 9.81  # metres a second squared
THROW = np.array([40.0, 0.9, 0.01])  # metres a second, radians, drag a metre
NAMES = ("speed", "angle", "drag")
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind eyes too


def slope(state: Any, drag: Any) -> tuple[Any, ...]:
    """How fast place and velocity change."""
    _, _, vx, vy = state
    speed = sqrt(vx * vx + vy * vy)
    return vx, vy, -drag * speed * vx, -GRAVITY - drag * speed * vy


def moved(state: Any, step: Any, *slopes: tuple[float, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The state after a step along slopes, each with its weight."""
    return tuple(x + step * sum(weight * k[i] for weight, k in slopes) for i, x in enumerate(state))


def flight(throw: Any, seconds: Any, tolerance: float) -> Any:
    """Place, velocity, and how many steps were tried, so many seconds after the throw."""
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
    """The same by SciPy."""
    speed, angle, drag = throw
    start = [0.0, 0.0, speed * np.cos(angle), speed * np.sin(angle)]

    def rhs(_: float, state: Any) -> Any:
        vx, vy = state[2:]
        return vx, vy, -drag * np.hypot(vx, vy) * vx, -GRAVITY - drag * np.hypot(vx, vy) * vy

    found = solve_ivp(rhs, (0.0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-12)
    return np.asarray(found.y[:, -1])


def reference_jacobian(throw: Any, seconds: float) -> Array:
    """The derivatives of that, by central differences."""
    columns = []
    for i, x in enumerate(throw):
        h = 1e-4 * x
        up, down = np.array(throw), np.array(throw)
        up[i], down[i] = x + h, x - h
        columns.append((reference(up, seconds) - reference(down, seconds)) / (2.0 * h))
    return np.array(columns).T


def draw(place: Any, slopes: Any, seconds: float, output: str) -> None:
    """Save a picture of the flight, and of where it would go if the throw were a little different."""
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
    """Read the command line, fly, report."""
    parser = argparse.ArgumentParser(description="Differentiate an adaptive ODE solver.")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long the ball flies (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="of a step (default: %(default)s)")
    parser.add_argument("--output", default="adaptive_ode.png", help="where the picture goes (default: %(default)s)")
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
