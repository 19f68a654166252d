"""Reconstruct camera poses and scene points from pixels: bundle adjustment with a sparse Jacobian.

    python examples/bundle_adjustment.py --noise 0.5 --output bundle_adjustment.png

Six cameras observe 60 points on two walls. The projection of one point is scalar code, recorded once and replayed for
each observation. Its derivatives fill the sparse Jacobian for SciPy's `least_squares`. A scene is only determined up to
coordinates and scale, so seven numbers are fixed at their true values. The result is compared with the true scene and
with the errors that theory predicts for noisy pixels. Requires matplotlib and scipy: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.sparse import csr_array
from scipy.spatial.transform import Rotation

from gradwalk import jacobian, jit
from gradwalk.math import cos, sin, sqrt

Array = NDArray[np.float64]

CAMERAS, POINTS, FOCAL = 6, 60, 1000.0  # focal length in pixels
# A pose is a rotation vector and a translation, from world to camera coordinates.
POSES = 6 * CAMERAS  # poses come before points
# Standard deviations of the guess, in radians and meters.
SPREAD = np.r_[np.tile([0.02] * 3 + [0.3] * 3, CAMERAS), np.full(3 * POINTS, 0.3)]
SPREAD[[*range(6), POSES]] = 0.0  # the first pose is known and, for the scale, x of the first point
FREE = SPREAD > 0.0
OBSERVATIONS = [(camera, point) for camera in range(CAMERAS) for point in range(POINTS)]
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"  # color-blind safe


def project(pose: Any, point: Any) -> Any:
    """Return the pixel at which a camera sees a point; the rotation angle of the pose must not be 0."""
    (a, b, c), (x, y, z) = pose[:3], point
    angle = sqrt(a * a + b * b + c * c)
    cosine, sine = cos(angle), sin(angle) / angle
    along = (1.0 - cosine) * (a * x + b * y + c * z) / angle**2
    right = cosine * x + sine * (b * z - c * y) + along * a + pose[3]
    down = cosine * y + sine * (c * x - a * z) + along * b + pose[4]
    depth = cosine * z + sine * (a * y - b * x) + along * c + pose[5]
    return np.array([FOCAL * right / depth, FOCAL * down / depth])


pixel, pixel_derivatives = jit(project), jit(jacobian(project, argnums=(0, 1)))


def parts(scene: Array) -> tuple[Array, Array]:
    """Split a scene into poses and points, one row each."""
    return scene[:POSES].reshape(-1, 6), scene[POSES:].reshape(-1, 3)


def pixels(scene: Array) -> Array:
    """Return the pixels of all observations, one row each."""
    poses, points = parts(scene)
    return np.array([pixel(poses[camera], points[point]) for camera, point in OBSERVATIONS])


def derivatives(scene: Array) -> csr_array:
    """Return the sparse Jacobian of all pixels with respect to the free parameters."""
    poses, points = parts(scene)
    blocks = [np.hstack(pixel_derivatives(poses[camera], points[point])) for camera, point in OBSERVATIONS]
    columns = [2 * [*range(6 * c, 6 * c + 6), *range(POSES + 3 * p, POSES + 3 * p + 3)] for c, p in OBSERVATIONS]
    return csr_array((np.ravel(blocks), np.ravel(columns), np.arange(0, np.size(blocks) + 1, 9)))[:, FREE]


def true_scene(rng: np.random.Generator) -> Array:
    """Create two walls that meet in a corner, seen by cameras on an arc."""
    along, height, is_left = rng.uniform(0.2, 4.0, POINTS), rng.uniform(0.0, 3.0, POINTS), np.arange(POINTS) % 2 == 0
    points = np.column_stack([np.where(is_left, 0.0, along), np.where(is_left, along, 0.0), height])
    angles = np.radians(np.linspace(195.0, 255.0, CAMERAS))
    centers = np.column_stack([1.0 + 8.0 * np.cos(angles), 1.0 + 8.0 * np.sin(angles), rng.uniform(1.2, 2.2, CAMERAS)])
    turns = Rotation.from_euler("zx", np.column_stack([-np.pi / 2 - angles, np.full(CAMERAS, np.pi / 2)]))
    return np.concatenate([np.hstack([turns.as_rotvec(), -turns.apply(centers)]).ravel(), points.ravel()])


def adjusted(guess: Array, observed: Array) -> Array:
    """Fit the free parameters of a scene to the observed pixels."""

    def scene(free: Array) -> Array:
        full = guess.copy()
        full[FREE] = free
        return full

    def errors(free: Array) -> Array:
        return (pixels(scene(free)) - observed).ravel()

    return scene(least_squares(errors, guess[FREE], jac=lambda free: derivatives(scene(free)), x_scale="jac").x)


def rms(errors: Array) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(errors**2)))


def expected(scene: Array, noise: float) -> tuple[float, float]:
    """Return the RMS errors of pixels and points that theory predicts after adjustment."""
    j = derivatives(scene).toarray()
    variances = noise**2 * np.diag(np.linalg.inv(j.T @ j))
    return noise * float(np.sqrt(1.0 - j.shape[1] / j.shape[0])), float(np.sqrt(variances[POSES - 6 :].mean()))


def draw(guess: Array, found: Array, observed: Array, output: str) -> None:
    """Save a picture of the scene from above and of the reprojection errors, as guessed and as found."""
    figure = Figure(figsize=(8.5, 6), layout="constrained")
    axes = figure.subplot_mosaic([["plan", "guessed"], ["plan", "found"]], width_ratios=[1.8, 1])
    plan = axes["plan"]
    plan.plot([0, 0, 4.3], [4.3, 0, 0], color=GRAY, linewidth=7, alpha=0.4, label="true walls")
    for name, scene, color, inside in (("guessed", guess, ORANGE, "none"), ("found", found, BLUE, BLUE)):
        poses, points = parts(scene)
        centers = -Rotation.from_rotvec(poses[:, :3]).inv().apply(poses[:, 3:])
        plan.plot(*points[:, :2].T, "o", color=color, markersize=5, markerfacecolor=inside, label=f"points {name}")
        plan.plot(*centers[:, :2].T, "^", color=color, markersize=9, markerfacecolor=inside, label=f"cameras {name}")
        axes[name].plot(*(pixels(scene) - observed).T, ".", color=color, markersize=4)
        axes[name].set(title=f"Reprojection, {name}", xlabel="x error in pixels", ylabel="y error in pixels")
        axes[name].axis("equal")
    plan.set(title="The scene from above", xlabel="x in metres", ylabel="y in metres", aspect="equal")
    plan.legend(loc="upper left")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, adjust the scene, and print the errors."""
    parser = argparse.ArgumentParser(description="Find cameras and points from pixels.")
    parser.add_argument("--noise", type=float, default=0.5, help="noise of the pixels (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--output", default="bundle_adjustment.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    truth = true_scene(rng)
    observed = rng.normal(pixels(truth), options.noise)
    guess = rng.normal(truth, SPREAD)
    found = adjusted(guess, observed)
    print(f"{len(OBSERVATIONS)} observations, {FREE.sum()} unknowns; RMS errors of pixels and of points in mm")
    for name, scene in (("guessed", guess), ("adjusted", found)):
        print(f"{name:15} {rms(pixels(scene) - observed):9.4f} {1000 * rms((scene - truth)[POSES:]):9.3f}")
    of_pixels, of_points = expected(truth, options.noise)
    print(f"{'known answer':15} {of_pixels:9.4f} {1000 * of_points:9.3f}")
    draw(guess, found, observed, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
