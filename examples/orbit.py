"""A planet's orbit from its potential energy alone, and the way to Mars by differentiating through the integrator.

    python examples/orbit.py --steps 800 --output orbit.png

The force is minus the gradient of the potential, and leapfrog steps follow it. Known answers: Kepler's orbit closes
after its period and keeps its energy; leapfrog's errors fall by 4 for twice the steps. Then, with which velocity does
one leave the Earth to be at Mars in a given time? All steps of the flight are one recording, SciPy's `root` gets its
Jacobian, and Kepler's ellipse knows the answer. Needs matplotlib and scipy: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import root

from gradwalk import grad, jacobian, jit

Array = NDArray[np.float64]

GM = 4.0 * np.pi**2  # of the sun, in astronomical units (AU) and years
EARTH, MARS = 1.0, 1.524  # radii of their orbits in AU, taken as circles
REVOLUTIONS = 10
BLUE, ORANGE, YELLOW, GREY = "#0072B2", "#D55E00", "#F0E442", "#888888"  # told apart by colour-blind eyes too


class Kepler(NamedTuple):
    """The known answers: an ellipse with the sun in one focus, its perihelion at the right. Anomalies are eccentric."""

    axis: float
    eccentricity: float

    def time(self, anomaly: float) -> float:
        """Since the perihelion, by Kepler's equation."""
        return float((anomaly - self.eccentricity * np.sin(anomaly)) * np.sqrt(self.axis**3 / GM))

    def state(self, anomaly: Any) -> Array:
        """Position and velocity."""
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
    """The potential energy of a unit of mass at a position: all the physics there is."""
    return -GM / np.hypot(q[0], q[1])


def energy(state: Any) -> Any:
    """Kinetic and potential, of a unit of mass."""
    return (state[2] ** 2 + state[3] ** 2) / 2.0 + potential(state)


def leapfrog(state: Any, dt: Any) -> Any:
    """One step: half a kick, a drift, half a kick."""
    q, v = state[:2], state[2:]
    v = v - grad(potential)(q) * (dt / 2.0)
    q = q + v * dt
    v = v - grad(potential)(q) * (dt / 2.0)
    return np.concatenate([q, v])


def path(start: Array, time: float, steps: int) -> Array:
    """The states from the start to a time: a column each."""
    step, states = jit(leapfrog), [start]
    for _ in range(steps):
        states.append(step(states[-1], time / steps))
    return np.array(states).T


def shoot(steps: int) -> Array:
    """Find the velocity with which to leave the Earth to be at Mars in FLIGHT years. First tried: the Earth's own."""

    def miss(velocity: Any) -> Any:
        state = np.concatenate([LEAVING[:2], velocity])
        for _ in range(steps):
            state = leapfrog(state, FLIGHT / steps)
        return state[:2] - ARRIVING[:2]

    found = root(jit(miss), 2.0 * np.pi * np.array([-LEAVING[1], LEAVING[0]]), jac=jit(jacobian(miss)), tol=1e-12)
    assert found.success, found.message
    return np.asarray(found.x)


def draw_planes(orbit: Axes, flight: Axes, run: Array, flown: Array) -> None:
    """The planet on Kepler's ellipse; and the flight from the Earth's orbit to that of Mars."""
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    orbit.plot(*PLANET.state(angles)[:2], color=GREY, label="Kepler")
    orbit.plot(*run[:2, : flown.shape[1] : 10], "o", color=BLUE, markersize=4, label="leapfrog, every 10th step")
    orbit.set_title(f"An orbit of eccentricity {PLANET.eccentricity}")
    flight.plot(*TRANSFER.state(angles)[:2], color=GREY, label="Kepler")
    flight.plot(*flown[:2], color=ORANGE, linewidth=4, alpha=0.8, label="leapfrog, found by shooting")
    flight.set_title(f"From the Earth to Mars in {FLIGHT:.3f} years")
    for name, radius, place in (("Earth", EARTH, LEAVING), ("Mars", MARS, ARRIVING)):
        flight.plot(radius * np.cos(angles), radius * np.sin(angles), color=GREY, linewidth=1, linestyle=":")
        flight.plot(*place[:2], "o", color="gray", markersize=8)
        flight.annotate(name, (place[0], place[1]), xytext=(14, -6), textcoords="offset points")
    for axes in (orbit, flight):
        axes.plot(0, 0, "*", color=YELLOW, markeredgecolor="black", markersize=15)
        axes.set(aspect="equal", xlabel="x in AU", ylabel="y in AU", xlim=(-1.75, 1.75), ylim=(-1.65, 1.65))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18))


def draw(run: Array, flown: Array, output: str) -> None:
    """Save a picture: the orbit, the flight, and the error of the energy."""
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
    """Read the command line, fly, report."""
    parser = argparse.ArgumentParser(description="Follow a planet, and find the way to Mars.")
    parser.add_argument("--steps", type=int, default=800, help="a revolution or flight (default: %(default)s)")
    parser.add_argument("--output", default="orbit.png", help="where the picture goes (default: %(default)s)")
    options = parser.parse_args()

    print("steps  away after a period  worst energy  velocity found in AU/year  its error")
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
