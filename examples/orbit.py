"""Compute a planet's orbit from its potential energy, and find a trajectory to Mars by differentiating the integrator.

    python examples/orbit.py --steps 800 --output orbit.png

The force is the negative gradient of the potential, and the leapfrog method integrates the motion. The results are
compared with Kepler's orbit: it closes after one period, its energy is constant, and the error of leapfrog falls by a
factor of 4 when the number of steps doubles. The second part finds the velocity at which to leave the Earth to reach
Mars after a given time (shooting). All steps of the flight are one recorded program, SciPy's `root` uses its Jacobian,
and Kepler's ellipse gives the exact velocity. Requires matplotlib and scipy: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import root

from gradwalk import grad, jacobian, jit

Array = NDArray[np.float64]

GM = 4.0 * np.pi**2  # gravitational parameter of the sun, in astronomical units (AU) and years
EARTH, MARS = 1.0, 1.524  # orbital radii in AU; the orbits are assumed circular
REVOLUTIONS = 10
BLUE, ORANGE, YELLOW, GRAY = "#0072B2", "#D55E00", "#F0E442", "#888888"  # color-blind safe


class Kepler(NamedTuple):
    """An elliptic orbit with the sun in one focus and the perihelion on the positive x axis, by eccentric anomaly."""

    axis: float
    eccentricity: float

    def time(self, anomaly: float) -> float:
        """Return the time since the perihelion, by Kepler's equation."""
        return float((anomaly - self.eccentricity * np.sin(anomaly)) * np.sqrt(self.axis**3 / GM))

    def state(self, anomaly: Any) -> Array:
        """Return position and velocity."""
        cosine, sine, flat = np.cos(anomaly), np.sin(anomaly), np.sqrt(1.0 - self.eccentricity**2)
        speed = np.sqrt(GM / self.axis) / (1.0 - self.eccentricity * cosine)
        x, y = self.axis * (cosine - self.eccentricity), self.axis * flat * sine
        return np.array([x, y, -speed * sine, speed * flat * cosine])


PLANET, TRANSFER = Kepler(1.0, 0.6), Kepler(1.3, 0.25)
START, PERIOD = PLANET.state(0.0), PLANET.time(2.0 * np.pi)
LEAVES, ARRIVES = np.arccos((1.0 - np.array([EARTH, MARS]) / TRANSFER.axis) / TRANSFER.eccentricity)  # anomalies
LEAVING, ARRIVING = TRANSFER.state(LEAVES), TRANSFER.state(ARRIVES)
FLIGHT = TRANSFER.time(ARRIVES) - TRANSFER.time(LEAVES)


def potential(q: Any) -> Any:
    """Return the potential energy per unit mass."""
    return -GM / np.hypot(q[0], q[1])


def energy(state: Any) -> Any:
    """Return kinetic plus potential energy per unit mass."""
    return (state[2] ** 2 + state[3] ** 2) / 2.0 + potential(state)


def leapfrog(state: Any, dt: Any) -> Any:
    """Advance the state by one step: half a kick, a drift, half a kick."""
    q, v = state[:2], state[2:]
    v = v - grad(potential)(q) * (dt / 2.0)
    q = q + v * dt
    v = v - grad(potential)(q) * (dt / 2.0)
    return np.concatenate([q, v])


def path(start: Array, time: float, steps: int) -> Array:
    """Integrate from a state over a time, and return all states as columns."""
    step, states = jit(leapfrog), [start]
    for _ in range(steps):
        states.append(step(states[-1], time / steps))
    return np.array(states).T


def miss_of(steps: int) -> Callable[[Any], Any]:
    """Return the function from the initial velocity to the distance by which the flight misses Mars."""

    def miss(velocity: Any) -> Any:
        state = np.concatenate([LEAVING[:2], velocity])
        for _ in range(steps):
            state = leapfrog(state, FLIGHT / steps)
        return state[:2] - ARRIVING[:2]

    return miss


