"""GradBench's `ht`, from ADBench: the Jacobian of a hand model that is fitted to observed points.

A hand has 22 bones: a wrist, five fingers with four bones each, and a forearm. 26 parameters rotate and translate the
hand and bend the last three bones of each finger. Each vertex of the skin moves with several bones, by weights. Each
point is compared with a position in a triangle of three vertices, given by two coordinates. The derivatives are with
respect to the 26 parameters and these coordinates. The hand here is random, with as many bones as in ADBench and 544
vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy
from peers import jax
from suites import OURS, Library, of_jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, Maker, Run, in_cpp, in_jax, in_torch, of_torch, recorded, torch
from gradwalk import jacfwd, jit, take, vmap

BONES, ANGLES, VERTICES = 22, 26, 544
PARENTS = [-1, *(parent for f in range(0, 20, 4) for parent in (0, f + 1, f + 2, f + 3)), 0]


class Hand(NamedTuple):
    """A hand at rest: transforms of bones relative to parents, inverses of absolute transforms, weights, vertices."""

    base: Any
    inverses: Any
    weights: Any
    positions: Any


def hand(generator: numpy.random.Generator) -> Hand:
    """Create a random hand in which each vertex moves with four bones."""
    base = numpy.tile(numpy.eye(4), (BONES, 1, 1))
    base[:, :3, :3] = numpy.linalg.qr(generator.normal(size=(BONES, 3, 3)))[0]
    base[:, :3, 3] = generator.normal(size=(BONES, 3))
    absolute: list[Any] = []
    for bone, parent in zip(base, PARENTS, strict=True):
        absolute.append(bone if parent < 0 else absolute[parent] @ bone)
    weights = numpy.zeros((BONES, VERTICES))
    for vertex in range(VERTICES):
        weights[generator.choice(BONES, 4, replace=False), vertex] = generator.dirichlet(numpy.ones(4))
    positions = numpy.vstack([generator.normal(size=(3, VERTICES)), numpy.ones(VERTICES)])
    return Hand(base, numpy.linalg.inv(absolute), weights, positions)


def rotation(m: Library, r: Any) -> Any:
    """Return the rotation matrix of an axis-angle vector."""
    angle = m.math.sqrt((r * r).sum())
    x, y, z = (r[i] / angle for i in range(3))
    s, c = m.math.sin(angle), m.math.cos(angle)
    rows = [
        [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
        [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
        [x * z * (1 - c) - y * s, y * z * (1 - c) + x * s, z * z + (1 - z * z) * c],
    ]
    return m.stack([m.stack(row) for row in rows])


def bend(m: Library, x: Any, z: Any) -> Any:
    """Return the matrix that rotates around the first axis and then around the third."""
    cx, sx, cz, sz, zero = m.math.cos(x), m.math.sin(x), m.math.cos(z), m.math.sin(z), 0.0 * x
    rows = [[cz, -sz * cx, sz * sx], [sz, cz * cx, -cz * sx], [zero, sx, cx]]
    return m.stack([m.stack(row) for row in rows])


def moved_bones(m: Library, hand: Hand, theta: Any) -> list[Any]:
    """Return the 3x4 matrix of each bone, which maps a vertex at rest to its moved position."""
    absolute: list[Any] = []
    for bone, parent in enumerate(PARENTS):
        relative = hand.base[bone]
        finger, joint = divmod(bone - 1, 4)
        if 0 < bone < 21 and joint > 0:
            its = theta[6 + 4 * finger : 10 + 4 * finger]
            turn = bend(m, its[0], its[1]) if joint == 1 else bend(m, its[joint], 0.0 * its[0])
            relative = m.concatenate([relative[:, :3] @ turn, relative[:, 3:]], 1)
        absolute.append(relative if parent < 0 else absolute[parent] @ relative)
    return [(bone @ inverse)[:3] for bone, inverse in zip(absolute, hand.inverses, strict=True)]


def residual(hand: Hand, theta: Any, u: Any, weights: Any, positions: Any, point: Any) -> Any:
    """Return the residual of one point in gradwalk, given weights and positions of three vertices."""
    bones = moved_bones(OURS, hand, theta)
    shares = OURS.stack([u[0], u[1], 1.0 - u[0] - u[1]])
    parts = (weights * shares) @ positions.T  # for each bone, its share of the position at rest
    place = sum(bone @ part for bone, part in zip(bones, parts, strict=True))
    return point - (rotation(OURS, theta[:3]) @ place + theta[3:6])


def point_slopes(hand: Hand, theta: Any, u: Any, weights: Any, positions: Any, point: Any) -> Any:
    """Return the derivatives of one point's residual in gradwalk."""
    return numpy.concatenate(jacfwd(partial(residual, hand), (0, 1))(theta, u, weights, positions, point), 1)


def moved_vertex(hand: Hand, theta: Any, weights: Any, position: Any) -> Any:
    """Return a vertex of the moved hand in gradwalk."""
    place = sum(bone @ (w * position) for bone, w in zip(moved_bones(OURS, hand, theta), weights, strict=True))
    return rotation(OURS, theta[:3]) @ place + theta[3:6]


