"""Differentiate the position of a satellite with respect to its orbital elements, through a package from PyPI.

    python examples/satellite.py --hours 24

The package sgp4 computes positions of satellites from two-line elements. It knows nothing of derivatives, calls `math`
and branches; `adopt` lets it compute with Values. `vmap` computes all times together: they take one or two paths
through the branches. The picture shows how far the satellite moves if one of its elements is a little wrong, and how
uncertain its position is if all elements have independent errors of this size.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sgp4.model import WGS72, Satrec

from gradwalk import adopt, jacobian, jit, vmap

Array = NDArray[np.float64]

NAMES = ("eccentricity", "argument of perigee", "inclination", "mean anomaly", "mean motion", "ascending node")
DEGREE = np.pi / 180.0
# Elements of the International Space Station (angles in radians, mean motion in radians per minute), and their errors.
ELEMENTS = np.array(
    [
        0.0006703,
        130.5360 * DEGREE,
        51.6416 * DEGREE,
        325.0288 * DEGREE,
        15.144125391 * 2.0 * np.pi / 1440.0,
        247.4627 * DEGREE,
    ]
)
ERRORS = np.array([1e-6, 0.001 * DEGREE, 0.001 * DEGREE, 0.001 * DEGREE, 1e-7, 0.001 * DEGREE])


def position(elements: Any, minutes: Any) -> Any:
    """Return the position of the satellite after some minutes, in km, in a frame that does not turn with the Earth."""
    satellite = Satrec()
    satellite.sgp4init(WGS72, "i", 25544, 21450.5, 2.8098e-05, 0.0, 0.0, *elements)
    error, found, _ = satellite.sgp4_tsince(minutes)
    if error:
        raise ValueError(f"sgp4 reports error {error}")
    return list(found)


def differences(minutes: Array) -> Array:
    """Return the derivatives by central differences of plain calls, with axes for time, coordinate and element."""
    found = []
    for i, step in enumerate(1e-6 * np.maximum(np.abs(ELEMENTS), 0.1)):
        ends = [[position(ELEMENTS + sign * step * np.eye(6)[i], t) for t in minutes.tolist()] for sign in (1.0, -1.0)]
        found.append((np.array(ends[0]) - np.array(ends[1])) / (2.0 * step))
    return np.stack(found, axis=-1)


def draw(minutes: Array, moved: Array, path: str) -> None:
    """Draw how far the error of each element moves the satellite, in km, and the root of the sum of squares."""
    figure, axes = plt.subplots(figsize=(8.0, 4.6), layout="constrained")
    for name, distances in zip(NAMES, moved.T, strict=True):
        style = "--" if name == "mean anomaly" else "-"  # its line lies on that of the argument of perigee
        axes.semilogy(minutes / 60.0, distances, style, label=name)
    axes.semilogy(
        minutes / 60.0,
        np.sqrt((moved**2).sum(axis=1)),
        color=plt.rcParams["text.color"],
        linewidth=2.0,
        label="all elements",
    )
    axes.set(xlabel="hours", ylabel="distance from the computed position, km", xlim=(0.0, minutes[-1] / 60.0))
    axes.set_title("How far the ISS is off if its elements have small errors", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(ncols=2, fontsize="small")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Parse the command line, compute the derivatives, compare them with differences, and draw them."""
    parser = argparse.ArgumentParser(description="Differentiate the position of a satellite.")
    parser.add_argument("--hours", type=float, default=24.0, help="time span (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=1441, help="number of times (default: %(default)s)")
    parser.add_argument("--output", default="satellite.png", help="picture to write (default: %(default)s)")
    options = parser.parse_args()

    minutes = np.linspace(0.0, 60.0 * options.hours, options.steps)
    with adopt("sgp4"):
        slopes_of = jit(vmap(jacobian(position), in_axes=(None, 0)))
        start = time.perf_counter()
        slopes = np.stack(slopes_of(ELEMENTS, minutes), axis=1)  # axes for time, coordinate and element
        first = time.perf_counter() - start
        start = time.perf_counter()
        slopes_of(ELEMENTS, minutes)
        again = time.perf_counter() - start
    checked = minutes[:: max(options.steps // 20, 1)]
    expected, found = differences(checked), slopes[:: max(options.steps // 20, 1)]
    error = np.abs(found - expected).max() / np.abs(expected).max()

    moved = np.linalg.norm(slopes, axis=1) * ERRORS
    paths = slopes_of.statistics.recordings
    print(f"{options.steps} times, {paths} paths: first {1e3 * first:.0f} ms, then {1e3 * again:.1f} ms")
    print(f"largest difference from central differences, relative: {error:.1e}")
    print(f"{'km off after hours':22}" + "".join(f"{minutes[i] / 60.0:10.1f}" for i in (0, len(minutes) // 2, -1)))
    for name, distances in zip((*NAMES, "all elements"), [*moved.T, np.sqrt((moved**2).sum(axis=1))], strict=True):
        print(f"{name:22}" + "".join(f"{distances[i]:10.4f}" for i in (0, len(minutes) // 2, -1)))
    draw(minutes, moved, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