def shoot(steps: int) -> Array:
    """Find the initial velocity that reaches Mars in FLIGHT years, starting from the Earth's velocity."""
    miss = miss_of(steps)
    found = root(jit(miss), 2.0 * np.pi * np.array([-LEAVING[1], LEAVING[0]]), jac=jit(jacobian(miss)), tol=1e-12)
    assert found.success, found.message
    return np.asarray(found.x)


def draw_planes(orbit: Axes, flight: Axes, run: Array, flown: Array) -> None:
    """Draw the planet's orbit and the flight to Mars, each with Kepler's ellipse."""
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    orbit.plot(*PLANET.state(angles)[:2], color=GRAY, label="Kepler")
    orbit.plot(*run[:2, : flown.shape[1] : 10], "o", color=BLUE, markersize=4, label="leapfrog, every 10th step")
    orbit.set_title(f"An orbit of eccentricity {PLANET.eccentricity}")
    flight.plot(*TRANSFER.state(angles)[:2], color=GRAY, label="Kepler")
    flight.plot(*flown[:2], color=ORANGE, linewidth=4, alpha=0.8, label="leapfrog, found by shooting")
    flight.set_title(f"From the Earth to Mars in {FLIGHT:.3f} years")
    for name, radius, place in (("Earth", EARTH, LEAVING), ("Mars", MARS, ARRIVING)):
        flight.plot(radius * np.cos(angles), radius * np.sin(angles), color=GRAY, linewidth=1, linestyle=":")
        flight.plot(*place[:2], "o", color="gray", markersize=8)
        flight.annotate(name, (place[0], place[1]), xytext=(14, -6), textcoords="offset points")
    for axes in (orbit, flight):
        axes.plot(0, 0, "*", color=YELLOW, markeredgecolor="black", markersize=15)
        axes.set(aspect="equal", xlabel="x in AU", ylabel="y in AU", xlim=(-1.75, 1.75), ylim=(-1.65, 1.65))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18))


def draw(run: Array, flown: Array, output: str) -> None:
    """Save a picture of the orbit, the flight, and the energy error."""
    figure = Figure(figsize=(8, 7), layout="constrained")
    axes = figure.subplot_mosaic([["orbit", "flight"], ["energy", "energy"]], height_ratios=[2.5, 1])
    draw_planes(axes["orbit"], axes["flight"], run, flown)
    revolutions = np.linspace(0.0, REVOLUTIONS, run.shape[1])
    axes["energy"].plot(revolutions, 1000.0 * (energy(run) / energy(START) - 1.0), color=BLUE)
    title = f"The orbit's energy over {REVOLUTIONS} revolutions of {flown.shape[1] - 1} steps each"
    axes["energy"].set(title=title, xlabel="revolutions", ylabel="error in ‰", xlim=(0, REVOLUTIONS))
    axes["energy"].grid(alpha=0.3)
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, integrate both orbits, and print the errors."""
    parser = argparse.ArgumentParser(description="Follow a planet, and find the way to Mars.")
    parser.add_argument("--steps", type=int, default=800, help="steps per revolution or flight (default: %(default)s)")
    parser.add_argument("--output", default="orbit.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    print("steps  error after 1 orbit  energy error  velocity found in AU/year      error")
    for steps in (options.steps // 2, options.steps):
        run, velocity = path(START, REVOLUTIONS * PERIOD, REVOLUTIONS * steps), shoot(steps)
        away, error = np.linalg.norm((run[:, steps] - START)[:2]), np.linalg.norm(velocity - LEAVING[2:])
        worst = np.abs(energy(run) / energy(START) - 1.0).max()
        print(f"{steps:5} {away:17.6f} AU {worst:13.1e} {velocity[0]:13.6f} {velocity[1]:13.6f} {error:9.1e}")
    print(f"known {0:17} AU {0:13} {LEAVING[2]:13.6f} {LEAVING[3]:13.6f} {0:9}")
    draw(run, path(np.concatenate([LEAVING[:2], velocity]), FLIGHT, steps), options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