def vertex_and_slopes(hand: Hand, theta: Any, weights: Any, position: Any) -> Any:
    """Return the moved vertex and, in the other columns, its derivatives."""
    move = partial(moved_vertex, hand)
    columns = [move(theta, weights, position)[:, None], jacfwd(move)(theta, weights, position)]
    return numpy.concatenate(columns, 1)


def slopes_in_triangle(skin: Any, triangle: Any, u: Any) -> Any:
    """Return the derivatives of one point's residual, given all vertices and their derivatives."""
    a, b, c = (take(skin, vertex) for vertex in triangle)
    by_theta = u[0] * a[:, 1:] + u[1] * b[:, 1:] + (1.0 - u[0] - u[1]) * c[:, 1:]
    return numpy.concatenate([-by_theta, (c - a)[:, :1], (c - b)[:, :1]], 1)


def skin_first(hand: Hand, theta: Any, us: Any, triangles: Any) -> Maker:
    """Return a function in gradwalk that moves all vertices, and then takes three of them for each point."""
    weights, positions = hand.weights.T.copy(), hand.positions.T.copy()

    def made(*, contract: bool = False) -> Run:
        skin = jit(vmap(partial(vertex_and_slopes, hand), in_axes=(None, 0, 0)), contract=contract)
        slopes = jit(vmap(slopes_in_triangle, in_axes=(None, 0, 0)), contract=contract)
        return lambda: slopes(skin(theta, weights, positions), triangles, us)

    return made


def point_by_point(hand: Hand, theta: Any, us: Any, triangles: Any, points: Any) -> Maker:
    """Return a function in gradwalk that moves the three vertices of each point."""
    of_corners = [numpy.moveaxis(x[:, triangles], 0, 1).copy() for x in (hand.weights, hand.positions)]
    each = vmap(partial(point_slopes, hand), in_axes=(None, 0, 0, 0, 0))
    return recorded(each, theta, us, *of_corners, points)


def slopes_of_all(m: Library, hand: Hand, jacobian: Any, jvp: Any) -> Any:
    """Return a function for all derivatives in JAX or PyTorch, which moves the whole skin at once."""

    def residuals(theta: Any, us: Any, triangles: Any, points: Any) -> Any:
        bones = m.stack(moved_bones(m, hand, theta))
        skin = m.arrays.einsum("bij,bv,jv->vi", bones, hand.weights, hand.positions)
        skin = skin @ rotation(m, theta[:3]).T + theta[3:6]
        corners = skin[triangles]
        u, v = us[:, :1], us[:, 1:]
        return points - (u * corners[:, 0] + v * corners[:, 1] + (1.0 - u - v) * corners[:, 2])

    def found(theta: Any, us: Any, triangles: Any, points: Any, seeds: Any) -> Any:
        by_theta = jacobian(residuals)(theta, us, triangles, points)
        by_us = [jvp(lambda us: residuals(theta, us, triangles, points), (us,), (seed,))[1] for seed in seeds]
        return m.concatenate([by_theta, m.arrays.stack(by_us, -1)], -1)

    return found


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    rest = hand(generator)
    theta = generator.normal(size=ANGLES) * 0.3
    for n in (20,) if quick else (100, 1000, 10_000):
        triangles = generator.integers(0, VERTICES, (n, 3))
        us, points = generator.uniform(0.0, 0.5, (n, 2)), generator.normal(size=(n, 3))
        few = n < VERTICES
        ours = point_by_point(rest, theta, us, triangles, points) if few else skin_first(rest, theta, us, triangles)
        seeds = numpy.eye(2)[:, None] * numpy.ones((n, 1))
        j, t = jax(), torch()
        other = slopes_of_all(of_jax(), rest, j.jacfwd, j.jvp)
        tensors = Hand(*map(t.as_tensor, rest))
        third = slopes_of_all(of_torch(), tensors, t.func.jacfwd, t.func.jvp)
        arrays = theta, us, triangles, points, seeds
        given = [n, VERTICES, theta, us, rest.base, rest.inverses, numpy.array(PARENTS), rest.weights, rest.positions]
        makers = {
            "gradwalk": ours,
            "C++": in_cpp("ht", [*given, triangles], [(n, 3, ANGLES + 2)]),
            "JAX": in_jax(other, *arrays),
            "PyTorch": in_torch(third, *arrays),
        }
        numbers = numpy.concatenate([theta, us.ravel()])
        fixed = [rest.base, rest.inverses, numpy.array(PARENTS, float), rest.weights, rest.positions, triangles, points]
        constants = numpy.concatenate([numpy.asarray(x, float).ravel() for x in fixed])
        both = numpy.vstack([numpy.eye(ANGLES, ANGLES + 2), numpy.tile(numpy.eye(2, ANGLES + 2, ANGLES), (n, 1))])
        tape_of = ("ht", [n, VERTICES], numbers, constants, both, 3 * n)
        makers |= tapes.makers(tapes.Tapes.directions, *tape_of)
        yield Case("ht", f"{n:,} points", makers)
