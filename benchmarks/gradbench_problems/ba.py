"""GradBench's `ba`, from ADBench: the sparse Jacobian of a bundle adjustment.

Cameras with eleven parameters see points. Each observation has two residuals, which depend on its camera, its point and
its weight w, and a third residual, 1 - w². The result contains all derivatives, as the values of a sparse matrix. The
smallest data set of ADBench has 49 cameras, 7,776 points and 31,843 observations. The data here is random, in this
size, a smaller and a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
from peers import jax
from suites import OURS, Library, bundle, bundle_in_place, of_jax, residuals

from gradbench_problems import tapes
from gradbench_problems.base import Case, Maker, Run, in_cpp, in_jax, in_torch, of_torch, torch


def slopes_of(m: Library) -> Any:
    """Return a function that computes the derivatives of the residuals of one observation and of its weight."""
    slopes = m.jacobian(partial(residuals, m), (0, 1, 2))

    def found(camera: Any, point: Any, weight: Any, seen: Any) -> Any:
        by_camera, by_point, by_weight = slopes(camera, point, weight, seen)
        all_slopes = m.concatenate([by_camera, by_point, m.stack([by_weight]).T], 1)
        return all_slopes, m.grad(lambda w: 1.0 - w * w)(weight)

    return found


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    middle, spread = [0.0] * 6 + [1.0] + [0.0] * 4, [0.3] * 3 + [1.0] * 4 + [0.1] * 4
    sizes = [(5, 60, 200)] if quick else [(5, 100, 1000), (49, 7776, 31_843), (372, 47_423, 204_472)]
    for cameras, points, total in sizes:
        given = (
            generator.normal(middle, spread, (cameras, 11)),
            generator.normal([0.0, 0.0, 8.0], 1.0, (points, 3)),
            generator.uniform(0.5, 1.5, total),
            generator.normal(size=(total, 2)),
            generator.integers(0, cameras, total),
            generator.integers(0, points, total),
        )
        makers: dict[str, Maker] = {
            "gradwalk": in_gradwalk(given),
            "C++": in_cpp("ba", [total, *given], [(total, 2, 15), total]),
            "JAX": in_jax(bundle(jax().vmap(slopes_of(of_jax()))), *given),
            "PyTorch": in_torch(bundle(torch().func.vmap(slopes_of(of_torch()))), *given),
        }
        makers |= tapes.makers(on_tape, given)
        yield Case("ba", f"{total:,} observations", makers)


def in_gradwalk(given: tuple[Any, ...]) -> Maker:
    """Return the function in gradwalk, recorded at its first call, which reuses its result arrays."""
    total = len(given[2])
    return lambda *, contract=False: partial(
        bundle_in_place(slopes_of(OURS), (total, 2, 15), total, contract=contract), *given
    )


def on_tape(tape: tapes.Tapes, given: tuple[Any, ...]) -> Run:
    """Return the function on a tape of one observation and a tape of one weight, or on one tape of all observations."""
    cameras, points, weights, seen, camera, point = given
    if not tape.one_by_one:
        return on_one_tape(tape, given)
    slopes, of_weights = (
        tape.jacobians("ba", 15, 2, seen),
        tape.jacobians("ba_weight", 1, 1, numpy.zeros((len(seen), 0))),
    )
    numbers = numpy.empty((len(weights), 15))

    def run() -> Any:
        numbers[:, :11], numbers[:, 11:14], numbers[:, 14] = cameras[camera], points[point], weights
        return slopes(numbers), of_weights(weights[:, None])

    return run


def on_one_tape(tape: tapes.Tapes, given: tuple[Any, ...]) -> Run:
    """Return the function on one tape of all observations, along fifteen directions.

    Each observation depends on one number per direction.
    """
    cameras, points, weights, *others = given
    sizes = [len(cameras), len(points), len(weights)]
    numbers, constants = (numpy.concatenate([x.ravel() for x in part]) for part in (given[:3], others))
    widths = [11, 3, 1]
    seeds = numpy.vstack(
        [
            numpy.tile(numpy.eye(width, 15, sum(widths[:i])), (count, 1))
            for i, (count, width) in enumerate(zip(sizes, widths, strict=True))
        ]
    )
    run = tape.directions("ba_all", sizes, numbers, constants, seeds, 3 * len(weights))

    def found() -> Any:
        slopes = run()
        return slopes[: 2 * len(weights)], slopes[2 * len(weights) :, 14]

    return found
